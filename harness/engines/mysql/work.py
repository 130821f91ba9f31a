"""Work on MySQL: what EXPLAIN ANALYZE tells of each iterator of the plan, as counters.

The server counts the rows that each iterator returned and how often it was started; it tells a mean, with all
its digits. What an iterator does with a row follows from the plan: how many operators and functions a filter
has, how often n rows are compared to be sorted. The counters `Handler_...` of a session say less (nothing of
filters and hash joins), and count what the data dictionary reads for a table that is opened for the first
time.

https://dev.mysql.com/doc/refman/9.7/en/explain.html#explain-analyze
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

EXPLAIN = "EXPLAIN ANALYZE FORMAT=JSON "

SETTING = "SET SESSION explain_json_format_version = 2"
"""Of a session that counts; since 8.3."""

ROWS_OF = "SELECT table_rows FROM information_schema.tables WHERE table_schema = {} AND table_name = {}"
"""How many rows a table has by its statistics, which a load counts over all of it."""

Iterator = Mapping[str, Any]

_TEXT = re.compile(r"'(?:[^'\\]|''|\\.)*+'?", re.DOTALL)
_NAME = re.compile(r"`(?:[^`]|``)*+`?")
_CALL = re.compile(
    r"\b(?!and\b|or\b|in\b|not\b|on\b)[a-z_]\w*(?=\()|\b(?:case|is|in|between|div|mod)\b", re.IGNORECASE
)
_OPERATOR = re.compile(r"(?<![\w(<])[-+*/<>=!%&|^~]+(?![a-z_]+>)")
_PATTERN = re.compile(r"\blike\b|\b(?:regexp_like|instr|locate)(?=\()", re.IGNORECASE)


def counters(plan: Iterator, rows_of: Callable[[str, str], int]) -> "Counter[str]":
    """What a plan that was run says: the `query_plan` of EXPLAIN's answer.

    `node`: iterators; `start`: how often they were started; `scan`: rows read one after the other, `index` by
    an index, `lookup`: searches in one; `column`: values taken out of these rows; `count`: rows that InnoDB
    counted by itself; `pass`: rows that other iterators returned; `term`, `pattern`: operators and functions
    evaluated, and comparisons with a pattern; `pair`: rows held against each other by a nested loop; `build`,
    `probe`: rows put into a hash table, and looked for there; `compare`: comparisons of sorting; `aggregate`:
    rows that were aggregated, once a function; `group`: rows looked for in a temporary table of groups;
    `store`: rows put into another temporary table; `row`: of the result.

    Args:
        plan: the outermost iterator.
        rows_of: how many rows a table of a schema has.
    """
    found = Counter[str]()
    _count(plan, found, rows_of)
    found["statement"] = 1
    found["row"] = _returned(plan)
    return found


def _count(iterator: Iterator, found: "Counter[str]", rows_of: Callable[[str, str], int]) -> None:
    children: list[Iterator] = iterator.get("inputs", [])
    taken = [_returned(each) for each in children if not each.get("subquery")]
    found["node"] += 1
    found["start"] += _loops(iterator)
    if iterator.get("access_type") == "count_rows":
        found["count"] += _loops(iterator) * rows_of(iterator["schema_name"], iterator["table_name"])
    elif "schema_name" in iterator:
        _count_read(iterator, found)
    else:
        found["pass"] += _returned(iterator)
        _count_taken(iterator, taken, found)
    for child in children:
        _count(child, found, rows_of)


def _count_read(iterator: Iterator, found: "Counter[str]") -> None:
    """An iterator over a table."""
    returned = _returned(iterator)
    found["column"] += returned * len(iterator.get("used_columns", ()))
    if iterator.get("access_type") == "table" or iterator.get("index_access_type") == "index_scan":
        found["scan"] += returned
    else:
        found["index"] += returned
        found["lookup"] += _loops(iterator)


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
    """Count what an expression has to be evaluated for so many rows."""
    bare = _NAME.sub("n", _TEXT.sub("x", expression))
    patterns = len(_PATTERN.findall(bare))
    terms = len(_OPERATOR.findall(bare)) + len(_CALL.findall(_PATTERN.sub("x", bare)))
    found["pattern"] += rows * patterns
    found["term"] += rows * terms
