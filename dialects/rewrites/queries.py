"""Compile SELECT statements. https://sqlite.org/lang_select.html."""

from collections.abc import Iterable
from dataclasses import replace

from sqlglot import exp

from dialects.clauses import conjuncts
from dialects.coercions import value
from dialects.compiler import Compiler
from dialects.errors import Untranslatable
from dialects.identifiers import ascii_lower
from dialects.nodes import aliased, column_of, is_constant, number
from dialects.rewrites import compound, ctes, emulation
from dialects.rewrites.aggregates import OuterAggregate, is_aggregate, owner_of
from dialects.rewrites.group_by import Groups, Name, bind_once, determined, group, is_fixed, name_of
from dialects.rewrites.joins import From, sources
from dialects.rewrites.names import Result, results_of, target_names, unique_names
from dialects.rewrites.order_by import (
    CUT,
    LISTED,
    computed,
    cuts,
    first_row,
    is_decided,
    limited,
    sort_terms,
    tie_terms,
)
from dialects.rewrites.windows import named_windows, warn_of_peers
from dialects.scope import Relation, RowsNeeded, Scope, ScopeColumn
from dialects.source import position
from dialects.tagged_values import from_tagged, to_tagged
from dialects.trees import copied, has
from dialects.value_types import Collation, Kind, Typed

_TEXTS = frozenset({Kind.TEXT, Kind.ANY})


def query(
    c: Compiler,
    node: exp.Expr,
    parent: Scope | None,
    *,
    derived: bool = False,
    wanted: RowsNeeded = RowsNeeded.ALL,
) -> Relation:
    """Compile a SELECT, VALUES or compound SELECT.

    Args:
        c: the compiler.
        node: the query.
        parent: the scope around it.
        derived: whether every result column gets a name of its own.
        wanted: which of its rows are used.
    """
    while isinstance(node, exp.Subquery):
        node = node.this
    written = node.args.get("with_")
    scope = parent
    if written is not None:
        scope = Scope(parent)
        clause = ctes.compile_ctes(c, written, scope)
    if isinstance(node, exp.SetOperation):
        relation = compound.compile_compound(c, node, scope, derived=derived, wanted=wanted)
    elif isinstance(node, exp.Values):
        relation = compound.compile_values(c, node, scope, derived=derived, wanted=wanted)
    elif isinstance(node, exp.Select):
        relation = select(c, node, scope, derived=derived, wanted=wanted)
    else:
        raise Untranslatable(node.key, "it is not a query")
    if written is not None:
        added = relation.node.args.get("with_")
        clause.set("expressions", [*clause.expressions, *(added.expressions if added else ())])
        relation.node.set("with_", clause if clause.expressions else None)
    return relation


def select(
    c: Compiler,
    node: exp.Select,
    parent: Scope | None,
    *,
    derived: bool = False,
    wanted: RowsNeeded = RowsNeeded.ALL,
) -> Relation:
    """Compile one SELECT; see `query`."""
    _refuse(node)
    below: list[exp.Anonymous] = []
    while True:
        scope = Scope(parent)
        try:
            return _selected(c, node, scope, below, derived=derived, wanted=wanted)
        except OuterAggregate as found:
            if found.scope is not scope or below:
                raise
            below.append(found.call)


def _selected(
    c: Compiler,
    node: exp.Select,
    scope: Scope,
    below: list[exp.Anonymous],
    *,
    derived: bool,
    wanted: RowsNeeded,
) -> Relation:
    """Compile one SELECT; `below` are its aggregates within subqueries."""
    found = sources(c, node, scope)
    scope.windows = named_windows(node.args.get("windows") or [])
    results = results_of(c, node, scope, derived=derived)
    aliases = {ascii_lower(name): written for name, written, explicit in reversed(results) if explicit}
    scope.aliases = aliases
    conditions = [*found.conditions, *_where(c, node, scope)]
    scope.holding = [*found.holding, *(part for condition in conditions for part in conjuncts(condition))]
    groups = _groups(c, node, scope, results, below)
    distinct = node.args.get("distinct") is not None and not (
        # The first row found is also the first of DISTINCT.
        (wanted is RowsNeeded.FIRST or _is_one(node.args.get("limit")))
        and node.args.get("offset") is None
        and node.args.get("order") is None
    )
    scope.grouping, scope.aliases = groups.grouping if groups else None, {}
    values = [c.expression(written, scope) for _, written, _ in results]
    scope.aliases, values = aliases, _as_columns(c, values, results, derived=derived, distinct=distinct)
    having = (
        None
        if node.args.get("having") is None
        else c.condition(node.args["having"].this, scope, filtering=True)
    )
    collated = distinct and not all(found_.collation_is_binary for found_ in values)
    if collated:
        groups, values = _grouped_instead(c, node, scope, results, values)
        values = _as_columns(c, values, results, derived=derived, distinct=False)
        _check_no_windows(values)
        distinct = False
    bounds = computed(c, node, scope)
    names = target_names(c, results, values, derived=derived or bounds is not None)
    items = [
        _item(c, found_, name, written, derived=derived)
        for found_, name, (_, written, _) in zip(values, names, results, strict=True)
    ]
    exists = wanted is RowsNeeded.ANY
    if exists and not groups and node.args.get("limit") is None:
        items = [number(1)]
    tree = _tree(items, found, conditions)
    if distinct and not exists:
        tree.set("distinct", exp.Distinct())
    if groups:
        having = groups.finish(c, tree, having)
    if having is not None:
        tree.set("having", exp.Having(this=having))
    is_read = node is not c.root  # no other query reads the rows of the statement
    one_row = (
        (groups is not None and not groups.keys)
        or _is_one(node.args.get("limit"))
        or (is_read and _unique(scope))
    )
    first = wanted is RowsNeeded.FIRST and not one_row
    order = [] if exists else _sorted(
        c, node, scope, groups, results, values, names, tree,
        derived=derived, distinct=distinct or collated, first=first,
    )  # fmt: skip
    if order:
        tree.set("order", exp.Order(expressions=order))
    bind_once(c, tree)
    warn_of_peers(c, scope, tree)
    emulation.emulate(c, tree, groups)
    tree = _of_any(tree) if exists and node.args.get("limit") is None else limited(c, node, tree, bounds)
    if first:
        first_row(c, tree)
    columns = [
        ScopeColumn(shown, _exported_value(found_, name or shown) if is_read else found_)
        for shown, found_, name in zip(
            unique_names([shown for shown, _, _ in results]), values, names, strict=True
        )
    ]
    result = Relation(tree, columns, one_row or wanted is RowsNeeded.FIRST)
    if is_read:
        _describe(result, scope, values, names, groups, order, distinct=distinct, derived=derived)
    result.sort = result.sort if bounds is None or not c.lowers("computed-limits") else []
    return result


def _where(c: Compiler, node: exp.Select, scope: Scope) -> list[exp.Expr]:
    """Compile WHERE, after which a column has no blobs if `typeof()` says so."""
    where = node.args.get("where")
    if where is None:
        return []
    condition = c.condition(where.this, scope, filtering=True)
    for column in filter(None, map(_without_blobs, conjuncts(where.this))):
        qualifier = ascii_lower(column.table)
        named = [each for each in scope.sources if not qualifier or ascii_lower(each.name) == qualifier]
        named = [each for each in named if each.column(column.name)]
        found = named[0].column(column.name) if len(named) == 1 else None
        if found is not None:
            value = found.value.of(stored=replace(found.value.stored, blobs=False))
            known = replace(found, value=value)
            named[0].columns = [known if each is found else each for each in named[0].columns]
    return [condition]


def _without_blobs(test: exp.Expr) -> exp.Column | None:
    """Return the column of which a condition says by typeof() that it is no blob."""
    call = test.this if isinstance(test, exp.EQ | exp.NEQ | exp.In) else None
    if not isinstance(call, exp.Anonymous) or call.name.lower() != "typeof":
        return None
    kinds = test.expressions if isinstance(test, exp.In) else [test.expression]
    written = [kind.name if isinstance(kind, exp.Literal) else "blob" for kind in kinds]
    literal = all(isinstance(kind, exp.Literal) for kind in kinds)
    says = (
        written == ["blob"] and literal
        if isinstance(test, exp.NEQ)
        else bool(kinds) and "blob" not in written
    )
    [argument] = call.expressions
    return argument if says and isinstance(argument, exp.Column) else None


def _of_any(tree: exp.Select) -> exp.Select:
    """Return a SELECT of which only counts whether it has rows: groups have one, whatever it is."""
    keys = tree.args["group"].expressions if tree.args.get("group") else []
    if keys and not any(map(is_constant, keys)):
        tree.set("expressions", [number(1)])
    return tree


def _sorted(
    c: Compiler, node: exp.Select, scope: Scope, groups: Groups | None, results: list[Result],
    values: list[Typed], names: list[str | None], tree: exp.Select, *,
    derived: bool, distinct: bool, first: bool,
) -> list[exp.Expr]:  # fmt: skip
    """Return the ORDER BY terms, with those that decide which rows LIMIT keeps, or which is `first`."""
    order = sort_terms(c, node, scope, results, values, names, tree, derived=derived)
    is_cut, is_listed = cuts(c, node), bool(order) and derived and c.lists
    if not (is_cut or first or is_listed):
        return order
    decided = is_decided(scope, groups, order, values, names)
    if is_cut or (first and not decided):
        order += tie_terms(c, node, scope, groups, order, CUT, distinct=distinct, decided=decided)
    elif is_listed and not decided:
        order += tie_terms(c, node, scope, groups, order, LISTED, distinct=distinct, decided=False)
    return order


def _describe(
    result: Relation, scope: Scope, values: list[Typed], names: list[str | None], groups: Groups | None,
    order: list[exp.Expr], *, distinct: bool, derived: bool,
) -> None:  # fmt: skip
    """Record the facts about the rows of a compiled SELECT."""
    result.collations = tuple(found.text.collation if found.kind in _TEXTS else None for found in values)
    result.texts = tuple(found.text for found in values)
    result.keys = _keys(values, names, groups, distinct=distinct)
    result.distinct = _distinct(scope, values, names, groups, distinct=distinct, one_row=result.one_row)
    if groups and not order and result.node.args.get("limit", result.node.args.get("offset")) is None:
        result.grouped = _grouped_by(values, names, groups)
    if derived:
        result.order = _exported(order, values, names)
        places = any(isinstance(term.this, exp.Literal | exp.Identifier) for term in order)
        result.sort = order if not (result.order or distinct or places) else []


def _grouped_by(values: list[Typed], names: list[str | None], groups: Groups) -> tuple[str, ...]:
    """Return the result columns that are the keys of the groups, if all keys are results."""
    nodes = [found.node for found in values]
    keys = [key.node for _, key in groups.grouping.keys]
    if len(keys) != len(groups.keys) or not all(key in nodes for key in keys):
        return ()
    return tuple(name for key in keys if (name := names[nodes.index(key)]))


def _check_no_windows(values: list[Typed]) -> None:
    if any(has(each.node, exp.Window) for each in values):
        raise Untranslatable("SELECT DISTINCT", "it has window functions, and compares texts by a collation")


def _grouped_instead(
    c: Compiler, node: exp.Select, scope: Scope, results: list[Result], values: list[Typed]
) -> tuple[Groups, list[Typed]]:
    """Compile SELECT DISTINCT under a collation: SQLite returns the first of each group of equal texts."""
    if scope.grouping is not None:
        raise Untranslatable("SELECT DISTINCT", "it is grouped, and compares texts by a collation")
    pairs = zip((written for _, written, _ in results), values, strict=True)
    keys = [(written, found) for written, found in pairs if not is_constant(found.node)]
    groups = group(c, node, scope, keys, scope.holding, [], empty=False)
    scope.grouping = groups.grouping
    aliases, scope.aliases = scope.aliases, {}
    values = [c.expression(written, scope) for _, written, _ in results]
    scope.aliases = aliases
    return groups, values


def _tree(items: list[exp.Expr], found: From, conditions: list[exp.Expr]) -> exp.Select:
    tree = exp.Select(expressions=items)
    if found.node is not None:
        tree.set("from_", exp.From(this=found.node))
    if found.joins:
        tree.set("joins", found.joins)
    conditions = _without_implied(conditions, found.holding)
    if conditions:
        tree.set("where", exp.Where(this=_all(conditions)))
    return tree


def _without_implied(conditions: list[exp.Expr], holding: list[exp.Expr]) -> list[exp.Expr]:
    """Leave out `a IS b` of a WHERE that demands `a = b`, too: MySQL 9.7 and MariaDB 11.8 keep NULL there."""
    parts = [part for condition in conditions for part in conjuncts(condition)]
    if not any(isinstance(part.unnest(), exp.NullSafeEQ) for part in parts):
        return conditions
    equal = [part.unnest() for part in (*holding, *parts) if isinstance(part.unnest(), exp.EQ)]
    pairs = [(one.this, one.expression) for one in equal]

    def is_implied(part: exp.Expr) -> bool:
        sides = part.this, part.expression
        return isinstance(part, exp.NullSafeEQ) and (sides in pairs or sides[::-1] in pairs)

    kept = [part for part in parts if not is_implied(part.unnest())]
    return conditions if len(kept) == len(parts) else kept


def _as_columns(
    c: Compiler, values: list[Typed], results: list[Result], *, derived: bool, distinct: bool
) -> list[Typed]:
    """Return the results, with those of several kinds as JSON."""
    if distinct and any(found.number.decimal for found in values):
        raise Untranslatable("SELECT DISTINCT", "it compares numbers beyond 64 bits")
    return [
        _carried(c, found, written, derived=derived, distinct=distinct)
        for found, (_, written, _) in zip(values, results, strict=True)
    ]


def _carried(c: Compiler, found: Typed, written: exp.Expr, *, derived: bool, distinct: bool) -> Typed:
    """Return a result of several kinds as JSON; a stored column can stay as it is stored."""
    stored = found.stored.mixed and found.tagged is None and isinstance(found.node, exp.Column)
    if found.kind is not Kind.ANY or (derived and stored and (found.is_stored_once or not distinct)):
        return found
    try:
        return to_tagged(c, found, normal=distinct and found.collation_is_binary)
    except Untranslatable as error:
        raise Untranslatable(error.construct, error.reason, position(written)) from None


def _item(c: Compiler, found: Typed, name: str | None, written: exp.Expr, *, derived: bool) -> exp.Expr:
    stored = found.tagged is not None or (
        derived and found.stored.mixed and isinstance(found.node, exp.Column)
    )
    try:
        item = found.node if stored else value(c, found)
    except Untranslatable as error:
        raise Untranslatable(error.construct, error.reason, position(written)) from None
    return item if name is None else aliased(item, name)


def _exported_value(found: Typed, name: str) -> Typed:
    """Return a result column as the outer query sees it."""
    node = column_of(name)
    kind = found.kind
    if found.stored.mixed and found.tagged is None:
        kind = Kind.TEXT if kind is Kind.ANY else Kind.REAL if kind is Kind.NUMBER else kind
    # A column has a collation, and overrides one to its right even if it is SQLite's default.
    collation = found.text.collation or Collation.BINARY
    column = found.of(node=node, kind=kind, constant=None, several=found.tagged)
    column = column.with_number(condition=False, integral=None)
    return column.with_text(collation=collation, collates=False)


def _refuse(node: exp.Select) -> None:
    for part in ("laterals", "pivots", "match", "qualify", "sample", "into", "kind"):
        if node.args.get(part):
            raise Untranslatable(part, "SQLite has none")
    if (distinct := node.args.get("distinct")) is not None and distinct.args.get("on"):
        raise Untranslatable("DISTINCT ON", "SQLite has none")


def _groups(
    c: Compiler, node: exp.Select, scope: Scope, results: list[Result], below: list[exp.Anonymous]
) -> Groups | None:
    written = node.args.get("group")
    parts = [*(item for _, item, _ in results)]
    parts += [node.args[clause] for clause in ("having", "order") if node.args.get(clause) is not None]
    calls = [call for part in parts for call in _calls(part) if owner_of(call, scope) is None] + below
    if written is None and not calls:
        if node.args.get("having") is not None:
            raise Untranslatable("HAVING", "SQLite takes it with GROUP BY or an aggregate only")
        return None
    terms = [] if written is None else [_group_term(term, results, scope) for term in written.expressions]
    compiled = [(term, c.expression(term, scope)) for term in terms]
    compiled = [(term, _group_key(c, key)) for term, key in compiled]
    keys = [(term, key) for term, key in compiled if not is_constant(key.node)]
    extremes = [call for call in calls if ascii_lower(call.name) in {"min", "max"}]
    return group(c, node, scope, keys, scope.holding, extremes, empty=written is not None and not keys)


def _group_key(c: Compiler, key: Typed) -> Typed:
    """Return a key of several kinds as JSON to group by; its kinds are split afterwards."""
    if key.kind is not Kind.ANY or key.is_stored_once or not key.collation_is_binary:
        return key
    key = to_tagged(c, key, normal=True)
    return from_tagged(c, key.of(several=key.tagged))


def _group_term(term: exp.Expr, results: list[Result], scope: Scope) -> exp.Expr:
    """Resolve a GROUP BY term: 2 is the second result column; a name of no column is an alias."""
    number_ = _integer_of(term)
    if isinstance(term, exp.Column) and not term.table:
        known = any(source.column(term.name) for source in scope.sources)
        return term if known else scope.aliases.get(ascii_lower(term.name), term)
    if number_ is not None:
        if not 1 <= number_ <= len(results):
            raise Untranslatable(f"GROUP BY {number_}", f"there are {len(results)} result columns")
        return results[number_ - 1][1]
    return term


def _integer_of(term: exp.Expr) -> int | None:
    """Return the integer that a term is, also in parentheses, under a sign or a COLLATE; else None.

    See sqlite3ExprIsInteger() in https://github.com/sqlite/sqlite/blob/version-3.40.1/src/expr.c.
    """
    sign = 1
    while isinstance(term, exp.Paren | exp.Neg | exp.Collate):
        sign = -sign if isinstance(term, exp.Neg) else sign
        term = term.this
    is_integer = isinstance(term, exp.Literal) and not term.is_string and term.name.isdigit()
    return sign * int(term.name) if is_integer else None


_WITHOUT_CALLS = (exp.Query, exp.Column, exp.Literal)


def _calls(node: exp.Expr) -> Iterable[exp.Anonymous]:
    """Yield the aggregates of this SELECT in an expression, except in subqueries and window functions."""
    stack: list[exp.Expr] = [node]
    while stack:
        part = stack.pop()
        if isinstance(part, _WITHOUT_CALLS):
            continue
        if isinstance(part, exp.Window):
            inner = part.this.this if isinstance(part.this, exp.Filter) else part.this
            stack += inner.expressions
            stack += part.args.get("partition_by") or []
            stack += [part.args["order"]] if part.args.get("order") else []
            continue
        if isinstance(part, exp.Anonymous) and is_aggregate(ascii_lower(part.name), part.expressions):
            yield part
        stack += reversed(list(part.iter_expressions()))


def _all(conditions: list[exp.Expr]) -> exp.Expr:
    parts = list(map(copied, conditions))
    result = parts[0]
    for part in parts[1:]:
        first = exp.Paren(this=result) if isinstance(result, exp.Or) else result
        second = exp.Paren(this=part) if isinstance(part, exp.Or) else part
        result = exp.And(this=first, expression=second)
    return result


def _is_one(limit: exp.Expr | None) -> bool:
    """True if a LIMIT is a literal of at most one row."""
    found = None if limit is None else limit.expression
    return isinstance(found, exp.Literal) and found.name in {"0", "1"}


def _unique(scope: Scope) -> bool:
    if not scope.sources or (len(scope.sources) == 1 and scope.sources[0].one_row):
        return True
    reach = determined(scope.sources, scope.holding, [])
    return all(
        any({(source.alias, column) for column in key} <= reach for key in source.keys)
        for source in scope.sources
    )


def _keys(
    values: list[Typed], names: list[str | None], groups: Groups | None, *, distinct: bool
) -> tuple[frozenset[str], ...]:
    if any(name is None for name in names):
        return ()
    if distinct and not any(found.nullable for found in values):
        return (frozenset(name for name in names if name),)
    if groups and groups.keys:
        nodes = [found.node for found in values]
        at = [nodes.index(key.node) if key.node in nodes else -1 for _, key in groups.keys]
        if -1 not in at and not any(values[i].nullable for i in at):
            return (frozenset(name for i in at if (name := names[i])),)
    return ()


def _distinct(
    scope: Scope, values: list[Typed], names: list[str | None], groups: Groups | None, *, distinct: bool,
    one_row: bool,
) -> tuple[frozenset[str], ...]:  # fmt: skip
    """Return sets of result columns that are unique together, NULL counted as a value."""
    if one_row:
        return (frozenset(),)
    if any(name is None for name in names):
        return ()
    every_column = frozenset(name for name in names if name)
    result = [every_column] if distinct else []
    if groups:
        grouped = _grouped_by(values, names, groups)
        return (*result, frozenset(grouped)) if grouped else tuple(result)
    shown = {
        column: name for found, name in zip(values, names, strict=True) if (column := name_of(found.node))
    }

    def fixes(columns: Iterable[Name]) -> bool:
        known = determined(scope.sources, scope.holding, columns, alike=True)
        return all(is_fixed(source, known, alike=True) for source in scope.sources)

    keys_ = [
        {(source.alias, column) for column in key}
        for source in scope.sources for key in (*source.keys, *source.distinct)
    ]  # fmt: skip
    tried = [{column} for column in shown] + [key for key in keys_ if key <= shown.keys()] + [set(shown)]
    result += [frozenset(name for column in key if (name := shown[column])) for key in tried if fixes(key)]
    return tuple(dict.fromkeys(result))


def _exported(order: list[exp.Expr], values: list[Typed], names: list[str | None]) -> list[exp.Expr]:
    """Return ORDER BY in terms of the result columns; empty if they cannot express it."""
    result = []
    nodes = [found.node for found in values]
    for term in order:
        inner = term.this
        at: int | None = None
        if isinstance(inner, exp.Literal) and inner.name.isdigit():
            at = int(inner.name) - 1
        elif isinstance(inner, exp.Identifier):
            at = next((i for i, name in enumerate(names) if name == inner.name), None)
        elif inner in nodes:
            at = nodes.index(inner)
        name = None if at is None else names[at]
        if name is None:
            return []
        changed = term.copy()
        changed.set("this", column_of(name))
        result.append(changed)
    return result
