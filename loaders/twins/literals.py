"""What golds compare columns with: whole values, and parts of values such as a year or a prefix."""

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from loaders.twins.problem import Problem, cells_in
from loaders.twins.shape import Shape, TableName, Value

_TRANSPARENT = (exp.Paren, exp.Cast, exp.Lower, exp.Upper, exp.Trim, exp.Neg)


@dataclass(frozen=True)
class Compared:
    """One comparison of a column with a literal; `whole` says whether all of the value is compared."""

    table: TableName
    column: str
    value: Value
    whole: bool


def compared(problem: Problem, shape: Shape) -> Iterator[Compared]:
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
                        yield Compared(table.key, name, text, whole=False)
                    elif not numeric or isinstance(stored, int | float):
                        yield Compared(table.key, name, stored, whole=True)


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
