"""Reads sqllogictest files: records of lines, blank lines between them.

Format: https://sqlite.org/sqllogictest/doc/trunk/about.wiki. What its descendants write where the original
has nothing else to say is taken, too: a pattern or an error's text behind `statement error`, `query error`,
`statement count N`, rows on one line each.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from dialects.errors import BadInput
from harness.conformance.suites import SQLITE, Expected, Left, Query, Record, Statement
from loaders.base.errors import brief
from loaders.base.files import one_line, read_text

SUFFIXES = (".test", ".slt")

SORTS = ("nosort", "rowsort", "valuesort")

_HASHED = re.compile(r"(\d+) values? hashing to ([0-9a-f]{32})")
_TYPES = re.compile(r"[A-Z?]+", re.IGNORECASE)

Lines = Sequence[tuple[int, str]]
"""Lines with their numbers, from 1."""


def read(path: Path) -> Iterator[Record]:
    """The records of a file, in its order.

    Raises:
        BadInput: the file cannot be read, or a record is none.
    """
    text = read_text(path).text
    for block in _blocks(text):
        conditions = _conditions(path, block)
        rest = block[len(conditions) :]
        if not rest:
            raise _wrong(path, block[-1], "a condition stands before no record; put it before one")
        number, head = rest[0]
        kind, *words = head.split()
        if kind == "hash-threshold":
            _threshold(path, rest)
            continue
        why = _why_not(conditions)
        if kind == "halt":
            if why is None:
                return
            continue
        record = _RECORDS.get(kind)
        if record is None:
            hint = "statement, query, hash-threshold, halt, onlyif and skipif are; convert or remove it"
            raise _wrong(path, rest[0], f"{brief(kind)!r} is no record of sqllogictest: {hint}")
        found = record(path, rest, words)
        yield found if why is None else Left(number, why, is_query=isinstance(found, Query))


def _blocks(text: str) -> Iterator[Lines]:
    """The records' lines, without comments before and between them."""
    block: list[tuple[int, str]] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            if block:
                yield block
            block = []
        elif not (line.startswith("#") and all(_is_condition(each) for _, each in block)):
            block.append((number, line.removesuffix("\r")))
    if block:
        yield block


def _is_condition(line: str) -> bool:
    return line.startswith(("onlyif ", "skipif "))


def _conditions(path: Path, block: Lines) -> list[tuple[str, str]]:
    """The `onlyif` and `skipif` before a record, with their engines."""
    found = []
    for place in block:
        words = place[1].split()
        if words[0] not in {"onlyif", "skipif"}:
            break
        # Behind the engine may stand a comment.
        if len(words) < 2 or (len(words) > 2 and not words[2].startswith("#")):  # noqa: PLR2004 - kind and engine
            raise _wrong(path, place, f"{words[0]} takes the name of one engine; write `{words[0]} {SQLITE}`")
        found.append((words[0], words[1].lower()))
    return found


def _why_not(conditions: Sequence[tuple[str, str]]) -> str | None:
    """Why SQLite does not run a record; None if it does."""
    only = [engine for kind, engine in conditions if kind == "onlyif"]
    if only and SQLITE not in only:
        return f"onlyif {only[0]}"
    return f"skipif {SQLITE}" if ("skipif", SQLITE) in conditions else None


def _threshold(path: Path, block: Lines) -> None:
    words = block[0][1].split()
    if len(words) != 2 or not words[1].isdecimal() or len(block) > 1:  # noqa: PLR2004 - kind and number
        raise _wrong(path, block[0], "hash-threshold takes one whole number, and a blank line behind it")


def _statement(path: Path, block: Lines, words: Sequence[str]) -> Record:
    if not words or words[0] not in {"ok", "error", "maybe", "count"}:
        raise _wrong(path, block[0], "a statement is `statement ok` or `statement error`; say which")
    sql, _ = _parts(path, block, "statement")
    fails = {"ok": False, "count": False, "error": True, "maybe": None}[words[0]]
    return Statement(block[0][0], sql, fails)


def _query(path: Path, block: Lines, words: Sequence[str]) -> Record:
    if words and words[0] == "error":
        _parts(path, block, "query")
        return Left(block[0][0], "the suite expects an error")
    if not words or not _TYPES.fullmatch(words[0]):
        raise _wrong(path, block[0], "a query names the types of its columns, as in `query ITR rowsort`")
    label = words[-1] if len(words) > 1 and words[-1] not in SORTS else None
    sort = words[1] if len(words) > 1 and words[1] in SORTS else "nosort"
    if len(words) > 3 or (len(words) == 3 and words[1] not in SORTS):  # noqa: PLR2004 - types, sort, label
        choices = ", ".join(SORTS)
        raise _wrong(path, block[0], f"{brief(words[1])!r} is no order of rows; choose from {choices}")
    sql, result = _parts(path, block, "query")
    types = words[0].upper()
    if result is None:
        return Query(block[0][0], sql, Expected(types, sort, label) if label else None)
    hashed = _HASHED.fullmatch(result[0].strip()) if len(result) == 1 else None
    if hashed:
        expected = Expected(types, sort, label, count=int(hashed[1]), md5=hashed[2])
    else:
        expected = Expected(types, sort, label, tuple(result))
    return Query(block[0][0], sql, expected)


def _parts(path: Path, block: Lines, kind: str) -> tuple[str, list[str] | None]:
    """The SQL of a record, and the lines behind `----`, None if there are no dashes."""
    lines = [line for _, line in block[1:]]
    end = next((at for at, line in enumerate(lines) if line.rstrip() == "----"), len(lines))
    sql = "\n".join(lines[:end])
    if not sql.strip():
        raise _wrong(path, block[0], f"the {kind} has no SQL; write it on the next line")
    return sql, lines[end + 1 :] if end < len(lines) else None


_RECORDS = {"statement": _statement, "query": _query}


def _wrong(path: Path, place: tuple[int, str], what: str) -> BadInput:
    return BadInput(one_line(f"{path}:{place[0]}: {what}"))
