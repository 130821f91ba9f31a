"""Write a run folder: manifest, questions, results, previews of rows and the summary.

They suffice to explain every number and to write every report again. `results.jsonl` grows line by line
during the run; `summary.json` is written only when the run is complete, so a folder without it is that of an
interrupted run, which can be resumed.
"""

import os
import platform
import secrets
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from sqlite3 import sqlite_version
from types import MappingProxyType
from typing import Any, NoReturn, Self

from dialects.errors import BadInput
from harness.data.outcomes import Outcome, PairResult
from harness.data.questions import Question
from harness.data.witnesses import file_of
from harness.runs.reader import (
    LATEST,
    MANIFEST,
    PREVIEWS,
    QUESTIONS,
    RESULTS,
    SUMMARY,
    USAGE,
    key_of,
    levels_in,
    notes_of,
    read_manifest,
    read_usage,
    results_of,
)
from harness.runs.summary import (
    SCHEMA_VERSION,
    Extent,
    Key,
    Score,
    UsageByPair,
    completed,
    how_far,
    key_in,
    place_of,
    summarize,
)
from loaders.base.errors import command
from loaders.base.files import as_json, locked, parse_json, point, read_lines, refuse, replace, write_json
from loaders.base.processes import machine
from loaders.base.records import Recorder, to_plain

_ROOT = Path(__file__).parents[2]
_RECORDED_PACKAGES = ("bird-harness", "sqlglot", "pymysql", "psycopg", "pytest", "numpy", "scipy", "rich")


class RunFolder:
    """The folder of one run during writing, by one process at a time.

    Every added result is in the file at once: a killed harness loses none.

    Args:
        parent: the folder for run folders; created if missing.
        manifest: the request of the run, as plain values.
        metrics: the names of the metrics in every result.
        questions: the questions of the results, with the golds in use.
        usage: the usage of answers, as far as known.

    Raises:
        BadInput: the folder cannot be written.
    """

    def __init__(
        self,
        parent: Path,
        manifest: Mapping[str, Any],
        metrics: Sequence[str],
        questions: Iterable[Question] = (),
        usage: UsageByPair = MappingProxyType({}),
    ) -> None:
        self.started = datetime.now(UTC)
        run_id = f"{self.started:%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"
        try:
            (parent / run_id).mkdir(parents=True)
        except OSError as error:
            _cannot_write(parent, error)
        begun = {"run_id": run_id, "started": self.started.isoformat(), **here(), **manifest}
        try:
            replace(parent / run_id / QUESTIONS, (_line(_plain(question)) for question in questions))
            write_usage(parent / run_id, usage)
            self._open(parent / run_id, begun, metrics)
        except BaseException as error:
            # It has nothing worth resuming.
            shutil.rmtree(parent / run_id, ignore_errors=True)
            if isinstance(error, OSError):
                _cannot_write(parent / run_id, error)
            raise

    @classmethod
    def resume(cls, folder: Path, manifest: Mapping[str, Any], metrics: Sequence[str]) -> Self:
        """Resume a run that was interrupted, or whose engines failed.

        The results in the folder are kept (`done`), except harness errors, which are run again, and a
        truncated last line.

        Args:
            folder: the run folder.
            manifest: as for a new run; must describe the same run.
            metrics: as for a new run.

        Raises:
            BadInput: the folder is not a run folder, belongs to another run, is damaged, cannot be written,
                or is being written by another process.
        """
        folder = folder.resolve()
        there = read_manifest(folder)
        require_same(folder / MANIFEST, there, manifest)
        self = cls.__new__(cls)
        self.started = datetime.now(UTC)
        resumed = [*there.get("resumed", ()), self.started.isoformat()]
        begun = {
            "run_id": folder.name,
            "started": there.get("started"),
            "resumed": resumed,
            **here(),
            **manifest,
            "chosen": there.get("chosen", []),
            "overruns": there.get("overruns", {}),
        }
        self._open(folder, begun, metrics)
        return self

    def _open(self, path: Path, manifest: Mapping[str, Any], metrics: Sequence[str]) -> None:
        """Start writing to the folder, after its present contents."""
        self.run_id = path.name
        self.path = path
        self._manifest = dict(manifest)
        self.fault: str | None = None
        """Why the folder cannot be written any more, or None."""
        self._metrics = metrics
        try:
            self._lock: int | None = None
            self._lock = descriptor = locked(path)
            try:
                kept, previews = _kept(path, levels_in(manifest))
                self._results = list(kept)
                write_json(path / MANIFEST, manifest)
                (path / SUMMARY).unlink(missing_ok=True)
                replace(path / RESULTS, (f"{result.to_line()}\n" for result in kept))
                replace(path / PREVIEWS, previews)
                self._empty = {where for line in previews if (where := _empty_gold(line))}
                self._lines, self._previews = Recorder(path / RESULTS), Recorder(path / PREVIEWS)
            except BaseException:
                os.close(descriptor)
                raise
        except OSError as error:
            _cannot_write(path, error)
        self.done: Mapping[Key, PairResult] = {key_of(result): result for result in self._results}
        """The results in the folder when it was opened, without harness errors."""

    @property
    def extent(self) -> Extent:
        """What the run covers, and how it was selected."""
        return Extent.from_manifest(self._manifest)

    @property
    def judged(self) -> int:
        """Number of results that need not be computed again."""
        return sum(result.outcome is not Outcome.HARNESS_ERROR for result in self._results)

    def broken_off(self, name: str = "eval") -> list[str]:
        """Return the lines about an interrupted run: how far it got, its folder, and how to complete it.

        Args:
            name: the command that completes it.
        """
        far = how_far(self.judged, self.extent.pairs)
        completing = command(name, resume=str(self.path))
        return [f"broken off after {far}; they are in {self.path}", f"`{completing}` completes it"]

    @property
    def notes(self) -> list[str]:
        """The notes that belong with any figures of the run."""
        return notes_of(self._manifest)

    @property
    def count(self) -> int:
        """Number of results in the folder, including `done`."""
        return len(self._results)

    def add(self, result: PairResult) -> None:
        """Append one result to `results.jsonl`, its rows to `previews.jsonl`, its witness to a file.

        Raises:
            BadInput: it cannot be written.
        """
        line = result.to_line()
        if result.witness is not None:
            self._write_witness(self.path / file_of(*key_of(result)), result.witness)
        if result.preview is not None:
            if result.preview.startswith(_EMPTY, 1):
                self._empty.add((result.dialect, result.question))
            # A record begins with its key, and JSON's strings have no unescaped quotes.
            key, _, _ = line.partition(', "question_id": ')
            self._write(self._previews, f"{key}, {result.preview[1:]}")
        self._write(self._lines, line)
        self._results.append(result)

    def _write_witness(self, path: Path, text: str) -> None:
        """Write a witness, before the result that names it.

        Raises:
            BadInput: it cannot be written. From then on, nothing is written.
        """
        try:
            path.parent.mkdir(exist_ok=True)
            replace(path, text + "\n")
        except OSError as error:
            self._failed(error)

    def _write(self, file: Recorder, line: str) -> None:
        """Write a line.

        Raises:
            BadInput: it cannot be written. From then on, nothing is written.
        """
        try:
            if self.fault is None:
                file.add_line(line)
        except OSError as error:
            self._failed(error)
        if self.fault is not None:
            raise BadInput(self.fault)

    def _failed(self, error: OSError) -> None:
        why = error.strerror or str(error)
        self.fault = f"{self.path}: the run folder cannot be written ({why}); make room there"

    def choose(self, ways: Sequence[str]) -> None:
        """Record how pairs were selected, such as `-k 'simple'`.

        Raises:
            BadInput: the folder cannot be written.
        """
        self._manifest["chosen"] = list(dict.fromkeys((*self._manifest.get("chosen", ()), *ways)))
        try:
            write_json(self.path / MANIFEST, self._manifest)
        except OSError as error:
            self._failed(error)
        if self.fault is not None:
            raise BadInput(self.fault)

    def finish(self, overruns: Mapping[str, Mapping[str, float]] = MappingProxyType({})) -> list[Score]:
        """Close the folder: write `summary.json`, complete the manifest and point `latest` to it.

        If that cannot be written, `fault` says so; the scores are complete anyway.

        Args:
            overruns: by dialect, `texts` that went on after their limit, and for how many `seconds`; earlier
                parts of a resumed run are added.
        """
        before = self._manifest.get("overruns", {})
        self._manifest["overruns"] = before | {
            dialect: {key: number + before.get(dialect, {}).get(key, 0) for key, number in each.items()}
            for dialect, each in overruns.items()
        }
        self._manifest["empty_golds"] = Counter(dialect for dialect, _ in sorted(self._empty))
        self.close()
        # Sort: a resumed run has its results in another order, but must get the same summary.
        usage = read_usage(self.path)
        scores = summarize(sorted(self._results, key=place_of), self._metrics, self.extent, usage)
        if self.extent.is_complete(completed(scores)):
            # Whatever was selected earlier, the run is complete in the end.
            self._manifest["chosen"] = []
        finished = datetime.now(UTC)
        took = (finished - self.started).total_seconds()
        try:
            self._write_end(scores, finished, took)
        except OSError as error:
            self._failed(error)
        return scores

    def _write_end(self, scores: Sequence[Score], finished: datetime, took: float) -> None:
        write_json(
            self.path / MANIFEST, {**self._manifest, "finished": finished.isoformat(), "seconds": took}
        )
        write_json(
            self.path / SUMMARY,
            {
                "schema_version": SCHEMA_VERSION,
                "run_id": self.run_id,
                "pairs": {
                    "planned": sum(score.planned for score in scores),
                    "completed": len(self._results),
                },
                "questions": self.extent.questions or None,
                "set_questions": self.extent.set_questions or None,
                "chosen": list(self.extent.chosen),
                "notes": self.notes,
                "scores": [score.to_json() for score in scores],
            },
        )
        point(self.path.parent / LATEST, self.run_id)

    def abort(self, unfinished: Iterable[PairResult] = ()) -> None:
        """Close the folder without a summary: it can be resumed.

        Args:
            unfinished: the harness errors of pairs that were not judged.
        """
        there = {key_of(result) for result in self._results}
        with suppress(BadInput):
            for result in unfinished:
                # A run may be interrupted between a result and its count.
                if key_of(result) not in there:
                    self.add(result)
        self.close()

    def close(self) -> None:
        """Close the files; the folder stays without a summary unless `finish` was called."""
        if self._lock is None:
            return
        for file in (self._lines, self._previews):
            try:
                file.close()
            except OSError as error:
                self._failed(error)
        os.close(self._lock)
        self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _kept(folder: Path, levels: Sequence[str]) -> tuple[list[PairResult], list[str]]:
    """Return what a resumed run need not do again: results, and the lines of their previews."""
    results = results_of(folder / RESULTS, _whole_lines(folder / RESULTS), levels)
    kept = {key_of(each): each for each in results if each.outcome is not Outcome.HARNESS_ERROR}
    previews = [line for _, line in _whole_lines(folder / PREVIEWS) if _pair(line) in kept]
    return list(kept.values()), previews


def _whole_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file, if it exists, without a truncated last one."""
    return read_lines(path, ended=True) if path.exists() else iter(())


_EMPTY = '"gold": {"count": 0,'
"""How the preview of a gold without rows begins, after the bracket."""


def _empty_gold(line: str) -> tuple[str, str] | None:
    """Return the engine and the question of a preview's line if gold returned no row."""
    pair = _pair(line) if f", {_EMPTY}" in line else None
    return pair and (pair[0], pair[2])


def _pair(line: str) -> Key | None:
    try:
        return key_in(parse_json(line))
    except (ValueError, BadInput):
        return None


def _plain(question: Question) -> dict[str, Any]:
    record = to_plain(question)
    for name in ("corrected", "by_rows"):
        record[name].sort()
    # Without a gold pack or types of the set's own, the line has the format from before there were any.
    return {
        name: value
        for name, value in record.items()
        if value is not None and (value or name not in _OF_PACKS)
    }


_OF_PACKS = ("more_gold", "corrected", "by_rows")


def _line(record: Mapping[str, Any]) -> str:
    return as_json(record) + "\n"


def write_usage(folder: Path, usage: UsageByPair) -> None:
    """Write the usage of answers, if any is known."""
    lines = (
        f"{as_json({'dialect': dialect, 'predictor': predictor, 'question': question, **one.to_json()})}\n"
        for (dialect, predictor, question), one in usage.items()
    )
    if usage:
        replace(folder / USAGE, lines)


def _cannot_write(folder: Path, error: OSError) -> NoReturn:
    raise BadInput(
        f"{folder}: the run cannot be written there ({error.strerror}); choose another with --out"
    ) from error


def here() -> dict[str, Any]:
    """Return the manifest's entries about the machine and the harness."""
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        **machine(),
        "revision": _revision(),
        "packages": dict(_packages()),
    }


@cache
def _packages() -> Mapping[str, str]:
    """Return the versions of SQLite and of the recorded packages; looking them up reads the whole path."""
    return {**{name: version(name) for name in _RECORDED_PACKAGES}, "sqlite": sqlite_version}


def _revision() -> str | None:
    """Return the commit of this checkout, with a plus if files differ from it; None outside of a checkout."""
    if not (_ROOT / ".git").exists():
        return None
    try:
        commit = _git("rev-parse", "HEAD").strip()
        return commit + ("+" if _git("status", "--porcelain", "--untracked-files=no").strip() else "")
    except (OSError, subprocess.SubprocessError):
        return None


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(_ROOT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=5, check=True).stdout


_SHOWN = 60


_SAME = (
    "set", "gold", "overrides", "reference", "now", "questions", "choice", "set_files", "databases",
    "profile", "metrics", "variants", "limits", "repeat", "extract", "keys", "allow_missing", "predictions",
    "engines",
)  # fmt: skip
"""The entries of a manifest that decide the results of the run."""


def require_same(
    path: Path,
    there: Mapping[str, Any],
    here: Mapping[str, Any],
    same: Sequence[str] = _SAME,
    kind: str = "run",
) -> None:
    """Check that two manifests describe the same run, whatever the machine and the number of workers.

    Args:
        path: the manifest that `there` was read from.
        there: the manifest of the interrupted run.
        here: the present request, as plain values.
        same: the entries that decide the results.
        kind: the kind of thing that the manifests describe.

    Raises:
        BadInput: they do not; names every difference.
    """
    asked = to_plain(here)
    differences = [
        difference for name in same for difference in _differences(name, there.get(name), asked.get(name))
    ]
    if differences:
        refuse(
            path,
            f"describes another {kind}: {'; '.join(differences)}",
            "repeat the command with the same options, files and engines, or leave out --resume",
        )


def _differences(name: str, there: Any, here: Any) -> Iterator[str]:
    if isinstance(there, dict) and isinstance(here, dict):
        for key in sorted({*there, *here}):
            yield from _differences(f"{name}.{key}", there.get(key), here.get(key))
    elif name == "predictions" and isinstance(there, list) and isinstance(here, list):
        yield from _differences(name, _by_predictor(there), _by_predictor(here))
    elif there != here:
        yield f"{name} is {_words(there)} there and {_words(here)} now"


def _by_predictor(files: list[Any]) -> dict[str, Any]:
    """Return the prediction files by dialect and predictor, without paths: a file may have moved."""
    return {
        f"{file.get('dialect')}/{file.get('predictor')}": {k: v for k, v in file.items() if k != "file"}
        for file in files
    }


def _words(value: Any) -> str:
    said = "nothing" if value is None else as_json(value)
    return said if len(said) <= _SHOWN else f"{said[:_SHOWN]}..."
