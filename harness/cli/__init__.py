"""The command line: parse, call, exit code.

Exit codes: 0 done, 1 a threshold or check failed, 2 bad usage or bad input, 3 an engine is missing or broke.
"""

import io
import os
import re
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TextIO

from typer import TyperException

from dialects.errors import BadInput, HarnessError
from harness.cli.commands import LAB, app
from loaders.base.errors import Terminated, brief, stopped_exit, terminable

_NO_CHOICE = "Invalid value for '", "': Value error, ", " is not one of "
"""The parts of Typer's message for a value that is not one of an option's choices."""

_LONG = re.compile(r"(?<!\S)\S{200,}")

__all__ = ["app", "main"]


def main() -> None:
    """Entry point of `bird-harness` and `python -m harness`."""
    with terminable() as signals, lasting_output() as output:
        code = _run()
    if signals:
        code = stopped_exit(Terminated())
    if output.fault is not None:
        say(f"bird-harness: standard output cannot be written ({output.fault})")
        code = code or BadInput.exit_code
    sys.exit(code)


def _run() -> int:
    """Run the command; the exit code."""
    try:
        # A group without a command shows its whole help.
        return app(prog_name="bird-harness", standalone_mode=sys.argv[1:] in ([], [LAB])) or 0
    except HarnessError as error:
        say(f"bird-harness: {error}")
        return error.exit_code
    except TyperException as error:
        return _say_what_is_wrong(error)
    except OSError as error:
        where = f"{error.filename}: " if error.filename is not None else ""
        say(f"bird-harness: {where}{error.strerror or error}")
        return BadInput.exit_code


def _say_what_is_wrong(error: TyperException) -> int:
    """Print one line about an argument that cannot be; the exit code."""
    context = getattr(error, "ctx", None)
    path = "bird-harness" if context is None else context.command_path
    fault = _LONG.sub(lambda found: brief(found[0]), error.format_message()).removesuffix(".")
    begin, middle, end = _NO_CHOICE
    option, _, wrong = fault.removeprefix(begin).partition(middle)
    value, found, names = wrong.rpartition(end)
    if fault.startswith(begin) and found:
        names = names.replace("'", "")
        fault = f"{option} {value}: choose from {names}"
    say(f"{path}: {fault}; `{path} --help` lists what there is")
    return error.exit_code


def say(line: str) -> None:
    """Tell the user one line, once no command is running; a command has `harness.cli.console.say`."""
    from loaders.base.files import one_line  # noqa: PLC0415 - reading files takes as long to import as Python

    print(one_line(line), file=sys.stderr)  # noqa: T201 - what the user is told


# Standard output and errors that outlive whatever reads them.


class _OutlivedStream(io.FileIO):
    """A stream that never ends a command: unread output is dropped, and a full disk is noted."""

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
    """The state of standard output: `fault` says why it could not be written; None if it could."""

    fault: str | None = None


@contextmanager
def lasting_output() -> Iterator[Output]:
    """Keep output errors from ending a command within the block, however output can be written or encoded.

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
    """Return a stream that never fails; None if it has no file: it is closed, or belongs to a test."""
    try:
        raw = _OutlivedStream(stream.fileno(), "wb", closefd=False)  # type: ignore[union-attr]  # then it raises
    except (AttributeError, OSError, ValueError):
        return None
    encoding = getattr(stream, "encoding", None)
    is_prompt = stream is sys.stderr or raw.isatty()
    # A file, such as the summary of a job, is no log.
    is_log = bool(_RUNNERS & os.environ.keys()) and not stat.S_ISREG(os.fstat(raw.fileno()).st_mode)
    kind = _LogStream if is_log else io.TextIOWrapper
    return kind(io.BufferedWriter(raw), encoding, "replace", line_buffering=is_prompt), raw


_RUNNERS = {"GITHUB_ACTIONS", "TF_BUILD"}
"""Variables of the runners that take commands from what a job prints.

https://docs.github.com/en/actions/reference/workflows-and-actions/variables,
https://learn.microsoft.com/en-us/azure/devops/pipelines/build/variables
"""

_COMMAND = re.compile(r"((?:^|[\r\n])[^\S\r\n]*+:):|(##(?:vso)?)\[", re.IGNORECASE)
"""The beginning of a command: `::` at the beginning of a line, `##[` and `##vso[` anywhere.

https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands,
https://learn.microsoft.com/en-us/azure/devops/pipelines/scripts/logging-commands
"""
_LONGEST_BEGINNING = len("##vso")


class _LogStream(io.TextIOWrapper):
    """A stream in the log of a runner that would take commands from names and texts of other people.

    The last character of what begins a command becomes an escape, which is one of JSON, too.
    """

    _line = ""
    """The line so far: its end, or all of it if that is blank up to a colon."""

    def write(self, text: str, /) -> int:
        """Write a text, whose line may have begun before."""
        begun = self._line
        escaped = _COMMAND.sub(_escape, begun + text)
        *before, line = re.split(r"[\r\n]", escaped)
        del before
        is_open = line.strip() in {"", ":"}
        # A blank line is as good as an empty one.
        self._line = line.strip() if is_open else f"x{line[-_LONGEST_BEGINNING:]}"
        super().write(escaped[len(begun) :])
        return len(text)


def _escape(found: re.Match[str]) -> str:
    return f"{found[1]}\\u003a" if found[1] else f"{found[2]}\\u005b"
