"""Schemas with awkward keys, made up from a seed: what people declare and SQLite takes.

Each comes as statements that create it, with the references that SQLite can check, some rows, and golds.
"""

from dataclasses import dataclass, field
from random import Random

_TYPES = (
    "INTEGER",
    "INT",
    "TEXT",
    "VARCHAR(20)",
    "REAL",
    "NUMERIC",
    "DATE",
    "BOOLEAN",
    "BLOB",
    "",
    "double",
)
_NAMES = ("id", "Name", "order", "größe", "é É", 'a "b"', "group", "x.y", "ключ", "n", "k0", "t1", "value")
_TABLES = ("Item", "order", "Straße", "two words", 'q"q', "ТАБЛИЦА", "group", "child", "main", "k1")
_STRICT = ("INTEGER", "INT", "TEXT", "REAL", "BLOB", "ANY")


_LITERALS = ("'text'", "'7'", "7", "-2.5", "'2001-02-03'", "9223372036854775808", "1e400", "x'0f'")


def quoted(name: str) -> str:
    """A name as SQLite reads it."""
    return '"' + name.replace('"', '""') + '"'


@dataclass
class Table:
    """A table on its way to a statement."""

    name: str
    columns: list[tuple[str, str]]
    key: tuple[str, ...]
    kind: str
    parts: list[str] = field(default_factory=list)
    nullable: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Schema:
    """Statements, and queries about it."""

    script: str
    golds: tuple[str, ...]


def schema(seed: int) -> Schema:
    """The schema of a seed."""
    rng = Random(seed)  # noqa: S311 - the same again
    names = rng.sample(_TABLES, rng.randint(1, 5))
    tables = [_table(name, rng) for name in names]
    for table in tables:
        for _ in range(rng.randint(0, 2)):
            _refer(table, rng.choice(tables), rng)
    statements = [_statement(table, rng) for table in tables]
    first = tables[0]
    column = quoted(rng.choice(first.columns)[0])
    if rng.random() < 0.4:
        statements.append(f"CREATE VIEW seen AS SELECT * FROM {quoted(first.name)};")
    if rng.random() < 0.3:
        statements.append(
            f"CREATE TRIGGER stop BEFORE INSERT ON {quoted(first.name)} BEGIN SELECT RAISE(ABORT, 'no'); END;"
        )
    if rng.random() < 0.3:
        statements.append(f"CREATE UNIQUE INDEX apart ON {quoted(first.name)} (lower({column}));")
    if rng.random() < 0.3:
        where = f"WHERE {column} IS NOT NULL"
        statements.append(f"CREATE UNIQUE INDEX some ON {quoted(first.name)} ({column}) {where};")
    return Schema("\n".join(statements), tuple(_golds(tables, rng)))


def _table(name: str, rng: Random) -> Table:
    kind = rng.choice(("", "", "", "STRICT", "WITHOUT ROWID"))
    types = _STRICT if kind == "STRICT" else _TYPES
    chosen = rng.sample(_NAMES, rng.randint(1, 5))
    columns = [(each, rng.choice(types)) for each in chosen]
    count = rng.choice((0, 1, 1, 1, 2)) if kind != "WITHOUT ROWID" else rng.randint(1, 2)
    key = tuple(chosen[: min(count, len(chosen))])
    table = Table(name, columns, key, kind)
    if key:
        table.parts.append(f"PRIMARY KEY ({', '.join(map(quoted, key))})")
    if rng.random() < 0.3:
        table.parts.append(
            f"UNIQUE ({quoted(rng.choice(chosen))}) ON CONFLICT {rng.choice(('REPLACE', 'IGNORE'))}"
        )
    if rng.random() < 0.2:
        each = quoted(rng.choice(chosen))
        checks = (
            f"length({each}) < 12",
            f"{each} <> 'x'",
            f"{each} IN (1, 2, '3', 'four')",
            f"{each} IS NOT ''",
        )
        table.parts.append(f"CHECK ({rng.choice(checks)})")
    if rng.random() < 0.15:
        table.parts.insert(
            0, f"made {'INTEGER' if kind == 'STRICT' else ''} AS (length({quoted(chosen[0])}))"
        )
    return table


def _refer(table: Table, parent: Table, rng: Random) -> None:
    """Refer to a table: to its key, to columns that are none, to itself, with or without naming them."""
    targets = parent.key if parent.key and rng.random() < 0.8 else (rng.choice(parent.columns)[0],)
    columns = []
    for target in targets:
        name = f"{target}_{len(table.columns)}"
        kind = dict(parent.columns)[target]
        if rng.random() < 0.2:
            kind = rng.choice(_STRICT if table.kind == "STRICT" else _TYPES)
        elif table.kind == "STRICT" and kind not in _STRICT:
            kind = "ANY"
        table.columns.append((name, kind))
        columns.append(name)
    said = f" ({', '.join(map(quoted, targets))})" if rng.random() < 0.8 or targets != parent.key else ""
    name = parent.name.swapcase() if parent.name.isascii() else parent.name
    table.parts.append(f"FOREIGN KEY ({', '.join(map(quoted, columns))}) REFERENCES {quoted(name)}{said}")
    if rng.random() < 0.15:
        table.parts.append(f"FOREIGN KEY ({quoted(columns[0])}) REFERENCES nowhere (id)")


def _statement(table: Table, rng: Random) -> str:
    columns = []
    for name, declared in table.columns:
        more = ""
        if rng.random() < 0.3:
            more += " NOT NULL"
        if rng.random() < 0.1:
            more += " DEFAULT 7"
        if rng.random() < 0.2:
            more += f" COLLATE {rng.choice(('NOCASE', 'RTRIM'))}"
        columns.append(f"{quoted(name)} {declared}{more}")
    made = [part for part in table.parts if part.startswith("made ")]
    rest = [part for part in table.parts if not part.startswith("made ")]
    return f"CREATE TABLE {quoted(table.name)} ({', '.join([*columns, *made, *rest])}) {table.kind};"


def _golds(tables: list[Table], rng: Random) -> list[str]:
    found = []
    for table in tables:
        of, name = quoted(table.name), quoted(rng.choice(table.columns)[0])
        value = rng.choice(
            ("'text'", "'7'", "7", "-2.5", "'2001-02-03'", "9223372036854775808", "1e400", "x'0f'")
        )
        asked = [
            f"SELECT * FROM {of} WHERE {name} = {value}",
            f"SELECT COUNT(*) FROM {of} WHERE {name} > {value} OR {name} IS NULL",
            f"SELECT {name} FROM {of} ORDER BY {name} DESC LIMIT 1",
        ]
        found += rng.sample(asked, 2)
    a, b = rng.choice(tables), rng.choice(tables)
    left, right = quoted(rng.choice(a.columns)[0]), quoted(rng.choice(b.columns)[0])
    found.append(
        f"SELECT x.{left} FROM {quoted(a.name)} AS x JOIN {quoted(b.name)} AS y ON x.{left} = y.{right} "
        f"WHERE y.{right} IN ('text', 7) GROUP BY 1 HAVING COUNT(*) > 1"
    )
    return found
