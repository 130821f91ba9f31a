"""The lossless form in which a load with `--escape` writes values that servers cannot hold.

A value begins with `MARK`, then has a letter that says what it is, then its bytes in hexadecimal. Texts that
begin so by themselves are written in that form, too, and so are texts that would be taken for a number of the
same column: what arrives can be turned back. docs/loading.md says how.
"""

from dialects.numbers import well_formed
from dialects.schema import ESCAPED_BLOB, ESCAPED_TEXT, MARK


def escaped_text(text: bytes, encoding: str, *, among_others: bool) -> str:
    """What is written for a text, given as its bytes in the encoding of the file.

    `among_others` says that the column holds other values than texts, too.
    """
    try:
        found = text.decode(encoding)
    except UnicodeDecodeError:
        return ESCAPED_TEXT + text.hex()
    if "\0" in found or found.startswith(MARK) or (among_others and _reads_like_a_number(found)):
        return ESCAPED_TEXT + found.encode().hex()
    return found


def escaped_value(name: str, *, among_others: bool) -> str:
    """SQL for the text that is written for a value of a column, which is given quoted."""
    return (
        f"CASE typeof({name}) WHEN 'null' THEN NULL"
        f" WHEN 'text' THEN escaped_text(CAST({name} AS BLOB), {among_others:d})"
        f" WHEN 'blob' THEN '{ESCAPED_BLOB}' || lower(hex({name})) ELSE exact_text({name}) END"
    )


def _reads_like_a_number(text: str) -> bool:
    """Whether a comparison with a number takes it for one, or it is what an infinite number is written as."""
    return text in _INFINITE or well_formed(text) is not None


_INFINITE = {"inf", "-inf"}
