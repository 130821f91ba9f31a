"""Make twins of several databases at once; each is written completely or not at all."""

import os
import sqlite3
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.queues import SimpleQueue
from pathlib import Path

from dialects.errors import BadInput
from dialects.identifiers import quoted
from harness.labs.twins.sources import TwinSource, of_published
from harness.labs.twins.twin import SCALE, Unanswered, twin
from harness.scoring.chance.rows import Rows, fill
from harness.scoring.chance.shape import Shape, folded, of_file
from loaders.base.paths import making
from loaders.base.processes import processors, safe_path

_LARGEST = 10
"""Largest scale."""
_PAGE = 4096
_LOOK = 0.2
"""Seconds between two looks at the progress."""

Progress = Callable[[str, str], None]
"""Called with a database and the stage of its twin."""


@dataclass(frozen=True)
class TwinResult:
    """A finished twin: `apart` of the golds' `neighbours` return other rows than their gold."""

    db_id: str
    path: Path
    rows: int
    golds: int
    unanswered: tuple[Unanswered, ...]
    neighbours: int
    apart: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class TwinFailure:
    """A database without a new twin, and the reason; an existing twin is kept."""

    db_id: str
    reason: str


def make(  # noqa: PLR0913 - the options of the command
    sources: Sequence[TwinSource],
    folder: Path,
    *,
    scale: float = SCALE,
    seed: int = 1,
    workers: int | None = None,
    progress: Progress | None = None,
) -> list[TwinResult | TwinFailure]:
    """Make a twin of every source, `<folder>/<db_id>/<db_id>.sqlite`, replacing existing files.

    A database without a possible twin does not stop the others.

    Args:
        sources: one for each database.
        folder: the output folder; created if missing.
        scale: rows of a table as a share of the real one's; small tables and those that golds need are
            larger.
        seed: each seed gives another twin. The same sources, scale and seed give the same bytes.
        workers: number of processes; by default one per core.
        progress: called in this process with each stage.

    Raises:
        BadInput: the scale is not above 0, or the folder cannot be written.
    """
    if not 0 < scale <= _LARGEST:
        raise BadInput(f"--scale {scale:g}: must be more than 0 and at most {_LARGEST}")
    _refuse_unwritable(folder)
    count = max(min(workers or processors(), len(sources)), 1)
    say = progress or (lambda _db_id, _stage: None)
    context = get_context("spawn")
    stages: SimpleQueue[tuple[str, str]] = context.SimpleQueue()
    with safe_path(), closing(stages):
        pool = ProcessPoolExecutor(count, mp_context=context, initializer=_tell, initargs=(stages,))
        with pool:
            futures = [pool.submit(_make, source, folder, scale, seed) for source in sources]
            try:
                _watch(futures, stages, say)
                return [_result(source, future) for source, future in zip(sources, futures, strict=True)]
            except BrokenProcessPool as error:
                raise BadInput(
                    "twins: a process that made one was ended from outside; give it more memory, or fewer "
                    "--workers"
                ) from error
            finally:
                _end(futures, stages)


def _refuse_unwritable(folder: Path) -> None:
    """Reject a folder that cannot be written before any work; leaves no new folder behind."""
    try:
        with making(folder), tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(_PAGE))
    except OSError as error:
        raise BadInput(f"{folder}: cannot be written ({error.strerror}); name another folder") from error


def _result(source: TwinSource, future: Future[TwinResult]) -> TwinResult | TwinFailure:
    try:
        return future.result()
    except BadInput as error:
        return TwinFailure(source.db_id, str(error))
    except BrokenProcessPool:
        raise
    except Exception as error:  # noqa: BLE001 - the others are complete
        return TwinFailure(source.db_id, f"{type(error).__name__}: {error}; this is a bug of the generator")


def made_lines(made: Sequence[TwinResult | TwinFailure]) -> list[str]:
    """Return a line for each twin, and one for each gold without an answer."""
    lines = []
    for one in made:
        if isinstance(one, TwinFailure):
            lines.append(f"{one.db_id}: no twin: {one.reason}")
            continue
        answered = one.golds - len(one.unanswered)
        lines.append(
            f"{one.db_id}: {one.rows:,} rows, {answered} of {one.golds} golds answer, "
            f"{one.apart} of {one.neighbours} neighbouring queries answer otherwise"
        )
        lines += [f"{one.db_id}: {note}" for note in one.notes]
        lines += [f"{one.db_id}: {each.reason}: {' '.join(each.sql.split())}" for each in one.unanswered]
    return lines


def _watch(
    futures: Sequence[Future[TwinResult]], stages: "SimpleQueue[tuple[str, str]]", say: Progress
) -> None:
    left = set(futures)
    while left:
        done, left = wait(left, timeout=_LOOK, return_when=FIRST_COMPLETED)
        for stage in _heard(stages):
            say(*stage)
        for future in done:
            if isinstance(future.exception(), BrokenProcessPool):
                future.result()


def _heard(stages: "SimpleQueue[tuple[str, str]]") -> Iterator[tuple[str, str]]:
    while not stages.empty():
        yield stages.get()


def _end(futures: Sequence[Future[TwinResult]], stages: "SimpleQueue[tuple[str, str]]") -> None:
    """Cancel waiting tasks, and drain the queue until the others end: a full queue blocks them."""
    running = [future for future in futures if not future.cancel()]
    while not all(future.done() for future in running):
        wait(running, timeout=_LOOK)
        deque(_heard(stages), maxlen=0)


_stages: "SimpleQueue[tuple[str, str]]"
"""A worker's queue for its stages. A queue is inherited, since it cannot be sent with a task."""


def _tell(stages: "SimpleQueue[tuple[str, str]]") -> None:
    global _stages  # noqa: PLW0603 - once in a process
    _stages = stages


def _make(source: TwinSource, folder: Path, scale: float, seed: int) -> TwinResult:
    def say(stage: str) -> None:
        _stages.put((source.db_id, stage))

    say("reading")
    path = folder / source.db_id / f"{source.db_id}.sqlite"
    try:
        made = twin(_shape(source), source.golds, scale, seed, say)
    except sqlite3.Error as error:
        raise _refused(source.path, error) from error
    say("writing")
    write(made.rows, path)
    say("done")
    rows = sum(len(each) for each in made.rows.data.values())
    return TwinResult(
        source.db_id, path, rows, made.golds, made.unanswered, made.neighbours, made.apart, made.notes
    )


def _shape(source: TwinSource) -> Shape:
    if source.path.suffix.lower() != ".json":
        found = of_file(source.path)
        return Shape(source.db_id, found.tables, found.views)
    shapes = of_published(source.path, source.descriptions)
    if source.db_id not in shapes:
        raise BadInput(f"{source.path}: has no database {source.db_id}; it has {', '.join(sorted(shapes))}")
    return shapes[source.db_id]


def write(rows: Rows, path: Path) -> None:
    """Write a twin to `path`, completely or not at all.

    Raises:
        BadInput: the file cannot be written, or a key or reference does not hold.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
        os.close(handle)
        staging = Path(name)
        try:
            with closing(sqlite3.connect(staging, isolation_level=None)) as connection:
                connection.execute("PRAGMA page_size = 4096")
                connection.execute("PRAGMA journal_mode = OFF")
                connection.execute("PRAGMA synchronous = OFF")
                fill(connection, rows)
                _refuse_broken(connection, rows, path)
            with staging.open("rb+") as file:
                os.fsync(file.fileno())
            staging.chmod(0o644)
            staging.replace(path)
        finally:
            staging.unlink(missing_ok=True)
    except OSError as error:
        raise BadInput(f"{path}: cannot be written ({error.strerror}); name another folder") from error
    except sqlite3.Error as error:
        raise _refused(path, error) from error


def _refused(path: Path, error: sqlite3.Error) -> BadInput:
    # The lowest byte is the error. https://sqlite.org/rescode.html
    if getattr(error, "sqlite_errorcode", 0) & 0xFF in _OF_THE_DISK:
        return BadInput(f"{path}: cannot be written ({error}); name another folder")
    return BadInput(f"{path}: {error}; SQLite rejects this schema")


_OF_THE_DISK = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY}


def _refuse_broken(connection: sqlite3.Connection, rows: Rows, path: Path) -> None:
    for table in rows.shape.tables:
        try:
            broken = connection.execute(f"PRAGMA foreign_key_check({quoted(table.name)})").fetchall()
        except sqlite3.OperationalError:
            # The parent's columns are not a key: SQLite does not check such a reference.
            continue
        # Real rows may refer to a missing table, which twins cannot.
        broken = [each for each in broken if folded(each[2]) in rows.shape.by_key]
        if broken:
            child, row, parent, _ = broken[0]
            raise BadInput(
                f"{path}: row {row} of {quoted(child)} refers to none of {quoted(parent)}; "
                "this is a bug of the generator"
            )
