from collections.abc import Sequence
from decimal import Decimal

import pytest

from dialects.enums import Dialect
from harness.analyses.coverage.answers import Reason
from harness.analyses.coverage.comparison import may_read_clock, of_failure, of_rows, shortened
from harness.engines.execution import Ending, Execution
from harness.metrics.distinct import Row


@pytest.mark.parametrize(
    ("reference", "rows", "reason"),
    [
        ([(0.0,)], [(1e-17,)], Reason.FLOAT_SUM),
        ([(2 / 3, "a")], [(Decimal("0.6667"), "a")], Reason.DECIMAL_SCALE),
        ([(2 / 3,)], [(Decimal("0.6666"),)], Reason.DIFFERENT),
        (
            [(2 / 3,), (None,), (1,)],
            [(Decimal("1.0000"),), (None,), (Decimal("0.6667"),)],
            Reason.DECIMAL_SCALE,
        ),
        ([(0.10174971,)], [(0.1017497,)], Reason.PRECISION),
        ([(0.101,)], [(0.102,)], Reason.DIFFERENT),
        ([(1,)], [(2,)], Reason.DIFFERENT),
        ([(10**6,)], [(10**6 + 1,)], Reason.DIFFERENT),
        ([], [(1,)], Reason.DIFFERENT),
        ([(1,)], [(1, 2)], Reason.DIFFERENT),
    ],
)
def test_a_difference_in_numbers_alone_is_recognized(
    reference: Sequence[Row], rows: Sequence[Row], reason: Reason
) -> None:
    assert of_rows(reference, rows) is reason


@pytest.mark.parametrize(
    ("dialect", "ending", "code", "reason"),
    [
        (Dialect.MYSQL, Ending.TIMEOUT, "3024", Reason.TIMEOUT),
        (Dialect.MYSQL, Ending.TOO_LARGE, None, Reason.TOO_LARGE),
        (Dialect.MYSQL, Ending.ERROR, "1242", Reason.SEVERAL_ROWS),
        (Dialect.MYSQL, Ending.ERROR, "1690", Reason.ERROR),
        (Dialect.MYSQL, Ending.ERROR, None, Reason.ERROR),
        (Dialect.POSTGRESQL, Ending.ERROR, "22P02", Reason.BAD_VALUE),
        (Dialect.POSTGRESQL, Ending.ERROR, "42601", Reason.SYNTAX),
        (Dialect.POSTGRESQL, Ending.ERROR, "42P01", Reason.BAD_NAME),
    ],
)
def test_a_failure_is_told_by_its_code(
    dialect: Dialect, ending: Ending, code: str | None, reason: Reason
) -> None:
    assert of_failure(dialect, Execution(ending, error="words", code=code)) is reason


def test_a_diff_is_three_short_lines() -> None:
    shown = shortened([("x" * 500,), (1,), ("a\nb",), (4,)])
    assert len(shown) == 3
    assert len(shown[0]) == 120
    assert "\n" not in shown[2]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT DATE('NOW')",
        "SELECT strftime('%Y', 'now', 'localtime')",
        "SELECT CURRENT_TIMESTAMP",
        "SELECT DATETIME() - birthday FROM t",
        "SELECT julianday ( )",
        "SELECT STRFTIME('%Y')",
        "SELECT YEAR(CURDATE())",
        "SELECT AGE(NOW(), b) FROM t",
    ],
)
def test_what_reads_the_clock_is_seen(sql: str) -> None:
    assert may_read_clock("SELECT 1", sql)


def test_what_does_not_read_the_clock_is_not_delayed() -> None:
    assert not may_read_clock("SELECT DATE(d), strftime('%Y', d), known, todays FROM t WHERE a = 'nowhere'")
