"""From what a user asks of `coverage` to a measurement: shown, kept, held against what was expected."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dialects.coverage import Answer, Origin, cover
from dialects.coverage import audit as judgements
from dialects.coverage import expectations as expected
from dialects.overrides import MOST, overrides
from harness.benchmark import QuestionSet
from harness.engines import on_server
from harness.engines.base import Engine
from harness.engines.server import Server
from harness.errors import BadInput
from harness.execution import Limits
from harness.readers.question_sets import load_set
from harness.report import generated
from harness.report.coverage import markdown, print_coverage, write_folder
from harness.words import Dialect, Profile
from loaders import load as loading
from loaders.load import Progress

_DOCS = Path(__file__).parents[1] / "docs"
_PAGES = {Origin.TRANSLATED: "coverage.md", Origin.DATASET: "published-golds.md"}


@dataclass(frozen=True)
class CoverageRequest:
    """What to measure.

    `profile` None is `faithful` for translated golds, whose proof it is, and `official` for those of the
    dataset, which were written for it. `update` makes the result what is expected from now on.
    """

    set_name: str = "sample"
    origin: Origin = Origin.TRANSLATED
    profile: Profile | None = None
    limit: int | None = None
    seconds: float = Limits.seconds
    workers: int = field(default_factory=lambda: os.cpu_count() or 1)
    out: Path = Path("results")
    update: bool = False

    @property
    def loaded_as(self) -> Profile:
        """The profile of the databases."""
        usual = Profile.FAITHFUL if self.origin is Origin.TRANSLATED else Profile.OFFICIAL
        return self.profile or usual

    @property
    def is_usual(self) -> bool:
        """Whether there can be expectations or judgements of it."""
        return self.loaded_as is CoverageRequest(origin=self.origin).loaded_as


def measure(
    request: CoverageRequest,
    servers: Mapping[Dialect, Server],
    say: Callable[[str], None],
    progress: Progress | None = None,
) -> int:
    """Measure, print, keep, compare; the result is the exit code: 1 where something is not as expected.

    Raises:
        BadInput: an option or a file is wrong.
        EngineUnavailable: a server broke.
    """
    if request.update and (request.limit is not None or set(servers) != {Dialect.MYSQL, Dialect.POSTGRESQL}):
        raise BadInput("--update: needs every question and both servers; leave out --limit and start both")
    everything = load_set(request.set_name)
    questions = everything if request.limit is None else everything.limit(request.limit)
    databases = [questions.database(db_id, request.loaded_as) for db_id in questions.db_ids]
    for server in servers.values():
        loading.load(databases, server, progress=progress)
    engines = {dialect: on_server(server) for dialect, server in servers.items()}
    answers = list(
        cover(
            questions,
            engines,
            Limits(seconds=request.seconds),
            origin=request.origin,
            profile=request.loaded_as,
            workers=request.workers,
        )
    )
    if not answers:
        raise BadInput(f"--gold {request.origin}: {request.set_name} publishes none for {', '.join(servers)}")
    is_audit = request.origin is Origin.DATASET and request.is_usual
    table = judgements.read(request.set_name) if is_audit else {}
    answers = judgements.judged(answers, table)
    title = f"{_GOLDS[request.origin]} of {request.set_name} held against SQLite, profile {request.loaded_as}"
    print_coverage(title, answers)
    manifest = _manifest(request, questions, engines)
    say(f"written to {write_folder(request.out, title, manifest, answers)}")
    if request.update:
        _update(request, everything, answers, manifest)
    faults = list(judgements.faults(answers, table)) if is_audit else []
    if request.origin is Origin.TRANSLATED:
        faults += _unexpected(request, everything, answers, say)
    for fault in faults:
        say(fault)
    return 1 if faults else 0


_GOLDS = {Origin.TRANSLATED: "Translated golds", Origin.DATASET: "Published golds"}


def _unexpected(
    request: CoverageRequest, everything: QuestionSet, answers: Sequence[Answer], say: Callable[[str], None]
) -> Iterator[str]:
    keys = everything.by_key
    for target in dict.fromkeys(answer.dialect for answer in answers):
        written = overrides(everything.name, target)
        yield from (
            f"{target} {key}: there is an override, and no such question" for key in written.keys() - keys
        )
        if len(written) > MOST:
            yield f"{target}: there are {len(written)} overrides; more than {MOST} call for a rule"
    yield from expected.faults_of_overrides(answers)
    before = expected.read(everything.name)
    if not before:
        say(f"nothing is expected of {everything.name} yet; --update writes it down")
    elif request.is_usual:
        found = list(expected.changes(answers, before, tuple(keys)))
        yield from found
        if found:
            yield f"look at these {len(found)} changes; if they are right: {_update_command(request)}"


def _update_command(request: CoverageRequest) -> str:
    gold = f" --gold {request.origin}" if request.origin is not Origin.TRANSLATED else ""
    profile = f" --profile {request.profile}" if not request.is_usual else ""
    return f"bird-harness coverage --set {request.set_name}{gold}{profile} --update"


def _update(
    request: CoverageRequest, questions: QuestionSet, answers: Sequence[Answer], manifest: Mapping[str, Any]
) -> None:
    if request.origin is Origin.TRANSLATED and request.is_usual:
        expected.write(questions.name, answers)
    versions = ", ".join(f"{name} {about['version']}" for name, about in manifest["engines"].items())
    text = f"`{_update_command(request)}`, {versions}:\n\n{markdown(answers, details=False)}"
    section = f"{questions.name}, {request.loaded_as}"
    generated.replace_section(_DOCS / _PAGES[request.origin], section, text)


def _manifest(
    request: CoverageRequest, questions: QuestionSet, engines: Mapping[Dialect, Engine]
) -> dict[str, Any]:
    return {
        "set": request.set_name,
        "gold": request.origin,
        "profile": request.loaded_as,
        "set_files": questions.files,
        "limits": {"seconds": request.seconds, "rows": Limits.rows, "bytes": Limits.bytes},
        "packages": {name: version(name) for name in ("bird-harness", "sqlglot", "pymysql", "psycopg")},
        "engines": {
            dialect: {"version": engine.version(), "settings": dict(engine.settings())}
            for dialect, engine in engines.items()
        },
    }
