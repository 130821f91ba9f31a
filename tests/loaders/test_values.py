"""Every value arrives as it is in SQLite, or as the profile's documented mapping has it."""

import sqlite3
import struct
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import UTC, date, datetime
from typing import Any

import pytest

from dialects.enums import Dialect, Profile
from loaders.bulk_load import load
from loaders.namespace import Database
from loaders.server import Server
from tests.every_engine import LOADED
from tests.loaders.conftest import MakeFile
from tests.loaders.servers import read

SERVERS = LOADED

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("profile")]

TEXTS = [
    "", " ", "  two  ", "plain", "NULL", "\\N", "\\", "\\\\", "ends with \\", "\\t",
    "a\tb", "a\nb", "a\r\nb", "\r", "\n", "\x1a", "\x01\x7f",
    "'", '"', "`", "''", "it's", ",", ";", "%s", "%%", "{0}", "$$", "\\.", "--", "/*",
    "é", "e\u0301", "Ångström", "ß", "İ", "日本語", "😀", "👩\u200d👩", "\ufeffbom", "\u2028",
    "\u00a0", "\U0010ffff", "x" * 70_000, "é" * 40_000,
]  # fmt: skip
INTEGERS = [0, 1, -1, 2**31, -(2**31) - 1, 2**53 + 1, 2**63 - 1, -(2**63), None]
REALS = [
    0.0, 0.1, 0.1 + 0.2, 1 / 3, 1e308, -1.7976931348623157e308, 5e-324, 2.2250738585072014e-308,
    123456789.123456789, 1e15, 1e16, 1e22, -2.5, 3.0, None,
]  # fmt: skip
SINGLES = [
    0.0,
    -0.0,
    0.1,
    1 / 3,
    3.4028234663852886e38,
    -3.4028235677973362e38,
    1.5e-45,
    16777217.0,
    1e-3,
    None,
]
BLOBS = [b"", b"\0", b"\\N", b"\\", b"\t\n\r\x1a", bytes(range(256)), b"x" * 70_000, None]


def stored(database: Database, sql: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(database.sqlite_path)) as connection:
        return connection.execute(sql).fetchall()


def bits(value: float | None) -> bytes | None:
    """Equal for the same double only: 0.0 and -0.0 differ."""
    return None if value is None else struct.pack("!d", value)


def single(value: float | None) -> float | None:
    """The nearest IEEE 754 single."""
    return None if value is None else float(struct.unpack("!f", struct.pack("!f", value))[0])


COLUMNS: list[tuple[str, Sequence[object]]] = [
    ("TEXT", [*TEXTS, None]),
    ("TEXT", [None]),
    ("TEXT", [""]),
    ("INTEGER", INTEGERS),
    ("BLOB", BLOBS),
    ("", TEXTS),
    ("INTEGER", ["", 7, -(2**63), 0.1 + 0.2, 1e308, "seven", None]),
    ("NUMERIC", [1, 2.5, 2**24]),
    ("DECIMAL(5, 2)", [1.25, None, 3]),
]


def test_values_arrive_as_they_are(server: Server, database: Database, make_file: MakeFile) -> None:
    names = [f"t{number}" for number in range(len(COLUMNS))]
    script = "".join(
        f"CREATE TABLE {name} (n INTEGER, v {declared});"
        for name, (declared, _) in zip(names, COLUMNS, strict=True)
    )
    make_file(
        script, **{name: list(enumerate(values)) for name, (_, values) in zip(names, COLUMNS, strict=True)}
    )
    load([database], server)
    for name in names:
        wanted = stored(database, f"SELECT n, v FROM {name} ORDER BY n")
        if {int, str} <= {type(value) for _, value in wanted}:
            wanted = [(n, value if value is None else str(value)) for n, value in wanted]
        assert read(server, database, f"SELECT n, v FROM {name} ORDER BY n") == wanted


def test_doubles_arrive_bit_by_bit(server: Server, database: Database, make_file: MakeFile) -> None:
    has_singles = server.dialect not in {Dialect.MYSQL, Dialect.MARIADB}
    single_precision = has_singles and database.profile is Profile.OFFICIAL
    values = SINGLES if single_precision else REALS
    make_file("CREATE TABLE t (n INTEGER, v REAL)", t=list(enumerate(values)))
    load([database], server)
    # A real is shown with its own few digits; as a double it shows what it is.
    shown = "v::float8" if single_precision else "v"
    arrived = [bits(value) for (value,) in read(server, database, f"SELECT {shown} FROM t ORDER BY n")]
    wanted = [value for (value,) in stored(database, "SELECT v FROM t ORDER BY n")]
    assert arrived == [bits(single(value) if single_precision else value) for value in wanted]


DAYS: dict[str | None, date | None] = {
    "2020-02-29": date(2020, 2, 29),
    "0001-01-01": date(1, 1, 1),
    "9999-12-31": date(9999, 12, 31),
    "1582-10-10": date(1582, 10, 10),
    "12/31/1980": date(1980, 12, 31),
    "1998/12/27": date(1998, 12, 27),
    None: None,
}
MOMENTS: dict[str | None, datetime | None] = {
    "2010-07-19 19:39:07.0": datetime(2010, 7, 19, 19, 39, 7, tzinfo=UTC),
    "2010-07-19 19:39:08": datetime(2010, 7, 19, 19, 39, 8, tzinfo=UTC),
    "2010-07-19": datetime(2010, 7, 19, tzinfo=UTC),
    "0001-01-01 00:00:00": datetime(1, 1, 1, tzinfo=UTC),
    "9999-12-31 23:59:59": datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC),
    "1969-12-31 23:59:59": datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC),
    None: None,
}
FRACTIONS = MOMENTS | {
    "2010-07-19 19:39:07.999999": datetime(2010, 7, 19, 19, 39, 7, 999_999, tzinfo=UTC),
    "2010-07-19 19:39:07.5": datetime(2010, 7, 19, 19, 39, 7, 500_000, tzinfo=UTC),
}


def test_dates_are_dates_or_text_by_profile(server: Server, database: Database, make_file: MakeFile) -> None:
    columns: dict[str, tuple[str, Mapping[str | None, date | None]]] = {
        "days": ("DATE", DAYS),
        "moments": ("DATETIME", MOMENTS),
        "fractions": ("TIMESTAMP", FRACTIONS),
    }
    make_file(
        "".join(f"CREATE TABLE {name} (n INTEGER, v {declared});" for name, (declared, _) in columns.items()),
        **{name: list(enumerate(values)) for name, (_, values) in columns.items()},
    )
    load([database], server)
    for name, (_, values) in columns.items():
        arrived = [value for (value,) in read(server, database, f"SELECT v FROM {name} ORDER BY n")]
        if database.profile is Profile.FAITHFUL:
            assert arrived == list(values)
        else:
            # MySQL's moments come without a time zone.
            arrived = [v.replace(tzinfo=UTC) if isinstance(v, datetime) else v for v in arrived]
            assert arrived == list(values.values())
