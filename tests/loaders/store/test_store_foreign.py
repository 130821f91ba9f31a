"""What is not a store of this project is refused wherever `BIRD_STORE` points, and is the same afterwards."""

import contextlib
import os
import socket
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dialects.errors import BadInput
from harness.cli import app
from loaders.base.digests import sha256
from loaders.base.store import Store, default_path, discard
from tests.loaders.store.stored import entries, key


def database(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def being_written(path: Path) -> None:
    """Another program's database as a crash leaves it, with pages in its journal."""
    with closing(sqlite3.connect(path.with_name("source"), isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL").fetchall()
        connection.execute("CREATE TABLE precious (x)")
        for suffix in ("", "-wal"):
            path.with_name(path.name + suffix).write_bytes(path.with_name(f"source{suffix}").read_bytes())


def disguised(path: Path) -> None:
    """Another program's database that happens to have the same mark."""
    Store(path, say=pytest.fail).close()
    database(path, "CREATE TABLE precious (x)")


def without_its_header(path: Path) -> None:
    with Store(path, say=pytest.fail) as store:
        store.put(entries(*range(10)))
    path.write_bytes(bytes(100) + path.read_bytes()[100:])


FILES: dict[str, Callable[[Path], object]] = {
    "text": lambda path: path.write_text("no database" * 1000),
    "one byte": lambda path: path.write_bytes(b"\n"),
    "zeros": lambda path: path.write_bytes(bytes(8192)),
    "begins as a database": lambda path: path.write_bytes(b"SQLite format 3\0"),
    "database": lambda path: database(path, "CREATE TABLE entries (id INTEGER PRIMARY KEY)"),
    "database without tables": lambda path: database(path, "PRAGMA user_version = 1", "VACUUM"),
    "database with a mark": lambda path: database(path, "PRAGMA application_id = 1196444487"),
    "database in WAL mode": lambda path: database(path, "PRAGMA journal_mode = WAL", "CREATE TABLE t (x)"),
    "database after a crash": being_written,
    "database with our mark": disguised,
    "store without its header": without_its_header,
    "cut off before the mark": lambda path: path.write_bytes(b"SQLite format 3\0" + bytes(40)),
    "not readable as text": lambda path: path.write_bytes(bytes(range(256)) * 40),
}


def seen(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("make", FILES.values(), ids=FILES)
def test_a_file_that_is_no_store_is_left_as_it_is(tmp_path: Path, make: Callable[[Path], object]) -> None:
    path = tmp_path / "poetry"
    path.with_name("poetry.lock").write_text("what a lock of that name would empty")
    make(path)
    path.with_name(".poetry.bird-harness.lock").unlink(missing_ok=True)
    before = seen(tmp_path)
    for _ in range(2):
        with pytest.raises(BadInput) as refusal:
            Store(path, say=pytest.fail)
        assert str(refusal.value).startswith(f"{path}: ")
        assert "set BIRD_STORE to another file" in str(refusal.value)
        assert "\n" not in str(refusal.value)
    if make is not disguised:
        with pytest.raises(BadInput):
            discard(path)
    left = seen(tmp_path)
    left.pop(".poetry.bird-harness.lock", None)
    # SQLite had to be asked what tables there are.
    for suffix in ("-shm", "-wal"):
        if make is disguised and not left.get(path.name + suffix):
            left.pop(path.name + suffix, None)
    assert left == before


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listener, contextlib.chdir(tmp_path):
        listener.bind("socket")
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    kinds = {"folder": "a folder", "pipe": "a pipe", "socket": "a socket", "link": "a folder"}
    for name, kind in kinds.items():
        with pytest.raises(BadInput, match=f"{name}: {kind}, and not"):
            Store(tmp_path / name, say=pytest.fail)
    with pytest.raises(BadInput, match="/dev/null: a device, and not"):
        Store(Path("/dev/null"), say=pytest.fail)
    assert {path.name for path in tmp_path.iterdir()} == kinds.keys()


@pytest.mark.parametrize("suffix", ["-wal", "-shm", "-journal"])
def test_a_file_in_the_place_of_a_journal_is_left_as_it_is(tmp_path: Path, suffix: str) -> None:
    beside = tmp_path / f"store{suffix}"
    beside.write_text("somebody's notes")
    with pytest.raises(BadInput, match=f"store{suffix}: some other file, where a journal"):
        Store(tmp_path / "store", say=pytest.fail)
    assert seen(tmp_path) == {beside.name: b"somebody's notes"}


def test_journals_that_a_store_has_left_are_in_nobodys_way(path: Path) -> None:
    with Store(path, say=pytest.fail) as store:
        store.put(entries(1))
        left = path.with_name(f"{path.name}-wal").read_bytes()
    path.unlink()
    path.with_name(f"{path.name}-wal").write_bytes(left)
    with Store(path, say=pytest.fail) as store:
        assert store.get([key(1)]) == {}
        store.put(entries(2))
        assert store.get([key(2)]) == entries(2)


def test_a_link_to_a_store_stays_a_link(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "store")
    for _ in range(2):
        with Store(link, say=pytest.fail) as store:
            store.put(entries(1))
        assert link.is_symlink()
        assert (tmp_path / "store").stat().st_size > 1000


def test_a_store_is_there_as_a_whole_or_not_at_all(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.parent.mkdir()
    monkeypatch.setattr("loaders.base.store._SCHEMA", "CREATE TABLE entries (x); no SQL")
    said: list[str] = []
    Store(path, say=said.append).close()
    assert len(said) == 1
    assert "does not use cached results" in said[0]
    assert not [name for name in seen(path.parent) if not name.endswith(".lock")]


def test_a_file_that_took_the_stores_place_is_left_as_it_is(path: Path) -> None:
    said: list[str] = []
    with Store(path, say=said.append) as store:
        store.put(entries(*range(100)))
        # In place: the store has it open.
        path.with_name(f"{path.name}-wal").write_bytes(b"")
        path.write_bytes(b"somebody's notes" * 1000)
        store._connection = sqlite3.connect(path, check_same_thread=False)
        assert store.get([key(1)]) == {}
    assert path.read_bytes() == b"somebody's notes" * 1000
    assert len(said) == 1
    assert "removed" not in said[0]


def test_the_command_line_says_so_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("somebody's notes")
    monkeypatch.setenv("BIRD_STORE", str(path))
    assert default_path() == path
    for command in (["cache"], ["cache", "--clear"], ["eval", "--dialect", "sqlite", "--limit", "1"]):
        result = CliRunner().invoke(app, command)
        assert isinstance(result.exception, BadInput), (command, result.output)
        assert result.exception.exit_code == 2
    large = tmp_path / "large"
    large.write_bytes(bytes(5 * 2**20))
    with pytest.raises(BadInput, match=r"notes\.txt"):
        sha256(large)
    assert path.read_text() == "somebody's notes"
