"""One load by the harness, for `benchmarks.loading`: what to load comes as JSON on the standard input."""

import json
import sys
from pathlib import Path

from dialects.enums import Dialect, Profile
from loaders.bulk_load import load
from loaders.namespace import Database
from loaders.server import Origin, Server


def main() -> None:
    """Load, and say nothing."""
    told = json.load(sys.stdin)
    server = told["server"]
    load(
        [
            Database(one["collection"], one["db_id"], Path(one["sqlite_path"]), Profile(one["profile"]))
            for one in told["databases"]
        ],
        Server(**{**server, "dialect": Dialect(server["dialect"]), "origin": Origin(server["origin"])}),
        jobs=told["jobs"],
    )


if __name__ == "__main__":
    main()
