"""The command that scores prediction files."""

import sys
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from dialects.errors import BadInput
from harness.cli.commands import app
from harness.cli.console import (
    USUAL_METRICS,
    Dialects,
    ExtractName,
    Limit,
    MetricNames,
    OutFolder,
    ProfileName,
    Resumed,
    SetName,
    UsesCache,
    Workers,
    messages,
    option,
    say,
)
from harness.pytest_plugin.runner import run_directly, run_with_pytest
from harness.report.console import print_grids
from harness.report.gold_ranks import gold_ranks, write_gold_ranks
from harness.report.loading import loading_bar
from harness.request import (
    AUTO,
    Request,
    Tables,
    parse_dialects,
    parse_metrics,
)
from harness.runs.reading import LATEST, read_run
from harness.session.plan import prepare
from loaders.errors import EngineUnavailable


class RunBy(StrEnum):
    """What runs the pairs."""

    PYTEST = "pytest"
    DIRECT = "direct"


@app.command("eval")
def evaluate(  # noqa: PLR0913 - one parameter an option
    *,
    set_name: SetName = Request.set_name,
    predictions: Annotated[list[Path] | None, option("predictions")] = None,
    dialect: Dialects = AUTO,
    gold: Annotated[list[str] | None, option("golds")] = None,
    reference: Annotated[str, option("reference")] = Request.reference,
    predictor: Annotated[str | None, option("predictor")] = None,
    extract: ExtractName = Request.extract,
    allow_missing: Annotated[bool, option("allow_missing")] = Request.allow_missing,
    metrics: MetricNames = USUAL_METRICS,
    variants: Annotated[str | None, option("variants")] = None,
    profile: ProfileName = Request.profile,
    workers: Workers = None,
    limit: Limit = None,
    db: Annotated[list[str] | None, option("db_ids")] = None,
    difficulty: Annotated[list[str] | None, option("difficulties")] = None,
    question: Annotated[list[str] | None, option("keys")] = None,
    sample: Annotated[int | None, option("sample")] = None,
    seed: Annotated[int, option("seed")] = Request.seed,
    timeout: Annotated[float, option("seconds")] = Request.seconds,
    out: OutFolder = Request.out,
    resume: Resumed = None,
    cache: UsesCache = Request.cache,
    ray: Annotated[str | None, option("ray")] = None,
    driver: Annotated[RunBy, typer.Option(help="Run the pairs as pytest items, or directly.")] = RunBy.PYTEST,
    report: Annotated[bool, option("report")] = Request.report,
    tables: Annotated[Tables | None, option("tables")] = Request.tables,
) -> None:
    """Score prediction files and print the table."""
    request = Request(
        set_name=set_name,
        predictions=predictions or (),
        dialects=parse_dialects(dialect),
        reference=reference,
        predictor=predictor,
        extract=extract,
        allow_missing=allow_missing,
        metrics=parse_metrics(metrics),
        variants=variants,
        profile=profile,
        limit=limit,
        db_ids=db or (),
        difficulties=difficulty or (),
        keys=question or (),
        sample=sample,
        seed=seed,
        seconds=timeout,
        out=out,
        resume=resume,
        cache=cache,
        ray=ray,
        workers=workers,
        report=report,
        tables=tables,
    )
    if len(named := gold or []) < 2:  # noqa: PLR2004 - nothing stands beside one
        raise typer.Exit(_run(replace(request, golds=named), driver))
    if resume is not None:
        raise BadInput("--resume: completes one run; leave out all --gold but that of the run")
    codes, runs = [], []
    for one in named:
        codes.append(_run(replace(request, golds=[one]), driver))
        if codes[-1] not in {0, EngineUnavailable.exit_code}:
            raise typer.Exit(codes[-1])
        runs.append(read_run((out / LATEST).resolve()))
    document = gold_ranks(runs)
    print_grids(document.grids)
    written = write_gold_ranks(document, runs[-1].folder)
    say(f"written to {', '.join(map(str, written))}")
    raise typer.Exit(max(codes))


def _run(request: Request, driver: RunBy) -> int:
    """Run what is asked for; the result is the exit code."""
    with loading_bar(messages) as progress:
        plan = prepare(request, say=say, progress=progress)
    if driver is RunBy.DIRECT:
        return run_directly(plan, messages)
    return run_with_pytest(plan, Console(file=sys.stderr) if sys.stdout.isatty() else None)
