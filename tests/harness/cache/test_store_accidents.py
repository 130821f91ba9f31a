"""Whatever is wrong with the file or the disk: nothing false is handed out, and nobody is stopped."""

import multiprocessing
import os
import random
import resource
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from loaders.base.store import MOST_BYTES, Store, StoreStatistics
from tests.harness.cache.stored import entries, finish, key


def other_version(path: Path) -> None:
    Store(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")


def without_its_tables(path: Path) -> None:
    Store(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE contents")


def cut_off(path: Path) -> None:
    with Store(path) as store:
        store.put(entries(*range(100)))
    os.truncate(path, 5000)


REPLACED = {
    "other version": other_version,
    "no tables": without_its_tables,
    "cut off": cut_off,
}


@pytest.mark.parametrize("make", REPLACED.values(), ids=REPLACED)
def test_a_store_that_cannot_be_used_is_replaced(path: Path, make: object, said: list[str]) -> None:
    path.parent.mkdir()
    assert callable(make)
    make(path)
    with Store(path, say=said.append) as store:
        store.put(entries(1))
        assert store.get([key(1)]) == entries(1)
    assert len(said) == 1
    assert said[0].startswith(f"{path} was no store that can be used: ")


def test_an_empty_file_becomes_a_store(path: Path) -> None:
    path.parent.mkdir()
    path.touch()
    with Store(path, say=pytest.fail) as store:
        store.put(entries(1))
        assert store.get([key(1)]) == entries(1)


def test_damage_is_never_handed_out_and_gone_with_the_next_store(path: Path) -> None:
    some = entries(*range(300))
    with Store(path, say=pytest.fail) as store:
        store.put(some)
    intact = path.read_bytes()
    chance = random.Random(5)  # noqa: S311 - the same damage each time
    complaints = 0
    for _ in range(60):
        damaged = bytearray(intact)
        # Without its header it would be nobody's.
        at = chance.randrange(100, len(damaged))
        damaged[at : at + 600] = chance.randbytes(min(600, len(damaged) - at))
        path.write_bytes(damaged)
        said: list[str] = []
        with Store(path, say=said.append) as store:
            assert store.get(some).items() <= some.items()
            store.put(entries(1000))
            assert len(said) <= 2
            complaints += len(said)
        with Store(path, say=said.append) as store:
            store.put(entries(1001))
            assert store.get(entries(1001)).items() <= entries(1001).items()
        for file in path.parent.iterdir():
            file.unlink()
    assert complaints


@pytest.mark.parametrize("change", ["value = x'00'", "value = 'text'", "checksum = 'text'", "checksum = 0"])
def test_a_changed_entry_is_not_handed_out(path: Path, change: str) -> None:
    with Store(path, say=pytest.fail) as store:
        store.put(entries(1, 2))
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(f"UPDATE contents SET {change}")
        store._say = lambda _: None
        assert store.get([key(1), key(2)]) == {}


def test_a_folder_that_cannot_be_made_costs_only_the_store(tmp_path: Path, said: list[str]) -> None:
    (tmp_path / "file").touch()
    with Store(tmp_path / "file" / "store.sqlite", say=said.append) as store:
        for _ in range(3):
            store.put(entries(1))
            assert store.get([key(1)]) == {}
        assert store.figures() == StoreStatistics({}, 0, MOST_BYTES, None, None)
        assert store.clear() == 0
    assert len(said) == 1
    assert "this run does without what earlier ones have computed" in said[0]


def test_without_a_listener_it_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.warns(RuntimeWarning, match="does without"):
        Store(tmp_path / "file" / "store.sqlite").close()


def _on_a_full_disk(path: Path) -> None:
    said: list[str] = []
    with Store(path, say=said.append) as store:
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
        for number in range(10, 1000):
            store.put(entries(number))
        assert store.get([key(1)]) == entries(1)
        assert len(said) == 1, said
        assert "nothing more is kept" in said[0]
        assert store.get(map(key, range(10, 1000))).items() <= entries(*range(10, 1000)).items()


def test_a_full_disk_ends_keeping_and_not_reading(path: Path) -> None:
    with Store(path, say=pytest.fail) as store:
        store.put(entries(1))
    finish([multiprocessing.get_context("spawn").Process(target=_on_a_full_disk, args=(path,))])
    with Store(path, say=pytest.fail) as store:
        assert store.get([key(1)]) == entries(1)
