"""Evaluates prediction files in the tests, in worker processes and without a store unless told otherwise."""

from collections.abc import Sequence

from harness.data.predictions import PredictionFile
from harness.evaluation import Evaluation
from harness.judging.dispatch import Judging
from harness.judging.sheets import Setup
from harness.judging.workers import LocalWorkers
from harness.outcomes import PairResult


def results(
    setup: Setup, files: Sequence[PredictionFile], judging: Judging | None = None
) -> list[PairResult]:
    evaluation = Evaluation(setup, files, judging or Judging(setup, lambda: LocalWorkers(setup, 2)))
    try:
        return list(evaluation.run())
    finally:
        evaluation.close()
