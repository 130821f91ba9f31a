"""The command that studies how efficient answers are, and what makes them so."""

from contextlib import closing
from dataclasses import replace
from typing import Annotated

import typer

from harness.analyses.study.command import PAGE, StudyRequest, prepare_study
from harness.analyses.study.parts import chosen_parts
from harness.cli.commands import app
from harness.cli.console import CHOICE, asks, messages, say
from harness.report.console import print_grids
from harness.report.loading import loading_bar
from harness.session.request import Request


@app.command("study")
@asks(
    "predictions", "dialects", "predictor", "extract", "allow_missing", "profile", "workers", *CHOICE[1:],
    "seed", "seconds", "out", "resume", "cache",
)  # fmt: skip
def study_efficiency(
    request: Request,
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
    part: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this part, e1 to e7; repeatable.")
    ] = None,
    times: Annotated[
        bool, typer.Option("--times", help="Take times, too, where counted work would do: much slower.")
    ] = False,
) -> None:
    """Study efficiency: rewriting, indexes, plans, counted work; tables and a page, resumable."""
    parts = chosen_parts(part or ())
    first, *more = set_name or [request.set_name]
    request = replace(request, set_name=first, metrics=("ex",))
    asked = StudyRequest(request, parts, more, named_parts=bool(part), with_times=times)
    with loading_bar(messages, before="reading questions and predictions") as progress:
        prepared = prepare_study(asked, say, progress)
    with closing(prepared):
        studied = prepared.run(messages, say)
    for fact in studied.document.facts:
        say(fact)
    print_grids(studied.document.grids)
    say(f"written to {studied.folder}; {PAGE} has it with charts")
