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
"""What a plan is filed under: the engine, the database, the text."""


@dataclass(frozen=True)
class _Text:
    """What a plan is of."""

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
        """What it is filed under."""
        return self.dialect, self.db_id, self.sql

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return {"dialect": self.dialect, "db_id": self.db_id, "sql": self.sql, **self.plan.to_json()}

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Self:
        """What `to_json` has made.

        Raises:
            BadInput, ValueError: it is not that.
        """
        text = to_record(_Text, record, others=True)
        return cls(kind_of(text.dialect).name, text.db_id, text.sql, QueryPlan.from_json(record))


@dataclass(frozen=True)
class PlannedPair(Generic[Text]):
    """A gold and a prediction whose plans are looked at; None for what has no text, with the reason.

    `name` is who gave the prediction, `question` the key of what it answers; empty for texts of a user's.
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
        """How the two plans stand to each other; None where one is not there."""
        gold = self.gold.plan.root if self.gold else None
        prediction = self.prediction.plan.root if self.prediction else None
        return None if gold is None or prediction is None else compare_plans(gold, prediction)


def keep_plans(folder: Path, texts: Callable[[Container[TextKey]], Iterable[ExplainedText]]) -> int:
    """Add plans to a run folder, each as soon as it is there: what is broken off has lost none.

    Args:
        folder: the run's.
        texts: explains what is asked for, but for what is known.

    Returns:
        How many were added.

    Raises:
        BadInput: another process writes the folder, it cannot be written, or what is there is damaged.
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
        refuse(folder / PLANS, f"cannot be written ({error.strerror})", "make room, or mend its permissions")
    return added


def read_plans(folder: Path) -> dict[TextKey, ExplainedText]:
    """The plans of a run; none where nobody asked for them. A last line that was cut off is none.

    Raises:
        BadInput: a line is no plan.
    """
    path = folder / PLANS
    if not path.exists():
        return {}
    texts = read_records(path, ExplainedText.from_json, AGAIN, noun="plan", ended=True)
    return {text.key: text for text in texts}
