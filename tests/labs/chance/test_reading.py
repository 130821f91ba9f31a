"""What is read out of golds: problems, literals, neighbours; and the values that follow from them."""

import re
from datetime import date
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.scoring.chance.queries import RowProblem, compared, neighbours, parse, problems
from harness.scoring.chance.shape import ColumnShape, Shape, Value, of_file
from harness.scoring.chance.values import Values
from tests.labs.twins.shops import SCRIPT
from tests.loaders.conftest import MakeFile


@pytest.fixture
def shop(make_file: MakeFile) -> Shape:
    return of_file(make_file(SCRIPT))


def problem(sql: str, shape: Shape) -> RowProblem:
    tree = parse(sql)
    assert tree is not None
    return problems(tree, shape)[0]


def chance(seed: int) -> Random:
    return Random(seed)  # noqa: S311 - the same values again


@pytest.mark.parametrize(
    ("sql", "tables", "conditions", "copies"),
    [
        ("SELECT name FROM customer", ["customer"], [], 1),
        (
            "SELECT name FROM customer WHERE (points > 1 AND level = 'a')",
            ["customer"],
            ["k0 > 1", "k1 = 'a'"],
            1,
        ),
        ("SELECT c.name FROM customer c, city t WHERE c.city_id = t.id", ["customer", "city"], [], 1),
        ('SELECT name FROM customer WHERE level = "gold"', ["customer"], ["k0 = 'gold'"], 1),
        (
            "SELECT name FROM customer WHERE city_id IN (SELECT id FROM city WHERE founded > '1300')",
            ["customer", "city"],
            ["k0 > '1300'"],
            1,
        ),
        ("SELECT 1 FROM city WHERE id NOT IN (SELECT city_id FROM customer)", ["city"], [], 1),
        ("SELECT level FROM customer GROUP BY level HAVING COUNT(*) >= 7", ["customer"], [], 7),
        ("SELECT level FROM customer GROUP BY level HAVING COUNT(id) > 7", ["customer"], [], 8),
        ("SELECT name FROM customer ORDER BY points LIMIT 2 OFFSET 3", ["customer"], [], 5),
        (
            (
                "WITH a AS (SELECT id AS n FROM city WHERE name = 'x') "
                "SELECT 1 FROM customer c JOIN a ON a.n = c.city_id"
            ),
            ["city", "customer"],
            ["k0 = 'x'"],
            1,
        ),
        (
            "WITH city AS (SELECT id FROM city WHERE name = 'x') SELECT 1 FROM city",
            ["city"],
            ["k0 = 'x'"],
            1,
        ),
        (
            "SELECT 1 FROM (customer c JOIN city t ON t.id = c.city_id) WHERE t.founded > '1300'",
            ["customer", "city"],
            ["k2 > '1300'"],
            1,
        ),
        (
            "SELECT c.name FROM customer c LEFT JOIN city t ON t.id = c.city_id WHERE t.id IS NULL",
            ["customer"],
            [],
            1,
        ),
    ],
)
def test_a_query_becomes_rows_and_conditions(
    shop: Shape, sql: str, tables: list[str], conditions: list[str], copies: int
) -> None:
    found = problem(sql, shop)
    assert sorted(found.tables) == sorted(tables)
    assert [each.sql("sqlite") for each in found.conjuncts] == conditions
    assert found.copies == copies


@pytest.mark.parametrize(
    ("condition", "whole", "parts"),
    [
        ("level = 'gold'", ["gold"], []),
        ("points > 3", [3.0], []),
        ("points BETWEEN 3 AND 4.5", [3.0, 4.5], []),
        ("level IN ('a', 'b')", ["a", "b"], []),
        ("name LIKE '%oor%'", [], ["oor"]),
        ("STRFTIME('%Y', born) = '1985'", [], ["1985"]),
        ("SUBSTR(born, 1, 4) = '1985'", [], ["1985"]),
        ("points = 'many'", [], []),
    ],
)
def test_literals_are_whole_values_or_parts(
    shop: Shape, condition: str, whole: list[Value], parts: list[Value]
) -> None:
    found = list(compared(problem(f"SELECT id FROM customer WHERE {condition}", shop), shop))
    assert [each.value for each in found if each.whole] == whole
    assert [each.value for each in found if not each.whole] == parts


@pytest.mark.parametrize(
    ("gold", "neighbour"),
    [
        ("SELECT id FROM t WHERE a = 1 AND b = 2", "SELECT id FROM t WHERE a = 1 AND TRUE"),
        ("SELECT id FROM t WHERE a > 1", "SELECT id FROM t WHERE a >= 1"),
        ("SELECT id FROM t WHERE a BETWEEN 1 AND 2", "SELECT id FROM t WHERE a BETWEEN 1 AND 2 AND a < 2"),
        ("SELECT id FROM t WHERE a = 1 OR b = 2", "SELECT id FROM t WHERE b = 2"),
        ("SELECT id FROM t WHERE a IN (1, 2)", "SELECT id FROM t WHERE a IN (2)"),
        ("SELECT id FROM t WHERE a LIKE '%x%'", "SELECT id FROM t WHERE a = 'x'"),
        ("SELECT id FROM t WHERE a = 'x'", "SELECT id FROM t WHERE a LIKE '%x%'"),
        ("SELECT COUNT(DISTINCT id) FROM t", "SELECT COUNT(id) FROM t"),
        ("SELECT COUNT(id) FROM t", "SELECT COUNT(DISTINCT id) FROM t"),
        ("SELECT id FROM t", "SELECT id FROM t WHERE NOT id IS NULL"),
        ("SELECT t.id FROM t JOIN u ON t.id = u.id", "SELECT t.id FROM t"),
    ],
)
def test_neighbours_have_one_thing_changed(gold: str, neighbour: str) -> None:
    tree = parse(gold)
    assert tree is not None
    found = [each.query.sql("sqlite") for each in neighbours(tree) if each.query is not None]
    assert neighbour in found
    assert tree.sql("sqlite") not in found


@pytest.mark.parametrize(
    ("samples", "pattern"),
    [
        (("2001-02-03", "1999-12-31"), r"\d{4}-\d\d-\d\d"),
        (("2001/2/3", "1999/12/31"), r"\d{4}/\d\d?/\d\d?"),
        (("2001-02-03 04:05:06", "1999-12-31 23:59:59"), r"\d{4}-\d\d-\d\d \d\d:[0-5]\d:[0-5]\d"),
        (("201203", "201312"), r"201[23](0[1-9]|1[0-2])"),
        (("1:23.456", "2:01.007"), r"\d:[0-5]\d\.\d{3}"),
    ],
)
@given(seed=st.integers(0, 10**6))
def test_values_are_written_as_the_samples_are(samples: tuple[str, ...], pattern: str, seed: int) -> None:
    drawn = Values(ColumnShape("c", "TEXT", samples)).fresh(chance(seed))
    assert re.fullmatch(pattern, str(drawn))


@given(st.integers(0, 10**6), st.integers(-(10**9), 10**9))
def test_candidates_have_the_values_beside_a_literal(seed: int, literal: int) -> None:
    found = Values(ColumnShape("c", "INTEGER", (1, 5)), [literal]).candidates(chance(seed))
    assert {literal - 1, literal, literal + 1} <= set(found)
    assert all(isinstance(value, int) for value in found)
    assert len(found) == len(set(found))


@given(st.integers(0, 10**6), st.lists(st.integers(0, 10**6), min_size=1))
def test_beyond_lies_above_all_that_is_there(seed: int, present: list[int]) -> None:
    found = Values(ColumnShape("c", "INTEGER", (1, 5))).beyond(present, chance(seed))
    assert any(isinstance(value, int) and value > max(present) for value in found)


def test_a_year_that_is_asked_for_is_among_the_candidates() -> None:
    values = Values(ColumnShape("c", "DATE", ("2001-02-03",)), parts=["1931"])
    found = [date.fromisoformat(str(value)) for value in values.candidates(chance(1))]
    assert any(day.year == 1931 for day in found)
