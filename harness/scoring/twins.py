"""Variants of the databases by the project's own generator, made once and kept in the cache.

Promises: nothing that is found among the data is executed; a database of a twin is there as a whole or not at
all; the same generator, databases, golds, scale and seed are the same folder; several processes may ask at
once.
"""

import hashlib
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path

from filelock import FileLock

from dialects.errors import BadInput
from harness.data.questions import QuestionSet
from harness.data.twin_sources import of_set
from loaders import twins as generator
from loaders.base import paths
from loaders.base.files import one_line
from loaders.twins.making import TwinSource, Unmade, make
from loaders.twins.twin import SCALE


@dataclass(frozen=True)
class Twins:
    """Twins of a question set: a folder for each seed, and the digests of what made them.

    `generator` is that of the generator alone, `inputs` that of everything else that decides their rows.
    """

    folders: dict[str, Path]
    generator: str
    inputs: str
    scale: float = SCALE


def twins(questions: QuestionSet, seeds: Sequence[int], say: Callable[[str], None]) -> Twins:
    """A folder with a twin of every database for each seed; what the cache does not have is made.

    Args:
        questions: the set, with the golds that the twins answer.
        seeds: one for each twin.
        say: takes a line before each twin that has to be made.

    Returns:
        Folders named `seed-<seed>` that have `<db_id>/<db_id>.sqlite`, in the order of `seeds`.

    Raises:
        BadInput: a database cannot be read, no twin can be made of one, or the cache cannot be written.
    """
    sources = of_set(questions)
    made_by, inputs = _generator(), _inputs(sources)
    key = hashlib.sha256(f"{made_by} {inputs} {SCALE}".encode()).hexdigest()[:16]
    folders = {}
    for seed in seeds:
        folder = paths.cache() / "variants" / key / f"seed-{seed}"
        try:
            if _missing(folder, sources):
                folder.mkdir(parents=True, exist_ok=True)
                with FileLock(folder.with_suffix(".lock")):
                    _complete(folder, seed, _missing(folder, sources), say)
        except OSError as error:
            raise BadInput(
                f"variants cannot be kept in {folder}: {error.strerror or error}; "
                "set BIRD_CACHE to a folder that can be written"
            ) from error
        folders[folder.name] = folder
    return Twins(folders, made_by, inputs)


@cache
def _generator() -> str:
    """What the generator is made of: its own sources, and the libraries that it reads and tries SQL with."""
    digest = hashlib.sha256(f"sqlglot {version('sqlglot')} sqlite {sqlite3.sqlite_version}\n".encode())
    home = Path(generator.__file__).parent
    for path in sorted(home.glob("*.py")):
        digest.update(f"{path.name}\n".encode() + path.read_bytes())
    return digest.hexdigest()


def _inputs(sources: Sequence[TwinSource]) -> str:
    """What a twin is made from: the files of the databases, their descriptions, and the golds."""
    digest = hashlib.sha256()
    for source in sources:
        described = source.path.parent / "database_description"
        digest.update(f"{source.db_id}\n{source.golds!r}\n".encode())
        for path in (source.path, *sorted(described.glob("*.csv"))):
            try:
                with path.open("rb") as file:
                    content = hashlib.file_digest(file, "sha256").hexdigest()
            except OSError as error:
                raise BadInput(f"{path}: cannot be read ({error.strerror})") from error
            digest.update(f"{path.name} {content}\n".encode())
    return digest.hexdigest()


def _missing(folder: Path, sources: Sequence[TwinSource]) -> list[TwinSource]:
    return [each for each in sources if not (folder / each.db_id / f"{each.db_id}.sqlite").is_file()]


def _complete(folder: Path, seed: int, sources: Sequence[TwinSource], say: Callable[[str], None]) -> None:
    """Add databases to a twin's folder, with its lock held."""
    if not sources:
        return
    say(f"making variant {folder.name}: {', '.join(each.db_id for each in sources)} ...")
    unmade = [one for one in make(sources, folder, seed=seed) if isinstance(one, Unmade)]
    if unmade:
        raise BadInput(
            one_line(
                f"variants cannot be generated: seed {seed}, {unmade[0].db_id}: {unmade[0].reason}; "
                "name a folder of variants, or leave the questions on it out"
            )
        )
