"""What stands in FROM: tables, subqueries, common table expressions, and joins of all kinds.

https://sqlite.org/lang_select.html#the_from_clause
"""

from collections.abc import Callable
from dataclasses import replace
from math import prod

from tests.fuzz.catalog import NUMBERS, TEXTS, Column, Kind, Table
from tests.fuzz.generator import Generator, Scope, Source
from tests.fuzz.leaves import Ref, identifier, spelled
from tests.fuzz.tree import Node, construct, frozen, optional, plain

Subquery = Callable[[Generator], tuple[Node, tuple[Column, ...]]]
"""Writes a query in parentheses whose columns all have names."""

construct(
    "from-subquery", "from-values", "from-cte", "join-inner", "join-left", "join-right", "join-full",
    "join-cross", "join-comma", "join-natural", "join-using", "join-different-types", "join-without-on",
    "table-alias",
)  # fmt: skip

Pair = tuple[Ref, Ref]

_MOST_PAIRS = 2_500
_WITHOUT_ON = (
    (" CROSS JOIN ", "join-cross"), (", ", "join-comma"), (", ", "join-comma"), (" JOIN ", "join-without-on"),
)  # fmt: skip
_ALIKE = (NUMBERS, TEXTS, (Kind.BLOB,), (Kind.JSON,), (Kind.CONDITION,))


def from_clause(gen: Generator, subquery: Subquery) -> Node:
    """FROM with one to three sources, which the innermost scope then sees."""
    scope = gen.scope
    node, source = _source(gen, subquery)
    _add(scope, source)
    parts = [node]
    for _ in range(gen.weighted([(12, 0), (7, 1), (2, 2)])):
        if gen.budget > 0:
            gen.budget -= 1
            parts.append(_join(gen, subquery))
    return plain(" FROM ", *parts)


def _add(scope: Scope, source: Source, merged: frozenset[str] = frozenset()) -> None:
    """Let `scope` see `source`.

    Columns that are `merged` with those of earlier sources are clear without a qualifier.
    """
    scope.sources.append(source)
    scope.merged |= merged
    new = [Ref(column, source.alias, alone=True) for column in source.table.columns]
    names = [ref.column.name.lower() for ref in (*scope.refs, *new)]
    both = [*scope.refs, *new]
    scope.refs = [
        replace(ref, alone=names.count(name) == 1 or (name in scope.merged))
        for ref, name in zip(both, names, strict=True)
    ]
    scope.star += tuple(column for column in source.table.columns if column.name.lower() not in merged)


def _source(gen: Generator, subquery: Subquery) -> tuple[Node, Source]:
    if gen.selects > 0 and gen.budget > 0 and gen.chance(0.12):
        return _derived(gen, subquery)
    if gen.chance(0.02):
        return _values(gen)
    common = gen.common and gen.chance(0.6)
    table = gen.pick(gen.common if common else gen.catalog.tables)
    if gen.chance(0.75) and not common and not table.rows:
        table = gen.pick(gen.catalog.tables)
    name = identifier(gen, table.name)
    used = {source.alias.lower() for scope in gen.scopes for source in scope.sources}
    tag = "from-cte" if common else ""
    if table.name.lower() in used or gen.chance(0.5):
        alias = gen.name(gen.pick(("t", "T", "x")))
        word = gen.pick((" ", " AS "))
        return plain(name, plain(f"{word}{alias}", tag="table-alias"), tag=tag), Source(alias, table)
    return plain(name, tag=tag), Source(table.name, table)


def _derived(gen: Generator, subquery: Subquery) -> tuple[Node, Source]:
    scope = gen.scope
    hidden, scope.refs = scope.refs, []
    node, columns = subquery(gen)
    scope.refs = hidden
    alias = gen.name("d")
    return (
        plain(node, gen.pick((" AS ", " ")), alias, tag="from-subquery"),
        Source(alias, Table(alias, columns)),
    )


def _values(gen: Generator) -> tuple[Node, Source]:
    rows = gen.pick(("(1, 'a'), (2, 'b'), (3, NULL)", "(10, 'x')", "(1, 'Anna'), (1, 'Anna'), (NULL, '')"))
    alias = gen.name("v")
    columns = (Column("column1", Kind.INTEGER, exact=True), Column("column2", Kind.TEXT))
    return plain(f"(VALUES {rows}) AS {alias}", tag="from-values"), Source(alias, Table(alias, columns))


def _join(gen: Generator, subquery: Subquery) -> Node:
    """One more source; none where a join with it would take long."""
    scope = gen.scope
    node, source = _source(gen, subquery)
    small = prod(max(1, source.table.rows) for source in (*scope.sources, source)) <= _MOST_PAIRS
    keys = _keys(scope, source)
    if not small and not keys:
        return plain()
    shared = _shared(scope, source)
    if len(scope.sources) < 3 and shared and small and gen.chance(0.25):
        return _merging_join(gen, node, source, shared)
    if small and gen.chance(0.12):
        word, tag = gen.pick(_WITHOUT_ON)
        _add(scope, source)
        return optional(word, node, tag=tag)
    word, tag = gen.weighted(
        [
            (6, (gen.pick((" JOIN ", " INNER JOIN ")), "join-inner")),
            (4, (gen.pick((" LEFT JOIN ", " LEFT OUTER JOIN ")), "join-left")),
            (1, (" RIGHT JOIN ", "join-right")),
            (1, (gen.pick((" FULL JOIN ", " FULL OUTER JOIN ")), "join-full")),
        ]
    )
    left, right = scope.refs, [Ref(column, source.alias) for column in source.table.columns]
    pairs = [(one, other) for one in left for other in right]
    _add(scope, source)
    return optional(word, node, " ON ", _on(gen, keys, pairs, small=small), tag=tag)


def _keys(scope: Scope, source: Source) -> list[Pair]:
    """The pairs of columns of which one refers to the other."""
    tables = {found.alias: found.table.name for found in scope.sources}
    return [
        (ref, Ref(column, source.alias))
        for ref in scope.refs
        for column in source.table.columns
        if ref.column.target == (source.table.name, column.name)
        or (column.target is not None and column.target == (tables.get(ref.qualifier), ref.column.name))
    ]


def _shared(scope: Scope, source: Source) -> list[str]:
    """Names, in lower case, that both sides have once, or as one."""
    names = [ref.column.name.lower() for ref in scope.refs]
    own = [column.name.lower() for column in source.table.columns]
    return [name for name in own if names.count(name) == 1 or name in scope.merged]


def _merging_join(gen: Generator, node: Node, source: Source, shared: list[str]) -> Node:
    word = gen.pick((" JOIN ", " LEFT JOIN ", " INNER JOIN ", " FULL JOIN ", " RIGHT JOIN "))
    if len(gen.scope.sources) == 1 and gen.chance(0.4):
        _add(gen.scope, source, frozenset(shared))
        return optional(f" NATURAL{word}", node, tag="join-natural")
    name = gen.pick(shared)
    _add(gen.scope, source, frozenset({name}))
    return optional(word, node, f" USING ({identifier(gen, name)})", tag="join-using")


def _on(gen: Generator, keys: list[Pair], pairs: list[Pair], *, small: bool) -> Node:
    if small and gen.chance(0.08):
        return gen.condition()
    alike = [
        pair for pair in pairs if any({ref.column.kind for ref in pair} <= set(kinds) for kinds in _ALIKE)
    ]
    unlike = [pair for pair in pairs if {ref.column.kind for ref in pair} <= {*NUMBERS, *TEXTS}]
    tag = ""
    if keys and (not small or gen.chance(0.7)):
        pair = gen.pick(keys)
    elif alike and gen.chance(0.7):
        pair = gen.pick(alike)
    elif unlike:
        pair, tag = gen.pick(unlike), "join-different-types"
    else:
        return gen.condition()
    sides = [spelled(gen, _seen(gen, ref)) for ref in pair]
    gen.random.shuffle(sides)
    more = [optional(" AND ", gen.expr(Kind.CONDITION))] if gen.chance(0.2) else []
    return plain(sides[0], gen.pick((" = ", " = ", " = ", " == ", " IS ")), sides[1], *more, tag=tag)


def _seen(gen: Generator, ref: Ref) -> Ref:
    """The column as the scope sees it now: its name alone may be ambiguous by now."""
    return next(
        seen
        for seen in gen.scope.refs
        if seen.qualifier == ref.qualifier and seen.column.name == ref.column.name
    )


def key_terms(gen: Generator) -> Node:
    """Terms for ORDER BY that leave only rows together that are the same."""
    terms = []
    for source in gen.scope.sources:
        names = {name.lower() for name in source.table.key}
        for column in source.table.columns:
            if not names or column.name.lower() in names:
                binary = " COLLATE BINARY" if column.folded else ""
                terms.append(f'"{source.alias}"."{column.name}"{binary}')
    return frozen(", ".join(terms))
