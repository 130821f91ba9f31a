"""Subqueries in expressions. https://sqlite.org/lang_expr.html#subquery_expressions."""

from tests.fuzz.catalog import Column, Kind
from tests.fuzz.generator import Generator, rule
from tests.fuzz.grammar.conditions import some_column
from tests.fuzz.grammar.items import Shape, Wanted
from tests.fuzz.grammar.selects import query, select
from tests.fuzz.leaves import identifier, spelled
from tests.fuzz.tree import Node, apart, expression, frozen

_KINDS = (Kind.INTEGER, Kind.REAL, Kind.TEXT, Kind.DATE)


def _one_row(gen: Generator, *kinds: Kind) -> Node:
    """A SELECT that none of the SELECTs in it may replace: they have more rows."""
    found = select(gen, Wanted(kinds, Shape.ONE_ROW)).node
    return apart(*found.parts, tag=found.tag)


@rule("scalar-subquery", *_KINDS, weight=3)
def scalar(gen: Generator, kind: Kind) -> Node | None:
    if gen.selects <= 0:
        return None
    return expression("(", _one_row(gen, kind), ")")


@rule("scalar-subquery-of-several-rows", *_KINDS, weight=2)
def first_row(gen: Generator, kind: Kind) -> Node | None:
    if gen.selects <= 0:
        return None
    found = select(gen, Wanted((kind,), Shape.ROWS))
    binary = " COLLATE BINARY" if found.columns[0].folded else ""
    direction = gen.pick(("", " DESC"))
    limit = gen.pick(("", " LIMIT 1", " LIMIT 1", " LIMIT 1 OFFSET 1", " LIMIT 5"))
    return expression("(", found.node, frozen(f" ORDER BY 1{binary}{direction}{limit}"), ")")


@rule("scalar-subquery-in-an-order-of-its-own", Kind.INTEGER, Kind.TEXT, weight=1)
def first_of_groups(gen: Generator, kind: Kind) -> Node | None:
    """The first row where GROUP BY or a compound sorts the rows."""
    tables = [(t, c) for t in gen.catalog.tables for c in _joinable(t.columns) if c.kind is kind]
    if not tables:
        return None
    (table, column), (other, second) = gen.pick(tables), gen.pick(tables)
    name, source = identifier(gen, column.name), identifier(gen, table.name)
    others = f"SELECT {identifier(gen, second.name)} FROM {identifier(gen, other.name)}"
    compound = f" {gen.pick(('UNION', 'EXCEPT', 'INTERSECT'))} {others}"
    behind = gen.pick((f" GROUP BY {name}", f" GROUP BY {name}", compound))
    return expression(frozen(f"(SELECT {name} FROM {source}{behind})"))


@rule("exists", Kind.CONDITION, weight=3)
def exists(gen: Generator, _: Kind) -> Node | None:
    if gen.selects <= 0:
        return None
    word = gen.pick(("EXISTS (", "NOT EXISTS ("))
    return expression("(", word, query(gen, Wanted(correlated=True)).node, "))")


@rule("in-subquery", Kind.CONDITION, weight=4)
def in_subquery(gen: Generator, _: Kind) -> Node | None:
    if gen.selects <= 0:
        return None
    kind = gen.pick(_KINDS)
    left = some_column(gen, kind) if gen.chance(0.7) else gen.expr(*_KINDS)
    word = gen.pick((" IN (", " NOT IN (", " IN ("))
    return expression("(", left, word, query(gen, Wanted((kind,))).node, "))")


@rule("in-table", Kind.CONDITION, weight=6)
def in_table(gen: Generator, _: Kind) -> Node | None:
    tables = [table for table in gen.common if len(table.columns) == 1]
    if not tables:
        return None
    return expression("(", gen.expr(Kind.INTEGER), f" IN {gen.pick(tables).name})")


@rule("row-value-in-subquery", Kind.CONDITION, weight=0.7)
def row_in_subquery(gen: Generator, _: Kind) -> Node | None:
    if gen.selects <= 0:
        return None
    kinds = (gen.pick(_KINDS), gen.pick(_KINDS))
    left = [some_column(gen, kind) for kind in kinds]
    word = gen.weighted([(4, " IN ("), (2, " NOT IN ("), (0.5, " = (")])
    if word == " = (":
        return expression("((", left[0], ", ", left[1], ") = (", _one_row(gen, *kinds), "))")
    return expression("((", left[0], ", ", left[1], f"){word}", query(gen, Wanted(kinds)).node, "))")


@rule("compare-with-subquery", Kind.CONDITION, weight=3)
def compare(gen: Generator, _: Kind) -> Node | None:
    if gen.selects <= 0:
        return None
    kind = gen.pick(_KINDS)
    operator = gen.pick(("=", "<", ">", ">=", "<>", "IS"))
    return expression("(", some_column(gen, kind), f" {operator} (", _one_row(gen, kind), "))")


@rule("group-concat-ordered", Kind.TEXT, weight=2)
def concat(gen: Generator, _: Kind) -> Node:
    tables = [table for table in gen.catalog.tables if _joinable(table.columns)]
    table = gen.pick(tables)
    column = gen.pick(_joinable(table.columns))
    name = identifier(gen, column.name)
    separator = gen.pick(("", ", ', '", ", '; '"))
    direction = gen.pick(("", " DESC"))
    return expression(
        frozen(
            f"(SELECT GROUP_CONCAT(x{separator}) FROM (SELECT {name} AS x FROM {identifier(gen, table.name)}"
            f" ORDER BY {name}{direction}))"
        )
    )


def _joinable(columns: tuple[Column, ...]) -> list[Column]:
    return [column for column in columns if column.kind in (Kind.INTEGER, Kind.TEXT) and not column.folded]


@rule("correlated-count", Kind.INTEGER, weight=2)
def correlated_count(gen: Generator, _: Kind) -> Node | None:
    refs = gen.refs(Kind.INTEGER, Kind.TEXT)
    tables = [table for table in gen.catalog.tables if table.columns]
    if not refs:
        return None
    ref, table = gen.pick(refs), gen.pick(tables)
    same = [column for column in table.columns if column.kind is ref.column.kind]
    if not same or not ref.qualifier:
        return None
    alias = gen.name("q")
    inner = identifier(gen, gen.pick(same).name)
    return expression(
        f"(SELECT COUNT(*) FROM {identifier(gen, table.name)} AS {alias} WHERE {alias}.{inner} = ",
        spelled(gen, ref),
        ")",
    )
