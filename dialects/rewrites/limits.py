"""LIMIT and OFFSET. https://sqlite.org/lang_select.html#the_limit_clause."""

from sqlglot import exp

from dialects.coercions import BIGGEST, value
from dialects.compiler import Compiler
from dialects.errors import Untranslatable
from dialects.nodes import Bigint, case, every, number, some
from dialects.numbers import well_formed
from dialects.rewrites.calls import written_out
from dialects.rules import Rule
from dialects.scope import Scope
from dialects.source import position
from dialects.typed import Kind

RULES = (
    Rule(
        "limit-forms",
        "LIMIT and OFFSET are expressions; a negative LIMIT is none, `LIMIT a, b` skips a rows.",
        "https://sqlite.org/lang_select.html#the_limit_clause",
        "LIMIT b OFFSET a with numbers.",
    ),
    Rule(
        "computed-limit",
        "LIMIT and OFFSET can be computed, by subqueries, too.",
        "https://sqlite.org/lang_select.html#the_limit_clause",
        "PostgreSQL alike, NULL where it is negative. MySQL: the rows numbered by ROW_NUMBER.",
    ),
)


def limit_rows(c: Compiler, node: exp.Expr, tree: exp.Expr) -> None:
    """LIMIT and OFFSET of `node` onto `tree`."""
    if node.args.get("limit") is None and node.args.get("offset") is None:
        return
    most, skip = row_counts(c, node)
    if most < 0:
        c.applies("limit-forms")
    set_limit(c, tree, most, skip)


def set_limit(c: Compiler, tree: exp.Expr, most: int, skip: int) -> None:
    """LIMIT and OFFSET onto `tree`: how many rows, below 0 for all, behind how many."""
    if most < 0 and skip and not c.target.has_offset_alone:
        most = BIGGEST
    if most >= 0:
        tree.set("limit", exp.Limit(expression=number(most)))
    if skip:
        tree.set("offset", exp.Offset(expression=number(skip)))


def computed(
    c: Compiler, node: exp.Expr, scope: Scope
) -> tuple[exp.Expr | None, exp.Expr | None] | None:  # fmt: skip
    """LIMIT and OFFSET as INTEGERs of the target, or None where both are constants or not there."""
    parts = [node.args.get("limit"), node.args.get("offset")]
    # They see no column, but the common table expressions.
    tables = {name: found for one in reversed(list(scope.outward())) for name, found in one.tables.items()}
    found = [None if part is None else c.expression(part.expression, Scope(tables=tables)) for part in parts]
    if all(part is None or part.constant is not None for part in found):
        return None
    for part, counted in zip(parts, found, strict=True):
        if part is not None and counted is not None and counted.kind is not Kind.INTEGER:
            raise Untranslatable("LIMIT", "it is not an integer", position(part))
    c.applies("computed-limit")
    most, skip = (None if part is None else value(c, part) for part in found)
    return most, skip


def limited(
    c: Compiler, node: exp.Expr, tree: exp.Select, bounds: tuple[exp.Expr | None, exp.Expr | None] | None
) -> exp.Select:  # fmt: skip
    """The SELECT within its bounds, as `computed` gives them; a negative LIMIT is none."""
    if bounds is None:
        limit_rows(c, node, tree)
        return tree
    most, skip = bounds
    start = number(0) if skip is None else exp.Greatest(this=skip, expressions=[number(0)])
    if c.target.limits_by_expressions:
        if most is not None:
            negative = exp.LT(this=most.copy(), expression=number(0))
            tree.set("limit", exp.Limit(expression=case((negative, exp.Null()), default=most)))
        if skip is not None:
            tree.set("offset", exp.Offset(expression=start))
        return tree
    if tree.args.get("distinct") is not None:
        raise Untranslatable("LIMIT", "it is not a constant, and the SELECT is DISTINCT")
    items = list(tree.expressions)
    order = tree.args.get("order")
    terms = [] if order is None else [_apart(term, items) for term in order.expressions]
    tree.set("order", None)
    if any(term.find(exp.Window) for term in terms):
        tree, terms = _below(c, tree, terms)
    alias, place = c.name("q"), c.name("place")
    numbered = exp.Window(
        this=exp.Anonymous(this="ROW_NUMBER"),
        order=exp.Order(expressions=terms) if terms else None, over="OVER",
    )  # fmt: skip
    tree.append("expressions", exp.Alias(this=numbered, alias=exp.to_identifier(place, quoted=True)))

    conditions: list[exp.Expr] = [exp.GT(this=_column(alias, place), expression=start)]
    if most is not None:
        # Numbers of rows have no sign on MySQL, where a difference below zero is an error.
        behind = exp.Sub(this=Bigint(this=_column(alias, place)), expression=start.copy())
        last = exp.LTE(this=behind, expression=most)
        conditions.append(some([exp.LT(this=most.copy(), expression=number(0)), last]))
    named = exp.TableAlias(this=exp.to_identifier(alias, quoted=True))
    return exp.Select(
        expressions=[_column(alias, item.alias_or_name) for item in items],
        from_=exp.From(this=exp.Subquery(this=tree, alias=named)),
        where=exp.Where(this=every(conditions)),
        order=exp.Order(expressions=[exp.Ordered(this=_column(alias, place))]),
    )


def _below(c: Compiler, tree: exp.Select, terms: list[exp.Expr]) -> tuple[exp.Select, list[exp.Expr]]:
    """A SELECT over the SELECT, and the terms as columns of it: no window is sorted by another one."""
    alias, names = c.name("q"), [item.alias_or_name for item in tree.expressions]
    named = exp.TableAlias(this=exp.to_identifier(alias, quoted=True))
    below = []
    for term in terms:
        hidden, sorting = c.name("sort"), term.copy()
        tree.append(
            "expressions", exp.Alias(this=term.this.copy(), alias=exp.to_identifier(hidden, quoted=True))
        )
        sorting.set("this", _column(alias, hidden))
        below.append(sorting)
    return exp.Select(
        expressions=[
            exp.Alias(this=_column(alias, name), alias=exp.to_identifier(name, quoted=True)) for name in names
        ],
        from_=exp.From(this=exp.Subquery(this=tree, alias=named)),
    ), below


def _column(table: str, name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True), table=exp.to_identifier(table, quoted=True))


def _apart(term: exp.Expr, items: list[exp.Expr]) -> exp.Expr:
    """A term of ORDER BY for a window, where neither numbers nor names of results count."""
    term = term.copy()
    inner = term.this
    if isinstance(inner, exp.Literal) and not inner.is_string:
        term.set("this", items[int(inner.name) - 1].unalias().copy())
    elif isinstance(inner, exp.Identifier):
        term.set("this", next(item for item in items if item.alias == inner.name).unalias().copy())
    return term


def row_counts(c: Compiler, node: exp.Expr) -> tuple[int, int]:
    """How many rows LIMIT leaves, below 0 for all, and how many OFFSET skips."""
    written, skipped = node.args.get("limit"), node.args.get("offset")
    most = _count(c, written.expression) if written is not None else -1
    return most, max(0, _count(c, skipped.expression)) if skipped is not None else 0


def first_row(c: Compiler, tree: exp.Expr) -> None:
    """Keep the first row of `tree` alone."""
    c.applies("first-row")
    limit = tree.args.get("limit")
    if limit is not None and not isinstance(limit.expression, exp.Literal):
        # NULL, which is no limit, counts for nothing there.
        limit.set("expression", exp.Least(this=limit.expression, expressions=[number(1)]))
    else:
        tree.set("limit", exp.Limit(expression=number(1)))


def cuts(c: Compiler, node: exp.Expr) -> bool:
    """Whether LIMIT or OFFSET may leave rows out."""
    parts = [node.args[key].expression for key in ("limit", "offset") if node.args.get(key) is not None]
    if any(part.find(exp.Query, exp.Column) for part in parts):
        return True
    most, skip = row_counts(c, node)
    return most >= 0 or skip > 0


def _count(c: Compiler, node: exp.Expr) -> int:
    found = c.expression(node, Scope())
    if found.constant is None:
        found = written_out(c, node) or found
    if found.constant is None or found.constant.value is None:
        raise Untranslatable("LIMIT", "it is not a constant", position(node))
    count = found.constant.value
    if isinstance(count, str):
        count = well_formed(count) or count
    if not isinstance(count, int | float) or count != int(count):
        raise Untranslatable("LIMIT", "it is not an integer", position(node))
    return int(count)
