"""What tables say below the figures where something explains low ones."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from dialects.enums import Dialect
from harness.data.outcomes import Outcome
from harness.engines import kinds
from harness.report.overview import foreign_lines, hint_lines, overview
from harness.runs.summary import Score, summarize
from tests.harness.run_folders import pair


def scores(dialect: Dialect, failing: Sequence[str], right: int = 10) -> list[Score]:
    """Answers that an engine refused, beside right ones."""
    results = [pair(number, dialect=dialect, ex=1.0) for number in range(right)]
    for number, sql in enumerate(failing, right):
        failed = pair(number, dialect=dialect, ex=0.0)
        results.append(replace(failed, outcome=Outcome.PREDICTION_ERROR, sql=sql))
    return summarize(results, ["ex"])


@pytest.mark.parametrize(
    ("dialect", "sql", "whose"),
    [
        (Dialect.POSTGRESQL, "SELECT STRFTIME('%Y', day) FROM t", "SQLite"),
        (Dialect.POSTGRESQL, "SELECT DATE_FORMAT(day, '%Y') FROM `t`", "MySQL"),
        (Dialect.POSTGRESQL, "SELECT `a` FROM `t`", "SQLite or MySQL"),
        (Dialect.SQLITE, "SELECT to_char(day, 'YYYY') FROM t", "PostgreSQL"),
        (Dialect.MYSQL, "SELECT a::text FROM t", "PostgreSQL"),
    ],
)
def test_answers_for_another_engine_are_noticed(dialect: Dialect, sql: str, whose: str) -> None:
    found = scores(dialect, [sql, sql])
    [line] = foreign_lines(found)
    assert line.startswith("2 of 12 answers of p on ")
    assert f"fail and are written as for {whose}: is the file named for the right engine?" in line
    assert line in hint_lines(found)
    assert any(line in grid.notes for grid in overview(found, ["ex"]))


@pytest.mark.parametrize(
    ("failing", "right"),
    [
        (["SELECT to_char(day) FROM t"], 5),
        (["SELECT to_char(day) FROM t"] * 2, 30),
        (["SELECT `a`, b::text FROM t"] * 3, 5),
        (["```sql\nSELECT nothing FROM t\n```"] * 3, 5),
    ],
    ids=["one", "few", "own words, too", "fences"],
)
def test_slips_are_no_reason_for_a_hint(failing: Sequence[str], right: int) -> None:
    assert foreign_lines(scores(Dialect.SQLITE, failing, right)) == []


def test_golds_that_fail_and_what_was_not_run_are_counted() -> None:
    results = [
        replace(pair(1, ex=0.0), outcome=Outcome.GOLD_ERROR, error="no such table"),
        replace(pair(2, ex=0.0), outcome=Outcome.HARNESS_ERROR),
    ]
    assert hint_lines(summarize(results, ["ex"])) == [
        "Gold failed on SQLite and counts 0 for everybody: 1 (1)",
        "1 of the pairs on SQLite could not be run and count 0: --resume runs them again",
    ]


def test_what_tells_an_engine_is_in_lower_case() -> None:
    assert all(idiom == idiom.lower() for kind in kinds() for idiom in kind.idioms)
