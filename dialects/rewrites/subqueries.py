"""Compile subqueries as values: scalar ones, EXISTS and IN. https://sqlite.org/lang_expr.html#subq."""

from dataclasses import replace

from sqlglot import exp

from dialects.coercions import gets_beyond_double, plain
from dialects.compiler import Compiler
from dialects.errors import Untranslatable
from dialects.identifiers import ascii_lower
from dialects.nodes import (
    Double,
    case,
    column_of,
    every,
    grouped,
    identifier,
    is_null,
    number,
    reads_outer_rows,
    select,
    some,
    subquery,
    unknown,
)
from dialects.rewrites.comparison import (
    collation,
    compare,
    compare_rows,
    equal,
    keyed,
    null_test,
    with_affinities,
)
from dialects.rewrites.names import told_apart
from dialects.rewrites.operators import mixed
from dialects.scope import Relation, RowsNeeded, Scope, named
from dialects.tagged_values import from_tagged
from dialects.trees import find_all, has
from dialects.value_types import Affinity, Collation, Form, Kind, Stored, Typed, boolean, null
from dialects.versions import FIRST_OF_COMPOUND, FIRST_ROW, ONE_COLLATED


def row(c: Compiler, node: exp.Expr, scope: Scope) -> list[Typed] | None:
    """Compile the columns of a row value; None for a single value."""
    while isinstance(node, exp.Paren):
        node = node.this
    if not isinstance(node, exp.Tuple | exp.Subquery):
        return None
    with c.filtered(False):
        if isinstance(node, exp.Tuple):
            return [c.expression(part, scope) for part in node.expressions]
        inside = node.unnest()
        shown = inside.expressions[0].expressions if isinstance(inside, exp.Values) else node.selects
        return _row_of(c, node, scope) if len(shown) > 1 or any(map(_is_star, shown)) else None


def _is_star(item: exp.Expr) -> bool:
    return isinstance(item, exp.Star) or (isinstance(item, exp.Column) and isinstance(item.this, exp.Star))


def _row_of(c: Compiler, node: exp.Subquery, scope: Scope) -> list[Typed] | None:
    """Compile the columns of a subquery's first row, each as its own subquery."""
    _note_first(c, node)
    relation = c.query(node.this, scope, derived=True, wanted=RowsNeeded.FIRST)
    if len(relation.columns) == 1:
        return None
    alias = c.name("q")
    parts = []
    for column, collated in zip(relation.columns, relation.collations, strict=True):
        place = column.value.node.copy()
        place.set("table", identifier(alias))
        tree = select([place], subquery(relation.node.copy(), alias))
        part = _as_value(c, Relation(tree, [column], one_row=True))
        # Unlike a subquery that is a single value, a column of a row compares as its expression does.
        parts.append(part.with_text(collation=collated))
    return parts


SKIPPED = "where OFFSET skips all rows of SELECT DISTINCT, SQLite's subquery is the last of them, not NULL"


def scalar(c: Compiler, node: exp.Expr, scope: Scope) -> Typed:
    """Compile (SELECT ...) as a value."""
    _note_first(c, node)
    if node.this.args.get("distinct") and node.this.args.get("offset"):
        c.warn(SKIPPED)
    relation = c.query(node.this, scope, wanted=RowsNeeded.FIRST)
    if len(relation.columns) != 1:
        raise Untranslatable("a subquery as a value", f"it has {len(relation.columns)} columns")
    return _as_value(c, relation)


def _note_first(c: Compiler, node: exp.Expr) -> None:
    query = node.this
    if isinstance(query, exp.SetOperation) and query.args.get("order") is None:
        while isinstance(query, exp.SetOperation):
            if query.args.get("distinct") is not False:
                c.changed.add(FIRST_OF_COMPOUND)
            query = query.this


def _as_value(c: Compiler, relation: Relation) -> Typed:
    found = relation.columns[0].value
    if found.kind is Kind.NULL:
        return null()
    value = found.of(node=exp.Subquery(this=relation.node), nullable=True, constant=None)
    value = value.with_number(integral=None, condition=False).with_text(collation=None, collates=False)
    several = value.stored.mixed and value.tagged is None
    return mixed(c, value).of(stored=Stored()) if several else from_tagged(c, value)


def exists(c: Compiler, node: exp.Expr, scope: Scope) -> Typed:
    """Compile EXISTS (SELECT ...)."""
    relation = c.query(node.this, scope, wanted=RowsNeeded.ANY)
    return boolean(exp.Exists(this=relation.node), nullable=False)


def membership(c: Compiler, node: exp.Expr, scope: Scope) -> Typed:
    """Compile IN with a list, a subquery or a table."""
    with c.filtered(False):
        left = row(c, node.this, scope)
    inside = node.args.get("query")
    listed = node.expressions
    if node.args.get("field") is not None:
        table = node.args["field"]
        inside = exp.select("*").from_(exp.Table(this=identifier(table.name)))
    if isinstance(inside, exp.Subquery) and isinstance(inside.this, exp.Subquery):
        # In its own parentheses a subquery is a value: only its first row counts.
        c.changed.add(FIRST_ROW)
        listed, inside = [inside.this], None
    if len(listed) == 1 and isinstance(listed[0], exp.Values):
        inside = listed[0]
    if inside is not None:
        return _in_query(c, node, inside, scope, left)
    if left is not None:
        with c.filtered(False):
            parts = [row(c, item, scope) for item in listed]
        rows = [part for part in parts if part is not None]
        if len(rows) != len(parts):
            raise Untranslatable("a row value in IN", "the list has single values")
        return boolean(some(compare_rows(c, exp.EQ, _copies(left), part).node for part in rows))
    if len(listed) == 1 and has(listed[0], exp.Collate) and not has(listed[0], *_VARYING):
        # SQLite reads `x IN (constant)` as `x = +constant`, whose COLLATE counts.
        c.changed.add(ONE_COLLATED)
        with c.filtered(False):
            only = c.expression(listed[0], scope).of(affinity=Affinity.NONE)
            return equal(c, c.expression(node.this, scope), only)
    with c.filtered(False):
        found = c.expression(node.this, scope)
        values = [
            c.expression(item, scope).of(affinity=Affinity.NONE).with_text(collation=None, collates=False)
            for item in listed
        ]
    return _in_list(c, found, values)


_VARYING = (exp.Column, exp.Query, exp.Anonymous)
"""Nodes that SQLite does not treat as constants in a list."""


def _copies(parts: list[Typed]) -> list[Typed]:
    return [part.of(node=part.node.copy()) for part in parts]


def _in_list(c: Compiler, found: Typed, values: list[Typed]) -> Typed:
    if not values:
        c.applies("empty-list")
        return boolean(exp.Boolean(this=False), nullable=False)
    collated = found.text.collation or Collation.BINARY
    converted = [with_affinities(c, found, item) for item in values]
    simple = all(
        left is found and (right.kind is found.kind or (right.kind.is_numeric and found.kind.is_numeric))
        for left, right in converted
    )
    is_native = found.kind in {Kind.INTEGER, Kind.TEXT, Kind.REAL, Kind.NUMBER} and not found.stored.mixed
    native = simple and is_native
    if (
        native
        and found.kind is Kind.INTEGER
        and any(right.kind is not Kind.INTEGER for _, right in converted)
    ):
        native = False
    if found.kind is not Kind.INTEGER and any(gets_beyond_double(right) for _, right in converted):
        # The targets would round it.
        native = False
    if len(values) == 1 and isinstance(values[0].node, exp.Subquery):
        # The targets would use its rows as the list.
        native = False
    if native:
        keys = [keyed(c, right, collated) for _, right in converted]
        nullable = found.nullable or any(item.nullable for item in values)
        return boolean(exp.In(this=grouped(keyed(c, found, collated)), expressions=keys), nullable=nullable)
    c.applies("in-affinity")
    tests = [compare(c, exp.EQ, found.of(node=found.node.copy()), item) for item in values]
    return boolean(some(test.node for test in tests))


def _in_query(c: Compiler, node: exp.Expr, inside: exp.Expr, scope: Scope, left: list[Typed] | None) -> Typed:
    if isinstance(inside, exp.Subquery):
        inside = inside.this
    with c.filtered(False):
        parts = left if left is not None else [c.expression(node.this, scope)]
    relation = _compared(c, inside, scope)
    if len(relation.columns) != len(parts):
        raise Untranslatable("IN", f"{len(parts)} columns are compared with {len(relation.columns)}")
    pairs = [
        _converted(c, *pair) for pair in zip(parts, (each.value for each in relation.columns), strict=True)
    ]
    if not all(_alike(*pair) for pair in pairs):
        return _in_converted(c, parts, relation)
    if c.lowers("rounded-keys"):
        _hide_keys(relation, pairs)
    parts = [part for part, _ in pairs]
    query = _limitless(c, relation)
    if left is None:
        this = grouped(keyed(c, parts[0], Collation.BINARY))
    else:
        this = exp.Tuple(expressions=[keyed(c, part, Collation.BINARY) for part in parts])
    return boolean(exp.In(this=this, query=exp.Subquery(this=query)))


def _compared(c: Compiler, inside: exp.Expr, scope: Scope) -> Relation:
    """Compile the subquery of IN; a column of several types is compared as stored."""
    relation = c.query(inside, scope)
    if any(column.value.tagged is not None for column in relation.columns):
        relation = c.query(inside, scope, derived=True)
    for at, text in enumerate(relation.texts):
        column = relation.columns[at]
        value = column.value.with_text(collation=text.collation, collates=text.collates)
        relation.columns[at] = replace(column, value=value)
    return relation


def _converted(c: Compiler, part: Typed, column: Typed) -> tuple[Typed, Typed]:
    """Return a value and a subquery's column, with the value converted so that the column need not be."""
    if part.text.form is not Form.DIGITS or _alike(part, column):
        return part, column
    before, after = with_affinities(c, part, column)
    return (before, after) if after is column and _alike(before, after) else (part, column)


def _alike(left: Typed, right: Typed) -> bool:
    """True if the target compares them as SQLite does."""
    is_mixed = left.stored.mixed or right.stored.mixed
    if collation(left, right) is not Collation.BINARY or is_mixed or left.kind is Kind.ANY:
        return False
    numbers = {left.kind, right.kind} == {Kind.INTEGER, Kind.REAL}
    return left.kind is right.kind or (
        numbers and not gets_beyond_double(left) and not gets_beyond_double(right)
    )


def _hide_keys(relation: Relation, pairs: list[tuple[Typed, Typed]]) -> None:
    """Keep the target from looking a real number up among the integers of a subquery."""
    results = relation.node.expressions if isinstance(relation.node, exp.Select) else []
    for result, (part, column) in zip(results, pairs, strict=False):
        inner = result.unalias()
        if column.kind is Kind.INTEGER is not part.kind and isinstance(inner, exp.Column):
            inner.replace(exp.Add(this=inner.copy(), expression=Double(this=number(0))))


def _limitless(c: Compiler, relation: Relation) -> exp.Expr:
    """Return the subquery of IN, wrapped in another subquery if MySQL needs that.

    MySQL takes no LIMIT and no window function there, and gets EXCEPT and INTERSECT wrong with NULL.
    """
    node = relation.node
    part, loses = node, False
    while isinstance(part, exp.SetOperation):
        loses |= not isinstance(part, exp.Union)
        part = part.this.unnest()
    if c.lowers("in-any-query") and (loses or node.args.get("limit") or has(node, exp.Window)):
        names = [ascii_lower(result.alias_or_name) for result in node.selects]
        if len({*names}) < len(names):
            named(relation)
        return select([exp.Star()], subquery(node, c.name("q")))
    return node


def _in_converted(c: Compiler, parts: list[Typed], relation: Relation) -> Typed:
    """Compile IN with a converted value: EXISTS is equivalent, apart from NULL."""
    c.applies("in-affinity")
    columns = named(relation)
    alias = c.name("q")
    inside = []
    for column, name in zip(relation.columns, columns, strict=True):
        node = column_of(name, alias)
        inside.append(told_apart(c, column.value.of(node=node, constant=None).with_number(condition=False)))
    source = subquery(relation.node, alias)
    if len(parts) > 1:
        return _row_in_converted(c, parts, inside, source)
    found, inner = parts[0], inside[0]
    stops = c.lowers("in-any-query") and not c.lowers("lateral-subqueries")
    if stops and has(found.node, exp.Window) and reads_outer_rows(source):
        raise Untranslatable(
            "a window IN a subquery", f"it reads outer rows, and {c.target.title}'s server stops"
        )
    with c.filtered(True):
        test = equal(c, plain(c, found), inner).node
    if c.lowers("rounded-keys") and inner.kind is Kind.INTEGER and found.kind in {Kind.REAL, Kind.NUMBER}:
        for key in [each for each in find_all(test, exp.Column) if each == inner.node]:
            key.replace(exp.Paren(this=exp.Add(this=key.copy(), expression=Double(this=number(0)))))
    hit = _hit(test, source)
    if c.filtering:
        return boolean(hit)
    # TRUE if the comparison holds for a row, else NULL if an operand is NULL, else FALSE.
    missing = []
    if inner.nullable:
        missing.append(_exists(source, null_test(c, inner).node))
    if found.nullable:
        missing.append(every([null_test(c, found).node, _exists(source, None)]))
    branches = [(hit, exp.Boolean(this=True)), *([(some(missing), unknown())] if missing else [])]
    return boolean(case(*branches, default=exp.Boolean(this=False)))


def _row_in_converted(c: Compiler, parts: list[Typed], inside: list[Typed], source: exp.Subquery) -> Typed:
    """Compile the same for row values: NULL if a row would be equal but for NULL."""
    with c.filtered(False):
        test = compare_rows(c, exp.EQ, _copies(parts), inside).node
    if has(test, exp.AggFunc, exp.Window):
        raise Untranslatable("IN", "an aggregate is compared with values of another type")
    hit = _exists(source, test)
    if c.filtering:
        return boolean(hit)
    branches = [(hit, exp.Boolean(this=True)), (_exists(source, is_null(test)), unknown())]
    return boolean(case(*branches, default=exp.Boolean(this=False)))


def _exists(source: exp.Subquery, condition: exp.Expr | None) -> exp.Expr:
    query = select([number(1)], source.copy())
    if condition is not None:
        query.set("where", exp.Where(this=condition.copy()))
    return exp.Exists(this=query)


def _hit(test: exp.Expr, source: exp.Subquery) -> exp.Expr:
    """Return a filter condition that the comparison holds for a row of the subquery.

    Uses IN if one side depends on the subquery alone: engines hash it.
    """
    if isinstance(test, exp.EQ):
        for inside, outside in ((test.this, test.expression), (test.expression, test.this)):
            within = {column.table == source.alias for column in find_all(inside, exp.Column)}
            beyond = {column.table == source.alias for column in find_all(outside, exp.Column)}
            # An aggregate would belong to the subquery there.
            if within == {True} and True not in beyond and not has(inside, exp.AggFunc, exp.Window):
                query = select([inside.copy()], source.copy())
                return exp.In(this=grouped(outside.copy()), query=exp.Subquery(this=query))
    if has(test, exp.AggFunc, exp.Window):
        raise Untranslatable("IN", "an aggregate is compared with values of another type")
    return _exists(source, test)
