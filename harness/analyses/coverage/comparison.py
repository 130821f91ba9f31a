"""Runs a query on SQLite and its translation on a server, and says how the answers relate."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation

from sqlglot import exp

from dialects.enums import Dialect
from dialects.source import parse
from dialects.translation import Translation, Untranslatable
from dialects.volatility import is_volatile
from harness.analyses.coverage.answers import DifferenceReason
from harness.engines import kind_of
from harness.engines.base import Engine
from harness.engines.execution import Ending, Execution, Limits, execute
from harness.engines.retry import execute_patiently
from harness.engines.sqlite.engine import SQLiteEngine
from harness.metrics.comparison import Tolerance, compare
from harness.metrics.distinct import Row
from harness.scoring import ties
from harness.scoring.ties import Run
from loaders.namespace import Database
from loaders.server import Parameters

# Why rows are not SQLite's: as proven from the rows, or by the engine's own error code.

_ENDINGS = {Ending.TIMEOUT: DifferenceReason.TIMEOUT, Ending.TOO_LARGE: DifferenceReason.TOO_LARGE}

_NINE_DECIMALS = Tolerance(1e-9, 1e-9)
_SINGLE = Tolerance(1e-5)
"""A double has 16 digits, a float of 32 bits has 7, and a sum of many of those fewer."""

_MOST_SHOWN = 3
_MOST_CHARACTERS = 120


def of_failure(dialect: Dialect, execution: Execution) -> DifferenceReason:
    """Why an execution gave no rows."""
    if execution.ending in _ENDINGS:
        return _ENDINGS[execution.ending]
    return DifferenceReason(
        kind_of(dialect).coverage_reasons.get(execution.code or "", DifferenceReason.ERROR)
    )


def of_rows(reference: Sequence[Row], rows: Sequence[Row]) -> DifferenceReason:
    """Why rows differ from SQLite's, if it is the numbers alone; else DIFFERENT."""
    if compare(reference, rows, tolerance=_NINE_DECIMALS).same_bag:
        return DifferenceReason.FLOAT_SUM
    if _is_rounded(reference, rows):
        return DifferenceReason.DECIMAL_SCALE
    if compare(reference, rows, tolerance=_SINGLE).same_bag:
        return DifferenceReason.PRECISION
    return DifferenceReason.DIFFERENT


def shortened(rows: Sequence[Row]) -> tuple[str, ...]:
    """Return the first rows as text, each in one line."""
    return tuple(_short(repr(row)) for row in rows[:_MOST_SHOWN])


def _short(text: str) -> str:
    return text if len(text) <= _MOST_CHARACTERS else text[: _MOST_CHARACTERS - 1] + "…"


def _is_rounded(reference: Sequence[Row], rows: Sequence[Row]) -> bool:
    """True if the rows are the same once floats are rounded to the digits of the other's exact decimals."""
    if not rows or not reference or len(reference[0]) != len(rows[0]):
        return False
    scales = {}
    for column in range(len(rows[0])):
        found = {_scale(value) for row in rows for value in [row[column]] if isinstance(value, Decimal)}
        if found:
            scales[column] = max(found)
    rounded = [
        tuple(
            _rounded(value, scales[column]) if column in scales else value for column, value in enumerate(row)
        )
        for row in reference
    ]
    return bool(scales) and compare(rounded, rows).same_bag


def _scale(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    return -exponent if isinstance(exponent, int) else 0


def _rounded(value: object, scale: int) -> object:
    if not isinstance(value, float):
        return value
    try:
        return Decimal(value).quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP)
    except InvalidOperation:
        return value


# Other rows than SQLite's may be a valid answer of the same query, or their order may be.


def is_valid(sql: str, rows: Sequence[Row], run: Run) -> bool:
    """True if rows, in their order, are proven to be a valid answer of a SQLite query.

    Args:
        sql: the query as it was written.
        rows: what another engine answered.
        run: runs a text on SQLite.
    """
    return any(ranking.allows(rows) for ranking in ties.rankings(sql, Dialect.SQLITE, run))


def are_in_order(sql: str, reference: Sequence[Row], rows: Sequence[Row]) -> bool:
    """True if rows have the sort keys of SQLite's rows, one by one: then ORDER BY allows their order.

    That is known where every key is a column of the result, by its number or its name, or a constant. It
    needs nothing run, and reads what no ranking does: a number that counts columns behind a star.

    Args:
        sql: the query as it was written.
        reference: what SQLite answered.
        rows: the same rows in another order.
    """
    try:
        tree = parse(sql)
    except Untranslatable:
        return False
    order = tree.args.get("order")
    if order is None or not rows:
        return False
    places: list[int] = []
    for key in order.expressions:
        this = key.this.unnest()
        if isinstance(this, exp.Literal) and this.is_int:
            places.append(int(this.name) - 1)
        elif isinstance(this, exp.Column) and not this.table:
            names = [None if column.is_star else column.alias_or_name.lower() for column in tree.selects]
            if None in names or names.count(this.name.lower()) != 1:
                return False
            places.append(names.index(this.name.lower()))
        elif isinstance(tree, exp.SetOperation) or not isinstance(this, exp.Literal | exp.Null | exp.Boolean):
            return False
    if any(not 0 <= place < len(rows[0]) for place in places):
        return False
    ours, theirs = ([tuple(row[place] for place in places) for row in each] for each in (reference, rows))
    return compare(ours, theirs).same_order


# How a server's answer relates to SQLite's: decided here alone, for golds and for any other query.


@dataclass(frozen=True)
class RowsComparison:
    """The answer of a server to a translation, compared with SQLite's rows.

    `reason` is None where the rows are SQLite's. The other fields are those of `CoverageAnswer`.
    """

    runs: bool = False
    same_set: bool = False
    same_bag: bool = False
    same_order: bool | None = None
    reason: DifferenceReason | None = None
    detail: str | None = None
    engine_seconds: float | None = None
    only_sqlite: tuple[str, ...] = ()
    only_engine: tuple[str, ...] = ()


class Reference:
    """SQLite, the reference for every other answer; thread-safe.

    Args:
        limits: what one SQL text may use, on every engine.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._sqlite = SQLiteEngine(pooled=True)

    def run(self, database: Database, sql: str, values: Parameters | None = None) -> Execution:
        """Run a text on SQLite, with values of its parameters; only `Ending.ROWS` can be compared with."""
        return execute(self._sqlite, database, sql, self._limits, values or None)

    def _on(self, engine: Engine, database: Database, sql: str, values: Parameters | None) -> Execution:
        """Run a text on a server, again if the server and not the text is to blame; with values, once."""
        if values is not None:
            return execute(engine, database, sql, self._limits, values)
        return execute_patiently(engine, database, sql, self._limits)

    def compare(  # noqa: PLR0913 - both sides of a comparison
        self,
        database: Database,
        sql: str,
        expected: Execution,
        engine: Engine,
        translation: Translation,
        *,
        ordered: bool | None = None,
        values: Parameters | None = None,
    ) -> RowsComparison:
        """Run a translation and say how its rows relate to SQLite's.

        Args:
            database: the one that both texts are for.
            sql: the query as SQLite takes it, with literals for parameters.
            expected: from `run`.
            engine: the server, with the database loaded.
            translation: what it is to run.
            ordered: whether the rows have one order; None to read it in `sql`.
            values: what the translation's parameters are bound to; None: it has none.

        Raises:
            EngineLost: the server broke.
        """
        if expected.ending is not Ending.ROWS:
            return RowsComparison(
                reason=DifferenceReason.NO_REFERENCE, detail=expected.error or expected.ending
            )
        if may_read_clock(sql, translation.sql):
            both = in_one_day(
                lambda: (self.run(database, sql), self._on(engine, database, translation.sql, values)),
                (self._sqlite, engine),
                database,
                self._limits,
            )
            if both is None:
                return RowsComparison(
                    reason=DifferenceReason.CLOCK, detail="the engines are never in the same day"
                )
            expected, found = both
        else:
            found = self._on(engine, database, translation.sql, values)
        if found.ending is not Ending.ROWS:
            failure = of_failure(translation.target, found)
            return RowsComparison(reason=failure, detail=found.error, engine_seconds=found.seconds)
        found = replace(found, rows=translation.read(found.rows))
        compared = compare(expected.rows, found.rows)
        ordered = ties.is_ordered(sql, Dialect.SQLITE) if ordered is None else ordered
        valid = compared.same_bag and (
            compared.same_order or not ordered or are_in_order(sql, expected.rows, found.rows)
        )
        valid = valid or is_valid(sql, found.rows, lambda text: self.run(database, text))
        reason: DifferenceReason | None = None
        if not valid and translation.leaves_open:
            reason = DifferenceReason.UNSPECIFIED
        elif not compared.same_bag:
            reason = DifferenceReason.TIE if valid else of_rows(expected.rows, found.rows)
        elif not valid:
            reason = DifferenceReason.ORDER
        return RowsComparison(
            runs=True,
            same_set=compared.same_set,
            same_bag=compared.same_bag,
            same_order=valid if ordered else None,
            reason=reason,
            engine_seconds=found.seconds,
            only_sqlite=shortened(compared.only_left),
            only_engine=shortened(compared.only_right),
        )


# Golds that read the clock are compared only while all engines are in the same day.

_TRIES = 3

Executions = tuple[Execution, ...]


def may_read_clock(*texts: str) -> bool:
    """True if one of the SQL texts looks as if it read the clock; sometimes true of one that does not."""
    return any(is_volatile(text) for text in texts)


def in_one_day(
    run: Callable[[], Executions], engines: Sequence[Engine], database: Database, limits: Limits
) -> Executions | None:
    """Return the result of `run`, with all engines on one UTC day before and after; None if that fails."""
    for _ in range(_TRIES):
        before = _days(engines, database, limits)
        done = run()
        if len(before | _days(engines, database, limits)) == 1:
            return done
    return None


def _days(engines: Sequence[Engine], database: Database, limits: Limits) -> set[object]:
    return {execute(engine, database, kind_of(engine.dialect).today, limits).rows for engine in engines}
