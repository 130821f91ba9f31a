"""PostgreSQL's plans as its EXPLAIN tells them in JSON.

https://www.postgresql.org/docs/current/sql-explain.html; the names of its nodes are those of `ExplainNode` in
src/backend/commands/explain.c.
"""

import re
from collections.abc import Mapping
from typing import Any

from harness.engines.plans import Operator, PlanNode

OPERATORS: Mapping[str, Operator] = {
    "Seq Scan": Operator.SCAN,
    "Sample Scan": Operator.SCAN,
    "Foreign Scan": Operator.SCAN,
    "CTE Scan": Operator.SCAN,
    "WorkTable Scan": Operator.SCAN,
    "Named Tuplestore Scan": Operator.SCAN,
    "Index Scan": Operator.INDEX_SCAN,
    "Index Only Scan": Operator.COVERING_SCAN,
    "Bitmap Index Scan": Operator.INDEX_SEARCH,
    "Bitmap Heap Scan": Operator.BITMAP_SCAN,
    "BitmapAnd": Operator.INDEX_MERGE,
    "BitmapOr": Operator.INDEX_MERGE,
    "Tid Scan": Operator.ROW_SEARCH,
    "Tid Range Scan": Operator.ROW_SEARCH,
    "Values Scan": Operator.VALUES,
    "Result": Operator.VALUES,
    "Function Scan": Operator.FUNCTION,
    "Table Function Scan": Operator.FUNCTION,
    "ProjectSet": Operator.FUNCTION,
    "Subquery Scan": Operator.PIPELINE,
    "Nested Loop": Operator.NESTED_LOOP,
    "Hash Join": Operator.HASH_JOIN,
    "Merge Join": Operator.MERGE_JOIN,
    "Hash": Operator.HASH,
    "Sort": Operator.SORT,
    "Incremental Sort": Operator.SORT,
    "Aggregate": Operator.AGGREGATE,
    "Group": Operator.AGGREGATE,
    "WindowAgg": Operator.WINDOW,
    "Unique": Operator.DISTINCT,
    "Materialize": Operator.MATERIALIZE,
    "Memoize": Operator.MATERIALIZE,
    "Append": Operator.UNION,
    "Merge Append": Operator.UNION,
    "SetOp": Operator.SET_OPERATION,
    "Recursive Union": Operator.RECURSION,
    "Limit": Operator.LIMIT,
    "Gather": Operator.PARALLEL,
    "Gather Merge": Operator.PARALLEL,
    "LockRows": Operator.LOCK,
    "ModifyTable": Operator.WRITE,
}
"""What each node is. Some are more than their name says: see `_operator`."""

_SEARCHING = {
    "Index Scan": Operator.INDEX_SEARCH,
    "Index Only Scan": Operator.COVERING_SEARCH,
}
"""With a condition on the index."""

_COMMANDS = {"Except": Operator.EXCEPT, "Intersect": Operator.INTERSECT}
"""Of a SetOp, with or without ` All`."""

_CONDITIONS = (
    "Index Cond", "Recheck Cond", "TID Cond", "Hash Cond", "Merge Cond", "Join Filter", "Filter",
    "One-Time Filter", "Run Condition", "Sort Key", "Group Key",
)  # fmt: skip
"""What is shown as the condition of a node: all of them that it has."""

_TABLES = ("Relation Name", "CTE Name", "Function Name", "Tuplestore Name", "Table Function Name")

_HASHED = re.compile(r"hashed (SubPlan \d+)")


def read_plan(explained: Any) -> PlanNode:
    """The tree of what EXPLAIN (FORMAT JSON) returns: a list with one object."""
    plan = explained[0]["Plan"]
    return _node(plan, frozenset(_HASHED.findall(str(plan))))


def _node(plan: Mapping[str, Any], hashed: frozenset[str]) -> PlanNode:
    name = str(plan.get("Node Type", ""))
    table = next((str(plan[key]) for key in _TABLES if key in plan), None)
    alias = plan.get("Alias")
    node = PlanNode(
        operator=_operator(name, plan),
        words=_words(name, plan),
        table=table if table is not None else alias,
        alias=alias if alias != table and table is not None else None,
        index=plan.get("Index Name"),
        condition="; ".join(_text(plan[key]) for key in _CONDITIONS if key in plan) or None,
        estimated_rows=plan.get("Plan Rows"),
        real_rows=plan.get("Actual Rows"),
        loops=plan.get("Actual Loops"),
        cost=plan.get("Total Cost"),
        children=tuple(_node(child, hashed) for child in plan.get("Plans", ())),
    )
    return _as_subquery(plan, node, hashed)


def _as_subquery(plan: Mapping[str, Any], node: PlanNode, hashed: frozenset[str]) -> PlanNode:
    """The node below one that says what part of the statement it is, where it is one.

    An InitPlan is run once, a SubPlan whenever the row around it needs it, unless its rows are hashed.
    https://www.postgresql.org/docs/current/using-explain.html
    """
    named = plan.get("Subplan Name")
    if named is None:
        return node
    if named.startswith("CTE "):
        operator = Operator.MATERIALIZE
    elif plan.get("Parent Relationship") == "SubPlan" and named not in hashed:
        operator = Operator.CORRELATED_SUBQUERY
    else:
        operator = Operator.SUBQUERY
    figures = {name: getattr(node, name) for name in ("estimated_rows", "real_rows", "loops", "cost")}
    return PlanNode(operator, named, children=(node,), **figures)


def _operator(name: str, plan: Mapping[str, Any]) -> Operator:
    if name in _SEARCHING and "Index Cond" in plan:
        return _SEARCHING[name]
    if name == "SetOp":
        return _COMMANDS.get(str(plan.get("Command", "")).removesuffix(" All"), Operator.SET_OPERATION)
    if name == "Result" and plan.get("Plans"):
        return Operator.FILTER
    return OPERATORS.get(name, Operator.UNKNOWN)


def _words(name: str, plan: Mapping[str, Any]) -> str:
    """The node as EXPLAIN's text calls it: with its strategy, the kind of its join, its command."""
    strategy, join = plan.get("Strategy"), plan.get("Join Type")
    if name == "Aggregate" and strategy in {"Hashed", "Sorted", "Mixed"}:
        name = {"Hashed": "HashAggregate", "Sorted": "GroupAggregate"}.get(strategy, "MixedAggregate")
    if name == "SetOp":
        name = f"{'Hash' if strategy == 'Hashed' else ''}SetOp {plan.get('Command', '')}".rstrip()
    if join is not None and join != "Inner":
        name = f"{name} {join} Join" if name == "Nested Loop" else name.replace(" Join", f" {join} Join")
    partial = plan.get("Partial Mode")
    if partial in {"Partial", "Finalize"}:
        name = f"{partial} {name}"
    return f"Parallel {name}" if plan.get("Parallel Aware") else name


def _text(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
