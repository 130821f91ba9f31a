"""The command that runs anybody's queries through the translator on the servers that are up."""

from pathlib import Path
from typing import Annotated

import typer

from dialects.errors import BadInput
from harness.cli.commands import app
from harness.cli.console import AsJson, Dialects, Threads, messages, one_of_each, say, servers_up
from harness.labs.conformance.command import ConformanceRequest, measure, print_measured
from harness.session.request import AUTO, check_range, refuse_unwritable
from loaders.base.processes import processors


@app.command()
def conformance(  # noqa: PLR0913 - one parameter an option
    suite: Annotated[
        Path, typer.Argument(help="Folder of sqllogictest files, or of databases with queries; or one file.")
    ],
    *,
    dialect: Dialects = AUTO,
    translator: Annotated[
        str, typer.Option(help="bird, or bird with sqlglot or polyglot, separated by commas.")
    ] = ConformanceRequest.translator,
    sample: Annotated[int | None, typer.Option(help="Random sample of N queries.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of --sample.")] = ConformanceRequest.seed,
    timeout: Annotated[
        float, typer.Option(help="Time limit in seconds for one SQL text.")
    ] = ConformanceRequest.seconds,
    workers: Threads = None,
    out: Annotated[
        Path, typer.Option(help="Folder of the results; the same command continues there.")
    ] = ConformanceRequest.out,
    as_json: AsJson = False,
) -> None:
    """Run queries on SQLite and, translated, on servers; exits 1 if results differ without a warning."""
    check_range("workers", workers, unit="threads")
    check_range("limit", sample, "--sample", "queries")
    check_range("seconds", timeout)
    refuse_unwritable("--out", out)
    threads = workers or processors()
    request = ConformanceRequest(suite, out, translator, sample, seed, timeout, threads)
    servers = servers_up(dialect)
    if not servers:
        raise BadInput(f"--dialect {dialect}: SQLite is the reference; name a server to compare with it")
    try:
        with messages.status("reading the suite") as status:
            measured = measure(
                request,
                one_of_each(servers),
                lambda done, total: status.update(f"{done:,} of {total:,} queries"),
            )
    except KeyboardInterrupt:
        say(f"stopped; the results so far are in {out}, and the same command continues")
        raise
    raise typer.Exit(print_measured(measured, say, as_json=as_json))
