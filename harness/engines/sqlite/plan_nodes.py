"""SQLite's plans as its EXPLAIN QUERY PLAN tells them: lines of text, each below another.

https://www.sqlite.org/eqp.html. It says neither what it expects nor what came; sources at one level are loops
in one another, in their order, as SQLite knows no other join.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from harness.engines.plans import Operator, PlanNode

_SOURCE = re.compile(
    r"""(?P<way>SCAN|SEARCH)\ (?:TABLE\ |SUBQUERY\ )?(?P<table>.+?)(?:\ AS\ (?P<alias>.+?))?
    (?:\ VIRTUAL\ TABLE\ INDEX\ (?P<virtual>\S*)
     |\ USING\ (?P<made>AUTOMATIC\ )?(?:PARTIAL\ )?(?P<covering>COVERING\ )?INDEX(?:\ (?P<index>(?!\().+?))?
     |\ USING\ (?P<key>(?:INTEGER\ )?PRIMARY\ KEY)
    )?
    (?:\ (?P<condition>\(.*\)))?
    (?:\ (?:LEFT-JOIN|EXISTS))?""",
    re.VERBOSE | re.DOTALL,
)
"""A table, a subquery or a virtual table and how its rows are found."""

_CONSTANT = re.compile(r"SCAN (?:CONSTANT ROW|\d+ CONSTANT ROWS|\d+-ROW VALUES CLAUSE)")

_STARTS: Mapping[str, Operator] = {
    "QUERY PLAN": Operator.QUERY,
    "MULTI-INDEX OR": Operator.INDEX_MERGE,
    "INDEX ": Operator.PIPELINE,
    "USE TEMP B-TREE FOR GROUP BY": Operator.AGGREGATE,
    "USE TEMP B-TREE FOR DISTINCT": Operator.DISTINCT,
    "USE TEMP B-TREE FOR ORDER BY": Operator.SORT,
    "USE TEMP B-TREE FOR LAST ": Operator.SORT,
    "USE TEMP B-TREE FOR RIGHT PART OF ORDER BY": Operator.SORT,
    "CO-ROUTINE ": Operator.PIPELINE,
    "MATERIALIZE ": Operator.MATERIALIZE,
    "SCALAR SUBQUERY ": Operator.SUBQUERY,
    "LIST SUBQUERY ": Operator.SUBQUERY,
    "SUBQUERY ": Operator.SUBQUERY,
    "REUSE ": Operator.SUBQUERY,
    "CORRELATED ": Operator.CORRELATED_SUBQUERY,
    "EXECUTE CORRELATED ": Operator.CORRELATED_SUBQUERY,
    "EXECUTE ": Operator.SUBQUERY,
    "BLOOM FILTER ON ": Operator.HASH,
    "CREATE BLOOM FILTER": Operator.HASH,
    "CREATE AUTOMATIC INDEX": Operator.MATERIALIZE,
    "RIGHT-JOIN ": Operator.NESTED_LOOP,
    "COMPOUND QUERY": Operator.SET_OPERATION,
    "COMPOUND SUBQUERIES ": Operator.SET_OPERATION,
    "LEFT-MOST SUBQUERY": Operator.PIPELINE,
    "UNION": Operator.UNION,
    "INTERSECT": Operator.INTERSECT,
    "EXCEPT": Operator.EXCEPT,
    "MERGE (UNION": Operator.UNION,
    "MERGE (INTERSECT": Operator.INTERSECT,
    "MERGE (EXCEPT": Operator.EXCEPT,
    "LEFT": Operator.PIPELINE,
    "RIGHT": Operator.PIPELINE,
    "SETUP": Operator.RECURSION,
    "RECURSIVE STEP": Operator.RECURSION,
}
"""What a line is by how it begins: the first that fits."""

_OF_AN_AGGREGATE = re.compile(r"USE TEMP B-TREE FOR \w+\((?P<what>DISTINCT|ORDER BY)\)")
"""The rows of an aggregate function are made distinct, or sorted."""


def read_plan(lines: Iterable[tuple[Any, ...]], rows: int | None = None) -> PlanNode:
    """The tree of what EXPLAIN QUERY PLAN returns.

    Args:
        lines: id, parent's id, a number without meaning, text.
        rows: how many rows the statement has returned; None if it was not run.
    """
    children: dict[int, list[tuple[int, str]]] = {}
    for place, parent, _, text in lines:
        children.setdefault(parent, []).append((place, text))
    return PlanNode(
        Operator.QUERY,
        "QUERY PLAN",
        real_rows=rows,
        loops=None if rows is None else 1,
        children=_below(0, children),
    )


def _below(parent: int, children: Mapping[int, list[tuple[int, str]]]) -> tuple[PlanNode, ...]:
    return tuple(_node(text, _below(place, children)) for place, text in children.get(parent, ()))


def _node(text: str, below: tuple[PlanNode, ...]) -> PlanNode:
    if _CONSTANT.fullmatch(text):
        return PlanNode(Operator.VALUES, text, children=below)
    if found := _SOURCE.fullmatch(text):
        return _source(found, below)
    if found := _OF_AN_AGGREGATE.fullmatch(text):
        operator = Operator.DISTINCT if found["what"] == "DISTINCT" else Operator.SORT
        return PlanNode(operator, text, children=below)
    operator = next((each for start, each in _STARTS.items() if text.startswith(start)), Operator.UNKNOWN)
    return PlanNode(operator, text, children=below)


def _source(found: re.Match[str], below: tuple[PlanNode, ...]) -> PlanNode:
    is_search, is_covering = found["way"] == "SEARCH", bool(found["covering"])
    if found["virtual"] is not None:
        operator = Operator.FUNCTION
    elif found["made"]:
        operator = Operator.TEMPORARY_INDEX
    elif is_search:
        # A search that names no index finds a row by its number, or at once, as MIN and MAX may.
        operator = Operator.COVERING_SEARCH if is_covering else Operator.INDEX_SEARCH
    elif is_covering:
        operator = Operator.COVERING_SCAN
    else:
        operator = Operator.INDEX_SCAN if found["index"] else Operator.SCAN
    return PlanNode(
        operator,
        found[0],
        table=found["table"],
        alias=found["alias"],
        index=found["index"] or found["key"],
        condition=found["condition"],
        children=below,
    )
