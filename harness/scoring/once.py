"""Computes the value of a key once, however many threads ask for it at the same time."""

from collections.abc import Callable, Hashable
from concurrent.futures import Future
from threading import Lock
from typing import TypeVar

Value = TypeVar("Value")


class Once:
    """Remembers values by their keys; thread-safe.

    An exception reaches all that wait for the value and is then forgotten: an engine may come back.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._futures: dict[Hashable, Future[object]] = {}
        self._values: dict[Hashable, object] = {}

    def __call__(self, key: Hashable, compute: Callable[[], Value]) -> Value:
        """The value of `key`, computed now if nobody has."""
        if key in self._values:
            return self._values[key]  # type: ignore[return-value]  # the key decides the type
        with self._lock:
            future = self._futures.get(key)
            mine = future is None
            if future is None:
                future = self._futures[key] = Future()
        if mine:
            try:
                value = compute()
                self._values[key] = value
                future.set_result(value)
            except BaseException as error:  # noqa: BLE001 - whoever waits has to hear of it
                with self._lock:
                    del self._futures[key]
                future.set_exception(error)
        return future.result()  # type: ignore[return-value]  # the key decides the type
