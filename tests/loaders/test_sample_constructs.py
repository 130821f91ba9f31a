"""The sample's golds exercise the constructs that make the dialects differ."""

import json
import re
from collections import Counter
from collections.abc import Callable

import pytest
import sqlglot
from sqlglot import exp
from sqlglot.optimizer.scope import traverse_scope

from loaders.sample import PREDICTIONS

GOLDS = [
    entry["SQL"]
    for entry in json.loads(
        (PREDICTIONS.parent / "questions" / "sample_sqlite.json").read_text(encoding="utf-8")
    )
]


def _bare_columns(select: exp.Select) -> bool:
    group = select.args.get("group")
    return group is not None and any(
        isinstance(item, exp.Column) and item not in group.expressions for item in select.selects
    )


def _self_join(select: exp.Select) -> bool:
    sources = [select.args.get("from_"), *select.args.get("joins", [])]
    names = Counter(
        source.this.name for source in sources if source is not None and isinstance(source.this, exp.Table)
    )
    return any(count > 1 for count in names.values())


def _each_select(test: Callable[[exp.Select], bool]) -> Callable[[exp.Expr], bool]:
    return lambda tree: any(test(select) for select in tree.find_all(exp.Select))


def _correlated(tree: exp.Expr) -> bool:
    return any(scope.is_correlated_subquery for scope in traverse_scope(tree))


PATTERNS: dict[str, tuple[str, int]] = {
    "IIF": (r"\bIIF\(", 2),
    "CAST AS REAL": (r"\bCAST\(.* AS REAL\)", 3),
    "SUBSTR": (r"\bSUBSTR\(", 2),
    "LIKE": (r" LIKE ", 3),
    "INSTR": (r"\bINSTR\(", 2),
    "STRFTIME": (r"\bSTRFTIME\(", 4),
    "JULIANDAY": (r"\bJULIANDAY\(", 3),
    "DATE()": (r"\bDATE\(", 3),
    "integer division": (r"(Pages|capacity|strike_ms|\)\)?|0\)) / \w", 4),
    "window function": (r" OVER \(", 4),
    "CTE": (r"^WITH (?!RECURSIVE)", 2),
    "recursive CTE": (r"^WITH RECURSIVE", 4),
    "UNION": (r" UNION SELECT", 2),
    "UNION ALL": (r" UNION ALL SELECT", 2),
    "INTERSECT": (r" INTERSECT ", 2),
    "EXCEPT": (r" EXCEPT ", 2),
    "EXISTS": (r"(?<!NOT )EXISTS \(", 2),
    "NOT EXISTS": (r"NOT EXISTS \(", 1),
    "NOT IN": (r" NOT IN \(SELECT", 3),
    "CASE": (r"\bCASE WHEN", 2),
    "HAVING": (r" HAVING ", 2),
    "GROUP_CONCAT": (r"GROUP_CONCAT\(", 2),
    "ROUND": (r"ROUND\(", 2),
    "COALESCE": (r"COALESCE\(", 2),
    "IFNULL": (r"IFNULL\(", 2),
    "NULLIF": (r"NULLIF\(", 2),
    "ORDER BY a column with NULLs": (r"ORDER BY (population|elevation_m|current_ka)", 3),
    "LIMIT m, n": (r"LIMIT \d+, \d+", 2),
    "OFFSET": (r"OFFSET \d", 1),
    "LEFT JOIN": (r" LEFT JOIN ", 2),
    "backticks": (r"`", 10),
    "double quotes": (r'"', 5),
    "brackets": (r"\[", 3),
    "COUNT(DISTINCT)": (r"COUNT\(DISTINCT", 2),
    "AVG": (r"AVG\(", 5),
    "text compared with a number": (r'("Shelf Mark"|imo) = \d', 2),
    "||": (r"\|\|", 2),
    "sum of a condition": (r"SUM\((LOWER\(status\)|alive) =|SUM\(patron_id IN", 3),
    "mixed case": (r"\bLOWER\(", 4),
}

TREES: dict[str, tuple[Callable[[exp.Expr], bool], int]] = {
    "bare column in GROUP BY": (_each_select(_bare_columns), 5),
    "bare column with MAX": (
        _each_select(
            lambda select: _bare_columns(select) and any(isinstance(i, exp.Max) for i in select.selects)
        ),
        2,
    ),
    "self join": (_each_select(_self_join), 2),
    "correlated subquery": (_correlated, 3),
}


@pytest.mark.parametrize("construct", PATTERNS)
def test_golds_exercise(construct: str) -> None:
    pattern, least = PATTERNS[construct]
    assert sum(bool(re.search(pattern, sql)) for sql in GOLDS) >= least


@pytest.mark.parametrize("construct", TREES)
def test_golds_exercise_the_shape(construct: str) -> None:
    shape, least = TREES[construct]
    assert sum(shape(sqlglot.parse_one(sql, read="sqlite")) for sql in GOLDS) >= least
