"""R-VES stable against the official rule: how far apart runs of the same predictions are, and at what cost.

Both are measured in turn through the harness itself, every run with nothing remembered from the one before.
The spread is the largest total of a predictor less its smallest. Nothing else may run on the machine.

    python -m benchmarks.r_ves --set mini_dev --predictions FOLDER --dialect mysql
"""

import math
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from dialects.errors import HarnessError
from harness.data.outcomes import Outcome, PairResult
from harness.metrics.efficiency import Timing
from harness.session.evaluation import Evaluation
from harness.session.plan import prepare
from harness.session.request import Request, parse_dialects

METRICS = {"stable": "r_ves_stable", "official": "r_ves"}
"""The metric of each method."""

Run = Sequence[PairResult]


def run(request: Request) -> Run:
    """The results of all pairs, measured anew."""
    with prepare(request, say=print) as plan, closing(Evaluation(plan)) as evaluation:
        return list(evaluation.results())


def totals(runs: Sequence[Run], method: str) -> Mapping[str, Sequence[float]]:
    """The total of each predictor in each run."""
    found: dict[str, list[float]] = {}
    for results in runs:
        scores: dict[str, list[float]] = {}
        for result in results:
            name = f"{result.dialect}/{result.predictor}"
            scores.setdefault(name, []).append(result.scores[METRICS[method]])
        for name, values in scores.items():
            found.setdefault(name, []).append(100 * math.fsum(values) / len(values))
    return found


def timings(runs: Sequence[Run], method: str) -> Mapping[tuple[str, ...], Sequence[Timing]]:
    """What was measured of each pair in each run, for pairs that were measured in all of them."""
    found: dict[tuple[str, ...], list[Timing]] = {}
    for results in runs:
        for result in results:
            if result.outcome is Outcome.MATCH:
                name = (result.dialect, result.predictor, result.question)
                found.setdefault(name, []).append(result.timings[method])
    return {name: values for name, values in found.items() if len(values) == len(runs)}


def describe(runs: Sequence[Run], method: str) -> float:
    """Print what came of one method; the mean of its executions for a pair."""
    spreads = []
    for name, values in totals(runs, method).items():
        spreads.append(max(values) - min(values))
        print(f"{method:8} {name}: {' '.join(f'{value:.2f}' for value in values)}, spread {spreads[-1]:.2f}")
    measured = timings(runs, method)
    flipped = sum(len({timing.reward for timing in values}) > 1 for values in measured.values())
    executions = [timing.executions for values in measured.values() for timing in values]
    undecided = sum(not timing.decided for values in measured.values() for timing in values)
    clocks = sorted({timing.clock for values in measured.values() for timing in values})
    mean = sum(executions) / max(1, len(executions))
    print(
        f"{method:8} largest spread {max(spreads):.2f}; {flipped} of {len(measured)} matching pairs changed"
        f" their reward; {mean:.1f} executions a pair; {undecided} of {len(executions)} undecided;"
        f" clock {', '.join(clocks)}"
    )
    return mean


def main(  # noqa: PLR0913, PLR0917 - the benchmark's options
    set_name: Annotated[str, typer.Option("--set")] = "sample",
    predictions: Annotated[list[Path] | None, typer.Option()] = None,
    dialect: Annotated[str, typer.Option()] = "sqlite",
    limit: Annotated[int | None, typer.Option(help="Only the first questions.")] = None,
    runs: Annotated[int, typer.Option(help="Runs of R-VES stable.", min=1)] = 5,
    official_runs: Annotated[
        int | None, typer.Option(help="Runs of the official rule; default: as many.")
    ] = None,
) -> None:
    """Print totals, spreads and executions of both."""
    wanted = {"stable": runs, "official": runs if official_runs is None else official_runs}
    found: dict[str, list[Run]] = {method: [] for method in METRICS}
    with tempfile.TemporaryDirectory() as out:
        for number in range(max(wanted.values())):
            for method, metric in METRICS.items():
                if number < wanted[method]:
                    request = Request(
                        set_name=set_name,
                        predictions=predictions or (),
                        dialects=parse_dialects(dialect),
                        metrics=(metric,),
                        limit=limit,
                        out=Path(out),
                        cache=False,
                    )
                    found[method].append(run(request))
    means = {method: describe(results, method) for method, results in found.items() if results}
    if len(means) == len(METRICS):
        print(f"executions, stable / official: {means['stable'] / means['official']:.3f}")


if __name__ == "__main__":
    try:
        typer.run(main)
    except HarnessError as error:
        raise SystemExit(str(error)) from error
