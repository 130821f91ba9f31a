"""Keys, indexes and row ids."""

from tests.loaders.awkward.case import MYSQL, MYSQL_OFFICIAL, POSTGRESQL, POSTGRESQL_OFFICIAL, Case, noted

CASES = (
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
