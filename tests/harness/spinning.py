"""A process that says that it is there and then never lets go of the lock, for `loaders.base.processes`."""

import os
import sys
from itertools import repeat


def main() -> None:
    os.write(int(sys.argv[1]), b"at it")
    sum(repeat(1))
