"""How a load is shown: a bar while it goes on, and a line when it is done."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from dialects.enums import Profile
from loaders import load as loading
from loaders.namespace import Database
from loaders.server import Server


@contextmanager
def loading_bar(console: Console) -> Iterator[loading.Progress]:
    """A progress bar for `loaders.load.load`; it leaves nothing behind."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeRemainingColumn(),
    )
    tasks: dict[Database, TaskID] = {}
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:

        def show(database: Database, done: int, total: int) -> None:
            if database not in tasks:
                tasks[database] = bar.add_task(f"loading {database.db_id} ({database.profile})", total=total)
            bar.update(tasks[database], completed=done, total=total, visible=done < total)

        yield show


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
