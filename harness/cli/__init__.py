"""The command line: parse, call, exit code.

Exit codes: 0 done, 1 a threshold or check failed, 2 bad usage or bad input, 3 an engine is missing or broke.
"""

import gc
import re
import sys

from typer import TyperException

# Each registers its commands.
from harness.cli import databases, matrix, predicting, reports, scoring, servers
from harness.cli.console import app, described, say
from harness.errors import HarnessError, brief

_LONG = re.compile(r"(?<!\S)\S{200,}")

__all__ = ["app", "databases", "main", "matrix", "predicting", "reports", "scoring", "servers"]


def main() -> None:
    """Entry point of `bird-harness` and `python -m harness`."""
    # What is imported stays to the end: not to be looked through by every collection.
    gc.freeze()
    described(app)
    try:
        # With nothing else to do, the whole help is shown.
        code = app(prog_name="bird-harness", standalone_mode=not sys.argv[1:])
    except HarnessError as error:
        say(f"bird-harness: {error}")
        code = error.exit_code
    except TyperException as error:
        code = _say_what_is_wrong(error)
    sys.exit(code or 0)


def _say_what_is_wrong(error: TyperException) -> int:
    """Print one line about an argument that cannot be; the exit code."""
    context = getattr(error, "ctx", None)
    path = "bird-harness" if context is None else context.command_path
    fault = _LONG.sub(lambda found: brief(found[0]), error.format_message()).removesuffix(".")
    say(f"{path}: {fault}; `{path} --help` lists what there is")
    return error.exit_code
