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
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TextIO

from harness.errors import BadInput
from harness.outcomes import PairResult
from harness.report.summary import SCHEMA_VERSION, Score, summarize

MANIFEST = "manifest.json"
RESULTS = "results.jsonl"
SUMMARY = "summary.json"
LATEST = "latest"

_RECORDED_PACKAGES = ("bird-harness", "sqlglot", "pymysql", "psycopg", "pytest")


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


def read_results(folder: Path) -> list[PairResult]:
    """The results of a run folder, in the order in which they were written."""
    lines = (folder / RESULTS).read_text(encoding="utf-8").splitlines()
    return [PairResult.from_json(json.loads(line)) for line in lines]


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
