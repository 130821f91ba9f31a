"""Folders that the environment names and that cannot be used are one clear error, whatever asks for them."""

import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from dialects.errors import BadInput
from loaders.base import paths
from loaders.base.errors import said
from tests import forked

_CACHE, _STATE, _STORE = "BIRD_CACHE", "BIRD_STATE", "BIRD_STORE"
EVAL = ("eval", "--dialect", "sqlite", "--limit", "1", "--out", "out")
CASES = {
    (_STATE, "/dev/null"): [("status",), ("up", "--native"), ("down",)],
    (_STATE, "/dev/null/x"): [("status",), ("up", "--native"), ("down",)],
    (_STATE, "/proc/x"): [("up", "--native")],
    (_STATE, "~nobody-of-that-name/x"): [("status",)],
    (_CACHE, "/dev/null"): [("status",), ("up", "--native"), EVAL],
    (_CACHE, "~nobody-of-that-name"): [("status",), EVAL],
    (_STORE, "/dev/null"): [("cache",), EVAL],
    (_STORE, "/"): [("cache",), EVAL],
    (_STORE, "."): [("cache",), EVAL],
    (_STORE, "~nobody-of-that-name/x"): [("cache",), EVAL],
}


def run(
    folder: Path, args: Iterable[str], environment: Mapping[str, str], size: int | None = None
) -> tuple[int, str]:
    """A command in an empty folder, which may be told how large its files may grow, as by a full disk."""
    clean = forked.environment_without("BIRD_", "PYTEST_")
    places_of_its_own = {_CACHE: str(folder / "cache"), _STATE: str(folder / "state")}
    env = {**clean, **places_of_its_own, **environment}
    if size is None:
        done = forked.run("harness", *args, cwd=folder, env=env)
        return done.returncode, done.stderr
    done = subprocess.run(
        [sys.executable, "-m", "harness", *args],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
    )
    return done.returncode, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(("place", "commands"), CASES.items(), ids=[f"{a}={b}" for a, b in CASES])
def test_a_place_that_cannot_be_used_ends_a_command_with_one_line(
    tmp_path: Path, place: tuple[str, str], commands: list[tuple[str, ...]]
) -> None:
    variable, value = place
    for command in commands:
        code, complaint = run(tmp_path, command, {variable: value})
        assert code == 2, (command, complaint)
        assert len(complaint.strip().splitlines()) == 1, (command, complaint)
        assert variable in complaint, (command, complaint)


@pytest.mark.slow
@pytest.mark.parametrize("value", ["/dev/null/x", "/proc/x/y"])
def test_a_store_that_cannot_be_made_costs_only_the_store(tmp_path: Path, value: str) -> None:
    code, complaint = run(tmp_path, EVAL, {_STORE: value})
    assert code == 0, complaint
    assert "does not use cached results" in complaint


# 300 bytes are too few for a question file, 50,000 for a database.
@pytest.mark.slow
@pytest.mark.parametrize("size", [300, 50_000])
def test_a_cache_on_a_full_disk_is_one_line_without_a_list(tmp_path: Path, size: int) -> None:
    code, complaint = run(tmp_path, EVAL, {}, size)
    assert code == 2, complaint
    assert len(complaint.strip().splitlines()) == 1, complaint
    assert "set BIRD_CACHE to a writable folder" in complaint
    assert "[(" not in complaint
    assert "Errno" not in complaint


def test_a_folder_that_cannot_be_written_is_bad_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(_CACHE, str(tmp_path))
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(BadInput, match="cannot be written; set BIRD_CACHE"):
        paths.cache()


def test_what_the_system_says_is_said_without_numbers_and_paths(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    for name in ("a", "b"):
        (tmp_path / "source" / name).symlink_to("nowhere")
    with pytest.raises(shutil.Error) as copying:
        shutil.copytree(tmp_path / "source", tmp_path / "target")
    assert said(copying.value) == "No such file or directory"
    with pytest.raises(OSError, match="File exists") as making:
        (tmp_path / "source").mkdir()
    assert said(making.value) == "File exists"
    assert said(OSError("in its own words")) == "in its own words"
