"""`python -m harness` is `bird-harness`."""

import sys
from pathlib import Path

if __name__ == "__main__":
    # `-m` puts the working folder first on the path: keep modules there from shadowing the harness.
    if not sys.flags.safe_path and Path(sys.path[0]) != Path(__file__).resolve().parents[1]:
        del sys.path[0]
    from harness.cli import main

    main()
