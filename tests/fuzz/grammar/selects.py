"""SELECT and compounds of them. https://sqlite.org/lang_select.html.

A SELECT whose rows depend on the order in which SQLite happens to visit them is not written: LIMIT stands
only behind an order that is total.
"""

from dataclasses import replace

from tests.fuzz.catalog import Column
from tests.fuzz.generator import Generator, Scope
from tests.fuzz.grammar.groups import grouped, with_extreme
from tests.fuzz.grammar.items import KINDS, Item, Selected, Shape, Wanted, item, kinds, where
from tests.fuzz.grammar.ordering import tail
from tests.fuzz.grammar.sources import from_clause
from tests.fuzz.leaves import RESERVED, Ref, identifier, spelled
from tests.fuzz.tree import Node, Role, construct, frozen, listed, optional, plain

construct(
    "select-star", "select-distinct", "select-without-from", "alias-in-where", "alias-shadows-column",
    "compound-union", "compound-union-all", "compound-intersect", "compound-except", "compound-mixed",
)  # fmt: skip

_OPERATORS = ("UNION", "UNION", "UNION ALL", "INTERSECT", "EXCEPT", "EXCEPT")


def query(gen: Generator, wanted: Wanted) -> Selected:
    """A SELECT or a compound of them."""
    found = _compound(gen, wanted) if gen.selects > 1 and gen.chance(0.12) else select(gen, wanted)
    if wanted.ordered:
        return Selected(Node(Role.SELECT, (found.node, found.tail)), found.columns, plain())
    return found


def subquery(gen: Generator) -> tuple[Node, tuple[Column, ...]]:
    """A query in parentheses whose columns have names."""
    found = query(gen, Wanted(named=True, ordered=True))
    return plain("(", found.node, ")"), found.columns


def _compound(gen: Generator, wanted: Wanted) -> Selected:
    chosen = wanted.kinds or tuple(gen.pick(KINDS) for _ in range(gen.random.randint(1, 3)))
    arm = Wanted(chosen, star=False)
    first = select(gen, replace(arm, named=wanted.named))
    parts = [first.node]
    for _ in range(gen.weighted([(4, 1), (1, 2)])):
        word = gen.pick(_OPERATORS)
        tag = f"compound-{word.lower().replace(' ', '-')}"
        part = select(gen, arm).node
        if gen.chance(0.02):
            others = tuple(gen.pick(KINDS) for _ in chosen)
            part = plain(select(gen, replace(arm, kinds=others)).node, tag="compound-mixed")
        parts.append(optional(f" {word} ", part, tag=tag))
    columns = tuple(replace(column, exact=False, values=()) for column in first.columns)
    with gen.inside(Scope()):
        end = tail(gen, columns, gen.scope, outputs_only=True)
    return Selected(Node(Role.SELECT, tuple(parts)), columns, end)


def select(gen: Generator, wanted: Wanted) -> Selected:
    """One SELECT."""
    gen.selects -= 1
    free = wanted.shape is Shape.ANY and not wanted.kinds
    with gen.inside(Scope()):
        if wanted.shape is not Shape.ONE_ROW and gen.chance(0.02):
            return _without_from(gen, wanted)
        source = from_clause(gen, subquery)
        if wanted.shape is Shape.ONE_ROW or (wanted.shape is Shape.ANY and gen.chance(0.22)):
            return grouped(gen, source, wanted)
        if free and gen.chance(0.03) and (found := with_extreme(gen, source, wanted)):
            return found
        if free and wanted.star and gen.chance(0.07) and (not wanted.named or len(gen.scope.sources) == 1):
            return _star(gen, source, wanted)
        return _rows(gen, source, wanted)


def _without_from(gen: Generator, wanted: Wanted) -> Selected:
    items = [item(gen, kind, wanted) for kind in kinds(gen, wanted)]
    node = Node(Role.SELECT, ("SELECT ", listed([found.written() for found in items])), "select-without-from")
    return Selected(node, tuple(found.column for found in items), plain())


def _rows(gen: Generator, source: Node, wanted: Wanted) -> Selected:
    with gen.instead(replace(gen.scope, windows=True)):
        items = [item(gen, kind, wanted) for kind in kinds(gen, wanted)]
    named = [found.column for found in items if found.alias and " OVER " not in str(found.node)]
    if not wanted.named:
        items[0] = _shadowing(gen, items[0])
    seen = [*gen.scope.refs]
    if named and gen.chance(0.2):
        seen += [Ref(column, alone=True, tag="alias-in-where") for column in named] * 2
    with gen.instead(replace(gen.scope, refs=seen)):
        filtered = where(gen, wanted)
    distinct, by_outputs = plain(), False
    if gen.chance(0.12):
        distinct, by_outputs = _distinct(gen, items, wanted)
        items = [replace(found, column=replace(found.column, exact=False)) for found in items]
    columns = tuple(found.column for found in items)
    aliases = [Ref(column, alone=True, tag="order-by-alias") for column in columns if column.name]
    scope = replace(gen.scope, refs=[*gen.scope.refs, *aliases, *aliases], windows=True)
    end = plain() if wanted.shape is Shape.ROWS else tail(gen, columns, scope, outputs_only=by_outputs)
    puts_out = listed([found.written() for found in items])
    node = Node(Role.SELECT, ("SELECT ", distinct, puts_out, source, filtered, *gen.scope.named_windows))
    return Selected(node, columns, end)


def _distinct(gen: Generator, items: list[Item], wanted: Wanted) -> tuple[Node, bool]:
    """DISTINCT, and whether the order can be by what is put out only.

    With a unique column among `items` no two rows are equal, so that each has values of its own to order by.
    """
    unique = [ref for ref in gen.scope.refs if ref.column.unique and not ref.column.folded]
    if wanted.kinds or wanted.named or len(gen.scope.sources) > 1 or not unique or gen.chance(0.5):
        return frozen("DISTINCT ", tag="select-distinct"), True
    ref = gen.pick(unique)
    items.append(Item(frozen(spelled(gen, ref)), Column("", ref.column.kind)))
    return frozen("DISTINCT ", tag="distinct-order-by-expression"), False


def _shadowing(gen: Generator, found: Item) -> Item:
    """The item with the name of a column that it is not, sometimes."""
    names = [ref.column.name for ref in gen.scope.refs if ref.alone and ref.column.name.isidentifier()]
    names = [name for name in names if name.lower() not in RESERVED]
    if not names or not gen.chance(0.02):
        return found
    return Item(plain(found.node, tag="alias-shadows-column"), replace(found.column, name=gen.pick(names)))


def _star(gen: Generator, source: Node, wanted: Wanted) -> Selected:
    scope = gen.scope
    columns, text = scope.star, "*"
    if gen.chance(0.3):
        one = gen.pick(scope.sources)
        columns, text = one.table.columns, f"{identifier(gen, one.alias)}.*"
    filtered = where(gen, wanted)
    end = tail(gen, columns, scope, outputs_only=False)
    columns = tuple(replace(column, unique=False) for column in columns)
    return Selected(
        Node(Role.SELECT, ("SELECT ", frozen(text, tag="select-star"), source, filtered)), columns, end
    )
