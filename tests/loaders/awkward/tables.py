"""Tables of every shape, their names, keys and row ids, and what stands in a file besides."""

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.loaders.awkward.case import (
    EVERYWHERE,
    MYSQL,
    MYSQL_OFFICIAL,
    POSTGRESQL,
    POSTGRESQL_OFFICIAL,
    Case,
    at,
    noted,
)


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


TABLES = (
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


NAMES = (
    Case(
        "reserved, spaced and quoted names",
        """
        CREATE TABLE "select" ("from" INTEGER PRIMARY KEY, "order by" TEXT, "a""b" TEXT, "back`tick"
          TEXT, "[x]" TEXT, "semi;colon--" TEXT, "per%s%%" TEXT, "{0}" TEXT, "back\\slash" TEXT, "it's"
          TEXT, " lead" TEXT, "1st" TEXT, "a.b" TEXT, "sl/ash" TEXT, "?" TEXT, ":x" TEXT, "$1" TEXT,
          UNIQUE ("order by", "a""b"));
        INSERT INTO "select" VALUES (1, 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n',
          'o', 'p', 'q');
        CREATE TABLE "a""b.c`d" ("x y" INTEGER REFERENCES "select");
        INSERT INTO "a""b.c`d" VALUES (1);
        CREATE INDEX "in dex" ON "a""b.c`d" ("x y");
        """,
    ),
    Case(
        "names in other scripts",
        """
        CREATE TABLE "Ünïcödé 表" ("größe" TEXT PRIMARY KEY, "نص" INTEGER, "e\u0301" TEXT);
        INSERT INTO "Ünïcödé 表" VALUES ('ä', 1, 'x');
        """,
    ),
    Case(
        "an emoji for a name",
        """
        CREATE TABLE t ("😀" TEXT);
        INSERT INTO t VALUES ('😀');
        """,
        refused=at(MYSQL, "columns of t: '😀' has characters that mysql does not allow in names; rename it"),
    ),
    Case(
        "names that differ in the case of a letter that SQLite does not fold",
        """
        CREATE TABLE t ("Ä" TEXT, "ä" TEXT);
        INSERT INTO t VALUES ('1', '2');
        """,
        refused=at(MYSQL, "columns of t: 'Ä' and 'ä' are one name on mysql; rename one"),
    ),
    Case(
        "names that differ in an accent",
        """
        CREATE TABLE t ("resume" TEXT, "résumé" TEXT);
        INSERT INTO t VALUES ('1', '2');
        """,
    ),
    Case(
        "tables that differ in an accent",
        """
        CREATE TABLE "resume" (a TEXT);
        CREATE TABLE "résumé" (b TEXT);
        INSERT INTO "resume" VALUES ('1');
        """,
    ),
    Case(
        "a name whose characters take three bytes each",
        f"CREATE TABLE {'表' * 60} ({'列' * 60} TEXT); INSERT INTO {'表' * 60} VALUES ('x')",
        refused=at(POSTGRESQL, "tables: '表+' is longer than postgresql's 63 bytes; rename it")
        | at(MYSQL, "tables: '表+' makes a file name too long for mysql; rename it"),
    ),
    Case(
        "the longest names",
        f"""
        CREATE TABLE {"表" * 21} ({"列" * 21} TEXT);
        INSERT INTO {"表" * 21} VALUES ('x');
        CREATE TABLE {"T" * 63} ({"c" * 63} TEXT PRIMARY KEY, {"c" * 62} TEXT REFERENCES {"T" * 63});
        INSERT INTO {"T" * 63} VALUES ('x', 'x');
        """,
        more=noted(
            MYSQL, f"foreign key of {'T' * 63} ({'c' * 62}) to {'T' * 63} is left out: Identifier name"
        ),
    ),
    Case(
        "names that the loader uses itself",
        """
        CREATE TABLE loads (sqlite_rowid TEXT, collection INTEGER);
        INSERT INTO loads VALUES ('a', 1), ('b', 2);
        CREATE TABLE functions (SQLITE_ROWID TEXT);
        CREATE TABLE bird_harness (a INTEGER);
        """,
    ),
    Case(
        "a name of 64 characters",
        f"CREATE TABLE t ({'a' * 64} TEXT); INSERT INTO t VALUES ('x')",
        refused=at(POSTGRESQL, "columns of t: 'a+' is longer than postgresql's 63 bytes; rename it"),
    ),
    Case(
        "a name of 65 characters",
        f"CREATE TABLE {'t' * 65} (a TEXT); INSERT INTO {'t' * 65} VALUES ('x')",
        refused=at(MYSQL, "tables: 't+' is longer than mysql's 64 characters; rename it")
        | at(POSTGRESQL, "tables: 't+' is longer than postgresql's 63 bytes; rename it"),
    ),
    Case(
        "a name without a character",
        """
        CREATE TABLE t ("" TEXT);
        INSERT INTO t VALUES ('x');
        """,
        refused=at(EVERYWHERE, "columns of t: '' is not a valid name on (mysql|postgresql); rename it"),
    ),
    Case(
        "a name with a space at the end",
        """
        CREATE TABLE "t " ("a " TEXT);
        INSERT INTO "t " VALUES ('x');
        """,
        refused=at(MYSQL, "tables: 't ' ends with a space, which mysql does not allow; rename it"),
    ),
    Case(
        "names that PostgreSQL reserves",
        """
        CREATE TABLE t (xmin REAL, xmax REAL, ctid TEXT, oid INTEGER);
        INSERT INTO t VALUES (0.5, 1.5, 'a', 7);
        """,
        refused=at(POSTGRESQL, "columns of t: 'xmin' is a name that postgresql reserves; rename it"),
    ),
    Case(
        "a table that PostgreSQL reserves",
        "CREATE TABLE pg_class (a INTEGER); INSERT INTO pg_class VALUES (5)",
        refused=at(POSTGRESQL, "tables: 'pg_class' is a name that postgresql reserves; rename it"),
    ),
    Case(
        "names that MySQL reserves",
        "CREATE TABLE t (DB_ROW_ID INTEGER, db_trx_id TEXT); INSERT INTO t VALUES (5, 'x')",
        refused=at(MYSQL, "columns of t: 'DB_ROW_ID' is a name that mysql reserves; rename it"),
    ),
    Case(
        "columns with the names of the rowid",
        """
        CREATE TABLE t (rowid TEXT, oid TEXT, _rowid_ TEXT);
        INSERT INTO t VALUES ('a', 'b', 'c'), (NULL, 'b', 'd');
        """,
    ),
)


KEYS = (
    Case(
        "no key and equal rows",
        """
        CREATE TABLE t (a, b);
        INSERT INTO t VALUES (1, 'x'), (1, 'x'), (NULL, NULL), (NULL, NULL);
        """,
    ),
    Case(
        "composite and self-referencing keys",
        """
        CREATE TABLE t (a INTEGER, b TEXT, c INTEGER, d TEXT, PRIMARY KEY (b, a), FOREIGN KEY (d, c)
          REFERENCES t (b, a));
        INSERT INTO t VALUES (1, 'x', 2, 'x'), (2, 'x', 1, 'x'), (3, 'y', NULL, 'z'), (4, 'y', 4, 'y');
        """,
    ),
    Case(
        "more indexes, and longer ones, than a server takes",
        "; ".join(
            [
                f"CREATE TABLE t ({', '.join(f'c{n} INTEGER' for n in range(70))})",
                f"INSERT INTO t VALUES ({', '.join(map(str, range(70)))})",
                *(f"CREATE INDEX i{n} ON t (c{n})" for n in range(63)),
                f"CREATE INDEX long ON t ({', '.join(f'c{n}' for n in range(40))})",
                "CREATE INDEX i63 ON t (c63)",
                "CREATE INDEX i64 ON t (c64)",
                "CREATE INDEX i65 ON t (c65)",
            ]
        ),
        more=noted(POSTGRESQL, "index of t (c0, c1,")
        | noted(
            MYSQL, "index of t (c0, c1,", "index of t (c64) is left out:", "index of t (c65) is left out:"
        ),
    ),
    Case(
        "keys in a circle",
        """
        CREATE TABLE hen (id INTEGER PRIMARY KEY, egg INTEGER REFERENCES egg);
        CREATE TABLE egg (id INTEGER PRIMARY KEY, hen INTEGER REFERENCES hen);
        INSERT INTO hen VALUES (1, 10), (2, NULL);
        INSERT INTO egg VALUES (10, 2), (11, 1);
        """,
    ),
    Case(
        "foreign keys that lead nowhere",
        """
        CREATE TABLE t (a INTEGER PRIMARY KEY, b INTEGER REFERENCES nobody, c INTEGER REFERENCES t
          (gone), d INTEGER REFERENCES t);
        INSERT INTO t VALUES (1, 5, 6, 7);
        """,
        (
            "foreign key of t (b) to nobody is left out: there is no such table",
            "foreign key of t (c) to t is left out: the parent has no such key",
            "foreign key of t (d) to t is left out: 1 rows have no parent",
        ),
    ),
    Case(
        "a foreign key that only a collation fulfils",
        """
        CREATE TABLE p (k TEXT COLLATE NOCASE PRIMARY KEY);
        CREATE TABLE c (k TEXT REFERENCES p);
        INSERT INTO p VALUES ('Ab');
        INSERT INTO c VALUES ('aB');
        """,
        ("foreign key of c (k) to p is left out: 1 rows have no parent",),
    ),
    Case(
        "NULL in a primary key",
        """
        CREATE TABLE t (a TEXT, b INTEGER, PRIMARY KEY (a, b));
        INSERT INTO t VALUES (NULL, 1), (NULL, 1), ('x', 1);
        """,
        ("primary key of t is a unique key: it holds NULL",),
    ),
    Case(
        "row id 0, negative row ids, and gaps",
        """
        CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, v TEXT);
        CREATE TABLE u (v TEXT);
        INSERT INTO t VALUES (0, 'zero'), (-5, 'minus five'), (17, 'seventeen'), (9223372036854775807,
          'last');
        INSERT INTO u (rowid, v) VALUES (0, 'zero'), (-9223372036854775808, 'first'), (40, NULL);
        """,
    ),
    Case(
        "a primary key that only looks like the rowid",
        """
        CREATE TABLE t (id INTEGER PRIMARY KEY DESC, v TEXT);
        INSERT INTO t (rowid, id, v) VALUES (1, 9, 'x'), (2, 3, 'y');
        """,
    ),
    Case(
        "indexes of every kind",
        """
        CREATE TABLE t (a INTEGER UNIQUE, b TEXT, c TEXT COLLATE NOCASE, d REAL, e BLOB);
        INSERT INTO t VALUES (NULL, 'a', 'x', 0.5, x'01'), (NULL, 'b', 'Y', 0.5, x'02'), (3, NULL, 'z',
          NULL, NULL);
        CREATE INDEX i1 ON t (lower(b));
        CREATE UNIQUE INDEX i2 ON t (b) WHERE b > 'a';
        CREATE UNIQUE INDEX i3 ON t (b, a);
        CREATE INDEX i4 ON t (c COLLATE RTRIM DESC, d);
        CREATE INDEX i5 ON t (c, d);
        CREATE UNIQUE INDEX i6 ON t (c);
        CREATE INDEX i7 ON t (e);
        CREATE INDEX i8 ON t (a, b, c, d, e);
        """,
        (
            "index i1 of table t is left out: it is over an expression",
            "index i2 of table t is left out: it is partial",
        ),
    ),
    Case(
        "spaces at the end and letters of either case in a unique key",
        """
        CREATE TABLE t (k TEXT UNIQUE, l TEXT PRIMARY KEY);
        INSERT INTO t VALUES ('a', 'x'), ('a ', 'X'), ('a  ', 'x ');
        """,
        more=noted(MYSQL_OFFICIAL, "primary key of t (l) is an ordinary index: Duplicate entry"),
    ),
    Case(
        "a blob for a key",
        """
        CREATE TABLE t (k BLOB PRIMARY KEY, v INTEGER);
        INSERT INTO t VALUES (x'00', 1), (x'0000', 2);
        """,
        more=noted(MYSQL, "primary key of t (k) is an ordinary index: BLOB/TEXT column"),
    ),
    Case(
        "fractions for a key",
        "CREATE TABLE t (k REAL PRIMARY KEY); INSERT INTO t VALUES (0.1), (0.10000000000000002)",
        more=noted(
            POSTGRESQL_OFFICIAL, "primary key of t (k) is an ordinary index: could not create unique index"
        ),
    ),
)
