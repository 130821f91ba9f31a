"""The limit of bytes counts what is in nested values, on the engines that have them."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from harness import Evaluator
from harness.engines.execution import Ending, _size

MIB = 2**20
MANY = 2**16


def deep(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


VALUES: dict[str, tuple[Callable[[], object], int, int]] = {
    "int": (lambda: 1, 0, 0),
    "float": (lambda: 2.5, 0, 0),
    "None": (lambda: None, 0, 0),
    "Decimal": (lambda: Decimal("12.50"), 0, 0),
    "UUID": (lambda: UUID(int=1), 0, 0),
    "str": (lambda: "x" * MIB, MIB, MIB),
    "str with a letter of two bytes": (lambda: "\N{LATIN SMALL LETTER E WITH ACUTE}" * MIB, 4 * MIB, 4 * MIB),
    "bytes": (lambda: b"x" * MIB, MIB, MIB),
    "memoryview": (lambda: memoryview(b"x" * MIB), MIB, MIB),
    "int of many digits": (lambda: 10**400_000, MIB // 10, MIB),
    "Decimal of many digits": (lambda: Decimal("9" * 400_000), MIB // 10, MIB),
    "list": (lambda: [1] * MANY, 8 * MANY, 8 * MANY),
    "tuple": (lambda: (1,) * MANY, 8 * MANY, 8 * MANY),
    "list of str": (lambda: ["x" * 100] * MANY, 108 * MANY, 108 * MANY),
    "dict": (lambda: {str(n): n for n in range(MANY)}, 16 * MANY, 32 * MANY),
    "nested": (lambda: {"a": {"b": ["x" * MIB, {"c": ("y" * MIB,)}]}}, 2 * MIB, 2 * MIB + 100),
    "list of Decimal": (lambda: [Decimal(10**4_000)] * 1_000, MIB, 10 * MIB),
    "deep": (lambda: deep(5_000), 5_000, MIB),
}
"""What makes a value, and the least and the most that it counts.

They are made by their tests: every process of the tests would hold hundreds of megabytes of them.
"""


@pytest.mark.parametrize("value", VALUES)
def test_a_value_counts_what_is_in_it(value: str) -> None:
    make, least, most = VALUES[value]
    made = make()
    assert least <= _size([(made,), (1, made)]) / 2 <= most


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
