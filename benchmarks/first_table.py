"""How long a new user waits: from a clone to the first table, and to one of an own file on PostgreSQL.

Each path begins with a clone in an empty folder, with empty caches of packages, servers and results, so that
everything is installed anew. `--warm` uses the machine's caches of packages.

    python -m benchmarks.first_table
"""

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.options import print_row

_ROOT = Path(__file__).parents[1]
_OWN = "mine.jsonl"
_ANSWERS = (
    {"question_id": 1, "sql": "SELECT COUNT(*) FROM books WHERE language = 'French'"},
    {"question_id": 2, "sql": "SELECT 50.0"},
    {"question_id": 3, "sql": "SELECT opening_hours FROM branches WHERE name = 'Hillcrest'"},
)
"""Those of docs/tutorials/first-table.md."""

_PATHS: Mapping[str, Sequence[Sequence[str]]] = {
    "first table": (("make", "eval"),),
    "own file on PostgreSQL": (
        ("make", "up", "NATIVE=1", "DIALECT=postgresql"),
        (
            *("make", "eval", f"PREDICTIONS={_OWN}", "DIALECT=postgresql", "LIMIT=3"),
            "ARGS=--predictor mine --tables all",
        ),
    ),
}


def main(
    *,
    source: Annotated[str, typer.Option(help="What to clone.")] = str(_ROOT),
    warm: Annotated[bool, typer.Option("--warm", help="Use the caches of pip and uv.")] = False,
) -> None:
    """Print the seconds of every step of both paths."""
    for name, commands in _PATHS.items():
        with tempfile.TemporaryDirectory(prefix="bird-first-") as folder:
            Path(folder).chmod(0o755)  # an account that the server runs as has to enter it
            print_row({"path": name, **_walk(Path(folder), source, commands, warm=warm)})


def _walk(folder: Path, source: str, commands: Sequence[Sequence[str]], *, warm: bool) -> dict[str, str]:
    """Seconds by step, and `all`; what was started is stopped."""
    checkout = folder / "bird-harness"
    environment = _environment(folder, warm=warm)
    seconds = {"clone": _timed(("git", "clone", "--quiet", source, str(checkout)), folder, environment)}
    (checkout / _OWN).write_text("".join(f"{json.dumps(line)}\n" for line in _ANSWERS), encoding="utf-8")
    try:
        for command in (("make", "setup"), *commands):
            seconds[" ".join(command[:2])] = _timed(command, checkout, environment)
    finally:
        subprocess.run(["make", "down", "ARGS=--volumes"], cwd=checkout, env=environment, check=True)
    return {name: f"{taken:.1f} s" for name, taken in {**seconds, "all": sum(seconds.values())}.items()}


def _environment(folder: Path, *, warm: bool) -> dict[str, str]:
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("BIRD_", "VIRTUAL_ENV"))
    }
    own = {f"BIRD_{name}": str(folder / name.lower()) for name in ("CACHE", "STATE")}
    cold = {name: str(folder / name.lower()) for name in ("PIP_CACHE_DIR", "UV_CACHE_DIR")}
    return {**kept, **own, "BIRD_PROVISION": "native", **({} if warm else cold)}


def _timed(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, cwd=folder, env=dict(environment), check=True)
    return time.perf_counter() - started


if __name__ == "__main__":
    typer.run(main)
