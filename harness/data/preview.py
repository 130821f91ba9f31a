"""What a reader needs to see of two results: their sizes, and a few rows, those that differ first.

Whole results are not kept; a preview is small whatever they are, so that a run folder can have one for each
pair.
"""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from harness.engines.base import Row
from harness.metrics.comparison.distinct import gathered
from loaders.base.files import as_json, parse_json
from loaders.base.records import to_plain, to_record

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
