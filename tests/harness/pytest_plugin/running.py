"""pytest in a process of its own, with the plugin as users have it."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from harness.runs.reader import LATEST
from loaders.sample import PREDICTIONS
from loaders.server import Server
from tests import forked

WITHOUT = ("-p", "no:hypothesispytest", "-p", "no:anyio")
"""Plugins that are installed here and nothing needs, whose imports take much of a short run's time."""


def run(*args: str, cwd: Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    """One that the configuration of these tests does not reach."""
    return forked.run(
        "pytest", *_given(args, cwd), cwd=cwd, env=forked.environment_without("PYTEST_") | environment
    )


def start(*args: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    """The same in a process that has imported nothing before."""
    return subprocess.run(  # noqa: PLW1510 - the exit code is what is tested
        [sys.executable, "-m", "pytest", *_given(args, cwd)],
        cwd=cwd,
        env=forked.environment_without("PYTEST_"),
        capture_output=True,
        text=True,
        timeout=300,
    )


def _given(args: Sequence[str], cwd: Path) -> Sequence[str]:
    return [*WITHOUT, "-c", os.devnull, "--rootdir", str(cwd), *args]


def score(
    *args: str, cwd: Path, dialect: str = "sqlite", **environment: str
) -> "subprocess.CompletedProcess[str]":
    """The sample's own predictions, which are copied below `cwd`, judged by one worker unless told otherwise.

    A second one takes longer to start than it saves.
    """
    named = ("--bird-predictions", str(predictions(cwd)), "--bird-dialect", dialect)
    alone = () if "--bird-workers" in args else ("--bird-workers", "1")
    return run(*named, *alone, *args, cwd=cwd, **environment)


def predictions(cwd: Path) -> Path:
    """The sample's own prediction files below `cwd`."""
    folder = cwd / "answers"
    folder.mkdir(exist_ok=True)
    for path in PREDICTIONS.glob("*.json"):
        (folder / path.name).write_bytes(path.read_bytes())
    return folder


def name(server: Server, patch: pytest.MonkeyPatch) -> None:
    """Have the commands that are run find a server, and no other of its kind."""
    patch.setenv("BIRD_PROVISION", "dsn")
    address = f"{server.dialect}://{server.user}:{server.password}@{server.address}"
    patch.setenv(f"BIRD_{server.dialect.upper()}_DSN", address)


def item(question: str, predictor: str = "careless", dialect: str = "sqlite") -> str:
    """The node id of an item of `score`."""
    file = f"predict_sample_{predictor}_{dialect}.json"
    return f"answers/{file}::{dialect}/{predictor}::{question}"


def listed(done: "subprocess.CompletedProcess[str]") -> list[str]:
    """The node ids that `--collect-only -q` printed."""
    return [line for line in done.stdout.splitlines() if "::" in line]


def counts(done: "subprocess.CompletedProcess[str]") -> dict[str, int]:
    """What pytest's last line counts."""
    (line,) = [line for line in done.stdout.splitlines() if re.search(r" in \d+\.\d+s", line)]
    return {word: int(count) for count, word in re.findall(r"(\d+) (\w+)", line.split(" in ")[0])}


def outcomes(out: Path) -> Mapping[tuple[str, str], str]:
    """The outcomes of the last run, by predictor and question."""
    lines = (out / LATEST / "results.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    return {(record["predictor"], record["question"]): record["outcome"] for record in records}


def summary(out: Path) -> str:
    """`summary.json` of the last run, as it is but for the run's id."""
    text = (out / LATEST / "summary.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return text.replace(found["run_id"], "")
