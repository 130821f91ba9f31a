"""The command that judges answers to tasks that may change data."""

from pathlib import Path
from typing import Annotated

import typer

from harness.cli.commands import app
from harness.cli.console import AsJson, Threads
from harness.labs.tasks.evaluation import give, results_of
from harness.labs.tasks.families import FAMILIES
from harness.labs.tasks.layouts import read_answers, read_tasks
from harness.session.request import check_range, refuse_unwritable


@app.command()
def tasks(  # noqa: PLR0913 - one parameter an option
    path: Annotated[Path, typer.Argument(metavar="TASKS", help="File of tasks, JSON lines.")],
    *,
    databases: Annotated[
        Path, typer.Option(help="Folder of the databases: templates or dumps, a folder each.")
    ],
    family: Annotated[
        str, typer.Option(help=f"Scripts whose verdict is official: {', '.join(FAMILIES)}.")
    ] = "livesqlbench-sqlite",
    answers: Annotated[
        list[Path] | None, typer.Option(help="File of answers, JSON lines; repeatable. Default: golds alone.")
    ] = None,
    ground_truth: Annotated[
        Path | None, typer.Option(help="File with the solutions and test cases that came by mail.")
    ] = None,
    workers: Threads = None,
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results/tasks"),
    as_json: AsJson = False,
) -> None:
    """Judge answers to tasks that may change data: the official verdict, a strict one, and the state."""
    check_range("workers", workers, unit="processes")
    refuse_unwritable("--out", out)
    found = read_tasks(path, family, databases, ground_truth)
    predictors = [read_answers(each, found) for each in answers or ()]
    judged = {family: results_of(found, predictors, workers, is_silent=as_json)}
    give(judged, out, as_json=as_json)
