"""The errors that stop a run, each with its exit code, and the parts of their messages.

Every message says in one line what is wrong, where, and what to do about it: the command line prints it
unchanged.
"""

import shlex
import shutil
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import current_thread, main_thread
from typing import NoReturn

from dialects.errors import HarnessError

_MAKEFILE = Path(__file__).parents[2] / "Makefile"


class EngineUnavailable(HarnessError):
    """A requested engine is missing, cannot be started, or broke."""

    exit_code = 3


class Terminated(KeyboardInterrupt):
    """SIGTERM, which ends a run like Ctrl-C: results are kept, and a message says how to resume."""


def stopped_exit(stopped: BaseException) -> int:
    """Return the exit code of a process ended by Ctrl-C or SIGTERM, as shells report it."""
    return 128 + (signal.SIGTERM if isinstance(stopped, Terminated) else signal.SIGINT)


@contextmanager
def terminable() -> Iterator[Sequence[int]]:
    """Within the block, let SIGTERM raise `Terminated`, unless the signal has another handler.

    Yields the signals received.
    """
    came: list[int] = []

    def terminate(number: int, frame: object) -> NoReturn:
        del frame
        came.append(number)
        raise Terminated

    is_ours = current_thread() is main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if is_ours:
        signal.signal(signal.SIGTERM, terminate)
    try:
        yield came
    finally:
        if is_ours:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def brief(value: object, most: int = 80) -> str:
    """Return a value for a message: if it is long, truncated and with its length."""
    try:
        text = str(value)
    except ValueError:  # https://docs.python.org/3/library/stdtypes.html#int-max-str-digits
        return "a number of thousands of digits"
    return text if len(text) <= most else f"{text[:most]}... ({len(text):,} characters)"


_WORDS = {"images": "up --build --no-start"}
"""Commands of make's targets that have another name."""


def command(name: str, *switches: str, rest: str = "", **options: str) -> str:
    """Return a command for a message, as the user can type it in the working folder.

    For example, `make up NATIVE=1` in a checkout whose Makefile has it, and `bird-harness up --native`
    elsewhere. `rest` are arguments without a variable of `make`.
    """
    given = {option: shlex.quote(value) for option, value in options.items()}
    here = Path("Makefile")
    is_here = here.exists() and _MAKEFILE.exists() and here.samefile(_MAKEFILE)
    if is_here and f"\n{name}:" in here.read_text(encoding="utf-8"):
        values = {**dict.fromkeys(switches, "1"), **given}
        passed = [f'ARGS="{rest}"'] if rest else []
        variables = (f"{option.upper()}={value}" for option, value in values.items())
        return " ".join(("make", name, *variables, *passed))
    words = (*(f"--{switch}" for switch in switches), *(f"--{key} {value}" for key, value in given.items()))
    return " ".join(("bird-harness", _WORDS.get(name, name), *words, *([rest] if rest else [])))


def to_start(dialect: str | None = None) -> str:
    """Return the advice for a missing server; `dialect` names one that only starts if it is named."""
    named = {} if dialect is None else {"dialect": dialect}
    return (
        f"start one with `{command('up', **named)}`, or without Docker with"
        f" `{command('up', 'native', **named)}`"
    )


def said(error: OSError) -> str:
    """Return the system's message of an error, without numbers and paths.

    `shutil` raises one error with a list for all files, https://docs.python.org/3/library/shutil.html#shutil.Error;
    the first of them is used.
    """
    if isinstance(error, shutil.Error) and error.args and isinstance(error.args[0], list) and error.args[0]:
        reason = str(error.args[0][0][-1])
        # The format of the system's errors: "[Errno 28] No space left on device: 'path'".
        return reason.partition("] ")[2].partition(": '")[0] or reason
    return error.strerror or str(error)
