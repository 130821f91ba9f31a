"""Which column a name means: SQLite looks in the SELECT, among its aliases, then in the SELECTs around it.

https://sqlite.org/lang_select.html https://sqlite.org/quirks.html#dblquote
"""

from sqlglot import exp

from dialects.carried import carry, told
from dialects.coercions import literal
from dialects.compiler import Compiler
from dialects.errors import Untranslatable
from dialects.rewrites.operators import mixed
from dialects.scope import ROWIDS, Column, Scope, Source
from dialects.source import position
from dialects.typed import Affinity, Kind, Typed, boolean, integer, null


def resolve(c: Compiler, node: exp.Column, scope: Scope) -> Typed:
    """Compile a name.

    Raises:
        Untranslatable: it means nothing, or several columns.
    """
    name, qualifier = node.name, node.table
    for place in scope.outward():
        if found := _in_scope(c, place, name, qualifier):
            return found
        if not qualifier and (aliased := place.aliases.get(name.lower())) is not None:
            found = _alias(c, aliased, place)
            if place is not scope and any(
                not call.find(exp.Column) for call in found.node.find_all(exp.AggFunc)
            ):
                raise Untranslatable(
                    f"the name {name}", "it counts the rows of an outer SELECT", position(node)
                )
            return found
    quoted = isinstance(node.this, exp.Identifier) and node.this.quoted
    if not qualifier and quoted:
        c.applies("double-quoted-text")
        return literal(name)
    if not qualifier and name.lower() in {"true", "false"}:
        return boolean(exp.Boolean(this=name.lower() == "true"), nullable=False)
    shown = f"{qualifier}.{name}" if qualifier else name
    raise Untranslatable(f"the name {shown}", "there is no such column", position(node))


def value(c: Compiler, scope: Scope, source: Source, column: Column) -> Typed:
    """A column's value where it is used: one per row, or one per group."""
    found = source.value(column)
    if scope.grouping is not None:
        key = scope.grouping.key(found.node)
        several = found.opaque or (found.mixed and not found.is_stored_once)
        if key is None and several and found.kind is Kind.TEXT and found.collation_is_binary:
            key = scope.grouping.key(carry(c, told_apart(c, found), normal=True).node)
            if key is not None:
                return key.of(node=key.node.copy())
        per_group = scope.grouping.bare(source, column) if key is None else key.of(node=key.node.copy())
        found = per_group.of(affinity=found.affinity, collation=found.collation)
    if found.kind is Kind.NULL:
        return null()
    return told_apart(c, found)


def told_apart(c: Compiler, found: Typed) -> Typed:
    """A column with the storage classes of its values told apart, if it has several."""
    if found.carried is not None:
        return told(c, found)
    raw = (found.mixed or found.opaque) and found.kind in {Kind.REAL, Kind.TEXT} and found.each is None
    return mixed(c, found) if raw else found


def _alias(c: Compiler, aliased: exp.Expr, place: Scope) -> Typed:
    """The expression that an alias stands for; in it no alias counts."""
    aliases, place.aliases = place.aliases, {}
    try:
        c.applies("alias")
        return c.expression(aliased.copy(), place)
    finally:
        place.aliases = aliases


def _in_scope(c: Compiler, scope: Scope, name: str, qualifier: str) -> Typed | None:
    lower = name.lower()
    if not qualifier and lower in scope.shared:
        return shared(c, scope, lower, scope.shared[lower])
    sources = [
        source for source in scope.sources if not qualifier or source.name.lower() == qualifier.lower()
    ]
    found = [
        (source, column)
        for source in sources
        if (qualifier or lower not in source.merged) and (column := source.column(name))
    ]
    if not found and lower in ROWIDS:
        found = [(source, _rowid(source)) for source in sources if source.table is not None]
    if not found:
        return None
    if len(found) > 1:
        raise Untranslatable(f"the name {name}", "it is ambiguous")
    return value(c, scope, *found[0])


def shared(c: Compiler, scope: Scope, name: str, found: Typed) -> Typed:
    """A column of USING or NATURAL, of which `found` is the common value."""
    if scope.grouping is None:
        return told_apart(c, found.of(node=found.node.copy()))
    if key := scope.grouping.key(found.node):
        return key.of(node=key.node.copy())
    for source in scope.sources:
        column = source.column(name)
        if column is not None and source.value(column).node == found.node:
            return value(c, scope, source, column)
    raise Untranslatable(f"the name {name}", "it is a column of both sides of a FULL JOIN, and not grouped")


def _rowid(source: Source) -> Column:
    column = None if source.rowid is None else source.column(source.rowid)
    if column is None and source.place is not None:
        node = exp.column(exp.to_identifier(source.place, quoted=True))
        return Column("rowid", integer(node, nullable=False, affinity=Affinity.NUMERIC))
    if column is None:
        raise Untranslatable("rowid", f"those of {source.name} are not loaded, and have too many gaps")
    return column
