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
        """`limits`, with a second for what may not run into them on a busy machine either."""
        return limits if Ending.TIMEOUT in self.endings else replace(limits, seconds=1.0)


@dataclass(frozen=True)
class Absent:
    """Why an engine has no case of a kind."""

    reason: str
