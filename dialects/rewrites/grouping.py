"""GROUP BY and the columns that are not in it. https://sqlite.org/lang_select.html#bareagg."""

from collections.abc import Callable
from dataclasses import dataclass, field

from sqlglot import exp

from dialects.compiler import Compiler
from dialects.nodes import (
    AGGREGATES,
    AnyOf,
    FirstOf,
    Listed,
    Whichever,
    grouped,
    is_constant,
    number,
)
from dialects.rewrites.comparison import keyed
from dialects.rewrites.determined import Name, determined, name_of
from dialects.rewrites.ordering import ordered
from dialects.rewrites.visiting import found_first
from dialects.rules import Rule
from dialects.scope import Column, Grouping, Scope, Source
from dialects.typed import Kind, Typed

RULES = (
    Rule(
        "bare-column",
        "A grouped SELECT can use a column that is not grouped; where keys and equalities give it one value"
        " per group, it is well defined.",
        "https://sqlite.org/lang_select.html#bareagg",
        "MySQL: ANY_VALUE. PostgreSQL: MIN.",
    ),
    Rule(
        "bare-column-of-extreme",
        "With a single min() or max(), bare columns come from the row that has it.",
        "https://sqlite.org/lang_select.html#bareagg",
        "PostgreSQL: the first of ARRAY_AGG, sorted by it. MySQL: the row that ROW_NUMBER puts first.",
    ),
    Rule(
        "bare-column-of-any-row",
        "Otherwise a bare column comes from an arbitrary row of the group.",
        "https://sqlite.org/lang_select.html#bareagg",
        "MySQL: ANY_VALUE. PostgreSQL: the row that was loaded first.",
    ),
    Rule(
        "constant-group",
        "GROUP BY a constant makes one group, and none of no rows.",
        "https://sqlite.org/lang_select.html#generation_of_the_set_of_result_rows",
        "HAVING COUNT(*) > 0.",
    ),
)

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
