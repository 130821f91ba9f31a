"""The ranking of a query, found by running it on its engine without its LIMIT.

The engine itself says which rows are equal to it, by its collations, its order of NULLs and its types. Keys
that are the same by `harness.metrics.comparison` are equal, too: two ways to add up the same numbers may
differ in the last digit.
"""

from collections.abc import Callable, Sequence
from decimal import Decimal

from sqlglot import exp

from dialects.enums import Dialect
from dialects.uncut import Uncut, uncut
from harness.engines.execution import Ending, Execution
from harness.metrics.comparison import Ranking, compare
from harness.metrics.distinct import Row
from harness.sqltree.query import cut_of

Run = Callable[[str], Execution]
"""Runs a text on the engine whose dialect it is written in."""


def rank(tree: exp.Query, dialect: Dialect, run: Run) -> Ranking | None:
    """The ranking of a query, up to the group in which the cut ends.

    None where it cannot be seen from outside: the cut is not written as numbers, a sort key cannot be put
    beside the rows, or the query without its cut fails, takes too long or returns too much.
    """
    cut = cut_of(tree)
    if cut is None:
        return None
    for asked in uncut(tree, dialect):
        found = run(asked.sql)
        if found.ending is Ending.ROWS:
            groups = _groups(asked, found.rows, cut[1])
            return None if groups is None else Ranking(groups, *cut)
        if found.ending is not Ending.ERROR:
            return None
    return None


def _groups(asked: Uncut, rows: Sequence[Row], end: int) -> tuple[tuple[Row, ...], ...] | None:
    """The rows in groups of equal keys, up to the one that reaches `end`; None where ranks are no good."""
    if not asked.keys:
        return (tuple(rows),)
    width = asked.keys + 1
    own = [row[:-width] for row in rows]
    ranks: list[int] = [row[-1] for row in rows]  # type: ignore[misc]  # DENSE_RANK() is an integer
    places = sorted(range(len(rows)), key=ranks.__getitem__)
    if asked.in_order and places != list(range(len(rows))):
        return None
    if asked.once and len(set(map(repr, own))) < len(own):
        return None
    groups: list[list[Row]] = []
    last: int | None = None
    for count, place in enumerate(places):
        tied = last is not None and (
            ranks[place] == ranks[last] or _same(rows[place][-width:-1], rows[last][-width:-1])
        )
        if not tied and count >= end:
            break
        if not tied:
            groups.append([])
        groups[-1].append(own[place])
        last = place
    return tuple(map(tuple, groups))


def _same(one: Row, other: Row) -> bool:
    """Whether sort keys that the engine tells apart are the same number up to the tolerance."""
    differing = [pair for pair in zip(one, other, strict=True) if pair[0] != pair[1]]
    return (
        all(isinstance(value, int | float | Decimal) for pair in differing for value in pair)
        and compare([one], [other]).same_bag
    )
