"""What a preview keeps of two results, and that JSON gives it back."""

import json
from dataclasses import asdict
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.data.outcomes import (
    MOST_CHARACTERS,
    MOST_COLUMNS,
    MOST_DIFFERENT,
    MOST_ROWS,
    Preview,
    Side,
    preview,
)
from harness.engines.base import Row
from harness.metrics.accuracy import ex

VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.binary(),
    st.decimals(),
    st.dates(),
    st.lists(st.integers(), max_size=2),
)
RESULTS = st.integers(0, 3).flatmap(lambda width: st.lists(st.tuples(*[VALUES] * width), max_size=12))


def rows(*values: object) -> list[Row]:
    return [(value,) for value in values]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, None),
        (1, 1),
        (True, True),
        (-0.5, -0.5),
        ("it's", "it's"),
        ("x" * 500, "x" * (MOST_CHARACTERS - 1) + "\N{HORIZONTAL ELLIPSIS}"),
        (2**53 + 1, ("int", "9007199254740993")),
        (10**3000, ("int", hex(10**3000)[: MOST_CHARACTERS - 1] + "\N{HORIZONTAL ELLIPSIS}")),
        (float("inf"), ("float", "inf")),
        (Decimal("1.50"), ("Decimal", "1.50")),
        (date(2020, 2, 29), ("date", "2020-02-29")),
        (b"\x00\xff", ("bytes", "00ff")),
        ([1, 2], ("list", "[1, 2]")),
    ],
)
def test_a_value_is_shown_with_the_type_that_json_lacks(value: object, shown: object) -> None:
    assert preview(rows(value), None).gold.rows == ((shown,),)


def test_rows_that_the_other_side_lacks_come_first() -> None:
    seen = preview(rows(1, 2, 3, 3, 4), rows(4, 2, 9))
    assert seen.gold == Side(5, 1, 2, 2, ((1,), (3,), (2,), (4,)))
    assert seen.predicted == Side(3, 1, 1, 1, ((9,), (4,), (2,)))


def test_rows_that_are_the_same_are_shown_once() -> None:
    seen = preview(rows(1, 2), rows(2, 1, 1))
    assert seen.gold == Side(2, 1, 0, 0, ((1,), (2,)))
    assert seen.predicted == Side(3, 1, 0, 0, ())


def test_rows_that_cannot_be_compared_are_not_said_to_differ() -> None:
    seen = preview(rows([1]), rows([1], [2]))
    assert seen.gold == Side(1, 1, None, 0, ((("list", "[1]"),),))
    assert seen.predicted is not None
    assert seen.predicted.only is None


def test_a_prediction_without_rows_has_no_side() -> None:
    assert preview(rows(1), None, "SELECT 1") == Preview(Side(1, 1, 0, 0, ((1,),)), None, "SELECT 1")


def test_large_results_are_cut() -> None:
    wide = preview([tuple(range(200))] * 3, [tuple(range(199))] * 1000)
    assert wide.gold.columns == 200
    assert [len(row) for row in wide.gold.rows] == [MOST_COLUMNS]
    assert wide.predicted is not None
    assert (wide.predicted.count, wide.predicted.only) == (1000, 1)
    many = preview(rows(*range(1000)), rows())
    assert (len(many.gold.rows), many.gold.marked) == (MOST_ROWS, MOST_DIFFERENT)


@pytest.mark.slow
@given(RESULTS, RESULTS)
def test_every_preview_comes_back_from_json_and_agrees_with_ex(gold: list[Row], predicted: list[Row]) -> None:
    seen = preview(gold, predicted)
    assert Preview.from_text(seen.to_text()) == seen
    assert json.loads(seen.to_text().encode()) == json.loads(json.dumps(asdict(seen)))
    assert seen.predicted is not None
    if seen.gold.only is not None and seen.predicted.only is not None:
        assert (seen.gold.only + seen.predicted.only == 0) == (ex(predicted, gold) == 1.0)
    for side in (seen.gold, seen.predicted):
        assert len(side.rows) <= MOST_ROWS
        assert side.marked <= (side.only or 0)
