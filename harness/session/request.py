"""What a user asks for, as the command line, the pytest plugin and the library say it."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from math import isfinite
from pathlib import Path
from typing import Any, Self, get_args, get_type_hints

from dialects.enums import Profile
from dialects.errors import BadInput
from harness.data.gold_packs import PUBLISHED, hold_to_sqlite, under
from harness.data.predictions import Choice, Extract
from harness.data.questions import QuestionSet
from harness.engines import EngineName, in_order, kinds_by_name
from harness.engines.execution import Limits
from harness.metrics import DEFAULT_METRICS, METRICS, OUTCOME_METRIC, Basis
from harness.session.options import OPTIONS
from loaders.base.errors import brief, within
from loaders.base.processes import processors

AUTO = OPTIONS["dialects"].default
"""Every dialect that has prediction files and an engine that is up."""
ALL = "all"
"""Every dialect; each engine has to be up."""


def parse_dialects(text: str) -> Sequence[EngineName] | None:
    """`auto` (None), `all`, or names separated by commas.

    Raises:
        BadInput: a name is not a dialect.
    """
    if text == AUTO:
        return None
    known = list(kinds_by_name())
    names = known if text == ALL else text.split(",")
    unknown = [name for name in names if name not in known]
    if unknown:
        raise BadInput(
            f"--dialect {text}: {unknown[0]!r} is not a dialect; "
            f"choose from {', '.join(known)}, {ALL}, {AUTO}"
        )
    return in_order(names)


def parse_metrics(text: str) -> Sequence[str]:
    """Names separated by commas, each once, in the order of the tables.

    Raises:
        BadInput: a name is not a metric.
    """
    names = [name.strip() for name in text.split(",")]
    unknown = [name for name in names if name not in METRICS]
    if unknown:
        raise BadInput(f"--metrics {text}: {unknown[0]!r} is not a metric; choose from {', '.join(METRICS)}")
    return [name for name in METRICS if name in names]


class ShownTables(StrEnum):
    """What is printed of the tables of a run."""

    TOTALS = "totals"
    ALL = "all"


SPELLED: Mapping[str, Callable[[str], Any]] = {"dialects": parse_dialects, "metrics": parse_metrics}
"""The fields that an option gives as one word with commas, and what reads it."""

_OF_THE_RUN = frozenset({"out", "resume"})
"""What the folder of a run tells by itself."""

_EXTRACT = Extract(OPTIONS["extract"].default)


@dataclass(frozen=True)
class Request:
    """What a run is asked to do.

    `dialects` None means every dialect that has prediction files and an engine that is up; a dialect that
    is named has to be there. `predictions` empty means the sample's own files, for the sample only.
    `golds` are paths of gold packs, or `published`: a run has one, the command line runs one after the other.
    `reference`: what predictions on servers are held against, `gold` of their dialect or the rows of
    `sqlite`'s.
    `workers` None means one a core, on Ray one a processor of the cluster.
    `variants` is a folder of variants of the databases or how many to generate, for test-suite accuracy.
    `cache`: whether what is known from earlier runs is used and added to; `store` is the file that has it,
    None for the user's own. `resume` is the folder of a run of the same request that is to be completed.
    `ray` is the address of a Ray cluster, or `local`. `report`: whether the run folder gets reports, too.
    `tables` None prints the totals on a terminal, and all tables elsewhere. `fail_under` are the least
    percents that totals may have: `PERCENT`, of EX, or `METRIC=PERCENT` each.
    """

    set_name: str = OPTIONS["set_name"].default
    predictions: Sequence[Path] = ()
    dialects: Sequence[EngineName] | None = None
    golds: Sequence[str] = ()
    reference: str = OPTIONS["reference"].default
    predictor: str | None = None
    extract: Extract = _EXTRACT
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
        """Make a request of the values that options were given, by field.

        What is None or an empty list was not given: it is as the class has it.

        Raises:
            BadInput: a name among them is not known.
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
        """The golds of the run; None for the set's own."""
        return self.golds[0] if self.golds and self.golds[0] != PUBLISHED else None

    def asked_of(self, everything: QuestionSet) -> QuestionSet:
        """The questions that are asked of a set, with the golds that count.

        Raises:
            BadInput: the gold pack is wrong or for another set, or nothing is left.
        """
        questions = under(everything, self.gold)
        if self.reference != OPTIONS["reference"].default:
            questions = hold_to_sqlite(questions)
        return self.choice.of(questions)

    @property
    def choice(self) -> Choice:
        """Which questions are asked."""
        return Choice(
            self.db_ids, self.difficulties, self.types, self.keys, self.sample, self.seed, self.limit
        )

    @property
    def command(self) -> list[str]:
        """The words of the command that asks for the same, whatever folder it is called in."""
        usual = {each.name: each.default for each in fields(self)}
        words = ["bird-harness", "eval"]
        for name, option in OPTIONS.items():
            value = getattr(self, name)
            if name in _OF_THE_RUN or value == usual[name]:
                continue
            if isinstance(value, bool):
                words.append(f"--{'no-' if option.off else ''}{option.flag}")
            elif name in ("dialects", "metrics"):
                words.append(f"--{option.flag}={','.join(value)}")
            else:
                each = value if option.repeatable else [value]
                words += [f"--{option.flag}={_anywhere(name, one)}" for one in each]
        return words

    @property
    def all_tables(self) -> bool | None:
        """Whether every table is printed, or the totals alone; None: the terminal decides."""
        return None if self.tables is None else self.tables is ShownTables.ALL

    @property
    def processes(self) -> int:
        """How many judge on this machine."""
        return self.workers or processors()


def _typed(kind: Any, value: Any) -> Any:
    """A value, or each of a list, as the type that a field has."""
    made = [each for each in (kind, *get_args(kind)) if each in (Path, Profile, Extract, ShownTables)]
    if not made:
        return value
    return [made[0](one) for one in value] if isinstance(value, list) else made[0](value)


def _anywhere(field: str, value: object) -> str:
    """A value as it is given; what is a file or a folder by the whole of its path."""
    text = str(value)
    is_path = isinstance(value, Path) or (field == "set_name" and os.sep in text)
    may_be = field in {"golds", "variants"} and Path(text).exists()
    return str(Path(text).absolute()) if is_path or may_be else text


def parse_fail_under(texts: Sequence[str], metrics: Sequence[str]) -> dict[str, float]:
    """`PERCENT`, of EX, or `METRIC=PERCENT` each.

    Args:
        texts: as they were given.
        metrics: those of the run.

    Raises:
        BadInput: one is not that, or its metric is not asked for.
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
            raise BadInput(f"--fail-under {text}: has to be PERCENT or METRIC=PERCENT, for instance ex=50")
        if name not in METRICS or not METRICS[name].has_score or name not in metrics:
            scored = ", ".join(known for known in metrics if METRICS[known].has_score)
            raise BadInput(
                f"--fail-under {text}: {name!r} is not among the metrics of this run;"
                f" choose from {scored}, or add it to --metrics"
            )
    return thresholds


def check_range(field: str, value: float | None, name: str | None = None, unit: str | None = None) -> None:
    """Refuse what is outside of the range of an option, such as a limit of time that no engine could keep.

    Args:
        field: the field of `Request`.
        value: None where none was given.
        name: what the user calls it; as on the command line, unless another one is given.
        unit: what is counted; as the option says, unless it is another one.

    Raises:
        BadInput: it is.
    """
    option = OPTIONS[field]
    if option.range is not None:
        least, most, usual = option.range
        within(name or f"--{option.flag}", value, least, most, unit or usual)


def check(request: Request, *, timeout: str = "--timeout", out: str = "--out") -> None:
    """Refuse what no run could do.

    Args:
        request: what is asked for.
        timeout: how the command calls the option behind `seconds`.
        out: how it calls the one behind `out`.

    Raises:
        BadInput: an option is wrong by itself or beside another.
    """
    parse_metrics(",".join(request.metrics))
    if len(request.golds) > 1:
        raise BadInput(
            f"--gold {request.golds[1]}: a second one; a run has the golds of one pack, or its set's own"
        )
    if request.reference not in OPTIONS["reference"].choices:
        choices = ", ".join(OPTIONS["reference"].choices)
        raise BadInput(f"--reference {brief(request.reference)}: choose from {choices}")
    parse_fail_under(request.fail_under, request.metrics)
    wanted = any(METRICS[name].basis is Basis.VARIANTS for name in request.metrics)
    if wanted and request.variants is None:
        raise BadInput("--metrics ts: needs variants of the databases: --variants with a folder or a number")
    if request.variants is not None and not wanted:
        raise BadInput(f"--variants {request.variants}: is for test-suite accuracy; add ts to --metrics")
    check_range("workers", request.workers)
    check_range("limit", request.limit)
    check_range("sample", request.sample)
    check_range("seconds", request.seconds, timeout)
    if request.resume is None:
        refuse_unwritable(out, request.out)


def refuse_unwritable(option: str, folder: Path) -> None:
    """Refuse a folder that can hold no run folders; it is made with the first of them, not here.

    Raises:
        BadInput: it cannot be made, or not be written.
    """
    why = None
    try:
        there = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
        if not there.is_dir():
            why = f"{there} is no folder"
        elif not os.access(there, os.W_OK | os.X_OK):
            why = f"{there} cannot be written"
    except OSError as error:
        why = str(error.strerror)
    if why is not None:
        raise BadInput(f"{option} {folder}: cannot hold run folders ({why}); choose another folder")
