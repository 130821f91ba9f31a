"""A load that says when it has got somewhere and then waits for so long: `python -m` with its arguments."""

import sys
import time
from pathlib import Path

from dialects.enums import Dialect, Profile
from loaders.load import load
from loaders.namespace import Database
from loaders.server import Origin, Server


def main(arguments: list[str]) -> None:
    dialect, host, port, user, password, collection, profiles, path, rows, seconds, jobs = arguments
    is_there = False

    def stall(_: Database, done: int, __: int) -> None:
        nonlocal is_there
        if done >= int(rows) and not is_there:
            is_there = True
            sys.stdout.write("there\n")
            sys.stdout.flush()
            time.sleep(float(seconds))

    server = Server(Dialect(dialect), host, int(port), user, password, Origin.DSN)
    databases = [Database(collection, "shop", Path(path), Profile(name)) for name in profiles.split(",")]
    load(databases, server, jobs=int(jobs), progress=stall)


if __name__ == "__main__":
    main(sys.argv[1:])
