"""Makes the bundled predictions of two made-up baselines from the golds of each dialect.

No model wrote them: they are there so that a fresh machine has something to score, with matches, mismatches
and errors. `python -m tests.loaders.sample_baselines` writes the committed files anew; a test holds them
against the golds.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import loaders.sample
from dialects.enums import Dialect
from harness.data.sets.loader import load_set

SEPARATOR = "\t----- bird -----\t"
"""What stands between SQL and db_id in the official format of predictions."""

_HERE = Path(loaders.sample.__file__).parent


class Gold(NamedTuple):
    """One question's gold SQL and its database."""

    sql: str
    db_id: str


def every_fifth_wrong(golds: Sequence[Gold]) -> list[str]:
    """The golds; every fifth question is answered with the gold of the next one on the same database."""
    return [
        _next_on_same_database(golds, position) if position % 5 == 4 else gold.sql
        for position, gold in enumerate(golds)
    ]


def careless(golds: Sequence[Gold]) -> list[str]:
    """The golds; every second one suffers one of `SLIPS`, taken in turn."""
    return [
        _slip(gold.sql, position // 2) if position % 2 else gold.sql for position, gold in enumerate(golds)
    ]


def _slip(sql: str, turn: int) -> str:
    """The SQL after the first slip, from that of the turn on, that finds something to spoil in it."""
    first = turn % len(SLIPS)
    spoiled = (slip(sql) for slip in (*SLIPS[first:], *SLIPS[:first]))
    return next(text for text in spoiled if text != sql)


def _without_distinct(sql: str) -> str:
    return re.sub(r"\bDISTINCT (?!ON\b)", "", sql)


def _without_order_and_limit(sql: str) -> str:
    return re.sub(r" ORDER BY [^()]*$", "", sql)


def _without_last_condition(sql: str) -> str:
    return re.sub(r" (?:WHERE|AND|OR) (?:(?! WHERE | AND | OR |[()]).)*$", "", sql)


def _with_inner_join(sql: str) -> str:
    return sql.replace("LEFT JOIN", "INNER JOIN")


def _with_unknown_column(sql: str) -> str:
    return re.sub(r"^((?:WITH .*\) )?SELECT) ", r"\1 row_id, ", sql)


def _with_sum_for_average(sql: str) -> str:
    return sql.replace("AVG(", "SUM(").replace("COUNT(", "SUM(").replace("SUM(*)", "COUNT(*)")


def _with_other_bounds(sql: str) -> str:
    return re.sub(r" ([<>]) ", r" \1= ", sql)


def _with_semicolon(sql: str) -> str:
    return f"{sql};"


def _cut_short(sql: str) -> str:
    return sql[: len(sql) * 2 // 3]


def _in_a_fence(sql: str) -> str:
    return f"```sql\n{sql}\n```"


def _in_words(sql: str) -> str:
    del sql
    return "I cannot answer this question without knowing more about the tables."


SLIPS: Sequence[Callable[[str], str]] = (
    _without_order_and_limit,
    _with_other_bounds,
    _without_last_condition,
    _with_unknown_column,
    _with_inner_join,
    _without_distinct,
    _with_sum_for_average,
    _without_last_condition,
    _cut_short,
    _with_other_bounds,
    _with_sum_for_average,
    _without_last_condition,
    _in_a_fence,
    _without_order_and_limit,
    _without_last_condition,
    _in_words,
    _without_distinct,
    _with_semicolon,
)
"""What `careless` does to golds. A slip that finds nothing to spoil returns the SQL as it is."""

BASELINES: Mapping[str, Callable[[Sequence[Gold]], list[str]]] = {
    "every-fifth-wrong": every_fifth_wrong,
    "careless": careless,
}


def prediction_files() -> dict[str, str]:
    """Name and content of every bundled prediction file."""
    files = {}
    for dialect in Dialect:
        golds = _golds(dialect)
        for predictor, predict in BASELINES.items():
            answers = {
                str(position): f"{sql}{SEPARATOR}{gold.db_id}"
                for position, (sql, gold) in enumerate(zip(predict(golds), golds, strict=True))
            }
            content = json.dumps(answers, indent=4, ensure_ascii=False) + "\n"
            files[f"predict_sample_{predictor}_{dialect}.json"] = content
    return files


def _golds(dialect: Dialect) -> list[Gold]:
    return [Gold(question.gold[dialect], question.db_id) for question in load_set("sample").questions]


def _next_on_same_database(golds: Sequence[Gold], position: int) -> str:
    later = [*golds[position + 1 :], *golds[:position]]
    return next(gold.sql for gold in later if gold.db_id == golds[position].db_id)


if __name__ == "__main__":
    for name, content in prediction_files().items():
        (_HERE / "predictions" / name).write_text(content, encoding="utf-8")
