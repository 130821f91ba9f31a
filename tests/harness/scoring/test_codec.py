"""Executions survive being written and read with every value and its type, and nothing else is believed."""

import math
import zlib
from datetime import UTC, datetime, time, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialects.enums import Dialect
from harness.engines import on_server
from harness.engines.base import Engine
from harness.engines.execution import Ending, Execution, Limits, execute
from harness.engines.sqlite.engine import SQLiteEngine
from harness.scoring.tasks import decode_execution as decode
from harness.scoring.tasks import encode_execution as encode
from loaders.bulk_load import load
from loaders.namespace import Database
from loaders.server import Server
from tests.sqlite_files import sqlite_file

ZONES = [None, UTC, timezone(timedelta(hours=-3, minutes=-30, seconds=-1)), ZoneInfo("Europe/Zurich")]
FIXED = [zone for zone in ZONES if not isinstance(zone, ZoneInfo)]
PLAIN = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=()))
)
SCALARS = (
    PLAIN
    | st.binary()
    | st.decimals()
    | st.dates()
    | st.datetimes(timezones=st.sampled_from(ZONES))
    | st.times(timezones=st.sampled_from(FIXED))
    | st.timedeltas()
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4)
)
ROWS = st.lists(st.lists(PLAIN, max_size=3).map(tuple) | st.lists(VALUES, max_size=3).map(tuple), max_size=5)


def exact(value: Any) -> Any:
    """`value` with all that makes it what it is, so that == tells whether two are the same."""
    match value:
        case tuple() | list():
            return type(value), [exact(inner) for inner in value]
        case dict():
            return dict, [(exact(key), exact(inner)) for key, inner in value.items()]
        case float():
            return float, "nan" if math.isnan(value) else value.hex()
        case Decimal():
            return Decimal, value.as_tuple()
        case datetime() | time():
            return type(value), value.replace(tzinfo=None), value.fold, value.tzinfo
        case _:
            return type(value), value


def through(*values: object) -> tuple[object, ...]:
    data = encode(Execution(Ending.ROWS, (values,)))
    assert data is not None
    return decode(data).rows[0]


@pytest.mark.slow
@given(
    st.sampled_from(Ending),
    ROWS,
    st.none() | st.text(),
    st.none() | st.text(),
    st.floats(0, 1e6),
)
def test_what_is_read_is_what_was_written(
    ending: Ending, rows: list[tuple[object, ...]], error: str | None, code: str | None, seconds: float
) -> None:
    execution = Execution(ending, tuple(rows), error, code, seconds)
    data = encode(execution)
    assert data is not None
    found = decode(data)
    assert (found.ending, found.error, found.code, found.seconds) == (ending, error, code, seconds)
    assert exact(found.rows) == exact(execution.rows)


@pytest.mark.parametrize(
    "value",
    [
        1, 1.0, True, Decimal(1), "1", b"1", -0.0, math.inf, math.nan, 2**63, -(2**63), 10**5000,
        Decimal("1.50"), Decimal("-0.00"), Decimal("NaN"), Decimal("-Infinity"), Decimal("1E+400"),
        "\ud83d\ude00", "\U0001f600", "\udcff", "\x00", "", [], {}, [[1, [None]], {}], {"a": {"b": [1.0]}},
        datetime.fromisoformat("0001-01-01"), datetime.fromisoformat("9999-12-31 23:59:59.999999"),
        datetime(2024, 10, 27, 2, 30, tzinfo=ZoneInfo("Europe/Zurich"), fold=1), timedelta.min, timedelta.max,
    ],
    ids=lambda value: repr(value)[:40] if type(value) is not int else type(value).__name__,
)  # fmt: skip
def test_values_that_are_easily_taken_for_others(value: object) -> None:
    assert exact(through(value, "plain")) == exact((value, "plain"))


def test_times_in_a_named_zone_compare_as_before() -> None:
    zone = ZoneInfo("America/New_York")
    [found] = through(datetime(2024, 11, 3, 1, 30, tzinfo=zone))
    assert found == datetime(2024, 11, 3, 1, 30, fold=1, tzinfo=zone)
    assert found != datetime(2024, 11, 3, 5, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    "value",
    [
        {1, 2}, (1, 2), 1j, object(), bytearray(b"x"), memoryview(b"x"), [object()], {"a": (1,)},
        datetime(2024, 1, 1, tzinfo=timezone(timedelta(hours=1), "named")),
        datetime(2024, 1, 1, tzinfo=ZoneInfo.no_cache("Europe/Zurich")),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_a_value_that_no_driver_returns_is_not_kept(value: object) -> None:
    assert encode(Execution(Ending.ROWS, ((1, value),))) is None


def test_a_value_nested_too_deeply_is_not_kept() -> None:
    value: list[object] = []
    for _ in range(100_000):
        value = [value]
    assert encode(Execution(Ending.ROWS, ((value,),))) is None


def test_large_results_are_compressed_and_bounded() -> None:
    execution = Execution(Ending.ROWS, tuple((number % 7, "the same text") for number in range(1000)))
    data = encode(execution)
    assert data is not None
    assert len(data) < 1000
    assert decode(data) == execution
    assert encode(execution, len(data)) is None, "16 times the bytes before compression, too"
    assert encode(execution, 20_000) == data
    assert encode(Execution(Ending.ERROR, (), "no such table: x", "1", 0.5), 10) is None


@pytest.mark.parametrize(
    "data",
    [
        b"", b"x", b"j", b"j{}", b"j[]", b"j\xff", b"j" + b"[" * 100_000, b"z", b"\x80\x04N.",
        b'j["rows",null,null,0.5]',
        b'j["no such ending",null,null,0.5,[]]',
        b'j["rows",1,null,0.5,[]]',
        b'j["rows",null,null,true,[]]',
        b'j["rows",null,null,0.5,{"a":1}]',
        *(b'j["rows",null,null,0.5,[%s]]' % row for row in (b"1", b'[{"a":1}]', b"[[]]", b'[["?","x"]]')),
        *(
            b'j["rows",null,null,0.5,[[%s]]]' % value
            for value in (
                b'["d","x"]', b'["n","x"]', b'["s",1e400,0,0]', b'["b","?"]', b'["m",[["l"],1]]',
                b'["t","2024-01-01T00:00:00",0,"../../etc/passwd"]',
            )
        ),
        b"z" + zlib.compress(b'["rows",null,null,0.5,[]]')[:-1],
        b"z" + zlib.compress(b'["rows",null,null,0.5,[]]') + b"more",
    ],
)  # fmt: skip
def test_bytes_that_were_not_written_here_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="not an encoded execution"):
        decode(data)


EVERY_TYPE = {
    Dialect.SQLITE: "SELECT 1, -1.5, 9e999, 'ü😀', x'00ff', NULL, 9223372036854775807",
    Dialect.MYSQL: """
        SELECT 1, -1.5, 1e300, 'ü😀', x'00ff', b'101', NULL, TRUE, 18446744073709551615,
               CAST('2024-02-29' AS DATE), CAST('2024-02-29 12:00:00.000001' AS DATETIME(6)),
               CAST('-838:59:59' AS TIME), CAST('{"a": [1, null]}' AS JSON), CAST(2024 AS YEAR),
               POINT(1, 2)""",
    Dialect.POSTGRESQL: r"""
        SELECT 1, 1.50, 'NaN'::numeric, '-Infinity'::numeric, 'NaN'::real, '-0'::float8, 1e300::float8, true,
               'ü😀', 'x'::"char", 'x'::name, '\x00ff'::bytea, NULL, date '2024-02-29',
               timestamp '2024-02-29 12:00',
               timestamptz '2024-10-27 02:30+01', time '23:59:59.5', timetz '12:00:00.5-03:30',
               interval '-1 day 3 hours', '{"a": [1, null, 1.5]}'::json, '[{"b": "x"}]'::jsonb,
               ARRAY[[1, 2], [3, NULL]], ARRAY['a', NULL], ARRAY[timestamptz '2024-01-01'], ROW(1, 'a'),
               int4range(1, 5), '{[1,2]}'::int4multirange, point(1, 2), '10.0.0.0/8'::cidr, B'101'::varbit,
               'a'::tsvector, 12.5::money, '00000000-0000-0000-0000-000000000001'::uuid, 1::oid""",
}


def read_back(engine: Engine, database: Database, sql: str) -> None:
    execution = execute(engine, database, sql, Limits())
    assert execution.ending is Ending.ROWS, execution.error
    data = encode(execution)
    assert data is not None, {type(value) for row in execution.rows for value in row}
    assert exact(decode(data).rows) == exact(execution.rows)


@pytest.fixture
def database(tmp_path: Path) -> Database:
    path = sqlite_file(tmp_path / "one.sqlite", "CREATE TABLE one (id INTEGER PRIMARY KEY)")
    return Database("bird_codec_tests", "one", path)


def test_all_that_sqlite_returns_is_kept(database: Database) -> None:
    read_back(SQLiteEngine(), database, EVERY_TYPE[Dialect.SQLITE])


@pytest.mark.engine
def test_all_that_a_server_returns_is_kept(server: Server, database: Database) -> None:
    load([database], server)
    read_back(on_server(server), database, EVERY_TYPE[server.dialect])
