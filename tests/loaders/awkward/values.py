"""Values: numbers, blobs and dates that their declaration does not tell, or at the edge of their range."""

from tests.loaders.awkward.case import EVERYWHERE, MYSQL, POSTGRESQL_OFFICIAL, Case, at

CASES = (
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
        refused=at(MYSQL, "table t, column v, rowid 2: an infinite number, which MySQL has not"),
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
