"""A process that says that it is there and then never lets go of Python's lock: for `loaders.children`."""

import os
import sys
from itertools import repeat


def main() -> None:
    os.write(int(sys.argv[1]), b"at it")
    sum(repeat(1))
