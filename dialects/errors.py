"""What the compiler says where it cannot promise the same rows."""


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
