"""`python -m harness` is `bird-harness`."""

import sys
from pathlib import Path

if __name__ == "__main__":
    # `-m` looks for modules in the working folder first: whoever works there need not know of ours.
    if not sys.flags.safe_path and Path(sys.path[0]) != Path(__file__).resolve().parents[1]:
        del sys.path[0]
    from harness.cli import main

    main()
