"""MySQL's plans as its EXPLAIN tells them in JSON of the second version, which is that of its iterators.

https://dev.mysql.com/doc/refman/9.7/en/explain.html; the names are those of `SetObjectMembers` in
sql/join_optimizer/explain_access_path.cc.
"""

from collections.abc import Mapping
from typing import Any

from harness.engines.plans import Operator, PlanNode

OPERATORS: Mapping[str, Operator] = {
    "table": Operator.SCAN,
    "sample": Operator.SCAN,
    "sample_scan": Operator.SCAN,
    "scan_new_records": Operator.SCAN,
    "constant_row": Operator.VALUES,
    "rows_fetched_before_execution": Operator.VALUES,
    "zero_rows": Operator.VALUES,
    "zero_rows_aggregated": Operator.VALUES,
    "count_rows": Operator.COVERING_SCAN,
    "index_merge": Operator.INDEX_MERGE,
    "rowid_intersection": Operator.INDEX_MERGE,
    "rowid_union": Operator.INDEX_MERGE,
    "materialized_table_function": Operator.FUNCTION,
    "materialize_information_schema": Operator.FUNCTION,
    "filter": Operator.FILTER,
    "sort": Operator.SORT,
    "aggregate": Operator.AGGREGATE,
    "temp_table_aggregate": Operator.AGGREGATE,
    "limit": Operator.LIMIT,
    "stream": Operator.PIPELINE,
    "materialize": Operator.MATERIALIZE,
    "invalidate_materialized_tables": Operator.MATERIALIZE,
    "append": Operator.UNION,
    "window": Operator.WINDOW,
    "weedout": Operator.DISTINCT,
    "remove_duplicates_from_groups": Operator.DISTINCT,
    "remove_duplicates_on_index": Operator.DISTINCT,
    "alternative_plans_for_in_subquery": Operator.INDEX_SEARCH,
    "delete_rows": Operator.WRITE,
    "update_rows": Operator.WRITE,
    "insert_values": Operator.WRITE,
    "replace_values": Operator.WRITE,
    "insert_from_select": Operator.WRITE,
}
"""What a node is by its `access_type`. Joins, indexes and materialized set operations: see `_operator`."""

JOINS: Mapping[str, Operator] = {
    "nested_loop": Operator.NESTED_LOOP,
    "batch_key_access": Operator.NESTED_LOOP,
    "hash": Operator.HASH_JOIN,
}
"""By `join_algorithm`."""

INDEXES: Mapping[str, tuple[Operator, Operator]] = {
    "index_scan": (Operator.INDEX_SCAN, Operator.COVERING_SCAN),
    "index_distance_scan": (Operator.INDEX_SCAN, Operator.COVERING_SCAN),
    **dict.fromkeys(
        (
            "index_lookup", "index_range_scan", "pushed_join_ref", "full_text_search", "multi_range_read",
            "index_skip_scan", "group_index_skip_scan", "dynamic_index_range_scan",
        ),
        (Operator.INDEX_SEARCH, Operator.COVERING_SEARCH),
    ),
}  # fmt: skip
"""By `index_access_type`: where rows of the table are fetched, and where the index covers all."""

_SET_OPERATIONS = {
    "recursive": Operator.RECURSION,
    "union": Operator.UNION,
    "intersect": Operator.INTERSECT,
    "except": Operator.EXCEPT,
}
"""What a `materialize` is that says so."""

_WITHOUT_ACCESS_TYPE = {
    "Remove duplicate ": Operator.DISTINCT,
    "Nested loop semijoin with duplicate removal": Operator.NESTED_LOOP,
}
"""By how their words begin: some versions give these no `access_type`."""

_CONDITIONS = (
    "lookup_condition", "ranges", "pushed_index_condition", "hash_condition", "extra_condition", "condition",
    "sort_fields", "functions",
)  # fmt: skip

_TEMPORARY = "<auto_key"
"""What the names of indexes on materialized tables begin with."""


def read_plan(explained: Mapping[str, Any]) -> PlanNode:
    """The tree of what EXPLAIN FORMAT=JSON returns in the second version of that format."""
    plan: Mapping[str, Any] = explained.get("query_plan", explained)
    return _node(plan)


def _node(plan: Mapping[str, Any]) -> PlanNode:
    below = [child for key, some in plan.items() if key.startswith("inputs") for child in some]
    node = PlanNode(
        operator=_operator(plan),
        words=str(plan.get("operation", "")),
        table=plan.get("table_name"),
        alias=plan.get("alias") if plan.get("alias") != plan.get("table_name") else None,
        index=plan.get("index_name"),
        condition="; ".join(_text(plan[key]) for key in _CONDITIONS if plan.get(key)) or None,
        estimated_rows=plan.get("estimated_rows"),
        real_rows=plan.get("actual_rows"),
        loops=plan.get("actual_loops"),
        cost=plan.get("estimated_total_cost"),
        children=tuple(map(_node, below)),
    )
    if not plan.get("subquery"):
        return node
    operator = Operator.CORRELATED_SUBQUERY if plan.get("dependent") else Operator.SUBQUERY
    figures = {name: getattr(node, name) for name in ("estimated_rows", "real_rows", "loops", "cost")}
    return PlanNode(operator, str(plan.get("heading", "subquery")), children=(node,), **figures)


def _operator(plan: Mapping[str, Any]) -> Operator:
    access = plan.get("access_type")
    if access == "join":
        return JOINS.get(str(plan.get("join_algorithm")), Operator.UNKNOWN)
    if access == "index":
        if str(plan.get("index_name", "")).startswith(_TEMPORARY):
            return Operator.TEMPORARY_INDEX
        fetching, covering = INDEXES.get(
            str(plan.get("index_access_type")), (Operator.UNKNOWN, Operator.UNKNOWN)
        )
        return covering if plan.get("covering") else fetching
    if access == "materialize":
        found = next((each for key, each in _SET_OPERATIONS.items() if plan.get(key)), None)
        return found or Operator.MATERIALIZE
    if access is None:
        words = str(plan.get("operation", ""))
        found = next((each for start, each in _WITHOUT_ACCESS_TYPE.items() if words.startswith(start)), None)
        return found or Operator.UNKNOWN
    return OPERATORS.get(str(access), Operator.UNKNOWN)


def _text(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
