"""After `get`, the set is found, whole and checked; or everything is as it was, and one message says why."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from dialects.errors import BadInput
from harness.data.published_sets import sets_by_name
from harness.data.set_manifest import PUBLISHED
from harness.data.sets.archives import Unreachable
from harness.data.sets.loader import load_set
from harness.data.sets.packages import PackageRequest, archive_path, get
from loaders.sample import sample_folder
from tests import forked
from tests.harness import own_sets as sets
from tests.harness.data.sets.packages.conftest import REVISION, Publish
from tests.harness.data.sets.packages.fetched import (
    NO_PAUSES,
    NOWHERE,
    contents,
    dev_zip,
    entry,
    process,
    quiet,
    shown,
    unpacked,
    zipped,
)
from tests.harness.data.sets.packages.server import Answer, serving


@pytest.mark.slow
@pytest.mark.parametrize(("name", "root"), [("mini_dev", "minidev"), ("dev", "dev_20240627")])
def test_a_published_package_becomes_a_set_that_is_found(
    tmp_path: Path, publish: Publish, packages: dict[str, bytes], name: str, root: str
) -> None:
    home = tmp_path / "data"
    with serving(Answer(packages[name], cut=20_000), Answer(packages[name])) as site:
        publish(site.url)
        lines = get(PackageRequest(name, home), quiet, NO_PAUSES)
    assert shown(home) == [root]
    assert site.ranges == [None, "bytes=20000-"]
    found = load_set(name, home)
    sample = load_set("sample")
    assert [question.text for question in found.questions] == [question.text for question in sample.questions]
    assert found.db_ids == sample.db_ids
    assert any("sha256 and size are those of the published" in line for line in lines)


def test_the_dump_beside_the_questions_comes_along(
    tmp_path: Path, publish: Publish, packages: dict[str, bytes]
) -> None:
    publish(NOWHERE)
    (tmp_path / "mine.zip").write_bytes(packages["mini_dev"])
    get(PackageRequest("mini_dev", tmp_path / "data", tmp_path / "mine.zip"), quiet)
    assert (tmp_path / "data" / "minidev" / "MINIDEV_mysql" / "BIRD_dev.sql").is_file()


def test_a_second_time_nothing_is_fetched_or_changed(
    tmp_path: Path, publish: Publish, packages: dict[str, bytes]
) -> None:
    home = tmp_path / "data"
    with serving(Answer(packages["mini_dev"])) as site:
        publish(site.url)
        get(PackageRequest("mini_dev", home), quiet, NO_PAUSES)
        before = {path: path.stat().st_mtime_ns for path in home.rglob("*")}
        [line, *_] = get(PackageRequest("mini_dev", home), quiet, NO_PAUSES)
    assert line == "mini_dev is there"
    assert {path: path.stat().st_mtime_ns for path in home.rglob("*")} == before
    assert len(site.asked) == 1


def test_an_archive_is_kept_for_another_place(
    tmp_path: Path, publish: Publish, packages: dict[str, bytes]
) -> None:
    with serving(Answer(packages["dev"])) as site:
        publish(site.url)
        get(PackageRequest("dev", tmp_path / "one"), quiet, NO_PAUSES)
        get(PackageRequest("dev", tmp_path / "two"), quiet, NO_PAUSES)
    assert len(site.asked) == 1
    assert contents(tmp_path / "one" / "dev_20240627") == contents(tmp_path / "two" / "dev_20240627")


def test_without_network_one_message_says_what_to_do(tmp_path: Path, publish: Publish) -> None:
    publish(NOWHERE)
    with pytest.raises(Unreachable) as raised:
        get(PackageRequest("mini_dev", tmp_path / "data"), quiet, NO_PAUSES)
    message = str(raised.value)
    kept = archive_path(sets_by_name()["mini_dev"].archive)  # type: ignore[arg-type]
    for part in (NOWHERE, "refused", "https://example.org/page", "--archive FILE", str(kept), "HTTPS_PROXY"):
        assert part in message
    assert "\n" not in message
    assert raised.value.exit_code == 2
    assert shown(tmp_path / "data") == []


def test_an_archive_put_by_hand_where_the_message_says_is_used(
    tmp_path: Path, publish: Publish, packages: dict[str, bytes]
) -> None:
    publish(NOWHERE)
    kept = archive_path(sets_by_name()["dev"].archive)  # type: ignore[arg-type]
    kept.parent.mkdir(parents=True)
    kept.write_bytes(packages["dev"])
    get(PackageRequest("dev", tmp_path / "data"), quiet, NO_PAUSES)
    assert load_set("dev", tmp_path / "data").questions


@pytest.mark.parametrize("known", ["0" * 64, None], ids=["another", "none"])
def test_an_unknown_digest_is_refused_by_name_and_taken_if_allowed(
    tmp_path: Path, publish: Publish, packages: dict[str, bytes], known: str | None
) -> None:
    home, found = tmp_path / "data", hashlib.sha256(packages["mini_dev"]).hexdigest()
    with serving(Answer(packages["mini_dev"])) as site:
        publish(site.url, sha256=known)
        with pytest.raises(BadInput, match=f"sha256 {found} is not known.*--allow-unknown"):
            get(PackageRequest("mini_dev", home), quiet, NO_PAUSES)
        assert shown(home) == []
        lines = get(PackageRequest("mini_dev", home, allow_unknown=True), quiet, NO_PAUSES)
    assert any(found in line and "accepted because of --allow-unknown" in line for line in lines)
    assert any("0 of 11 files have the digests of published ones" in line for line in lines)
    assert len(site.asked) == 1
    assert load_set("mini_dev", home).questions


def test_an_announced_size_that_is_not_the_known_one_is_not_fetched_unless_allowed(
    tmp_path: Path, publish: Publish, packages: dict[str, bytes]
) -> None:
    with serving(Answer(packages["dev"])) as site:
        publish(site.url, size=17, sha256=None)
        with pytest.raises(BadInput, match="the known package has 17"):
            get(PackageRequest("dev", tmp_path / "data"), quiet, NO_PAUSES)
        get(PackageRequest("dev", tmp_path / "data", allow_unknown=True), quiet, NO_PAUSES)
    assert load_set("dev", tmp_path / "data").questions


BAD = {
    "a hostile archive": (zipped((entry("../evil"), b"x")), "leads out"),
    "a web page": (b"<html></html>", "not a zip file"),
    "another package": (zipped(("readme.txt", b"x")), "no mini_dev_sqlite.json in it"),
    "no databases": (zipped(("MINIDEV/mini_dev_sqlite.json", b"[]")), "no dev_databases"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_set_leaves_everything_as_it_was(tmp_path: Path, publish: Publish, name: str) -> None:
    raw, fragment = BAD[name]
    publish(NOWHERE)
    (tmp_path / "mine.zip").write_bytes(raw)
    request = PackageRequest("mini_dev", tmp_path / "data", tmp_path / "mine.zip", allow_unknown=True)
    with pytest.raises(BadInput, match=fragment):
        get(request, quiet)
    assert shown(tmp_path / "data") == []
    assert not (tmp_path / "evil").exists()


def test_a_hostile_archive_inside_an_archive_is_refused(tmp_path: Path, publish: Publish) -> None:
    publish(NOWHERE)
    evil = zipped((entry("../../../../evil"), b"x"))
    (tmp_path / "mine.zip").write_bytes(zipped(("dev/dev.json", b"[]"), ("dev/dev_databases.zip", evil)))
    with pytest.raises(BadInput, match="leads out"):
        get(PackageRequest("dev", tmp_path / "data", tmp_path / "mine.zip", allow_unknown=True), quiet)
    assert shown(tmp_path / "data") == []
    assert not list(tmp_path.rglob("evil"))


@pytest.mark.slow
@pytest.mark.parametrize("top", ["", "dev/", "some/where/"])
def test_a_package_may_have_other_folders_around_it(tmp_path: Path, publish: Publish, top: str) -> None:
    publish(NOWHERE)
    (tmp_path / "mine.zip").write_bytes(dev_zip(sample_folder(), top))
    get(PackageRequest("dev", tmp_path / "data", tmp_path / "mine.zip", allow_unknown=True), quiet)
    assert shown(tmp_path / "data") == ["dev_20240627"]
    assert load_set("dev", tmp_path / "data").questions


@pytest.mark.slow
@pytest.mark.parametrize("inside", ["", "MINIDEV", "minidev/MINIDEV"])
def test_a_folder_is_copied_if_its_files_are_known(tmp_path: Path, publish: Publish, inside: str) -> None:
    source = unpacked(tmp_path / "mine" / inside, "mini_dev")
    (source / "notes.txt").write_text("private")
    digests = {path: hashlib.sha256(raw).hexdigest() for path, raw in contents(source).items()}
    publish(NOWHERE, digests)
    before = contents(tmp_path / "mine")
    lines = get(PackageRequest("mini_dev", tmp_path / "data", tmp_path / "mine"), quiet)
    assert any("11 of 11 files have the digests" in line for line in lines)
    assert "notes.txt" not in contents(tmp_path / "data" / "minidev" / "MINIDEV")
    assert load_set("mini_dev", tmp_path / "data").questions
    assert contents(tmp_path / "mine") == before


@pytest.mark.slow
def test_a_folder_with_unknown_files_is_refused_by_name_and_reported_if_allowed(
    tmp_path: Path, publish: Publish
) -> None:
    source = unpacked(tmp_path / "mine", "mini_dev")
    found = hashlib.sha256((source / "dev_tables.json").read_bytes()).hexdigest()
    publish(NOWHERE, {"mini_dev_sqlite.json": "0" * 64})
    with pytest.raises(BadInput, match=r"mini_dev_sqlite.json .*digest not the published one"):
        get(PackageRequest("mini_dev", tmp_path / "data", source), quiet)
    assert shown(tmp_path / "data") == []
    lines = get(PackageRequest("mini_dev", tmp_path / "data", source, allow_unknown=True), quiet)
    assert f"  dev_tables.json: sha256 {found} is not known" in lines


def test_a_folder_may_hold_the_archive(tmp_path: Path, publish: Publish, packages: dict[str, bytes]) -> None:
    publish(NOWHERE)
    (tmp_path / "downloads").mkdir()
    (tmp_path / "downloads" / "dev.zip").write_bytes(packages["dev"])
    get(PackageRequest("dev", tmp_path / "data", tmp_path / "downloads"), quiet)
    assert load_set("dev", tmp_path / "data").questions


@pytest.mark.slow
def test_what_is_there_is_not_replaced_by_something_else(
    tmp_path: Path, publish: Publish, packages: dict[str, bytes]
) -> None:
    publish(NOWHERE)
    home = tmp_path / "data"
    (tmp_path / "mine.zip").write_bytes(packages["dev"])
    (tmp_path / "other.zip").write_bytes(dev_zip(sample_folder(), "dev/"))
    for _ in range(2):
        get(PackageRequest("dev", home, tmp_path / "mine.zip"), quiet)
    before = contents(home)
    with pytest.raises(BadInput, match="there already"):
        get(PackageRequest("dev", home, tmp_path / "other.zip", allow_unknown=True), quiet)
    assert contents(home) == before


def test_half_a_set_that_somebody_made_is_in_the_way(tmp_path: Path, publish: Publish) -> None:
    publish(NOWHERE)
    home = tmp_path / "data"
    unpacked(home / "MINIDEV", "mini_dev")
    shutil.rmtree(home / "MINIDEV" / "dev_databases" / "city_library")
    with pytest.raises(BadInput, match=r"city_library.*in the way"):
        get(PackageRequest("mini_dev", home), quiet)


@pytest.mark.slow
def test_data_that_somebody_unpacked_is_found_and_said_to_be_unknown(
    tmp_path: Path, publish: Publish
) -> None:
    publish(NOWHERE)
    home = tmp_path / "data"
    unpacked(home / "MINIDEV", "mini_dev")
    before = contents(home)
    lines = get(PackageRequest("mini_dev", home), quiet)
    assert lines[0] == "mini_dev is there"
    assert "0 of 11" in lines[1]
    assert contents(home) == before


@pytest.mark.parametrize(
    ("request_", "fragment"),
    [
        (PackageRequest("sample"), "comes with bird-harness"),
        (PackageRequest("spider"), "no such set is published"),
        (PackageRequest("dev", Path("/dev/null/data")), "cannot be put there"),
    ],
    ids=["sample", "unknown", "a place that cannot be"],
)
def test_a_wrong_request_is_one_clear_error(
    publish: Publish, request_: PackageRequest, fragment: str
) -> None:
    publish(NOWHERE)
    with pytest.raises(BadInput, match=fragment):
        get(request_, quiet, NO_PAUSES)


def test_an_archive_that_is_not_there_is_one_clear_error(tmp_path: Path, publish: Publish) -> None:
    publish(NOWHERE)
    with pytest.raises(BadInput, match="no such file or folder"):
        get(PackageRequest("dev", tmp_path / "data", tmp_path / "none.zip"), quiet)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "stop"), [("dev.zip", 1), ("unpacking dev.zip", 1), ("unpacking dev_data", 1)]
)
def test_a_killed_process_leaves_nothing_half_and_the_next_one_succeeds(
    tmp_path: Path, publish: Publish, packages: dict[str, bytes], what: str, stop: int
) -> None:
    home = tmp_path / "data"
    with serving(Answer(packages["dev"])) as site:
        manifest = publish(site.url)
        with process(manifest, "dev", home, what, stop) as killed:
            assert killed.stdout
            assert killed.stdout.readline() == "there\n"
            killed.kill()
        assert set(shown(home)) <= {".bird-data"}
        get(PackageRequest("dev", home), quiet, NO_PAUSES)
    assert shown(home) == ["dev_20240627"]
    assert load_set("dev", home).questions


@pytest.mark.slow
def test_several_processes_at_once_fetch_it_once(
    tmp_path: Path, publish: Publish, packages: dict[str, bytes]
) -> None:
    home = tmp_path / "data"
    with serving(Answer(packages["dev"])) as site:
        manifest = publish(site.url)
        running = [process(manifest, "dev", home) for _ in range(3)]
        said = [one.communicate(timeout=120)[0] for one in running]
    assert [one.returncode for one in running] == [0, 0, 0]
    assert len(site.asked) == 1
    assert sum(lines.startswith("dev is there") for lines in said) == 2
    assert shown(home) == ["dev_20240627"]


def test_interrupting_it_leaves_no_staging_behind(
    tmp_path: Path, publish: Publish, packages: dict[str, bytes]
) -> None:
    publish(NOWHERE)
    (tmp_path / "mine.zip").write_bytes(packages["dev"])

    def interrupt(_what: str, _done: int, _total: int | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        get(PackageRequest("dev", tmp_path / "data", tmp_path / "mine.zip"), interrupt)
    assert shown(tmp_path / "data") == []


@pytest.mark.slow
@pytest.mark.thorough
def test_the_command_brings_a_set_that_eval_finds(tmp_path: Path, packages: dict[str, bytes]) -> None:
    (tmp_path / "mine.zip").write_bytes(packages["mini_dev"])
    options = ["--set", "mini_dev", "--archive", "mine.zip"]
    environment = {name: value for name, value in os.environ.items() if name != "BIRD_HOME"}

    def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
        return forked.run("harness", *arguments, cwd=tmp_path, env=environment)

    refused = run("data", *options)
    assert refused.returncode == 2
    assert refused.stderr.count("\n") == 1
    assert "is not known" in refused.stderr
    done = run("data", *options, "--allow-unknown")
    assert done.returncode == 0, done.stderr
    answers = {question.key: question.gold for question in load_set("mini_dev", tmp_path / "data").questions}
    lines = [{"question_id": int(key), "sql": next(iter(gold.values()))} for key, gold in answers.items()]
    (tmp_path / "golds.jsonl").write_text("\n".join(map(json.dumps, lines)))
    scored = run(
        "eval", "--set", "mini_dev", "--predictions", "golds.jsonl", "--predictor", "gold",
        "--dialect", "sqlite", "--driver", "direct", "--limit", "5",
    )  # fmt: skip
    assert scored.returncode == 0, scored.stdout + scored.stderr
    assert "100.00" in scored.stdout


def zipped_folder(folder: Path, path: Path, top: str) -> Path:
    """A folder as an archive, below a folder of its own, with what some systems add."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"__MACOSX/{top}/._dev.json", b"x")
        for each in sorted(folder.rglob("*")):
            if each.is_file():
                archive.write(each, f"{top}/{each.relative_to(folder)}")
    return path


@pytest.mark.slow
def test_an_archive_is_taken_and_found_by_name_with_its_splits(tmp_path: Path) -> None:
    archive = zipped_folder(sets.spider(tmp_path / "x"), tmp_path / "spider_data.zip", "spider_data")
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
    zipped_folder(databases / "train_databases", inner, "train_databases")
    shutil.rmtree(databases)
    archive = zipped_folder(folder, tmp_path / "train.zip", "train")
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


def test_a_set_made_of_spiders_is_put_beside_it_and_reads_its_databases(tmp_path: Path) -> None:
    sets.robust(tmp_path / "data")
    for name, folder in (
        ("spider_syn", "Spider-Syn"),
        ("spider_dk", "Spider-DK"),
        ("spider_cg_sub", "Spider-CG"),
    ):
        source = tmp_path / "data" / folder
        get(PackageRequest(name, tmp_path / "data", source, allow_unknown=True), quiet)
        shutil.rmtree(source)
        assert load_set(name, tmp_path / "data").database("shop").sqlite_path.is_file()
    published = load_set("spider_cg_app", tmp_path / "data").published
    assert published is not None
    assert published.title == "Spider-CG (APP)"


@pytest.mark.parametrize("name", ["spider", "kaggle_dbqa", "mini_dev_v2"])
def test_what_no_program_may_fetch_says_where_it_is(name: str, tmp_path: Path) -> None:
    page = sets_by_name()[name].page
    with pytest.raises(BadInput, match=r"no address for programs.*--archive") as refused:
        get(PackageRequest(name, tmp_path / "data"), quiet, NO_PAUSES)
    assert page in str(refused.value)
    with pytest.raises(BadInput, match=rf"--set {name}: is not at .*{name}; .*data.*{name}"):
        load_set(name, tmp_path)


def test_another_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    with pytest.raises(BadInput, match="no questions in a known layout; is it spider"):
        get(PackageRequest("spider", tmp_path / "data", tmp_path / "x"), quiet)


def hub(sample: Path) -> dict[str, Answer]:
    """The sample's questions as files of a data set on the hub."""
    found: dict[str, Answer] = {}
    for one in PUBLISHED:
        raw = (sample / f"sample_{one}.json").read_bytes()
        etag = f'"{hashlib.sha256(raw).hexdigest()[:40]}"'
        address = f"/datasets/birds/questions/resolve/{REVISION}/data/mini_dev_{one}-0.json"
        found[address] = Answer(raw, etag, headers=(("X-Repo-Commit", REVISION),))
    return found


@pytest.mark.slow
@pytest.mark.thorough
def test_questions_from_the_hub_join_the_databases_that_are_there(
    tmp_path: Path, publish: Publish, packages: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "data"
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
    with serving(Answer(packages["mini_dev"]), paths=hub(sample_folder())) as site:
        manifest = publish(site.url)
        monkeypatch.setenv("HF_ENDPOINT", site.url.removesuffix("/package.zip"))
        refused = process(manifest, "mini_dev_2025", home)
        refused.communicate(timeout=120)
        assert refused.returncode == 1
        assert shown(home) == ["minidev"]
        done = process(manifest, "mini_dev_2025", home, "", 0, "unknown")
        said, _ = done.communicate(timeout=120)
    assert done.returncode == 0, said
    assert "mini_dev_mysql.json: sha256" in said
    assert shown(home) == ["MINIDEV_2025", "minidev"]
    found = load_set("mini_dev_2025", home)
    assert len(found.questions) == len(load_set("sample").questions)
    assert found.databases == home / "minidev" / "MINIDEV" / "dev_databases"


@pytest.mark.slow
def test_the_hub_out_of_reach_is_one_message_that_says_what_to_do(
    tmp_path: Path, publish: Publish, monkeypatch: pytest.MonkeyPatch
) -> None:
    unpacked(tmp_path / "data" / "MINIDEV", "mini_dev")
    publish(NOWHERE)
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", NOWHERE.removesuffix("/package.zip"))
    monkeypatch.setattr("time.sleep", lambda _: None)
    with pytest.raises(Unreachable) as raised:
        get(PackageRequest("mini_dev_2025", tmp_path / "data"), quiet, NO_PAUSES)
    for part in ("data/mini_dev_sqlite-0.json", "into one folder", "--archive FOLDER"):
        assert part in str(raised.value)
    assert "\n" not in str(raised.value)
    assert shown(tmp_path / "data") == ["MINIDEV"]


@pytest.mark.slow
def test_without_the_hubs_client_the_message_names_the_extra(
    tmp_path: Path, publish: Publish, monkeypatch: pytest.MonkeyPatch
) -> None:
    unpacked(tmp_path / "data" / "MINIDEV", "mini_dev")
    publish(NOWHERE)
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(Unreachable, match=r"the extra \[hf\].*--archive FOLDER"):
        get(PackageRequest("mini_dev_2025", tmp_path / "data"), quiet, NO_PAUSES)


@pytest.mark.slow
@pytest.mark.parametrize("spelled", ["mini_dev_{}.json", "mini_dev_{}-0.json"])
def test_questions_of_the_hub_may_be_brought_by_hand(tmp_path: Path, publish: Publish, spelled: str) -> None:
    unpacked(tmp_path / "data" / "MINIDEV", "mini_dev")
    publish(NOWHERE)
    (tmp_path / "mine").mkdir()
    for one in PUBLISHED:
        shutil.copyfile(sample_folder() / f"sample_{one}.json", tmp_path / "mine" / spelled.format(one))
    get(PackageRequest("mini_dev_2025", tmp_path / "data", tmp_path / "mine", allow_unknown=True), quiet)
    assert load_set("mini_dev_2025", tmp_path / "data").questions
