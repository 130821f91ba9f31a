"""Variants of a question set's databases, with the same tables and other rows: find, generate, score.

Every variant has every database that the questions need. A variant with the same bytes as the database
itself, or as an earlier variant, is never counted, since it proves nothing. Files found among the data are
never executed. A generated database is complete or absent; equal generator, databases, golds, scale and seed
share a folder; several processes may generate at once.
"""

import hashlib
import re
import sqlite3
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from filelock import FileLock

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.data.questions import Question, QuestionSet
from harness.engines.base import Engine, Row
from harness.engines.execution import Ending, Execution, Limits, execute
from harness.metrics.accuracy import ex
from harness.metrics.distinct import firsts
from loaders import twins
from loaders.base import paths
from loaders.base.files import Faults, one_line, refuse
from loaders.base.processes import processors
from loaders.namespace import Database

if TYPE_CHECKING:
    from loaders.twins.builder import TwinSource

MOST_VARIANTS = 100

_NUMBER = re.compile(r"[+-]?[0-9]{1,18}")
_SQLITE_HEADER = b"SQLite format 3\x00"


@dataclass(frozen=True)
class Variants:
    """The variants of a question set's databases.

    `names` are all variants, in order; `telling` maps a database to the variants that differ from it and from
    each other. `fingerprint` is JSON for the manifest: the origin, size and sha256 of every file, and per
    database the variants that repeat another file.
    """

    names: tuple[str, ...]
    telling: Mapping[str, tuple[str, ...]]
    fingerprint: Mapping[str, Any]
    _collection: str = field(repr=False)
    _folders: Mapping[str, Path] = field(repr=False)

    def database(self, name: str, db_id: str) -> Database:
        """Return a database of the variant `name`, for SQLite only: no server has it."""
        return Database(self._collection, db_id, _file(self._folders[name], db_id))


def find_variants(spec: str, questions: QuestionSet, say: Callable[[str], None]) -> Variants:
    """Find the variants in a folder, or generate them.

    Args:
        spec: a folder with one subfolder per variant, `<variant>/<db_id>/<db_id>.sqlite` or
            `<variant>/dev_databases/<db_id>/<db_id>.sqlite`; or a whole number N for the twins of the seeds
            1 to N from the project's own generator (docs/how-to/twins.md).
        questions: the question set; variants of other databases are ignored.
        say: called with one line at a time about variants that are generated, and those that prove nothing.

    Raises:
        BadInput: the folder has no variants or one lacks a database; the number is not between 1 and
           `MOST_VARIANTS`; no twin can be generated of a database.
    """
    if not spec:
        raise BadInput("--variants is empty; name a folder of variants, or a number of them to generate")
    if _NUMBER.fullmatch(spec):
        folders, origin = _twins(questions, _count(spec), say)
        parent = folders["seed-1"].parent
    else:
        parent = Path(spec).expanduser().resolve()
        folders, origin = _subfolders(parent, questions), {"folder": parent.name}
    _check(folders, questions, parent)
    return _compared(folders, questions, origin, say)


def _count(spec: str) -> int:
    count = int(spec)
    if not 1 <= count <= MOST_VARIANTS:
        raise BadInput(f"--variants {spec}: must be between 1 and {MOST_VARIANTS}, or a folder of variants")
    return count


def _subfolders(folder: Path, questions: QuestionSet) -> dict[str, Path]:
    layout = "give each variant a folder of its own there, <variant>/<database>/<database>.sqlite"
    try:
        if not folder.is_dir():
            refuse(folder, "no such folder of variants", "name a folder, or a number of variants to generate")
        if any(_file(folder, db_id).exists() for db_id in questions.db_ids):
            refuse(folder, "contains databases instead of variants", layout)
        found = sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    except OSError as error:
        refuse(folder, f"cannot be read ({error.strerror})", "check its permissions")
    if not found:
        refuse(folder, "contains no variant", layout)
    nested = {path: path / "dev_databases" for path in found}
    return {path.name: inner if inner.is_dir() else path for path, inner in nested.items()}


def _file(folder: Path, db_id: str) -> Path:
    return folder / db_id / f"{db_id}.sqlite"


def _check(folders: Mapping[str, Path], questions: QuestionSet, folder: Path) -> None:
    faults = Faults(folder, "variant")
    for name, place in folders.items():
        files = {db_id: _file(place, db_id) for db_id in questions.db_ids}
        missing = [db_id for db_id, path in files.items() if not path.is_file()]
        broken = [db_id for db_id in files if db_id not in missing and not _is_sqlite(files[db_id])]
        if missing:
            fault = f"no <database>/<database>.sqlite for {', '.join(missing)}"
            faults.add(name, fault, "a variant needs every database of the questions")
        if broken:
            faults.add(name, f"not a SQLite file: {', '.join(broken)}", "create it again")
    faults.stop()


def _is_sqlite(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(_SQLITE_HEADER)) == _SQLITE_HEADER
    except OSError as error:
        refuse(path, f"cannot be read ({error.strerror})", "check its permissions")


def _compared(
    folders: Mapping[str, Path], questions: QuestionSet, origin: Mapping[str, Any], say: Callable[[str], None]
) -> Variants:
    """Read every file once, and find duplicates."""
    db_ids = questions.db_ids
    files = [questions.database(db_id).sqlite_path for db_id in db_ids]
    files += [_file(folder, db_id) for folder in folders.values() for db_id in db_ids]
    with ThreadPoolExecutor(processors(), thread_name_prefix="bird") as pool:
        contents = dict(zip(files, pool.map(_content, files), strict=True))
    telling: dict[str, tuple[str, ...]] = {}
    for db_id in db_ids:
        known = {contents[questions.database(db_id).sqlite_path]}
        names = []
        for name, folder in folders.items():
            content = contents[_file(folder, db_id)]
            if content not in known:
                known.add(content)
                names.append(name)
        telling[db_id] = tuple(names)
    copies = [db_id for db_id, names in telling.items() if not names]
    if copies:
        say(f"{', '.join(copies)}: every variant is a copy of the database itself, so TS is EX there")
    repeats = {db_id: [name for name in folders if name not in names] for db_id, names in telling.items()}
    fingerprint = {
        **origin,
        "variants": {
            name: {
                db_id: dict(zip(("bytes", "sha256"), contents[_file(folder, db_id)], strict=True))
                for db_id in db_ids
            }
            for name, folder in folders.items()
        },
        "repeats": {db_id: names for db_id, names in repeats.items() if names},
    }
    return Variants(tuple(folders), telling, fingerprint, questions.collection, folders)


def _content(path: Path) -> tuple[int, str]:
    """Return the size and the digest of a file."""
    try:
        with path.open("rb") as file:
            return path.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        refuse(path, f"cannot be read ({error.strerror})", "check the path and its permissions")


def _twins(
    questions: QuestionSet, count: int, say: Callable[[str], None]
) -> tuple[dict[str, Path], dict[str, Any]]:
    """Return a folder for each seed, with a twin of every database, and the digest of their generator.

    Twins that the cache lacks are generated.
    """
    # Slow to import, and every worker imports this module.
    from harness.data.twin_sources import of_set  # noqa: PLC0415
    from loaders.twins.twin import SCALE  # noqa: PLC0415

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


def _missing(folder: Path, sources: Sequence["TwinSource"]) -> list["TwinSource"]:
    return [each for each in sources if not _file(folder, each.db_id).is_file()]


def _complete(folder: Path, seed: int, sources: Sequence["TwinSource"], say: Callable[[str], None]) -> None:
    """Add missing databases to the folder of a seed, holding its lock."""
    from loaders.twins.builder import TwinFailure, make  # noqa: PLC0415 - as above

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
    for path in sorted(Path(twins.__file__).parent.glob("*.py")):
        digest.update(f"{path.name}\n".encode() + path.read_bytes())
    return digest.hexdigest()


def _inputs(sources: Sequence["TwinSource"]) -> str:
    """Return a digest of a twin's inputs: the files of the databases, their descriptions, and the golds."""
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


# Test-suite accuracy (TS): a prediction must be right on every variant of its database, too.
#
# Definition: Zhong, Yu and Klein 2020, "Semantic Evaluation for Text-to-SQL with Distilled Test Suites",
# https://arxiv.org/abs/2010.02840. As there, right means the same result as gold on each database of a suite.
# The differences (docs/reference/spider.md): variants are given or generated, not distilled, results are
# compared as EX compares them, and the texts are run unchanged.
#
# A variant on which gold fails never counts against a prediction; gold's rows are read once per variant
# while they fit into a fixed amount of memory, whatever the number of predictors.

_ROOM = 256 * 2**20
"""Maximum bytes of gold's rows to keep."""


@dataclass(frozen=True)
class Verdict:
    """The result of one prediction on the variants.

    `score` is 1.0 unless it is wrong on a variant: `failed_variant` is the first such, `fault` the reason.
    `compared` counts the variants on which it was compared with gold: 0 for the text of gold itself, and if
    gold runs on no variant, so that the score is that of the database itself. `left_out` has the variants
    tried on which gold failed.
    """

    score: float
    failed_variant: str | None = None
    fault: str | None = None
    compared: int = 0
    left_out: tuple[str, ...] = ()


_Gold = tuple[tuple[Row, ...] | None, float]
"""Gold's distinct rows on a variant, None if it failed, and its seconds."""


class Suite:
    """Scores predictions in SQLite's dialect on the variants of their databases; thread-safe.

    Args:
        variants: the variants.
        engine: runs all texts; it reads SQLite files.
        limits: the limits of one SQL text; as in EX, the seconds are for a prediction and its gold together.
        room: the number of bytes of gold's rows to keep; other golds are run again whenever needed.
    """

    def __init__(
        self, variants: Variants, engine: Engine, limits: Limits | None = None, *, room: int = _ROOM
    ) -> None:
        self._variants = variants
        self._limits = limits or Limits()
        self._engine = engine
        self._lock = Lock()
        self._golds: dict[tuple[str, str, str], _Gold] = {}
        self._running: defaultdict[tuple[str, str, str], Lock] = defaultdict(Lock)
        self._room = room
        self._left_out: dict[str, list[str]] = {}

    @property
    def left_out(self) -> Mapping[str, Sequence[str]]:
        """The variants on which gold failed so far, by question key."""
        with self._lock:
            return {key: tuple(names) for key, names in sorted(self._left_out.items())}

    def score(self, question: Question, sql: str) -> Verdict:
        """Check if a prediction that is right on the database itself is right on every variant.

        Do not call it for a prediction that is wrong on the database itself. One with the text of gold is
        right by definition and is not run, because `random()` could make it differ.

        Raises:
            EngineLost: a file cannot be opened.
        """
        if sql.strip() == question.gold[Dialect.SQLITE].strip():
            return Verdict(1.0)
        compared = 0
        left_out: list[str] = []
        for name in self._variants.telling[question.db_id]:
            rows, seconds = self._gold(name, question)
            if rows is None:
                left_out.append(name)
                continue
            compared += 1
            fault = self._fault(self._execute(name, question, sql), rows, seconds)
            if fault is not None:
                return Verdict(0.0, name, fault, compared, tuple(left_out))
        return Verdict(1.0, None, None, compared, tuple(left_out))

    def _execute(self, name: str, question: Question, sql: str) -> Execution:
        database = self._variants.database(name, question.db_id)
        return execute(self._engine, database, sql, self._limits)

    def _fault(self, predicted: Execution, gold: tuple[Row, ...], gold_seconds: float) -> str | None:
        """Return what is wrong with a prediction on a variant; None if it is right."""
        if predicted.ending is not Ending.ROWS:
            return predicted.error or predicted.ending
        if predicted.seconds + gold_seconds > self._limits.seconds:
            return f"with its gold it took longer than {self._limits.seconds:g} s"
        return None if ex(predicted.rows, gold) == 1.0 else "other rows"

    def _gold(self, name: str, question: Question) -> _Gold:
        """Return gold on a variant, kept or run again."""
        key = name, question.key, question.gold[Dialect.SQLITE]
        with self._running[key]:
            if key in self._golds:
                return self._golds[key]
            execution = self._execute(name, question, question.gold[Dialect.SQLITE])
            is_there = execution.ending is Ending.ROWS and execution.seconds <= self._limits.seconds
            # EX compares sets, so distinct rows suffice.
            rows = tuple(firsts(execution.rows)) if is_there else None
            size = sum(sys.getsizeof(row) + sum(map(sys.getsizeof, row)) for row in rows or ())
            with self._lock:
                if rows is None:
                    self._left_out.setdefault(question.key, []).append(name)
                if size <= self._room:
                    self._room -= size
                    self._golds[key] = rows, execution.seconds
            return rows, execution.seconds
