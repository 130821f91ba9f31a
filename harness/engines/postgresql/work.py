"""Work on PostgreSQL: what EXPLAIN (ANALYZE) tells of each node of the plan, as counters.

The server counts the rows that each node returned and removed, and how often it was started. What a node does
with a row follows from the plan: how many operators and functions its conditions and its output have, how
often n rows are compared to be sorted. So nothing here depends on a clock, or on what was in memory before.
Up to version 17 the server gives the rows of a node that was started several times as a rounded mean.

https://www.postgresql.org/docs/current/sql-explain.html
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

EXPLAIN = "EXPLAIN (ANALYZE, VERBOSE, BUFFERS, TIMING OFF, SUMMARY OFF, FORMAT JSON) "

SETTINGS = (
    "SET jit = off",
    "SET max_parallel_workers_per_gather = 0",
    "SET synchronize_seqscans = off",
)
"""Of a session that counts: a plan must not depend on helpers, nor a scan begin where another one is."""

Node = Mapping[str, Any]

_TEXT = re.compile(r"'(?:[^']|'')*+'?")
_NAME = re.compile(r'"(?:[^"]|"")*+"?')
_CALL = re.compile(
    r"\b(?!AND\b|OR\b|ANY\b|ALL\b|NOT\b|ROW\b|ARRAY\b|IN\b)[A-Za-z_]\w*\(|\b(?:CASE|IS)\b|\bOPERATOR\("
)
_OPERATOR = re.compile(r"(?<![\w(:])[-+*/<>=~!@#%^&|?]+")
_PATTERN = re.compile(r"!?~~?\*?")
_CAST = re.compile(r"::(?!text\b|character varying\b|bpchar\b)[a-z]+")

_CONDITIONS = ("Filter", "Join Filter", "Recheck Cond", "One-Time Filter")
_REMOVED = ("Rows Removed by Filter", "Rows Removed by Join Filter", "Rows Removed by Index Recheck")
_BY_INDEX = ("Index Scan", "Index Only Scan", "Bitmap Index Scan", "Bitmap Heap Scan", "Tid Scan")
_SCANS = ("Seq Scan", "Sample Scan")
_TEMPORARY = ("Temp Read Blocks", "Temp Written Blocks")


def counters(plan: Node) -> Counter[str]:
    """What a plan that was run says: the `Plan` of EXPLAIN's answer.

    `node`: nodes; `start`: how often they were started; `scan`: rows read one after the other, `index` by an
    index, `lookup`: searches in one; `pass`: rows that other nodes returned; `term`, `pattern`: operators and
    functions evaluated, and comparisons with a pattern; `pair`: rows held against each other by a nested
    loop; `build`, `probe`: rows put into a hash table, and looked for there; `merge`: rows of both sides of a
    merge join; `compare`: comparisons of sorting; `aggregate`: rows that were aggregated, once a function;
    `group`: rows put into groups; `store`: rows kept to be read again; `temporary`: blocks of temporary
    files; `row`, `value`: of the result.
    """
    found = Counter[str]()
    _count(plan, found)
    found["statement"] = 1
    found["value"] = _returned(plan) * max(1, len(plan.get("Output", ())))
    found["row"] = _returned(plan)
    found["temporary"] = sum(int(plan.get(name, 0)) for name in _TEMPORARY)
    return found


def _count(node: Node, found: "Counter[str]") -> None:
    children: list[Node] = node.get("Plans", [])
    kind, returned = node["Node Type"], _returned(node)
    seen = returned + sum(round(node.get(name, 0) * node["Actual Loops"]) for name in _REMOVED)
    found["node"] += 1
    found["start"] += _loops(node)
    if kind in _BY_INDEX:
        found["index"] += seen
        found["lookup"] += _loops(node)
    else:
        found["scan" if kind in _SCANS else "pass"] += seen
    for name in _CONDITIONS:
        _evaluate(str(node.get(name, "")), seen, found)
    output = [each for each in node.get("Output", ()) if not _is_taken(each, children)]
    for each in output:
        _evaluate(each, returned, found)
    _count_taken(node, output, found)
    for child in children:
        _count(child, found)


def _count_taken(node: Node, output: Sequence[str], found: "Counter[str]") -> None:
    """What a node does with the rows that those below give it."""
    taken = [
        _returned(child)
        for child in node.get("Plans", ())
        if child.get("Parent Relationship") not in {"SubPlan", "InitPlan"}
    ]
    match node["Node Type"]:
        case "Nested Loop":
            found["pair"] += sum(taken[1:])
        case "Hash Join":
            found["probe"] += sum(taken[:1])
        case "Hash":
            found["build"] += sum(taken)
        case "Merge Join":
            found["merge"] += sum(taken)
        case "Sort" | "Incremental Sort":
            found["compare"] += _comparisons(node, sum(taken))
        case "Aggregate" | "Group" | "WindowAgg" | "Unique" | "SetOp":
            calls = sum(len(_CALL.findall(_bare(each))) for each in output)
            found["aggregate"] += sum(taken) * max(1, calls)
            if node.get("Strategy") in {"Hashed", "Mixed"}:
                found["group"] += sum(taken)
        case "Materialize" | "Memoize":
            found["store"] += sum(taken)


def _loops(node: Node) -> int:
    loops: int = round(node["Actual Loops"])
    return loops


def _returned(node: Node) -> int:
    """Rows of all starts together."""
    rows: int = round(node["Actual Rows"] * node["Actual Loops"])
    return rows


def _comparisons(node: Node, rows: int) -> int:
    """How often rows are compared: n log n; where only the first k are kept, n + k log k."""
    loops = max(1, _loops(node))
    if node.get("Sort Method") == "top-N heapsort":
        return rows + _returned(node) * (_returned(node) // loops).bit_length()
    return rows * (rows // loops).bit_length()


def _evaluate(expression: str, rows: int, found: Counter[str]) -> None:
    """Count what an expression has to be evaluated for so many rows."""
    if not expression or not rows:
        return
    bare = _bare(expression)
    operators = _OPERATOR.findall(bare)
    patterns = sum(_PATTERN.fullmatch(each) is not None for each in operators)
    found["pattern"] += rows * patterns
    found["term"] += rows * (len(operators) - patterns + len(_CALL.findall(bare)) + len(_CAST.findall(bare)))


def _bare(expression: str) -> str:
    """An expression without what texts and quoted names have in them."""
    return _NAME.sub("n", _TEXT.sub("x", expression))


def _is_taken(expression: str, children: list[Node]) -> bool:
    """Whether a node below has computed it."""
    bare = expression[1:-1] if expression.startswith("(") and expression.endswith(")") else expression
    return any(expression in child.get("Output", ()) or bare in child.get("Output", ()) for child in children)
