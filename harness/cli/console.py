"""What all commands share: the application, where messages go, and options that mean the same everywhere."""

import inspect
import io
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer
from rich.console import Console

from dialects.enums import Dialect, Profile
from harness.data.predictions import Extract
from harness.metrics import DEFAULT_METRICS, METRICS
from harness.request import parse_dialects
from harness.session.plan import find_servers
from loaders.errors import EngineUnavailable
from loaders.server import Server
from loaders.textfiles import one_line

app = typer.Typer(
    name="bird-harness",
    help="Run text-to-SQL predictions on SQLite, MySQL and PostgreSQL and print their scores side by side.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    # As wide as the terminal, without a limit of typer's own.
    context_settings={"max_content_width": 1000},
)
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


def described(application: typer.Typer) -> None:
    """Have the list of commands show the whole first sentence of each, which typer would cut."""
    for command in application.registered_commands:
        lines = inspect.getdoc(command.callback) or ""
        command.short_help = lines.partition("\n")[0].rstrip(".")


class _OutlivedStream(io.FileIO):
    """A stream that a command outlives: what nobody can read is dropped, and a full disk is told of."""

    fault: str | None = None

    def write(self, data: Any, /) -> int:
        """Write, or drop what cannot be written."""
        try:
            return super().write(data) or 0
        except BrokenPipeError:
            # Whoever read it, `head` for instance, has seen enough.
            return len(data)
        except OSError as error:
            self.fault = error.strerror
            return len(data)


@dataclass
class Output:
    """What became of standard output: `fault` says why it could not be written, None where it could."""

    fault: str | None = None


@contextmanager
def lasting_output() -> Iterator[Output]:
    """Within the block nothing that is printed ends a command, however its output can be written or encoded.

    A character that the encoding of the output does not have becomes a question mark.
    """
    became, before = Output(), (sys.stdout, sys.stderr)
    out, errors = _lasting(sys.stdout), _lasting(sys.stderr)
    sys.stdout, sys.stderr = out[0] if out else before[0], errors[0] if errors else before[1]
    try:
        yield became
    finally:
        for stream, _ in filter(None, (out, errors)):
            stream.flush()
        sys.stdout, sys.stderr = before
        became.fault = out[1].fault if out else None


def _lasting(stream: TextIO | None) -> tuple[io.TextIOWrapper, _OutlivedStream] | None:
    """The same stream, which never fails; None where it is no file: closed, or what a test reads."""
    try:
        raw = _OutlivedStream(stream.fileno(), "wb", closefd=False)  # type: ignore[union-attr]  # then it raises
    except (AttributeError, OSError, ValueError):
        return None
    encoding = getattr(stream, "encoding", None)
    is_prompt = stream is sys.stderr or raw.isatty()
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding, "replace", line_buffering=is_prompt), raw


def say(line: str) -> None:
    """Tell the user one line, beside the answer itself."""
    messages.print(one_line(line), markup=False)


def _print_version(*, wanted: bool) -> None:
    if wanted:
        print(installed_version("bird-harness"))  # noqa: T201 - the answer itself
        raise typer.Exit


@app.callback()
def _root(
    *,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    del version


def servers_up(dialect: str) -> Mapping[Dialect, tuple[Server, ...]]:
    """The servers that are up, of those asked for; with `auto` at least one."""
    asked = parse_dialects(dialect)
    servers = find_servers(asked or list(Dialect), required=asked is not None, say=say)
    if not servers and asked is None:
        raise EngineUnavailable("no server is up, so there is nothing to do")
    return servers
