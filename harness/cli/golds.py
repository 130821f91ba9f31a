"""The command that holds runs under several golds side by side."""

from pathlib import Path
from typing import Annotated

import typer

from dialects.errors import BadInput
from harness.cli.commands import app
from harness.report.console import print_grids
from harness.report.gold_ranks import gold_ranks
from harness.report.writing import TEXTS, ReportFormat
from harness.runs.reading import read_run


@app.command()
def golds(
    runs: Annotated[
        list[Path], typer.Argument(help="Run folders; the first is what the others are held to.")
    ],
    *,
    form: Annotated[
        ReportFormat, typer.Option("--format", help="What to print: console, markdown, csv, latex or json.")
    ] = ReportFormat.CONSOLE,
) -> None:
    """Hold runs under several golds side by side: totals, ranks, and which questions moved."""
    document = gold_ranks([read_run(folder) for folder in runs])
    if form not in TEXTS:
        raise BadInput(f"--format {form}: choose from {', '.join(TEXTS)}")
    if form is ReportFormat.CONSOLE:
        print_grids(document.grids)
    else:
        typer.echo(TEXTS[form](document), nl=False)
