"""What all commands share: where messages go, and options that mean the same everywhere."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from dialects.enums import Dialect, Profile
from harness.data.predictions import Extract
from harness.engines import EngineName, kind_of, kinds_by_name
from harness.metrics import METRICS
from harness.report.formatting import printable_json
from harness.session.options import OPTIONS
from harness.session.request import Request, parse_dialects
from harness.session.servers import find_servers
from loaders.errors import EngineUnavailable
from loaders.server import Server
from loaders.textfiles import one_line

# Without emoji: a name between colons is not to become a picture.
messages = Console(stderr=True, highlight=False, soft_wrap=True, emoji=False)

USUAL_METRICS = ",".join(Request.metrics)
"""What is scored where nobody says what."""


def option(field: str, *, more: str = "") -> Any:
    """An option of evaluations, as `harness.session.options` has it; `more` is said of it beside that."""
    one = OPTIONS[field]
    flag = f"--{one.flag}/--no-{one.flag}" if one.off else f"--{one.flag}"
    shown = None if one.kind is bool else one.metavar
    return typer.Option(flag, help=f"{one.help.removesuffix('.')}{more}.", metavar=shown)


SetName = Annotated[str, option("set_name")]
Dialects = Annotated[str, option("dialects")]
ProfileName = Annotated[Profile, option("profile")]
ExtractName = Annotated[Extract, option("extract")]
MetricNames = Annotated[str, option("metrics", more=f": {', '.join(METRICS)}")]
OutFolder = Annotated[Path, option("out")]
Resumed = Annotated[Path | None, option("resume")]
UsesCache = Annotated[bool, option("cache")]
Limit = Annotated[int | None, option("limit")]
DbIds = Annotated[list[str] | None, option("db_ids")]
Difficulties = Annotated[list[str] | None, option("difficulties")]
Keys = Annotated[list[str] | None, option("keys")]
Sample = Annotated[int | None, option("sample")]
Seed = Annotated[int, option("seed")]
Workers = Annotated[int | None, option("workers")]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print JSON to standard output, and nothing else there.")
]


def say(line: str) -> None:
    """Tell the user one line, beside the answer itself."""
    messages.print(one_line(line), markup=False)


def give_json(content: Any) -> None:
    """Print an answer as JSON."""
    typer.echo(printable_json(content))


def served_dialects(dialect: str) -> list[Dialect]:
    """The dialects of the servers that are asked for; with `auto` all."""
    asked = map(kind_of, parse_dialects(dialect) or kinds_by_name())
    return [kind.dialect for kind in asked if kind.has_server]


def servers_up(dialect: str) -> Mapping[EngineName, tuple[Server, ...]]:
    """The servers that are up, of those asked for; with `auto` at least one."""
    asked = parse_dialects(dialect)
    servers = find_servers(asked or list(kinds_by_name()), required=asked is not None, say=say)
    if not servers and asked is None:
        raise EngineUnavailable("no server is up, so there is nothing to do")
    return servers
