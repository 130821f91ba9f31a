"""A server is ready when it answers a query, and not before."""

import time
from collections.abc import Callable

from harness.engines import on_server
from harness.engines.base import EngineLost
from loaders.server import Server

_PAUSE_SECONDS = 0.1


def version(server: Server) -> str | None:
    """The version that `server` answers with, or None while it does not answer."""
    try:
        return on_server(server).version()
    except EngineLost:
        return None


def wait(server: Server, seconds: float, check: Callable[[], None] = lambda: None) -> str:
    """Wait until `server` answers.

    Args:
        server: the server, which may not be listening yet.
        seconds: how long to go on asking.
        check: called between two questions; raises when there is nothing left to wait for.

    Returns:
        The version that the server answered with.

    Raises:
        EngineLost: the last answer, when the time is up.
    """
    deadline = time.monotonic() + seconds
    while True:
        try:
            return on_server(server).version()
        except EngineLost:
            check()
            if time.monotonic() > deadline:
                raise
        time.sleep(_PAUSE_SECONDS)
