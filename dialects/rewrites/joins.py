"""FROM: tables, subqueries and joins. https://sqlite.org/lang_select.html#the_from_clause."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from dialects.clauses import conjuncts, from_items
from dialects.coercions import as_text, plain
from dialects.compiler import Compiler
from dialects.errors import Untranslatable
from dialects.functions import find, rows_of
from dialects.identifiers import ascii_lower
from dialects.nodes import (
    Bigint,
    Lower,
    aliased,
    case,
    coalesced,
    column_of,
    every,
    grouped,
    identifier,
    number,
    numbering,
    select,
    source_alias,
    subquery,
)
from dialects.parameters import literal
from dialects.rewrites import json
from dialects.rewrites.comparison import equal
from dialects.rewrites.ctes import keep, renamed
from dialects.rewrites.group_by import reached
from dialects.rewrites.names import told_apart
from dialects.scope import Nest, Scope, ScopeColumn, Source, exported_order, is_rowid
from dialects.server_schema import PLACE, ServerTable
from dialects.source import parse, position
from dialects.tables import folded, is_portable
from dialects.trees import find_all, has
from dialects.value_types import Affinity, Kind, Typed
from dialects.versions import SHARED_COLLATION

CONVERTED = "SQLite may convert values of a compound SELECT in FROM to the type of its first column there"


@dataclass
class From:
    """The compiled FROM clause."""

    scope: Scope
    node: exp.Expr | None = None
    joins: list[exp.Join] = field(default_factory=list)
    conditions: list[exp.Expr] = field(default_factory=list)
    """Conditions of ON clauses that moved to WHERE."""
    holding: list[exp.Expr] = field(default_factory=list)
    """Conditions of inner joins, which every row satisfies."""
    pending: list[tuple[exp.Join, exp.Expr, list[Source], int]] = field(default_factory=list)
    """Joins whose ON is not compiled yet, with the sources to their left."""
    names: list[list[str]] = field(default_factory=lambda: [[]])
    """The columns (lower case) that each source shares with earlier ones."""


def sources(c: Compiler, select: exp.Select, scope: Scope) -> From:
    """Compile FROM; adds its sources to `scope`."""
    result = From(scope)
    first = select.args.get("from_")
    if first is None:
        return result
    start, joins = _flat(first.this)
    joins += select.args.get("joins") or []
    _chain(c, start, joins, scope, result, outer=any(join.side for join in joins))
    for source in scope.sources:
        # Alone in FROM it is read row by row. With others, or as a common table expression, it may become a
        # temporary table, whose columns have the affinities of the first SELECT's.
        if source.common_table is not None or (source.table is None and len(scope.sources) > 1):
            values = (column.value for column in source.columns)
            if any(value.affinity is Affinity.VARIED and value.kind is Kind.ANY for value in values):
                c.warn(CONVERTED)
    return result


def _chain(
    c: Compiler, start: exp.Expr, joins: list[exp.Join], scope: Scope, result: From, *, outer: bool
) -> None:  # fmt: skip
    """Compile a source and the joins that follow it."""
    result.node = _item(c, start, scope, result)
    for join in joins:
        _join(c, join, scope, result)
    for target, on, left, count in result.pending:
        _on(c, target, on, scope, result, left, count, outer=outer)
    if outer:
        _refuse_outward(result.node, *(join.this for join in result.joins))


def _refuse_outward(*items: exp.Expr) -> None:
    """Reject subqueries of an outer join that return columns of an outer SELECT.

    If the join finds no row, such a column is not NULL on MySQL 9.7, and SQLite 3.40 aggregates it.
    """
    for item in items:
        inside = item.this
        if not isinstance(item, exp.Subquery) or not isinstance(inside, exp.Query):
            continue
        own = {source.alias_or_name for source in find_all(inside, exp.Table, exp.Subquery)}
        shown = {column.table for result in inside.selects for column in find_all(result, exp.Column)}
        if shown - own - {""}:
            raise Untranslatable("an outer join", "a subquery in it has columns of an outer SELECT")


def _is_nest(item: exp.Expr) -> bool:
    return (
        isinstance(item, exp.Subquery)
        and isinstance(item.this, exp.Table | exp.Subquery)
        and not item.args.get("alias")
    )


def _flat(item: exp.Expr) -> tuple[exp.Expr, list[exp.Join]]:
    """Return the first source and its joins: parentheses around the first item of FROM have no effect."""
    start, joins = _flat(item.this) if _is_nest(item) else (item, [])
    return start, [*joins, *(item.args.get("joins") or [])]


def _item(c: Compiler, item: exp.Expr, scope: Scope, result: From) -> exp.Expr:
    if isinstance(item, exp.Table):
        if isinstance(item.this, exp.Anonymous):
            return _rows(c, item, scope)
        return _table(c, item, scope)
    if _is_nest(item):
        return _nested(c, item, scope, result)
    if isinstance(item, exp.Subquery | exp.Values):
        return _derived(c, item, scope)
    raise Untranslatable(f"{item.key} in FROM", "no rewrite knows it", position(item))


def _nested(c: Compiler, item: exp.Expr, scope: Scope, result: From) -> exp.Expr:
    """Compile joins in parentheses after other sources, which are not visible inside."""
    start, joins = _flat(item)
    if not joins:
        return _item(c, start, scope, result)
    inside = Scope(scope.parent, beside=scope.names())
    inner = From(inside)
    _chain(c, start, joins, inside, inner, outer=True)
    result.holding += inner.holding
    for name, found in inside.shared.items():
        # USING searches the sources to the left first.
        if name not in scope.shared and not any(source.column(name) for source in scope.sources):
            scope.shared[name] = found
    outer = any(join.side in {"RIGHT", "FULL"} for join in inner.joins)
    nest = Nest(inside.shared, _shown(inside, inner, len(scope.sources)), outer)
    for source in inside.sources:
        source.nest = nest
    scope.sources += inside.sources
    assert isinstance(inner.node, exp.Table | exp.Subquery)  # noqa: S101 - by _item
    inner.node.set("joins", inner.joins)
    return exp.Paren(this=inner.node)


def _shown(inside: Scope, inner: From, before: int) -> list[tuple[int, int]] | None:
    """Return the columns of * for joins in parentheses: those shared with the next join, then each source's.

    Each is the numbers of its source and of its column; None if unknown. The rule is in
    https://github.com/sqlite/sqlite/blob/version-3.40.1/src/select.c (selectExpander).
    """
    if any(source.nest and source.nest.shared for source in inside.sources):
        return None
    if not inside.shared:
        return [
            (before + at, place)
            for at, source in enumerate(inside.sources) for place, _ in enumerate(source.columns)
        ]  # fmt: skip
    if any(source.nest for source in inside.sources):
        return None
    result: list[tuple[int, int]] = []
    names = [*inner.names, []]
    for at, source in enumerate(inside.sources):
        places = {column.key: place for place, column in reversed(list(enumerate(source.columns)))}
        if any(name not in places for name in names[at + 1]):
            return None
        result += [(before + at, places[name]) for name in names[at + 1]]
        hidden = {*names[at], *names[at + 1]}
        result += [
            (before + at, place)
            for place, column in enumerate(source.columns) if column.key not in hidden
        ]  # fmt: skip
    return result


def _table(c: Compiler, item: exp.Table, scope: Scope) -> exp.Expr:
    name = item.name
    shown = item.alias or name
    common_table = None if item.args.get("db") else scope.common_table(name)
    alias = _alias(c, scope, shown)
    if common_table is not None:
        again = any(source.common_table is common_table for source in scope.sources)
        scope.sources.append(
            Source(
                shown,
                alias,
                list(common_table.columns),
                common_table=common_table,
                keys=common_table.keys,
                distinct=common_table.distinct,
                grouped=common_table.grouped,
            )
        )
        if again and common_table.query is not None and c.lowers("self-joined-ctes"):
            # MySQL 9.7 cannot sort or group by the column that joins a common table expression to itself.
            return subquery(common_table.query.copy(), alias)
        return _named(common_table.target, alias)
    found = c.tables.find(name)
    if found is None and (view := c.tables.view(name)) is not None:
        return _view(c, item, alias, *view, scope)
    if found is None and name.lower() in c.tables.catalogue.TABLES and c.tables.catalogue.rows:
        return _constants(c, item, alias, c.tables.catalogue.rows, c.tables.catalogue.COLUMNS, scope)
    if found is None and _describes(name.lower()) and c.tables.catalogue.rows:
        return _described(c, item, name.lower(), [], scope)
    if found is None and (name.lower() in _CATALOGUES or name.lower().startswith("pragma_")):
        raise Untranslatable(f"the table {name}", _CATALOGUE, position(item))
    if found is None and name.lower() in c.tables.virtual:
        raise Untranslatable(f"the table {name}", _VIRTUAL, position(item))
    if found is None:
        is_own = name.lower().startswith("sqlite_") or name.lower() == "dbstat"
        reason = "SQLite keeps it about its own file" if is_own else "there is no such table"
        raise Untranslatable(f"the table {name}", reason, position(item))
    table = found.source
    wanted = c.target.row_number is not None and table.rowid is None and c.asks_for_rowids
    counted = wanted and table.rowids and not any(column.name == PLACE for column in found.columns)
    place = PLACE if counted else found.place
    keys = found.keys if place is None else (*found.keys, frozenset({place}))
    scope.sources.append(
        Source(
            shown,
            alias,
            list(c.tables.columns(found)),
            table=table,
            keys=keys,
            rowid=table.rowid,
            place=place,
        )
    )
    return _numbered(c, found, alias, str(c.target.row_number)) if counted else _named(found.name, alias)


_CATALOGUES = frozenset({"sqlite_master", "sqlite_schema", "sqlite_temp_master", "sqlite_temp_schema"})
_VIRTUAL = "it is a virtual table, such as a full-text index: the target has ordinary tables only"
_CATALOGUE = "it describes SQLite's own file; the target has information_schema.tables and .columns"


def _describes(name: str) -> bool:
    """True if a table function reads names of the schema."""
    return any(row.rewrite == "joins.described" for row in rows_of(name))


def _rows(c: Compiler, item: exp.Table, scope: Scope) -> exp.Expr:
    """Compile json_each() or json_tree() of columns to the left or of an outer SELECT."""
    name, arguments = ascii_lower(item.this.name), item.this.expressions
    if _describes(name) and c.tables.catalogue.rows:
        return _described(c, item, name, [c.expression(part, scope) for part in arguments], scope)
    called = find(name, len(arguments))
    if called is None or called.rewrite != "json.rows" or not called.accepts(len(arguments)):
        reason = _CATALOGUE if name.startswith("pragma_") else "there is none on the target"
        raise Untranslatable(f"the table function {name}", reason, position(item))
    unqualified = [part for part in find_all(item.this, exp.Column) if not part.table]
    if any(
        ascii_lower(part.name) in json.ROW and not _is_inside(c, part, item.this, scope)
        for part in unqualified
    ):
        raise Untranslatable(f"{name}()", "SQLite takes a name in it for a column of its own", position(item))
    alias = _alias(c, scope, item.alias or name)
    tree, columns = json.rows(c, name, [c.expression(part, scope) for part in arguments], c.name("rows"))
    # Its values may be JSON or texts where JSON is built from them.
    c.documents.append(Scope())
    scope.sources.append(
        Source(item.alias or name, alias, [ScopeColumn(one, value) for one, value in columns])
    )
    return _beside(tree, alias, scope)


def _is_inside(c: Compiler, column: exp.Column, call: exp.Expr, scope: Scope) -> bool:
    """Whether a column in the arguments of a table function is of a table in a subquery of them."""
    place = column.parent
    while place is not None and place is not call:
        for item in from_items(place) if isinstance(place, exp.Select) else ():
            found = None if scope.common_table(item.table) else c.tables.find(item.table)
            if found and any(
                ascii_lower(each.source.name) == ascii_lower(column.name) for each in found.columns
            ):
                return True
        place = place.parent
    return False


def _described(c: Compiler, item: exp.Table, name: str, arguments: list[Typed], scope: Scope) -> exp.Expr:
    """Compile a function that reads names of the schema, of a constant or of a column to the left."""
    catalogue, alias = c.tables.catalogue, _alias(c, scope, item.alias or name)
    names = catalogue.columns(name)
    constants = [each.constant.value for each in arguments if each.constant is not None]
    if len(constants) == len(arguments):
        return _constants(c, item, alias, catalogue.described(name, constants), names, scope)
    if len(arguments) > 1:
        raise Untranslatable(f"the table function {name}", "it reads a schema of several", position(item))
    asked = as_text(c, plain(c, arguments[0])).node
    rows = [(ascii_lower(one), *row) for one in catalogue.names for row in catalogue.described(name, [one])]
    inner, wanted = c.name("rows"), c.name("of")
    source = _constants(c, item, inner, rows, (wanted, *names), scope)
    found = scope.sources.pop()
    columns = found.columns[1:]
    tree = select(
        [column.value.node.copy() for column in columns],
        source,
        exp.EQ(this=found.columns[0].value.node.copy(), expression=Lower(this=asked)),
    )
    scope.sources.append(Source(item.alias or name, alias, columns))
    return _beside(tree, alias, scope)


def _beside(tree: exp.Select, alias: str, scope: Scope) -> exp.Expr:
    """Return a source that may read those to the left."""
    if {source.alias for source in scope.sources[:-1]} & reached(tree):
        return exp.Lateral(this=exp.Subquery(this=tree), alias=source_alias(alias))
    return subquery(tree, alias)


def _constants(
    c: Compiler,
    item: exp.Table,
    alias: str,
    rows: Sequence[Sequence[object]],
    names: tuple[str, ...],
    scope: Scope,
) -> exp.Expr:
    """Compile rows of the census as a subquery of constants."""
    c.applies("catalogue")
    written = ", ".join(f"({', '.join(map(literal, row))})" for row in rows)
    nothing = f"SELECT {', '.join('NULL' for _ in names)} WHERE 0"
    query = parse(f"VALUES {written}" if rows else nothing)
    relation = renamed(c.query(query, None, derived=True), list(names))
    keep(c, relation)
    scope.sources.append(Source(item.alias or item.name, alias, relation.columns))
    return subquery(relation.node, alias)


def _numbered(c: Compiler, found: ServerTable, alias: str, place: str) -> exp.Expr:
    """Return a table with its rowids, computed from the order in which rows were loaded."""
    c.applies("rowid")
    order = exp.Ordered(this=column_of(place))
    row: exp.Expr = numbering("ROW_NUMBER", [], [order])
    runs = found.source.rowids
    if runs != ((1, 1),):
        row = case(*((row.copy() >= number(at), _within(row, at, first)) for at, first in reversed(runs)))
    columns = [column_of(column.name) for column in found.columns]
    tree = select([*columns, aliased(row, PLACE)], exp.Table(this=identifier(found.name)))
    return subquery(tree, alias)


def _within(row: exp.Expr, start: int, first: int) -> exp.Expr:
    """Return a row's rowid within a run; neither part of the sum is beyond 64 bits."""
    return exp.Add(
        this=exp.Sub(this=row.copy(), expression=number(start)), expression=Bigint(this=number(first))
    )


def _view(
    c: Compiler, item: exp.Table, alias: str, query: exp.Expr, names: tuple[str, ...], scope: Scope
) -> exp.Expr:  # fmt: skip
    """Compile a view as a subquery, which cannot use names of the statement around it."""
    c.applies("view")
    expanded = {ascii_lower(cte.alias) for cte in find_all(query, exp.CTE)}
    read = {ascii_lower(table.name) for table in find_all(query, exp.Table)} - expanded
    if hidden := c.common_names(expanded, read):
        raise Untranslatable(
            f"the view {item.name}", f"{hidden} is a common table expression, too", position(item)
        )
    c.asks_for_rowids = c.asks_for_rowids or any(map(is_rowid, find_all(query, exp.Column)))
    c.joins_outward = c.joins_outward or any(join.side for join in find_all(query, exp.Join))
    try:
        relation = renamed(c.query(query, None, derived=True), list(names))
    except Untranslatable as error:
        raise Untranslatable(
            f"the view {item.name}", f"{error.construct}: {error.reason}", position(item)
        ) from error
    keep(c, relation)
    shown = item.alias or item.name
    scope.sources.append(
        Source(shown, alias, relation.columns, distinct=relation.distinct, grouped=relation.grouped)
    )
    return subquery(relation.node, alias)


def _named(name: str, alias: str) -> exp.Table:
    table = exp.Table(this=identifier(name))
    if alias != name:
        table.set("alias", source_alias(alias))
    return table


def _alias(c: Compiler, scope: Scope, shown: str) -> str:
    """Return an alias for a source, as written if that is free; in lower case, which SQLite treats alike."""
    taken = {folded(name) for name in scope.names()}
    if c.lowers("columns-hide-tables"):
        taken |= c.columns_read
    plain = shown if c.target.aliases_keep_case else ascii_lower(shown)
    return plain if folded(shown) not in taken and is_portable(plain) else c.name(plain)


def _derived(c: Compiler, item: exp.Expr, scope: Scope) -> exp.Expr:
    shown = item.alias or ""
    inside = item.this if isinstance(item, exp.Subquery) else item
    if isinstance(inside, exp.Table) or _is_nest(inside):
        if shown and _shows_all(item) and any(_shares(join) for join in find_all(inside, exp.Join)):
            raise Untranslatable(
                f"* of parentheses called {shown}", "SQLite shows shared columns in an order of its own"
            )
        inside = select([exp.Star()], exp.Subquery(this=inside))
    relation = c.query(inside, scope.parent, derived=True)
    keep(c, relation)
    alias = _alias(c, scope, shown) if shown else c.name("q")
    source = Source(
        shown,
        alias,
        relation.columns,
        keys=relation.keys,
        distinct=relation.distinct,
        grouped=relation.grouped,
        one_row=relation.one_row,
    )
    order = exported_order(relation) if c.lists else relation.order
    source.order = [_of_source(part, alias) for part in order] if order else None
    scope.sources.append(source)
    return subquery(relation.node, alias)


def _shows_all(item: exp.Expr) -> bool:
    """True if the SELECT that contains a source has a *."""
    select = item.find_ancestor(exp.Select)
    return select is not None and any(part.is_star for part in select.expressions)


def _shares(join: exp.Join) -> bool:
    return bool(join.args.get("using")) or (join.method or "").upper() == "NATURAL"


def _of_source(term: exp.Expr, alias: str) -> exp.Expr:
    term = term.copy()
    for column in find_all(term, exp.Column):
        column.set("table", identifier(alias))
    return term


def _join(c: Compiler, join: exp.Join, scope: Scope, result: From) -> None:
    left = list(scope.sources)
    side, natural = (join.side or "").upper(), (join.method or "").upper() == "NATURAL"
    holding = list(result.holding)
    node = _item(c, join.this, scope, result)
    new = scope.sources[len(left) :]
    _let_miss(scope, left, new, side)
    if side:
        # Conditions inside parentheses do not hold where an outer join replaces all of them by NULL.
        result.holding[:] = holding if side == "LEFT" else []
    if isinstance(node, exp.Lateral) and side in {"RIGHT", "FULL"}:
        raise Untranslatable(
            f"{side} JOIN", "the joined source uses columns to its left", position(join.this)
        )
    target = exp.Join(this=node, side=side or None)
    nest = new[0].nest
    names = [part.name for part in join.args.get("using") or []]
    if natural:
        shown = {column.key: column.name for source in reversed(new) for column in source.columns}
        names = [name for name in shown.values() if any(other.column(name) for other in left)]
    result.names.append([ascii_lower(name) for name in names])
    if names:
        c.applies("shared-columns")
        if nest is not None and (nest.outer or side in {"RIGHT", "FULL"}):
            _refuse_several(names, new, nest)
        joins = join.parent.args.get("joins") if join.parent is not None else None
        merging = any((each.side or "").upper() in {"RIGHT", "FULL"} for each in joins or [join])
        on = every(_share(c, scope, name, left, new, side, merging=merging) for name in names)
        target.set("on", on)
        if not side:
            result.holding += conjuncts(on)
    elif (written := join.args.get("on")) is not None:
        result.pending.append((target, written, list(scope.sources), len(scope.sources)))
    elif side:
        target.set("on", exp.Boolean(this=True))
    else:
        c.applies("join-order")
        target.set("kind", "CROSS")
    result.joins.append(target)


def _refuse_several(names: list[str], new: list[Source], nest: Nest) -> None:
    """Reject shared columns that occur several times in parentheses: SQLite 3.40 uses each of them."""
    for name in names:
        if ascii_lower(name) not in nest.shared and sum(1 for source in new if source.column(name)) > 1:
            raise Untranslatable(f"USING ({name})", "two tables in parentheses have it, with an outer join")


def _let_miss(scope: Scope, left: list[Source], new: list[Source], side: str) -> None:
    """Mark the sources that an outer join can replace by NULL."""
    missing = (new if side in {"LEFT", "FULL"} else []) + (left if side in {"RIGHT", "FULL"} else [])
    for source in missing:
        if source.common_table is not None and source.common_table.recursing:
            raise Untranslatable("a recursive query", "an outer join adds NULL to its own rows")
        source.optional = True
    aliases = {source.alias for source in missing}
    for name, found in scope.shared.items():
        if any(column.table in aliases for column in find_all(found.node, exp.Column)):
            scope.shared[name] = found.of(nullable=True)


def _share(
    c: Compiler, scope: Scope, name: str, left: list[Source], new: list[Source], side: str, *, merging: bool
) -> exp.Expr:
    """Return the equality of a shared column, and let its unqualified name mean the common value.

    `merging` is True if one of the joins is a RIGHT or FULL JOIN.
    """
    lower = ascii_lower(name)
    there = next((source for source in left if source.column(name) and lower not in source.merged), None)
    here = next((source for source in new if source.column(name)), None)
    if there is None or here is None:
        raise Untranslatable(f"USING ({name})", "both sides need a column of that name")
    before = scope.shared.get(lower) or _column(there, name)
    after = (here.nest and here.nest.shared.get(lower)) or _column(here, name)
    compared = before
    if merging:
        compared = _gathered(c, name, before, after, [source for source in left if source.column(name)])
    here.merged.add(lower)
    if side in {"RIGHT", "FULL"}:
        # In parentheses other sources may have such a column, too, and * shows it as it is.
        for source in left if there.nest is None else [there]:
            source.outranked[lower] = scope.shared
    common = after if side == "RIGHT" else before
    if side == "FULL":
        common = _first_of(name, [before, after])
    scope.shared[lower] = common
    with c.filtered(True):
        # ON needs its own copies: emulating a FULL JOIN renames columns.
        sides = (told_apart(c, side.of(node=side.node.copy())) for side in (compared, after))
        return equal(c, *sides).node


def _gathered(c: Compiler, name: str, before: Typed, after: Typed, left: list[Source]) -> Typed:
    """Return what SQLite compares with a shared column next to a RIGHT or FULL JOIN.

    If several tables to the left have the column it is COALESCE of them all, which has neither affinity nor
    collation.
    """
    columns = [_column(source, name) for source in left]
    if len(columns) < 2 or all(  # noqa: PLR2004 - one has an affinity and a collation
        each.kind is after.kind
        # An affinity changes no value that is of its kind already.
        and (each.affinity is after.affinity or each.kind is not Kind.ANY)
        and each.collation_is_binary
        for each in (*columns, after)
    ):
        return before
    c.changed.add(SHARED_COLLATION)
    if any(source.nest for source in left):
        reason = "tables in parentheses next to a RIGHT or FULL JOIN have it with several types or collations"
        raise Untranslatable(f"USING ({name})", reason)
    return _first_of(name, columns)


def _first_of(name: str, columns: list[Typed]) -> Typed:
    """Return the COALESCE of a shared column of several tables.

    A function's value is not a column: it has neither affinity nor collation.
    """
    kinds = {each.kind for each in columns}
    if len(kinds) > 1 and not all(kind.is_numeric for kind in kinds):
        reason = "a RIGHT or FULL JOIN makes one value of columns of several types"
        raise Untranslatable(f"USING ({name})", reason)
    first, *others = (each.node.copy() for each in columns)
    found = columns[0].of(node=coalesced(first, *others), affinity=Affinity.NONE)
    found = found.with_number(low=None, high=None).with_text(collation=None)
    if len(kinds) == 1:
        return found
    return found.of(kind=Kind.NUMBER).with_number(integral=None, decimal=False).with_text(form=None)


def _column(source: Source, name: str) -> Typed:
    column = source.column(name)
    assert column is not None  # noqa: S101 - looked up before
    return source.value(column)


def _on(
    c: Compiler, target: exp.Join, on: exp.Expr, scope: Scope, result: From, left: list[Source], count: int,
    *, outer: bool,
) -> None:  # fmt: skip
    node = c.condition(on, scope, filtering=True)
    allowed = {source.alias for source in left}
    later = {source.alias for source in scope.sources[count:]} - allowed
    ahead = bool(later) and any(column.table in later for column in find_all(node, exp.Column))
    if not target.side:
        kept = any(join.side in {"RIGHT", "FULL"} for join in result.joins[result.joins.index(target) :])
        result.holding += [] if kept else conjuncts(node)
        if kept and any(not reached(part) for part in conjuncts(node) if part != exp.true()):
            raise Untranslatable(
                "ON without a column before a RIGHT or FULL JOIN", "SQLite 3.40 drops all rows"
            )
    if not ahead:
        apart = target.side and c.lowers("outer-join-subqueries") and has(node, exp.Query)
        target.set("on", _apart(node) if apart else node)
        return
    if outer:
        raise Untranslatable("ON", "it refers to a table to its right")
    c.applies("join-order")
    target.set("kind", "CROSS")
    result.conditions.append(node)


def _apart(condition: exp.Expr) -> exp.Expr:
    """Write an ON so that MySQL 9.7 makes no semijoins of its subqueries, which repeat outer rows."""
    return every(
        exp.EQ(this=grouped(part), expression=number(1)) if has(part, exp.Query) else part
        for part in (part.copy() for part in conjuncts(condition))
    )
