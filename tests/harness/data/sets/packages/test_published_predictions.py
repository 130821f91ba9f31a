"""Published prediction files: all of them arrive, checked, or none does."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from dialects.errors import BadInput
from harness.data import published_sets as manifest
from harness.data.sets.archives import Unreachable
from harness.data.sets.packages import PackageRequest, get_predictions
from tests.harness.conftest import Call
from tests.harness.data.sets.packages.fetched import NO_PAUSES, NOWHERE, quiet, shown
from tests.harness.data.sets.packages.server import Answer, serving

FILES = {f"out/{one}/predict_mini_dev_{one}_sqlite.json": f'{{"0": "{one}"}}'.encode() for one in ("a", "b")}
NAMES = [Path(path).name for path in FILES]

Describe = Callable[[str], None]


@pytest.fixture
def describe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Describe:
    """Have the manifest know the test's files at an address."""

    def write(url: str) -> None:
        lines = ["[mini_dev]", 'page = "p"', 'folder = "f"', "[mini_dev.files]"]
        lines += ["[mini_dev.predictions]", f"url = {json.dumps(url)}", "[mini_dev.predictions.files]"]
        lines += [
            f"{json.dumps(path)} = {json.dumps(hashlib.sha256(raw).hexdigest())}"
            for path, raw in FILES.items()
        ]
        lines += ["[dev]", 'page = "p"', 'folder = "g"', "[dev.files]"]
        path = tmp_path / "published.toml"
        path.write_text("\n".join(lines), encoding="utf-8")
        monkeypatch.setattr(manifest, "MANIFEST", path)
        manifest.sets_by_name.cache_clear()

    return write


def at(paths: dict[str, bytes]) -> dict[str, Answer]:
    return {f"/package.zip/{path}": Answer(raw) for path, raw in paths.items()}


def test_they_are_downloaded_and_checked_and_a_second_time_nothing_is_asked_for(
    tmp_path: Path, describe: Describe
) -> None:
    home = tmp_path / "data"
    with serving(Answer(status=404), paths=at(FILES)) as site:
        describe(site.url)
        lines = get_predictions(PackageRequest("mini_dev", home), quiet, NO_PAUSES)
    assert lines == [f"mini_dev: 2 published prediction files in {home / 'predictions'}"]
    assert {name: (home / "predictions" / name).read_bytes() for name in NAMES} == dict(
        zip(NAMES, FILES.values(), strict=True)
    )
    lines = get_predictions(PackageRequest("mini_dev", home), quiet, NO_PAUSES)
    assert lines == [
        f"mini_dev: 2 published prediction files in {home / 'predictions'}, 2 of them were there already"
    ]


def test_one_wrong_file_and_none_arrives_unless_it_is_allowed(tmp_path: Path, describe: Describe) -> None:
    home, wrong = tmp_path / "data", dict.fromkeys(FILES, b"{}")
    with serving(Answer(status=404), paths=at(FILES | {next(iter(FILES)): b"{}"})) as site:
        describe(site.url)
        with pytest.raises(BadInput, match=rf"{NAMES[0]}.* is not the published one.*--allow-unknown"):
            get_predictions(PackageRequest("mini_dev", home), quiet, NO_PAUSES)
    assert not list(home.glob("predictions/*.json"))
    with serving(Answer(status=404), paths=at(wrong)) as site:
        describe(site.url)
        lines = get_predictions(PackageRequest("mini_dev", home, allow_unknown=True), quiet, NO_PAUSES)
    assert lines[1:] == [f"  {name}: is not the published one, by its SHA-256" for name in NAMES]


def test_a_file_of_ones_own_in_the_way_is_named_and_kept(tmp_path: Path, describe: Describe) -> None:
    own = tmp_path / "data" / "predictions" / NAMES[1]
    own.parent.mkdir(parents=True)
    own.write_text("mine", encoding="utf-8")
    with serving(Answer(status=404), paths=at(FILES)) as site:
        describe(site.url)
        with pytest.raises(BadInput, match=NAMES[1]):
            get_predictions(PackageRequest("mini_dev", tmp_path / "data"), quiet, NO_PAUSES)
    assert own.read_text(encoding="utf-8") == "mine"
    assert shown(own.parent) == [NAMES[1]]


def test_a_folder_with_them_at_any_depth_is_enough(tmp_path: Path, describe: Describe) -> None:
    describe(NOWHERE)
    for path, raw in FILES.items():
        (tmp_path / "checkout" / path).parent.mkdir(parents=True)
        (tmp_path / "checkout" / path).write_bytes(raw)
    get_predictions(PackageRequest("mini_dev", tmp_path / "data", tmp_path / "checkout"), quiet, NO_PAUSES)
    assert shown(tmp_path / "data" / "predictions") == NAMES
    (tmp_path / "checkout" / next(iter(FILES))).unlink()
    with pytest.raises(BadInput, match=f"has no {NAMES[0]}"):
        get_predictions(
            PackageRequest("mini_dev", tmp_path / "other", tmp_path / "checkout"), quiet, NO_PAUSES
        )


def test_without_a_network_and_for_another_set_one_line_says_what_to_do(
    tmp_path: Path, describe: Describe, call: Call
) -> None:
    describe(NOWHERE)
    with pytest.raises(Unreachable, match="name their folder with --archive"):
        get_predictions(PackageRequest("mini_dev", tmp_path / "data"), quiet, NO_PAUSES)
    code, _, err = call("data", "--set", "dev", "--predictions")
    assert (code, err.count("\n")) == (2, 1)
    assert "no prediction files of it are published; those of mini_dev are" in err
    code, _, err = call("data", "--predictions", "--archive", str(tmp_path / "nowhere"))
    assert (code, err.count("\n")) == (2, 1)
    assert "is not a folder" in err


@pytest.mark.bird
def test_the_files_of_the_kit_are_the_published_ones(bird_home: Path, tmp_path: Path, call: Call) -> None:
    code, _, err = call(
        "data", "--predictions", "--archive", str(bird_home / "predictions"), "--out", str(tmp_path / "home")
    )
    assert code == 0, err
    assert len(list((tmp_path / "home" / "predictions").iterdir())) == 31
