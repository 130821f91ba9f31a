"""What MariaDB cannot do, or does otherwise than SQLite; much of it as MySQL."""

from dataclasses import replace

from dialects.lowerings import MEASURED, Lowering
from dialects.mysql import lowerings as mysql

_AS_MYSQL = frozenset({
    "nested-selects", "joined-tables", "full-join", "aggregate-filter", "group-frames", "list-windows",
    "computed-offsets", "computed-limits", "offset-alone", "ordered-picks", "trim-sets", "in-any-query",
    "having-keys", "unsigned-bits", "untaken-branches",
})  # fmt: skip

_MYSQL = {each.name: each for each in mysql.LOWERINGS}

LOWERINGS = (
    *(each for each in mysql.LOWERINGS if each.name in _AS_MYSQL),
    replace(
        _MYSQL["outer-aggregates"],
        query="SELECT 1 + (SELECT COUNT(item.n) + part.n FROM part WHERE n = 2) FROM item WHERE 0",
    ),
    replace(
        _MYSQL["eager-recursion"],
        source="https://mariadb.com/kb/en/recursive-common-table-expressions-overview/",
    ),
    Lowering(
        "counted-recursion",
        "A recursive query has no LIMIT.",
        "https://mariadb.com/kb/en/recursive-common-table-expressions-overview/",
        "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i * 2 FROM c LIMIT 4) SELECT i FROM c",
        "A column that numbers the rows, where each produces at most one.",
    ),
    Lowering(
        "lateral-subqueries",
        "A subquery in FROM cannot read rows to its left or of the SELECT around it.",
        "https://mariadb.com/kb/en/lateral-derived-optimization/",
        "SELECT id, (SELECT SUM(x) FROM (SELECT n + 1 AS x FROM part WHERE part.item = id) AS q) FROM item",
        "Its own sources and conditions, in the SELECT that reads it.",
    ),
    Lowering(
        "several-anchors",
        "A recursive query takes first parts of UNION ALL alone.",
        "https://mariadb.com/kb/en/recursive-common-table-expressions-overview/",
        "WITH RECURSIVE c(i) AS (SELECT 1 UNION SELECT 2 UNION ALL SELECT i + 2 FROM c WHERE i < 5)"
        " SELECT i FROM c",
        None,
    ),
    Lowering(
        "names-beyond-bmp",
        "Names cannot have characters beyond the Basic Multilingual Plane.",
        "https://mariadb.com/kb/en/identifier-names/",
        'SELECT id AS "😀" FROM item',
        "No name for the result column.",
    ),
    Lowering(
        "narrow-casts",
        "A small constant cast to an integer has 32 bits, also as a column of a recursive query.",
        MEASURED,
        "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i * 10 FROM c WHERE i < 10000000000)"
        " SELECT MAX(i) FROM c",
        "A cast to DECIMAL first.",
    ),
    Lowering(
        "subquery-keys",
        "A subquery of HAVING finds no key of GROUP BY that is an expression.",
        MEASURED,
        "SELECT n + 1 AS k FROM item GROUP BY k HAVING EXISTS (SELECT 1 FROM part WHERE n = k)",
        "MIN of the key.",
    ),
)
