"""Mistakes made on purpose: each takes a correct query and makes one kind of mistake in it."""

from collections.abc import Callable, Iterator, Mapping

from sqlglot import exp

from harness.engines.errors import ErrorClass
from harness.sqltree import DatabaseSchema

Mutation = Callable[[exp.Query, DatabaseSchema], exp.Query | None]
"""Makes the mistake in the query, which it may change; None where the query gives no occasion for it."""


Kinds = Mapping[type[exp.Expr], type[exp.Expr]]


def another_table(query: exp.Query, schema: DatabaseSchema) -> exp.Query | None:
    tables = base_tables(query, schema)
    unused = [name for name in schema.tables if name.lower() not in {table.name.lower() for table in tables}]
    if not tables or not unused:
        return None
    replaced = tables[0].name.lower()
    for table in tables:
        if table.name.lower() == replaced:
            table.set("this", exp.to_identifier(unused[0], quoted=True))
    return query


def another_column(query: exp.Query, schema: DatabaseSchema) -> exp.Query | None:
    """Select another column of the same table, one that stands nowhere in the query."""
    tables = {
        table.alias_or_name.lower(): table.name.lower()
        for table in base_tables(query, schema)
        if belongs_to(query, table)
    }
    named = {column.name.lower() for column in query.find_all(exp.Column)}
    for output in outputs(query):
        selected = output.unalias()
        if not isinstance(selected, exp.Column) or isinstance(selected.this, exp.Star):
            continue
        source = tables.get(selected.table.lower()) if selected.table else next(iter(tables.values()), None)
        for column in schema.columns:
            if column.table.lower() == source and column.name.lower() not in named:
                selected.set("this", exp.to_identifier(column.name, quoted=True))
                return query
    return None


def one_more_column(query: exp.Query, schema: DatabaseSchema) -> exp.Query | None:
    del schema
    if not isinstance(query, exp.Select):
        return None
    return query.select(exp.Literal.number(1))


def columns_the_other_way_round(query: exp.Query, schema: DatabaseSchema) -> exp.Query | None:
    del schema
    found = outputs(query)
    if len({output.alias_or_name for output in found}) < len(found) or len(found) < 2:
        return None
    query.set("expressions", found[::-1])
    return query


def another_function(query: exp.Query, schema: DatabaseSchema) -> exp.Query | None:
    del schema
    for node in list(aggregates(query)):
        kinds: Kinds = {exp.Sum: exp.Avg, exp.Avg: exp.Sum, exp.Max: exp.Min, exp.Min: exp.Max}
        kind = kinds.get(type(node))
        if kind is not None and not isinstance(node.this, exp.Distinct):
            node.replace(kind(this=node.this))
            return query
    return None


def distinct_in_a_count(query: exp.Query, schema: DatabaseSchema) -> exp.Query | None:
    del schema
    for node in aggregates(query):
        if isinstance(node, exp.Count) and isinstance(node.this, exp.Column):
            node.set("this", exp.Distinct(expressions=[node.this]))
            return query
    return None


def no_group(query: exp.Query, schema: DatabaseSchema) -> exp.Query | None:
    del schema
    if query.args.get("group") is None or not any(aggregates(query)) or query.args.get("having"):
        return None
    query.set("group", None)
    return query


def one_condition_fewer(query: exp.Query, schema: DatabaseSchema) -> exp.Query | None:
    del schema
    for comparison in own(query, exp.EQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Like, exp.Between):
        subject = comparison.this
        if isinstance(subject, exp.Column) and occurrences(query, subject) == 1:
            parent = comparison.parent
            if isinstance(parent, exp.And):
                parent.replace(parent.right if parent.left is comparison else parent.left)
                return query
            if isinstance(parent, exp.Where):
                query.set("where", None)
                return query
    return None


def one_condition_more(query: exp.Query, schema: DatabaseSchema) -> exp.Query | None:
    """Ask for a value of a column that stands nowhere in the query."""
    named = {column.name.lower() for column in query.find_all(exp.Column)}
    for table in base_tables(query, schema):
        if not belongs_to(query, table):
            continue
        for column in schema.columns:
            if column.table.lower() == table.name.lower() and column.name.lower() not in named:
                subject = exp.column(exp.to_identifier(column.name, quoted=True), table.alias_or_name)
                return query.where(exp.EQ(this=subject, expression=exp.Literal.string("x")))
    return None


def another_operator(query: exp.Query, schema: DatabaseSchema) -> exp.Query | None:
    del schema
    turned: Kinds = {exp.GT: exp.LT, exp.LT: exp.GT, exp.GTE: exp.LTE, exp.LTE: exp.GTE}
    for comparison in own(query, *turned):
        if sum(1 for other in query.find_all(*turned) if other.this == comparison.this) == 1:
            comparison.replace(
                turned[type(comparison)](this=comparison.this, expression=comparison.expression)
            )
            return query
    return None


def another_literal(query: exp.Query, schema: DatabaseSchema) -> exp.Query | None:
    del schema
    where = query.args.get("where")
    for comparison in where.find_all(exp.EQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Like) if where else ():
        value = comparison.expression
        if isinstance(value, exp.Literal) and belongs_to(query, comparison):
            other = exp.Literal.string("no such value") if value.is_string else exp.Literal.number(987654)
            value.replace(other)
            return query
    return None


def the_other_end(query: exp.Query, schema: DatabaseSchema) -> exp.Query | None:
    del schema
    order = query.args.get("order")
    if order is None or query.args.get("limit") is None:
        return None
    first = order.expressions[0]
    for name in ("desc", "nulls_first"):
        first.set(name, not first.args.get(name))
    return query


def one_row_more(query: exp.Query, schema: DatabaseSchema) -> exp.Query | None:
    del schema
    if query.args.get("limit") is None:
        return None
    query.set("limit", exp.Limit(expression=exp.Literal.number(17)))
    return query


def no_limit(query: exp.Query, schema: DatabaseSchema) -> exp.Query | None:
    del schema
    if query.args.get("limit") is None:
        return None
    query.set("limit", None)
    query.set("offset", None)
    return query


MUTATIONS: Mapping[Mutation, ErrorClass] = {
    another_table: ErrorClass.WRONG_TABLES,
    another_column: ErrorClass.WRONG_COLUMNS,
    one_more_column: ErrorClass.WRONG_COLUMNS,
    columns_the_other_way_round: ErrorClass.WRONG_COLUMNS,
    another_function: ErrorClass.WRONG_AGGREGATION,
    distinct_in_a_count: ErrorClass.WRONG_AGGREGATION,
    no_group: ErrorClass.WRONG_AGGREGATION,
    one_condition_fewer: ErrorClass.WRONG_CONDITION,
    one_condition_more: ErrorClass.WRONG_CONDITION,
    another_operator: ErrorClass.WRONG_CONDITION,
    another_literal: ErrorClass.WRONG_LITERAL,
    the_other_end: ErrorClass.WRONG_ORDER,
    one_row_more: ErrorClass.WRONG_ORDER,
    no_limit: ErrorClass.WRONG_ORDER,
}


def base_tables(query: exp.Query, schema: DatabaseSchema) -> list[exp.Table]:
    names = {name.lower() for name in schema.tables}
    return [table for table in query.find_all(exp.Table) if table.name.lower() in names]


def belongs_to(query: exp.Query, node: exp.Expr) -> bool:
    """Whether a node stands in the query itself and not in one inside it."""
    return node.find_ancestor(exp.Query) is query


def outputs(query: exp.Query) -> list[exp.Expr]:
    return list(query.expressions) if isinstance(query, exp.Select) else []


def aggregates(query: exp.Query) -> Iterator[exp.Expr]:
    """The aggregate functions in the query's own columns."""
    for output in outputs(query):
        for node in output.find_all(exp.AggFunc):
            if belongs_to(query, node) and node.find_ancestor(exp.Window) is None:
                yield node


def own(query: exp.Query, *kinds: type[exp.Expr]) -> Iterator[exp.Expr]:
    """The nodes of these kinds between the ANDs of the query's own WHERE."""
    where = query.args.get("where")
    for node in where.find_all(*kinds) if where is not None else ():
        parent = node.parent
        while isinstance(parent, exp.And | exp.Paren):
            parent = parent.parent
        if parent is where:
            yield node


def occurrences(query: exp.Query, column: exp.Column) -> int:
    return sum(1 for other in query.find_all(exp.Column) if other.name.lower() == column.name.lower())
