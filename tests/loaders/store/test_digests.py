"""Digests are those of the bytes that are there, remembered or not."""

import hashlib
import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

import loaders.base.digests
from dialects.errors import BadInput
from loaders.base.digests import digests, sha256
from loaders.base.store import Store, default_path

LARGE = 5 * 2**20
LONG_AGO = 1_600_000_000


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIRD_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("BIRD_STORE")
    forget()


def forget() -> None:
    """What another process does not know."""
    loaders.base.digests._HERE.clear()


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was just written was written a minute ago; nobody can set a file's time of change."""
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + 60)


def write(path: Path, byte: bytes, size: int = LARGE) -> str:
    path.write_bytes(byte * size)
    return hashlib.sha256(byte * size).hexdigest()


def remembered() -> int:
    with Store(default_path(), say=pytest.fail) as store:
        return store.figures().entries


def forge() -> None:
    """Make every remembered digest another one, so that it shows when it is used."""
    with closing(sqlite3.connect(default_path())) as connection, connection:
        keys = [key for [key] in connection.execute("SELECT key FROM entries")]
    with Store(default_path(), say=pytest.fail) as store:
        store.put(dict.fromkeys(keys, bytes(32)))
    forget()


FORGED = "00" * 32


@pytest.mark.usefixtures("later")
def test_an_unchanged_file_is_not_read_again(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    expected = write(path, b"a")
    assert sha256(path) == expected
    assert sha256(path) == expected
    forge()
    assert sha256(path) == FORGED
    assert digests([path], trust=False) == {path: expected}
    forget()
    assert sha256(path) == expected, "what was read has taken the place of what was remembered"


@pytest.mark.usefixtures("later")
def test_a_changed_file_is_read_even_if_its_size_and_time_are_the_old_ones(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    first = write(path, b"a")
    os.utime(path, (LONG_AGO, LONG_AGO))
    assert sha256(path) == first
    second = write(path, b"b")
    os.utime(path, (LONG_AGO, LONG_AGO))
    assert sha256(path) == second


@pytest.mark.usefixtures("later")
def test_a_file_that_takes_anothers_place_is_read(tmp_path: Path) -> None:
    path, other = tmp_path / "a.sqlite", tmp_path / "b.sqlite"
    contents = write(path, b"a"), write(other, b"b")
    for file in (path, other):
        os.utime(file, (LONG_AGO, LONG_AGO))
    assert (sha256(path), sha256(other)) == contents
    other.replace(path)
    assert sha256(path) == contents[1]


def test_a_file_that_changed_moments_ago_is_not_remembered(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    expected = write(path, b"a")
    os.utime(path, (LONG_AGO, LONG_AGO))
    assert sha256(path) == expected
    assert remembered() == 0


@pytest.mark.usefixtures("later")
def test_a_file_that_was_read_is_not_read_again_by_the_same_process(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    expected = write(path, b"a", 1000)
    assert sha256(path) == expected
    [key] = loaders.base.digests._HERE
    loaders.base.digests._HERE[key] = FORGED
    assert sha256(path) == FORGED
    assert digests([path], trust=False) == {path: expected}
    assert sha256(path) == expected


@pytest.mark.usefixtures("later")
def test_a_small_file_is_no_business_of_the_store(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    expected = write(path, b"a", 1000)
    assert sha256(path) == expected
    assert not default_path().exists()


@pytest.mark.usefixtures("later")
def test_several_files_at_once(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in "abc"]
    expected = {
        path: write(path, path.name.encode(), size)
        for path, size in zip(paths, (9, LARGE, LARGE), strict=True)
    }
    for _ in range(3):
        assert digests(paths) == expected
    forget()
    assert digests(paths) == expected
    assert remembered() == 2
    assert digests([]) == {}


@pytest.mark.usefixtures("later")
def test_without_a_cache_folder_every_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "cache").touch()
    path = tmp_path / "a.sqlite"
    expected = write(path, b"a")
    assert sha256(path) == expected
    assert sha256(path) == expected


def test_a_file_that_cannot_be_read_is_bad_input(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.sqlite", tmp_path):
        with pytest.raises(BadInput, match=f"{path}: cannot be read"):
            sha256(path)
