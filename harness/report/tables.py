"""What everything printed on a terminal shares: names, widths, the look."""

from rich import box
from rich.console import Console
from rich.table import Table

from harness.words import Dialect

NAMES = {Dialect.SQLITE: "SQLite", Dialect.MYSQL: "MySQL", Dialect.POSTGRESQL: "PostgreSQL"}

_WIDTH_OF_A_FILE = 200
"""Columns to use where the output is no terminal: three engines stand side by side, and a log keeps every
figure."""


def wide(console: Console | None = None) -> Console:
    """The console to print tables on: as wide as the terminal, or wide enough for a file."""
    console = console or Console()
    return console if console.is_terminal else Console(width=_WIDTH_OF_A_FILE, file=console.file)


def new_table(title: str) -> Table:
    """A table of the project's look, without columns."""
    return Table(title=title, box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False)


def figure(percent: float | None) -> str:
    """A percentage as every table shows it; a dash where there is none."""
    return "-" if percent is None else f"{percent:.2f}"
