"""Spider's rules for a test suite: how its script changes texts, and when it calls two results equal.

Definition: Zhong, Yu and Klein 2020, https://arxiv.org/abs/2010.02840, as `exec_eval.py` of
https://github.com/taoyds/test-suite-sql-eval computes it with its default options: DISTINCT does not count,
and values are the prediction's own.
"""

import re
from collections import Counter
from collections.abc import Sequence

from harness.metrics.accuracy import fit_as_bags
from harness.metrics.distinct import Row

_OPERATOR = re.compile("([><!]) =")
_DISTINCT = re.compile(
    r"""('(?:[^']++|'')*+'?|"[^"]*+"?|`[^`]*+`?|\[[^\]]*+\]?|--[^\n]*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/)?)"""
    r"""|\bdistinct\b""",
    re.IGNORECASE,
)
"""Names, literals and comments, closed or not, which stay, or the word."""
_THIS_YEAR = re.compile(r"YEAR\s*\(\s*CURDATE\s*\(\s*\)\s*\)\s*", re.IGNORECASE)


def prepared(sql: str) -> str:
    """Return a text as it runs: without DISTINCT, no space in `> =`, and 2020 as this year."""
    closed = _OPERATOR.sub(r"\1=", sql)
    return _THIS_YEAR.sub("2020", _DISTINCT.sub(lambda found: found[1] or "", closed))


def orders(gold: str) -> bool:
    """Return True if gold has ORDER BY, wherever that is: the order of rows counts then."""
    return "order by" in gold.lower()


def same_result(predicted: Sequence[Row], gold: Sequence[Row], *, is_ordered: bool) -> bool:
    """Return True if some order of the prediction's columns gives gold's rows, as often as there.

    Raises:
        TooManyRows: there are too many orders to try.
    """
    if not predicted or not gold or len(predicted) != len(gold) or len(predicted[0]) != len(gold[0]):
        return len(predicted) == len(gold) == 0
    try:
        if is_ordered:
            # Rows must agree in their order, so that columns need only be matched as they are.
            ours, theirs = (list(map(_sorted, rows)) for rows in (predicted, gold))
            columns, expected = (Counter(zip(*rows, strict=True)) for rows in (predicted, gold))
            return ours == theirs and columns == expected
        return set(map(_sorted, predicted)) == set(map(_sorted, gold)) and fit_as_bags(predicted, gold)
    except TypeError:
        return False


def _sorted(row: Row) -> tuple[object, ...]:
    """Return a row's values in an order of the script's own, which rejects some equal rows of other types."""
    return tuple(sorted(row, key=lambda value: f"{value}{type(value)}"))
