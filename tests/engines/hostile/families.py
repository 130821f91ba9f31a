"""Hostile predictions for whole runs, by what they aim at beside the engine.

Each family has at least ten cases for each engine. `{gold}` in a text stands for the gold of the question
that it is an answer to.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum

from dialects.enums import Dialect
from harness.engines.execution import Ending
from tests.engines.hostile import duckdb_cases, sqlite_cases
from tests.engines.hostile.cases import HARMLESS, STOPPED, Hostile


class Family(StrEnum):
    """What the texts aim at."""

    COLLISIONS = "rows whose hashes collide"
    PARENT = "whatever reads texts in the process that asks, in stores and in reports"
    CROWD = "several bad texts on one question"
    VALUES = "values that a driver cannot make"
    ERRORS = "errors of megabytes"


_EXHAUSTING = frozenset({Ending.TIMEOUT, Ending.TOO_LARGE})


def _cases(texts: Mapping[str, str], endings: frozenset[Ending] = HARMLESS) -> list[Hostile]:
    return [Hostile(name, sql, endings) for name, sql in texts.items()]


# Python's numbers hash modulo 2^61-1, and -1 as -2: neither is seeded.
_M = 2**61 - 1
_MULTIPLES = [k * _M for k in range(-4, 5)]
_POWERS = [2.0 ** (61 * k) for k in range(-16, 17)]


def _values(numbers: Sequence[float], row: str = "") -> str:
    return "VALUES " + ", ".join(f"{row}({number!r})" for number in numbers)


def _product(columns: Sequence[str], tables: int, limit: int, *, gold: bool = False) -> str:
    """Rows of all combinations of a value table `v(x)`; `columns` are of v0, v1, ..."""
    sources = ", ".join(f"v AS v{number}" for number in range(tables))
    if gold:
        return f"SELECT g.*, {', '.join(columns)} FROM ({{gold}}) AS g, {sources} LIMIT {limit}"
    return f"SELECT {', '.join(columns)} FROM {sources} LIMIT {limit}"


def _collisions(of_multiples: str, of_powers: str, of_signs: str) -> dict[str, str]:
    """The same on every engine, with the engine's own way to write the values."""
    x = [f"v{number}.x" for number in range(6)]
    named = [f"{each} AS c{number}" for number, each in enumerate(x)]
    signs = [f"v{number}.x" for number in range(17)]
    return {
        "integers, 10,000 rows": of_multiples + _product(x[:5], 5, 10_000),
        "integers beside gold": of_multiples + _product(named[:4], 4, 6_000, gold=True),
        "floats, 10,000 rows": of_powers + _product(x[:3], 3, 10_000),
        "floats beside gold": of_powers + _product(named[:3], 3, 6_000, gold=True),
        "minus one and minus two, 10,000 rows": of_signs + _product(signs[:15], 15, 10_000),
        "one row often, then the others": of_powers
        + f"SELECT 1, 1 FROM v AS a, v AS b UNION ALL SELECT * FROM ({_product(named[:2], 2, 2_000)}) AS r",
    }


def _more_collisions(of_powers: str, of_signs: str) -> dict[str, str]:
    """What is the same to Python whichever engine it comes from."""
    x = [f"v{number}.x" for number in range(13)]
    return {
        "floats, 100,000 rows": of_powers + _product(x[:4], 4, 100_000),
        "floats, wide": of_powers + _product(x[:3] * 20, 3, 6_000),
        "minus one and minus two, wide": of_signs + _product(x * 4, 13, 8_000),
        "texts between them": of_powers + _product([x[0], "'same'", x[1], "NULL", x[2]], 3, 10_000),
    }


_NUMBERS_OF_MYSQL = (
    "WITH RECURSIVE d(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM d WHERE n < 299), "
    "v(g) AS (SELECT a.n * 300 + b.n FROM d AS a, d AS b) "
)

_OF_VALUES = _cases(
    _collisions(
        f"WITH v(x) AS ({_values(_MULTIPLES)}) ",
        f"WITH v(x) AS ({_values(_POWERS)}) ",
        "WITH v(x) AS (VALUES (-1), (-2)) ",
    )
    | _more_collisions(f"WITH v(x) AS ({_values(_POWERS)}) ", "WITH v(x) AS (VALUES (-1), (-2)) ")
)

_COLLIDING: Mapping[Dialect, Sequence[Hostile]] = {
    Dialect.SQLITE: _OF_VALUES,
    Dialect.DUCKDB: _OF_VALUES,
    Dialect.MARIADB: _OF_VALUES,
    Dialect.MYSQL: _cases(
        _collisions(
            f"WITH v(x) AS ({_values(_MULTIPLES, 'ROW')}) ",
            f"WITH v(x) AS ({_values(_POWERS, 'ROW')}) ",
            "WITH v(x) AS (VALUES ROW(-1), ROW(-2)) ",
        )
        | {
            "decimals, 10,000 rows": _NUMBERS_OF_MYSQL
            + f"SELECT CAST(g AS DECIMAL(40)) * {_M} FROM v LIMIT 10000",
            "decimals, 90,000 rows": _NUMBERS_OF_MYSQL + f"SELECT CAST(g AS DECIMAL(40)) * {_M} FROM v",
            "decimals, 900,000 rows": "WITH RECURSIVE d(g) AS (SELECT 1 UNION ALL SELECT g + 1 FROM d "
            "WHERE g < 900000) SELECT /*+ SET_VAR(cte_max_recursion_depth=1000000) */ "
            f"CAST(g AS DECIMAL(40, 0)) * {_M} FROM d",
            "fractions": _NUMBERS_OF_MYSQL + f"SELECT CAST(g AS DECIMAL(40)) * {_M} + 0.5, g FROM v",
        }
    ),
    Dialect.POSTGRESQL: _cases(
        _collisions(
            f"WITH v(x) AS ({_values(_MULTIPLES)}) ",
            "WITH v(x) AS (SELECT power(2::float8, 61 * k) FROM generate_series(-16, 16) AS k) ",
            "WITH v(x) AS (VALUES (-1), (-2)) ",
        )
        | {
            "decimals, 10,000 rows": f"SELECT g::numeric * {_M} FROM generate_series(1, 10000) AS g",
            "decimals, 900,000 rows": f"SELECT g::numeric * {_M} FROM generate_series(1, 900000) AS g",
            "fractions": f"SELECT g::numeric * {_M} + 0.5 FROM generate_series(1, 10000) AS g",
            "arrays": f"SELECT ARRAY[g::numeric * {_M}, 1] FROM generate_series(1, 10000) AS g",
            "documents": f"SELECT ('[' || g::numeric * {_M} || ']')::jsonb "
            "FROM generate_series(1, 10000) AS g",
            "ranges": f"SELECT numrange(g * -{_M}::numeric, 0) FROM generate_series(1, 10000) AS g",
            "intervals": "SELECT make_interval(days => -1 - (g & 1), secs => -1 - (g >> 1 & 1)), g / 4 * "
            f"{_M}::numeric FROM generate_series(1, 10000) AS g",
            "not numbers": "SELECT 'NaN'::float8, 'NaN'::numeric, g FROM generate_series(1, 10000) AS g",
        }
    ),
}

_PROSE = "/* thought 1 */\n" * 30 + "** I would set the table **"

_ANYWHERE: Mapping[str, str] = {
    "comments and no end": "/**/" * 40 + "!set",
    "many comments and no end": "/**/" * 50_000 + "!set",
    "comments and prose": _PROSE,
    "many comments and prose": _PROSE * 500 + "; show me",
    "comments that open": ";/*" * 100_000,
    "comments that open and close": "; /* */ -- \n" * 50_000 + "!",
    "line comments": "SELECT 1 " + "--\n" * 200_000,
    "calls of the clock": "SELECT 1 -- " + "strftime(" * 50_000 + "'now'",
    "dates without an end": "SELECT 1 -- " + "date( " * 50_000,
    "ages without an end": "SELECT 1 -- " + "age(" * 50_000,
    "times without an end": "SELECT 1 -- " + "time '" * 50_000,
    "blanks before a bracket": "SELECT 1 -- uuid" + " " * 100_000 + "x",
    "blanks within a call": "SELECT 1 -- date(" + " \t" * 100_000 + "x",
    "quotes": "SELECT " + "'" * 100_001,
    "quoted names": "SELECT " + '"' * 100_001,
    "back quotes": "SELECT " + "`" * 100_001,
    "dollars": "SELECT " + "$a$ $" * 30_000,
    "backslashes": "SELECT '" + "\\" * 100_001 + "'",
    "at signs": "SELECT " + "@" * 100_000,
    "escapes": "SELECT U&'" + "\\0041" * 20_000 + "', u&\"",
    "fences": "```sql\n" * 20_000,
    "deep parentheses": "SELECT " + "(" * 100_000 + "1" + ")" * 100_000,
    "open parentheses": "SELECT " + "(" * 100_000,
    "deep subqueries": "SELECT " + "(SELECT " * 20_000 + "1" + ")" * 20_000,
    "deep cases": "SELECT " + "CASE WHEN " * 20_000,
    "joins": "SELECT 1 FROM a " + "JOIN a " * 50_000,
    "selects": "SELECT " * 100_000,
    "100,000 statements": "SELECT 1;" * 100_000,
    "100,000 semicolons": ";" * 100_000,
    "a text of 10 MB": "SELECT '" + "x" * 10_000_000 + "'",
    "a comment of 10 MB": "SELECT 1 /*" + "x" * 10_000_000 + "*/",
    "10 MB of words": "SELECT 1 -- " + "now " * 2_500_000,
    "NUL": "SELECT 'a\0b' -- \0",
    "many NULs": "SELECT 1 -- " + "\0" * 100_000,
    "control characters": "SELECT '" + "".join(map(chr, range(1, 32))) + '\x7f\x80\x9b\' AS "\x1b[31m"',
    "terminal": "\x1b]0;title\x07\x1b[2J\x1b[31mSELECT nothing_\x1b[31m\r\x08 FROM \x9b31m",
    "right to left": "SELECT '\u202e\u2066\u200f' AS \"\u202etxet\", nothing_\u202e",
    "line separators": "SELECT nothing\u2028, '\u2029\x85\x0b\x0c\x1c' -- \u2028",
    "no characters": "SELECT '\ufffe\uffff\U0001fffe', nothing\ufffe",
    "page": "SELECT '</script><script>alert(1)</script><!--' , \"]]>&amp;<![CDATA[\", nothing</td>",
    "formula": '=cmd|"/c calc"!A1',
    "other formulas": "@SUM(1+1)*cmd",
    "templates": "SELECT '%s %(x)s {0} {x!r} ${x} {{x}} {% x %}', nothing%s",
    "markup of the terminal": "SELECT [bold red]nothing[/bold red], '[/]' [link=file:///etc/passwd]",
    "latex": "SELECT nothing \\input{/etc/passwd} \\end{tabular} % & # ^ ~",
    "markdown": "SELECT nothing | a\n|---|\n[x](javascript:alert(1)) <b>",
    "byte order marks": "\ufeff" * 1_000 + "SELECT 1",
    "nothing that prints": "\u200b\u00ad\u2060 ",
}

_ONE = "WITH RECURSIVE n(i) AS (SELECT "

_CROWDED: Mapping[Dialect, Mapping[str, tuple[str, frozenset[Ending]]]] = {
    Dialect.SQLITE: {
        **{
            f"hangs, {number}": (
                f"SELECT instr(zeroblob(15000000), zeroblob(7000000) || x'{number:02}')",
                STOPPED,
            )
            for number in range(1, 3)
        },
        **{
            f"another that hangs: {case.name}": (case.sql, STOPPED) for case in sqlite_cases.UNSTOPPABLE[2:4]
        },
        "endless": ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n",
                    _EXHAUSTING),
        "too large": ("SELECT zeroblob(2147483647)", frozenset({Ending.TOO_LARGE})),
        "out of memory": (f"{_ONE}hex(zeroblob(8000000)) UNION ALL SELECT i FROM n LIMIT 99) SELECT i FROM n",
                          _EXHAUSTING),
        "too many rows": (f"{_ONE}1 UNION ALL SELECT i + 1 FROM n LIMIT 2000000) SELECT i FROM n",
                          _EXHAUSTING),
        "an error": ("SELECT nothing", frozenset({Ending.ERROR})),
        "a write": ("DELETE FROM Books", frozenset({Ending.ERROR})),
    },
    Dialect.MYSQL: {
        **{f"sleeps, {number}": (f"SELECT SLEEP({1000 + number})", _EXHAUSTING) for number in range(2)},
        **{
            f"benchmark, {number}": (
                f"SELECT /*+ MAX_EXECUTION_TIME(600000) */ BENCHMARK(100000000{number}, SHA2('a', 512))",
                _EXHAUSTING,
            )
            for number in range(2)
        },
        "kills itself": ("KILL CONNECTION_ID()", STOPPED),
        "kills by a comment": ("/*!50000 KILL CONNECTION_ID() */", STOPPED),
        "too large": ("SELECT " + ", ".join(f"REPEAT('{c}', 60000000)" for c in "abcdef"), STOPPED),
        "more than a packet": ("SELECT '" + "x" * 20_000_000 + "', nothing", STOPPED),
        "too many rows": (_NUMBERS_OF_MYSQL + "SELECT v.g FROM v, d", _EXHAUSTING),
        "an error": ("SELECT nothing", frozenset({Ending.ERROR})),
        "a write": ("DELETE FROM Books", frozenset({Ending.ERROR})),
    },
    Dialect.POSTGRESQL: {
        **{f"sleeps, {number}": (f"SELECT pg_sleep({1000 + number})", _EXHAUSTING) for number in range(2)},
        "spins": ("SELECT count(*) FROM generate_series(1, 1000000000000)", _EXHAUSTING),
        "a pattern": ("SELECT repeat('a', 5000) ~ '(a*)*(a*)*(a*)*b'", HARMLESS),
        "ends its connection": ("SELECT pg_terminate_backend(pg_backend_pid())", STOPPED),
        "ends others": ("SELECT pg_terminate_backend(pid) FROM pg_stat_activity", STOPPED),
        "cancels itself": ("SELECT pg_cancel_backend(pg_backend_pid()), pg_sleep(5)", STOPPED),
        "too large": ("SELECT repeat('x', 300000000)", STOPPED),
        "out of memory": ("SELECT array_agg(repeat('x', 1000000) || g) FROM generate_series(1, 100000) AS g",
                          STOPPED),
        "too many rows": ("SELECT g FROM generate_series(1, 3000000) AS g", _EXHAUSTING),
        "an error": ("SELECT nothing", frozenset({Ending.ERROR})),
        "a write": ("DELETE FROM Books", frozenset({Ending.ERROR})),
    },
    Dialect.DUCKDB: duckdb_cases.CROWDED,
}  # fmt: skip

_MB = 3_000_000
_LONG_NAME = "x" * 1_000_000

_WRONG: Mapping[Dialect, Mapping[str, str]] = {
    Dialect.SQLITE: {
        "path of json_extract": f"SELECT json_extract('{{}}', '$' || hex(zeroblob({_MB})))",
        "path of json_type": f"SELECT json_type('{{}}', '$' || hex(zeroblob({_MB})))",
        "path of json_set": f"SELECT json_set('{{}}', '$' || hex(zeroblob({_MB})), 1)",
        "path of json_insert": f"SELECT json_insert('{{}}', '$' || hex(zeroblob({_MB})), 1)",
        "path of json_replace": f"SELECT json_replace('{{}}', '$' || hex(zeroblob({_MB})), 1)",
        "path of json_remove": f"SELECT json_remove('{{}}', '$' || hex(zeroblob({_MB})))",
        "path of json_array_length": f"SELECT json_array_length('{{}}', '$' || hex(zeroblob({_MB})))",
        "path of json_each": f"SELECT * FROM json_each('{{}}', '$' || hex(zeroblob({_MB})))",
        "path of json_tree": f"SELECT * FROM json_tree('{{}}', '$' || hex(zeroblob({_MB})))",
        "lines in a path": f"SELECT json_extract('{{}}', '$' || "
        f"replace(hex(zeroblob({_MB})), '0', char(10)))",
        "wide letters in a path": "SELECT json_extract('{}', '$' || replace(hex(zeroblob(1000000)), '00', "
        "char(128512)))",
        "a column's name": f"SELECT [{_LONG_NAME}]",
        "a table's name": f'SELECT 1 FROM "{_LONG_NAME}"',
        "a function's name": f"SELECT {_LONG_NAME}(1)",
        "a collation's name": f"SELECT 1 ORDER BY 1 COLLATE {_LONG_NAME}",
        "a word too many": f"SELECT 1 FROM Books WHERE 1 = 1 2{_LONG_NAME}",
    },
    Dialect.MYSQL: {
        "path of json_extract": f"SELECT JSON_EXTRACT('{{}}', REPEAT('x', {_MB}))",
        "text of json": f"SELECT CAST(REPEAT('x', {_MB}) AS JSON)",
        "xpath": f"SELECT EXTRACTVALUE('<a/>', CONCAT('/', REPEAT('x', {_MB}), '('))",
        "another xpath": f"SELECT UPDATEXML('<a/>', CONCAT('//', REPEAT('y', {_MB}), ')'), 'x')",
        "geometry": f"SELECT ST_GeomFromText(REPEAT('x', {_MB}))",
        "geometry of json": f"SELECT ST_GeomFromGeoJSON(REPEAT('x', {_MB}))",
        "pattern": f"SELECT REGEXP_LIKE('a', REPEAT('(', {_MB}))",
        "another pattern": f"SELECT REGEXP_REPLACE('a', CONCAT('[', REPEAT('x', {_MB})), 'b')",
        "uuid": f"SELECT UUID_TO_BIN(REPEAT('x', {_MB}))",
        "json schema": f"SELECT JSON_SCHEMA_VALID(REPEAT('x', {_MB}), '1')",
        "vector": f"SELECT TO_VECTOR(REPEAT('x', {_MB}))",
        "a column's name": f"SELECT `{_LONG_NAME}`",
        "a table's name": f"SELECT 1 FROM `{_LONG_NAME}`",
        "a function's name": f"SELECT {_LONG_NAME}(1)",
        "a word too many": f"SELECT 1 FROM Books WHERE 1 = 1 2{_LONG_NAME}",
    },
    Dialect.POSTGRESQL: {
        "integer": f"SELECT CAST(repeat('a', {_MB}) AS int)",
        "integer of 60 MB": "SELECT CAST(repeat('a', 60000000) AS int)",
        "date": f"SELECT CAST(repeat('a', {_MB}) AS date)",
        "number": f"SELECT CAST(repeat('a', {_MB}) AS numeric)",
        "boolean": f"SELECT CAST(repeat('a', {_MB}) AS boolean)",
        "uuid": f"SELECT CAST(repeat('a', {_MB}) AS uuid)",
        "address": f"SELECT CAST(repeat('a', {_MB}) AS inet)",
        "point": f"SELECT CAST(repeat('a', {_MB}) AS point)",
        "interval": f"SELECT CAST(repeat('a', {_MB}) AS interval)",
        "json": f"SELECT CAST(repeat('a', {_MB}) AS json)",
        "array": f"SELECT CAST('{{' || repeat('a', {_MB}) AS int[])",
        "lines": f"SELECT CAST(repeat(E'a\\n', {_MB}) AS int)",
        "wide letters": "SELECT CAST(repeat(chr(128512), 1000000) AS int)",
        "words of a query": f"SELECT to_tsquery(repeat('a & ', {_MB}) || '(')",
        "pattern": f"SELECT 'a' ~ repeat('(', {_MB})",
        "a table's name": f'SELECT 1 FROM "{_LONG_NAME}"',
        "a word too many": f"SELECT 1 FROM Books WHERE 1 = 1 2{_LONG_NAME}",
    },
    Dialect.DUCKDB: duckdb_cases.WRONG,
}

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

MARIADB = [
    *_each(_ODD, *(case.sql for case in MYSQL if case.endings is _ODD)),
    *_each(_ODD, "SELECT UUID(), CAST('::1' AS INET6), VEC_FromText('[1,2]')"),
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
    Dialect.DUCKDB: duckdb_cases.VALUES,
    Dialect.MARIADB: MARIADB,
}

FAMILIES: Mapping[Family, Mapping[Dialect, Sequence[Hostile]]] = {
    Family.COLLISIONS: _COLLIDING,
    Family.PARENT: {dialect: _cases(_ANYWHERE) for dialect in Dialect},
    Family.CROWD: {
        dialect: [Hostile(name, sql, endings) for name, (sql, endings) in cases.items()]
        for dialect, cases in {**_CROWDED, Dialect.MARIADB: _CROWDED[Dialect.MYSQL]}.items()
    },
    Family.VALUES: VALUES,
    Family.ERRORS: {
        **{dialect: _cases(texts, STOPPED) for dialect, texts in _WRONG.items()},
        # It makes NULL of some and a warning, and cuts the message of the others.
        Dialect.MARIADB: _cases(_WRONG[Dialect.MYSQL]),
    },
}
