"""The command that judges answers to tasks that may change data."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from dialects.errors import BadInput
from harness.cli.commands import app
from harness.cli.console import AsJson, Threads, option, say
from harness.labs.tasks.evaluation import first_phase, give, judged_tasks
from harness.labs.tasks.families import FAMILIES
from harness.labs.tasks.layouts import Phase, read_answers, read_tasks
from harness.labs.tasks.outcomes import TaskRequest
from harness.labs.tasks.prompts import prompts as task_prompts
from harness.labs.tasks.report import reward_table
from harness.labs.tasks.responses import TaskExtract
from harness.report.documents import published_tables
from harness.session.request import check_range, refuse_unwritable
from loaders.base.files import replace
from loaders.base.processes import processors
from loaders.base.store import Store, allowed_bytes, default_path

BASE_LITE = "livesqlbench_base_lite"
"""The set of published rates, as `lab reproduce --set` calls it."""


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
    extract: Annotated[
        TaskExtract, typer.Option(help="What takes statements out of raw responses in --answers.")
    ] = TaskExtract.OFFICIAL,
    phase: Annotated[Phase, typer.Option(help="The part of the tasks: follow-ups are BIRD-Interact's.")] = (
        Phase.FIRST
    ),
    first: Annotated[
        Path | None,
        typer.Option(help="With --phase follow-up: run folder of the first one, for the reward."),
    ] = None,
    prompts: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the prompt of each task, and judge nothing.")
    ] = None,
    published: Annotated[
        bool, typer.Option("--published", help="Print published rates of LiveSQLBench-Base-Lite, too.")
    ] = False,
    workers: Threads = None,
    cache: Annotated[bool, option("cache")] = True,
    out: Annotated[Path, typer.Option(help="Folder for the run folder.")] = Path("results"),
    as_json: AsJson = False,
) -> None:
    """Judge answers to tasks that may change data: the official verdict, a strict one, and the state."""
    check_range("workers", workers, unit="processes")
    if first is not None and phase is not Phase.FOLLOW_UP:
        raise BadInput("--first: belongs to the reward of follow-ups; add --phase follow-up")
    refuse_unwritable("--out", out)
    found = read_tasks(path, family, databases, ground_truth, phase, needs_gold=prompts is None)
    if prompts is not None:
        lines = [f"{json.dumps(each, ensure_ascii=False)}\n" for each in task_prompts(found)]
        replace(prompts, lines)
        say(f"{len(lines)} prompts: {prompts}")
        return
    before = None if first is None else first_phase(first)
    predictors = [read_answers(each, found, extract) for each in answers or ()]
    number = workers or processors()
    store = Store(default_path(), allowed_bytes(), say) if cache else None
    judged = judged_tasks(found, predictors, number, store, is_silent=as_json)
    if store is not None:
        store.close()
    more = [] if before is None else [reward_table(before, judged.results)]
    more += published_tables(BASE_LITE) if published else []
    request = TaskRequest(
        set_name="tasks",
        extract=extract,
        workers=number,
        command=[Path(sys.argv[0]).name, *sys.argv[1:]],
        phase=phase,
    )
    give([judged], out, request, more, as_json=as_json)
