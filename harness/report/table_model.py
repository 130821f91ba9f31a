"""A table before it has a form: what stands in which row and column, and what is said below it.

Every form (console, Markdown, LaTeX, CSV, JSON) is made of this one, so that none can show what another does
not have.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any

from harness.engines import EngineName
from harness.metrics.statistics import Interval


class CellKind(StrEnum):
    """How a figure is spelled."""

    PERCENT = "percent"
    DIFFERENCE = "difference"
    """Of two percentages."""
    COUNT = "count"
    CHANGE = "change"
    """Of counts."""
    MEAN = "mean"
    """Of counts."""
    TOKENS = "tokens"
    SECONDS = "seconds"
    COST = "cost"
    """What an answer took; of these three, nothing is told by whoever answered where there is no figure."""


class Mark(StrEnum):
    """How a figure stands among those of its column, where a table holds them against each other."""

    BEST = "best"
    NOT_DISTINGUISHABLE = "not_distinguishable"
    """From the best one, as far as the same questions tell."""


@dataclass(frozen=True)
class Cell:
    """One figure: None where there is none, as for a level without a question.

    `interval` is its 95 % interval; `questions` how many it stands on.
    """

    value: float | None
    interval: Interval | None = None
    questions: int | None = None
    mark: Mark | None = None


@dataclass(frozen=True)
class TableColumn:
    """What the cells below it are.

    `head` is what a reader sees, `short` the same where there is little room. `metric`, `by` and `level` name
    the figure: `ex`, `difficulty`, `simple`. `has_interval` and `has_questions`: whether a form shows these
    parts of its cells, too.
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
    """Columns with a head of their own; `dialect` where they are an engine's."""

    head: str
    columns: tuple[TableColumn, ...]
    dialect: EngineName | None = None


@dataclass(frozen=True)
class TableRow:
    """One row: a cell for every column, None where the table has nothing to show there.

    `dialect`, `level` and `by` where the row, and not the column, has them.
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

    `labels` are the heads of the rows' labels. A note that begins with two spaces belongs to the one before.
    `anchor` is what a paper refers to the table by: then the notes are its caption, and it fits a page.
    """

    title: str
    labels: tuple[str, ...]
    groups: tuple[ColumnGroup, ...]
    rows: tuple[TableRow, ...]
    notes: tuple[str, ...] = ()
    anchor: str = ""

    @property
    def columns(self) -> list[TableColumn]:
        """All of them, in their order."""
        return [column for group in self.groups for column in group.columns]

    def part(self, first: int, groups: Sequence[ColumnGroup]) -> "TableModel":
        """The columns of `groups`, which begin at column `first`, without rows that are empty there."""
        end = first + sum(len(group.columns) for group in groups)
        cut = (replace(row, cells=row.cells[first:end]) for row in self.rows)
        rows = tuple(row for row in cut if any(cell is not None for cell in row.cells))
        return replace(self, groups=tuple(groups), rows=rows, notes=())


@dataclass(frozen=True)
class Document:
    """Tables with what they are of: `facts` are lines about the run.

    `extent`: how many pairs of each predictor on each engine were planned, and how many have a result.
    """

    run_id: str
    facts: tuple[str, ...]
    grids: tuple[TableModel, ...]
    extent: Mapping[tuple[str, str], tuple[int, int]] = field(default_factory=dict)


@dataclass(frozen=True)
class NamedCell:
    """One cell with all that names it, for programs; values are as they were computed, nothing rounded.

    `planned` and `completed` count the pairs of the predictor on the engine: where they differ, the figure is
    of a selection. `mark` is there in tables that hold figures against each other.
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

    def to_json(self) -> dict[str, Any]:
        """As plain values; the mark only where there is one."""
        content = asdict(self)
        if self.mark is None:
            del content["mark"]
        return content


def figures(
    grid: TableModel, extent: Mapping[tuple[str, str], tuple[int, int]] | None = None
) -> Iterator[NamedCell]:
    """Every cell of a table, row by row; cells that show nothing are left out.

    Args:
        grid: the table.
        extent: that of its document.
    """
    named = [(group.dialect, column) for group in grid.groups for column in group.columns]
    for row in grid.rows:
        for (dialect, column), cell in zip(named, row.cells, strict=True):
            if cell is not None:
                low, high = cell.interval or (None, None)
                engine = dialect or row.dialect or ""
                planned, completed = (extent or {}).get((row.predictor, engine), (None, None))
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
                )
