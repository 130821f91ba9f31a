"""Generated variants of a question set's databases: the twins of the seeds 1 to N, for `--variants N`.

A generated database is complete or absent; equal generator, databases, golds, scale and seed share a folder;
several processes may generate at once.
"""

import hashlib
import sqlite3
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from filelock import FileLock

from dialects.errors import BadInput
from harness.data.questions import QuestionSet
from harness.labs.twins.builder import TwinFailure, make
from harness.labs.twins.sources import TwinSource, of_set
from harness.labs.twins.twin import SCALE
from harness.scoring import chance
from loaders.base import paths
from loaders.base.digests import read_sha256
from loaders.base.files import one_line


def generate(
    questions: QuestionSet, count: int, say: Callable[[str], None]
) -> tuple[dict[str, Path], dict[str, Any]]:
    """Return a folder for each seed, with a twin of every database, and what they are made by and of.

    Twins that the cache lacks are generated. The folders go by their names, `seed-1` and so on; the second
    part is JSON for the manifest: digests of the generator and its inputs, and the scale.

    Args:
        questions: the set.
        count: the number of seeds.
        say: called with a line about each variant that is generated.

    Raises:
        BadInput: no twin can be generated of a database, or none can be kept.
    """
    sources = of_set(questions)
    generator, inputs = _generator(), _inputs(sources)
    key = hashlib.sha256(f"{generator} {inputs} {SCALE}".encode()).hexdigest()[:16]
    folders = {}
    for seed in range(1, count + 1):
        folder = paths.cache() / "variants" / key / f"seed-{seed}"
        try:
            if _missing(folder, sources):
                folder.mkdir(parents=True, exist_ok=True)
                with FileLock(folder.with_suffix(".lock")):
                    _complete(folder, seed, _missing(folder, sources), say)
        except OSError as error:
            raise BadInput(
                f"variants cannot be kept in {folder}: {error.strerror or error}; "
                "set BIRD_CACHE to a writable folder"
            ) from error
        folders[folder.name] = folder
    return folders, {"generator": generator, "inputs": inputs, "scale": SCALE}


def _missing(folder: Path, sources: Sequence[TwinSource]) -> list[TwinSource]:
    return [each for each in sources if not (folder / each.db_id / f"{each.db_id}.sqlite").is_file()]


def _complete(folder: Path, seed: int, sources: Sequence[TwinSource], say: Callable[[str], None]) -> None:
    """Add missing databases to the folder of a seed, holding its lock."""
    if not sources:
        return
    say(f"making variant {folder.name}: {', '.join(each.db_id for each in sources)} ...")
    unmade = [one for one in make(sources, folder, seed=seed) if isinstance(one, TwinFailure)]
    if unmade:
        raise BadInput(
            one_line(
                f"variants cannot be generated: seed {seed}, {unmade[0].db_id}: {unmade[0].reason}; "
                "name a folder of variants, or exclude the questions about it"
            )
        )


@cache
def _generator() -> str:
    """Return a digest of the generator: its sources, and the libraries that it reads and runs SQL with."""
    digest = hashlib.sha256(f"sqlglot {version('sqlglot')} sqlite {sqlite3.sqlite_version}\n".encode())
    for place in (__file__, chance.__file__):
        for path in sorted(Path(place).parent.glob("*.py")):
            digest.update(f"{path.name}\n".encode() + path.read_bytes())
    return digest.hexdigest()


def _inputs(sources: Sequence[TwinSource]) -> str:
    """Return a digest of a twin's inputs: the files of the databases, their descriptions, and the golds."""
    digest = hashlib.sha256()
    for source in sources:
        described = source.path.parent / "database_description"
        digest.update(f"{source.db_id}\n{source.golds!r}\n".encode())
        for path in (source.path, *sorted(described.glob("*.csv"))):
            digest.update(f"{path.name} {read_sha256(path)}\n".encode())
    return digest.hexdigest()
