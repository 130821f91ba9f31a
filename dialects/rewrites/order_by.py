"""ORDER BY, LIMIT and OFFSET. https://sqlite.org/lang_select.html#the_order_by_clause."""

import math

from sqlglot import exp

from dialects.clauses import conjuncts
from dialects.coercions import BIGGEST, value
from dialects.compiler import Compiler
from dialects.errors import Untranslatable
from dialects.identifiers import ascii_lower
from dialects.nodes import (
    Bigint,
    BoundValue,
    FirstOf,
    aliased,
    case,
    column_of,
    every,
    identifier,
    is_constant,
    number,
    numbering,
    select,
    some,
    subquery,
)
from dialects.numbers import well_formed
from dialects.rewrites.comparison import keyed, ordered
from dialects.rewrites.functions import written_out
from dialects.rewrites.group_by import (
    Groups,
    ScanOrder,
    aggregates,
    determined,
    is_fixed,
    name_of,
    scan_order,
)
from dialects.rewrites.names import Result
from dialects.scope import Scope
from dialects.source import Plus, Starred, position
from dialects.trees import find_all, has
from dialects.value_types import Collation, Kind, Typed


def limit_rows(c: Compiler, node: exp.Expr, tree: exp.Expr) -> None:
    """Add the LIMIT and OFFSET of `node` to `tree`."""
    if node.args.get("limit") is None and node.args.get("offset") is None:
        return
    written, skipped = (_bound(c, node.args.get(key)) for key in ("limit", "offset"))
    most, skip = row_counts(c, _without_bound(node))
    if most < 0 and written is None:
        c.applies("limit-forms")
    set_limit(c, tree, BIGGEST if skipped and most < 0 and c.lowers("offset-alone") else most, skip)
    if written is not None:
        tree.set("limit", exp.Limit(expression=written))
    if skipped is not None:
        tree.set("offset", exp.Offset(expression=skipped))


def _without_bound(node: exp.Expr) -> exp.Select:
    """Return the LIMIT and OFFSET of a query that are no parameters."""
    parts = {key: node.args.get(key) for key in ("limit", "offset")}
    return exp.Select(**{
        key: part.copy() for key, part in parts.items()
        if part is not None and not isinstance(part.expression, exp.Placeholder)
    })  # fmt: skip


def _bound(c: Compiler, part: exp.Expr | None) -> exp.Expr | None:
    """Return the parameter that LIMIT or OFFSET is; a negative value is an error of the target."""
    if part is None or not isinstance(part.expression, exp.Placeholder):
        return None
    return value(c, c.expression(part.expression, Scope()))


def set_limit(c: Compiler, tree: exp.Expr, most: int, skip: int) -> None:
    """Add LIMIT and OFFSET to `tree`: `most` rows, below 0 for all, after `skip` rows."""
    if most < 0 and skip and c.lowers("offset-alone"):
        most = BIGGEST
    if most >= 0:
        tree.set("limit", exp.Limit(expression=number(most)))
    if skip:
        tree.set("offset", exp.Offset(expression=number(skip)))


def computed(
    c: Compiler, node: exp.Expr, scope: Scope
) -> tuple[exp.Expr | None, exp.Expr | None] | None:  # fmt: skip
    """Compile LIMIT and OFFSET to INTEGERs of the target; None if both are constant or missing."""
    parts = [node.args.get("limit"), node.args.get("offset")]
    # Common table expressions are visible in them, columns are not.
    tables = {name: found for one in reversed(list(scope.outward())) for name, found in one.tables.items()}
    found = [None if part is None else c.expression(part.expression, Scope(tables=tables)) for part in parts]
    if all(part is None or part.constant or isinstance(part.node, BoundValue) for part in found):
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
    """Return the SELECT limited by bounds from `computed`; a negative LIMIT has no effect."""
    if bounds is None:
        limit_rows(c, node, tree)
        return tree
    most, skip = bounds
    start = number(0) if skip is None else exp.Greatest(this=skip, expressions=[number(0)])
    if not c.lowers("computed-limits"):
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
    terms = [] if order is None else [without_names(term, items) for term in order.expressions]
    tree.set("order", None)
    if any(has(term, exp.Window) for term in terms):
        tree, terms = _below(c, tree, terms)
    alias, place = c.name("q"), c.name("place")
    tree.append("expressions", aliased(numbering("ROW_NUMBER", [], terms), place))

    conditions: list[exp.Expr] = [exp.GT(this=column_of(place, alias), expression=start)]
    if most is not None:
        # Row numbers are unsigned on MySQL, where a difference below zero is an error.
        behind = exp.Sub(this=Bigint(this=column_of(place, alias)), expression=start.copy())
        last = exp.LTE(this=behind, expression=most)
        conditions.append(some([exp.LT(this=most.copy(), expression=number(0)), last]))
    return exp.Select(
        expressions=[column_of(item.alias_or_name, alias) for item in items],
        from_=exp.From(this=subquery(tree, alias)),
        where=exp.Where(this=every(conditions)),
        order=exp.Order(expressions=[exp.Ordered(this=column_of(place, alias))]),
    )


def _below(c: Compiler, tree: exp.Select, terms: list[exp.Expr]) -> tuple[exp.Select, list[exp.Expr]]:
    """Wrap the SELECT, with the terms as columns: a window cannot be sorted by another one."""
    alias, names = c.name("q"), [item.alias_or_name for item in tree.expressions]
    below = []
    for term in terms:
        hidden, sorting = c.name("sort"), term.copy()
        tree.append("expressions", aliased(term.this.copy(), hidden))
        sorting.set("this", column_of(hidden, alias))
        below.append(sorting)
    return select([aliased(column_of(name, alias), name) for name in names], subquery(tree, alias)), below


def without_names(term: exp.Expr, items: list[exp.Expr]) -> exp.Expr:
    """Return an ORDER BY term for a window, where numbers and names of results have no meaning."""
    term = term.copy()
    inner = term.this
    if isinstance(inner, exp.Literal) and not inner.is_string:
        term.set("this", items[int(inner.name) - 1].unalias().copy())
    elif isinstance(inner, exp.Identifier):
        term.set("this", next(item for item in items if item.alias == inner.name).unalias().copy())
    return term


def row_counts(c: Compiler, node: exp.Expr) -> tuple[int, int]:
    """Return how many rows LIMIT keeps, below 0 for all, and how many OFFSET skips."""
    written, skipped = node.args.get("limit"), node.args.get("offset")
    most = _count(c, written.expression) if written is not None else -1
    return most, max(0, _count(c, skipped.expression)) if skipped is not None else 0


def first_row(c: Compiler, tree: exp.Expr) -> None:
    """Keep only the first row of `tree`."""
    c.applies("first-row")
    limit = tree.args.get("limit")
    if limit and isinstance(limit.expression, BoundValue) and c.lowers("computed-limits"):
        if not isinstance(tree, exp.Select) or tree.args.get("group") or aggregates(tree):
            raise Untranslatable("LIMIT", "a subquery of one row has a parameter there")
        # Below 0 it has no effect either.
        tree.where(exp.NEQ(this=limit.expression, expression=number(0)), copy=False)
        tree.set("limit", exp.Limit(expression=number(1)))
    elif limit is not None and not isinstance(limit.expression, exp.Literal):
        # NULL, which means no limit, has no effect there.
        limit.set("expression", exp.Least(this=limit.expression, expressions=[number(1)]))
    else:
        tree.set("limit", exp.Limit(expression=number(1)))


def cuts(c: Compiler, node: exp.Expr) -> bool:
    """True if LIMIT or OFFSET may drop rows."""
    parts = [node.args[key].expression for key in ("limit", "offset") if node.args.get(key) is not None]
    if any(has(part, exp.Query, exp.Column, exp.Placeholder) for part in parts):
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
        read = well_formed(count)
        count = count if read is None else read
    if not isinstance(count, int | float) or not math.isfinite(count) or count != int(count):
        raise Untranslatable("LIMIT", "it is not an integer", position(node))
    return int(count)


def sort_terms(
    c: Compiler, node: exp.Select, scope: Scope, results: list[Result], values: list[Typed],
    names: list[str | None], tree: exp.Select, *, derived: bool,
) -> list[exp.Expr]:  # fmt: skip
    """Return the target's ORDER BY terms; may change SELECT DISTINCT in `tree`."""
    written = node.args.get("order")
    if written is None:
        return []
    terms: list[exp.Expr] = []
    foreign = False
    shown = [ascii_lower(result) for result, _, _ in results]
    # The results of a subquery may be renamed, so only their numbers are stable.
    # Those of expressions without an alias are the target's: PostgreSQL names CASE by its last column.
    shown += [
        ascii_lower(part.name if isinstance(part, exp.Column | exp.Anonymous) else part.key)
        for found, name in zip(values, names, strict=True) if not (name or isinstance(found.node, exp.Column))
        for part in find_all(found.node, exp.Column, exp.Func)
    ]  # fmt: skip
    free = [None if derived or not name or shown.count(ascii_lower(name)) > 1 else name for name in names]
    for term in written.expressions:
        inner, collated = _apart(term.this)
        at = _position(inner, results)
        if at is not None:
            # A node of its own: the result's may be replaced by one with a name.
            found = values[at].of(node=values[at].node.copy(), constant=None)
            if collated is not None:
                found = found.with_text(collation=collated, collates=True)
            if found.kind is not Kind.ANY and (is_constant(found.node) or _is_outer(found.node, scope)):
                continue
            place = None
            if found.kind is not Kind.ANY and keyed(c, found) is found.node:
                place = _place(at, free, values)
            terms += ordered(c, found, term, place)
            continue
        found = c.expression(term.this, scope)
        if found.kind is not Kind.ANY and is_constant(found.node):
            continue
        at = next(
            (i for i, other in enumerate(values) if other.node == found.node and other.kind is not Kind.ANY),
            None,
        )
        if at is not None and keyed(c, found) is found.node:
            terms += ordered(c, found, term, _place(at, free, values))
            continue
        foreign = True
        terms += ordered(c, found, term)
    if tree.args.get("distinct") is not None and (foreign or _expressions(terms, values)):
        return _distinct_order(c, node, scope, tree, terms, values)
    return terms


def _is_outer(node: exp.Expr, scope: Scope) -> bool:
    """True for a column of a SELECT around this one: it is the same in all rows.

    In a subquery that is sorted by one, MySQL 9.7 does not find it if it is from a derived table.
    """
    if not isinstance(node, exp.Column) or scope.parent is None:
        return False
    return node.table not in {source.alias for source in scope.sources} and any(
        node.table == source.alias for outer in scope.parent.outward() for source in outer.sources
    )


CUT = "rows are cut off in an order that SQLite does not define"
LISTED = "rows that tie in ORDER BY are listed in an order that SQLite does not define"


def tie_terms(
    c: Compiler, node: exp.Expr, scope: Scope, groups: Groups | None, order: list[exp.Expr], why: str, *,
    distinct: bool, decided: bool,
) -> list[exp.Expr]:  # fmt: skip
    """Return terms that order rows tied at the LIMIT, or in a list; warn if they do not suffice.

    Args:
        c: the compiler.
        node: the SELECT as written.
        scope: its sources.
        groups: how it is grouped.
        order: the terms of its own ORDER BY.
        why: the warning.
        distinct: whether DISTINCT precedes the LIMIT, so that rows have no position.
        decided: see `is_decided`.
    """
    more = ScanOrder([], whole=False) if distinct else _ties(c, node, scope, groups)
    if not more.whole and not decided:
        c.warn(why)
    there = [term.this for term in order]
    return [term for term in more.terms if term.this not in there]


def is_decided(
    scope: Scope, groups: Groups | None, order: list[exp.Expr], values: list[Typed], names: list[str | None]
) -> bool:
    """True if rows tied in ORDER BY are identical in the result."""
    nodes = [_meant(term.this, values, names) for term in order]
    if all(found.node in nodes or is_constant(found.node) for found in values):
        return True
    known = determined(
        scope.sources, scope.holding, [name for node in nodes if (name := name_of(node))], alike=True
    )
    if groups is not None:
        return all(node in nodes or name_of(node) in known for node in groups.nodes)
    if all(is_fixed(source, known, alike=True) for source in scope.sources):
        return True
    own = {source.alias for source in scope.sources}
    return not any(has(found.node, exp.Window) for found in values) and all(
        (column.table, column.name) in known
        for found in values for column in find_all(found.node, exp.Column) if column.table in own
    )  # fmt: skip


def _meant(term: exp.Expr, values: list[Typed], names: list[str | None]) -> exp.Expr:
    """Return the result column that an ORDER BY term names or numbers, else the term itself."""
    if isinstance(term, exp.Literal) and term.name.isdigit():
        return values[int(term.name) - 1].node
    if isinstance(term, exp.Identifier) and term.name in names:
        return values[names.index(term.name)].node
    return term


def _ties(c: Compiler, node: exp.Expr, scope: Scope, groups: Groups | None) -> ScanOrder:
    """Return the order in which SQLite finds rows or groups.

    Groups are in the order of their keys, each in the direction of the ORDER BY term at its position if there
    are equally many: https://github.com/sqlite/sqlite/blob/version-3.40.1/src/select.c
    """
    if groups is None:
        return scan_order(c, node, scope, scope.holding)
    written = node.args["order"].expressions if node.args.get("order") else []
    alike = len(written) == len(groups.keys)
    result = ScanOrder([], whole=True)
    for at, (_, key) in enumerate(groups.keys):
        descending = alike and bool(written[at].args.get("desc"))
        if key.kind is Kind.ANY:
            result.whole = False
        else:
            result.terms += ordered(c, key, exp.Ordered(desc=descending))
    return result


def _expressions(terms: list[exp.Expr], values: list[Typed]) -> bool:
    """True if a term is neither a position nor exactly a result."""
    nodes = [found.node for found in values]
    return any(not _is_place(term.this) and term.this not in nodes for term in terms)


def _is_place(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal | exp.Identifier)


def _place(at: int, free: list[str | None], values: list[Typed]) -> exp.Expr | None:
    """Return the term for a result column that is an expression: its name if unique, else its number."""
    if isinstance(values[at].node, exp.Column):
        return None
    name = free[at]
    return number(at + 1) if name is None else identifier(name)


def _apart(term: exp.Expr) -> tuple[exp.Expr, Collation | None]:
    """Return a term without its outer COLLATE, and the collation; +x is not a name, but +1 is a number."""
    collated: Collation | None = None
    while isinstance(term, exp.Paren | exp.Collate):
        if isinstance(term, Plus) and not isinstance(term.this.unnest(), exp.Literal):
            break
        if isinstance(term, exp.Collate) and collated is None:
            collated = Collation.__members__.get(term.expression.name.upper())
        term = term.this
    return term, collated


def _position(term: exp.Expr, results: list[Result]) -> int | None:
    """Return the result column that an ORDER BY term means by number or alias; None if neither."""
    if isinstance(term, exp.Literal) and not term.is_string and term.name.isdigit():
        at = int(term.name)
        if not 1 <= at <= len(results):
            raise Untranslatable(f"ORDER BY {at}", f"there are {len(results)} result columns")
        return at - 1
    if isinstance(term, exp.Column) and not term.table:
        lower = ascii_lower(term.name)
        for at, (name, written, explicit) in enumerate(results):
            # A column of * has a name that works like an alias.
            if (explicit or isinstance(written, Starred)) and ascii_lower(name) == lower:
                return at
    return None


FOREIGN = (
    "SELECT DISTINCT is sorted by a term that is not in the result: SQLite does not define which of several"
    " values counts"
)


def _distinct_order(
    c: Compiler,
    node: exp.Select,
    scope: Scope,
    tree: exp.Select,
    terms: list[exp.Expr],
    values: list[Typed],
) -> list[exp.Expr]:
    c.applies("distinct-order")
    fixed = [name for found in values if (name := name_of(found.node))]
    where = tree.args.get("where")
    reach = determined(scope.sources, conjuncts(where.this) if where else [], fixed)
    nodes = [found.node for found in values]
    own = {source.alias for source in scope.sources}
    free = [
        column for term in terms for column in find_all(term, exp.Column)
        if column.table in own and (column.table, column.name) not in reach and term.this not in nodes
    ]  # fmt: skip
    if free:
        c.warn(FOREIGN)
    if not c.lowers("distinct-order"):
        return terms
    if tree.args.get("group") is not None or any(has(found.node, exp.AggFunc) for found in values):
        raise Untranslatable(
            "SELECT DISTINCT", "it is grouped, and sorted by a term that is not in the result"
        )
    if any(has(part, exp.Window) for part in (*(found.node for found in values), *terms)):
        raise Untranslatable(
            "SELECT DISTINCT", "it has window functions, and is sorted by a term that is not in the result"
        )
    tree.set("distinct", None)
    keys = [found.node.copy() for found in values if not is_constant(found.node)]
    if not keys:
        raise Untranslatable("SELECT DISTINCT", "it returns a constant, and is sorted by something else")
    tree.set("group", exp.Group(expressions=keys))
    result = []
    for term in terms:
        if not _is_place(term.this) and not any(column.table in own for column in find_all(term, exp.Column)):
            continue  # the same in every row
        changed = term.copy()
        if not _is_place(term.this) and term.this not in nodes:
            first = scan_order(c, node, scope, scope.holding).terms if free else []
            inner = term.this.copy()
            changed.set("this", FirstOf(this=inner, expressions=first) if first else exp.Min(this=inner))
        result.append(changed)
    return result
