"""Merge subqueries in FROM that read rows to their left or outside, for a target without LATERAL.

https://mariadb.com/kb/en/json_table/ may read them, and so may a table's conditions in the SELECT around it.
"""

from collections.abc import Iterator

from sqlglot import exp

from dialects.compiler import Compiler
from dialects.lowerings import Nodes
from dialects.nodes import JSONRows, Random, aliased, case, is_not_null, reads_outer_rows
from dialects.trees import find_all, has

_PLAIN = frozenset({"expressions", "from_", "joins", "where", "order"})
"""The parts of a SELECT that can become parts of the one around it, which follows its order if none."""


def merged(c: Compiler, tree: exp.Query, nodes: Nodes) -> exp.Query:
    """Return the query with such subqueries replaced by their own sources where this keeps the rows.

    Args:
        c: the compiler.
        tree: the query.
        nodes: its nodes by type.
    """
    if not c.lowers("lateral-subqueries") or not any(
        isinstance(each.parent, exp.From | exp.Join | exp.Lateral) and reads_outer_rows(each)
        for each in nodes[exp.Subquery]
    ):
        return tree
    tree = tree.copy()  # in which each node has one parent
    for select in reversed(list(find_all(tree, exp.Select))):
        start, joins = select.args.get("from_"), select.args.get("joins") or []
        if any(join.side in {"RIGHT", "FULL"} for join in joins) or select.is_star:
            continue
        for place in [start, *joins]:
            if place is not None:
                _merge(select, place)
    return tree


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
    unsorted = not any(select.args.get(key) for key in ("order", "group", "distinct"))
    if (
        unsorted
        and isinstance(place, exp.From)
        and not any(has(each, exp.AggFunc) for each in select.expressions)
    ):
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
