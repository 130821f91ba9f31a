"""DuckDB's plans as EXPLAIN (FORMAT JSON) tells them, with real rows after EXPLAIN (ANALYZE, FORMAT JSON).

An operator has its name, its children, and details of its own, among them the optimizer's rows. There are no
costs. https://duckdb.org/docs/stable/guides/meta/explain
"""

from collections.abc import Iterator, Mapping
from typing import Any

from harness.engines.plans import Operator, PlanNode, conditions, operators

_OPERATORS = operators(
    {
        Operator.SCAN: "SEQ_SCAN|TABLE_SCAN",
        Operator.INDEX_SEARCH: "INDEX_SCAN",
        Operator.VALUES: "DUMMY_SCAN|COLUMN_DATA_SCAN|EMPTY_RESULT|EXPRESSION_SCAN",
        Operator.FUNCTION: "RANGE|GENERATE_SERIES|UNNEST|INOUT_FUNCTION",
        Operator.HASH_JOIN: "HASH_JOIN|LEFT_DELIM_JOIN|RIGHT_DELIM_JOIN|POSITIONAL_JOIN",
        Operator.MERGE_JOIN: "PIECEWISE_MERGE_JOIN|IE_JOIN|ASOF_JOIN",
        Operator.NESTED_LOOP: "NESTED_LOOP_JOIN|BLOCKWISE_NL_JOIN|CROSS_PRODUCT",
        Operator.FILTER: "FILTER",
        Operator.SORT: "ORDER_BY|TOP_N",
        Operator.AGGREGATE: (
            "HASH_GROUP_BY|PERFECT_HASH_GROUP_BY|UNGROUPED_AGGREGATE|SIMPLE_AGGREGATE|PARTITIONED_AGGREGATE"
        ),
        Operator.WINDOW: "WINDOW|STREAMING_WINDOW",
        Operator.PIPELINE: "PROJECTION|DELIM_SCAN|CTE_SCAN|REC_CTE_SCAN",
        Operator.MATERIALIZE: "CTE",
        Operator.UNION: "UNION",
        Operator.RECURSION: "REC_CTE|RECURSIVE_CTE",
        Operator.LIMIT: "LIMIT|STREAMING_LIMIT|LIMIT_PERCENT",
    }
)
"""By DuckDB's own name. https://github.com/duckdb/duckdb, src/common/enums/physical_operator_type.cpp"""

WRAPPERS = frozenset({"RESULT_COLLECTOR", "EXPLAIN_ANALYZE", "QUERY"})
_ROWS = ("intermediate_rows", "operator_cardinality")
_CONDITIONS = ("Filters", "Conditions", "Expression", "Order By", "Groups", "Aggregates")


def read_plan(told: Any) -> PlanNode:
    """Return the tree of what EXPLAIN returns as JSON.

    Raises:
        RecursionError: it has too many levels.
    """
    tops = told if isinstance(told, list) else told.get("operator") or told.get("children") or []
    children = tuple(node for top in tops for node in _nodes(top))
    rows = children[0].real_rows if len(children) == 1 else None
    loops = None if rows is None else 1
    return PlanNode(Operator.QUERY, "QUERY PLAN", real_rows=rows, loops=loops, children=children)


def operator_of(name: str) -> Operator:
    """Return what an operator of DuckDB's does."""
    return _OPERATORS.get(name, Operator.UNKNOWN)


def rows_of(told: Mapping[str, Any]) -> int | None:
    """Return the rows that an operator handed up; None unless the query was run."""
    return next((int(told[each]) for each in _ROWS if each in told), None)


def table_of(details: Mapping[str, Any]) -> str | None:
    """Return the table that an operator reads, if it does."""
    table = details.get("Table")
    return str(table).rpartition(".")[2] if table else None


def _nodes(told: Mapping[str, Any]) -> Iterator[PlanNode]:
    children = tuple(node for each in told.get("children", ()) for node in _nodes(each))
    name = str(told.get("name") or told.get("operator_name") or "").strip()
    if name in WRAPPERS:
        yield from children
        return
    details = told.get("extra_info") or {}
    rows = rows_of(told)
    estimated = str(details.get("Estimated Cardinality", "")).lstrip("~")
    yield PlanNode(
        operator_of(name),
        name,
        table=table_of(details),
        condition=conditions(details[each] for each in _CONDITIONS if details.get(each)),
        estimated_rows=int(estimated) if estimated.isdigit() else None,
        real_rows=rows,
        loops=None if rows is None else 1,
        children=children,
    )
