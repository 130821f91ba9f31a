"""Split a PostgreSQL text into its statements, each with the word that decides its kind.

The driver sends each statement alone, by a protocol that takes one only. Where this module and the server
should read a text differently, the server therefore refuses it: a forbidden statement cannot hide in an
allowed one. Lexical rules: https://www.postgresql.org/docs/current/sql-syntax-lexical.html
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from harness.engines.base import is_empty

QUERIES = frozenset({"SELECT", "WITH", "VALUES", "TABLE"})
"""Statements that only return rows."""

ALLOWED = QUERIES | {
    "SHOW", "EXPLAIN", "SET", "RESET", "DECLARE", "FETCH", "MOVE", "CLOSE",
    "BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT", "SAVEPOINT", "RELEASE",
}  # fmt: skip
"""What is run at all. The rest changes something, or something outside of its own session.

Privileges do not stop all of that: a role may always alter itself, its password included.
"""

MOST = 1_000
"""Maximum statements of a text."""

_FOLLOWED = 10_000
"""Semicolons, dollar quotes and comments in comments that are followed; texts of them alone take seconds."""

_FLAT_COMMENT = r"/\*[^*/]*+(?:\*(?!/)[^*/]*+|/(?!\*)[^*/]*+)*+\*/"
_SPACE = re.compile(rf"(?:[ \t\n\r\f\v]++|--[^\n\r]*+|{_FLAT_COMMENT})*+")
_WORD = re.compile(r"[A-Za-z_]+")
_COMMENT = re.compile(r"/\*|\*/")
_NO_LETTER = r"\x00-@\[-^`{-\x7f"
"""What no name begins with. Without what can, which is a hundred times as many: compiling takes as long."""
_NO_NAME = r"\x00-/:-@\[-^`{-\x7f"
"""What is in no name: the same without digits."""
_DOLLARS = rf"\$(?:[^{_NO_LETTER}][^{_NO_NAME}]*+)?\$"
_DOLLAR_QUOTE = re.compile(_DOLLARS)
_WITHIN = re.compile(
    rf"""(?:
    [\x00-\x20!\#%&()*+,.:<=>?@\[\\\]^`{{|}}~\x7f]++
    | [eE]'(?:[^'\\]++|\\.|''|'[ \t\f\v]*+[\n\r]\s*+')*+'?
    | [^{_NO_NAME}][^\x00-\#%-/:-@\[-^`{{-\x7f]*+
    | '[^']*+'? | "[^"]*+"?
    | --[^\n\r]*+ | {_FLAT_COMMENT}
    | -(?!-) | /(?!\*) | (?!{_DOLLARS})\$
    )*+""",
    re.VERBOSE | re.DOTALL,
)
"""What ends no statement: everything but a semicolon, a comment with comments in it, a dollar quote."""


@dataclass(frozen=True)
class Statement:
    """One statement, with its semicolon. `word`: the first in capitals, `(` before a query, else empty."""

    text: str
    word: str

    @property
    def is_query(self) -> bool:
        """True if it is a query and nothing else."""
        return self.word == "(" or self.word in QUERIES

    @property
    def is_allowed(self) -> bool:
        """True if it may be run."""
        return self.is_query or self.word in ALLOWED


def statements(text: str) -> list[Statement]:
    """Return the statements of a text in their order, at least one and at most `MOST` + 1 of them.

    A text of one statement is returned unchanged. Comments alone are not a statement if there are others.
    An unclosed quote or comment reaches to the end of the text.
    """
    pieces = list(islice(_pieces(text), MOST + 1)) if ";" in text else []
    if len(pieces) < 2:  # noqa: PLR2004 - one is nothing to cut
        return [Statement(text, _first_word(text))]
    return [Statement(piece, _first_word(piece)) for piece in pieces]


def says_nothing(text: str) -> bool:
    """Return True if there is nothing in a text but space, comments, which nest here, and semicolons."""
    return is_empty(text[_starts(text, 0) :])


def _pieces(text: str) -> Iterator[str]:
    start = 0
    for end in _ends(text):
        if _starts(text, start) < end:
            yield text[start : end + 1]
        start = end + 1
    if _starts(text, start) < len(text):
        yield text[start:]


def _ends(text: str) -> Iterator[int]:
    """Where the semicolons are that end a statement."""
    at = 0
    for _ in range(_FOLLOWED):
        at = _end_of(_WITHIN, text, at)
        if at >= len(text):
            return
        if text[at] == ";":
            yield at
            at += 1
        elif quote := _DOLLAR_QUOTE.match(text, at):
            closed = text.find(quote[0], quote.end())
            at = len(text) if closed < 0 else closed + len(quote[0])
        else:
            at = _after_comment(text, at)


def _first_word(text: str) -> str:
    at = _starts(text, 0)
    if text.startswith("(", at):
        return "("
    word = _WORD.match(text, at)
    return word[0].upper() if word else ""


def _starts(text: str, at: int) -> int:
    """Return the first position from `at` on that is neither space nor comment."""
    for _ in range(_FOLLOWED):
        at = _end_of(_SPACE, text, at)
        if not text.startswith("/*", at):
            break
        at = _after_comment(text, at)
    return at


def _after_comment(text: str, at: int) -> int:
    """Return the end of the comment that begins at `at`; comments nest."""
    depth = 0
    for mark in islice(_COMMENT.finditer(text, at), _FOLLOWED):
        depth += 1 if mark[0] == "/*" else -1
        if depth == 0:
            return mark.end()
    return len(text)


def _end_of(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Where a pattern that matches everywhere ends."""
    found = pattern.match(text, at)
    return found.end() if found else at
