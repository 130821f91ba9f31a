"""One small database with what SQLite keeps and others do not: its rows make the rewrites show."""

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

_SCHEMA = """
CREATE TABLE house (
    code    TEXT PRIMARY KEY,
    title   VARCHAR(30),
    founded INTEGER,
    fee     NUMERIC,
    rooms   INTEGER
);
CREATE TABLE pupil (
    id          INTEGER PRIMARY KEY,
    name        TEXT,
    nick        TEXT COLLATE NOCASE,
    "Full Name" TEXT,
    born        DATE,
    joined      DATETIME,
    seen        TEXT,
    height      REAL,
    points      INTEGER,
    mentor      INTEGER REFERENCES pupil (id),
    house       TEXT REFERENCES house (code),
    locker      TEXT
);
CREATE TABLE subject (
    code    TEXT PRIMARY KEY,
    title   TEXT,
    credits INTEGER
);
CREATE TABLE mark (
    pupil   INTEGER,
    code    TEXT,
    score   REAL,
    weight  INTEGER,
    day     TEXT,
    remark  TEXT
);
CREATE TABLE extreme (
    id      INTEGER PRIMARY KEY,
    n       INTEGER,
    x       REAL,
    bits    INTEGER,
    raw     BLOB
);
CREATE TABLE nobody (
    id      INTEGER PRIMARY KEY,
    name    TEXT,
    points  INTEGER
);
CREATE TABLE loose (
    id      INTEGER PRIMARY KEY,
    v,
    w,
    far,
    f       FLOAT
);
CREATE VIEW scored AS SELECT id, name AS who, points FROM pupil WHERE points > 2;
CREATE VIEW average (code, mean, "as") AS
    WITH m AS (SELECT * FROM mark) SELECT code, AVG(score), COUNT(*) FROM m GROUP BY code;
CREATE VIEW ranked /* AS */ AS
    SELECT s.*, a.code FROM scored s LEFT JOIN average a ON a.mean = s.points - 3 ORDER BY who;
CREATE VIEW twice AS SELECT a.id, b.id FROM pupil a JOIN pupil b ON a.mentor = b.id;
CREATE VIEW broken AS SELECT id FROM teacher;
"""

_ROWS: Mapping[str, Sequence[tuple[object, ...]]] = {
    "house": (
        ("N", "North", 1900, 10, 3),
        ("n", "north annex", 1985, 10.5, ""),
        ("S", "South", None, 2, 12),
        ("E", "east", 1850, 7.25, ""),
        ("W", None, 1900, None, None),
        ("10", "Tenth", 10, 0, 0),
        ("é", "Élan", 2001, -3, 2),
    ),
    "pupil": (
        (1, "Ann", "annie", "Ann Lee", "2001-02-28", "2015-09-01 08:00:00", "2020-01-05", 1.5, 10,
         None, "N", "7"),
        (2, "ann", "Annie", "ann O'Hara", "2000-02-29", "2015-12-31 23:59:59", "2020-02-30", 1.75,
         0, 1, "N", "07"),
        (3, "Änn", "BOB", "Änn de la Cruz", "1999-12-31", "2016-02-29 12:30:15", "2020/03/01",
         None, -4, 1, "n", "12b"),
        (4, "Bob", "bob", "Bob", "2001-02-28", "2015-09-01 08:00:00", "12:30", 1.5, 10, 2, "S", "1e2"),
        (5, "bob", None, "bob  Ray ", None, "2017-01-01 00:00:00", "", 2.0, None, 2, "S", " 3 "),
        (6, "Zoë", "zed", "Zoë 100%", "1998-06-15", None, None, 1.25, 7, 4, "E", "x"),
        (7, "", "_z", "a_b", "2002-10-09", "2018-03-31 18:45:00", "2020-06-15 10:11:12.5", 1.625,
         7, None, "10", ""),
        (8, None, "Zed", None, "1998-01-01", "2016-12-25 07:07:07", "2458849.5", 0.0, 3, 99, None, None),
        (9, "Cy", "cy", "Cy Young", "2001-12-30", "2016-12-25 07:07:07", "2020-01-05T10:00", 1.75,
         3, 8, "zz", "-2.5"),
    ),
    "subject": (
        ("MA", "Maths", 4),
        ("ma", "maths for all", 2),
        ("PH", "Physics", 4),
        ("AR", "Art", 0),
        ("1", "One", None),
        ("PE", None, 1),
    ),
    "mark": (
        (1, "MA", 3.5, 2, "2020-01-15", "good"),
        (1, "MA", 3.5, 2, "2020-01-15", "good"),
        (1, "PH", 4.0, 0, "2020-02-29", "Good"),
        (2, "MA", 2.5, 3, "2020-01-15", "12 points"),
        (2, "ma", None, 1, "2020-12-31", None),
        (3, "AR", 5.0, None, None, "so-so"),
        (4, "PH", 1.25, 5, "2021-03-31", ""),
        (4, "1", 2.0, 0, "2021-03-31", "7"),
        (6, "MA", 4.75, 2, "2019-11-30", "1.5"),
        (None, "PE", 2.5, 2, "2020-01-15", "ghost"),
        (7, None, 3.0, -1, "2019-01-01", "50%"),
        (9, "xx", 4.0, 4, "2021-03-31", "a_b"),
        (None, None, None, None, None, None),
    ),
    "extreme": (
        (1, 2**63 - 1, 1e15, 5, b"\x00\xff"),
        (2, -(2**63) + 1, 1e-7, 6, b"ab"),
        (3, 2**53 + 1, 123456.789, 0, b""),
        (4, 7, -2.675, 255, None),
        (5, -7, 0.125, 1, b"AB"),
        (6, 0, 2.5, None, b"ab"),
        (7, None, None, 12, b"\x7f"),
        (8, 3037000500, 100.0, 8, b"z"),
    ),
    "loose": (
        (1, 5, "a", 2**53 + 1, 1.5),
        (2, "abc", 2, 2.0**53, 2.0),
        (3, None, None, None, None),
        (4, 2.5, 2.0, "x", "n/a"),
        (5, "05x", "5y", -(2**63), -0.5),
        (6, -3, "a", "x", 3.0),
        (7, "", 0, 1, "-"),
        (8, 5.0, "B", 1.0, 4.0),
    ),
}  # fmt: skip


_MOTLEY = """
CREATE TABLE motley (id INTEGER PRIMARY KEY, v, w TEXT, n NUMERIC, c COLLATE NOCASE, far, b);
INSERT INTO motley VALUES
    (1, 1, 'a', 1.5, 'abc', 9223372036854775807, x'31'), (2, '1', x'61', 'x', 'ABC', 0.5, 'z'),
    (3, 1.0, '1', x'31', 1, NULL, x''), (4, x'31', NULL, 7, '1', 7, 7), (5, NULL, 'b', NULL, NULL, 1, NULL),
    (6, 2.5, '7', -1, x'616263', -2, x'00ff'), (7, '2.5', 'é', '0x1', 'b', 2.0, '7'),
    (8, '␛tz', '', 0, '', 0, '␛'), (9, 'abc', x'c3a9', 2, 'Abc', 3, 'abc'),
    (10, ' 1', ' 1', '', 2.5, 4, -1.5);
CREATE TABLE truth (id INTEGER PRIMARY KEY, true INTEGER, false TEXT);
INSERT INTO truth VALUES (1, 10, 'a'), (2, 0, 'b'), (3, NULL, 'c'), (4, 1, NULL);
CREATE TABLE hidden (id INTEGER PRIMARY KEY, t TEXT, v, x);
INSERT INTO hidden VALUES
    (1, 'a' || char(0), 'a' || char(0) || 'b', 9e999), (2, 'plain', 5, 'inf'), (3, NULL, '5', 1.5),
    (4, '12', x'00', -9e999), (5, '␛t00', 2.5, NULL);
CREATE TABLE zero (id INTEGER PRIMARY KEY, u, t TEXT);
INSERT INTO zero VALUES (1, -0.0, 'a'), (2, 0.0, 'a'), (3, 1.5, 'a'), (4, -0.0, 'b');
"""
"""What is loaded only where values are escaped."""


def build(path: Path, *, motley: bool = False) -> None:
    """Write the database to `path`, which must not exist, with tables to be escaped if they are wanted."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(_SCHEMA)
        for table, rows in _ROWS.items():
            marks = ", ".join("?" for _ in rows[0])
            connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
        if motley:
            connection.executescript(_MOTLEY)
        # Rowids with gaps, as deleted rows leave them.
        connection.execute("UPDATE mark SET rowid = rowid + 100 WHERE rowid > 10")
        connection.execute("UPDATE mark SET rowid = -9223372036854775808 WHERE rowid = 1")
