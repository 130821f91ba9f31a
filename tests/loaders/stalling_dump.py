"""A load of a dump that says when half of it is sent and then waits to be killed: a `python -m`."""

import sys
import time
from pathlib import Path

from dialects.enums import Dialect
from loaders.dumps import load_dump
from loaders.namespace import Database
from loaders.server import Origin, Server


def main(arguments: list[str]) -> None:
    dialect, host, port, user, password, collection, dump, *paths = arguments

    def stall(done: int, total: int) -> None:
        if done > total / 2:
            sys.stdout.write("there\n")
            sys.stdout.flush()
            time.sleep(600)

    server = Server(Dialect(dialect), host, int(port), user, password, Origin.DSN)
    databases = [Database(collection, Path(path).stem, Path(path)) for path in paths]
    load_dump(Path(dump), databases, server, stall)


if __name__ == "__main__":
    main(sys.argv[1:])
