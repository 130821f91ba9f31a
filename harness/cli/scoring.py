"""Commands that score and compare, and the one about what is kept of it."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from dialects.enums import Profile
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
    app,
    messages,
    say,
    servers_up,
)
from harness.data.predictions import Extract
from harness.engines.execution import Limits
from harness.pytest_plugin.runner import run_directly, run_with_pytest
from harness.report.cache import cache_lines, cleared_lines
from harness.report.compare import CompareRequest, parse_thresholds
from harness.report.compare import compare as compare_runs
from harness.report.loading import loading_bar
from harness.request import (
    AUTO,
    MOST_QUESTIONS,
    MOST_WORKERS,
    Request,
    check_seconds,
    parse_dialects,
    parse_metrics,
)
from harness.session.plan import prepare
from loaders.errors import within
from loaders.store import Store, allowed_bytes, default_path

_OPERAND = "Run folder, or FOLDER:DIALECT, FOLDER:PREDICTOR, FOLDER:DIALECT/PREDICTOR for a part of it."


class RunBy(StrEnum):
    """What runs the pairs."""

    PYTEST = "pytest"
    DIRECT = "direct"


class CoveredGold(StrEnum):
    """Which golds coverage is measured of."""

    TRANSLATED = "translated"
    DATASET = "dataset"


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


@app.command()
def coverage(  # noqa: PLR0913 - one parameter an option
    *,
    set_name: SetName = "sample",
    dialect: Dialects = AUTO,
    gold: Annotated[
        CoveredGold, typer.Option(help="SQLite's golds as translated, or the dataset's own for the dialect.")
    ] = CoveredGold.TRANSLATED,
    profile: Annotated[
        Profile | None, typer.Option(help="Default: faithful; official with --gold dataset.")
    ] = None,
    workers: Annotated[int | None, typer.Option(help="Threads. Default: one a core.")] = None,
    limit: Annotated[int | None, typer.Option(help="Only the first N questions.")] = None,
    timeout: Annotated[float, typer.Option(help="Seconds for one SQL text.")] = Limits.seconds,
    out: Annotated[Path, typer.Option(help="Parent of the folder with the report.")] = Path("results"),
    update: Annotated[
        bool, typer.Option("--update", help="Make the result what is expected, and renew the documentation.")
    ] = False,
) -> None:
    """Hold golds on servers against SQLite: same rows, as often, in the same order; 1 on a regression."""
    # Translating is slow to import, and no other command needs it.
    from harness.coverage.command import CoverageRequest, measure, print_measured  # noqa: PLC0415
    from harness.outcomes import GoldOrigin  # noqa: PLC0415

    within("--workers", workers, 1, MOST_WORKERS, "threads")
    within("--limit", limit, 1, MOST_QUESTIONS, "questions")
    check_seconds("--timeout", timeout)
    optional: dict[str, Any] = {} if workers is None else {"workers": workers}
    request = CoverageRequest(
        set_name=set_name,
        origin=GoldOrigin(gold),
        profile=profile,
        limit=limit,
        seconds=timeout,
        out=out,
        update=update,
        **optional,
    )
    servers = servers_up(dialect)
    if not servers:
        say("SQLite is the reference: there is nothing to compare it with")
        return
    with loading_bar(messages) as progress:
        # One of each is enough: they are equal.
        measured = measure(request, {each: found[0] for each, found in servers.items()}, progress)
    raise typer.Exit(print_measured(measured, say))


@app.command()
def compare(  # noqa: PLR0913 - one parameter an option
    a: Annotated[str, typer.Argument(metavar="A", help=_OPERAND)],
    b: Annotated[str, typer.Argument(metavar="B", help="The same for the other side.")],
    *,
    metrics: Annotated[str | None, typer.Option(help="Separated by commas. Default: all in both.")] = None,
    fail_under: Annotated[
        list[str] | None,
        typer.Option(metavar="METRIC=PERCENT", help="Exit with 1 where B's total is below; repeatable."),
    ] = None,
    no_regression: Annotated[
        bool, typer.Option("--no-regression", help="Exit with 1 where a total of B is below A's.")
    ] = False,
    significant: Annotated[
        bool, typer.Option("--significant", help="With --no-regression: only where p is below 0.05.")
    ] = False,
    flips: Annotated[
        int | None, typer.Option(min=0, help="List so many flipped questions a direction. Default: all.")
    ] = None,
    json: Annotated[Path | None, typer.Option(help="File to write everything to.")] = None,
    html: Annotated[
        Path | None, typer.Option(help="Page to write, with both sides of every flipped question.")
    ] = None,
) -> None:
    """Hold two runs, predictors or engines against each other, question by question; 1 on a regression."""
    request = CompareRequest(
        a=a,
        b=b,
        metrics=metrics.split(",") if metrics is not None else (),
        fail_under=parse_thresholds(fail_under or ()),
        no_regression=no_regression,
        significant=significant,
        flips=flips,
        json=json,
        html=html,
    )
    raise typer.Exit(compare_runs(request, say))


@app.command()
def cache(
    *, clear: Annotated[bool, typer.Option("--clear", help="Forget everything that is kept.")] = False
) -> None:
    """Say what is kept from earlier runs, so that it need not be executed again."""
    path = default_path()
    with Store(path, allowed_bytes(), say) as store:
        for line in cleared_lines(store.clear(), path) if clear else cache_lines(store.figures(), path):
            say(line)
