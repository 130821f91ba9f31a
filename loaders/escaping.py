"""The lossless form in which a load with `--escape` writes values that servers cannot hold.

A value begins with `MARK`, then has a letter that says what it is, then its bytes in hexadecimal. Texts that
begin so by themselves are written in that form, too, and so are texts that would be taken for a number of the
same column: what arrives can be turned back. docs/loading.md says how.
"""

MARK = "\u241b"
"""The symbol for escape, which both servers hold and texts hardly ever begin with."""

TEXT, BLOB = f"{MARK}t", f"{MARK}b"
"""How escaped texts and blobs begin; what follows are the bytes of the text in UTF-8, or the blob's."""


def escaped_text(text: bytes, encoding: str, *, among_others: bool) -> str:
    """What is written for a text, given as its bytes in the encoding of the file.

    `among_others` says that the column holds other values than texts, too.
    """
    try:
        found = text.decode(encoding)
    except UnicodeDecodeError:
        return TEXT + text.hex()
    if "\0" in found or found.startswith(MARK) or (among_others and _reads_like_a_number(found)):
        return TEXT + found.encode().hex()
    return found


def escaped_value(name: str, *, among_others: bool) -> str:
    """SQL for the text that is written for a value of a column, which is given quoted."""
    return (
        f"CASE typeof({name}) WHEN 'null' THEN NULL"
        f" WHEN 'text' THEN escaped_text(CAST({name} AS BLOB), {among_others:d})"
        f" WHEN 'blob' THEN '{BLOB}' || lower(hex({name})) ELSE exact_text({name}) END"
    )


def _reads_like_a_number(text: str) -> bool:
    for kind in (int, float):
        try:
            if str(kind(text)) == text:
                return True
        except ValueError:
            continue
    return False
