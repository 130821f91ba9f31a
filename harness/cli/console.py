"""What all commands share: where messages go, and options that mean the same everywhere."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from dialects.enums import Dialect, Profile
from harness.data.predictions import Extract
from harness.metrics import DEFAULT_METRICS, METRICS
from harness.request import parse_dialects
from harness.session.servers import find_servers
from loaders.errors import EngineUnavailable
from loaders.server import Server
from loaders.textfiles import one_line

# Without emoji: a name between colons is not to become a picture.
messages = Console(stderr=True, highlight=False, soft_wrap=True, emoji=False)

SetName = Annotated[str, typer.Option("--set", help="sample, mini_dev, mini_dev_2025 or dev.")]
Dialects = Annotated[
    str, typer.Option("--dialect", help="sqlite, mysql, postgresql, all, or auto: every engine that is up.")
]
ProfileName = Annotated[Profile, typer.Option("--profile", help="How the databases are loaded.")]
USUAL_METRICS = ",".join(DEFAULT_METRICS)
"""What is scored where nobody says what."""

ExtractName = Annotated[Extract, typer.Option(help="Take SQL out of Markdown fences, or run it as it is.")]
MetricNames = Annotated[str, typer.Option(help=f"Metrics, separated by commas: {', '.join(METRICS)}.")]
OutFolder = Annotated[Path, typer.Option(help="Parent of the run's folder.")]
Resumed = Annotated[
    Path | None,
    typer.Option(help="Complete the run in this folder; the rest of the command is the same."),
]
UsesCache = Annotated[
    bool, typer.Option("--cache/--no-cache", help="Use and keep what is known from earlier runs.")
]


def say(line: str) -> None:
    """Tell the user one line, beside the answer itself."""
    messages.print(one_line(line), markup=False)


def servers_up(dialect: str) -> Mapping[Dialect, tuple[Server, ...]]:
    """The servers that are up, of those asked for; with `auto` at least one."""
    asked = parse_dialects(dialect)
    servers = find_servers(asked or list(Dialect), required=asked is not None, say=say)
    if not servers and asked is None:
        raise EngineUnavailable("no server is up, so there is nothing to do")
    return servers
