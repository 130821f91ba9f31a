"""A question set in which every cause is planted, on every engine, in answers of one predictor.

Each plant is a question with SQLite's gold, the golds of the servers where they are not the same text, and
three answers. `right` says on which side: a loss is right on SQLite alone, a gain on the server alone.
"""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dialects.enums import Dialect
from harness.data.set_manifest import PUBLISHED
from harness.labs.gap.cause_rules import Cause, Direction

SQLITE, MYSQL, POSTGRESQL = Dialect.SQLITE, Dialect.MYSQL, Dialect.POSTGRESQL
SERVERS = (MYSQL, POSTGRESQL)
LOSS, GAIN = Direction.LOSS, Direction.GAIN

SCHEMA = """
    CREATE TABLE things (
        id INTEGER PRIMARY KEY, name TEXT, kind TEXT, price REAL, amount INTEGER, made DATE, code TEXT,
        "Unit Price" REAL, "group" TEXT
    );
    INSERT INTO things VALUES
        (1, 'apple', 'fruit', 1.5, 3, '2019-05-01', '7', 0.5, 'a'),
        (2, 'pear', 'fruit', 2.75, 9, '2020-01-15', '8', 0.25, 'a'),
        (3, 'Plum', 'Fruit', 0.1, 9, '2020-11-30', '9', 0.1, 'b'),
        (4, 'leek', 'vegetable', 3.5, 2, '2021-07-07', '10', 1.75, 'b'),
        (5, 'Müsli', 'grain', NULL, 5, '2018-02-02', '11', 2.5, 'c'),
        (6, 'rice', 'grain', 2.5, 1, '2022-03-03', '12', 2.5, 'c');
    CREATE TABLE sales (id INTEGER PRIMARY KEY, thing INTEGER REFERENCES things (id), sold INTEGER);
    INSERT INTO sales VALUES (1, 1, 4), (2, 1, 6), (3, 2, 8), (4, 6, 1);
"""


@dataclass(frozen=True)
class Plant:
    """One planted difference; `causes` has the cause by server, of those on which the outcomes differ."""

    key: str
    direction: Direction
    gold: str
    sqlite: str | None
    answers: Mapping[Dialect, str | None]
    causes: Mapping[Dialect, Cause]
    golds: Mapping[Dialect, str] = field(default_factory=dict)


def both(answer: str | None) -> dict[Dialect, str | None]:
    return dict.fromkeys(SERVERS, answer)


def of_both(cause: Cause) -> dict[Dialect, Cause]:
    return dict.fromkeys(SERVERS, cause)


def loss(  # noqa: PLR0913, PLR0917 - what a plant is
    key: str,
    cause: Cause,
    gold: str,
    mysql: str | None = None,
    postgresql: str | None = None,
    golds: Mapping[Dialect, str] | None = None,
) -> Plant:
    """SQLite's answer is gold; a server without an answer of its own answers its gold, too."""
    planted = {MYSQL: mysql, POSTGRESQL: postgresql}
    written = golds or {}
    answers = {server: planted[server] or written.get(server, gold) for server in SERVERS}
    return Plant(
        key, LOSS, gold, gold, answers, {server: cause for server in SERVERS if planted[server]}, written
    )


COUNT = "SELECT COUNT(*) FROM things"

PLANTS: Sequence[Plant] = (
    loss(
        "syntax",
        Cause.SYNTAX,
        "SELECT name FROM things WHERE made LIKE '2020%' ORDER BY id",
        "SELECT name FROM things WHERE STRFTIME('%Y', made) = '2020' ORDER BY id",
        "SELECT name FROM things WHERE STRFTIME('%Y', made) = '2020' ORDER BY id",
        golds={POSTGRESQL: "SELECT name FROM things WHERE CAST(made AS text) LIKE '2020%' ORDER BY id"},
    ),
    loss(
        "function",
        Cause.SYNTAX,
        "SELECT SUM(IFNULL(price, 1)) FROM things",
        "SELECT SUM(NVL(price, 1)) FROM things",
        "SELECT SUM(IFNULL(price, 1)) FROM things",
        golds={POSTGRESQL: "SELECT SUM(COALESCE(price, 1)) FROM things"},
    ),
    loss(
        "names",
        Cause.NAMES,
        'SELECT MAX("Unit Price") FROM things',
        'SELECT MAX("Unit Price") FROM things',
        "SELECT MAX(`Unit Price`) FROM things",
        golds={MYSQL: "SELECT MAX(`Unit Price`) FROM things"},
    ),
    loss(
        "reserved",
        Cause.NAMES,
        "SELECT name FROM things WHERE \"group\" = 'b'",
        "SELECT name FROM things WHERE group = 'b'",
        "SELECT name FROM things WHERE group = 'b'",
        golds={MYSQL: "SELECT name FROM things WHERE `group` = 'b'"},
    ),
    loss(
        "renamed",
        Cause.NAMES,
        "SELECT SUM(sold) FROM sales JOIN things ON things.id = sales.thing WHERE name = 'apple'",
        "SELECT SUM(sold) FROM sales JOIN things ON things.id = sales.thing_id WHERE name = 'apple'",
        "SELECT SUM(sold) FROM sales JOIN things ON things.id = sales.thing_id WHERE name = 'apple'",
    ),
    loss(
        "ambiguous",
        Cause.NAMES,
        "SELECT COUNT(things.id) FROM sales JOIN things ON things.id = sales.thing",
        "SELECT COUNT(id) FROM sales JOIN things ON things.id = sales.thing",
        "SELECT COUNT(id) FROM sales JOIN things ON things.id = sales.thing",
    ),
    loss(
        "decimals",
        Cause.TYPES,
        "SELECT CAST(SUM(amount) AS REAL) / COUNT(*) FROM things WHERE id IN (1, 3, 4)",
        mysql="SELECT SUM(amount) / COUNT(*) FROM things WHERE id IN (1, 3, 4)",
        golds={
            MYSQL: "SELECT CAST(SUM(amount) AS DOUBLE) / COUNT(*) FROM things WHERE id IN (1, 3, 4)",
            POSTGRESQL: "SELECT CAST(SUM(amount) AS double precision) / COUNT(*) FROM things"
            " WHERE id IN (1, 3, 4)",
        },
    ),
    loss(
        "text and number",
        Cause.TYPES,
        f"{COUNT} WHERE code <> 8",
        postgresql=f"{COUNT} WHERE code <> 8",
        golds={POSTGRESQL: f"{COUNT} WHERE code <> '8'"},
    ),
    loss(
        "case",
        Cause.SEMANTICS,
        f"{COUNT} WHERE kind = 'fruit'",
        mysql=f"{COUNT} WHERE kind = 'fruit'",
        golds={MYSQL: f"{COUNT} WHERE kind COLLATE utf8mb4_0900_bin = 'fruit'"},
    ),
    loss(
        "LIKE",
        Cause.SEMANTICS,
        f"{COUNT} WHERE kind LIKE 'fruit'",
        postgresql=f"{COUNT} WHERE kind LIKE 'fruit'",
        golds={POSTGRESQL: f"{COUNT} WHERE kind ILIKE 'fruit'"},
    ),
    loss(
        "division",
        Cause.SEMANTICS,
        "SELECT COUNT(*) * 1.0 / 4 FROM things",
        postgresql="SELECT COUNT(*) / 4 FROM things",
        golds={POSTGRESQL: "SELECT COUNT(*) * 1.0 / 4 FROM things"},
    ),
    loss(
        "zero",
        Cause.SEMANTICS,
        "SELECT SUM(amount) / 0 FROM things",
        postgresql="SELECT SUM(amount) / 0 FROM things",
        golds={POSTGRESQL: "SELECT SUM(amount) / NULLIF(0, 0) FROM things"},
    ),
    loss(
        "null order",
        Cause.SEMANTICS,
        "SELECT name FROM things ORDER BY price DESC LIMIT 1",
        postgresql="SELECT name FROM things ORDER BY price DESC LIMIT 1",
        golds={POSTGRESQL: "SELECT name FROM things ORDER BY price DESC NULLS LAST LIMIT 1"},
    ),
    loss(
        "gold",
        Cause.GOLD,
        f"{COUNT} WHERE amount > 4",
        f"{COUNT} WHERE amount >= 5",
        f"{COUNT} WHERE amount >= 5",
        golds=dict.fromkeys(SERVERS, f"{COUNT} WHERE amount > 100"),
    ),
    Plant(
        "gold of the server",
        GAIN,
        f"{COUNT} WHERE amount > 4",
        f"{COUNT} WHERE amount > 5",
        both(f"{COUNT} WHERE amount > 5"),
        of_both(Cause.GOLD),
        dict.fromkeys(SERVERS, f"{COUNT} WHERE amount > 5"),
    ),
    loss(
        "profile",
        Cause.PROFILE,
        f"{COUNT} WHERE made >= '2020-01-01'",
        f"{COUNT} WHERE made > '2020'",
        f"{COUNT} WHERE made > '2020'",
    ),
    loss(
        "ties",
        Cause.TIES,
        "SELECT name FROM things ORDER BY amount DESC LIMIT 1",
        "SELECT name FROM things ORDER BY amount DESC, id LIMIT 1",
        "SELECT name FROM things ORDER BY amount DESC, id LIMIT 1",
    ),
    loss(
        "other ties",
        Cause.TIES,
        "SELECT name FROM things ORDER BY amount DESC LIMIT 1",
        "SELECT name FROM things ORDER BY amount DESC, id DESC LIMIT 1",
        "SELECT name FROM things ORDER BY amount DESC, id DESC LIMIT 1",
    ),
    loss(
        "reasoning",
        Cause.REASONING,
        "SELECT name FROM things WHERE price > 3",
        "SELECT name, price FROM things WHERE price > 3",
        "SELECT name FROM things WHERE amount > 3",
    ),
    loss(
        "nowhere",
        Cause.REASONING,
        "SELECT name FROM things WHERE price > 3",
        "SELECT name FROM things JOIN owners ON owners.thing = things.id WHERE owners.age > 3",
        "SELECT name FROM things JOIN owners ON owners.thing = things.id WHERE owners.age > 3",
    ),
    loss("prose", Cause.NO_QUERY, "SELECT 2", "I cannot answer that, sorry.", "I cannot answer that, sorry."),
    Plant("no answer", LOSS, "SELECT 3", "SELECT 3", both(None), of_both(Cause.NO_QUERY)),
    loss(
        "undecided: bytes",
        Cause.UNDECIDED,
        "SELECT LENGTH(name) FROM things WHERE id = 5",
        mysql="SELECT LENGTH(name) FROM things WHERE id = 5",
        golds={MYSQL: "SELECT CHAR_LENGTH(name) FROM things WHERE id = 5"},
    ),
    loss(
        "undecided: rounding",
        Cause.UNDECIDED,
        "SELECT CAST(price AS INTEGER) FROM things WHERE id = 4",
        postgresql="SELECT CAST(price AS INTEGER) FROM things WHERE id = 4",
        golds={
            POSTGRESQL: "SELECT CAST(TRUNC(price) AS INTEGER) FROM things WHERE id = 4",
            MYSQL: "SELECT TRUNCATE(price, 0) FROM things WHERE id = 4",
        },
    ),
    Plant(
        "syntax of another engine",
        GAIN,
        f"{COUNT} WHERE STRFTIME('%Y', made) = '2020'",
        f"{COUNT} WHERE YEAR(made) = 2020",
        {
            MYSQL: f"{COUNT} WHERE YEAR(made) = 2020",
            POSTGRESQL: f"{COUNT} WHERE EXTRACT(YEAR FROM made) = 2020",
        },
        of_both(Cause.SYNTAX),
        {
            MYSQL: f"{COUNT} WHERE YEAR(made) = 2020",
            POSTGRESQL: f"{COUNT} WHERE EXTRACT(YEAR FROM made) = 2020",
        },
    ),
    Plant(
        "name on SQLite",
        GAIN,
        "SELECT SUM(amount) FROM things",
        "SELECT SUM(amounts) FROM things",
        both("SELECT SUM(amount) FROM things"),
        of_both(Cause.NAMES),
    ),
    Plant(
        "quotient",
        GAIN,
        "SELECT CAST(SUM(amount) AS REAL) / 2 FROM things",
        "SELECT SUM(amount) / 2 FROM things",
        {MYSQL: "SELECT SUM(amount) / 2 FROM things", POSTGRESQL: "SELECT SUM(amount) / 2.0 FROM things"},
        of_both(Cause.SEMANTICS),
        {
            MYSQL: "SELECT CAST(SUM(amount) AS DOUBLE) / 2 FROM things",
            POSTGRESQL: "SELECT CAST(SUM(amount) AS double precision) / 2 FROM things",
        },
    ),
    Plant(
        "types on SQLite", GAIN, "SELECT 0.3", "SELECT 0.1 + 0.2", both("SELECT 0.3"), of_both(Cause.TYPES)
    ),
    Plant(
        "ties on SQLite",
        GAIN,
        "SELECT id FROM things ORDER BY amount DESC LIMIT 1",
        "SELECT id FROM things ORDER BY amount DESC, id DESC LIMIT 1",
        both("SELECT id FROM things ORDER BY amount DESC, id LIMIT 1"),
        of_both(Cause.TIES),
        dict.fromkeys(SERVERS, "SELECT id FROM things ORDER BY amount DESC, id LIMIT 1"),
    ),
    Plant(
        "reasoning on SQLite",
        GAIN,
        "SELECT name FROM things WHERE price > 3",
        "SELECT name FROM things WHERE amount > 3",
        both("SELECT name FROM things WHERE price > 3"),
        of_both(Cause.REASONING),
    ),
    Plant("no answer on SQLite", GAIN, "SELECT 5", None, both("SELECT 5"), of_both(Cause.NO_QUERY)),
    Plant("right everywhere", LOSS, "SELECT 6", "SELECT 6", both("SELECT 6"), {}),
    Plant("wrong everywhere", LOSS, "SELECT 7", "SELECT 8", both("SELECT nothing"), {}),
)

_MANY = ", ".join(f"things AS t{place}" for place in range(14))
_FOREVER = f"SELECT MAX(t0.amount + t7.amount * t13.amount) FROM {_MANY}"

SLOW: Sequence[Plant] = (
    loss("time", Cause.TIME, "SELECT 1", _FOREVER, _FOREVER),
    Plant("time on SQLite", GAIN, "SELECT 4", _FOREVER, both("SELECT 4"), of_both(Cause.TIME)),
)
"""Texts that take hours."""

ALMOST = frozenset({"ties", "other ties"})
"""Of these an engine may well pick gold's row: one of the two differs."""


def golds(plant: Plant) -> dict[Dialect, str]:
    return {SQLITE: plant.gold, **dict.fromkeys(SERVERS, plant.gold), **plant.golds}


def write_set(folder: Path, plants: Sequence[Plant] = PLANTS) -> Path:
    """The set in BIRD's layout, with golds in three dialects."""
    database = folder / "databases" / "store" / "store.sqlite"
    database.parent.mkdir(parents=True)
    with sqlite3.connect(database) as connection:
        connection.executescript(SCHEMA)
    connection.close()
    for dialect in PUBLISHED:
        records = [
            {
                "question_id": place,
                "db_id": "store",
                "question": plant.key,
                "evidence": "",
                "SQL": golds(plant)[dialect],
                "difficulty": "simple",
            }
            for place, plant in enumerate(plants)
        ]
        (folder / f"planted_{dialect}.json").write_text(json.dumps(records))
    return folder


def write_answers(path: Path, plants: Sequence[Plant] = PLANTS, predictor: str = "model") -> Path:
    """The answers of one predictor for all engines."""
    lines = []
    for place, plant in enumerate(plants):
        for dialect in PUBLISHED:
            sql = plant.sqlite if dialect is SQLITE else plant.answers[dialect]
            reason = {} if sql is not None else {"reason": "it gave none"}
            line = {"question_id": place, "predictor": predictor, "dialect": dialect, "sql": sql, **reason}
            lines.append(json.dumps(line) + "\n")
    path.write_text("".join(lines))
    return path
