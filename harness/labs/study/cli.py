"""The command that studies how efficient answers are, and what makes them so."""

from dataclasses import replace
from typing import Annotated

import typer

from harness.cli.commands import app
from harness.cli.console import CHOICE, AsJson, asks, messages, say
from harness.labs.study.command import PAGE, TABLES, StudyRequest, study
from harness.labs.study.parts import chosen_parts
from harness.report.console import print_grids
from harness.session.request import Request


@app.command("study")
@asks(
    "predictions", "dialects", "predictor", "extract", "answer_keys", "allow_missing", "profile", "workers",
    *CHOICE[1:], "seed", "seconds", "out", "resume", "cache",
)  # fmt: skip
def study_efficiency(
    request: Request,
    *,
    set_name: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="SET",
            help="Question set; repeatable, for the same set over databases of another scale."
            " Default: sample.",
        ),
    ] = None,
    part: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Only this part, e1 to e7, or module:ANALYSIS of your own; repeatable."
        ),
    ] = None,
    times: Annotated[
        bool, typer.Option("--times", help="Measure times as well, where counted work would do: much slower.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Measure efficiency: rewrites, indexes, plans and counted work."""
    names = part or ()
    first, *more = set_name or [request.set_name]
    request = replace(request, set_name=first, metrics=("ex",))
    asked = StudyRequest(request, chosen_parts(names), more, names, with_times=times)
    studied = study(asked, messages, say)
    for fact in studied.document.facts:
        say(fact)
    if as_json:
        typer.echo((studied.folder / TABLES).read_text(encoding="utf-8"), nl=False)
    else:
        print_grids(studied.document.grids)
    say(f"written to {studied.folder}; {PAGE} has it with charts")
