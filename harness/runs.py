"""A run folder: manifest, results and summary, enough to explain every number in it.

`results.jsonl` grows line by line while the run goes on; `summary.json` appears only when the run is
complete, so a folder without one is a run that was broken off. Such a run can be resumed in its folder.
"""

import json
import os
import platform
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, Self, TextIO

from harness.errors import BadInput
from harness.outcomes import Outcome, PairResult
from harness.readers.textfiles import Faults, parse_json, read_json, read_text, refuse
from harness.report.summary import SCHEMA_VERSION, Score, summarize
from harness.resuming import require_same
from harness.runfiles import locked, point, replace, write_json
from harness.words import Dialect

MANIFEST = "manifest.json"
RESULTS = "results.jsonl"
SUMMARY = "summary.json"
LATEST = "latest"

_RECORDED_PACKAGES = ("bird-harness", "sqlglot", "pymysql", "psycopg", "pytest", "numpy", "scipy")


Key = tuple[Dialect, str, str]
"""What tells a pair from the others of a run: dialect, predictor and the question's key."""


class RunFolder:
    """The folder of one run while it is being written, by one process at a time.

    Every result is in the file as soon as it was added: a harness that is killed loses none.

    Args:
        parent: where run folders are kept; created when missing.
        manifest: what the run was asked to do, as plain values.
        metrics: the names of the metrics in every result.

    Raises:
        BadInput: the folder cannot be written.
    """

    def __init__(self, parent: Path, manifest: Mapping[str, Any], metrics: Sequence[str]) -> None:
        self.started = datetime.now(UTC)
        run_id = f"{self.started:%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"
        try:
            (parent / run_id).mkdir(parents=True)
        except OSError as error:
            _cannot_write(parent, error)
        begun = {"run_id": run_id, "started": self.started.isoformat(), **_here(), **manifest}
        self._open(parent / run_id, begun, metrics, ())

    @classmethod
    def resume(cls, folder: Path, manifest: Mapping[str, Any], metrics: Sequence[str]) -> Self:
        """Go on with a run that was broken off, or whose engines broke.

        What is in the folder is kept (`done`), but for harness errors, which are to be run again, and a last
        line that was cut off.

        Args:
            folder: its run folder.
            manifest: as for a new run; has to describe the same one.
            metrics: as for a new run.

        Raises:
            BadInput: the folder is none, is of another run, is damaged, cannot be written, or is being
                written by another process.
        """
        folder = folder.resolve()
        there = _manifest(folder)
        require_same(folder / MANIFEST, there, manifest)
        self = cls.__new__(cls)
        self.started = datetime.now(UTC)
        resumed = [*there.get("resumed", ()), self.started.isoformat()]
        begun = {
            "run_id": folder.name,
            "started": there.get("started"),
            "resumed": resumed,
            **_here(),
            **manifest,
        }
        self._open(folder, begun, metrics, None)
        return self

    def _open(
        self,
        path: Path,
        manifest: Mapping[str, Any],
        metrics: Sequence[str],
        results: Sequence[PairResult] | None,
    ) -> None:
        """Begin to write the folder; `results` None takes what is there, once nobody else writes it."""
        self.run_id = path.name
        self.path = path
        self._manifest = manifest
        self._metrics = metrics
        try:
            self._lock = locked(path)
            try:
                kept = _kept(path) if results is None else results
                self._results = list(kept)
                write_json(path / MANIFEST, manifest)
                (path / SUMMARY).unlink(missing_ok=True)
                replace(path / RESULTS, "".join(_line(result) for result in kept))
                # By lines: what was added is kept even if this process is killed.
                self._lines: TextIO = (path / RESULTS).open("a", buffering=1, encoding="utf-8")
            except BaseException:
                os.close(self._lock)
                raise
        except OSError as error:
            _cannot_write(path, error)
        self.done: Mapping[Key, PairResult] = {_key(result): result for result in self._results}
        """The results that the folder had when it was opened, none of them a harness error."""

    @property
    def count(self) -> int:
        """How many results the folder has, those of `done` included."""
        return len(self._results)

    def add(self, result: PairResult) -> None:
        """Append one result to `results.jsonl`."""
        self._results.append(result)
        self._lines.write(_line(result))

    def finish(self) -> list[Score]:
        """Close the folder: write `summary.json`, complete the manifest and point `latest` to it."""
        self.close()
        # A resumed run has its results in another order, and is to have the same summary.
        scores = summarize(sorted(self._results, key=_place), self._metrics)
        finished = datetime.now(UTC)
        took = (finished - self.started).total_seconds()
        write_json(
            self.path / MANIFEST, {**self._manifest, "finished": finished.isoformat(), "seconds": took}
        )
        write_json(
            self.path / SUMMARY,
            {
                "schema_version": SCHEMA_VERSION,
                "run_id": self.run_id,
                "scores": [score.to_json() for score in scores],
            },
        )
        point(self.path.parent / LATEST, self.run_id)
        return scores

    def abort(self, unfinished: Iterable[PairResult] = ()) -> None:
        """Close the folder without a summary: it can be resumed.

        Args:
            unfinished: the harness errors of pairs that were not done.
        """
        for result in unfinished:
            self.add(result)
        self.close()

    def close(self) -> None:
        """Close the files; the folder stays without a summary unless `finish` was called."""
        if not self._lines.closed:
            self._lines.close()
            os.close(self._lock)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@dataclass(frozen=True)
class Run:
    """A finished run, read back from its folder."""

    folder: Path
    manifest: Mapping[str, Any]
    results: Sequence[PairResult]


def read_run(folder: Path) -> Run:
    """Read a run folder back.

    Raises:
        BadInput: it is none, or of a run that was broken off, of another version, or damaged.
    """
    manifest = _manifest(folder)
    if not (folder / SUMMARY).exists():
        refuse(folder, f"has no {SUMMARY}: the run was broken off", "repeat its command with --resume")
    summary = _object(folder / SUMMARY)
    written = summary.get("schema_version")
    if written != SCHEMA_VERSION:
        fault = f"schema_version is {written}, and this version of bird-harness reads {SCHEMA_VERSION}"
        refuse(folder / SUMMARY, fault, "run it again with this version")
    results = read_results(folder)
    try:
        awaited = sum(score["questions"] for score in summary["scores"])
    except (KeyError, TypeError):
        refuse(folder / SUMMARY, "is damaged", _AGAIN)
    if len(results) != awaited:
        refuse(folder / RESULTS, f"has {len(results)} results, {SUMMARY} {awaited}", _AGAIN)
    return Run(folder, manifest, results)


def read_results(folder: Path) -> list[PairResult]:
    """The results of a run folder, in the order in which they were written.

    Raises:
        BadInput: the file is not there, or a line is no result or one that stood before.
    """
    file = read_text(folder / RESULTS)
    return _read(file.path, file.text)


def _kept(folder: Path) -> list[PairResult]:
    """What a run that is resumed need not do again."""
    path = folder / RESULTS
    whole, end, _ = path.read_bytes().rpartition(b"\n") if path.exists() else (b"", b"", b"")
    try:
        text = (whole + end).decode()
    except UnicodeDecodeError:
        refuse(path, "is not UTF-8", _AGAIN)
    return [result for result in _read(path, text) if result.outcome is not Outcome.HARNESS_ERROR]


def _read(path: Path, text: str) -> list[PairResult]:
    faults = Faults(path, "line")
    results: dict[Key, PairResult] = {}
    # Not splitlines(): JSON strings may hold the other characters that it takes for line ends.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            result = PairResult.from_json(parse_json(line))
            is_complete = all(isinstance(score, int | float) for score in result.scores.values())
        except (AttributeError, KeyError, TypeError, ValueError):
            is_complete = False
        if not is_complete:
            faults.add(number, "not a result of this version", _AGAIN)
            continue
        if _key(result) in results:
            faults.add(f"{number} (question {result.question})", "a second result of a pair", _AGAIN)
        results[_key(result)] = result
    faults.stop()
    return list(results.values())


_AGAIN = "the run folder was changed or cut off: run it again"


def _key(result: PairResult) -> Key:
    return result.dialect, result.predictor, result.question


def _place(result: PairResult) -> tuple[int, str]:
    return result.question_id, result.question


def _line(result: PairResult) -> str:
    return json.dumps(result.to_json(), ensure_ascii=False) + "\n"


def _manifest(folder: Path) -> dict[str, Any]:
    if not (folder / MANIFEST).exists():
        refuse(folder, f"has no {MANIFEST}", f"name a run folder: results/<run id> or results/{LATEST}")
    return _object(folder / MANIFEST)


def _cannot_write(folder: Path, error: OSError) -> NoReturn:
    raise BadInput(
        f"{folder}: the run cannot be written there ({error.strerror}); choose another with --out"
    ) from error


def _object(path: Path) -> dict[str, Any]:
    content = read_json(read_text(path))
    if not isinstance(content, dict):
        refuse(path, "is not a JSON object", _AGAIN)
    return content


def _here() -> dict[str, Any]:
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cpus": os.cpu_count(),
        "packages": {name: version(name) for name in _RECORDED_PACKAGES},
    }
