"""Prediction files scored by a naive evaluator and by this harness, cold and warm, in the same run.

The naive evaluator (`benchmarks.naive`) works as the official scripts do. The *bound* (`benchmarks.bound`)
executes every distinct text once by the plain driver: no evaluator does less. *Cold* is the harness with an
empty store, *warm* with the store that the cold run has left, *batch* the harness as a library: all pairs in
one call of `Evaluator.score`, with an empty store, without error classes. They take turns, each run in a
process of its own that has read and loaded everything before it is timed, with the same engine, drivers,
account, limit and number of workers. The ratios are those of the median times until the scores of all pairs
are there; processor time is that of a contestant's processes, without the server's. Every pair has to have
the same EX and Soft-F1 on both sides, but for those that ran into a limit.

In the end, a table has where a cold run's time goes (`benchmarks.phases`).

    python -m benchmarks.evaluation --set mini_dev --predictions FOLDER --dialect mysql --workers 2 --runs 3

R-VES executes each matching pair 200 times on the naive side: give it the first questions only (`--limit`).
"""

import statistics
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import typer

from benchmarks import options
from benchmarks.agreement import agreement
from benchmarks.contestants import Contest, Contestant, Measured, run
from dialects.errors import HarnessError
from harness.engines.execution import Limits
from harness.metrics import METRICS

NAIVE, BOUND, COLD, WARM, BATCH = "naive", "bound", "cold", "warm", "batch"

_ALL = {
    NAIVE: Contestant.NAIVE,
    BOUND: Contestant.BOUND,
    COLD: Contestant.OURS,
    WARM: Contestant.OURS,
    BATCH: Contestant.BATCH,
}

Found = Mapping[str, Sequence[Measured]]
"""The runs of each contestant."""


def rounds(contest: Contest, runs: int, contestants: Sequence[str] = (NAIVE, COLD, WARM)) -> Found:
    """Let the contestants take turns.

    Raises:
        SystemExit: two of them gave a pair different scores.
    """
    found: dict[str, list[Measured]] = {name: [] for name in contestants}
    for number in range(runs):
        with tempfile.TemporaryDirectory() as store:
            for name in contestants:
                folder = Path(store, BATCH) if name == BATCH else Path(store)
                found[name].append(run(_ALL[name], contest, folder))
                print(f"run {number + 1}, {name}: {found[name][-1].seconds:.2f} s", flush=True)
        for name in contestants:
            if name not in {NAIVE, BOUND}:
                same = agreement(contest, found[NAIVE][-1], found[name][-1])
                print(f"run {number + 1}, naive and {name}: {same}", flush=True)
                if same.different:
                    raise SystemExit(1)
    return found


def median(measured: Sequence[Measured]) -> float:
    """The median of the seconds until all scores were there."""
    return statistics.median(one.seconds for one in measured)


def whole(measured: Sequence[Measured]) -> float:
    """The median of the seconds until the run folder was complete."""
    return statistics.median(one.whole for one in measured)


def processor(measured: Sequence[Measured]) -> float:
    """The median of the seconds on a processor."""
    return statistics.median(one.processor for one in measured)


def describe(found: Found) -> None:
    """Print a line for each contestant."""
    for name, measured in found.items():
        seconds = [one.seconds for one in measured]
        last = measured[-1]
        print(
            f"{name:6} median {median(measured):.2f} s ({min(seconds):.2f} to {max(seconds):.2f}),"
            f" {len(found[NAIVE][-1].scores) / median(measured):.0f} pairs/s,"
            f" with the run folder {whole(measured):.2f} s, processor {processor(measured):.2f} s,"
            f" executions {_count(last.executions)},"
            f" peak memory {last.own:.0f} MB and {last.worker:.0f} MB in the largest worker,"
            f" {ratio(found, name):.2f} times as fast as naive"
        )


def ratio(found: Found, name: str) -> float:
    """How many times as fast as the naive evaluator."""
    return median(found[NAIVE]) / median(found[name])


def _count(executions: int | None) -> str:
    return "not counted" if executions is None else str(executions)


def main(  # noqa: PLR0913, PLR0917 - the benchmark's options
    set_name: options.SetName = "sample",
    predictions: options.Predictions = None,
    dialect: options.Dialect = "sqlite",
    workers: options.Workers = 2,
    metrics: options.Metrics = "ex,soft_f1",
    limit: options.Limit = None,
    without: options.Without = None,
    runs: options.Runs = 3,
    timeout: options.Timeout = Limits.seconds,
    bird_home: options.BirdHome = None,
) -> None:
    """Print the medians of all of them, their ratios, and a row for docs/measurements/performance.md."""
    contest = options.contest(
        set_name=set_name,
        predictions=predictions,
        dialect=dialect,
        workers=workers,
        metrics=metrics,
        limit=limit,
        without=without,
        timeout=timeout,
        bird_home=bird_home,
    )
    is_timed = any(METRICS[name].is_timed for name in contest.metrics)
    found = rounds(contest, runs, (NAIVE, COLD, WARM) if is_timed else tuple(_ALL))
    describe(found)
    last = {name: measured[-1] for name, measured in found.items()}
    beyond = {name: one.overheads[0] for name, one in last.items() if one.overheads}
    options.print_row(
        {
            "engine": dialect,
            "metrics": ", ".join(contest.metrics),
            "pairs": len(last[NAIVE].scores),
            "executions, naive / cold": f"{_count(last[NAIVE].executions)} / {_count(last[COLD].executions)}",
            **{f"{name}, s": _with_spread(measured) for name, measured in found.items()},
            **{f"naive / {name}": f"{ratio(found, name):.1f}" for name in found if name != NAIVE},
            **(
                {"cold / bound": f"{median(found[COLD]) / median(found[BOUND]):.2f}"}
                if BOUND in found
                else {}
            ),
            "processor, s, " + " / ".join(found): " / ".join(
                f"{processor(measured):.2f}" for measured in found.values()
            ),
            "with run folder, s: cold / warm": f"{whole(found[COLD]):.2f} / {whole(found[WARM]):.2f}",
            "pairs/s, " + " / ".join(found): " / ".join(
                f"{len(last[NAIVE].scores) / median(measured):.0f}" for measured in found.values()
            ),
            **{f"{name}, ms a pair beyond the database's": f"{1000 * s:.2f}" for name, s in beyond.items()},
            **{f"MB, {name}": f"{last[name].own:.0f} + {last[name].worker:.0f}" for name in (NAIVE, COLD)},
        }
    )
    if not is_timed:
        print_phases(contest)


def print_phases(contest: Contest) -> None:
    """Print a table of the phases of a cold run, the longest on the processor first."""
    with tempfile.TemporaryDirectory() as store:
        found = run(Contestant.PHASES, contest, Path(store)).phases
    print("\n| phase | times | s | of it processor, s | share of the processor's |\n|---|---|---|---|---|")
    total = sum(processor for _, _, processor in found.values())
    for name, (calls, seconds, used) in sorted(found.items(), key=lambda each: -each[1][2]):
        print(f"| {name} | {calls:,} | {seconds:.2f} | {used:.2f} | {used / total:.0%} |")


def _with_spread(measured: Sequence[Measured]) -> str:
    seconds = [one.seconds for one in measured]
    return f"{median(measured):.2f} ({min(seconds):.2f} to {max(seconds):.2f})"


if __name__ == "__main__":
    try:
        typer.run(main)
    except HarnessError as error:
        raise SystemExit(str(error)) from error
