"""An image in the making that says when it has got somewhere and then waits to be killed."""

import sys
import time
from dataclasses import replace

from dialects.enums import Dialect
from harness.data.sets.loader import load_set
from harness.provision.images import bake
from loaders.namespace import Database


def main(dialect: str, name: str) -> None:
    def stall(_: Database, done: int, __: int) -> None:
        if done > 0:
            sys.stdout.write("there\n")
            sys.stdout.flush()
            time.sleep(600)

    bake(replace(load_set("sample"), name=name), [Dialect(dialect)], progress=stall)


if __name__ == "__main__":
    main(*sys.argv[1:])
