"""Resolve names: SQLite searches the SELECT, then its aliases, then the outer SELECTs.

https://sqlite.org/lang_select.html https://sqlite.org/quirks.html#dblquote
"""

import re
from collections.abc import Sequence

from sqlglot import exp

from dialects.coercions import literal
from dialects.compiler import Compiler
from dialects.errors import Untranslatable
from dialects.identifiers import ascii_lower
from dialects.nodes import column_of
from dialects.rewrites.operators import mixed
from dialects.scope import ROWIDS, Nest, Scope, ScopeColumn, Source, new_name
from dialects.source import Starred, position
from dialects.tables import LAST_IN_NAMES, folded, is_portable
from dialects.tagged_values import from_tagged, to_tagged
from dialects.trees import find_all, has
from dialects.value_types import Affinity, Kind, Typed, integer, null

_NUMBERED = re.compile(r"(?<=.):[0-9]*\Z", re.DOTALL)


def resolve(c: Compiler, node: exp.Column, scope: Scope) -> Typed:
    """Compile a name.

    Raises:
        Untranslatable: there is no such column, or several.
    """
    name, qualifier = node.name, node.table
    for place in scope.outward():
        if found := _in_scope(c, place, name, qualifier):
            c.found_in.append(place)
            return found
        if not qualifier and (aliased := place.aliases.get(ascii_lower(name))) is not None:
            found = _alias(c, aliased, place)
            if place is not scope and any(
                not has(call, exp.Column) for call in find_all(found.node, exp.AggFunc)
            ):
                raise Untranslatable(
                    f"the name {name}", "it counts the rows of an outer SELECT", position(node)
                )
            return found
    quoted = isinstance(node.this, exp.Identifier) and node.this.quoted
    if not qualifier and quoted:
        c.applies("double-quoted-text")
        return literal(name)
    shown = f"{qualifier}.{name}" if qualifier else name
    raise Untranslatable(f"the name {shown}", "there is no such column", position(node))


def value(c: Compiler, scope: Scope, source: Source, column: ScopeColumn) -> Typed:
    """Return a column's value where it is used: one per row, or one per group."""
    found = source.value(column)
    if scope.grouping is not None:
        key = scope.grouping.key(found.node)
        several = found.stored.opaque or (found.stored.mixed and not found.is_stored_once)
        if key is None and several and found.kind is Kind.TEXT and found.collation_is_binary:
            key = scope.grouping.key(to_tagged(c, told_apart(c, found), normal=True).node)
            if key is not None:
                return key.of(node=key.node.copy())
        per_group = scope.grouping.bare(source, column) if key is None else key.of(node=key.node.copy())
        found = per_group.of(affinity=found.affinity).with_text(collation=found.text.collation)
    if found.kind is Kind.NULL:
        return null()
    return told_apart(c, found)


def told_apart(c: Compiler, found: Typed) -> Typed:
    """Split a column by the storage classes of its values, if it has several."""
    if found.tagged is not None:
        return from_tagged(c, found)
    raw = found.stored.is_raw and found.kind in {Kind.REAL, Kind.TEXT} and not found.is_split
    return mixed(c, found) if raw else found


def _alias(c: Compiler, aliased: exp.Expr, place: Scope) -> Typed:
    """Compile an alias's expression, in which aliases have no meaning."""
    aliases, place.aliases = place.aliases, {}
    try:
        c.applies("alias")
        return c.expression(aliased.copy(), place)
    finally:
        place.aliases = aliases


def _in_scope(c: Compiler, scope: Scope, name: str, qualifier: str) -> Typed | None:
    lower = ascii_lower(name)
    if not qualifier and lower in scope.shared:
        return shared(c, scope, lower, scope.shared[lower])
    sources = scope.sources
    if qualifier:
        wanted = ascii_lower(qualifier)
        sources = [source for source in sources if ascii_lower(source.name) == wanted]
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
    """Return a column shared by USING or NATURAL, whose common value is `found`."""
    if scope.grouping is None:
        return told_apart(c, found.of(node=found.node.copy()))
    if key := scope.grouping.key(found.node):
        return key.of(node=key.node.copy())
    for source in scope.sources:
        column = source.column(name)
        if column is not None and source.value(column).node == found.node:
            return value(c, scope, source, column)
    raise Untranslatable(f"the name {name}", "it is a column of both sides of a FULL JOIN, and not grouped")


def _rowid(source: Source) -> ScopeColumn:
    column = None if source.rowid is None else source.column(source.rowid)
    if column is None and source.place is not None:
        node = column_of(source.place)
        return ScopeColumn("rowid", integer(node, nullable=False, affinity=Affinity.NUMERIC))
    if column is None:
        raise Untranslatable("rowid", f"those of {source.name} are not loaded, and have too many gaps")
    return column


# The result columns of a SELECT and their names. https://sqlite.org/lang_select.html.

Result = tuple[str, exp.Expr, bool]
"""A result column: its name, its expression as written, and whether it has an alias."""


def results_of(c: Compiler, node: exp.Select, scope: Scope, *, derived: bool) -> list[Result]:
    """Return the result columns as written, with * expanded; only where a query reads it has each a name."""
    is_read = derived or isinstance(node.parent, exp.SetOperation)
    results: list[Result] = []
    for item in node.expressions:
        if isinstance(item, exp.Star):
            c.applies("star")
            results += _star(scope, None)
        elif isinstance(item, exp.Column) and isinstance(item.this, exp.Star):
            c.applies("star")
            results += _star(scope, item.table)
        elif isinstance(item, exp.Alias):
            results.append((item.alias, item.this, True))
        elif isinstance(item, exp.Column):
            results.append((item.name, item, False))
        else:
            results.append((_shown(item) if is_read else item.key, item, False))
    return results


def _shown(item: exp.Expr) -> str:
    """Return SQLite's name for an expression without alias: approximately its text."""
    try:
        return item.sql(dialect="sqlite")
    except ValueError:
        return ""  # it has an operator that sqlglot does not write


def _star(scope: Scope, qualifier: str | None) -> list[Result]:
    """Return the columns of one source or of all; those shared by USING once."""
    results: list[Result] = []
    there = False
    nests: list[Nest] = []
    for at, source in enumerate(scope.sources):
        if qualifier is not None and ascii_lower(source.name) != ascii_lower(qualifier):
            continue
        there = True
        if source.nest is not None and source.nest.shared and source.outranked and qualifier is not None:
            raise Untranslatable(f"{qualifier}.*", "it has columns that joins in parentheses share")
        if qualifier is None and source.nest is not None:
            if source.nest not in nests:
                nests.append(source.nest)
                results += _star_of_nest(scope, source.nest)
            continue
        for place, column in enumerate(source.columns):
            if qualifier is not None or column.key not in source.merged:
                results.append((column.name, Starred(source=at, column=place), False))
    if not there:
        raise Untranslatable("*" if qualifier is None else f"{qualifier}.*", "there is no such table in FROM")
    return results


def target_names(
    c: Compiler, results: list[Result], values: list[Typed], *, derived: bool
) -> list[str | None]:
    """Return the result columns' names on the target; unless `derived`, only those that are written."""
    if not derived:
        return [
            name
            if explicit and name and (not c.lowers("names-beyond-bmp") or max(name) <= LAST_IN_NAMES)
            else None
            for name, _, explicit in results
        ]
    names: list[str | None] = []
    taken: set[str] = set()
    for at, ((name, written, explicit), _) in enumerate(zip(results, values, strict=True)):
        plain = name if explicit or isinstance(written, exp.Column | Starred) else ""
        if not plain or not is_portable(plain) or folded(plain) in taken:
            plain = new_name(f"_c{at + 1}", taken)
        taken.add(folded(plain))
        names.append(plain)
    return names


def unique_names(names: Sequence[str]) -> list[str]:
    """Return the names that SQLite gives the columns of a subquery if some are equal: `a`, `a:1`, `a:2`.

    https://github.com/sqlite/sqlite/blob/version-3.40.1/src/select.c, sqlite3ColumnsFromExprList.
    """
    taken: set[str] = set()
    found = []
    for name in names:
        unique, again = name, 0
        while unique and ascii_lower(unique) in taken:
            again += 1
            unique = f"{_NUMBERED.sub('', name)}:{again}"
        taken.add(ascii_lower(unique))
        found.append(unique)
    return found


def _star_of_nest(scope: Scope, nest: Nest) -> list[Result]:
    if nest.shown is None:
        raise Untranslatable("*", "it shows shared columns of parentheses in parentheses")
    shown = [(scope.sources[at].columns[place].name, at, place) for at, place in nest.shown]
    return [
        (name, Starred(source=at, column=place), False)
        for name, at, place in shown if ascii_lower(name) not in scope.sources[at].merged
    ]  # fmt: skip
