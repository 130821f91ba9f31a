"""How getting a package is shown: a bar while it goes on."""

from collections.abc import Iterator
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

from loaders.packages.download import DownloadProgress


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
