"""The page of what question sets consist of: every table, and bars of those figures that are shares or means.

Nothing in it needs a script: the bars are drawn here, and each has its name and its figure as text.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.report.html.page import write_static
from harness.report.table_model import Cell, CellKind, Document, TableModel, heads, printable, texts

_LEFT, _ROOM, _FIGURE = 190, 300, 70
"""Pixels for the names, the longest bar and the figure behind it."""
_LINE = 21
_LONGEST = 26
"""Characters of a name; all of it is in the title of its bar."""
_MOST_BARS = 30
"""Of a chart with more nobody reads the names: the table has them all."""


@dataclass(frozen=True)
class Bar:
    """One bar: where it is, and what it says."""

    name: str
    short: str
    figure: str
    top: int
    width: float
    ends: tuple[float, float] | None = None
    """Where its interval begins and ends, from the left of the bars."""


@dataclass(frozen=True)
class Chart:
    """Bars of one column of a table."""

    title: str
    bars: tuple[Bar, ...]
    left: int = _LEFT
    width: int = _LEFT + _ROOM + _FIGURE
    reference: float | None = None
    """Where a line stands that bars are held against, from the left of the bars."""

    @property
    def height(self) -> int:
        """Of all bars."""
        return _LINE * len(self.bars)


@dataclass(frozen=True)
class Part:
    """One table, with its charts."""

    title: str
    charts: tuple[Chart, ...]
    over: tuple[tuple[str, int], ...]
    labels: tuple[str, ...]
    heads: tuple[str, ...]
    rows: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    notes: tuple[str, ...]


def write_description_html(document: Document, path: Path) -> None:
    """Write the tables of question sets as one file, with charts.

    Raises:
        BadInput: the file cannot be written.
    """
    write_tables_html(document, f"Question sets: {document.run_id}", path)


def write_tables_html(
    document: Document, title: str, path: Path, charts: Sequence[Sequence[Chart]] | None = None
) -> None:
    """Write tables as one file that needs no script, with charts.

    Args:
        document: the tables.
        title: heads the page.
        path: the file.
        charts: those of each table beside the bars of its shares and means; None for no others.

    Raises:
        BadInput: the file cannot be written.
    """
    more: Sequence[Sequence[Chart]] = charts or [()] * len(document.grids)
    parts = [_part(grid, drawn) for grid, drawn in zip(document.grids, more, strict=True)]
    facts = list(map(printable, document.facts))
    write_static(path, "description.html.jinja", title=printable(title), facts=facts, parts=parts)


def _part(grid: TableModel, more: Sequence[Chart] = ()) -> Part:
    over = tuple((printable(group.head), len(group.columns)) for group in grid.groups)
    return Part(
        title=grid.title,
        charts=(*more, *(() if more else _charts(grid))),
        over=over if _is_grouped(grid) else (),
        labels=grid.labels,
        heads=tuple(head for column in grid.columns for head in heads(column)),
        rows=tuple((tuple(map(printable, row.labels)), tuple(texts(grid, row))) for row in grid.rows),
        notes=tuple(map(printable, grid.notes)),
    )


def _charts(grid: TableModel) -> Iterator[Chart]:
    """Bars of shares and means: a chart a column, or a row where the columns are kinds of one whole."""
    names = [column.head for column in grid.columns]
    if len({column.metric for column in grid.columns}) == 1 and len(names) > 1:
        for row in grid.rows:
            title = f"{printable(row.labels[0])}: {grid.title}"
            yield _chart(title, names, row.cells, list(texts(grid, row)))
        return
    at = 0
    for group in grid.groups:
        for column in group.columns:
            if column.kind is CellKind.PERCENT and 1 < len(grid.rows) <= _MOST_BARS:
                rows = [row for row in grid.rows if row.cells[at] is not None]
                figures = [list(texts(grid, row))[at] for row in rows]
                names = [", ".join(filter(None, row.labels[:2])) for row in rows]
                whose = f"{printable(group.head)}: " if group.head else ""
                title = f"{whose}{grid.title}, {column.head}"
                yield _chart(title, names, [row.cells[at] for row in rows], figures)
            at += 1


def _is_grouped(grid: TableModel) -> bool:
    return any(group.head for group in grid.groups)


def _chart(title: str, names: Sequence[str], cells: Sequence[Cell | None], figures: Sequence[str]) -> Chart:
    values = [(cell.value if cell is not None else None) or 0.0 for cell in cells]
    return bar_chart(
        title,
        [(name, value, figure, None) for name, value, figure in zip(names, values, figures, strict=True)],
    )


def bar_chart(
    title: str,
    rows: Sequence[tuple[str, float, str, tuple[float, float] | None]],
    reference: float | None = None,
) -> Chart:
    """Bars on one axis that begins at 0.

    Args:
        title: says what they are of.
        rows: of each bar its name, its value, the value as it is printed, and its interval or None.
        reference: a value that bars are held against.
    """
    ends = [end for _, _, _, interval in rows for end in interval or ()]
    most = max((*(value for _, value, _, _ in rows), *ends, reference or 0.0), default=0.0) or 1.0

    def reach(value: float) -> float:
        return round(_ROOM * max(value, 0.0) / most, 1)

    bars = []
    for number, (name, value, figure, interval) in enumerate(rows):
        whole = printable(name)
        short = whole if len(whole) <= _LONGEST else f"{whole[: _LONGEST - 1]}\N{HORIZONTAL ELLIPSIS}"
        drawn = None if interval is None else (reach(interval[0]), reach(interval[1]))
        bars.append(Bar(whole, short, figure, number * _LINE + 3, reach(value), drawn))
    return Chart(title, tuple(bars), reference=None if reference is None else reach(reference))
