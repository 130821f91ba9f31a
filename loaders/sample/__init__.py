"""The project's own small benchmark in the published file formats; needs no download and no server.

README.md in this folder describes its content and conventions.
"""

import csv
import hashlib
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import filelock
import platformdirs

from dialects.errors import BadInput
from loaders.base import paths
from loaders.base.errors import said

PREDICTIONS = Path(__file__).with_name("predictions")
"""The folder with predictions of two invented baselines, in the official format."""

__all__ = ["PREDICTIONS", "build", "build_once", "sample_folder"]

_HERE = Path(__file__).parent
_DATABASES = _HERE / "databases"
_QUESTIONS = _HERE / "questions"

NULL = r"\N"
"""NULL in a table's CSV file; an empty field is the empty string."""


def sample_folder() -> Path:
    """Return the folder of the sample benchmark, laid out like a published package; build it if missing.

    It is in the user's cache, or below `BIRD_CACHE` if that is set, in a folder named after a digest of the
    text files: each version of the sample has its own folder. Several processes may call this at once.

    Raises:
        BadInput: the cache cannot be written.
    """
    return build_once("sample", _digest(), build)


def build_once(name: str, digest: str, build: Callable[[Path], Path]) -> Path:
    """Return a folder in the user's cache; build it if missing.

    Args:
        name: the folder in the cache that holds its versions.
        digest: the version.
        build: fills a folder that it is given, and returns it.

    Raises:
        BadInput: the cache cannot be written.
    """
    cache = paths.chosen("BIRD_CACHE") or platformdirs.user_cache_path("bird-harness")
    folder = cache / name / digest
    if folder.is_dir():
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with filelock.FileLock(folder.with_suffix(".lock")):
            if not folder.is_dir():
                staging = folder.with_suffix(".staging")
                shutil.rmtree(staging, ignore_errors=True)
                build(staging).rename(folder)
    except (OSError, sqlite3.Error) as error:
        reason = said(error) if isinstance(error, OSError) else error
        raise BadInput(
            f"sample benchmark: cannot be built in {folder.parent}: {reason}; "
            "set BIRD_CACHE to a writable folder"
        ) from error
    return folder


def build(folder: Path) -> Path:
    """Build the sample benchmark in `folder`, which must not contain its databases yet, and return it.

    Layout: `sample_<dialect>.json`, `sample_<dialect>_gold.sql`, `sample_tables.json`,
    `dev_databases/<db_id>/<db_id>.sqlite` and `dev_databases/<db_id>/database_description/<table>.csv`.
    """
    shutil.copytree(_QUESTIONS, folder, dirs_exist_ok=True)
    build_databases(folder / "dev_databases")
    return folder


def build_databases(folder: Path) -> list[Path]:
    """Build the SQLite files, each in its own folder below `folder`, in order of their names."""
    built = []
    for source in sorted(path for path in _DATABASES.iterdir() if path.is_dir()):
        place = folder / source.name
        shutil.copytree(source / "database_description", place / "database_description")
        built.append(place / f"{source.name}.sqlite")
        _build_database(source, built[-1])
    return built


def table_names(connection: sqlite3.Connection) -> list[str]:
    """Return the tables of a database in the order of their creation."""
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid")
    return [name for (name,) in rows]


def _build_database(source: Path, path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript((source / "schema.sql").read_text(encoding="utf-8"))
        with connection:
            for table in table_names(connection):
                header, *rows = _read(source / f"{table}.csv")
                columns = ", ".join(f'"{name}"' for name in header)
                values = ", ".join("?" for _ in header)
                # The columns' affinity turns the fields into numbers, as with the shell's .import.
                connection.executemany(f'INSERT INTO "{table}" ({columns}) VALUES ({values})', rows)  # noqa: S608


def _read(path: Path) -> Iterator[list[str | None]]:
    with path.open(newline="", encoding="utf-8") as file:
        for record in csv.reader(file, strict=True):
            yield [None if field == NULL else field for field in record]


def _digest() -> str:
    """Return a digest of everything that the sample is built from."""
    sources = [Path(__file__), *_DATABASES.rglob("*"), *_QUESTIONS.rglob("*")]
    digest = hashlib.sha256()
    for path in sorted(path for path in sources if path.is_file()):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(_HERE).as_posix()} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:16]
