"""What MySQL cannot do, or does otherwise than SQLite; most of it holds for MariaDB, too."""

from collections.abc import Callable, Iterator
from typing import TypeGuard

from sqlglot import exp

from dialects import nodes
from dialects.clauses import is_constant_in, query_of, sources_of
from dialects.errors import Untranslatable
from dialects.lowerings import MEASURED, Lowering, holding
from dialects.nodes import column_of
from dialects.trees import find_all, first_select, has


def _refuse_outer_recursion(clauses: exp.With) -> None:
    around = clauses.parent if clauses.args.get("recursive") else None
    while around is not None:
        is_source = isinstance(around, exp.Subquery) and isinstance(around.parent, exp.From | exp.Join)
        if is_source and nodes.reads_outer_rows(around):
            raise Untranslatable("a recursion in FROM that reads an outer row", "MySQL computes it once")
        around = around.parent


def _without_zero(division: nodes.Whole | nodes.Quotient | nodes.Remainder) -> None:
    divisor = division.expression
    while isinstance(divisor, exp.Paren):
        divisor = divisor.this
    if not nodes.is_constant(divisor):
        division.set("expression", nodes.unless(divisor, nodes.number(0)))


def _null_safe(test: exp.Is) -> exp.Expr | None:
    if not (isinstance(test.expression, exp.Null) and has(test, exp.Window)):
        return None
    return exp.NullSafeEQ(this=test.this, expression=test.expression)


def _nulls_first(values: nodes.Listed) -> None:
    order = values.args.get("order")
    if order is None:
        return
    terms = list[exp.Expr]()
    for term in order.expressions:
        if term.meta.get("nullable"):
            missing = nodes.is_null(term.this)
            terms.append(exp.Ordered(this=missing, desc=not term.args.get("desc")))
        terms.append(term)
    order.set("expressions", terms)


def _hide_looked_up(test: exp.In) -> None:
    values = test.this.expressions if isinstance(test.this, exp.Tuple) else [test.this]
    if not all(has(each, exp.Column) for each in values):
        hide_derived(test, lambda query: isinstance(query, exp.Union) and bool(query.args.get("distinct")))


def hide_derived(test: exp.In, hides: Callable[[exp.Expr], bool]) -> None:
    """Put the columns of some subqueries of FROM into COALESCE, where `IN` looks for a value in them."""
    query = test.args.get("query")
    select = query.this if query else None
    inner = [query_of(item.node) for item in sources_of(select)] if isinstance(select, exp.Select) else []
    found = next((each for each in inner if each is not None and hides(each)), None)
    if select is not None and isinstance(found, exp.Query):
        for at, each in enumerate(first_select(found).expressions, 1):
            if not isinstance(each, exp.Alias | exp.Column):
                each.replace(nodes.aliased(each.copy(), f"_c{at}"))
        # A star is what `IN` of a query was put into another one with: it has that source alone.
        stars = [column_of(name) for name in found.named_selects]
        results = stars if select.is_star else [each.unalias() for each in select.expressions]
        select.set("expressions", [nodes.kept_apart(each) for each in results])


def outer_results(query: exp.Expr | None) -> Iterator[exp.Expr]:
    """Yield the results of a query, or of each part of a set operation, that read outer rows alone."""
    if isinstance(query, exp.SetOperation):
        yield from outer_results(query.this)
        yield from outer_results(query.expression)
    elif isinstance(query, exp.Subquery):
        yield from outer_results(query.this)
    elif isinstance(query, exp.Select):
        own = {item.node.alias_or_name for item in sources_of(query)}
        for node in [item.unalias() for item in query.expressions]:
            read = {column.table for column in find_all(node, exp.Column)}
            if read and not read & {*own, ""}:
                yield node


def _hide_outer_results(test: exp.In) -> None:
    if isinstance(test.this, exp.Tuple) and has(test.this, exp.Window):
        for node in list(outer_results(test.args.get("query"))):
            node.replace(nodes.kept_apart(node.copy()))


def _refuse_sorted_groups(term: exp.Ordered) -> None:
    """The value is right among the results, to which a place refers."""
    select = term.parent_select
    if term.find_ancestor(exp.Window, exp.Select) is not select:
        return
    own = [each for each in find_all(term.this, *nodes.AGGREGATES) if each.parent_select is select]
    alone = own and select is not None and not any(each.unalias() == term.this for each in select.expressions)
    if alone and any(map(nodes.reads_outer_rows, find_all(term.this, exp.Subquery, exp.Exists))):
        raise Untranslatable("an aggregate and a subquery of the group in ORDER BY", "MySQL sorts otherwise")


def _widen(call: exp.Anonymous) -> None:
    if call.name.lower() != "replace":
        return
    _, part, other = call.expressions
    known = isinstance(part, exp.Literal) and isinstance(other, exp.Literal)
    if not (known and len(other.name) <= len(part.name)) and not isinstance(other, nodes.Wide):
        other.replace(nodes.Wide(this=other.copy()))


def _printed_in_utf8(extreme: exp.Min | exp.Max | nodes.AnyOf) -> None:
    if not isinstance(extreme.parent, exp.Window) and not isinstance(extreme.this, nodes.Text):
        for shown in list(find_all(extreme.this, nodes.Text)):
            shown.replace(nodes.builtin("CONCAT", shown.this))


def _at_most_counted(count: exp.Count) -> exp.Expr | None:
    select, distinct = count.parent_select, count.this
    if select is None or not isinstance(distinct, exp.Distinct):
        return None
    [value] = distinct.expressions
    if nodes.is_constant(value) or not is_constant_in(select, value):
        return None
    return exp.Least(this=count, expressions=[exp.Count(this=value.copy())], ignore_nulls=False)


_CARRIERS = (
    exp.Alias, exp.Paren, exp.Add, exp.Sub, nodes.Double, exp.Case, exp.If, exp.Coalesce, exp.Subquery,
    exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Greatest, exp.Least, exp.AnyValue, exp.Window, exp.Group,
    exp.Ordered, exp.Order,
)  # fmt: skip
"""Expressions that may have the value of an operand, and clauses."""
_CARRYING = frozenset({
    "LAG", "LEAD", "FIRST_VALUE", "LAST_VALUE", "NTH_VALUE", "SIN", "ASIN", "TAN", "ATAN", "DEGREES",
    "RADIANS", "SQRT",
})  # fmt: skip
"""Functions of which the same holds: the odd ones keep the sign of a zero."""


_SIGNED = (
    exp.Neg, exp.Mul, nodes.Quotient, nodes.WithoutFraction, exp.Anonymous, nodes.ServerCall, exp.Column,
)  # fmt: skip
"""The nodes of doubles that may be -0.0, if they say so."""


def _carries(node: exp.Expr | None) -> TypeGuard[exp.Expr]:
    return isinstance(node, _CARRIERS) or (isinstance(node, exp.Anonymous) and node.name in _CARRYING)


def _signed_zeros(node: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the doubles in the values of a query, or in one, that may be -0.0."""
    for each in find_all(node, *_SIGNED):
        around = each.parent if nodes.is_signed(each) else None
        while around is not node and _carries(around):
            around = around.parent
        if isinstance(around, exp.Query) or around is node:
            yield each


def _without_sign(query: exp.Select | exp.Union | exp.Except | exp.Intersect) -> None:
    compared = query.selects
    if group := query.args.get("group"):
        named = {str(at): each for at, each in enumerate(query.selects, 1)}
        named |= {each.alias: each for each in query.selects if each.alias}
        compared = [named.get(key.name, key) for key in group.expressions]
    elif not (query.args.get("distinct") or isinstance(query, exp.Except | exp.Intersect)):
        return
    if len(compared) == 1 and not isinstance(query, exp.Except | exp.Intersect):
        return
    own = {zero for value in compared for zero in _signed_zeros(value)}
    for place in (query, *find_all(query.root(), exp.CTE)):
        for zero in list(_signed_zeros(place)):
            inner = zero.find_ancestor(exp.Query)
            if inner is query and zero not in own:
                continue
            nought = nodes.Double(this=exp.Literal.number("0.0"))
            if isinstance(zero, exp.Neg):
                zero.replace(exp.Sub(this=nought, expression=zero.this.copy()))
            elif not (isinstance(zero.parent, exp.Add) and zero.parent.expression == nought):
                zero.replace(exp.Add(this=zero.copy(), expression=nought))


_NUMBERS = "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < {})"

LOWERINGS = (
    # Limits.
    Lowering(
        "recursion-limit",
        "A recursive query stops with an error after 1,000 steps.",
        "https://dev.mysql.com/doc/refman/9.7/en/server-system-variables.html#sysvar_cte_max_recursion_depth",
        _NUMBERS.format(1500) + " SELECT MAX(i) FROM c",
        "A hint that sets cte_max_recursion_depth.",
        hint="SET_VAR(cte_max_recursion_depth = 4294967295)",
    ),
    Lowering(
        "list-limit",
        "GROUP_CONCAT cuts its result off after 1,024 bytes.",
        "https://dev.mysql.com/doc/refman/9.7/en/server-system-variables.html#sysvar_group_concat_max_len",
        _NUMBERS.format(500) + " SELECT LENGTH(GROUP_CONCAT(i)) FROM c",
        "A hint that sets group_concat_max_len.",
        hint="SET_VAR(group_concat_max_len = 1073741824)",
    ),
    Lowering(
        "planning-limit",
        "Every order of the joins is tried: 12 tables take 0.1 s, 14 take 2.6 s, 16 more than 40 s.",
        "https://dev.mysql.com/doc/refman/9.7/en/controlling-query-plan-evaluation.html",
        "SELECT COUNT(*) FROM "
        + ", ".join(f"item i{at}" for at in range(1, 27))
        + " WHERE "
        + " AND ".join(f"i{at}.id = i{at + 1}.n" for at in range(1, 26)),
        "From 11 tables on, a hint that sets optimizer_search_depth.",
        most=10,
        hint="SET_VAR(optimizer_search_depth = 5)",
    ),
    Lowering(
        "sorting-limit",
        "A sort for window functions or lists fails where few of its long texts fit the buffer.",
        "https://dev.mysql.com/doc/refman/9.7/en/server-system-variables.html#sysvar_sort_buffer_size",
        "SELECT id, RANK() OVER (ORDER BY text) FROM essay",
        "A hint that sets sort_buffer_size, where the census has found long texts.",
        hint="SET_VAR(sort_buffer_size = 33554432)",
    ),
    Lowering(
        "windows-in-a-select",
        "A SELECT has at most 127 windows.",
        MEASURED,
        "SELECT "
        + ", ".join(f"SUM(n) OVER (ORDER BY id ROWS {at} PRECEDING)" for at in range(128))
        + " FROM item",
        None,
        most=127,
    ),
    Lowering(
        "nested-selects",
        "SELECTs are nested at most 63 deep, with common table expressions expanded.",
        MEASURED,
        "WITH c1 AS (SELECT id FROM item)"
        + "".join(f", c{at} AS (SELECT DISTINCT id FROM c{at - 1})" for at in range(2, 66))
        + " SELECT id FROM c65",
        None,
        most=64,
    ),
    Lowering(
        "joined-tables",
        "A join has at most 61 tables.",
        "https://dev.mysql.com/doc/refman/9.7/en/join.html",
        "SELECT 1 FROM " + ", ".join(f"item i{at}" for at in range(62)) + " LIMIT 1",
        None,
        most=61,
    ),
    # What it lacks.
    Lowering(
        "full-join",
        "There is no FULL JOIN.",
        "https://dev.mysql.com/doc/refman/9.7/en/join.html",
        "SELECT i.id, p.name FROM item i FULL JOIN part p ON i.id = p.item",
        "LEFT JOIN, and UNION ALL of the right rows without a partner.",
    ),
    Lowering(
        "aggregate-filter",
        "Aggregates take no FILTER.",
        "https://dev.mysql.com/doc/refman/9.7/en/aggregate-functions.html",
        "SELECT SUM(n) FILTER (WHERE id > 1) FROM item",
        "CASE within the aggregate.",
    ),
    Lowering(
        "group-frames",
        "Frames take neither GROUPS nor EXCLUDE.",
        "https://dev.mysql.com/doc/refman/9.7/en/window-functions-frames.html",
        "SELECT SUM(n) OVER (ORDER BY kind GROUPS 1 PRECEDING) FROM item",
        "A subquery over the rows, numbered by ROW_NUMBER and DENSE_RANK.",
    ),
    Lowering(
        "rows-of-queries",
        "JSON_TABLE takes no subquery.",
        MEASURED,
        "SELECT COUNT(*) FROM json_each((SELECT json_group_array(n) FROM part))",
        "A derived table of the subquery beside it.",
    ),
    Lowering(
        "list-windows",
        "GROUP_CONCAT takes no OVER.",
        "https://dev.mysql.com/doc/refman/9.7/en/window-functions-usage.html",
        "SELECT id, GROUP_CONCAT(kind) OVER (ORDER BY id) FROM item",
        "A subquery over the numbered rows.",
    ),
    Lowering(
        "computed-offsets",
        "LAG, LEAD and NTH_VALUE take only a constant number of rows.",
        "https://dev.mysql.com/doc/refman/9.7/en/window-function-descriptions.html",
        "SELECT id, LAG(id, n) OVER (ORDER BY id) FROM item",
        "A subquery that finds the row by its number.",
    ),
    Lowering(
        "recursion-beside-outer-rows",
        "A recursion in FROM that reads an outer row is computed for the first one only.",
        MEASURED,
        "SELECT id, (SELECT COUNT(*) FROM (WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c"
        " WHERE i < item.id) SELECT i FROM c)) FROM item",
        None,
        change=_refuse_outer_recursion,
    ),
    Lowering(
        "computed-limits",
        "LIMIT and OFFSET take only constants.",
        "https://dev.mysql.com/doc/refman/9.7/en/select.html",
        "SELECT id FROM item ORDER BY id LIMIT (SELECT COUNT(*) FROM part WHERE n > 1)",
        "A derived table whose rows ROW_NUMBER counts.",
    ),
    Lowering(
        "offset-alone",
        "OFFSET needs a LIMIT.",
        "https://dev.mysql.com/doc/refman/9.7/en/select.html",
        "SELECT id FROM item ORDER BY id LIMIT -1 OFFSET 2",
        "The greatest LIMIT.",
    ),
    Lowering(
        "ordered-picks",
        "No aggregate returns the first of its group's values in an order of its own.",
        "https://dev.mysql.com/doc/refman/9.7/en/aggregate-functions.html",
        "SELECT kind, MAX(x), t FROM item GROUP BY kind",
        "The row that ROW_NUMBER puts first.",
    ),
    Lowering(
        "trim-sets",
        "TRIM removes a text, not each character of a set.",
        "https://dev.mysql.com/doc/refman/9.7/en/string-functions.html#function_trim",
        "SELECT TRIM(t, 'yx') FROM item",
        "A function of `bird_sqlite`, for more than one character.",
    ),
    Lowering(
        "in-any-query",
        "IN takes no query with LIMIT, and finds NULLs that INTERSECT or EXCEPT leaves out.",
        "https://dev.mysql.com/doc/refman/9.7/en/subquery-restrictions.html",
        "SELECT id FROM item WHERE id IN (SELECT item FROM part ORDER BY n DESC LIMIT 2)",
        "The query as a derived table.",
    ),
    Lowering(
        "least-quotient",
        "-2^63 DIV 1 is out of range.",
        MEASURED,
        "SELECT id, big / id FROM essay",
        "The dividend, where the divisor is 1.",
    ),
    Lowering(
        "having-keys",
        "HAVING does not find the expressions of GROUP BY.",
        "https://dev.mysql.com/doc/refman/9.7/en/group-by-handling.html",
        "SELECT COUNT(*) FROM item GROUP BY n + 1 HAVING n + 1 > 2",
        "MIN of the key.",
    ),
    Lowering(
        "outer-aggregates",
        "A subquery with an aggregate of the SELECT around it has no row where that one has none.",
        MEASURED,
        "SELECT (SELECT COUNT(item.n) FROM part LIMIT 1) FROM item WHERE id > 9",
        "The aggregate in a derived table.",
    ),
    Lowering(
        "eager-recursion",
        "A recursive query computes all its rows, read or not.",
        "https://dev.mysql.com/doc/refman/9.7/en/with.html#common-table-expressions-recursive",
        "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT i FROM c LIMIT 3",
        "LIMIT in the recursive query.",
    ),
    # What it does otherwise.
    Lowering(
        "unsigned-bits",
        "Bit operations and row numbers are unsigned.",
        "https://dev.mysql.com/doc/refman/9.7/en/bit-functions.html",
        "SELECT ~n FROM item",
        "A cast to a signed integer.",
    ),
    Lowering(
        "division-by-zero",
        "Division by zero is an error where strict mode stores the rows, as in a recursive query.",
        "https://dev.mysql.com/doc/refman/9.7/en/sql-mode.html#sqlmode_error_for_division_by_zero",
        "WITH RECURSIVE c(i) AS (SELECT 3 UNION ALL SELECT 5 / (i - 3) FROM c WHERE i > 0) SELECT i FROM c",
        "NULLIF around the divisor.",
        change=_without_zero,
    ),
    Lowering(
        "early-null-tests",
        "Over a single row, IS NULL of a window function is computed before the function.",
        MEASURED,
        "SELECT SUM(1) OVER () IS NULL",
        "`<=> NULL`.",
        change=_null_safe,
        needs=holding(exp.Window),
    ),
    Lowering(
        "constant-lookups",
        "A constant is looked up IN a UNION of a subquery in FROM without its NULLs.",
        MEASURED,
        "SELECT 7 IN (SELECT c FROM (SELECT n AS c FROM item UNION SELECT 2))",
        "COALESCE of the column and NULL.",
        change=_hide_looked_up,
    ),
    Lowering(
        "sorted-groups",
        "ORDER BY of an aggregate beside a subquery of the group is computed from other groups.",
        MEASURED,
        "SELECT kind FROM item GROUP BY kind"
        " ORDER BY (SELECT SUM(i.n) FROM item i WHERE i.kind = item.kind) + MAX(id), 1",
        None,
        change=_refuse_sorted_groups,
        needs=holding(exp.Subquery, exp.Exists),
    ),
    Lowering(
        "outer-columns-in-rows",
        "The server crashes where a row with a window is looked up IN a subquery of an outer column.",
        MEASURED,
        "SELECT (COUNT(*) OVER (), n) IN (SELECT item.n, 1 FROM part) FROM item",
        "COALESCE of the column and NULL.",
        crashes=True,
        change=_hide_outer_results,
        needs=holding(exp.Window),
    ),
    Lowering(
        "rounded-lookups",
        "An indexed integer that equals a double of a subquery is looked up by the rounded double.",
        MEASURED,
        "SELECT name FROM part WHERE part.item = (SELECT AVG(id) + 0.3 FROM item)",
        "The integer plus 0.",
    ),
    Lowering(
        "replaced-lengths",
        "REPLACE by a longer text has too few characters where its result is stored, as by DISTINCT.",
        MEASURED,
        "SELECT DISTINCT replace('a', 'a', CASE id WHEN 1 THEN 'bc' ELSE 'd' END) FROM item",
        "A cast of what replaces to CHAR(67108864).",
        change=_widen,
    ),
    Lowering(
        "extremes-of-numbers",
        "In a temporary table, MIN and MAX of a text joined with a number in CAST take it for Latin-1.",
        MEASURED,
        "SELECT MAX(t || n) FROM item GROUP BY kind",
        "CONCAT of the number.",
        change=_printed_in_utf8,
        needs=holding(nodes.Text),
    ),
    Lowering(
        "distinct-constants",
        "COUNT(DISTINCT x) is 1 instead of 0 for an x that is NULL in every row and no literal.",
        MEASURED,
        "SELECT COUNT(DISTINCT date(kind)) FROM (SELECT 'a' AS kind, n FROM item) GROUP BY n",
        "LEAST of it and COUNT(x).",
        change=_at_most_counted,
        needs=holding(exp.Distinct),
    ),
    Lowering(
        "list-nulls",
        "GROUP_CONCAT sorts NULL as 0 or as the empty text.",
        MEASURED,
        "SELECT GROUP_CONCAT(id) FROM (SELECT id, n FROM item ORDER BY n)",
        "A term before it, which tells whether it is NULL.",
        change=_nulls_first,
    ),
    Lowering(
        "window-constants",
        "PARTITION BY and ORDER BY of a window fail where nothing in them varies.",
        MEASURED,
        "SELECT (SELECT RANK() OVER (ORDER BY item.n) FROM part LIMIT 1) FROM item",
        "The window without them.",
    ),
    Lowering(
        "outer-constants",
        "WHERE sees a derived table's constant even where an outer join makes it NULL.",
        MEASURED,
        "SELECT i.id FROM item i LEFT JOIN (SELECT item, -1 AS c FROM part) q ON q.item = i.id"
        " WHERE q.c = -1",
        "A derived table that is not merged.",
    ),
    Lowering(
        "outer-join-subqueries",
        "EXISTS and IN in ON of an outer join repeat rows where only the left side decides.",
        MEASURED,
        "SELECT i.id, p.n FROM item i LEFT JOIN part p ON i.id IN (SELECT item FROM part)",
        "The condition compared with 1, of which no semijoin is made.",
        until="9.7.4",
    ),
    Lowering(
        "self-joined-ctes",
        "A common table expression joined to itself cannot be sorted or grouped by the column that joins it.",
        MEASURED,
        "WITH c AS (SELECT item, MAX(n) AS n FROM part GROUP BY item)"
        " SELECT a.item, b.n FROM c a JOIN c b ON a.item = b.item ORDER BY a.item",
        "Its query as a derived table, the second time.",
        until="9.7.4",
    ),
    Lowering(
        "signed-zeros",
        "To EXCEPT and INTERSECT, and beside a text to DISTINCT, UNION and GROUP BY, -0.0 and 0.0 differ.",
        MEASURED,
        "SELECT t, 0 * x * -1 FROM item WHERE id = 1 UNION SELECT t, 0.0 FROM item WHERE id = 1",
        "The double plus 0, or 0 minus what is negated.",
        change=_without_sign,
        needs=holding(exp.Group, exp.Distinct, exp.Union, exp.Except, exp.Intersect),
    ),
    Lowering(
        "set-operation-nulls",
        "INTERSECT and EXCEPT after another set operation take NULL for a value.",
        MEASURED,
        "SELECT n FROM item EXCEPT SELECT id FROM item INTERSECT SELECT 0",
        "Columns with room for NULL in all parts.",
    ),
    Lowering(
        "intersected-windows",
        "INTERSECT takes equal rows of a part for one before it computes the windows.",
        MEASURED,
        "SELECT name, RANK() OVER (ORDER BY name) FROM part INTERSECT SELECT 'q', 4",
        "The part as a derived table.",
    ),
    Lowering(
        "single-row-frames",
        "Over a single row a window's frame has no effect.",
        MEASURED,
        "SELECT SUM(n) OVER (ORDER BY id ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING) FROM item WHERE id = 1",
        "CASE WHEN COUNT(*) OVER () > 1.",
    ),
    Lowering(
        "untaken-branches",
        "With window functions, CASE also computes branches that it does not take.",
        MEASURED,
        "SELECT CASE WHEN COUNT(*) OVER () > 9 THEN ABS(big) ELSE big END FROM essay",
        "NULLIF around what would fail.",
    ),
    Lowering(
        "reread-set-operations",
        "A common table expression with INTERSECT or EXCEPT has other rows when it is read again.",
        MEASURED,
        "WITH c AS (SELECT id FROM item EXCEPT SELECT 1 FROM part)"
        " SELECT 1 FROM c UNION ALL SELECT 2 FROM c WHERE NOT id <> 1",
        "SELECT DISTINCT of it.",
    ),
)
