"""Processes and threads that use one store at once."""

import multiprocessing
import os
import random
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from loaders.base.store import Store
from tests.harness.cache.stored import entries, finish, key


def _read_and_write(path: Path, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - no secret
    with Store(path, 1_500_000, say=pytest.fail) as store:
        for _ in range(60):
            store.put(entries(*(chance.randrange(3000) for _ in range(10))))
            wanted = [chance.randrange(3000) for _ in range(30)]
            assert store.get(map(key, wanted)).items() <= entries(*wanted).items()


def test_processes_read_write_and_evict_at_once(path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    finish([context.Process(target=_read_and_write, args=(path, seed)) for seed in range(3)])
    assert path.stat().st_size < 1_600_000
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        [entries_left] = connection.execute(
            "SELECT count(*) FROM entries JOIN contents USING (id)"
        ).fetchone()
    with Store(path, say=pytest.fail) as store:
        assert store.figures().entries == entries_left > 100


def test_processes_that_meet_a_store_of_another_version_agree_on_a_new_one(path: Path) -> None:
    Store(path, say=pytest.fail).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    context = multiprocessing.get_context("spawn")
    finish([context.Process(target=_in_silence, args=(path, number)) for number in range(3)])
    with Store(path, say=pytest.fail) as store:
        assert store.get(map(key, range(3))) == entries(*range(3))


def _in_silence(path: Path, number: int) -> None:
    with Store(path, say=lambda _: None) as store:
        store.put(entries(number))


def test_threads_share_a_store(store: Store) -> None:
    def work(number: int) -> bool:
        store.put(entries(number))
        return store.get([key(number)]) == entries(number)

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(work, range(200)))
    assert store.figures().entries == 200


def test_who_waits_too_long_to_write_goes_on_without(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loaders.base.store.BUSY_SECONDS", 0.05)
    with Store(path, say=pytest.fail) as store, closing(sqlite3.connect(path)) as other:
        store.put(entries(1))
        other.execute("BEGIN IMMEDIATE")
        store.put(entries(2))
        assert store.get([key(1), key(2)]) == entries(1)
        other.rollback()
        store.put(entries(2))
        assert store.get([key(1), key(2)]) == entries(1, 2)


def test_a_forked_process_leaves_its_parents_store_alone(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put(entries(1))
    with monkeypatch.context() as child:
        child.setattr(os, "getpid", lambda: 0)
        store.put(entries(2))
        assert store.get([key(1)]) == {}
        store.close()
    assert store.get([key(1), key(2)]) == entries(1)
