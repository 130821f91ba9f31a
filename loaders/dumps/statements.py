"""A dump as its statements, read piece by piece: what `mysqldump` and plain `pg_dump` write, and no more.

Text in quotes is never touched. Comments that clients drop are dropped; MySQL's conditional ones stay.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from dialects.enums import Dialect
from dialects.errors import BadInput

_ESCAPING = re.compile(rb"(?:[^'\"`\\]++|\\.)*+(['\"`])", re.DOTALL)
_AT_ONCE = re.compile(
    rb"(?:[^'\"`;#/-]++|'(?:[^'\\]++|\\.)*+'|\"(?:[^\"\\]++|\\.)*+\"|`[^`]*+`|-(?!-)|/(?!\*))++", re.DOTALL
)
"""As much of a MySQL statement as can be taken without looking at its parts, for the sake of time."""

_COPY = re.compile(rb"COPY .* FROM stdin;\s*$", re.DOTALL)
_ENDS_OF_ROWS = frozenset({b"\\.\n", b"\\.\r\n", b"\\."})
_ROWS_BYTES = 1 << 18
_QUIET = re.compile(rb"\\(?:un)?restrict \w+$")
"""What newer `pg_dump` writes for `psql`. https://www.postgresql.org/docs/current/app-psql.html"""


@dataclass(frozen=True)
class _Syntax:
    """What the dumps of one engine are written in."""

    outside: re.Pattern[bytes]
    """Where a statement's text may end or change its meaning."""
    escaping: frozenset[bytes]
    """The quotes within which a backslash escapes."""
    is_taken_at_once: bool = False
    """`_AT_ONCE` is of its statements."""
    copies: bool = False
    """It has COPY statements with rows behind them, and commands for the client."""


_SYNTAX: Mapping[Dialect, _Syntax] = {
    Dialect.MYSQL: _Syntax(
        outside=re.compile(rb"['\"`;]|--(?=\s)|#|/\*"),
        escaping=frozenset({b"'", b'"'}),
        is_taken_at_once=True,
    ),
    Dialect.POSTGRESQL: _Syntax(
        outside=re.compile(rb"[eE]?'|[\";]|--|/\*|\$(?:[A-Za-z_]\w*)?\$"),
        escaping=frozenset({b"e'", b"E'"}),
        copies=True,
    ),
}
"""https://dev.mysql.com/doc/refman/9.7/en/comments.html
https://www.postgresql.org/docs/current/sql-syntax-lexical.html
"""


@dataclass(frozen=True)
class Statement:
    """One statement, or some rows of the COPY statement before it, with the line that it begins in."""

    line: int
    text: bytes
    is_rows: bool = False


class _Reader:
    def __init__(self, path: Path, dialect: Dialect, public: bytes) -> None:
        self._path, self._syntax, self._public = path, _SYNTAX[dialect], public
        self._quote: bytes | None = None
        """What ends the text that is being read, if it is quoted or a comment."""
        self._parts: list[bytes] = []
        self._begin = 0

    def statements(self) -> Iterator[Statement]:
        with self._path.open("rb") as file:
            lines = enumerate(file, start=1)
            for number, line in lines:
                if not self._parts:
                    self._begin = number
                    if line.startswith(b"\\") and self._syntax.copies:
                        self._check_command(number, line.strip())
                        continue
                for text in self._ended(line):
                    yield Statement(self._begin, text)
                    if self._syntax.copies and _COPY.match(text):
                        yield from self._rows(lines)
                    self._begin = number
        if b"".join(self._parts).strip():
            self._refuse_end()

    def _rows(self, lines: Iterator[tuple[int, bytes]]) -> Iterator[Statement]:
        rows: list[bytes] = []
        held = 0
        for number, line in lines:
            is_end = line in _ENDS_OF_ROWS
            if rows and (is_end or held > _ROWS_BYTES):
                yield Statement(number - len(rows), b"".join(rows), is_rows=True)
                rows, held = [], 0
            if is_end:
                return
            rows.append(line)
            held += len(line)
        self._refuse_end()

    def _refuse_end(self) -> NoReturn:
        raise BadInput(f"{self._path}: ends within the statement of line {self._begin}; fetch it again")

    def _check_command(self, number: int, command: bytes) -> None:
        if not _QUIET.match(command):
            raise BadInput(
                f"{self._path}: line {number}: {command.decode(errors='replace')!r} is a command for psql;"
                " only plain dumps of one database are loaded"
            )

    def _ended(self, line: bytes) -> Iterator[bytes]:
        """The statements that end in this line."""
        at = 0
        while at < len(line):
            if self._quote is not None:
                at = self._quoted(line, at)
                continue
            found = self._plain(line, at)
            if found is None:
                return
            token, at = found[0], found.end()
            if token in {b"--", b"#"}:
                self._parts += [b"\n"] if self._parts else []
                return
            self._parts.append(token)
            if token == b";":
                text = b"".join(self._parts).strip()
                self._parts.clear()
                if text != b";":
                    yield text
            else:
                self._quote = b"*/" if token == b"/*" else token

    def _plain(self, line: bytes, at: int) -> re.Match[bytes] | None:
        """Take what is not quoted, and return what comes after it in this line."""
        start = at
        if self._syntax.is_taken_at_once and (taken := _AT_ONCE.match(line, at)):
            at = taken.end()
        found = self._syntax.outside.search(line, at)
        plain = line[start : found.start() if found else len(line)]
        if self._public:
            plain = re.sub(rb"\bpublic\.", self._public, plain)
        if plain.strip() or self._parts:
            self._parts.append(plain)
        return found

    def _quoted(self, line: bytes, at: int) -> int:
        """Take what is quoted, and return where that ends in this line."""
        quote = self._quote or b""
        escapes = quote in self._syntax.escaping
        if escapes:
            pattern, end = _ESCAPING, at
            while found := pattern.match(line, end):
                end = found.end()
                if found[1] == quote[-1:]:
                    break
            stop = end if found else -1
        else:
            where = line.find(quote, at)
            stop = where + len(quote) if where >= 0 else -1
        if stop < 0:
            self._parts.append(line[at:])
            return len(line)
        self._parts.append(line[at:stop])
        self._quote = None
        return stop


def statements(path: Path, dialect: Dialect, public: bytes = b"") -> Iterator[Statement]:
    """The statements of a dump in their order, none whole in memory but the one at hand.

    Args:
        path: the dump.
        dialect: whose dump it is: mysql or postgresql.
        public: what stands for `public.` outside of quotes, if anything does.

    Raises:
        BadInput: it ends within a statement, or has commands for the client.
    """
    return _Reader(path, dialect, public).statements()
