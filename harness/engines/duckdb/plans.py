"""DuckDB's plans as EXPLAIN (FORMAT JSON) tells them, and its work: the rows of each operator of a profile.

An operator has its name, its children, and details of its own, among them the optimizer's rows. There are no
costs; real rows are those of EXPLAIN (ANALYZE, FORMAT JSON). https://duckdb.org/docs/stable/guides/meta/explain,
https://duckdb.org/docs/stable/dev/profiling
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import ceil, log2
from typing import Any

from dialects.identifiers import FUNCTIONS_NAMESPACE
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

_WRAPPERS = frozenset({"RESULT_COLLECTOR", "EXPLAIN_ANALYZE", "QUERY"})
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


def _operator_of(name: str) -> Operator:
    return _OPERATORS.get(name, Operator.UNKNOWN)


def _rows_of(told: Mapping[str, Any]) -> int | None:
    """Return the rows that an operator handed up; None unless the query was run."""
    return next((int(told[each]) for each in _ROWS if each in told), None)


def _table_of(details: Mapping[str, Any]) -> str | None:
    table = details.get("Table")
    return str(table).rpartition(".")[2] if table else None


def _nodes(told: Mapping[str, Any]) -> Iterator[PlanNode]:
    children = tuple(node for each in told.get("children", ()) for node in _nodes(each))
    name = str(told.get("name") or told.get("operator_name") or "").strip()
    if name in _WRAPPERS:
        yield from children
        return
    details = told.get("extra_info") or {}
    rows = _rows_of(told)
    estimated = str(details.get("Estimated Cardinality", "")).lstrip("~")
    yield PlanNode(
        _operator_of(name),
        name,
        table=_table_of(details),
        condition=conditions(details[each] for each in _CONDITIONS if details.get(each)),
        estimated_rows=int(estimated) if estimated.isdigit() else None,
        real_rows=rows,
        loops=None if rows is None else 1,
        children=children,
    )


_TAKEN = {
    Operator.FILTER: "filter", Operator.PIPELINE: "project", Operator.AGGREGATE: "group",
    Operator.WINDOW: "window", Operator.LIMIT: "limit",
}  # fmt: skip
"""Operators that look at each row once, and the counter of these rows."""
_JOINS = frozenset({Operator.HASH_JOIN, Operator.MERGE_JOIN, Operator.NESTED_LOOP})
_PATTERN = re.compile(r"\W*(?:contains|prefix|suffix|regexp_\w+|like_escape)\(|.*~~", re.DOTALL)


def counters(profile: Any, sizes: Mapping[str, int]) -> "Counter[str]":
    """Return what the profile of a query counts: 1 `statement` alone for a query that statistics answer.

    `statement`: 1; `node`: operators; `scan`: rows read from tables, without blocks that statistics rule
    out; `test`: rows of a table, once a filter on it, and `pattern`: once a search for a text in it;
    `field`: values, and `byte`: bytes that scans handed up; `filter`, `project`, `group`, `window`,
    `limit`: rows that such operators took; `aggregate`: the same, once a function; `build`, `probe`: rows
    put into a hash table and looked for there; `compare`: comparisons of sorting, `merge`: those of joins
    by order; `pair`: rows that nested loops compared; `joined`: rows that joins returned; `store`: rows
    kept to be read again; `call`: calls of the harness's own functions, which run in Python; `value`:
    rows of the result.

    Args:
        profile: what EXPLAIN (ANALYZE, FORMAT JSON) returns.
        sizes: the rows of each table.

    Raises:
        KeyError: the profile lacks a part.
    """
    if "query" not in profile:
        return Counter(statement=1)
    found = Counter[str](statement=1, scan=int(profile["query"]["total_rows_scanned"]))
    for top in profile["operator"]:
        _count(top, sizes, found)
    return +found


def _count(node: Mapping[str, Any], sizes: Mapping[str, int], found: "Counter[str]") -> None:
    children: Sequence[Mapping[str, Any]] = node.get("children", ())
    for child in children:
        _count(child, sizes, found)
    if node["name"] in _WRAPPERS:
        for child in children:
            found["value"] += 0 if child["name"] in _WRAPPERS else _rows_of(child) or 0
        return
    operator, returned, told = _operator_of(node["name"]), _rows_of(node) or 0, node["extra_info"]
    taken = [_rows_of(child) or 0 for child in children]
    found["node"] += 1
    own_calls = sum(each.count(f"{FUNCTIONS_NAMESPACE}_") for key in told for each in _several(told[key]))
    found["call"] += max(returned, *taken, 0) * own_calls
    if operator in {Operator.SCAN, Operator.INDEX_SEARCH}:
        size = 1 if operator is Operator.INDEX_SEARCH else sizes.get(_table_of(told) or "", 0)
        _count_read(node, size, found)
    elif operator in _JOINS:
        found["joined"] += returned
        _count_joined(operator, taken, found)
    elif operator is Operator.SORT:
        found["compare"] += sum(map(_comparisons, taken))
    else:
        found[_TAKEN.get(operator, "store")] += sum(taken)
        found["aggregate"] += sum(taken) * len(_several(told.get("Aggregates")))


def _count_read(node: Mapping[str, Any], size: int, found: "Counter[str]") -> None:
    told = node["extra_info"]
    filters = _several(told.get("Filters"))
    found["field"] += (_rows_of(node) or 0) * len(_several(told.get("Projections")))
    found["byte"] += int(node["intermediate_size_bytes"])
    found["test"] += size * len(filters)
    found["pattern"] += size * sum(bool(_PATTERN.match(each)) for each in filters)


def _count_joined(operator: Operator, taken: Sequence[int], found: "Counter[str]") -> None:
    first, *others = taken or [0]
    if operator is Operator.HASH_JOIN:
        found["probe"] += first
        found["build"] += sum(others)
    elif operator is Operator.MERGE_JOIN:
        found["merge"] += sum(map(_comparisons, taken))
    else:
        found["pair"] += first * max(1, sum(others))


def _several(told: Any) -> Sequence[str]:
    """Return a detail of an operator, which is a list if there are several."""
    return [] if not told else [str(each) for each in told] if isinstance(told, list) else [str(told)]


def _comparisons(rows: int) -> int:
    return ceil(rows * log2(rows)) if rows > 1 else rows
