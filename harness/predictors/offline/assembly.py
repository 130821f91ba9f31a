"""A draft as one SELECT: columns get their tables, tables their joins, groups what they need."""

from collections.abc import Iterable

from sqlglot import exp

from harness.predictors.offline.catalog import TABLE, Catalog
from harness.predictors.offline.draft import Draft
from harness.predictors.offline.fitting import fit
from harness.predictors.offline.joins import Step, joined
from harness.predictors.offline.operations import Tree, aggregates
from harness.predictors.offline.settling import nearer_keys, settle, tables_of


def assemble(draft: Draft, catalog: Catalog) -> exp.Query:
    """The query that a draft describes, its sides fitted to each other."""
    if draft.either:
        # Which row comes first can't be asked of one side alone.
        draft.order = None
    settle(draft, catalog)
    _alone(draft)
    nearer_keys(_lists(draft), draft, catalog)
    steps = joined(catalog, draft.subject, tables_of(_trees(draft)))
    reached = {draft.subject.name, *(step.table for step in steps)}
    _drop(draft, reached)
    query = _select(draft, catalog, steps)
    if draft.either:
        parts = [_with(query.copy(), tree, catalog) for tree in draft.either]
        return exp.Intersect(this=parts[0], expression=parts[1], distinct=True)
    return query


def _trees(draft: Draft) -> list[Tree]:
    order = [draft.order.by] if draft.order else []
    return [*draft.select, *draft.where, *draft.either, *draft.group_by, *draft.having, *order]


def _alone(draft: Draft) -> None:
    """A row that is held against an aggregate is held against that of the whole table."""
    for tree in list(draft.having):
        if _outside(tree):
            draft.having.remove(tree)
            if not _outside(_of_table(tree)):
                draft.where.append(tree)
    if not draft.group_by:
        draft.select = [_of_table(tree) if _outside(tree) else tree for tree in draft.select]
        draft.group_by = [column.copy() for tree in draft.select for column in _outside(tree)]
    if draft.order is not None and _outside(draft.order.by):
        draft.order = None


def _outside(tree: Tree) -> list[exp.Column]:
    """The columns of a tree that stand beside an aggregate, as those of one row."""
    columns = [column for column in tree.find_all(exp.Column) if column.find_ancestor(exp.AggFunc) is None]
    return columns if aggregates(tree) else []


def _of_table(tree: Tree) -> Tree:
    """A tree whose aggregates are those of whole tables, but for those of several tables at once."""
    for one in list(tree.find_all(exp.AggFunc)):
        tables = tables_of([one])
        if len(tables) == 1:
            inner = exp.select(one.copy()).from_(_table(tables[0]))
            one.replace(exp.Subquery(this=inner))
    return tree


def _lists(draft: Draft) -> list[list[Tree]]:
    return [draft.select, draft.where, draft.either, draft.group_by, draft.having]


def _drop(draft: Draft, reached: set[str]) -> None:
    """Leaves out what is said of tables that nothing joins."""

    def kept(trees: list[Tree]) -> list[Tree]:
        return [tree for tree in trees if set(tables_of([tree])) <= reached]

    draft.select = kept(draft.select) or [draft.subject.label.expression.copy()]
    draft.where, draft.having, draft.group_by = kept(draft.where), kept(draft.having), kept(draft.group_by)
    draft.either = [] if len(kept(draft.either)) < len(draft.either) else draft.either
    if draft.order is not None and not kept([draft.order.by]):
        draft.order = None


def _with(query: exp.Select, condition: Tree, catalog: Catalog) -> exp.Select:
    return query.where(fit(condition.copy(), catalog), copy=False)


def _select(draft: Draft, catalog: Catalog, steps: list[Step]) -> exp.Select:  # noqa: C901 - clauses
    if draft.order is not None and draft.order.each:
        _first_of_each(draft, steps)
    ordered = draft.order
    aggregated = any(aggregates(tree) for tree in draft.select) or bool(draft.having)
    grouped = aggregated or (ordered is not None and aggregates(ordered.by))
    groups = _groups(draft) if grouped else []
    if aggregated and not draft.group_by and not draft.having:
        groups = [tree for tree in draft.select if not aggregates(tree)]
    distinct = not grouped and ordered is None and (draft.distinct or any(step.many for step in steps))
    query = exp.select(
        *(_rounded(fit(tree.copy(), catalog), draft.places) for tree in draft.select), copy=False
    )
    query = query.from_(_table(draft.subject.name), copy=False)
    for step in steps:
        query.append("joins", exp.Join(this=_table(step.table), on=_on(step), kind="INNER"))
    for tree in draft.where:
        query = query.where(fit(tree.copy(), catalog), copy=False)
    if groups:
        query = query.group_by(*(fit(tree.copy(), catalog) for tree in _distinct(groups)), copy=False)
    for tree in draft.having:
        query = query.having(fit(tree.copy(), catalog), copy=False)
    if distinct:
        query = query.distinct(copy=False)
    if ordered is not None and not ordered.each:
        # Like SQLite, a NULL is the least of all.
        first = fit(ordered.by.copy(), catalog)
        if groups and not aggregates(first) and first not in groups:
            first = (exp.Max if ordered.falling else exp.Min)(this=first)
        by = exp.Ordered(this=first, desc=ordered.falling, nulls_first=not ordered.falling)
        if not aggregated or groups:
            query = query.order_by(by, copy=False)
            query = query.limit(ordered.limit, copy=False) if ordered.limit else query
            query = query.offset(ordered.offset, copy=False) if ordered.offset else query
    return query


def _groups(draft: Draft) -> list[Tree]:
    plain = [tree for tree in draft.select if not aggregates(tree)]
    return [*draft.group_by, *plain]


def _distinct(trees: Iterable[Tree]) -> list[Tree]:
    return list({tree.sql(): tree for tree in trees}.values())


def _first_of_each(draft: Draft, steps: list[Step]) -> None:
    """Keeps the rows whose value is the greatest, or least, of their group: a condition, not an order."""
    order = draft.order
    tables = set(tables_of([*draft.group_by, *([order.by] if order else [])]))
    if order is None or len(tables) != 1 or not draft.group_by or steps:
        if order is not None:
            order.each = False
        return
    table = tables.pop()
    peer = exp.to_identifier("peer" if table != "peer" else "peer_2", quoted=True)

    def of_peer(tree: Tree) -> Tree:
        copy = tree.copy()
        for column in [copy] if isinstance(copy, exp.Column) else list(copy.find_all(exp.Column)):
            column.meta[TABLE] = column.table
            column.set("table", peer.copy())
        return copy

    best = (exp.Max if order.falling else exp.Min)(this=of_peer(order.by))
    inner = exp.select(best).from_(exp.alias_(_table(table), peer, table=True))
    for tree in (*draft.group_by, *draft.where):
        inner = inner.where(
            exp.EQ(this=of_peer(tree), expression=tree.copy()) if tree in draft.group_by else of_peer(tree)
        )
    draft.where.append(exp.EQ(this=order.by.copy(), expression=exp.Subquery(this=inner)))


def _rounded(tree: Tree, places: int | None) -> Tree:
    if places is None or isinstance(tree, exp.Column | exp.Count) or not aggregates(tree):
        return tree
    return exp.Round(this=tree, decimals=exp.Literal.number(places))


def _table(name: str) -> exp.Table:
    return exp.Table(this=exp.to_identifier(name, quoted=True))


def _on(step: Step) -> Tree:
    link = step.link
    return exp.and_(*(
        exp.EQ(
            this=exp.column(column, table=link.source, quoted=True),
            expression=exp.column(referred, table=link.target, quoted=True),
        )
        for column, referred in zip(link.columns, link.referred, strict=True)
    ))  # fmt: skip
