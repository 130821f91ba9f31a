"""Questions that come from a hub: fetched by its own client, or brought by hand."""

import hashlib
import shutil
import sys
from pathlib import Path

import pytest

from dialects.enums import Dialect
from harness.data.sets.loading import load_set
from harness.data.sets.packages import PackageRequest, get
from loaders.packages.archives import Unreachable
from loaders.sample import sample_folder
from tests.loaders.packages.conftest import REVISION, Publish
from tests.loaders.packages.fetched import NO_PAUSES, NOWHERE, process, quiet, shown, unpacked
from tests.loaders.packages.server import Answer, serving


def hub(sample: Path) -> dict[str, Answer]:
    """The sample's questions as files of a data set on the hub."""
    found: dict[str, Answer] = {}
    for one in Dialect:
        raw = (sample / f"sample_{one}.json").read_bytes()
        etag = f'"{hashlib.sha256(raw).hexdigest()[:40]}"'
        address = f"/datasets/birds/questions/resolve/{REVISION}/data/mini_dev_{one}-0.json"
        found[address] = Answer(raw, etag, headers=(("X-Repo-Commit", REVISION),))
    return found


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


def test_without_the_hubs_client_the_message_names_the_extra(
    tmp_path: Path, publish: Publish, monkeypatch: pytest.MonkeyPatch
) -> None:
    unpacked(tmp_path / "data" / "MINIDEV", "mini_dev")
    publish(NOWHERE)
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(Unreachable, match=r"the extra \[hf\].*--archive FOLDER"):
        get(PackageRequest("mini_dev_2025", tmp_path / "data"), quiet, NO_PAUSES)


@pytest.mark.parametrize("spelled", ["mini_dev_{}.json", "mini_dev_{}-0.json"])
def test_questions_of_the_hub_may_be_brought_by_hand(tmp_path: Path, publish: Publish, spelled: str) -> None:
    unpacked(tmp_path / "data" / "MINIDEV", "mini_dev")
    publish(NOWHERE)
    (tmp_path / "mine").mkdir()
    for one in Dialect:
        shutil.copyfile(sample_folder() / f"sample_{one}.json", tmp_path / "mine" / spelled.format(one))
    get(PackageRequest("mini_dev_2025", tmp_path / "data", tmp_path / "mine", allow_unknown=True), quiet)
    assert load_set("mini_dev_2025", tmp_path / "data").questions
