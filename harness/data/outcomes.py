"""The closed vocabulary of what can happen to a pair, the typed record of one, and what its answer took."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from enum import StrEnum
from typing import Any, Self

from harness.data.questions import BIRD_LEVELS, level
from harness.engines import EngineName, kind_of
from harness.engines.base import Row
from harness.engines.errors import ErrorClass
from harness.metrics.distinct import gathered
from harness.metrics.efficiency import Timing
from harness.metrics.work import WorkRatio
from harness.sqltree.spider import Structure
from loaders.base.files import as_json, parse_json
from loaders.base.records import RecordFault, to_plain, to_record

# What a reader needs to see of two results: their sizes, and a few rows, those that differ first.
#
# Whole results are not kept; a preview is small whatever they are, so that a run folder can have one for
# each pair.

MOST_ROWS = 8
MOST_DIFFERENT = 6
"""How many of the rows of a side may be ones that the other lacks: the others tell what both look like."""
MOST_COLUMNS = 20
MOST_CHARACTERS = 120

_EXACT = 2**53
"""Up to here every reader of JSON has integers exactly (RFC 8259, section 6)."""

Shown = None | bool | int | float | str | tuple[str, str]
"""A value as JSON has it; one of another type, or too large for that, is the type's name and its text."""


@dataclass(frozen=True)
class Side:
    """One of two results.

    `count` and `columns` are its rows and columns. `only` counts its distinct rows that the other lacks, by
    EX's comparison of values; None where rows cannot be compared. `rows` has some of them, the first
    `marked` of which the other lacks.
    """

    count: int
    columns: int
    only: int | None
    marked: int
    rows: tuple[tuple[Shown, ...], ...]


@dataclass(frozen=True)
class Preview:
    """Gold's rows and a prediction's.

    `predicted` is None where the prediction returned none, and without rows where it has the same as gold.
    `gold_sql` is the text of gold where the question set has none in the dialect: the translation that ran.
    """

    gold: Side
    predicted: Side | None = None
    gold_sql: str | None = None

    def to_text(self) -> str:
        """As JSON that UTF-8 can hold: so it goes from the worker through the store to the run folder."""
        return as_json(to_plain(self))

    @staticmethod
    def from_text(text: str) -> "Preview":
        """Back from `to_text`."""
        return to_record(Preview, parse_json(text))


def preview(gold: Sequence[Row], predicted: Sequence[Row] | None, gold_sql: str | None = None) -> Preview:
    """What is to be seen of gold's rows and of a prediction's, None where it returned none."""
    if predicted is None:
        return Preview(_side(gold, (), 0), None, gold_sql)
    try:
        ours, theirs = gathered(gold, predicted)
    except TypeError:
        return Preview(_side(gold, (), None), _side(predicted, (), None), gold_sql)
    missing, extra = ours.distinct - theirs.distinct, theirs.distinct - ours.distinct
    if not missing and not extra:
        same = Side(len(predicted), len(predicted[0]) if predicted else 0, 0, 0, ())
        return Preview(_side(gold, (), 0), same, gold_sql)
    return Preview(
        _side(gold, _first(gold, ours.names, missing), len(missing)),
        _side(predicted, _first(predicted, theirs.names, extra), len(extra)),
        gold_sql,
    )


def _first(rows: Sequence[Row], names: Sequence[Hashable], wanted: set[Hashable]) -> list[Row]:
    """The first of `rows` whose names are `wanted`, each once."""
    found: dict[Hashable, Row] = {}
    for row, name in zip(rows, names, strict=True) if wanted else ():
        if name in wanted:
            found.setdefault(name, row)
            if len(found) == MOST_DIFFERENT:
                break
    return list(found.values())


def _side(rows: Sequence[Row], different: Sequence[Row], only: int | None) -> Side:
    chosen = list(different)
    for row in rows:
        if len(chosen) == MOST_ROWS:
            break
        if row not in different:
            chosen.append(row)
    shown = tuple(tuple(map(_shown, row[:MOST_COLUMNS])) for row in chosen)
    return Side(len(rows), len(rows[0]) if rows else 0, only, len(different), shown)


def _shown(value: Any) -> Shown:
    kind = type(value)
    if value is None or kind is bool:
        return value  # type: ignore[no-any-return]
    if kind is str:
        return _cut(value)
    if (kind is int and -_EXACT <= value <= _EXACT) or (kind is float and math.isfinite(value)):
        return value  # type: ignore[no-any-return]
    if kind is int:
        # Python limits the digits of decimal numbers that it writes; no engine returns that many.
        return "int", _cut(hex(value) if value.bit_length() > 4 * MOST_CHARACTERS else str(value))
    if isinstance(value, bytes | bytearray | memoryview):
        return "bytes", _cut(bytes(value[: MOST_CHARACTERS + 1]).hex())
    return kind.__name__, _cut(str(value))


def _cut(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 1] + "\N{HORIZONTAL ELLIPSIS}"


class Outcome(StrEnum):
    """What happened to one pair of a prediction and its gold; exactly one of these, always."""

    MATCH = "match"
    MISMATCH = "mismatch"
    PREDICTION_ERROR = "prediction_error"
    PREDICTION_TIMEOUT = "prediction_timeout"
    PREDICTION_TOO_LARGE = "prediction_too_large"
    GOLD_ERROR = "gold_error"
    GOLD_TIMEOUT = "gold_timeout"
    MISSING = "missing"
    HARNESS_ERROR = "harness_error"

    @property
    def is_predictors(self) -> bool:
        """Whether the predictor is answerable for it: gold ran, an answer was there, the engine worked."""
        return self not in _NOT_THE_PREDICTORS


_NOT_THE_PREDICTORS = frozenset(
    {Outcome.GOLD_ERROR, Outcome.GOLD_TIMEOUT, Outcome.MISSING, Outcome.HARNESS_ERROR}
)


class GoldOrigin(StrEnum):
    """Where the reference of a pair came from."""

    DATASET = "dataset"
    TRANSLATED = "translated"
    OVERRIDE = "override"
    CORRECTION = "correction"
    """A gold pack."""
    SQLITE_ROWS = "sqlite_rows"
    """What SQLite's gold returns there, by value."""

    @property
    def is_written(self) -> bool:
        """Whether it is a text for the engine itself, by those who made the set or a pack."""
        return self in (GoldOrigin.DATASET, GoldOrigin.CORRECTION)


@dataclass(frozen=True)
class Judgement:
    """What became of one SQL text as an answer to one question on one engine, whoever gave it.

    `scores` maps a metric's name to its score, without those that the dialect does not have or that would
    take too much memory; `error` and `code` are the engine's words where the outcome is an error or a
    timeout; times are wall-clock seconds, None where the SQL was not run. `error_class` says what is wrong
    with a prediction that is the predictor's and does not match; `structure` what Spider's measures found;
    `compared_variants` counts the variants of the database on which the prediction was compared with gold,
    None where test-suite accuracy did not ask; `failed_variant` is the first on which it is wrong;
    `preview` has some of the rows, where they were asked for and gold returned any, as the text of a
    `Preview`; `gold_index` is the
    place of the gold that it was compared with, among those of its question; `work` has what both made the
    engine do, where a metric of work asked.
    """

    outcome: Outcome
    scores: Mapping[str, float]
    error: str | None = None
    code: str | None = None
    prediction_seconds: float | None = None
    gold_seconds: float | None = None
    error_class: ErrorClass | None = None
    structure: Structure | None = None
    compared_variants: int | None = None
    failed_variant: str | None = None
    preview: str | None = None
    gold_index: int = 0
    work: WorkRatio | None = None

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        plain: dict[str, Any] = to_plain(self)
        return plain

    @classmethod
    def from_json(cls, record: Any) -> Self:
        """Back from `to_json`'s values.

        Raises:
            RecordFault: they are not that.
        """
        return to_record(cls, record)


@dataclass(frozen=True, kw_only=True)
class PairResult(Judgement):
    """One line of `results.jsonl`: a pair of a prediction and its gold, and what became of it.

    `question` is the key that is unique within the question set; `sql` is the prediction, None where there is
    none; `timings` has what the metrics of time measured, by method.
    """

    dialect: EngineName
    predictor: str
    question: str
    question_id: int | str
    db_id: str
    difficulty: str
    gold_origin: GoldOrigin
    timings: Mapping[str, Timing] = field(default_factory=dict)
    sql: str | None = None

    def to_json(self) -> dict[str, Any]:
        """As plain values, for `results.jsonl` and for pytest's reports, which may cross processes."""
        plain = super().to_json()
        return {name: plain[name] for name in _WHICH_FIRST}

    @classmethod
    def from_json(cls, record: Any, levels: Sequence[str] = BIRD_LEVELS) -> Self:
        """Back from `to_json`'s values.

        Args:
            record: the values.
            levels: those of difficulty that the question set has.

        Raises:
            BadInput, ValueError: they are not that, or of an engine or a level that is not known.
        """
        found = super().from_json(record)
        return replace(found, dialect=kind_of(found.dialect).name, difficulty=level(found.difficulty, levels))


_JUDGED = tuple(each.name for each in fields(Judgement))
_WHICH_FIRST = (*(each.name for each in fields(PairResult) if each.name not in _JUDGED), *_JUDGED)
"""The fields of a result, those that say which pair it is before those that say what became of it."""


# What answers took: tokens, seconds and cost; what nobody told is None, and never 0.

_MOST = 1e15
"""Beyond it figures are no measurements, and sums of them would not be exact."""


@dataclass(frozen=True)
class AnswerUsage:
    """What one answer took, each None where it is not known.

    Tokens as the predictor counted them; `seconds` of wall-clock time; `cost` in the currency of the prices.
    """

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    seconds: int | float | None = None
    cost: int | float | None = None

    @property
    def tokens(self) -> int | None:
        """Of prompt and completion; None where one of them is not known."""
        if self.prompt_tokens is None or self.completion_tokens is None:
            return None
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: "AnswerUsage") -> "AnswerUsage":
        """What both took; what is not known of one is not known of both."""
        mine, others = asdict(self), asdict(other)
        both = {
            name: None if value is None or others[name] is None else value + others[name]
            for name, value in mine.items()
        }
        return AnswerUsage(**both)

    def to_json(self) -> dict[str, float]:
        """What is known, as plain values."""
        known: dict[str, float] = to_plain(self, known_only=True)
        return known

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Self:
        """What a record says under the names of the fields; null and what is not there is not known.

        Raises:
            RecordFault: a value is no such figure.
        """
        found = to_record(cls, {name: record[name] for name in USAGE if name in record})
        for name, value in found.to_json().items():
            if not 0 <= value <= _MOST:
                wanted = "a whole number" if name.endswith("_tokens") else "a number"
                raise RecordFault(f"{name} is not {wanted} from 0 to {_MOST:g}")
        return found


USAGE = tuple(AnswerUsage.__dataclass_fields__)
"""The names of the figures, in files too."""
