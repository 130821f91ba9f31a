"""Aggregates, GROUP BY and HAVING. https://sqlite.org/lang_select.html#resultset.

Bare columns are written only where the group determines them.
"""

from dataclasses import replace

from tests.fuzz.catalog import Column, Kind
from tests.fuzz.generator import AGGREGATES, Generator, Scope
from tests.fuzz.grammar import aggregates  # noqa: F401 - its rules are registered
from tests.fuzz.grammar.items import (
    KINDS,
    Item,
    Selected,
    Shape,
    Wanted,
    item,
    kinds,
    never_folded,
    separated,
    where,
)
from tests.fuzz.grammar.ordering import is_number, tail
from tests.fuzz.leaves import Ref, spelled
from tests.fuzz.tree import Node, Role, construct, expression, frozen, listed, optional, plain

construct(
    "group-by", "having", "group-by-position", "group-by-alias", "alias-in-having", "bare-column-determined",
    "bare-column-of-min-max", "aggregate-without-group", "condition-as-key",
)  # fmt: skip

_CONDITION = 0.35
_AGGREGATE_TAGS = {rule.tag for rules in AGGREGATES.values() for rule in rules}


def grouped(gen: Generator, source: Node, wanted: Wanted) -> Selected:
    """SELECT with aggregates, mostly with GROUP BY, from sources that the scope sees already."""
    rows = gen.scope
    filtered = where(gen, wanted)
    alone = wanted.shape is Shape.ONE_ROW
    keys = [] if alone or gen.chance(0.15) else [_key(gen) for _ in range(gen.weighted([(5, 1), (2, 2)]))]
    refs = [ref for key in keys for ref in _determined(gen, key)]
    scope = replace(rows, refs=refs, rows=rows, windows=False)
    with gen.instead(scope):
        items = [item(gen, kind, wanted) for kind in kinds(gen, wanted)]
        items = [replace(found, column=replace(found.column, exact=False)) for found in items]
        terms = [_term(gen, key, items, wanted) for key in keys]
        having = _having(gen, items) if keys and gen.chance(0.3) else plain()
        columns = tuple(found.column for found in items)
        aliases = [Ref(column, alone=True, tag="order-by-alias") for column in columns if column.name]
        one_row = not keys and not any(_AGGREGATE_TAGS & found.node.tags for found in items)
        with gen.instead(replace(scope, refs=[*refs, *aliases])):
            end = plain() if alone or one_row else tail(gen, columns, gen.scope, outputs_only=False)
    group = plain(" GROUP BY ", *separated(terms), tag="group-by") if keys else plain()
    named_terms = any(term.tag in ("group-by-position", "group-by-alias") for term in terms)
    written = [found.written() for found in items]
    puts_out = plain(*separated(written)) if named_terms else listed(written)
    tag = "" if keys else "aggregate-without-group"
    return Selected(
        Node(Role.SELECT, ("SELECT ", puts_out, source, filtered, group, having), tag), columns, end
    )


def _key(gen: Generator) -> Ref:
    """A column to group by, or a small expression."""
    refs = [ref for ref in gen.scope.refs if not ref.column.folded]
    if refs and gen.chance(0.75):
        ref = gen.pick(refs)
        return replace(ref, node=frozen(spelled(gen, ref)))
    if gen.chance(_CONDITION):
        condition = gen.condition()
        if is_number(condition) or never_folded(gen, condition) is not condition:
            condition = expression("(NOT ", condition, ")")
        return Ref(Column("", Kind.CONDITION), node=Node(Role.FROZEN, (condition,), "condition-as-key"))
    kind = gen.pick(KINDS)
    node = never_folded(gen, gen.expr(kind))
    if is_number(node):
        node = expression("(", node, " || '')")
    return Ref(Column("", kind), node=frozen(node))


def _determined(gen: Generator, key: Ref) -> list[Ref]:
    """What a key determines: itself, and the other columns of a table whose only key it is."""
    refs = [key, key]
    for source in gen.scope.sources:
        if key.qualifier == source.alias and source.table.key == (key.column.name,):
            refs += [
                Ref(column, source.alias, alone=False, tag="bare-column-determined")
                for column in source.table.columns
                if column.name != key.column.name and not column.folded
            ]
    return refs


def _term(gen: Generator, key: Ref, items: list[Item], wanted: Wanted) -> Node:
    """The key as GROUP BY names it. By position or alias it is put out, too: one more of `items`."""
    node = key.node or spelled(gen, key)
    if wanted.kinds or gen.chance(0.7):
        return node
    alias = gen.name("k") if wanted.named or gen.chance(0.6) else ""
    items.append(Item(node, replace(key.column, name=alias, unique=False, exact=False)))
    if alias:
        return frozen(alias, tag="group-by-alias")
    return frozen(str(len(items)), tag="group-by-position")


def _having(gen: Generator, items: list[Item]) -> Node:
    aliases = [Ref(found.column, alone=True, tag="alias-in-having") for found in items if found.alias]
    with gen.instead(replace(gen.scope, refs=[*gen.scope.refs, *aliases])):
        return optional(" HAVING ", gen.condition(), tag="having")


def with_extreme(gen: Generator, source: Node, wanted: Wanted) -> Selected | None:
    """SELECT MAX(x), y: y is that of the row with the greatest x, of which there is one in a group.

    https://sqlite.org/lang_select.html#bareagg
    """
    scope = gen.scope
    unique = [ref for ref in scope.refs if ref.column.unique and not ref.column.folded]
    if len(scope.sources) != 1 or not unique:
        return None
    keys = [ref for ref in scope.refs if not ref.column.unique and not ref.column.folded]
    key = gen.pick(keys) if keys and gen.chance(0.6) else None
    extreme = gen.pick(unique)
    call = frozen(gen.pick(("MAX(", "MIN(")), spelled(gen, extreme), ")")
    items = [Item(call, Column("", extreme.column.kind))]
    if key is not None:
        items.append(Item(frozen(spelled(gen, key)), Column("", key.column.kind)))
    for _ in range(gen.random.randint(1, 2)):
        bare = item(gen, gen.pick(KINDS), Wanted())
        items.append(Item(plain(bare.node, tag="bare-column-of-min-max"), Column("", bare.column.kind)))
    gen.random.shuffle(items)
    if wanted.named:
        items = [Item(found.node, replace(found.column, name=gen.name("c"))) for found in items]
    group = frozen(" GROUP BY ", spelled(gen, key), tag="group-by") if key is not None else plain()
    columns = tuple(found.column for found in items)
    puts_out = listed([found.written() for found in items])
    node = Node(Role.SELECT, ("SELECT ", puts_out, source, where(gen, wanted), group))
    return Selected(node, columns, tail(gen, columns, Scope(), outputs_only=True))
