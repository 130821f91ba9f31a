"""What everything printed on a terminal shares: names, widths, the look."""

import os
from collections.abc import Iterator
from io import TextIOWrapper

from rich import box
from rich.console import Console, ConsoleOptions
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from harness.engines import TITLES
from loaders.base.files import one_line

NAMES = TITLES

WIDTH_OF_A_FILE = 200
"""Columns to use where the output is no terminal: three engines stand side by side, and a log keeps every
figure."""


def wide(console: Console | None = None) -> Console:
    """The console to print tables on: as wide as the terminal, or else as COLUMNS says or a file may be."""
    console = console or Console()
    # A character that the output's encoding does not have is no reason to lose the table.
    if isinstance(console.file, TextIOWrapper) and console.file.errors == "strict":
        console.file.reconfigure(errors="replace")
    if console.is_terminal:
        return console
    asked = os.environ.get("COLUMNS", "")
    columns = int(asked) if asked.isdecimal() and int(asked) > 0 else WIDTH_OF_A_FILE
    return Console(width=columns, file=console.file)


def new_table(title: str) -> Table:
    """A table of the project's look, without columns."""
    return Table(title=title, box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False)


def print_table(console: Console, table: Table | Text) -> None:
    """Print a table, or a note below it, in lines that end with what stands in them."""
    console.print(_Trimmed(table))


def print_line(console: Console, line: str) -> None:
    """Print one line of anybody's text as it is, with escapes for what does not print."""
    console.print(plain(line), soft_wrap=True)


def plain(text: str) -> Text:
    """A text of anybody's for a cell or a line: neither markup nor anything that a terminal obeys."""
    return Text(one_line(text))


class _Trimmed:
    """What is printed without blanks at the ends of its lines."""

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
    """A percentage as every table shows it; a dash where there is none."""
    return "-" if percent is None else f"{percent:.2f}"
