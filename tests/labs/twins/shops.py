"""Schemas for the tests of twins: a shop with queries, and schemas with awkward keys, made up from a seed.

These have what people declare and SQLite takes: statements that create them, with the references that SQLite
can check, and golds.
"""

from dataclasses import dataclass, field
from random import Random

SCRIPT = """
CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, founded DATE);
CREATE TABLE customer (
  id INTEGER PRIMARY KEY, name TEXT, city_id INTEGER REFERENCES city (id), born TEXT, points REAL, level TEXT
);
CREATE TABLE "order line" (
  customer_id INTEGER NOT NULL REFERENCES customer (id), number INTEGER NOT NULL, product TEXT, price REAL,
  amount INTEGER, sent TEXT, PRIMARY KEY (customer_id, number)
);
CREATE INDEX by_product ON "order line" (product);
CREATE VIEW gold_customer AS SELECT * FROM customer WHERE level = 'gold';
INSERT INTO city VALUES (1, 'Aldon', '1201-04-03'), (2, 'Brem', '1544-01-30'), (3, 'Corl', NULL);
INSERT INTO customer VALUES
  (1, 'Ada Moor', 1, '1970-01-05', 12.5, 'gold'), (2, 'Ben Lyle', 1, '1985-11-23', 99.0, 'blue'),
  (3, 'Cyd Moor', 2, '1992-07-14', NULL, 'gold'), (4, 'Dan Pike', 3, NULL, 7.25, NULL),
  (5, 'Eva Lyle', 2, '2001-03-09', 42.0, 'blue'), (6, 'Fay Reed', 1, '1964-12-31', 3.5, 'red');
INSERT INTO "order line" VALUES
  (1, 1, 'lamp', 19.5, 2, '2019-05-04 10:00:00'), (1, 2, 'rope', 4.0, 10, '2019-06-01 12:30:00'),
  (2, 1, 'lamp', 21.0, 1, '2020-01-01 08:15:00'), (3, 1, 'kettle', 33.0, 1, NULL),
  (5, 1, 'rope', 4.5, 3, '2020-02-29 23:59:59'), (6, 1, 'tent', 120.0, 1, '2018-08-08 00:00:00');
"""

GOLDS = {
    "equal": "SELECT name FROM customer WHERE level = 'silver'",
    "several": "SELECT name FROM customer WHERE level = 'gold' AND points > 250 AND born < '1950-01-01'",
    "like": "SELECT id FROM customer WHERE name LIKE 'Zor%'",
    "year": "SELECT COUNT(*) FROM customer WHERE STRFTIME('%Y', born) = '1933'",
    "month": "SELECT name FROM customer WHERE born LIKE '1931-06%'",
    "substring": "SELECT product FROM \"order line\" WHERE SUBSTR(sent, 1, 7) = '2031-02'",
    "between": 'SELECT product FROM "order line" WHERE price BETWEEN 777 AND 778 AND amount IN (41, 43)',
    "join": "SELECT T1.name FROM customer AS T1 INNER JOIN city AS T2 ON T1.city_id = T2.id "
    "WHERE T2.name = 'Xul'",
    "three tables": "SELECT T1.name FROM city AS T1 JOIN customer AS T2 "
    'ON T1.id = T2.city_id JOIN "order line" AS T3 '
    "ON T3.customer_id = T2.id WHERE T3.product = 'anvil' AND T2.level = 'red' AND T1.founded > '1900-01-01'",
    "in": 'SELECT name FROM customer WHERE id IN (SELECT customer_id FROM "order line" '
    "WHERE product = 'axe')",
    "not in": "SELECT name FROM customer "
    "WHERE level = 'red' AND id NOT IN (SELECT customer_id FROM \"order line\")",
    "exists": 'SELECT name FROM customer AS c WHERE EXISTS (SELECT 1 FROM "order line" AS o '
    "WHERE o.customer_id = c.id AND o.price > 5000)",
    "highest": "SELECT name FROM customer "
    "WHERE points = (SELECT MAX(points) FROM customer) AND level = 'blue'",
    "above average": "SELECT name FROM customer "
    "WHERE points > (SELECT AVG(points) FROM customer) AND level = 'pink'",
    "first": 'SELECT T1.name FROM customer AS T1 JOIN "order line" AS T2 ON T1.id = T2.customer_id '
    "WHERE T1.id = (SELECT id FROM customer ORDER BY born DESC LIMIT 1)",
    "deep": "SELECT name FROM customer WHERE level = 'gold' ORDER BY points DESC LIMIT 1 OFFSET 6",
    "having": 'SELECT customer_id FROM "order line" GROUP BY customer_id HAVING COUNT(*) > 8',
    "or": "SELECT name FROM customer WHERE (level = 'gold' OR level = 'mauve') AND points < 0.5",
    "null": "SELECT name FROM customer WHERE born IS NULL AND points IS NOT NULL AND level = 'gold'",
    "case": "SELECT SUM(CASE WHEN level = 'teal' THEN 1 ELSE 0 END) FROM customer WHERE points > 60",
    "with": "WITH best AS (SELECT city_id, COUNT(*) AS n FROM customer WHERE level = 'gold' GROUP BY city_id "
    "ORDER BY n DESC LIMIT 1) SELECT T1.name FROM city AS T1 JOIN best AS T2 ON T1.id = T2.city_id",
    "outer": 'SELECT T1.name FROM customer AS T1 LEFT JOIN "order line" AS T2 ON T1.id = T2.customer_id '
    "WHERE T2.number IS NULL AND T1.level = 'gold'",
    "difference": "SELECT name FROM customer WHERE level = 'gold' EXCEPT SELECT name FROM customer "
    "WHERE points > 5",
    "window": "SELECT name FROM (SELECT name, RANK() OVER (ORDER BY points DESC) AS r FROM customer "
    "WHERE level = 'blue') WHERE r = 1",
    "age": "SELECT name FROM customer WHERE STRFTIME('%Y', CURRENT_TIMESTAMP) - STRFTIME('%Y', born) > 110",
    "ratio": 'SELECT name FROM customer AS c JOIN "order line" AS o ON o.customer_id = c.id '
    "WHERE CAST(o.price AS REAL) / o.amount > 900 AND o.amount > 3",
}

WRONG = {
    "a condition too few": (
        "SELECT name FROM customer WHERE level = 'gold' AND points > 250",
        "SELECT name FROM customer WHERE points > 250",
    ),
    "a boundary in": (
        "SELECT name FROM customer WHERE points > 250",
        "SELECT name FROM customer WHERE points >= 250",
    ),
    "the other end of a range": (
        "SELECT name FROM customer WHERE points BETWEEN 250 AND 260",
        "SELECT name FROM customer WHERE points >= 250 AND points < 260",
    ),
    "one of two": (
        "SELECT name FROM customer WHERE level = 'gold' OR points > 250",
        "SELECT name FROM customer WHERE level = 'gold'",
    ),
    "or for and": (
        "SELECT name FROM customer WHERE level = 'gold' AND points > 250",
        "SELECT name FROM customer WHERE level = 'gold' OR points > 250",
    ),
    "less of a list": (
        "SELECT name FROM customer WHERE level IN ('gold', 'red', 'blue')",
        "SELECT name FROM customer WHERE level IN ('gold', 'blue')",
    ),
    "within a text": (
        "SELECT id FROM customer WHERE name = 'Ada Moor'",
        "SELECT id FROM customer WHERE name LIKE '%Ada Moor%'",
    ),
    "the start of a text": (
        "SELECT id FROM customer WHERE name LIKE '%Moor%'",
        "SELECT id FROM customer WHERE name LIKE 'Moor%'",
    ),
    "duplicates counted": (
        'SELECT COUNT(DISTINCT product) FROM "order line" WHERE amount > 5',
        'SELECT COUNT(product) FROM "order line" WHERE amount > 5',
    ),
    "NULL counted": (
        "SELECT COUNT(points) FROM customer WHERE level = 'gold'",
        "SELECT COUNT(*) FROM customer WHERE level = 'gold'",
    ),
    "the extreme of others": (
        "SELECT name FROM customer WHERE level = 'gold' ORDER BY points DESC LIMIT 1",
        "SELECT name FROM customer ORDER BY points DESC LIMIT 1",
    ),
    "the other extreme": (
        "SELECT name FROM customer WHERE level = 'gold' ORDER BY points DESC LIMIT 1",
        "SELECT name FROM customer WHERE level = 'gold' AND points IS NOT NULL ORDER BY points LIMIT 1",
    ),
    "a join lost": (
        (
            'SELECT DISTINCT c.name FROM customer AS c JOIN "order line" AS o ON o.customer_id = c.id '
            "WHERE c.points > 1"
        ),
        "SELECT DISTINCT name FROM customer WHERE points > 1",
    ),
    "a condition of a subquery": (
        (
            'SELECT name FROM customer WHERE id IN (SELECT customer_id FROM "order line" '
            "WHERE product = 'rope')"
        ),
        'SELECT name FROM customer WHERE id IN (SELECT customer_id FROM "order line")',
    ),
    "another year": (
        "SELECT name FROM customer WHERE STRFTIME('%Y', born) = '1985'",
        "SELECT name FROM customer WHERE STRFTIME('%Y', born) >= '1985'",
    ),
    "another group": (
        'SELECT customer_id FROM "order line" GROUP BY customer_id HAVING COUNT(*) > 3',
        'SELECT customer_id FROM "order line" GROUP BY customer_id',
    ),
}


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
