"""Evaluates prediction files in the tests, in worker processes and without a store unless told otherwise."""

from collections.abc import Sequence
from contextlib import closing

from harness.data.outcomes import PairResult
from harness.data.predictions import PredictionFile
from harness.scoring.scheduler import Scheduler
from harness.scoring.tasks import Setup
from harness.scoring.workers import LocalWorkers
from harness.session.evaluation import Evaluation
from harness.session.plan import Plan, pairs_of
from harness.session.request import Request

MANY = 200
"""Predictions: fewer are judged in less time than a second worker takes to start."""


def plan_of(setup: Setup, files: Sequence[PredictionFile], scheduler: Scheduler, request: Request) -> Plan:
    return Plan(request, setup, scheduler, files, pairs_of(setup.questions, files))


def results(
    setup: Setup, files: Sequence[PredictionFile], scheduler: Scheduler | None = None
) -> list[PairResult]:
    count = 2 if sum(len(file.predictions) for file in files) > MANY else 1
    scheduler = scheduler or Scheduler(setup, lambda: LocalWorkers(setup, count))
    with plan_of(setup, files, scheduler, Request()) as plan:
        return evaluated(plan)


def evaluated(plan: Plan) -> list[PairResult]:
    with closing(Evaluation(plan)) as evaluation:
        return list(evaluation.results())
