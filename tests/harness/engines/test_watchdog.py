"""What the watchdog stops, on SQLite, which has no time limit of its own."""

import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread, Timer
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


def test_no_thread_is_started_when_a_statement_is_late(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Where a statement has taken all memory, starting one may wait for ever.
    with WATCHDOG.guard(session, 30):
        pass
    started: list[Thread] = []
    monkeypatch.setattr(Thread, "start", started.append)
    with pytest.raises(SqlTimeout), WATCHDOG.guard(session, 0.05):
        list(session.batches(ENDLESS))
    assert started == []


class _Deaf:
    """A session that can be stopped by nothing: notes what was tried. A cancel takes until it `may_end`."""

    def __init__(self) -> None:
        self.tried: list[str] = []
        self.may_end = Event()
        self.may_end.set()

    def cancel(self) -> None:
        self.tried.append("cancel")
        self.may_end.wait()

    def abandon(self) -> None:
        self.tried.append("abandon")


def test_what_a_cancel_does_not_stop_is_abandoned_and_then_left_to_the_last_resort() -> None:
    deaf, watchdog = _Deaf(), Watchdog()
    watchdog.supervise(lambda _due: None, lambda: deaf.tried.append("last resort"))
    with watchdog.guard(cast("Session", deaf), 0.01):
        time.sleep(1.2)
    assert deaf.tried == ["cancel", "abandon", "last resort"]


def test_a_cancel_that_hangs_delays_no_other_step_and_never_reaches_the_next_statement() -> None:
    deaf, watchdog, dues = _Deaf(), Watchdog(), list[float | None]()
    watchdog.supervise(dues.append, lambda: deaf.tried.append("last resort"))
    deaf.may_end.clear()
    with watchdog.guard(cast("Session", deaf), 0.01):
        time.sleep(1.2)
        Timer(0.2, deaf.may_end.set).start()
    assert deaf.may_end.is_set()
    assert deaf.tried == ["cancel", "abandon", "last resort"]
    # A supervisor could have ended the process all that time.
    assert [due is None for due in dues] == [False, True]


def test_a_supervisor_may_end_a_process_while_a_cancel_hangs() -> None:
    deaf, watchdog, dues = _Deaf(), Watchdog(), list[float | None]()
    watchdog.supervise(dues.append, lambda: None)
    deaf.may_end.clear()

    def run() -> None:
        with watchdog.guard(cast("Session", deaf), 0.01):
            time.sleep(0.4)

    running = Thread(target=run)
    running.start()
    running.join(0.8)
    assert running.is_alive()
    assert None not in dues
    deaf.may_end.set()
    running.join()
    assert dues[-1] is None


def test_a_cancel_that_fails_is_followed_by_the_next_step() -> None:
    class Failing(_Deaf):
        def cancel(self) -> None:
            super().cancel()
            raise MemoryError

    deaf, watchdog = Failing(), Watchdog()
    for _ in range(2):
        with watchdog.guard(cast("Session", deaf), 0.01):
            time.sleep(0.7)
    assert deaf.tried == ["cancel", "abandon"] * 2
