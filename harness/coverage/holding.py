"""How a server's answer relates to SQLite's: decided here alone, for golds and for any other query."""

from dataclasses import dataclass, replace

from dialects.translate import Translation
from harness.coverage import ties
from harness.coverage.answers import Reason
from harness.coverage.clock import in_one_day, may_read_clock
from harness.coverage.differences import of_failure, of_rows, shortened
from harness.engines.base import Engine
from harness.engines.execution import Ending, Execution, Limits, execute
from harness.engines.retry import execute_patiently
from harness.engines.sqlite.engine import SQLiteEngine
from harness.metrics.comparison import compare
from loaders.namespace import Database


@dataclass(frozen=True)
class Held:
    """What a server made of a translation, held against SQLite's rows.

    `reason` is None where the rows are SQLite's. The other fields are those of `Answer`.
    """

    runs: bool = False
    same_set: bool = False
    same_bag: bool = False
    same_order: bool | None = None
    reason: Reason | None = None
    detail: str | None = None
    engine_seconds: float | None = None
    only_sqlite: tuple[str, ...] = ()
    only_engine: tuple[str, ...] = ()


class Reference:
    """SQLite, which every other answer is held against; thread-safe.

    Args:
        limits: what one SQL text may use, on every engine.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._sqlite = SQLiteEngine(pooled=True)

    def run(self, database: Database, sql: str) -> Execution:
        """What SQLite makes of a text; `Ending.ROWS` alone is something to compare with."""
        return execute(self._sqlite, database, sql, self._limits)

    def _on(self, engine: Engine, database: Database, sql: str) -> Execution:
        """A text on a server, again where the server and not the text is to blame."""
        return execute_patiently(engine, database, sql, self._limits)

    def hold(  # noqa: PLR0913 - both sides of a comparison
        self,
        database: Database,
        sql: str,
        expected: Execution,
        engine: Engine,
        translation: Translation,
        *,
        ordered: bool | None = None,
    ) -> Held:
        """Run a translation and say how its rows relate to SQLite's.

        Args:
            database: the one that both texts are for.
            sql: the query as SQLite takes it.
            expected: from `run`.
            engine: the server, with the database loaded.
            translation: what it is to run.
            ordered: whether the rows have one order; None to read it in `sql`.

        Raises:
            EngineLost: the server broke.
        """
        if expected.ending is not Ending.ROWS:
            return Held(reason=Reason.NO_REFERENCE, detail=expected.error or expected.ending)
        if may_read_clock(sql, translation.sql):
            both = in_one_day(
                lambda: (self.run(database, sql), self._on(engine, database, translation.sql)),
                (self._sqlite, engine),
                database,
                self._limits,
            )
            if both is None:
                return Held(reason=Reason.CLOCK, detail="the engines are never in the same day")
            expected, found = both
        else:
            found = self._on(engine, database, translation.sql)
        if found.ending is not Ending.ROWS:
            failure = of_failure(translation.target, found)
            return Held(reason=failure, detail=found.error, engine_seconds=found.seconds)
        found = replace(found, rows=translation.read(found.rows))
        compared = compare(expected.rows, found.rows)
        ordered = ties.is_ordered(sql) if ordered is None else ordered
        valid = compared.same_bag and (
            compared.same_order or not ordered or ties.are_in_order(sql, expected.rows, found.rows)
        )
        valid = valid or ties.is_valid(sql, found.rows, lambda text: self.run(database, text))
        reason: Reason | None = None
        if not valid and translation.leaves_open:
            reason = Reason.UNSPECIFIED
        elif not compared.same_bag:
            reason = Reason.TIE if valid else of_rows(expected.rows, found.rows)
        elif not valid:
            reason = Reason.ORDER
        return Held(
            runs=True,
            same_set=compared.same_set,
            same_bag=compared.same_bag,
            same_order=valid if ordered else None,
            reason=reason,
            engine_seconds=found.seconds,
            only_sqlite=shortened(compared.only_left),
            only_engine=shortened(compared.only_right),
        )
