from collections.abc import Sequence
from decimal import Decimal

import pytest

from dialects.enums import Dialect
from harness.analyses.coverage.answers import DifferenceReason
from harness.analyses.coverage.comparison import may_read_clock, of_failure, of_rows, shortened
from harness.engines.execution import Ending, Execution
from harness.metrics.distinct import Row


@pytest.mark.parametrize(
    ("reference", "rows", "reason"),
    [
        ([(0.0,)], [(1e-17,)], DifferenceReason.FLOAT_SUM),
        ([(2 / 3, "a")], [(Decimal("0.6667"), "a")], DifferenceReason.DECIMAL_SCALE),
        ([(2 / 3,)], [(Decimal("0.6666"),)], DifferenceReason.DIFFERENT),
        (
            [(2 / 3,), (None,), (1,)],
            [(Decimal("1.0000"),), (None,), (Decimal("0.6667"),)],
            DifferenceReason.DECIMAL_SCALE,
        ),
        ([(0.10174971,)], [(0.1017497,)], DifferenceReason.PRECISION),
        ([(0.101,)], [(0.102,)], DifferenceReason.DIFFERENT),
        ([(1,)], [(2,)], DifferenceReason.DIFFERENT),
        ([(10**6,)], [(10**6 + 1,)], DifferenceReason.DIFFERENT),
        ([], [(1,)], DifferenceReason.DIFFERENT),
        ([(1,)], [(1, 2)], DifferenceReason.DIFFERENT),
    ],
)
def test_a_difference_in_numbers_alone_is_recognized(
    reference: Sequence[Row], rows: Sequence[Row], reason: DifferenceReason
) -> None:
    assert of_rows(reference, rows) is reason


@pytest.mark.parametrize(
    ("dialect", "ending", "code", "reason"),
    [
        (Dialect.MYSQL, Ending.TIMEOUT, "3024", DifferenceReason.TIMEOUT),
        (Dialect.MYSQL, Ending.TOO_LARGE, None, DifferenceReason.TOO_LARGE),
        (Dialect.MYSQL, Ending.ERROR, "1242", DifferenceReason.SEVERAL_ROWS),
        (Dialect.MYSQL, Ending.ERROR, "1690", DifferenceReason.ERROR),
        (Dialect.MYSQL, Ending.ERROR, None, DifferenceReason.ERROR),
        (Dialect.POSTGRESQL, Ending.ERROR, "22P02", DifferenceReason.BAD_VALUE),
        (Dialect.POSTGRESQL, Ending.ERROR, "42601", DifferenceReason.SYNTAX),
        (Dialect.POSTGRESQL, Ending.ERROR, "42P01", DifferenceReason.BAD_NAME),
    ],
)
def test_a_failure_is_told_by_its_code(
    dialect: Dialect, ending: Ending, code: str | None, reason: DifferenceReason
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
