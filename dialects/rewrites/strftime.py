"""Which places of the text YYYY-MM-DD HH:MM:SS a format of strftime prints."""

import re
from dataclasses import dataclass

_PLACES = {"Y": (1, 4), "m": (6, 2), "d": (9, 2), "H": (12, 2), "M": (15, 2), "S": (18, 2)}
"""Where a part is: its first character, counted from 1, and its length."""

_BETWEEN = {5: "-", 8: "-", 11: " ", 14: ":", 17: ":"}
"""The characters between the parts."""

_TOKEN = re.compile(r"%(.?)|[^%]+", re.DOTALL)

_DAY = "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
_CLOCK = "([01][0-9]|2[0-4]):[0-5][0-9]"
_SECONDS = ":[0-5][0-9]([.][0-9]+)?"

DATED = f"{_DAY}[ T]*({_CLOCK}({_SECONDS})? *[Zz]?)? *"
"""The texts whose day is printed as it stands: even the 31st of February, as long as there is no modifier."""

TIMED = f"{_DAY}( {_CLOCK}{_SECONDS})?"
"""The texts whose time is printed as it stands, too, or is midnight."""


@dataclass(frozen=True)
class Piece:
    """A run of characters of the text."""

    start: int
    length: int

    @property
    def end(self) -> int:
        """Its last character."""
        return self.start + self.length - 1


def pieces(pattern: str) -> list[Piece | str] | None:
    """What to print one after the other, pieces of the text and constants; None if the format has more."""
    found: list[Piece | str] = []
    for token in _TOKEN.finditer(pattern):
        letter = token[1]
        if letter is None:
            _append(found, token[0])
        elif letter == "%":
            _append(found, "%")
        elif letter in _PLACES:
            start, length = _PLACES[letter]
            _append(found, Piece(start, length))
        else:
            return None
    return found


def _append(found: list[Piece | str], piece: Piece | str) -> None:
    """Add a piece, and join it to those before it that it continues."""
    if found and isinstance(piece, Piece):
        last = found[-1]
        if isinstance(last, Piece) and last.end + 1 == piece.start:
            found[-1] = Piece(last.start, last.length + piece.length)
            return
        if len(found) > 1 and isinstance(last, str):
            before = found[-2]
            if (
                isinstance(before, Piece)
                and before.end + 2 == piece.start
                and last == _BETWEEN[piece.start - 1]
            ):
                found[-2:] = [Piece(before.start, before.length + 1 + piece.length)]
                return
    if found and isinstance(piece, str) and isinstance(found[-1], str):
        found[-1] += piece
    else:
        found.append(piece)
