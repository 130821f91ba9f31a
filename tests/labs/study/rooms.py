"""Rooms for copies on servers that the tests of other processes use at the same time."""

import fcntl
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from harness.labs.study.copies import CopyRoom, copying
from loaders.base.errors import EngineUnavailable
from loaders.server import Server

_SECONDS = 300.0


@contextmanager
def copying_in_turn(servers: Mapping[str, Server]) -> Iterator[CopyRoom]:
    """Yield a room as `copying` does, after another test's study has ended."""
    end = time.monotonic() + _SECONDS
    with ExitStack() as stack:
        while True:
            try:
                room = stack.enter_context(copying(servers))
            except EngineUnavailable as error:
                if "another study" not in str(error) or time.monotonic() > end:
                    raise
                time.sleep(0.1)
            else:
                break
        yield room


@contextmanager
def alone_on(server: Server | None, folder: Path) -> Iterator[None]:
    """Keep other processes' tests that ask for it in the same folder away from a server."""
    if server is None:
        yield
        return
    with (folder / f"study-{server.port}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
