"""Two texts written as one, so that their difference is to be seen: `SELECT {a|b} FROM t`."""

import re

_CHOICE = re.compile(r"\{([^|}]*)\|([^}]*)\}")


def sides(text: str) -> tuple[str, str]:
    """The text with what is before each bar, and with what is behind it."""
    assert _CHOICE.search(text), text
    return _CHOICE.sub(r"\1", text), _CHOICE.sub(r"\2", text)
