"""Commands about runs: which there are, their reports made again, and published figures held against ours."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from dialects.errors import BadInput
from harness.cli.console import (
    USUAL_METRICS,
    Dialects,
    ExtractName,
    MetricNames,
    OutFolder,
    Resumed,
    UsesCache,
    app,
    messages,
    say,
)
from harness.data.predictions import Extract
from harness.report.console import print_grids
from harness.report.documents import tables
from harness.report.listing import print_runs, runs_in
from harness.report.writing import HTML, TEXTS, Format, file_name, write, write_page, write_reports
from harness.request import AUTO, parse_dialects, parse_metrics
from harness.runs.groups import By
from harness.runs.reading import read_run


@app.command()
def runs(
    *, out: Annotated[Path, typer.Option(help="The folder that run folders are in.")] = Path("results")
) -> None:
    """List runs, the newest first: what was run, how it ended, the best EX."""
    found = runs_in(out)
    if found:
        print_runs(found)
    else:
        say(f"{out}: there are no runs in it")


@app.command()
def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run folder: results/<run id>, results/latest.")],
    *,
    formats: Annotated[
        list[Format] | None,
        typer.Option("--format", help="Repeatable. Default: print the tables, and write all files anew."),
    ] = None,
    by: Annotated[
        list[By] | None, typer.Option("--by", help="Tables of each metric by these groups; repeatable.")
    ] = None,
    to: Annotated[
        Path | None, typer.Option(help="File, or folder, to write to. Default: standard output.")
    ] = None,
) -> None:
    """Make the reports of a run again, from its folder alone."""
    groupings = by or []
    if not formats and not groupings and to is None:
        for written in write_reports(run):
            say(f"written: {written}")
    found = read_run(run)
    wanted = list(dict.fromkeys(formats or _default(groupings, to)))
    if Format.HTML in wanted and groupings:
        raise BadInput("--by: groups the tables, and report.html is none; leave out one of the two")
    if to is not None and len(wanted) > 1 and not to.is_dir():
        raise BadInput(f"--to {to}: is no folder, and there are {len(wanted)} files to write; make one there")
    document = tables(found, groupings)
    for each in wanted:
        path = _place(to, HTML if each is Format.HTML else file_name(each, groupings))
        if each is Format.HTML:
            say(f"written: {write_page(found, path or run / HTML)}")
        elif path is not None:
            say(f"written: {write(path, TEXTS[each](document))}")
        elif each is Format.CONSOLE:
            print_grids(document.grids)
        else:
            typer.echo(TEXTS[each](document), nl=False)


def _place(to: Path | None, name: str) -> Path | None:
    """Where a file of that name goes: into the folder `to`, or to `to` itself; None for standard output."""
    return to / name if to is not None and to.is_dir() else to


def _default(groupings: Sequence[By], to: Path | None) -> Sequence[Format]:
    """What is made where nobody says what: the tables for a terminal, or every file for a folder."""
    if to is None:
        return [Format.CONSOLE]
    return [each for each in Format if each is not Format.CONSOLE and not (groupings and each is Format.HTML)]


@app.command()
def reproduce(  # noqa: PLR0913 - one parameter an option
    *,
    predictions: Annotated[
        list[Path] | None,
        typer.Option(help="Prediction file or folder; repeatable. Default: BIRD_HOME's predictions."),
    ] = None,
    dialect: Dialects = AUTO,
    metrics: MetricNames = USUAL_METRICS,
    extract: ExtractName = Extract.FENCES,
    workers: Annotated[int | None, typer.Option(help="Processes that judge. Default: one a core.")] = None,
    out: OutFolder = Path("results"),
    resume: Resumed = None,
    cache: UsesCache = True,
) -> None:
    """Score the published predictions of Mini-Dev and hold the figures against the published ones."""
    # Digests of published packages are slow to import, and no other command here needs them.
    from harness.cli.reproduce import Reproduction  # noqa: PLC0415
    from harness.cli.reproduce import reproduce as reproduce_published  # noqa: PLC0415

    asked = Reproduction(
        predictions=predictions,
        dialects=parse_dialects(dialect),
        metrics=parse_metrics(metrics),
        extract=extract,
        workers=workers,
        out=out,
        cache=cache,
        resume=resume,
    )
    raise typer.Exit(reproduce_published(asked, say, messages))
