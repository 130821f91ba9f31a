"""Scores, tables and report of a run, read back from what the trackers' own clients wrote offline."""

import json
import os
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from dialects.errors import BadInput
from harness.labs.log.trackers import TrackedRun, Tracker, log_run
from harness.runs.reader import Run
from tests import forked
from tests.harness.real_runs import evaluated
from tests.harness.run_folders import right_on, write_run

pytestmark = [pytest.mark.slow, pytest.mark.thorough]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return Run.load(evaluated(tmp_path_factory.mktemp("run"), "--dialect", "sqlite"))


def logged(run: Run, folder: Path, tracker: Tracker, **environment: str) -> str:
    """What the command prints."""
    done = forked.run(
        "harness", "lab", "log", str(run.folder), "--to", tracker, "--project", "sql",
        cwd=folder, env={**os.environ, **environment},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def entries(log: bytes) -> Iterator[bytes]:
    """The entries of a log in LevelDB's format, in which W&B writes runs, behind a header of its own.

    https://github.com/google/leveldb/blob/main/doc/log_format.md
    """
    place, entry = 7, b""
    while place + 7 <= len(log):
        if 32_768 - place % 32_768 < 7:
            place += 32_768 - place % 32_768
            continue
        _, length, kind = struct.unpack_from("<IHB", log, place)
        entry += log[place + 7 : place + 7 + length]
        place += 7 + length
        if kind in {1, 4}:
            yield entry
            entry = b""


def test_a_run_has_totals_levels_intervals_and_settings(run: Run) -> None:
    tracked = TrackedRun.of(run)
    summary = json.loads((run.folder / "summary.json").read_text())
    [score] = [each for each in summary["scores"] if each["predictor"] == "careless"]
    name = "sqlite/careless/ex"
    assert tracked.summary[f"{name}/total"] == score["metrics"]["ex"]["total"]
    assert tracked.summary[f"{name}/simple"] == score["metrics"]["ex"]["simple"]
    assert [tracked.summary[f"{name}/{end}"] for end in ("low", "high")] == score["intervals"]["ex"]
    assert tracked.config["set"] == "sample"
    assert tracked.config["gold"] == "published"
    assert "report.html" in [path.name for path in tracked.files]


def test_mlflow_has_the_run(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = (tmp_path / "mlruns").as_uri()
    identity = logged(
        run, tmp_path, Tracker.MLFLOW, MLFLOW_TRACKING_URI=place, MLFLOW_ALLOW_FILE_STORE="true"
    )
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    from mlflow import MlflowClient  # noqa: PLC0415 - takes seconds, and belongs to this test alone

    client, tracked = MlflowClient(place), TrackedRun.of(run)
    found = client.get_run(identity)
    assert client.get_experiment(found.info.experiment_id).name == "sql"
    assert found.info.run_name == run.manifest["run_id"]
    assert found.data.metrics == tracked.summary
    assert found.data.params == {name: str(value) for name, value in tracked.config.items()}
    files = [each.path for each in client.list_artifacts(identity)]
    assert sorted(files) == sorted(path.name for path in tracked.files)


def test_wandb_has_the_run(run: Run, tmp_path: Path) -> None:
    identity = logged(run, tmp_path, Tracker.WANDB, WANDB_MODE="offline", WANDB_DIR=str(tmp_path))
    from wandb.proto.wandb_internal_pb2 import Record  # type: ignore[attr-defined]  # noqa: PLC0415

    [path] = tmp_path.glob(f"wandb/offline-run-*/run-{identity}.wandb")
    tracked, summary, files = TrackedRun.of(run), dict[str, float](), set[str]()
    for data in entries(path.read_bytes()):
        record = Record.FromString(data)
        summary |= {item.key: json.loads(item.value_json) for item in record.summary.update}
        artifacts = record.artifact, record.request.log_artifact.artifact
        files |= {entry.path for artifact in artifacts for entry in artifact.manifest.contents}
    assert {name: summary.get(name) for name in tracked.summary} == tracked.summary
    assert {path.name for path in tracked.files} <= files
    [table] = tmp_path.glob("wandb/offline-run-*/files/media/table/*.table.json")
    content = json.loads(table.read_text())
    cells = [dict(zip(content["columns"], row, strict=True)) for row in content["data"]]
    assert len(cells) == len(tracked.cells)
    [total] = [
        cell for cell in cells
        if (cell["table"], cell["predictor"], cell["level"]) == ("EX (%)", "careless", "total")
    ]  # fmt: skip
    assert total["value"] == tracked.summary["sqlite/careless/ex/total"]


def test_two_predictors_never_become_one(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [*right_on(range(3), "a+b"), *right_on(range(4), "a?b")])
    with pytest.raises(BadInput, match="two predictors would be one"):
        log_run(Run.load(run), Tracker.MLFLOW)
