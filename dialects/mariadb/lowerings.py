"""What MariaDB cannot do, or does otherwise than SQLite; much of it as MySQL."""

from dataclasses import replace

from sqlglot import exp

from dialects import nodes
from dialects.clauses import compared, ctes_in_sight, is_constant_in, sources_of
from dialects.errors import Untranslatable
from dialects.lowerings import MEASURED, Lowering, holding
from dialects.mysql import lowerings as mysql
from dialects.trees import find_all, first_select, has, windows_of

_SHIFTS = frozenset({"lag", "lead"})
_RANKS = frozenset({"rank", "dense_rank", "percent_rank", "cume_dist", "ntile"})
_INT32 = 2**31 - 1
_COUNTED = frozenset({"percent_rank", "cume_dist"})
"""Written with two windows; see `_all_digits`."""
_PICKS = frozenset({"first_value", "last_value", "nth_value"}) | _SHIFTS


def _refuse_nested(window: exp.Window) -> None:
    inner = [each for each in find_all(window, exp.Window) if each is not window]
    if any(each.args.get("spec") or each.parent_select is window.parent_select for each in inner):
        raise Untranslatable("a window in a window", "MariaDB does not allow it")


def _order(window: exp.Window) -> None:
    if window.this.name.lower() in _RANKS | _SHIFTS and not (
        window.args.get("order") or window.args.get("alias")
    ):
        window.set("order", exp.Order(expressions=[exp.null()]))


def _without_default(window: exp.Window) -> exp.Expr | None:
    """Shift a value that is never NULL, too: the default is for rows that this one has no value for."""
    if window.this.name.lower() not in _SHIFTS or len(window.this.expressions) < len(("value", "by", "or")):
        return None
    value, offset, default = window.this.expressions
    there, found = window.copy(), window.copy()
    there.this.set("expressions", [exp.Is(this=value.copy(), expression=exp.null()), offset.copy()])
    found.this.set("expressions", [value.copy(), offset.copy()])
    otherwise = None if isinstance(value, exp.Null) else found
    return nodes.case((exp.Is(this=there, expression=exp.null()), default), default=otherwise)


def _all_digits(window: exp.Window) -> exp.Expr | None:
    """Divide in double precision: a result that another window's rows are kept with has ten decimals."""
    name = window.this.name.lower()
    if name not in _COUNTED:
        return None
    select = window.parent_select
    if select is None or not any(other != window for other in find_all(select, exp.Window)):
        return exp.Paren(this=exp.Add(this=window, expression=nodes.Double(this=nodes.number(0))))

    def counted(call: exp.Expr, *, order: bool) -> exp.Window:
        found = window.copy()
        found.set("this", call)
        if not order:
            found.set("order", None)
        return found

    rows: exp.Expr = counted(exp.Count(this=exp.Star()), order=False)
    if name == "cume_dist":
        place: exp.Expr = counted(exp.Count(this=exp.Star()), order=True)
    else:
        rank = counted(nodes.builtin("RANK"), order=True)
        place = exp.Paren(this=exp.Sub(this=rank, expression=nodes.number(1)))
        others = exp.Sub(this=rows, expression=nodes.number(1))
        rows = exp.Greatest(this=others, expressions=[nodes.number(1)], ignore_nulls=False)
    return exp.Paren(this=nodes.Quotient(this=nodes.Double(this=place), expression=rows))


def _coalesced(window: exp.Window) -> exp.Expr | None:
    picks = isinstance(window.this, exp.Min | exp.Max) or window.this.name.lower() in _PICKS
    if not picks or isinstance(window.parent, exp.Alias | exp.Select):
        return None
    return nodes.kept_apart(window)


def _compared_rows(node: exp.And | exp.Or) -> exp.Expr | None:
    """Compare a row: the sum keeps MariaDB from taking the comparison for one that is never NULL."""
    if isinstance(node.parent, type(node) | exp.Alias | exp.Select) or not has(node, exp.Window):
        return None
    parts = list(node.flatten())
    inner = [each for part in parts for each in find_all(part, exp.And, exp.Or)]
    if not any(has(each, exp.Window) for each in inner):
        return None
    is_and, two = isinstance(node, exp.And), nodes.number(2)
    tests = [exp.NEQ(this=exp.Paren(this=part), expression=nodes.number(0)) for part in parts]
    same = exp.Tuple(expressions=[nodes.number(int(is_and)) for _ in parts])
    row = exp.Nullif(this=exp.EQ(this=exp.Tuple(expressions=tests), expression=same), expression=two)
    kind, start = (exp.Add, 0) if is_and else (exp.Sub, 1)
    return exp.Paren(this=kind(this=nodes.number(start), expression=row))


def _keep_from_equals(day: nodes.DayNumber) -> None:
    for side in compared(day.this):
        side.replace(nodes.kept_apart(side.copy()))


def _hide_columns(select: exp.Select) -> None:
    """COALESCE keeps the column out of the expression that is taken apart for the window."""
    windows = windows_of(select)
    if not windows or not _reads_merged(select):
        return
    for window in windows:
        around: exp.Expr | None = window.this
        while around is not None and around is not select:
            inner = [] if around is window else list(around.iter_expressions())
            inner += [
                each for branch in inner if isinstance(branch, exp.If) for each in branch.iter_expressions()
            ]
            for column in [each for each in inner if isinstance(each, exp.Column)]:
                column.replace(nodes.kept_apart(column.copy()))
            around = around.parent


def _reads_merged(select: exp.Select) -> bool:
    """Whether a SELECT reads a subquery, and a condition of the statement calls a stored function."""
    ctes = {cte.alias for cte in ctes_in_sight(select, recursive=True)}
    sources = [item.node for item in sources_of(select)]
    return any(isinstance(each, exp.Subquery) or each.name in ctes for each in sources) and any(
        call.find_ancestor(exp.Where, exp.Join) for call in find_all(select.root(), nodes.ServerCall)
    )


def _kept_null(call: exp.Anonymous) -> exp.Expr | None:
    if call.name.lower() != "replace" or isinstance(call.expressions[2], exp.Literal):
        return None
    return nodes.case((nodes.is_not_null(call.expressions[2]), call))


def _refuse_offset(select: exp.Select) -> None:
    is_one = select.args.get("distinct") and all(is_constant_in(select, each) for each in select.expressions)
    if select.args.get("offset") and (is_one or not select.args.get("from_")):
        raise Untranslatable("OFFSET of a constant row", "MariaDB ignores it")


def _sort_apart(select: exp.Select) -> None:
    """Nothing else that is the same in every row makes orders different: MariaDB removes constants."""
    windows = [one for one in windows_of(select) if not one.args.get("alias")]
    # It removes a subquery that reads no row of the SELECT, too: then two are alike.
    queried = any(has(term, exp.Query) for window in windows for term in window.args.get("order") or ())
    few = 2 - queried - any(window.this.name.lower() in _COUNTED for window in windows)
    for place, window in enumerate(windows if len(windows) > few else ()):
        apart = exp.LT(this=nodes.builtin("RAND"), expression=exp.Neg(this=nodes.number(place)))
        window.set("partition_by", [apart, *(window.args.get("partition_by") or [])])


def _outer_join(join: exp.Join) -> exp.Expr | None:
    on, select = join.args.get("on"), join.parent_select
    return on if on and select and any(each.side for each in find_all(select, exp.Join)) else None


def _hide_keys(compared: exp.EQ | exp.NEQ | exp.In) -> None:
    columns: list[exp.Expr] = []
    others: list[exp.Expr] = []
    for side in compared.iter_expressions():
        (columns if isinstance(side, exp.Column) else others).append(side)
    if len(columns) == 1 and any(map(_is_fraction, others)):
        columns[0].replace(exp.Add(this=columns[0].copy(), expression=nodes.number(0)))


def _is_fraction(node: exp.Expr) -> bool:
    """Whether a node is a fraction in decimals, as integers are compared with, or a query of one."""
    inner = node.unnest()
    if isinstance(inner, exp.Select) and not inner.args.get("from_"):
        return any(map(_is_fraction, find_all(inner, exp.Literal)))
    inner = inner.this.unnest() if isinstance(inner, exp.Neg) else inner
    return isinstance(inner, exp.Literal) and not inner.is_string and float(inner.this) % 1 != 0


def _or_never(part: exp.Expr) -> exp.Expr:
    never = exp.LT(this=nodes.builtin("RAND"), expression=nodes.number(0))
    return exp.Paren(this=exp.Or(this=part.copy(), expression=never))


def _hide_conditions(join: exp.Join) -> None:
    on, select = _outer_join(join), join.parent_select
    if on is None or select is None:
        return
    own = {item.node.alias_or_name for item in sources_of(select)}
    for part in list(on.flatten()) if isinstance(on, exp.And) else [on]:
        inner = {each.alias_or_name for each in find_all(part, exp.Table, exp.Subquery)}
        read = {column.table for column in find_all(part, exp.Column)} - inner
        calls = {call.name for call in find_all(part, exp.Anonymous)}
        if read and not read & own and "RAND" not in calls:
            part.replace(_or_never(part))


def _hide_constants(select: exp.Select) -> None:
    if select.args.get("group") or not windows_of(select):
        return
    called = [each for each in find_all(select, *nodes.AGGREGATES) if each.parent_select is select]
    if all(isinstance(each.parent, exp.Window) for each in called):
        return
    joins = [join for join in select.args.get("joins") or [] if not join.side]
    held = [select.args.get("where"), *(join.args.get("on") for join in joins)]
    for on in [each.this if isinstance(each, exp.Where) else each for each in held if each]:
        for part in list(on.flatten()) if isinstance(on, exp.And) else [on]:
            own = any(column.parent_select is select for column in find_all(part, exp.Column))
            if has(part, exp.Query) and not own:
                part.replace(_or_never(part))


def _refuse_outer_rows(source: exp.Subquery | exp.Lateral | exp.CTE) -> None:
    """A set operation in another one is a derived table for MariaDB, too."""
    if isinstance(source, exp.CTE):
        if nodes.reads_outer_rows(source.this):
            raise Untranslatable("WITH that reads an outer row", "MariaDB does not allow it")
        return
    is_source = isinstance(source.parent, exp.From | exp.Join | exp.SetOperation)
    if isinstance(source, exp.Lateral) or (is_source and nodes.reads_outer_rows(source)):
        raise Untranslatable("a subquery in FROM that reads an outer row", "MariaDB has no LATERAL")


def _refuse_row(test: exp.In) -> None:
    row = test.this if isinstance(test.this, exp.Tuple) and test.args.get("query") else exp.Tuple()
    if has(row, exp.Table, exp.SetOperation, exp.Where, exp.Limit):
        raise Untranslatable("a row with a subquery IN a subquery", "MariaDB does not have it")


def _hide_texts(test: exp.In) -> None:
    mysql.hide_derived(
        test, lambda query: any(_is_short(each.unalias()) for each in first_select(query).expressions)
    )


def _is_short(node: exp.Expr) -> bool:
    """Whether a result may be a text of a type that is not as long as texts can be."""
    return not isinstance(node, exp.Column) and (
        isinstance(node, nodes.Slice) or any(each.is_string for each in find_all(node, exp.Literal))
    )


def _refuse_late_value(test: exp.In) -> None:
    query = test.args.get("query")
    if not query or test.find_ancestor(exp.Having, exp.Select) is not test.parent_select:
        return
    late = [each for each in find_all(test.this, *nodes.AGGREGATES, exp.Window) if _is_beside(each, test)]
    if late and nodes.reads_outer_rows(query):
        what = "a window" if any(isinstance(each, exp.Window) for each in late) else "an aggregate"
        raise Untranslatable(f"{what} IN a subquery of outer rows", "MariaDB reads other rows")


def _is_beside(node: exp.Expr, other: exp.Expr) -> bool:
    return node.parent_select is other.parent_select


def _hide_aggregate(test: exp.In) -> None:
    if isinstance(test.this, exp.AggFunc | nodes.AnyOf) and test.args.get("query"):
        test.set("this", nodes.kept_apart(test.this))


def _hide_extremes(select: exp.Select) -> None:
    if select.args.get("group") or not windows_of(select):
        return
    for extreme in find_all(select, exp.Min, exp.Max):
        own = extreme.parent_select is select and not isinstance(extreme.parent, exp.Window)
        if own and isinstance(extreme.this, exp.Column):
            extreme.set("this", nodes.kept_apart(extreme.this))


def _hide_joined(call: exp.Min | exp.Max | exp.Sum | exp.Count | exp.Anonymous) -> None:
    select, in_window = call.parent_select, isinstance(call.parent, exp.Window)
    picks = isinstance(call, exp.Anonymous)
    if select is None or (not in_window and (picks or select.args.get("group"))):
        return
    for value in call.expressions[:1] if picks else [call.this]:
        if isinstance(value, exp.Column) and is_constant_in(select, value):
            value.replace(nodes.kept_apart(value.copy()))


def _hide_results(test: exp.In) -> None:
    for node in list(mysql.outer_results(test.args.get("query"))):
        if isinstance(node, nodes.AGGREGATES):
            node.replace(nodes.kept_apart(node.copy()))


def _room_for_sign(quotient: nodes.Whole) -> exp.Expr | None:
    dividend = quotient.this.unnest()
    is_wide = isinstance(dividend, exp.Column | exp.Count | exp.Sum | exp.Add | exp.Sub | exp.Mul)
    return None if is_wide or isinstance(quotient.expression, exp.Literal) else nodes.Bigint(this=quotient)


def _room_for_digits(quotient: nodes.Whole) -> None:
    if any(map(_is_long, find_all(quotient.this, exp.Window))):
        quotient.set("this", exp.Paren(this=exp.Add(this=quotient.this, expression=nodes.number(0))))


def _is_long(window: exp.Window) -> bool:
    """Whether a window is over an integer that needs more than 32 bits, but has no more digits."""
    literals = [each for each in window.this.iter_expressions() if isinstance(each, exp.Literal)]
    return any(each.is_int and int(each.name) > _INT32 for each in literals)


def _hide_first_key(select: exp.Select) -> None:
    order = select.args.get("order")
    if order is None or not select.args.get("group") or not windows_of(select):
        return
    term = order.expressions[0]
    is_place = isinstance(term.this, exp.Literal) and term.this.is_int
    key = select.expressions[int(term.this.this) - 1].unalias() if is_place else term.this
    if isinstance(key, exp.Column):
        term.set("this", nodes.kept_apart(key.copy()))


def _hide_subqueries(select: exp.Select) -> None:
    if select.args.get("distinct") and windows_of(select):
        found = [query for each in select.expressions for query in find_all(each, exp.Subquery)]
        for query in [each for each in found if each.parent_select is select]:
            if not isinstance(query.parent, exp.In):
                query.replace(nodes.kept_apart(query.copy()))


def _refuse_set_operations(test: exp.Exists) -> None:
    if isinstance(test.this, exp.SetOperation) and isinstance(test.this.this.unnest(), exp.SetOperation):
        raise Untranslatable("EXISTS of several set operations", "MariaDB compares other values")


def _refuse_limit(cte: exp.CTE) -> None:
    reads_itself = any(table.name == cte.alias for table in find_all(cte.this, exp.Table))
    if reads_itself and cte.this.args.get("limit"):
        raise Untranslatable("LIMIT of a recursive query", "MariaDB does not support it yet")


def _escape(test: nodes.Matches) -> None:
    pattern = test.expression
    is_literal = isinstance(pattern, exp.Literal)
    if (is_literal and "\\" not in pattern.this) or test.args.get("escape") is not None:
        return
    doubled: exp.Expr = nodes.builtin("REPLACE", pattern, nodes.string("|"), nodes.string("||"))
    test.set("expression", nodes.string(pattern.this.replace("|", "||")) if is_literal else doubled)
    test.set("escape", nodes.string("|"))


_AS_MYSQL = frozenset({
    "nested-selects", "joined-tables", "full-join", "aggregate-filter", "group-frames", "list-windows",
    "computed-offsets", "computed-limits", "offset-alone", "ordered-picks", "trim-sets", "in-any-query",
    "having-keys", "unsigned-bits", "untaken-branches", "division-by-zero", "list-nulls",
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
        "early-casts",
        "A function of a cast window function is also called in a branch of CASE that is not taken.",
        MEASURED,
        "SELECT LOWER(LAST_VALUE(CASE WHEN id > 2 THEN 'a' ELSE 0.5 END) OVER (ORDER BY id)) FROM item",
        "REGEXP_REPLACE of what is no number by 0.",
    ),
    Lowering(
        "counted-recursion",
        "A recursive query has no LIMIT.",
        "https://mariadb.com/kb/en/recursive-common-table-expressions-overview/",
        "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i * 2 FROM c LIMIT 4) SELECT i FROM c",
        "A column that numbers the rows, where each produces at most one.",
        change=_refuse_limit,
    ),
    Lowering(
        "cut-lookups",
        "A text is cut to the length of the column where it is looked up IN a subquery of FROM with NULL.",
        MEASURED,
        "SELECT 'abc' IN (SELECT c FROM (SELECT DISTINCT CASE WHEN id > 2 THEN 'ab' END AS c FROM item))",
        "COALESCE of the column and NULL.",
        change=_hide_texts,
    ),
    Lowering(
        "late-values-in-outer-rows",
        "A window or an aggregate is looked up IN a subquery of other outer rows than its own.",
        MEASURED,
        "SELECT LAG(n) OVER (ORDER BY id) IN (SELECT item.n FROM part) FROM item",
        None,
        change=_refuse_late_value,
    ),
    Lowering(
        "repeated-subqueries",
        "A statement of many SELECTs beside windows takes more than 256 MB, however few rows they read.",
        MEASURED,
        "SELECT NULLIF(LAG(NULLIF(CASE kind WHEN t THEN x WHEN (SELECT MAX(name) FROM part WHERE item = id)"
        " THEN n END, 'x'), 1, 0) OVER (ORDER BY id), 1.5) FROM item ORDER BY 1",
        None,
        most=144,
    ),
    Lowering(
        "recursive-references",
        "Recursive queries read 14 times take 128 MB, and each further time doubles that.",
        MEASURED,
        "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 3) SELECT "
        + " + ".join(["(SELECT COUNT(*) FROM c)"] * 17),
        None,
        most=13,
    ),
    Lowering(
        "lateral-subqueries",
        "A subquery in FROM cannot read rows to its left or of the SELECT around it.",
        "https://mariadb.com/kb/en/lateral-derived-optimization/",
        "SELECT id, (SELECT SUM(x) FROM (SELECT n + 1 AS x FROM part WHERE part.item = id) AS q) FROM item",
        "Its own sources and conditions, in the SELECT that reads it, or its rows of all keys.",
    ),
    Lowering(
        "nested-windows",
        "A window takes no other window of its SELECT, nor one with a frame.",
        MEASURED,
        "SELECT RANK() OVER (ORDER BY (SELECT SUM(n) OVER (ORDER BY id ROWS 1 PRECEDING) FROM part"
        " ORDER BY 1 LIMIT 1)) FROM item",
        None,
        change=_refuse_nested,
    ),
    Lowering(
        "columns-beside-windows",
        "A stored function of a condition misreads a column of a subquery in FROM beside a window.",
        MEASURED,
        "SELECT MAX(t) OVER () FROM (SELECT t FROM item) AS d WHERE CAST(t AS REAL) = 0",
        "COALESCE of the column and NULL.",
        change=_hide_columns,
        needs=holding(exp.Window),
    ),
    Lowering(
        "unordered-ranks",
        "RANK, NTILE, LAG and their like need an ORDER BY.",
        "https://mariadb.com/kb/en/rank/",
        "SELECT RANK() OVER () FROM item",
        "ORDER BY NULL.",
        change=_order,
    ),
    Lowering(
        "shift-defaults",
        "LAG and LEAD take no default.",
        "https://mariadb.com/kb/en/lag/",
        "SELECT LAG(n, 1, 0) OVER (ORDER BY id) FROM item",
        "CASE, where a shift of a value that is never NULL tells whether there is a row.",
        change=_without_default,
    ),
    Lowering(
        "short-fractions",
        "PERCENT_RANK and CUME_DIST have ten decimals, where they are sent and beside other windows.",
        MEASURED,
        "SELECT PERCENT_RANK() OVER (ORDER BY a.id, b.id, c.id) FROM item a, item b, item c",
        "The sum of it and 0; beside another window a quotient of RANK and COUNT.",
        change=_all_digits,
    ),
    Lowering(
        "emptied-picks",
        "After another sort, a function around a window sees an empty text for its text.",
        MEASURED,
        "SELECT DATETIME(MIN('2020-02-29') OVER (ORDER BY 1)), DATETIME(MAX('2020-02-29') OVER (ORDER BY id))"
        " FROM item",
        "COALESCE of the window and NULL.",
        change=_coalesced,
    ),
    Lowering(
        "early-window-conditions",
        "AND and OR of windows within one another are computed before the windows, as NULL.",
        MEASURED,
        "SELECT 1 + (COUNT(*) OVER () > 1 AND (id > 2 OR COUNT(*) OVER () > 2)) FROM item",
        "The row of the conditions, compared with a row of 1 or 0.",
        change=_compared_rows,
        needs=holding(exp.Window),
    ),
    Lowering(
        "equal-days",
        "TO_DAYS is also computed of another text that equals the day in the rows that remain, and fails.",
        MEASURED,
        "SELECT 1 FROM item JOIN visit ON t = day WHERE datetime(day, 'weekday 6')",
        "COALESCE of the compared day and NULL.",
        change=_keep_from_equals,
        needs=holding(exp.EQ),
    ),
    Lowering(
        "replaced-nulls",
        "REPLACE of a text without the part returns it, even if NULL replaces the part.",
        MEASURED,
        "SELECT REPLACE(kind, 'x', t) FROM item",
        "CASE WHEN none is NULL.",
        change=_kept_null,
    ),
    Lowering(
        "constant-offsets",
        "OFFSET does not skip the only row where it is constant.",
        MEASURED,
        "SELECT DISTINCT 1 FROM item LIMIT 1 OFFSET 1",
        None,
        change=_refuse_offset,
        needs=holding(exp.Offset),
    ),
    Lowering(
        "windows-of-one-sort",
        "Of three windows, one can be computed in the order of another one.",
        MEASURED,
        "SELECT RANK() OVER (PARTITION BY kind, n ORDER BY -n), SUM(id) OVER (ORDER BY kind, id),"
        " RANK() OVER (ORDER BY kind) FROM item",
        "PARTITION BY conditions that are never true and differ.",
        change=_sort_apart,
        needs=holding(exp.Window),
    ),
    Lowering(
        "rounded-keys",
        "An indexed integer that equals a constant fraction is looked up by the rounded fraction.",
        MEASURED,
        "SELECT i.id FROM part p LEFT JOIN item i ON i.id = 1.5",
        "The key plus 0.",
        change=_hide_keys,
        needs=lambda nodes: not all(each.is_string or each.this.isdigit() for each in nodes[exp.Literal]),
    ),
    Lowering(
        "outer-join-conditions",
        "A condition of an outer join in a subquery is dropped if it reads outer rows alone.",
        MEASURED,
        "SELECT (SELECT COUNT(p.n) FROM item i LEFT JOIN part p ON item.n > 1) FROM item",
        "`OR RAND() < 0`, which is never true.",
        change=_hide_conditions,
        needs=lambda nodes: any(join.side for join in nodes[exp.Join]),
    ),
    Lowering(
        "outer-rows-in-sources",
        "A subquery in FROM or in WITH, or a set operation in another one, reads no outer row.",
        "https://mariadb.com/kb/en/subqueries-in-a-from-clause/",
        "SELECT (SELECT SUM(x) FROM (SELECT MAX(n) + item.n AS x FROM part GROUP BY name)) FROM item",
        None,
        change=_refuse_outer_rows,
    ),
    Lowering(
        "cut-roundings",
        "CEIL, FLOOR and TRUNCATE of a double keep 17 digits in a temporary table.",
        MEASURED,
        "SELECT DISTINCT FLOOR(x * 1e18) FROM item",
        "The result as a DOUBLE.",
    ),
    Lowering(
        "rows-with-subqueries",
        "A row with a subquery of a table, or a row that is a union, cannot be IN a subquery.",
        "https://mariadb.com/kb/en/subquery-limitations/",
        "SELECT 1 FROM item WHERE ('a', (SELECT MAX(n) FROM part)) NOT IN (SELECT name, 1 FROM part)",
        None,
        change=_refuse_row,
    ),
    Lowering(
        "early-aggregates",
        "An aggregate IN a subquery is looked up before it is computed.",
        MEASURED,
        "SELECT x FROM item GROUP BY x HAVING x IN (SELECT DISTINCT i.x FROM item i)",
        "COALESCE of the aggregate and NULL.",
        change=_hide_aggregate,
    ),
    Lowering(
        "exists-of-set-operations",
        "In EXISTS of several set operations, columns of the first ones are taken for constants.",
        MEASURED,
        "SELECT id FROM item"
        " WHERE EXISTS (SELECT n FROM part UNION SELECT id FROM item EXCEPT SELECT item FROM part)",
        None,
        change=_refuse_set_operations,
    ),
    Lowering(
        "escape-characters",
        "LIKE without an escape character has the backslash.",
        "https://mariadb.com/kb/en/like/",
        "SELECT 'a' || CHAR(92) || name LIKE 'a\\%' FROM part",
        "A vertical bar as the escape character.",
        change=_escape,
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
    Lowering(
        "listed-aggregates",
        "IN of a sorted HAVING is wrong where the subquery's result is an aggregate of the SELECT around it.",
        MEASURED,
        "SELECT n FROM item GROUP BY n HAVING 1 NOT IN (SELECT MIN(item.n) FROM part) ORDER BY n IS NULL, n",
        "COALESCE of the aggregate and NULL.",
        change=_hide_results,
    ),
    Lowering(
        "narrow-quotients",
        "A quotient of a window over a constant of ten digits has 32 bits.",
        MEASURED,
        "SELECT MAX(3155673598) OVER () / 1 FROM item",
        "The window plus 0.",
        change=_room_for_digits,
        needs=holding(exp.Window),
    ),
    Lowering(
        "short-quotients",
        "A quotient has as many characters as its dividend, without one for the sign.",
        MEASURED,
        "SELECT DISTINCT (5 / (n - 6)) || '' FROM item",
        "A cast to an integer.",
        change=_room_for_sign,
    ),
    Lowering(
        "joined-constants",
        "Aggregates of all rows and windows take a constant of FROM from rows joined to none, too.",
        MEASURED,
        "SELECT MAX(c), COUNT(*) FROM part LEFT JOIN (SELECT id, 'a' AS c FROM item) ON id = n AND n > 9",
        "COALESCE of the column and NULL.",
        change=_hide_joined,
        needs=lambda nodes: any(join.side for join in nodes[exp.Join]),
    ),
    Lowering(
        "distinct-subqueries",
        "SELECT DISTINCT of a window and a subquery that no row satisfies returns one row.",
        MEASURED,
        "SELECT DISTINCT RANK() OVER (ORDER BY id), (SELECT MAX(1) FROM part WHERE 0 AND part.n = item.id)"
        " FROM item",
        "COALESCE of the subquery and NULL.",
        change=_hide_subqueries,
        needs=holding(exp.Window),
    ),
    Lowering(
        "constant-conditions",
        "Aggregates beside a window, without GROUP BY, count a row that a subquery of a join excludes.",
        MEASURED,
        "SELECT COUNT(*), SUM(1) OVER () FROM item"
        " WHERE 1 < (SELECT MAX(0) FROM item a, item b, item c, item d)",
        "`OR RAND() < 0`, which is never true.",
        change=_hide_constants,
        needs=holding(exp.Window),
    ),
    Lowering(
        "windows-of-one-group",
        "Without GROUP BY, MIN and MAX of an indexed column can be NULL beside a window.",
        MEASURED,
        "SELECT MAX(id) = 4, RANK() OVER (ORDER BY MAX(id)) + 1 FROM item",
        "MIN or MAX of COALESCE of the column and NULL.",
        change=_hide_extremes,
        needs=holding(exp.Window),
    ),
    Lowering(
        "order-of-windows",
        "Rows of groups by a key stay in the order of the last window where they are sorted by the key.",
        MEASURED,
        "SELECT id, RANK() OVER (ORDER BY MAX(n)) FROM item GROUP BY id ORDER BY id",
        "COALESCE of the key and NULL.",
        change=_hide_first_key,
        needs=holding(exp.Window),
    ),
)
