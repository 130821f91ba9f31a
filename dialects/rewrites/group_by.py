"""Compile GROUP BY, and columns that are not in it with the row that they come from.

A column has one value if keys and equalities fix it (functional dependency); if nothing else decides, SQLite
takes the row that it finds first. https://sqlite.org/lang_select.html#bareagg
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from sqlglot import exp

from dialects.clauses import from_items, sources_of
from dialects.compiler import Compiler
from dialects.identifiers import ascii_lower
from dialects.nodes import (
    AGGREGATES,
    AnyOf,
    BoundValue,
    FirstOf,
    Listed,
    Whichever,
    aliased,
    column_of,
    grouped,
    is_constant,
    number,
    subquery,
)
from dialects.rewrites.comparison import keyed, may_be_null, ordered
from dialects.scope import Grouping, Scope, ScopeColumn, Source
from dialects.tables import Loop, Loops
from dialects.trees import find_all, has
from dialects.value_types import Kind, Typed

Name = tuple[str, str]
"""The names of a source and of one of its columns on the target."""


def name_of(node: exp.Expr) -> Name | None:
    """Return the names of a column; None for other expressions."""
    while isinstance(node, exp.Paren):
        node = node.this
    return (node.table, node.name) if isinstance(node, exp.Column) else None


def determined(
    sources: Iterable[Source], conditions: Iterable[exp.Expr], fixed: Iterable[Name], *, alike: bool = False
) -> set[Name]:
    """Return all columns with one value, given `fixed` ones; `conditions` hold for every row.

    `alike` if NULL counts as a value, so that `Source.distinct` columns are keys, too.
    """
    sources, known = list(sources), set(fixed)
    own = {source.alias for source in sources}
    equalities = [pair for node in conditions if (pair := _equality(node, own))]
    before = -1
    while before != len(known):
        before = len(known)
        for left, right in equalities:
            if right is None or right in known:
                known.add(left)
            elif left in known:
                known.add(right)
        for source in sources:
            if is_fixed(source, known, alike=alike):
                known |= {(source.alias, column.target) for column in source.columns}
    return known


def is_fixed(source: Source, known: set[Name], *, alike: bool = False) -> bool:
    """True if the known columns leave at most one row of a source; see `determined`."""
    keys = (*source.keys, *source.distinct) if alike else source.keys
    return any({(source.alias, column) for column in key} <= known for key in keys)


def _equality(node: exp.Expr, own: set[str]) -> tuple[Name, Name | None] | None:
    """Return a column and the column it equals, or None instead if it equals an outer value."""
    while isinstance(node, exp.Paren):
        node = node.this
    if not isinstance(node, exp.EQ):
        return None
    left, right = name_of(node.this), name_of(node.expression)
    if left and left[0] in own:
        if right and right[0] in own:
            return left, right
        return (left, None) if _outer(node.expression, own) else None
    if right and right[0] in own:
        return (right, None) if _outer(node.this, own) else None
    return None


def reached(node: exp.Expr, within: frozenset[str] = frozenset()) -> set[str]:
    """Return the sources whose columns an expression uses, except sources of inner SELECTs (`within`)."""
    if isinstance(node, exp.Column):
        return {node.table} - within - {""}
    if isinstance(node, exp.Select):
        within |= {item.node.alias_or_name for item in from_items(node)}
    return {name for part in node.iter_expressions() for name in reached(part, within)}


def _outer(node: exp.Expr, own: set[str]) -> bool:
    """True if the expression has the same value for every row."""
    return not any(column.table in own for column in find_all(node, exp.Column))


@dataclass
class ScanOrder:
    """The order in which SQLite finds rows, as ORDER BY terms."""

    terms: list[exp.Expr]
    whole: bool
    """True if the terms order any two rows."""


def scan_order(c: Compiler, node: exp.Expr, scope: Scope, holding: list[exp.Expr]) -> ScanOrder:
    """Return ORDER BY terms for the order in which SQLite finds rows, as far as the target can express it.

    Args:
        c: the compiler.
        node: the SELECT as written.
        scope: its sources.
        holding: conditions that hold for every row.
    """
    visits = None
    if not c.index_names:
        visits = c.plan.top if node is c.root else c.plan.inner([source.name for source in scope.sources])
    loops = _loops(scope, visits)
    terms: list[exp.Expr] = []
    whole = len(loops) == len(scope.sources) and (
        visits is not None or not (c.index_names or any(map(_is_indexed, scope.sources)))
    )
    passed: list[tuple[str, str]] = []
    for at, (source, visit) in enumerate(loops):
        known = determined(scope.sources, holding, passed)
        mine = {(source.alias, column.target) for column in source.columns}
        if not mine <= known:
            own = _terms(c, source, visit)
            if own is None and not is_fixed(source, known, alike=True):
                whole = False
                break
            own = own or []
            if at == 0 and visits is not None and _backwards(node, source, visit, visits):
                own = [_reversed(c, term) for term in own]
            terms += own
        passed += mine
    if terms:
        c.applies("found-first")
    return ScanOrder(terms, whole)


def _reversed(c: Compiler, term: exp.Expr) -> exp.Expr:
    first = False if c.target.has_null_order and term.args.get("nulls_first") is not None else None
    turned = exp.Ordered(this=term.this, desc=True, nulls_first=first)
    return may_be_null(turned) if term.meta.get("nullable") else turned


def _is_indexed(source: Source) -> bool:
    """True if SQLite could scan a table in an order other than that of its rows."""
    table = source.table
    if table is None:
        return False
    return bool(table.indexes or table.unique or (table.primary_key and source.rowid is None))


def _backwards(node: exp.Expr, source: Source, visit: Loop, visits: Loops) -> bool:
    """True if the outermost loop scans its table or index backwards."""
    order = node.args.get("order")
    if order is None or visits.sorted:
        return False
    term = order.expressions[0]
    leading = visit.columns[0] if visit.columns else source.rowid
    return (
        bool(term.args.get("desc"))
        and leading is not None
        and ascii_lower(term.this.name) == ascii_lower(leading)
    )


def _loops(scope: Scope, visits: Loops | None) -> list[tuple[Source, Loop]]:
    if visits is None:
        return [(source, Loop(source.name)) for source in scope.sources] if len(scope.sources) == 1 else []
    by_name = {ascii_lower(source.name): source for source in scope.sources}
    found = [(by_name[visit.name], visit) for visit in visits.loops if visit.name in by_name]
    return found if len(found) == len(scope.sources) else []


def _terms(c: Compiler, source: Source, visit: Loop) -> list[exp.Expr] | None:
    """Return the key of one loop: the index that it uses, and the row's position in the table."""
    if source.table is None:
        return _group_terms(c, source)
    terms = [_term(c, source, column) for name in visit.columns if (column := source.column(name))]
    if place := source.place or c.target.row_number:
        return [*terms, exp.Ordered(this=column_of(place, source.alias))]
    # A WITHOUT ROWID table is in the order of its key.
    last = source.table.primary_key if source.rowid is None else (source.rowid,)
    keys = [column for name in last if (column := source.column(name))]
    return [*terms, *(exp.Ordered(this=source.value(column).node) for column in keys)] or None


def _group_terms(c: Compiler, source: Source) -> list[exp.Expr] | None:
    """Return the keys of a grouped subquery, which returns its groups in their order."""
    spelled = {column.target: column for column in source.columns}
    return [_term(c, source, spelled[name]) for name in source.grouped] or None


def _term(c: Compiler, source: Source, column: ScopeColumn) -> exp.Ordered:
    """Return a column in ascending order, NULL first."""
    found = source.value(column)
    if c.target.has_null_order or not found.nullable:
        return exp.Ordered(this=keyed(c, found), nulls_first=found.nullable or None)
    return may_be_null(exp.Ordered(this=keyed(c, found)))


ANY_ROW = "a column is neither grouped nor aggregated: SQLite takes it from any row of the group"
ANY_EQUAL = "of texts that are equal by a collation, SQLite's result is any"
ANY_EXTREME = (
    "columns come from the row with the least or greatest value: SQLite takes any row where several have it"
)


_ALWAYS = exp.GTE(this=exp.Count(this=exp.Star()), expression=number(0))
"""A HAVING that keeps a SELECT grouped after its aggregates became constants."""


def aggregates(tree: exp.Select) -> bool:
    """True if the result still has an aggregate outside subqueries and window functions."""
    stack: list[exp.Expr] = list(tree.expressions)
    while stack:
        part = stack.pop()
        if isinstance(part, AGGREGATES):
            return True
        if isinstance(part, exp.Window):
            stack += part.this.iter_expressions()
        elif not isinstance(part, exp.Query):
            stack += part.iter_expressions()
    return False


@dataclass
class Groups:
    """How a SELECT is grouped."""

    keys: list[tuple[exp.Expr, Typed]]
    grouping: Grouping
    nodes: list[exp.Expr]
    """The keys on the target."""
    empty: bool
    """True if GROUP BY has only constants."""
    first: list[exp.Expr] = field(default_factory=list)
    """ORDER BY terms that put the row of the bare columns first."""
    picks_blobs: bool = False
    """True if a bare column that these terms decide has blobs."""

    def finish(self, c: Compiler, tree: exp.Select, having: exp.Expr | None) -> exp.Expr | None:
        """Add GROUP BY to the SELECT, and return its HAVING."""
        if having is not None and c.lowers("having-keys"):
            having = self._aggregated(having)
        if self.nodes:
            tree.set("group", exp.Group(expressions=[node.copy() for node in self.nodes]))
        if not self.empty:
            return having if self.nodes or having is not None or aggregates(tree) else _ALWAYS.copy()
        there = exp.GT(this=exp.Count(this=exp.Star()), expression=number(0))
        return there if having is None else exp.And(this=there, expression=grouped(having))

    def _aggregated(self, node: exp.Expr) -> exp.Expr:
        """Return HAVING for MySQL, with each key as its minimum: MySQL only sees keys that are results."""
        # A key that is an aggregate belongs to an outer SELECT.
        if node in self.nodes and not isinstance(node, AnyOf | FirstOf):
            return exp.Min(this=node.copy())
        if isinstance(node, Whichever):
            return exp.Min(this=node.this)
        if isinstance(node, exp.Query):
            for bare in list(find_all(node, Whichever)):
                select = bare.parent_select
                own = {each.node.alias_or_name for each in sources_of(select)} if select else set()
                if not reached(bare) & own:
                    bare.replace(exp.Min(this=bare.this))
            return node
        if isinstance(node, exp.AggFunc | AnyOf | FirstOf | Listed):
            return node
        for name, part in list(node.args.items()):
            if isinstance(part, exp.Expr):
                node.set(name, self._aggregated(part))
            elif isinstance(part, list):
                node.set(
                    name, [self._aggregated(item) if isinstance(item, exp.Expr) else item for item in part]
                )
        return node


def bind_once(c: Compiler, tree: exp.Select) -> None:
    """Let the parameters of a key stand once: drivers that bind by place bind one value to two of them.

    A target takes these for different, and the expression of a result for none of the keys.
    """
    clause = tree.args.get("group")
    if clause is None or not c.parameters.names:
        return
    for at, key in enumerate(clause.expressions):
        if not has(key, BoundValue):
            continue
        results = [item.unalias() for item in tree.expressions]
        others = [*results, *(part for name in ("having", "order") if (part := tree.args.get(name)))]
        used = sum(node == key for part in others for node in find_all(part, type(key)))
        if used == 1 and key in results:
            key.replace(number(1 + results.index(key)))
        elif used and not c.lowers("having-keys"):
            _bind_apart(c, tree, at)


def _bind_apart(c: Compiler, tree: exp.Select, at: int) -> None:
    """Read the parameters of a key from a row in FROM, wherever the key occurs."""
    key = tree.args["group"].expressions[at].copy()
    for name in ("expressions", "having", "order"):
        if (part := tree.args.get(name)) is not None:
            tree.set(name, [each.copy() for each in part] if isinstance(part, list) else part.copy())
    alias, values, names = c.name("bound"), [], {}
    for value in find_all(key, BoundValue):
        if value.this not in names:
            names[value.this] = c.name("value")
            values.append(aliased(value.copy(), names[value.this]))
    for place in [node for node in find_all(tree, type(key)) if node == key]:
        for value in list(find_all(place, BoundValue)):
            value.replace(column_of(names[value.this], alias))
    source = subquery(exp.Select(expressions=values), alias)
    if tree.args.get("from_") is None:
        tree.set("from_", exp.From(this=source))
    else:
        tree.append("joins", exp.Join(this=source, kind="CROSS"))


def group(
    c: Compiler, node: exp.Expr, scope: Scope, keys: list[tuple[exp.Expr, Typed]], holding: list[exp.Expr],
    extremes: list[exp.Anonymous], *, empty: bool,
) -> Groups:  # fmt: skip
    """Return the grouping of a SELECT, with the values of its bare columns.

    Args:
        c: the compiler.
        node: the SELECT as written.
        scope: its scope.
        keys: the GROUP BY terms as written and compiled.
        holding: conditions that hold for every row.
        extremes: the calls of min() and max() in the SELECT.
        empty: whether all terms of GROUP BY are constant.
    """
    if empty:
        c.applies("constant-group")
    nodes = [_node(c, key) for _, key in keys]
    fixed = [name for _, key in keys if (name := name_of(key.node)) and key.collation_is_binary]
    known = determined(scope.sources, holding, fixed)

    def bare(source: Source, column: ScopeColumn) -> Typed:
        found = source.value(column)
        name: Name | None = name_of(found.node)
        if name in known:
            c.applies("bare-column")
            # PostgreSQL has no min() of blobs.
            only = Whichever if found.kind is Kind.BLOB else AnyOf
            return found.of(node=only(this=found.node), nullable=True)
        if extremes:
            # Of several extremes the last one decides: https://github.com/sqlite/sqlite/blob/version-3.40.1/src/select.c
            return _of_extreme(
                c, scope, found, extremes[-1], result, lambda: scan_order(c, node, scope, holding).terms
            )
        c.applies("bare-column-of-any-row")
        equal = any(key.node == found.node and not key.collation_is_binary for _, key in keys)
        c.warn(ANY_EQUAL if equal else ANY_ROW)
        terms = scan_order(c, node, scope, holding).terms
        if not terms:
            return found.of(node=Whichever(this=found.node), nullable=True)
        result.first = terms
        result.picks_blobs |= found.kind is Kind.BLOB
        return found.of(
            node=FirstOf(this=found.node, expressions=[term.copy() for term in terms]), nullable=True
        )

    # A collation groups different texts together: the result shows one as a bare column.
    compiled = [
        (written, key.of(node=node).with_number(condition=False))
        for (written, key), node in zip(keys, nodes, strict=True)
        if key.collation_is_binary
    ]
    result = Groups(keys, Grouping(compiled, bare), nodes, empty)
    return result


def _node(c: Compiler, key: Typed) -> exp.Expr:
    is_distinct = key.kind is Kind.ANY and (key.tagged is not None or isinstance(key.node, exp.Column))
    if is_distinct and key.collation_is_binary:
        return key.node
    return keyed(c, key)


def _of_extreme(
    c: Compiler,
    scope: Scope,
    found: Typed,
    call: exp.Anonymous,
    groups: Groups,
    ties: Callable[[], list[exp.Expr]],
) -> Typed:
    c.applies("bare-column-of-extreme")
    with c.ungrouped(scope):
        aliases, scope.aliases = scope.aliases, {}
        try:
            extreme = c.expression(call.expressions[0], scope)
        finally:
            scope.aliases = aliases
    alone = name_of(extreme.node)
    if not any(
        {alone} == {(source.alias, key) for key in keys} for source in scope.sources for keys in source.keys
    ):
        c.warn(ANY_EXTREME)
    descending = ascii_lower(call.name) == "max"
    terms = ordered(c, extreme, exp.Ordered(desc=descending, nulls_first=False))
    groups.picks_blobs |= found.kind is Kind.BLOB
    groups.first = [*(term for term in terms if not is_constant(term.this)), *ties()]
    return found.of(
        node=FirstOf(this=found.node, expressions=[part.copy() for part in groups.first]), nullable=True
    )
