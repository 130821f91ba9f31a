"""Small databases with awkward names, keys and values, and their schemas as texts."""

import sqlite3
from contextlib import closing
from pathlib import Path

from dialects.enums import Dialect
from harness.engines.base import ColumnText, TableText
from harness.predictors.base import DatabaseText, Problem
from loaders.namespace import Database

SHOP = """
CREATE TABLE Customers (
    CustomerID INTEGER PRIMARY KEY,
    "Full Name" TEXT NOT NULL,
    email TEXT UNIQUE,
    born DATE,
    RecommendedBy INTEGER REFERENCES customers (customerid)
);
CREATE TABLE "order" (
    id INTEGER NOT NULL, year INTEGER NOT NULL, CustomerID INTEGER NOT NULL, placed DATETIME,
    note TEXT, seal BLOB,
    PRIMARY KEY (year, id),
    FOREIGN KEY (CustomerID) REFERENCES Customers
);
CREATE TABLE `Order Line` (
    year INTEGER, id INTEGER, "Price, ""net"" (€)" REAL, `what's it` TEXT,
    FOREIGN KEY (year, id) REFERENCES "order" (year, id)
);
CREATE VIEW latest AS SELECT * FROM "order";
INSERT INTO Customers VALUES (2, 'Zoë O''Hara', NULL, '1990-02-28', NULL), (5, 'Abe', 'a@b.example', NULL, 2);
INSERT INTO "order" VALUES
    (1, 2024, 2, '2024-02-29 12:30:00', NULL, x'00ff'), (1, 2023, 5, NULL, 'LONG', NULL);
INSERT INTO `Order Line` VALUES (2024, 1, 12.5, 'two
lines'), (2023, 1, NULL, '');
""".replace("LONG", "x" * 100)

BAKERY = """
CREATE TABLE loaves (loaf_id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE shelves (place INTEGER, loaf_id INTEGER, UNIQUE (place, loaf_id));
INSERT INTO loaves VALUES (1, 'rye');
INSERT INTO shelves VALUES (2, 1), (1, 3);
"""


def written(folder: Path, collection: str, db_id: str, script: str) -> Database:
    """A database as a SQLite file."""
    path = folder / f"{db_id}.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)
    return Database(collection, db_id, path)


def table(name: str, *columns: str, refers: tuple[str, str, str] | None = None) -> TableText:
    """A table of columns of texts; `refers`: its column, another table and the column there."""
    keys = (((refers[0],), refers[1], (refers[2],)),) if refers else ()
    create = f"CREATE TABLE {name} ({', '.join(columns)})"
    return TableText(name, create, tuple(ColumnText(each, "text") for each in columns), (), keys)


FARM = DatabaseText(
    "farm",
    Dialect.SQLITE,
    (
        table("animals", "animal_id", "name", "stable_id", refers=("stable_id", "stables", "stable_id")),
        table("stables", "stable_id", "Built In", "name"),
        table("visits", "animal_id", "vet", "paid", refers=("animal_id", "animals", "animal_id")),
    ),
    "3.46",
)


def about_farm(text: str = "Which animal is the oldest?", evidence: str = "") -> Problem:
    return Problem("1", text, evidence, FARM)
