"""Variants from folders and from generators, and every way in which they cannot be had."""

import hashlib
import json
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from harness import twins
from harness.benchmark import QuestionSet
from harness.errors import BadInput
from harness.readers.question_sets import load_set
from harness.variants import Variants, find_variants

GENERATOR = """
import argparse, sqlite3, sys, time
from pathlib import Path

parser = argparse.ArgumentParser()
for option in ("--out", "--scale", "--seed", "--processes"):
    parser.add_argument(option, required=True)
parser.add_argument("--db", nargs="+")
arguments = parser.parse_args()
for db_id in arguments.db:
    {spoil}
    path = Path(arguments.out) / db_id / (db_id + ".sqlite")
    path.parent.mkdir(parents=True)
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE Place (id INTEGER PRIMARY KEY)")
    connection.execute("INSERT INTO Place VALUES (?)", [arguments.seed])
    connection.commit()
    connection.close()
"""


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
    path.parent.mkdir(parents=True)
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE Place (id INTEGER PRIMARY KEY)")
    connection.execute("INSERT INTO Place VALUES (?)", [number])
    connection.commit()
    connection.close()


def write_generator(home: Path, spoil: str = "pass") -> Path:
    path = home / "twins" / "make_twins.py"
    path.parent.mkdir(exist_ok=True)
    path.write_text(GENERATOR.format(spoil=spoil))
    return path


def found(spec: object, questions: QuestionSet, home: Path | None = None) -> tuple[Variants, list[str]]:
    said: list[str] = []
    return find_variants(str(spec), questions, home, said.append), said


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
    empty: ("has no variant in it", "<variant>/<database>"),
    bring_databases_up: ("holds databases and no variants", "<variant>/<database>"),
    lose_a_database: ("variant v2", "for zoo;", "needs every database"),
    lose_all_databases: ("2 variants (v1, v3)", "for bank, zoo;"),
    leave_a_pointer: ("variant v3", "no SQLite file: bank", "make it again"),
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


def test_a_number_makes_twins_once_and_only_what_is_missing(
    tmp_path: Path, first: QuestionSet, cache: Path
) -> None:
    write_generator(tmp_path)
    bank = replace(first, questions=tuple(item for item in first.questions if item.db_id == "bank"))
    assert found("1", bank, tmp_path)[1] == ["making variant seed-1: bank ..."]
    variants, said = found("2", first, tmp_path)
    assert said == ["making variant seed-1: zoo ...", "making variant seed-2: bank, zoo ..."]
    assert {name: place(variants, name, "zoo") for name in variants.names} == {"seed-1": 1, "seed-2": 2}
    assert variants.database("seed-2", "bank").sqlite_path.is_relative_to(cache)
    assert variants.fingerprint["scale"] == twins.SCALE
    assert found("2", first, tmp_path) == (variants, [])


def test_another_generator_or_input_makes_other_twins(tmp_path: Path, first: QuestionSet) -> None:
    script = write_generator(tmp_path)
    before = found("1", first, tmp_path)[0].fingerprint["generator"]
    (script.parent / "inputs").mkdir()
    (script.parent / "inputs" / "rules.json").write_text("{}")
    variants, said = found("1", first, tmp_path)
    assert said == ["making variant seed-1: bank, zoo ..."]
    assert variants.fingerprint["generator"] != before


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        ("if db_id == 'zoo': sys.exit('no rules\\nfor zoo')", "with seed 1: for zoo;"),
        ("if db_id == 'zoo': raise KeyError(db_id)", "with seed 1: KeyError: 'zoo';"),
        ("if db_id == 'zoo': sys.exit(3)", "with seed 1: exit code 3;"),
        ("if db_id == 'zoo': continue", "with seed 1: it made no database zoo;"),
    ],
    ids=["says_why", "raises", "says_nothing", "forgets"],
)
def test_a_generator_that_fails_half_way_leaves_no_half_twin(
    tmp_path: Path, first: QuestionSet, cache: Path, spoil: str, says: str
) -> None:
    script = write_generator(tmp_path, spoil)
    with pytest.raises(BadInput) as caught:
        found("2", first, tmp_path)
    assert says in str(caught.value)
    assert str(script) in str(caught.value)
    assert leftovers(cache) == []


def test_a_generator_that_hangs_is_stopped(
    tmp_path: Path, first: QuestionSet, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_generator(tmp_path, "if db_id == 'zoo': time.sleep(600)")
    monkeypatch.setattr(twins, "_SECONDS", 1)
    with pytest.raises(BadInput, match="with seed 1: it took longer than 1 s; name a folder"):
        found("2", first, tmp_path)
    assert leftovers(cache) == []


def test_what_a_killed_run_left_is_cleared_and_never_used(tmp_path: Path, first: QuestionSet) -> None:
    write_generator(tmp_path)
    made = found("1", first, tmp_path)[0].database("seed-1", "zoo").sqlite_path
    shutil.rmtree(made.parent)
    left = made.parents[1] / ".staging-x"
    write(left / "zoo" / "zoo.sqlite", 99)
    assert place(found("1", first, tmp_path)[0], "seed-1", "zoo") == 1
    assert not left.exists()


@pytest.mark.parametrize(
    ("spec", "collection", "says"),
    [
        ("", "bird", "--variants is empty; name a folder"),
        ("0", "bird", "--variants 0: has to be between 1 and 100"),
        ("-3", "bird", "--variants -3: has to be between 1 and 100"),
        ("1000", "bird", "--variants 1000: has to be between 1 and 100"),
        ("5", "bird_sample", "has no generator of variants; name a folder"),
        ("5", "bird_dev", "has no generator of variants; name a folder"),
        ("5", "bird", "make_twins.py; name a folder of variants, or point BIRD_HOME"),
        ("1.5", "bird", "1.5: no such folder of variants; name a folder, or a number"),
    ],
)
def test_a_number_that_cannot_be_had_is_refused(
    tmp_path: Path, first: QuestionSet, spec: str, collection: str, says: str
) -> None:
    with pytest.raises(BadInput) as caught:
        found(spec, replace(first, collection=collection), tmp_path)
    assert says in str(caught.value)


@pytest.mark.bird
def test_the_generator_of_the_data_makes_the_same_twins_every_time(
    bird_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything = load_set("mini_dev", bird_home)
    wanted = ("student_club", "superhero")
    questions = replace(
        everything, questions=tuple(item for item in everything.questions if item.db_id in wanted)
    )
    made, said = found("2", questions, bird_home)
    assert len(said) == 3, "two twins made, and superhero is the published file in both"
    assert made.telling == {"student_club": ("seed-1", "seed-2"), "superhero": ()}
    monkeypatch.setenv("BIRD_CACHE", str(tmp_path / "other"))
    again, _ = found("2", questions, bird_home)
    assert again.fingerprint == made.fingerprint
    assert again != made
