"""The same prediction files scored with 1, 2 and 4 workers, by the naive evaluator and by this harness.

What `benchmarks.evaluation` measures, with an empty store alone, for each number of workers.

python -m benchmarks.scaling --set mini_dev --predictions FOLDER --dialect mysql --runs 3
"""

from typing import Annotated

import typer

from benchmarks import options
from benchmarks.evaluation import COLD, NAIVE, describe, median, ratio, rounds
from dialects.errors import BadInput, HarnessError
from harness.engines.execution import Limits


def main(  # noqa: PLR0913, PLR0917 - the benchmark's options
    set_name: options.SetName = "sample",
    predictions: options.Predictions = None,
    dialect: options.Dialect = "sqlite",
    workers: Annotated[str, typer.Option(help="Numbers of workers, separated by commas.")] = "1,2,4",
    metrics: options.Metrics = "ex,soft_f1",
    limit: options.Limit = None,
    without: options.Without = None,
    runs: options.Runs = 3,
    timeout: options.Timeout = Limits.seconds,
    bird_home: options.BirdHome = None,
) -> None:
    """Print the medians for each number of workers, and a row for docs/measurements/performance.md."""
    numbers = workers.split(",")
    if not all(number.isdecimal() and int(number) > 0 for number in numbers):
        raise BadInput(f"--workers {workers}: has to be numbers separated by commas, such as 1,2,4")
    cells: dict[str, object] = {"engine": dialect}
    for number in map(int, numbers):
        contest = options.contest(
            set_name=set_name,
            predictions=predictions,
            dialect=dialect,
            workers=number,
            metrics=metrics,
            limit=limit,
            without=without,
            timeout=timeout,
            bird_home=bird_home,
        )
        print(f"workers: {number}")
        found = rounds(contest, runs, (NAIVE, COLD))
        describe(found)
        cells.setdefault("pairs", len(found[NAIVE][-1].scores))
        cells[f"{number}: naive / cold, s"] = f"{median(found[NAIVE]):.2f} / {median(found[COLD]):.2f}"
        cells[f"{number}: ratio"] = f"{ratio(found, COLD):.1f}"
    options.print_row(cells)


if __name__ == "__main__":
    try:
        typer.run(main)
    except HarnessError as error:
        raise SystemExit(str(error)) from error
