"""The command that logs a run to a tracker, or copies it to a URL."""

from pathlib import Path
from typing import Annotated

import typer

from dialects.errors import BadInput
from harness.cli.commands import app
from harness.labs.log.storage import copy_run
from harness.labs.log.trackers import PROJECT, Tracker, log_run
from harness.runs.reader import read_run


@app.command()
def log(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run folder.")],
    *,
    to: Annotated[
        str,
        typer.Option(
            "--to", metavar="WHERE", help="wandb, mlflow, or a URL for fsspec, such as s3://bucket/runs."
        ),
    ],
    project: Annotated[str, typer.Option(help="Project in W&B, experiment in MLflow.")] = PROJECT,
) -> None:
    """Log a run to Weights & Biases or MLflow: scores, tables and report; or copy it to a URL."""
    if "://" in to:
        typer.echo(copy_run(read_run(run), to))
        return
    if to not in list(Tracker):
        raise BadInput(f"--to {to}: choose from {', '.join(Tracker)}, or give a URL such as s3://bucket/runs")
    typer.echo(log_run(read_run(run), Tracker(to), project))
