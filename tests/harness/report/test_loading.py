"""Bars of a load on a terminal: one of each database, one of all, and what is counted after them."""

from io import StringIO
from pathlib import Path

from rich.console import Console

from harness.report.console import loading_bar
from loaders.namespace import Database


def shown(text: str) -> str:
    """What has been on the terminal at any time."""
    return " ".join(text.split())


def test_all_databases_have_one_bar_with_the_time_that_is_left() -> None:
    file = StringIO()
    console = Console(file=file, force_terminal=True, width=100, height=50)
    first, second = (Database("c", name, Path()) for name in ("one", "two"))
    with loading_bar(console, 2) as bars:
        bars(first, 1, 4)
        bars._bar.refresh()
        assert "databases" in shown(file.getvalue())
        assert "loading one (official)" in shown(file.getvalue())
        bars(first, 4, 4)
        bars._bar.refresh()
        assert "50%" in shown(file.getvalue())
        bars(second, 4, 4)
        bars.count(1, 4)
        bars._bar.refresh()
        assert "golds" in shown(file.getvalue())
        assert "25%" in shown(file.getvalue())


def test_where_there_is_no_terminal_nothing_is_shown() -> None:
    file = StringIO()
    with loading_bar(Console(file=file), 2) as bars:
        bars(Database("c", "one", Path()), 1, 4)
        bars.count(1, 2)
    assert file.getvalue() == "" or not file.getvalue().strip()
