"""The command that proves dialect coverage on the servers that are up."""

from pathlib import Path
from typing import Annotated

import typer

from dialects.enums import Profile
from dialects.errors import BadInput
from harness.analyses.coverage.command import CoverageRequest, measure, print_measured
from harness.analyses.coverage.plain import Style
from harness.cli.commands import app
from harness.cli.console import (
    CHOICE,
    AsJson,
    Dialects,
    Threads,
    asks,
    messages,
    one_of_each,
    say,
    servers_up,
)
from harness.data.gold_packs import with_golds
from harness.data.outcomes import GoldOrigin
from harness.data.sets.loader import load_set
from harness.engines.execution import Limits
from harness.report.console import loading_bar
from harness.session.request import AUTO, Request, check_range
from loaders.base.processes import processors

GOLDS = (GoldOrigin.TRANSLATED, GoldOrigin.DATASET)
"""Golds whose coverage is measured, in addition to those of a pack."""


@app.command()
@asks(*CHOICE, "seed", "overrides", "out")
def coverage(  # noqa: PLR0913 - one parameter an option
    asked: Request,
    *,
    dialect: Dialects = AUTO,
    gold: Annotated[
        str,
        typer.Option(
            help="translated (from SQLite), dataset (the set's own), or a gold pack, translated.",
            metavar="GOLD",
        ),
    ] = GoldOrigin.TRANSLATED,
    profile: Annotated[
        Profile | None, typer.Option(help="Load profile. Default: faithful; official with --gold dataset.")
    ] = None,
    style: Annotated[
        Style, typer.Option(help="plain replaces exact translations by plain ones where that is proven.")
    ] = Style.EXACT,
    workers: Threads = None,
    timeout: Annotated[float, typer.Option(help="Time limit in seconds for one SQL text.")] = Limits.seconds,
    expected: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Expectations to check against. Default: those of the checkout."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Prove that golds return the same rows on servers as on SQLite; exits 1 on a regression."""
    check_range("workers", workers, unit="threads")
    check_range("limit", asked.limit)
    check_range("sample", asked.sample)
    check_range("seconds", timeout)
    if style is Style.PLAIN and gold == GoldOrigin.DATASET:
        raise BadInput("--style plain: is for translated golds; leave out --style or --gold dataset")
    request = CoverageRequest(
        set_name=asked.set_name,
        origin=GoldOrigin(gold) if gold in GOLDS else GoldOrigin.TRANSLATED,
        pack=None if gold in GOLDS else gold,
        profile=profile,
        choice=asked.choice,
        seconds=timeout,
        out=asked.out,
        overrides=asked.overrides,
        expected=expected,
        style=style,
        workers=workers or processors(),
    )
    # Faults of the set or of the choice are reported even if no server is up.
    questions = request.choice.of(with_golds(load_set(request.set_name), request.pack))
    servers = servers_up(dialect)
    if not servers:
        say("SQLite is the reference: there is nothing to compare it with")
        return
    with loading_bar(messages, len(questions.db_ids) * len(servers)) as progress:
        measured = measure(request, one_of_each(servers), progress, progress.count, say)
    raise typer.Exit(print_measured(measured, say, as_json=as_json))
