"""SQLite's functions for the engines, in one namespace: those that no built-in of an engine replaces exactly.

Each file of this folder defines a function of SQLite's, or a few that need each other, for all engines::

    -- What it computes, in SQLite's words.
    --
    -- Source: a URL.

    -- Engine: mysql, mariadb

    CREATE FUNCTION bird_sqlite.unicode_of(value ...) RETURNS BIGINT DETERMINISTIC NO SQL
    RETURN ...;

    -- Engine: postgresql

    CREATE FUNCTION bird_sqlite.unicode_of(value text) RETURNS bigint LANGUAGE sql IMMUTABLE ...;

    -- Engine: duckdb

    CREATE FUNCTION bird_sqlite.unicode_of(VARCHAR) RETURNS BIGINT LANGUAGE sqlite AS $$ unicode(?1) $$;

A line `-- Engine:` names the engines of the statements below it. A function has the same name, arguments and
meaning wherever translations call it, and returns NULL where an argument is NULL. One that only others call
stands with them, or in a file of its own if several files need it. The order does not matter.

- MySQL and MariaDB run each statement under sql_mode NO_BACKSLASH_ESCAPES. A text without a collation of its
  own would get that of the character set, so each names it. A function's digest is its comment, which is
  written behind NO SQL.
- PostgreSQL parses the body of LANGUAGE sql at once, so each function is created after those that it calls.
- DuckDB calls this process. `LANGUAGE sqlite` is an expression that the SQLite library computes, whose ?1 and
  ?2 are the arguments; `LANGUAGE python` is a function of `loaders.duckdb.functions`.

Most calls on a server take a short way, proven to be exact and cheap. What it cannot prove takes the long
way, which follows the arithmetic of SQLite 3.40 step by step.

Every load in profile `faithful` installs them, and only translations use them. A session with DuckDB brings
them along.
"""

import hashlib
import re
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from importlib.resources import files

from dialects.enums import Dialect
from dialects.identifiers import FUNCTIONS_NAMESPACE

_SECTION = re.compile(r"^-- Engine: ([a-z, ]+)$", re.MULTILINE)
_STATEMENT = re.compile(r"^CREATE FUNCTION .*?(?=^CREATE FUNCTION |\Z)", re.DOTALL | re.MULTILINE)
_TRAILING = re.compile(r"(?:\s|--[^\n]*$)*\Z", re.MULTILINE)
_NAME = re.compile(rf"\b{FUNCTIONS_NAMESPACE}\.(\w+)")


@cache
def definitions(dialect: Dialect) -> dict[str, str]:
    """Return an engine's CREATE FUNCTION statements by the function's name, each after those that it calls.

    They come without the comments between them and without a semicolon at the end.

    Raises:
        ValueError: a file names no engine of the project, defines a function again, or calls one that the
            engine lacks.
    """
    found: dict[str, str] = {}
    for file, name, statement in _statements(dialect):
        if name in found:
            raise ValueError(f"loaders/functions/{file}: {dialect} has a function {name} already")
        found[name] = statement
    called = calls(found)
    for name, others in called.items():
        if missing := [other for other in others if other not in found]:
            raise ValueError(f"loaders/functions: {name} calls {', '.join(missing)}, which {dialect} lacks")
    return {name: found[name] for name in TopologicalSorter(called).static_order()}


def calls(statements: dict[str, str]) -> dict[str, list[str]]:
    """Return which other functions each one calls, in alphabetical order."""
    return {
        name: sorted({*_NAME.findall(statement)} - {name}) for name, statement in sorted(statements.items())
    }


def _statements(dialect: Dialect) -> Iterator[tuple[str, str, str]]:
    """Yield the file, name and statement of each function of an engine."""
    for file in files(__name__).iterdir():
        if file.name.endswith(".sql"):
            _, *sections = _SECTION.split(file.read_text(encoding="utf-8"))
            for line, text in zip(sections[::2], sections[1::2], strict=True):
                engines = line.split(", ")
                if unknown := [engine for engine in engines if engine not in {*Dialect}]:
                    raise ValueError(f"loaders/functions/{file.name}: no engine {', '.join(unknown)}")
                for statement in _STATEMENT.findall(text) if dialect in engines else ():
                    yield file.name, _NAME.findall(statement)[0], _TRAILING.sub("", statement).rstrip(";")


@cache
def digest(dialect: Dialect) -> str:
    """Return a digest that identifies the version of the functions; comments and files do not matter."""
    return hashlib.sha256("\n".join(sorted(definitions(dialect).values())).encode()).hexdigest()
