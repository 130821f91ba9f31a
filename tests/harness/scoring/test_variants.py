"""Variants from folders and from generators, and every way in which they cannot be had."""

import hashlib
import json
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from dialects.errors import BadInput
from harness.data.questions import QuestionSet
from harness.data.sets.loader import load_set
from harness.labs.twins.twin import SCALE
from harness.scoring.variants import Variants, find_variants
from tests.sqlite_files import sqlite_file

pytestmark = [pytest.mark.slow, pytest.mark.thorough]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "cache"
    monkeypatch.setenv("BIRD_CACHE", str(path))
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of three variants of the two databases."""
    path = tmp_path / "variants"
    for number, name in enumerate(("v1", "v2", "v3")):
        for db_id in ("bank", "zoo"):
            write(path / name / db_id / f"{db_id}.sqlite", number)
    return path


def write(path: Path, number: int) -> None:
    sqlite_file(path, "CREATE TABLE Place (id INTEGER PRIMARY KEY)", Place=[[number]])


def found(spec: object, questions: QuestionSet) -> tuple[Variants, list[str]]:
    said: list[str] = []
    return find_variants(str(spec), questions, said.append), said


def place(variants: Variants, name: str, db_id: str) -> int:
    connection = sqlite3.connect(variants.database(name, db_id).sqlite_path)
    ((number,),) = connection.execute("SELECT id FROM Place").fetchall()
    connection.close()
    return int(number)


def leftovers(cache: Path) -> list[Path]:
    """Databases, and folders in which they are made."""
    return [path for path in cache.rglob("*") if path.suffix == ".sqlite" or path.name.startswith(".")]


@pytest.mark.parametrize("inner", ["", "dev_databases"])
def test_every_subfolder_is_a_variant(folder: Path, first: QuestionSet, tmp_path: Path, inner: str) -> None:
    if inner:
        (folder / "v2").rename(tmp_path / "moved")
        (folder / "v2").mkdir()
        (tmp_path / "moved").rename(folder / "v2" / inner)
    (folder / ".hidden").mkdir()
    (folder / "README").write_text("not a variant")
    variants, said = found(folder, first)
    assert variants.names == ("v1", "v2", "v3")
    assert [place(variants, name, "zoo") for name in variants.names] == [0, 1, 2]
    assert variants.telling == {"bank": ("v1", "v2", "v3"), "zoo": ("v1", "v2", "v3")}
    assert said == []


def test_copies_are_not_counted_and_it_is_said_where_nothing_varies(folder: Path, first: QuestionSet) -> None:
    for name in ("v1", "v2", "v3"):
        shutil.copy(first.database("bank").sqlite_path, folder / name / "bank" / "bank.sqlite")
    shutil.copy(folder / "v1" / "zoo" / "zoo.sqlite", folder / "v3" / "zoo" / "zoo.sqlite")
    variants, said = found(folder, first)
    assert variants.telling == {"bank": (), "zoo": ("v1", "v2")}
    assert variants.fingerprint["repeats"] == {"bank": ["v1", "v2", "v3"], "zoo": ["v3"]}
    assert said == ["bank: every variant is a copy of the database itself, so TS is EX there"]


def test_the_fingerprint_is_json_with_size_and_digest_of_every_file(folder: Path, first: QuestionSet) -> None:
    fingerprint = json.loads(json.dumps(found(folder, first)[0].fingerprint))
    content = (folder / "v2" / "zoo" / "zoo.sqlite").read_bytes()
    assert fingerprint["folder"] == "variants"
    assert fingerprint["variants"]["v2"]["zoo"] == {
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def replace_by_file(path: Path) -> None:
    shutil.rmtree(path)
    path.write_text("x")


def empty(path: Path) -> None:
    shutil.rmtree(path)
    path.mkdir()


def bring_databases_up(path: Path) -> None:
    (path / "v1" / "zoo").rename(path / "zoo")


def lose_a_database(path: Path) -> None:
    (path / "v2" / "zoo" / "zoo.sqlite").unlink()


def lose_all_databases(path: Path) -> None:
    for name in ("v1", "v3"):
        empty(path / name)


def leave_a_pointer(path: Path) -> None:
    (path / "v3" / "bank" / "bank.sqlite").write_text("version https://git-lfs")


Spoil = Callable[[Path], None]

BAD_FOLDERS: dict[Spoil, tuple[str, ...]] = {
    shutil.rmtree: ("variants: no such folder", "or a number"),
    replace_by_file: ("variants: no such folder", "or a number"),
    empty: ("contains no variant", "<variant>/<database>"),
    bring_databases_up: ("variant bank", "for bank;", "needs every database"),
    lose_a_database: ("variant v2", "for zoo;", "needs every database"),
    lose_all_databases: ("2 variants (v1, v3)", "for bank, zoo;"),
    leave_a_pointer: ("variant v3", "not a SQLite file: bank", "create it again"),
}


@pytest.mark.parametrize(
    ("spoil", "says"), BAD_FOLDERS.items(), ids=[spoil.__name__ for spoil in BAD_FOLDERS]
)
def test_a_folder_that_cannot_be_used_is_refused(
    folder: Path, first: QuestionSet, spoil: Spoil, says: tuple[str, ...]
) -> None:
    spoil(folder)
    with pytest.raises(BadInput) as caught:
        found(folder, first)
    message = str(caught.value)
    assert [part for part in (*says, str(folder)) if part not in message] == []
    assert "\n" not in message


def fill(questions: QuestionSet) -> None:
    """Give the databases rows, of which twins have others."""
    for db_id in questions.db_ids:
        sqlite_file(questions.database(db_id).sqlite_path, Place=[(id_,) for id_ in range(500)])


def test_a_number_makes_twins_once_and_only_what_is_missing(first: QuestionSet, cache: Path) -> None:
    fill(first)
    variants, said = found("1", first)
    assert said == ["making variant seed-1: bank, zoo ..."]
    shutil.rmtree(variants.database("seed-1", "zoo").sqlite_path.parent)
    variants, said = found("2", first)
    assert said == ["making variant seed-1: zoo ...", "making variant seed-2: bank, zoo ..."]
    assert variants.telling == {"bank": ("seed-1", "seed-2"), "zoo": ("seed-1", "seed-2")}
    assert variants.database("seed-2", "bank").sqlite_path.is_relative_to(cache)
    assert variants.fingerprint["scale"] == SCALE
    assert found("2", first) == (variants, [])


def test_other_rows_or_golds_make_other_twins(first: QuestionSet) -> None:
    fill(first)
    before = found("1", first)[0].fingerprint
    fewer = replace(first, questions=first.questions[:2])
    assert found("1", fewer)[1] == ["making variant seed-1: zoo ..."]
    sqlite_file(first.database("bank").sqlite_path, "DELETE FROM Place WHERE id > 400")
    variants, said = found("1", first)
    assert said == ["making variant seed-1: bank, zoo ..."]
    assert variants.fingerprint["inputs"] != before["inputs"]
    assert variants.fingerprint["generator"] == before["generator"]


def test_nothing_that_is_found_among_the_data_is_executed(
    tmp_path: Path, first: QuestionSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(first)
    script = f"import pathlib; pathlib.Path({str(tmp_path / 'executed')!r}).touch()\n"
    for place in ("twins/make_twins.py", "minidev/twins/make_twins.py", "twins.py", "sqlglot.py"):
        path = tmp_path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(script)
    monkeypatch.setenv("BIRD_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert found("1", first)[0].telling["zoo"] == ("seed-1",)
    assert not (tmp_path / "executed").exists()


def test_a_database_that_no_twin_is_made_of_is_named(first: QuestionSet, cache: Path) -> None:
    sqlite_file(first.database("zoo").sqlite_path, "CREATE VIRTUAL TABLE notes USING fts5(body)")
    with pytest.raises(BadInput, match=r"seed 1, zoo: .*notes is virtual.*; name a folder of variants"):
        found("2", first)
    assert [path for path in leftovers(cache) if path.stem != "bank"] == []


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("", "--variants is empty; name a folder"),
        ("0", "--variants 0: must be between 1 and 100"),
        ("-3", "--variants -3: must be between 1 and 100"),
        ("1000", "--variants 1000: must be between 1 and 100"),
        ("1.5", "1.5: no such folder of variants; name a folder, or a number"),
    ],
)
def test_a_number_that_cannot_be_had_is_refused(first: QuestionSet, spec: str, says: str) -> None:
    with pytest.raises(BadInput) as caught:
        found(spec, first)
    assert says in str(caught.value)


def test_the_sample_has_variants_that_differ_and_are_the_same_every_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything = load_set("sample")
    wanted = everything.db_ids[0]
    questions = replace(
        everything, questions=tuple(item for item in everything.questions if item.db_id == wanted)
    )
    made, said = found("2", questions)
    assert len(said) == 2
    assert made.telling == {wanted: ("seed-1", "seed-2")}
    monkeypatch.setenv("BIRD_CACHE", str(tmp_path / "other"))
    again, _ = found("2", questions)
    assert again.fingerprint == made.fingerprint
    assert again != made
