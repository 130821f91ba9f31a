"""EX of prediction files: this harness against a naive evaluator, in the same run.

The naive evaluator works as the official scripts do: for every pair a connection of its own on which the
prediction and then gold are executed and fetched whole. Both use the same engine, drivers, limits and number
of worker threads, and take turns; the ratio is that of the medians.

    python -m benchmarks.evaluation --set mini_dev --predictions FOLDER --dialect mysql
"""

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from typing import Annotated

import typer

from harness.drivers import score
from harness.engines.base import Engine, Session, SqlError
from harness.errors import HarnessError
from harness.evaluation import Pair
from harness.outcomes import Outcome
from harness.plan import Plan, Request, parse_dialects, prepare


def naive(plan: Plan) -> int:
    """Score every pair the naive way; how many match."""

    def matches(pair: Pair) -> bool:
        engine: Engine = plan.engines[pair.dialect]
        database = plan.questions.database(pair.question.db_id, plan.request.profile)
        try:
            with (
                engine.session(database, plan.request.seconds) as session,
                _limit(session, plan.request.seconds),
            ):
                predicted = {row for batch in session.batches(pair.sql or "") for row in batch}
                gold_sql = pair.question.gold[pair.dialect]
                gold = {row for batch in session.batches(gold_sql) for row in batch}
        except (SqlError, TypeError):
            return False
        return predicted == gold

    with ThreadPoolExecutor(plan.request.workers) as pool:
        return sum(pool.map(matches, plan.evaluation.pairs))


@contextmanager
def _limit(session: Session, seconds: float) -> Iterator[None]:
    timer = Timer(seconds, session.cancel)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _nothing(line: str) -> None:
    del line


def ours(plan: Plan, request: Request) -> int:
    """Score every pair with this harness, nothing remembered from before; how many match."""
    fresh = prepare(request, say=_nothing)
    assert fresh.evaluation.pairs == plan.evaluation.pairs
    return sum(row.outcomes.get(Outcome.MATCH, 0) for row in score(fresh))


def main(
    set_name: Annotated[str, typer.Option("--set")] = "sample",
    predictions: Annotated[list[Path] | None, typer.Option()] = None,
    dialect: Annotated[str, typer.Option()] = "sqlite",
    runs: Annotated[int, typer.Option(help="Runs of each, in turn.")] = 5,
) -> None:
    """Print the medians of both and their ratio."""
    with tempfile.TemporaryDirectory() as out:
        request = Request(
            set_name=set_name, predictions=predictions or (), dialects=parse_dialects(dialect), out=Path(out)
        )
        plan = prepare(request, say=print)
        contestants: Mapping[str, Callable[[], int]] = {
            "naive": lambda: naive(plan),
            "ours": lambda: ours(plan, request),
        }
        times: dict[str, list[float]] = {name: [] for name in contestants}
        found: dict[str, int] = {}
        for _ in range(runs):
            for name, run in contestants.items():
                started = time.perf_counter()
                found[name] = run()
                times[name].append(time.perf_counter() - started)
    medians = {name: statistics.median(values) for name, values in times.items()}
    print(f"{len(plan.evaluation.pairs)} pairs on {dialect}, {runs} runs each, {request.workers} workers")
    for name, values in times.items():
        spread = f"{min(values):.2f} to {max(values):.2f}"
        print(f"{name:6} median {medians[name]:.2f} s ({spread}), {found[name]} match")
    print(f"ratio  {medians['naive'] / medians['ours']:.2f}")


if __name__ == "__main__":
    try:
        typer.run(main)
    except HarnessError as error:
        raise SystemExit(str(error)) from error
