"""What a statement makes its engine do, counted by the engine: the same on a busy machine as on an idle one.

How each engine counts stands in its own folder; what the counts weigh, in `harness.metrics.work`.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from harness.engines.base import CannotCount, Engine, SqlError, SqlTimeout, SqlTooLarge
from harness.engines.execution import Limits
from harness.engines.watchdog import WATCHDOG
from loaders.namespace import Database


@dataclass(frozen=True)
class Work:
    """What one execution of a text made the engine do: how often each thing, by the engine's own names."""

    counters: Mapping[str, int]


def encode(work: Work) -> bytes:
    """`work` as bytes, to be kept."""
    return json.dumps(work.counters, separators=(",", ":")).encode()


def decode(data: bytes) -> Work:
    """Back from `encode`. Of anything else ValueError."""
    counters = json.loads(data)
    if not isinstance(counters, dict) or not all(type(count) is int for count in counters.values()):
        raise ValueError("these are no counters")
    return Work(counters)


@dataclass(frozen=True)
class NotCounted:
    """An engine that does not count the work of a text, and why, in one sentence for the user."""

    reason: str


def count_work(engine: Engine, database: Database, sql: str, limits: Limits) -> Work | NotCounted:
    """Run one SQL text once, in a session of its own, and count what the engine does for it.

    Its rows are dropped, so that of the limits `seconds` alone matters. The engine's own limits hold, too.

    Args:
        engine: where to run it.
        database: the one that unqualified table names mean.
        sql: the text as it is.
        limits: what it may use.

    Raises:
        SqlTimeout: its time was up.
        SqlTooLarge: it needs more memory or disk than allowed.
        SqlError: the engine refused it, or failed while it ran.
        EngineLost: the engine is to blame, not the text.
    """
    with engine.session(database, limits.seconds) as session:
        with WATCHDOG.guard(session, limits.seconds) as guarded:
            try:
                counters = session.counted(sql)
            except CannotCount as cannot:
                return NotCounted(cannot.reason)
            except MemoryError as error:
                raise SqlTooLarge("more memory than counting may take", None) from error
            except SqlError as error:
                if guarded.fired and not isinstance(error, SqlTimeout):
                    raise SqlTimeout(error.message, error.code) from error
                raise
        # An engine may call a statement ended that it was told to stop.
        if guarded.fired:
            raise SqlTimeout(f"it took longer than {limits.seconds:.3g} s", None)
        return Work(dict(sorted((name, count) for name, count in counters.items() if count)))
