"""Golds that read the clock are compared only while all engines are in the same day."""

from collections.abc import Callable, Sequence

from dialects.volatility import is_volatile
from harness.engines import kind_of
from harness.engines.base import Engine
from harness.engines.execution import Execution, Limits, execute
from loaders.namespace import Database

_TRIES = 3

Executions = tuple[Execution, ...]


def may_read_clock(*texts: str) -> bool:
    """Whether one of the SQL texts looks as if it read the clock; sometimes true of one that does not."""
    return any(is_volatile(text) for text in texts)


def in_one_day(
    run: Callable[[], Executions], engines: Sequence[Engine], database: Database, limits: Limits
) -> Executions | None:
    """What `run` returns, with all engines in the same UTC day before and after; None if they never are."""
    for _ in range(_TRIES):
        before = _days(engines, database, limits)
        done = run()
        if len(before | _days(engines, database, limits)) == 1:
            return done
    return None


def _days(engines: Sequence[Engine], database: Database, limits: Limits) -> set[object]:
    return {execute(engine, database, kind_of(engine.dialect).today, limits).rows for engine in engines}
