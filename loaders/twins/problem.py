"""What has to be there for a query to answer: row variables, their cells, and conditions on them."""

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass, field

import sqlglot
from sqlglot import exp

from loaders.twins.shape import Shape, TableName, Value

TODAY = dt.datetime(2024, 6, 1, tzinfo=dt.UTC).strftime("%Y-%m-%d %H:%M:%S")
"""Stands for the current time wherever rows depend on it, so that they are the same tomorrow."""


class Opaque(Exception):
    """A condition that one row of each table can't decide."""


@dataclass
class RowProblem:
    """What has to hold of a row of each of `tables`.

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
        """The number of a cell."""
        place = (row, column)
        if place not in self.cells:
            self.cells.append(place)
        return self.cells.index(place)


def cells_in(expression: exp.Expr) -> list[int]:
    """The cells that a lowered expression mentions, each once."""
    return list(dict.fromkeys(int(column.name[1:]) for column in expression.find_all(exp.Column)))


def parse(sql: str) -> exp.Expr | None:
    """The query's tree with the current time fixed, or None where it can't be read."""
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


_TRANSPARENT = (exp.Paren, exp.Cast, exp.Lower, exp.Upper, exp.Trim, exp.Neg)


@dataclass(frozen=True)
class LiteralComparison:
    """One comparison of a column with a literal; `whole` says whether all of the value is compared."""

    table: TableName
    column: str
    value: Value
    whole: bool


def compared(problem: RowProblem, shape: Shape) -> Iterator[LiteralComparison]:
    """The comparisons in all conditions of a problem."""
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
    """Whether it is made of comparisons itself."""
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
        else:
            number = _number(literal.this)
            if number is None:
                continue
            yield -number if isinstance(literal.parent, exp.Neg) else number


def _number(text: str) -> float | None:
    """A number as it is written; None where it is none that is written in digits."""
    try:
        return int(text) if text.isdigit() and len(text) < _LONGEST else float(text)
    except ValueError:
        return None


_LONGEST = 100
