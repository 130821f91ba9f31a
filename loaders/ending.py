"""How what a thread waits for is ended by another one."""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from threading import Lock, get_ident

_LOCK = Lock()
_ENDS: dict[Callable[[], None], int] = {}


@contextmanager
def by(end: Callable[[], None]) -> Iterator[None]:
    """Within the block `end`, called by any thread, makes what this one waits for fail."""
    with _LOCK:
        _ENDS[end] = get_ident()
    try:
        yield
    finally:
        with _LOCK:
            del _ENDS[end]


def end(threads: Collection[int | None]) -> None:
    """Make everything fail that these threads wait for."""
    with _LOCK:
        for stop, thread in _ENDS.items():
            if thread in threads:
                stop()
