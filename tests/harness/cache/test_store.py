"""The store keeps what it is given, gives back nothing else, and stays small."""

import shutil
import time
from pathlib import Path

import pytest

from dialects.errors import BadInput
from harness.report.listing import cache_lines, cleared_lines
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
from tests.harness.cache.stored import entries, key

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
