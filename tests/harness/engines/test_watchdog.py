"""What the watchdog stops, on SQLite, which has no time limit of its own."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from harness.engines.base import Session, SqlTimeout
from harness.engines.execution import WATCHDOG, Watchdog
from harness.engines.sqlite.engine import SQLiteEngine
from loaders.namespace import Database

ENDLESS = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT MAX(n) FROM t"


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    path = tmp_path / "empty.sqlite"
    path.touch()
    with SQLiteEngine().session(Database("bird_watchdog", "empty", path), 30) as opened:
        yield opened


def test_what_takes_too_long_is_stopped_and_nothing_after_it(session: Session) -> None:
    for _ in range(2):
        stopped = pytest.raises(SqlTimeout, match=r"\Astopped after 30 s, the time limit\Z")
        with stopped, WATCHDOG.guard(session, 0.05) as guarded:
            list(session.batches(ENDLESS))
        assert guarded.fired
        with WATCHDOG.guard(session, 30) as guarded:
            assert list(session.batches("SELECT 1")) == [[(1,)]]
        assert not guarded.fired


def test_a_shorter_limit_after_a_longer_one_is_kept(session: Session) -> None:
    with WATCHDOG.guard(session, 1000):
        pass
    with pytest.raises(SqlTimeout), WATCHDOG.guard(session, 0.05):
        list(session.batches(ENDLESS))


def test_a_shorter_limit_beside_a_longer_one_is_kept(session: Session, tmp_path: Path) -> None:
    database = Database("bird_watchdog", "empty", tmp_path / "empty.sqlite")
    with SQLiteEngine().session(database, 30) as other, WATCHDOG.guard(other, 1000) as unhurried:
        with pytest.raises(SqlTimeout), WATCHDOG.guard(session, 0.05):
            list(session.batches(ENDLESS))
        assert list(other.batches("SELECT 1")) == [[(1,)]]
        assert not unhurried.fired


def test_nothing_is_stopped_once_its_guard_has_ended(session: Session) -> None:
    with WATCHDOG.guard(session, 0.01) as guarded:
        pass
    time.sleep(0.4)
    assert list(session.batches("SELECT 1")) == [[(1,)]]
    assert not guarded.fired


class _Deaf:
    """A session that can be stopped by nothing: notes what was tried."""

    def __init__(self) -> None:
        self.tried: list[str] = []

    def cancel(self) -> None:
        self.tried.append("cancel")

    def abandon(self) -> None:
        self.tried.append("abandon")


def test_what_a_cancel_does_not_stop_is_abandoned_and_then_left_to_the_last_resort() -> None:
    deaf, watchdog = _Deaf(), Watchdog()
    watchdog.supervise(lambda _due: None, lambda: deaf.tried.append("last resort"))
    with watchdog.guard(cast("Session", deaf), 0.01):
        time.sleep(1.2)
    assert deaf.tried == ["cancel", "abandon", "last resort"]
