"""What a probe finds: the record, and the words in it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from dialects.enums import Dialect


class Severity(StrEnum):
    """What a fault of that kind does to scores."""

    HIGH = "high"
    """A right prediction can be scored as wrong, or the gold's own answer is not one."""
    MEDIUM = "medium"
    """The gold can return something else than it looks, on these rows or on others like them."""
    LOW = "low"
    """It matters to strict metrics, to other rows or to another engine alone."""


class FindingBasis(StrEnum):
    """What a finding follows from."""

    ROWS = "rows"
    """From rows that are stored: other rows, other findings."""
    TEXT = "text"
    """From the gold's text and the schema alone, whatever is stored."""


MOST_ROWS = 5
"""Rows that evidence shows of one result."""


_MOST_CHARACTERS = 100


def shown_value(value: object) -> str:
    """A value as evidence shows it: texts in quotes, the end of a long one cut off."""
    if value is None:
        return "NULL"
    text = repr(value) if isinstance(value, str | bytes | float) else str(value)
    return text if len(text) <= _MOST_CHARACTERS else f"{text[: _MOST_CHARACTERS - 1]}\N{HORIZONTAL ELLIPSIS}"


@dataclass(frozen=True)
class Evidence:
    """A few rows under a title: one of the things that a reader compares."""

    title: str
    rows: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, title: str, rows: Sequence[Sequence[object]]) -> "Evidence":
        """The first rows of a result, as text."""
        shown = [tuple(map(shown_value, row)) for row in rows[:MOST_ROWS]]
        more = [(f"... {len(rows) - MOST_ROWS} more",)] if len(rows) > MOST_ROWS else []
        return cls(title, (*shown, *more))


@dataclass(frozen=True)
class Finding:
    """One fault that a probe found in one gold.

    `says` is one sentence. `suggestion` is another gold, which has run and differs only where the probe says;
    None where none follows. `hint`: more often than one time in ten a reader disagrees with such a finding.
    """

    probe: str
    severity: Severity
    basis: FindingBasis
    says: str
    evidence: tuple[Evidence, ...] = ()
    suggestion: str | None = None
    hint: bool = False


@dataclass(frozen=True)
class FoundIn:
    """A finding with the gold that it is about.

    `question` is the question's key. `replaces` is the sha256 of the gold. `synthetic` says that the finding
    follows from rows which are not the published ones.
    """

    question: str
    question_id: int | str
    db_id: str
    dialect: Dialect
    text: str
    knowledge: str
    sql: str
    replaces: str
    synthetic: bool
    finding: Finding

    def to_json(self) -> Mapping[str, Any]:
        """One entry of `audit.json`."""
        record = asdict(self)
        finding: dict[str, Any] = record.pop("finding")
        return record | finding
