"""Start a server again that died in a run: `python -m harness.provision.restarts ORIGIN DIALECT HOME PORT`.

`harness.engines.supervision` runs it. The server's output is in its log; the exit code is 0 if it answers.
"""

import sys
from pathlib import Path

from dialects.enums import Dialect
from harness.provision import containers, native
from loaders.base.errors import EngineUnavailable
from loaders.server import Origin


def main(arguments: list[str]) -> int:
    """Start the server of a folder, or end and start the container that has a port of this machine."""
    origin, dialect, home, port = arguments
    try:
        if Origin(origin) is Origin.NATIVE:
            return int(not native.revive(Dialect(dialect), home=Path(home)))
        containers.restart(int(port))
    except EngineUnavailable:
        return EngineUnavailable.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
