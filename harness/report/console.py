"""Tables on a terminal: right at any width, and nothing is said by colour alone.

What is too wide is cut into parts, one below the other: an engine each, then columns. rich honours NO_COLOR
(https://no-color.org), and the only styles are bold and dim.
"""

from collections.abc import Iterator, Sequence
from io import StringIO
from math import ceil

from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.report.overview import noted, overview, totals
from harness.report.table_model import DAGGER, ColumnGroup, TableColumn, TableModel, emphasised, texts
from harness.report.tables import WIDTH_OF_A_FILE, new_table, plain, print_table, wide
from harness.runs.summary import Extent, Score

_ANY_WIDTH = 10_000
_WIDTH_OF_A_LABEL = 40
"""Longer ones fold, so that they never cost a column of figures."""
_NARROW_LABEL = 10
"""Labels fold to this before columns are put into another part."""
_LABEL_OF_A_PART = 20
"""Labels have this much room where there are several parts."""


def print_tables(
    scores: Sequence[Score],
    metrics: Sequence[str],
    console: Console | None = None,
    extent: Extent | None = None,
    notes: Sequence[str] = (),
) -> None:
    """Print every table of a run, which say what the run was to score where it is not the whole set."""
    print_grids(noted(overview(scores, metrics, extent), notes), console)


def print_scores(  # noqa: PLR0913 - what is printed, and how much of it
    scores: Sequence[Score],
    metrics: Sequence[str],
    *,
    everything: bool | None = None,
    console: Console | None = None,
    extent: Extent | None = None,
    notes: Sequence[str] = (),
) -> None:
    """Print what a run has come to: every table or the totals; if nothing is asked for, totals on a terminal.

    A log keeps everything; on a screen what scrolled away is in the run folder.
    """
    console = wide(console)
    if not console.is_terminal if everything is None else everything:
        print_tables(scores, metrics, console, extent, notes)
    else:
        _print([totals(scores, metrics, extent, notes)], console, _NARROW_LABEL)


def print_grids(grids: Sequence[TableModel], console: Console | None = None) -> None:
    """Print tables, each with its notes."""
    _print(grids, wide(console))


def console_text(grids: Sequence[TableModel]) -> str:
    """The same as a text, as wide as a file may be whatever the terminal is."""
    file = StringIO()
    _print(grids, Console(width=WIDTH_OF_A_FILE, file=file, no_color=True, force_terminal=False))
    return file.getvalue()


def _print(grids: Sequence[TableModel], console: Console, least_label: int = _WIDTH_OF_A_LABEL) -> None:
    for grid in grids:
        for part in _parts(grid, console, least_label):
            print_table(console, _table(part))
        for note in grid.notes:
            print_table(console, plain(note))


def _parts(grid: TableModel, console: Console, least_label: int) -> Iterator[TableModel]:
    """A table as the fewest parts that fit; it is one while its labels need not fold below that width."""
    if _fits(grid, console, least_label):
        yield grid
        return
    first = 0
    for group in grid.groups:
        yield from _columns_that_fit(grid, first, group, console)
        first += len(group.columns)


def _columns_that_fit(
    grid: TableModel, first: int, group: ColumnGroup, console: Console
) -> Iterator[TableModel]:
    """The columns of one group: all of them if labels fold far enough, else in parts of about equal size."""
    whole = grid.part(first, [group])
    if _fits(whole, console, _NARROW_LABEL):
        yield whole
        return
    most, parts = len(group.columns), list[TableModel]()
    for _ in range(2):
        parts = list(_cut(grid, first, group, console, most))
        most = ceil(len(group.columns) / len(parts))
    yield from parts


def _cut(
    grid: TableModel, first: int, group: ColumnGroup, console: Console, most: int
) -> Iterator[TableModel]:
    """Parts of at most so many columns that fit, but at least one."""
    rest = group.columns
    while rest:
        for count in range(min(most, len(rest)), 0, -1):
            part = grid.part(first, [ColumnGroup(group.head, rest[:count], group.dialect)])
            if count == 1 or _fits(part, console, _LABEL_OF_A_PART):
                break
        yield part
        first, rest = first + count, rest[count:]


def _fits(grid: TableModel, console: Console, label: int) -> bool:
    options = console.options.update(width=_ANY_WIDTH)
    return console.measure(_table(grid, label), options=options).maximum <= console.width


def _table(grid: TableModel, label: int = _WIDTH_OF_A_LABEL) -> Table:
    table = new_table("")
    table.title = plain(grid.title)
    table.title.style = "table.title"
    for name in grid.labels:
        table.add_column(Text(name), overflow="fold", max_width=label)
    has_heads = any(group.head for group in grid.groups)
    for group in grid.groups:
        for number, column in enumerate(group.columns):
            over = f"{group.head if number == 0 else ''}\n" if has_heads else ""
            _add(table, column, over)
    rows = [list(texts(grid, row)) for row in grid.rows]
    # Digits stand below digits beside a dagger, too.
    marked = [any(text.endswith(DAGGER) for text in column) for column in zip(*rows, strict=True)]
    for row, cells in zip(grid.rows, rows, strict=True):
        shown = (
            Text(
                f"{text} " if is_marked and not text.endswith(DAGGER) else text,
                style="bold" if is_best else "",
            )
            for text, is_marked, is_best in zip(cells, marked, emphasised(grid, row), strict=True)
        )
        table.add_row(*map(plain, row.labels), *shown)
    return table


def _add(table: Table, column: TableColumn, over: str) -> None:
    """Add the columns on the terminal that one column makes; `over` is the line above its head."""
    below = "\n" if over else ""
    if column.has_questions:
        table.add_column(Text(f"{over}n"), justify="right", no_wrap=True, style="dim")
        over = below
    head = column.short or (column.head if over else column.head.replace(" ", "\n"))
    style = "bold" if column.is_total else ""
    table.add_column(Text(over + head), justify="right", no_wrap=True, style=style)
    if column.has_interval:
        table.add_column(Text(f"{below}95 %"), justify="right", no_wrap=True, style="dim")
