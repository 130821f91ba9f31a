"""Text dates become the same days and moments, on the whole calendar."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, date, datetime, timedelta

import pytest

from loaders.portable import DAY, DAYS_SINCE_2000, MICROSECONDS_SINCE_2000

DAYS = [date(1, 1, 1) + timedelta(days=number) for number in range(0, date.max.toordinal(), 9_973)] + [
    date.max, date(1582, 10, 4), date(1582, 10, 15), date(1900, 2, 28), date(2000, 1, 1), date(2000, 2, 29),
]  # fmt: skip


@pytest.fixture(scope="module")
def sqlite() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as connection:
        yield connection


def evaluated(sqlite: sqlite3.Connection, sql: str, text: str | None) -> object:
    return sqlite.execute(f"SELECT {sql.format('?1')}", (text,)).fetchone()[0]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("1998-12-27", "1998-12-27"),
        ("1998/12/27", "1998-12-27"),
        ("12/31/1980", "1980-12-31"),
        (None, None),
    ],
)
def test_a_day_has_one_spelling(sqlite: sqlite3.Connection, text: str | None, day: str | None) -> None:
    assert evaluated(sqlite, DAY, text) == day


def test_days_are_counted_exactly(sqlite: sqlite3.Connection) -> None:
    counted = [evaluated(sqlite, DAYS_SINCE_2000, day.isoformat()) for day in DAYS]
    assert counted == [(day - date(2000, 1, 1)).days for day in DAYS]
    assert evaluated(sqlite, DAYS_SINCE_2000, "12/31/1999") == -1
    assert evaluated(sqlite, DAYS_SINCE_2000, None) is None


@pytest.mark.parametrize(
    "clock",
    ["", " 00:00:00", " 23:59:59", " 23:59:59.9", " 12:34:56.000001", " 12:34:56.999999", " 01:02:03.25"],
)
def test_moments_are_counted_exactly(sqlite: sqlite3.Connection, clock: str) -> None:
    start = datetime(2000, 1, 1, tzinfo=UTC)
    for day in DAYS:
        moment = datetime.fromisoformat(f"{day}{(clock + '000000')[:16] if '.' in clock else clock}")
        counted = evaluated(sqlite, MICROSECONDS_SINCE_2000, f"{day}{clock}")
        assert counted == (moment.replace(tzinfo=UTC) - start) // timedelta(microseconds=1)
    assert evaluated(sqlite, MICROSECONDS_SINCE_2000, None) is None
