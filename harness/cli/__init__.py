"""The command line: parse, call, exit code.

Exit codes: 0 done, 1 a threshold or check failed, 2 bad usage or bad input, 3 an engine is missing or broke.
"""

import gc
import sys

# Each registers its commands.
from harness.cli import databases, matrix, predicting, reports, scoring, servers
from harness.cli.console import app, messages
from harness.errors import HarnessError

__all__ = ["app", "databases", "main", "matrix", "predicting", "reports", "scoring", "servers"]


def main() -> None:
    """Entry point of `bird-harness` and `python -m harness`."""
    # What is imported stays to the end: not to be looked through by every collection.
    gc.freeze()
    try:
        app(prog_name="bird-harness")
    except HarnessError as error:
        messages.print(f"bird-harness: {error}", markup=False)
        sys.exit(error.exit_code)
