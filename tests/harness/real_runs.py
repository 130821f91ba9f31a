"""Runs that the command makes, and what they record: the shapes that readers of run folders meet."""

import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from harness.runs.reader import LATEST, MANIFEST
from tests import forked


def evaluated(folder: Path, *options: str) -> Path:
    """The run folder of the sample, scored by the command in `folder`, where no server is to be found."""
    clean = forked.environment_without("BIRD_", "PYTEST_")
    state = {"BIRD_STATE": str(folder / "state"), "BIRD_STORE": str(folder / "store.sqlite")}
    done = forked.run(
        "harness", "eval", "--driver", "direct", "--workers", "1", *options,
        cwd=folder, env={**clean, **state, "BIRD_PROVISION": "native"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return (folder / "results" / LATEST).resolve()


@cache
def _recorded() -> str:
    with tempfile.TemporaryDirectory() as folder:
        return (evaluated(Path(folder), "--limit", "2") / MANIFEST).read_text(encoding="utf-8")


def recorded() -> dict[str, Any]:
    """The manifest of a run of the sample on SQLite, in which the other engines were left out."""
    content = json.loads(_recorded())
    assert isinstance(content, dict)
    return content
