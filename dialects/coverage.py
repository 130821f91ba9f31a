"""How many golds answer the same elsewhere: each is run on SQLite, its translation on the target.

Rows are compared by value and multiplicity, not by order: numbers of any type by value to nine significant
digits, dates as ISO text, text exactly. Databases have to be loaded in the profile `faithful`.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum

from dialects.translate import Untranslatable, translate
from harness.benchmark import QuestionSet
from harness.engines.base import Engine, Row
from harness.engines.sqlite import SQLiteEngine
from harness.execution import Ending, Limits, execute
from harness.words import Dialect, Profile


class Answer(StrEnum):
    """What a translated gold does on the target, held against SQLite."""

    SAME = "same"
    DIFFERENT = "different"
    ERROR = "error"
    UNTRANSLATABLE = "untranslatable"
    NO_REFERENCE = "no_reference"
    """SQLite itself gave no rows to compare with: an error, a timeout or too large a result."""


@dataclass(frozen=True)
class Coverage:
    """One gold on one engine; `detail` is the error's text where there is one."""

    question: str
    dialect: Dialect
    answer: Answer
    detail: str | None = None


def cover(questions: QuestionSet, engines: Mapping[Dialect, Engine], limits: Limits) -> Iterator[Coverage]:
    """The coverage of every gold of `questions` on every engine.

    Raises:
        EngineLost: an engine broke.
    """
    sqlite = SQLiteEngine()
    for question in questions.questions:
        database = questions.database(question.db_id, Profile.FAITHFUL)
        reference = execute(sqlite, database, question.gold[Dialect.SQLITE], limits)
        for dialect, engine in engines.items():
            if reference.ending is not Ending.ROWS:
                yield Coverage(question.key, dialect, Answer.NO_REFERENCE, reference.error)
                continue
            try:
                sql = translate(question.gold[Dialect.SQLITE], dialect).sql
            except Untranslatable as error:
                yield Coverage(question.key, dialect, Answer.UNTRANSLATABLE, str(error))
                continue
            execution = execute(engine, database, sql, limits)
            if execution.ending is not Ending.ROWS:
                yield Coverage(question.key, dialect, Answer.ERROR, execution.error)
            else:
                same = bag(execution.rows) == bag(reference.rows)
                yield Coverage(question.key, dialect, Answer.SAME if same else Answer.DIFFERENT)


def bag(rows: Iterable[Row]) -> Counter[tuple[object, ...]]:
    """The rows as a multiset of values that mean the same on every engine."""
    return Counter(tuple(_canonical(value) for value in row) for row in rows)


def _canonical(value: object) -> object:
    match value:
        case bool() | int() | float() | Decimal():
            return float(f"{value:.9g}") if not isinstance(value, bool) else float(value)
        case datetime():
            return value.replace(tzinfo=None).isoformat(sep=" ")
        case date():
            return value.isoformat()
        case None | str() | bytes():
            return value
        case _:
            return repr(value)
