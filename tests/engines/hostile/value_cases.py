"""Texts whose rows hold what the driver cannot turn into a value of Python's, or can barely."""

from collections.abc import Mapping, Sequence

from dialects.enums import Dialect
from harness.engines.execution import Ending
from tests.engines.hostile.cases import Hostile

_UNREADABLE = frozenset({Ending.ERROR})
_ODD = frozenset({Ending.ERROR, Ending.ROWS})


def _each(endings: frozenset[Ending], *texts: str) -> list[Hostile]:
    return [Hostile(text[:60], text, endings) for text in texts]


_MANY_DIGITS = "('1' || repeat('0', 5000))"
_BINARY = "BEGIN; DECLARE c BINARY CURSOR FOR SELECT {}; FETCH ALL FROM c"

POSTGRESQL = [
    *_each(
        _UNREADABLE,
        "SET IntervalStyle = 'iso_8601'; SELECT interval '1 year'",
        "SET IntervalStyle = 'sql_standard'; SELECT interval '1 year 2 days'",
        "SET IntervalStyle = 'postgres_verbose'; SELECT interval '1 year'",
        "SET IntervalStyle = 'iso_8601'; SELECT ARRAY[interval '1 year']",
        "SELECT set_config('IntervalStyle', 'iso_8601', false); SELECT interval '1 year'",
        "SET DateStyle = 'SQL, DMY'; SELECT now()",
        "SET DateStyle = 'German'; SELECT now(), 1",
        "SET DateStyle = 'Postgres, MDY'; SELECT 'x', now()",
        f"SELECT {_MANY_DIGITS}::json",
        f"SELECT {_MANY_DIGITS}::jsonb",
        f"SELECT json_build_object('a', ARRAY[{_MANY_DIGITS}::json])",
        f"SELECT ARRAY[{_MANY_DIGITS}::json]",
        f"SELECT {_MANY_DIGITS}::json FROM generate_series(1, 100000)",
        f"SELECT CASE WHEN g < 5000 THEN '1'::json ELSE {_MANY_DIGITS}::json END"
        " FROM generate_series(1, 5000) AS g",
        "SELECT (repeat('[', 100000) || repeat(']', 100000))::json",
        "SELECT date '0044-03-15 BC'",
        "SELECT timestamp '0044-03-15 BC', timestamptz '0044-03-15 BC'",
        "SELECT date 'infinity'",
        "SELECT timestamp '-infinity'",
        "SELECT timestamptz 'infinity' FROM generate_series(1, 10000)",
        "SELECT ARRAY[date '10000-01-01']",
        "SELECT timestamp '294276-01-01'",
        "SELECT time '24:00:00'",
        "SELECT timetz '24:00:00'",
        "SET TimeZone = 'Asia/Tokyo'; SELECT timestamptz '9999-12-31 23:59:59+00'",
        "SET client_encoding = 'LATIN1'; SELECT ('\"' || chr(233) || '\"')::json",
        "SET client_encoding = 'EUC_TW'; SELECT 'x'",
        "SELECT set_config('client_encoding', 'LATIN1', false), chr(233)",
        _BINARY.format("date '10000-01-01'"),
        _BINARY.format("timestamptz 'infinity'"),
        _BINARY.format("time '24:00:00'"),
    ),
    *_each(
        _ODD,
        "SELECT (repeat('[', 950) || repeat(']', 950))::json",
        "SELECT (repeat('[', 980) || repeat(']', 980))::json",
        "SELECT (repeat('{\"a\":', 970) || '1' || repeat('}', 970))::json",
        f"SELECT {_MANY_DIGITS}::numeric, 1e-16383::numeric",
        "SELECT 'NaN'::numeric, 'Infinity'::numeric, 'NaN'::float8, '-Infinity'::float4",
        "SELECT '1e400'::json, '\"\\ud800\"'::json",
        "SELECT interval '178000000 years', interval '-178000000 years'",
        "SELECT timetz '12:00:00+15:59:59', timetz '12:00:00-00:00:30'",
        "SET TimeZone = 'FOO+160'; SELECT timestamptz '2020-01-01'",
        "SET TimeZone = 'Europe/Amsterdam'; SELECT timestamptz '1900-01-01'",
        "SET extra_float_digits = -15; SET bytea_output = 'escape'; SELECT 0.1::float8, '\\xff00'::bytea",
        "SET client_encoding = 'SQL_ASCII'; SELECT chr(233)",
        "SET client_encoding = 'LATIN1'; SELECT chr(8364)",
        "SET client_encoding = 'LATIN1'; SELECT nothing, chr(233)",
        "SELECT '[0:1][5:6]={{1,2},{3,4}}'::int[], '{NULL}'::text[], '{}'::int[]",
        "SELECT ARRAY[ROW(1, 2)], ARRAY[int4range(1, 2)], ARRAY[inet '10.0.0.1/8'], ROW(1, ROW(2, 'x'))",
        "SELECT '{[1,2]}'::int4multirange, daterange('2020-01-01', 'infinity')",
        "SELECT money '1.5', xml '<a/>', jsonpath '$.a', point '(1,2)', B'101', 'a & b'::tsquery",
        "SELECT ''::\"char\", chr(233)::\"char\", ARRAY[chr(233)::\"char\"]",
        "SELECT FROM generate_series(1, 3)",
        "SELECT * FROM pg_proc LIMIT 100",
        _BINARY.format("1, now(), 'x', 1.5, interval '1 year', ROW(1, 2), ARRAY[1], int4range(1, 2)"),
        _BINARY.format("'NaN'::numeric, '1'::jsonb, B'1', money '1', inet '::1', point '(1,2)'"),
    ),
]  # fmt: skip

MYSQL = [
    *_each(
        _UNREADABLE,
        "SELECT TO_VECTOR('[1,2]')",
        "SELECT TO_VECTOR('[1,2]') FROM information_schema.columns",
    ),
    *_each(
        _ODD,
        "SELECT CAST('0000-00-00' AS DATE), CAST('0000-01-01' AS DATE), TIMESTAMP('0000-01-01')",
        "SELECT /*+ SET_VAR(sql_mode='ALLOW_INVALID_DATES') */ CAST('2020-02-31 10:00:00' AS DATETIME)",
        "SELECT /*+ SET_VAR(sql_mode='') */ STR_TO_DATE('2020-00-00', '%Y-%m-%d')",
        "SELECT TIME('838:59:59'), TIME('-838:59:59.999999'), SEC_TO_TIME(999999999), TIME '24:00:00'",
        "SELECT MAKEDATE(1, 1), FROM_DAYS(366), FROM_DAYS(1), FROM_DAYS(3652425)",
        "SELECT CAST(CONCAT('1', REPEAT('0', 5000)) AS JSON)",
        "SELECT CAST(CONCAT(REPEAT('[', 100), REPEAT(']', 100)) AS JSON), CAST('\"\\\\ud800\"' AS JSON)",
        "SELECT REPEAT('9', 65) + 0, CAST(REPEAT('9', 5000) AS DECIMAL(65)), 1e308, -1e-308",
        "SELECT _utf8mb4 x'ff'",
        "SELECT CONVERT(x'ff' USING utf8mb4), CONVERT(x'ff' USING latin1), CHAR(255), _binary x'ff'",
        "SELECT CHAR(55296 USING utf16), CONVERT(_utf16 x'd83d' USING utf8mb4)",
        "SELECT b'101', BIT_OR(5), ST_GeomFromText('POINT(1 1)'), CAST(0 AS YEAR), RANDOM_BYTES(9)",
        "VALUES ROW(1, x'ff'), ROW('a', 2)",
        "SELECT 1 AS ``, 2 AS `\u00e9`",
        "SHOW VARIABLES",
        "SHOW ENGINES",
        "EXPLAIN ANALYZE SELECT 1",
        "SELECT " + ", ".join(["1"] * 4096),
        "SELECT 18446744073709551615, -9223372036854775808",
    ),
]

SQLITE = [
    *_each(
        _UNREADABLE,
        "SELECT CAST(x'ff' AS TEXT)",
        "SELECT CAST(x'00ff' AS TEXT)",
        "SELECT char(55296)",
        "SELECT json_extract('\"\\ud800\"', '$')",
        "SELECT json_extract('{}', CAST(x'24ff' AS TEXT))",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)"
        " SELECT CASE WHEN i < 5000 THEN 'x' ELSE CAST(x'ff' AS TEXT) END FROM n",
        'SELECT 1 AS "\ufffd", CAST(x\'ff\' AS TEXT) AS "\u00e9"',
    ),
    *_each(
        _ODD,
        "SELECT 'a' || char(0) || 'b', x'', zeroblob(10)",
        "SELECT 9223372036854775807, 9223372036854775808, 1e999, -1e999, 1e999 - 1e999",
        "SELECT json_extract('1e400', '$')",
        'SELECT 1 AS ""',
        "EXPLAIN SELECT 1",
    ),
]

VALUES: Mapping[Dialect, Sequence[Hostile]] = {
    Dialect.SQLITE: SQLITE,
    Dialect.MYSQL: MYSQL,
    Dialect.POSTGRESQL: POSTGRESQL,
}
