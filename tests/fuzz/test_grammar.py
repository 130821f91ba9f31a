"""Generated queries are worth running: SQLite takes them, no construct is missing, each answer is unique."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from harness.metrics.comparison import compare
from tests.fuzz.campaign import query
from tests.fuzz.catalog import Catalog
from tests.fuzz.grammar.statements import is_ordered
from tests.fuzz.tree import TAGS, Node

QUERIES = 2_500
OPEN = {"group-concat", "json-group"}
"""Constructs whose answer depends on the order in which SQLite visits rows; translations of them warn."""
MOST_ROWS = 20_000


@contextmanager
def _opened(catalog: Catalog, *, backwards: bool) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(catalog.database.sqlite_path)) as connection:
        connection.execute(f"PRAGMA reverse_unordered_selects = {int(backwards)}")
        connection.set_progress_handler(lambda: 1, 50_000_000)
        yield connection


def _rows(catalog: Catalog, sql: str, *, backwards: bool = False) -> list[tuple[object, ...]] | None:
    """None where SQLite refuses the query, or finds too many rows to look at."""
    with _opened(catalog, backwards=backwards) as connection:
        try:
            rows = connection.execute(sql).fetchmany(MOST_ROWS)
        except sqlite3.Error:
            return None
    return rows if len(rows) < MOST_ROWS else None


@pytest.fixture(scope="module")
def queries(catalogs: list[Catalog]) -> list[tuple[Node, Catalog]]:
    return [query(1, number, catalogs) for number in range(QUERIES)]


def test_equal_numbers_give_equal_queries(catalogs: list[Catalog]) -> None:
    assert [str(query(7, at, catalogs)[0]) for at in range(50)] == [
        str(query(7, at, catalogs)[0]) for at in range(50)
    ]
    assert str(query(7, 0, catalogs)[0]) != str(query(8, 0, catalogs)[0])


def test_every_construct_is_generated_in_queries_that_sqlite_takes(
    queries: list[tuple[Node, Catalog]],
) -> None:
    taken = [node for node, catalog in queries if _rows(catalog, str(node)) is not None]
    assert len(taken) > 0.97 * len(queries)
    assert TAGS - frozenset().union(*(node.tags for node in taken)) == set()


def test_answers_do_not_depend_on_the_order_in_which_rows_are_visited(
    queries: list[tuple[Node, Catalog]],
) -> None:
    """https://sqlite.org/pragma.html#pragma_reverse_unordered_selects."""
    for node, catalog in queries:
        if node.tags & OPEN:
            continue
        forwards = _rows(catalog, str(node))
        backwards = _rows(catalog, str(node), backwards=True)
        if forwards is None or backwards is None:
            continue
        compared = compare(forwards, backwards)
        assert compared.same_bag, str(node)
        assert compared.same_order or not is_ordered(node), str(node)
