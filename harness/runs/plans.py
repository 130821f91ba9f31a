"""Execution plans of a run: `plans.jsonl` in its folder, a line for each text and engine."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from harness.engines import EngineName, kind_of
from harness.engines.plan_comparison import PlanComparison, compare_plans
from harness.engines.plans import QueryPlan
from harness.runs.files import replace
from harness.runs.reading import AGAIN
from loaders.textfiles import parse_json, read_lines, refuse

PLANS = "plans.jsonl"

TextKey = tuple[EngineName, str, str]
"""What a plan is filed under: the engine, the database, the text."""


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
            AttributeError, KeyError, TypeError, ValueError: it is not that.
        """
        engine = kind_of(record["dialect"]).name
        return cls(engine, str(record["db_id"]), str(record["sql"]), QueryPlan.from_json(record))


@dataclass(frozen=True)
class ExplainedPair:
    """Gold and a prediction with their plans; None for what has no text, with the reason.

    `name` is who gave the prediction, `question` the key of what it answers; empty for texts of a user's.
    """

    dialect: EngineName
    db_id: str
    gold: ExplainedText | None
    prediction: ExplainedText | None
    name: str = ""
    question: str = ""
    without_gold: str | None = None
    without_prediction: str | None = None

    @property
    def comparison(self) -> PlanComparison | None:
        """How the two plans stand to each other; None where one is not there."""
        gold = self.gold.plan.root if self.gold else None
        prediction = self.prediction.plan.root if self.prediction else None
        return None if gold is None or prediction is None else compare_plans(gold, prediction)


def write_plans(folder: Path, texts: Iterable[ExplainedText]) -> None:
    """Write the plans of a run, in place of those that are there. Raises OSError."""
    replace(folder / PLANS, (json.dumps(text.to_json(), ensure_ascii=True) + "\n" for text in texts))


def read_plans(folder: Path) -> dict[TextKey, ExplainedText]:
    """The plans of a run; none where nobody asked for them.

    Raises:
        BadInput: a line is no plan.
    """
    path = folder / PLANS
    if not path.exists():
        return {}
    found: dict[TextKey, ExplainedText] = {}
    for number, line in read_lines(path):
        try:
            text = ExplainedText.from_json(parse_json(line))
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
            refuse(path, f"line {number} is no plan", AGAIN)
        found[text.key] = text
    return found
