"""UNION, UNION ALL, INTERSECT, EXCEPT and VALUES. https://sqlite.org/lang_select.html#compound_select_statements."""

from collections.abc import Callable

from sqlglot import exp

from dialects.coercions import bounded, bounds, is_beyond_double, most_of
from dialects.compiler import Compiler
from dialects.errors import Untranslatable
from dialects.identifiers import ascii_lower
from dialects.nodes import (
    Bigint,
    Double,
    Text,
    aliased,
    column_of,
    identifier,
    number,
    select,
    source_alias,
    subquery,
)
from dialects.rewrites.comparison import direction, ordered
from dialects.rewrites.names import told_apart
from dialects.rewrites.order_by import first_row, limit_rows
from dialects.scope import Relation, RowsNeeded, Scope, ScopeColumn, named
from dialects.tagged_values import to_tagged, together
from dialects.trees import has
from dialects.value_types import Affinity, Collation, Form, Kind, Stored, TaggedValues, Typed

CUT = "rows of a compound SELECT are cut off in an order that SQLite does not define"


def compile_compound(
    c: Compiler, node: exp.SetOperation, scope: Scope | None, *, derived: bool, wanted: RowsNeeded
) -> Relation:
    """Compile a compound SELECT."""
    parts, operators = flatten(node)
    relations = [c.query(part, scope, derived=derived or at == 0) for at, part in enumerate(parts)]
    if (found := _sorted_above(c, node, relations, parts)) is not None:
        c.applies("compound-order")
        result = c.query(found, scope, derived=derived, wanted=wanted)
    elif (found := _collated(c, node, relations, operators, parts)) is not None:
        c.applies("compound-collation")
        result = c.query(found, scope, derived=derived, wanted=wanted)
    else:
        result = combined(c, node, relations, operators, parts, wanted=wanted)
    result.texts = relations[-1].texts
    return result


def _sorted_above(
    c: Compiler, node: exp.SetOperation, relations: list[Relation], parts: list[exp.Expr]
) -> exp.Select | None:
    """Return a SELECT that sorts the rows of a compound by collations, as SQLite itself does; else None.

    Without COLLATE in ORDER BY, rows that are compared by a collation are those of `_collated`.
    https://github.com/sqlite/sqlite/blob/version-3.40.1/src/select.c
    """
    order = node.args.get("order")
    if order is None:
        return None
    collations = collations_of(relations)
    written = [term.this for term in order.expressions]
    explicit = any(isinstance(each, exp.Collate) for each in written)
    if not explicit and (set(collations) <= {None, Collation.BINARY} or _compares(node)):
        return None
    rows = node.copy()
    found = exp.Select(expressions=[exp.Star()])
    for clause in ("limit", "offset"):
        found.set(clause, rows.args.get(clause))
    for clause in ("with_", "order", "limit", "offset"):
        rows.set(clause, None)
    alias = source_alias(c.name("all"))
    found.set("from_", exp.From(this=exp.Subquery(this=rows, alias=alias)))
    terms = []
    for term in order.expressions:
        inner, name = _uncollated(term.this)
        at = _place(inner, relations, parts)
        if name is None and (collation := collations[at]) is not None:
            name = exp.Var(this=collation.name)
        key: exp.Expr = exp.Literal.number(str(at + 1))
        terms.append(term.copy())
        terms[-1].set("this", key if name is None else exp.Collate(this=key, expression=name))
    found.set("order", exp.Order(expressions=terms))
    return found


def _compares(node: exp.SetOperation) -> bool:
    """True unless all operators are UNION ALL."""
    return any(operator.args.get("distinct") is not False for operator in flatten(node)[1])


def _uncollated(term: exp.Expr) -> tuple[exp.Expr, exp.Expr | None]:
    """Return a term of ORDER BY without COLLATE, and its collation."""
    if not isinstance(term, exp.Collate):
        return term, None
    return term.this, term.expression.copy()


def _collated(
    c: Compiler, node: exp.SetOperation, relations: list[Relation], operators: list[exp.SetOperation],
    parts: list[exp.Expr],
) -> exp.Select | None:  # fmt: skip
    """Return a SELECT DISTINCT for a compound that compares by its first part's collation; else None."""
    collations = collations_of(relations)
    last = operators[-1]
    if set(collations) <= {None, Collation.BINARY} or last.args.get("distinct") is False:
        return None
    kinds = [[column.value.kind for column in relation.columns] for relation in relations]
    if any(len({*column} - {Kind.NULL}) > 1 or Kind.ANY in column for column in zip(*kinds, strict=True)):
        return None
    if all(isinstance(operator, exp.Union) for operator in operators):
        rows: exp.Expr = parts[0].copy()
        for part in parts[1:]:
            rows = exp.Union(this=rows, expression=part.copy(), distinct=False)
        table = identifier(c.name("all"))
        found = _listed([(table, rows)], relations[0], collations)
    elif len(operators) == 1:
        found = _met(c, last, relations[0], collations, parts)
    else:
        return None
    found.set("distinct", exp.Distinct())
    for clause in ("limit", "offset"):
        if node.args.get(clause) is not None:
            found.set(clause, node.args[clause].copy())
    if (order := node.args.get("order")) is not None:
        order = order.copy()
        for term in order.expressions:
            term.set("this", exp.Literal.number(str(_place(term.this, relations, parts) + 1)))
        found.set("order", order)
    return found


def _met(
    c: Compiler, operator: exp.SetOperation, first: Relation, collations: tuple[Collation | None, ...],
    parts: list[exp.Expr],
) -> exp.Select:  # fmt: skip
    """Compile INTERSECT or EXCEPT as the rows of one query that are, or are not, in another."""
    left, right = (identifier(c.name("all")) for _ in parts)
    same = [
        exp.NullSafeEQ(this=_compared(at, left, collation), expression=_compared(at, right, None))
        for at, collation in enumerate(collations)
    ]
    partner = select([number(1)], exp.Table(this=right.copy()), exp.and_(*same))
    there: exp.Expr = exp.Exists(this=partner)
    found = _listed(list(zip((left, right), parts, strict=True)), first, collations)
    kept = there if isinstance(operator, exp.Intersect) else exp.Not(this=there)
    found.set("where", exp.Where(this=kept))
    return found


def _listed(
    queries: list[tuple[exp.Identifier, exp.Expr]], first: Relation, collations: tuple[Collation | None, ...]
) -> exp.Select:
    """Return a SELECT of the first of named queries, whose columns have the collations that compare them."""
    names = [identifier(f"c{at}") for at in range(len(first.columns))]
    items = []
    for at, (shown, collation) in enumerate(zip(first.columns, collations, strict=True)):
        item = _compared(at, queries[0][0], collation if first.collations[at] is not collation else None)
        items.append(exp.alias_(item, shown.name, quoted=True))
    listed = [
        exp.CTE(
            this=query.copy(),
            alias=exp.TableAlias(this=table.copy(), columns=[name.copy() for name in names]),
        )
        for table, query in queries
    ]
    return exp.Select(
        with_=exp.With(expressions=listed), expressions=items,
        from_=exp.From(this=exp.Table(this=queries[0][0].copy())),
    )  # fmt: skip


def _compared(at: int, table: exp.Identifier, collation: Collation | None) -> exp.Expr:
    """Return a column of a named query, with the collation that compares it."""
    node: exp.Expr = exp.column(identifier(f"c{at}"), table=table.copy())
    return node if collation is None else exp.Collate(this=node, expression=exp.Var(this=collation.name))


def flatten(node: exp.Expr) -> tuple[list[exp.Expr], list[exp.SetOperation]]:
    """Return the parts from left to right, and the operators between them."""
    parts: list[exp.Expr] = []
    operators: list[exp.SetOperation] = []
    while True:
        while isinstance(node, exp.Subquery):
            node = node.this
        if not isinstance(node, exp.SetOperation):
            return [node, *reversed(parts)], list(reversed(operators))
        parts.append(node.expression)
        operators.append(node)
        node = node.this


def combined(
    c: Compiler,
    node: exp.Expr,
    relations: list[Relation],
    operators: list[exp.SetOperation],
    parts: list[exp.Expr],
    *,
    wanted: RowsNeeded,
) -> Relation:
    """Combine compiled parts, with their columns converted to common types."""
    widths = {len(relation.columns) for relation in relations}
    if len(widths) != 1:
        raise Untranslatable("a compound SELECT", "its parts have different numbers of columns")
    # All but UNION ALL compare rows.
    deduplicated = any(operator.args.get("distinct") is not False for operator in operators)
    columns = [unify(c, relations, at, normal=deduplicated) for at in range(widths.pop())]
    collations = collations_of(relations)
    if deduplicated and not set(collations) <= {None, Collation.BINARY}:
        raise Untranslatable("a compound SELECT", "it compares texts by a collation")
    if c.lowers("set-operation-nulls") and any(not isinstance(part, exp.Union) for part in operators[1:]):
        _with_room_for_null(relations)
    if c.lowers("intersected-windows") and any(isinstance(each, exp.Intersect) for each in operators):
        for relation in relations:
            _compute_windows_inside(c, relation)
    tree: exp.Query = relations[0].node
    for operator, relation in zip(operators, relations[1:], strict=True):
        left: exp.Expr = tree
        if isinstance(tree, exp.SetOperation) and (
            type(tree) is not type(operator) or not isinstance(operator, exp.Union)
        ):
            c.applies("compound-precedence")
            left = exp.Subquery(this=tree)
        tree = type(operator)(
            this=left, expression=_operand(relation.node), distinct=bool(operator.args.get("distinct"))
        )
    relation = Relation(tree, columns, collations=collations)
    if operators[-1].args.get("distinct"):
        relation.distinct = (frozenset(column.target for column in columns),)
    order = node.args.get("order")
    if order is not None and tree is not relations[0].node:
        c.applies("compound-order")
        _sort(c, order, relation, relations, parts)
        tree = relation.node
    limit_rows(c, node, tree)
    limit = tree.args.get("limit")
    relation.one_row = limit is not None and limit.expression.name in {"0", "1"}
    if wanted is RowsNeeded.FIRST and not relation.one_row:
        first_row(c, tree)
        relation.one_row = True
    if (tree.args.get("limit") or tree.args.get("offset")) and wanted is not RowsNeeded.ANY:
        _decide(c, relation, relations, all_=not operators[-1].args.get("distinct"))
    return relation


def _compute_windows_inside(c: Compiler, relation: Relation) -> None:
    """Put a part with windows into FROM: a derived table needs distinct names, and MySQL's EXISTS no star."""
    node = relation.node
    if isinstance(node, exp.Select) and any(has(each, exp.Window) for each in node.expressions):
        names = named(relation)
        if len({*map(ascii_lower, names)}) < len(names):
            names = [f"_c{at}" for at, _ in enumerate(names, 1)]
            items = zip(node.expressions, names, strict=True)
            node.set("expressions", [aliased(each.unalias(), name) for each, name in items])
        outer = [column_of(name) for name in names]
        relation.node = select(outer, subquery(node, c.name("q")))


def collations_of(relations: list[Relation]) -> tuple[Collation | None, ...]:
    """Return the collation that compares each column: that of the first part with one."""
    return tuple(
        next((found for found in column if found is not None), None)
        for column in zip(*(relation.collations for relation in relations), strict=True)
    )


def _decide(c: Compiler, relation: Relation, relations: list[Relation], *, all_: bool) -> None:
    """Sort rows under a LIMIT as SQLite does: by ORDER BY, then, except for UNION ALL, by the other columns.

    https://github.com/sqlite/sqlite/blob/version-3.40.1/src/select.c
    """
    order = relation.node.args.get("order")
    terms = [] if order is None else order.expressions
    there = {term.this.name for term in terms if isinstance(term.this, exp.Literal)}
    missing = [at for at in range(len(relation.columns)) if str(at + 1) not in there]
    if not missing:
        return
    if all_:
        if terms or not all(part.one_row for part in relations):
            c.warn(CUT)
        return
    more = [
        term
        for at in missing
        for term in ordered(c, relation.columns[at].value.of(node=number(at + 1)), exp.Ordered())
    ]
    relation.node.set("order", exp.Order(expressions=[*terms, *more]))


def _with_room_for_null(relations: list[Relation]) -> None:
    """Make a column nullable in every part where it is in one.

    Where the left side of INTERSECT or EXCEPT is a compound, MySQL 9.7 finds NULL equal to a NOT NULL value.
    """
    for at in range(len(relations[0].columns)):
        nullable = [relation.columns[at].value.nullable for relation in relations]
        if len(set(nullable)) == 1:
            continue
        for relation, already in zip(relations, nullable, strict=True):
            if not already and isinstance(relation.node, exp.Select):
                item = relation.node.expressions[at]
                inner = item.unalias()
                inner.replace(exp.Nullif(this=inner.copy(), expression=exp.Null()))


def _operand(node: exp.Query) -> exp.Expr:
    return exp.Subquery(this=node) if node.args.get("limit") or node.args.get("order") else node


def unify(c: Compiler, relations: list[Relation], at: int, *, normal: bool = False) -> ScopeColumn:
    """Return one column of a compound SELECT, with values of the same type in every part.

    `normal` is True if the target compares the values; see `dialects.tagged_values.to_tagged`.
    """
    values = [relation.columns[at].value for relation in relations]
    kinds = {found.kind for found in values} - {Kind.NULL}
    values = list(map(bounded, values)) if len(kinds) > 1 else values
    if (
        Kind.ANY in kinds
        or len({kind.is_numeric for kind in kinds}) > 1
        or {Kind.TEXT, Kind.BLOB} <= kinds
        or any(found.stored.mixed and found.kind is Kind.TEXT for found in values)
        or (len(kinds) > 1 and any(is_beyond_double(found) for found in values))
    ):
        return _carried(c, relations, at, values, normal=normal)
    kind = next(iter(kinds)) if len(kinds) == 1 else Kind.NULL if not kinds else Kind.NUMBER
    if kind is Kind.NUMBER or len(kinds) > 1:
        c.applies("compound-types")
    for relation, found in zip(relations, values, strict=True):
        if found.kind is not kind:
            _change(relation.node, at, lambda node: converted(node, kind))
    low, high = bounds(values)
    form = Form.DIGITS if all(found.text.form is Form.DIGITS for found in values) else None
    return _joined(relations, at, kind, low=low, high=high, most=most_of(values), form=form)


def _joined(
    relations: list[Relation], at: int, kind: Kind, several: TaggedValues | None = None, *,
    form: Form | None = None, **bounds: float | None,
) -> ScopeColumn:  # fmt: skip
    """Return a column of a compound SELECT with the given facts about its values."""
    values = [relation.columns[at].value for relation in relations]
    affinities = {found.affinity for found in values}
    first = relations[0].columns[at]
    affinity = affinities.pop() if len(affinities) == 1 else Affinity.VARIED
    result = first.value.of(
        kind=kind, several=several, nullable=any(found.nullable for found in values), stored=Stored(),
        affinity=affinity, constant=None,
    )  # fmt: skip
    return ScopeColumn(first.name, result.with_number(integral=None, **bounds).with_text(form=form))


def _carried(
    c: Compiler, relations: list[Relation], at: int, values: list[Typed], *, normal: bool
) -> ScopeColumn:
    """Return one column whose values have several types."""
    known: list[TaggedValues] = []
    for relation, found in zip(relations, values, strict=True):

        def tagged(node: exp.Expr, found: Typed = found) -> exp.Expr:
            part = to_tagged(c, told_apart(c, found.of(node=node)), normal=normal)
            known.extend([part.tagged] if part.tagged is not None else [])
            return Text(this=part.node) if isinstance(part.node, exp.Null) else part.node

        _change(relation.node, at, tagged)
    if normal and any(part.opaque for part in known):
        raise Untranslatable(
            "a compound SELECT",
            "it compares a column of texts with a NUL or with invalid bytes",
        )
    # Of 1.0 and 1, either may remain.
    return _joined(relations, at, Kind.ANY, together(known, normal=normal))


def _change(node: exp.Expr, at: int, rewrite: Callable[[exp.Expr], exp.Expr]) -> None:
    """Change one result column in every SELECT of a query."""
    if isinstance(node, exp.SetOperation):
        _change(node.this, at, rewrite)
        _change(node.expression, at, rewrite)
    elif isinstance(node, exp.Subquery):
        _change(node.this, at, rewrite)
    else:
        item = node.expressions[at]
        inner = item.unalias()
        inner.replace(rewrite(inner.copy()))


def converted(node: exp.Expr, wanted: Kind) -> exp.Expr:
    """Convert a value, including NULL, to the target's type for a kind."""
    match wanted:
        case Kind.INTEGER:
            return Bigint(this=node)
        case Kind.REAL | Kind.NUMBER:
            return Double(this=node)
        case Kind.TEXT:
            return Text(this=node)
        case _:
            return node


def _sort(
    c: Compiler, order: exp.Expr, relation: Relation, relations: list[Relation], parts: list[exp.Expr]
) -> None:
    terms: list[exp.Expr] = []
    places = [_place(term.this, relations, parts) for term in order.expressions]
    sorting = [(relation.columns[at].value, term) for at, term in zip(places, order.expressions, strict=True)]
    if any(found.kind is Kind.ANY or _is_turned(c, term) for found, term in sorting):
        for found, term in zip(_selected_from(c, relation, places), order.expressions, strict=True):
            terms += ordered(c, told_apart(c, found), term)
    else:
        for at, (found, term) in zip(places, sorting, strict=True):
            terms += ordered(c, found.of(node=number(at + 1)), term)
    relation.node.set("order", exp.Order(expressions=terms))


def _is_turned(c: Compiler, term: exp.Expr) -> bool:
    """True if NULL must be last or first, contrary to the target's default."""
    descending, first = direction(term)
    return not c.target.has_null_order and first == descending


def _selected_from(c: Compiler, relation: Relation, places: list[int]) -> list[Typed]:
    """Move a compound into FROM, so that expressions can use its columns; return those at `places`."""
    alias = c.name("q")
    columns = [column_of(name, alias) for name in named(relation)]
    source = subquery(relation.node, alias)
    relation.node = select([column.copy() for column in columns], source)
    return [relation.columns[at].value.of(node=columns[at].copy()) for at in places]


def _place(term: exp.Expr, relations: list[Relation], parts: list[exp.Expr]) -> int:
    if isinstance(term, exp.Literal) and not term.is_string and term.name.isdigit():
        at = int(term.name) - 1
        if 0 <= at < len(relations[0].columns):
            return at
    if isinstance(term, exp.Column):
        for relation in relations:
            for at, column in enumerate(relation.columns):
                if column.name.lower() == term.name.lower():
                    return at
    for part in parts:
        for at, item in enumerate(part.selects if isinstance(part, exp.Select) else []):
            if item.unalias() == term:
                return at
    raise Untranslatable("ORDER BY of a compound SELECT", "a term is not a result column")


def compile_values(
    c: Compiler, node: exp.Values, scope: Scope | None, *, derived: bool, wanted: RowsNeeded
) -> Relation:
    """Compile VALUES (...), (...): rows without a table."""
    rows = [
        exp.Select(
            expressions=[
                aliased(part.copy(), f"column{at + 1}")
                for at, part in enumerate(row.expressions if isinstance(row, exp.Tuple) else [row])
            ]
        )
        for row in node.expressions
    ]
    relations = [c.query(row, scope, derived=derived) for row in rows]
    if len(relations) == 1:
        return relations[0]
    operators: list[exp.SetOperation] = [
        exp.Union(this=exp.Null(), expression=exp.Null(), distinct=False) for _ in rows[1:]
    ]
    return combined(c, node, relations, operators, list(rows), wanted=wanted)
