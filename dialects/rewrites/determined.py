"""Which columns have one value where others are fixed: functional dependency by keys and equalities.

It decides whether a bare column of a grouped SELECT is well defined, and whether a subquery gives one row.
"""

from collections.abc import Iterable, Iterator

from sqlglot import exp

from dialects.scope import Source

Name = tuple[str, str]
"""The target's names of a source and of one of its columns."""


def conjuncts(node: exp.Expr | None) -> Iterator[exp.Expr]:
    """The conditions that all hold where `node` holds."""
    match node:
        case None:
            return
        case exp.Paren():
            yield from conjuncts(node.this)
        case exp.And():
            yield from conjuncts(node.this)
            yield from conjuncts(node.expression)
        case _:
            yield node


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
        items = [node.args.get("from_"), *(node.args.get("joins") or ())]
        within |= {item.this.alias_or_name for item in items if item is not None}
    return {name for part in node.iter_expressions() for name in reached(part, within)}


def _outer(node: exp.Expr, own: set[str]) -> bool:
    """Whether nothing in the expression changes from row to row."""
    return not any(column.table in own for column in node.find_all(exp.Column))
