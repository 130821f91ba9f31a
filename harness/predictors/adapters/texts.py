"""Texts from outside, made fit for one line of a message or for a file."""

import re

from loaders.textfiles import one_line

_LIMIT = 300
_SURROGATES = re.compile("[\ud800-\udfff]")


def shortened(text: str, limit: int = _LIMIT) -> str:
    """The text in one line of printable characters, its middle left out where it is longer than `limit`."""
    # A text of megabytes is cut before it is looked at.
    start, end = text[: 2 * limit], text[2 * limit :][-2 * limit :]
    line = one_line(" ".join(writable(start + end).split()))
    half = (limit - 5) // 2
    return line if len(line) <= limit else f"{line[:half]} ... {line[-half:]}"


def writable(text: str) -> str:
    """The text with U+FFFD for half surrogates, which no file in UTF-8 can hold."""
    return _SURROGATES.sub("\ufffd", text)
