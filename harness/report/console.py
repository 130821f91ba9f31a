"""Print on a terminal: tables at any width, lines, progress bars. Colour never carries information alone.

rich respects NO_COLOR (https://no-color.org), and the only styles are bold and dim.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import StringIO, TextIOWrapper
from itertools import groupby
from math import ceil
from operator import itemgetter
from threading import Lock
from typing import Self

from rich import box
from rich.console import Console, ConsoleOptions
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from dialects.enums import Profile
from harness.data.outcomes import Outcome
from harness.engines import TITLES, EngineName
from harness.metrics import METRICS, OUTCOME_METRIC
from harness.report.table_model import DAGGER, ColumnGroup, TableColumn, TableModel, emphasised, texts
from loaders import bulk_load as loading
from loaders.base.files import one_line
from loaders.namespace import Database
from loaders.server import Server

WIDTH_OF_A_FILE = 200
"""Columns if the output is not a terminal: three engines fit side by side, and a log keeps every
figure."""


def wide(console: Console | None = None) -> Console:
    """Return a console for tables: as wide as the terminal, or else as COLUMNS or a file allows."""
    console = console or Console()
    # Replace characters that the output's encoding lacks, rather than lose the table.
    if isinstance(console.file, TextIOWrapper) and console.file.errors == "strict":
        console.file.reconfigure(errors="replace")
    if console.is_terminal:
        return console
    asked = os.environ.get("COLUMNS", "")
    columns = int(asked) if asked.isdecimal() and int(asked) > 0 else WIDTH_OF_A_FILE
    return Console(width=columns, file=console.file)


def new_table(title: str) -> Table:
    """Return a table in the project's style, without columns."""
    return Table(title=title, box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False)


def print_table(console: Console, table: Table | Text) -> None:
    """Print a table, or a note below it, without trailing blanks."""
    console.print(_Trimmed(table))


def print_line(console: Console, line: str) -> None:
    """Print one line of foreign text unchanged, with escapes for unprintable characters."""
    console.print(plain(line), soft_wrap=True)


def plain(text: str) -> Text:
    """Return foreign text for a cell or a line, without markup or control characters."""
    return Text(one_line(text))


class _Trimmed:
    """Renders without blanks at the ends of lines."""

    def __init__(self, table: Table | Text) -> None:
        self._table = table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        for line in console.render_lines(self._table, options, pad=False):
            while line and not line[-1].text.strip():
                line.pop()
            if line:
                text, style, control = line.pop()
                line.append(Segment(text.rstrip(), style, control))
            yield from line
            yield Segment.line()


def figure(percent: float | None) -> str:
    """Return a percentage as every table shows it; a dash for None."""
    return "-" if percent is None else f"{percent:.2f}"


# A table that is too wide is split into parts, one below the other: by engine, then by columns.

_ANY_WIDTH = 10_000
_WIDTH_OF_A_LABEL = 40
"""Longer labels fold, so that they never displace a column of figures."""
_NARROW_LABEL = 10
"""Labels fold to this width before columns move to another part."""
_LABEL_OF_A_PART = 20
"""Width of labels if there are several parts."""


def print_grids(
    grids: Sequence[TableModel], console: Console | None = None, *, is_narrow: bool = False
) -> None:
    """Print tables, each with its notes; `is_narrow`: fold labels before splitting the table."""
    _print(grids, wide(console), _NARROW_LABEL if is_narrow else _WIDTH_OF_A_LABEL)


def console_text(grids: Sequence[TableModel]) -> str:
    """Return the tables as a text of the width of a file, whatever the terminal."""
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
    """Yield a table as the fewest parts that fit; one part if its labels need not fold below that width."""
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
    """Yield the columns of one group: all if labels fold far enough, else in parts of about equal size."""
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
    """Yield parts with as many columns as fit, but at least one."""
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
    # Keep digits aligned next to a dagger, too.
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


# Progress of loads and downloads: bars meanwhile, a line when a load is done.


class LoadingBars:
    """Progress bars of one command: each database being loaded, all databases, and the count after loading.

    `loaders.load` calls it. `databases` is the number to load: with several bars there is one for all,
    which shows the time left.
    """

    def __init__(self, bar: Progress, databases: int, before: str | None = None) -> None:
        self._bar = bar
        self._before = None if before is None else bar.add_task(before, total=None)
        self._expected = databases
        self._tasks: dict[Database, TaskID] = {}
        self._ended: set[Database] = set()
        self._all: TaskID | None = None
        self._counted: TaskID | None = None

    def __call__(self, database: Database, done: int, total: int) -> None:
        """Show the number of loaded rows of a database."""
        bar = self._bar
        if self._before is not None:
            bar.update(self._before, visible=False)
        if self._all is None and self._expected > 1:
            self._all = bar.add_task("databases", total=self._expected)
        if database not in self._tasks:
            self._tasks[database] = bar.add_task(
                f"loading {database.db_id} ({database.profile})", total=total
            )
        bar.update(self._tasks[database], completed=done, total=total, visible=done < total)
        if done >= total:
            self._ended.add(database)
        if self._all is not None:
            ended = len(self._ended)
            bar.update(self._all, completed=ended, visible=ended < self._expected)

    def count(self, done: int, total: int) -> None:
        """Show the number of golds that are compared with SQLite."""
        if self._counted is None:
            if self._all is not None:
                self._bar.update(self._all, visible=False)
            self._counted = self._bar.add_task("golds", total=total)
        self._bar.update(self._counted, completed=done, total=total, visible=done < total)


@contextmanager
def loading_bar(console: Console, databases: int = 0, before: str | None = None) -> Iterator[LoadingBars]:
    """Provide progress bars for `loaders.load` and later steps; they vanish at the end.

    Args:
        console: where to show them, if it is a terminal.
        databases: the number of databases to load, if known.
        before: the step before loading starts.
    """
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        yield LoadingBars(bar, databases, before)


def loading_lines(server: Server, profile: Profile, done: Sequence[loading.Loaded]) -> list[str]:
    """Return the lines about a load: one with figures, and one for each thing not loaded as declared."""
    fresh = [one for one in done if not one.skipped]
    line = (
        f"{server.dialect}, {profile}: {len(fresh)} of {len(done)} databases loaded, "
        f"{sum(one.rows for one in fresh):,} rows in {sum(one.seconds for one in fresh):.1f} s"
    )
    rest = f"; {len(done) - len(fresh)} were there already" if len(fresh) < len(done) else ""
    notes = [f"  {one.database.db_id}: {note}" for one in fresh for note in one.notes]
    return [line + rest, *notes]


@contextmanager
def getting_bar(console: Console) -> Iterator[Callable[[str, int, int | None], None]]:
    """Provide a progress bar for `harness.data.sets.packages.get`; it vanishes at the end."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    tasks: dict[str, TaskID] = {}
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:

        def show(what: str, done: int, total: int | None) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total)
            bar.update(tasks[what], completed=done, total=total, visible=done != total)

        yield show


# Progress of a run: a bar for each engine, with rate, time left and EX so far. Pairs are counted when they
# are judged, from any thread, not when they are reported, so that one slow pair does not stop a bar.

_ALL = "all engines"

_BESIDE = 56
"""Width of the columns next to the bar."""
_BAR = 40


class Bars:
    """The progress bars of one run; nothing is shown if the console is None or not a terminal.

    Args:
        console: must keep its file while pytest captures output.
        clock: returns seconds; for tests.
    """

    def __init__(self, console: Console | None, clock: Callable[[], float] | None = None) -> None:
        self._lock = Lock()
        self._rows: dict[str, TaskID] = {}
        self._counts: dict[str, tuple[int, int]] = {}
        self._stage: TaskID | None = None
        width = console.width if console is not None else 0
        self.progress = Progress(
            _Column(lambda task: task.description),
            BarColumn(min(_BAR, max(4, width - _BESIDE))),
            _Column(_count),
            _Column(_rate),
            TimeRemainingColumn(),
            _Column(lambda task: str(task.fields["live"])),
            console=console,
            get_time=clock,
            transient=True,
            # pytest captures both by itself.
            redirect_stdout=False,
            redirect_stderr=False,
            disable=console is None or not console.is_terminal,
        )

    def stage(self, what: str, total: int | None = None) -> None:
        """Show the current step instead of the previous one; `total` is its number of units."""
        with self._lock:
            if self._stage is not None:
                self.progress.remove_task(self._stage)
            self._stage = self.progress.add_task(what, total=total, live="")

    def advance(self, count: int = 1, live: str = "") -> None:
        """Advance the current step by `count`, and show `live` next to it."""
        if self._stage is not None:
            self.progress.update(self._stage, advance=count, live=live)

    def judge(self, planned: Sequence[EngineName], known: Iterable[tuple[EngineName, Outcome]] = ()) -> None:
        """Show the bars.

        Args:
            planned: the engine of each pair.
            known: the outcomes of those that an earlier part of the run has judged.
        """
        with self._lock:
            if self._stage is not None:
                self.progress.remove_task(self._stage)
                self._stage = None
            engines = list(dict.fromkeys(planned))
            totals = {engine: planned.count(engine) for engine in engines}
            if len(engines) > 1:
                totals[_ALL] = len(planned)
            for row, total in totals.items():
                self._rows[row] = self.progress.add_task(TITLES.get(row, row), total=total, live="")
                self._counts[row] = 0, 0
        for engine, outcomes in groupby(sorted(known), key=itemgetter(0)):
            self._add(engine, [outcome for _, outcome in outcomes])

    def judged(self, engine: EngineName, outcome: Outcome) -> None:
        """Count one more pair on an engine; from any thread."""
        self._add(engine, [outcome])

    def _add(self, engine: EngineName, outcomes: Sequence[Outcome]) -> None:
        if self.progress.disable:
            return
        with self._lock:
            for row in (engine, _ALL):
                if row not in self._rows:
                    continue
                right, judged = self._counts[row]
                right, judged = right + outcomes.count(Outcome.MATCH), judged + len(outcomes)
                self._counts[row] = right, judged
                live = f"{METRICS[OUTCOME_METRIC].title} {100 * right / judged:.1f}"
                self.progress.update(self._rows[row], completed=judged, live=live)

    def __enter__(self) -> Self:
        self.progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the bars from the screen."""
        self.progress.stop()


class _Column(ProgressColumn):
    """A text about a task, aligned to the right except in the first column."""

    def __init__(self, text: Callable[[Task], str]) -> None:
        super().__init__()
        self._text = text

    def render(self, task: Task) -> Text:
        """Return its text."""
        return Text(self._text(task), no_wrap=True)


def _count(task: Task) -> str:
    if task.total is None:
        return ""
    total = f"{task.total:,.0f}"
    return f"{task.completed:>{len(total)},.0f}/{total}"


def _rate(task: Task) -> str:
    speed = task.finished_speed or task.speed
    return "" if speed is None else f"{speed:,.0f}/s" if speed >= _SLOW else f"{speed:.1f}/s"


_SLOW = 10
"""Pairs per second below which a decimal is shown."""
