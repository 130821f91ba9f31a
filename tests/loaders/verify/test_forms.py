"""The sum over a table's rows is the same in any order of them, and another one for any other rows."""

import random
from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loaders.verify.forms import (
    IMPOSSIBLE,
    NULL,
    Digest,
    Value,
    ValueForm,
    day,
    hashes,
    moment,
    rows_of,
    total,
    written,
)

FORMS = (ValueForm.INTEGER, ValueForm.DOUBLE, ValueForm.TEXT, ValueForm.TEXT, ValueForm.BLOB)

Row = tuple[int | None, float | None, str | None, str | None, bytes | None]

texts = st.none() | st.text(st.sampled_from("aA 1,|N:é\u200b\0"), max_size=4)
rows: st.SearchStrategy[Row] = st.tuples(
    st.none() | st.sampled_from([0, 1, -1, 12, 2**63 - 1, -(2**63)]),
    st.none() | st.sampled_from([0.0, -0.0, 1.0, 0.1, 0.1 + 2**-56, 5e-324, float("inf")]),
    texts,
    texts,
    st.none() | st.binary(max_size=2),
)


def stored(value: str | float | bytes | None) -> Value:
    return bytearray(value.encode()) if isinstance(value, str) else value


def lines(table: Sequence[Row]) -> list[bytes]:
    columns = [[stored(row[number]) for row in table] for number in range(len(FORMS))]
    return list(rows_of([written(form, values) for form, values in zip(FORMS, columns, strict=True)]))


def digest(table: Sequence[Row]) -> Digest:
    return Digest(len(table), total(hashes(lines(table)))) if table else Digest(0, 0)


def exact(row: Row) -> tuple[str, ...]:
    """Equal for the same values only: repr tells 0.0 from -0.0, 1 from 1.0, and None from 'None'."""
    return tuple(map(repr, row))


@given(st.lists(rows, max_size=20), st.randoms(use_true_random=False))
def test_the_sum_is_the_same_in_any_order_and_over_any_batches(
    table: list[Row], chance: random.Random
) -> None:
    shuffled = table[:]
    chance.shuffle(shuffled)
    cut = chance.randint(0, len(table))
    assert digest(shuffled) == digest(table)
    assert digest(table[:cut]).total + digest(table[cut:]).total == digest(table).total


@given(st.lists(rows, min_size=1, max_size=6), st.lists(rows, min_size=1, max_size=6))
def test_two_tables_have_the_same_sum_only_if_they_hold_the_same_rows_as_often(
    one: list[Row], other: list[Row]
) -> None:
    same = Counter(map(exact, one)) == Counter(map(exact, other))
    assert (digest(one) == digest(other)) == same


@given(st.lists(rows, min_size=1, max_size=5), st.data())
def test_any_one_change_of_a_table_changes_its_sum(table: list[Row], data: st.DataObject) -> None:
    number = data.draw(st.integers(0, len(table) - 1))
    changed = [*table[:number], data.draw(rows), *table[number + 1 :]]
    same = Counter(map(exact, table)) == Counter(map(exact, changed))
    assert (digest(table) == digest(changed)) == same
    assert digest([*table, table[number]]) != digest(table) != digest([*table[:number], *table[number + 1 :]])


def test_pairs_of_equal_rows_do_not_cancel() -> None:
    """As they would if hashes were combined by exclusive or."""
    a: Row = (1, None, "a", None, None)
    b: Row = (2, None, "b", None, None)
    assert digest([a, a]) != digest([b, b])
    assert digest([a, a, b, b]) != digest([a, a, a, a])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((None, None, "ab", "c", None), (None, None, "a", "bc", None)),
        ((None, None, "", None, None), (None, None, None, "", None)),
        ((None, None, "1", "", None), (None, None, "", "1", None)),
        ((None, None, "N", None, None), (None, None, None, "N", None)),
        ((1, None, "2", None, None), (12, None, "", None, None)),
        ((None, None, None, None, b""), (None, None, None, None, None)),
        ((None, None, "a,1|", None, None), (None, None, "a", ",1|", None)),
        ((None, 0.0, None, None, None), (None, -0.0, None, None, None)),
    ],
)
def test_rows_that_would_run_together_are_written_apart(one: Row, other: Row) -> None:
    assert lines([one]) != lines([other])


@pytest.mark.parametrize(
    ("form", "value", "head"),
    [
        (ValueForm.INTEGER, -(2**63), "-9223372036854775808"),
        (ValueForm.INTEGER, None, NULL),
        (ValueForm.INTEGER, 1.0, IMPOSSIBLE),
        (ValueForm.INTEGER, bytearray(b"1"), IMPOSSIBLE),
        (ValueForm.DOUBLE, 1.0, "3ff0000000000000"),
        (ValueForm.DOUBLE, 1, "3ff0000000000000"),
        (ValueForm.DOUBLE, 2**53 + 1, IMPOSSIBLE),
        (ValueForm.DOUBLE, bytearray(b"1"), IMPOSSIBLE),
        (ValueForm.SINGLE, 0.1, "3dcccccd"),
        (ValueForm.SINGLE, 16777217.0, "4b800000"),
        (ValueForm.SINGLE, 1e39, IMPOSSIBLE),
        (ValueForm.TEXT, bytearray("é".encode()), "2"),
        (ValueForm.TEXT, 12, "2"),
        (ValueForm.TEXT, b"12", IMPOSSIBLE),
        (ValueForm.LONG_TEXT, b"12", IMPOSSIBLE),
        (ValueForm.BLOB, bytearray(b"12"), IMPOSSIBLE),
        (ValueForm.DAY, bytearray(b"12/31/1980"), "1980-12-31"),
        (ValueForm.DAY, bytearray(b"1980-02-30"), IMPOSSIBLE),
        (ValueForm.DAY, 1980, IMPOSSIBLE),
        (ValueForm.MOMENT, bytearray(b"1980-12-31"), "1980-12-31 00:00:00"),
    ],
)
def test_values_are_written_exactly_or_not_at_all(form: ValueForm, value: Value, head: str) -> None:
    assert written(form, [value]).heads == [head]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("2020-02-29", "2020-02-29"), ("2020/02/29", "2020-02-29"), ("02/29/2020", "2020-02-29"),
        ("0001-01-01", "0001-01-01"), ("9999-12-31", "9999-12-31"),
        ("2019-02-29", None), ("0000-01-01", None), ("2020-1-1", None), ("29/02/2020", None),
        (" 2020-02-29", None),
        ("2020-02-29 ", None), ("2020-02-29 10:00:00", None), ("", None), ("\uff12020-02-29", None),
    ],
)  # fmt: skip
def test_days_are_read_by_the_calendar(text: str, meant: str | None) -> None:
    assert day(text.encode()) == meant


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("2010-07-19 19:39:07", "2010-07-19 19:39:07"), ("2010-07-19 19:39:07.0", "2010-07-19 19:39:07"),
        ("2010-07-19 19:39:07.50", "2010-07-19 19:39:07.5"),
        ("2010-07-19 19:39:07.999999", "2010-07-19 19:39:07.999999"),
        ("2010-07-19", "2010-07-19 00:00:00"), ("2010-07-19 00:00:00", "2010-07-19 00:00:00"),
        ("2010-07-19T19:39:07", None), ("2010/07/19 19:39:07", None), ("2010-07-19 24:00:00", None),
        ("2010-07-19 19:39", None),
        ("2010-07-19 19:39:60", None), ("2010-07-19 19:39:07.", None), ("2010-07-19 19:39:07.1234567", None),
        ("2010-02-30 19:39:07", None), ("2010-07-19 19:39:07Z", None), ("", None),
    ],
)  # fmt: skip
def test_moments_are_read_by_the_calendar_and_the_clock(text: str, meant: str | None) -> None:
    assert moment(text.encode()) == meant
