"""GROUP BY, the columns that are not in it, and which row they come from.

A column has one value where others are fixed by keys and equalities (functional dependency); where nothing
else decides, SQLite takes the row that it finds first. https://sqlite.org/lang_select.html#bareagg
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from sqlglot import exp

from dialects.clauses import from_items
from dialects.compiler import Compiler
from dialects.nodes import AGGREGATES, AnyOf, FirstOf, Listed, Whichever, grouped, is_constant, number
from dialects.rewrites.comparison import keyed, ordered
from dialects.scope import Column, Grouping, Scope, Source
from dialects.tables import Visit, Visits
from dialects.value_types import Kind, Typed

Name = tuple[str, str]
"""The target's names of a source and of one of its columns."""


def name_of(node: exp.Expr) -> Name | None:
    """The column that an expression is, if it is one."""
    while isinstance(node, exp.Paren):
        node = node.this
    return (node.table, node.name) if isinstance(node, exp.Column) else None


def determined(
    sources: Iterable[Source], conditions: Iterable[exp.Expr], fixed: Iterable[Name], *, alike: bool = False
) -> set[Name]:
    """All columns with one value, given some: `conditions` hold for every row that is looked at.

    `alike` where NULL counts as a value, so that what no two rows agree in is a key, too.
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
                known |= {(source.alias, column.value.node.name) for column in source.columns}
    return known


def is_fixed(source: Source, known: set[Name], *, alike: bool = False) -> bool:
    """Whether the known columns leave one row of a source at most; see `determined`."""
    keys = (*source.keys, *source.distinct) if alike else source.keys
    return any({(source.alias, column) for column in key} <= known for key in keys)


def _equality(node: exp.Expr, own: set[str]) -> tuple[Name, Name | None] | None:
    """A column and the column that it is equal to, or None where it is fixed from outside."""
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
    """The sources whose columns an expression names, apart from those of SELECTs `within` it."""
    if isinstance(node, exp.Column):
        return {node.table} - within - {""}
    if isinstance(node, exp.Select):
        within |= {item.node.alias_or_name for item in from_items(node)}
    return {name for part in node.iter_expressions() for name in reached(part, within)}


def _outer(node: exp.Expr, own: set[str]) -> bool:
    """Whether nothing in the expression changes from row to row."""
    return not any(column.table in own for column in node.find_all(exp.Column))


@dataclass
class Found:
    """The order in which SQLite finds rows, as ORDER BY terms."""

    terms: list[exp.Expr]
    whole: bool
    """Whether they decide between any two rows."""


def found_first(c: Compiler, node: exp.Expr, scope: Scope, holding: list[exp.Expr]) -> Found:
    """ORDER BY terms for the order in which SQLite finds the rows, as far as the target can tell.

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
        mine = {(source.alias, column.value.node.name) for column in source.columns}
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
    return Found(terms, whole)


def _reversed(c: Compiler, term: exp.Expr) -> exp.Expr:
    """A term the other way round."""
    first = False if c.target.has_null_order and term.args.get("nulls_first") is not None else None
    return exp.Ordered(this=term.this, desc=True, nulls_first=first)


def _is_indexed(source: Source) -> bool:
    """Whether SQLite could go through a table in another order than that of its rows."""
    table = source.table
    if table is None:
        return False
    return bool(table.indexes or table.unique or (table.primary_key and source.rowid is None))


def _backwards(node: exp.Expr, source: Source, visit: Visit, visits: Visits) -> bool:
    """Whether the outermost loop goes through its table or index from the end."""
    order = node.args.get("order")
    if order is None or visits.sorted:
        return False
    term = order.expressions[0]
    leading = visit.columns[0] if visit.columns else source.rowid
    return bool(term.args.get("desc")) and leading is not None and term.this.name.lower() == leading.lower()


def _loops(scope: Scope, visits: Visits | None) -> list[tuple[Source, Visit]]:
    if visits is None:
        return [(source, Visit(source.name)) for source in scope.sources] if len(scope.sources) == 1 else []
    by_name = {source.name.lower(): source for source in scope.sources}
    found = [(by_name[visit.name], visit) for visit in visits.loops if visit.name in by_name]
    return found if len(found) == len(scope.sources) else []


def _terms(c: Compiler, source: Source, visit: Visit) -> list[exp.Expr] | None:
    """The key of one loop: the index that it follows, and the row's place in the table."""
    if source.table is None:
        return _group_terms(c, source)
    terms = [_term(c, source, column) for name in visit.columns if (column := source.column(name))]
    if c.target.row_number is not None and source.place is None:
        place = exp.column(
            exp.to_identifier(c.target.row_number, quoted=True),
            table=exp.to_identifier(source.alias, quoted=True),
        )
        return [*terms, exp.Ordered(this=place)]
    if source.place is not None:
        place = exp.column(
            exp.to_identifier(source.place, quoted=True), table=exp.to_identifier(source.alias, quoted=True)
        )
        return [*terms, exp.Ordered(this=place)]
    # A table without rowid is in the order of its key.
    last = source.table.primary_key if source.rowid is None else (source.rowid,)
    keys = [column for name in last if (column := source.column(name))]
    return [*terms, *(exp.Ordered(this=source.value(column).node) for column in keys)] or None


def _group_terms(c: Compiler, source: Source) -> list[exp.Expr] | None:
    """A grouped subquery gives its groups in the order of their keys."""
    spelled = {column.value.node.name: column for column in source.columns}
    return [_term(c, source, spelled[name]) for name in source.grouped] or None


def _term(c: Compiler, source: Source, column: Column) -> exp.Ordered:
    """A column in ascending order, NULL first."""
    found = source.value(column)
    first = True if c.target.has_null_order and found.nullable else None
    return exp.Ordered(this=keyed(c, found), nulls_first=first)


ANY_ROW = "a column is neither grouped nor aggregated: SQLite takes it from any row of the group"
ANY_EXTREME = (
    "columns come from the row with the least or greatest value: SQLite takes any row where several have it"
)


_ALWAYS = exp.GTE(this=exp.Count(this=exp.Star()), expression=number(0))
"""The HAVING that keeps a SELECT grouped whose aggregates were constants."""


def _aggregates(tree: exp.Select) -> bool:
    """Whether an aggregate is left in the result, outside of subqueries and window functions."""
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
    """What the target groups by."""
    empty: bool
    """Whether GROUP BY has constants alone."""
    first: list[exp.Expr] = field(default_factory=list)
    """MySQL: the ORDER BY terms that put the row first from which bare columns come."""

    def finish(self, c: Compiler, tree: exp.Select, having: exp.Expr | None) -> exp.Expr | None:
        """Put GROUP BY onto the SELECT; returns its HAVING."""
        if having is not None and not c.target.having_sees_keys:
            having = self._aggregated(having)
        if self.nodes:
            tree.set("group", exp.Group(expressions=[node.copy() for node in self.nodes]))
        if not self.empty:
            return having if self.nodes or having is not None or _aggregates(tree) else _ALWAYS.copy()
        there = exp.GT(this=exp.Count(this=exp.Star()), expression=number(0))
        return there if having is None else exp.And(this=there, expression=grouped(having))

    def _aggregated(self, node: exp.Expr) -> exp.Expr:
        """HAVING for MySQL, which knows only keys that are results: the least value of a key is the key."""
        # A key that is an aggregate is an outer SELECT's.
        if node in self.nodes and not isinstance(node, AnyOf | FirstOf):
            return exp.Min(this=node.copy())
        if isinstance(node, Whichever):
            return exp.Min(this=node.this)
        if isinstance(node, exp.Query | exp.AggFunc | AnyOf | FirstOf | Listed):
            return node
        for name, part in list(node.args.items()):
            if isinstance(part, exp.Expr):
                node.set(name, self._aggregated(part))
            elif isinstance(part, list):
                node.set(
                    name, [self._aggregated(item) if isinstance(item, exp.Expr) else item for item in part]
                )
        return node


def group(
    c: Compiler, node: exp.Expr, scope: Scope, keys: list[tuple[exp.Expr, Typed]], holding: list[exp.Expr],
    extremes: list[exp.Anonymous], *, empty: bool,
) -> Groups:  # fmt: skip
    """Say what columns are in a grouped SELECT.

    Args:
        c: the compiler.
        node: the SELECT as written.
        scope: of the SELECT.
        keys: the GROUP BY terms as written and compiled.
        holding: conditions that hold for every row.
        extremes: the calls of min() and max() in the SELECT.
        empty: whether GROUP BY is there, but without a term that varies.
    """
    if empty:
        c.applies("constant-group")
    nodes = [_node(c, key) for _, key in keys]
    fixed = [name for _, key in keys if (name := name_of(key.node)) and key.collation_is_binary]
    known = determined(scope.sources, holding, fixed)

    def bare(source: Source, column: Column) -> Typed:
        found = source.value(column)
        name: Name | None = name_of(found.node)
        if name in known:
            c.applies("bare-column")
            # PostgreSQL has no least blob.
            only = Whichever if found.kind is Kind.BLOB else AnyOf
            return found.of(node=only(this=found.node), nullable=True)
        if extremes:
            # Of several the last one decides: https://github.com/sqlite/sqlite/blob/version-3.40.1/src/select.c
            return _of_extreme(
                c, scope, found, extremes[-1], result, lambda: found_first(c, node, scope, holding).terms
            )
        c.applies("bare-column-of-any-row")
        c.warn(ANY_ROW)
        terms = found_first(c, node, scope, holding).terms
        if not terms:
            return found.of(node=Whichever(this=found.node), nullable=True)
        result.first = terms
        return found.of(
            node=FirstOf(this=found.node, expressions=[term.copy() for term in terms]), nullable=True
        )

    # Under a collation texts that differ are one group: what the result shows of them is a bare column.
    compiled = [
        (written, key.of(node=node))
        for (written, key), node in zip(keys, nodes, strict=True)
        if key.collation_is_binary
    ]
    result = Groups(keys, Grouping(compiled, bare), nodes, empty)
    return result


def _node(c: Compiler, key: Typed) -> exp.Expr:
    told = key.kind is Kind.ANY and (key.carried is not None or isinstance(key.node, exp.Column))
    if told and key.collation_is_binary:
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
    descending = call.name.lower() == "max"
    terms = ordered(c, extreme, exp.Ordered(desc=descending, nulls_first=False))
    groups.first = [*(term for term in terms if not is_constant(term.this)), *ties()]
    return found.of(
        node=FirstOf(this=found.node, expressions=[part.copy() for part in groups.first]), nullable=True
    )
