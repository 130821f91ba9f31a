"""Make one twin: random base rows, then for every gold the rows that it returns, and those of its neighbours.

The golds and their neighbours are run on the twin; if a gold is empty, or a neighbour returns the same rows
as its gold, there is another try.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random
from typing import TypeVar

from sqlglot import exp

from dialects.clauses import is_source
from harness.scoring.chance.answer_rows import Planter, values_of
from harness.scoring.chance.queries import (
    Neighbour,
    Repeat,
    RowProblem,
    cells_in,
    neighbours,
    parse,
    problems,
)
from harness.scoring.chance.rows import CheckedTwin, NoRowFits, Rows, answered, checked
from harness.scoring.chance.shape import (
    ReferenceShape,
    Shape,
    TableName,
    TableShape,
    Value,
    folded,
    parents_first,
)

SCALE = 0.02
_FEWEST = 150
"""Least rows of a table, unless the real one has fewer."""
_UNKNOWN = 20_000
"""Assumed rows of a table of unknown size."""
_LOOKUP = 3
"""Rows per sample for a table of unknown size that only maps numbers to names."""
_ROUNDS = 3
_TIES = 0.5
_REPAIRS = 8
_NEIGHBOUR_STEPS = 200
_MOST_SETTLED = 1_000
"""Most rows of a subquery."""

Say = Callable[[str], None]
_T = TypeVar("_T")


@dataclass(frozen=True)
class Unanswered:
    """A gold without an answer on the twin, and why."""

    sql: str
    reason: str


@dataclass(frozen=True)
class Twin:
    """The rows of a twin, and its coverage.

    Of the golds' `neighbours`, `apart` return other rows than their gold.
    """

    rows: Rows
    golds: int
    unanswered: tuple[Unanswered, ...]
    neighbours: int
    apart: int
    notes: tuple[str, ...] = ()
    """A line for each table without rows, and each index or view that is left out."""


@dataclass
class _Gold:
    sql: str
    tree: exp.Expr | None = None
    problems: list[RowProblem] = field(default_factory=list)
    neighbours: list[Neighbour] = field(default_factory=list)
    avoided: set[tuple[int, Value]] = field(default_factory=set)
    distinguished: set[int] = field(default_factory=set)
    written: str = ""
    texts: list[str | None] = field(default_factory=list)
    telling: dict[int, list[RowProblem]] = field(default_factory=dict)
    fault: str = ""
    """Why the generator gave up on it; it is still run at the end."""

    def guard(self, step: Callable[["_Gold"], _T]) -> _T | None:
        """Run a step for the gold: one that cannot be understood does not stop the database."""
        if self.fault:
            return None
        try:
            return step(self)
        except RecursionError:
            self.fault = "it is nested too deeply"
        except Exception as error:  # noqa: BLE001 - golds are arbitrary, and sqlglot has bugs
            self.fault = f"{type(error).__name__}: {error}"
        return None


def twin(shape: Shape, golds: Sequence[str], scale: float, seed: int, say: Say) -> Twin:
    """Generate the rows of a twin.

    Args:
        shape: its inputs.
        golds: queries that should answer, in SQLite's dialect.
        scale: rows of a table as a share of the real one's.
        seed: each seed gives another twin.
        say: called with each stage.
    """
    rng = Random(f"{shape.db_id}/{seed}")  # noqa: S311 - the same rows again
    read = [_Gold(sql) for sql in dict.fromkeys(golds)]
    for gold in read:
        gold.guard(partial(_understand, shape))
    found = [problem for gold in read for problem in gold.problems]
    shape = _without_nulls(_with_joins(shape, found), found)
    values = values_of(shape, found)
    rows = Rows(shape, values, rng)
    say("base rows")
    order = parents_first(shape)
    for table in order:
        _fill(rows, table, _count(table, scale))
    planter = Planter(rows, values, {table.key: at for at, table in enumerate(order)}, rng)
    made = _Planting(shape, planter, rng)
    for number, gold in enumerate(read):
        say(f"gold {number + 1} of {len(read)}")
        gold.guard(made.first)
    for number in range(_ROUNDS):
        say(f"check {number + 1} of {_ROUNDS}")
        with checked(rows) as database:
            again = [(gold, *_missing(gold, database)) for gold in read]
        for gold, empty, same in again:
            gold.guard(partial(made.again, empty=empty, same=same))
    for number in range(_REPAIRS):
        say(f"repair {number + 1} of {_REPAIRS}")
        with checked(rows) as database:
            lacking = [
                (gold, gold.problems if number % 2 else gold.guard(partial(_settled, database, shape)) or [])
                for gold in read
                if gold.tree is not None and not gold.fault and not answered(database.answer(gold.sql))
            ]
        for gold, found in lacking:
            gold.guard(partial(made.repair, found=found))
        if not lacking:
            break
    say("last check")
    with checked(rows) as database:
        unanswered = tuple(each for gold in read if (each := _unanswered(gold, database)) is not None)
        for gold in read:
            _missing(gold, database)
        notes = (*_empty(rows, golds=read), *database.left_out)
    written = [sum(each.query is not None for each in gold.neighbours) for gold in read]
    return Twin(
        rows, len(read), unanswered, sum(written), sum(len(gold.distinguished) for gold in read), notes
    )


def _understand(shape: Shape, gold: _Gold) -> None:
    tree = parse(gold.sql)
    if tree is not None:
        gold.tree = tree
        gold.problems = problems(tree, shape)
        gold.neighbours = list(neighbours(tree))
        gold.written = tree.sql("sqlite", copy=False)
        gold.texts = [
            None if each.query is None else each.query.sql("sqlite", copy=False) for each in gold.neighbours
        ]


def _settled(database: CheckedTwin, shape: Shape, gold: _Gold) -> list[RowProblem]:
    return [] if gold.tree is None else problems(_settle(gold.tree, database), shape)


def _empty(rows: Rows, golds: Sequence[_Gold]) -> Iterator[str]:
    """Yield a line for each table that should have rows and has none."""
    asked = {name for gold in golds for problem in gold.problems for name in problem.tables}
    for table in rows.shape.tables:
        if not rows.data[table.key] and (table.rows or table.key in asked):
            yield f"table {table.name} has no rows: none was found that its constraints accept"


def _with_joins(shape: Shape, found: Iterable[RowProblem]) -> Shape:
    """Return the shape with additional references for joins in golds that are not declared."""
    more: dict[TableName, dict[str, ReferenceShape]] = {}
    for problem in found:
        for pair in problem.equal:
            places = [(problem.tables[row], column) for row, column in (problem.cells[cell] for cell in pair)]
            for (child, column), (parent, target) in (places, places[::-1]):
                table, other = shape.by_key[child], shape.by_key[parent]
                alone = (target,) in other.keys and (column,) not in table.keys
                if alone and child != parent and column not in table.referring:
                    more.setdefault(child, {}).setdefault(
                        column, ReferenceShape((column,), parent, (target,))
                    )
    # If two tables would refer to each other this way, neither does.
    pairs = {(child, each.parent) for child, found in more.items() for each in found.values()}
    tables = []
    for table in shape.tables:
        new = [each for each in more.get(table.key, {}).values() if (each.parent, table.key) not in pairs]
        tables.append(replace(table, references=(*table.references, *new)))
    return replace(shape, tables=tuple(tables))


def _without_nulls(shape: Shape, found: Sequence[RowProblem]) -> Shape:
    """Return the shape without NULL in columns that a gold groups by or takes the minimum of."""
    filled: set[tuple[TableName, str]] = set()
    asked: set[tuple[TableName, str]] = set()
    for problem in found:
        least = [cell for each, descending in problem.ordered if not descending for cell in cells_in(each)]
        null = [cell for each in problem.conjuncts if _asks_for_null(each) for cell in cells_in(each)]
        for cells, places in (([*problem.grouped, *least], filled), (null, asked)):
            places |= {
                (problem.tables[row], column) for row, column in (problem.cells[cell] for cell in cells)
            }
    filled -= asked
    tables = []
    for table in shape.tables:
        columns = [
            replace(column, nullable=column.nullable and (table.key, column.key) not in filled)
            for column in table.columns
        ]
        tables.append(replace(table, columns=tuple(columns)))
    return replace(shape, tables=tuple(tables))


def _asks_for_null(condition: exp.Expr) -> bool:
    return any(
        isinstance(each.expression, exp.Null) and not isinstance(each.parent, exp.Not)
        for each in condition.find_all(exp.Is)
    )


def _count(table: TableShape, scale: float) -> int:
    if table.rows is not None:
        return min(table.rows, max(_FEWEST, round(table.rows * scale)))
    names = [table.by_key[key[0]] for key in table.unique if len(key) == 1]
    if table.names_only and names:
        return max(4, _LOOKUP * min(len(name.samples) for name in names))
    return max(_FEWEST, round(_UNKNOWN * scale))


def _fill(rows: Rows, table: TableShape, count: int) -> None:
    while len(rows.data[table.key]) < count:
        try:
            rows.add(table.key, _listed(rows, table))
        except NoRowFits:
            return


def _listed(rows: Rows, table: TableShape) -> dict[str, Value]:
    """Return the next known value of a column of names, if there is one."""
    found: dict[str, Value] = {}
    for key in table.unique:
        if len(key) == 1 and key[0] not in table.referring:
            samples = rows.values[table.key, key[0]].column.samples
            value = next((each for each in samples if rows.find(table.key, key, (each,)) is None), None)
            if value is not None:
                found[key[0]] = value
    return found


class _Planting:
    """Adds the rows that a gold needs."""

    def __init__(self, shape: Shape, planter: Planter, rng: Random) -> None:
        self._shape, self._planter, self._rng = shape, planter, rng

    def first(self, gold: _Gold) -> None:
        """Add the gold's own rows, and those of its neighbours."""
        for problem in gold.problems:
            self._witness(gold, problem)
            for condition in problem.conditions:
                for each in (condition, exp.Not(this=exp.Paren(this=condition.copy()))):
                    more = replace(problem, conjuncts=[*problem.conjuncts, each.copy()])
                    self._planter.plant(more, avoided=gold.avoided)
        for at in range(len(gold.neighbours)):
            self._beside(gold, at)

    def again(self, gold: _Gold, *, empty: bool, same: Sequence[int]) -> None:
        """Try again to add the rows that the gold lacks."""
        if empty:
            for problem in gold.problems:
                self._witness(gold, problem)
        for at in same:
            self._beside(gold, at)

    def repair(self, gold: _Gold, found: Sequence[RowProblem]) -> None:
        """Add the gold's own rows once more, to the current ones."""
        for problem in found:
            self._planter.plant(problem, avoided=gold.avoided, wide=True)
            for condition in problem.conditions:
                more = replace(problem, conjuncts=[*problem.conjuncts, condition.copy()])
                self._planter.plant(more, wide=True)

    def _witness(self, gold: _Gold, problem: RowProblem) -> None:
        copies = max(problem.copies, 2)
        fixed: dict[int, Value] = {}
        for _ in range(copies):
            cells = self._planter.plant(problem, fixed, gold.avoided, wide=True)
            if cells is None:
                return
            if problem is gold.problems[0]:
                gold.avoided |= {(cell, cells[cell]) for cell in problem.shown}
            if problem.grouped and problem.copies > 1:
                fixed = {cell: cells[cell] for cell in problem.grouped}

    def _beside(self, gold: _Gold, at: int) -> None:
        neighbour = gold.neighbours[at]
        if neighbour.repeat == "ordered" and self._rng.random() > _TIES:
            return
        if at not in gold.telling:
            gold.telling[at] = problems(neighbour.telling, self._shape, first=True)
        for problem in gold.telling[at]:
            shared = _shared(problem, neighbour.repeat)
            copies = 1
            if neighbour.repeat:
                copies = 2
            elif problem.counts:
                copies = self._rng.randint(2, 8)
            fixed: dict[int, Value] = {}
            for _ in range(copies):
                cells = self._planter.plant(problem, fixed, gold.avoided)
                if cells is None:
                    return
                fixed = {cell: cells[cell] for cell in shared}


def _shared(problem: RowProblem, repeat: Repeat) -> list[int]:
    """Return the cells that several rows of a neighbour have in common."""
    if repeat == "shown":
        return problem.shown
    if repeat == "ordered":
        return [cell for each, _ in problem.ordered for cell in cells_in(each)]
    return problem.grouped if problem.counts else []


def _missing(gold: _Gold, database: CheckedTwin) -> tuple[bool, list[int]]:
    """Return whether the gold is empty, and which neighbours return the same rows."""
    if gold.tree is None or gold.fault:
        return False, []
    mine = database.answer(gold.sql)
    empty = not answered(mine)
    gold.distinguished = set()
    same = []
    written = database.answer(gold.written)
    for at, text in enumerate(gold.texts):
        if text is None:
            continue
        if database.answer(text, _NEIGHBOUR_STEPS) == written:
            same.append(at)
        else:
            gold.distinguished.add(at)
    return empty, same


def _unanswered(gold: _Gold, database: CheckedTwin) -> Unanswered | None:
    answer = database.answer(gold.sql)
    if answered(answer):
        return None
    if isinstance(answer, str):
        return Unanswered(gold.sql, f"it fails: {answer}")
    if gold.fault:
        return Unanswered(gold.sql, f"it cannot be read ({gold.fault})")
    if gold.tree is None or not gold.problems:
        return Unanswered(gold.sql, "it cannot be read")
    reason = "it returns nothing but NULL and 0" if answer else "no rows were found that meet its conditions"
    return Unanswered(gold.sql, reason)


def _settle(gold: exp.Expr, database: CheckedTwin) -> exp.Expr:
    """Return the gold with its uncorrelated subqueries replaced by their values, if they return any."""
    copy = gold.copy()
    for node in list(copy.find_all(exp.Select)):
        if node is copy or node.find_ancestor(exp.CTE) is not None or node.root() is not copy:
            continue
        holder: exp.Expr | None = node.parent
        if isinstance(holder, exp.Subquery) and is_source(holder):
            _settle_table(copy, holder, holder.alias, node, database)
        elif isinstance(holder, exp.Subquery) and not isinstance(holder.parent, exp.SetOperation):
            # A scalar subquery means only its first row.
            _settle_value(
                holder, _subquery_rows(node, copy, database, first=not isinstance(holder.parent, exp.In))
            )
    with_ = copy.args.get("with_")
    for cte in with_.expressions if with_ is not None else []:
        for table in list(copy.find_all(exp.Table)):
            if folded(table.name) == folded(cte.alias) and isinstance(cte.this, exp.Select):
                _settle_table(copy, table, table.alias_or_name, cte.this, database)
    return copy


def _subquery_rows(
    node: exp.Select, gold: exp.Expr, database: CheckedTwin, *, first: bool = False
) -> list[tuple[Value, ...]]:
    query = node.copy()
    if first and query.args.get("limit") is None:
        query = query.limit(1)
    if gold.args.get("with_") is not None:
        query.set("with_", gold.args["with_"].copy())
    found = database.answer(query.sql("sqlite", copy=False))
    if isinstance(found, str):
        return []
    return sorted((row for row in found if None not in row), key=repr)[:_MOST_SETTLED]


def _settle_value(holder: exp.Subquery, rows: list[tuple[Value, ...]]) -> None:
    values = [literal for row in rows if (literal := _literal(row[0])) is not None]
    if not values:
        return
    above = holder.parent
    if isinstance(above, exp.In):
        above.set("query", None)
        above.set("expressions", values)
    elif not isinstance(above, exp.Exists):
        holder.replace(values[0])


def _settle_table(
    gold: exp.Expr, source: exp.Expr, alias: str, node: exp.Select, database: CheckedTwin
) -> None:
    """Replace a derived table of a few rows by its first row."""
    select = source.find_ancestor(exp.Select)
    if node.args.get("limit") is None or not isinstance(select, exp.Select) or not alias:
        return
    rows = _subquery_rows(node, gold, database)
    if not rows:
        return
    for item, value in zip(node.expressions, rows[0], strict=False):
        literal = _literal(value)
        if item.alias_or_name and literal is not None and not item.find(exp.AggFunc):
            select.where(exp.EQ(this=exp.column(item.alias_or_name, alias), expression=literal), copy=False)


def _literal(value: Value) -> exp.Expr | None:
    if isinstance(value, str):
        return exp.Literal.string(value)
    if isinstance(value, int | float):
        number = exp.Literal.number(abs(value))
        return exp.Neg(this=number) if value < 0 else number
    return None
