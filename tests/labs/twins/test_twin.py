"""Every gold answers, what is beside it answers otherwise, and declared keys and references hold."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.labs.twins.builder import write
from harness.labs.twins.twin import Twin, twin
from harness.scoring.chance.rows import checked
from harness.scoring.chance.shape import Shape, of_file
from tests.labs.twins.shops import GOLDS, SCRIPT, WRONG
from tests.loaders.conftest import MakeFile
from tests.sqlite_files import sqlite_file


@pytest.fixture
def shop(make_file: MakeFile) -> Shape:
    return of_file(make_file(SCRIPT))


def made(shape: Shape, golds: Sequence[str], *, seed: int = 1, scale: float = 1.0) -> Twin:
    return twin(shape, golds, scale, seed, lambda _stage: None)


@pytest.mark.parametrize("name", GOLDS)
def test_a_gold_answers(shop: Shape, name: str) -> None:
    found = made(shop, [GOLDS[name]])
    assert found.unanswered == ()
    with checked(found.rows) as database:
        assert database.answer(GOLDS[name])


@pytest.mark.slow
def test_all_golds_answer_on_one_twin(shop: Shape) -> None:
    assert made(shop, list(GOLDS.values()), seed=2).unanswered == ()


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_query_is_told_apart(shop: Shape, name: str) -> None:
    gold, wrong = WRONG[name]
    with checked(made(shop, [gold]).rows) as database:
        right, other = database.answer(gold), database.answer(wrong)
    assert not isinstance(right, str)
    assert not isinstance(other, str)
    assert right != other


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("SELECT name FROM customer WHERE level = 'gold' AND level = 'blue'", "no rows were found"),
        ("SELECT absent FROM customer", "it fails: no such column"),
        ("SELECT 0", "cannot be read"),
        ("SELECT NULL FROM customer", "nothing but NULL and 0"),
    ],
)
def test_a_gold_without_an_answer_is_named_with_a_reason(shop: Shape, sql: str, reason: str) -> None:
    [lacking] = made(shop, [sql, GOLDS["equal"]]).unanswered
    assert lacking.sql == sql
    assert reason in lacking.reason


@pytest.mark.slow
@settings(max_examples=5)
@given(st.integers(0, 10**6), st.sampled_from([0.5, 1.0]))
def test_keys_and_references_hold(tmp_path_factory: pytest.TempPathFactory, seed: int, scale: float) -> None:
    folder = tmp_path_factory.mktemp("twin")
    sqlite_file(folder / "shop.sqlite", SCRIPT)
    found = made(of_file(folder / "shop.sqlite"), list(GOLDS.values())[::3], seed=seed, scale=scale)
    path = folder / "made.sqlite"
    # A key that is there twice, or a NULL where there may be none, would be refused here.
    write(found.rows, path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_tables_indexes_and_views_are_those_of_the_file(
    shop: Shape, make_file: MakeFile, tmp_path: Path
) -> None:
    write(made(shop, []).rows, tmp_path / "made.sqlite")
    written = []
    for path in (make_file(SCRIPT), tmp_path / "made.sqlite"):
        with closing(sqlite3.connect(path)) as connection:
            written.append(
                sorted(connection.execute("SELECT type, name, sql FROM sqlite_master").fetchall(), key=repr)
            )
    assert written[0] == written[1]


@pytest.mark.parametrize(("scale", "rows"), [(0.001, 150), (0.5, 500), (1.0, 1000), (2.0, 1000)])
def test_rows_are_a_share_of_the_real_ones(make_file: MakeFile, scale: float, rows: int) -> None:
    path = make_file(
        "CREATE TABLE t (a INTEGER, b TEXT)", t=[(number, f"text {number}") for number in range(1000)]
    )
    assert len(made(of_file(path), [], scale=scale).rows.data["t"]) == rows  # type: ignore[index]


def test_another_seed_gives_other_rows_and_the_same_one_the_same(shop: Shape) -> None:
    first, again, other = (made(shop, [GOLDS["join"]], seed=seed).rows.data for seed in (1, 1, 2))
    assert first == again
    assert first != other
