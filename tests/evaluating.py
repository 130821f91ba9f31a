"""Evaluates prediction files in the tests, in worker processes and without a store unless told otherwise."""

from collections.abc import Sequence

from harness.data.outcomes import PairResult
from harness.data.predictions import PredictionFile
from harness.scoring.scheduler import Scheduler
from harness.scoring.tasks import Setup
from harness.scoring.workers import LocalWorkers
from harness.session.evaluation import Evaluation

MANY = 200
"""Predictions: fewer are judged in less time than a second worker takes to start."""


def results(
    setup: Setup, files: Sequence[PredictionFile], scheduler: Scheduler | None = None
) -> list[PairResult]:
    count = 2 if sum(len(file.predictions) for file in files) > MANY else 1
    evaluation = Evaluation(setup, files, scheduler or Scheduler(setup, lambda: LocalWorkers(setup, count)))
    try:
        return list(evaluation.run())
    finally:
        evaluation.close()
