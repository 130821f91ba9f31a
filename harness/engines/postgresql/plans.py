"""Read PostgreSQL's plans and work from the JSON of EXPLAIN (ANALYZE).

Work: the server counts the rows that each node returned and removed, and how often it was started. What a
node does with a row follows from the plan: how many operators and functions its conditions and its output
have, how often n rows are compared to be sorted. Pages follow from the rows that were read, and from the size
and the order of the table when statistics were gathered: the pages that the server counts itself are those of
its catalog, too, in a session that has not read it yet. So nothing here depends on a clock, or on what was in
memory before. Up to version 17 the server gives the rows of a node that was started several times as a
rounded mean.

https://www.postgresql.org/docs/current/sql-explain.html; the names of its nodes are those of `ExplainNode` in
src/backend/commands/explain.c.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from harness.engines.plans import Operator, PlanNode, comparisons, conditions, later_parts, operators

OPERATORS = operators(
    {
        Operator.SCAN: "Seq Scan|Sample Scan|Foreign Scan|CTE Scan|WorkTable Scan|Named Tuplestore Scan",
        Operator.INDEX_SCAN: "Index Scan",
        Operator.COVERING_SCAN: "Index Only Scan",
        Operator.INDEX_SEARCH: "Bitmap Index Scan",
        Operator.BITMAP_SCAN: "Bitmap Heap Scan",
        Operator.INDEX_MERGE: "BitmapAnd|BitmapOr",
        Operator.ROW_SEARCH: "Tid Scan|Tid Range Scan",
        Operator.VALUES: "Values Scan|Result",
        Operator.FUNCTION: "Function Scan|Table Function Scan|ProjectSet",
        Operator.PIPELINE: "Subquery Scan",
        Operator.NESTED_LOOP: "Nested Loop",
        Operator.HASH_JOIN: "Hash Join",
        Operator.MERGE_JOIN: "Merge Join",
        Operator.HASH: "Hash",
        Operator.SORT: "Sort|Incremental Sort",
        Operator.AGGREGATE: "Aggregate|Group",
        Operator.WINDOW: "WindowAgg",
        Operator.DISTINCT: "Unique",
        Operator.MATERIALIZE: "Materialize|Memoize",
        Operator.UNION: "Append|Merge Append",
        Operator.SET_OPERATION: "SetOp",
        Operator.RECURSION: "Recursive Union",
        Operator.LIMIT: "Limit",
        Operator.PARALLEL: "Gather|Gather Merge",
        Operator.LOCK: "LockRows",
        Operator.WRITE: "ModifyTable",
    }
)
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
    """Return the tree of what EXPLAIN (FORMAT JSON) returns: a list with one object."""
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
        condition=conditions(plan[key] for key in _CONDITIONS if key in plan),
        estimated_rows=plan.get("Plan Rows"),
        real_rows=plan.get("Actual Rows"),
        loops=plan.get("Actual Loops"),
        cost=plan.get("Total Cost"),
        children=tuple(_node(child, hashed) for child in plan.get("Plans", ())),
    )
    return _as_subquery(plan, node, hashed)


def _as_subquery(plan: Mapping[str, Any], node: PlanNode, hashed: frozenset[str]) -> PlanNode:
    """Return the node below one that says what part of the statement it is, where it is one.

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
    return node.below(operator, named)


def _operator(name: str, plan: Mapping[str, Any]) -> Operator:
    if name in _SEARCHING and "Index Cond" in plan:
        return _SEARCHING[name]
    if name == "SetOp":
        return _COMMANDS.get(str(plan.get("Command", "")).removesuffix(" All"), Operator.SET_OPERATION)
    if name == "Result" and plan.get("Plans"):
        return Operator.FILTER
    return OPERATORS.get(name, Operator.UNKNOWN)


def _words(name: str, plan: Mapping[str, Any]) -> str:
    """Return the node as EXPLAIN's text calls it: with its strategy, the kind of its join, its command."""
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


EXPLAIN = "EXPLAIN (ANALYZE, VERBOSE, BUFFERS, TIMING OFF, SUMMARY OFF, FORMAT JSON) "

SETTINGS = (
    "SET jit = off",
    "SET max_parallel_workers_per_gather = 0",
    "SET synchronize_seqscans = off",
)
"""Of a session that counts: a plan must not depend on helpers, nor a scan begin where another one is."""

Node = Mapping[str, Any]

_TEXT = re.compile(
    r"'(?:[^']|'')*+'?"
    r"(?:::(?:\"[^\"]*+\"|[a-z_]\w*+)(?: precision| varying| with(?:out)? time zone)?"
    r"(?:\([\d,]++\))?(?:\[\])?)?"
)
"""A constant, with its type."""
_NAME = re.compile(r'"(?:[^"]|"")*+"?')
_COLUMN = re.compile(r'(?:\w++|"(?:[^"]|"")*+"?)(?:\.(?:\w++|"(?:[^"]|"")*+"?))?')
"""A column with its table; and a name alone: a pattern that passed it over would look at its end again."""
_DECIDES = re.compile(r"\b(AND|OR)\b")
_AGGREGATE = re.compile(
    r"\b(?:count|sum|avg|min|max|\w+_agg|stddev\w*|var\w*|bool_\w+|every|mode|percentile_\w+|\w*rank|row_number"
    r"|ntile|lag|lead|\w+_value)\("
)
_LIKE = re.compile(r"!?~~\*?|\b(?:strpos|position)\(")
_KINDS = (
    ("format", re.compile(r"\bto_char\(")),
    ("date", re.compile(r"\b(?:EXTRACT|date_part|date_trunc|age|timezone|make_\w+)\(")),
    ("regex", re.compile(r"\b(?:regexp_\w+|similar_to_escape|jsonb?_\w+)\(|(?<![~!])!?~\*?(?![~*])")),
    (
        "parse",
        re.compile(
            r"\bto_(?:date|timestamp|number)\("
            r"|::(?:date|timestamp|time|interval)\b(?: with(?:out)? time zone)?"
        ),
    ),
    ("probe", re.compile(r"\bhashed SubPlan\b")),
    (
        "call",
        re.compile(
            r"\b(?!(?:AND|OR|ANY|ALL|NOT|ROW|ARRAY|IN|OPERATOR|NULLIF|COALESCE|GREATEST|LEAST|CASE|SubPlan)\b)"
            r"[A-Za-z_]\w*\("
        ),
    ),
    (
        "term",
        re.compile(
            r"\b(?:CASE|IS|NULLIF|COALESCE|GREATEST|LEAST|OPERATOR)\b|(?<![\w(:])[-+*/<>=~!@#%^&|?]+"
            r"|::(?!text\b|character varying\b|bpchar\b)[a-z]+"
        ),
    ),
)
"""What expressions are made of: what takes several times as long as others has a counter of its own. What one
of them finds is no matter of the next."""

_EVALUATED = ("Filter", "Join Filter", "One-Time Filter", "Recheck Cond")
_JOINED_BY = ("Hash Cond", "Merge Cond", "Join Filter")
_REMOVED = ("Rows Removed by Filter", "Rows Removed by Join Filter", "Rows Removed by Index Recheck")
_BY_INDEX = ("Index Scan", "Index Only Scan", "Bitmap Index Scan", "Bitmap Heap Scan", "Tid Scan")
_SCANS = ("Seq Scan", "Sample Scan")
_JOINS = ("Hash Join", "Merge Join", "Nested Loop")
_TEMPORARY = ("Temp Read Blocks", "Temp Written Blocks")

_MANY_PAGES = 8_192
"""A larger table does not stay in a cache of 256 MiB, as the project configures: its pages are read anew."""
_FAR_PAGES = 4_096
"""Rows of a larger table that are looked for one by one are not in the processor's caches."""
_FAR_BYTES = 2 * 2**20
"""Nor are the entries of a larger hash table, each with these bytes"""
_ENTRY_BYTES = 48
"""and its values."""
_UNKNOWN_BYTES = 32
"""Assumed width of a text that is not a column."""

TABLE = (
    "SELECT quote_ident(pg_attribute.attname), attnum, typcategory = 'S', avg_width, correlation, relpages,"
    " reltuples::float8 FROM pg_attribute JOIN pg_class ON attrelid = pg_class.oid"
    " JOIN pg_namespace ON relnamespace = pg_namespace.oid JOIN pg_type ON atttypid = pg_type.oid"
    " LEFT JOIN pg_stats ON schemaname = nspname AND tablename = relname AND pg_stats.attname ="
    " pg_attribute.attname AND NOT inherited"
    " WHERE nspname = {} AND relname = {} AND attnum > 0 AND NOT attisdropped ORDER BY attnum"
)
"""What `TableStatistics` is made of, a row a column."""

INDEX = (
    "SELECT indkey[0] FROM pg_index JOIN pg_class ON indexrelid = pg_class.oid"
    " JOIN pg_namespace ON relnamespace = pg_namespace.oid WHERE nspname = {} AND relname = {}"
)
"""The place of the first column of an index in its table; 0 if it is an expression."""


@dataclass(frozen=True)
class PlannerColumn:
    """A column's name in expressions, and its statistics.

    `place` is that in a row, from 1 on; `width` the mean of bytes; `correlation` that of its order with the
    order in which rows are stored, from -1 to 1.
    """

    name: str
    place: int
    is_text: bool
    width: int
    correlation: float


@dataclass(frozen=True)
class TableStatistics:
    """A table when its statistics were gathered."""

    columns: Sequence[PlannerColumn]
    pages: int
    rows: float

    @classmethod
    def of(cls, found: Sequence[Sequence[Any]]) -> "TableStatistics":
        """Of the rows of `TABLE`."""
        columns = [
            PlannerColumn(str(name), place, bool(is_text), width or 0, correlation or 0.0)
            for name, place, is_text, width, correlation, *_ in found
        ]
        pages, rows = found[0][5:7] if found else (0, 0.0)
        return cls(columns, pages, rows)

    @cached_property
    def pages_of_row(self) -> float:
        """Pages for each row."""
        return self.pages / self.rows if self.rows > 0 else 0.0

    def correlation(self, place: int) -> float:
        """That of the column at `place`."""
        return next((each.correlation for each in self.columns if each.place == place), 0.0)


class Catalog(Protocol):
    """What the server knows of tables and indexes."""

    def table(self, schema: str, name: str) -> TableStatistics:
        """Return a table."""
        ...

    def first_place(self, schema: str, index: str) -> int:
        """See `INDEX`."""
        ...


def counters(plan: Node, catalog: Catalog) -> "Counter[str]":
    """What a plan that was run says: the `Plan` of EXPLAIN's answer.

    `node`: nodes; `start`: how often they were started; `scan`: rows read one after the other, `page`: their
    pages, `many_page`: those of large tables; `index`: rows found by an index, `lookup`: searches in one,
    `entry`: entries of indexes that are read from end to end; `fetch`: pages of the table looked up after
    that, `far_fetch`: those of a large one; `field`: values of rows that were read, up to the last one that
    is wanted; `pass`, `joined`: rows that other nodes and joins returned; `term`, `call`: operators and
    functions evaluated; `format`, `date`, `regex`, `parse`: those that take longer, by kind; `pattern`: bytes
    compared with a pattern; `pair`: rows compared pairwise by a nested loop; `build`, `build_byte`,
    `probe`: rows put into a hash table, with their bytes, and looked for there, `far_probe`: in a large one;
    `merge`: rows of both sides of a merge join; `compare`: comparisons of sorting; `sorted`, `top`: rows that
    were sorted, and of which only the first were kept; `taken`: rows that were aggregated; `aggregate`: the
    same, once a function; `group`: keys of rows put into groups, `far_group`: rows put into one of many;
    `store`: rows kept to be read again; `temporary`: blocks of temporary files; `value`: of the result.

    Args:
        plan: the uppermost node.
        catalog: of the database.
    """
    return _Counting(plan, catalog).found


class _Counting:
    def __init__(self, plan: Node, catalog: Catalog) -> None:
        self.found = Counter[str]()
        self._catalog = catalog
        self._columns = {
            name: column
            for scan in _scans(plan)
            for column in self._table(scan).columns
            for name in _named(scan, column)
        }
        self._wanted = "\n".join(_wanted(plan))
        self._count(plan, None)
        self.found["statement"] = 1
        self.found["value"] = _returned(plan) * max(1, len(plan.get("Output", ())))
        self.found["temporary"] = sum(int(plan.get(name, 0)) for name in _TEMPORARY)

    def _table(self, scan: Node) -> TableStatistics:
        return self._catalog.table(scan["Schema"], scan["Relation Name"])

    def _count(self, node: Node, parent: Node | None) -> None:
        children: list[Node] = node.get("Plans", [])
        kind, returned, seen = node["Node Type"], _returned(node), _seen(node)
        self.found["node"] += 1
        self.found["start"] += _loops(node)
        if "Relation Name" in node or kind in _BY_INDEX:
            self._count_read(node, parent)
        else:
            self.found["joined" if kind in _JOINS else "pass"] += seen
        for name in _EVALUATED:
            # Rows are checked again where a bitmap had no room for each of them.
            if name != "Recheck Cond" or node.get("Lossy Heap Blocks"):
                self._evaluate(str(node.get(name, "")), seen, returned)
        output = [each for each in node.get("Output", ()) if not _is_taken(each, children)]
        taken = [
            _returned(child)
            for child in children
            if child.get("Parent Relationship") not in {"SubPlan", "InitPlan"}
        ]
        if kind in {"Aggregate", "Group", "WindowAgg", "Unique", "SetOp"}:
            self._count_aggregated(node, output, sum(taken))
        else:
            for each in output:
                self._evaluate(each, returned)
            self._count_taken(node, taken)
        for child in children:
            self._count(child, node)

    def _count_read(self, node: Node, parent: Node | None) -> None:
        """A node that reads a table or an index."""
        found, kind, seen = self.found, node["Node Type"], _seen(node)
        if kind in _BY_INDEX:
            found["index"] += seen
            found["lookup"] += _loops(node) if kind != "Bitmap Heap Scan" else 0
        else:
            found["scan"] += seen
        if "Relation Name" not in node:
            return
        table = self._table(node)
        found["field"] += self._fields(node, parent, table)
        if kind in _SCANS:
            pages = round(seen * table.pages_of_row)
            found["page"] += pages
            found["many_page"] += pages if table.pages > _MANY_PAGES else 0
        elif kind == "Bitmap Heap Scan":
            found["fetch"] += int(node.get("Exact Heap Blocks", 0)) + int(node.get("Lossy Heap Blocks", 0))
            for search in _searches(node):
                self._count_entries(search, node, table)
        elif "Index Name" in node:
            self._count_entries(node, node, table)
        if kind == "Index Scan":
            order = table.correlation(self._catalog.first_place(node["Schema"], node["Index Name"])) ** 2
            # In the order of the table they are those of a scan, in any other order one a row.
            pages = max(round(seen * (1 - order + order * table.pages_of_row)), min(_loops(node), seen))
            found["fetch"] += pages
            found["far_fetch"] += pages if table.pages > _FAR_PAGES else 0

    def _count_entries(self, search: Node, scan: Node, table: TableStatistics) -> None:
        """An index is read from end to end for each search that does not name its first column."""
        place = self._catalog.first_place(scan["Schema"], search["Index Name"])
        first = [name for column in table.columns if column.place == place for name in _named(scan, column)]
        condition = str(search.get("Index Cond", ""))
        if condition and first and not any(_names(condition, name) for name in first):
            self.found["entry"] += _loops(search) * round(table.rows)

    def _fields(self, node: Node, parent: Node | None, table: TableStatistics) -> int:
        """Values of the rows that a node reads: a row is taken apart up to the last one that is wanted.

        By a condition of the node in all rows; in those that pass, by what it returns, or where it gives rows
        on as they are, by what joins them, and only in joined rows by all that is above.
        """
        returned, everything = _returned(node), _last(node, self._wanted, table)
        checked = _last(node, "\n".join(str(node.get(name, "")) for name in _EVALUATED), table)
        late = 0
        if parent is None or len(node.get("Output", ())) < len(table.columns):
            wanted = _last(node, "\n".join(node.get("Output", ())), table)
        elif parent["Node Type"] in _JOINS:
            wanted = _last(node, "\n".join(str(parent.get(name, "")) for name in _JOINED_BY), table)
            late = min(_returned(parent), returned) * max(0, everything - max(wanted, checked))
        else:
            wanted = everything
        return _seen(node) * checked + returned * max(0, wanted - checked) + late

    def _count_aggregated(self, node: Node, output: Sequence[str], rows: int) -> None:
        """What a node does that makes fewer rows of so many; the server computes equal aggregates once."""
        found, returned = self.found, _returned(node)
        calls = dict[str, None]()
        for each in (*output, str(node.get("Filter", ""))):
            inside, rest = _aggregates(each)
            calls.update(dict.fromkeys(inside))
            self._evaluate(rest, returned)
        found["taken"] += rows
        found["aggregate"] += rows * len(calls)
        for call in calls:
            self._evaluate(call[call.index("(") :], rows)
            in_group = rows // max(1, _seen(node))
            found["compare"] += rows * in_group.bit_length() * call.count("(DISTINCT ")
        if node.get("Strategy") in {"Hashed", "Mixed"}:
            found["group"] += rows * max(1, len(node.get("Group Key", ())))
            found["far_group"] += rows if _is_far(node, _seen(node)) else 0

    def _count_taken(self, node: Node, taken: Sequence[int]) -> None:
        """What a node does with the rows that those below give it."""
        found = self.found
        match node["Node Type"]:
            case "Nested Loop":
                found["pair"] += sum(taken[1:])
            case "Hash Join":
                found["probe"] += sum(taken[:1])
                if _is_far(node["Plans"][1], sum(taken[1:])):
                    found["far_probe"] += sum(taken[:1])
            case "Hash":
                found["build"] += sum(taken)
                found["build_byte"] += sum(taken) * int(node.get("Plan Width", 0))
            case "Merge Join":
                found["merge"] += sum(taken)
            case "Sort" | "Incremental Sort":
                found["compare"] += _comparisons(node, sum(taken))
                found["top" if node.get("Sort Method") == "top-N heapsort" else "sorted"] += sum(taken)
            case "Materialize" | "Memoize":
                found["store"] += sum(taken)

    def _evaluate(self, expression: str, rows: int, passed: int | None = None) -> None:
        """Count what an expression has to be evaluated for so many rows; `passed`: those a condition lets by.

        The first part often decides: see `later_parts`.
        """
        if not expression or not rows:
            return
        later = later_parts(rows, passed)
        parts = _DECIDES.split(_TEXT.sub("x", expression))
        for word, part in zip(("", *parts[1::2]), parts[::2], strict=True):
            times = later.get(word, rows)
            columns = [column for name in _COLUMN.findall(part) if (column := self._columns.get(name))]
            if patterns := len(_LIKE.findall(part)):
                widths = sum(column.width for column in columns)
                self.found["pattern"] += times * (widths or patterns * _UNKNOWN_BYTES)
            # A date made of a date needs no reading.
            is_read = not columns or any(column.is_text for column in columns)
            bare = _LIKE.sub(" ", _NAME.sub("n", part))
            for kind, what in _KINDS:
                bare, count = what.subn(" ", bare)
                self.found[kind if is_read or kind != "parse" else "term"] += times * count


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


def _is_far(node: Node, rows: int) -> bool:
    """Return True if a hash table of a node's rows is a large one."""
    return rows * (int(node.get("Plan Width", 0)) + _ENTRY_BYTES) > _FAR_BYTES


def _scans(node: Node) -> Iterator[Node]:
    if "Relation Name" in node:
        yield node
    for child in node.get("Plans", ()):
        yield from _scans(child)


def _searches(node: Node) -> Iterator[Node]:
    """Yield the searches in indexes below a node that reads what they found."""
    for child in node.get("Plans", ()):
        if child["Node Type"] == "Bitmap Index Scan":
            yield child
        elif child["Node Type"] in {"BitmapAnd", "BitmapOr"}:
            yield from _searches(child)


def _wanted(node: Node) -> Iterator[str]:
    """The expressions of a plan; not what a scan says that it returns, which may be all that there is."""
    for name, value in node.items():
        if name == "Plans" or (name == "Output" and "Relation Name" in node):
            continue
        yield from (value if isinstance(value, list) else [value] if isinstance(value, str) else ())
    for child in node.get("Plans", ()):
        yield from _wanted(child)


def _named(scan: Node, column: PlannerColumn) -> tuple[str, str]:
    """How expressions may name a column of a table that a node reads."""
    alias = str(scan["Alias"])
    quoted = '"' + alias.replace('"', '""') + '"'
    return f"{alias}.{column.name}", f"{quoted}.{column.name}"


def _last(scan: Node, wanted: str, table: TableStatistics) -> int:
    """Return the place of the last column of a table that an expression names."""
    places = (
        column.place for column in table.columns if any(_names(wanted, name) for name in _named(scan, column))
    )
    return max(places, default=0)


def _names(text: str, column: str) -> bool:
    """Return True if a text names a column, rather than one whose name has the same beginning."""
    at = text.find(column)
    while at >= 0:
        following = text[at + len(column) : at + len(column) + 1]
        if not (following.isalnum() or following == "_"):
            return True
        at = text.find(column, at + 1)
    return False


def _comparisons(node: Node, rows: int) -> int:
    kept = _returned(node) if node.get("Sort Method") == "top-N heapsort" else None
    return comparisons(rows, max(1, _loops(node)), kept)


def _aggregates(expression: str) -> tuple[list[str], str]:
    """The outermost calls of aggregates in an expression, each with its FILTER, and what is around them."""
    # As long as the expression, without brackets that are none.
    masked = _NAME.sub(
        lambda found: "n" * len(found[0]), _TEXT.sub(lambda found: "x" * len(found[0]), expression)
    )
    calls, around, end = [], [], 0
    for found in _AGGREGATE.finditer(masked):
        if found.start() < end:
            continue
        around.append(expression[end : found.start()])
        end = _closed(masked, found.end() - 1)
        if masked.startswith(_FILTER, end):
            end = _closed(masked, end + len(_FILTER) - 1)
        calls.append(expression[found.start() : end])
    return calls, " x ".join((*around, expression[end:]))


_FILTER = " FILTER ("


def _closed(text: str, at: int) -> int:
    """Return the place behind the bracket that closes the one at a place."""
    depth = 0
    for place in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if depth == 0:
            return place + 1
    return len(text)


def _is_taken(expression: str, children: list[Node]) -> bool:
    """Return True if a node below has computed it."""
    bare = expression[1:-1] if expression.startswith("(") and expression.endswith(")") else expression
    return any(expression in child.get("Output", ()) or bare in child.get("Output", ()) for child in children)
