"""Databases with the published row counts, by a generator that is named, to run benchmarks on.

The folder that is made is a BIRD_HOME: the questions and golds of the data that it was made from, and large
twins of their databases. Databases that are not asked for stay as small as they are.

    python -m benchmarks.full_scale FOLDER --generator BIRD_HOME/twins/make_twins.py
    BIRD_HOME=FOLDER python -m benchmarks.evaluation --set mini_dev ...

The first command that uses the folder loads it into the servers that are up, in place of the small databases.
"""

import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from dialects.errors import BadInput, HarnessError
from loaders.base.processes import processors

_QUESTIONS = "MINIDEV"
_LINKED = ("MINIDEV_2025", "predictions")


def full_scale(generator: Path, folder: Path, db_ids: Sequence[str], scale: float, seed: int) -> None:
    """Make a BIRD_HOME with large databases.

    Args:
        generator: a script in a folder of the data to make it from, which is only read.
        folder: where; created, and must not be there yet.
        db_ids: the databases to enlarge; empty for all of them.
        scale: of the real row counts.
        seed: the generator's.

    Raises:
        BadInput: the generator is not there or failed, a database is unknown, or the folder is there.
    """
    script = generator.resolve()
    if not script.is_file():
        raise BadInput(f"--generator {generator}: is not there; name a script that makes the databases")
    data = script.parent.parent
    small = data / _QUESTIONS / "dev_databases"
    known = sorted(path.parent.name for path in small.glob("*/*.sqlite"))
    unknown = [db_id for db_id in db_ids if db_id not in known]
    if unknown:
        raise BadInput(f"--db {unknown[0]}: not one of the databases in {small}: {', '.join(known)}")
    if folder.exists():
        raise BadInput(f"{folder}: is there already; name a folder that is to be made")
    large = folder / _QUESTIONS / "dev_databases"
    large.mkdir(parents=True)
    command = [sys.executable, "-B", str(script), f"--out={large}", f"--scale={scale}", f"--seed={seed}"]
    command += [f"--processes={processors()}", "--db", *(db_ids or known)]
    if subprocess.run(command, stdin=subprocess.DEVNULL, check=False).returncode != 0:
        shutil.rmtree(folder)
        raise BadInput(f"{script} failed; it has said why")
    for path in [*(data / _QUESTIONS).glob("*"), *small.glob("*"), *(data / name for name in _LINKED)]:
        link = folder / path.relative_to(data)
        if path.exists() and not link.exists():
            link.symlink_to(path)


def main(
    folder: Annotated[Path, typer.Argument(help="Where to make it; outside of the checkout.")],
    generator: Annotated[
        Path, typer.Option(help="The script that makes them, as BIRD_HOME/twins/make_twins.py; it is run.")
    ],
    scale: Annotated[float, typer.Option(help="Of the real row counts.")] = 1.0,
    seed: Annotated[int, typer.Option(help="The generator's.")] = 1,
    db: Annotated[list[str] | None, typer.Option(help="Only this database (repeatable).")] = None,
) -> None:
    """Print how long it took and how large it is."""
    started = time.perf_counter()
    full_scale(generator, folder.absolute(), db or (), scale, seed)
    size = sum(path.stat().st_size for path in folder.glob("MINIDEV/dev_databases/*/*.sqlite"))
    print(f"{folder}: {size / 1e9:.2f} GB of databases, made in {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    try:
        typer.run(main)
    except HarnessError as error:
        raise SystemExit(str(error)) from error
