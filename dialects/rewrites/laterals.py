"""Merge subqueries in FROM that read rows to their left or outside, for a target without LATERAL.

https://mariadb.com/kb/en/json_table/ may read them, and so may a table's conditions in the SELECT around it.
A subquery that is grouped, numbered or cut cannot be merged. Where its columns equal values of outer rows, it
is computed for all of them, and these columns are compared outside.
"""

from collections.abc import Iterator, Mapping

from sqlglot import exp

from dialects.clauses import conjuncts
from dialects.compiler import Compiler
from dialects.lowerings import Nodes
from dialects.nodes import (
    AGGREGATES,
    BoundValue,
    JSONRows,
    Random,
    aliased,
    case,
    column_of,
    every,
    grouped,
    identifier,
    is_not_null,
    numbering,
    reads_outer_rows,
    subquery,
)
from dialects.rewrites.group_by import aggregates
from dialects.rewrites.order_by import without_names
from dialects.trees import find_all, has, windows_of

_PLAIN = frozenset({"expressions", "from_", "joins", "where", "order"})
"""The parts of a SELECT that can become parts of the one around it, which follows its order if none."""
_COMPUTING = frozenset({"expressions", "from_", "where"})
"""The parts of a SELECT that only computes with the row of its source, and may leave it out."""
_AGGREGATING = ("expressions", "from_", "joins", "where", "having")
"""The parts of such a source: a SELECT of aggregates over all rows."""


def merged(c: Compiler, tree: exp.Query, nodes: Nodes) -> exp.Query:
    """Return the query with such subqueries replaced by their own sources where this keeps the rows."""
    if not c.lowers("lateral-subqueries") or not any(
        isinstance(each.parent, exp.From | exp.Join | exp.Lateral) and reads_outer_rows(each)
        for each in nodes[exp.Subquery]
    ):
        return tree
    tree = tree.copy()  # in which each node has one parent
    for select in reversed(list(find_all(tree, exp.Select))):
        start, joins = select.args.get("from_"), select.args.get("joins") or []
        if any(join.side in {"RIGHT", "FULL"} for join in joins):
            continue
        for place in [start, *joins]:
            if place is not None and not select.is_star:
                _merge(select, place)
            if place is not None:
                _compare_outside(c, select, place)
        if start is not None and not joins:
            _take_place(select, start)
    return tree


def _take_place(select: exp.Select, start: exp.From) -> None:
    """Compute what a SELECT makes of the only row of its source, which has aggregates, in that source."""
    source = start.this
    inner = source.this if isinstance(source, exp.Subquery) else None
    if not isinstance(inner, exp.Select) or not reads_outer_rows(source) or not aggregates(inner):
        return
    parts = (
        {key for key, value in inner.args.items() if value},
        {key for key, value in select.args.items() if value},
    )
    if parts[0].difference(_AGGREGATING) or parts[1] - _COMPUTING:
        return
    where = select.args.get("where")
    written = [*select.expressions, *([where.this] if where else [])]
    if any(has(each, exp.Query, exp.Window, *AGGREGATES) for each in written):
        return
    values = {each.alias_or_name: each.unalias() for each in inner.expressions}
    made = [_with_values(each, values) for each in written]
    if any(has(each, exp.Window) for each in values.values()) or not any(
        has(each, *AGGREGATES) for each in made[: len(select.expressions)]
    ):
        return
    having = inner.args.get("having")
    kept = [*([having.this] if having else []), *made[len(select.expressions) :]]
    inner.set("expressions", made[: len(select.expressions)])
    inner.set("having", exp.Having(this=every(kept)) if kept else None)
    for key in _AGGREGATING:
        select.set(key, inner.args.get(key))


def _with_values(node: exp.Expr, values: Mapping[str, exp.Expr]) -> exp.Expr:
    """Return an expression with the values of columns in place of these."""
    named = (
        exp.Alias(this=node.copy(), alias=identifier(node.name))
        if isinstance(node, exp.Column)
        else node.copy()
    )
    for column in list(find_all(named, exp.Column)):
        column.replace(grouped(values[column.name].copy()))
    return named


def _merge(select: exp.Select, place: exp.From | exp.Join) -> None:
    """Replace one source of a SELECT, and its columns by their expressions."""
    source = place.this
    derived = source.this if isinstance(source, exp.Lateral) else source
    if not isinstance(derived, exp.Subquery) or not isinstance(derived.this, exp.Select):
        return
    inner, alias = derived.this, source.alias
    if not reads_outer_rows(derived) or not _is_plain(inner, place):
        return
    own = {each.alias_or_name for each in _sources(inner)}
    values = {each.alias_or_name: each.unalias() for each in inner.expressions}
    outside = [column for column in find_all(select, exp.Column) if not _is_within(column, source)]
    used = [column for column in outside if column.table == alias]
    others = {
        each.alias_or_name
        for each in find_all(select, exp.Table, exp.Subquery, exp.Lateral, JSONRows)
        if each is not source and not _is_within(each, source)
    }
    having = select.args.get("having")
    if alias in others or own & (others | {column.table for column in outside}):
        return
    if any(having is not None and _is_within(column, having) for column in used):
        return
    # Without a column of its own a value is a constant, or an aggregate of it belongs to the SELECT outside.
    if any(not own & {each.table for each in find_all(values[column.name], exp.Column)} for column in used):
        return
    missing = isinstance(place, exp.Join) and bool(place.side)
    for column in used:
        value = values[column.name].copy()
        if missing and not isinstance(value, exp.Column):
            first = next(each for each in find_all(value, exp.Column) if each.table in own)
            value = case((is_not_null(first.copy()), value))
        if isinstance(column.parent, exp.Select) and column.arg_key == "expressions":
            value = aliased(value, column.name)
        column.replace(value)
    _join(select, place, inner)


def _compare_outside(c: Compiler, select: exp.Select, place: exp.From | exp.Join) -> None:
    """Compute one source of a SELECT for all outer rows, if these only decide what its columns equal."""
    source = place.this
    derived = source.this if isinstance(source, exp.Lateral) else source
    if not isinstance(derived, exp.Subquery) or not _is_keyed(derived.this) or not reads_outer_rows(derived):
        return
    inner, alias = derived.this.copy(), source.alias
    own = {"", *(each.alias_or_name for each in _sources(inner))}
    parts = list(conjuncts(inner.args["where"].this))
    tests = [part.copy() for part in parts if _is_outside(part, own)]
    found = [(part, _pair(part, own)) for part in parts if not _is_outside(part, own)]
    kept = [part for part, pair in found if pair is None]
    pairs = [pair for _, pair in found if pair is not None]
    inner.set("where", exp.Where(this=every(kept)) if kept else None)
    if reads_outer_rows(exp.Subquery(this=inner)):
        return
    shown = [column_of(each.alias_or_name, alias) for each in inner.expressions]
    for window in windows_of(inner):
        window.set("partition_by", [*(window.args.get("partition_by") or []), *_keys(pairs)])
    if inner.args.get("limit") is not None:
        tests += _numbered(c, select, place, inner, _keys(pairs))
    if inner.args.get("group") is not None:
        inner.args["group"].set("expressions", [*inner.args["group"].expressions, *_keys(pairs)])
    for test, key, value in pairs:
        name = c.name("key")
        inner.append("expressions", aliased(key.copy(), name))
        tests.append(test(this=column_of(name, alias), expression=value.copy()))
    if select.is_star:  # IN reads nothing but this source.
        select.set("expressions", shown)
    place.set("this", subquery(inner, alias))
    if isinstance(place, exp.Join) and place.side:
        place.on(*tests, copy=False)
    else:
        select.where(*tests, copy=False)


_Pair = tuple[type[exp.Binary], exp.Expr, exp.Expr]
"""A comparison, the key and the outer value that it compares."""


def _keys(pairs: list[_Pair]) -> list[exp.Expr]:
    return [key.copy() for _, key, _ in pairs]


def _is_keyed(inner: exp.Expr) -> bool:
    """Whether a SELECT has no row where it finds none, and its LIMIT can be one of each key."""
    if not isinstance(inner, exp.Select) or any(inner.args.get(key) is None for key in ("from_", "where")):
        return False
    limit, offset = inner.args.get("limit"), inner.args.get("offset")
    counts = [each.expression for each in (limit, offset) if each is not None]
    if counts and (limit is None or any(map(_is_computed, counts))):
        return False
    order = inner.args.get("order")
    if counts and inner.args.get("distinct") is not None and not _sorts_by_all(inner):
        return False
    if counts and order is not None and has(order, exp.Window):
        return False
    if inner.args.get("with_") is not None or (
        inner.args.get("group") is None and (inner.args.get("having") is not None or aggregates(inner))
    ):
        return False
    return not any(isinstance(each, JSONRows | exp.Lateral) for each in _sources(inner))


def _sorts_by_all(inner: exp.Select) -> bool:
    """Whether each result is a term of ORDER BY, so that rows of one rank are alike."""
    order = inner.args.get("order")
    terms = [without_names(term, inner.expressions).this for term in order.expressions] if order else []
    return all(each.unalias() in terms for each in inner.expressions)


def _is_computed(count: exp.Expr) -> bool:
    return not isinstance(count, exp.Literal | BoundValue)


def _pair(test: exp.Expr, own: set[str]) -> _Pair | None:
    """Return the key and the outer value that a condition says to be equal."""
    test = test.unnest()
    if not isinstance(test, exp.EQ | exp.NullSafeEQ) or has(test, exp.Query, exp.Collate, BoundValue, Random):
        return None
    for key, value in ((test.this, test.expression), (test.expression, test.this)):
        inside, outside = _read(key), _read(value)
        if inside and outside and inside <= own and not outside & own:
            return type(test), key, value
    return None


def _is_outside(test: exp.Expr, own: set[str]) -> bool:
    """Whether a condition is about the outer row alone."""
    return bool(_read(test)) and not _read(test) & own and not has(test, exp.Query)


def _read(node: exp.Expr) -> set[str]:
    return {each.table for each in find_all(node, exp.Column)}


def _numbered(
    c: Compiler, select: exp.Select, place: exp.From | exp.Join, inner: exp.Select, keys: list[exp.Expr]
) -> list[exp.Expr]:
    """Number the rows of each key, and return the conditions of those that LIMIT keeps."""
    order, offset = inner.args.get("order"), inner.args.get("offset")
    most = inner.args["limit"].expression
    terms = [without_names(term, list(inner.expressions)) for term in order.expressions] if order else []
    at, alias = c.name("place"), place.this.alias
    function = "ROW_NUMBER" if inner.args.get("distinct") is None else "DENSE_RANK"
    inner.append("expressions", aliased(numbering(function, keys, terms), at))
    for key in ("order", "limit", "offset"):
        inner.set(key, None)
    if isinstance(place, exp.From) and not select.is_star and _is_unsorted(select):
        select.set("order", exp.Order(expressions=[exp.Ordered(this=column_of(at, alias))]))
    if offset is None:
        return [exp.LTE(this=column_of(at, alias), expression=most)]
    skipped = offset.expression
    last = exp.Add(this=skipped.copy(), expression=most)
    return [
        exp.GT(this=column_of(at, alias), expression=skipped),
        exp.LTE(this=column_of(at, alias), expression=last),
    ]


def _is_unsorted(select: exp.Select) -> bool:
    """Whether the rows of a SELECT are in the order of its first source."""
    is_arranged = any(select.args.get(key) for key in ("order", "group", "distinct"))
    return not is_arranged and not any(has(each, exp.AggFunc) for each in select.expressions)


def _is_plain(inner: exp.Select, place: exp.From | exp.Join) -> bool:
    """Whether a SELECT only reads, filters and computes, and its place allows to move its conditions."""
    if inner.args.get("from_") is None or any(
        value for key, value in inner.args.items() if key not in _PLAIN
    ):
        return False
    if any(has(each, exp.AggFunc, exp.Window, Random) for each in inner.expressions):
        return False
    if isinstance(inner.args["from_"].this, JSONRows):
        return not inner.args.get("joins") and not inner.args.get("where")
    joins = [join for join in (place, *(inner.args.get("joins") or [])) if isinstance(join, exp.Join)]
    return all(_is_apart(each) for each in _sources(inner)) and not any(join.side for join in joins)


def _is_apart(source: exp.Expr) -> bool:
    """Whether a source reads no row of another: a table, or a subquery like that of a view."""
    return isinstance(source, exp.Table) or (
        isinstance(source, exp.Subquery) and not reads_outer_rows(source)
    )


def _sources(select: exp.Select) -> Iterator[exp.Expr]:
    yield select.args["from_"].this
    for join in select.args.get("joins") or []:
        yield join.this


def _is_within(node: exp.Expr, outer: exp.Expr) -> bool:
    place: exp.Expr | None = node
    while place is not None and place is not outer:
        place = place.parent
    return place is outer


def _join(select: exp.Select, place: exp.From | exp.Join, inner: exp.Select) -> None:
    """Put the sources and conditions of a SELECT where it stood in FROM."""
    if isinstance(place, exp.From) and _is_unsorted(select):
        select.set("order", _order_of(inner))
    place.set("this", inner.args["from_"].this)
    added = inner.args.get("joins") or []
    joins = list(select.args.get("joins") or [])
    at = 0 if isinstance(place, exp.From) else 1 + next(n for n, each in enumerate(joins) if each is place)
    if added and isinstance(place, exp.Join) and place.args.get("on"):
        # It reads all of them.
        added[-1].on(place.args["on"], copy=False)
        place.set("on", None)
    select.set("joins", [*joins[:at], *added, *joins[at:]])
    if inner.args.get("where") is not None:
        select.where(inner.args["where"].this, copy=False)


def _order_of(inner: exp.Select) -> exp.Order | None:
    """Return the order of a SELECT in terms of its sources: places and aliases are those of its results."""
    order = inner.args.get("order")
    results = {str(at): each.unalias() for at, each in enumerate(inner.expressions, 1)}
    results |= {each.alias: each.unalias() for each in inner.expressions if each.alias}
    terms = []
    for term in order.expressions if order else ():
        if isinstance(term.this, exp.Literal | exp.Identifier):
            term.set("this", results[term.this.name].copy())
        if has(term, exp.Column):
            terms.append(term)
    return exp.Order(expressions=terms) if terms else None
