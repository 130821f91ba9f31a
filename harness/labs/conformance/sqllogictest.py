"""Reads sqllogictest files: records of lines, blank lines between them.

Format: https://sqlite.org/sqllogictest/doc/trunk/about.wiki. What its descendants write where the original
has nothing else to say is taken, too: a pattern or an error's text behind `statement error`, `query error`,
`statement count N`, rows on one line each.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dialects.errors import BadInput
from loaders.base.errors import brief
from loaders.base.files import one_line, read_text

# What a suite is made of, whoever wrote it: scripts of records, each with its line.

SQLITE = "sqlite"
"""SQLite's name in suites, in `onlyif` and `skipif`."""


@dataclass(frozen=True)
class ExpectedRows:
    """The rows that a suite expects of a query, as its file writes them: a second witness next to SQLite.

    `values` is None where the file has a digest; `count` and `md5` are None where it has the values.
    """

    types: str = ""
    """One letter a column: T text, I integer, R number with three decimals; others are as T."""
    sort: str = "nosort"
    """`nosort`, `rowsort` or `valuesort`: how rows are put in order before they are compared."""
    label: str | None = None
    """Queries of a script with the same label have the same rows."""
    values: tuple[str, ...] | None = None
    count: int | None = None
    md5: str | None = None


@dataclass(frozen=True)
class StatementRecord:
    """A statement that sets up the database; `fails`: the suite expects an error, None if unknown."""

    line: int
    sql: str
    fails: bool | None = None


@dataclass(frozen=True)
class QueryRecord:
    """A query whose rows are compared with SQLite's."""

    line: int
    sql: str
    expected: ExpectedRows | None = None
    file: str = ""
    """Within the script's folder, where a script has several."""
    values: Mapping[str, object] = field(default_factory=dict)
    """Of its parameters, by name or number."""


@dataclass(frozen=True)
class Left:
    """A query or statement that is not run, and why."""

    line: int
    reason: str
    is_query: bool = True


Record = StatementRecord | QueryRecord | Left


@dataclass(frozen=True)
class Script:
    """Records that run in order on one database, which is empty at first.

    `base` is a SQLite file to begin with instead. `read` reads the records again each time, so that a large
    suite is not kept in memory; it raises `BadInput`.
    """

    name: str
    """The path within the suite."""
    read: Callable[[], Iterator[Record]] = field(compare=False)
    files: Sequence[Path] = ()
    base: Path | None = None

    def key(self, query: QueryRecord | Left) -> str:
        """Return the key of a query within the suite: file and line."""
        file = query.file if isinstance(query, QueryRecord) else ""
        return f"{self.name}/{file}:{query.line}" if file else f"{self.name}:{query.line}"


SUFFIXES = (".test", ".slt")

SORTS = ("nosort", "rowsort", "valuesort")

_HASHED = re.compile(r"(\d+) values? hashing to ([0-9a-f]{32})")
_TYPES = re.compile(r"[A-Z?]+", re.IGNORECASE)

Lines = Sequence[tuple[int, str]]
"""Lines with their numbers, from 1."""


def read(path: Path) -> Iterator[Record]:
    """Yield the records of a file, in its order.

    Raises:
        BadInput: the file cannot be read, or a record is none.
    """
    text = read_text(path).text
    for block in _blocks(text):
        conditions = _conditions(path, block)
        rest = block[len(conditions) :]
        if not rest:
            raise _wrong(path, block[-1], "a condition is not followed by a record; put it before one")
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
            raise _wrong(path, rest[0], f"{brief(kind)!r} is not a record of sqllogictest: {hint}")
        found = record(path, rest, words)
        yield found if why is None else Left(number, why, is_query=isinstance(found, QueryRecord))


def _blocks(text: str) -> Iterator[Lines]:
    """Yield the records' lines, without comments before and between them."""
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
    """Return the `onlyif` and `skipif` before a record, with their engines."""
    found = []
    for place in block:
        words = place[1].split()
        if words[0] not in {"onlyif", "skipif"}:
            break
        # A comment may follow the engine.
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
        raise _wrong(path, block[0], "hash-threshold takes one whole number, and a blank line after it")


def _statement(path: Path, block: Lines, words: Sequence[str]) -> Record:
    if not words or words[0] not in {"ok", "error", "maybe", "count"}:
        raise _wrong(path, block[0], "a statement is `statement ok` or `statement error`; say which")
    sql, _ = _parts(path, block, "statement")
    fails = {"ok": False, "count": False, "error": True, "maybe": None}[words[0]]
    return StatementRecord(block[0][0], sql, fails)


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
        raise _wrong(path, block[0], f"{brief(words[1])!r} is not an order of rows; choose from {choices}")
    sql, result = _parts(path, block, "query")
    types = words[0].upper()
    if result is None:
        return QueryRecord(block[0][0], sql, ExpectedRows(types, sort, label) if label else None)
    hashed = _HASHED.fullmatch(result[0].strip()) if len(result) == 1 else None
    if hashed:
        expected = ExpectedRows(types, sort, label, count=int(hashed[1]), md5=hashed[2])
    else:
        expected = ExpectedRows(types, sort, label, tuple(result))
    return QueryRecord(block[0][0], sql, expected)


def _parts(path: Path, block: Lines, kind: str) -> tuple[str, list[str] | None]:
    """Return the SQL of a record, and the lines after `----`, None if there are no dashes."""
    lines = [line for _, line in block[1:]]
    end = next((at for at, line in enumerate(lines) if line.rstrip() == "----"), len(lines))
    sql = "\n".join(lines[:end])
    if not sql.strip():
        raise _wrong(path, block[0], f"the {kind} has no SQL; write it on the next line")
    return sql, lines[end + 1 :] if end < len(lines) else None


_RECORDS = {"statement": _statement, "query": _query}


def _wrong(path: Path, place: tuple[int, str], what: str) -> BadInput:
    return BadInput(one_line(f"{path}:{place[0]}: {what}"))
