"""Conformance: run the rest of a suite, write a line for each query at once, and count them all.

Queries are run state by state. Servers get the states in batches, into a fixed number of namespaces: those of
the batch before are replaced.
"""

import os
import random
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import sqlglot
from filelock import FileLock, Timeout
from sqlglot.errors import ErrorLevel, SqlglotError

from dialects.enums import Dialect, Profile
from dialects.errors import BadInput
from dialects.parameters import literal
from dialects.schema import Schema
from dialects.targets import SQLGLOT
from dialects.translation import Translation, Untranslatable, translate
from harness.analyses.bench import in_threads
from harness.engines import on_server
from harness.engines.execution import Ending, Limits
from harness.labs.conformance.comparison import (
    OURS,
    Checked,
    Checker,
    Line,
    QueryVerdict,
    Translator,
    digest,
    in_order,
    without_names,
    witness,
)
from harness.labs.conformance.folders import scripts
from harness.labs.conformance.sqllogictest import Left, QueryRecord, Script
from harness.labs.conformance.states import State, merged, states
from harness.labs.conformance.tables import Tally, count, markdown, print_board
from harness.scoring.cache import code
from loaders.base import paths
from loaders.base.digests import digests
from loaders.base.files import locked, write_json
from loaders.base.processes import processors
from loaders.base.records import Recorder, to_object, to_plain
from loaders.bulk_load import load_each
from loaders.file_census import census
from loaders.namespace import Database
from loaders.server import Server

SCHEMA_VERSION = 1
"""Version of `results.jsonl` and `report.json`; docs/how-to/coverage.md describes them."""

RESULTS = "results.jsonl"
MARKDOWN = "report.md"
JSON = "report.json"


@dataclass(frozen=True)
class ConformanceRequest:
    """A request to measure a suite.

    `suite` is a folder or a sqllogictest file, `out` the folder of the results. `sample` None is every query.
    `translator` has names separated by commas.
    """

    suite: Path
    out: Path = Path("results/conformance")
    translator: str = OURS
    sample: int | None = None
    seed: int = 0
    seconds: float = 10.0
    workers: int = field(default_factory=processors)


@dataclass(frozen=True)
class ConformanceResult:
    """The result of a run: the counts, and the folder that has them."""

    title: str
    board: Tally
    folder: Path


def measure(
    request: ConformanceRequest,
    servers: Mapping[Dialect, Server],
    counted: Callable[[int, int], None] | None = None,
) -> ConformanceResult:
    """Run the remaining queries, and count everything.

    Args:
        request: what to measure.
        servers: one of each dialect.
        counted: called with the numbers of queries that have a line, and of all.

    Raises:
        BadInput: an option, a file of the suite, or what the folder holds is wrong.
        EngineUnavailable: a server broke; the same call continues.
    """
    chosen = translators(request.translator)
    suite = scripts(request.suite)
    wanted = sampled({script.name: keys(script) for script in suite}, request.sample, request.seed)
    files = [path for script in suite for path in script.files]
    manifest = _manifest(request, tuple(chosen), servers, files)
    total = sum(map(len, wanted.values()))
    with _recorder(request.out, manifest) as recorder, _alone(servers):
        done = {line["query"] for line in _lines(recorder) if "query" in line}
        replayed = {line["script"] for line in _lines(recorder) if "script" in line}
        for line in _Run(servers, chosen, request).lines(suite, wanted, done, replayed):
            recorder.add(line)
            if "query" in line:
                done.add(line["query"])
            if counted:
                counted(len(done), total)
        board = count(_lines(recorder))
        title = f"Queries of {request.suite.absolute().name} compared with SQLite {manifest['sqlite']}"
        _write(request.out / MARKDOWN, markdown(title, board))
        report = {**manifest, **board.to_json()}
        write_json(request.out / JSON, report)
    return ConformanceResult(title, board, request.out)


def print_measured(measured: ConformanceResult, say: Callable[[str], None], *, as_json: bool = False) -> int:
    """Print a board; the result is the exit code: 1 where the project's own translations broke a promise."""
    if as_json:
        print((measured.folder / JSON).read_text(encoding="utf-8"), end="")  # noqa: T201 - the answer itself
    else:
        print_board(measured.title, measured.board)
    say(f"written to {measured.folder}")
    if faults := measured.board.faults:
        say(f"{faults:,} answers are silent differences, errors or crashes; {MARKDOWN} there has each kind")
    return 1 if faults else 0


def _manifest(
    request: ConformanceRequest,
    chosen: tuple[str, ...],
    servers: Mapping[Dialect, Server],
    files: list[Path],
) -> dict[str, Any]:
    found = digests(list(dict.fromkeys(files)))
    root = request.suite if request.suite.is_dir() else request.suite.parent
    manifest = {
        "schema_version": SCHEMA_VERSION,
        "suite": {path.relative_to(root).as_posix(): found[path] for path in sorted(found)},
        "sample": request.sample,
        "seed": request.seed if request.sample is not None else None,
        "translators": list(chosen),
        "seconds": request.seconds,
        "sqlite": sqlite3.sqlite_version,
        "engines": {dialect: on_server(server).version() for dialect, server in servers.items()},
        "packages": {name: version(name) for name in ("bird-harness", "sqlglot")},
        "code": code(),
    }
    return to_object(to_plain(manifest))


@contextmanager
def _alone(servers: Mapping[Dialect, Server]) -> Iterator[None]:
    """Keep other runs of this user from replacing the databases on the servers within the block.

    Raises:
        BadInput: one does.
    """
    with ExitStack() as stack:
        for server in servers.values():
            name = f"conformance-{server.address.replace(':', '-')}.lock"
            try:
                stack.enter_context(FileLock(paths.cache() / name, timeout=0))
            except Timeout:
                raise BadInput(
                    f"{server.dialect} at {server.address}: another run of `conformance` uses it; wait for it"
                ) from None
        yield


@contextmanager
def _recorder(folder: Path, manifest: Mapping[str, Any]) -> Iterator[Recorder]:
    """Yield the results of a run, whose first line says what was asked.

    Raises:
        BadInput: the folder cannot be written, another process writes it, or it has results of another run.
    """
    with ExitStack() as stack:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            stack.callback(os.close, locked(folder))
            recorder = Recorder(folder / RESULTS)
            stack.callback(recorder.close)
            head = next(recorder.read(to_object, _REMEDY), None)
            if head is None:
                recorder.add(manifest)
        except OSError as error:
            raise BadInput(
                f"--out {folder}: cannot be written ({error.strerror}); choose another folder"
            ) from error
        if head is not None and head != manifest:
            names = [name for name in manifest if head.get(name) != manifest[name]]
            raise BadInput(
                f"--out {folder}: holds results of another run (other {', '.join(names)}); "
                "choose another folder, or remove it"
            )
        yield recorder


_REMEDY = "remove the folder, and run again"


def _lines(recorder: Recorder) -> Iterator[Line]:
    """Yield the lines so far, without the first."""
    return islice(recorder.read(to_object, _REMEDY, "line of results"), 1, None)


def _write(path: Path, text: str) -> None:
    """Write a report, whole or not at all; a suite may hold bytes that are not UTF-8."""
    unfinished = path.with_name(f".{path.name}")
    unfinished.write_text(text, encoding="utf-8", errors="surrogateescape")
    unfinished.replace(path)


# Translators: the project's, and others on the same board.


def _sqlglot(sql: str, schema: Schema, target: Dialect) -> Translation:
    """As `sqlglot.transpile(sql, read="sqlite", write=...)`; what it calls unsupported is a warning."""
    del schema
    dialect = sqlglot.Dialect.get_or_raise(SQLGLOT[target])
    generator = dialect.generator(unsupported_level=ErrorLevel.IGNORE)
    try:
        [tree] = sqlglot.parse(sql, read=SQLGLOT[Dialect.SQLITE])
        text = generator.generate(tree, copy=False) if tree is not None else ""
    except (SqlglotError, ValueError, RecursionError) as error:
        raise Untranslatable("sqlglot", str(error).splitlines()[0]) from error
    return Translation(text, target, warnings=tuple(generator.unsupported_messages))


def _polyglot(polyglot: Any, sql: str, schema: Schema, target: Dialect) -> Translation:
    """Plain polyglot-sql, a library of others."""
    del schema
    try:
        [text] = polyglot.transpile(sql, read="sqlite", write=str(target))
    except (polyglot.PolyglotError, ValueError) as error:
        raise Untranslatable("polyglot-sql", str(error).splitlines()[0]) from error
    return Translation(text, target)


_TRANSLATORS: dict[str, Translator] = {OURS: translate, "sqlglot": _sqlglot}
_POLYGLOT = "polyglot"
"""Another one, where it is installed."""


def translators(names: str) -> Mapping[str, Translator]:
    """Return translators by name, in the order of the table.

    Args:
        names: separated by commas.

    Raises:
        BadInput: a name is not a translator, or its package is not installed.
    """
    wanted, known = [name.strip() for name in names.split(",")], dict(_TRANSLATORS)
    if unknown := [name for name in wanted if name not in {*known, _POLYGLOT}]:
        choices = ", ".join((*known, _POLYGLOT))
        raise BadInput(f"--translator {names}: {unknown[0]!r} is not a translator; choose from {choices}")
    if _POLYGLOT in wanted:
        try:
            known[_POLYGLOT] = partial(_polyglot, import_module("polyglot_sql"))
        except ImportError as error:
            raise BadInput(
                "--translator polyglot: is not installed; install it with `pip install polyglot-sql`"
            ) from error
    return {name: translator for name, translator in known.items() if name in wanted}


# The queries of a suite.


def keys(script: Script) -> list[str]:
    """Return the keys of a script's queries, those that are left out among them.

    Raises:
        BadInput: a record is none.
    """
    return [
        script.key(record)
        for record in script.read()
        if isinstance(record, QueryRecord) or (isinstance(record, Left) and record.is_query)
    ]


def sampled(by_script: Mapping[str, Sequence[str]], size: int | None, seed: int) -> dict[str, set[str]]:
    """Return the keys of the queries to run, by script: all, or `size` of them that `seed` chooses."""
    every = [(name, key) for name in sorted(by_script) for key in by_script[name]]
    if size is not None and size < len(every):
        every = random.Random(seed).sample(every, size)  # noqa: S311 - not for secrets
    chosen: dict[str, set[str]] = {}
    for name, key in every:
        chosen.setdefault(name, set()).add(key)
    return chosen


COLLECTION = "bird_conformance"

BATCH = 32
"""Namespaces on each server. One costs about 0.15 s to fill."""


@dataclass(frozen=True)
class _Described:
    """See `Described`."""

    database: Database
    schema: Schema
    unloaded: Mapping[Dialect, str]
    """Why an engine has it not."""


class _Run:
    """The queries of a suite on servers."""

    def __init__(
        self,
        servers: Mapping[Dialect, Server],
        chosen: Mapping[str, Translator],
        request: ConformanceRequest,
    ) -> None:
        self._servers = servers
        self._translators = chosen
        self._seconds, self._workers = request.seconds, request.workers
        engines = {dialect: on_server(server) for dialect, server in servers.items()}
        self._checker = Checker(engines, Limits(seconds=request.seconds))

    def lines(
        self,
        suite: Sequence[Script],
        wanted: Mapping[str, AbstractSet[str]],
        done: AbstractSet[str],
        replayed: AbstractSet[str],
    ) -> Iterator[Line]:
        """Run the queries that are wanted and not done.

        Args:
            suite: its scripts.
            wanted: the keys of queries, by script.
            done: the keys of queries that have a line.
            replayed: the names of scripts that have a line.

        Yields:
            A line for each script and for each query, when it is complete.

        Raises:
            BadInput: a file of the suite is wrong.
            EngineUnavailable: a server broke.
        """
        with TemporaryDirectory(prefix="conformance-") as place:
            batch: list[State] = []
            for number, script in enumerate(suite):
                keys_left = wanted.get(script.name, frozenset()) - done
                if not keys_left:
                    continue
                folder = Path(place) / str(number)
                folder.mkdir()
                found, replay = states(script, wanted[script.name], folder, self._seconds)
                if script.name not in replayed:
                    yield {"script": script.name, "statements": dict(replay.statements)}
                yield from ({"query": key, "left": why} for key, why in replay.left if key in keys_left)
                for state in found:
                    state.queries = [each for each in state.queries if each[0] in keys_left]
                    if state.queries:
                        batch.append(state)
                    else:
                        state.remove()
                while len(batch) >= BATCH:
                    yield from self._batch(batch[:BATCH])
                    del batch[:BATCH]
            yield from self._batch(batch)

    def _batch(self, batch: Sequence[State]) -> Iterator[Line]:
        several = merged(batch)
        databases = [
            Database(COLLECTION, f"state_{number:02}", state.path, Profile.FAITHFUL)
            for number, state in enumerate(several)
        ]
        unloaded = self._loaded(databases)
        for state, database in zip(several, databases, strict=True):
            why = {dialect: reason for (dialect, one), reason in unloaded.items() if one == database}
            try:
                described = _Described(database, census(database.sqlite_path, escape=True), why)
            except BadInput as error:
                left = f"the database cannot be read: {without_names(_about(error, database))}"
                yield from ({"query": key, "left": left} for key, _ in state.queries)
                continue
            queries = iter(state.queries)
            # Few are waiting at a time, so that an end is soon.
            while some := list(islice(queries, 4 * self._workers)):
                yield from in_threads(self._workers, partial(self._line, described), some)
        for state in batch:
            state.remove()

    def _loaded(self, databases: Sequence[Database]) -> Mapping[tuple[Dialect, Database], str]:
        """Load into all servers at the same time. What one has not, and why."""

        def load(dialect: Dialect) -> list[tuple[tuple[Dialect, Database], str]]:
            _, left = load_each(databases, self._servers[dialect], escape=True, jobs=1)
            return [((dialect, one.database), one.reason) for one in left]

        servers = self._servers if databases else ()
        return dict(each for found in in_threads(len(self._servers), load, servers) for each in found)

    def _line(self, described: _Described, keyed: tuple[str, QueryRecord]) -> Line:
        key, query = keyed
        expected = self._checker.expect(query.sql, described, query.values)
        line: dict[str, Any] = {"query": key, "sql": query.sql}
        if query.values:
            line["values"] = {name: literal(value) for name, value in query.values.items()}
        if expected.ending is not Ending.ROWS:
            return {**line, "left": f"SQLite, {expected.ending}: {without_names(expected.error or '')}"}
        line["witness"] = witness(query.expected, expected.rows)
        if query.expected is not None and query.expected.label is not None:
            line["label"] = [query.expected.label, digest(in_order(query.expected, expected.rows))]
        line["answers"] = []
        for name, translator in self._translators.items():
            for dialect in self._servers:
                why = described.unloaded.get(dialect)
                if why is not None:
                    said = f"not loaded: {_about(why, described.database)}"
                    checked = Checked(QueryVerdict.NOT_COMPARED, said)
                else:
                    checked = self._checker.check(
                        query.sql, described, expected, dialect, translator=translator, values=query.values
                    )
                line["answers"].append({"translator": name, "engine": dialect, **_answer(checked)})
        return line


def _about(error: object, database: Database) -> str:
    """Return the text of an error without the database's file, which belongs to this run alone."""
    return str(error).replace(f"{database.sqlite_path}: ", "").replace(str(database.sqlite_path), "the state")


def _answer(checked: Checked) -> dict[str, Any]:
    said: dict[str, Any] = {"verdict": checked.verdict}
    if checked.detail:
        said["detail"] = checked.detail
    if checked.translation and checked.verdict not in {QueryVerdict.SAME, QueryVerdict.WARNED_SAME}:
        said["translation"] = checked.translation
    if checked.seconds is not None:
        said["seconds"] = round(checked.seconds, 4)
    return said
