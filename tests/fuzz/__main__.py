"""`python -m tests.fuzz`: many generated queries on the servers that are up; see docs/how-to/coverage.md."""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from dialects.enums import Dialect
from dialects.errors import HarnessError
from harness.engines import on_server
from harness.labs.conformance.comparison import Checker
from harness.session.plan import find_servers
from loaders.bulk_load import load
from tests.every_engine import LOADED
from tests.fuzz.campaign import LIMITS, Result, run
from tests.fuzz.catalog import catalog
from tests.fuzz.databases import databases
from tests.fuzz.reporting import report

_SAY_EVERY_SECONDS = 5.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run and report; 0 if nothing differed and few were untranslatable, 1 if not, 3 without a server."""
    options = _options().parse_args(arguments)
    targets = [Dialect(name) for name in options.dialect]
    with tempfile.TemporaryDirectory() as folder:
        places = databases(Path(folder))
        try:
            found = find_servers(targets, required=True, say=print)
            servers = {several[0].dialect: several[0] for several in found.values()}
            for server in servers.values():
                load(places, server)
        except HarnessError as error:
            sys.stderr.write(f"fuzz: {error}\n")
            return error.exit_code
        checker = Checker({dialect: on_server(server) for dialect, server in servers.items()}, LIMITS)
        numbers = range(options.first, options.first + options.queries)
        started = time.monotonic()
        result = run(
            checker,
            [catalog(place) for place in places],
            options.seed,
            numbers,
            _progress(),
            even=options.even,
        )
    seconds = time.monotonic() - started
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(report(result, options.seed, seconds), encoding="utf-8")
    sys.stdout.write(report(result, options.seed, seconds, brief=True) + f"written to {options.out}\n")
    return 0 if result.passed else 1


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--queries", type=int, default=10_000, help="how many (default: 10,000)")
    parser.add_argument("--seed", type=int, default=0, help="chooses them (default: 0)")
    parser.add_argument("--first", type=int, default=0, help="number of the first (default: 0)")
    parser.add_argument("--even", action="store_true", help="give all constructs the same weight")
    parser.add_argument(
        "--dialect",
        nargs="+",
        choices=LOADED,
        default=LOADED,
        help="default: all",
    )
    parser.add_argument("--out", type=Path, default=Path("results/fuzz.md"), help="default: results/fuzz.md")
    return parser


def _progress() -> Callable[[Result], None]:
    """Says how far the run is, every few seconds."""
    due = time.monotonic() + _SAY_EVERY_SECONDS

    def say(result: Result) -> None:
        nonlocal due
        if time.monotonic() >= due:
            due = time.monotonic() + _SAY_EVERY_SECONDS
            sys.stderr.write(f"{result.queries:,} queries, {len(result.faults):,} faults\n")

    return say


if __name__ == "__main__":
    sys.exit(main())
