"""Which answers an order and a cut allow, decided on the rows that the cut is made from."""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.metrics.comparison import Row, compare


@dataclass(frozen=True)
class Ranking:
    """The rows of a query in groups of equal sort keys, and the cut: from row `start` to before row `end`.

    Any order within a group is valid, and any choice from a group that the cut goes through. A query that
    orders nothing has one group. `groups` may end with the group in which the cut ends.
    """

    groups: tuple[tuple[Row, ...], ...]
    start: int
    end: int

    def allows(self, rows: Sequence[Row]) -> bool:
        """Whether the rows, in this order, are a valid answer: by value, and as often as they are there."""
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
    def chosen_from(self) -> tuple[Row, ...]:
        """The rows of the groups that the cut goes through: some are in the answer, and some are not."""
        found: list[Row] = []
        first = 0
        for group in self.groups:
            kept = min(first + len(group), self.end) - max(first, self.start)
            first += len(group)
            if 0 < kept < len(group):
                found += group
        return tuple(found)
