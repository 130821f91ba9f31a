"""How a load and a download are shown: a bar while it goes on; a line when a load is done."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from dialects.enums import Profile
from loaders import load as loading
from loaders.namespace import Database
from loaders.packages.archives import DownloadProgress
from loaders.server import Server


class LoadingBars:
    """Bars of one command: databases that are loaded, all of them together, and what is counted after them.

    Calling it is what `loaders.load.load` does. `databases` is how many there are to load: with a few bars of
    single ones stands that of all, which tells the time that is left.
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
        """Say how many rows of a database are loaded."""
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
        """Say how many golds are held against SQLite."""
        if self._counted is None:
            if self._all is not None:
                self._bar.update(self._all, visible=False)
            self._counted = self._bar.add_task("golds", total=total)
        self._bar.update(self._counted, completed=done, total=total, visible=done < total)


@contextmanager
def loading_bar(console: Console, databases: int = 0, before: str | None = None) -> Iterator[LoadingBars]:
    """Progress bars for `loaders.load.load`, and what comes after it; they leave nothing behind.

    Args:
        console: where they are shown, if it is a terminal.
        databases: how many there are to load, where that is known.
        before: what is done until something is loaded.
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
    """What a load did: a line of figures, and one for each thing that could not be taken over as declared."""
    fresh = [one for one in done if not one.skipped]
    line = (
        f"{server.dialect}, {profile}: {len(fresh)} of {len(done)} databases loaded, "
        f"{sum(one.rows for one in fresh):,} rows in {sum(one.seconds for one in fresh):.1f} s"
    )
    rest = f"; {len(done) - len(fresh)} were there already" if len(fresh) < len(done) else ""
    notes = [f"  {one.database.db_id}: {note}" for one in fresh for note in one.notes]
    return [line + rest, *notes]


@contextmanager
def getting_bar(console: Console) -> Iterator[DownloadProgress]:
    """A progress bar for `harness.data.sets.packages.get`; it leaves nothing behind."""
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
