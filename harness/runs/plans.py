"""Execution plans of a run: `plans.jsonl` in its folder, a line for each text and engine."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from harness.engines import EngineName, kind_of
from harness.engines.plans import QueryPlan
from harness.runs.reader import AGAIN
from loaders.base.records import read_records, to_record

PLANS = "plans.jsonl"

TextKey = tuple[EngineName, str, str]
"""The key of a plan: the engine, the database, the text."""


@dataclass(frozen=True)
class _Text:
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
