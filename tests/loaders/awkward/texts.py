"""Texts: characters of every kind, and bytes that are none."""

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.loaders.awkward.case import EVERYWHERE, POSTGRESQL, Case, at


def _latin1_name(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            "CREATE TABLE t (f_r TEXT); PRAGMA writable_schema = on;"
            " UPDATE sqlite_master SET sql = CAST(replace(hex(sql), '5F', 'FC') AS TEXT)"
        )
        [[text]] = connection.execute("SELECT sql FROM sqlite_master").fetchall()
        connection.execute("UPDATE sqlite_master SET sql = CAST(? AS TEXT)", (bytes.fromhex(text),))
        connection.commit()


CASES = (
    Case(
        "NUL characters in text",
        """
        CREATE TABLE t (n INTEGER PRIMARY KEY, v TEXT);
        INSERT INTO t VALUES (1, 'a'), (2, 'a' || char(0) || 'b');
        """,
        refused=at(
            POSTGRESQL, "table t, column v, rowid 2: a NUL character, which PostgreSQL's text cannot hold"
        ),
    ),
    Case(
        "NUL characters behind a date",
        """
        CREATE TABLE t (d DATE, m DATETIME);
        INSERT INTO t VALUES ('12/31/1980' || char(0) || 'x', '2010-07-19 19:39:07' || char(0) || 'x'),
          ('2020-01-01', '2020-01-01');
        """,
        (
            "t.d, declared DATE, is text: it holds text that is no date",
            "t.m, declared DATETIME, is text: it holds text that is no date",
        ),
        refused=at(POSTGRESQL, "table t, column d, rowid 1: a NUL character"),
    ),
    Case(
        "a NUL character among numbers",
        "CREATE TABLE t (v INTEGER); INSERT INTO t VALUES (1), ('a' || char(0))",
        ("t.v, declared INTEGER, is text: it holds text and numbers",),
        refused=at(
            POSTGRESQL, "table t, column v, rowid 2: a NUL character, which PostgreSQL's text cannot hold"
        ),
    ),
    Case(
        "Latin-1 bytes in text",
        "CREATE TABLE t (v TEXT); INSERT INTO t VALUES ('für'), (CAST(x'66fc72' AS TEXT))",
        refused=at(EVERYWHERE, "table t, column v, rowid 2: text with bytes that are no characters"),
    ),
    Case(
        "Latin-1 bytes among numbers",
        "CREATE TABLE t (v INTEGER); INSERT INTO t VALUES (1), (CAST(x'66fc72' AS TEXT))",
        refused=at(EVERYWHERE, "table t, column v, rowid 2: text with bytes that are no characters"),
    ),
    Case(
        "Latin-1 bytes in a name",
        _latin1_name,
        refused=at(EVERYWHERE, "Could not decode to UTF-8"),
    ),
    Case(
        "an overlong encoding",
        """
        CREATE TABLE t (k TEXT PRIMARY KEY, v TEXT) WITHOUT ROWID;
        INSERT INTO t VALUES ('k', CAST(x'c0af' AS TEXT));
        """,
        refused=at(EVERYWHERE, "table t, column v, key 'k': text with bytes that are no characters"),
    ),
    Case(
        "a surrogate in UTF-8",
        "CREATE TABLE t (v TEXT); INSERT INTO t VALUES (CAST(x'eda080' AS TEXT))",
        refused=at(EVERYWHERE, "table t, column v, rowid 1: text with bytes that are no characters"),
    ),
    Case(
        "a code point beyond the last",
        "CREATE TABLE t (v TEXT); INSERT INTO t VALUES (CAST(x'f4908080' AS TEXT))",
        refused=at(EVERYWHERE, "table t, column v, rowid 1: text with bytes that are no characters"),
    ),
    Case(
        "Latin-1 bytes in a key",
        """
        CREATE TABLE t (v TEXT PRIMARY KEY, n INTEGER);
        INSERT INTO t VALUES (CAST(x'66fc72' AS TEXT), 1);
        """,
        refused=at(EVERYWHERE, "table t, column v, rowid 1: text with bytes that are no characters"),
    ),
    Case(
        "a UTF-16 file",
        """
        PRAGMA encoding = 'UTF-16le';
        CREATE TABLE "größe" (k TEXT PRIMARY KEY, v, d DATE);
        INSERT INTO "größe" VALUES ('日本語', '😀', '2020-02-29'), ('a\tb\\', 5, '0001-01-01');
        """,
    ),
    Case(
        "half a surrogate pair in a UTF-16 file",
        """
        PRAGMA encoding = 'UTF-16be';
        CREATE TABLE t (v TEXT);
        INSERT INTO t VALUES ('a'), (CAST(x'd83d0061' AS TEXT));
        """,
        refused=at(EVERYWHERE, "table t, column v, rowid 2: text with bytes that are no characters"),
    ),
    Case(
        "characters of every plane, controls, and what looks like an escape",
        """
        CREATE TABLE t (n INTEGER PRIMARY KEY, v TEXT);
        INSERT INTO t (v) VALUES ('\\N'), ('\\'), ('NULL'), ('a' || char(9, 10, 13, 26, 8, 27, 127)),
          (char(65534, 65535, 1114111)), ('e' || char(769)), (char(65279) || 'bom'), (''''), ('"'),
          (char(133, 8232, 8233)), ('\\.'), ('%s {0} $1 ?');
        """,
    ),
)
