"""A worker process: judges the sheets that come in on a socket, until it is closed.

It is started by `harness.judging.workers`, which replaces it when it ends. What SQL of a prediction can do to
a process, it does to this one: a statement that nothing stops ends it, and so does one that crashes it; its
memory is limited.
"""

import gc
import hashlib
import mmap
import os
import resource
import select
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Thread
from typing import NoReturn

from harness.judging.judge import Judge
from harness.judging.sheets import Sheet
from harness.watchdog import WATCHDOG, Watchdog

HUNG = 71
"""Exit code of a worker that ended itself, because a statement did not stop."""

MOST_MEMORY = 600 * 2**20
"""Bytes of memory that statements and their rows may take beyond what the worker itself needs."""

DIGEST_BYTES = 32


def digest(sql: str) -> bytes:
    """What a worker notes of the text that it executes."""
    return hashlib.sha256(sql.encode("utf-8", "surrogatepass")).digest()


def _limit_memory() -> None:
    """Set a limit that makes allocations fail, on systems that enforce it."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[5])
    except (OSError, IndexError, ValueError):
        return
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = pages * mmap.PAGESIZE + MOST_MEMORY
    if hard == resource.RLIM_INFINITY or most < hard:
        resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


def _serve(connection: Connection, noted: mmap.mmap) -> None:
    setup, place = connection.recv()

    def watch(sql: str) -> None:
        noted[:DIGEST_BYTES] = digest(sql)

    judge = Judge(setup, setup.engines(place), watch)
    Watchdog.last_resort = staticmethod(lambda: os._exit(HUNG))
    _limit_memory()
    # What stands now stays to the end: not to be looked through by every collection.
    gc.freeze()
    Thread(target=_await_end, args=(connection,), name="bird-end", daemon=True).start()
    while True:
        try:
            sheet: Sheet = connection.recv()
        except (EOFError, OSError):
            _end()
        judged = judge.judge(sheet)
        noted[:DIGEST_BYTES] = bytes(DIGEST_BYTES)
        connection.send(judged)


def _await_end(connection: Connection) -> None:
    """End with the connection, also while a sheet is judged; a sheet that comes does not wake this thread."""
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLHUP)
    poll.poll()
    _end()


def _end() -> NoReturn:
    # Nobody waits for an answer any more: leave nothing running on a server.
    WATCHDOG.cancel_all()
    os._exit(0)


def main() -> None:
    """Entry point of the process; the arguments are the descriptors of the socket and of the shared note."""
    socket, note = map(int, sys.argv[1:])
    _serve(Connection(socket), mmap.mmap(note, DIGEST_BYTES))


if __name__ == "__main__":
    main()
