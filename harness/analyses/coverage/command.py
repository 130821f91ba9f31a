"""From what a user asks of `coverage` to a measurement, kept and held against what was expected.

`measure` returns data. The command line, the pytest plugin and the matrix of versions show it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dialects.enums import Dialect, Profile
from dialects.errors import BadInput
from dialects.overrides import MOST, overrides
from harness.analyses.coverage import CoverageAnswer, Fault, cover
from harness.analyses.coverage import audit as judgements
from harness.analyses.coverage import expectations as expected
from harness.analyses.coverage.rendering import JSON, print_coverage, write_folder
from harness.data.gold_packs import under
from harness.data.outcomes import GoldOrigin
from harness.data.predictions import Choice
from harness.data.questions import Question, QuestionSet
from harness.data.sets.loading import load_set
from harness.engines import on_server
from harness.engines.base import Engine
from harness.engines.execution import Limits
from loaders import load as loading
from loaders.base.processes import processors
from loaders.load import Progress
from loaders.server import Server


@dataclass(frozen=True)
class CoverageRequest:
    """What to measure.

    `profile` None is `faithful` for translated golds, whose proof it is, and `official` for those of the
    dataset, which were written for it. `pack` is the path of a gold pack, whose golds are measured.
    `expected` is the folder of expectations and judgements; None is the checkout's. `choice` is which
    questions are asked; `limit` takes the first of them.
    """

    set_name: str = "sample"
    origin: GoldOrigin = GoldOrigin.TRANSLATED
    pack: str | None = None
    profile: Profile | None = None
    limit: int | None = None
    seconds: float = Limits.seconds
    workers: int = field(default_factory=processors)
    out: Path = Path("results")
    expected: Path | None = None
    choice: Choice = field(default_factory=Choice)

    @property
    def chosen(self) -> Choice:
        """The choice with the limit."""
        return replace(self.choice, limit=self.limit)

    @property
    def loaded_as(self) -> Profile:
        """The profile of the databases."""
        usual = Profile.FAITHFUL if self.origin is GoldOrigin.TRANSLATED else Profile.OFFICIAL
        return self.profile or usual

    @property
    def is_usual(self) -> bool:
        """Whether there can be expectations or judgements of it."""
        return self.pack is None and self.loaded_as is CoverageRequest(origin=self.origin).loaded_as


@dataclass(frozen=True)
class Measured:
    """What a measurement gave: the answers, the folder that has them as files, and what is not as expected.

    `hint` says what to do about it, or that nothing was expected yet; empty where there is nothing to say.
    `notes` say how the question set was read.
    """

    title: str
    answers: Sequence[CoverageAnswer]
    folder: Path
    faults: Sequence[Fault]
    hint: str = ""
    notes: Sequence[str] = ()


def _apart(questions: QuestionSet) -> QuestionSet:
    """The set with a question for each gold of those that have several: `12`, `12 (2)`."""
    if all(not one.more_gold for one in questions.questions):
        return questions
    apart = (
        replace(alone, key=f"{alone.key} ({place})") if place > 1 else alone
        for question in questions.questions
        for place, alone in enumerate(question.each(Dialect.SQLITE), start=1)
    )
    return replace(questions, questions=tuple(apart))


class Subject:
    """Questions on servers that have their databases, and what is expected of the answers.

    Args:
        request: what to measure.
        servers: one of each dialect; the databases are loaded where they are not there, and where one cannot
            be, its questions have no answer but that.
        progress: see `loaders.load.load`.
        bird_home: see `load_set`.

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
    ) -> None:
        self.request = request
        self.everything = _apart(under(load_set(request.set_name, bird_home), request.pack))
        """The whole set, of which `questions` are those that were asked for."""
        self.questions = request.chosen.of(self.everything)
        databases = [self.questions.database(db_id, request.loaded_as) for db_id in self.questions.db_ids]
        self._unloaded: dict[tuple[Dialect, str], str] = {}
        for dialect, server in servers.items():
            _, left = loading.load_each(databases, server, progress=progress)
            self._unloaded.update({(dialect, one.database.db_id): one.reason for one in left})
        self.engines = {dialect: on_server(server) for dialect, server in servers.items()}
        home = request.expected or expected.HOME
        self._judgements = (
            judgements.read(self.everything.name, home)
            if request.origin is GoldOrigin.DATASET and request.is_usual
            else None
        )
        has_any = request.origin is GoldOrigin.TRANSLATED and request.is_usual
        self.expected = expected.read(self.everything.name, home) if has_any else {}
        """What was expected before; empty where nothing was."""

    def answers(
        self, chosen: Callable[[Dialect, Question], bool] = lambda _dialect, _question: True
    ) -> Iterator[CoverageAnswer]:
        """The answers to what is chosen, as they come, of one question on all engines at a time."""
        questions = self.questions.questions
        engines = {
            dialect: engine
            for dialect, engine in self.engines.items()
            if any(chosen(dialect, question) for question in questions)
        }
        wanted = tuple(each for each in questions if any(chosen(dialect, each) for dialect in engines))
        for answer in cover(
            replace(self.questions, questions=wanted),
            engines,
            Limits(seconds=self.request.seconds),
            origin=self.request.origin,
            profile=self.request.loaded_as,
            workers=self.request.workers,
            unloaded=self._unloaded,
        ):
            yield from judgements.judged([answer], self._judgements or {})

    def faults(self, answers: Sequence[CoverageAnswer]) -> Iterator[Fault]:
        """What is not as expected of some answers."""
        if self._judgements is not None:
            yield from judgements.faults(answers, self._judgements)
        yield from expected.faults_of_overrides(answers)
        if self.expected:
            yield from expected.changes(answers, self.expected, tuple(self.everything.by_key))

    def faults_of_the_set(self) -> Iterator[Fault]:
        """What is wrong with the overrides of the set, whatever was answered."""
        if self.request.origin is not GoldOrigin.TRANSLATED:
            return
        for target in self.engines:
            written = overrides(self.everything.name, target)
            for key in written.keys() - self.everything.by_key:
                yield Fault(target, key, "there is an override, and no such question")
            if len(written) > MOST:
                text = f"there are {len(written)} overrides; more than {MOST} call for a rule"
                yield Fault(target, None, text)


def measure(
    request: CoverageRequest,
    servers: Mapping[Dialect, Server],
    progress: Progress | None = None,
    counted: Callable[[int, int], None] | None = None,
) -> Measured:
    """Measure, keep, and compare with what was expected.

    Args:
        request: what to measure.
        servers: where.
        progress: is told of the rows loaded.
        counted: is told how many golds are answered, and how many there are at most.

    Raises:
        BadInput: an option or a file is wrong.
        EngineUnavailable: a server broke.
    """
    subject = Subject(request, servers, progress)
    answers, most = list[CoverageAnswer](), len(subject.questions.questions) * len(servers)
    for answer in subject.answers():
        answers.append(answer)
        if counted is not None:
            counted(len(answers), most)
    name = subject.everything.name
    if not answers:
        raise BadInput(f"--gold {request.origin}: {name} publishes none for {', '.join(servers)}")
    title = f"{_title(subject)} of {name} held against SQLite, profile {request.loaded_as}"
    if request.choice.beyond_limit:
        asked, of = len(subject.questions.questions), len(subject.everything.questions)
        title += f", {asked} of {of} questions ({request.chosen})"
    manifest = _manifest(request, subject.questions, subject.engines)
    folder = write_folder(request.out, title, manifest, answers)
    faults = [*subject.faults_of_the_set(), *subject.faults(answers)]
    return Measured(title, answers, folder, faults, _hint(subject, faults, folder), subject.everything.notes)


def print_measured(measured: Measured, say: Callable[[str], None], *, as_json: bool = False) -> int:
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


def _title(subject: Subject) -> str:
    pack = subject.everything.pack
    return _GOLDS[subject.request.origin] if pack is None else f"Translated golds of {pack.label}"


_GOLDS = {GoldOrigin.TRANSLATED: "Translated golds", GoldOrigin.DATASET: "Published golds"}


def _hint(subject: Subject, faults: Sequence[Fault], folder: Path) -> str:
    request = subject.request
    if request.origin is not GoldOrigin.TRANSLATED:
        return ""
    if not subject.expected:
        nothing = f"nothing is expected of {request.set_name}; --expected names a folder that says what is"
        return nothing if request.is_usual and not subject.everything.own else ""
    return f"look at these {len(faults)} faults; if they are right: {ACCEPT} {folder}" if faults else ""


ACCEPT = "python -m benchmarks.figures"
"""The command, of a checkout, that makes what a folder holds what is expected from now on."""


def _manifest(
    request: CoverageRequest, questions: QuestionSet, engines: Mapping[Dialect, Engine]
) -> dict[str, Any]:
    return {
        "set": questions.name,
        "gold": request.origin,
        **({"pack": asdict(questions.pack)} if questions.pack else {}),
        **({"choice": request.choice.beyond_limit} if request.choice.beyond_limit else {}),
        "profile": request.loaded_as,
        "set_files": questions.files,
        "limits": {"seconds": request.seconds, "rows": Limits.rows, "bytes": Limits.bytes},
        "packages": {name: version(name) for name in ("bird-harness", "sqlglot", "pymysql", "psycopg")},
        "engines": {
            dialect: {"version": engine.version(), "settings": dict(engine.settings())}
            for dialect, engine in engines.items()
        },
    }
