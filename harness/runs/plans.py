"""Execution plans of a run: `plans.jsonl` in its folder, a line for each text and engine."""

import os
from collections.abc import Callable, Container, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, Self, TypeVar

from harness.engines import EngineName, kind_of
from harness.engines.plans import PlanComparison, QueryPlan, compare_plans
from harness.runs.reader import AGAIN
from loaders.base.files import locked, refuse
from loaders.base.records import Recorder, read_records, to_record

PLANS = "plans.jsonl"

Text = TypeVar("Text")

TextKey = tuple[EngineName, str, str]
"""The key of a plan: the engine, the database, the text."""


@dataclass(frozen=True)
class _Text:
    """The text of a plan."""

    dialect: EngineName
    db_id: str
    sql: str


@dataclass(frozen=True)
class ExplainedText:
    """A text and its plan on an engine."""

    dialect: EngineName
    db_id: str
    sql: str
    plan: QueryPlan

    @property
    def key(self) -> TextKey:
        """The key of its plan."""
        return self.dialect, self.db_id, self.sql

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {"dialect": self.dialect, "db_id": self.db_id, "sql": self.sql, **self.plan.to_json()}

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Self:
        """Read the output of `to_json`.

        Raises:
            BadInput, ValueError: it is not that.
        """
        text = to_record(_Text, record, others=True)
        return cls(kind_of(text.dialect).name, text.db_id, text.sql, QueryPlan.from_json(record))


@dataclass(frozen=True)
class PlannedPair(Generic[Text]):
    """A gold and a prediction to explain; None if there is no text, with the reason.

    `name` is the predictor, `question` the key of its question; both are empty for a user's own texts.
    """

    dialect: EngineName
    db_id: str
    gold: Text | None
    prediction: Text | None
    name: str = ""
    question: str = ""
    without_gold: str | None = None
    without_prediction: str | None = None


@dataclass(frozen=True)
class ExplainedPair(PlannedPair[ExplainedText]):
    """A pair with its plans."""

    @cached_property
    def comparison(self) -> PlanComparison | None:
        """Compare the two plans; None if one is missing."""
        gold = self.gold.plan.root if self.gold else None
        prediction = self.prediction.plan.root if self.prediction else None
        return None if gold is None or prediction is None else compare_plans(gold, prediction)


def keep_plans(folder: Path, texts: Callable[[Container[TextKey]], Iterable[ExplainedText]]) -> int:
    """Add plans to a run folder, each as soon as it is computed, so that an interruption loses none.

    Args:
        folder: the run folder.
        texts: explains the texts, except the known ones that it is given.

    Returns:
        The number of plans added.

    Raises:
        BadInput: another process writes the folder, it cannot be written, or its plans are damaged.
    """
    added = 0
    try:
        with ExitStack() as closing:
            closing.callback(os.close, locked(folder))
            recorder = Recorder(folder / PLANS)
            closing.callback(recorder.close)
            for text in texts(read_plans(folder)):
                recorder.add(text.to_json())
                added += 1
    except OSError as error:
        refuse(
            folder / PLANS, f"cannot be written ({error.strerror})", "free space, or check its permissions"
        )
    return added


def read_plans(folder: Path) -> dict[TextKey, ExplainedText]:
    """Return the plans of a run, if any; a truncated last line is ignored.

    Raises:
        BadInput: a line is not a plan.
    """
    path = folder / PLANS
    if not path.exists():
        return {}
    texts = read_records(path, ExplainedText.from_json, AGAIN, noun="plan", ended=True)
    return {text.key: text for text in texts}
