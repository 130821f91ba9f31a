"""The request of a run, as the command line, the pytest plugin and the Python API make it."""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from math import isfinite
from pathlib import Path
from typing import Any, Self, get_args, get_type_hints

from dialects.enums import Profile
from dialects.errors import BadInput
from dialects.overrides import check_folder
from harness.data.answer_records import parse_keys
from harness.data.answers import Extract
from harness.data.gold_packs import PUBLISHED, use_sqlite_reference, with_golds
from harness.data.predictions import Choice
from harness.data.questions import QuestionSet
from harness.engines import EngineName, in_order, kinds, kinds_by_name
from harness.engines.clock import parse_moment
from harness.engines.execution import Limits
from harness.metrics import (
    DEFAULT_METRICS,
    METRICS,
    OUTCOME_METRIC,
    Basis,
    of_basis,
    question_metrics,
)
from harness.session.options import OPTIONS
from loaders.base.errors import brief
from loaders.base.processes import processors

AUTO = OPTIONS["dialects"].default
"""Every dialect that has prediction files and an engine that is up."""
ALL = "all"
"""Every dialect; each engine must be up."""


def parse_dialects(text: str) -> Sequence[EngineName] | None:
    """Parse `auto` (None), or names separated by commas; `all` is each that is used by default.

    Raises:
        BadInput: a name is not a dialect.
    """
    if text == AUTO:
        return None
    known = list(kinds_by_name())
    usual = [kind.name for kind in kinds() if kind.by_default]
    names = [name for each in text.split(",") for name in (usual if each == ALL else [each])]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise BadInput(
            f"--dialect {text}: {unknown[0]!r} is not a dialect; "
            f"choose from {', '.join(known)}, {ALL}, {AUTO}"
        )
    return in_order(names)


def parse_metrics(text: str) -> Sequence[str]:
    """Parse names separated by commas; each is returned once, in the order of the tables.

    Raises:
        BadInput: a name is not a metric.
    """
    names, known = [name.strip() for name in text.split(",")], question_metrics()
    unknown = [name for name in names if name not in known]
    if unknown:
        raise BadInput(f"--metrics {text}: {unknown[0]!r} is not a metric; choose from {', '.join(known)}")
    return [name for name in known if name in names]


class ShownTables(StrEnum):
    """The tables of a run to print."""

    TOTALS = "totals"
    ALL = "all"


SPELLED: Mapping[str, Callable[[str], Any]] = {
    "dialects": parse_dialects,
    "metrics": parse_metrics,
    "answer_keys": parse_keys,
}
"""The fields whose option takes one word with commas, and their parsers."""

_OF_THE_RUN = frozenset({"out", "resume"})
"""The fields that the run folder determines, so that the stored command leaves them out."""

_EXTRACT = Extract(OPTIONS["extract"].default)


@dataclass(frozen=True)
class Request:
    """The request of a run.

    `dialects` None means every dialect with prediction files and an engine that is up; a named dialect
    must have both. `predictions` empty means the sample's own files, for the sample only.
    `answer_keys` are the keys of records of prediction files, `FIELD=KEY` each.
    `golds` are paths of gold packs, or `published`: a run has one, the command line runs each in turn.
    `reference`: compare predictions on servers with `gold` of their dialect, or with the rows of gold on
    `sqlite`.
    `workers` None means one per core, on Ray one per processor of the cluster.
    `variants` is a folder of database variants or the number to generate, for test-suite accuracy.
    `cache`: True to use and fill the result cache; `store` is its file, None for the user's own.
    `overrides` is a folder of translations of single golds, which win over the project's own.
    `repeat` is how often the published measurement of times is made. `now` is the moment that golds and
    predictions take for the present, None for the clock.
    `resume` is the folder of an interrupted run of the same request, to complete it.
    `ray` is the address of a Ray cluster, or `local`. `report`: True to write reports to the run folder.
    `tables` None prints the totals on a terminal, and all tables elsewhere. `fail_under` are the minimum
    percentages of totals: `PERCENT`, of EX, or `METRIC=PERCENT` each.
    """

    set_name: str = OPTIONS["set_name"].default
    predictions: Sequence[Path] = ()
    dialects: Sequence[EngineName] | None = None
    golds: Sequence[str] = ()
    reference: str = OPTIONS["reference"].default
    predictor: str | None = None
    extract: Extract = _EXTRACT
    answer_keys: Sequence[str] = ()
    allow_missing: bool = False
    metrics: Sequence[str] = DEFAULT_METRICS
    variants: str | None = None
    profile: Profile = Profile.OFFICIAL
    workers: int | None = None
    limit: int | None = None
    db_ids: Sequence[str] = ()
    difficulties: Sequence[str] = ()
    types: Sequence[str] = ()
    keys: Sequence[str] = ()
    sample: int | None = None
    seed: int = 0
    seconds: float = Limits.seconds
    now: str | None = None
    repeat: int = 1
    overrides: Path | None = None
    out: Path = Path(OPTIONS["out"].default)
    bird_home: Path | None = None
    cache: bool = True
    store: Path | None = None
    resume: Path | None = None
    ray: str | None = None
    report: bool = True
    tables: ShownTables | None = None
    fail_under: Sequence[str] = ()

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """Build a request from the values of options, by field.

        A value that is None or an empty list was not given: the default holds.

        Raises:
            BadInput: a name in a value is unknown.
        """
        types = get_type_hints(cls)
        return cls(
            **{
                name: SPELLED[name](value) if name in SPELLED else _typed(types[name], value)
                for name, value in given.items()
                if value is not None and value != []
            }
        )

    @property
    def gold(self) -> str | None:
        """The gold pack of the run; None for the set's own golds."""
        return self.golds[0] if self.golds and self.golds[0] != PUBLISHED else None

    def selected_questions(self, everything: QuestionSet) -> QuestionSet:
        """Select the requested questions of a set, with the golds in use.

        Raises:
            BadInput: the gold pack is wrong or for another set, or nothing is left.
        """
        questions = with_golds(everything, self.gold) if self.gold else everything
        if self.reference != OPTIONS["reference"].default:
            questions = use_sqlite_reference(questions)
        if self.overrides is not None:
            check_folder(self.overrides, questions.name)
            questions = replace(questions, overrides=self.overrides)
        if self.now is not None:
            questions = replace(questions, now=parse_moment("--now", self.now))
        return self.choice.of(questions)

    @property
    def choice(self) -> Choice:
        """The selection of questions."""
        return Choice(
            self.db_ids, self.difficulties, self.types, self.keys, self.sample, self.seed, self.limit
        )

    @property
    def command(self) -> list[str]:
        """Return the words of an equivalent command that works in any folder."""
        usual = {each.name: each.default for each in fields(self)}
        words = ["bird-harness", "eval"]
        for name, option in OPTIONS.items():
            value = getattr(self, name)
            if name in _OF_THE_RUN or value == usual[name]:
                continue
            if isinstance(value, bool):
                words.append(f"--{'no-' if option.off else ''}{option.flag}")
            elif name in SPELLED:
                words.append(f"--{option.flag}={','.join(value)}")
            else:
                each = value if option.repeatable else [value]
                words += [f"--{option.flag}={_anywhere(name, one)}" for one in each]
        return words

    @property
    def shows_all_tables(self) -> bool | None:
        """True to print every table, False for totals only, None if the terminal decides."""
        return None if self.tables is None else self.tables is ShownTables.ALL

    @property
    def processes(self) -> int:
        """Number of judging processes on this machine."""
        return self.workers or processors()


def _typed(kind: Any, value: Any) -> Any:
    """Convert a value, or each item of a list, to the type of a field."""
    made = [each for each in (kind, *get_args(kind)) if each in (Path, Profile, Extract, ShownTables)]
    if not made:
        return value
    return [made[0](one) for one in value] if isinstance(value, list) else made[0](value)


def _anywhere(field: str, value: object) -> str:
    """Return a value as given, but a file or folder as its absolute path."""
    text = str(value)
    is_path = isinstance(value, Path) or (field == "set_name" and os.sep in text)
    may_be = field in {"golds", "variants"} and Path(text).exists()
    return str(Path(text).absolute()) if is_path or may_be else text


def parse_fail_under(texts: Sequence[str], metrics: Sequence[str]) -> dict[str, float]:
    """Parse `PERCENT`, of EX, or `METRIC=PERCENT` each.

    Args:
        texts: the values as given.
        metrics: the metrics of the run.

    Raises:
        BadInput: a text is malformed, or its metric is not requested.
    """
    thresholds: dict[str, float] = {}
    for text in texts:
        name, _, percent = text.rpartition("=")
        name = name or OUTCOME_METRIC
        try:
            thresholds[name] = float(percent)
        except ValueError:
            thresholds[name] = float("nan")
        if not isfinite(thresholds[name]):
            raise BadInput(f"--fail-under {text}: must be PERCENT or METRIC=PERCENT, for instance ex=50")
        if name not in METRICS or not METRICS[name].has_score or name not in metrics:
            scored = ", ".join(known for known in metrics if METRICS[known].has_score)
            raise BadInput(
                f"--fail-under {text}: {name!r} is not among the metrics of this run;"
                f" choose from {scored}, or add it to --metrics"
            )
    return thresholds


def check_range(field: str, value: float | None, name: str | None = None, unit: str | None = None) -> None:
    """Reject a value outside of the range of an option, such as a time limit that no engine can enforce.

    Args:
        field: the field of `Request`.
        value: None if not given.
        name: the user's name for it; default: the option on the command line.
        unit: what is counted; default: the unit of the option.

    Raises:
        BadInput: the value is out of range.
    """
    option = OPTIONS[field]
    if option.range is not None:
        least, most, usual = option.range
        within(name or f"--{option.flag}", value, least, most, unit or usual)


def within(name: str, value: float | None, least: float, most: float, unit: str = "") -> None:
    """Reject a value that is not a number in a range; None means that none was given.

    A range with integer bounds contains only integers.

    Raises:
        BadInput: the value is rejected; the message calls it `name`.
    """
    whole = isinstance(least, int) and isinstance(most, int)
    if value is not None and not (_is_number(value, whole=whole) and least <= value <= most):
        allowed = f"must be between {least:,.15g} and {most:,.15g}{unit and ' '}{unit}"
        raise BadInput(f"{name} {brief(value)}: {allowed}")


def _is_number(value: object, *, whole: bool) -> bool:
    return not isinstance(value, bool) and isinstance(value, int if whole else int | float)


def check(request: Request, *, timeout: str = "--timeout", out: str = "--out") -> None:
    """Reject options that contradict each other.

    Args:
        request: the request.
        timeout: the command's name of the option for `seconds`.
        out: its name of the option for `out`.

    Raises:
        BadInput: an option is wrong by itself or in combination with another.
    """
    parse_metrics(",".join(request.metrics))
    if len(request.golds) > 1:
        raise BadInput(
            f"--gold {request.golds[1]}: second gold pack; a run uses one pack, or the set's own golds"
        )
    if request.reference not in OPTIONS["reference"].choices:
        choices = ", ".join(OPTIONS["reference"].choices)
        raise BadInput(f"--reference {brief(request.reference)}: choose from {choices}")
    parse_fail_under(request.fail_under, request.metrics)
    wanted = [name for name in request.metrics if METRICS[name].basis.needs_variants]
    if wanted and request.variants is None:
        raise BadInput(
            f"--metrics {wanted[0]}: needs database variants; add --variants with a folder or a number"
        )
    if request.variants is not None and not wanted:
        raise BadInput(f"--variants {request.variants}: test-suite accuracy uses them; add ts to --metrics")
    if request.now is not None:
        parse_moment("--now", request.now)
    check_range("repeat", request.repeat)
    if request.repeat > 1 and not of_basis(request.metrics, Basis.TIMES):
        raise BadInput(f"--repeat {request.repeat}: repeats the measurement of r_ves; add r_ves to --metrics")
    check_range("workers", request.workers)
    check_range("limit", request.limit)
    check_range("sample", request.sample)
    check_range("seconds", request.seconds, timeout)
    if request.resume is None:
        refuse_unwritable(out, request.out)


def refuse_unwritable(option: str, folder: Path) -> None:
    """Reject a folder that cannot hold run folders; the first run creates it, not this function.

    Raises:
        BadInput: it cannot be created or written.
    """
    why = None
    try:
        there = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
        if not there.is_dir():
            why = f"{there} is not a folder"
        elif not os.access(there, os.W_OK | os.X_OK):
            why = f"{there} cannot be written"
    except OSError as error:
        why = str(error.strerror)
    if why is not None:
        raise BadInput(f"{option} {folder}: cannot hold run folders ({why}); choose another folder")


def refuse_meaningless(request: Request, read: Collection[str], set_name: str) -> None:
    """Refuse what means nothing for the tasks of a lab's set; `read` are the fields that mean something.

    Raises:
        BadInput: another field is not at its default.
    """
    usual = Request()
    for one in fields(request):
        given, default = getattr(request, one.name), getattr(usual, one.name)
        if one.name not in read and given != default and given != list(default or ()):
            raise BadInput(f"--{OPTIONS[one.name].flag}: means nothing for tasks of {set_name}; leave it out")
