"""Every kind of hostile texts is tried on every engine, or a reason says why not."""

import ast
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from dialects.enums import Dialect
from tests.engines.hostile.cases import Absent
from tests.engines.hostile.table import ROWS, Row, table

ROOT = Path(__file__).parents[3]


@cache
def _tests(path: str) -> frozenset[str]:
    """Return the names of a module's tests."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.kind[:40])
def test_no_cell_is_empty_without_a_reason_and_a_test_runs_the_others(row: Row) -> None:
    assert row.cells.keys() == set(Dialect)
    for dialect, cell in row.cells.items():
        if isinstance(cell, Absent):
            assert len(cell.reason.split()) > 3, (dialect, cell)
            continue
        assert len(cell) > 0, dialect
        path, _, name = row.test(dialect).partition("::")
        assert name.startswith("test_"), dialect
        assert name in _tests(path), (path, name)


def test_kinds_have_names_of_their_own_and_each_is_in_the_table() -> None:
    assert [kind for kind, count in Counter(row.kind for row in ROWS).items() if count > 1] == []
    assert len(table().splitlines()) == len(ROWS) + 2
    assert "?" not in table()
