"""Log a run to an experiment tracker, W&B or MLflow, through the tracker's own client.

Where it is logged to is the client's affair: `WANDB_MODE`, `WANDB_DIR`, `MLFLOW_TRACKING_URI` and the like
apply, and without a network both log to files.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from dialects.errors import BadInput
from harness.labs.log.storage import files_to_publish
from harness.report.documents import run_id_of, scores_of, tables
from harness.report.files import HTML, write_reports
from harness.report.overview import dialects_of, versions
from harness.report.table_model import NamedCell, figures
from harness.runs.reader import MANIFEST, SUMMARY, Run
from harness.runs.summary import Score

PROJECT = "bird-harness"
"""The project in W&B, and the experiment in MLflow, unless another one is named."""

_FILES = (HTML, "tables.md", "tables.csv", "tables.json", SUMMARY, MANIFEST)
"""The files of a run folder that are logged, if they exist."""


class Tracker(StrEnum):
    """An experiment tracker."""

    WANDB = "wandb"
    MLFLOW = "mlflow"


@dataclass(frozen=True)
class TrackedRun:
    """A run as trackers take it.

    `config` has its settings. `summary` has by `DIALECT/PREDICTOR/METRIC/LEVEL` the mean of a level of
    difficulty in percent; the level `total` is all of them, `low` and `high` are the bounds of its 95 %
    interval. `cells` are all cells of its tables, each with its table's title. `files` are reports, summary
    and manifest.
    """

    name: str
    config: Mapping[str, str | int | float]
    summary: Mapping[str, float]
    cells: Sequence[tuple[str, NamedCell]]
    files: Sequence[Path]

    @classmethod
    def of(cls, run: Run) -> "TrackedRun":
        """Read it from a run, and write the run's reports if it has none.

        Raises:
            BadInput: the run folder is damaged.
        """
        if not (run.folder / HTML).exists():
            write_reports(run.folder)
        scores, document = scores_of(run), tables(run)
        cells = [(grid.title, cell) for grid in document.grids for cell in figures(grid, document.extent)]
        summary = {name: value for score in scores for name, value in _summary(score).items()}
        found = files_to_publish(run.folder)
        files = [path for path in (run.folder / name for name in _FILES) if path in found]
        return cls(run_id_of(run), _config(run, scores), summary, cells, files)


def log_run(run: Run, tracker: Tracker, project: str = PROJECT) -> str:
    """Log a finished run to a tracker.

    Args:
        run: as `Run.load` reads it.
        tracker: the tracker, whose package must be installed.
        project: the project in W&B, the experiment in MLflow.

    Returns:
        The tracker's id of the run.

    Raises:
        BadInput: the package is not installed, the run folder is damaged, or MLflow has no names for its
            predictors.
    """
    try:
        return _LOG[tracker](TrackedRun.of(run), project)
    except ModuleNotFoundError as error:
        if error.name != tracker:
            raise
        raise BadInput(f"{tracker} is not installed: pip install 'bird-harness[{tracker}]'") from None


def _wandb(tracked: TrackedRun, project: str) -> str:
    import wandb  # noqa: PLC0415 - optional, slow to import

    with wandb.init(
        project=project, name=tracked.name, config=dict(tracked.config), job_type="evaluation"
    ) as logged:
        logged.summary.update(dict(tracked.summary))
        rows = [{"table": title, **cell.to_json()} for title, cell in tracked.cells]
        columns = dict.fromkeys(name for row in rows for name in row)
        data = [[row.get(name) for name in columns] for row in rows]
        logged.log({"tables": wandb.Table(columns=[*columns], data=data, allow_mixed_types=True)})
        artifact = wandb.Artifact(f"report-{tracked.name}", type="report")
        for path in tracked.files:
            artifact.add_file(str(path))
        logged.log_artifact(artifact)
        return str(logged.id)


_NOT_IN_A_KEY = re.compile(r"[^\w\-. :/]", re.ASCII)
"""What MLflow refuses in the name of a metric."""


def _mlflow(tracked: TrackedRun, project: str) -> str:
    import mlflow  # noqa: PLC0415 - optional, slow to import

    named = {_NOT_IN_A_KEY.sub("_", name): value for name, value in tracked.summary.items()}
    if len(named) != len(tracked.summary):
        raise BadInput("MLflow allows only letters, digits and _-. :/ in names: two predictors would be one")
    mlflow.set_experiment(project)
    with mlflow.start_run(run_name=tracked.name) as logged:
        mlflow.log_params(dict(tracked.config))
        mlflow.log_metrics(named)
        for path in tracked.files:
            mlflow.log_artifact(str(path))
        return str(logged.info.run_id)


_LOG: Mapping[Tracker, Callable[[TrackedRun, str], str]] = {
    Tracker.WANDB: _wandb,
    Tracker.MLFLOW: _mlflow,
}


def _config(run: Run, scores: Sequence[Score]) -> dict[str, str | int | float]:
    manifest = run.manifest
    limits, gold = manifest.get("limits") or {}, manifest.get("gold") or {}
    named = {name: manifest.get(name) for name in ("set", "questions", "profile", "extract", "started")}
    named |= {
        "metrics": ",".join(manifest.get("metrics", ())),
        "engines": ", ".join(versions(manifest, dialects_of(scores))),
        "seconds": limits.get("seconds"),
        "gold": f"{gold['name']} {gold['version']}" if gold else "published",
        "bird-harness": (manifest.get("packages") or {}).get("bird-harness"),
    }
    return {name: value for name, value in named.items() if value is not None}


def _summary(score: Score) -> dict[str, float]:
    named: dict[str, float | None] = {}
    for metric, by_level in score.metrics.items():
        name = f"{score.dialect}/{score.predictor}/{metric}"
        named |= {f"{name}/{level}": value for level, value in by_level.items()}
        if bounds := score.intervals[metric]:
            named |= {f"{name}/low": bounds[0], f"{name}/high": bounds[1]}
    return {name: value for name, value in named.items() if value is not None}
