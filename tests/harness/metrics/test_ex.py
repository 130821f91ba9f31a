from collections.abc import Sequence
from datetime import date
from decimal import Decimal

import pytest

from harness.metrics.accuracy import ex

NAN = float("nan")


@pytest.mark.parametrize(
    ("predicted", "gold", "score"),
    [
        ([(1,)], [(1,)], 1.0),
        ([], [], 1.0),
        ([(1,)], [], 0.0),
        ([(1,), (1,), (2,)], [(2,), (1,)], 1.0),  # a set: order and duplicates do not count
        ([(1, 2)], [(2, 1)], 0.0),  # the order of columns does
        ([(1, 1)], [(1,)], 0.0),
        ([(Decimal(1),)], [(1.0,)], 1.0),  # Python's equality of numbers
        ([(True,)], [(1,)], 1.0),
        ([("1",)], [(1,)], 0.0),
        ([(date(2012, 1, 1),)], [("2012-01-01",)], 0.0),
        ([(None,)], [(None,)], 1.0),
        ([(None,)], [(0,)], 0.0),
        ([("a",)], [("A",)], 0.0),
        ([(0.1 + 0.2,)], [(0.3,)], 0.0),  # no tolerance
        ([(-0.0,)], [(0.0,)], 1.0),
        ([(NAN,)], [(float("nan"),)], 0.0),
        ([([1],)], [([1],)], 0.0),  # an array cannot be hashed: the script scores 0
    ],
)
def test_ex_is_the_official_comparison(
    predicted: Sequence[tuple[object, ...]], gold: Sequence[tuple[object, ...]], score: float
) -> None:
    assert ex(predicted, gold) == score
