"""The command that brings published data to where they are looked for."""

from pathlib import Path
from typing import Annotated

import typer

from harness.cli.commands import app
from harness.cli.console import messages, say
from harness.data.sets.packages import PackageRequest, get
from harness.report.loading import getting_bar


@app.command()
def data(
    *,
    set_name: Annotated[
        str,
        typer.Option(
            "--set", metavar="SET", help="mini_dev, mini_dev_2025, dev, train, spider, ...: docs/data.md."
        ),
    ] = "mini_dev",
    archive: Annotated[
        Path | None, typer.Option(help="The package or a folder with it. Default: from its official place.")
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option("--out", help="Folder of all published data. Default: BIRD_HOME, else ./data."),
    ] = None,
    allow_unknown: Annotated[
        bool, typer.Option("--allow-unknown", help="Take what has other digests than known ones.")
    ] = False,
) -> None:
    """Bring a published question set with its databases to where `eval` looks for it."""
    with getting_bar(messages) as progress:
        lines = get(PackageRequest(set_name, to, archive, allow_unknown), progress)
    for line in lines:
        say(line)
