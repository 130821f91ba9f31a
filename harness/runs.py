"""A run folder: manifest, results and summary, enough to explain every number in it.

`results.jsonl` grows line by line while the run goes on; `summary.json` appears only when the run is
complete, so a folder without one is a run that was broken off.
"""

import json
import os
import platform
import secrets
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TextIO

from harness.errors import BadInput
from harness.outcomes import PairResult
from harness.readers.textfiles import Faults, parse_json, read_json, read_text, refuse
from harness.report.summary import SCHEMA_VERSION, Score, summarize

MANIFEST = "manifest.json"
RESULTS = "results.jsonl"
SUMMARY = "summary.json"
LATEST = "latest"

_RECORDED_PACKAGES = ("bird-harness", "sqlglot", "pymysql", "psycopg", "pytest", "numpy", "scipy")


class RunFolder:
    """The folder of one run while it is being written.

    Args:
        parent: where run folders are kept; created when missing.
        manifest: what the run was asked to do, as plain values.
        metrics: the names of the metrics in every result.

    Raises:
        BadInput: the folder cannot be written.
    """

    def __init__(self, parent: Path, manifest: Mapping[str, Any], metrics: Sequence[str]) -> None:
        self.started = datetime.now(UTC)
        self.run_id = f"{self.started:%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"
        self.path = parent / self.run_id
        self._metrics = metrics
        self._manifest = {"run_id": self.run_id, "started": self.started.isoformat(), **_here(), **manifest}
        self._results: list[PairResult] = []
        try:
            self.path.mkdir(parents=True)
            _write(self.path / MANIFEST, self._manifest)
            self._lines: TextIO = (self.path / RESULTS).open("w", encoding="utf-8")
        except OSError as error:
            raise BadInput(
                f"{parent}: the run cannot be written there ({error.strerror}); choose another with --out"
            ) from error

    @property
    def count(self) -> int:
        """How many results were added."""
        return len(self._results)

    def add(self, result: PairResult) -> None:
        """Append one result to `results.jsonl`."""
        self._results.append(result)
        self._lines.write(json.dumps(result.to_json(), ensure_ascii=False) + "\n")

    def finish(self) -> list[Score]:
        """Close the folder: write `summary.json`, complete the manifest and point `latest` to it."""
        self.close()
        scores = summarize(self._results, self._metrics)
        finished = datetime.now(UTC)
        took = (finished - self.started).total_seconds()
        _write(self.path / MANIFEST, {**self._manifest, "finished": finished.isoformat(), "seconds": took})
        _write(
            self.path / SUMMARY,
            {
                "schema_version": SCHEMA_VERSION,
                "run_id": self.run_id,
                "scores": [score.to_json() for score in scores],
            },
        )
        _point(self.path.parent / LATEST, self.run_id)
        return scores

    def close(self) -> None:
        """Flush what there is; the folder stays without a summary unless `finish` was called."""
        self._lines.close()

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
    if not (folder / MANIFEST).exists():
        refuse(folder, f"has no {MANIFEST}", f"name a run folder: results/<run id> or results/{LATEST}")
    if not (folder / SUMMARY).exists():
        refuse(folder, f"has no {SUMMARY}: the run was broken off", "run it again")
    manifest, summary = _object(folder / MANIFEST), _object(folder / SUMMARY)
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
    faults = Faults(file.path, "line")
    results: dict[tuple[str, str, str], PairResult] = {}
    # Not splitlines(): JSON strings may hold the other characters that it takes for line ends.
    for number, line in enumerate(file.text.split("\n"), start=1):
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
        key = (result.dialect, result.predictor, result.question)
        if key in results:
            faults.add(f"{number} (question {result.question})", "a second result of a pair", _AGAIN)
        results[key] = result
    faults.stop()
    return list(results.values())


_AGAIN = "the run folder was changed or cut off: run it again"


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


def _write(path: Path, content: Mapping[str, Any]) -> None:
    """Write JSON so that a reader sees the old file or the new one, never a part."""
    with tempfile.NamedTemporaryFile(
        "w", dir=path.parent, prefix=f".{path.name}.", delete=False, encoding="utf-8"
    ) as file:
        json.dump(content, file, indent=2, ensure_ascii=False)
        file.write("\n")
    os.chmod(file.name, 0o644)  # noqa: PTH101 - a temporary file is private, a result is not
    os.replace(file.name, path)  # noqa: PTH105 - the name comes as a string


def _point(link: Path, target: str) -> None:
    if link.is_symlink() or not link.exists():
        fresh = link.with_name(f".{link.name}.{target}")
        fresh.symlink_to(target, target_is_directory=True)
        fresh.replace(link)
