"""Sessions that a load uses again: connecting takes longer than most of what a load says to a server."""

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol, TypeVar


class _Closable(Protocol):
    def close(self) -> None: ...


Session = TypeVar("Session", bound=_Closable)

_IDLE: ContextVar[dict[Hashable, list[_Closable]] | None] = ContextVar("idle sessions", default=None)


@contextmanager
def kept() -> Iterator[None]:
    """Within the block sessions of this thread are kept for whoever wants the same; then they are closed."""
    idle: dict[Hashable, list[_Closable]] = {}
    token = _IDLE.set(idle)
    try:
        yield
    finally:
        _IDLE.reset(token)
        for sessions in idle.values():
            for session in sessions:
                session.close()


@contextmanager
def borrowed(want: Hashable, connect: Callable[[], Session]) -> Iterator[Session]:
    """A session that is idle, or a new one; one in which anything failed is closed.

    Args:
        want: what makes sessions the same.
        connect: opens one.
    """
    idle = _IDLE.get()
    sessions: list[Session] = [] if idle is None else idle.setdefault(want, [])  # type: ignore[assignment]
    session = sessions.pop() if sessions else connect()
    is_fit = False
    try:
        yield session
        is_fit = idle is not None
    finally:
        if is_fit:
            sessions.append(session)
        else:
            session.close()
