"""The command that studies how efficient answers are, and what makes them so."""

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.commands import app
from harness.cli.console import (
    DbIds,
    Dialects,
    Difficulties,
    ExtractName,
    Keys,
    Limit,
    OutFolder,
    ProfileName,
    Resumed,
    Sample,
    Seed,
    UsesCache,
    Workers,
    messages,
    option,
    say,
)
from harness.efficiency.study.command import PAGE, StudyRequest, prepare_study
from harness.efficiency.study.documentation import update_page
from harness.efficiency.study.parts import chosen_parts
from harness.report.console import print_grids
from harness.report.loading import loading_bar
from harness.session.request import AUTO, Request, parse_dialects


@app.command("study")
def study_efficiency(  # noqa: PLR0913 - one parameter an option
    *,
    set_name: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="SET",
            help="Question set, as of eval; repeatable: the same set over databases of another scale."
            " Default: sample.",
        ),
    ] = None,
    predictions: Annotated[list[Path] | None, option("predictions")] = None,
    dialect: Dialects = AUTO,
    part: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this part, e1 to e7; repeatable.")
    ] = None,
    predictor: Annotated[str | None, option("predictor")] = None,
    extract: ExtractName = Request.extract,
    allow_missing: Annotated[bool, option("allow_missing")] = Request.allow_missing,
    profile: ProfileName = Request.profile,
    workers: Workers = None,
    limit: Limit = None,
    db: DbIds = None,
    difficulty: Difficulties = None,
    question: Keys = None,
    sample: Sample = None,
    seed: Seed = Request.seed,
    timeout: Annotated[float, option("seconds")] = Request.seconds,
    times: Annotated[
        bool, typer.Option("--times", help="Take times, too, where counted work would do: much slower.")
    ] = False,
    out: OutFolder = Request.out,
    resume: Resumed = None,
    cache: UsesCache = Request.cache,
    update: Annotated[
        bool, typer.Option("--update", help="Renew the sections of docs/efficiency.md.")
    ] = False,
) -> None:
    """Study efficiency: rewriting, indexes, plans, counted work; tables and a page, resumable."""
    parts = chosen_parts(part or ())
    first, *more = set_name or ["sample"]
    request = Request(
        set_name=first,
        predictions=predictions or (),
        dialects=parse_dialects(dialect),
        predictor=predictor,
        extract=extract,
        allow_missing=allow_missing,
        metrics=("ex",),
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
        workers=workers,
    )
    asked = StudyRequest(request, parts, more, named_parts=bool(part), with_times=times)
    with loading_bar(messages, before="reading questions and predictions") as progress:
        prepared = prepare_study(asked, say, progress)
    with closing(prepared):
        studied = prepared.run(messages, say)
    for fact in studied.document.facts:
        say(fact)
    print_grids(studied.document.grids)
    say(f"written to {studied.folder}; {PAGE} has it with charts")
    if update:
        update_page(studied.document, [one.name for one in prepared.parts], asked.command)
