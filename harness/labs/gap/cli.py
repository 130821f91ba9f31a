"""The command that explains why predictors score otherwise on another engine."""

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.analyses.units import Progress, kept
from harness.cli.commands import app
from harness.cli.console import CHOICE, AsJson, asks, give_json, messages, say
from harness.labs.gap.explanations import Gap, explain, several, trying_on
from harness.labs.gap.files import as_record, write_gap
from harness.labs.gap.tables import documented, each_predictor, synthetic_lines
from harness.report.console import loading_bar, print_grids
from harness.report.files import HTML, write_page
from harness.runs.reader import read_run
from harness.session.evaluation import run
from harness.session.plan import Plan, prepare
from harness.session.request import AUTO, Request, parse_dialects
from loaders.base.errors import EngineUnavailable

_AT_A_TIME = 3
"""Questions that are explained side by side, for each process that runs texts."""


@app.command("gap")
@asks(
    "predictions", "predictor", "extract", "answer_keys", "allow_missing", "profile", "workers", *CHOICE,
    "seed", "seconds", "out", "resume", "cache",
)  # fmt: skip
def explain_gap(
    request: Request,
    *,
    dialect: Annotated[
        list[str] | None,
        typer.Option(
            "--dialect",
            metavar="NAMES",
            help="Engines to compare with SQLite, separated by commas; repeatable. Default: all that are up.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Explain why scores differ between SQLite and the other engines."""
    asked = parse_dialects(",".join(dialect or [AUTO]))
    dialects = (
        None if asked is None else [Dialect.SQLITE, *(each for each in asked if each != Dialect.SQLITE)]
    )
    request = replace(request, dialects=dialects, metrics=("ex",))
    with loading_bar(messages, before="reading questions and predictions") as progress:
        plan = prepare(request, say=say, progress=progress)
    with plan:
        _refuse_without_gap(plan)
        done = run(plan, messages, "lab gap")
    done.require_written()
    gap = _explained(plan, done.path)
    written = write_gap(gap, done.path)
    write_page(read_run(done.path), done.path / HTML)
    if as_json:
        give_json(as_record(gap))
    else:
        long = each_predictor(gap).title
        print_grids([grid for grid in documented(gap).grids if grid.title != long])
        for line in synthetic_lines(gap):
            say(line)
    for line in gap.left_out:
        say(line)
    say(f"written: {', '.join(map(str, written))}")
    raise typer.Exit(done.exit_code)


def _refuse_without_gap(plan: Plan) -> None:
    """Stop before anything is run where no predictor has answers for SQLite and for a server that is up."""
    found, left_out = several((file.predictor, file.dialect) for file in plan.files)
    if found:
        return
    if plan.request.dialects is None and plan.left_out:
        raise EngineUnavailable("no server is up, so there is no gap to explain")
    raise BadInput(f"--predictions: {'; '.join(left_out)}; name files of one predictor in several dialects")


def _explained(plan: Plan, folder: Path) -> Gap:
    finished = read_run(folder)
    request = replace(plan.request, resume=None)
    with ExitStack() as stack:
        with loading_bar(messages) as progress:
            trying = stack.enter_context(trying_on(request, plan.setup, say, progress))
        return explain(
            finished.results,
            trying,
            plan.questions,
            str(finished.manifest.get("run_id") or folder.name),
            threads=_AT_A_TIME * request.processes,
            units=stack.enter_context(kept("gap", folder, Progress(messages), say)),
        )
