"""The command that judges answers to tasks that may change data."""

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from dialects.errors import BadInput
from harness import provision
from harness.cli.commands import app
from harness.cli.console import AsJson, Threads, give_json, messages, say
from harness.labs.tasks.engine import engine_of
from harness.labs.tasks.families import FAMILIES
from harness.labs.tasks.judging import GOLD, TaskResult, judge
from harness.labs.tasks.layouts import read_answers, read_tasks
from harness.labs.tasks.report import as_record, task_tables
from harness.report.console import console_text, print_grids
from harness.session.request import check_range, refuse_unwritable
from loaders.base.errors import EngineUnavailable, terminable, to_start
from loaders.base.files import replace
from loaders.base.processes import processors

RESULTS = "results.jsonl"
TABLES = "tables.txt"


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
    names = [one.predictor for one in predictors]
    if twice := sorted({name for name in names if names.count(name) > 1 or name == GOLD}):
        raise BadInput(f"--answers: several are called {twice[0]!r}, or it is gold's name; rename the file")
    for one in predictors:
        lacking = len({task.id for task in found.tasks} - one.answers.keys())
        if lacking:
            say(f"{one.predictor}: {lacking} tasks have no answer, which counts as an empty one")
        if one.unknown:
            say(
                f"{one.predictor}: {len(one.unknown)} answers are to no task of {path}: {one.unknown[0]}, ..."
            )
    dialect = found.family.dialect
    server = None
    if engine_of(found.family).has_server and (server := provision.find(dialect)) is None:
        raise EngineUnavailable(f"{dialect}: no server is up; {to_start()}")
    results: list[TaskResult] = []
    total = len(found.tasks) * (1 + len(predictors))
    with terminable(), nullcontext() if as_json else messages.status("judging") as status:
        for result in judge(found, predictors, workers or processors(), server):
            results.append(result)
            if status is not None:
                status.update(f"{len(results):,} of {total:,} verdicts")
    grids = task_tables(results, family)
    out.mkdir(parents=True, exist_ok=True)
    replace(out / RESULTS, (json.dumps(as_record(result)) + "\n" for result in results))
    replace(out / TABLES, console_text(grids))
    if as_json:
        give_json({"family": family, "results": [as_record(result) for result in results]})
    else:
        print_grids(grids)
    say(f"results: {out / RESULTS}")
