"""A load that says when it has got somewhere and then waits to be killed: `python -m` with its arguments."""

import sys
import time
from pathlib import Path

from dialects.enums import Dialect, Profile
from loaders.bulk_load import load
from loaders.dumps import load_dump
from loaders.namespace import Database
from loaders.server import Origin, Server


def _stall(seconds: float) -> None:
    sys.stdout.write("there\n")
    sys.stdout.flush()
    time.sleep(seconds)


def _load(server: Server, collection: str, *arguments: str) -> None:
    profiles, path, rows, seconds, jobs = arguments
    is_there = False

    def stall(_: Database, done: int, __: int) -> None:
        nonlocal is_there
        if done >= int(rows) and not is_there:
            is_there = True
            _stall(float(seconds))

    databases = [Database(collection, "shop", Path(path), Profile(name)) for name in profiles.split(",")]
    load(databases, server, jobs=int(jobs), progress=stall)


def _load_dump(server: Server, collection: str, dump: str, *paths: str) -> None:
    def stall(done: int, total: int) -> None:
        if done > total / 2:
            _stall(600)

    databases = [Database(collection, Path(path).stem, Path(path)) for path in paths]
    load_dump(Path(dump), databases, server, stall)


def main(arguments: list[str]) -> None:
    what, dialect, host, port, user, password, *rest = arguments
    server = Server(Dialect(dialect), host, int(port), user, password, Origin.DSN)
    (_load if what == "load" else _load_dump)(server, *rest)


if __name__ == "__main__":
    main(sys.argv[1:])
