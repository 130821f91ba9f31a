"""What the compiler says where it cannot promise the same rows, and what every error on purpose is."""

from typing import ClassVar


class Untranslatable(Exception):
    """A text that has no translation.

    `construct` names what it is about, `position` is its offset in characters in the text if that is known,
    and `reason` says why.
    """

    def __init__(self, construct: str, reason: str, position: int | None = None) -> None:
        where = "" if position is None else f" at character {position}"
        super().__init__(f"{construct}{where}: {reason}")
        self.construct = construct
        self.reason = reason
        self.position = position


class HarnessError(Exception):
    """Base of everything the project raises on purpose.

    Exit codes: 0 done, 1 a threshold or check failed, 2 bad usage or bad input, 3 an engine is missing or
    broke.
    """

    exit_code: ClassVar[int] = 2


class BadInput(HarnessError):
    """A file, option or environment variable is not what it has to be."""

    exit_code = 2
