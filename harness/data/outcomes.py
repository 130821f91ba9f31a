"""The closed vocabulary of a pair's outcomes, the typed record of its result, and the usage of its answer."""

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
from loaders.base.records import RecordFault, as_line, to_plain, to_record

# A preview shows the sizes of two results and a few rows, differing ones first.
#
# Whole results are not kept; a preview is always small, so that a run folder can have one for each pair.

MOST_ROWS = 8
MOST_DIFFERENT = 6
"""Maximum rows of a side that the other lacks: the remaining ones show what both have in common."""
MOST_COLUMNS = 20
MOST_CHARACTERS = 120

_EXACT = 2**53
"""Up to here every reader of JSON represents integers exactly (RFC 8259, section 6)."""

Shown = None | bool | int | float | str | tuple[str, str]
"""A JSON value; a value of another type, or too large for JSON, is the type's name and its text."""


@dataclass(frozen=True)
class Side:
    """One of two results.

    `count` and `columns` are its numbers of rows and columns. `only` counts its distinct rows that the other
    lacks, compared as in EX; None if rows cannot be compared. `rows` holds some rows; the other lacks the
    first `marked` of them.
    """

    count: int
    columns: int
    only: int | None
    marked: int
    rows: tuple[tuple[Shown, ...], ...]


@dataclass(frozen=True)
class Preview:
    """Gold's rows and a prediction's.

    `predicted` is None if the prediction returned no rows, and has none if they are the same as gold's.
    `gold_sql` is the translation of gold that ran, if the question set has no gold in the dialect.
    """

    gold: Side
    predicted: Side | None = None
    gold_sql: str | None = None

    def to_text(self) -> str:
        """Return it as JSON that UTF-8 can hold, as kept in the store and the run folder."""
        return as_json(to_plain(self))

    @staticmethod
    def from_text(text: str) -> "Preview":
        """Parse the result of `to_text`."""
        return to_record(Preview, parse_json(text))


def preview(gold: Sequence[Row], predicted: Sequence[Row] | None, gold_sql: str | None = None) -> Preview:
    """Return a preview of gold's rows and a prediction's, which are None if it returned none."""
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
    """Return the first of `rows` whose names are `wanted`, each once."""
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
        # Python limits the digits of integers that it writes; no engine returns that many.
        return "int", _cut(hex(value) if value.bit_length() > 4 * MOST_CHARACTERS else str(value))
    if isinstance(value, bytes | bytearray | memoryview):
        return "bytes", _cut(bytes(value[: MOST_CHARACTERS + 1]).hex())
    return kind.__name__, _cut(str(value))


def _cut(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 1] + "\N{HORIZONTAL ELLIPSIS}"


class Outcome(StrEnum):
    """What happened to one pair of a prediction and its gold: always exactly one of these."""

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
        """True if the predictor is responsible: gold ran, there was an answer, and the engine worked."""
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
    """The rows of SQLite's gold, compared by value."""

    @property
    def is_written(self) -> bool:
        """True if it was written for the engine itself, by the authors of the set or of a pack."""
        return self in (GoldOrigin.DATASET, GoldOrigin.CORRECTION)


class Verdict(StrEnum):
    """Whether a right answer returns the rows of one of its golds on every database."""

    EQUAL = "equal"
    """It is proven to."""
    REFUTED = "refuted"
    """It does not: a witness shows the difference."""
    UNDECIDED = "undecided"
    """Neither was found, which proves nothing."""


class Difference(StrEnum):
    """Why two texts differ on a witness."""

    DUPLICATES = "duplicates"
    """They agree once neither, or both, count repeated values once."""
    NULL = "null"
    """It needs a NULL in a column that a text reads."""
    TIE = "tie"
    """They agree without LIMIT, or cut otherwise."""
    BOUNDARY = "boundary"
    """They agree once each comparison includes its end."""
    CONDITION = "condition"
    """A condition or value is missing or other."""
    JOIN = "join"
    """Other tables are joined, or in another way."""
    COLUMN = "column"
    """Other columns are returned."""
    AGGREGATE = "aggregate"
    """Another aggregate or grouping."""
    OTHER = "other"
    """None of these."""


@dataclass(frozen=True)
class AnswerVerdict:
    """The verdict on a right answer.

    Of a refuted one also why it differs from gold on its witness, and whether that is `plausible`: nothing
    in it contradicts the real database (`harness.scoring.chance.search.Distinction`).
    """

    verdict: Verdict
    difference: Difference | None = None
    plausible: bool | None = None


@dataclass(frozen=True)
class Judgement:
    """The judgement of one SQL text as an answer to one question on one engine.

    `scores` maps a metric's name to its score, without those that the dialect does not have or that would
    take too much memory; `error` and `code` are the engine's words if the outcome is an error or a timeout;
    times are wall-clock seconds, None if the SQL was not run. `error_class` classifies a mismatch that is the
    predictor's; `structure` holds Spider's measures; `compared_variants` counts the variants of
    the database on which the prediction was compared with gold, None without test-suite accuracy;
    `failed_variant` is the first on which it is wrong; `preview` has some of the rows, if they were requested
    and gold returned any, as the text of a `Preview`; `gold_index` is the position of the gold that it was
    compared with, among those of its question; `work` has the work of both, if a metric of work needs it;
    `tested` has the verdict on a right answer, if a metric needs it, and `witness` the text of the `Witness`
    of a refuted one.
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
    tested: AnswerVerdict | None = None
    witness: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        plain: dict[str, Any] = to_plain(self)
        return plain

    @classmethod
    def from_json(cls, record: Any) -> Self:
        """Read the result of `to_json`.

        Raises:
            RecordFault: the values are not such a result.
        """
        return to_record(cls, record)


@dataclass(frozen=True, kw_only=True)
class PairResult(Judgement):
    """One line of `results.jsonl`: a pair of a prediction and its gold, with its judgement.

    `question` is the key that is unique within the question set; `sql` is the prediction, None if there is
    none; `timings` holds the measurements of the metrics of time, by method.
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

    def to_line(self) -> str:
        """Return it as a line of `results.jsonl`, without what has files of its own: preview and witness."""
        of, names = self.__dict__, _FILED if self.tested is None else _FILED_IF_TESTED
        return as_line({name: of[name] for name in names})

    @classmethod
    def from_json(cls, record: Any, levels: Sequence[str] = BIRD_LEVELS) -> Self:
        """Read the values of a line.

        Args:
            record: the values.
            levels: the question set's levels of difficulty.

        Raises:
            BadInput, ValueError: they are not such a result, or their engine or level is unknown.
        """
        found = super().from_json(record)
        return replace(found, dialect=kind_of(found.dialect).name, difficulty=level(found.difficulty, levels))


_JUDGED = [each.name for each in fields(Judgement) if each.name not in {"preview", "witness"}]
_PAIR = [each.name for each in fields(PairResult) if each.name not in {*_JUDGED, "preview", "witness"}]
_FILED_IF_TESTED = (*_PAIR, *_JUDGED)
"""The fields of a line: those that identify the pair before those of its judgement."""
_FILED = tuple(name for name in _FILED_IF_TESTED if name != "tested")
"""Without a verdict, the line has the format from before there were any."""


# Usage of answers: tokens, seconds and cost; unknown figures are None, never 0.

_MOST = 1e15
"""Larger figures cannot be measurements, and their sums would not be exact."""


@dataclass(frozen=True)
class AnswerUsage:
    """What one answer cost; unknown figures are None.

    Tokens as the predictor counted them; `seconds` of wall-clock time; `cost` in the currency of the prices.
    """

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    seconds: int | float | None = None
    cost: int | float | None = None

    @property
    def tokens(self) -> int | None:
        """Prompt and completion tokens together; None if either is unknown."""
        if self.prompt_tokens is None or self.completion_tokens is None:
            return None
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: "AnswerUsage") -> "AnswerUsage":
        """Add the figures; one that is unknown in either is unknown in the sum."""
        mine, others = asdict(self), asdict(other)
        both = {
            name: None if value is None or others[name] is None else value + others[name]
            for name, value in mine.items()
        }
        return AnswerUsage(**both)

    def to_json(self) -> dict[str, float]:
        """Return the known figures as JSON values."""
        known: dict[str, float] = to_plain(self, known_only=True)
        return known

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Self:
        """Read the figures from a record; null or missing ones are unknown.

        Raises:
            RecordFault: a value is not such a figure.
        """
        found = to_record(cls, {name: record[name] for name in USAGE if name in record})
        for name, value in found.to_json().items():
            if not 0 <= value <= _MOST:
                wanted = "a whole number" if name.endswith("_tokens") else "a number"
                raise RecordFault(f"{name} is not {wanted} from 0 to {_MOST:g}")
        return found


USAGE = tuple(AnswerUsage.__dataclass_fields__)
"""The names of the figures, also in files."""
