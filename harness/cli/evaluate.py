"""The command that scores prediction files."""

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from dialects.errors import BadInput
from harness.cli.commands import app
from harness.cli.console import AsJson, asks, messages, say
from harness.data.outcomes import Outcome
from harness.lab import evaluation_of_set, option_of_lab
from harness.pytest_plugin.pairs import run_with_pytest
from harness.report.console import loading_bar, print_grids
from harness.report.gold_ranks import gold_ranks, write_gold_ranks
from harness.runs.reader import LATEST, read_run
from harness.session.evaluation import run_directly
from harness.session.options import OPTIONS
from harness.session.plan import prepare
from harness.session.request import Request
from loaders.base.errors import EngineUnavailable
from loaders.base.processes import collect_rarely


class RunBy(StrEnum):
    """The program that runs the pairs."""

    PYTEST = "pytest"
    DIRECT = "direct"


@app.command("eval")
@asks(*OPTIONS)
def evaluate(
    request: Request,
    *,
    driver: Annotated[
        RunBy,
        typer.Option(help="Run the pairs as pytest items; or directly: a faster start, no pytest plugins."),
    ] = RunBy.PYTEST,
    junit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the pairs as JUnit XML, as pytest does.")
    ] = None,
    plans: Annotated[
        bool,
        typer.Option(
            "--plans",
            help="Keep the execution plans of matching predictions and their golds, for the report.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Score prediction files and print the table."""
    if junit is not None and driver is RunBy.DIRECT:
        raise BadInput(f"--junit {junit}: needs pytest; leave out --driver direct")
    if (evaluated := evaluation_of_set(request.set_name)) is not None:
        raise typer.Exit(evaluated(request, as_json=as_json))
    keep_plans = option_of_lab("plans", "explain") if plans else None
    shown = _Shown(driver, junit, as_json, keep_plans)
    if len(request.golds) < 2:  # noqa: PLR2004 - nothing stands beside one
        raise typer.Exit(_run(request, shown))
    if request.resume is not None:
        raise BadInput("--resume: completes one run; leave out every --gold except that of the run")
    if junit is not None or as_json:
        raise BadInput("--json and --junit: describe one run; leave out every --gold except one")
    codes, runs = [], []
    for one in request.golds:
        codes.append(_run(replace(request, golds=[one]), shown))
        if codes[-1] not in {0, EngineUnavailable.exit_code}:
            raise typer.Exit(codes[-1])
        runs.append(read_run((request.out / LATEST).resolve()))
    document = gold_ranks(runs)
    print_grids(document.grids)
    written = write_gold_ranks(document, runs[-1].folder)
    say(f"written to {', '.join(map(str, written))}")
    raise typer.Exit(max(codes))


@dataclass(frozen=True)
class _Shown:
    """The driver that runs the pairs, and the output in addition to the run folder."""

    driver: RunBy
    junit: Path | None
    as_json: bool
    keep_plans: Callable[[str, Request], None] | None


def _run(request: Request, shown: _Shown) -> int:
    """Run the request and keep its plans; return the exit code."""
    code = _scored(request, shown)
    if shown.keep_plans is not None and code in {0, 1}:
        folder = request.resume or (request.out / LATEST).resolve()
        if any(result.outcome is Outcome.MATCH for result in read_run(folder).results):
            shown.keep_plans(str(folder), Request(seconds=request.seconds, bird_home=request.bird_home))
        else:
            say("--plans: no prediction matches, so no plan is kept")
    return code


def _scored(request: Request, shown: _Shown) -> int:
    collect_rarely()
    with loading_bar(messages, before="reading questions and predictions") as progress:
        plan = prepare(request, say=say, progress=progress)
    if shown.driver is RunBy.DIRECT:
        return run_directly(plan, messages, as_json=shown.as_json)
    screen = Console(file=sys.stderr) if shown.as_json or sys.stdout.isatty() else None
    return run_with_pytest(plan, screen, junit=shown.junit, as_json=shown.as_json)
