"""Hostile predictions for whole runs, by what they aim at beside the engine.

Each family has at least ten cases for each engine. `{gold}` in a text stands for the gold of the question
that it is an answer to.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum

from dialects.enums import Dialect
from harness.engines.execution import Ending
from tests.engines.hostile import sqlite_cases
from tests.engines.hostile.cases import HARMLESS, STOPPED, Hostile
from tests.engines.hostile.value_cases import VALUES


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

_COLLIDING: Mapping[Dialect, Sequence[Hostile]] = {
    Dialect.SQLITE: _cases(
        _collisions(
            f"WITH v(x) AS ({_values(_MULTIPLES)}) ",
            f"WITH v(x) AS ({_values(_POWERS)}) ",
            "WITH v(x) AS (VALUES (-1), (-2)) ",
        )
        | _more_collisions(f"WITH v(x) AS ({_values(_POWERS)}) ", "WITH v(x) AS (VALUES (-1), (-2)) ")
    ),
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
}

FAMILIES: Mapping[Family, Mapping[Dialect, Sequence[Hostile]]] = {
    Family.COLLISIONS: _COLLIDING,
    Family.PARENT: {dialect: _cases(_ANYWHERE) for dialect in Dialect},
    Family.CROWD: {
        dialect: [Hostile(name, sql, endings) for name, (sql, endings) in cases.items()]
        for dialect, cases in _CROWDED.items()
    },
    Family.VALUES: VALUES,
    Family.ERRORS: {dialect: _cases(texts, STOPPED) for dialect, texts in _WRONG.items()},
}
