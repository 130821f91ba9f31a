"""Find a witness that an answer's engine confirms, say why the texts differ on it, and execute it again."""

import sqlite3
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from sqlglot import exp

from dialects.enums import Profile
from dialects.errors import BadInput
from dialects.identifiers import quoted
from harness.data.outcomes import Difference, Verdict, preview
from harness.data.witnesses import Witness, WitnessTable
from harness.engines import EngineName, kind_of
from harness.engines.base import Engine
from harness.engines.errors import ErrorClass
from harness.engines.execution import Ending, Execution, Limits, execute
from harness.metrics.accuracy import ex
from harness.metrics.efficiency import same_text
from harness.scoring.chance.equal import is_equal_to_a_gold
from harness.scoring.chance.search import (
    SECONDS,
    Data,
    Distinction,
    PairToRefute,
    Scratch,
    apart,
    in_memory,
    keeps_references,
    searched,
)
from harness.scoring.chance.shape import Shape, TableName, Value, folded
from harness.sqltree.diagnosis import diagnose, read
from loaders import index_copies
from loaders.base.errors import EngineUnavailable
from loaders.bulk_load import load as load_databases
from loaders.namespace import Database, namespace
from loaders.server import Server

_OF_CLASSES = {
    ErrorClass.WRONG_TABLES: Difference.JOIN,
    ErrorClass.WRONG_COLUMNS: Difference.COLUMN,
    ErrorClass.WRONG_CONDITION: Difference.CONDITION,
    ErrorClass.WRONG_LITERAL: Difference.CONDITION,
    ErrorClass.WRONG_AGGREGATION: Difference.AGGREGATE,
    ErrorClass.WRONG_ORDER: Difference.TIE,
}


# Execution on an engine.

_MOMENT = 0.05
"""Seconds between two tries to get a lock."""
_MOST_WAITING = 5.0
"""Seconds to wait for those who hold it only while they execute a witness."""


@dataclass(frozen=True)
class ExecutionPlace:
    """Where witnesses are executed: an engine, and its server's administrating account, if it has one."""

    engine: Engine
    server: Server | None = None
    limits: Limits = field(default_factory=Limits)
    waits: float | None = None
    """Seconds to wait for the server's lock for each execution; None: it is held all the time."""


@contextmanager
def place_of(name: EngineName, server: Server | None, limits: Limits) -> Iterator[ExecutionPlace]:
    """Yield where witnesses of an engine are executed, with its server held all the time.

    Raises:
        EngineUnavailable: its server does not answer, or another process has copies of databases there.
    """
    kind = kind_of(name)
    with ExitStack() as stack:
        if server is not None and kind.embedded is None:
            stack.enter_context(_held(server, _MOST_WAITING))
        yield ExecutionPlace(kind.make(server, pooled=False), server, limits)


@contextmanager
def _held(server: Server, seconds: float) -> Iterator[None]:
    """Hold a server's lock for copies of databases; what an earlier process left there is removed.

    Raises:
        EngineUnavailable: it does not answer, or another process held the lock for `seconds`.
    """
    end = time.monotonic() + seconds
    while True:
        with index_copies.hold(server) as is_held:
            if is_held:
                if left := index_copies.copies(server):
                    index_copies.drop(server, left)
                yield
                return
        if time.monotonic() >= end:
            raise EngineUnavailable(
                f"{server.dialect} at {server.address}: another study uses copies of databases there;"
                " wait for it to end"
            )
        time.sleep(_MOMENT)


@dataclass(frozen=True)
class WitnessReplay:
    """A prediction and its golds, executed on a witness. `is_refuted`: it is right by none of them."""

    prediction: Execution
    golds: Sequence[Execution]
    is_refuted: bool


def replay(witness: Witness, place: ExecutionPlace) -> WitnessReplay:
    """Execute the texts of a witness on its engine, in a database of its own that is removed afterwards.

    Raises:
        BadInput: its tables cannot be made, or the engine does not take its rows.
        EngineUnavailable: the engine broke.
    """
    pair = PairToRefute(witness.sql, witness.golds, witness.dialect)
    with _as_database(witness, place) as (engine, database):

        def run(sql: str) -> Execution:
            return execute(engine, database, sql, place.limits)

        ours, *theirs = (run(text) for text in (witness.sql, *witness.golds))
        is_refuted = ours.ending is Ending.ROWS and all(
            gold.ending is Ending.ROWS
            and apart(
                (witness.sql, [ours.rows]), (text, [gold.rows]), witness.dialect, run, has_cut=pair.has_cut
            )
            for text, gold in zip(witness.golds, theirs, strict=True)
        )
    return WitnessReplay(ours, theirs, is_refuted)


@contextmanager
def _as_database(witness: Witness, place: ExecutionPlace) -> Iterator[tuple[Engine, Database]]:
    """Yield a witness as a database of its engine."""
    with tempfile.TemporaryDirectory(prefix="witness-") as folder:
        path = Path(folder) / "witness.sqlite"
        _write(witness, path)
        database = Database(index_copies.copy_collection(), witness.db_id, path, witness.profile)
        with standing([database], place) as engine:
            yield engine, database


@contextmanager
def standing(databases: Sequence[Database], place: ExecutionPlace) -> Iterator[Engine]:
    """Yield the engine with databases of one `copy_collection`, which are removed afterwards.

    Raises:
        BadInput: the engine does not take their rows.
        EngineUnavailable: the engine broke.
    """
    kind = kind_of(place.engine.dialect)
    if not kind.has_server or place.server is None:
        yield place.engine
    elif kind.embedded is not None:
        with tempfile.TemporaryDirectory(prefix="witness-") as folder:
            server = replace(place.server, host=folder)
            load_databases(databases, server)
            yield kind.make(server, pooled=False)
    else:
        with nullcontext() if place.waits is None else _held(place.server, place.waits):
            try:
                load_databases(databases, place.server)
                yield place.engine
            finally:
                # A server that is gone is swept by the next study.
                with suppress(EngineUnavailable):
                    names = (namespace(one, place.server.dialect)[0] for one in databases)
                    index_copies.drop(place.server, list(dict.fromkeys(names)))


def _write(witness: Witness, path: Path) -> None:
    try:
        with closing(sqlite3.connect(path)) as connection:
            connection.set_authorizer(_creating)
            for table in witness.tables:
                _refuse_other(table.create, "TABLE")
                connection.execute(table.create)
                marks = ", ".join("?" * len(table.columns))
                names = ", ".join(map(quoted, table.columns))
                text = f"INSERT INTO {quoted(table.name)} ({names}) VALUES ({marks})"  # noqa: S608 - quoted
                connection.executemany(text, [[_value(one) for one in row] for row in table.rows])
            for view in witness.views:
                _refuse_other(view, "VIEW")
                with suppress(sqlite3.OperationalError):
                    connection.execute(view)
            connection.commit()
    except (sqlite3.Error, ValueError, KeyError, TypeError, OverflowError) as error:
        raise BadInput(f"witness of {witness.db_id}: {error}; find it again") from error


def broken(witness: Witness, shape: Shape) -> list[str]:
    """Return the tables of a witness whose rows break a declared key, reference, NOT NULL or CHECK.

    SQLite judges, not the search: rows go one by one into the tables and unique indexes of the file.

    Args:
        witness: the witness.
        shape: of its database.
    """
    found = []
    with closing(sqlite3.connect(":memory:")) as connection:
        for table in witness.tables:
            stored = shape.by_key[TableName(folded(table.name))]
            connection.execute(table.create)
            for index in stored.indexes:
                with suppress(sqlite3.OperationalError):
                    connection.execute(index)
            key = [stored.positions[name] for name in stored.primary_key]
            try:
                connection.executemany(stored.insert, [[_value(one) for one in row] for row in table.rows])
            except sqlite3.IntegrityError:
                found.append(table.name)
            # SQLite alone allows NULL in a primary key.
            found += [table.name for row in table.rows if any(row[at] is None for at in key)]
        for table in witness.tables:
            with suppress(sqlite3.OperationalError):  # the parent's columns are no key
                found += [
                    row[0] for row in connection.execute(f"PRAGMA foreign_key_check({quoted(table.name)})")
                ]
    if not keeps_references(shape, data_of(witness)):
        found.append("references")
    return list(dict.fromkeys(found))


# Search.

_MOST_CONFIRMED = 3
"""Databases that the engine is asked about for a pair, where it is not SQLite."""


def judged(  # noqa: PLR0913, PLR0917 - those of `find`
    shape: Shape,
    pair: PairToRefute,
    place: ExecutionPlace,
    profile: Profile = Profile.OFFICIAL,
    seconds: float = SECONDS,
    known: Sequence[Witness] = (),
) -> tuple[Verdict, Witness | None]:
    """Return the verdict on a right answer, and the witness of a refuted one; the arguments are `find`'s.

    Raises:
        EngineUnavailable: the engine broke.
    """
    if any(same_text(pair.sql, gold) for gold in pair.golds) or is_equal_to_a_gold(shape, pair):
        return Verdict.EQUAL, None
    found = find(shape, pair, place, profile, seconds, known)
    return (Verdict.UNDECIDED if found is None else Verdict.REFUTED), found


def find(  # noqa: PLR0913, PLR0917 - a search, and what it begins with
    shape: Shape,
    pair: PairToRefute,
    place: ExecutionPlace,
    profile: Profile = Profile.OFFICIAL,
    seconds: float = SECONDS,
    known: Sequence[Witness] = (),
) -> Witness | None:
    """Return a witness that the engine confirms; None if none was found, which proves nothing.

    Args:
        shape: of the real database, from `harness.scoring.chance.shape.of_file`.
        pair: the prediction and its golds.
        place: the engine that confirms it.
        profile: of the tables there.
        seconds: see `searched`.
        known: witnesses against answers to the question: one against this answer is returned if it still
            refutes it, and the databases of the others are tried first.

    Raises:
        EngineUnavailable: the engine broke.
    """
    for each in known:
        if (each.sql, each.golds, each.profile) == (pair.sql, tuple(pair.golds), profile):
            with suppress(BadInput):
                if replay(each, place).is_refuted:
                    return each
    earlier = [data_of(each) for each in known]
    for found in islice(searched(shape, pair, seconds, earlier), _MOST_CONFIRMED):
        used, data = found.shape, found.data
        witness = Witness(
            1,
            pair.dialect,
            profile,
            shape.db_id,
            pair.sql,
            tuple(pair.golds),
            _difference(used, data, pair),
            found.proof is Distinction.PLAUSIBLE,
            tuple(
                WitnessTable(
                    table.name,
                    table.create,
                    tuple(column.name for column in table.columns),
                    [[_plain(value) for value in row] for row in data[table.key]],
                )
                for table in used.tables
            ),
            used.views,
        )
        with suppress(BadInput):  # the engine cannot hold it
            again = replay(witness, place)
            if again.is_refuted:
                return replace(witness, preview=preview(again.golds[0].rows, again.prediction.rows))
    return None


def data_of(witness: Witness) -> Data:
    """Return the rows of each table."""
    return {
        TableName(folded(table.name)): [[_value(one) for one in row] for row in table.rows]
        for table in witness.tables
    }


def _plain(value: Value) -> Any:
    return {"hex": value.hex()} if isinstance(value, bytes) else value


def _value(plain: Any) -> Value:
    found: Value = bytes.fromhex(plain["hex"]) if isinstance(plain, Mapping) else plain
    return found


# Why they differ.


def _without_distinct(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.Distinct) and isinstance(node.parent, exp.AggFunc) and node.expressions:
        first: exp.Expr = node.expressions[0]
        return first
    return node


def _without_cut(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.Query):
        node.set("limit", None)
        node.set("offset", None)
    return node


_WIDER: Mapping[type[exp.Expr], type[exp.Binary]] = {exp.LT: exp.LTE, exp.GT: exp.GTE}


_COMPARISONS = (exp.LT, exp.LTE, exp.GT, exp.GTE)


def _with_ends(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.Between):
        low, high = (
            kind(this=node.this.copy(), expression=node.args[end])
            for kind, end in ((exp.GTE, "low"), (exp.LTE, "high"))
        )
        return exp.and_(low, high)
    kind = _WIDER.get(type(node))
    return node if kind is None else kind(this=node.this, expression=node.expression)


_LEVELLED: Mapping[Difference, Callable[[exp.Expr], exp.Expr]] = {
    Difference.DUPLICATES: _without_distinct,
    Difference.BOUNDARY: _with_ends,
    Difference.TIE: _without_cut,
}
"""What makes both texts the same in one respect."""


def _difference(shape: Shape, data: Data, pair: PairToRefute) -> Difference:
    """Return the first reason that applies, in the order of the tests here."""
    ours, theirs = pair.trees[:2]
    with in_memory(shape, data) as scratch:
        for difference, level in _LEVELLED.items():
            if scratch is not None and _agree((ours, theirs), level, scratch):
                return difference
    if _tables(ours) != _tables(theirs):
        return Difference.JOIN
    asked = {name.name.lower() for tree in (ours, theirs) for name in tree.find_all(exp.Column)}
    for table in shape.tables:
        for column in table.columns:
            at = table.positions[column.key]
            if column.key in asked and any(row[at] is None for row in data[table.key]):
                return Difference.NULL
    found = diagnose(pair.sql, lambda: read(pair.golds[0], pair.dialect), pair.dialect)
    if found in _OF_CLASSES:
        return _OF_CLASSES[found]
    if _shown(ours) != _shown(theirs):
        return Difference.COLUMN
    nested = (len(list(tree.find_all(exp.Select))) for tree in (ours, theirs))
    return Difference.JOIN if len(set(nested)) > 1 else Difference.OTHER


def _tables(tree: exp.Query) -> Counter[tuple[str, str]]:
    """Return the tables that a query reads, with the sides of their joins."""
    return Counter(
        (each.name.lower(), str(each.parent.args.get("side") if each.parent else ""))
        for each in tree.find_all(exp.Table)
    )


def _compared(tree: exp.Expr) -> Counter[frozenset[str]]:
    """Return which columns a query compares, how often, and its ORs."""
    compared = (each.find_all(exp.Column) for each in tree.find_all(*_COMPARISONS))
    names = Counter(frozenset(column.name.lower() for column in columns) for columns in compared)
    return names + Counter({frozenset({"OR"}): len(list(tree.find_all(exp.Or)))})


def _shown(tree: exp.Query) -> list[str]:
    """Return what a query returns, with tables in place of their aliases."""
    names = {each.alias_or_name.lower(): each.name.lower() for each in tree.find_all(exp.Table)}
    shown = [each.unalias().copy() for each in tree.selects]
    for column in (column for each in shown for column in each.find_all(exp.Column)):
        if column.table:
            column.set("table", exp.to_identifier(names.get(column.table.lower(), column.table)))
    return [each.sql().lower() for each in shown]


def _agree(trees: Sequence[exp.Query], level: Callable[[exp.Expr], exp.Expr], scratch: Scratch) -> bool:
    """True if two queries return the same rows once both are levelled, and one of them is changed by it."""
    levelled = [tree.transform(level) for tree in trees]
    if levelled == list(trees):
        return False
    if level is _with_ends and _compared(levelled[0]) != _compared(levelled[1]):
        return False  # it is a condition that is missing, or another one
    with suppress(Exception):  # sqlglot raises all kinds for trees that nobody foresaw
        ours, theirs = (scratch.run(tree.sql("sqlite")) for tree in levelled)
        return ours.ending is theirs.ending is Ending.ROWS and bool(ex(ours.rows, theirs.rows))
    return False


def _refuse_other(statement: str, kind: str) -> None:
    if statement.split()[:2] and [word.upper() for word in statement.split()[:2]] != ["CREATE", kind]:
        raise ValueError(f"{statement[:60]!r} is not CREATE {kind}")


def _creating(action: int, *_: object) -> int:
    """Allow everything but other files: a witness may come from anybody."""
    return sqlite3.SQLITE_DENY if action == sqlite3.SQLITE_ATTACH else sqlite3.SQLITE_OK
