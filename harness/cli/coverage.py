"""The command that proves dialect coverage on the servers that are up."""

from pathlib import Path
from typing import Annotated, Any

import typer

from dialects.enums import Profile
from harness.cli.commands import app
from harness.cli.console import (
    AsJson,
    DbIds,
    Dialects,
    Difficulties,
    Keys,
    Limit,
    Sample,
    Seed,
    SetName,
    messages,
    say,
    servers_up,
)
from harness.coverage.command import CoverageRequest, measure, print_measured
from harness.data.choosing import Choice
from harness.data.gold_packs import under
from harness.data.outcomes import GoldOrigin
from harness.data.sets.loading import load_set
from harness.engines.execution import Limits
from harness.report.loading import loading_bar
from harness.session.request import AUTO, check_range

GOLDS = (GoldOrigin.TRANSLATED, GoldOrigin.DATASET)
"""Which golds coverage is measured of, beside those of a pack."""


@app.command()
def coverage(  # noqa: PLR0913 - one parameter an option
    *,
    set_name: SetName = "sample",
    dialect: Dialects = AUTO,
    gold: Annotated[
        str,
        typer.Option(
            help="translated (SQLite's), dataset (the set's own there), or a gold pack, translated.",
            metavar="GOLD",
        ),
    ] = GoldOrigin.TRANSLATED,
    profile: Annotated[
        Profile | None, typer.Option(help="Default: faithful; official with --gold dataset.")
    ] = None,
    workers: Annotated[int | None, typer.Option(help="Threads. Default: one a core.")] = None,
    limit: Limit = None,
    db: DbIds = None,
    difficulty: Difficulties = None,
    question: Keys = None,
    sample: Sample = None,
    seed: Seed = 0,
    timeout: Annotated[float, typer.Option(help="Seconds for one SQL text.")] = Limits.seconds,
    out: Annotated[Path, typer.Option(help="Parent of the folder with the report.")] = Path("results"),
    update: Annotated[
        bool, typer.Option("--update", help="Make the result what is expected, and renew the documentation.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Hold golds on servers against SQLite: same rows, as often, in the same order; 1 on a regression."""
    check_range("workers", workers, unit="threads")
    check_range("limit", limit)
    check_range("sample", sample)
    check_range("seconds", timeout)
    optional: dict[str, Any] = {} if workers is None else {"workers": workers}
    request = CoverageRequest(
        set_name=set_name,
        origin=GoldOrigin(gold) if gold in GOLDS else GoldOrigin.TRANSLATED,
        pack=None if gold in GOLDS else gold,
        profile=profile,
        limit=limit,
        choice=Choice(db or (), difficulty or (), question or (), sample, seed),
        seconds=timeout,
        out=out,
        update=update,
        **optional,
    )
    # What is wrong with the set or the choice is said whether a server is up or not.
    asked = request.chosen.of(under(load_set(set_name), request.pack))
    servers = servers_up(dialect)
    if not servers:
        say("SQLite is the reference: there is nothing to compare it with")
        return
    with loading_bar(messages, len(asked.db_ids) * len(servers)) as progress:
        # One of each is enough: they are equal.
        first = {found[0].dialect: found[0] for found in servers.values()}
        measured = measure(request, first, progress, progress.count)
    raise typer.Exit(print_measured(measured, say, as_json=as_json))
