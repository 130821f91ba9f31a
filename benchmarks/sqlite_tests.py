"""SQLite's own tests as a suite for `bird-harness lab conformance`.

    tar xf sqlite-src-3400100.tar.gz  # or any other source release
    python -m benchmarks.sqlite_tests sqlite-src/test results/suites/sqlite --each 60
    bird-harness lab conformance results/suites/sqlite --translator bird,sqlglot

They are scripts in Tcl, which are evaluated as they are, by `tclsh` with its package sqlite3 (Debian: tcl and
libsqlite3-tcl). Each SQL text that a script gives its first connection becomes records of sqllogictest. They
have no rows, since SQLite is asked again. Scripts about files, faults, threads and virtual tables are left
out, and queries with variables, of the schema's own tables, or of functions of the script.
"""

import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Annotated, NamedTuple

import typer

from dialects.errors import BadInput, HarnessError
from harness.engines.base import statements
from loaders.base.processes import processors

_EVALUATED = Path(__file__).with_suffix(".tcl")
_SECONDS = 60
"""For a script; what it has said until then counts."""

_OF_QUERIES = re.compile(
    "affinity|agg|alias|autoindex|between|boundary|cast|coalesce|collate|contrib|count|cse|date|default|desc"
    "|distinct|e_(?:expr|select|insert|createtable)|emptytable|exists|expr|filter|func|gencol|having|hexlit|in[2-6]?$"
    "|index|insert|instr|intpkey|intreal|istrue|join|json|keyword|like|limit|literal|minmax|misc|nan|notnull|null"
    "|num|offset|orderby|ovfl|printf|pushdown|quote|randexpr|resolver|returning|round|rowid|rowvalue|select"
    "|skipscan|sort|strict|sub|table|tkt|tpch|transitive|types|union|unique|unordered|update|upfrom|upsert|values"
    "|view|where|widetab|window|with"
)
_OF_FAULTS = re.compile(r"fault|malloc|err$")

_RECORD = re.compile(r"(text|open|defined) (\S+) (\d+)\n")
_QUERY = re.compile(r"(?:select|values|with)\b(?!.*\b(?:insert|update|delete)\b)", re.IGNORECASE | re.DOTALL)
_UNASKED = re.compile(
    r"[$@?#:][\w(:]|\?|sqlite_(?:master|schema|stat|sequence|temp)|pragma_|random|load_extension",
    re.IGNORECASE,
)
_WITHOUT_DATA = re.compile(r"(?:pragma|explain|analyze|vacuum|reindex|attach|detach)\b", re.IGNORECASE)
_LITERAL = re.compile(r"'[^']*'")
_LONGEST = 20_000


class Record(NamedTuple):
    """A SQL text, and whether it is a query to be compared."""

    sql: str
    is_query: bool


def databases(recorded: str) -> list[list[Record]]:
    """What a script has asked of its first connection, in a list for each database that it has opened.

    Args:
        recorded: what `sqlite_tests.tcl` writes.
    """
    found: list[list[Record]] = [[]]
    own: set[str] = set()
    asked: set[str] = set()
    place = 0
    while mark := _RECORD.match(recorded, place):
        kind, connection, size = mark.groups()
        text = recorded[mark.end() : mark.end() + int(size)]
        place = mark.end() + int(size) + 1
        if kind == "defined":
            own.add(text.lower())
        elif connection == "db" and kind == "open":
            found.append([])
        elif connection == "db":
            found[-1] += _records(text, own, asked)
    return [records for records in found if any(record.is_query for record in records)]


def _records(text: str, own: set[str], asked: set[str]) -> Iterator[Record]:
    for _, sql in statements(text):
        lines = [line for line in sql.split("\n") if line.strip() and line.rstrip() != "----"]
        flat = "\n".join(lines)
        if not lines or len(flat) > _LONGEST or _WITHOUT_DATA.match(flat):
            continue
        if not _QUERY.match(flat):
            yield Record(flat, is_query=False)
            continue
        words = _LITERAL.sub("''", flat)
        if (
            flat not in asked
            and not _UNASKED.search(words)
            and own.isdisjoint(re.findall(r"\w+", words.lower()))
        ):
            asked.add(flat)
            yield Record(flat, is_query=True)


def script(records: Sequence[Record], most: int, seed: int) -> tuple[str, int]:
    """The records as sqllogictest has them, up to the last query, and how many queries they have.

    Args:
        records: of one database.
        most: how many of its queries are kept at most,
        seed: and which.
    """
    queries = [place for place, record in enumerate(records) if record.is_query]
    kept = set(queries if len(queries) <= most else Random(seed).sample(queries, most))  # noqa: S311 - no secret
    last = max(kept, default=-1)
    written = [
        f"{'query T nosort' if record.is_query else 'statement maybe'}\n{record.sql}\n"
        for place, record in enumerate(records[: last + 1])
        if place in kept or not record.is_query
    ]
    return "\n".join(written), len(kept)


def _recorded(tests: Path, name: str, folder: Path) -> str:
    record = folder / f"{name}.txt"
    # A script may write files where it stands.
    with TemporaryDirectory(dir=folder) as place, suppress(subprocess.TimeoutExpired):
        command = ["tclsh", *map(str, (_EVALUATED, tests.absolute(), name, record))]
        subprocess.run(command, cwd=place, capture_output=True, timeout=_SECONDS, check=False)
    return record.read_text(encoding="utf-8", errors="replace") if record.exists() else ""


def main(
    tests: Annotated[Path, typer.Argument(help="The folder test of SQLite's sources.")],
    suite: Annotated[Path, typer.Argument(help="The folder of the suite that is written.")],
    each: Annotated[int, typer.Option(help="At most so many queries of a script.")] = 60,
    seed: Annotated[int, typer.Option(help="What decides which.")] = 0,
) -> None:
    """Write the suite."""
    names = sorted(path.name for path in tests.glob("*.test"))
    wanted = [name for name in names if _OF_QUERIES.match(name[:-5]) and not _OF_FAULTS.search(name[:-5])]
    if not wanted:
        raise BadInput(f"{tests}: has none of SQLite's tests; give the folder test of its sources")
    if shutil.which("tclsh") is None:
        raise BadInput(
            "tclsh is not installed: install Tcl with its package sqlite3 (Debian: tcl libsqlite3-tcl)"
        )
    suite.mkdir(parents=True, exist_ok=True)
    total = files = 0
    with TemporaryDirectory() as folder, ThreadPoolExecutor(processors()) as pool:
        for name, recorded in zip(
            wanted, pool.map(lambda name: _recorded(tests, name, Path(folder)), wanted), strict=True
        ):
            left = each
            for number, records in enumerate(databases(recorded), 1):
                text, queries = script(records, left, seed)
                left -= queries
                if queries:
                    (suite / f"{name[:-5]}-{number}.test").write_text(text, encoding="utf-8")
                    total, files = total + queries, files + 1
    typer.echo(f"{total:,} queries of {len(wanted)} scripts, in {files} files")


if __name__ == "__main__":
    try:
        typer.run(main)
    except HarnessError as error:
        raise SystemExit(str(error)) from error
