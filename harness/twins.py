"""Variants of the databases from the generator that comes with the data, made once and kept in the cache.

Promises: a database of a twin is there as a whole or not at all, whatever stops the generator; the same
generator, inputs, scale and seed are the same folder; several processes may ask at once.
"""

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from filelock import FileLock

from harness import places
from harness.errors import BadInput
from harness.readers.textfiles import one_line

SCALE = 0.02
"""Of the real row counts: the generator's own default. It makes no table smaller than 2,000 rows, so that a
smaller scale would save next to nothing."""

_SCRIPT = "twins/make_twins.py"
_FOLDERS = ("", "minidev")
_INPUTS = (
    "twins/*.py",
    "twins/inputs/**/*",
    "schema/sqlite.json",
    "MINIDEV*/mini_dev_sqlite.json",
    "predictions/*_sqlite.json",
    "MINIDEV/dev_databases/*/database_description/*.csv",
)
"""What decides the rows beside scale and seed: the generator, and the files that it reads by default."""
_SECONDS = 600
"""For one seed. A generator that works in a `multiprocessing.Pool` waits for ever when a worker exits:
https://github.com/python/cpython/pull/10441."""


@dataclass(frozen=True)
class Generator:
    """The script, and a digest of everything that it makes a twin from."""

    script: Path
    sha256: str


def find_generator(home: Path) -> Generator:
    """The generator below the folder of the unpacked data.

    Raises:
        BadInput: there is none.
    """
    scripts = [home / folder / _SCRIPT for folder in _FOLDERS]
    script = next((script for script in scripts if script.is_file()), None)
    if script is None:
        raise BadInput(
            one_line(
                f"variants cannot be generated: there is no {' or '.join(map(str, scripts))}; "
                "name a folder of variants, or point BIRD_HOME at data that come with the generator"
            )
        )
    data = script.resolve().parent.parent
    digest = hashlib.sha256(f"sqlglot {version('sqlglot')}\n".encode())
    for path in sorted(path for pattern in _INPUTS for path in data.glob(pattern) if path.is_file()):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(data).as_posix()} {len(content)}\n".encode() + content)
    return Generator(script, digest.hexdigest())


def twins(
    generator: Generator, seeds: Sequence[int], db_ids: Sequence[str], say: Callable[[str], None]
) -> dict[str, Path]:
    """A folder with a twin of every database for each seed; what the cache does not have is made.

    Args:
        generator: what makes them.
        seeds: one for each twin.
        db_ids: the databases.
        say: takes a line before each twin that has to be made.

    Returns:
        `seed-<seed>` to a folder that has `<db_id>/<db_id>.sqlite`, in the order of `seeds`.

    Raises:
        BadInput: the generator failed, or the cache cannot be written.
    """
    key = hashlib.sha256(f"{generator.sha256} {SCALE}".encode()).hexdigest()[:16]
    folders = {}
    for seed in seeds:
        folder = places.cache() / "variants" / key / f"seed-{seed}"
        try:
            if _missing(folder, db_ids):
                folder.mkdir(parents=True, exist_ok=True)
                with FileLock(folder.with_suffix(".lock")):
                    _complete(folder, generator, seed, _missing(folder, db_ids), say)
        except OSError as error:
            raise BadInput(
                f"variants cannot be kept in {folder}: {error.strerror or error}; "
                "set BIRD_CACHE to a folder that can be written"
            ) from error
        folders[folder.name] = folder
    return folders


def _missing(folder: Path, db_ids: Sequence[str]) -> list[str]:
    return [db_id for db_id in db_ids if not (folder / db_id / f"{db_id}.sqlite").is_file()]


def _complete(
    folder: Path, generator: Generator, seed: int, db_ids: Sequence[str], say: Callable[[str], None]
) -> None:
    """Add `db_ids` to a twin's folder, with its lock held."""
    if not db_ids:
        return
    say(f"making variant {folder.name}: {', '.join(db_ids)} ...")
    for left in folder.glob(".staging-*"):
        shutil.rmtree(left)
    staging = Path(tempfile.mkdtemp(prefix=".staging-", dir=folder))
    try:
        _generate(generator, seed, db_ids, staging)
        forgotten = _missing(staging, db_ids)
        if forgotten:
            raise _failed(generator, seed, f"it made no database {', '.join(forgotten)}")
        for db_id in db_ids:
            (staging / db_id).rename(folder / db_id)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _generate(generator: Generator, seed: int, db_ids: Sequence[str], out: Path) -> None:
    # -B: the data may be read-only, or shared.
    command = [sys.executable, "-B", str(generator.script), f"--out={out}", f"--scale={SCALE}"]
    command += [f"--seed={seed}", f"--processes={min(len(db_ids), os.cpu_count() or 1)}", "--db", *db_ids]
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            _, complaints = process.communicate(timeout=_SECONDS)
        except BaseException as error:
            # Its workers too, whatever ends the wait: they would write on into the cache.
            os.killpg(process.pid, signal.SIGKILL)
            if isinstance(error, subprocess.TimeoutExpired):
                raise _failed(generator, seed, f"it took longer than {_SECONDS} s") from error
            raise
    if process.returncode != 0:
        said = [line for line in complaints.splitlines() if line.strip()]
        raise _failed(generator, seed, said[-1].strip() if said else f"exit code {process.returncode}")


def _failed(generator: Generator, seed: int, reason: str) -> BadInput:
    return BadInput(
        one_line(
            f"variants cannot be generated: {generator.script} with seed {seed}: {reason}; "
            "name a folder of variants, or repair the generator"
        )
    )
