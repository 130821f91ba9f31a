"""The closed vocabulary of what can happen to a pair, and the typed record of one."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Self

from harness.words import Dialect, Difficulty


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
    """Where the reference SQL of a pair came from."""

    DATASET = "dataset"
    TRANSLATED = "translated"
    OVERRIDE = "override"


@dataclass(frozen=True)
class PairResult:
    """One line of `results.jsonl`: a pair, its outcome and its scores.

    `question` is the key that is unique within the question set; `scores` maps a metric's name to its
    score; `error` and `code` are the engine's words where the outcome is an error or a timeout; times are
    wall-clock seconds, None where the SQL was not run.
    """

    dialect: Dialect
    predictor: str
    question: str
    question_id: int
    db_id: str
    difficulty: Difficulty
    outcome: Outcome
    scores: Mapping[str, float]
    gold_origin: GoldOrigin
    error: str | None = None
    code: str | None = None
    prediction_seconds: float | None = None
    gold_seconds: float | None = None

    def to_json(self) -> dict[str, Any]:
        """As plain values, for `results.jsonl` and for pytest's reports, which may cross processes."""
        return {
            name: value.value if isinstance(value, StrEnum) else value for name, value in asdict(self).items()
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Self:
        """Back from `to_json`'s values, checked against the vocabularies."""
        typed: dict[str, Any] = {
            "dialect": Dialect(record["dialect"]),
            "difficulty": Difficulty(record["difficulty"]),
            "outcome": Outcome(record["outcome"]),
            "gold_origin": GoldOrigin(record["gold_origin"]),
        }
        return cls(**{**record, **typed})
