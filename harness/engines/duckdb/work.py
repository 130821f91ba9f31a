"""The work of a query on DuckDB, by the rows of each operator that its profile reports.

https://duckdb.org/docs/stable/dev/profiling
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from math import ceil, log2
from typing import Any

from dialects.identifiers import FUNCTIONS_NAMESPACE
from harness.engines.duckdb.plans import WRAPPERS, operator_of, rows_of, table_of
from harness.engines.plans import Operator

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
    if node["name"] in WRAPPERS:
        for child in children:
            found["value"] += 0 if child["name"] in WRAPPERS else rows_of(child) or 0
        return
    operator, returned, told = operator_of(node["name"]), rows_of(node) or 0, node["extra_info"]
    taken = [rows_of(child) or 0 for child in children]
    found["node"] += 1
    own_calls = sum(each.count(f"{FUNCTIONS_NAMESPACE}_") for key in told for each in _several(told[key]))
    found["call"] += max(returned, *taken, 0) * own_calls
    if operator in {Operator.SCAN, Operator.INDEX_SEARCH}:
        size = 1 if operator is Operator.INDEX_SEARCH else sizes.get(table_of(told) or "", 0)
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
    found["field"] += (rows_of(node) or 0) * len(_several(told.get("Projections")))
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
