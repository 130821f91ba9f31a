"""Runs what is left of a suite, state by state, and keeps a line for each query as it comes.

Servers get the states in batches, into a fixed number of namespaces: those of the batch before are replaced.
"""

import importlib
import logging
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import sqlglot
from sqlglot.errors import ErrorLevel, SqlglotError

from dialects.enums import Dialect, Profile
from dialects.errors import BadInput
from dialects.schema import Schema
from dialects.targets import SQLGLOT
from dialects.translate import Translation, Untranslatable, translate
from harness.analyses.conformance.checking import (
    Checked,
    Checker,
    Translator,
    Verdict,
    digest,
    in_order,
    without_names,
    witness,
)
from harness.analyses.conformance.sqllogictest import Left, Query, Script
from harness.analyses.conformance.states import State, merged, states
from harness.engines import on_server
from harness.engines.execution import Ending, Limits
from loaders.base.processes import processors
from loaders.census import census
from loaders.load import load_each
from loaders.namespace import Database
from loaders.server import Server

# Who translates: the project, and others to stand beside it on the same board.

OURS = "bird"

# What sqlglot remarks on a text beside its answer is not for the terminal.
logging.getLogger("sqlglot").addHandler(logging.NullHandler())


def _ours() -> Translator:
    return translate


def _sqlglot() -> Translator:
    """As `sqlglot.transpile(sql, read="sqlite", write=...)`; what it calls unsupported is a warning."""

    def transpiled(sql: str, schema: Schema, target: Dialect) -> Translation:
        del schema
        dialect = sqlglot.Dialect.get_or_raise(SQLGLOT[target])
        generator = dialect.generator(unsupported_level=ErrorLevel.IGNORE)
        try:
            [tree] = sqlglot.parse(sql, read=SQLGLOT[Dialect.SQLITE])
            text = generator.generate(tree, copy=False) if tree is not None else ""
        except (SqlglotError, ValueError, RecursionError) as error:
            raise Untranslatable("sqlglot", str(error).splitlines()[0]) from error
        return Translation(text, target, warnings=tuple(generator.unsupported_messages))

    return transpiled


def _polyglot() -> Translator:
    """Plain polyglot-sql, a library of others, where it is installed."""
    try:
        polyglot: Any = importlib.import_module("polyglot_sql")
    except ImportError as error:
        raise BadInput(
            "--translator polyglot: is not installed; `pip install polyglot-sql` brings it"
        ) from error

    def transpiled(sql: str, schema: Schema, target: Dialect) -> Translation:
        del schema
        try:
            [text] = polyglot.transpile(sql, read="sqlite", write=str(target))
        except (polyglot.PolyglotError, ValueError) as error:
            raise Untranslatable("polyglot-sql", str(error).splitlines()[0]) from error
        return Translation(text, target)

    return transpiled


_MAKERS: Mapping[str, Callable[[], Translator]] = {OURS: _ours, "sqlglot": _sqlglot, "polyglot": _polyglot}


def translators(names: str) -> Mapping[str, Translator]:
    """Translators by name, in the order of the table.

    Args:
        names: separated by commas.

    Raises:
        BadInput: a name is not a translator, or what it stands for is not installed.
    """
    wanted = [name.strip() for name in names.split(",")]
    unknown = [name for name in wanted if name not in _MAKERS]
    if unknown:
        raise BadInput(
            f"--translator {names}: {unknown[0]!r} is not a translator; choose from {', '.join(_MAKERS)}"
        )
    return {name: make() for name, make in _MAKERS.items() if name in wanted}


COLLECTION = "bird_conformance"

BATCH = 32
"""Namespaces on each server. One costs about 0.15 s to fill."""

Line = Mapping[str, Any]
"""What is kept of a script or of a query; docs/conformance.md describes it."""

Progress = Callable[[int, int], None]
"""Told how many of the queries have a line, and how many there are."""


@dataclass(frozen=True)
class Setup:
    """What is the same for all queries of a run."""

    servers: Mapping[Dialect, Server]
    translators: Mapping[str, Translator]
    limits: Limits
    workers: int = field(default_factory=processors)


def keys(script: Script) -> list[str]:
    """The keys of a script's queries, those that are left out among them.

    Raises:
        BadInput: a record is none.
    """
    return [
        script.key(record) if isinstance(record, Query) else f"{script.name}:{record.line}"
        for record in script.read()
        if isinstance(record, Query) or (isinstance(record, Left) and record.is_query)
    ]


def sampled(by_script: Mapping[str, Sequence[str]], size: int | None, seed: int) -> dict[str, set[str]]:
    """The keys of the queries to run, by script: all, or `size` of them that `seed` chooses."""
    every = [(name, key) for name in sorted(by_script) for key in by_script[name]]
    if size is not None and size < len(every):
        every = random.Random(seed).sample(every, size)  # noqa: S311 - not for secrets
    chosen: dict[str, set[str]] = {}
    for name, key in every:
        chosen.setdefault(name, set()).add(key)
    return chosen


def run(
    scripts: Sequence[Script],
    wanted: Mapping[str, AbstractSet[str]],
    done: AbstractSet[str],
    replayed: AbstractSet[str],
    setup: Setup,
) -> Iterator[Line]:
    """Run the queries that are wanted and not done.

    Args:
        scripts: of the suite.
        wanted: the keys of queries, by script.
        done: the keys of queries that have a line.
        replayed: the names of scripts that have a line.
        setup: what they are run on.

    Yields:
        A line for each script and for each query, when it is complete.

    Raises:
        BadInput: a file of the suite is wrong.
        EngineUnavailable: a server broke.
    """
    checker = Checker({each: on_server(server) for each, server in setup.servers.items()}, setup.limits)
    with TemporaryDirectory(prefix="conformance-") as place:
        batch: list[State] = []
        for number, script in enumerate(scripts):
            keys_left = wanted.get(script.name, frozenset()) - done
            if not keys_left:
                continue
            folder = Path(place) / str(number)
            folder.mkdir()
            found, replay = states(script, wanted[script.name], folder, setup.limits.seconds)
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
                yield from _run_batch(batch[:BATCH], checker, setup)
                del batch[:BATCH]
        yield from _run_batch(batch, checker, setup)


@dataclass(frozen=True)
class _Described:
    """See `Described`."""

    database: Database
    schema: Schema
    unloaded: Mapping[Dialect, str]
    """Why an engine has it not."""


def _run_batch(batch: Sequence[State], checker: Checker, setup: Setup) -> Iterator[Line]:
    several = merged(batch)
    databases = [
        Database(COLLECTION, f"state_{number:02}", state.path, Profile.FAITHFUL)
        for number, state in enumerate(several)
    ]
    unloaded = _loaded(databases, setup.servers)
    with ThreadPoolExecutor(setup.workers, thread_name_prefix="conformance") as pool:
        try:
            for state, database in zip(several, databases, strict=True):
                described = _described(database, unloaded)
                if isinstance(described, str):
                    yield from ({"query": key, "left": described} for key, _ in state.queries)
                    continue
                yield from _answered(pool, state, described, checker, setup)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    for state in batch:
        state.remove()


def _answered(
    pool: ThreadPoolExecutor, state: State, described: _Described, checker: Checker, setup: Setup
) -> Iterator[Line]:
    """The lines of a state's queries; few are waiting at a time, so that an end is soon."""
    queries = iter(state.queries)
    while some := list(islice(queries, 4 * setup.workers)):
        yield from pool.map(lambda each: _line(each, described, checker, setup), some)


def _loaded(
    databases: Sequence[Database], servers: Mapping[Dialect, Server]
) -> Mapping[tuple[Dialect, Database], str]:
    """Load into all servers at the same time. What one has not, and why."""
    if not databases:
        return {}

    def load(dialect: Dialect) -> list[tuple[tuple[Dialect, Database], str]]:
        _, left = load_each(databases, servers[dialect], escape=True, jobs=1)
        return [((dialect, one.database), one.reason) for one in left]

    with ThreadPoolExecutor(len(servers)) as pool:
        return dict(each for found in pool.map(load, servers) for each in found)


def _described(database: Database, unloaded: Mapping[tuple[Dialect, Database], str]) -> _Described | str:
    why = {dialect: reason for (dialect, one), reason in unloaded.items() if one == database}
    try:
        return _Described(database, census(database.sqlite_path, escape=True), why)
    except BadInput as error:
        return f"the database cannot be read: {without_names(_about(error, database))}"


def _about(error: object, database: Database) -> str:
    """What is said of a database, without its file, which is of this run alone."""
    return str(error).replace(f"{database.sqlite_path}: ", "").replace(str(database.sqlite_path), "the state")


def _line(keyed: tuple[str, Query], described: _Described, checker: Checker, setup: Setup) -> Line:
    key, query = keyed
    expected = checker.expect(query.sql, described)
    line: dict[str, Any] = {"query": key, "sql": query.sql}
    if expected.ending is not Ending.ROWS:
        return {**line, "left": f"SQLite, {expected.ending}: {without_names(expected.error or '')}"}
    line["witness"] = witness(query.expected, expected.rows)
    if query.expected is not None and query.expected.label is not None:
        line["label"] = [query.expected.label, digest(in_order(query.expected, expected.rows))]

    def checked(dialect: Dialect, translator: Translator) -> Checked:
        why = described.unloaded.get(dialect)
        if why is not None:
            return Checked(Verdict.NOT_COMPARED, f"not loaded: {_about(why, described.database)}")
        return checker.check(query.sql, described, expected, dialect, translator=translator)

    line["answers"] = [
        {"translator": name, "engine": dialect, **_answer(checked(dialect, translator))}
        for name, translator in setup.translators.items()
        for dialect in setup.servers
    ]
    return line


def _answer(checked: Checked) -> dict[str, Any]:
    said: dict[str, Any] = {"verdict": checked.verdict}
    if checked.detail:
        said["detail"] = checked.detail
    if checked.translation and checked.verdict not in {Verdict.SAME, Verdict.WARNED_SAME}:
        said["translation"] = checked.translation
    if checked.seconds is not None:
        said["seconds"] = round(checked.seconds, 4)
    return said
