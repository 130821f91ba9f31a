"""Which answers a query's own ORDER BY and LIMIT allow, decided on the rows that it cuts from.

The query is run on SQLite without its LIMIT and with its sort keys beside the rows. Rows with equal keys form
a group; any order within a group is valid, and any choice from the group that the cut goes through. Keys are
equal where values are the same by `dialects.comparison`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sqlglot import exp

from dialects.comparison import Row, compare
from harness.execution import Ending, Execution

Run = Callable[[str], Execution]
"""Runs a text on SQLite."""

_EVERYTHING = 2**62
"""Rows: more than any LIMIT can leave."""


@dataclass(frozen=True)
class Ranking:
    """The uncut rows of a query in groups of equal sort keys, and the cut: from `start` to before `end`."""

    groups: tuple[tuple[Row, ...], ...]
    start: int
    end: int

    def allows(self, rows: Sequence[Row]) -> bool:
        """Whether the rows, in this order, are a valid answer."""
        total = sum(map(len, self.groups))
        start, end = min(self.start, total), min(self.end, total)
        if len(rows) != end - start:
            return False
        first = 0
        for group in self.groups:
            low, high = max(first, start), min(first + len(group), end)
            first += len(group)
            if low < high and compare(group, rows[low - start : high - start]).only_right:
                return False
        return True

    @property
    def at_the_cut(self) -> tuple[Row, ...]:
        """The rows of the group in which the cut ends; empty where it ends behind the last row."""
        first = 0
        for group in self.groups:
            first += len(group)
            if first >= self.end:
                return group
        return ()


def rank(tree: exp.Query, run: Run) -> Ranking | None:
    """The ranking of a query that orders or cuts its rows; None where it cannot be seen from outside."""
    cut = _cut(tree)
    keyed = _with_keys(tree)
    if cut is None or keyed is None:
        return None
    uncut = run(keyed.sql)
    if uncut.ending is not Ending.ROWS:
        return None
    return Ranking(tuple(keyed.groups(uncut.rows)), *cut)


def output(tree: exp.Query, name: str) -> int | None:
    """The position of a result column by its alias; None if there is none, or a star stands before it."""
    first = tree
    while isinstance(first, exp.SetOperation):
        first = first.this
    for position, column in enumerate(first.selects):
        if column.is_star:
            return None
        if column.alias.lower() == name.lower():
            return position
    return None


@dataclass(frozen=True)
class _Keyed:
    """A query without its cut; `keys` are positions in its rows; the last `extra` columns are not its own."""

    sql: str
    keys: tuple[int, ...]
    extra: int

    def groups(self, rows: Sequence[Row]) -> Iterator[tuple[Row, ...]]:
        """Consecutive rows with equal keys, without what is not their own."""
        if not rows:
            return
        keys = [tuple(row[position] for position in self.keys) for row in rows]
        own = [row[: len(row) - self.extra] for row in rows]
        edges = [place for place, (one, other) in enumerate(pairwise(keys), 1) if not _equal(one, other)]
        for first, last in pairwise([0, *edges, len(rows)]):
            yield tuple(own[first:last])


def _equal(one: Row, other: Row) -> bool:
    return one == other or compare([one], [other]).same_bag


def _with_keys(tree: exp.Query) -> _Keyed | None:
    """None where a key is neither a result column nor can be made one."""
    uncut = tree.copy()
    uncut.set("limit", None)
    uncut.set("offset", None)
    order = uncut.args.get("order")
    keys: list[int] = []
    extra: list[exp.Expr] = []
    for ordered in order.expressions if order else ():
        key = ordered.this
        position = _position(tree, key)
        if position is None:
            extra.append(exp.alias_(key.copy(), f"bird_sort_key_{len(extra)}"))
        keys.append(-len(extra) if position is None else position)
    if extra and (not isinstance(uncut, exp.Select) or uncut.args.get("distinct")):
        return None
    if extra:
        uncut.set("expressions", [*uncut.expressions, *extra])
        keys = [-(len(extra) + 1 + position) if position < 0 else position for position in keys]
    try:
        return _Keyed(uncut.sql(dialect="sqlite"), tuple(keys), len(extra))
    except ValueError:
        return None


def _position(tree: exp.Query, key: exp.Expr) -> int | None:
    """Where a sort key stands in the result: by its number, its alias, or as the same expression.

    https://sqlite.org/lang_select.html#orderby
    """
    if isinstance(key, exp.Literal) and key.is_int:
        return int(key.name) - 1
    if isinstance(key, exp.Column) and not key.table and (named := output(tree, key.name)) is not None:
        return named
    if isinstance(tree, exp.Select) and not any(column.is_star for column in tree.selects):
        same = (place for place, column in enumerate(tree.selects) if column.unalias() == key)
        return next(same, None)
    return None


def _cut(tree: exp.Query) -> tuple[int, int] | None:
    """The first row that is kept and the first that is not; None where that is not written as numbers.

    A negative LIMIT is none, a negative OFFSET is 0. https://sqlite.org/lang_select.html#limitoffset
    """
    try:
        limit = _number(tree.args.get("limit"), default=-1)
        start = max(_number(tree.args.get("offset"), default=0), 0)
    except ValueError:
        return None
    return start, start + limit if limit >= 0 else _EVERYTHING


def _number(clause: exp.Expr | None, *, default: int) -> int:
    """The number in LIMIT or OFFSET.

    Raises:
        ValueError: it is not written as an integer.
    """
    return default if clause is None else int(clause.expression.to_py())
