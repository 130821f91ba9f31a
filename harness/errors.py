"""What can stop a run, each with the exit code that the command line gives it.

Every message names what is wrong, where, and what to do about it, in one line: the command line prints
it as it is and adds nothing.
"""

from typing import ClassVar


class HarnessError(Exception):
    """Base of everything the project raises on purpose.

    Exit codes: 0 done, 1 a threshold or check failed, 2 bad usage or bad input, 3 an engine is missing or
    broke.
    """

    exit_code: ClassVar[int] = 2


class BadInput(HarnessError):
    """A file, option or environment variable is not what it has to be."""

    exit_code = 2


class EngineUnavailable(HarnessError):
    """An engine that was asked for is not there, cannot be started, or broke."""

    exit_code = 3
