import sqlite3
from contextlib import closing
from typing import Any

import pytest

from harness.labs.conformance.comparison import SuiteWitness, digest, in_order, witness
from harness.labs.conformance.sqllogictest import ExpectedRows

ROWS = [(2, "b"), (1, None), (3, "")]


@pytest.mark.parametrize(
    ("value", "kind", "written"),
    [
        (None, "I", "NULL"),
        ("", "T", "(empty)"),
        ("ä\n", "T", "@@@"),
        (b"ab\x00", "T", "ab@"),
        (7, "T", "7"),
        (7.0, "T", "7.0"),
        (1e100, "T", "1.0e+100"),
        (0.1, "T", "0.1"),
        (7.9, "I", "7"),
        ("12abc", "I", "12"),
        ("abc", "I", "0"),
        (1, "R", "1.000"),
        (0.0005, "R", "0.001"),
        ("2.5x", "R", "2.500"),
        ("abc", "R", "0.000"),
    ],
)
def test_a_value_is_written_as_suites_write_it(value: object, kind: str, written: str) -> None:
    assert in_order(ExpectedRows(kind), [(value,)]) == [written]


@pytest.mark.parametrize("value", [0.1, 1e15, 1e16, 123456789.125, -2.5, 1e-5, 1e300])
def test_a_number_is_the_text_that_sqlite_makes_of_it(value: float) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        assert in_order(ExpectedRows("T"), [(value,)]) == list(
            connection.execute("SELECT CAST(? AS TEXT)", (value,)).fetchone()
        )


@pytest.mark.parametrize(
    ("sort", "values"),
    [
        ("nosort", ["2", "b", "1", "NULL", "3", "(empty)"]),
        ("rowsort", ["1", "NULL", "2", "b", "3", "(empty)"]),
        ("valuesort", ["(empty)", "1", "2", "3", "NULL", "b"]),
    ],
)
def test_rows_are_put_in_the_order_that_is_asked_for(sort: str, values: list[str]) -> None:
    assert in_order(ExpectedRows("IT", sort), ROWS) == values
    # The digest of sqllogictest: each value, and a line break behind it.
    expected = ExpectedRows("IT", sort, count=6, md5=digest(values))
    assert witness(expected, ROWS) is SuiteWitness.AGREES
    assert witness(ExpectedRows("IT", sort, count=5, md5=digest(values)), ROWS) is SuiteWitness.DIFFERS


def test_the_digest_is_md5_of_lines() -> None:
    # printf '1\n2\n' | md5sum
    assert digest(["1", "2"]) == "6ddb4095eb719e2a9f0a3f95677d24e0"


@pytest.mark.parametrize(
    ("expected", "rows", "says"),
    [
        (None, ROWS, SuiteWitness.NONE),
        (ExpectedRows("I", label="x"), [(1,)], SuiteWitness.NONE),
        (ExpectedRows("IT", values=("2", "b", "1", "NULL", "3", "(empty)")), ROWS, SuiteWitness.AGREES),
        (ExpectedRows("IT", values=("2\tb", "1\tNULL", "3\t(empty)")), ROWS, SuiteWitness.AGREES),
        (ExpectedRows("IT", values=("2 b", "1 NULL", "3 (empty)")), ROWS, SuiteWitness.AGREES),
        (ExpectedRows("IT", values=("1", "NULL", "2", "b", "3", "(empty)")), ROWS, SuiteWitness.DIFFERS),
        (ExpectedRows("I", values=("1",)), [], SuiteWitness.DIFFERS),
        (ExpectedRows("I", values=()), [], SuiteWitness.AGREES),
        (ExpectedRows("II", values=("1",)), [(1,)], SuiteWitness.DIFFERS),
        (ExpectedRows("R", values=("0.33333",)), [(1 / 3,)], SuiteWitness.AGREES),
        (ExpectedRows("R", values=("0.4",)), [(1 / 3,)], SuiteWitness.DIFFERS),
        (ExpectedRows("R", values=("14472334024676221",)), [(14472334024676220,)], SuiteWitness.DIFFERS),
        (ExpectedRows("T", values=("ä",)), [("ä",)], SuiteWitness.AGREES),
        (ExpectedRows("T", values=("@@",)), [("ä",)], SuiteWitness.AGREES),
        (ExpectedRows("T", values=("1.0",)), [("1",)], SuiteWitness.DIFFERS),
    ],
)
def test_a_suite_is_a_witness_of_sqlites_rows(
    expected: ExpectedRows | None, rows: list[Any], says: SuiteWitness
) -> None:
    assert witness(expected, rows) is says
