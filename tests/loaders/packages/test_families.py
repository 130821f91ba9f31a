"""Benchmarks by name, read in their own layouts: brought by an archive or a folder, and found."""

import json
import shutil
import zipfile
from pathlib import Path

import pytest

from dialects.errors import BadInput
from harness.data.sets.loading import load_set
from harness.data.sets.packages import PackageRequest, get
from loaders.packages.manifest import published
from tests.harness import own_sets as sets
from tests.loaders.packages.fetched import NO_PAUSES, quiet


def zipped(folder: Path, path: Path, top: str) -> Path:
    """A folder as an archive, below a folder of its own, with what some systems add."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"__MACOSX/{top}/._dev.json", b"x")
        for each in sorted(folder.rglob("*")):
            if each.is_file():
                archive.write(each, f"{top}/{each.relative_to(folder)}")
    return path


def test_an_archive_is_taken_and_found_by_name_with_its_splits(tmp_path: Path) -> None:
    archive = zipped(sets.spider(tmp_path / "x"), tmp_path / "spider_data.zip", "spider_data")
    home = tmp_path / "data"
    with pytest.raises(BadInput, match=r"sha256 .* is not known.*--allow-unknown"):
        get(PackageRequest("spider", home, archive), quiet)
    assert not home.exists()
    get(PackageRequest("spider", home, archive, allow_unknown=True), quiet)
    assert [load_set(name, home).name for name in ("spider", "spider_train", "spider_test")] == [
        "spider", "spider_train", "spider_test",
    ]  # fmt: skip
    assert get(PackageRequest("spider", home), quiet)[0] == "spider is there"


def test_a_folder_is_taken(tmp_path: Path) -> None:
    home = tmp_path / "data"
    get(PackageRequest("kaggle_dbqa", home, sets.kaggle(tmp_path / "KaggleDBQA"), allow_unknown=True), quiet)
    assert len(load_set("kaggle_dbqa", home).questions) == 4
    get(PackageRequest("mini_dev_v2", home, sets.live(tmp_path / "live"), allow_unknown=True), quiet)
    found = load_set("mini_dev_v2", home)
    assert any("of" in note and "left out" in note for note in found.notes)


def test_train_has_its_databases_in_an_archive_of_their_own(tmp_path: Path) -> None:
    folder = sets.bird_train(tmp_path / "x")
    inner = folder / "train_databases.zip"
    databases = folder / "train_databases"
    zipped(databases / "train_databases", inner, "train_databases")
    shutil.rmtree(databases)
    archive = zipped(folder, tmp_path / "train.zip", "train")
    home = tmp_path / "data"
    get(PackageRequest("train", home, archive, allow_unknown=True), quiet)
    assert load_set("train", home).db_ids == ("shop",)

    filtered = tmp_path / "filtered"
    sets.write(filtered / "train-00000-of-00001.jsonl", sets.lines(sets.records(evidence="")[:3]))
    get(PackageRequest("train_filtered", home, filtered, allow_unknown=True), quiet)
    found = load_set("train_filtered", home)
    assert (found.name, len(found.questions)) == ("train_filtered", 3)
    assert found.database("shop").sqlite_path.is_file()


def test_the_dev_of_2025_reads_the_databases_of_dev(tmp_path: Path) -> None:
    home = tmp_path / "data"
    sets.bird_dev(home / "dev_20240627")
    asked = json.loads((home / "dev_20240627" / "dev.json").read_text(encoding="utf-8"))
    sets.write(tmp_path / "new" / "dev_20251106.json", asked)
    get(PackageRequest("dev_20251106", home, tmp_path / "new", allow_unknown=True), quiet)
    found = load_set("dev_20251106", home)
    assert (found.name, found.db_ids, len(found.questions)) == ("dev_20251106", ("shop",), 4)


@pytest.mark.parametrize("name", ["spider", "kaggle_dbqa", "mini_dev_v2"])
def test_what_no_program_may_fetch_says_where_it_is(name: str, tmp_path: Path) -> None:
    page = published()[name].page
    with pytest.raises(BadInput, match=r"no address for programs.*--archive") as refused:
        get(PackageRequest(name, tmp_path / "data"), quiet, NO_PAUSES)
    assert page in str(refused.value)
    with pytest.raises(BadInput, match=rf"--set {name}: is not at .*{name}; .*data.*{name}"):
        load_set(name, tmp_path)


def test_another_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    with pytest.raises(BadInput, match="no questions in a layout that is known; is it spider"):
        get(PackageRequest("spider", tmp_path / "data", tmp_path / "x"), quiet)
