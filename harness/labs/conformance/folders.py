"""Finds the scripts of a suite: sqllogictest files, and folders of SQL with a schema or a database file.

A folder with `schema.sql`, or with one SQLite file, is a database; every other `.sql` file in it has queries,
as many as it likes, each ended by a semicolon. Everything else is looked through for more of both.

Parameters have their values from comments before a query, one line of JSON each: `-- params: ["Ann", 7]` has
those of the next query in SQLite's order, `-- params: {"user": 7}` those by name of all that follow in the
file. `{"hex": "00ff"}` is a blob.
"""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from dialects.errors import BadInput
from dialects.parameters import numbered
from harness.data.set_families import DATABASE_SUFFIXES
from harness.engines.base import statements
from harness.labs.conformance import sqllogictest
from harness.labs.conformance.sqllogictest import QueryRecord, Record, Script, StatementRecord
from loaders.base.errors import brief
from loaders.base.files import parse_json, read_text, visible

SCHEMA = "schema.sql"
QUERIES = ".sql"


def scripts(suite: Path) -> list[Script]:
    """Return the scripts of a suite, by name.

    Args:
        suite: a folder, or one sqllogictest file.

    Raises:
        BadInput: there is no such folder or file, or nothing in it that is a suite.
    """
    try:
        found = list(_below(suite, suite if suite.is_dir() else suite.parent))
    except OSError as error:
        raise BadInput(f"{suite}: cannot be read ({error.strerror})") from error
    if not found:
        raise BadInput(
            f"{suite}: is not a suite; it needs {' or '.join(sqllogictest.SUFFIXES)} files, or folders with "
            f"{SCHEMA} or a SQLite file next to {QUERIES} files; see docs/how-to/coverage.md"
        )
    return sorted(found, key=lambda script: script.name)


def _below(path: Path, suite: Path) -> Iterator[Script]:
    if path.is_file():
        name = path.relative_to(suite).as_posix()
        if path.suffix.lower() in sqllogictest.SUFFIXES:
            yield Script(name, partial(sqllogictest.read, path), (path,))
        return
    inside = visible(path)
    files = [each for each in inside if each.is_file()]
    bases = [each for each in files if each.suffix.lower() in DATABASE_SUFFIXES]
    schema = next((each for each in files if each.name == SCHEMA), None)
    queries = [each for each in files if each.suffix.lower() == QUERIES and each is not schema]
    if schema and bases:
        raise BadInput(f"{path}: has {SCHEMA} and {bases[0].name}; keep the one for the queries")
    if len(bases) > 1 and queries:
        raise BadInput(f"{path}: has {len(bases)} SQLite files; keep one next to its queries")
    if (schema or bases) and queries:
        base = bases[0] if bases else None
        read = partial(_read, schema, queries, path)
        used = (*([schema] if schema else bases), *queries)
        name = path.relative_to(suite).as_posix() if path != suite else suite.absolute().name
        yield Script(name, read, tuple(used), base)
    elif queries:
        raise BadInput(f"{queries[0]}: no {SCHEMA} and no SQLite file next to it; add its database")
    elif schema or bases:
        raise BadInput(f"{path}: has a database and no queries; add a {QUERIES} file with some")
    for each in inside:
        yield from _below(each, suite) if each.is_dir() or each in files else ()


def _read(schema: Path | None, queries: Sequence[Path], folder: Path) -> Iterator[Record]:
    if schema is not None:
        for line, sql in statements(read_text(schema).text):
            yield StatementRecord(line, sql)
    for path in queries:
        yield from _queries(path, path.relative_to(folder).as_posix())


_PARAMS = re.compile(r"--[ \t]*+params:(?P<values>[^\n]*+)")


def _queries(path: Path, file: str) -> Iterator[QueryRecord]:
    """Yield the queries of a file with the values of their parameters.

    Raises:
        BadInput: values are none, or no query has a parameter for them.
    """
    named: dict[str, object] = {}
    unused: dict[str, int] = {}
    for line, sql in statements(read_text(path).text):
        numbers: dict[str, object] = {}
        for at, written in enumerate(_leading_comments(sql), line):
            if found := _PARAMS.match(written):
                by_name, by_number = _values(path, at, found["values"])
                named |= by_name
                numbers |= by_number
                unused |= dict.fromkeys(by_name, at)
        names = numbered(sql, {})[1].names
        if spare := [name for name in numbers if name not in names]:
            raise BadInput(f"{path}:{line}: the query has no parameter {spare[0]}; remove its value")
        known = named | numbers
        unused = {name: at for name, at in unused.items() if name not in names}
        yield QueryRecord(line, sql, file=file, values={name: known[name] for name in names if name in known})
    if unused:
        name, at = next(iter(unused.items()))
        raise BadInput(f"{path}:{at}: no query after it has a parameter {name}; remove its value")


def _leading_comments(sql: str) -> Iterator[str]:
    for line in map(str.strip, sql.splitlines()):
        if line and not line.startswith("--"):
            return
        yield line


def _values(path: Path, line: int, text: str) -> tuple[dict[str, object], dict[str, object]]:
    """Return the values of a comment: by name, and by number."""
    try:
        found = parse_json(text)
    except ValueError as error:
        raise BadInput(f"{path}:{line}: params: is not JSON in one line ({error})") from error
    if isinstance(found, list):
        return {}, {str(number): _value(path, line, each) for number, each in enumerate(found, 1)}
    if isinstance(found, dict):
        return {name.lstrip(":@$?"): _value(path, line, each) for name, each in found.items()}, {}
    raise BadInput(f"{path}:{line}: params: write an array for ?, or an object of values by names")


def _value(path: Path, line: int, found: object) -> object:
    if not isinstance(found, list | dict):
        return found
    try:
        if isinstance(found, dict) and found.keys() == {"hex"}:
            return bytes.fromhex(str(found["hex"]))
    except ValueError:
        pass
    raise BadInput(
        f"{path}:{line}: params: {brief(str(found))} is no value; "
        'write a number, a text, null or {"hex": "00ff"}'
    )
