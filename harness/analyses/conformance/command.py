"""From what a user asks of `conformance` to a board, kept in a folder that a second call goes on with."""

import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any, Self

from filelock import FileLock, Timeout

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.analyses.conformance.folders import scripts
from harness.analyses.conformance.rendering import Board, count, markdown, print_board
from harness.analyses.conformance.running import OURS, Line, Progress, Setup, keys, run, sampled, translators
from harness.engines import on_server
from harness.engines.execution import Limits
from harness.scoring.cache_keys import code
from loaders.base import paths
from loaders.base.digests import digests
from loaders.base.processes import processors
from loaders.server import Server

SCHEMA_VERSION = 1
"""Version of `results.jsonl` and `report.json`; docs/conformance.md describes them."""

RESULTS = "results.jsonl"
MARKDOWN = "report.md"
JSON = "report.json"


@dataclass(frozen=True)
class ConformanceRequest:
    """What to measure.

    `suite` is a folder or a sqllogictest file, `out` the folder of the results. `sample` None is every query.
    `translator` has names separated by commas.
    """

    suite: Path
    out: Path = Path("results/conformance")
    translator: str = OURS
    sample: int | None = None
    seed: int = 0
    seconds: float = 10.0
    workers: int = field(default_factory=processors)


@dataclass(frozen=True)
class Measured:
    """What a run gave: the counts, and the folder that has them."""

    title: str
    board: Board
    folder: Path


def measure(
    request: ConformanceRequest, servers: Mapping[Dialect, Server], progress: Progress | None = None
) -> Measured:
    """Run what is left, and count everything.

    Args:
        request: what to measure.
        servers: one of each dialect.
        progress: told how far it is.

    Raises:
        BadInput: an option, a file of the suite, or what the folder holds is wrong.
        EngineUnavailable: a server broke; the same call goes on.
    """
    chosen = translators(request.translator)
    suite = scripts(request.suite)
    wanted = sampled({script.name: keys(script) for script in suite}, request.sample, request.seed)
    manifest = _manifest(request, tuple(chosen), servers, [path for script in suite for path in script.files])
    limits = Limits(seconds=request.seconds)
    setup = Setup(servers, chosen, limits, request.workers)
    total = sum(map(len, wanted.values()))
    with _Results(request.out, manifest) as results, _alone(servers):
        done = {line["query"] for line in results.lines() if "query" in line}
        replayed = {line["script"] for line in results.lines() if "script" in line}
        for line in run(suite, wanted, done, replayed, setup):
            results.add(line)
            if "query" in line:
                done.add(line["query"])
            if progress:
                progress(len(done), total)
        board = count(results.lines())
        title = f"Queries of {request.suite.absolute().name} held against SQLite {manifest['sqlite']}"
        results.write(MARKDOWN, markdown(title, board))
        report = {**manifest, **board.to_json()}
        results.write(JSON, json.dumps(report, indent=2, ensure_ascii=False) + "\n")
    return Measured(title, board, request.out)


def print_measured(measured: Measured, say: Callable[[str], None], *, as_json: bool = False) -> int:
    """Print a board; the result is the exit code: 1 where the project's own translations broke a promise."""
    if as_json:
        print((measured.folder / JSON).read_text(encoding="utf-8"), end="")  # noqa: T201 - the answer itself
    else:
        print_board(measured.title, measured.board)
    say(f"written to {measured.folder}")
    if faults := measured.board.faults:
        say(f"{faults:,} answers are silent differences, errors or crashes; {MARKDOWN} there has each kind")
    return 1 if faults else 0


def _manifest(
    request: ConformanceRequest,
    chosen: tuple[str, ...],
    servers: Mapping[Dialect, Server],
    files: list[Path],
) -> dict[str, Any]:
    found = digests(list(dict.fromkeys(files)))
    root = request.suite if request.suite.is_dir() else request.suite.parent
    return {
        "schema_version": SCHEMA_VERSION,
        "suite": {path.relative_to(root).as_posix(): found[path] for path in sorted(found)},
        "sample": request.sample,
        "seed": request.seed if request.sample is not None else None,
        "translators": list(chosen),
        "seconds": request.seconds,
        "sqlite": sqlite3.sqlite_version,
        "engines": {dialect: on_server(server).version() for dialect, server in servers.items()},
        "packages": {name: version(name) for name in ("bird-harness", "sqlglot")},
        "code": code(),
    }


@contextmanager
def _alone(servers: Mapping[Dialect, Server]) -> Iterator[None]:
    """Within the block no other run of this user replaces the databases on the servers.

    Raises:
        BadInput: one does.
    """
    with ExitStack() as stack:
        for server in servers.values():
            name = f"conformance-{server.address.replace(':', '-')}.lock"
            try:
                stack.enter_context(FileLock(paths.cache() / name, timeout=0))
            except Timeout:
                raise BadInput(
                    f"{server.dialect} at {server.address}: another run of `conformance` uses it; wait for it"
                ) from None
        yield


class _Results:
    """The folder of a run: `results.jsonl`, whose first line says what was asked, and the reports.

    Raises:
        BadInput: it cannot be written, somebody else is writing it, or it has the results of another run.
    """

    def __init__(self, folder: Path, manifest: Mapping[str, Any]) -> None:
        self._folder = folder
        self._path = folder / RESULTS
        self._manifest = json.loads(json.dumps(manifest))
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._lock = FileLock(self._folder / ".lock")
            self._lock.acquire(timeout=0)
            self._file = self._path.open("ab")
        except Timeout:
            raise BadInput(
                f"--out {self._folder}: another run writes there; wait for it, or choose another"
            ) from None
        except OSError as error:
            raise BadInput(
                f"--out {self._folder}: cannot be written ({error.strerror}); choose another folder"
            ) from error
        try:
            self._go_on()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()
        self._lock.release()

    def _go_on(self) -> None:
        with self._path.open("rb") as file:
            head = file.readline()
        if not head.endswith(b"\n"):
            # Nothing, or a first line that was cut off.
            os.truncate(self._path, 0)
            self.add(self._manifest)
            return
        if (found := _parsed(head)) != self._manifest:
            names = [name for name in self._manifest if (found or {}).get(name) != self._manifest[name]]
            raise BadInput(
                f"--out {self._folder}: has results of another run (other {', '.join(names)}); "
                "choose another folder, or remove it"
            )
        self._cut()

    def _cut(self) -> None:
        """Remove a last line that was not written to its end."""
        with self._path.open("rb") as file:
            ends = 0
            for line in file:
                ends += len(line) if line.endswith(b"\n") else 0
        os.truncate(self._path, ends)

    def add(self, line: Line) -> None:
        """Keep a line, at once."""
        assert self._file is not None  # noqa: S101 - within the block
        self._file.write(json.dumps(line, ensure_ascii=True).encode() + b"\n")
        self._file.flush()

    def lines(self) -> Iterator[Line]:
        """The lines so far, without the first."""
        with self._path.open("rb") as file:
            next(file)
            for number, line in enumerate(file, 2):
                found = _parsed(line)
                if found is None:
                    raise BadInput(
                        f"{self._path}:{number}: is no line of results; remove the folder, and run again"
                    )
                yield found

    def write(self, name: str, text: str) -> None:
        """Write a report, whole or not at all."""
        unfinished = self._folder / f".{name}"
        unfinished.write_text(text, encoding="utf-8", errors="surrogateescape")
        unfinished.replace(self._folder / name)


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
