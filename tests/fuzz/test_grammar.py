"""Generated queries are worth running: SQLite takes them, no construct is missing, each answer is unique."""

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing
from itertools import product

import pytest

from harness.metrics.comparison import compare
from tests.fuzz.campaign import query
from tests.fuzz.catalog import Catalog
from tests.fuzz.grammar.statements import is_ordered
from tests.fuzz.tree import TAGS, Node

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

QUERIES = 2_500
OPEN = {"group-concat", "json-group"}
"""Constructs whose answer depends on the order in which SQLite visits rows; translations of them warn."""
MOST_ROWS = 20_000


Rows = list[tuple[object, ...]]


class Reader:
    """Runs queries on the databases, whose rows are visited in their order or backwards."""

    def __init__(self, catalogs: list[Catalog], stack: ExitStack) -> None:
        self._opened: dict[tuple[str, bool], sqlite3.Connection] = {}
        for catalog, backwards in product(catalogs, (False, True)):
            path = catalog.database.sqlite_path
            opened = stack.enter_context(closing(sqlite3.connect(path)))
            opened.execute(f"PRAGMA reverse_unordered_selects = {int(backwards)}")
            self._opened[str(path), backwards] = opened

    def rows(self, catalog: Catalog, sql: str, *, backwards: bool = False) -> Rows | None:
        """None where SQLite refuses the query, or finds too many rows to look at."""
        connection = self._opened[str(catalog.database.sqlite_path), backwards]
        connection.set_progress_handler(lambda: 1, 50_000_000)
        try:
            with closing(connection.execute(sql)) as cursor:
                rows = cursor.fetchmany(MOST_ROWS)
        except sqlite3.Error:
            return None
        return rows if len(rows) < MOST_ROWS else None


@pytest.fixture(scope="module")
def queries(catalogs: list[Catalog]) -> list[tuple[Node, Catalog]]:
    return [query(1, number, catalogs) for number in range(QUERIES)]


@pytest.fixture(scope="module")
def reader(catalogs: list[Catalog]) -> Iterator[Reader]:
    with ExitStack() as stack:
        yield Reader(catalogs, stack)


@pytest.fixture(scope="module")
def answers(queries: list[tuple[Node, Catalog]], reader: Reader) -> list[Rows | None]:
    """What SQLite finds for each query, or None, as `Reader.rows` says."""
    return [reader.rows(catalog, str(node)) for node, catalog in queries]


def test_equal_numbers_give_equal_queries(catalogs: list[Catalog]) -> None:
    assert [str(query(7, at, catalogs)[0]) for at in range(50)] == [
        str(query(7, at, catalogs)[0]) for at in range(50)
    ]
    assert str(query(7, 0, catalogs)[0]) != str(query(8, 0, catalogs)[0])


def test_every_construct_is_generated_in_queries_that_sqlite_takes(
    queries: list[tuple[Node, Catalog]], answers: list[Rows | None]
) -> None:
    taken = [node for (node, _), rows in zip(queries, answers, strict=True) if rows is not None]
    assert len(taken) > 0.97 * len(queries)
    assert TAGS - frozenset().union(*(node.tags for node in taken)) == set()


def test_answers_do_not_depend_on_the_order_in_which_rows_are_visited(
    queries: list[tuple[Node, Catalog]], answers: list[Rows | None], reader: Reader
) -> None:
    """https://sqlite.org/pragma.html#pragma_reverse_unordered_selects."""
    for (node, catalog), forwards in zip(queries, answers, strict=True):
        if node.tags & OPEN or forwards is None:
            continue
        backwards = reader.rows(catalog, str(node), backwards=True)
        if backwards is None:
            continue
        compared = compare(forwards, backwards)
        assert compared.same_bag, str(node)
        assert compared.same_order or not is_ordered(node), str(node)
