"""A finished run in storage: the same files, and nothing that looks complete and is not."""

import json
import sys
from pathlib import Path

import fsspec  # type: ignore[import-untyped]
import pytest

from harness.runs.reader import SUMMARY, Run
from tests.harness.conftest import Call
from tests.harness.run_folders import right_on, write_run


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run.load(write_run(tmp_path / "run", right_on(range(3), "one")))


@pytest.mark.parametrize("protocol", ["file", "memory"])
def test_a_copy_is_the_run(call: Call, run: Run, tmp_path: Path, protocol: str) -> None:
    (run.folder / "more").mkdir()
    (run.folder / "more" / "file").write_text("below", encoding="utf-8")
    base = f"{protocol}://{tmp_path}/storage"
    for _ in range(2):  # the second time over the first
        code, said, errors = call("lab", "log", str(run.folder), "--to", f"{base}/")
        assert code == 0, errors
        assert said.startswith(f"{base}/")
    system, place = fsspec.url_to_fs(said.strip())
    files = {path.relative_to(run.folder).as_posix(): path.read_bytes() for path in run.folder.rglob("*.*")}
    assert {name: system.cat_file(f"{place}/{name}") for name in files} == files
    assert system.cat_file(f"{place}/more/file") == b"below"
    if protocol == "file":
        assert Run.load(place).results == run.results


def test_a_copy_that_breaks_off_has_no_summary(
    call: Call, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert call("lab", "log", str(run.folder), "--to", f"file://{tmp_path}/storage")[0] == 0

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError("the bucket is full")

    local = fsspec.get_filesystem_class("file")
    monkeypatch.setattr(local, "put_file", refuse)
    code, _, errors = call("lab", "log", str(run.folder), "--to", f"file://{tmp_path}/storage")
    assert (code, errors.count("\n")) == (2, 1)
    assert "the bucket is full" in errors
    assert list((tmp_path / "storage").rglob(SUMMARY)) == []


@pytest.mark.parametrize(
    ("to", "says"), [("nowhere://x", "Protocol not known: nowhere"), ("neptune", "choose from wandb, mlflow")]
)
def test_a_place_that_cannot_be_is_refused(call: Call, run: Run, to: str, says: str) -> None:
    code, _, errors = call("lab", "log", str(run.folder), "--to", to)
    assert (code, errors.count("\n")) == (2, 1)
    assert says in errors


def test_without_the_extra_one_line_says_what_to_install(
    call: Call, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    code, _, errors = call("lab", "log", str(run.folder), "--to", "s3://bucket/runs")
    assert (code, errors.count("\n")) == (2, 1)
    assert "pip install 'bird-harness[storage]'" in errors


@pytest.mark.parametrize("kind", ["symbolic", "hard", "folder"])
def test_a_link_is_not_followed_into_a_copy(call: Call, run: Run, tmp_path: Path, kind: str) -> None:
    secret = tmp_path / "secret" / "key.txt"
    secret.parent.mkdir()
    secret.write_text("a key")
    link = run.folder / "tables.md"
    if kind == "hard":
        link.hardlink_to(secret)
    else:
        link.symlink_to(secret if kind == "symbolic" else secret.parent)
    code, _, errors = call("lab", "log", str(run.folder), "--to", f"file://{tmp_path}/storage")
    assert (code, errors.count("\n")) == (2, 1)
    assert "tables.md: is a link" in errors
    assert not (tmp_path / "storage").exists() or not any((tmp_path / "storage").rglob("*.*"))


@pytest.mark.parametrize("run_id", ["../../other", "/other", "..", "a\0b"])
def test_an_id_that_is_a_path_is_refused(call: Call, run: Run, tmp_path: Path, run_id: str) -> None:
    manifest = json.loads((run.folder / "manifest.json").read_text()) | {"run_id": run_id}
    (run.folder / "manifest.json").write_text(json.dumps(manifest))
    for words in (
        ("lab", "log", str(run.folder), "--to", f"file://{tmp_path}/storage"),
        ("lab", "submit", str(run.folder)),
    ):
        code, _, errors = call(*words)
        assert (code, errors.count("\n")) == (2, 1)
        assert "is no name" in errors
