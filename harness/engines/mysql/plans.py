"""Read MySQL's plans and work from EXPLAIN's JSON of the second version, that of its iterators.

Work: the server counts the rows that each iterator returned and how often it was started; it reports a mean
with all its digits. What an iterator does with a row follows from the plan: how many operators and functions
a filter has, how often n rows are compared to be sorted. The session's counters `Handler_...` count requests
to storage engines, temporary tables included, also by subqueries of a select list, which the plan omits. They
include the data dictionary's reads for a table that is opened for the first time, so the text is explained
once before.

https://dev.mysql.com/doc/refman/9.7/en/explain.html; the names are those of `SetObjectMembers` in
sql/join_optimizer/explain_access_path.cc.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from harness.engines.plans import Operator, PlanNode, comparisons, conditions, later_parts, operators

OPERATORS = operators(
    {
        Operator.SCAN: "table|sample|sample_scan|scan_new_records",
        Operator.VALUES: "constant_row|rows_fetched_before_execution|zero_rows|zero_rows_aggregated",
        Operator.COVERING_SCAN: "count_rows",
        Operator.INDEX_MERGE: "index_merge|rowid_intersection|rowid_union",
        Operator.FUNCTION: "materialized_table_function|materialize_information_schema",
        Operator.FILTER: "filter",
        Operator.SORT: "sort",
        Operator.AGGREGATE: "aggregate|temp_table_aggregate",
        Operator.LIMIT: "limit",
        Operator.PIPELINE: "stream",
        Operator.MATERIALIZE: "materialize|invalidate_materialized_tables",
        Operator.UNION: "append",
        Operator.WINDOW: "window",
        Operator.DISTINCT: "weedout|remove_duplicates_from_groups|remove_duplicates_on_index",
        Operator.INDEX_SEARCH: "alternative_plans_for_in_subquery",
        Operator.WRITE: "delete_rows|update_rows|insert_values|replace_values|insert_from_select",
    }
)
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


def read_plan(text: str) -> PlanNode:
    """Return the tree of what EXPLAIN FORMAT=JSON returns in the second version of that format."""
    explained: Mapping[str, Any] = json.loads(text)
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
        condition=conditions(plan[key] for key in _CONDITIONS if plan.get(key)),
        estimated_rows=plan.get("estimated_rows"),
        real_rows=plan.get("actual_rows"),
        loops=plan.get("actual_loops"),
        cost=plan.get("estimated_total_cost"),
        children=tuple(map(_node, below)),
    )
    if not plan.get("subquery"):
        return node
    operator = Operator.CORRELATED_SUBQUERY if plan.get("dependent") else Operator.SUBQUERY
    return node.below(operator, str(plan.get("heading", "subquery")))


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


EXPLAIN = "EXPLAIN ANALYZE FORMAT=JSON "

SETTING = "SET SESSION explain_json_format_version = 2"
"""Of a session that counts; since 8.3."""

PLAN = "EXPLAIN FORMAT=JSON "
"""Opens all tables, and runs nothing."""

STATUS = "SHOW SESSION STATUS LIKE 'Handler\\_%'"

_REQUESTS = {
    "seek": ("read_key", "read_first", "read_last", "read_rnd"),
    "next": ("read_next", "read_prev"),
    "next_row": ("read_rnd_next",),
    "write": ("write", "update"),
}
"""Requests for rows, those together that are alike.

https://dev.mysql.com/doc/refman/9.7/en/server-status-variables.html
"""

TABLE_SETTING = "SET SESSION information_schema_stats_expiry = 0"
"""Of a session that asks for `TABLE`: the figures are those of the statistics, and none that were kept."""

TABLE = (
    "SELECT column_name, character_set_name IS NOT NULL, avg_row_length, data_length"
    " FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)"
    " WHERE table_schema = {} AND table_name = {}"
)
"""What a `TableSize` is made of, a row a column."""


class TableSize(NamedTuple):
    """A table when its statistics were gathered, with the names of its text columns.

    A row of many columns or bytes takes longer to read, however few of them are wanted.
    """

    columns: int
    texts: frozenset[str]
    row_bytes: int
    bytes: int

    @classmethod
    def of(cls, found: Sequence[Sequence[object]]) -> "TableSize":
        """Of the rows of `TABLE`."""
        texts = frozenset(str(name).lower() for name, is_text, *_ in found if is_text)
        row, table = (int(str(figure or 0)) for figure in (found[0][2:] if found else (0, 0)))
        return cls(len(found), texts, row, table)

    def texts_among(self, names: Sequence[str]) -> int:
        """How many of these columns are texts."""
        return sum(name.lower() in self.texts for name in names)


TableOf = Callable[[str, str], TableSize]
"""The same, of a schema and a table."""

_NEAR_BYTES = 2**24
"""Rows of a larger table that are looked for one by one are not in the processor's caches."""

Iterator = Mapping[str, Any]

_TEXT = re.compile(r"'(?:[^'\\]|''|\\.)*+'?", re.DOTALL)
_NAME = re.compile(r"`(?:[^`]|``)*+`?")
_CALL = re.compile(
    r"\b(?!(?:and|or|in|not|on|nullif|coalesce|ifnull|if|greatest|least)\b)[a-z_]\w*(?=\()", re.IGNORECASE
)
_WORD = re.compile(
    r"\b(?:case|is|in|between|div|mod)\b|\b(?:nullif|coalesce|ifnull|if|greatest|least)(?=\()", re.IGNORECASE
)
_DECIDES = re.compile(r"\b(and|or)\b", re.IGNORECASE)
_AGGREGATE = re.compile(r"\b(?:count|sum|avg|min|max|\w+_concat)(?=\()", re.IGNORECASE)
_DATE = re.compile(
    r"\b(?:year|quarter|month\w*|week\w*|day\w*|hour|minute|second|date\w*|time\w*|extract|str_to_date|last_day"
    r"|to_days|unix_timestamp)(?=\()",
    re.IGNORECASE,
)
"""Functions that take a date apart, or make one."""
_OPERATOR = re.compile(r"(?<![\w(<])[-+*/<>=!%&|^~]+(?![a-z_]+>)")
_PATTERN = re.compile(r"\blike\b|\b(?:regexp_like|instr|locate)(?=\()", re.IGNORECASE)


def requests(readings: Sequence[Sequence[Sequence[object]]]) -> "Counter[str]":
    """What was asked of storage engines between the last two of three readings of `STATUS`.

    Nothing runs between the first two: their difference is what reading takes.
    """
    first, before, after = (
        {str(name).lower().removeprefix("handler_"): int(str(count)) for name, count in reading}
        for reading in readings
    )
    return Counter(
        {
            kind: sum(max(0, after[name] - before[name] - (before[name] - first[name])) for name in names)
            for kind, names in _REQUESTS.items()
        }
    )


def counters(plan: Iterator, table_of: TableOf) -> "Counter[str]":
    """What a plan that was run says: the `query_plan` of EXPLAIN's answer.

    `node`: iterators; `scan`, `scan_byte`: rows read one after the other, and their bytes; `search`: searches
    in an index that is not the primary key; `fetch`: rows looked for in the table after that; `far_lookup`,
    `far_search`, `far_fetch`: searches in the primary key, in another one, and rows of these, times how often
    `_NEAR_BYTES` have to be doubled to hold the table; `column`, `text_column`: values taken out of rows that
    were read, and texts among them, `field`: values that these rows have; `joined`, `pass`: rows that joins
    and other iterators returned; `term`, `call`, `date`, `pattern`: operators, functions and those of dates
    evaluated, and comparisons with a pattern; `pair`: rows compared pairwise by a loop, or hashed;
    `compare`: comparisons of sorting; `aggregate`: rows that were aggregated, once a function; `group`: rows
    looked for in a temporary table of groups; `store`: rows put into another temporary table; `row`: of the
    result. `requests` has the rest.

    Args:
        plan: the outermost iterator.
        table_of: returns a table's size.
    """
    found = Counter[str]()
    _count(plan, found, table_of)
    found["statement"] = 1
    found["row"] = _returned(plan)
    return found


def _count(iterator: Iterator, found: "Counter[str]", table_of: TableOf) -> None:
    inputs: list[Iterator] = iterator.get("inputs", [])
    taken = [_returned(each) for each in inputs if not each.get("subquery")]
    found["node"] += 1
    if "schema_name" in iterator:
        _count_read(iterator, found, table_of)
    else:
        found["joined" if iterator.get("access_type") == "join" else "pass"] += _returned(iterator)
        _count_taken(iterator, taken, found)
    # Subqueries of a select list, and perhaps of other places, have their own list.
    for name in sorted(name for name in iterator if name.startswith("inputs")):
        for child in iterator[name]:
            _count(child, found, table_of)


def _count_read(iterator: Iterator, found: "Counter[str]", table_of: TableOf) -> None:
    """An iterator over a table."""
    returned, table = _returned(iterator), table_of(iterator["schema_name"], iterator["table_name"])
    depth = (table.bytes // _NEAR_BYTES).bit_length()
    used = iterator.get("used_columns", ())
    found["column"] += returned * len(used)
    found["text_column"] += returned * table.texts_among(used)
    found["field"] += returned * table.columns
    if iterator.get("covering") is False and iterator.get("index_name") != "PRIMARY":
        found["fetch"] += returned
        found["far_fetch"] += returned * depth
    if iterator.get("access_type") == "table" or iterator.get("index_access_type") == "index_scan":
        found["scan"] += returned
        found["scan_byte"] += returned * table.row_bytes
    elif iterator.get("index_name") == "PRIMARY":
        found["far_lookup"] += _loops(iterator) * depth
    else:
        found["search"] += _loops(iterator)
        found["far_search"] += _loops(iterator) * depth


def _count_taken(iterator: Iterator, taken: Sequence[int], found: "Counter[str]") -> None:
    """An iterator over others, which gave so many rows each."""
    match iterator.get("access_type"), iterator.get("join_algorithm"):
        case "filter", _:
            _evaluate(str(iterator.get("condition", "")), sum(taken), found, _returned(iterator))
        case "join", "hash":
            # Without a condition to hash by, every pair of rows is compared.
            pairs = 0 if iterator.get("hash_condition") else sum(taken[:1]) * sum(taken[1:])
            found["pair"] += sum(taken) + pairs
            rows = max(pairs, _returned(iterator))
            _evaluate(" and ".join(iterator.get("extra_condition", ())), rows, found, _returned(iterator))
        case "join", _:
            found["pair"] += sum(taken[1:])
        case "sort", _:
            found["compare"] += _comparisons(iterator, sum(taken))
        case "aggregate" | "window", _:
            functions = iterator.get("functions", ())
            found["aggregate"] += sum(taken) * max(1, len(functions))
            for each in functions:
                _evaluate(str(each), sum(taken), found)
                found["compare"] += sum(taken) * sum(taken).bit_length() * str(each).count("(distinct ")
        case "temp_table_aggregate", _:
            found["group"] += sum(taken)
        case "materialize", _:
            found["store"] += sum(taken)


def _loops(iterator: Iterator) -> int:
    loops: int = round(iterator.get("actual_loops") or 0)
    return loops


def _returned(iterator: Iterator) -> int:
    """Rows of all starts together; an iterator that never ran has null instead of numbers."""
    rows: int = round((iterator.get("actual_rows") or 0) * _loops(iterator))
    return rows


def _comparisons(iterator: Iterator, rows: int) -> int:
    loops = max(1, _loops(iterator))
    kept = int(iterator.get("per_chunk_limit", rows)) * loops
    return comparisons(rows, loops, kept if kept < rows else None)


def _evaluate(expression: str, rows: int, found: "Counter[str]", passed: int | None = None) -> None:
    """Count what an expression has to be evaluated for so many rows; `passed`: those a condition lets by.

    The first part often decides: see `later_parts`.
    """
    parts = _DECIDES.split(_NAME.sub("n", _TEXT.sub("x", expression)))
    later = later_parts(rows, passed)
    for word, part in zip(("", *parts[1::2]), parts[::2], strict=True):
        times = later.get(word.upper(), rows)
        found["pattern"] += times * len(_PATTERN.findall(part))
        bare, dates = _DATE.subn("x", _AGGREGATE.sub("", _PATTERN.sub("x", part)))
        found["date"] += times * dates
        found["call"] += times * len(_CALL.findall(bare))
        found["term"] += times * (len(_OPERATOR.findall(part)) + len(_WORD.findall(part)))
