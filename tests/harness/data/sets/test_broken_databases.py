"""Broken databases of a set, and what systems leave next to databases."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from dialects.errors import BadInput
from harness import Evaluator, Triple
from harness.data.outcomes import Outcome
from harness.data.sets.loader import load_databases, load_set
from harness.labs.conformance import folders
from harness.scoring.variants import find_variants
from tests.harness import own_sets
from tests.harness.conftest import Call
from tests.sqlite_files import sqlite_file


def _computed(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.create_function("odd", 1, lambda value: value, deterministic=True)
        connection.executescript("CREATE TABLE items (name TEXT, other AS (odd(name)))")


def _torn(path: Path) -> None:
    own_sets.database(path, [(number, "pen" * 100, number) for number in range(1, 500)])
    content = bytearray(path.read_bytes())
    content[4096 * 3 : 4096 * 10] = b"\xff" * 4096 * 7
    path.write_bytes(content)


def _blank(path: Path) -> None:
    sqlite_file(path, "CREATE TABLE t (a); DROP TABLE t")


BROKEN = {
    "absent": lambda _: None,
    "empty": Path.touch,
    "blank": _blank,
    "pointer": lambda path: path.write_text("version https://git-lfs.github.com/spec/v1\n"),
    "computed": _computed,
    "torn": _torn,
}
FAULTY = {"absent", "empty", "pointer"}
"""Those of which the first bytes tell."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A set with one good database."""
    for name, write in BROKEN.items():
        (tmp_path / "set" / name).mkdir(parents=True)
        write(tmp_path / "set" / name / f"{name}.sqlite")
    own_sets.database(tmp_path / "set" / "shop" / "shop.sqlite")
    asked = [
        {"question_id": place, "db_id": name, "question": f"{place}?", "SQL": "SELECT name FROM items",
         "difficulty": "simple"}
        for place, name in enumerate([*BROKEN, "shop"])
    ]  # fmt: skip
    own_sets.write(tmp_path / "set" / "set.json", asked)
    return tmp_path / "set"


def _names_each_once(said: str) -> None:
    for name in BROKEN:
        assert len([line for line in said.splitlines() if f"{name}: skipped" in line]) == 1, (name, said)


@pytest.mark.slow
@pytest.mark.thorough
def test_commands_on_the_whole_set_skip_them_with_a_line(
    folder: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BIRD_PROVISION", "dsn")
    code, _, said = call("lab", "audit", "--set", str(folder), "--out", "audit")
    assert code == 0
    _names_each_once(said)
    code, _, said = call("translate", "--set", str(folder), "--dialect", "mysql", "--out", "translated")
    # A torn file is found by reading all of it, when its gold is translated.
    _names_each_once(said.replace("mysql 5: untranslatable: ", "torn: skipped: "))
    assert "mysql: 2 golds" in said
    assert (
        call("lab", "predict", "command:cat", "--set", str(folder), "--dialect", "sqlite", "--out", "asked")[
            0
        ]
        == 0
    )
    answers = [json.loads(line) for line in Path("asked/answers.jsonl").read_text().splitlines()]
    assert {one["question"] for one in answers} == {"5", "6"}
    code, shown, said = call("describe", "--columns", "--set", str(folder))
    assert code == 0
    assert all(f"{name}.sqlite: " in said for name in BROKEN)
    assert "shop.sqlite: UTF-8" in shown


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.parametrize("choice", [("--db", "shop"), ("--question", "6")])
def test_a_choice_needs_only_its_own_databases(folder: Path, call: Call, choice: tuple[str, str]) -> None:
    answers = {"6": "SELECT name FROM items\t----- bird -----\tshop"}
    file = own_sets.write(folder.parent / "predict_set_m_sqlite.json", answers)
    code, _, said = call(
        "eval", "--set", str(folder), "--predictions", str(file), "--predictor", "m", "--dialect", "sqlite",
        *choice,
    )  # fmt: skip
    assert (code, "skipped" in said) == (0, False), said
    asked = (
        "lab",
        "predict",
        "command:cat",
        "--set",
        str(folder),
        "--dialect",
        "sqlite",
        "--out",
        "asked",
        *choice,
    )
    code, _, said = call(*asked)
    assert (code, "skipped" in said) == (0, False), said


def test_one_database_is_described_without_the_others(folder: Path, call: Call) -> None:
    code, _, said = call("describe", "--columns", "--set", str(folder), "--db", "shop")
    assert (code, said) == (0, "")
    code, _, said = call("describe", "--columns", "--set", str(folder), "--db", "torn")
    assert code == 2
    assert "torn.sqlite: database disk image is malformed" in said


def test_an_evaluation_refuses_to_lose_questions(folder: Path) -> None:
    assert load_set(str(folder)).faulty.keys() == FAULTY
    with pytest.raises(BadInput, match=r"database absent: no file .*; also database empty: an empty file"):
        Evaluator(str(folder), dialects="sqlite")


LEFT_BEHIND = ("._shop.sqlite", ".DS_Store", "Thumbs.db", "desktop.ini", ".hidden.db", "._shop.db3")


def _leave(folder: Path) -> None:
    for name in LEFT_BEHIND:
        (folder / name).write_bytes(b"\0\x05\x16\x07\0\x02\0\0Mac OS X")


@pytest.mark.parametrize("suffix", [".sqlite", ".sqlite3", ".db", ".db3"])
@pytest.mark.parametrize("shape", ["shop{0}", "shop/shop{0}"])
def test_what_systems_leave_is_no_database(tmp_path: Path, suffix: str, shape: str) -> None:
    path = own_sets.database(tmp_path / "dbs" / shape.format(suffix))
    _leave(tmp_path / "dbs")
    _leave(path.parent)
    found = load_databases(tmp_path / "dbs")
    assert found.db_ids == ("shop",)
    assert found.database("shop").sqlite_path == path


@pytest.mark.slow
def test_answers_are_judged_beside_what_systems_leave(tmp_path: Path) -> None:
    own_sets.database(tmp_path / "dbs" / "shop.db3")
    _leave(tmp_path / "dbs")
    with Evaluator(databases=tmp_path / "dbs", workers=1, cache=False) as evaluator:
        [judged] = evaluator.score([Triple("shop", "SELECT id FROM items", "SELECT id FROM items")])
    assert judged.outcome is Outcome.MATCH


def test_sets_suites_and_variants_ignore_what_systems_leave(tmp_path: Path) -> None:
    asked = [{"question_id": 1, "db_id": "shop", "question": "?", "SQL": "SELECT 1", "difficulty": "simple"}]
    own_sets.write(tmp_path / "set" / "set.json", asked)
    own_sets.database(tmp_path / "set" / "shop" / "shop.sqlite")
    for name in (*LEFT_BEHIND, "._set.json", "._dev_tables.json"):
        (tmp_path / "set" / name).write_bytes(b"\0\x05")
    assert load_set(str(tmp_path / "set")).db_ids == ("shop",)

    suite = tmp_path / "suite" / "one"
    own_sets.database(suite / "shop.db3")
    own_sets.write(suite / "queries.sql", "SELECT name FROM items;")
    _leave(suite)
    own_sets.write(suite / "._queries.sql", "\0")
    [script] = folders.scripts(tmp_path / "suite")
    assert script.base == suite / "shop.db3"

    variants = tmp_path / "variants" / "shop"
    for name in ("shop", "shop_1"):
        own_sets.database(variants / f"{name}.db", [(1, name, 2)])
    _leave(variants)
    _leave(tmp_path / "variants")
    found = find_variants(str(tmp_path / "variants"), load_set(str(tmp_path / "set")), lambda _: None)
    assert found.telling["shop"] == ("shop", "shop_1")
