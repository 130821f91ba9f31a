"""Search a small database on which two queries differ, and shrink it.

The rows come from both texts: rows that meet each text's conditions, that
miss or just miss one of them, that lack a join partner, repeat, tie or hold NULL. Keys, references, NOT NULL
and types are the declared ones, and values are stored ones, or those that a text names and their neighbours.

The candidates are run by SQLite in memory, in both directions of an unordered scan. A difference counts only
if it does not hang on the order in which rows happen to be read, and if neither text's own ORDER BY and LIMIT
allow the other's rows. Texts of another dialect are transpiled for that: what is found is for the engine to
confirm. That nothing is found proves nothing.
"""

import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from enum import IntEnum
from itertools import chain, islice
from random import Random

from sqlglot import exp

from dialects.enums import Dialect
from dialects.volatility import is_volatile
from harness.engines import EngineName, dialect_of
from harness.engines.execution import Ending, Execution
from harness.metrics.accuracy import ex
from harness.metrics.comparison import compare
from harness.metrics.distinct import Row
from harness.scoring import ties
from harness.scoring.chance.answer_rows import Planter, values_of
from harness.scoring.chance.queries import Neighbour, RowProblem, cells_in, neighbours, problems
from harness.scoring.chance.rows import NoRowFits, Rows, StepLimit
from harness.scoring.chance.shape import Shape, TableName, TableShape, Value, folded, parents_first
from harness.scoring.chance.values import Values
from harness.sqltree.diagnosis import LONGEST
from harness.sqltree.parser import statements
from harness.sqltree.query import cuts

Data = dict[TableName, list[list[Value]]]
"""The rows of each table, values in the order of its columns."""

_STEPS = 100
"""For one text on a few rows, in 10,000 instructions of SQLite's virtual machine."""
_MOST_ROWS = 10_000
_CANDIDATES = 200
"""Most databases that are tried for a pair."""
_SHRINKING = 400
"""Most databases that are tried to shrink one."""
_SIMPLEST = 3
"""Stored values that are tried in place of another one."""
_FILLED = 3
"""Most rows of each table in a candidate that no text asks for."""
_NULLS = 0.3
SECONDS = 1.0
"""Of the thread's processor time, for one pair."""


class Distinction(IntEnum):
    """How well a database distinguishes two texts."""

    NONE = 0
    """They may return the same rows."""
    FORMAL = 1
    """They differ, and no declared key is broken."""
    PLAUSIBLE = 2
    """Besides, nothing contradicts the real database, as far as its shape says.

    That is: NULL only where the column has one, numbers within its extremes, one of its values where these
    are few and repeat, each name once where all are different; and a text answers with more than NULL and 0.
    """


@dataclass
class PairToRefute:
    """A prediction and the golds that are right for its question, the one that it was judged by first.

    `trees` are empty if a text cannot be read, or depends on the clock or on chance; `guides` are the texts
    as SQLite runs them.
    """

    sql: str
    golds: Sequence[str]
    dialect: EngineName = Dialect.SQLITE
    trees: list[exp.Query] = field(init=False)
    guides: list[str] = field(init=False)
    has_cut: bool = field(init=False)

    def __post_init__(self) -> None:
        texts = [self.sql, *self.golds]
        self.trees = [tree for text in texts if (tree := _tree(text, self.dialect)) is not None]
        if len(self.trees) < len(texts) or any(map(is_volatile, texts)):
            self.trees = []
        is_sqlite = dialect_of(self.dialect) is Dialect.SQLITE
        self.guides = texts if is_sqlite else [_in_sqlite(tree) for tree in self.trees]
        self.has_cut = any(map(cuts, self.trees))


def _tree(sql: str, dialect: EngineName) -> exp.Query | None:
    if len(sql) > LONGEST:
        return None
    try:
        [tree] = statements(sql, dialect)
    except Exception:  # noqa: BLE001 - what sqlglot raises for texts that it cannot read is of many kinds
        return None
    while isinstance(tree, exp.Subquery) and set(tree.args) == {"this"}:
        tree = tree.this
    return tree if isinstance(tree, exp.Query) else None


def _in_sqlite(tree: exp.Query) -> str:
    with suppress(Exception):  # as above
        return tree.transform(_with_functions).sql("sqlite")
    return ""


_PARTS = {"YEAR": "%Y", "MONTH": "%m", "DAY": "%d"}


def _with_functions(node: exp.Expr) -> exp.Expr:
    """Return functions that golds of servers use and sqlglot leaves as they are, as SQLite has them."""
    if isinstance(node, exp.Left | exp.Right):
        count = node.expression if isinstance(node, exp.Left) else exp.Neg(this=node.expression)
        places = [exp.Literal.number(1), count] if isinstance(node, exp.Left) else [count]
        return exp.Anonymous(this="SUBSTR", expressions=[node.this, *places])
    part = node.name if isinstance(node, exp.Extract) else type(node).__name__
    if isinstance(node, exp.Extract | exp.Year | exp.Month | exp.Day) and part.upper() in _PARTS:
        moment = node.expression if isinstance(node, exp.Extract) else node.this
        form = exp.Literal.string(_PARTS[part.upper()])
        text = exp.Anonymous(this="STRFTIME", expressions=[form, moment])
        return exp.cast(text, exp.DType.INT)
    return node


@dataclass(frozen=True)
class Found:
    """A database on which texts differ: the used tables, their rows, and how plausible they are."""

    shape: Shape
    data: Data
    proof: Distinction


def searched(
    shape: Shape, pair: PairToRefute, seconds: float = SECONDS, known: Sequence[Data] = ()
) -> Iterator[Found]:
    """Yield databases on which a prediction differs from all its golds, each shrunk; plausible ones first.

    That none comes is no proof that the texts are equal.

    Args:
        shape: of the database, from `harness.scoring.chance.shape.of_file`.
        pair: the texts.
        seconds: of the thread's processor time; a candidate that was begun is tried, and shrunk.
        known: databases that refuted other answers to the question; all are tried first.
    """
    if not pair.trees:
        return
    end = time.thread_time() + seconds
    rng = Random(f"{shape.db_id}/{pair.sql}")  # noqa: S311 - the same rows again
    formal = None
    try:
        used = _used(shape, pair.trees)
        earlier = [{table.key: data.get(table.key, []) for table in used.tables} for data in known]
        for number, data in enumerate(chain(earlier, _candidates(used, pair, rng))):
            proof = proven(used, data, pair)
            if proof > (Distinction.NONE if formal is None else Distinction.FORMAL):
                least = _simplified(
                    used, _fewest(used, _detached(used, data, pair, proof), pair, proof), pair, proof
                )
                found = Found(used, least, proven(used, least, pair))
                if found.proof is Distinction.PLAUSIBLE:
                    yield found
                formal = formal or found
            tried = number - len(earlier)
            if tried >= _CANDIDATES or (tried >= 0 and time.thread_time() > end):
                break
        if formal is not None and formal.proof is Distinction.FORMAL:
            yield formal
    except RecursionError:
        return


def unlike_databases(shape: Shape, sql: str, most: int) -> Iterator[tuple[Shape, Data]]:
    """Yield small databases on which a query of SQLite's returns other rows each time.

    The first has no rows at all. There is none for a text that cannot be read, or that depends on the clock
    or on chance.

    Args:
        shape: see `searched`.
        sql: the query.
        most: how many databases.
    """
    pair = PairToRefute(sql, [])
    if not pair.trees:
        return
    end = time.thread_time() + SECONDS
    used = _used(shape, pair.trees)
    rng = Random(f"{shape.db_id}/{sql}")  # noqa: S311 - the same rows again
    nothing: Data = {table.key: [] for table in used.tables}
    known = set[tuple[Row, ...]]()
    for data in chain([nothing], islice(_candidates(used, pair, rng), _CANDIDATES)):
        with in_memory(used, data) as scratch:
            found = None if scratch is None else scratch.run(sql)
        if found is not None and found.ending is Ending.ROWS and found.rows not in known:
            known.add(found.rows)
            yield used, data
        if len(known) >= most or time.thread_time() > end:
            return


def _used(shape: Shape, trees: Sequence[exp.Expr]) -> Shape:
    """Return the shape with the tables that texts name and those that these refer to; all, with a view."""
    names = {folded(table.name) for tree in trees for table in tree.find_all(exp.Table)}
    known = {TableName(name) for name in names} & shape.by_key.keys()
    ctes = {folded(cte.alias) for tree in trees for cte in tree.find_all(exp.CTE)}
    if names - known - ctes and shape.views:
        known = {table.key for table in shape.tables}
    waiting = list(known)
    while waiting:
        for reference in shape.by_key[waiting.pop()].references:
            if reference.parent not in known:
                known.add(reference.parent)
                waiting.append(reference.parent)
    referred = {(each.parent, each.parent_columns) for table in shape.tables for each in table.references}
    tables = tuple(_as_declared(table, referred) for table in shape.tables if table.key in known)
    return Shape(shape.db_id, tables, shape.views if len(known) == len(shape.tables) else ())


def _as_declared(table: TableShape, referred: set[tuple[TableName, tuple[str, ...]]]) -> TableShape:
    """Return a table with its declared keys and those that others refer to; no primary key is NULL."""
    columns = (
        replace(each, nullable=each.nullable and each.key not in table.primary_key) for each in table.columns
    )
    unique = (each for each in table.unique if each not in table.observed or (table.key, each) in referred)
    return replace(table, columns=tuple(columns), unique=tuple(unique))


# Candidates.

_Step = tuple[RowProblem, int, str]
"""A problem, how many rows solve it, and what these share."""


def _candidates(shape: Shape, pair: PairToRefute, rng: Random) -> Iterator[Data]:
    """Yield databases, those of the simplest reasons to differ first."""
    own = [_problems(tree, shape) for tree in pair.trees]
    beside = [list(_beside(tree, shape)) for tree in pair.trees]
    found = [problem for each in (*own, *(each for many in beside for each, _ in many)) for problem in each]
    values = values_of(shape, found)
    near = [(problem, repeat) for many in beside for each, repeat in many for problem in each]
    steps: list[_Step] = [(problem, 2 if repeat else 1, repeat) for problem, repeat in near]
    base: list[_Step] = [(many[0], 1, "") for many in own if many]

    def planted(*plan: _Step, first: int = 0) -> Data:
        return _planted(shape, values, plan, rng, first)

    yield from (planted((one, count, "")) for count in (1, 2) for many in own for one in many)
    yield from (planted(step) for step in steps)
    for plan in (base, base[:1], base[1:]):
        yield from _changed(shape, pair, planted(*plan))
    yield from (planted(*base, step) for step in steps)
    yield from (planted(step, first=_FILLED) for step in steps if step[2])
    sparse = _with_nulls(shape)
    while True:
        for filled in (0, 1, _FILLED):
            some = rng.sample(near, min(len(near), rng.randint(1, 6)))
            plan = [*base * rng.randint(0, 3), *((each, rng.randint(1, 2), repeat) for each, repeat in some)]
            among, first = rng.choice((shape, sparse)), rng.choice((0, filled))
            yield _planted(among, values, plan, rng, first, filled - first)


def _changed(shape: Shape, pair: PairToRefute, data: Data) -> Iterator[Data]:
    """Yield databases with one row of each table changed: repeated under another key, or with a NULL."""
    asked = {folded(name.name) for tree in pair.trees for name in tree.find_all(exp.Column)}
    for table in shape.tables:
        rows = data[table.key]
        if not rows:
            continue
        row = list(rows[0])
        for key in table.keys:
            own = next((name for name in key if name not in table.referring), None)
            if own is not None:
                values = [one[table.positions[own]] for one in rows]
                numbers = [value for value in values if isinstance(value, int)]
                at = table.positions[own]
                row[at] = max(numbers) + 1 if numbers else table.by_key[own].stored(f"{row[at]!s} 2")
        yield {**data, table.key: [*rows, row]}
        for column in table.columns:
            if column.nullable and (column.key in asked or column.key in table.referring):
                lacking = list(rows[0])
                lacking[table.positions[column.key]] = None
                yield {**data, table.key: [lacking, *rows[1:]]}


def _problems(tree: exp.Expr, shape: Shape) -> list[RowProblem]:
    """Return what rows a text needs; nothing for a text that `queries` does not understand."""
    with suppress(Exception):  # sqlglot raises all kinds for texts that nobody foresaw
        return problems(tree, shape)
    return []


def _beside(tree: exp.Expr, shape: Shape) -> Iterator[tuple[list[RowProblem], str]]:
    found: list[Neighbour] = []
    with suppress(Exception):  # as above
        found = list(neighbours(tree))
    for each in found:
        yield _problems(each.telling, shape), each.repeat


def _with_nulls(shape: Shape) -> Shape:
    tables = [
        replace(
            table,
            columns=tuple(
                replace(one, nulls=max(one.nulls, _NULLS) if one.nullable else 0) for one in table.columns
            ),
        )
        for table in shape.tables
    ]
    return replace(shape, tables=tuple(tables))


def _planted(  # noqa: PLR0913, PLR0917 - what rows are made of
    shape: Shape,
    values: Mapping[tuple[TableName, str], Values],
    plan: Sequence[_Step],
    rng: Random,
    first: int,
    last: int = 0,
) -> Data:
    """Return rows that solve problems, with `first` and `last` rows of each table that none asks for."""
    rows = Rows(shape, values, rng)
    order = parents_first(shape)
    _fill(rows, order, first)
    planter = Planter(rows, values, {table.key: at for at, table in enumerate(order)}, rng)
    for problem, count, repeat in plan:
        shared = problem.grouped
        if repeat == "shown":
            shared = problem.shown
        elif repeat == "ordered":
            shared = [cell for each, _ in problem.ordered for cell in cells_in(each)]
        fixed: dict[int, Value] = {}
        for _ in range(count):
            with suppress(Exception):  # a problem that is not understood adds no rows
                cells = planter.plant(problem, fixed, wide=True)
                if cells is None:
                    break
                fixed = {cell: cells[cell] for cell in shared} if repeat else {}
    _fill(rows, order, last)
    return rows.data


def _fill(rows: Rows, order: Sequence[TableShape], count: int) -> None:
    for table in order:
        with suppress(NoRowFits):
            for _ in range(count):
                rows.add(table.key, {})


# Whether a database is a witness.


def stored(
    connection: sqlite3.Connection, shape: Shape, data: Mapping[TableName, Sequence[Sequence[Value]]]
) -> None:
    """Create tables, indexes and views, and insert the rows.

    Raises:
        sqlite3.Error: a row breaks a key or another constraint of its table.
    """
    for table in shape.tables:
        connection.execute(table.create)
        connection.executemany(table.insert, data.get(table.key, ()))
        for index in table.indexes:
            with suppress(sqlite3.OperationalError):
                connection.execute(index)
    for view in shape.views:
        with suppress(sqlite3.OperationalError):
            connection.execute(view)


class Scratch:
    """A small database in SQLite's memory."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection, self._limit = connection, StepLimit(connection)

    def run(self, sql: str) -> Execution:
        """Run a text."""
        self._limit.left = _STEPS
        try:
            rows = self._connection.execute(sql).fetchmany(_MOST_ROWS)
        except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
            return Execution(Ending.ERROR, error=str(error))
        return Execution(Ending.ROWS, tuple(rows))

    def both_ways(self, sql: str) -> list[tuple[Row, ...]]:
        """Return the rows of a text in both directions of a scan; none if it fails."""
        found = []
        for way in ("OFF", "ON"):
            self._connection.execute(f"PRAGMA reverse_unordered_selects = {way}")
            one = self.run(sql)
            if one.ending is not Ending.ROWS:
                return []
            found.append(one.rows)
        return found


@contextmanager
def in_memory(shape: Shape, data: Data) -> Iterator[Scratch | None]:
    """Yield a database in memory; None if it breaks a key, a reference or another constraint."""
    if not keeps_references(shape, data):
        yield None
        return
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        try:
            stored(connection, shape, data)
        except (sqlite3.Error, OverflowError, UnicodeEncodeError):
            yield None
            return
        yield Scratch(connection)


def proven(shape: Shape, data: Data, pair: PairToRefute) -> Distinction:
    """Return how far a database that keeps its keys shows that the rows differ from each gold's."""
    with in_memory(shape, data) as scratch:
        if scratch is None:
            return Distinction.NONE
        sql, *golds = pair.guides
        ours = scratch.both_ways(sql)
        every = [scratch.both_ways(gold) for gold in golds] if ours else []
        if not ours or not all(
            bool(theirs)
            and apart((sql, ours), (gold, theirs), Dialect.SQLITE, scratch.run, has_cut=pair.has_cut)
            for gold, theirs in zip(golds, every, strict=True)
        ):
            return Distinction.NONE
        says = any(
            value not in {None, 0}
            for some in (ours, every[0])
            for rows in some
            for row in rows
            for value in row
        )
    return Distinction.PLAUSIBLE if says and _is_like_the_real(shape, data) else Distinction.FORMAL


def _is_like_the_real(shape: Shape, data: Data) -> bool:
    """True if no value contradicts what the columns really hold: see `Distinction.PLAUSIBLE`."""
    for table in shape.tables:
        rows = data[table.key]
        for names in table.observed:
            keys = [table.key_of(names, [row[table.positions[name]] for name in names]) for row in rows]
            if len(set(keys)) < len(keys):
                return False
        for column in table.columns:
            values = [row[table.positions[column.key]] for row in rows]
            if None in values and not column.nulls:
                return False
            if column.key in table.primary_key or column.key in table.referring:
                continue
            if column.complete and not {*values} <= {None, *column.samples}:
                return False
            ends = [end for end in (column.low, column.high) if isinstance(end, int | float)]
            numbers = [value for value in values if isinstance(value, int | float)]
            if len(ends) > 1 and numbers and not ends[0] <= min(numbers) <= max(numbers) <= ends[1]:
                return False
    return True


Ran = tuple[str, Sequence[tuple[Row, ...]]]
"""A text, and its rows, each time that it ran."""


def apart(
    ours: Ran, theirs: Ran, dialect: EngineName, run: Callable[[str], Execution], *, has_cut: bool
) -> bool:
    """True if two texts' rows differ each time, and whichever way ties are broken.

    Args:
        ours: the one.
        theirs: the other.
        dialect: the engine's.
        run: runs a text on it.
        has_cut: whether either has a LIMIT.
    """
    if any(_same(one, other) for one in ours[1] for other in theirs[1]):
        return False
    if not has_cut:
        return all(_same(some[0], rows) for _, some in (ours, theirs) for rows in some[1:])
    return not any(
        _allowed(text, own[-1], others, dialect, run)
        for (text, own), (_, others) in ((theirs, ours), (ours, theirs))
    )


def _same(one: Sequence[Row], other: Sequence[Row]) -> bool:
    """True if EX calls them equal, or they differ in the last digits of numbers alone."""
    return bool(ex(one, other)) or compare(one, other).same_set


def _allowed(
    sql: str,
    own: Sequence[Row],
    others: Sequence[Sequence[Row]],
    dialect: EngineName,
    run: Callable[[str], Execution],
) -> bool:
    found = ties.answers(sql, dialect, run, own).rankings
    # EX sees no duplicates, so that neither may they decide here.
    return any(
        ranking.allows(rows) for ranking in found for each in others for rows in (each, ties.different(each))
    )


def keeps_references(shape: Shape, data: Mapping[TableName, Sequence[Sequence[Value]]]) -> bool:
    """True if every row has the parents that it refers to."""
    return not any(_orphans(shape, table, data) for table in shape.tables)


def _orphans(
    shape: Shape, table: TableShape, data: Mapping[TableName, Sequence[Sequence[Value]]]
) -> list[int]:
    found = []
    for reference in table.references:
        parent = shape.by_key.get(reference.parent)
        if parent is None:
            continue
        at = [parent.positions[name] for name in reference.parent_columns]
        keys = {
            parent.key_of(reference.parent_columns, [row[each] for each in at])
            for row in data.get(parent.key, ())
        }
        for place, row in enumerate(data.get(table.key, ())):
            values = [row[table.positions[name]] for name in reference.columns]
            if None not in values and parent.key_of(reference.parent_columns, values) not in keys:
                found.append(place)
    return found


# Shrinking.


def _detached(shape: Shape, data: Data, pair: PairToRefute, proof: Distinction) -> Data:
    """Replace references that no text reads by NULL where the proof holds: their parents can go then."""
    asked = {folded(name.name) for tree in pair.trees for name in tree.find_all(exp.Column)}
    for table in shape.tables:
        for reference in table.references:
            if asked.isdisjoint(reference.columns):
                at = {table.positions[name] for name in reference.columns if table.by_key[name].nullable}
                rows = [
                    [None if place in at else value for place, value in enumerate(row)]
                    for row in data[table.key]
                ]
                changed = {**data, table.key: rows}
                if at and rows and proven(shape, changed, pair) >= proof:
                    data = changed
    return data


def _fewest(shape: Shape, data: Data, pair: PairToRefute, proof: Distinction) -> Data:
    """Remove rows, with those that refer to them, while the proof holds: halves first, then one by one."""
    tries = 0
    size = max(sum(map(len, data.values())) // 2, 1)
    while size:
        at = 0
        while at < sum(map(len, data.values())) and tries < _SHRINKING:
            places = [(name, row) for name, rows in data.items() for row in range(len(rows))]
            less = _without(shape, data, set(places[at : at + size]))
            tries += 1
            if proven(shape, less, pair) >= proof:
                data = less
            else:
                at += size
        size //= 2
    return data


def _without(shape: Shape, data: Data, gone: set[tuple[TableName, int]]) -> Data:
    while gone:
        data = {
            name: [row for at, row in enumerate(rows) if (name, at) not in gone]
            for name, rows in data.items()
        }
        gone = {(table.key, at) for table in shape.tables for at in _orphans(shape, table, data)}
    return data


def _simplified(shape: Shape, data: Data, pair: PairToRefute, proof: Distinction) -> Data:
    """Replace values by simpler stored ones where the proof holds; keys and references stay."""
    tries = 0
    for table in shape.tables:
        fixed = {column for key in table.keys for column in key} | table.referring.keys()
        for column in table.columns:
            known = sorted(
                (one for one in column.samples if one is not None), key=lambda one: (len(str(one)), repr(one))
            )[:_SIMPLEST]
            at = table.positions[column.key]
            for place in range(0 if column.key in fixed else len(data[table.key])):
                for value in known:
                    if data[table.key][place][at] == value:
                        break
                    changed = {name: [list(row) for row in rows] for name, rows in data.items()}
                    changed[table.key][place][at] = value
                    tries += 1
                    if tries > _SHRINKING:
                        return data
                    if proven(shape, changed, pair) >= proof:
                        data = changed
                        break
    return data
