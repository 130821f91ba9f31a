"""The limit of bytes counts what is in nested values, on the engines that have them."""

from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from harness import Evaluator
from harness.engines.execution import Ending, _size

MIB = 2**20


def deep(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "least", "most"),
    [
        (1, 0, 0),
        (2.5, 0, 0),
        (None, 0, 0),
        (Decimal("12.50"), 0, 0),
        (UUID(int=1), 0, 0),
        ("x" * MIB, MIB, MIB),
        ("\N{LATIN SMALL LETTER E WITH ACUTE}" * MIB, 4 * MIB, 4 * MIB),
        (b"x" * MIB, MIB, MIB),
        (memoryview(b"x" * MIB), MIB, MIB),
        (10**400_000, MIB // 10, MIB),
        (Decimal(10**400_000 - 1), MIB // 10, MIB),
        ([1] * MIB, 8 * MIB, 8 * MIB),
        ((1,) * MIB, 8 * MIB, 8 * MIB),
        (["x" * 100] * MIB, 108 * MIB, 108 * MIB),
        ({str(n): n for n in range(MIB)}, 16 * MIB, 32 * MIB),
        ({"a": {"b": ["x" * MIB, {"c": ("y" * MIB,)}]}}, 2 * MIB, 2 * MIB + 100),
        ([Decimal(10**4_000)] * 1_000, MIB, 10 * MIB),
        (deep(5_000), 5_000, MIB),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_value_counts_what_is_in_it(value: object, least: int, most: int) -> None:
    assert least <= _size([(value,), (1, value)]) / 2 <= most


WIDE = (
    "SELECT array_agg(range) FROM range(140000)",
    "SELECT {'a': array_agg({'b': range})} FROM range(70000)",
    "SELECT map(array_agg(range), array_agg(range)) FROM range(70000)",
    "SELECT [array_agg(range % 2 = 0), NULL] FROM range(140000)",
    "SELECT array_agg(range::DECIMAL(30, 2)) FROM range(140000)",
    "SELECT array_agg(row(range, NULL)) FROM range(70000)",
)
"""One row each, wider than a mebibyte by what is nested in it."""


@pytest.mark.slow
def test_nested_values_of_duckdb_are_too_large() -> None:
    with Evaluator("sample", dialects=["duckdb"], workers=1) as evaluator:
        database = evaluator.setup.questions.db_ids[0]
        for text in WIDE:
            assert evaluator.execute(database, text).ending is Ending.TOO_LARGE, text
            assert evaluator.execute(database, text, max_bytes=256 * MIB).ending is Ending.ROWS, text
