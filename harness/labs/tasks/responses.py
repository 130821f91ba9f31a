"""The statements in a model's raw response: as a family's scripts take them out, and by our own rules."""

import re
import sqlite3
from enum import StrEnum

from dialects.enums import Dialect
from harness.data.answers import LONGEST, Extract, extract
from harness.data.answers.reply import visible
from harness.data.answers.statements import begin, statements_of


class TaskExtract(StrEnum):
    """What takes statements out of responses."""

    OFFICIAL = "official"
    """The script that comes with the benchmark."""
    ANSWER_1 = Extract.ANSWER_1.value
    """The rules of docs/reference/extraction.md; where a code block writes, all its statements."""


_FENCE = "```"
_SELECT = re.compile(r"SELECT\s", re.IGNORECASE)
_SQL_FENCE = re.compile(r"```[ \t]*+sql", re.IGNORECASE)


def sqlite_statements(response: str) -> list[str]:
    """Take statements out as LiveSQLBench's scripts for SQLite do, and split at every semicolon."""
    found = _between(response, "```sqlite\n", "\n```")
    if found is None and _FENCE in response:
        found = response.partition(_FENCE)[0]
    if found is None:
        found = _between(response, "`", "`")
    if found is None:
        found = _selected(response) or ""
    return [f"{part};" for each in found.split(";") if (part := each.strip())]


def postgresql_statements(response: str) -> list[str]:
    """Take one text out as LiveSQLBench's scripts for PostgreSQL do; semicolons stay in it."""
    if "`" not in response:
        return [_selected(response) or response]
    for opening in ("```postgresql", "```sql", _FENCE):
        if (found := _between(response, opening, _FENCE)) is not None:
            return [found.strip()]
    if _FENCE in response:
        return [response.partition(_FENCE)[0].strip()]
    found = _between(response, "`", "`")
    return [response if found is None else found.strip()]


def fenced_statements(response: str) -> list[str]:
    """Take a text out of each block that says it is SQL, as BIRD-CRITIC's scripts do."""
    found: list[str] = []
    at = 0
    while (opening := _SQL_FENCE.search(response, at)) is not None:
        end = response.find(_FENCE, opening.end())
        if end < 0:
            break
        found.append(response[opening.end() : end].strip())
        at = end + len(_FENCE)
    return found


def _between(text: str, opening: str, closing: str) -> str | None:
    """Return what is between the first opening and the next closing; None without both."""
    _, found, rest = text.partition(opening)
    inside, closed, _ = rest.partition(closing)
    return inside if found and closed else None


def _selected(text: str) -> str | None:
    """Return the text from SELECT up to a semicolon; None without both."""
    found = _SELECT.search(text)
    end = text.find(";", found.end()) if found is not None else -1
    return text[found.start() : end + 1] if found is not None and end >= 0 else None


_LANGUAGE = re.compile(r"[\w+-]*+[ \t]*+(?:\n|\Z)")
_WRITES = re.compile(
    r"\s*+(?:insert|update|delete|replace|merge|create|alter|drop|truncate|grant|revoke|call|do|begin|start|"
    r"set|comment|refresh|reindex|analyze|vacuum)\b",
    re.IGNORECASE,
)


def own_statements(response: str, dialect: Dialect) -> list[str]:
    """Take statements out by our own rules: all of a block that writes, else the answer's query."""
    said = visible(response)
    text = _block(said)
    if text is None and _WRITES.match(said):
        text = said
    if text is not None:
        parts = _split(text, dialect)
        if any(begin(part, dialect) is None and _WRITES.match(part) for part in parts):
            return parts
    sql = extract(response, Extract.ANSWER_1, dialect).sql
    return [] if sql is None else [sql]


def _block(text: str) -> str | None:
    """Return the last code block; None if there is none.

    Where one fence has no partner, the prompt may have opened the first block; else the last is cut off.
    """
    parts = text.split(_FENCE)
    if len(parts) == 1:
        return None
    if len(parts) % 2 == 0 and (_WRITES.match(parts[0]) or begin(parts[0]) is not None):
        return parts[0]
    blocks = [part for part in parts[1::2] if part.strip()]
    if not blocks:
        return None
    language = _LANGUAGE.match(blocks[-1])
    return blocks[-1] if language is None else blocks[-1][language.end() :]


def _split(text: str, dialect: Dialect) -> list[str]:
    """Split a text into statements where one text may hold only one; bodies of triggers stay whole."""
    if dialect is not Dialect.SQLITE:
        return [text.strip()]
    if len(text) > LONGEST:
        return statements_of(text, dialect)
    found: list[str] = []
    open_ = ""
    for part in statements_of(text, dialect):
        open_ = f"{open_} {part}".strip()
        if sqlite3.complete_statement(open_):
            found.append(open_)
            open_ = ""
    return [*found, open_] if open_ else found
