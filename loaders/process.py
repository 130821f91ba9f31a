"""A worker process of `loaders.workers`: does the tasks that come in on a socket, until it is closed."""

import os
import sys
import traceback
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Thread
from typing import Any

from dialects.errors import HarnessError
from loaders.tasks import Task, Unexpected


def _serve(connection: Connection) -> None:
    tasks: SimpleQueue[Task[Any]] = SimpleQueue()

    def receive() -> None:
        try:
            while True:
                tasks.put(connection.recv())
        except (EOFError, OSError):
            # The load is over, or its process is: nothing more is to be written.
            os._exit(0)

    Thread(target=receive, name="bird-receive", daemon=True).start()
    while True:
        connection.send(_outcome(tasks.get(), connection))


def _outcome(task: Task[Any], connection: Connection) -> object:
    """A tuple of the result alone, or an error; numbers of rows are sent before it."""
    try:
        return (task.do(connection.send),)
    except HarnessError as error:
        return error
    except Exception:  # noqa: BLE001 - it goes on in the process that loads
        return Unexpected(traceback.format_exc())


def main() -> None:
    """Entry point of the process; the argument is the descriptor of the socket."""
    _serve(Connection(int(sys.argv[1])))
