"""The compiler's error for texts without an exact translation, and the base of the project's errors."""

from typing import ClassVar


class Untranslatable(Exception):
    """The text has no exact translation.

    `construct` is the part that cannot be translated, `position` its offset in characters, if known, and
    `reason` explains why.
    """

    def __init__(self, construct: str, reason: str, position: int | None = None) -> None:
        where = "" if position is None else f" at character {position}"
        super().__init__(f"{construct}{where}: {reason}")
        self.construct = construct
        self.reason = reason
        self.position = position


class TranslatorFault(Untranslatable):
    """The translator itself failed on a text; its `__cause__` is the fault."""


class HarnessError(Exception):
    """Base of all errors that the project raises.

    Exit codes: 0 done, 1 a threshold or check failed, 2 bad usage or bad input, 3 an engine is missing or
    broke.
    """

    exit_code: ClassVar[int] = 2


class BadInput(HarnessError):
    """A file, option or environment variable is invalid."""

    exit_code = 2
