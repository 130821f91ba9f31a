"""A load that says when it has got somewhere and then waits to be killed: `python -m` with its arguments."""

import sys
import time
from pathlib import Path

from harness.engines.namespace import Database
from harness.engines.server import Origin, Server
from harness.words import Dialect, Profile
from loaders.load import load


def main(arguments: list[str]) -> None:
    dialect, host, port, user, password, collection, profile, path, rows = arguments

    def stall(_: Database, done: int, __: int) -> None:
        if done >= int(rows):
            sys.stdout.write("there\n")
            sys.stdout.flush()
            time.sleep(600)

    server = Server(Dialect(dialect), host, int(port), user, password, Origin.DSN)
    load([Database(collection, "shop", Path(path), Profile(profile))], server, progress=stall)


if __name__ == "__main__":
    main(sys.argv[1:])
