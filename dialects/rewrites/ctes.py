"""WITH, ordinary and recursive. https://sqlite.org/lang_with.html."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing

from sqlglot import exp

from dialects.coercions import within
from dialects.compiler import Compiler
from dialects.errors import Untranslatable
from dialects.identifiers import ascii_lower, quoted
from dialects.nodes import (
    Bigint,
    Double,
    Exact,
    Wide,
    aliased,
    column_of,
    identifier,
    number,
    select,
    source_alias,
    subquery,
)
from dialects.rewrites import compound
from dialects.rewrites.order_by import row_counts, set_limit
from dialects.scope import CommonTable, Relation, Scope, ScopeColumn, keep_whole
from dialects.tables import folded, is_portable
from dialects.trees import find_all, first_select, has
from dialects.value_types import Collation, Kind, Typed

_STEPS = 2**62
"""Most steps assumed of a recursion; larger products are computed exactly."""


def compile_ctes(c: Compiler, written: exp.Expr, scope: Scope) -> exp.With:
    """Compile the common table expressions of one WITH; adds their names to `scope`."""
    clauses: list[exp.CTE] = []
    recursive = False
    if c.lowers("eager-recursion"):
        _cut_short(written)
    for cte in _in_order(written):
        target = _target(c, cte.alias)
        names = [column.name for column in cte.args["alias"].args.get("columns") or []]
        if _refers(cte.this, cte.alias):
            recursive = True
            relation = _recursive(c, cte, names, scope, target, clauses)
        else:
            relation = _plain(c, cte, names, scope)
            scope.tables[ascii_lower(cte.alias)] = CommonTable(
                target,
                tuple(relation.columns),
                relation.keys,
                relation.distinct,
                relation.grouped,
                relation.node,
            )
        clauses.append(exp.CTE(this=_looked_up(c, relation.node), alias=source_alias(target)))
    return exp.With(expressions=clauses, recursive=recursive)


def _looked_up(c: Compiler, node: exp.Expr) -> exp.Expr:
    """Return a query that can be read several times; its rows are distinct already."""
    if not c.lowers("reread-set-operations") or not isinstance(node, exp.Except | exp.Intersect):
        return node
    source = exp.From(this=subquery(node, c.name("q")))
    return exp.Select(expressions=[exp.Star()], from_=source, distinct=exp.Distinct())


def levels(node: exp.Expr, ctes: Mapping[str, int]) -> int:
    """Return the depth of nested SELECTs in a compiled tree; `ctes` has the depths of visible ones."""
    if isinstance(node, exp.Table):
        return max(ctes.get(node.name, 0), *(levels(part, ctes) for part in node.iter_expressions()), 0)
    within = node.args.get("with_")
    known = dict(ctes)
    for cte in () if within is None else within.expressions:
        known[cte.alias] = 0
        known[cte.alias] = levels(cte.this, known)
    inner = [levels(part, known) for part in node.iter_expressions() if part is not within]
    return max(inner, default=0) + isinstance(node, exp.Select)


def recursions(node: exp.Expr, ctes: Mapping[str, int]) -> int:
    """Return how often a compiled tree reads recursive queries, also through other common table expressions.

    `ctes` has the numbers of visible ones.
    """
    if isinstance(node, exp.Table):
        return ctes.get(node.name, 0)
    within = node.args.get("with_")
    known = dict(ctes)
    for cte in () if within is None else within.expressions:
        known[cte.alias] = 1 if _refers(cte.this, cte.alias) else recursions(cte.this, known)
    return sum(recursions(part, known) for part in node.iter_expressions() if part is not within)


def _target(c: Compiler, name: str) -> str:
    """Return a name that no other common table expression and no table has.

    When MySQL 9.7 merges a body, it resolves the names in it again, in the outer query.
    """
    taken = folded(name) in c.cte_names or c.tables.find(name) is not None
    target = c.name(name) if taken or not is_portable(name) else name
    c.cte_names.add(folded(target))
    return target


def _in_order(written: exp.Expr) -> list[exp.Expr]:
    """Sort the expressions of a WITH, each after those it uses: in SQLite, all see each other.

    What the statement does not use is left out: SQLite does not even resolve the names in it.
    """
    result: list[exp.Expr] = []
    begun: set[str] = set()
    used = (
        {name for part in written.parent.iter_expressions() if part is not written for name in _tables(part)}
        if written.parent
        else set()
    )

    def add(cte: exp.Expr) -> None:
        begun.add(ascii_lower(cte.alias))
        named = _tables(cte.this)
        for other in written.expressions:
            if ascii_lower(other.alias) in named - begun:
                add(other)
        result.append(cte)

    for cte in written.expressions:
        if ascii_lower(cte.alias) in used - begun:
            add(cte)
    return result


def _refers(node: exp.Expr, name: str) -> bool:
    """True if a node reads a table of that name that no inner WITH hides."""
    return ascii_lower(name) in _tables(node)


def _tables(node: exp.Expr) -> set[str]:
    """Return the names of tables (lower case), except those of an inner WITH or with a schema."""
    found = {name for part in node.iter_expressions() for name in _tables(part)}
    if isinstance(node, exp.Table) and not node.args.get("db"):
        found.add(ascii_lower(node.name))
    if isinstance(node, exp.In) and node.args.get("field") is not None:
        found.add(ascii_lower(node.args["field"].name))
    inside = node.args.get("with_")
    return found - {ascii_lower(cte.alias) for cte in inside.expressions} if inside is not None else found


def _plain(c: Compiler, cte: exp.Expr, names: list[str], scope: Scope) -> Relation:
    relation = c.query(cte.this, scope, derived=True)
    keep(c, relation)
    return renamed(relation, names)


def keep(c: Compiler, relation: Relation) -> None:
    """Keep a subquery in FROM from being merged where that would change its meaning on the target."""
    if c.lowers("outer-constants") and c.joins_outward:
        keep_whole(relation)


def renamed(relation: Relation, names: list[str]) -> Relation:
    """Give the result columns the names written after the table's name."""
    if not names:
        return relation
    if len(names) != len(relation.columns):
        raise Untranslatable("WITH", f"{len(names)} names are given to {len(relation.columns)} columns")
    items = first_select(relation.node).expressions
    targets = [name or f"_c{at + 1}" for at, name in enumerate(names)]
    for item, name in zip(list(items), targets, strict=True):
        item.replace(aliased(item.unalias().copy(), name))
    now = {column.target: name for name, column in zip(targets, relation.columns, strict=True)}
    relation.distinct = tuple(frozenset(now[name] for name in key) for key in relation.distinct)
    relation.grouped = tuple(now[name] for name in relation.grouped)
    relation.columns = [
        ScopeColumn(name, column.value.of(node=column_of(target)))
        for name, target, column in zip(names, targets, relation.columns, strict=True)
    ]
    relation.keys = ()
    relation.order = []
    return relation


def _recursive(
    c: Compiler, cte: exp.Expr, names: list[str], scope: Scope, given: str, clauses: list[exp.CTE]
) -> Relation:  # fmt: skip
    """Compile one that refers to itself, under the name `given`; adds what must precede it to `clauses`."""
    c.applies("recursive-query")
    c.hint("recursion-limit")
    body = cte.this
    while isinstance(body, exp.Subquery):
        body = body.this
    if not isinstance(body, exp.SetOperation):
        raise Untranslatable("a recursive query", "it has no first rows")
    most, skip = row_counts(c, body)
    if body.args.get("order"):
        if most >= 0 or skip:
            raise Untranslatable("a recursive query", "it has ORDER BY and LIMIT inside")
        c.warn(UNSORTED)
    inside_alone = c.lowers("eager-recursion") and not c.lowers("counted-recursion")
    target = c.name(cte.alias) if skip or (most >= 0 and not inside_alone) else given
    parts, operators = compound.flatten(body)
    starts = [part for part in parts if not _refers(part, cte.alias)]
    steps = [_undistinct(part, operators[-1]) for part in parts[len(starts) :]]
    if not starts or len(steps) != 1 or not isinstance(operators[-1], exp.Union):
        raise Untranslatable("a recursive query", "it is not first rows, UNION [ALL], and one step")
    first: list[Kind] | None = None
    turning = _turning(c, cte, names)
    for _ in range(3):
        anchors = [renamed(c.query(part, scope, derived=True), names) for part in starts]
        columns = [compound.unify(c, anchors, at) for at in range(len(anchors[0].columns))]
        kinds = first or [column.value.kind for column in columns]
        shown = tuple(
            ScopeColumn(column.name, _unbounded(column.value, kind))
            for column, kind in zip(columns, kinds, strict=True)
        )
        inside = tuple(
            ScopeColumn(
                column.name,
                column.value.with_number(fits=column.value.kind is Kind.INTEGER and at not in turning),
            )
            for at, column in enumerate(shown)
        )
        scope.tables[ascii_lower(cte.alias)] = CommonTable(target, inside, recursing=True)
        step = c.query(steps[0], scope, derived=True)
        scope.tables[ascii_lower(cte.alias)] = CommonTable(given, shown)
        if len(step.columns) != len(shown):
            raise Untranslatable("a recursive query", "its parts have different numbers of columns")
        if any(column.value.stored.mixed for column in step.columns):
            raise Untranslatable("a recursive query", "a column has numbers and texts")
        both = [_common(one, column.value.kind) for one, column in zip(kinds, step.columns, strict=True)]
        if both == kinds:
            texts = set(compound.collations_of([*anchors, step]))
            if not texts <= {None, Collation.BINARY} and any(part.args.get("distinct") for part in operators):
                raise Untranslatable("a recursive query", "it compares texts by a collation")
            shown = tuple(
                _narrowed(column, [*(one.columns[at] for one in anchors), step.columns[at]])
                for at, column in enumerate(shown)
            )
            scope.tables[ascii_lower(cte.alias)] = CommonTable(given, shown)
            found = _combined(c, anchors, operators, step, kinds, shown)
            if most >= 0 or skip:
                chained = len(anchors) == 1 and anchors[0].one_row and _is_chain(steps[0])
                if not chained:
                    c.warn(CUT)
                return _limited(c, found, (most, skip), target, clauses, chained=chained)
            return found
        first = both
    raise Untranslatable("a recursive query", "its columns have no common types")


_MOST_STEPS = 20_000
"""Hundreds of instructions of SQLite's virtual machine."""


def _turning(c: Compiler, cte: exp.Expr, names: list[str]) -> set[int]:
    """Return the columns, from 0, in which integers beyond 64 bits become REALs.

    SQLite itself computes a recursion that reads no table. Any other is taken to stay within 64 bits: servers
    raise an error if it does not.
    """
    if _tables(cte.this) != {ascii_lower(cte.alias)} or not names:
        return set()
    columns = [f"max(typeof({quoted(name)}) = 'real' AND abs({quoted(name)}) >= 9e18)" for name in names]
    try:
        written = cte.sql(dialect="sqlite", comments=False)
    except ValueError:
        return set()
    left = [_MOST_STEPS]

    def is_over() -> int:
        left[0] -= 1
        return left[0] < 0

    # A connection of its own: other threads would wait for one that calls back into Python.
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.set_progress_handler(is_over, 100)
        try:
            found = connection.execute(
                f"WITH RECURSIVE {written} SELECT {', '.join(columns)} FROM {quoted(cte.alias)}"  # noqa: S608 - quoted
            ).fetchone()
        except (sqlite3.Error, sqlite3.Warning):
            return set()
    turning = {at for at, real in enumerate(found) if real}
    if turning:
        c.warn(ROUNDED)
    return turning


ROUNDED = "a recursive query passes 2^63: its integers beyond 2^53 are rounded"
UNSORTED = "a recursive query is sorted, and the order in which it gives its rows is not kept"
CUT = "a recursive query ends after some rows, and SQLite does not define in which order it finds them"


def _is_chain(step: exp.Expr) -> bool:
    """True if each row produces at most one more."""
    return len(list(find_all(step, exp.Table, exp.Subquery))) == 1


def _limited(
    c: Compiler, found: Relation, counts: tuple[int, int], target: str, clauses: list[exp.CTE],
    *, chained: bool,
) -> Relation:  # fmt: skip
    """Compile a recursion that ends after some rows; `chained`, if each row produces at most one."""
    most, skip = counts
    c.applies("recursion-limit")
    counter = None
    if most >= 0 and c.lowers("counted-recursion"):
        if not _is_countable(found.node, most + skip, chained=chained):
            reason = f"{c.target.title} has none, and a row may produce several"
            raise Untranslatable("LIMIT of a recursive query", reason)
        counter = _counted(c, found.node, most + skip)
    elif most >= 0 and c.lowers("recursion-to-its-end"):
        if _is_countable(found.node, most + skip, chained=chained):
            counter = _counted(c, found.node, most + skip)
    elif most >= 0 and c.lowers("eager-recursion"):
        found.node.set("limit", exp.Limit(expression=number(most + skip)))
        if not skip:
            return found
    clauses.append(exp.CTE(this=found.node, alias=source_alias(target)))
    tree = select([column.value.node.copy() for column in found.columns], exp.Table(this=identifier(target)))
    if counter is not None and found.node.args.get("distinct"):
        tree.set("group", exp.Group(expressions=[column.copy() for column in tree.expressions]))
        counter = exp.Min(this=counter)
    if counter is not None and most and not c.lowers("counted-recursion"):
        if skip:
            later = exp.GT(this=counter, expression=number(skip))
            clause = exp.Having(this=later) if tree.args.get("group") else exp.Where(this=later)
            tree.set(clause.key, clause)
        return Relation(tree, found.columns)
    if counter is not None:
        tree.set("order", exp.Order(expressions=[exp.Ordered(this=counter)]))
    set_limit(c, tree, most, skip)
    return Relation(tree, found.columns)


def _is_countable(node: exp.Query, most: int, *, chained: bool) -> bool:
    """True if a column can number the rows of a recursion that ends after `most`."""
    step = node.args.get("expression")
    source = step.args["from_"].this if isinstance(step, exp.Select) else None
    numbered = chained and isinstance(node.this, exp.Select) and most < 2**31 - 1
    return numbered and isinstance(source, exp.Table)


def _counted(c: Compiler, node: exp.Query, most: int) -> exp.Expr:
    """End a recursion after some rows by a column that numbers them; return that column."""
    first, step = node.this, node.args["expression"]
    source = step.args["from_"].this
    name = identifier(c.name("n"))
    before = exp.column(name.copy(), table=identifier(source.alias_or_name))
    first.append("expressions", exp.Alias(this=Bigint(this=number(1)), alias=name.copy()))
    step.append("expressions", exp.Add(this=before, expression=number(1)))
    step.where(exp.LT(this=before.copy(), expression=number(most)), copy=False)
    return exp.column(name)


def _cut_short(written: exp.Expr) -> None:
    """Move the LIMIT of a SELECT into the recursion if it only reads that, row by row."""
    statement = written.parent
    assert statement is not None  # noqa: S101 - the statement after WITH
    for cte in written.expressions:
        body = cte.this
        if not isinstance(body, exp.SetOperation) or not _refers(body, cte.alias):
            continue
        within = {id(table) for table in find_all(body, exp.Table)}
        readers = [
            table for table in find_all(statement, exp.Table)
            if id(table) not in within and ascii_lower(table.name) == ascii_lower(cte.alias)
        ]  # fmt: skip
        counts = _literal_counts(readers[0].parent_select) if len(readers) == 1 else None
        if counts is not None and not any(body.args.get(key) for key in ("order", "limit", "offset")):
            body.set("limit", exp.Limit(expression=exp.Literal.number(counts)))


def _literal_counts(select: exp.Expr | None) -> int | None:
    """Return how many rows a SELECT reads before LIMIT, if it returns each row of a table unchanged."""
    if not isinstance(select, exp.Select) or not isinstance(select.args["from_"].this, exp.Table):
        return None
    if any(select.args.get(key) for key in ("joins", "where", "group", "having", "order", "distinct")):
        return None
    if has(select, exp.Window, exp.Anonymous, exp.Subquery) or select.args.get("limit") is None:
        return None
    counts = [select.args[key].expression for key in ("limit", "offset") if select.args.get(key) is not None]
    if not all(isinstance(found, exp.Literal) and found.name.isdigit() for found in counts):
        return None
    return sum(int(found.name) for found in counts)


def _undistinct(step: exp.Expr, operator: exp.Expr) -> exp.Expr:
    """Return the step without DISTINCT if that has no effect: SQLite computes one row after the other."""
    if not isinstance(step, exp.Select) or step.args.get("distinct") is None:
        return step
    if not operator.args.get("distinct") and not _is_chain(step):
        raise Untranslatable("a recursive query", "its step is SELECT DISTINCT")
    step = step.copy()
    step.set("distinct", None)
    return step


def _unbounded(found: Typed, kind: Kind) -> Typed:
    bound = _STEPS if kind is Kind.INTEGER else None
    found = found.of(kind=kind, nullable=True).with_text(form=None)
    return found.with_number(low=None if bound is None else -bound, high=bound, condition=False)


def _narrowed(column: ScopeColumn, parts: list[ScopeColumn]) -> ScopeColumn:
    """Return an INTEGER column of a recursion with the bounds of its parts, like those of a remainder."""
    ends = [part.value.number.ends for part in parts]
    if column.value.kind is not Kind.INTEGER or not all(ends):
        return column
    low, high = min(map(min, ends)), max(map(max, ends))
    return ScopeColumn(column.name, column.value.with_number(low=max(low, -_STEPS), high=min(high, _STEPS)))


def _common(one: Kind, other: Kind) -> Kind:
    if one is other or other is Kind.NULL:
        return one
    if one is Kind.NULL:
        return other
    if one.is_numeric and other.is_numeric:
        return Kind.NUMBER
    raise Untranslatable("a recursive query", "a column has numbers and texts")


def _combined(
    c: Compiler, anchors: list[Relation], operators: list[exp.SetOperation], step: Relation,
    kinds: list[Kind], shown: tuple[ScopeColumn, ...],
) -> Relation:  # fmt: skip
    for relation in (*anchors, step):
        for at, kind in enumerate(kinds):
            wide = relation is not step and c.lowers("narrow-casts") and not _stays_small(step, at)
            _fix(relation.node, at, kind, wide=wide)
    tree: exp.Query = anchors[0].node
    for operator, relation in zip(operators, (*anchors[1:], step), strict=True):
        distinct = bool(operator.args.get("distinct"))
        if c.lowers("several-anchors") and isinstance(tree, exp.SetOperation) and len(anchors) > 1:
            raise Untranslatable("a recursive query", "it has several first parts")
        tree = type(operator)(this=tree, expression=relation.node, distinct=distinct)
    return Relation(tree, list(shown))


def _stays_small(step: Relation, at: int) -> bool:
    """True if a column is within 31 bits, or is one of the recursion's plus or minus a constant."""
    if within(step.columns[at].value, 2**31 - 1):
        return True
    item = step.node.selects[at].unalias()
    return isinstance(item, exp.Add | exp.Sub) and isinstance(item.expression.unnest(), exp.Literal)


def _fix(node: exp.Expr, at: int, kind: Kind, *, wide: bool) -> None:
    assert isinstance(node, exp.Query)  # noqa: S101 - a part of a compound
    item = node.selects[at]
    inner = item.unalias()
    fixed: exp.Expr
    match kind:
        case Kind.INTEGER:
            fixed = Bigint(this=Exact(this=inner.copy()) if wide else inner.copy())
        case Kind.REAL | Kind.NUMBER:
            fixed = Double(this=inner.copy())
        case Kind.TEXT | Kind.NULL:
            fixed = Wide(this=inner.copy())
        case _:
            raise Untranslatable("a recursive query", "a column of blobs")
    inner.replace(fixed)
