"""MariaDB's plans as EXPLAIN FORMAT=JSON tells them, with real rows after ANALYZE FORMAT=JSON.

A plan is nested by clause, not by step, and names no aggregation. Conditions are constants of the statement
as they are, so that a quote or a backslash in one can make the text invalid JSON.
https://mariadb.com/kb/en/analyze-format-json/
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from harness.engines.plans import Operator, PlanNode, conditions, operators

PREFIXES = ("EXPLAIN FORMAT=JSON", "ANALYZE FORMAT=JSON")
"""Before a text that is not run, and before one that is."""

_ACCESS = operators(
    {
        Operator.SCAN: "ALL|hash_ALL|system",
        Operator.INDEX_SCAN: "index|hash_index",
        Operator.INDEX_SEARCH: (
            "const|eq_ref|ref|ref_or_null|range|hash_range|fulltext|unique_subquery|index_subquery"
        ),
        Operator.INDEX_MERGE: "index_merge|hash_index_merge",
    }
)
"""By `access_type`. https://mariadb.com/kb/en/explain/#type-column"""

_COVERING = {
    Operator.INDEX_SCAN: Operator.COVERING_SCAN,
    Operator.INDEX_SEARCH: Operator.COVERING_SEARCH,
}

_CLAUSES = {
    "filesort": Operator.SORT,
    "read_sorted_file": Operator.PIPELINE,
    "temporary_table": Operator.MATERIALIZE,
    "duplicate_removal": Operator.DISTINCT,
    "duplicates_removal": Operator.DISTINCT,
    "window_functions_computation": Operator.WINDOW,
}
"""What a clause does with the rows of those inside it."""

_SET_OPERATIONS = {
    "<unio": Operator.UNION,
    "<unit": Operator.SET_OPERATION,
    "<exce": Operator.EXCEPT,
    "<inte": Operator.INTERSECT,
}
"""By how the name of the result's table begins."""

_TEXT = re.compile(r'^( *+"[\w-]++": )"(.*)"(,?)$', re.MULTILINE)

Told = Mapping[str, Any]


def read_plan(text: str) -> PlanNode:
    """Return the tree of what EXPLAIN or ANALYZE returns.

    Raises:
        RecursionError: it has too many levels.
        ValueError: it is no JSON, whatever its conditions are taken for.
    """
    try:
        told = json.loads(text, strict=False)
    except ValueError:
        escaped = _TEXT.sub(lambda found: f"{found[1]}{json.dumps(found[2])}{found[3]}", text)
        told = json.loads(escaped, strict=False)
    return _block(told["query_block"])


def _block(told: Told) -> PlanNode:
    """Return a SELECT, with its subqueries last."""
    node = _inside(told)
    words = [
        told[key] for key in ("having_condition", "const_condition", "outer_ref_condition") if key in told
    ]
    if words:
        node = PlanNode(Operator.FILTER, "having", condition=conditions(words), children=(node,))
    subqueries = tuple(_subquery(each) for each in told.get("subqueries", ()))
    return replace(node, cost=told.get("cost", node.cost), children=(*node.children, *subqueries))


def _inside(told: Told) -> PlanNode:
    """Return the step that hands a clause's rows up."""
    for key in ("union_result", "recursive_union"):
        if key in told:
            parts = tuple(_block(each["query_block"]) for each in told[key]["query_specifications"])
            name = str(told[key].get("table_name", ""))
            kind = _SET_OPERATIONS.get(name[:5], Operator.UNKNOWN)
            operator = Operator.RECURSION if key == "recursive_union" else kind
            return PlanNode(operator, name, **_rows(told[key]), children=parts)
    if "nested_loop" in told:
        return _joined([*told["nested_loop"]])
    if "table" in told:
        return _table(told["table"])
    for key, operator in _CLAUSES.items():
        if key in told:
            return _clause(key, operator, told[key])
    found = next((key for key, value in told.items() if isinstance(value, dict)), "nothing")
    return PlanNode(Operator.UNKNOWN, found)


def _clause(name: str, operator: Operator, told: Told) -> PlanNode:
    node = _inside(told)
    for each in told.get("sorts", ()):
        node = node.below(Operator.SORT, str(each["filesort"].get("sort_key", "")))
    node = node.below(operator, name)
    rows, loops = told.get("r_output_rows"), told.get("r_loops")
    if rows is not None and loops:
        node = replace(node, real_rows=rows / loops, loops=loops)
    subqueries = tuple(_subquery(each) for each in told.get("subqueries", ()))
    condition = conditions(told[key] for key in ("sort_key",) if key in told)
    return replace(node, condition=condition, children=(*node.children, *subqueries))


def _joined(items: list[Told]) -> PlanNode:
    """Return tables joined in their order, each with all before it."""
    node = _item(items[0])
    for item in items[1:]:
        buffered, right = item.get("block-nl-join"), _item(item)
        operator, condition, rows = Operator.NESTED_LOOP, None, right.all_rows
        if buffered is not None:
            operator = Operator.HASH_JOIN if "H" in str(buffered.get("join_type")) else operator
            condition = buffered.get("attached_condition")
            per_row = _times(buffered.get("r_effective_rows"), buffered.get("r_filtered"))
            rows = None if per_row is None else per_row * buffered["r_loops"]
        loops = None if rows is None else 1
        words = next(iter(item)) if buffered is not None else "nested_loop"
        node = PlanNode(
            operator, words, condition=condition, real_rows=rows, loops=loops, children=(node, right)
        )
    return node


def _item(told: Told) -> PlanNode:
    buffered = told.get("block-nl-join") or told.get("range-checked-for-each-record")
    if buffered is None:
        return _inside(told)
    node = _table(buffered["table"])
    return replace(node, children=(*node.children, *_kept(buffered)))


def _table(told: Told) -> PlanNode:
    if "message" in told:
        return PlanNode(Operator.VALUES, str(told["message"]))
    operator = _ACCESS.get(str(told.get("access_type")), Operator.UNKNOWN)
    if told.get("using_index"):
        operator = _COVERING.get(operator, operator)
    name = str(told.get("table_name"))
    if name.startswith("<") and "key" in told:
        operator = Operator.TEMPORARY_INDEX
    return PlanNode(
        operator,
        str(told.get("access_type")),
        table=name,
        index=told.get("key"),
        condition=conditions(told[key] for key in ("index_condition", "attached_condition") if key in told),
        estimated_rows=_times(told.get("rows"), told.get("filtered")),
        **_rows(told),
        children=tuple(_kept(told)),
    )


def _kept(told: Told) -> Iterator[PlanNode]:
    """Yield the query whose rows a table keeps, if it is no stored one."""
    if "materialized" in told:
        inner = _block(told["materialized"]["query_block"])
        yield inner.below(Operator.MATERIALIZE, "materialized")


def _subquery(told: Told) -> PlanNode:
    """Return a subquery; one with a cache, or that ran for several rows, reads the query around it."""
    kind = next(iter(told))
    inner = told if kind == "query_block" else told[kind]
    block = inner["query_block"]
    depends = "cache" in kind or "outer_ref_condition" in block or (block.get("r_loops") or 0) > 1
    return _block(block).below(Operator.CORRELATED_SUBQUERY if depends else Operator.SUBQUERY, kind)


def _rows(told: Told) -> dict[str, Any]:
    """Return the real rows of one execution, those after a condition, and the executions."""
    loops = told.get("r_loops")
    return {"real_rows": _times(told.get("r_rows"), told.get("r_filtered", 100)), "loops": loops}


def _times(rows: float | None, percent: float | None) -> float | None:
    return None if rows is None or percent is None else rows * percent / 100
