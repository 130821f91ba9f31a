"""A database file with changes that are still in a journal is refused, the same by whatever would read it."""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from dialects.errors import BadInput
from harness import Evaluator
from harness.engines.base import EngineLost
from harness.engines.sqlite.engine import connect
from tests.harness.conftest import Call
from tests.harness.own_sets import bird_dev
from tests.sqlite_files import sqlite_file

CHANGE = "UPDATE items SET name = 'changed' || hex(randomblob(3000))"


@pytest.fixture
def held() -> Iterator[ExitStack]:
    """Connections that are open until a test ends."""
    with ExitStack() as stack:
        yield stack


def wal(path: Path, held: ExitStack) -> None:
    connection = held.enter_context(closing(sqlite3.connect(path, isolation_level=None)))
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(CHANGE)


def hot_journal(path: Path, held: ExitStack) -> None:
    """A transaction that has written pages, as after a crash."""
    connection = held.enter_context(closing(sqlite3.connect(path, isolation_level=None)))
    connection.execute("PRAGMA cache_size = 1")
    connection.execute("BEGIN")
    connection.execute(CHANGE)
    connection.execute("INSERT INTO items SELECT NULL, hex(randomblob(3000)), 1 FROM items, items, items")


def behind_a_link(path: Path, held: ExitStack) -> None:
    """As the cache of a hub has files: the journal is next to the file that the link leads to."""
    real = path.with_name("real.sqlite")
    path.rename(real)
    path.symlink_to(real.name)
    wal(real, held)


def over(path: Path, held: ExitStack) -> None:
    """A journal that is kept, and over."""
    del held
    sqlite_file(path, "PRAGMA journal_mode = PERSIST", CHANGE)
    assert Path(f"{path}-journal").stat().st_size


UNWRITTEN: dict[str, Callable[[Path, ExitStack], None]] = {
    "shop.sqlite-wal": wal,
    "shop.sqlite-journal": hot_journal,
    "real.sqlite-wal": behind_a_link,
}


@pytest.mark.parametrize("journal", UNWRITTEN)
def test_unwritten_changes_are_refused_by_all(
    call: Call, tmp_path: Path, held: ExitStack, journal: str
) -> None:
    folder = bird_dev(tmp_path / "bench")
    path = folder / "dev_databases" / "shop" / "shop.sqlite"
    UNWRITTEN[journal](path, held)
    answers = tmp_path / "answers.jsonl"
    answers.write_text('{"question_id": 10, "sql": "SELECT 1"}\n')
    says = f"{journal} holds changes not yet in it; open it once with sqlite3 and close it"
    for words in (
        ("eval", "--set", str(folder), "--predictions", str(answers), "--dialect", "sqlite"),
        ("describe", "--set", str(folder)),
        ("load", "--set", str(folder), "--dialect", "duckdb"),
    ):
        code, _, errors = call(*words)
        assert (code, says in errors) == (2, True), (words, errors)
    for given in ({"set_name": str(folder)}, {"databases": path.parent.parent}):
        with pytest.raises(BadInput, match=journal), Evaluator(dialects=["sqlite"], **given):
            pass
    with pytest.raises(EngineLost, match=journal):
        connect(path, 0)


def test_a_journal_that_is_over_is_none(call: Call, tmp_path: Path, held: ExitStack) -> None:
    folder = bird_dev(tmp_path / "bench")
    path = folder / "dev_databases" / "shop" / "shop.sqlite"
    over(path, held)
    with closing(connect(path, 0)) as connection:
        assert connection.execute("SELECT substr(name, 1, 7) FROM items").fetchone() == ("changed",)
    code, _, errors = call("describe", "--set", str(folder))
    assert code == 0, errors
    # A WAL that another process has open, without a frame.
    Path(f"{path}-wal").write_bytes(os.urandom(32))
    assert call("describe", "--set", str(folder))[0] == 0
