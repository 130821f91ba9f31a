"""The text that LOAD DATA or COPY reads says what the SQLite file holds, whichever way it is written."""

import math
import re
import sqlite3
import struct
from collections.abc import Iterator, Sequence
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dialects.enums import Dialect, Profile
from dialects.server_schema import ServerTable, server_tables
from loaders.file_census import census
from loaders.pages import MYSQL, POSTGRESQL, TextForm, encoded, pages
from loaders.source import opened
from tests.loaders.conftest import MakeFile

SPECIALS = [
    "\x1c",
    "\x1d",
    "\x1dN",
    "N",
    "\\N",
    "\x1d\x1d",
    "\x1e",
    "\x1f",
    "a\x1fb\x1ec\x1d",
    "\x1d0",
    "NULL",
]
TEXTS = ["", " ", "plain", "\t\n\r\\", "'\"%s%d", "é😀", "\x1a\b", *SPECIALS, "a\0b", "\0", "\0\x1f", None]


@pytest.mark.parametrize(
    ("form", "row", "encoding"),
    [
        (MYSQL, (1, "a"), b"1\x1fa\x1e"),
        (MYSQL, (None, "", b""), b"\x1dN\x1f\x1f\x1e"),
        (MYSQL, ("\x1dN", "\\N"), b"\x1d\x1dN\x1f\\N\x1e"),
        (MYSQL, ("\x1f\x1e\x1d", b"\x1d\xff\0"), b"\x1d\x1f\x1d\x1e\x1d\x1d\x1f\x1d\x1d\xff\0\x1e"),
        (MYSQL, ("é\t\n",), "é\t\n\x1e".encode()),
        (MYSQL, (0.1 + 0.2, -0.0, 5e-324, 1e308), b"0.30000000000000004\x1f-0.0\x1f5e-324\x1f1e+308\x1e"),
        (MYSQL, (-(2**63),), b"-9223372036854775808\x1e"),
        (POSTGRESQL, (1, "a"), b"1\x1fa\n"),
        (POSTGRESQL, (None, ""), b"\\N\x1f\n"),
        (POSTGRESQL, ("\\N", "\\.", "\\\\"), b"\\\\N\x1f\\\\.\x1f\\\\\\\\\n"),
        (POSTGRESQL, ("a\nb\r\nc", "\x1f\t"), b"a\\nb\\r\\nc\x1f\\\x1f\t\n"),
    ],
)
def test_a_row_written_value_by_value(form: TextForm, row: Sequence[object], encoding: bytes) -> None:
    assert b"".join(encoded(row, form)) == encoding


LARGEST_SINGLE = struct.unpack("!f", b"\x7f\x7f\xff\xff")[0]

FORMS = {Dialect.MYSQL: MYSQL, Dialect.POSTGRESQL: POSTGRESQL}

_READ_AS = {b"n": b"\n", b"r": b"\r"}
"""What COPY reads behind a backslash, where that is not the character itself."""


def _tables(path: Path, dialect: Dialect, profile: Profile) -> tuple[ServerTable, ...]:
    return server_tables(census(path), dialect, profile, path)


def _written(path: Path, table: ServerTable, dialect: Dialect) -> Iterator[tuple[bytes, int]]:
    with opened(path) as connection:
        yield from pages(connection, table, FORMS[dialect])


def _read(text: bytes, dialect: Dialect) -> list[list[bytes | None]]:
    """What LOAD DATA or COPY reads there."""
    form = FORMS[dialect]
    escape, apart = re.escape(form.escape), re.escape(form.line + form.field)
    rows: list[list[bytes | None]] = [[]]
    field, is_null = b"", False
    for token in re.findall(rb"%b.|[%b]|[^%b%b]+" % (escape, apart, escape, apart), text, re.DOTALL):
        if token in {form.line, form.field}:
            rows[-1].append(None if is_null else field)
            field, is_null = b"", False
            if token == form.line:
                rows.append([])
        elif token == form.null:
            is_null = True
        elif token[:1] == form.escape:
            field += _READ_AS.get(token[1:], token[1:]) if dialect is Dialect.POSTGRESQL else token[1:]
        else:
            assert b"\r" not in token or dialect is Dialect.MYSQL, "COPY takes it for the end of a line"
            field += token
    assert rows.pop() == []
    return rows


def _expected(path: Path, query: str) -> list[list[bytes | None]]:
    with closing(sqlite3.connect(path)) as connection:
        return [
            [v if v is None or isinstance(v, bytes) else str(v).encode() for v in row]
            for row in connection.execute(query)
        ]


@pytest.mark.parametrize("dialect", list(FORMS))
@pytest.mark.parametrize("profile", list(Profile))
@pytest.mark.parametrize(
    ("table", "rows"),
    [
        ("t (n INTEGER PRIMARY KEY, v TEXT)", list(enumerate(TEXTS))),
        (
            "t (n INTEGER PRIMARY KEY, v TEXT, w TEXT NOT NULL) WITHOUT ROWID",
            [(n, text, text or "") for n, text in enumerate(TEXTS)],
        ),
        ("t (v TEXT, n INTEGER)", [(v, None) for v in TEXTS]),
        ("t (v TEXT)", [("\x1f" * n,) for n in range(5)]),
        ("t (v TEXT, w TEXT)", [("\x1f", "a"), ("b", "c")] * 1_500),
        ("t (n INTEGER, v BLOB)", [(1, bytes(range(256))), (2, b""), (3, None), (4, b"\x1dN")]),
        ("t (v TEXT, w TEXT)", [("\\N", None), (None, "\\."), ("\r", "\n\\"), ("%", "'")] * 700),
        ("t (n INTEGER PRIMARY KEY, v INTEGER)", [(-(2**63), 1), (0, None), (2**63 - 1, 2**63 - 1)]),
        ("t (rowid TEXT, _rowid_ TEXT, oid TEXT)", [("a", "b", None)] * 3),
        ("t (rowid TEXT, n INTEGER)", [("b", 1), ("a", 2)]),
        ('t ("a ""b" TEXT, "%s" INTEGER, "x\'1f\'" INTEGER)', [("x", 1, 5)] * 3),
        (f"t ({', '.join(f'c{n} TEXT' for n in range(150))})", [("x", None) * 75] * 3),
        (f"t ({', '.join(f'c{n} INTEGER' for n in range(500))})", [(1, None) * 250] * 3),
        ("t (n INTEGER, v TEXT)", [(n, "x" * 600_000 + "\x1f") for n in range(3)]),
        ("t (n INTEGER)", []),
    ],
    ids=[
        "texts", "without rowid", "no key", "separators alone", "separators on every page", "blobs",
        "backslashes and ends of lines",
        "least and greatest rowid", "rowid shadowed", "rowid shadowed once", "odd names",
        "more columns than arguments", "many columns", "long lines", "no rows",
    ],
)  # fmt: skip
def test_pages_say_what_the_file_holds(
    make_file: MakeFile, profile: Profile, dialect: Dialect, table: str, rows: Sequence[Sequence[object]]
) -> None:
    path = make_file(f"CREATE TABLE {table}", **({"t": rows} if rows else {}))
    [spelled] = _tables(path, dialect, profile)
    written = list(_written(path, spelled, dialect))
    query = "SELECT *, rowid FROM t" if spelled.place else "SELECT * FROM t"
    assert _read(b"".join(text for text, _ in written), dialect) == _expected(path, query)
    assert sum(count for _, count in written) == len(rows)


@pytest.mark.parametrize("dialect", list(FORMS))
@pytest.mark.parametrize("encoding", ["UTF-8", "UTF-16le", "UTF-16be"])
def test_text_arrives_as_utf8_from_every_encoding(
    make_file: MakeFile, encoding: str, dialect: Dialect
) -> None:
    texts = [(text,) for text in TEXTS]
    path = make_file(f"PRAGMA encoding = '{encoding}'; CREATE TABLE t (v TEXT)", t=texts)
    [spelled] = _tables(path, dialect, Profile.OFFICIAL)
    written = b"".join(text for text, _ in _written(path, spelled, dialect))
    assert _read(written, dialect) == [[text if text is None else text.encode()] for (text,) in texts]


@pytest.mark.parametrize(
    ("dialect", "special", "escapes"),
    [
        (Dialect.MYSQL, "\x1f", [0, 0, 1, 0]),
        (Dialect.MYSQL, "\0\x1d", [0, 0, 2, 0]),
        (Dialect.MYSQL, "\\\n\r", [0, 0, 0, 0]),
        (Dialect.POSTGRESQL, "\n", [0, 0, 1, 0]),
        (Dialect.POSTGRESQL, "\r\\\x1f", [0, 0, 4, 0]),
        (Dialect.POSTGRESQL, "\x1d\x1e\t", [0, 0, 0, 0]),
    ],
)
def test_only_what_has_to_be_escaped_is(
    make_file: MakeFile, dialect: Dialect, special: str, escapes: Sequence[int]
) -> None:
    rows = [(n, special if n == 2_500 else "x") for n in range(4_000)]
    path = make_file("CREATE TABLE t (n INTEGER PRIMARY KEY, v TEXT)", t=rows)
    [spelled] = _tables(path, dialect, Profile.OFFICIAL)
    written = list(_written(path, spelled, dialect))
    assert [count for _, count in written] == [1_000] * 4
    assert [text.count(FORMS[dialect].escape) for text, _ in written] == escapes
    assert _read(b"".join(text for text, _ in written), dialect)[2_500] == [b"2500", special.encode()]


@pytest.mark.slow
@pytest.mark.parametrize("dialect", list(FORMS))
def test_a_page_is_bounded_whatever_the_texts(make_file: MakeFile, dialect: Dialect) -> None:
    path = make_file("CREATE TABLE t (v TEXT)", t=[("x" * 200_000,)] * 100)
    [spelled] = _tables(path, dialect, Profile.OFFICIAL)
    assert max(len(text) for text, _ in _written(path, spelled, dialect)) <= 4_000_000


def test_a_text_that_is_no_utf8_is_refused_or_sent_as_it_is(make_file: MakeFile) -> None:
    script = "CREATE TABLE t (v TEXT); INSERT INTO t VALUES (CAST(x'66fc72' AS TEXT))"
    dialect = Dialect.MYSQL
    [spelled] = _tables(make_file(script, name="plain"), dialect, Profile.OFFICIAL)
    written = _written(make_file(script), spelled, dialect)
    assert b"".join(text for text, _ in written) == b"f\xfcr\x1e"
    script += ", (char(0))"
    [spelled] = _tables(make_file(script), dialect, Profile.OFFICIAL)
    with opened(make_file(script)) as connection, pytest.raises(sqlite3.OperationalError, match="decode"):
        list(pages(connection, spelled, MYSQL))


def _bits(value: float, form: str = "d") -> bytes:
    return struct.pack(f"!{form}", value)


@pytest.mark.slow
@given(
    values=st.lists(
        st.floats(allow_nan=False, allow_infinity=False)
        | st.decimals(min_value=-(10**9), max_value=10**9, places=6).map(float)
        | st.integers(-(10**10), 10**10).map(lambda n: n / 100),
        min_size=1,
        max_size=50,
    )
)
@example(values=[1 + 2**-24, 1 + 3 * 2**-24, 2.0**60 + 2.0**36, 16777217.0, 0.1, 1e-30, 1e-46, 1e38])
@example(values=[0.0, -0.0, 5e-324, 1.7976931348623157e308, 0.1 + 0.2, 1e9, 999999999.999999, 1e15, 1e22])
@example(
    values=[
        2.5e-7,
        5e-7,
        1e-6,
        1.0000005,
        0.1234565,
        123456789.123456,
        8.5e-7,
        -1e-6,
        -12.34,
        4503599627.370496,
    ]
)
def test_doubles_read_back_bit_by_bit(tmp_path_factory: pytest.TempPathFactory, values: list[float]) -> None:
    path = tmp_path_factory.mktemp("doubles") / "shop.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (a REAL, b)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", [(v, v) for v in values])
        connection.commit()
        stored = connection.execute("SELECT a, b FROM t").fetchall()
    for dialect, profile, form in (
        (Dialect.MYSQL, Profile.OFFICIAL, "d"),
        (Dialect.POSTGRESQL, Profile.FAITHFUL, "d"),
        (Dialect.POSTGRESQL, Profile.OFFICIAL, "f"),
    ):
        if form == "f" and max(abs(value) for value in values) > LARGEST_SINGLE:
            continue
        [spelled] = _tables(path, dialect, profile)
        read = _read(b"".join(text for text, _ in _written(path, spelled, dialect)), dialect)
        assert [[_as_read(field or b"", form) for field in row] for row in read] == [
            [_bits(value, form) for value in row] for row in stored
        ]


def _as_read(field: bytes, form: str) -> bytes:
    """The bits of a number that a server reads: of a single, those of the one nearest to the text itself."""
    exact, double = Fraction(field.decode()), float(field)
    if form == "d" or not double:
        return _bits(double, form)
    bits = int.from_bytes(_bits(double, "f"))
    near = [struct.unpack("!f", (bits + step).to_bytes(4))[0] for step in (-1, 0, 1)]
    finite = [single for single in near if math.isfinite(single)]
    # Of two that are equally near, the one whose last bit is 0.
    found = min(finite, key=lambda single: (abs(Fraction(single) - exact), _bits(single, "f")[-1] & 1))
    return _bits(found, "f")
