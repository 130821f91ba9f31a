"""Which texts are sent to MySQL at all: those that are queries, as far as their first word says.

The reading role may change nothing, but it may end other sessions of its own account, take locks and wait.
What is in a query can do that to its own session only, which ends with it.
"""

import re

from harness.engines.base import EMPTY

_QUERIES = frozenset({"SELECT", "WITH", "VALUES", "TABLE", "SHOW", "DESC", "DESCRIBE", "EXPLAIN"})
"""What a text may begin with. https://dev.mysql.com/doc/refman/9.7/en/sql-statements.html."""

_COUNTED = frozenset({"SELECT", "WITH", "VALUES", "TABLE"})
"""What EXPLAIN ANALYZE takes of these. https://dev.mysql.com/doc/refman/9.7/en/explain.html#explain-analyze."""

_SKIPPED = re.compile(
    r"(?: [\s(]++ | /\*(?!!) .*? \*/ | \#[^\n]* | --(?=[\s\x00-\x1f]|\Z)[^\n]* )*+", re.VERBOSE | re.DOTALL
)
"""Space, parentheses and comments, but none of the comments that MySQL executes.

https://dev.mysql.com/doc/refman/9.7/en/comments.html
"""

_NOTHING = re.compile(
    r"(?: [\s;]++ | /\*(?!!) .*? \*/ | \#[^\n]* | --(?=[\s\x00-\x1f]|\Z)[^\n]* )*+\Z", re.VERBOSE | re.DOTALL
)
"""The same with semicolons instead of parentheses, to the end."""

_WORD = re.compile(r"\w{1,40}|/\*!|.", re.DOTALL)


def refused(sql: str) -> str | None:
    """Why a text is not sent, or None where it is; a text without any statement is for the server to refuse.

    Whatever cannot be recognised as a query is refused, so nothing depends on reading it just as MySQL does.
    """
    found = _first(sql)
    if not found or found.upper() in _QUERIES:
        return None
    if _NOTHING.match(sql):
        return EMPTY
    return f"{found!r} begins no query, and only queries are run"


def uncounted(sql: str) -> str | None:
    """The first word of a text whose work the server does not count; None where it does, or there is none."""
    found = _first(sql)
    return found if found and found.upper() not in _COUNTED else None


def _first(sql: str) -> str:
    """The first word of a text, or a sign in its place; empty where there is nothing."""
    skipped = _SKIPPED.match(sql)
    found = _WORD.match(sql, skipped.end() if skipped else 0)
    return found[0] if found else ""
