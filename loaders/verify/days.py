"""Which day or moment a text of SQLite stands for, in the profile official: read by Python's calendar.

Written down from what docs/verification.md says, and apart from how the loaders convert.
"""

import re
from datetime import date, time
from functools import lru_cache

_REMEMBERED = 100_000
"""Texts: days repeat."""

_DAYS = (
    re.compile(rb"(?P<y>[0-9]{4})-(?P<m>[0-9]{2})-(?P<d>[0-9]{2})"),
    re.compile(rb"(?P<y>[0-9]{4})/(?P<m>[0-9]{2})/(?P<d>[0-9]{2})"),
    re.compile(rb"(?P<m>[0-9]{2})/(?P<d>[0-9]{2})/(?P<y>[0-9]{4})"),
)
_PLAIN = _DAYS[0]
_TIME = re.compile(rb"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,6}))?")
_DAY_CHARACTERS = 10


@lru_cache(_REMEMBERED)
def day(text: bytes) -> str | None:
    """The day that `YYYY-MM-DD`, `YYYY/MM/DD` or `MM/DD/YYYY` is, as the first; None for any other text."""
    found = next((match for pattern in _DAYS if (match := pattern.fullmatch(text))), None)
    if not found:
        return None
    try:
        return date(int(found["y"]), int(found["m"]), int(found["d"])).isoformat()
    except ValueError:
        return None


@lru_cache(_REMEMBERED)
def moment(text: bytes) -> str | None:
    """The moment that `YYYY-MM-DD`, with ` HH:MM:SS` and up to six decimals or without, is in UTC.

    Returns:
        `YYYY-MM-DD HH:MM:SS`, with the decimals that are not zero behind it; None for any other text.
    """
    if not _PLAIN.fullmatch(text[:_DAY_CHARACTERS]) or (on := day(text[:_DAY_CHARACTERS])) is None:
        return None
    if len(text) == _DAY_CHARACTERS:
        return f"{on} 00:00:00"
    found = _TIME.fullmatch(text[_DAY_CHARACTERS + 1 :])
    if not found or text[_DAY_CHARACTERS : _DAY_CHARACTERS + 1] != b" ":
        return None
    try:
        at = time(int(found[1]), int(found[2]), int(found[3])).isoformat()
    except ValueError:
        return None
    decimals = (found[4] or b"").decode().rstrip("0")
    return f"{on} {at}.{decimals}" if decimals else f"{on} {at}"
