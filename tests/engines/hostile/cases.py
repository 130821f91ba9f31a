"""What a hostile prediction is, and how it may end."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from harness.engines.execution import Ending, Limits

STOPPED = frozenset({Ending.ERROR, Ending.TIMEOUT, Ending.TOO_LARGE})
"""It comes to nothing, in whichever way."""

HARMLESS = frozenset(Ending)
"""It may even return rows: what it must not do is leave anything behind."""


@dataclass(frozen=True)
class Hostile:
    """One hostile SQL text. `endings`: how it may end, whatever the engine's version."""

    name: str
    sql: str
    endings: AbstractSet[Ending] = STOPPED

    def within(self, limits: Limits) -> Limits:
        """`limits`, with twice the time for what may not run into it on a busy machine either."""
        is_stopped = Ending.TIMEOUT in self.endings
        return limits if is_stopped else replace(limits, seconds=2 * limits.seconds)
