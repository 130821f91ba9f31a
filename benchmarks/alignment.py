"""Milliseconds for one Soft-F1 `aligned`, beside the official Soft-F1 and a naive assignment in the same run.

The bad case: about as many predicted as gold rows, in another order, no two rows equal, half of the values of
every row wrong. `fresh` ones are in no row of gold, `mixed` ones are those of another row, so that every row
shares something with very many others. Of gold's four columns one has no value twice, the others have 1,000,
100 and 10 different ones.

The naive peer is what one would write without this project: count the shared values of all pairs of rows,
then solve the assignment for that table. It is left out above 1,000 rows. All take turns on the same rows.

    python -m benchmarks.alignment --runs 5
"""

import random
import statistics
import time
from collections.abc import Callable, Mapping
from typing import Annotated

import numpy as np
import typer
from scipy.optimize import linear_sum_assignment

from harness.metrics.distinct import Row
from harness.metrics.soft_f1 import soft_f1, soft_f1_aligned

SIZES = (100, 1_000, 10_000)
DIFFERENT = (1_000, 100, 10)
LARGEST_NAIVE = 1_000

Rows = list[Row]


def bad_case(rows: int, *, mixed: bool) -> tuple[Rows, Rows]:
    """Predicted rows and gold rows."""
    chance = random.Random(rows)  # noqa: S311 - equal rows in every run
    gold: Rows = [
        (f"key {row}", *(f"{of}: {chance.randrange(of)}" for of in DIFFERENT)) for row in range(rows)
    ]
    predicted: Rows = []
    for row in gold:
        other = chance.choice(gold)
        wrong = set(chance.sample(range(len(row)), len(row) // 2))
        predicted.append(
            tuple(
                (other[column] if mixed else f"wrong {len(predicted)}: {column}")
                if column in wrong
                else value
                for column, value in enumerate(row)
            )
        )
    chance.shuffle(predicted)
    known = set(gold)
    return [row for row in dict.fromkeys(predicted) if row not in known], gold


def naive(predicted: Rows, gold: Rows) -> float:
    """The score by a table of all pairs, for rows of as many different values as gold has columns."""
    sets = [set(row) for row in gold]
    shared = np.array([[len(row.intersection(given)) for row in sets] for given in predicted])
    matched = int(shared[linear_sum_assignment(shared, maximize=True)].sum())
    return 2 * matched / (len(gold[0]) * (len(predicted) + len(gold)))


def main(runs: Annotated[int, typer.Option(help="Runs of each, in turn.")] = 5) -> None:
    """Print the medians of all and the ratios to `aligned`, one line per size and case."""
    print(f"milliseconds for one score, median of {runs} runs; in brackets how often it fits into `aligned`")
    print(f"{'rows':>7} {'case':6}{'aligned':>11}{'official':>20}{'naive':>20}{'score':>9}")
    soft_f1_aligned([(1,)], [(2,)])  # imports
    for rows in SIZES:
        for mixed in (False, True):
            predicted, gold = bad_case(rows, mixed=mixed)
            contestants: dict[str, Callable[[Rows, Rows], float]] = {
                "aligned": soft_f1_aligned,
                "official": soft_f1,
            }
            if rows <= LARGEST_NAIVE:
                contestants["naive"] = naive
            times, scores = _measure(contestants, predicted, gold, runs)
            assert scores.get("naive", scores["aligned"]) == scores["aligned"]
            assert scores["official"] <= scores["aligned"]
            medians = {name: statistics.median(values) for name, values in times.items()}
            ours = medians.pop("aligned")
            peers = "".join(f"{median:11.1f} ({ours / median:6.2f})" for median in medians.values())
            print(
                f"{rows:7,} {'mixed' if mixed else 'fresh':6}{ours:11.1f}{peers:40}{scores['aligned']:9.4f}"
            )


def _measure(
    contestants: Mapping[str, Callable[[Rows, Rows], float]], predicted: Rows, gold: Rows, runs: int
) -> tuple[dict[str, list[float]], dict[str, float]]:
    times: dict[str, list[float]] = {name: [] for name in contestants}
    scores = {}
    for _ in range(runs):
        for name, score in contestants.items():
            started = time.perf_counter()
            scores[name] = score(predicted, gold)
            times[name].append((time.perf_counter() - started) * 1000)
    return times, scores


if __name__ == "__main__":
    typer.run(main)
