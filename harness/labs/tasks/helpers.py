"""What the official scripts do with SQL texts and rows before they compare them, bit for bit.

Test cases call these functions by the names that the scripts give them; `namespace` has them all. Nothing
here corrects a fault: docs/explanation/tasks.md lists what each of them does wrongly.
"""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from harness.labs.tasks.families import ScriptFamily

PLACES = 2
"""Decimal places to which the scripts round, whatever the task's conditions say."""

MOST_ROWS = 10_000
"""Rows of a result that the scripts look at."""

Rows = Sequence[tuple[Any, ...]] | None
"""The rows of the last statement; None where there is no result set on PostgreSQL."""


Answered = Callable[[str | Sequence[str]], tuple[Rows, bool, bool]]
"""Executes statements as a family's `execute_queries` does: rows, whether it failed, whether it timed out."""


# Each takes what is never closed up to the end, so that no later start is tried.
_BLOCK_COMMENT = re.compile(r"/\*.*?(?:\*/|(?P<open>\Z))", re.DOTALL)
_LINE_COMMENT = re.compile(r"--[^\r\n]*(?P<end>\r\n|[\r\n])?")
_BLANK_LINES = re.compile(r"\n\s*\n+")
_ROUND = re.compile(r"ROUND\s*\(", re.IGNORECASE)
_DISTINCT = re.compile(r"\bDISTINCT\b", re.IGNORECASE)


def remove_comments(sql_list: Iterable[str]) -> list[str]:
    """Remove comments, also inside strings; a line comment at the end of a text stays."""
    found = []
    for statement in sql_list:
        bare = _BLOCK_COMMENT.sub(lambda found: "" if found["open"] is None else found[0], statement)
        bare = _LINE_COMMENT.sub(lambda found: found["end"] or found[0], bare)
        found.append(_BLANK_LINES.sub("\n", bare).strip())
    return found


def remove_distinct(sql_list: Iterable[str]) -> list[str]:
    """Remove DISTINCT between blanks, at either end of a text as well."""
    return [
        " ".join(word for word in statement.split(" ") if word.lower() != "distinct")
        for statement in sql_list
    ]


def remove_every_distinct(sql_list: Iterable[str]) -> list[str]:
    """Remove the word DISTINCT, also inside strings: BIRD-CRITIC's."""
    return [_DISTINCT.sub("", statement) for statement in sql_list]


def remove_round(sql_list: Iterable[str]) -> list[str]:
    """Replace each call of ROUND by its first argument, without parentheses."""
    return [_without_round(statement) for statement in sql_list]


def _without_round(text: str) -> str:
    while (call := _ROUND.search(text)) is not None:
        depth, first, end = 0, None, None
        for place in range(call.end(), len(text)):
            letter = text[place]
            if letter == "(":
                depth += 1
            elif letter == ")" and depth:
                depth -= 1
            elif letter == ")":
                first, end = place if first is None else first, place
                break
            elif letter == "," and not depth and first is None:
                first = place
        if end is None:
            # An unclosed call ends the search.
            break
        text = text[: call.start()] + text[call.end() : first].strip() + text[end + 1 :]
    return text


def check_sql_function_usage(sqls: Sequence[str], required_keywords: Iterable[str]) -> int:
    """Return 1 if every keyword occurs somewhere in the texts, in comments and strings, too."""
    whole = " ".join(text.lower() for text in sqls)
    return int(bool(sqls) and all(word.lower() in whole for word in required_keywords))


def preprocess_results(
    results: Iterable[Sequence[Any]], decimal_places: int = PLACES
) -> list[tuple[Any, ...]]:
    """Return rows with dates as texts, rounded numbers, and lists and objects as JSON.

    Raises:
        TypeError: there is no result set, or a list or object holds what JSON cannot.
        decimal.InvalidOperation: a decimal number has too many digits, or is infinite.
    """
    return [tuple(_compared(value, decimal_places) for value in row) for row in results]


def _compared(value: Any, places: int) -> Any:
    if isinstance(value, date):
        return value.strftime("%Y-%m-%d")
    rounded = _rounded(value, places)
    return json.dumps(rounded, sort_keys=True) if isinstance(rounded, dict | list) else rounded


def _rounded(value: Any, places: int) -> Any:
    if isinstance(value, Decimal):
        return value.quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP)
    if isinstance(value, float):
        return round(value, places)
    if isinstance(value, list | tuple):
        return type(value)(_rounded(each, places) for each in value)
    if isinstance(value, dict):
        return {key: _rounded(each, places) for key, each in value.items()}
    return value


def dated_results(results: Iterable[Sequence[Any]]) -> list[tuple[Any, ...]]:
    """Return rows with dates as texts, and nothing else changed: BIRD-CRITIC's."""
    return [
        tuple(value.strftime("%Y-%m-%d") if isinstance(value, date) else value for value in row)
        for row in results
    ]


def ex_base(
    family: ScriptFamily,
    run: Answered,
    answer: Sequence[str],
    gold: Sequence[str],
    conditions: Any = None,
) -> int:
    """Return 1 if the last rows of both lists of statements are equal, 0 if not, or if either is empty.

    Both are executed, the answer first, on the data as they are.

    Raises:
        TypeError: rows cannot be compared, which fails a test case.
        AttributeError: the conditions are no object, and rows were to be compared.
    """
    if not answer or not gold:
        return 0
    rows, *faults = run(answer)
    wanted, *other = run(gold)
    if not family.ignores_faults and any((*faults, *other)):
        return 0
    return int(_equal(family, rows, wanted, conditions))


def _equal(family: ScriptFamily, rows: Rows, gold: Rows, conditions: Any) -> bool:
    """Return True if rows are equal as lists or as sets, and there are some."""
    if not family.converts_numbers:
        return bool(rows and gold) and set(dated_results(rows or ())) == set(dated_results(gold or ()))
    left, right = preprocess_results(_present(rows)), preprocess_results(_present(gold))
    if not left or not right:
        return False
    is_ordered = conditions is not None and conditions.get("order", False)
    return left == right if is_ordered else set(left) == set(right)


def _present(rows: Rows) -> Sequence[tuple[Any, ...]]:
    if rows is None:
        raise TypeError("the last statement has no result set")
    return rows


def test_by_default(
    family: ScriptFamily,
    run: Answered,
    answer: Sequence[str],
    gold: Sequence[str],
    conditions: Any,
) -> None:
    """Judge an answer as a task without test cases is judged.

    Raises:
        AssertionError: the rows differ.
    """
    ours, golds = (remove_round(remove_distinct(remove_comments(each))) for each in (answer, gold))
    if ex_base(family, run, ours, golds, conditions) != 1:
        raise AssertionError("the rows differ from gold's, or there are none")


_EXPLAINED = ("SELECT", "INSERT", "UPDATE", "DELETE")


def compared_by_cost(  # noqa: PLR0913, PLR0917 - the lists, and what the engine does
    family: ScriptFamily,
    query: Callable[[str], Rows],
    cost: Callable[[Rows], float],
    explain: str,
    old: Sequence[str],
    new: Sequence[str],
) -> int:
    """Return 1 if the statements of `new` cost less than those of `old` by their plans.

    A text that cannot be explained costs nothing; one of another kind is executed, and so are BEGIN and
    ROLLBACK around each list, which have no effect where every statement is committed.

    Args:
        family: the script family.
        query: executes a text; raises what the engine raises.
        cost: takes the cost out of the rows of an explanation.
        explain: the words before an explained text.
        old: the statements to improve.
        new: the improved ones.
    """
    if family.begins_costs and not (old and new):
        return 0
    begins = (*_EXPLAINED, "WITH") if family.has_efficiency else _EXPLAINED

    def total(statements: Sequence[str]) -> float:
        found = 0.0
        for text in statements:
            is_explained = text.strip().upper().startswith(begins)
            try:
                rows = query(f"{explain} {text}" if is_explained else text)
                if is_explained and rows:
                    found += cost(rows)
            except Exception:  # noqa: BLE001, S112 - the scripts go on after any error
                continue
        return found

    totals = []
    for statements in (old, new):
        if family.begins_costs:
            query("BEGIN")
        try:
            totals.append(total(statements))
        finally:
            if family.begins_costs:
                query("ROLLBACK")
    return int(totals[1] < totals[0])
