"""Sessions that are used again: which, how long, and by whom."""

from threading import Thread

import pytest

from loaders.server import borrowed, kept


class Session:
    def __init__(self) -> None:
        self.closed = 0

    def close(self) -> None:
        self.closed += 1


def used(want: str) -> Session:
    with borrowed(want, Session) as session:
        assert session.closed == 0
    return session


def test_what_is_idle_is_used_again_for_the_same_and_closed_at_the_end() -> None:
    with kept():
        first = used("one")
        assert first.closed == 0
        assert used("one") is first
        assert used("other") is not first
        with borrowed("one", Session), borrowed("one", Session) as second:
            assert second is not first
    assert first.closed == 1
    assert second.closed == 1
    assert used("one").closed == 1


def test_a_session_in_which_something_failed_is_closed() -> None:
    with kept():
        first = used("one")
        with pytest.raises(ValueError, match="failed"), borrowed("one", Session):
            raise ValueError("failed")
        assert first.closed == 1
        assert used("one") is not first


def test_another_thread_has_sessions_of_its_own() -> None:
    found: list[Session] = []
    with kept():
        first = used("one")
        thread = Thread(target=lambda: found.append(used("one")))
        thread.start()
        thread.join()
        assert used("one") is first
    assert found[0] is not first
    assert found[0].closed == 1
