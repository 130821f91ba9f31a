"""What the harness takes for a pair beyond the database's own time: as a library, and through pytest.

*Library*: pairs go one at a time through the call that a training loop makes, with an empty store. The
overhead of a call is its time less what the database took for the texts that were executed in it. *pytest*
and *xdist*: the whole time of a run by pytest items, in one process and in two of pytest-xdist, less that of
the same run directly, for each pair; all cold, or with `--warm` with everything known, in turn.

    python -m benchmarks.overhead --set mini_dev --predictions FOLDER --dialect mysql --runs 3
"""

import statistics
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from benchmarks import options
from benchmarks.contestants import Contestant, Measured, run
from dialects.errors import HarnessError
from harness.engines.execution import Limits


def main(  # noqa: PLR0913, PLR0917 - the benchmark's options
    set_name: options.SetName = "sample",
    predictions: options.Predictions = None,
    dialect: options.Dialect = "sqlite",
    workers: options.Workers = 2,
    limit: options.Limit = None,
    without: options.Without = None,
    runs: options.Runs = 3,
    timeout: options.Timeout = Limits.seconds,
    warm: Annotated[  # noqa: FBT002 - an option
        bool, typer.Option("--warm", help="Measure a second run, that knows what the first has found.")
    ] = False,
    bird_home: options.BirdHome = None,
) -> None:
    """Print milliseconds for each pair, and a row for docs/measurements/performance.md."""
    contest = options.contest(
        set_name=set_name,
        predictions=predictions,
        dialect=dialect,
        workers=workers,
        metrics="ex,soft_f1",
        limit=limit,
        without=without,
        timeout=timeout,
        bird_home=bird_home,
    )
    by_items = (Contestant.PYTEST, Contestant.XDIST)
    contestants = (Contestant.LIBRARY, Contestant.OURS, *by_items)
    found: dict[Contestant, list[Measured]] = {contestant: [] for contestant in contestants}
    for number in range(runs):
        for contestant in contestants:
            with tempfile.TemporaryDirectory() as store:
                measured = run(contestant, contest, Path(store))
                found[contestant].append(run(contestant, contest, Path(store)) if warm else measured)
            print(f"run {number + 1}, {contestant}: {found[contestant][-1].whole:.2f} s", flush=True)
    overheads = [1000 * value for measured in found[Contestant.LIBRARY] for value in measured.overheads]
    pairs = len(found[Contestant.LIBRARY][0].scores)
    direct, by_pytest, by_xdist = (
        statistics.median(measured.whole for measured in found[contestant])
        for contestant in (Contestant.OURS, *by_items)
    )
    cuts = statistics.quantiles(overheads, n=20)
    options.print_row(
        {
            "engine": dialect,
            "pairs": pairs,
            "library, ms a pair: median": f"{statistics.median(overheads):.3f}",
            "95 % below": f"{cuts[-1]:.3f}",
            "mean": f"{statistics.fmean(overheads):.3f}",
            "direct, s": f"{direct:.2f}",
            "pytest, s": f"{by_pytest:.2f}",
            "pytest's extra, ms a pair": f"{1000 * (by_pytest - direct) / pairs:.2f}",
            "xdist, s": f"{by_xdist:.2f}",
            "xdist's extra, ms a pair": f"{1000 * (by_xdist - direct) / pairs:.2f}",
        }
    )


if __name__ == "__main__":
    try:
        typer.run(main)
    except HarnessError as error:
        raise SystemExit(str(error)) from error
