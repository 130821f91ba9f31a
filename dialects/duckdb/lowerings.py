"""What DuckDB cannot do, or does otherwise than SQLite: some of it as PostgreSQL does."""

from sqlglot import exp

from dialects import nodes
from dialects.errors import Untranslatable
from dialects.lowerings import MEASURED, Lowering, holding
from dialects.postgresql import lowerings as postgresql
from dialects.trees import find_all, has


def _refuse_second_reading(clauses: exp.With) -> None:
    limited = {each.alias for each in clauses.expressions if each.this.args.get("limit")}
    if clauses.args.get("recursive") and limited and clauses.parent is not None:
        read = [table for table in find_all(clauses.parent, exp.Table) if table.name in limited]
        if len(read) > 1 or clauses.find_ancestor(exp.Subquery):
            raise Untranslatable("a recursive query", "DuckDB ends it only where it is read once")


def _refuse_row(test: exp.In) -> None:
    query = test.args.get("query")
    if query and isinstance(test.this, exp.Tuple) and nodes.reads_outer_rows(query):
        raise Untranslatable("a row IN a subquery that reads an outer row", "DuckDB does not have it")


def _refuse_right_rows(join: exp.Join) -> None:
    tests = find_all(join.args["on"], exp.In) if join.side in {"RIGHT", "FULL"} else ()
    for test in tests:
        query = test.args.get("query")
        if query and has(test.this, exp.Query) and nodes.reads_outer_rows(query):
            raise Untranslatable(f"{join.side} JOIN on a subquery IN another one", "DuckDB does not have it")


def _refuse_limit(clause: exp.Limit | exp.Offset) -> None:
    around = clause.parent if has(clause.expression, exp.Query) else None
    while around is not None:
        if isinstance(around, exp.Query) and nodes.reads_outer_rows(around):
            raise Untranslatable("LIMIT (SELECT ...)", "DuckDB wants a constant where it reads outer rows")
        around = around.parent


def _keys(window: exp.Window) -> list[exp.Expr]:
    return [key for key in (*(window.args.get("partition_by") or []), window.args.get("order")) if key]


def _refuse_windows(window: exp.Window) -> None:
    if any(has(key, exp.Window) for key in _keys(window)):
        raise Untranslatable("a window that is sorted by another window", "DuckDB does not have it")


def _refuse_subqueries(window: exp.Window) -> None:
    subqueries = [each for key in _keys(window) for each in find_all(key, exp.Subquery)]
    if any(inner is not each for each in subqueries for inner in find_all(each, exp.Subquery)):
        raise Untranslatable("a window that is sorted by nested subqueries", "DuckDB calls them volatile")


def _typed_null(call: exp.Anonymous) -> None:
    match call.expressions:
        case [exp.Null(), rows, default] if call.name.upper() in {"LAG", "LEAD"}:
            null = exp.Nullif(this=default.copy(), expression=default.copy())
            call.set("expressions", [null, rows, default])


_AS_POSTGRESQL = frozenset({"narrow-arithmetic", "division-by-zero", "exact-sums", "extremes-skip-null"})

LOWERINGS = (
    Lowering(
        "repeated-subqueries",
        "A statement of many SELECTs beside windows takes more than 256 MB, however few rows they read.",
        MEASURED,
        "SELECT NULLIF(LEAD(NULLIF(COALESCE((SELECT COUNT(*) FROM part WHERE part.name = item.t), 'a'), 1.5))"
        " OVER (ORDER BY id), 0.01) FROM item ORDER BY 1",
        None,
        most=112,
    ),
    *(each for each in postgresql.LOWERINGS if each.name in _AS_POSTGRESQL),
    Lowering(
        "columns-hide-tables",
        "In a subquery, the name of a column hides an outer table of that name.",
        MEASURED,
        "SELECT (SELECT item.id FROM part ORDER BY 1 LIMIT 1) FROM item",
        "An alias that no column has.",
    ),
    Lowering(
        "recursion-to-its-end",
        "A recursion that only LIMIT ends goes on where its rows are read twice, or in a subquery.",
        MEASURED,
        "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c LIMIT 3)"
        " SELECT a.i, b.i FROM c a JOIN c b ON a.i = b.i",
        "A column that numbers the rows, where each produces at most one; else refused.",
        change=_refuse_second_reading,
    ),
    Lowering(
        "outer-rows-in-rows",
        "A row cannot be IN a subquery that reads an outer row.",
        MEASURED,
        "SELECT id FROM item WHERE (id, n) IN (SELECT item, n FROM part WHERE part.n = item.n)",
        None,
        change=_refuse_row,
    ),
    Lowering(
        "subqueries-in-right-joins",
        "In ON of a RIGHT or FULL JOIN, no subquery can be IN another one that reads a column.",
        MEASURED,
        "SELECT i.id FROM item i RIGHT JOIN part p ON (SELECT MAX(n) FROM part) IN (SELECT p.n FROM item)",
        None,
        change=_refuse_right_rows,
        needs=lambda nodes: any(join.side in {"RIGHT", "FULL"} for join in nodes[exp.Join]),
    ),
    Lowering(
        "limits-by-subqueries",
        "LIMIT and OFFSET of a subquery that reads an outer row are constants.",
        MEASURED,
        "SELECT (SELECT name FROM part WHERE part.n = item.n ORDER BY 1 LIMIT (SELECT 1)) FROM item",
        None,
        change=_refuse_limit,
        needs=holding(exp.Subquery, exp.Exists, exp.Lateral),
    ),
    Lowering(
        "windows-by-windows",
        "PARTITION BY and ORDER BY of a window take no window.",
        MEASURED,
        "SELECT RANK() OVER (ORDER BY (SELECT RANK() OVER (ORDER BY n) FROM part LIMIT 1)) FROM item",
        None,
        change=_refuse_windows,
    ),
    Lowering(
        "windows-by-subqueries",
        "PARTITION BY and ORDER BY of a window take no subquery with another one.",
        MEASURED,
        "SELECT RANK() OVER (ORDER BY (SELECT 1 FROM part WHERE 1 < (SELECT 2 FROM item)), id) FROM item",
        None,
        change=_refuse_subqueries,
    ),
    Lowering(
        "typeless-nulls",
        "The default of LAG and LEAD of NULL has no type.",
        MEASURED,
        "SELECT LAG(NULL, 1, 'x') OVER (ORDER BY id) FROM item",
        "NULLIF of the default and itself.",
        change=_typed_null,
    ),
    Lowering(
        "distinct-order",
        "A row of SELECT DISTINCT is sorted by any of its values of what is not returned.",
        MEASURED,
        "SELECT DISTINCT i.kind FROM item i LEFT JOIN part p ON i.id = p.item ORDER BY p.name",
        "GROUP BY, sorted by the value that SQLite finds first.",
    ),
)
