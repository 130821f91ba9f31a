"""Prepare a request for evaluation: read the set and files, find the engines, load the databases.

The command line, the pytest plugin and the Python API all use this module, so that a request means the
same everywhere and fails with the same messages.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, Self

from dialects.enums import Dialect, Profile
from dialects.errors import BadInput
from dialects.overrides import digest
from dialects.volatility import asks_for_the_time
from harness import provision
from harness.data.answers import Extract
from harness.data.outcomes import GoldOrigin
from harness.data.predictions import PredictionFile, read_predictions
from harness.data.published_sets import provenances
from harness.data.questions import BIRD_LEVELS, Question, QuestionSet
from harness.data.set_manifest import SetServer
from harness.data.sets.loader import load_set
from harness.engines import (
    EngineName,
    dialect_of,
    in_order,
    kind_of,
    kinds_by_name,
    on_server,
    unfit_settings,
)
from harness.engines.base import SqlError
from harness.engines.execution import Limits, NotCounted, count_work
from harness.lab import option_of_lab
from harness.metrics import METRICS, Basis, of_basis
from harness.provision import dsn
from harness.runs.folder import RunFolder
from harness.runs.summary import Extent
from harness.scoring.golds import Golds
from harness.scoring.scheduler import Scheduler
from harness.scoring.tasks import Setup, Workers
from harness.scoring.variants import Variants, find_variants
from harness.scoring.workers import LocalWorkers
from harness.session.request import Request, check
from loaders import bulk_load as loading
from loaders.base.digests import digests
from loaders.base.errors import EngineUnavailable, command, to_start
from loaders.base.store import Store, allowed_bytes, default_path
from loaders.bulk_load import Progress
from loaders.sample import PREDICTIONS
from loaders.server import Server

# Finding the running servers of the engines that a command uses.


def find_servers(
    dialects: Sequence[EngineName], *, required: bool, say: Callable[[str], None]
) -> dict[EngineName, tuple[Server, ...]]:
    """Return the running servers of `dialects`: one of each, or several if DSNs name them.

    Args:
        dialects: the dialects to look for; those on files need no server.
        required: True if a server that is not up is an error; else `say` gets a line about it.
        say: called with one line of progress at a time.

    Raises:
        BadInput: servers that should share the work differ.
        EngineUnavailable: a server that is required is not up.
    """
    servers: dict[EngineName, tuple[Server, ...]] = {}
    for dialect in dialects:
        kind = kind_of(dialect)
        if not kind.has_server:
            continue
        found = provision.find_all(kind.dialect)
        if found:
            servers[dialect] = found
        elif required:
            advice = to_start(None if kind.by_default else dialect)
            raise EngineUnavailable(f"{dialect}: no server is up; {advice}")
        elif kind.by_default:
            say(f"{dialect}: no server is up, so it is skipped; {to_start()}")
    return servers


def private_server(questions: QuestionSet) -> tuple[QuestionSet, Server]:
    """Return a set with its databases' places on the server that already has them, and that server.

    Nothing is created on it. Its account is the reading role and must have no other rights; its sessions
    are read-only as well.

    Raises:
        BadInput: there is no address, it is malformed, or its account may do more than read.
        EngineUnavailable: the server does not answer, or lacks a database.
    """
    stands = questions.server
    assert stands is not None  # noqa: S101 - checked by the caller
    name = stands.variable or f"dsn of {questions.name}"
    text = stands.dsn or os.environ.get(stands.variable, "")
    if not text:
        raise BadInput(
            f"--set {questions.name}: {name} is not set; set it to the address of its {stands.dialect}"
            " server and database"
        )
    server = dsn.private(stands.dialect, text.strip(), name)
    administration = kind_of(stands.dialect).administration
    assert administration is not None  # noqa: S101 - it has a server
    if rights := administration().rights_to_write(server):
        raise BadInput(
            f"{name}: predictions run as the account {server.user}, which may do more than read"
            f" ({', '.join(rights)}); name one with SELECT only (docs/how-to/question-set.md)"
        )
    placed = replace(questions, default_database=server.database)
    # Keep the pool open to the end: closing it closes its idle sessions.
    engine = on_server(server)
    for db_id in placed.db_ids:
        with engine.session(placed.database(db_id), _SECONDS_TO_LOOK) as session:
            list(session.batches("SELECT 1"))
    return placed, server


_SECONDS_TO_LOOK = 10.0


@dataclass(frozen=True)
class Pair:
    """A prediction and the question that it answers.

    `sql` is None if the predictor gave no answer; `reason` says why, if known.
    """

    question: Question
    predictor: str
    dialect: EngineName
    sql: str | None
    reason: str | None = None

    @property
    def name(self) -> str:
        """Unique within a run: `dialect/predictor::question`."""
        return f"{self.dialect}/{self.predictor}::{self.question.key}"

    @property
    def key(self) -> tuple[EngineName, str, str]:
        """The key of its result."""
        return self.dialect, self.predictor, self.question.key


def pairs_of(questions: QuestionSet, files: Sequence[PredictionFile]) -> tuple[Pair, ...]:
    """Return all pairs, in the order of engines, files and questions."""
    return tuple(
        Pair(
            question,
            answers.predictor,
            answers.dialect,
            answers.predictions.get(question.key),
            answers.reasons.get(question.key),
        )
        for dialect in kinds_by_name()
        for answers in files
        if answers.dialect == dialect
        for question in questions.questions
    )


@dataclass(frozen=True)
class Plan:
    """A request with everything it needs found, read and loaded; `close` it after use.

    `left_out` has a line for everything that cannot be scored because its engine is not up; `notes`, by
    database, what could not be loaded as declared. `set_questions` counts the questions of the whole set.
    """

    request: Request
    setup: Setup
    scheduler: Scheduler
    files: Sequence[PredictionFile]
    pairs: tuple[Pair, ...]
    left_out: Sequence[str] = ()
    notes: Mapping[EngineName, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    set_questions: int = 0
    unfit: Sequence[str] = ()
    """A sentence for each setting of a server that changes outcomes."""

    @property
    def questions(self) -> QuestionSet:
        """The selected questions."""
        return self.setup.questions

    @property
    def golds(self) -> Golds:
        """The golds that predictions are compared with."""
        return self.scheduler.golds

    @property
    def is_timed(self) -> bool:
        """True if a time metric is requested."""
        return any(METRICS[name].is_timed for name in self.setup.metrics)

    @property
    def extent(self) -> Extent:
        """What the run covers: every question for every predictor and engine."""
        questions = len(self.questions.questions)
        planned = {(file.predictor, file.dialect): questions for file in self.files}
        return Extent(planned, questions, self.set_questions, by=self.request.choice.beyond_limit)

    def open_run(self) -> RunFolder:
        """Create the run folder, or reopen that of a run to complete.

        Raises:
            BadInput: the folder cannot be written, or belongs to another run.
        """
        if self.request.resume is not None:
            return RunFolder.resume(self.request.resume, self.manifest(), self.request.metrics)
        asked = {question.key for question in self.questions.questions}
        usage = {
            (file.dialect, file.predictor, key): one
            for file in self.files
            for key, one in file.usage.items()
            if key in asked
        }
        return RunFolder(
            self.request.out, self.manifest(), self.request.metrics, self._recorded_questions(), usage
        )

    def _databases(self) -> dict[str, str | None]:
        """Return the digests of the SQLite files, by database; None for one that cannot be read."""
        paths = {db_id: self.questions.database(db_id).sqlite_path for db_id in self.questions.db_ids}
        try:
            # Together, for one look into the store; one by one only if a file is to blame.
            known = digests(paths.values())
        except BadInput:
            return {db_id: _digest(path) for db_id, path in paths.items()}
        return {db_id: known[path] for db_id, path in paths.items()}

    def _recorded_questions(self) -> list[Question]:
        """Return the questions with their golds; translations are unknown before the run."""
        golds = self.golds
        return [
            replace(
                question,
                gold={
                    **question.gold,
                    **{
                        dialect_of(dialect): golds.written(question, dialect)
                        for dialect in self.setup.servers
                        if golds.origin(question, dialect) is GoldOrigin.OVERRIDE
                    },
                },
            )
            for question in self.questions.questions
        ]

    def _overrides(self) -> dict[str, dict[str, str]]:
        """Return the digests of the overrides in use, by engine and question."""
        golds, questions = self.golds, self.questions.questions
        found = {
            dialect: {
                one.key: digest(golds.written(one, dialect))
                for one in questions
                if golds.origin(one, dialect) is GoldOrigin.OVERRIDE
            }
            for dialect in self.setup.servers
        }
        return {dialect: each for dialect, each in found.items() if each}

    def _golds_of_the_time(self) -> int:
        """Count the questions with a gold that asks for the time."""
        golds = self.golds
        return sum(
            any(
                asks_for_the_time(golds.written(one, dialect))
                for dialect in self.setup.servers
                for one in question.each(dialect_of(dialect))
            )
            for question in self.questions.questions
        )

    def close(self) -> None:
        """Stop the workers and close the result cache."""
        self.scheduler.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _has_own_title(self) -> bool:
        return self.questions.own and self.questions.title != self.questions.name

    def manifest(self) -> dict[str, Any]:
        """Return the manifest of a run: the request, and the digests and versions of everything it uses."""
        request, databases, published = self.request, self._databases(), self.questions.published
        return {
            "command": request.command,
            "set": self.questions.name,
            **({"title": self.questions.title} if self._has_own_title() else {}),
            "collection": self.questions.collection,
            "questions": len(self.questions.questions),
            **({"gold": asdict(self.questions.pack)} if self.questions.pack else {}),
            **({"reference": request.reference} if self.questions.by_rows else {}),
            **({"now": str(self.questions.now)} if self.questions.now else {}),
            **({"overrides": used} if (used := self._overrides()) else {}),
            **({"golds_of_the_time": asking} if (asking := self._golds_of_the_time()) else {}),
            **({"choice": request.choice.beyond_limit} if request.choice.beyond_limit else {}),
            "planned": self.extent.to_json(),
            **({} if self.questions.levels == BIRD_LEVELS else {"levels": list(self.questions.levels)}),
            **({"types": list(self.questions.own_types)} if self.questions.own_types else {}),
            "set_files": self.questions.files,
            **({"published": {"title": published.title, "page": published.page}} if published else {}),
            "databases": databases,
            "provenance": provenances(self.questions.name, databases),
            "profile": request.profile,
            **({"translated": in_order(self.setup.translated)} if self.setup.translated else {}),
            "metrics": list(request.metrics),
            "variants": None if self.setup.variants is None else self.setup.variants.fingerprint,
            "limits": {"seconds": request.seconds, "rows": Limits.rows, "bytes": Limits.bytes},
            **({"repeat": request.repeat} if request.repeat > 1 else {}),
            "workers": request.processes,
            "extract": request.extract,
            **({"keys": list(request.answer_keys)} if request.answer_keys else {}),
            "allow_missing": request.allow_missing,
            "predictions": [
                {
                    "file": file.path.name,
                    "sha256": file.sha256,
                    "format": file.format,
                    "predictor": file.predictor,
                    "dialect": file.dialect,
                    "extracted": file.extracted.changed,
                    **({} if file.extract is Extract.NONE else {"extraction": asdict(file.extracted)}),
                    **({"translated_from": file.translated_from} if file.translated_from else {}),
                }
                for file in self.files
            ],
            "engines": {
                dialect: {"version": engine.version(), "settings": dict(engine.settings())}
                for dialect, engine in self.scheduler.engines.items()
            },
            **({"unfit_settings": self.unfit} if self.unfit else {}),
            "left_out": list(self.left_out),
            "load_notes": self.notes,
        }


def prepare(request: Request, *, say: Callable[[str], None], progress: Progress | None = None) -> Plan:
    """Find, read and load what `request` needs.

    Args:
        request: what to run.
        say: called with one line at a time about what is being done or skipped.
        progress: called with the rows loaded.

    Raises:
        BadInput: an option, a question set or a prediction file is wrong.
        EngineUnavailable: a requested engine is not up, or loading into it failed.
    """
    check(request)
    everything = load_set(request.set_name, request.bird_home, on_server=True)
    for note in everything.notes:
        say(note)
    questions = request.selected_questions(everything)
    files = read_predictions(
        request.predictions or _bundled(request.set_name),
        everything,
        predictor=request.predictor,
        extract=request.extract,
        keys=request.answer_keys,
        allow_missing=request.allow_missing,
        dialects=request.dialects,
        scored=questions,
        say=say,
    )
    for path, ids in {file.path: file.shared_ids for file in files if file.shared_ids}.items():
        twice = f"{', '.join(map(str, ids))}: as often as in {everything.name}, so matched in its order"
        say(f"{path}: question_id {twice}")
    if questions.pack is not None:
        say(str(questions.pack))
    answered = in_order(file.dialect for file in files)
    _check_sqlite(request, answered)
    _check_timed(request, questions, answered)
    left_out = [
        f"{dialect}: no predictions for it, so it is skipped"
        for dialect in request.dialects or ()
        if dialect not in answered
    ]
    for line in left_out:
        say(line)
    variants = None
    if request.variants is not None:
        if questions.server is not None:
            raise BadInput(
                f"--variants: variants are SQLite files, but the databases of {questions.name} exist only on"
                " a server; leave the option out"
            )
        variants = find_variants(request.variants, questions, say)
    equipped = equip(request, questions, answered, say=say, progress=progress, variants=variants)
    setup = equipped.setup
    files = [file for file in files if file.dialect in setup.servers]
    scheduler = open_scheduler(request, setup, say)
    unfit = [line for name, engine in scheduler.engines.items() for line in unfit_settings(engine, name)]
    for line in unfit:
        say(line)
    left_out += equipped.left_out
    return Plan(
        request=equipped.request,
        setup=setup,
        scheduler=scheduler,
        files=files,
        pairs=pairs_of(setup.questions, files),
        left_out=left_out,
        notes=equipped.notes,
        unfit=unfit,
        set_questions=len(everything.questions),
    )


@dataclass(frozen=True)
class Equipped:
    """A request with its engines found and its databases loaded.

    `request` has the profile actually used; `left_out` and `notes` are as in `Plan`.
    """

    request: Request
    setup: Setup
    left_out: Sequence[str]
    notes: Mapping[EngineName, Mapping[str, Sequence[str]]] = field(default_factory=dict)


def equip(  # noqa: PLR0913 - the request and its callbacks
    request: Request,
    questions: QuestionSet,
    dialects: Sequence[EngineName],
    *,
    say: Callable[[str], None],
    progress: Progress | None = None,
    variants: Variants | None = None,
) -> Equipped:
    """Find the engines of `dialects` and load the databases.

    Raises:
        EngineUnavailable: no engine is up, or a requested one is not.
    """
    if questions.server is not None:
        return _equip_privately(request, questions, dialects, questions.server, say)
    questions.require_databases()
    left_out: list[str] = []
    servers = find_servers(dialects, required=request.dialects is not None, say=left_out.append)
    if not servers and all(kind_of(dialect).has_server for dialect in dialects):
        raise EngineUnavailable("; ".join(left_out))
    for line in left_out:
        say(line)
    request, translated = _with_profile(request, questions, servers, say)
    missing_databases: dict[tuple[EngineName, str], str] = {}
    escaped: set[tuple[EngineName, str]] = set()

    def bring(server: Server, dialect: EngineName) -> Sequence[loading.Loaded]:
        profile = Profile.FAITHFUL if dialect in translated else request.profile
        databases = [questions.database(db_id, profile) for db_id in questions.db_ids]
        done, left = loading.load_each(databases, server, progress=progress)
        there = {one.database.db_id for one in done}
        others = [] if variants is None else variants.databases(profile)
        loading.load([one for one in others if one.db_id in there], server, progress=progress)
        if left and not done:
            raise BadInput(left[0].reason)
        loading.refuse_changed(done, server)
        missing_databases.update({(server.dialect, one.database.db_id): one.reason for one in left})
        escaped.update((server.dialect, one.database.db_id) for one in done if one.escape)
        for one in left:
            say(
                f"{server.dialect}, {one.database.db_id}: not loaded, so answers to its questions are"
                f" gold_error there and do not count as the predictor's: {one.reason}"
            )
        return done

    done = {
        dialect: [(server, bring(server, dialect)) for server in some] for dialect, some in servers.items()
    }
    notes: dict[EngineName, Mapping[str, Sequence[str]]] = {
        server.dialect: _noted(server, some, say) for server, some in chain.from_iterable(done.values())
    }
    server_contents = {dialect: loaded_contents([each for _, each in some]) for dialect, some in done.items()}
    usable = [dialect for dialect in dialects if dialect in servers or not kind_of(dialect).has_server]
    setup = Setup(
        questions,
        {dialect: servers.get(dialect, ()) for dialect in usable},
        request.profile,
        Limits(seconds=request.seconds),
        tuple(request.metrics),
        variants,
        server_contents=server_contents,
        repeat=request.repeat,
        missing_databases=missing_databases,
        escaped=frozenset(escaped),
        translated=translated,
    )
    return Equipped(request, _with_counting(setup, say), left_out, notes)


def _with_counting(setup: Setup, say: Callable[[str], None]) -> Setup:
    """Add the engines that cannot count work to the setup, if a metric needs it; log each in a line."""
    names = of_basis(setup.metrics, Basis.WORK)
    if not names or not setup.questions.db_ids:
        return setup
    uncounted: dict[EngineName, str] = {}
    for dialect in setup.servers:
        database = setup.database(setup.questions.db_ids[0], dialect)
        try:
            found = count_work(setup.engine(dialect), database, "SELECT 1", setup.limits)
        except SqlError as error:
            found = NotCounted(error.message)
        if isinstance(found, NotCounted):
            uncounted[dialect] = found.reason
            say(f"{dialect}: cannot measure {', '.join(names)}: {found.reason}")
    return replace(setup, uncounted=uncounted)


def _equip_privately(
    request: Request,
    questions: QuestionSet,
    dialects: Sequence[EngineName],
    own: SetServer,
    say: Callable[[str], None],
) -> Equipped:
    """Equip a request for a set whose databases already exist on a server: nothing is loaded."""
    only = str(own.dialect)
    left_out = [
        f"{dialect}: the databases of {questions.name} exist only on a {only} server, so it is skipped"
        for dialect in dialects
        if dialect != only
    ]
    if tested := of_basis(request.metrics, Basis.WITNESSES):
        raise BadInput(
            f"--metrics {','.join(tested)}: witnesses have the keys and values of SQLite files, but the"
            f" databases of {questions.name} exist only on a server; leave it out"
        )
    if only not in dialects:
        raise BadInput("; ".join(left_out).replace("so it is skipped", f"give answers for {only}"))
    for line in left_out:
        say(line)
    placed, server = private_server(questions)
    say(f"{only}: {questions.name} is at {server.address}; nothing is loaded, queries run as {server.user}")
    setup = Setup(
        placed,
        {only: (server,)},
        request.profile,
        Limits(seconds=request.seconds),
        tuple(request.metrics),
        repeat=request.repeat,
    )
    return Equipped(request, _with_counting(setup, say), left_out)


def loaded_contents(loads: Sequence[Sequence[loading.Loaded]]) -> dict[str, tuple[str, ...]]:
    """Return what a load left on each server that shares the work, by database: `Setup.server_contents`."""
    found: dict[str, tuple[str, ...]] = {}
    for one in chain.from_iterable(loads):
        found[one.database.db_id] = (*found.get(one.database.db_id, ()), one.content)
    return found


def _noted(
    server: Server, done: Sequence[loading.Loaded], say: Callable[[str], None]
) -> dict[str, Sequence[str]]:
    """Return the notes of a load, by database, and log those that are new."""
    for one in done:
        for note in () if one.skipped else one.notes:
            say(f"{server.dialect}, {one.database.db_id}: {note}")
    return {one.database.db_id: one.notes for one in done if one.notes}


def open_scheduler(request: Request, setup: Setup, say: Callable[[str], None]) -> Scheduler:
    """Return the scheduler of a request: local processes or Ray, with or without the result cache."""
    store = Store(request.store or default_path(), allowed_bytes(), say) if request.cache else None
    return Scheduler(setup, lambda: _workers(request, setup), store=store)


def _workers(request: Request, setup: Setup) -> Workers:
    if request.ray is None:
        return LocalWorkers(setup, request.processes)
    workers: Workers = option_of_lab("ray", "ray")(setup, request.ray, request.workers)
    return workers


def _with_profile(
    request: Request, questions: QuestionSet, servers: Iterable[EngineName], say: Callable[[str], None]
) -> tuple[Request, frozenset[EngineName]]:
    """Return the request with the profile of the set's golds, if it names one, and the engines without golds.

    Their golds are translated, which needs `faithful`: only there do they mean what they mean on SQLite.
    """
    if servers and questions.profile not in {None, request.profile}:
        say(f"{questions.name}: loaded in profile {questions.profile}, which its golds are for")
        request = replace(request, profile=questions.profile)
    translated = in_order(
        name
        for name in servers
        if any(dialect_of(name) not in {*one.gold, *one.by_rows} for one in questions.questions)
    )
    if not translated or request.profile is Profile.FAITHFUL:
        return request, frozenset(translated)
    say(
        f"{questions.name} publishes no gold for {' and '.join(translated)}: SQLite's is translated,"
        " and the databases are loaded there in profile faithful"
    )
    if len(translated) == len(list(servers)):
        request = replace(request, profile=Profile.FAITHFUL)
    return request, frozenset(translated)


def _check_sqlite(request: Request, answered: Sequence[EngineName]) -> None:
    """Reject metrics that would have nothing to score."""
    alone = [name for name in request.metrics if METRICS[name].is_of_sqlite]
    if alone and Dialect.SQLITE not in map(dialect_of, answered):
        raise BadInput(
            f"--metrics {','.join(alone)}: defined only for predictions in SQLite's dialect, but there are"
            " none; leave it out, or name prediction files for SQLite"
        )


def _check_timed(request: Request, questions: QuestionSet, answered: Sequence[EngineName]) -> None:
    """Reject timing predictions whose gold cannot run on their engine."""
    timed = [name for name in request.metrics if METRICS[name].is_timed or METRICS[name].of_work]
    languages = {dialect_of(name) for name in answered}
    held = [one.key for one in questions.questions if languages & one.by_rows]
    if timed and held:
        raise BadInput(
            f"--metrics {','.join(timed)}: {len(held)} questions ({held[0]}, ...) are compared with the"
            " rows of SQLite's gold, so a server has no gold to time or count; leave the metric out, or use"
            " --dialect sqlite"
        )


def _digest(path: Path) -> str | None:
    try:
        return digests([path])[path]
    except BadInput:
        return None


def _bundled(set_name: str) -> Sequence[Path]:
    if set_name != "sample":
        raise BadInput(
            f"--set {set_name}: no predictions given; name a file or folder:"
            f" {command('eval', set=set_name, predictions='...')}"
        )
    return [PREDICTIONS]
