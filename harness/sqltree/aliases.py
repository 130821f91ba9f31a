"""Which table a name in a plan is, where an engine says the alias alone."""

from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp

from harness.engines import EngineName
from harness.engines.plans import PlanNode, QueryPlan
from harness.sqltree.parsing import statements


def with_tables(plan: QueryPlan, sql: str, dialect: EngineName) -> QueryPlan:
    """A plan in which each name that can only be one table's alias in a text stands as that: its alias.

    Args:
        plan: the plan of the text.
        sql: the text.
        dialect: the engine, in whose language it is.
    """
    if plan.root is None or all(node.table is None or node.alias for node in plan.root.walk()):
        return plan
    aliases = _aliases(sql, dialect)
    return replace(plan, root=_named(plan.root, aliases)) if aliases else plan


def _aliases(sql: str, dialect: EngineName) -> Mapping[str, str]:
    """The tables of a text by their aliases in lower case; those that mean one table wherever they stand."""
    found: dict[str, set[str]] = {}
    try:
        for tree in statements(sql, dialect):
            for source in tree.find_all(exp.Table, exp.Subquery, exp.CTE):
                name = source.name if isinstance(source, exp.Table) else ""
                if alias := source.alias or name:
                    found.setdefault(alias.lower(), set()).add(name)
    except Exception:  # noqa: BLE001 - what sqlglot raises for texts that it cannot read is of many kinds
        return {}
    return {alias: name for alias, names in found.items() for name in names if len(names) == 1 and name}


def _named(node: PlanNode, aliases: Mapping[str, str]) -> PlanNode:
    children = tuple(_named(child, aliases) for child in node.children)
    table = None if node.alias or node.table is None else aliases.get(node.table.lower())
    if table is None or table.lower() == (node.table or "").lower():
        return replace(node, children=children)
    return replace(node, table=table, alias=node.table, children=children)
