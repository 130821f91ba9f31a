"""The command that covers dialects on every engine version that this machine has."""

from pathlib import Path
from typing import Annotated

import typer

from dialects.errors import BadInput
from harness.cli.commands import app
from harness.cli.console import Dialects, say, served_dialects
from harness.labs.matrix.matrix import MatrixRequest, exit_code, print_matrix, run_matrix
from harness.labs.matrix.versions import matrix_json
from harness.session.request import ALL, check_range


@app.command()
def matrix(
    *,
    dialect: Dialects = ALL,
    set_name: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="Question set (repeatable). Default: sample, and mini_dev if it is there."
        ),
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Only the first N questions of each set.")] = None,
    out: Annotated[Path, typer.Option(help="Folder to create the report folders in.")] = Path("results"),
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the versions and sets that CI covers, and run nothing.")
    ] = False,
) -> None:
    """Run `coverage` on engine versions installed or with Docker images here; exits 1 on a regression."""
    if as_json:
        typer.echo(matrix_json())
        return
    check_range("limit", limit)
    dialects = served_dialects(dialect)
    if not dialects:
        raise BadInput(f"--dialect {dialect}: SQLite is the reference; name mysql, postgresql or all")
    rows = run_matrix(MatrixRequest(dialects=dialects, sets=set_name or (), limit=limit, out=out), say)
    print_matrix(rows)
    raise typer.Exit(exit_code(rows))
