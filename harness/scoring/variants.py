"""Variants of a question set's databases, with the same tables and other rows: find them, and score on them.

A variant with the same bytes as the database itself, or as an earlier variant, is never counted, since it
proves nothing. Files found among the data are never executed. The lab `twins` generates variants.
"""

import hashlib
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import Any

from dialects.enums import Profile
from dialects.errors import BadInput
from harness.data.questions import QuestionSet
from harness.data.set_families import DATABASE_SUFFIXES, database_files
from harness.engines.base import Engine, Row
from harness.engines.execution import Ending, Execution, Limits
from harness.engines.retry import execute_patiently
from harness.lab import option_of_lab
from harness.metrics import spider_suite
from harness.metrics.accuracy import ex
from harness.metrics.comparison import alike
from harness.metrics.distinct import firsts
from harness.scoring.golds import Gold
from loaders.base.files import Faults, content_digest, refuse, visible
from loaders.base.processes import processors
from loaders.namespace import Database

MOST_VARIANTS = 100

OWN = "the database itself"
"""The name of a question set's own database among the files of a suite."""

_DIGITS = 12
"""Of the digest that the collection of a variant ends with."""

_NUMBER = re.compile(r"[+-]?[0-9]{1,18}")
_SQLITE_HEADER = b"SQLite format 3\x00"


@dataclass(frozen=True)
class Variants:
    """The variants of a question set's databases.

    `names` are all variants, in order; `telling` maps a database to the variants that differ from it and from
    each other, `suites` to these and `OWN`, which a folder in Spider's layout may lack. `fingerprint` is JSON
    for the manifest: the origin, size and sha256 of every file, and per database the variants that repeat
    another file.
    """

    names: tuple[str, ...]
    telling: Mapping[str, tuple[str, ...]]
    suites: Mapping[str, tuple[str, ...]]
    fingerprint: Mapping[str, Any]
    _databases: Mapping[tuple[str, str], Database] = field(repr=False)

    def database(self, name: str, db_id: str, profile: Profile = Profile.OFFICIAL) -> Database:
        """Return a database of the variant `name`; on a server, those of a variant share a collection."""
        return replace(self._databases[name, db_id], profile=profile)

    def databases(self, profile: Profile = Profile.OFFICIAL) -> list[Database]:
        """Return every database of a variant that tells."""
        return [
            self.database(name, db_id, profile) for db_id, names in self.telling.items() for name in names
        ]


def find_variants(spec: str, questions: QuestionSet, say: Callable[[str], None]) -> Variants:
    """Find the variants in a folder, or generate them.

    Args:
        spec: a folder with one subfolder per variant, `<variant>/<db_id>/<db_id>.sqlite` or
            `<variant>/dev_databases/<db_id>/<db_id>.sqlite`; one with all files of a database together, as
            Spider's suites are, `<db_id>/<variant>.sqlite`; or a whole number N for the twins of the seeds 1
            to N from the project's own generator (docs/how-to/twins.md).
        questions: the question set; variants of other databases are ignored.
        say: called with one line at a time about variants that are generated, and those that prove nothing.

    Raises:
        BadInput: the folder has no variants or one lacks a database; the number is not between 1 and
           `MOST_VARIANTS`; no twin can be generated of a database, or the lab that does is not there.
    """
    if not spec:
        raise BadInput("--variants is empty; name a folder of variants, or a number of them to generate")
    db_ids = questions.db_ids
    if _NUMBER.fullmatch(spec):
        folders, origin = option_of_lab("variants", "twins")(questions, _count(spec), say)
        parent = folders["seed-1"].parent
        variants = _in_each(folders, db_ids)
    else:
        parent = Path(spec).expanduser().resolve()
        origin = {"folder": parent.name}
        variants = _found(parent, db_ids)
    _check(variants, parent)
    return _compared(variants, questions, origin, say)


def _count(spec: str) -> int:
    count = int(spec)
    if not 1 <= count <= MOST_VARIANTS:
        raise BadInput(f"--variants {spec}: must be between 1 and {MOST_VARIANTS}, or a folder of variants")
    return count


_Files = Mapping[str, Mapping[str, Path]]
"""The file of each database, by the name of the variant."""


def _found(folder: Path, db_ids: Sequence[str]) -> _Files:
    layout = "give each variant a folder of its own there, <variant>/<database>/<database>.sqlite"
    try:
        if not folder.is_dir():
            refuse(folder, "no such folder of variants", "name a folder, or a number of variants to generate")
        if any((folder / db_id).is_dir() and _file(folder, db_id).exists() for db_id in db_ids):
            return _together(folder, db_ids)
        found = [path for path in visible(folder) if path.is_dir()]
    except OSError as error:
        refuse(folder, f"cannot be read ({error.strerror})", "check its permissions")
    if not found:
        refuse(folder, "contains no variant", layout)
    nested = {path: path / "dev_databases" for path in found}
    return _in_each({path.name: inner if inner.is_dir() else path for path, inner in nested.items()}, db_ids)


def _in_each(folders: Mapping[str, Path], db_ids: Sequence[str]) -> _Files:
    return {name: {db_id: _file(folder, db_id) for db_id in db_ids} for name, folder in folders.items()}


def _together(folder: Path, db_ids: Sequence[str]) -> _Files:
    """Return the files of a folder for each database, each a variant under its own name."""
    found: defaultdict[str, dict[str, Path]] = defaultdict(dict)
    for db_id in db_ids:
        inside = visible(folder / db_id) if (folder / db_id).is_dir() else []
        files = [path for path in inside if path.suffix in DATABASE_SUFFIXES]
        # The shortest name is the database's own.
        for path in sorted(files, key=lambda path: (len(path.stem), path.stem)) or [_file(folder, db_id)]:
            found[path.stem][db_id] = path
    return found


def _file(folder: Path, db_id: str) -> Path:
    found = database_files(folder, [db_id]).get(db_id)
    # A suite's own file is in the folder of its variants.
    return found or folder / db_id / f"{db_id}.sqlite"


def _check(variants: _Files, folder: Path) -> None:
    faults = Faults(folder, "variant")
    for name, files in variants.items():
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
    variants: _Files, questions: QuestionSet, origin: Mapping[str, Any], say: Callable[[str], None]
) -> Variants:
    """Read every file once, and find duplicates."""
    own = {db_id: questions.database(db_id) for db_id in questions.db_ids}
    paths = [each.sqlite_path for each in own.values()]
    paths += [path for files in variants.values() for path in files.values()]
    with ThreadPoolExecutor(processors(), thread_name_prefix="bird") as pool:
        contents = dict(zip(paths, pool.map(_content, paths), strict=True))
    telling: dict[str, tuple[str, ...]] = {}
    suites: dict[str, tuple[str, ...]] = {}
    for db_id, database in own.items():
        first = contents[database.sqlite_path]
        distinct: dict[tuple[int, str], str] = {}
        for name, files in variants.items():
            if db_id in files:
                distinct.setdefault(contents[files[db_id]], name)
        has_own = first in distinct or all(db_id in files for files in variants.values())
        distinct.pop(first, None)
        telling[db_id] = tuple(distinct.values())
        suites[db_id] = (*([OWN] if has_own else []), *telling[db_id])
    copies = [db_id for db_id, names in telling.items() if not names]
    if copies:
        say(f"{', '.join(copies)}: every variant is a copy of the database itself, so TS is EX there")
    repeats = {
        db_id: [name for name, files in variants.items() if db_id in files and name not in names]
        for db_id, names in telling.items()
    }
    databases = {(OWN, db_id): database for db_id, database in own.items()}
    for name, files in variants.items():
        digest = content_digest([contents[path] for path in files.values()])[:_DIGITS]
        for db_id, path in files.items():
            databases[name, db_id] = Database(
                f"{questions.collection}_{digest}", db_id, path, now=questions.now
            )
    fingerprint = {
        **origin,
        "variants": {
            name: {
                db_id: dict(zip(("bytes", "sha256"), contents[path], strict=True))
                for db_id, path in files.items()
            }
            for name, files in variants.items()
        },
        "repeats": {db_id: names for db_id, names in repeats.items() if names},
    }
    return Variants(tuple(variants), telling, suites, fingerprint, databases)


def _content(path: Path) -> tuple[int, str]:
    try:
        with path.open("rb") as file:
            return path.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        refuse(path, f"cannot be read ({error.strerror})", "check the path and its permissions")


# Test-suite accuracy (TS): a prediction must be right on every variant of its database, too.
#
# Definition: Zhong, Yu and Klein 2020, "Semantic Evaluation for Text-to-SQL with Distilled Test Suites",
# https://arxiv.org/abs/2010.02840. As there, right means the same result as gold on each database of a suite.
# `Suite.score` compares as EX does, and runs the texts unchanged; `Suite.script_score` does both as their
# script does (docs/reference/spider.md).
#
# Gold's rows are read once per variant while they fit into a fixed amount of memory, whatever the number of
# predictors.

_ROOM = 256 * 2**20
"""Maximum bytes of gold's rows to keep."""


@dataclass(frozen=True)
class SuiteVerdict:
    """The result of one prediction on the variants.

    `score` is 1.0 unless it is wrong on a variant: `failed_variant` is the first such. None: there is no
    verdict by the script's rules, because gold failed there. `compared` counts the variants on which it was
    compared with gold: 0 for the text of gold itself, and if gold runs on no variant, so that the score is
    that of the database itself.
    """

    score: float | None
    failed_variant: str | None = None
    compared: int = 0


_Rows = tuple[tuple[Row, ...] | None, float]
"""Gold's rows on a variant, None if it failed, and its seconds."""


class Suite:
    """Scores predictions on the variants of their databases; thread-safe.

    Args:
        variants: the variants; a server has them loaded.
        engine: runs predictions, and golds in their dialect.
        sqlite: runs golds of which the rows on SQLite count.
        limits: the limits of one SQL text; as in EX, the seconds are for a prediction and its gold together.
        profile: that of the databases on a server.
        room: the number of bytes of gold's rows to keep; other golds are run again whenever needed.
    """

    def __init__(  # noqa: PLR0913 - what a text runs on
        self,
        variants: Variants,
        engine: Engine,
        sqlite: Engine,
        limits: Limits | None = None,
        *,
        profile: Profile = Profile.OFFICIAL,
        room: int = _ROOM,
    ) -> None:
        self._variants = variants
        self._limits = limits or Limits()
        self._engine, self._sqlite = engine, sqlite
        self._profile = profile
        self._lock = Lock()
        self._golds: dict[tuple[str, str, str, bool], _Rows] = {}
        self._running: defaultdict[tuple[str, str, str, bool], Lock] = defaultdict(Lock)
        self._room = room

    def score(self, gold: Gold, sql: str) -> SuiteVerdict:
        """Check if a prediction that is right on the database itself is right on every variant.

        Do not call it for a prediction that is wrong on the database itself. One with the text of gold is
        right by definition and is not run, because `random()` could make it differ. A variant on which gold
        fails never counts against a prediction.

        Raises:
            EngineLost: a file cannot be opened, or a server does not answer.
        """
        reference = gold.sql or ""
        if not gold.is_by_rows and sql.strip() == reference.strip():
            return SuiteVerdict(1.0)
        compared = 0
        for name in self._variants.telling[gold.question.db_id]:
            rows, seconds = self._rows(name, gold, reference, is_set=True)
            if rows is None:
                continue
            compared += 1
            if not self._is_right(gold, self._execute(name, gold, sql), rows, seconds):
                return SuiteVerdict(0.0, name, compared)
        return SuiteVerdict(1.0, compared=compared)

    def script_score(self, gold: Gold, sql: str) -> SuiteVerdict:
        """Check a prediction on every database of its suite, its own among them, as Spider's script does.

        Call it whatever EX says. Each text has the whole time limit. There is no verdict if gold fails, for
        the script stops there.

        Raises:
            EngineLost: see `score`.
            TooManyRows: there are too many orders of columns to try.
        """
        reference = spider_suite.prepared(gold.sql or "")
        text = spider_suite.prepared(sql.replace(" value ", " 1 "))
        is_ordered = spider_suite.orders(reference)
        for compared, name in enumerate(self._variants.suites[gold.question.db_id], 1):
            rows, _ = self._rows(name, gold, reference, is_set=False)
            if rows is None:
                return SuiteVerdict(None, name, compared - 1)
            ran = self._execute(name, gold, text)
            if ran.ending is not Ending.ROWS:
                return SuiteVerdict(0.0, name, compared)
            predicted, expected = _alike(gold, ran.rows, rows)
            if not spider_suite.same_result(predicted, expected, is_ordered=is_ordered):
                return SuiteVerdict(0.0, name, compared)
        return SuiteVerdict(1.0, compared=len(self._variants.suites[gold.question.db_id]))

    def _execute(self, name: str, gold: Gold, sql: str, engine: Engine | None = None) -> Execution:
        database = self._variants.database(name, gold.question.db_id, self._profile)
        return execute_patiently(engine or self._engine, database, sql, self._limits)

    def _is_right(self, gold: Gold, predicted: Execution, rows: tuple[Row, ...], gold_seconds: float) -> bool:
        """Return whether a prediction is right on a variant, within the time for it and its gold together."""
        if predicted.ending is not Ending.ROWS or predicted.seconds + gold_seconds > self._limits.seconds:
            return False
        return ex(*_alike(gold, predicted.rows, rows)) == 1.0

    def _rows(self, name: str, gold: Gold, sql: str, *, is_set: bool) -> _Rows:
        """Return gold's rows on a variant, kept or run again; `is_set`: distinct ones suffice."""
        key = name, gold.question.key, sql, is_set
        with self._running[key]:
            if key in self._golds:
                return self._golds[key]
            execution = self._execute(name, gold, sql, self._sqlite if gold.is_by_rows else None)
            is_there = execution.ending is Ending.ROWS and execution.seconds <= self._limits.seconds
            rows = tuple(firsts(execution.rows) if is_set else execution.rows) if is_there else None
            size = sum(sys.getsizeof(row) + sum(map(sys.getsizeof, row)) for row in rows or ())
            with self._lock:
                if size <= self._room:
                    self._room -= size
                    self._golds[key] = rows, execution.seconds
            return rows, execution.seconds


def _alike(gold: Gold, predicted: Sequence[Row], expected: Sequence[Row]) -> tuple[Sequence[Row], ...]:
    return alike(predicted, expected) if gold.is_by_rows else (predicted, expected)
