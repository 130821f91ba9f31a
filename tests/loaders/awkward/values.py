"""Values that their declaration does not tell, texts of any bytes, and files that are not whole."""

import sqlite3
from contextlib import closing
from pathlib import Path

from dialects.enums import Dialect, Profile
from tests.loaders.awkward.case import EVERYWHERE, MYSQL, POSTGRESQL, POSTGRESQL_OFFICIAL, Case, Place, at
from tests.sqlite_files import sqlite_file

VALUES = (
    Case(
        "text in an INTEGER column",
        """
        CREATE TABLE t (id INTEGER PRIMARY KEY, v INTEGER);
        INSERT INTO t (v) VALUES (1), (2.5), ('n/a'), (''), (NULL), (-9223372036854775808), (1e300),
          (-9e999);
        """,
        ("t.v, declared INTEGER, is text: it holds text and",),
    ),
    Case(
        "numbers in a TEXT column stay the texts that SQLite made of them",
        """
        CREATE TABLE t (v TEXT, w VARCHAR(3));
        INSERT INTO t VALUES (1, 2.5), ('01', 'longer than three');
        """,
    ),
    Case(
        "empty strings and NULL",
        """
        CREATE TABLE t (a TEXT, b INTEGER, c REAL, d DATE, e BLOB);
        INSERT INTO t VALUES ('', '', '', '', x''), (NULL, NULL, NULL, NULL, NULL), (' ', 1, 0.5, '',
          x'00');
        """,
        (
            "t.b, declared INTEGER, is text: it holds text and numbers",
            "t.c, declared REAL, is text: it holds text and numbers",
            "t.d, declared DATE, is text: it holds text that is no date",
        ),
    ),
    Case(
        "the edges of integers",
        """
        CREATE TABLE t (v INTEGER, w TINYINT, b BOOLEAN);
        INSERT INTO t VALUES (9223372036854775807, -9223372036854775808, 1), (-9223372036854775808, 256,
          0), (9007199254740993, -1, 7), (0, 4294967296, NULL);
        """,
    ),
    Case(
        "an integer too large for any column is a fraction in SQLite already",
        """
        CREATE TABLE t (v INTEGER);
        INSERT INTO t VALUES (9223372036854775808), (18446744073709551615);
        """,
        ("t.v, declared INTEGER, is real: it holds fractions",),
    ),
    Case(
        "integers beyond 2^53 among fractions",
        "CREATE TABLE t (v NUMERIC); INSERT INTO t VALUES (0.5), (9007199254740993)",
        refused=at(EVERYWHERE, r"table t, column v, rowid 2: an integer beyond 2\^53"),
    ),
    Case(
        "integers among fractions",
        """
        CREATE TABLE t (v NUMERIC, w INTEGER);
        INSERT INTO t VALUES (0.5, 1), (9007199254740992, 0.25), (-3, NULL);
        """,
        ("t.w, declared INTEGER, is real: it holds fractions",),
    ),
    Case(
        "infinities",
        """
        CREATE TABLE t (n INTEGER, v REAL);
        INSERT INTO t VALUES (1, 0.5), (2, 9e999), (3, -9e999);
        """,
        refused=at(MYSQL, "table t, column v, rowid 2: an infinite number, which MySQL cannot store"),
    ),
    Case(
        "NaN is NULL in SQLite",
        """
        CREATE TABLE t (n INTEGER, v REAL NOT NULL DEFAULT 0, w REAL);
        INSERT INTO t VALUES (1, 0.5, 9e999 - 9e999), (2, 1.5, NULL), (3, 2.5, 3.5);
        """,
    ),
    Case(
        "minus zero and the smallest and largest fractions",
        """
        CREATE TABLE t (n INTEGER, v, w);
        INSERT INTO t VALUES (1, -0.0, 5e-324), (2, 0.0, 2.2250738585072014e-308), (3, 0.1,
          1.7976931348623157e308), (4, 1e15, 0.5);
        """,
        refused=at(POSTGRESQL_OFFICIAL, "table t, column w, rowid 3: a number beyond PostgreSQL's real"),
    ),
    Case(
        "fractions that a real rounds",
        """
        CREATE TABLE t (n INTEGER, v REAL);
        INSERT INTO t VALUES (1, 0.1), (2, 16777217.0), (3, 1e-46), (4, -0.1);
        """,
    ),
    Case(
        "blobs",
        """
        CREATE TABLE t (n INTEGER PRIMARY KEY, v BLOB, w TEXT);
        INSERT INTO t VALUES (1, x'', x'ff00'), (2, NULL, x''), (3, x'5c4e090a0d1a00', NULL), (4,
          zeroblob(70000), x'80');
        """,
        ("t.w, declared TEXT, is blob: it holds blobs",),
    ),
    Case(
        "a blob among texts",
        "CREATE TABLE t (v BLOB); INSERT INTO t VALUES ('a'), (x'61')",
        refused=at(EVERYWHERE, "table t, column v, rowid 2: a blob in a column that holds other values, too"),
    ),
    Case(
        "a number and the text of the same number",
        "CREATE TABLE t (v); INSERT INTO t VALUES (12), ('x'), ('12')",
        refused=at(
            EVERYWHERE, "table t, column v, rowid 3: text that reads like a number which the column holds"
        ),
    ),
    Case(
        "a number and a text that only a collation takes for it",
        """
        CREATE TABLE t (v COLLATE NOCASE);
        INSERT INTO t VALUES (1e20), ('1E+20'), ('INF'), (9e999), ('-1e+20 ');
        """,
    ),
    Case(
        "dates that are none",
        """
        CREATE TABLE t (a DATE, b DATE, c DATETIME, d DATE, e TIMESTAMP);
        INSERT INTO t VALUES ('0000-00-00', '2020-02-30', '9999-12-31 24:00', '0000-01-01',
          '2020-01-01T00:00:00'), ('2020-01-01', '2020-01-01', '2020-01-01', '2020-01-01',
          '2020-01-01 00:00:00+01:00');
        """,
        (
            "t.a, declared DATE, is text: it holds text that is no date",
            "t.b, declared DATE, is text: it holds text that is no date",
            "t.c, declared DATETIME, is text: it holds text that is no date",
            "t.d, declared DATE, is text: it holds text that is no date",
            "t.e, declared TIMESTAMP, is text: it holds text that is no date",
        ),
    ),
    Case(
        "the first and the last day",
        """
        CREATE TABLE t (a DATE, b DATETIME);
        INSERT INTO t VALUES ('0001-01-01', '0001-01-01 00:00:00'), ('9999-12-31',
          '9999-12-31 23:59:59.999999'), ('1582-10-10', '1900-02-28'), ('1752-09-05', '2000-02-29');
        """,
    ),
    Case(
        "days written in three ways",
        """
        CREATE TABLE t (a DATE);
        INSERT INTO t VALUES ('2020-01-02'), ('2020/01/02'), ('01/02/2020'), (NULL);
        """,
        ("t.a has days written with slashes: a date column has not",),
    ),
    Case(
        "days of which one can't be month first",
        "CREATE TABLE t (a DATE); INSERT INTO t VALUES ('01/02/2020'), ('31/12/2020')",
        ("t.a, declared DATE, is text: it holds text that is no date",),
    ),
    Case(
        "dates as numbers",
        """
        CREATE TABLE t (a DATE, b DATETIME, c TIMESTAMP);
        INSERT INTO t VALUES (2451544.5, 1577836800, '2020'), (1, 2, 2021);
        """,
        (
            "t.a, declared DATE, is real: it holds fractions",
            "t.b, declared DATETIME, is integer: it holds integers",
            "t.c, declared TIMESTAMP, is integer: it holds integers",
        ),
    ),
)


def _latin1_name(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            "CREATE TABLE t (f_r TEXT); PRAGMA writable_schema = on;"
            " UPDATE sqlite_master SET sql = CAST(replace(hex(sql), '5F', 'FC') AS TEXT)"
        )
        [[text]] = connection.execute("SELECT sql FROM sqlite_master").fetchall()
        connection.execute("UPDATE sqlite_master SET sql = CAST(? AS TEXT)", (bytes.fromhex(text),))
        connection.commit()


TEXTS = (
    Case(
        "NUL characters in text",
        """
        CREATE TABLE t (n INTEGER PRIMARY KEY, v TEXT);
        INSERT INTO t VALUES (1, 'a'), (2, 'a' || char(0) || 'b');
        """,
        refused=at(
            POSTGRESQL, "table t, column v, rowid 2: a NUL character, which PostgreSQL's text cannot store"
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
            POSTGRESQL, "table t, column v, rowid 2: a NUL character, which PostgreSQL's text cannot store"
        ),
    ),
    Case(
        "Latin-1 bytes in text",
        "CREATE TABLE t (v TEXT); INSERT INTO t VALUES ('für'), (CAST(x'66fc72' AS TEXT))",
        refused=at(EVERYWHERE, "table t, column v, rowid 2: text with invalid bytes"),
    ),
    Case(
        "Latin-1 bytes among numbers",
        "CREATE TABLE t (v INTEGER); INSERT INTO t VALUES (1), (CAST(x'66fc72' AS TEXT))",
        refused=at(EVERYWHERE, "table t, column v, rowid 2: text with invalid bytes"),
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
        refused=at(EVERYWHERE, "table t, column v, key 'k': text with invalid bytes"),
    ),
    Case(
        "a surrogate in UTF-8",
        "CREATE TABLE t (v TEXT); INSERT INTO t VALUES (CAST(x'eda080' AS TEXT))",
        refused=at(EVERYWHERE, "table t, column v, rowid 1: text with invalid bytes"),
    ),
    Case(
        "a code point beyond the last",
        "CREATE TABLE t (v TEXT); INSERT INTO t VALUES (CAST(x'f4908080' AS TEXT))",
        refused=at(EVERYWHERE, "table t, column v, rowid 1: text with invalid bytes"),
    ),
    Case(
        "Latin-1 bytes in a key",
        """
        CREATE TABLE t (v TEXT PRIMARY KEY, n INTEGER);
        INSERT INTO t VALUES (CAST(x'66fc72' AS TEXT), 1);
        """,
        refused=at(EVERYWHERE, "table t, column v, rowid 1: text with invalid bytes"),
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
        refused=at(EVERYWHERE, "table t, column v, rowid 2: text with invalid bytes"),
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


LARGEST = 72 * 2**20
"""Bytes of the largest values: more than MySQL takes in a packet unless told otherwise."""


def _encrypted(path: Path) -> None:
    """What an encrypted file looks like: nothing of it is SQLite's."""
    path.write_bytes(bytes((number * 197 + 31) % 251 for number in range(8_192)))


def _cut_short(path: Path) -> None:
    """A file that lost its second half, as an interrupted download leaves it."""
    sqlite_file(path, "CREATE TABLE t (a INTEGER, b TEXT)", t=[(n, "x" * 100) for n in range(2_000)])
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _overwritten(path: Path) -> None:
    """A file in which one page of rows is garbage."""
    sqlite_file(path, "CREATE TABLE t (a INTEGER, b TEXT)", t=[(n, "x" * 100) for n in range(2_000)])
    content = bytearray(path.read_bytes())
    content[4096 * 20 : 4096 * 21] = b"\xa5" * 4096
    path.write_bytes(content)


def _write_ahead(path: Path) -> None:
    """A file of journal mode WAL whose last rows are in the journal beside it."""
    other = path.with_name("origin.sqlite")
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("PRAGMA journal_mode = wal")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.execute("CREATE TABLE t (a INTEGER)")
        connection.execute("INSERT INTO t VALUES (1)")
        connection.commit()
        for suffix in ("", "-wal"):
            path.with_name(path.name + suffix).write_bytes(other.with_name(other.name + suffix).read_bytes())
    other.unlink()


def _hot_journal(path: Path) -> None:
    """A file whose last transaction was broken off: the journal has the pages as they were."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("CREATE TABLE t (a INTEGER)")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO t VALUES (1)")
        connection.execute("PRAGMA cache_spill = 1")
        connection.execute("PRAGMA cache_size = 1")
        connection.executemany("INSERT INTO t VALUES (?)", ((n,) for n in range(5_000)))
        journal = path.with_name(f"{path.name}-journal")
        content, old = path.read_bytes(), journal.read_bytes()
    path.write_bytes(content)
    journal.write_bytes(old)


def _empty(path: Path) -> None:
    path.touch()


FILES = (
    Case(
        "a file without a table",
        "CREATE TABLE t (a); DROP TABLE t",
        refused=at(EVERYWHERE, "has no table"),
    ),
    Case(
        "an empty file",
        _empty,
        refused=at(EVERYWHERE, "has no table"),
    ),
    Case(
        "an encrypted file",
        _encrypted,
        refused=at(EVERYWHERE, "file is not a database"),
    ),
    Case(
        "a file cut short",
        _cut_short,
        refused=at(EVERYWHERE, "database disk image is malformed"),
    ),
    Case(
        "a file with a damaged page",
        _overwritten,
        refused=at(EVERYWHERE, "database disk image is malformed"),
    ),
    Case(
        "rows in a write-ahead log",
        _write_ahead,
        refused=at(EVERYWHERE, r"shop\.sqlite-wal holds changes not yet in it"),
    ),
    Case(
        "a transaction broken off",
        _hot_journal,
        refused=at(EVERYWHERE, r"shop\.sqlite-journal holds changes not yet in it"),
    ),
    Case(
        "journal mode WAL, closed",
        "PRAGMA journal_mode = wal; CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1), (2)",
    ),
)

_TEXT = Case(
    "a text of 72 MB",
    f"""
    CREATE TABLE t (n INTEGER, v TEXT);
    INSERT INTO t VALUES (1, printf('%.{LARGEST // 2}c', 'é')), (2, 'short');
    """,
    large=True,
)
_BLOB = Case(
    "a blob of 72 MB",
    f"""
    CREATE TABLE t (n INTEGER, v BLOB);
    INSERT INTO t VALUES (1, randomblob({LARGEST})), (2, x'00');
    """,
    large=True,
)
LARGE: dict[Place, Case] = {
    (Dialect.MYSQL, Profile.FAITHFUL): _TEXT,
    (Dialect.MYSQL, Profile.OFFICIAL): _BLOB,
    (Dialect.POSTGRESQL, Profile.OFFICIAL): _BLOB,
}
"""The largest values, where a server limits them or they grow on their way; profiles have equal columns."""
