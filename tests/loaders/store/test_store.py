"""The store keeps what it is given, gives back nothing else, and stays small, whoever uses it at once.

Whatever is wrong with the file or the disk: nothing false is handed out, and nobody is stopped.
"""

import multiprocessing
import os
import random
import resource
import shutil
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from dialects.errors import BadInput
from harness.report.run_list import cache_lines, cleared_lines
from loaders.base import paths
from loaders.base.store import (
    MOST_BYTES,
    EntryKind,
    KindShare,
    Store,
    StoreStatistics,
    allowed_bytes,
    default_path,
)
from tests.loaders.store.stored import entries, finish, key
from tests.sqlite_files import sqlite_file

DAY = 24 * 3600.0


def test_what_was_put_in_comes_out_now_and_later(path: Path, store: Store) -> None:
    store.put(entries(1, 2))
    store.put({key(3): b""}, EntryKind.JUDGEMENT)
    store.put({})
    assert store.get([key(1), key(3), key(4)]) == {**entries(1), key(3): b""}
    assert store.get([]) == {}
    store.close()
    with Store(path, say=pytest.fail) as later:
        assert later.get(map(key, range(10))) == {**entries(1, 2), key(3): b""}


def test_a_value_can_be_replaced(store: Store) -> None:
    store.put({key(1): b"first", key(2): b"second"})
    store.put({key(1): b"third"}, EntryKind.JUDGEMENT)
    assert store.get([key(1), key(2)]) == {key(1): b"third", key(2): b"second"}
    assert store.figures().kinds == {
        EntryKind.EXECUTION: KindShare(1, 6),
        EntryKind.JUDGEMENT: KindShare(1, 5),
    }


def test_thousands_of_keys_at_once(store: Store) -> None:
    some = {key(number): b"%d" % number for number in range(2345)}
    store.put(some)
    assert store.get([key(number) for number in range(5000)]) == some


def test_keys_that_begin_alike_are_not_mixed_up(store: Store) -> None:
    one, other = b"the same" + b"1" * 24, b"the same" + b"2" * 24
    store.put({one: b"1"})
    assert store.get([other]) == {}
    assert store.get([one, other]) in ({one: b"1"}, {})
    store.put({other: b"2"})
    assert store.get([one]) == {}
    assert store.get([other]) == {other: b"2"}


def test_clearing_gives_the_room_back(path: Path, store: Store) -> None:
    store.put(entries(*range(500)))
    before = store.figures()
    assert before.entries == 500
    assert before.file_bytes > 500_000
    assert store.clear() == 500
    after = store.figures()
    assert (after.entries, after.kinds, after.oldest, after.newest) == (0, {}, None, None)
    assert after.file_bytes < 50_000
    assert after.file_bytes == path.stat().st_size
    store.put(entries(7))
    assert store.get([key(7)]) == entries(7)


@pytest.mark.slow
def test_what_was_not_used_for_the_longest_time_goes_first(path: Path, clock: list[float]) -> None:
    with Store(path, 2_000_000, say=pytest.fail) as store:
        for number in range(1500):
            store.put(entries(number))
            clock[0] += 300
            if number == 1000:
                assert store.get([key(3)]) == entries(3)
            assert path.stat().st_size <= 2_000_000
        left = store.get(map(key, range(1500)))
        first = 1500 - (len(left) - 1)
        assert left.keys() == {key(3), *map(key, range(first, 1500))}
        assert 4 < first < 1000
        assert store.figures().entries == len(left)


def test_a_store_that_is_allowed_less_shrinks(path: Path, clock: list[float]) -> None:
    with Store(path, say=pytest.fail) as store:
        store.put(entries(*range(3000)))
    clock[0] += 1
    with Store(path, 1_000_000, say=pytest.fail) as store:
        store.put(entries(5000))
        assert store.get([key(5000)]) == entries(5000)
    assert path.stat().st_size <= 1_000_000


def test_a_value_larger_than_the_store_leaves_it_empty_and_usable(path: Path) -> None:
    with Store(path, 1_000_000, say=pytest.fail) as store:
        store.put({key(1): bytes(2_000_000)})
        store.put(entries(2))
        assert store.get([key(1), key(2)]) == entries(2)


def test_reading_notes_the_use_of_an_entry_once_a_day(store: Store, clock: list[float]) -> None:
    store.put(entries(1))
    put = clock[0]
    for hours, newest in ((1, put), (20, put), (30, put + 30 * 3600), (40, put + 30 * 3600)):
        clock[0] = put + hours * 3600
        assert store.get([key(1)]) == entries(1)
        assert store.figures().newest == newest


def test_a_closed_store_is_empty(store: Store) -> None:
    store.put(entries(1))
    store.close()
    store.put(entries(2))
    assert store.get([key(1), key(2)]) == {}


def test_a_file_that_is_removed_meanwhile_harms_nobody(path: Path, store: Store) -> None:
    store.put(entries(1))
    shutil.rmtree(path.parent)
    store._say = lambda _: None
    store.put(entries(2))
    assert store.get([key(1), key(2)]).items() <= entries(1, 2).items()
    with Store(path, say=pytest.fail) as another:
        another.put(entries(3))
        assert another.get([key(3)]) == entries(3)


def test_the_store_is_in_the_cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BIRD_STORE")
    monkeypatch.setenv("BIRD_CACHE", str(tmp_path / "not" / "made"))
    assert default_path() == tmp_path / "not" / "made" / "store.sqlite"
    assert not (tmp_path / "not").exists()
    assert paths.cache() == tmp_path / "not" / "made"
    assert paths.cache().is_dir()
    monkeypatch.setenv("BIRD_STORE", str(tmp_path / "elsewhere"))
    assert default_path() == tmp_path / "elsewhere"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", MOST_BYTES), ("1000000", 1_000_000), ("500MB", 500_000_000), ("1.5 gb", 1_500_000_000),
        ("4GiB", 4 * 2**30), ("2048k", 2_048_000), ("1T", 10**12), (" 10M ", 10_000_000),
    ],
)  # fmt: skip
def test_the_size_is_read_from_the_environment(
    text: str, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BIRD_STORE_BYTES", text)
    assert allowed_bytes() == expected


@pytest.mark.parametrize("text", ["0", "-1", "999999", "1 kB", "much", "1,5GB", "1e9", "MB", "1XB", "٣GB"])
def test_what_is_no_size_is_bad_input(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIRD_STORE_BYTES", text)
    with pytest.raises(BadInput, match=f"BIRD_STORE_BYTES={text}.*not a size.*write one like 500MB"):
        allowed_bytes()


def test_the_lines_of_the_command() -> None:
    at = Path("cache") / "store.sqlite"
    empty = StoreStatistics({}, 16_384, 2_000_000_000, None, None)
    assert cache_lines(empty, at) == [f"{at}: 16.4 kB of at most 2.0 GB", "  nothing is kept"]
    noon = time.mktime((2026, 1, 2, 12, 0, 0, 0, 0, -1))
    kinds = {EntryKind.JUDGEMENT: KindShare(1234567, 987), EntryKind.EXECUTION: KindShare(2, 2_500_000)}
    assert cache_lines(StoreStatistics(kinds, 3_000_000, 5_000_000, noon, noon + 3 * DAY), at) == [
        f"{at}: 3.0 MB of at most 5.0 MB",
        "          2 executed texts, 2.5 MB",
        "  1,234,567 judgements, 987 bytes",
        "  last used between 2026-01-02 and 2026-01-05",
    ]
    assert cleared_lines(1, at) == [f"{at}: 1 entry dropped"]
    assert cleared_lines(1234, at) == [f"{at}: 1,234 entries dropped"]


@pytest.mark.parametrize("damage", ["PRAGMA user_version = 0", "DROP TABLE contents", "cut off"])
def test_a_store_that_cannot_be_used_is_replaced(path: Path, damage: str, said: list[str]) -> None:
    with Store(path, say=pytest.fail) as store:
        store.put(entries(*range(100)))
    if damage == "cut off":
        os.truncate(path, 5000)
    else:
        sqlite_file(path, damage)
    with Store(path, say=said.append) as store:
        store.put(entries(1))
        assert store.get([key(1)]) == entries(1)
    assert len(said) == 1
    assert said[0].startswith(f"{path} was not a usable store: ")


@pytest.mark.parametrize("tables", ["", "; CREATE TABLE more (a)", "; ALTER TABLE entries ADD COLUMN more"])
def test_a_store_of_a_later_version_is_kept(path: Path, tables: str, said: list[str]) -> None:
    for again in ("", "-2", "-3"):
        said.clear()
        with Store(path, say=pytest.fail) as store:
            store.put(entries(*range(100)))
        sqlite_file(path, f"PRAGMA user_version = 99{tables}")
        with Store(path, say=said.append) as store:
            assert store.get([key(1)]) == {}
            store.put(entries(1))
            assert store.get([key(1)]) == entries(1)
        aside = path.with_name(f"{path.name}.version-99{again}")
        assert said == [
            f"{path}: it is of version 99, not 1; it was kept as {aside}, and an empty one is used"
        ]
        with closing(sqlite3.connect(aside)) as connection:
            assert connection.execute("SELECT count(*) FROM contents").fetchone() == (100,)


def test_an_empty_file_becomes_a_store(path: Path) -> None:
    path.parent.mkdir()
    path.touch()
    with Store(path, say=pytest.fail) as store:
        store.put(entries(1))
        assert store.get([key(1)]) == entries(1)


@pytest.mark.slow
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
        sqlite_file(path, f"UPDATE contents SET {change}")
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
    assert "this run does not use cached results" in said[0]


def test_without_a_listener_it_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.warns(RuntimeWarning, match="does not use cached results"):
        Store(tmp_path / "file" / "store.sqlite").close()


def _on_a_full_disk(path: Path) -> None:
    said: list[str] = []
    with Store(path, say=said.append) as store:
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
        for number in range(10, 1000):
            store.put(entries(number))
        assert store.get([key(1)]) == entries(1)
        assert len(said) == 1, said
        assert "nothing more is stored" in said[0]
        assert store.get(map(key, range(10, 1000))).items() <= entries(*range(10, 1000)).items()


@pytest.mark.slow
def test_a_full_disk_ends_keeping_and_not_reading(path: Path) -> None:
    with Store(path, say=pytest.fail) as store:
        store.put(entries(1))
    finish([multiprocessing.get_context("spawn").Process(target=_on_a_full_disk, args=(path,))])
    with Store(path, say=pytest.fail) as store:
        assert store.get([key(1)]) == entries(1)


def _read_and_write(path: Path, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - no secret
    with Store(path, 1_500_000, say=pytest.fail) as store:
        for _ in range(60):
            store.put(entries(*(chance.randrange(3000) for _ in range(10))))
            wanted = [chance.randrange(3000) for _ in range(30)]
            assert store.get(map(key, wanted)).items() <= entries(*wanted).items()


@pytest.mark.slow
@pytest.mark.thorough
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


@pytest.mark.slow
@pytest.mark.thorough
def test_processes_that_meet_a_store_of_another_version_agree_on_a_new_one(path: Path) -> None:
    Store(path, say=pytest.fail).close()
    sqlite_file(path, "PRAGMA user_version = 99")
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
