"""The options that the benchmarks share, and the table row that each of them prints."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.contestants import NAIVE_METRICS, Contest
from dialects.errors import BadInput
from harness.engines.execution import Limits
from harness.session.request import parse_metrics
from loaders.sample import PREDICTIONS

SetName = Annotated[str, typer.Option("--set", help="Question set.")]
Predictions = Annotated[list[Path] | None, typer.Option(help="Prediction file or folder (repeatable).")]
Dialect = Annotated[str, typer.Option(help="Of the engine.")]
Metrics = Annotated[str, typer.Option(help="ex, soft_f1, r_ves, r_ves_stable, separated by commas.")]
Limit = Annotated[int | None, typer.Option(help="Only the first questions.", min=1)]
Without = Annotated[list[str] | None, typer.Option(help="Key of a question to leave out (repeatable).")]
Runs = Annotated[int, typer.Option(help="Runs of each, in turn.", min=1)]
Workers = Annotated[int, typer.Option(help="Worker processes of each.", min=1)]
Timeout = Annotated[float, typer.Option(help="Seconds for a prediction and its gold.")]
BirdHome = Annotated[Path | None, typer.Option(help="Instead of the environment's BIRD_HOME.")]


def contest(  # noqa: PLR0913 - the shared options
    *,
    set_name: str,
    predictions: Sequence[Path] | None,
    dialect: str,
    workers: int,
    metrics: str,
    limit: int | None = None,
    without: Sequence[str] | None = None,
    timeout: float = Limits.seconds,
    bird_home: Path | None = None,
) -> Contest:
    """What the options ask for.

    Raises:
        BadInput: a metric is none that the naive evaluator can compute, or there are no predictions.
    """
    names = parse_metrics(metrics)
    strange = [name for name in names if name not in NAIVE_METRICS]
    if strange:
        raise BadInput(
            f"--metrics {metrics}: the naive evaluator has no {strange[0]}; "
            f"choose from {', '.join(NAIVE_METRICS)}"
        )
    if not predictions and set_name != "sample":
        raise BadInput(f"--set {set_name}: no predictions given; name a file or folder with --predictions")
    return Contest(
        set_name=set_name,
        predictions=tuple(str(path.absolute()) for path in predictions or [PREDICTIONS]),
        dialect=dialect,
        workers=workers,
        metrics=tuple(names),
        limit=limit,
        without=tuple(without or ()),
        seconds=timeout,
        bird_home=None if bird_home is None else str(bird_home.absolute()),
    )


def print_row(cells: Mapping[str, object]) -> None:
    """Print a Markdown table of one row, for docs/measurements/performance.md."""
    print(f"| {' | '.join(cells)} |")
    print(f"|{'---|' * len(cells)}")
    print(f"| {' | '.join(str(cell) for cell in cells.values())} |")
