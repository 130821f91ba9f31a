"""Scoring: files to outcomes to metrics to reports, on every engine.

Score single answers from Python (`harness.session.evaluator`):

    from harness import Answer, Evaluator

    with Evaluator("sample", workers=2) as evaluator:
        for judgement in evaluator.score([Answer("1", "SELECT 1")]):
            print(judgement.outcome, judgement.scores["ex"])

Read a run folder as a table, with pandas installed: `Run.load("results/latest").to_pandas()`. Score whole
prediction files:

    from harness import Request, prepare, score

    with prepare(Request(set_name="sample"), say=print) as plan:
        for row in score(plan):
            print(row.predictor, row.dialect, row.metrics["ex"]["total"])
"""

from typing import TYPE_CHECKING

from dialects import exported

if TYPE_CHECKING:
    from harness.data.outcomes import Judgement, Outcome, PairResult
    from harness.engines import on_server
    from harness.engines.base import Engine
    from harness.engines.execution import Execution, Limits, execute
    from harness.provision.dsn import server_from_environment
    from harness.runs.reader import Run
    from harness.serve.client import AsyncScoreClient, ScoreClient, reward
    from harness.session.batches import Statistics
    from harness.session.evaluation import score
    from harness.session.evaluator import Evaluator
    from harness.session.plan import prepare
    from harness.session.request import Request
    from harness.session.resolver import Answer, Triple

__all__ = [
    "Answer", "AsyncScoreClient", "Engine", "Evaluator", "Execution", "Judgement", "Limits", "Outcome",
    "PairResult", "Request", "Run", "ScoreClient", "Statistics", "Triple", "__version__", "execute",
    "on_server", "prepare", "reward", "score", "server_from_environment",
]  # fmt: skip

__version__ = "0.1.0"
"""The version, defined only here: the build reads it."""

# Every pytest run of an environment imports this package.
__getattr__ = exported(
    __name__,
    {
        "harness.data.outcomes": "Judgement Outcome PairResult",
        "harness.engines": "on_server",
        "harness.engines.base": "Engine",
        "harness.engines.execution": "Execution Limits execute",
        "harness.provision.dsn": "server_from_environment",
        "harness.runs.reader": "Run",
        "harness.serve.client": "AsyncScoreClient ScoreClient reward",
        "harness.session.evaluation": "score",
        "harness.session.batches": "Statistics",
        "harness.session.evaluator": "Evaluator",
        "harness.session.plan": "prepare",
        "harness.session.request": "Request",
        "harness.session.resolver": "Answer Triple",
    },
)
