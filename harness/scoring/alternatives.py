"""Which other answers a gold allows, found on the engine that it runs on, and only where that matters.

A gold allows what its text leaves open: any order of rows that its ORDER BY calls equal, any choice among
them where its LIMIT cuts through, any choice at all where it has a LIMIT and no ORDER BY; the same in its
subqueries. What it leaves open elsewhere is not looked for: bare columns of a group, the order inside of an
aggregate, a ROW_NUMBER() among equals.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.engines import EngineName
from harness.engines.base import Row
from harness.engines.execution import Ending, Execution
from harness.metrics.accuracy import Answers
from harness.metrics.comparison import Ranking

if TYPE_CHECKING:
    from harness.scoring.ranking import Run

MOST_QUERIES = 40
"""Texts that are run to find the other answers of one gold; all but a few golds need one or none."""


def answers(sql: str, dialect: EngineName, run: "Run", gold: Sequence[Row]) -> Answers:
    """What a gold allows beside its own rows.

    A text that `dialects.translate` made decides ties as SQLite does: ask with SQLite's own text, on SQLite.

    A gold that neither orders nor cuts, or that cannot be read, runs nothing. Any other runs once more
    without its LIMIT, and one with a LIMIT in a subquery in up to `MOST_QUERIES` texts; after one that takes
    too long or returns too much, no more is run. If no ranking allows gold's own rows, all are left out: the
    query is not decided by its text and its data, or was not understood.

    Args:
        sql: the gold.
        dialect: the engine's.
        run: runs a text on the engine, on gold's database.
        gold: the rows that the engine returned for `sql`.

    Raises:
        EngineLost: `run` raised it.
    """
    from harness.scoring import ties  # noqa: PLC0415 - sqlglot takes as long as 500 pairs

    found: list[Ranking] = []
    for ranking in ties.rankings(sql, dialect, _bounded(run)):
        if ranking not in found:
            found.append(ranking)
    is_sound = any(ranking.allows(gold) for ranking in found)
    return Answers(ties.is_ordered(sql, dialect), tuple(found) if is_sound else ())


def _bounded(run: "Run") -> "Run":
    left = MOST_QUERIES

    def bounded(text: str) -> Execution:
        nonlocal left
        if not left:
            return Execution(Ending.ERROR, error="enough has been run")
        found = run(text)
        left = 0 if found.ending in (Ending.TIMEOUT, Ending.TOO_LARGE) else left - 1
        return found

    return bounded
