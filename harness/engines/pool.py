"""Connections that wait for the next session: few, however many databases there are.

Not `psycopg_pool`: it has a pool for each address and database, so that many databases still come to many
connections, and threads in each of them. What is needed is the reverse, few connections over all databases.
"""

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, Generic, TypeVar

MOST_IDLE = 4
"""What waits in one process for one server: 30 workers, each with one that is busy, stay within the above."""

C = TypeVar("C")


class Pool(Generic[C]):
    """At most `most` connections, each for what it can serve; the longest unused is closed first.

    Any thread may use it.

    Args:
        close: closes a connection, without waiting for what may still come from it.
        most: how many may wait.
    """

    def __init__(self, close: Callable[[C], object], most: int = MOST_IDLE) -> None:
        self._close = close
        self._most = most
        self._lock = Lock()
        self._waiting: list[tuple[Hashable, C]] = []

    def take(self, of: Hashable) -> C | None:
        """The connection for `of` that was used last, if one waits; the caller has it for itself."""
        with self._lock:
            for place in reversed(range(len(self._waiting))):
                if self._waiting[place][0] == of:
                    return self._waiting.pop(place)[1]
        return None

    def drop(self, is_stale: Callable[[Any], bool]) -> None:
        """Close those that wait for what is not there any more."""
        with self._lock:
            stale = [each for each in self._waiting if is_stale(each[0])]
            self._waiting = [each for each in self._waiting if each not in stale]
        for _, connection in stale:
            self._close(connection)

    def give(self, of: Hashable, connection: C) -> None:
        """Keep a connection for the next session of `of`."""
        with self._lock:
            self._waiting.append((of, connection))
            surplus = self._waiting[: -self._most]
            del self._waiting[: -self._most]
        for _, oldest in surplus:
            self._close(oldest)

    def close(self) -> bool:
        """Close what waits. Whether there was anything."""
        with self._lock:
            waiting, self._waiting = self._waiting, []
        for _, connection in waiting:
            self._close(connection)
        return bool(waiting)
