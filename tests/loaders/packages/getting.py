"""Gets a set by a manifest of the test's own, in a process that can be killed: `python -m` with arguments.

Says `there` when something has got as far as asked for, and then waits to be killed; 0 for never.
"""

import sys
import time
from pathlib import Path

from harness.data.sets.packages import PackageRequest, get
from loaders.packages import manifest


def main(arguments: list[str]) -> None:
    path, name, to, what, stop, *options = arguments
    manifest.MANIFEST = Path(path)

    def stall(now: str, done: int, _: int | None) -> None:
        if what in now and done >= int(stop) > 0:
            sys.stdout.write("there\n")
            sys.stdout.flush()
            time.sleep(600)

    for line in get(PackageRequest(name, Path(to), allow_unknown="unknown" in options), stall, (0.1, 0.1)):
        sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
