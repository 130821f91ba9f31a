"""The command that scores prediction files."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from dialects.enums import Profile
from harness.cli.commands import app
from harness.cli.console import (
    USUAL_METRICS,
    Dialects,
    ExtractName,
    MetricNames,
    OutFolder,
    ProfileName,
    Resumed,
    SetName,
    UsesCache,
    messages,
    say,
)
from harness.data.predictions import Extract
from harness.engines.execution import Limits
from harness.pytest_plugin.runner import run_directly, run_with_pytest
from harness.report.loading import loading_bar
from harness.request import (
    AUTO,
    Request,
    parse_dialects,
    parse_metrics,
)
from harness.session.plan import prepare

_OPERAND = "Run folder, or FOLDER:DIALECT, FOLDER:PREDICTOR, FOLDER:DIALECT/PREDICTOR for a part of it."


class RunBy(StrEnum):
    """What runs the pairs."""

    PYTEST = "pytest"
    DIRECT = "direct"


@app.command("eval")
def evaluate(  # noqa: PLR0913 - one parameter an option
    *,
    set_name: SetName = "sample",
    predictions: Annotated[
        list[Path] | None,
        typer.Option(help="Prediction file or folder; repeatable. Default: the sample's own."),
    ] = None,
    dialect: Dialects = AUTO,
    predictor: Annotated[
        str | None, typer.Option(help="Predictor of all files, instead of their names'.")
    ] = None,
    extract: ExtractName = Extract.NONE,
    allow_missing: Annotated[bool, typer.Option("--allow-missing", help="Score what is there.")] = False,
    metrics: MetricNames = USUAL_METRICS,
    variants: Annotated[
        str | None,
        typer.Option(help="For ts: a folder of variants of the databases, or how many to generate."),
    ] = None,
    profile: ProfileName = Profile.OFFICIAL,
    workers: Annotated[
        int | None, typer.Option(help="Processes that judge. Default: one a core, on Ray all of the cluster.")
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Only the first N questions.")] = None,
    timeout: Annotated[
        float, typer.Option(help="Seconds for a prediction and its gold together.")
    ] = Limits.seconds,
    out: OutFolder = Path("results"),
    resume: Resumed = None,
    cache: UsesCache = True,
    ray: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Spread the run over a Ray cluster, or `local`.")
    ] = None,
    driver: Annotated[RunBy, typer.Option(help="Run the pairs as pytest items, or directly.")] = RunBy.PYTEST,
    report: Annotated[
        bool, typer.Option("--report/--no-report", help="Write tables and report.html into the run folder.")
    ] = True,
) -> None:
    """Score prediction files and print the table."""
    request = Request(
        set_name=set_name,
        predictions=predictions or (),
        dialects=parse_dialects(dialect),
        predictor=predictor,
        extract=extract,
        allow_missing=allow_missing,
        metrics=parse_metrics(metrics),
        variants=variants,
        profile=profile,
        limit=limit,
        seconds=timeout,
        out=out,
        resume=resume,
        cache=cache,
        ray=ray,
        workers=workers,
        report=report,
    )
    with loading_bar(messages) as progress:
        plan = prepare(request, say=say, progress=progress)
    raise typer.Exit(run_with_pytest(plan) if driver is RunBy.PYTEST else run_directly(plan, messages))
