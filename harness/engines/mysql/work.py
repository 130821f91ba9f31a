"""Work on MySQL: what EXPLAIN ANALYZE tells of each iterator of the plan, as counters.

The server counts the rows that each iterator returned and how often it was started; it tells a mean, with all
its digits. What an iterator does with a row follows from the plan: how many operators and functions a filter
has, how often n rows are compared to be sorted. The counters `Handler_...` of the session say what storage
engines were asked for, temporary tables included, also by subqueries of a select list, which the plan leaves
out. They count what the data dictionary reads for a table that is opened for the first time, so the text is
explained once before.

https://dev.mysql.com/doc/refman/9.7/en/explain.html#explain-analyze
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

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

FIELDS_OF = "SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = {} AND table_name = {}"
"""How many columns a table has: a row of many takes longer to read, however few of them are wanted."""

FieldsOf = Callable[[str, str], int]
"""The same, of a schema and a table."""

Iterator = Mapping[str, Any]

_TEXT = re.compile(r"'(?:[^'\\]|''|\\.)*+'?", re.DOTALL)
_NAME = re.compile(r"`(?:[^`]|``)*+`?")
_CALL = re.compile(
    r"\b(?!(?:and|or|in|not|on|nullif|coalesce|ifnull|if|greatest|least)\b)[a-z_]\w*(?=\()", re.IGNORECASE
)
_WORD = re.compile(
    r"\b(?:case|is|in|between|div|mod)\b|\b(?:nullif|coalesce|ifnull|if|greatest|least)(?=\()", re.IGNORECASE
)
_DECIDES = re.compile(r"\b(?:and|or)\b", re.IGNORECASE)
_AGGREGATE = re.compile(r"\b(?:count|sum|avg|min|max|\w+_concat)(?=\()", re.IGNORECASE)
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


def counters(plan: Iterator, fields_of: FieldsOf) -> "Counter[str]":
    """What a plan that was run says: the `query_plan` of EXPLAIN's answer.

    `node`: iterators; `start`: how often they were started; `scan`: rows read one after the other, `index` by
    an index, `lookup`, `search`: searches in the primary key and in another one, `fetch`: rows looked for in
    the table after that; `column`: values taken out of these rows, `field`: values that these rows have;
    `pass`: rows that other iterators returned; `term`, `call`, `pattern`: operators and functions evaluated,
    and comparisons with a pattern; `pair`: rows held against each other by a nested loop; `build`, `probe`:
    rows put into a hash table, and looked for there; `compare`: comparisons of sorting; `aggregate`: rows
    that were aggregated, once a function; `group`: rows looked for in a temporary table of groups; `store`:
    rows put into another temporary table; `row`: of the result. `requests` has the rest.

    Args:
        plan: the outermost iterator.
        fields_of: how many columns a table has.
    """
    found = Counter[str]()
    _count(plan, found, fields_of)
    found["statement"] = 1
    found["row"] = _returned(plan)
    return found


def _count(iterator: Iterator, found: "Counter[str]", fields_of: FieldsOf) -> None:
    inputs: list[Iterator] = iterator.get("inputs", [])
    taken = [_returned(each) for each in inputs if not each.get("subquery")]
    found["node"] += 1
    found["start"] += _loops(iterator)
    if "schema_name" in iterator:
        _count_read(iterator, found, fields_of)
    else:
        found["pass"] += _returned(iterator)
        _count_taken(iterator, taken, found)
    # What stands in a select list, and perhaps elsewhere, has a list of its own.
    for name in sorted(name for name in iterator if name.startswith("inputs")):
        for child in iterator[name]:
            _count(child, found, fields_of)


def _count_read(iterator: Iterator, found: "Counter[str]", fields_of: FieldsOf) -> None:
    """An iterator over a table."""
    returned = _returned(iterator)
    found["column"] += returned * len(iterator.get("used_columns", ()))
    found["field"] += returned * fields_of(iterator["schema_name"], iterator["table_name"])
    if iterator.get("covering") is False and iterator.get("index_name") != "PRIMARY":
        found["fetch"] += returned
    if iterator.get("access_type") == "table" or iterator.get("index_access_type") == "index_scan":
        found["scan"] += returned
    else:
        found["index"] += returned
        found["lookup" if iterator.get("index_name") == "PRIMARY" else "search"] += _loops(iterator)


def _count_taken(iterator: Iterator, taken: Sequence[int], found: "Counter[str]") -> None:
    """An iterator over others, which gave so many rows each."""
    match iterator.get("access_type"), iterator.get("join_algorithm"):
        case "filter", _:
            _evaluate(str(iterator.get("condition", "")), sum(taken), found)
        case "join", "hash":
            found["probe"] += sum(taken[:1])
            found["build"] += sum(taken[1:])
            _evaluate(" ".join(iterator.get("extra_condition", ())), _returned(iterator), found)
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
    """How often rows are compared: n log n; where only the first k are kept, n + k log k."""
    loops = max(1, _loops(iterator))
    kept = int(iterator.get("per_chunk_limit", rows))
    if kept * loops < rows:
        return rows + loops * kept * kept.bit_length()
    return rows * (rows // loops).bit_length()


def _evaluate(expression: str, rows: int, found: "Counter[str]") -> None:
    """Count what an expression has to be evaluated for so many rows.

    What stands behind AND and OR is taken to be evaluated for every other row: the first part often decides.
    """
    for place, part in enumerate(_DECIDES.split(_NAME.sub("n", _TEXT.sub("x", expression)))):
        times = rows // 2 if place else rows
        found["pattern"] += times * len(_PATTERN.findall(part))
        found["call"] += times * len(_CALL.findall(_AGGREGATE.sub("", _PATTERN.sub("x", part))))
        found["term"] += times * (len(_OPERATOR.findall(part)) + len(_WORD.findall(part)))
