"""The databases that queries are generated over: the sample's, and one made of SQLite's odd corners.

The content is the same every time. Every table but `void` holds NULLs, ties and values that compare,
convert or sort differently elsewhere; joins between columns of different types find partners.
"""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from dialects.enums import Profile
from loaders.namespace import Database
from loaders.sample import sample_folder

COLLECTION = "bird_fuzz"

_SCHEMA = """
CREATE TABLE person (
    id     INTEGER PRIMARY KEY,
    name   TEXT,
    nick   TEXT COLLATE NOCASE,
    born   DATE,
    seen   DATETIME,
    height REAL,
    score  INTEGER,
    boss   INTEGER REFERENCES person (id)
);
CREATE TABLE kind (
    code        TEXT PRIMARY KEY,
    "Full Name" VARCHAR(40),
    "order"     INTEGER,
    weight      REAL
);
CREATE TABLE item (
    id      INTEGER PRIMARY KEY,
    code    TEXT REFERENCES kind (code),
    owner   INTEGER REFERENCES person (id),
    label   TEXT,
    amount  INTEGER,
    price   REAL,
    made    TEXT,
    "Is OK" BOOLEAN
);
CREATE TABLE event (
    person  INTEGER REFERENCES person (id),
    code    TEXT,
    at      DATETIME,
    value   REAL,
    amount  INTEGER,
    ticket  TEXT
);
CREATE TABLE dirty (
    id      INTEGER PRIMARY KEY,
    num     TEXT,
    day     TEXT,
    doc     TEXT,
    raw     BLOB,
    grade   INTEGER,
    loose
);
CREATE TABLE extreme (
    id      INTEGER PRIMARY KEY,
    n       INTEGER,
    x       REAL,
    mixed   NUMERIC
);
CREATE TABLE far (
    id      INTEGER PRIMARY KEY,
    big     INTEGER,
    digits  TEXT,
    doc     TEXT,
    essay   TEXT
);
CREATE TABLE label (
    label   TEXT,
    person  INTEGER REFERENCES person (id),
    item    INTEGER REFERENCES item (id),
    "Value" REAL
);
CREATE TABLE void (
    id      INTEGER PRIMARY KEY,
    amount  INTEGER,
    label   TEXT
);
"""

_Rows = Sequence[tuple[object, ...]]

_PERSON: _Rows = (
    (1, "Anna", "ann", "1980-02-29", "2020-01-01 00:00:00", 1.75, 10, None),
    (2, "anna", "Ann", "1980-12-31", "2020-01-31 23:59:59", 1.5, -3, 1),
    (3, "Änne", "ANN", "1999-01-01", "2019-12-31 12:30:15", None, 0, 1),
    (4, "änne", None, "2000-02-29", None, 2.0, None, 2),
    (5, "Bob", "bobby", None, "2021-02-28 06:07:08", 1.75, 10, 2),
    (6, "BOB", "Bobby", "1969-12-31", "1970-01-01 00:00:00", 0.0, 7, 1),
    (7, "Émile Zola", "ez", "1840-04-02", "2020-02-29 18:45:00", 1.625, 7, 5),
    (8, "", "", "2024-02-29", "2024-12-30 23:00:01", -0.5, 100, 5),
    (9, None, "x", "2023-12-31", "2024-01-01 01:01:01", 1.8125, -7, 3),
    (10, "O'Neil", "o_neil", "2001-10-09", "2001-10-09 10:00:00", 1.75, 3, 3),
    (11, "100%", "a%b", "1990-05-05", "2020-06-15 15:15:15", 3.0, 12, 9),
    (12, "under_score", "A_B", "1990-05-06", "2020-06-15 15:15:15", 1.0, 12, None),
)
_KIND: _Rows = (
    ("a", "Alpha", 1, 0.5),
    ("A", "alpha two", 2, 1.25),
    ("b", "Beta", 2, None),
    ("10", "Ten", 10, 10.0),
    ("9", "Nine", 9, -2.5),
    ("c d", "Gap here", None, 0.0),
    ("é", "Accent", -1, 3.75),
    ("none", None, 0, 100.0),
)
_ITEM: _Rows = (
    (1, "a", 1, "red box", 5, 9.5, "2020-01-15", 1),
    (2, "a", 2, "Red Box", 7, 0.125, "2020-02-29", 0),
    (3, "b", 3, "blue", 0, None, "2019-12-31", 1),
    (4, "b", 5, "Blue  ", -4, 2.5, "2021-03-31", None),
    (5, "10", 5, "  green", 12, 3.5, "2021-02-28", 0),
    (6, "9", None, None, 12, 4.5, None, 1),
    (7, None, 7, "x", None, -1.5, "1999-01-01", 1),
    (8, "A", 8, "abcabc", 3, 0.0, "2000-01-01 10:20:30", 0),
    (9, "c d", 9, "ÄÖÜ äöü", 9, 100.25, "2024-02-29", 1),
    (10, "é", 10, "a_b%c", -9, 1000000.0, "2024-12-31", None),
    (11, "a", 1, "12", 2, 9.5, "2020-01-15", 1),
    (12, "none", 12, "-7.5kg", 1, 0.75, "1969-07-20", 0),
    (13, "b", 2, "red box", 5, 2.25, "2022-07-04", 1),
    (14, "10", 6, "1e3", 10, -0.25, "2022-07-04", 1),
    (15, "a", 4, "", 2, 6.5, "2023-01-01", 0),
    (16, "9", 11, "zebra", 40, 12.0, "2023-06-30", 1),
)
_EVENT: _Rows = (
    (1, "a", "2020-01-01 00:00:00", 1.5, 2, "7"),
    (1, "a", "2020-01-01 00:00:00", 1.5, 2, "10"),
    (1, "b", "2020-03-31 12:00:00", None, 3, "7"),
    (2, "10", "2020-12-31 23:59:59", -2.25, 0, "-3"),
    (2, "9", None, 8.0, -5, "0"),
    (3, None, "2021-01-01 00:00:01", 0.5, None, None),
    (5, "A", "2021-06-15 08:30:00", 4.0, 4, "12"),
    (None, "a", "2022-02-28 17:45:10", 16.0, 1, "9007199254740993"),
    (7, "é", "2022-02-28 17:45:10", 0.0, 7, "1"),
    (8, "zz", "1999-12-31 23:59:59", 3.25, 2, "5"),
    (5, "A", "2024-02-29 00:00:00", -1.0, 4, "-9223372036854775808"),
    (12, "b", "2024-02-29 06:00:00", 2.5, 9, "2"),
    (None, None, None, None, None, None),
    (1, "c d", "2019-11-30 05:05:05", 1.5, 6, "10"),
)
_DIRTY: _Rows = (
    (1, "12", "2020-01-01", '{"a": 1, "b": [1, 2, 3], "c": {"d": "x"}}', b"ab", "A", 3),
    (2, " 12", "2020-02-30", '{"a": "one", "b": [], "c": null}', b"AB", "B", 1),
    (3, "12abc", "2020-13-01", '[1, 2.5, "three", null, true]', b"", "C", 2),
    (4, "1e3", "20200101", "{}", None, "A", None),
    (5, "0x1A", "2020/01/01", None, b"12", None, 7),
    (6, "", "", '"text"', b"ab", "n/a", 3),
    (7, "-", "yesterday", "17", b"a", "a", -4),
    (8, "-0.5", "2020-1-1", '{"a": {"b": [10, 20, {"c": 30}]}}', b"\x7fz", "B", 0),
    (9, None, None, "[]", b"0", "", 10),
    (10, "1.50", " 2020-01-01", '{"a": 2.5, "name": "Anna"}', None, "b", 5),
    (11, "+7", "12:34:56", "true", b"abc", "C", 8),
    (12, ".25", "2020-01-01T10:11:12", "[[1, 2], [3]]", b"ABC", "10b", 3),
    (13, "3.", "2020-06-15 10:11:12.5", '{"a": "12", "b": [5]}', b"x", "A", 6),
    (14, "9999999999999999999", "2459000.5", "null", b"y", "z", 3),
    (15, "1e", "2020-06-15 25:00:00", '{"b": [3, 1]}', b"z", "é", 12),
    (16, "abc", "2020-06-15 10:11:12+02:00", '{"name": "ÄÖ", "a": 0}', b"ab", "Z", 2),
    (17, "10", "1234", "[0, -1, 9007199254740993]", b"0", "a", 4),
    (18, "9", "2019-02-29 00:00", '{"a": false}', b" ", "A", 9),
)  # fmt: skip
_EXTREME: _Rows = (
    (1, 2**63 - 1, 1e100, 1),
    (2, -(2**63), -1e100, 1.5),
    (3, 2**53 + 1, 1e15, 2),
    (4, 2**53 - 1, 1e-7, -3),
    (5, 2**53, 123456789012345.0, 2.25),
    (6, 0, 0.0, 0),
    (7, -1, -0.5, None),
    (8, 1, 0.1, 10),
    (9, None, None, 3),
    (10, 2**31, 1e17, 7),
    (11, -(2**31) - 1, 9.223372036854776e18, -0.5),
    (12, 10**15, 2.5, 4),
    (13, 3037000500, 1234567.875, 100),
    (14, 7, 1e16, 2),
)
_LONG = "k" * 1_100
"""A server that sorts by the first 1,024 bytes of a text does not see what follows."""
_LONGER = "ä" * 17_000
"""More than the 16,383 characters of four bytes that fit a column of 64 KB."""
_FAR: _Rows = (
    (1, 2**53 + 1, "9007199254740993", '{"id": 9007199254740993, "a": 1}', _LONG + "b"),
    (2, 2**53, "9007199254740992", '{"id": 9007199254740992, "a": 2}', _LONG + "a"),
    (3, -(2**53) - 1, "-9007199254740993", '{"id": -9007199254740993}', _LONG + "A"),
    (4, 1234567890123456789, "1234567890123456789", '{"id": 1234567890123456789, "a": [1]}', _LONGER),
    (5, 1234567890123456788, "1234567890123456788", '{"id": 1234567890123456788, "a": [1]}', _LONGER + "x"),
    (6, 7, "7", '{"id": 7, "a": 2.5}', "short"),
    (7, None, "7.5", '{"id": "9007199254740993"}', None),
    (8, 2**62, "4611686018427387904", None, ""),
    (9, 2**53 + 1, "12abc", '{"id": 1234567890123456789}', _LONG + "a"),
    (10, 0, None, '{"id": null}', "Short"),
)
_LABEL: _Rows = (
    ("red box", 1, 1, 1.5),
    ("Red Box", 2, 2, None),
    ("x", 3, 7, 0.25),
    (None, 5, 3, -1.0),
    ("label", None, 4, 2.0),
    ("", 12, None, 4.5),
    ("blue", 1, 3, 1.5),
)
_TABLES = {
    "person": _PERSON, "kind": _KIND, "item": _ITEM, "event": _EVENT, "dirty": _DIRTY, "extreme": _EXTREME,
    "far": _FAR, "label": _LABEL,
}  # fmt: skip


def build(path: Path) -> None:
    """Write the odd database to `path`, which must not exist."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(_SCHEMA)
        for table, rows in _TABLES.items():
            marks = ", ".join("?" for _ in rows[0])
            connection.executemany(f'INSERT INTO "{table}" VALUES ({marks})', rows)


def databases(folder: Path) -> list[Database]:
    """The odd database, built into `folder` unless it is there, then the sample's."""
    odd = folder / "odd.sqlite"
    if not odd.exists():
        build(odd)
    sample = sorted((sample_folder() / "dev_databases").glob("*/*.sqlite"))
    return [Database(COLLECTION, path.stem, path, Profile.FAITHFUL) for path in (odd, *sample)]
