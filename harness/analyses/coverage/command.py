"""Coverage: the rows of golds on servers, compared with SQLite's and with what was expected, and kept.

`measure` returns data. The command line, the pytest plugin and the matrix of versions show it.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from sqlite3 import sqlite_version
from typing import Any

from rich.console import Console

from dialects.enums import Dialect, Profile
from dialects.errors import BadInput
from dialects.overrides import MOST, check_folder, overrides
from harness.analyses.bench import Bench
from harness.analyses.coverage import expectations as expected
from harness.analyses.coverage.answers import CoverageAnswer, DifferenceReason, Fault
from harness.analyses.coverage.plain import PlainForms, Style
from harness.analyses.coverage.proof import Chosen, cover, every
from harness.data.gold_packs import with_golds
from harness.data.outcomes import GoldOrigin
from harness.data.predictions import Choice
from harness.data.questions import QuestionSet, levels_of
from harness.data.sets.loader import load_set, with_readable_databases
from harness.engines import TITLES
from harness.engines.execution import Limits
from harness.report.console import print_grids, print_line, wide
from harness.report.table_model import Cell, CellKind, TableModel, columns, row, table
from harness.report.texts import markdown_table
from loaders.base.files import as_json, write_folder_of
from loaders.base.processes import processors
from loaders.bulk_load import Progress
from loaders.server import Server


@dataclass(frozen=True)
class CoverageRequest:
    """A request to measure coverage.

    `profile` None is `faithful` for translated golds, whose proof it is, and `official` for those of the
    dataset, which were written for it. `pack` is the path of a gold pack, whose golds are measured.
    `expected` is the folder of expectations and judgements; None is the checkout's. `choice` is which
    questions are asked.
    """

    set_name: str = "sample"
    origin: GoldOrigin = GoldOrigin.TRANSLATED
    pack: str | None = None
    profile: Profile | None = None
    seconds: float = Limits.seconds
    workers: int = field(default_factory=processors)
    out: Path = Path("results")
    expected: Path | None = None
    choice: Choice = field(default_factory=Choice)
    overrides: Path | None = None
    """A folder of the user's overrides."""
    style: Style = Style.EXACT

    @property
    def loaded_as(self) -> Profile:
        """The profile of the databases."""
        usual = Profile.FAITHFUL if self.origin is GoldOrigin.TRANSLATED else Profile.OFFICIAL
        return self.profile or usual

    @property
    def is_usual(self) -> bool:
        """True if there can be expectations or judgements of it."""
        exact = self.style is Style.EXACT
        return exact and self.pack is None and self.loaded_as is CoverageRequest(origin=self.origin).loaded_as


# A set on servers, and what is expected of it.


class Subject:
    """Questions on servers that have their databases, and the expected answers.

    Args:
        request: what to measure.
        servers: one of each dialect; the databases are loaded where they are not there, and where one cannot
            be, its questions have no answer but that.
        progress: see `loaders.load`.
        bird_home: see `load_set`.
        say: called with a line for each database that is skipped.

    Raises:
        BadInput: a file is wrong.
        EngineUnavailable: a server broke.
    """

    def __init__(
        self,
        request: CoverageRequest,
        servers: Mapping[Dialect, Server],
        progress: Progress | None = None,
        bird_home: Path | None = None,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.request = request
        everything = _apart(with_golds(load_set(request.set_name, bird_home), request.pack))
        if request.overrides is not None:
            check_folder(request.overrides, everything.name)
        self.everything = replace(everything, overrides=request.overrides)
        """The whole set; `questions` are the selected ones."""
        self.questions = with_readable_databases(request.choice.of(self.everything), say)
        limits = Limits(seconds=request.seconds)
        self._servers = servers if request.style is Style.PLAIN else {}
        self._bench = Bench.open(
            self.questions, servers, request.loaded_as, limits, workers=request.workers, progress=progress
        )
        self.engines = {Dialect(name): engine for name, engine in self._bench.engines.items()}
        home, is_translated = request.expected or expected.HOME, request.origin is GoldOrigin.TRANSLATED
        self.expected: expected.Expectations = {}
        """The previous expectations; empty if there are none."""
        self._judgements: expected.Judgements | None = None
        if request.is_usual and is_translated:
            self.expected = expected.read(self.everything.name, home)
        elif request.is_usual:
            self._judgements = expected.read_judgements(self.everything.name, home)

    def answers(self, chosen: Chosen = every) -> Iterator[CoverageAnswer]:
        """Yield the answers to the selected questions as they arrive, all engines of a question together."""
        with PlainForms.opened(self._bench, self._servers) as plain:
            for answer in cover(self._bench, self.request.origin, chosen, plain):
                yield expected.judged(answer, self._judgements or {})

    def faults(self, answers: Sequence[CoverageAnswer]) -> Iterator[Fault]:
        """List the deviations of some answers from the expectations."""
        if self._judgements is not None:
            yield from expected.faults_of_judgements(answers, self._judgements)
        yield from expected.faults_of_overrides(answers)
        if self.expected:
            yield from expected.changes(answers, self.expected, tuple(self.everything.by_key))

    def faults_of_the_set(self) -> Iterator[Fault]:
        """List the faults of the set's overrides, whatever the answers."""
        if self.request.origin is not GoldOrigin.TRANSLATED:
            return
        for target in self.engines:
            written = overrides(self.everything.name, target, own=self.everything.overrides)
            for key in written.keys() - self.everything.by_key:
                yield Fault(target, key, "there is an override, and no such question")
            if len(written) > MOST:
                text = f"there are {len(written)} overrides; more than {MOST} call for a rule"
                yield Fault(target, None, text)


def _apart(questions: QuestionSet) -> QuestionSet:
    """Return the set with a question for each gold of those that have several: `12`, `12 (2)`."""
    if all(not one.more_gold for one in questions.questions):
        return questions
    apart = (
        replace(alone, key=f"{alone.key} ({place})") if place > 1 else alone
        for question in questions.questions
        for place, alone in enumerate(question.each(Dialect.SQLITE), start=1)
    )
    return replace(questions, questions=tuple(apart))


# What is kept and shown.

SCHEMA_VERSION = 1
"""Version of `coverage.json`; docs/how-to/coverage.md describes it."""

MARKDOWN = "coverage.md"
JSON = "coverage.json"

ACCEPT = "python -m benchmarks.figures"
"""The command, of a checkout, that accepts the answers of a folder as the new expectations."""

_GOLDS = {GoldOrigin.TRANSLATED: "Translated golds", GoldOrigin.DATASET: "Published golds"}


@dataclass(frozen=True)
class CoverageResult:
    """The result of a measurement: the answers, their folder, and the deviations from the expectations.

    `hint` says what to do about it, or that nothing was expected yet; empty where there is nothing to say.
    `notes` say how the question set was read.
    """

    title: str
    answers: Sequence[CoverageAnswer]
    folder: Path
    faults: Sequence[Fault]
    hint: str = ""
    notes: Sequence[str] = ()


def measure(
    request: CoverageRequest,
    servers: Mapping[Dialect, Server],
    progress: Progress | None = None,
    counted: Callable[[int, int], None] | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> CoverageResult:
    """Measure, keep, and compare with what was expected.

    Args:
        request: what to measure.
        servers: where.
        progress: called with the rows loaded.
        counted: called with the numbers of golds answered, and of all at most.
        say: called with a line for each database that is skipped.

    Raises:
        BadInput: an option or a file is wrong.
        EngineUnavailable: a server broke.
    """
    subject = Subject(request, servers, progress, say=say)
    everything, questions, engines = subject.everything, subject.questions, subject.engines
    answers, most = list[CoverageAnswer](), len(questions.questions) * len(servers)
    for answer in subject.answers():
        answers.append(answer)
        if counted is not None:
            counted(len(answers), most)
    if not answers:
        raise BadInput(f"--gold {request.origin}: {everything.name} publishes none for {', '.join(servers)}")
    pack = everything.pack
    golds = _GOLDS[request.origin] if pack is None else f"Translated golds of {pack.label}"
    title = f"{golds} of {everything.name} compared with SQLite, profile {request.loaded_as}"
    if request.choice.beyond_limit:
        asked, of = len(questions.questions), len(everything.questions)
        title += f", {asked} of {of} questions ({request.choice})"
    if request.style is Style.PLAIN:
        title += f", {sum(one.exact is not None for one in answers)} as plain forms"
    manifest = {
        "set": questions.name,
        "gold": request.origin,
        **({"pack": asdict(pack)} if pack else {}),
        **({"choice": request.choice.beyond_limit} if request.choice.beyond_limit else {}),
        "profile": request.loaded_as,
        **({"style": request.style} if request.style is Style.PLAIN else {}),
        "set_files": questions.files,
        "limits": {"seconds": request.seconds, "rows": Limits.rows, "bytes": Limits.bytes},
        "packages": {
            **{name: version(name) for name in ("bird-harness", "sqlglot", "pymysql", "psycopg")},
            "sqlite": sqlite_version,
        },
        **({"sqlite": questions.sqlite} if questions.sqlite else {}),
        "engines": {
            dialect: {"version": engine.version(), "settings": dict(engine.settings())}
            for dialect, engine in engines.items()
        },
    }
    folder = write_folder(request.out, title, manifest, answers)
    faults = [*subject.faults_of_the_set(), *subject.faults(answers)]
    return CoverageResult(title, answers, folder, faults, _hint(subject, faults, folder), everything.notes)


def write_folder(
    parent: Path, title: str, manifest: Mapping[str, Any], answers: Sequence[CoverageAnswer]
) -> Path:
    """Write `coverage.md` and `coverage.json` into a new folder below `parent`, both or nothing.

    Raises:
        BadInput: the folder can't be written.
    """
    content = {
        "schema_version": SCHEMA_VERSION,
        **manifest,
        "totals": totals(answers),
        "answers": [answer.to_json() for answer in answers],
    }
    files = {
        MARKDOWN: f"# {title}\n\n{markdown(answers)}",
        JSON: as_json(content, indent=2) + "\n",
    }
    return write_folder_of(parent, "coverage", files)


def _hint(subject: Subject, faults: Sequence[Fault], folder: Path) -> str:
    request = subject.request
    if request.origin is not GoldOrigin.TRANSLATED:
        return ""
    if not subject.expected:
        nothing = f"there are no expectations for {request.set_name}; name their folder with --expected"
        return nothing if request.is_usual and not subject.everything.own else ""
    return f"look at these {len(faults)} faults; if they are right: {ACCEPT} {folder}" if faults else ""


def print_measured(measured: CoverageResult, say: Callable[[str], None], *, as_json: bool = False) -> int:
    """Print a measurement; the result is the exit code: 1 where something is not as expected."""
    for note in measured.notes:
        say(note)
    if as_json:
        print((measured.folder / JSON).read_text(encoding="utf-8"), end="")  # noqa: T201 - the answer itself
    else:
        print_coverage(measured.title, measured.answers)
    say(f"written to {measured.folder}")
    for line in (*map(str, measured.faults), measured.hint):
        if line:
            say(line)
    return 1 if measured.faults else 0


def print_coverage(title: str, answers: Sequence[CoverageAnswer], console: Console | None = None) -> None:
    """Print each question that is not covered, then the counts."""
    console = wide(console)
    for one in answers:
        if not one.covered:
            where = f"{TITLES[one.dialect]} {one.question} ({one.db_id})"
            print_line(console, f"{where}: {one.reason} {_detail(one)}".rstrip())
    print_grids([_grid(title, answers)], console)
    for line in _reasons(answers):
        print_line(console, line)


def markdown(answers: Sequence[CoverageAnswer]) -> str:
    """Return the counts, and the answers other than SQLite's with errors and rows, as Markdown."""
    lines = [*markdown_table(_grid("", answers)), "", *(f"{line}." for line in _reasons(answers))]
    shown = [answer for answer in answers if answer.reason is not None]
    if shown:
        lines += ["", "| engine | question | database | reason | detail |", "|---|---|---|---|---|"]
    for one in sorted(shown, key=lambda one: list(Dialect).index(one.dialect)):
        detail = _detail(one).replace("|", "\\|")
        lines.append(f"| {TITLES[one.dialect]} | {one.question} | {one.db_id} | `{one.reason}` | {detail} |")
    return "\n".join(lines) + "\n"


def totals(answers: Sequence[CoverageAnswer]) -> list[dict[str, Any]]:
    """Return the counts of each engine that there are answers of: entries of `totals` in `coverage.json`."""
    levels = levels_of(answer.difficulty for answer in answers)
    return [
        {
            "dialect": dialect,
            "questions": len(own),
            "runs": sum(answer.runs for answer in own),
            "same_set": sum(answer.same_set for answer in own),
            "same_bag": sum(answer.same_bag for answer in own),
            "ordered": sum(answer.same_order is not None for answer in own),
            "same_order": sum(answer.same_order is True for answer in own),
            "covered": sum(answer.covered for answer in own),
            "overrides": sum(answer.override is not None for answer in own),
            "reasons": dict(Counter(str(answer.reason) for answer in own if answer.reason is not None)),
            "covered_percent_by_difficulty": {
                level: _percent([answer for answer in own if answer.difficulty == level]) for level in levels
            },
        }
        for dialect in Dialect
        if (own := [answer for answer in answers if answer.dialect == dialect])
    ]


def _grid(title: str, answers: Sequence[CoverageAnswer]) -> TableModel:
    """Return the counts as a table, an engine a row."""
    count = CellKind.COUNT
    levels = levels_of(answer.difficulty for answer in answers)
    heads = columns(
        "engine",
        ("questions", "questions", count),
        ("run", "runs", count),
        ("same set", "same_set", count),
        ("same bag", "same_bag", count),
        ("same order", "same_order", CellKind.OF),
        ("tie", "tie", count),
        ("covered", "covered", count),
        *(("%" if level is None else level, "covered", CellKind.MEAN) for level in (None, *levels)),
    )
    rows = []
    for one in totals(answers):
        cells = [
            *(one[name] for name in ("questions", "runs", "same_set", "same_bag")),
            Cell(one["same_order"], questions=one["ordered"]),
            one["reasons"].get(DifferenceReason.TIE, 0),
            one["covered"],
            100 * one["covered"] / one["questions"],
            *one["covered_percent_by_difficulty"].values(),
        ]
        rows.append(row([TITLES[one["dialect"]]], cells, dialect=one["dialect"]))
    return table(title, ["engine"], heads, rows)


def _percent(answers: Sequence[CoverageAnswer]) -> float | None:
    return 100 * sum(answer.covered for answer in answers) / len(answers) if answers else None


def _reasons(answers: Sequence[CoverageAnswer]) -> Iterator[str]:
    """Count the answers other than SQLite's, in a line for each engine."""
    for one in totals(answers):
        found = [
            f"{one['reasons'][reason]} {reason}" for reason in DifferenceReason if reason in one["reasons"]
        ]
        said = ", ".join(found) or "every answer is SQLite's"
        by = one["overrides"]
        by_hand = f"; {by} by {'an override' if by == 1 else 'overrides'}" if by else ""
        yield f"{TITLES[one['dialect']]}: {said}{by_hand}"


def _detail(answer: CoverageAnswer) -> str:
    parts = [" ".join(answer.detail.split())] if answer.detail else list(answer.warnings)
    parts += [f"only SQLite: {found}" for found in answer.only_sqlite]
    parts += [f"only {TITLES[answer.dialect]}: {found}" for found in answer.only_engine]
    return "; ".join(parts)
