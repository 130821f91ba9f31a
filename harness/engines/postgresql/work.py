"""Work on PostgreSQL: what EXPLAIN (ANALYZE) tells of each node of the plan, as counters.

The server counts the rows that each node returned and removed, and how often it was started. What a node does
with a row follows from the plan: how many operators and functions its conditions and its output have, how
often n rows are compared to be sorted. So nothing here depends on a clock, or on what was in memory before.
Up to version 17 the server gives the rows of a node that was started several times as a rounded mean.

https://www.postgresql.org/docs/current/sql-explain.html
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
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
    r"\b(?!(?:AND|OR|ANY|ALL|NOT|ROW|ARRAY|IN|OPERATOR|NULLIF|COALESCE|GREATEST|LEAST)\b)[A-Za-z_]\w*\("
)
_WORD = re.compile(r"\b(?:CASE|IS|NULLIF|COALESCE|GREATEST|LEAST)\b|\bOPERATOR\(")
_FORMAT = re.compile(
    r"\b(?:to_\w+|EXTRACT|date_\w+|timestamp\w*|age|regexp_\w+|replace|jsonb?_\w+)\(", re.IGNORECASE
)
"""Functions that take several times as long as others."""
_DECIDES = re.compile(r"\b(?:AND|OR)\b")
_AGGREGATE = re.compile(r"\b(?:count|sum|avg|min|max|\w+_agg)\(")
_OPERATOR = re.compile(r"(?<![\w(:])[-+*/<>=~!@#%^&|?]+")
_PATTERN = re.compile(r"!?~~?\*?")
_CAST = re.compile(r"::(?!text\b|character varying\b|bpchar\b)[a-z]+")

_CONDITIONS = ("Filter", "Join Filter", "Recheck Cond", "One-Time Filter")
_REMOVED = ("Rows Removed by Filter", "Rows Removed by Join Filter", "Rows Removed by Index Recheck")
_BY_INDEX = ("Index Scan", "Index Only Scan", "Bitmap Index Scan", "Bitmap Heap Scan", "Tid Scan")
_SCANS = ("Seq Scan", "Sample Scan")
_PAGES = ("Shared Hit Blocks", "Shared Read Blocks")
_TEMPORARY = ("Temp Read Blocks", "Temp Written Blocks")


COLUMNS_OF = (
    "SELECT quote_ident(attname), attnum FROM pg_attribute JOIN pg_class ON attrelid = pg_class.oid"
    " JOIN pg_namespace ON relnamespace = pg_namespace.oid"
    " WHERE nspname = {} AND relname = {} AND attnum > 0 AND NOT attisdropped ORDER BY attnum"
)
"""The columns of a table as expressions name them, with their places in a row."""

ColumnsOf = Callable[[str, str], Sequence[tuple[str, int]]]
"""The same, of a schema and a table."""


def counters(plan: Node, columns_of: ColumnsOf) -> Counter[str]:
    """What a plan that was run says: the `Plan` of EXPLAIN's answer.

    `node`: nodes; `start`: how often they were started; `scan`: rows read one after the other, `index` by an
    index, `lookup`: searches in one; `page`, `index_page`: pages that these two asked for; `field`: values of
    rows that were read, up to the last one that is wanted; `pass`: rows that other nodes returned; `term`,
    `call`, `format`, `pattern`: operators, functions, slow functions and comparisons with a pattern that were
    evaluated; `pair`: rows held against each other by a nested loop; `build`, `probe`: rows put into a hash
    table, and looked for there; `merge`: rows of both sides of a merge join; `compare`: comparisons of
    sorting; `aggregate`: rows that were aggregated, once a function; `group`: rows put into groups; `store`:
    rows kept to be read again; `temporary`: blocks of temporary files; `row`, `value`: of the result.

    Args:
        plan: the uppermost node.
        columns_of: the columns of a table.
    """
    found = Counter[str]()
    _count(plan, found)
    wanted = "\n".join(_wanted(plan))
    for scan in _scans(plan):
        found["field"] += _seen(scan) * _last(scan, wanted, columns_of)
    found["statement"] = 1
    found["value"] = _returned(plan) * max(1, len(plan.get("Output", ())))
    found["row"] = _returned(plan)
    found["temporary"] = sum(int(plan.get(name, 0)) for name in _TEMPORARY)
    return found


def _count(node: Node, found: "Counter[str]") -> None:
    children: list[Node] = node.get("Plans", [])
    kind, returned = node["Node Type"], _returned(node)
    seen = _seen(node)
    found["node"] += 1
    found["start"] += _loops(node)
    if "Relation Name" in node or kind == "Bitmap Index Scan":
        # Its own: what a node above does besides may read the catalogue for the first time.
        page = "page" if kind in _SCANS else "index_page"
        found[page] += sum(node.get(name, 0) for name in _PAGES)
        found[page] -= sum(child.get(name, 0) for child in children for name in _PAGES)
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
    returned = _returned(node)
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
            said = [_bare(each) for each in (*output, str(node.get("Filter", "")))]
            found["aggregate"] += sum(taken) * max(1, sum(len(_AGGREGATE.findall(each)) for each in said))
            for each in said:
                # What is aggregated is evaluated for each row that comes.
                _evaluate(each, max(0, sum(taken) - returned), found)
                found["compare"] += sum(taken) * sum(taken).bit_length() * each.count("(DISTINCT ")
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


def _seen(node: Node) -> int:
    """Rows of all starts together, with those that did not pass its conditions."""
    removed: int = sum(round(node.get(name, 0) * node["Actual Loops"]) for name in _REMOVED)
    return _returned(node) + removed


def _scans(node: Node) -> Iterator[Node]:
    """The nodes that read a table."""
    if "Relation Name" in node:
        yield node
    for child in node.get("Plans", ()):
        yield from _scans(child)


def _wanted(node: Node) -> Iterator[str]:
    """The expressions of a plan; not what a scan says that it returns, which may be all that there is."""
    for name, value in node.items():
        if name == "Plans" or (name == "Output" and "Relation Name" in node):
            continue
        yield from (value if isinstance(value, list) else [value] if isinstance(value, str) else ())
    for child in node.get("Plans", ()):
        yield from _wanted(child)


def _last(scan: Node, wanted: str, columns_of: ColumnsOf) -> int:
    """The place of the last column of a table that an expression names: a row is taken apart up to it."""
    alias = str(scan["Alias"])
    quoted = '"' + alias.replace('"', '""') + '"'
    places = (
        place
        for name, place in columns_of(scan["Schema"], scan["Relation Name"])
        if _names(wanted, f"{alias}.{name}") or _names(wanted, f"{quoted}.{name}")
    )
    return max(places, default=0)


def _names(text: str, column: str) -> bool:
    """Whether a column stands in a text, and not another one whose name begins alike."""
    at = text.find(column)
    while at >= 0:
        following = text[at + len(column) : at + len(column) + 1]
        if not (following.isalnum() or following == "_"):
            return True
        at = text.find(column, at + 1)
    return False


def _comparisons(node: Node, rows: int) -> int:
    """How often rows are compared: n log n; where only the first k are kept, n + k log k."""
    loops = max(1, _loops(node))
    if node.get("Sort Method") == "top-N heapsort":
        return rows + _returned(node) * (_returned(node) // loops).bit_length()
    return rows * (rows // loops).bit_length()


def _evaluate(expression: str, rows: int, found: "Counter[str]") -> None:
    """Count what an expression has to be evaluated for so many rows.

    What stands behind AND and OR is taken to be evaluated for every other row: the first part often decides.
    """
    if not expression or not rows:
        return
    for place, part in enumerate(_DECIDES.split(_bare(expression))):
        times = rows // 2 if place else rows
        operators = _OPERATOR.findall(part)
        patterns = sum(_PATTERN.fullmatch(each) is not None for each in operators)
        found["pattern"] += times * patterns
        formats = len(_FORMAT.findall(part))
        found["format"] += times * formats
        found["call"] += times * (len(_CALL.findall(_AGGREGATE.sub("(", part))) - formats)
        found["term"] += times * (
            len(operators) - patterns + len(_WORD.findall(part)) + len(_CAST.findall(part))
        )


def _bare(expression: str) -> str:
    """An expression without what texts and quoted names have in them."""
    return _NAME.sub("n", _TEXT.sub("x", expression))


def _is_taken(expression: str, children: list[Node]) -> bool:
    """Whether a node below has computed it."""
    bare = expression[1:-1] if expression.startswith("(") and expression.endswith(")") else expression
    return any(expression in child.get("Output", ()) or bare in child.get("Output", ()) for child in children)
