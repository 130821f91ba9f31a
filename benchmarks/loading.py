"""Rows a second of `bird-harness load`, beside those of other loaders from the same SQLite files.

On PostgreSQL that is pgloader (Debian package `pgloader`), on MySQL and MariaDB sqlite3-to-mysql (from PyPI,
into an environment of its own), on DuckDB its own reader or CSV (`benchmarks.loading_csv`). They take turns
on a server, or in a folder, of their own. Whole commands are timed; ours includes
digests, census, keys, indexes and statistics. *Alone* is COPY or LOAD DATA of the same rows, written as text
before the clock starts, into empty tables with types and without keys: no loader takes less.

    python -m benchmarks.loading --set mini_dev --dialect postgresql
    python -m benchmarks.loading --set mini_dev --dialect mysql --scale 1.0 --db formula_1 --runs 1
"""

import statistics
import tempfile
from collections.abc import Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import connect
from typing import Annotated

import typer

from benchmarks import options
from benchmarks.full_scale import full_scale
from benchmarks.loading_contestants import THEIRS, Asked, Loader, Loading, other_program, run
from benchmarks.loading_statement import tables_of
from dialects.enums import Dialect, Profile
from dialects.errors import BadInput, HarnessError
from harness import provision
from harness.data.sets.loader import load_set


@dataclass(frozen=True)
class Files:
    """What everybody loads."""

    paths: tuple[Path, ...]
    rows: int


def files(set_name: str, bird_home: Path | None, db_ids: Sequence[str]) -> Files:
    """The SQLite files of a question set, and how many rows they hold.

    Raises:
        BadInput: the set or a database is unknown.
    """
    questions = load_set(set_name, bird_home)
    unknown = [db_id for db_id in db_ids if db_id not in questions.db_ids]
    if unknown:
        raise BadInput(f"--db {unknown[0]}: not one of {', '.join(questions.db_ids)}")
    paths = [questions.database(db_id, Profile.OFFICIAL).sqlite_path for db_id in db_ids or questions.db_ids]
    return Files(tuple(paths), sum(map(_rows, paths)))


def _rows(path: Path) -> int:
    with closing(connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        counts = [
            connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]  # noqa: S608
            for name in tables_of(connection)
        ]
    return sum(counts)


def compare(asked: Asked, runs: int) -> dict[Loader, list[Loading]]:
    """Let all load the files in turn, and say how it goes."""
    loaders = [Loader.OURS, Loader.STATEMENT]
    if asked.program is not None:
        loaders.append(THEIRS[asked.server.dialect])
    found: dict[Loader, list[Loading]] = {loader: [] for loader in loaders}
    for number in range(runs):
        for loader in loaders:
            done = run(loader, asked, f"load_{number}_{loader.name.lower()}")
            found[loader].append(done)
            print(
                f"run {number + 1}, {loader}: {done.rows:,} rows in {done.seconds:.2f} s,"
                f" {done.cpu:.2f} s of CPU, {done.megabytes:.0f} MB",
                flush=True,
            )
    return found


def main(  # noqa: PLR0913, PLR0917 - the benchmark's options
    set_name: options.SetName = "sample",
    dialect: Annotated[str, typer.Option(help=f"One of {', '.join(THEIRS)}.")] = "postgresql",
    db: Annotated[list[str] | None, typer.Option(help="Only this database (repeatable).")] = None,
    profile: Annotated[Profile, typer.Option(help="Of ours.")] = Profile.OFFICIAL,
    scale: Annotated[float, typer.Option(help="With --generator: of the published row counts.")] = 1.0,
    generator: Annotated[
        Path | None, typer.Option(help="Load what this script makes; see benchmarks.full_scale.")
    ] = None,
    jobs: Annotated[int | None, typer.Option(help="Of ours; default: its own.", min=1)] = None,
    peer: Annotated[bool, typer.Option(help="Also the other loader.")] = True,  # noqa: FBT002 - an option
    runs: options.Runs = 3,
    bird_home: options.BirdHome = None,
) -> None:
    """Print each run, and a row for docs/measurements/performance.md."""
    if dialect not in THEIRS:
        raise BadInput(f"--dialect {dialect}: choose one of {', '.join(THEIRS)}")
    engine = Dialect(dialect)
    other = other_program(engine) if peer else nullcontext()
    with tempfile.TemporaryDirectory() as folder, other as program:
        if generator is not None:
            full_scale(generator, Path(folder, "twins"), db or (), scale, seed=1)
            bird_home = Path(folder, "twins")
        chosen = files(set_name, bird_home, db or ())
        with provision.throwaway(engine) as server:
            found = compare(Asked(server, chosen.paths, profile, jobs, program), runs)
    _print(found, chosen, engine)


def _print(found: dict[Loader, list[Loading]], chosen: Files, dialect: Dialect) -> None:
    seconds = {loader: statistics.median(one.seconds for one in some) for loader, some in found.items()}
    ours = found[Loader.OURS]
    options.print_row(
        {
            "server": dialect,
            "databases": len(chosen.paths),
            "rows": f"{chosen.rows:,}",
            "runs": len(ours),
            **{f"{loader}, s": _spread(some) for loader, some in found.items()},
            **{f"{loader}, rows/s": f"{chosen.rows / took:,.0f}" for loader, took in seconds.items()},
            **{f"{loader} / ours": f"{took / seconds[Loader.OURS]:.1f}" for loader, took in seconds.items()
               if loader in THEIRS.values()},
            "ours / alone": f"{seconds[Loader.OURS] / seconds[Loader.STATEMENT]:.2f}",
            "CPU without the server's, s": " / ".join(
                f"{statistics.median(one.cpu for one in some):.1f}" for some in found.values()
            ),
            "ours, peak MB": f"{max(one.megabytes for one in ours):.0f}",
            "rows not arrived": " / ".join(
                str(max(chosen.rows - one.rows for one in some)) for some in found.values()
            ),
        }
    )  # fmt: skip


def _spread(runs: Sequence[Loading]) -> str:
    seconds = [one.seconds for one in runs]
    return f"{statistics.median(seconds):.2f} ({min(seconds):.2f} to {max(seconds):.2f})"


if __name__ == "__main__":
    try:
        typer.run(main)
    except HarnessError as error:
        raise SystemExit(str(error)) from error
