"""Tables of every shape and kind, and what stands in a file besides."""

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.loaders.awkward.case import EVERYWHERE, MYSQL, POSTGRESQL, Case, at


def _unknown_function(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.create_function("thrice", 1, lambda n: n * 3, deterministic=True)
        connection.executescript(
            "CREATE TABLE t (a INTEGER, b INTEGER AS (thrice(a))); INSERT INTO t VALUES (1)"
        )


def _unknown_collation(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.create_collation("GERMAN", lambda one, other: (one > other) - (one < other))
        connection.executescript(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT COLLATE GERMAN, n INTEGER);"
            " INSERT INTO t VALUES (1, 'b', 5), (2, 'A', NULL)"
        )


def _numbers(rows: int, columns: int) -> str:
    """A table of so many columns, `c0` and on, in which every value differs."""
    names = ", ".join(f"c{number} INTEGER" for number in range(columns))
    values = (", ".join(str(row * columns + number) for number in range(columns)) for row in range(rows))
    return f"CREATE TABLE t ({names}); INSERT INTO t VALUES {', '.join(f'({row})' for row in values)}"


def _texts(columns: int, characters: int) -> str:
    """A table of so many columns, `c0` and on, with one row of long texts."""
    names = ", ".join(f"c{number} TEXT" for number in range(columns))
    values = ", ".join(f"printf('%.{characters}c', '{number % 10}')" for number in range(columns))
    return f"CREATE TABLE t ({names}); INSERT INTO t VALUES ({values})"


CASES = (
    Case(
        "200 columns",
        _numbers(3, 200),
    ),
    Case(
        "2,000 columns",
        _numbers(2, 2_000),
        refused=at(MYSQL, "table t: MySQL: Too many columns")
        | at(POSTGRESQL, "table t: PostgreSQL: tables can have at most 1600 columns"),
    ),
    Case(
        "200 columns of long texts",
        _texts(200, 2_000),
    ),
    Case(
        "1,000 columns of texts that no page of a server has room for",
        _texts(1_000, 100),
        refused=at(MYSQL, "table t: MySQL: Row size too large")
        | at(POSTGRESQL, "table t: PostgreSQL: row is too big"),
    ),
    Case(
        "40 columns of texts with an index each",
        "; ".join([_texts(40, 700), *(f"CREATE INDEX i{n} ON t (c{n})" for n in range(40))]),
    ),
    Case(
        "tables without rows",
        """
        CREATE TABLE p (id INTEGER PRIMARY KEY, k TEXT UNIQUE, d DATE, b BLOB, x, y NUMERIC);
        CREATE TABLE c (p INTEGER REFERENCES p, k TEXT REFERENCES p (k), PRIMARY KEY (p, k)) WITHOUT ROWID;
        CREATE INDEX i ON c (k);
        """,
    ),
    Case(
        "WITHOUT ROWID",
        """
        CREATE TABLE t (k TEXT, n INTEGER, v BLOB, PRIMARY KEY (k DESC, n)) WITHOUT ROWID;
        INSERT INTO t VALUES ('b', 1, x'00'), ('a', 2, NULL), ('a', 1, x'');
        """,
    ),
    Case(
        "STRICT tables",
        """
        CREATE TABLE t (i INT, g INTEGER PRIMARY KEY, r REAL, s TEXT, b BLOB, a ANY) STRICT;
        INSERT INTO t VALUES (1, 2, 3, '4', x'05', '006'), (NULL, 7, NULL, NULL, NULL, 1.5);
        """,
    ),
    Case(
        "generated columns",
        """
        CREATE TABLE t (a INTEGER, b AS (a * 2), c TEXT AS ('<' || a || '>') STORED, d AS (a / 0) VIRTUAL
          UNIQUE);
        INSERT INTO t (a) VALUES (1), (NULL), (3);
        """,
    ),
    Case(
        "a generated column of a function that is not there",
        _unknown_function,
        refused=at(EVERYWHERE, "(unknown function: thrice|no such function: thrice)"),
    ),
    Case(
        "a collation that is not there",
        _unknown_collation,
        refused=at(EVERYWHERE, "no such collation sequence: GERMAN"),
    ),
    Case(
        "views and triggers",
        """
        CREATE TABLE t (a INTEGER);
        INSERT INTO t VALUES (1);
        CREATE VIEW v AS SELECT a + 1 FROM t;
        CREATE VIEW broken AS SELECT * FROM nowhere;
        CREATE TRIGGER r AFTER INSERT ON t BEGIN INSERT INTO t VALUES (9); END;
        CREATE TRIGGER s INSTEAD OF INSERT ON v BEGIN SELECT 1; END;
        """,
        (
            "view v is not loaded: only tables are",
            "view broken is not loaded: only tables are",
        ),
    ),
    Case(
        "FTS and R*Tree tables beside tables of like names",
        """
        CREATE VIRTUAL TABLE words USING fts5(word);
        INSERT INTO words VALUES ('one two');
        CREATE VIRTUAL TABLE old USING fts4(word);
        INSERT INTO old VALUES ('three');
        CREATE VIRTUAL TABLE boxes USING rtree(id, x0, x1);
        INSERT INTO boxes VALUES (1, 0, 1);
        CREATE TABLE boxes_data (a INTEGER);
        INSERT INTO boxes_data VALUES (5);
        CREATE TABLE words_segments (a TEXT);
        INSERT INTO words_segments VALUES ('kept');
        """,
        (
            "virtual table words is not loaded: only ordinary tables are",
            "virtual table old is not loaded: only ordinary tables are",
            "virtual table boxes is not loaded: only ordinary tables are",
        ),
    ),
    Case(
        "CHECK, DEFAULT and COLLATE clauses",
        """
        CREATE TABLE t (a INTEGER CHECK (a > 0) DEFAULT (abs(random())), b TEXT DEFAULT CURRENT_TIMESTAMP
          COLLATE NOCASE, c TEXT COLLATE RTRIM NOT NULL ON CONFLICT REPLACE DEFAULT 'x', CHECK (a < 10 OR
          b != c));
        INSERT INTO t VALUES (1, 'a', 'a  '), (2, 'A', 'a');
        """,
    ),
)
