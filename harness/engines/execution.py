"""One SQL text on one database becomes one `Execution`: rows, an error, a timeout or too large a result.

Limits are enforced by the engine, and by a cancel from outside should the engine let one pass.
"""

import time
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain

from harness.engines.base import Engine, EngineLost, Row, Session, SqlError, SqlTimeout, SqlTooLarge
from harness.engines.watchdog import WATCHDOG
from loaders.namespace import Database

_SIZED = (str, bytes)


class Ending(StrEnum):
    """How the run of one SQL text can end."""

    ROWS = "rows"
    ERROR = "error"
    TIMEOUT = "timeout"
    TOO_LARGE = "too_large"


@dataclass(frozen=True)
class Limits:
    """What one SQL text may use: wall-clock seconds, rows, and bytes of text in all rows together.

    30 seconds is the official evaluator's limit for a prediction and its gold together.
    """

    seconds: float = 30.0
    rows: int = 1_000_000
    bytes: int = 256 * 2**20


@dataclass(frozen=True)
class Execution:
    """What came of one SQL text.

    `rows` is empty unless `ending` is ROWS; `error` and `code` are the engine's own words otherwise;
    `seconds` is wall-clock time from sending the text to having the last row.
    """

    ending: Ending
    rows: tuple[Row, ...] = ()
    error: str | None = None
    code: str | None = None
    seconds: float = 0.0


def execute(engine: Engine, database: Database, sql: str, limits: Limits) -> Execution:
    """Run one SQL text in a session of its own, so that no statement can influence another.

    Raises:
        EngineLost: the engine is to blame, not the statement.
    """
    with engine.session(database, limits.seconds) as session:
        started = time.perf_counter()
        code = None
        with WATCHDOG.guard(session, limits.seconds) as guarded:
            try:
                ending, rows, error = _collect(session, sql, limits)
            except SqlError as failure:
                stopped = isinstance(failure, SqlTimeout) or guarded.fired
                too_large = isinstance(failure, SqlTooLarge)
                ending = Ending.TIMEOUT if stopped else Ending.TOO_LARGE if too_large else Ending.ERROR
                rows, error, code = (), failure.message, failure.code
                # The driver's own error has all of its words; it would go with the next collection only.
                failure.__cause__ = failure.__context__ = failure.__traceback__ = None
            except MemoryError:
                ending, rows, error = Ending.TOO_LARGE, (), "more memory than a result may take"
        return Execution(ending, rows, error, code, time.perf_counter() - started)


def refuses(engine: Engine, database: Database, sql: str, execution: Execution, limits: Limits) -> bool:
    """Whether `execution`, a text's, is an error that it would end with at any other moment, too.

    That is so where the engine refuses the text before it runs anything of it. False when in doubt.
    """
    if execution.ending is not Ending.ERROR or execution.error is None:
        return False
    try:
        with engine.session(database, limits.seconds) as session, WATCHDOG.guard(session, limits.seconds):
            return session.refuses(sql, execution.error)
    except (EngineLost, SqlError):
        return False


def _collect(session: Session, sql: str, limits: Limits) -> tuple[Ending, tuple[Row, ...], str | None]:
    rows: list[Row] = []
    size = 0
    for batch in session.batches(sql):
        rows += batch
        size += _size(batch)
        if len(rows) > limits.rows:
            return Ending.TOO_LARGE, (), f"more than {limits.rows:,} rows"
        if size > limits.bytes:
            return Ending.TOO_LARGE, (), f"more than {limits.bytes:,} bytes"
    return Ending.ROWS, tuple(rows), None


def _size(rows: list[Row]) -> int:
    """Bytes of texts and of bytes as Python keeps them; other values are small."""
    return sum(
        [
            len(value) if isinstance(value, bytes) or value.isascii() else 4 * len(value)
            for value in chain.from_iterable(rows)
            if isinstance(value, _SIZED)
        ]
    )
