"""Gives every column of a draft a table, and everything that is counted its key."""

from collections.abc import Iterable

from sqlglot import exp

from harness.predictors.offline.catalog import Catalog, Field
from harness.predictors.offline.draft import Draft
from harness.predictors.offline.joins import joined, links
from harness.predictors.offline.operations import Tree


def tables_of(trees: Iterable[Tree]) -> list[str]:
    """The tables of the columns in trees, each once, in their order; those of subqueries are not theirs."""
    found: dict[str, None] = {}
    for tree in trees:
        for column in tree.find_all(exp.Column):
            if column.table and column.find_ancestor(exp.Subquery) is None:
                found[column.table] = None
    return list(found)


def settle(draft: Draft, catalog: Catalog) -> None:
    """Chooses tables for the columns that don't have one: the subject, one that is used, else a near one."""
    order = [draft.order.by] if draft.order else []
    groups = (draft.select, draft.where, draft.either, draft.group_by, draft.having, order)
    used = [draft.subject.name, *tables_of(tree for trees in groups for tree in trees)]
    for trees in groups:
        trees[:] = [_settled(tree, draft, catalog, used) for tree in trees]
    if draft.order:
        draft.order.by = order[0]


def _settled(tree: Tree, draft: Draft, catalog: Catalog, used: list[str]) -> Tree:
    # Trees may be those of the schema itself, which threads share.
    tree = tree.copy()
    if isinstance(tree, exp.Column):
        return _column(tree, draft, catalog, used)
    for column in list(tree.find_all(exp.Column)):
        column.replace(_column(column, draft, catalog, used))
    return tree


def _column(column: exp.Column, draft: Draft, catalog: Catalog, used: list[str]) -> exp.Column:
    if column.table:
        return column
    fields = catalog.by_name[column.name.lower()]

    def rank(field: Field) -> tuple[int, int]:
        if field.table in used:
            return (used.index(field.table) > 0, used.index(field.table))
        steps = joined(catalog, draft.subject, [field.table])
        return (2, len(steps) or 99)

    return min(fields, key=rank).expression.copy()


def nearer_keys(lists: list[list[Tree]], draft: Draft, catalog: Catalog) -> None:
    """Takes a key from a table that refers to it and is there anyway, where only the key is wanted."""
    trees = [tree for trees in lists for tree in trees] + ([draft.order.by] if draft.order else [])
    there = [draft.subject.name, *tables_of(trees)]
    for table in dict.fromkeys(there[1:]):
        if table == draft.subject.name:
            continue
        columns = [column for tree in trees for column in tree.find_all(exp.Column) if column.table == table]
        for link in links(catalog):
            same = link.target == table and link.source in there and link.source != table
            if same and all(column.name in link.referred for column in columns):
                for column in columns:
                    column.set(
                        "this", exp.to_identifier(link.columns[link.referred.index(column.name)], quoted=True)
                    )
                    column.set("table", exp.to_identifier(link.source, quoted=True))
                there.remove(table)
                break
