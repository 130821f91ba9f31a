"""How figures are spelled for people, the same in every form: digits, signs, intervals."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from harness.metrics.statistics import Interval
from harness.report.table_model import Cell, CellKind, ColumnGroup, Mark, TableColumn, TableModel, TableRow
from loaders.base.files import one_line

MINUS = "\N{MINUS SIGN}"
DASH = "\N{EN DASH}"
DAGGER = "\N{DAGGER}"
"""Behind a figure that cannot be told from the best of its column."""
NONE = "-"
"""Where there is no figure."""
NOT_KNOWN = "not known"
"""Where there is one, and nobody has told it."""
_DIGITS = {
    CellKind.PERCENT: 2,
    CellKind.COUNT: 0,
    CellKind.MEAN: 1,
    CellKind.TOKENS: 1,
    CellKind.SECONDS: 3,
    CellKind.COST: 4,
}
_TOLD = {CellKind.TOKENS, CellKind.SECONDS, CellKind.COST}


def spelled(value: float | None, kind: CellKind) -> str:
    """One figure."""
    if value is None:
        return NOT_KNOWN if kind in _TOLD else NONE
    match kind:
        case CellKind.DIFFERENCE:
            text = f"{value:+.2f}"
            return "0.00" if float(text) == 0 else text.replace("-", MINUS)
        case CellKind.CHANGE:
            return f"{value:+.0f}".replace("-", MINUS) if value else "0"
        case _:
            return f"{value:.{_DIGITS[kind]}f}"


def spelled_range(interval: Interval | None) -> str:
    """An interval."""
    return NONE if interval is None else f"{interval[0]:.1f}{DASH}{interval[1]:.1f}"


def heads(column: TableColumn) -> Iterator[str]:
    """The heads of the columns on paper that one column of a table makes, in full."""
    if column.has_questions:
        yield "questions"
    yield column.head
    if column.has_interval:
        yield "95 %"


def texts(grid: TableModel, row: TableRow) -> Iterator[str]:
    """What stands below the heads; empty where the table has nothing to show."""
    for column, cell in zip(grid.columns, row.cells, strict=True):
        yield from _parts(column, cell)


def _parts(column: TableColumn, cell: Cell | None) -> Iterator[str]:
    if column.has_questions:
        yield "" if cell is None else spelled(cell.questions, CellKind.COUNT)
    yield "" if cell is None else f"{spelled(cell.value, column.kind)}{_dagger(cell)}"
    if column.has_interval:
        yield "" if cell is None else spelled_range(cell.interval)


def _dagger(cell: Cell) -> str:
    return DAGGER if cell.mark is Mark.NOT_DISTINGUISHABLE else ""


def emphasised(grid: TableModel, row: TableRow) -> Iterator[bool]:
    """Which of the `texts` of a row are the best of their columns."""
    for column, cell in zip(grid.columns, row.cells, strict=True):
        if column.has_questions:
            yield False
        yield cell is not None and cell.mark is Mark.BEST
        if column.has_interval:
            yield False


def width(group: ColumnGroup) -> int:
    """How many columns on paper a group has."""
    return sum(1 for column in group.columns for _ in heads(column))


def printable(text: str) -> str:
    """A text of anybody's in one line, with escapes for what does not print: no name can end a line."""
    return one_line(text)


def printable_json(content: Any) -> str:
    """A document in JSON in which whatever does not print is an escape of JSON's, so that nothing is lost."""
    text = json.dumps(content, indent=2, ensure_ascii=False)
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)


def listed(questions: Sequence[str], most: int = 10) -> str:
    """How many questions, and which, up to `most` of them."""
    rest = ["..."] if len(questions) > most else []
    return f"{len(questions)} ({', '.join([*questions[:most], *rest])})"
