"""A query as a problem: which rows its tables must have so that it answers.

Every table that a query reads becomes a row variable, every column of it that the query mentions a cell.
Subqueries that must contain a row (`IN`, `EXISTS`, scalar ones) are read the same way and joined. What
remains are conditions on cells, which SQLite itself can try on values. What can't be said by one row of each
table (NOT IN, sums, windows) is left out or approximated; whether the query then answers is checked by
running it.

Next to a gold are its neighbours: likely mistakes, and the row that distinguishes each. The
kinds of change are those of test suites for SQL (https://arxiv.org/abs/2010.02840): a condition left out, a
boundary in or out, another reading of a text, a duplicate or NULL counted or not, a join lost.
"""

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, NamedTuple

import sqlglot
from sqlglot import exp

from dialects.clauses import (
    FromItem,
    FromScope,
    Offer,
    conjuncts,
    drop_joins,
    joins_of,
    on_of,
    sources_of,
    where_of,
)
from harness.scoring.chance.shape import Shape, TableName, Value, folded

TODAY = dt.datetime(2024, 6, 1, tzinfo=dt.UTC).strftime("%Y-%m-%d %H:%M:%S")
"""Stands for the current time wherever rows depend on it, so that they are the same tomorrow."""

_MOST_COPIES = 12
_MOST_ROWS = 10**6
_DEEPEST = 12
_LONGEST = 100
"""Digits of an integer."""
_AGGREGATES = (exp.Sum, exp.Avg, exp.Min, exp.Max)
_TRANSPARENT = (exp.Paren, exp.Cast, exp.Lower, exp.Upper, exp.Trim, exp.Neg)


class Opaque(Exception):
    """A condition that one row of each table can't decide."""


@dataclass
class RowProblem:
    """The conditions on a row of each of `tables`.

    Cells are numbered; in expressions cell 3 is the column `k3`. `shown`, `grouped` and `ordered` are what
    the outermost query returns, groups by and picks extremes of; `conditions` are those that it only counts
    by (in CASE and the like); `copies` says how many such rows it needs at least.
    """

    tables: list[TableName] = field(default_factory=list)
    cells: list[tuple[int, str]] = field(default_factory=list)
    conjuncts: list[exp.Expr] = field(default_factory=list)
    equal: list[tuple[int, int]] = field(default_factory=list)
    ordered: list[tuple[exp.Expr, bool]] = field(default_factory=list)
    shown: list[int] = field(default_factory=list)
    grouped: list[int] = field(default_factory=list)
    conditions: list[exp.Expr] = field(default_factory=list)
    copies: int = 1
    counts: bool = False

    def cell(self, row: int, column: str) -> int:
        """Return the number of a cell."""
        place = (row, column)
        if place not in self.cells:
            self.cells.append(place)
        return self.cells.index(place)


def cells_in(expression: exp.Expr) -> list[int]:
    """Return the cells that a lowered expression mentions, each once."""
    return list(dict.fromkeys(int(column.name[1:]) for column in expression.find_all(exp.Column)))


def parse(sql: str) -> exp.Expr | None:
    """Return the query's tree with the current time fixed, or None if it can't be read."""
    try:
        tree = sqlglot.parse_one(sql, read="sqlite")
    except sqlglot.errors.SqlglotError:
        return None
    return tree.transform(_fixed_time) if isinstance(tree, exp.Query) else None


def _fixed_time(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.CurrentTimestamp | exp.CurrentDate | exp.CurrentTime):
        return exp.Literal.string(TODAY[:10] if isinstance(node, exp.CurrentDate) else TODAY)
    if isinstance(node, exp.Literal) and node.is_string and node.this.lower() == "now":
        return exp.Literal.string(TODAY)
    return node


class LiteralComparison(NamedTuple):
    """One comparison of a column with a literal; `whole` says whether all of the value is compared."""

    table: TableName
    column: str
    value: Value
    whole: bool


def compared(problem: RowProblem, shape: Shape) -> Iterator[LiteralComparison]:
    """Yield the comparisons in all conditions of a problem."""
    for condition in (*problem.conjuncts, *problem.conditions):
        leaves = [each for each in condition.find_all(exp.Predicate) if not _inner(each)]
        for leaf in leaves:
            for column in leaf.find_all(exp.Column):
                row, name = problem.cells[int(column.name[1:])]
                table = shape.by_key[problem.tables[row]]
                whole = _is_whole(column, leaf)
                for value in _literals(leaf):
                    text = str(value)
                    if isinstance(leaf, exp.Like):
                        text = text.strip("%").replace("%", " ").replace("_", "a")
                    stored = table.by_key[name].stored(value)
                    numeric = table.by_key[name].numeric
                    if not whole or isinstance(leaf, exp.Like):
                        yield LiteralComparison(table.key, name, text, whole=False)
                    elif not numeric or isinstance(stored, int | float):
                        yield LiteralComparison(table.key, name, stored, whole=True)


def _inner(node: exp.Expr) -> bool:
    """True if it is made of comparisons itself."""
    return any(each is not node and bool(cells_in(each)) for each in node.find_all(exp.Predicate))


def _is_whole(column: exp.Column, leaf: exp.Expr) -> bool:
    node = column.parent
    while node is not None and node is not leaf:
        if not isinstance(node, _TRANSPARENT):
            return False
        node = node.parent
    return True


def _literals(leaf: exp.Expr) -> Iterator[Value]:
    for literal in leaf.find_all(exp.Literal):
        function = literal.find_ancestor(exp.Func, exp.Predicate)
        if function is not leaf and isinstance(function, exp.Func) and not isinstance(function, exp.Cast):
            continue
        if literal.is_string:
            yield literal.this
        elif (number := _number(literal.this)) is not None:
            yield -number if isinstance(literal.parent, exp.Neg) else number


def _number(text: str) -> float | None:
    """Return a number as it is written; None if it is none that is written in digits."""
    try:
        return int(text) if text.isdigit() and len(text) < _LONGEST else float(text)
    except ValueError:
        return None


@dataclass(frozen=True)
class _Source(Offer[exp.Expr]):
    """A row variable or a derived table in FROM: its columns, and what each is over cells."""

    name: str
    columns: Iterable[str]
    value: Callable[[str], exp.Expr | None]

    def known(self, name: str) -> exp.Expr | None:
        """See `Offer`.

        Raises:
            Opaque: a row does not have it.
        """
        if name not in self.columns:
            return None
        found = self.value(name)
        if found is None:
            raise Opaque
        return found.copy()


@dataclass
class _Scope(FromScope[_Source, exp.Expr]):
    """`names` are the results by their aliases, which no query within sees."""

    names: dict[str, exp.Expr] = field(default_factory=dict)


_Columns = list[tuple[str, exp.Expr | None]]
"""The columns of a query by name; None for those that a row does not have."""


class _Reader:
    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.problem = RowProblem()
        self.read: set[int] = set()
        self.depth = 0
        self.naming: list[str] = []

    def query(self, node: exp.Expr, outer: _Scope | None) -> _Columns:
        """Add a query's rows and conditions."""
        self.read.add(id(node))
        if isinstance(node, exp.Subquery):
            return self.query(node.this, outer)
        if isinstance(node, exp.SetOperation):
            left = self.query(node.this, outer)
            if isinstance(node, exp.Intersect):
                right = self.query(node.expression, outer)
                for (_, a), (_, b) in zip(left, right, strict=False):
                    if a is not None and b is not None:
                        self.demand(exp.EQ(this=a.copy(), expression=b.copy()))
            return left
        if not isinstance(node, exp.Select) or self.depth > _DEEPEST:
            raise Opaque
        self.depth += 1
        try:
            return self.select(node, _Scope(outer))
        finally:
            self.depth -= 1

    def select(self, node: exp.Select, scope: _Scope) -> _Columns:
        items = sources_of(node)
        for item in items:
            self.source(item, scope)
        for join in (join for item in items for join in item.ends):
            self.using(join, scope)
            for conjunct in on_of(join):
                self.condition(conjunct, scope)
        for item in node.expressions:
            if item.alias:
                scope.names[folded(item.alias)] = item.unalias()
        for conjunct in where_of(node):
            self.condition(conjunct, scope)
        columns = [
            (folded(item.alias_or_name), self.tolerant(item.unalias(), scope)) for item in node.expressions
        ]
        if any(item.is_star for item in node.expressions):
            columns += self.everything(scope)
        group, having = node.args.get("group"), node.args.get("having")
        grouped = [self.tolerant(item, scope) for item in (group.expressions if group else ())]
        for conjunct in conjuncts(having.this if having else None):
            self.having(conjunct, scope)
        if scope.outer is None and self.depth == 1:
            self.problem.shown += _cells(item for _, item in columns)
            self.counted(node.expressions, scope)
        self.problem.grouped += _cells(grouped)
        self.order(node, scope)
        return columns

    def source(self, item: FromItem, scope: _Scope) -> None:
        name = folded(item.name) or f"#{len(scope.sources)}"
        derived = item.node if isinstance(item.node, exp.Subquery) else item.cte(folded)
        if derived is not None:
            columns = dict(self.query(derived.this, scope.outer))
            scope.sources.append(_Source(name, columns, columns.get))
            return
        stored = self.shape.by_key.get(folded(item.table))
        if stored is None:
            raise Opaque
        self.problem.tables.append(stored.key)
        scope.sources.append(_Source(name, stored.by_key, partial(self.cell, len(self.problem.tables) - 1)))

    def cell(self, row: int, column: str) -> exp.Expr:
        return exp.column(f"k{self.problem.cell(row, column)}")

    def using(self, join: exp.Join, scope: _Scope) -> None:
        for name in (folded(column.name) for column in join.args.get("using") or ()):
            found = [source.value(name) for source in scope.sources if name in source.columns]
            known = [each for each in found if each is not None]
            for other in known[1:]:
                self.demand(exp.EQ(this=known[0].copy(), expression=other.copy()))

    def everything(self, scope: _Scope) -> _Columns:
        return [(column, source.value(column)) for source in scope.sources for column in source.columns]

    def column(self, node: exp.Column, scope: _Scope) -> exp.Expr:
        name, qualifier = folded(node.name), folded(node.table)
        source = scope.source(qualifier) if qualifier else None
        found = scope.meaning(name) if not qualifier else source.known(name) if source is not None else None
        if found is not None:
            return found
        inner = None if qualifier else scope.names.get(name)
        # An alias may lead to itself by way of another one.
        if inner is not None and name not in self.naming and not any(each is node for each in inner.walk()):
            self.naming.append(name)
            try:
                return self.lower(inner, scope)
            finally:
                self.naming.pop()
        if not qualifier and node.this.args.get("quoted"):
            return exp.Literal.string(node.name)
        raise Opaque

    def lower(self, node: exp.Expr, scope: _Scope, *, loose: bool = False) -> exp.Expr:
        """Return the expression over cells.

        Args:
            node: an expression of the query.
            scope: where its names are looked up.
            loose: whether what a count or a window is over stands for it.

        Raises:
            Opaque: one row of each table does not decide it.
        """
        if isinstance(node, exp.Column):
            return self.column(node, scope)
        found = self.subquery(node, scope)
        if found is None:
            found = self.aggregate(node, scope, loose=loose)
        if found is not None:
            return found

        # Built anew, not copied and changed: a copy is deep. One frame a level: golds may have hundreds.
        args: dict[str, object] = dict(node.args)
        for key, value in node.args.items():
            if isinstance(value, exp.Expr):
                args[key] = self.lower(value, scope, loose=loose)
            elif isinstance(value, list):
                args[key] = [
                    self.lower(each, scope, loose=loose) if isinstance(each, exp.Expr) else each
                    for each in value
                ]
        return type(node)(**args)

    def subquery(self, node: exp.Expr, scope: _Scope) -> exp.Expr | None:
        """Return a condition on a subquery, with its rows joined; None for any other."""
        if isinstance(node, exp.Exists):
            self.query(node.this, scope)
            return exp.true()
        if isinstance(node, exp.In) and node.args.get("query") is not None:
            inner = self.single(node.args["query"], scope)
            return exp.EQ(this=self.lower(node.this, scope), expression=inner)
        if isinstance(node, exp.Subquery | exp.Select):
            return exp.Paren(this=self.single(node, scope))
        if isinstance(node, exp.Not) and node.find(exp.Query):
            raise Opaque
        return None

    def aggregate(self, node: exp.Expr, scope: _Scope, *, loose: bool) -> exp.Expr | None:
        """Return the operand of an aggregate; None for anything else."""
        if isinstance(node, exp.Count | exp.Window | exp.GroupConcat):
            if not loose or isinstance(node.this, exp.Star):
                raise Opaque
            return self.lower(node.this, scope, loose=loose)
        if isinstance(node, exp.Distinct) and node.expressions:
            return self.lower(node.expressions[0], scope, loose=loose)
        if isinstance(node, _AGGREGATES):
            inner = self.lower(node.this, scope, loose=loose)
            if isinstance(node, exp.Min | exp.Max) and cells_in(inner):
                self.problem.ordered.append((inner.copy(), isinstance(node, exp.Max)))
            return inner
        if isinstance(node, exp.AggFunc | exp.Star):
            raise Opaque
        return None

    def single(self, node: exp.Expr, scope: _Scope) -> exp.Expr:
        columns = self.query(node, scope)
        if not columns or columns[0][1] is None:
            raise Opaque
        return columns[0][1].copy()

    def tolerant(self, node: exp.Expr, scope: _Scope) -> exp.Expr | None:
        if node.find(exp.Query):
            return None
        try:
            return self.lower(node, scope, loose=True)
        except Opaque:
            return None

    def demand(self, condition: exp.Expr) -> None:
        a, b = condition.this, condition.args.get("expression")
        while isinstance(a, exp.Paren):
            a = a.this
        while isinstance(b, exp.Paren):
            b = b.this
        if isinstance(condition, exp.EQ) and isinstance(a, exp.Column) and isinstance(b, exp.Column):
            self.problem.equal.append((int(a.name[1:]), int(b.name[1:])))
        elif cells_in(condition):
            self.problem.conjuncts.append(condition)

    def condition(self, node: exp.Expr, scope: _Scope) -> None:
        try:
            self.demand(self.lower(node, scope))
        except Opaque:
            return
        # More than the average: the farther away the better.
        if isinstance(node, exp.GT | exp.GTE | exp.LT | exp.LTE) and node.find(exp.Avg):
            lowered = self.problem.conjuncts[-1] if self.problem.conjuncts else None
            if lowered is not None and lowered.find(exp.Column):
                mine = node.this if node.expression.find(exp.Avg) else node.expression
                upward = isinstance(node, exp.GT | exp.GTE) == (mine is node.this)
                found = self.tolerant(mine, scope)
                if found is not None and cells_in(found):
                    self.problem.ordered.append((found, upward))

    def having(self, node: exp.Expr, scope: _Scope) -> None:
        number = node.args.get("expression")
        if isinstance(node, exp.Binary) and node.this.find(exp.Count) and isinstance(number, exp.Literal):
            wanted = 1 if number.is_string else _count(number.this)
            if isinstance(node, exp.GT | exp.NEQ):
                wanted += 1
            if isinstance(node, exp.GT | exp.GTE | exp.EQ | exp.NEQ):
                self.problem.copies = max(self.problem.copies, min(wanted, 4 * _MOST_COPIES))
            return
        self.condition(node, scope)

    def order(self, node: exp.Select, scope: _Scope) -> None:
        order, limit, offset = (node.args.get(part) for part in ("order", "limit", "offset"))
        wanted = sum(
            _count(part.expression.this)
            for part in (limit, offset)
            if part is not None and isinstance(part.expression, exp.Literal)
        )
        if offset is not None or wanted > 1:
            self.problem.copies = max(self.problem.copies, min(wanted, _MOST_COPIES))
        for item in order.expressions if order is not None else ():
            if limit is not None and item.find(exp.Count):
                self.problem.counts = True
            lowered = self.tolerant(item.this, scope)
            if limit is not None and lowered is not None and cells_in(lowered):
                self.problem.ordered.append((lowered, bool(item.args.get("desc"))))

    def counted(self, shown: Sequence[exp.Expr], scope: _Scope) -> None:
        """Note the conditions that decide what shown expressions count."""
        for each in (part for node in shown for part in node.find_all(exp.Predicate, exp.If)):
            condition = each.this if isinstance(each, exp.If) else each
            if isinstance(each.parent, exp.Case) and each.parent.this is not None:
                condition = exp.EQ(this=each.parent.this.copy(), expression=each.this.copy())
            if isinstance(each, exp.If) and each.args["true"].find(exp.Column):
                amount = exp.NEQ(
                    this=exp.Paren(this=each.args["true"].copy()), expression=exp.Literal.number(0)
                )
                condition = exp.And(this=exp.Paren(this=condition.copy()), expression=amount)
            lowered = self.tolerant(condition, scope)
            if lowered is not None and cells_in(lowered) and lowered not in self.problem.conditions:
                self.problem.conditions.append(lowered)


def _cells(expressions: Iterable[exp.Expr | None]) -> list[int]:
    return [cell for each in expressions if each is not None for cell in cells_in(each)]


def _count(text: str) -> int:
    """Return a number of rows as it is written, as far as anybody can want so many."""
    try:
        return int(min(float(text), _MOST_ROWS))
    except ValueError:
        return 1


def problems(tree: exp.Expr, shape: Shape, *, first: bool = False) -> list[RowProblem]:
    """Return the problems of a query: its own, and one for each nested query that the first leaves out.

    Args:
        tree: of `parse`.
        shape: the tables.
        first: whether to leave it at the first.
    """
    found: list[RowProblem] = []
    read: set[int] = set()
    tree = _without_absent(tree)
    for node in tree.find_all(exp.Select):
        if id(node) in read:
            continue
        reader = _Reader(shape)
        try:
            reader.query(tree if not found and not read else node, None)
        except Opaque:
            read |= {id(node)}
            continue
        read |= reader.read | {id(node)}
        if reader.problem.tables:
            found.append(reader.problem)
            if first:
                break
    return found


def _without_absent(tree: exp.Expr) -> exp.Expr:
    """Return the query without outer joins that must find nothing: `LEFT JOIN b ... WHERE b.id IS NULL`."""
    copy = tree.copy()
    for select in copy.find_all(exp.Select):
        missing = {
            folded(each.this.table)
            for each in where_of(select)
            if isinstance(each, exp.Is)
            and isinstance(each.expression, exp.Null)
            and isinstance(each.this, exp.Column)
        }
        joins = joins_of(select)
        gone = {folded(join.this.alias_or_name) for join in joins if join.side == "LEFT"} & missing
        if gone:
            kept = [
                each.copy()
                for each in where_of(select)
                if not any(folded(column.table) in gone for column in each.find_all(exp.Column))
            ]
            drop_joins(select, [join for join in joins if folded(join.this.alias_or_name) in gone])
            select.set("where", exp.Where(this=exp.and_(*kept)) if kept else None)
    return copy


Repeat = Literal["", "shown", "ordered"]


_TURNED: dict[type[exp.Expr], type[exp.Binary]] = {
    exp.GT: exp.GTE,
    exp.GTE: exp.GT,
    exp.LT: exp.LTE,
    exp.LTE: exp.LT,
}


@dataclass(frozen=True)
class Neighbour:
    """A query that is not the gold.

    `query` is a likely mistake, None if there is no such text; `telling` is a query for
    rows that distinguish them; `repeat` says what of the gold's own row this one shares.
    """

    query: exp.Expr | None
    telling: exp.Expr
    repeat: Repeat = ""


def neighbours(gold: exp.Expr) -> Iterator[Neighbour]:
    """Yield the neighbours of a gold, in an order that depends on its text alone."""
    nodes = list(gold.walk())
    for node in nodes:
        if isinstance(node, exp.Where | exp.Having):
            for conjunct in conjuncts(node.this):
                yield from _of_conjunct(gold, nodes, conjunct)
        elif isinstance(node, exp.Join) and node.args.get("on") is not None:
            for conjunct in on_of(node):
                if len({column.table for column in conjunct.find_all(exp.Column)}) < 2:  # noqa: PLR2004 - a pair
                    yield from _of_conjunct(gold, nodes, conjunct)
        elif isinstance(node, exp.Select):
            yield from _of_select(gold, nodes, node)


def _copied(gold: exp.Expr, nodes: list[exp.Expr], wanted: exp.Expr) -> tuple[exp.Expr, exp.Expr]:
    """Return a copy of the gold, and the copy of the node `wanted`."""
    copy = gold.copy()
    return copy, next(new for node, new in zip(nodes, copy.walk(), strict=True) if node is wanted)


def _replaced(gold: exp.Expr, nodes: list[exp.Expr], old: exp.Expr, new: exp.Expr) -> exp.Expr:
    """Return the gold with one node replaced."""
    copy, target = _copied(gold, nodes, old)
    target.replace(new.copy())
    return copy


def _of_conjunct(gold: exp.Expr, nodes: list[exp.Expr], conjunct: exp.Expr) -> Iterator[Neighbour]:
    def instead(new: exp.Expr) -> exp.Expr:
        return _replaced(gold, nodes, conjunct, new)

    is_not = isinstance(conjunct, exp.Not)
    denied = conjunct.this if is_not else exp.Not(this=exp.Paren(this=conjunct.copy()))
    yield Neighbour(instead(exp.true()), instead(denied))
    for other, telling in _readings(conjunct):
        yield Neighbour(None if other is None else instead(other), instead(telling))


def _readings(node: exp.Expr) -> Iterator[tuple[exp.Expr | None, exp.Expr]]:
    """Yield replacements of a condition, each with what a row must meet to distinguish the two."""

    def compared(kind: type[exp.Binary], right: exp.Expr) -> exp.Binary:
        return kind(this=node.this.copy(), expression=right.copy())

    if type(node) in _TURNED:
        yield compared(_TURNED[type(node)], node.expression), compared(exp.EQ, node.expression)
    elif isinstance(node, exp.Between):
        for end, beside in (("low", exp.GT), ("high", exp.LT)):
            bound = node.args[end]
            yield exp.and_(node.copy(), compared(beside, bound)), compared(exp.EQ, bound)
    elif isinstance(node, exp.Or):
        a, b = node.this, node.expression
        yield a.copy(), exp.and_(exp.not_(exp.paren(a.copy())), exp.paren(b.copy()))
        yield b.copy(), exp.and_(exp.not_(exp.paren(b.copy())), exp.paren(a.copy()))
    elif isinstance(node, exp.In) and len(node.expressions) > 1:
        for item in node.expressions:
            rest = [each.copy() for each in node.expressions if each is not item]
            yield exp.In(this=node.this.copy(), expressions=rest), compared(exp.EQ, item)
    else:
        yield from _readings_of_texts(node)


def _readings_of_texts(node: exp.Expr) -> Iterator[tuple[exp.Expr | None, exp.Expr]]:
    """Yield the same for a compared text, and for a condition that a NULL does not meet."""
    if isinstance(node, exp.Like) and isinstance(node.expression, exp.Literal):
        plain = exp.Literal.string(node.expression.this.strip("%"))
        same = exp.EQ(this=node.this.copy(), expression=plain)
        yield same, exp.and_(node.copy(), exp.not_(same.copy()))
    elif isinstance(node, exp.EQ) and isinstance(node.expression, exp.Literal) and node.expression.is_string:
        text = node.expression.this
        within = exp.Like(this=node.this.copy(), expression=exp.Literal.string(f"%{text}%"))
        yield within, exp.and_(within.copy(), exp.not_(node.copy()))
    elif isinstance(node, exp.NEQ | exp.Not) and not isinstance(node.find(exp.Is), exp.Is):
        column = node.find(exp.Column)
        if column is not None:
            yield None, exp.Is(this=column.copy(), expression=exp.null())


def _of_select(gold: exp.Expr, nodes: list[exp.Expr], node: exp.Select) -> Iterator[Neighbour]:
    for number, join in enumerate(joins_of(node)):
        if isinstance(join.this, exp.Table) and not join.side:
            yield from _without_join(gold, nodes, node, number)
    if node is gold:
        yield from _repeated(gold, nodes)
    for column in _nullable(node):
        missing = exp.Is(this=column.copy(), expression=exp.null())
        (filled, there), (lacking, absent) = _copied(gold, nodes, node), _copied(gold, nodes, node)
        if isinstance(there, exp.Select) and isinstance(absent, exp.Select):
            there.where(exp.not_(missing.copy()), copy=False)
            absent.where(missing, copy=False)
            yield Neighbour(filled, lacking)


def _repeated(gold: exp.Expr, nodes: list[exp.Expr]) -> Iterator[Neighbour]:
    """Yield the effects of repeated rows: a gold's own row again, duplicates that are counted or not."""
    yield Neighbour(None, gold.copy(), "shown")
    if gold.args.get("limit") is not None:
        yield Neighbour(None, gold.copy(), "ordered")
    for item in list(gold.find_all(exp.Count)):
        if isinstance(item.this, exp.Distinct) and item.this.expressions:
            other = item.this.expressions[0].copy()
        elif isinstance(item.this, exp.Column):
            other = exp.Distinct(expressions=[item.this.copy()])
        else:
            continue
        yield Neighbour(_replaced(gold, nodes, item, exp.Count(this=other)), gold.copy(), "shown")


def _nullable(node: exp.Select) -> list[exp.Column]:
    """Return the columns of what a SELECT shows and orders by, each once."""
    found: dict[str, exp.Column] = {}
    order = node.args.get("order")
    ordered = order.expressions if order is not None else []
    group = node.args.get("group")
    # A NULL would come first, or be a group, and be the answer.
    first = [*(each for each in ordered if not each.args.get("desc")), *(group.expressions if group else [])]
    least = {column.sql().lower() for each in first for column in each.find_all(exp.Column)}
    for item in [*node.expressions, *ordered]:
        for column in item.find_all(exp.Column):
            if column.find_ancestor(exp.Select) is node and column.sql().lower() not in least:
                found.setdefault(column.sql().lower(), column)
    return list(found.values())


def _without_join(
    gold: exp.Expr, nodes: list[exp.Expr], node: exp.Select, number: int
) -> Iterator[Neighbour]:
    """Yield a query without one of its tables, where it does without; its row has no partner there."""
    copy, target = _copied(gold, nodes, node)
    gone = joins_of(target)[number]
    name = gone.this.alias_or_name.lower()
    drop_joins(target, [gone])

    def mentions(expression: exp.Expr) -> bool:
        return any(column.table.lower() in {name, ""} for column in expression.find_all(exp.Column))

    if any(mentions(each) for join in joins_of(target) for each in on_of(join)):
        return
    conditions = where_of(target)
    if conditions:
        kept = [each.copy() for each in conditions if not mentions(each)]
        target.set("where", exp.Where(this=exp.and_(*kept)) if kept else None)
    shown = [each for each in target.expressions if not mentions(each)]
    complete = len(shown) == len(target.expressions) and not any(map(mentions, conditions))
    target.set("expressions", shown or [exp.Literal.number(1)])
    for part in ("order", "group", "having"):
        clause = target.args.get(part)
        if clause is not None and mentions(clause):
            target.set(part, None)
            complete = False
    yield Neighbour(copy if complete else None, copy.copy())
