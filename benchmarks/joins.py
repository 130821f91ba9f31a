"""Seconds for joins that compare columns of different affinity, against the same joins of equal types.

20 joins are generated: ten shapes, each over two of six pairs of columns. In both statements of a join the
columns hold the same numbers; only in the first they are compared across types, so that SQLite's affinities
decide. Both are translated and run in turn on the same server, and the rows have to be SQLite's.

    python -m benchmarks.joins --dialect mysql
    python -m benchmarks.joins --dialect postgresql --rows 10000 --runs 5
"""

import random
import sqlite3
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.options import Dialect as DialectOption
from dialects.enums import Dialect, Profile
from dialects.errors import HarnessError
from dialects.translation import translate
from harness import provision
from harness.engines import on_server
from harness.engines.base import Engine
from harness.engines.execution import Ending, Execution, Limits, execute
from harness.engines.sqlite.engine import SQLiteEngine
from harness.metrics.comparison import compare
from loaders.base.errors import EngineUnavailable, to_start
from loaders.bulk_load import load
from loaders.file_census import census
from loaders.namespace import Database

LIMITS = Limits(seconds=120)

_SCHEMA = """
CREATE TABLE parent (
    id INTEGER PRIMARY KEY, whole INTEGER, written TEXT, scale REAL, wide INTEGER, kind INTEGER);
CREATE TABLE child (
    id INTEGER PRIMARY KEY, whole INTEGER, written TEXT, loose TEXT, scale REAL, untyped, wide INTEGER,
    some INTEGER, amount INTEGER);
CREATE TABLE kind (id INTEGER PRIMARY KEY, written TEXT, title TEXT);
"""

_FORMS = (" {}", "{}.0", "0{}", "{}e0", "{} ", "x{}", "", "{}.5", "0x{}")
"""How one text in a hundred of `child.loose` is written: some are the number, some are none."""

PAIRS = {
    "text = key": ("written", "id", "whole", "id"),
    "loose text = integer": ("loose", "whole", "whole", "whole"),
    "text = real": ("written", "scale", "scale", "scale"),
    "integer = text": ("whole", "written", "written", "written"),
    "mixed column = integer": ("some", "whole", "whole", "whole"),
    "integer beyond 2^53 = real": ("wide", "scale", "wide", "wide"),
}
"""Of child and parent: the columns of different types, and those of equal types."""

SHAPES = {
    "inner": "SELECT count(*), sum(c.amount) FROM child c JOIN parent p ON c.{a} = p.{b}",
    "left": "SELECT count(*), count(p.id), sum(c.amount) FROM child c LEFT JOIN parent p ON c.{a} = p.{b}",
    "comma": "SELECT count(*), sum(c.amount) FROM child c, parent p WHERE p.{b} = c.{a} AND c.amount > 100",
    "three tables": "SELECT count(*), sum(c.amount) FROM child c JOIN parent p ON c.{a} = p.{b}"
    " JOIN kind k ON k.{k} = p.kind WHERE k.title <> 'kind 7'",
    "IN": "SELECT count(*), sum(c.amount) FROM child c"
    " WHERE c.{a} IN (SELECT p.{b} FROM parent p WHERE p.kind < 50)",
    "NOT IN": "SELECT count(*), sum(c.amount) FROM child c"
    " WHERE c.{a} NOT IN (SELECT p.{b} FROM parent p WHERE p.kind < 50)",
    "EXISTS": "SELECT count(*), sum(c.amount) FROM child c"
    " WHERE EXISTS (SELECT 1 FROM parent p WHERE p.{b} = c.{a} AND p.kind < 50)",
    "NOT EXISTS": "SELECT count(*), sum(p.kind) FROM parent p"
    " WHERE NOT EXISTS (SELECT 1 FROM child c WHERE c.{a} = p.{b})",
    "aggregated": "SELECT p.kind, count(*), sum(c.amount) FROM parent p JOIN child c ON p.{b} = c.{a}"
    " GROUP BY p.kind ORDER BY p.kind",
    "derived": "SELECT count(*), sum(q.total) FROM (SELECT c.{a} AS k, sum(c.amount) AS total FROM child c"
    " GROUP BY c.{a}) q JOIN parent p ON q.k = p.{b}",
}
"""With the columns `a` of child and `b` of parent; `k` is the key of kind."""

_REFERENCES = {
    "EXISTS": "IN",
    "NOT EXISTS": "SELECT count(*), sum(p.kind) FROM parent p WHERE p.{b} NOT IN (SELECT c.{a} FROM child c)",
    "derived": "SELECT count(DISTINCT c.{a}), sum(c.amount) FROM child c JOIN parent p ON c.{a} = p.{b}",
}
"""What SQLite is asked where it would go through a whole table for each row of another.

The answer is the same: no key is NULL, and no two rows of parent have the same.
"""


@dataclass(frozen=True)
class Statement:
    """A statement, and what SQLite answers it by."""

    sql: str
    reference: str


@dataclass(frozen=True)
class Join:
    """One join in two statements."""

    name: str
    across: Statement
    equal: Statement


def joins(seed: int) -> Iterator[Join]:
    """Each shape over two pairs of columns."""
    lot = random.Random(seed)  # noqa: S311 - nothing is secret
    pairs: list[str] = []
    for shape, text in SHAPES.items():
        for _ in range(2):
            if not pairs:
                pairs = lot.sample(sorted(PAIRS), len(PAIRS))
            pair = pairs.pop()
            a, b, c, d = PAIRS[pair]
            known = _REFERENCES.get(shape, text)
            known = SHAPES.get(known, known)
            across, equal = {"a": a, "b": b, "k": "written"}, {"a": c, "b": d, "k": "id"}
            yield Join(
                f"{shape}, {pair}",
                Statement(text.format(**across), known.format(**across)),
                Statement(text.format(**equal), known.format(**equal)),
            )


def build(path: Path, rows: int) -> None:
    """A file with `rows` rows in child and in parent."""
    lot = random.Random(rows)  # noqa: S311 - nothing is secret
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(_SCHEMA)
        connection.executemany(
            "INSERT INTO kind VALUES (?, ?, ?)", ((n, str(n), f"kind {n}") for n in range(100))
        )
        connection.executemany(
            "INSERT INTO parent VALUES (?, ?, ?, ?, ?, ?)",
            ((n, n, str(n), float(n), n, lot.randrange(100)) for n in range(1, rows + 1)),
        )
        connection.execute(f"UPDATE parent SET wide = {2**53 + 1} WHERE id = 1")  # noqa: S608 - a number
        connection.executemany("INSERT INTO child VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", _children(lot, rows))


def _children(lot: random.Random, rows: int) -> Iterator[tuple[object, ...]]:
    for n in range(1, rows + 1):
        key = lot.randint(1, rows)
        loose = lot.choice(_FORMS).format(key) if n % 100 == 0 else str(key)
        some = "none" if n % 100 == 1 else key
        wide = 2**53 + 1 if n == 1 else key
        yield n, key, str(key), loose, float(key), str(key), wide, some, lot.randrange(1000)


def main(
    dialect: DialectOption = "postgresql",
    rows: Annotated[int, typer.Option(help="Rows of both large tables.", min=100)] = 100_000,
    runs: Annotated[int, typer.Option(help="Runs of each statement, in turn.", min=1)] = 5,
    seed: Annotated[int, typer.Option(help="Chooses the pairs of columns.")] = 17,
) -> None:
    """Print the medians of both and their ratio, one line per join."""
    target = Dialect(dialect)
    server = provision.find(target)
    if server is None:
        raise EngineUnavailable(f"{target}: no server is up; {to_start()}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "joins.sqlite"
        build(path, rows)
        database = Database("benchmark_joins", "joins", path, Profile.FAITHFUL)
        schema = census(path)
        load([database], server)
        engine = on_server(server)
        print(f"{target}: {rows:,} rows, milliseconds, medians of {runs} runs")
        print("| join | across | equal | ratio | SQLite |\n|---|---|---|---|---|")
        ratios = []
        for join in joins(seed):
            both = (join.across, join.equal)
            wanted = [_run(SQLiteEngine(), database, statement.reference) for statement in both]
            texts = [translate(statement.sql, schema, target).sql for statement in both]
            times: list[list[float]] = [[], []]
            for _ in range(runs):
                for text, reference, seconds in zip(texts, wanted, times, strict=True):
                    found = _run(engine, database, text)
                    seconds.append(found.seconds * 1000)
                    if not compare(reference.rows, found.rows).same_bag:
                        raise HarnessError(f"other rows than SQLite's: {text}")
            across, equal = map(statistics.median, times)
            ratios.append(across / equal)
            shown = wanted[0].seconds * 1000
            print(
                f"| {join.name} | {across:.0f} | {equal:.0f} | {ratios[-1]:.2f} | {shown:.0f} |", flush=True
            )
        print(f"\nratios: median {statistics.median(ratios):.2f}, largest {max(ratios):.2f}")


def _run(engine: Engine, database: Database, sql: str) -> Execution:
    found = execute(engine, database, sql, LIMITS)
    if found.ending is not Ending.ROWS:
        raise HarnessError(f"{found.ending}: {found.error}: {sql}")
    return found


if __name__ == "__main__":
    typer.run(main)
