"""What a load with `--escape` has to put where a server cannot hold a value, and how to turn it back.

Written down apart from `loaders.escaping`, which the loaders follow. What is written is turned back
here at once: if another value than the file's comes of it, no server can be right.
"""

import sqlite3

from dialects.identifiers import quoted
from loaders.verify.forms import Value
from loaders.verify.mapping import Holding
from loaders.verify.sqlite import FileTable

_ESCAPE = "␛".encode()
_TEXT, _BLOB = _ESCAPE + b"t", _ESCAPE + b"b"
_BEYOND_SINGLES = 2.0**128 - 2.0**103
"""The middle between the largest single and what would be the next one."""
_EXACT = 2**53


def stored(value: Value, *, among_others: bool) -> Value:
    """The text that a column of texts has to have for a value; no text if that cannot be turned back.

    Args:
        value: what SQLite stores.
        among_others: whether the column holds other values than texts.
    """
    if value is None:
        return None
    if isinstance(value, bytes):
        text = _BLOB + value.hex().encode()
    elif not isinstance(value, bytearray):
        text = str(value).encode()
    elif _is_plain(bytes(value)) and not (among_others and _number(bytes(value)) is not None):
        text = bytes(value)
    else:
        text = _TEXT + value.hex().encode()
    back = turned_back(text, among_others=among_others)
    is_same = type(back) is type(value) and (back == value and str(back) == str(value))
    return bytearray(text) if is_same else b""


def turned_back(text: bytes, *, among_others: bool) -> Value:
    """The value for which a text was written."""
    if text.startswith(_TEXT):
        return bytearray.fromhex(text[len(_TEXT) :].decode())
    if text.startswith(_BLOB):
        return bytes.fromhex(text[len(_BLOB) :].decode())
    number = _number(text) if among_others else None
    return bytearray(text) if number is None else number


def becomes(
    connection: sqlite3.Connection, table: FileTable, column: str, holds: Holding, kind: str
) -> Holding:
    """What a column is taken for that a server cannot hold as it is.

    Args:
        connection: the file's.
        table: which table.
        column: which column.
        holds: what it holds.
        kind: the type of a server that holds its numbers as far as it can.
    """
    if holds is Holding.MIXTURE:
        return Holding.TEXTS
    if holds is not Holding.REALS:
        return holds
    name = quoted(column)
    [inexact, greatest] = connection.execute(
        f"SELECT max(typeof({name}) = 'integer' AND {name} NOT BETWEEN -{_EXACT} AND {_EXACT}),"  # noqa: S608
        f" max(abs({name})) FROM {quoted(table.name)}"
    ).fetchone()
    has_reals = {"real": _BEYOND_SINGLES, "double": float("inf")}
    if inexact:
        return Holding.TEXTS
    if kind in has_reals and greatest >= has_reals[kind]:
        return Holding.TEXTS if kind == "double" else Holding.HUGE
    return holds


def _is_plain(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return b"\0" not in text and not text.startswith(_ESCAPE)


def _number(text: bytes) -> int | float | None:
    """The number whose shortest text this is."""
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        if str(number).encode() == text:
            return number
    return None
