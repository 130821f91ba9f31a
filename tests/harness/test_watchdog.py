"""What the watchdog stops, on SQLite, which has no time limit of its own."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.engines.base import Session, SqlTimeout
from harness.engines.namespace import Database
from harness.engines.sqlite import SQLiteEngine
from harness.watchdog import Watchdog

ENDLESS = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT MAX(n) FROM t"


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    path = tmp_path / "empty.sqlite"
    path.touch()
    with SQLiteEngine().session(Database("bird_watchdog", "empty", path), 30) as opened:
        yield opened


def test_what_takes_too_long_is_stopped_again_and_again_and_nothing_after_it(session: Session) -> None:
    with Watchdog() as watchdog:
        for _ in range(2):
            with pytest.raises(SqlTimeout), watchdog.guard(session, 0.05):
                list(session.batches(ENDLESS))
            assert watchdog.fired
            with watchdog.guard(session, 30):
                assert list(session.batches("SELECT 1")) == [[(1,)]]
            assert not watchdog.fired


def test_a_shorter_limit_after_a_longer_one_is_kept(session: Session) -> None:
    with Watchdog() as watchdog:
        with watchdog.guard(session, 1000):
            pass
        with pytest.raises(SqlTimeout), watchdog.guard(session, 0.05):
            list(session.batches(ENDLESS))


def test_nothing_is_stopped_once_its_guard_has_ended(session: Session) -> None:
    with Watchdog() as watchdog:
        with watchdog.guard(session, 0.01):
            pass
        time.sleep(0.4)
        assert list(session.batches("SELECT 1")) == [[(1,)]]
        assert not watchdog.fired
