"""The command that offers databases to agents by the Model Context Protocol."""

from pathlib import Path
from typing import Annotated

import typer

from dialects.enums import Dialect, Profile
from dialects.errors import BadInput
from harness.adapters.database_tools import DatabaseTools
from harness.cli.commands import app
from harness.cli.console import ExtractName, SetName, option, say
from harness.data.answers import Extract
from harness.session.evaluator import Evaluator
from harness.session.request import Request, within

_NEEDS = "mcp: the server is not installed ({}); pip install 'bird-harness[mcp]'"


@app.command()
def mcp(  # noqa: PLR0913 - one parameter an option
    *,
    set_name: SetName = Request.set_name,
    databases: Annotated[
        Path | None,
        typer.Option(help="Folder with SQLite files, or one file, instead of a set.", metavar="PATH"),
    ] = None,
    dialect: Annotated[
        str, typer.Option(help="Engines of the databases, separated by commas.", metavar="DIALECT")
    ] = Dialect.SQLITE,
    profile: Annotated[Profile, option("profile")] = Request.profile,
    workers: Annotated[
        int | None, typer.Option(metavar="N", help="Most queries at a time. Default: one per core.")
    ] = None,
    timeout: Annotated[float, option("seconds")] = Request.seconds,
    rows: Annotated[int, typer.Option(metavar="N", help="Most rows of a query that are returned.")] = 50,
    max_bytes: Annotated[int, typer.Option(metavar="N", help="Most bytes of text in them.")] = 8_192,
    score: Annotated[
        bool, typer.Option("--score", help="Offer a tool that scores answers to the set's questions.")
    ] = False,
    extract: ExtractName = Extract.ANSWER_1,
) -> None:
    """Serve databases to agents by the Model Context Protocol, on standard input and output.

    The tools are list_databases, describe and run_sql, which only reads; with --score, score.
    """
    within("--rows", rows, 1, 1_000_000, "rows")
    within("--max-bytes", max_bytes, 1, 2**28, "bytes")
    try:
        from harness.labs.mcp.server import make_server  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise BadInput(_NEEDS.format(error)) from None
    evaluator = Evaluator(
        set_name,
        databases=databases,
        dialects=dialect,
        profile=profile,
        workers=workers,
        seconds=timeout,
        say=say,
    )
    with evaluator:
        tools = DatabaseTools(evaluator, rows=rows, max_bytes=max_bytes, extract=extract)
        make_server(tools, scores=score).run("stdio")
