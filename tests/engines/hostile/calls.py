"""Calls of every function in an engine's catalogue with hostile arguments.

No mocks and no list of functions: the engine is asked which it has. The same seed makes the same calls.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

import pymysql

from dialects.enums import Dialect

Ask = Callable[[str], Sequence[Sequence[object]]]
"""Runs a statement of the administrator's own, and returns its rows."""

FUNCTIONS: Mapping[Dialect, str] = {
    Dialect.DUCKDB: (
        "SELECT DISTINCT function_name, starts_with(function_type, 'table'),"
        " array_to_string(parameter_types, '|') FROM duckdb_functions()"
        " WHERE regexp_full_match(function_name, '[a-z_][a-z0-9_]*') ORDER BY ALL"
    ),
    Dialect.MARIADB: "SELECT DISTINCT `FUNCTION`, 0, '' FROM information_schema.SQL_FUNCTIONS ORDER BY 1",
    Dialect.MYSQL: (
        "SELECT DISTINCT LOWER(name), 0, '' FROM mysql.help_topic WHERE name REGEXP '^[A-Z_0-9]+$'"
        " AND description LIKE CONCAT('%', name, '(%') ORDER BY 1"
    ),
}
"""Queries for the functions of each engine: whether each stands in FROM, and its types, for each signature.

MySQL has no list: its functions are those that it has help on.
"""

_ANY = (
    "NULL", "''", "'a'", "0", "-1", "1", "2147483647", "-2147483648", "9223372036854775807", "1e308",
    "-1e308", "0.5", "'%s%n%99999999d'", "'(a+)+$'", "'['", "'{\"a\": [1, {\"b\": null}]}'", "'[]'",
    "'$[*].a'", "'2024-02-31'", "'24:00:00'", "'POINT(0 0)'", "'MULTIPOINT(0 0, 1 1)'", "'/a/b[1]'",
    "'<a><b>1</b></a>'", "repeat('ab', 500)", "repeat('a', 100000)", "(SELECT MAX(title) FROM books)",
    "title", "title", "'127.0.0.1'", "'utf8mb4'",
)  # fmt: skip
_OF_DUCKDB = (
    "[]", "[NULL]", "[[1], [NULL]]", "[1, 2]", "['a']", "{'a': 1}", "MAP {}", "MAP {'a': 1}", "''::BLOB",
    "'\\x00\\xFF'::BLOB", "'infinity'::DATE", "'-infinity'::TIMESTAMP", "INTERVAL 200000 YEARS",
    "'NaN'::DOUBLE", "range(5)", "NULL::INT[]", "'101'::BIT", "uuid()",
    "170141183460469231731687303715884105727", "'1'::JSON", "lambda x: x", "lambda x, y: x || y",
    "1::DECIMAL(38, 37)", "'12:00'::TIME", "DATE '2024-02-29'", "true", "[1, 2]::INT[2]",
    "union_value(k := 1)", "'x'::VARIANT", "-32768::SMALLINT", "255::UTINYINT",
)  # fmt: skip
_OF_MYSQL = (
    "X'00FF'", "_utf8mb4'x'", "CAST('2024-02-29' AS DATETIME)", "ST_GeomFromText('POINT(0 0)')",
    "DEFAULT(title)", "ST_GeomFromText('LINESTRING(0 0,1 1,0 1)')",
    "ST_GeomFromText('POLYGON((0 0,1 1,0 1,0 0))')", "X''", "CAST(-1 AS UNSIGNED)",
    "99999999999999999999999999999999999999999999999999999999999999999", "*", "@a := 1",
    "ST_GeomFromText('GEOMETRYCOLLECTION EMPTY')", "ROW(1, 2)", "INTERVAL 1 YEAR", "'a' USING utf8mb4",
    "1 AS CHAR",
)  # fmt: skip

_ARGUMENTS: Mapping[Dialect, Sequence[str]] = {
    Dialect.DUCKDB: (*_ANY, *_OF_DUCKDB),
    Dialect.MARIADB: (*_ANY, *_OF_MYSQL),
    Dialect.MYSQL: (*_ANY, "CAST('[1, {}]' AS JSON)", *_OF_MYSQL),
}

_OF_TYPE: Mapping[str, Sequence[str]] = {
    "VARCHAR": [each for each in _ANY if each.startswith(("'", "repeat"))],
    "INT": ["0", "-1", "1", "7", "2147483647", "-2147483648", "9223372036854775807", "255", "-32768"],
    "DOUBLE": ["0.0", "-0.0", "0.5", "-1.0", "2.0", "1e308", "'NaN'::DOUBLE", "'inf'::DOUBLE"],
    "[": ["[]", "[NULL]", "[1, 2, 3]", "['a', NULL]", "[[1], []]", "[0.5, 'NaN'::DOUBLE]", "range(2000)"],
    "BLOB": ["''::BLOB", "'\\x00'::BLOB", "'\\x01\\x02\\xFF'::BLOB", "repeat('a', 1000)::BLOB"],
    "MAP": ["MAP {}", "MAP {'a': 1}", "MAP {[1]: [2]}"],
    "STRUCT": ["{'a': 1}", "{'a': [1], 'b': NULL}"],
    "TIME": ["'infinity'::{}", "'2024-02-29'::{}", "'24:00:00'::{}", "'0044-03-15 (BC)'::{}"],
    "DATE": ["'infinity'::DATE", "'2024-02-29'::DATE", "'0001-01-01'::DATE", "'5874897-12-31'::DATE"],
    "INTERVAL": ["INTERVAL 200000 YEARS", "INTERVAL '-1' MONTH", "INTERVAL 0 SECONDS"],
    "LAMBDA": ["lambda x: x", "lambda x, y: x", "lambda x: [x, x]", "lambda x: error('x')"],
    "BOOLEAN": ["true", "false"],
}
"""Arguments of a type, by a part of its name."""

_SHAPES = (
    "SELECT {call}",
    "SELECT {call} FROM books",
    "SELECT title FROM books WHERE {call} IS NULL",
    "SELECT {call} OVER () FROM books",
    "SELECT {name}(DISTINCT {arguments}) FROM books GROUP BY title",
)
_TABLE_SHAPES = ("SELECT * FROM {call}", "SELECT count(*) FROM books, {call}", "SELECT (FROM {call} LIMIT 1)")
_MOST_ARGUMENTS = 5
_OF_ITS_TYPE = 0.85
"""The share of arguments that have the type that the catalogue names, if it does."""


def calls(dialect: Dialect, ask: Ask, count: int, seed: int = 0) -> Iterator[str]:
    """Yield `count` texts that call the engine's functions in turn, each as often as the others."""
    dice = random.Random(seed)  # noqa: S311 - no secret
    signatures = defaultdict[str, list[tuple[bool, str]]](list)
    for name, is_table, types in ask(FUNCTIONS[dialect]):
        known = [str(types or "")] if dialect is Dialect.DUCKDB else _accepted(str(name), ask)
        signatures[str(name)] += [(bool(is_table), each) for each in known]
    for number in range(count):
        if number % len(signatures) == 0:
            names = dice.sample(sorted(signatures), len(signatures))
        name = names[number % len(signatures)]
        is_table, types = dice.choice(signatures[name])
        chosen = ", ".join(_arguments(dialect, types.split("|") if types else [], dice))
        shape = dice.choice(_TABLE_SHAPES if is_table else _SHAPES)
        yield shape.format(call=f"{name}({chosen})", name=name, arguments=chosen)


def _accepted(name: str, ask: Ask) -> list[str]:
    """Return the numbers of arguments that MySQL takes, each as so many types; any, where it takes none."""
    found = []
    for count in range(_MOST_ARGUMENTS + 1):
        try:
            ask(f"PREPARE hostile FROM 'SELECT {name}({', '.join(['1'] * count)})'")
        except pymysql.Error:
            continue
        found.append("|".join(["ANY"] * count))
    return found or [""]


def _arguments(dialect: Dialect, types: Sequence[str], dice: random.Random) -> Iterator[str]:
    anything = _ARGUMENTS[dialect]
    if not types or dice.random() > _OF_ITS_TYPE:
        yield from dice.choices(anything, k=dice.randint(0, _MOST_ARGUMENTS))
        return
    for each in types:
        part = next((part for part in ("[", *_OF_TYPE) if part in each), None)
        fitting = anything if part is None or dice.random() > _OF_ITS_TYPE else _OF_TYPE[part]
        yield dice.choice(fitting).replace("{}", each)
