"""What stands in FROM: tables, subqueries, common table expressions, and joins of all kinds.

https://sqlite.org/lang_select.html#the_from_clause
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from math import prod

from tests.fuzz.catalog import NUMBERS, TEXTS, Column, Kind, Table
from tests.fuzz.generator import Generator, Scope, Source
from tests.fuzz.leaves import RESERVED, Ref, identifier, spelled
from tests.fuzz.tree import Node, construct, frozen, optional, plain

Subquery = Callable[[Generator], tuple[Node, tuple[Column, ...]]]
"""Writes a query in parentheses whose columns all have names."""

construct(
    "from-subquery", "from-values", "from-cte", "join-inner", "join-left", "join-right", "join-full",
    "join-cross", "join-comma", "join-natural", "join-using", "join-different-types", "join-without-on",
    "table-alias", "join-in-parentheses", "alias-of-other",
)  # fmt: skip

Pair = tuple[Ref, Ref]

_MOST_PAIRS = 2_500
_IN_PARENTHESES = 0.15
_WITHOUT_ON = (
    (" CROSS JOIN ", "join-cross"), (", ", "join-comma"), (", ", "join-comma"), (" JOIN ", "join-without-on"),
)  # fmt: skip
_ALIKE = (NUMBERS, TEXTS, (Kind.BLOB,), (Kind.JSON,), (Kind.CONDITION,))


def from_clause(gen: Generator, subquery: Subquery) -> Node:
    """FROM with one to three sources, which the innermost scope then sees."""
    return plain(" FROM ", *_joined(gen, subquery, gen.weighted([(12, 0), (7, 1), (2, 2)])))


def _joined(gen: Generator, subquery: Subquery, joins: int) -> list[Node]:
    """A source, or joins in parentheses, and so many joins with more: the innermost scope then sees all."""
    parts = []
    if joins and gen.chance(_IN_PARENTHESES / 3):
        node, inner = _in_parentheses(gen, subquery)
        parts.append(node)
        _add(gen.scope, inner)
    else:
        node, source = _source(gen, subquery)
        parts.append(node)
        _add(gen.scope, _of(source))
    for _ in range(joins):
        if gen.budget > 0:
            gen.budget -= 1
            parts.append(_join(gen, subquery))
    return parts


def _in_parentheses(gen: Generator, subquery: Subquery) -> tuple[Node, Scope]:
    """Joins in parentheses, and the scope that sees what is in them: they see nothing else."""
    outside, hidden = gen.scope, gen.scope.refs
    outside.refs = []
    inner = Scope(closed=True)
    with gen.inside(inner):
        parts = _joined(gen, subquery, 1)
    outside.refs = hidden
    if len(inner.sources) == 1:  # SQLite forgets the alias of one alone.
        return plain(*parts), inner
    return plain("(", *parts, ")", tag="join-in-parentheses"), inner


def _of(source: Source) -> Scope:
    """What sees one source alone."""
    columns = source.table.columns
    return Scope([source], [Ref(column, source.alias, alone=True) for column in columns], star=columns)


def _add(scope: Scope, added: Scope, merged: frozenset[str] = frozenset()) -> None:
    """Let `scope` see what `added` does.

    Columns that are `merged` with those of earlier sources are clear without a qualifier.
    """
    both = [*scope.refs, *added.refs]
    clear = {name for name in _names(both) if _count(scope, name) + _count(added, name) == 1} | merged
    scope.merged = frozenset(name for name in scope.merged | added.merged if name in clear) | merged
    scope.refs = [replace(ref, alone=ref.column.name.lower() in clear) for ref in both]
    scope.sources += added.sources
    scope.star += tuple(column for column in added.star if column.name.lower() not in merged)


def _names(refs: Iterable[Ref]) -> set[str]:
    return {ref.column.name.lower() for ref in refs}


def _count(scope: Scope, name: str) -> int:
    """How many columns a name means in a scope: those that are merged are one."""
    found = sum(ref.column.name.lower() == name for ref in scope.refs)
    return min(found, 1) if name in scope.merged else found


def _source(gen: Generator, subquery: Subquery) -> tuple[Node, Source]:
    if gen.selects > 0 and gen.budget > 0 and gen.chance(0.12):
        return _derived(gen, subquery)
    if gen.chance(0.02):
        return _values(gen)
    common = gen.common and gen.chance(0.6)
    tables = [table for table in gen.catalog.tables if table.name.lower() not in gen.hidden]
    table = gen.pick(gen.common if common else tables)
    if gen.chance(0.75) and not common and not table.rows:
        table = gen.pick(tables)
    name = identifier(gen, table.name)
    used = _used(gen)
    tag = "from-cte" if common else ""
    if table.name.lower() in used or gen.chance(0.5):
        colliding = gen.colliding((used | RESERVED).__contains__)
        alias = colliding or gen.name(gen.pick(("t", "T", "x")))
        how = "alias-of-other" if colliding else "table-alias"
        word = gen.pick((" ", " AS "))
        return plain(name, plain(f"{word}{alias}", tag=how), tag=tag), Source(alias, table)
    return plain(name, tag=tag), Source(table.name, table)


def _used(gen: Generator) -> set[str]:
    """The names, in lower case, of all sources in sight."""
    return {source.alias.lower() for scope in gen.scopes for source in scope.sources}


def _derived(gen: Generator, subquery: Subquery) -> tuple[Node, Source]:
    scope = gen.scope
    hidden, scope.refs = scope.refs, []
    node, columns = subquery(gen)
    scope.refs = hidden
    alias = gen.colliding((_used(gen) | RESERVED).__contains__) or gen.name("d")
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
    """One more source, or joins in parentheses; none where a join with it would take long."""
    scope = gen.scope
    if len(scope.sources) == 1 and gen.budget > 0 and gen.chance(_IN_PARENTHESES):
        node, added = _in_parentheses(gen, subquery)
    else:
        node, source = _source(gen, subquery)
        added = _of(source)
    small = prod(max(1, source.table.rows) for source in (*scope.sources, *added.sources)) <= _MOST_PAIRS
    keys = _keys(scope, added)
    if not small and not keys:
        return plain()
    shared = sorted(name for name in _names(added.refs) if _count(scope, name) == _count(added, name) == 1)
    if len(scope.sources) < 3 and shared and small and gen.chance(0.25):
        return _merging_join(gen, node, added, shared)
    if small and gen.chance(0.12):
        word, tag = gen.pick(_WITHOUT_ON)
        _add(scope, added)
        return optional(word, node, tag=tag)
    word, tag = gen.weighted(
        [
            (6, (gen.pick((" JOIN ", " INNER JOIN ")), "join-inner")),
            (4, (gen.pick((" LEFT JOIN ", " LEFT OUTER JOIN ")), "join-left")),
            (1, (" RIGHT JOIN ", "join-right")),
            (1, (gen.pick((" FULL JOIN ", " FULL OUTER JOIN ")), "join-full")),
        ]
    )
    pairs = [(one, other) for one in scope.refs for other in added.refs]
    _add(scope, added)
    return optional(word, node, " ON ", _on(gen, keys, pairs, small=small), tag=tag)


def _keys(scope: Scope, added: Scope) -> list[Pair]:
    """The pairs of columns of which one refers to the other."""
    tables = {found.alias: found.table.name for found in (*scope.sources, *added.sources)}
    return [
        (ref, other)
        for ref in scope.refs
        for other in added.refs
        if ref.column.target == (tables.get(other.qualifier), other.column.name)
        or (
            other.column.target is not None
            and other.column.target == (tables.get(ref.qualifier), ref.column.name)
        )
    ]


def _merging_join(gen: Generator, node: Node, added: Scope, shared: list[str]) -> Node:
    word = gen.pick((" JOIN ", " LEFT JOIN ", " INNER JOIN ", " FULL JOIN ", " RIGHT JOIN "))
    if len(gen.scope.sources) == 1 and len(added.sources) == 1 and gen.chance(0.4):
        _add(gen.scope, added, frozenset(shared))
        return optional(f" NATURAL{word}", node, tag="join-natural")
    name = gen.pick(shared)
    _add(gen.scope, added, frozenset({name}))
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
