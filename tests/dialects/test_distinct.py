"""Distinct rows: what a set says, whatever the hashes are."""

import random
from collections.abc import Callable, Hashable, Sequence
from datetime import date, timedelta
from decimal import Decimal
from ipaddress import ip_network
from itertools import islice, product
from uuid import UUID

import pytest
from psycopg.types.range import Range

from harness.data.outcomes import preview
from harness.metrics.accuracy import ex
from harness.metrics.comparison import compare
from harness.metrics.distinct import firsts, gathered, name, named
from harness.metrics.soft_f1 import soft_f1, soft_f1_aligned, soft_f1_documented

MODULUS = 2**61 - 1
"""Python's for the hashes of numbers."""

ROWS = 5_000
"""Enough for a set that compares each with each to take a thousand times as long as another."""

POWERS = [sign * 2.0 ** (61 * power) for power in range(-16, 17) for sign in (1, -1)]

NOT_A_NUMBER = float("nan")
VALUES: Sequence[Hashable] = [
    0, -0.0, False, Decimal("-0.00"), 1, 1.0, True, Decimal("1.00"), -1, -2, 2**61, 1 << 70, 2.0**70,
    Decimal(2**70), 10**400, Decimal("1E+400"), Decimal("0.1"), 0.1, Decimal(1 / 10), 0.5, Decimal("0.50"),
    float("inf"), Decimal("Infinity"), float("-inf"), NOT_A_NUMBER, float("nan"), Decimal("NaN"), None, "",
    "0", "1", "0x1.0000000000000p+0", "inf", "nan", b"1", b"", date(2020, 1, 1), "2020-01-01",
    timedelta(days=1), timedelta(hours=24), timedelta(seconds=1), UUID(int=1), UUID(int=1 + MODULUS),
    ip_network("::/128"), ip_network("0.0.0.0/32"), Range(1, 2), Range(Decimal(1), 2.0), Range(1, 3),
    Range(empty=True), (1, "a"), (1.0, "a"), (1, None), (), ((),), ("1",), ("1", None),
]  # fmt: skip


def decimals() -> list[tuple[Hashable, ...]]:
    return [(Decimal(MODULUS * number),) for number in range(1, ROWS + 1)]


def powers() -> list[tuple[Hashable, ...]]:
    return list(islice(product(POWERS[::2], repeat=4), ROWS))


def texts_and_decimals() -> list[tuple[Hashable, ...]]:
    return [("a", number * MODULUS, None) for number in range(1, ROWS + 1)]


def uuids() -> list[tuple[Hashable, ...]]:
    return [(UUID(int=number * MODULUS + 1),) for number in range(ROWS)]


def ranges() -> list[tuple[Hashable, ...]]:
    return [(Range(Decimal(number * MODULUS), None),) for number in range(ROWS)]


def networks() -> list[tuple[Hashable, ...]]:
    return [(ip_network(((number * MODULUS) << 2, 126)),) for number in range(ROWS)]


@pytest.mark.slow
@pytest.mark.parametrize("make", [decimals, powers, texts_and_decimals, uuids, ranges, networks])
def test_rows_that_share_a_hash_are_told_apart(make: Callable[[], list[tuple[Hashable, ...]]]) -> None:
    rows, again = make(), make()[::-1]
    assert named(rows)[0] is not rows, "they crowd"
    assert ex(rows, again) == 1.0
    assert ex(rows[:-1], again) == 0.0
    assert firsts([*rows, *again]) == rows


@pytest.mark.slow
@pytest.mark.parametrize("score", [soft_f1, soft_f1_documented, soft_f1_aligned])
def test_every_metric_of_rows_gives_them_their_score(score: Callable[..., float]) -> None:
    rows = decimals()
    assert score(rows, [*rows, *rows[:9]]) == 1.0
    assert 0.5 < score(rows[: ROWS - 100], rows) < 1.0


@pytest.mark.slow
def test_they_are_compared_by_value_and_shown() -> None:
    rows = [(*row, 0.5) for row in decimals()]
    same = [(int(row[0]), Decimal("0.5")) for row in rows]  # type: ignore[call-overload]
    found = compare(rows[1:], same[::-1])
    assert (found.same_bag, found.only_left, found.only_right) == (False, (), (same[0],))
    spread = [(value,) for value in POWERS * 200]
    assert compare(spread, spread[::-1]).same_bag
    shown = preview(rows, rows[:-2])
    assert shown.predicted is not None
    assert (shown.gold.only, shown.predicted.only) == (2, 0)


def test_names_are_equal_where_values_are() -> None:
    for one, other in product(VALUES, repeat=2):
        assert (name(one) == name(other)) is (one is other or one == other), (one, other)
        assert (name((one, 1)) == name((other, 1))) is (one is other or one == other), (one, other)


def test_a_crowd_keeps_what_else_is_there_apart_as_a_set_does() -> None:
    chosen = random.Random(5)  # noqa: S311 - the same rows each time
    rows: list[tuple[Hashable, ...]] = [*decimals()[:5_000], *((each,) for each in VALUES)]
    chosen.shuffle(rows)
    [found] = gathered(rows)
    assert found.names is not rows, "they crowd"
    assert len(found.distinct) == 5_000 + len({(each,) for each in VALUES})


def test_what_cannot_be_hashed_cannot_be_among_them() -> None:
    for last in ([1], {"a": 1}, bytearray(b"a"), Decimal("sNaN")):
        with pytest.raises(TypeError):
            gathered([*decimals(), (last,)])
        with pytest.raises(TypeError):
            firsts([(last,)])
        assert ex([*decimals(), (last,)], [(1,)]) == 0.0


def test_rows_that_do_not_crowd_are_their_own_names() -> None:
    rows = [(number, str(number)) for number in range(5_000)]
    assert named(rows)[0] is rows
    assert gathered(rows)[0].names is rows
