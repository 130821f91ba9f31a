"""Runs golds on SQLite and on servers and says how the answers relate: the measurement itself."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation

from dialects.enums import Dialect, Profile
from dialects.overrides import Override, overrides
from dialects.schema import Schema
from dialects.translate import Translation, Untranslatable, translate
from dialects.volatility import is_volatile
from harness.analyses.coverage import ties
from harness.analyses.coverage.answers import CoverageAnswer, OverrideState, Reason
from harness.data.outcomes import GoldOrigin
from harness.data.questions import Question, QuestionSet
from harness.engines import kind_of
from harness.engines.base import Engine
from harness.engines.execution import Ending, Execution, Limits, execute
from harness.engines.retry import execute_patiently
from harness.engines.sqlite.engine import SQLiteEngine
from harness.metrics.comparison import Tolerance, compare
from harness.metrics.distinct import Row
from loaders.census import census
from loaders.namespace import Database

# Why rows are not SQLite's: what can be proven from the rows, or told by the engine's own error code.

_ENDINGS = {Ending.TIMEOUT: Reason.TIMEOUT, Ending.TOO_LARGE: Reason.TOO_LARGE}

_NINE_DECIMALS = Tolerance(1e-9, 1e-9)
_SINGLE = Tolerance(1e-5)
"""A double has 16 digits, a float of 32 bits has 7, and a sum of many of those fewer."""

_MOST_SHOWN = 3
_MOST_CHARACTERS = 120


def of_failure(dialect: Dialect, execution: Execution) -> Reason:
    """Why an execution gave no rows."""
    if execution.ending in _ENDINGS:
        return _ENDINGS[execution.ending]
    return Reason(kind_of(dialect).coverage_reasons.get(execution.code or "", Reason.ERROR))


def of_rows(reference: Sequence[Row], rows: Sequence[Row]) -> Reason:
    """Why rows differ from SQLite's, if it is the numbers alone; else DIFFERENT."""
    if compare(reference, rows, tolerance=_NINE_DECIMALS).same_bag:
        return Reason.FLOAT_SUM
    if _is_rounded(reference, rows):
        return Reason.DECIMAL_SCALE
    if compare(reference, rows, tolerance=_SINGLE).same_bag:
        return Reason.PRECISION
    return Reason.DIFFERENT


def shortened(rows: Sequence[Row]) -> tuple[str, ...]:
    """The first rows as text, each in one line."""
    return tuple(_short(repr(row)) for row in rows[:_MOST_SHOWN])


def _short(text: str) -> str:
    return text if len(text) <= _MOST_CHARACTERS else text[: _MOST_CHARACTERS - 1] + "…"


def _is_rounded(reference: Sequence[Row], rows: Sequence[Row]) -> bool:
    """Whether the rows are the same once floats are rounded to the digits of the other's exact decimals."""
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


# How a server's answer relates to SQLite's: decided here alone, for golds and for any other query.


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


# Golds that read the clock are compared only while all engines are in the same day.

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


def cover(  # noqa: PLR0913 - the measurement's whole description
    questions: QuestionSet,
    engines: Mapping[Dialect, Engine],
    limits: Limits,
    *,
    origin: GoldOrigin = GoldOrigin.TRANSLATED,
    profile: Profile = Profile.FAITHFUL,
    workers: int = 1,
    unloaded: Mapping[tuple[Dialect, str], str] | None = None,
) -> Iterator[CoverageAnswer]:
    """The answer of every gold on every engine, question by question.

    Args:
        questions: the question set; its SQLite golds are the reference.
        engines: servers, with the set's databases loaded in `profile`.
        limits: what one SQL text may use.
        origin: TRANSLATED, which takes an override where there is one, or DATASET, the golds that the set
            publishes for a dialect; a question without one has no answer then.
        profile: how the databases are loaded.
        workers: threads, each with a question at a time.
        unloaded: the databases that an engine does not have, and why: nothing is asked of them there.

    Raises:
        EngineLost: an engine broke.
        BadInput: a database that an engine has cannot be read, or an override is none.
    """
    bench = _Bench(questions, engines, limits, origin, profile, unloaded or {})
    with ThreadPoolExecutor(workers, thread_name_prefix="coverage") as pool:
        try:
            for answers in pool.map(bench.answers, questions.questions):
                yield from answers
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


@dataclass(frozen=True)
class _Text:
    """What is to be run for a gold."""

    origin: GoldOrigin
    translation: Translation


class _Bench:
    """The engines, with what is the same for all questions; thread-safe."""

    def __init__(  # noqa: PLR0913, PLR0917 - what a measurement is made of
        self,
        questions: QuestionSet,
        engines: Mapping[Dialect, Engine],
        limits: Limits,
        origin: GoldOrigin,
        profile: Profile,
        unloaded: Mapping[tuple[Dialect, str], str],
    ) -> None:
        self._unloaded = unloaded
        self._questions = questions
        self._engines = engines
        self._origin = origin
        self._profile = profile
        self._reference = Reference(limits)
        self._schemas: dict[str, Schema] = {}
        self._overrides: dict[Dialect, Mapping[str, Override]] = {}
        if origin is GoldOrigin.TRANSLATED:
            self._schemas = {
                db_id: census(questions.database(db_id, profile).sqlite_path)
                for db_id in questions.db_ids
                if any((dialect, db_id) not in unloaded for dialect in engines)
            }
            self._overrides = {dialect: overrides(questions.name, dialect) for dialect in engines}

    def answers(self, question: Question) -> list[CoverageAnswer]:
        """The answers of one question's gold on every engine."""
        database = self._questions.database(question.db_id, self._profile)
        reference = self._reference.run(database, question.gold[Dialect.SQLITE])
        return [
            answer
            for dialect in self._engines
            if self._origin is GoldOrigin.TRANSLATED or dialect in question.gold
            for answer in [self._answer(question, dialect, reference)]
        ]

    def _answer(self, question: Question, dialect: Dialect, reference: Execution) -> CoverageAnswer:
        if why := self._unloaded.get((dialect, question.db_id)):
            blank = _blank(question, dialect, self._origin, reference)
            return replace(blank, reason=Reason.NOT_LOADED, detail=why)
        if self._origin is GoldOrigin.DATASET:
            published = _Text(GoldOrigin.DATASET, Translation(question.gold[dialect], dialect))
            return self._compared(question, published, reference)
        override = self._overrides[dialect].get(question.key)
        automatic = self._translated(question, dialect, reference)
        if override is None:
            return automatic
        text = _Text(GoldOrigin.OVERRIDE, Translation(override.sql, dialect))
        answer = self._compared(question, text, reference)
        state = OverrideState.UNNEEDED if automatic.covered else OverrideState.NEEDED
        if not override.replaces(question.gold[Dialect.SQLITE]):
            state = OverrideState.STALE
        return replace(answer, override=state)

    def _translated(self, question: Question, dialect: Dialect, reference: Execution) -> CoverageAnswer:
        try:
            translation = translate(question.gold[Dialect.SQLITE], self._schemas[question.db_id], dialect)
        except Untranslatable as refusal:
            answer = _blank(question, dialect, GoldOrigin.TRANSLATED, reference)
            return replace(answer, reason=Reason.UNTRANSLATABLE, detail=str(refusal))
        return self._compared(question, _Text(GoldOrigin.TRANSLATED, translation), reference)

    def _compared(self, question: Question, text: _Text, reference: Execution) -> CoverageAnswer:
        translation = text.translation
        gold, dialect = question.gold[Dialect.SQLITE], translation.target
        database = self._questions.database(question.db_id, self._profile)
        held = self._reference.hold(database, gold, reference, self._engines[dialect], translation)
        return replace(
            _blank(question, dialect, text.origin, reference),
            sql=translation.sql,
            rules=translation.rules,
            warnings=translation.warnings,
            **vars(held),
        )


def _blank(question: Question, dialect: Dialect, origin: GoldOrigin, reference: Execution) -> CoverageAnswer:
    return CoverageAnswer(
        question=question.key,
        db_id=question.db_id,
        difficulty=question.difficulty,
        dialect=dialect,
        origin=origin,
        sqlite_seconds=reference.seconds,
    )
