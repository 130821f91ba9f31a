"""The command line: parse, call, exit code.

Exit codes: 0 done, 1 a threshold or check failed, 2 bad usage or bad input, 3 an engine is missing or broke.
"""

import re
import sys

from typer import TyperException

from dialects.errors import BadInput, HarnessError
from harness.cli.commands import app
from harness.cli.output import lasting_output
from loaders.base.errors import Terminated, brief, stopped_exit, terminable

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
        # With nothing else to do, the whole help is shown.
        return app(prog_name="bird-harness", standalone_mode=not sys.argv[1:]) or 0
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
    say(f"{path}: {fault}; `{path} --help` lists what there is")
    return error.exit_code


def say(line: str) -> None:
    """Tell the user one line, once no command is running; a command has `harness.cli.console.say`."""
    from loaders.base.files import one_line  # noqa: PLC0415 - reading files takes as long to import as Python

    print(one_line(line), file=sys.stderr)  # noqa: T201 - what the user is told
