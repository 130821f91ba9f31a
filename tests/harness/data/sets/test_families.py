"""A folder in the layout of a published family is a question set, whatever its files are called."""

import json
import sqlite3
from pathlib import Path

import pytest

from dialects.enums import Dialect, Profile
from dialects.errors import BadInput
from harness import Answer, Evaluator
from harness.data.outcomes import Outcome
from harness.data.questions import BIRD_LEVELS
from harness.data.set_manifest import PUBLISHED
from harness.data.sets.loader import load_set, name_of
from tests.harness import own_sets as sets
from tests.sqlite_files import sqlite_file

SPIDER = ("easy", "medium", "hard", "extra")

IDS = {
    "bird_dev": ["10", "11", "12", "13"],
    "mini_dev": ["10", "11", "12", "13"],
    "live": ["shop_0", "shop_1", "shop_2", "shop_3"],
    "own": ["Q/0", "Q/1", "Q/2", "Q/3"],
}
LEVELS = {"bird_dev": BIRD_LEVELS, "mini_dev": BIRD_LEVELS, "own": ("warm-up", "tricky")}


@pytest.mark.parametrize("family", list(sets.FAMILIES))
def test_a_folder_is_a_set(family: str, tmp_path: Path) -> None:
    folder = sets.FAMILIES[family](tmp_path / f"my {family}")
    questions = load_set(str(folder))
    assert questions.own
    assert questions.name == name_of(str(folder)) == ("Shop-Bench" if family == "own" else f"my_{family}")
    assert [one.key for one in questions.questions] == IDS.get(family, ["0", "1", "2", "3"])
    assert [one.text for one in questions.questions] == [text for text, _ in sets.ASKED]
    assert [one.gold[Dialect.SQLITE] for one in questions.questions] == [gold for _, gold in sets.ASKED]
    assert questions.levels == LEVELS.get(family, SPIDER)
    if family not in LEVELS:
        assert [one.difficulty for one in questions.questions] == list(sets.HARDNESS)
    assert set(questions.questions[0].gold) == (
        set(PUBLISHED) if family in {"mini_dev", "own"} else {Dialect.SQLITE}
    )
    assert questions.db_ids == (("my shop", "shop-1") if family == "spider_rough" else ("shop",))
    assert all(questions.database(db_id).sqlite_path.is_file() for db_id in questions.db_ids)
    assert questions.path.is_file()


@pytest.mark.parametrize(("named", "notes"), [("3.7", True), (sqlite3.sqlite_version, False)])
def test_a_set_names_the_sqlite_that_its_golds_are_for(tmp_path: Path, named: str, notes: bool) -> None:  # noqa: FBT001
    folder = sets.FAMILIES["own"](tmp_path / "set")
    manifest = folder / "benchmark.toml"
    manifest.write_text(f'sqlite = "{named}"\n{manifest.read_text()}')
    questions = load_set(str(folder))
    assert questions.sqlite == named
    note = f"Shop-Bench: its golds are for SQLite {named}, and {sqlite3.sqlite_version} runs them here"
    assert any(each.startswith(note) for each in questions.notes) is notes


def test_a_folder_with_several_splits_means_dev_and_names_the_others(tmp_path: Path) -> None:
    folder = sets.spider(tmp_path / "spider")
    dev = load_set(str(folder))
    assert (dev.name, len(dev.questions)) == ("spider", 4)
    assert dev.notes[0] == (f"{folder}: dev is read; others are {folder}/test, {folder}/train")
    train, test = load_set(f"{folder}/train"), load_set(f"{folder}/test")
    assert (train.name, [one.key for one in train.questions]) == ("spider_train", ["0", "1", "2"])
    assert sorted(train.files) == ["tables.json", "train_others.json", "train_spider.json"]
    assert (test.name, len(test.questions)) == ("spider_test", 3)
    assert load_set(str(folder / "train_others.json")).name == "spider_train_others"
    assert len({one.collection for one in (dev, train, test)}) == 3
    with pytest.raises(BadInput, match=r"no such file, folder or split; .* holds dev, test, train"):
        load_set(f"{folder}/validation")


def test_sets_made_of_spiders_are_recognised_and_find_its_databases(tmp_path: Path) -> None:
    for title, path in sets.robust(tmp_path).items():
        questions = load_set(str(path))
        entry = questions.published
        assert entry is not None
        assert entry.title == title
        assert any(f"{title}, published at {entry.page}" in note for note in questions.notes)
        paths = {db_id: questions.database(db_id).sqlite_path.resolve() for db_id in questions.db_ids}
        assert paths.pop("shop") == tmp_path / "spider" / "database" / "shop" / "shop.sqlite"
        assert list(paths) == (["new_shop"] if title == "Spider-DK" else [])
    assert load_set(str(tmp_path / "Spider-Syn" / "Spider-Syn")).questions[1].text == "1?"


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("variants/spider_dk.json", "Spider-DK"), ("SpiderDK/dev.json", "Spider-DK"),
        ("spider/dev_syn.json", "Spider-Syn"), ("spider_data/train_others.json", "Spider, train"),
        ("spider_realistic/dev.json", "Spider-Realistic"), ("x/dev-CG_APP.json", "Spider-CG (APP)"),
        ("CSpider/dev.json", None), ("multi_spider/dev.json", None), ("mine/dev.json", None),
        ("spider/questions.json", None),
    ],
)  # fmt: skip
def test_a_file_is_recognised_by_its_name_or_else_by_its_folder(
    tmp_path: Path, path: str, title: str | None
) -> None:
    found = load_set(str(sets.write(tmp_path / path, sets.records("query"))), questions_alone=True).published
    assert (found and found.title) == title
    of_another_layout = sets.write(tmp_path / path, sets.records())
    assert load_set(str(of_another_layout), questions_alone=True).published is None


def test_databases_of_a_split_are_its_own_and_named_as_their_folder(tmp_path: Path) -> None:
    folder = sets.spider(tmp_path / "spider")
    test = load_set(f"{folder}/test")
    assert test.db_ids == ("shop",)
    assert test.database("shop").sqlite_path == folder / "test_database" / "shop" / "shop.sqlite"
    assert load_set(str(folder)).database("shop").sqlite_path.parts[-3] == "database"


def test_files_of_gold_that_do_not_fit_are_left_and_said(tmp_path: Path) -> None:
    notes = load_set(str(sets.bird_train(tmp_path / "train"))).notes
    assert any("train_gold.sql" in note and "4 questions, this file 9 lines" in note for note in notes)
    assert load_set(str(sets.bird_dev(tmp_path / "dev_kit"))).notes == ()


def test_what_cannot_be_scored_is_said_by_count(tmp_path: Path) -> None:
    questions = load_set(str(sets.live(tmp_path / "live")))
    assert "use `bird-harness lab tasks`, or `serve --family`" in questions.notes[0]
    assert questions.notes[1] == (
        "live: 4 of 7 entries are scored; left out: 1 category Management, 1 gold of several statements,"
        " 1 no gold"
    )
    assert questions.by_key["shop_1"].evidence == "Most: the largest price"
    assert questions.by_key["shop_0"].evidence == ""


def test_a_gold_that_is_unreadable_is_extra_and_one_of_several_statements_is_said(tmp_path: Path) -> None:
    folder = sets.spider_kin(tmp_path / "kin")
    asked = sets.records("query")
    asked[0]["query"] = "SELECT nothing FROM nowhere"
    asked[1]["query"] = "SELECT 1; -- and\nSELECT ';'"
    asked[2]["query"] = "SELECT 'a;b'; -- c;"
    sets.write(folder / "Spider-DK.json", asked)
    questions = load_set(str(folder))
    assert questions.questions[0].difficulty == "extra"
    assert any("Spider-DK.json: question 1: gold of several statements" in note for note in questions.notes)
    assert any("2 that its measures cannot read count as extra" in note for note in questions.notes)


@pytest.mark.slow
def test_golds_that_sqlite_cannot_run_are_gold_errors_of_their_questions_alone(tmp_path: Path) -> None:
    folder = sets.spider_rough(tmp_path / "rough")
    asked = json.loads((folder / "dev.json").read_text(encoding="utf-8-sig"))
    asked[1]["query"] = "SELECT nothing FROM nowhere"
    asked[3]["query"] = "SELECT name FROM items WHERE id = 9"
    sets.write(folder / "dev.json", asked)
    sqlite_file(
        load_set(str(folder)).database("shop-1").sqlite_path,
        "INSERT INTO items VALUES (9, CAST(x'63e9' AS TEXT), 1)",
    )
    with Evaluator(str(folder), workers=1, cache=False) as evaluator:
        found = evaluator.score([Answer(str(place), one["query"]) for place, one in enumerate(asked)])
    assert [one.outcome for one in found] == [
        Outcome.MATCH, Outcome.GOLD_ERROR, Outcome.MATCH, Outcome.GOLD_ERROR,
    ]  # fmt: skip
    assert "Could not decode to UTF-8" in str(found[3].error)


def test_a_folder_named_as_a_set_of_ours_is_not_it(tmp_path: Path) -> None:
    questions = load_set(str(sets.bird_dev(tmp_path / "dev")))
    assert questions.name == "dev_own"
    assert questions.collection.startswith("dev_own_")


def test_names_that_differ_in_case_alone_have_different_places(tmp_path: Path) -> None:
    manifest = sets.MANIFEST.replace("Shop-Bench", "{}")
    upper, lower = (
        load_set(str(sets.own(tmp_path / name, manifest.format(name)))) for name in ("Bench", "bench")
    )
    places = [one.database("shop", profile) for one in (upper, lower) for profile in Profile]
    assert len({place.mysql_database for place in places}) == 4
    assert len({(place.postgresql_database, place.postgresql_schema) for place in places}) == 4


def test_long_names_have_places_that_servers_take(tmp_path: Path) -> None:
    manifest = sets.MANIFEST.replace("Shop-Bench", "b" * 60)
    folder = sets.own(tmp_path / "own", manifest)
    names = ["d" * 70 + end for end in "ab"]
    for name in names:
        sets.database(folder / "files" / f"{name}.db")
    asked = json.loads((folder / "first.json").read_text())
    sets.write(folder / "first.json", [one | {"base": name} for one, name in zip(asked, names, strict=True)])
    places = [load_set(str(folder)).database(name, Profile.FAITHFUL) for name in names]
    for found in (
        [place.mysql_database for place in places],
        [place.postgresql_schema for place in places],
    ):
        assert len(set(found)) == 2
        assert all(len(name) <= 63 for name in found)
    assert all(len(place.postgresql_database) <= 63 for place in places)
