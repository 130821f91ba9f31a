"""ORDER BY and LIMIT. https://sqlite.org/lang_select.html#the_order_by_clause.

Every order that matters is total: its last terms are all columns put out, so that rows that tie are the same.
"""

import re

from tests.fuzz.catalog import Column, Kind
from tests.fuzz.generator import Generator, Scope
from tests.fuzz.grammar.items import separated
from tests.fuzz.tree import Node, construct, expression, frozen, optional, plain

construct(
    "order-by", "order-by-condition", "order-by-expression", "order-by-position", "order-by-nocase",
    "order-by-nulls", "order-total", "limit", "limit-offset", "limit-comma", "limit-negative",
    "limit-expression", "limit-zero", "distinct-order-by-expression",
)  # fmt: skip

TOTAL = "order-total"
"""The tag of an ORDER BY after which the rows have one order."""

_KINDS = (Kind.INTEGER, Kind.REAL, Kind.TEXT, Kind.DATE)
_CONDITION = 0.12


def tail(gen: Generator, columns: tuple[Column, ...], scope: Scope, *, outputs_only: bool) -> Node:
    """ORDER BY, perhaps with LIMIT, or nothing.

    Args:
        gen: the query in the making.
        columns: what is put out.
        scope: what terms can name.
        outputs_only: whether they can name columns of the result only.
    """
    style = gen.random.randrange(10)
    if style <= 3:
        return plain()
    terms = [
        _term(gen, columns, scope, outputs_only=outputs_only)
        for _ in range(gen.weighted([(2, 0), (6, 1), (2, 2)]))
    ]
    if style == 4:
        return optional(" ORDER BY ", *separated(terms), tag="order-by") if terms else plain()
    terms = [optional(term, ", ") for term in terms]
    rest = frozen(
        ", ".join(f"{at}{' COLLATE BINARY' if column.folded else ''}" for at, column in enumerate(columns, 1))
    )
    limit = _limit(gen) if gen.chance(0.45) else plain()
    return optional(" ORDER BY ", *terms, rest, limit, tag=TOTAL)


def _term(gen: Generator, columns: tuple[Column, ...], scope: Scope, *, outputs_only: bool) -> Node:
    direction = gen.pick(("", "", " DESC", " ASC", " DESC", " desc"))
    nulls = plain()
    if gen.chance(0.04 if outputs_only else 0.15):
        nulls = optional(gen.pick((" NULLS FIRST", " NULLS LAST")), tag="order-by-nulls")
    names = [column.name for column in columns if column.name]
    style = gen.random.randrange(10)
    if style <= 2 or (outputs_only and not names):
        at = gen.random.randint(1, len(columns))
        return plain(str(at), direction, nulls, tag="order-by-position")
    if names and (style <= 4 or outputs_only):
        name, rare = gen.pick(names), 0.04 if outputs_only else 0.15
        quoted = name if name.isidentifier() and not gen.chance(0.1) else f'"{name}"'
        nocase = optional(" COLLATE NOCASE", tag="order-by-nocase") if gen.chance(rare) else plain()
        return plain(quoted, nocase, direction, nulls, tag="order-by-alias")
    with gen.instead(scope):
        if gen.chance(_CONDITION):
            node, tag = gen.condition(), "order-by-condition"
        else:
            node, tag = gen.expr(gen.pick(_KINDS)), "order-by-expression"
    if is_number(node):
        node = expression("(", node, " + 0)")
    nocase = optional(" COLLATE NOCASE", tag="order-by-nocase") if gen.chance(0.12) else plain()
    return plain(node, nocase, direction, nulls, tag=tag)


def is_number(node: Node) -> bool:
    """Whether ORDER BY and GROUP BY take it for a position."""
    return bool(re.fullmatch(r"[-+( ]*(0[xX][0-9A-Fa-f]+|[0-9]+)[) ]*", str(node)))


def _limit(gen: Generator) -> Node:
    count, offset = gen.pick("1235"), gen.pick("0123")
    if gen.chance(0.03):
        return optional(
            gen.pick((" LIMIT 1 + 1", " LIMIT (SELECT 2)", " LIMIT '3'", " LIMIT 10 / 3")),
            tag="limit-expression",
        )
    style = gen.random.randrange(11)
    if style <= 5:
        return optional(f" LIMIT {count}", tag="limit")
    if style <= 7:
        return optional(f" LIMIT {count} OFFSET {offset}", tag="limit-offset")
    if style == 8:
        return optional(f" LIMIT {offset}, {count}", tag="limit-comma")
    if style == 9:
        return optional(
            gen.pick((" LIMIT -1", f" LIMIT -1 OFFSET {offset}", f" LIMIT {count} OFFSET -1")),
            tag="limit-negative",
        )
    return optional(gen.pick((" LIMIT 0", " LIMIT 0 OFFSET 1")), tag="limit-zero")
