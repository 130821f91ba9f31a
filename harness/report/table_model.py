"""The model of a table, independent of its format: rows, columns, figures and notes.

Every format (console, Markdown, LaTeX, CSV, JSON) renders this model, so that all have the same contents.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any

from harness.engines import EngineName
from harness.metrics.statistics import Interval, wilson
from loaders.base.files import one_line


class CellKind(StrEnum):
    """The format of a figure."""

    PERCENT = "percent"
    DIFFERENCE = "difference"
    """Of two percentages."""
    COUNT = "count"
    OF = "of"
    """A count out of its questions: `3 of 5`."""
    SHARE = "share"
    """A count with its share of its questions: `3 (60.00 %)`, and `0`."""
    CHANGE = "change"
    """Of counts."""
    P = "p"
    """The p of a test: at least 0.001, or less."""
    MEAN = "mean"
    """Of counts."""
    TOKENS = "tokens"
    SECONDS = "seconds"
    COST = "cost"
    """The usage of an answer; for these three, a missing figure was not reported by the predictor."""


class Mark(StrEnum):
    """What a figure is in its column, in tables that compare figures."""

    BEST = "best"
    NOT_DISTINGUISHABLE = "not_distinguishable"
    """From the best one, by a test on the same questions."""
    SIGNIFICANT = "significant"
    """A difference whose p is below 0.05."""


@dataclass(frozen=True)
class Cell:
    """One figure; None if there is none, as for a level without a question.

    `interval` is its 95 % interval; `questions` the number of questions behind it.
    """

    value: float | None
    interval: Interval | None = None
    questions: int | None = None
    mark: Mark | None = None


@dataclass(frozen=True)
class TableColumn:
    """The heading and the meaning of a column.

    `head` is its heading, `short` one for little room. `metric`, `by` and `level` name the figure: `ex`,
    `difficulty`, `simple`. `has_interval` and `has_questions`: True to show these parts of its cells, too.
    """

    head: str
    metric: str
    by: str
    level: str = ""
    kind: CellKind = CellKind.PERCENT
    short: str = ""
    is_total: bool = False
    has_interval: bool = False
    has_questions: bool = False


@dataclass(frozen=True)
class ColumnGroup:
    """Columns with a common heading; `dialect` if they are an engine's, `set` if they are a set's."""

    head: str
    columns: tuple[TableColumn, ...]
    dialect: EngineName | None = None
    set: str | None = None


@dataclass(frozen=True)
class TableRow:
    """One row: a cell for every column, None for an empty one.

    `dialect`, `level` and `by` are set if the row, not the column, determines them.
    """

    labels: tuple[str, ...]
    cells: tuple[Cell | None, ...]
    predictor: str
    dialect: EngineName | None = None
    level: str = ""
    by: str = ""


@dataclass(frozen=True)
class TableModel:
    """One table.

    `labels` are the headings of the rows' labels. A note that begins with two spaces continues the last.
    `anchor` is the label of a table in a paper: then the notes are its caption, and it fits a page.
    """

    title: str
    labels: tuple[str, ...]
    groups: tuple[ColumnGroup, ...]
    rows: tuple[TableRow, ...]
    notes: tuple[str, ...] = ()
    anchor: str = ""

    @property
    def columns(self) -> list[TableColumn]:
        """All columns, in order."""
        return [column for group in self.groups for column in group.columns]

    def part(self, first: int, groups: Sequence[ColumnGroup]) -> "TableModel":
        """Return the columns of `groups`, which begin at column `first`, without rows that are empty."""
        end = first + sum(len(group.columns) for group in groups)
        cut = (replace(row, cells=row.cells[first:end]) for row in self.rows)
        rows = tuple(row for row in cut if any(cell is not None for cell in row.cells))
        return replace(self, groups=tuple(groups), rows=rows, notes=())


def share_cell(count: int, whole: int) -> Cell:
    """Return a share in percent with its interval; without one, if it is of nothing."""
    found = wilson(count, whole)
    if found is None:
        return Cell(None, questions=0)
    return Cell(100 * count / whole, (100 * found[0], 100 * found[1]), whole)


def with_intervals(columns: Sequence[TableColumn]) -> tuple[TableColumn, ...]:
    """Return columns whose percentages show their intervals."""
    return tuple(replace(column, has_interval=column.kind is CellKind.PERCENT) for column in columns)


def columns(by: str, *heads: tuple[str, str] | tuple[str, str, CellKind]) -> tuple[TableColumn, ...]:
    """Return columns from heads, metrics and kinds; the default kind is percentages."""
    return tuple(TableColumn(head, metric, by, kind=kind) for head, metric, kind in map(_with_kind, heads))


def _with_kind(head: tuple[str, str] | tuple[str, str, CellKind]) -> tuple[str, str, CellKind]:
    return head if len(head) == 3 else (*head, CellKind.PERCENT)  # noqa: PLR2004 - with its kind


def row(  # noqa: PLR0913 - what names a row
    labels: Sequence[str],
    values: Iterable[Cell | float | None],
    level: str = "",
    *,
    dialect: EngineName | None = None,
    predictor: str = "",
    by: str = "",
) -> TableRow:
    """Return a row of figures, each a cell or a plain value."""
    cells = tuple(value if isinstance(value, Cell) else Cell(value) for value in values)
    return TableRow(tuple(labels), cells, predictor, dialect=dialect, level=level, by=by)


def table(
    title: str,
    labels: Sequence[str],
    columns: Sequence[TableColumn],
    rows: Iterable[TableRow],
    *notes: str,
) -> TableModel:
    """Return a table whose columns have no common headings."""
    return TableModel(title, tuple(labels), (ColumnGroup("", tuple(columns)),), tuple(rows), notes)


@dataclass(frozen=True)
class Document:
    """Tables with their context: `facts` are lines about the run.

    `extent`: the numbers of planned and completed pairs of each predictor on each engine; of each set, if
    there are several.
    """

    run_id: str
    facts: tuple[str, ...]
    grids: tuple[TableModel, ...]
    extent: Mapping[tuple[str, ...], tuple[int, int]] = field(default_factory=dict)


@dataclass(frozen=True)
class NamedCell:
    """One cell with its full name, for programs; values are not rounded.

    `planned` and `completed` count the pairs of the predictor on the engine: if they differ, the figure is
    of a selection. `mark` is set in tables that compare figures, `set` in those of several question sets.
    """

    predictor: str
    engine: str
    metric: str
    by: str
    level: str
    value: float | None
    low: float | None
    high: float | None
    questions: int | None
    planned: int | None
    completed: int | None
    mark: Mark | None = None
    set: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values; mark and set only if there is one."""
        return {
            name: value for name, value in asdict(self).items() if name not in OPTIONAL or value is not None
        }


OPTIONAL = ("mark", "set")
"""Fields of a named cell that most tables lack."""


def figures(
    grid: TableModel, extent: Mapping[tuple[str, ...], tuple[int, int]] | None = None
) -> Iterator[NamedCell]:
    """Yield every cell of a table, row by row, except empty ones.

    Args:
        grid: the table.
        extent: the extent of its document.
    """
    named = [(group, column) for group in grid.groups for column in group.columns]
    for row in grid.rows:
        for (group, column), cell in zip(named, row.cells, strict=True):
            if cell is not None:
                low, high = cell.interval or (None, None)
                engine = group.dialect or row.dialect or ""
                whose = (row.predictor, engine, *([group.set] if group.set else []))
                planned, completed = (extent or {}).get(whose, (None, None))
                yield NamedCell(
                    row.predictor,
                    engine,
                    column.metric,
                    row.by or column.by,
                    ", ".join(filter(None, (row.level, column.level))),
                    cell.value,
                    low,
                    high,
                    cell.questions,
                    planned,
                    completed,
                    cell.mark,
                    group.set,
                )


# The format of figures for readers, the same everywhere: digits, signs, intervals.

MINUS = "\N{MINUS SIGN}"
DASH = "\N{EN DASH}"
DAGGER = "\N{DAGGER}"
"""Mark of a figure that is not distinguishable from the best of its column."""
NONE = "-"
"""Stands for a missing figure."""
NOT_KNOWN = "not known"
"""Stands for a figure that exists but was not reported."""
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
            return _signed(value, 2)
        case CellKind.CHANGE:
            return f"{value:+.0f}".replace("-", MINUS) if value else "0"
        case CellKind.P:
            return "<0.001" if value < 0.001 else f"{value:.3f}"  # noqa: PLR2004 - the last digit that is shown
        case _:
            return f"{value:.{_DIGITS[kind]}f}"


def _signed(value: float, digits: int) -> str:
    text = f"{value:+.{digits}f}"
    return text[1:] if float(text) == 0 else text.replace("-", MINUS)


def spelled_range(interval: Interval | None, kind: CellKind = CellKind.PERCENT) -> str:
    """An interval."""
    if interval is None:
        return NONE
    if kind is CellKind.DIFFERENCE:
        return " to ".join(_signed(bound, 1) for bound in interval)
    return f"{interval[0]:.1f}{DASH}{interval[1]:.1f}"


def heads(column: TableColumn) -> Iterator[str]:
    """Yield the full headings of the printed columns of one column of a table."""
    if column.has_questions:
        yield "questions"
    yield column.head
    if column.has_interval:
        yield "95 %"


def names(grid: TableModel) -> list[str]:
    """The heads of all columns on paper, each behind that of its group."""
    return [
        f"{group.head} {head}".strip()
        for group in grid.groups
        for column in group.columns
        for head in heads(column)
    ]


def texts(grid: TableModel, row: TableRow) -> Iterator[str]:
    """Yield the texts of a row below the headings; empty for an empty cell."""
    for column, cell in zip(grid.columns, row.cells, strict=True):
        yield from _parts(column, cell)


def _parts(column: TableColumn, cell: Cell | None) -> Iterator[str]:
    if column.has_questions:
        yield "" if cell is None else spelled(cell.questions, CellKind.COUNT)
    yield "" if cell is None else f"{_spelled(cell, column.kind)}{_dagger(cell)}"
    if column.has_interval:
        yield "" if cell is None else spelled_range(cell.interval, column.kind)


def _spelled(cell: Cell, kind: CellKind) -> str:
    if kind is CellKind.OF:
        return f"{cell.value} of {cell.questions}"
    if kind is CellKind.SHARE:
        share = f" ({100 * cell.value / cell.questions:.2f} %)" if cell.value and cell.questions else ""
        return f"{cell.value:,}{share}"
    return spelled(cell.value, kind)


def _dagger(cell: Cell) -> str:
    return DAGGER if cell.mark is Mark.NOT_DISTINGUISHABLE else ""


def emphasised(grid: TableModel, row: TableRow) -> Iterator[bool]:
    """Yield for each of the `texts` of a row True if it is the best of its column, or significant."""
    for column, cell in zip(grid.columns, row.cells, strict=True):
        if column.has_questions:
            yield False
        yield cell is not None and cell.mark in (Mark.BEST, Mark.SIGNIFICANT)
        if column.has_interval:
            yield False


def width(group: ColumnGroup) -> int:
    """Return the number of printed columns of a group."""
    return sum(1 for column in group.columns for _ in heads(column))


def printable(text: str) -> str:
    """Return foreign text in one line, with escapes for unprintable characters: no name can end a line."""
    return one_line(text)


def listed(questions: Sequence[str]) -> str:
    """Return the number of questions, and up to 10 of their keys."""
    rest = ["..."] if len(questions) > 10 else []  # noqa: PLR2004 - as many as are read
    return f"{len(questions)} ({', '.join([*questions[:10], *rest])})"
