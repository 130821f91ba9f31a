"""What can stop a run, each with the exit code that the command line gives it.

Every message names what is wrong, where, and what to do about it, in one line: the command line prints
it as it is and adds nothing.
"""

import shlex
import shutil
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import current_thread, main_thread
from typing import NoReturn

from dialects.errors import BadInput, HarnessError

_MAKEFILE = Path(__file__).parents[2] / "Makefile"


class EngineUnavailable(HarnessError):
    """An engine that was asked for is not there, cannot be started, or broke."""

    exit_code = 3


class Terminated(KeyboardInterrupt):
    """SIGTERM, which ends a run as Ctrl-C does: what was done is kept, and how it goes on is said."""


def stopped_exit(stopped: BaseException) -> int:
    """The exit code of a process that Ctrl-C or SIGTERM ended, as shells report it."""
    return 128 + (signal.SIGTERM if isinstance(stopped, Terminated) else signal.SIGINT)


@contextmanager
def terminable() -> Iterator[Sequence[int]]:
    """Within the block SIGTERM raises `Terminated`, where nobody else has taken the signal.

    Yields the signals that came.
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
    """A value as a message quotes it: cut, if it is long, with its length."""
    try:
        text = str(value)
    except ValueError:  # https://docs.python.org/3/library/stdtypes.html#int-max-str-digits
        return "a number of thousands of digits"
    return text if len(text) <= most else f"{text[:most]}... ({len(text):,} characters)"


def within(name: str, value: float | None, least: float, most: float, unit: str = "") -> None:
    """Refuse a number outside of a range, or what is no number; None is what was not given.

    A range of whole numbers has no others in it.

    Raises:
        BadInput: it is; the message calls it `name`.
    """
    whole = isinstance(least, int) and isinstance(most, int)
    if value is not None and not (_is_number(value, whole=whole) and least <= value <= most):
        allowed = f"has to be between {least:,.15g} and {most:,.15g}{unit and ' '}{unit}"
        raise BadInput(f"{name} {brief(value)}: {allowed}")


def _is_number(value: object, *, whole: bool) -> bool:
    return not isinstance(value, bool) and isinstance(value, int if whole else int | float)


_WORDS = {"images": "up --build --no-start"}
"""What targets of make call, where it is no command of the same name."""


def command(name: str, *switches: str, rest: str = "", **options: str) -> str:
    """A command for a message, as the user can type it in the working folder.

    `make up NATIVE=1` where that is a checkout of the project whose Makefile has the command, and
    `bird-harness up --native` elsewhere.
    `rest` is what `make` has no variable for.
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


def to_start() -> str:
    """What to do where no server is up."""
    return f"start one with `{command('up')}`, or without Docker with `{command('up', 'native')}`"


def said(error: OSError) -> str:
    """What the system says of an error, without numbers and paths.

    `shutil` raises one with a list of those of all files, https://docs.python.org/3/library/shutil.html#shutil.Error;
    the first stands for them.
    """
    if isinstance(error, shutil.Error) and error.args and isinstance(error.args[0], list) and error.args[0]:
        reason = str(error.args[0][0][-1])
        # As the system's errors are printed: "[Errno 28] No space left on device: 'path'".
        return reason.partition("] ")[2].partition(": '")[0] or reason
    return error.strerror or str(error)
