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

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.data.outcomes import Judgement, Outcome, PairResult
    from harness.engines import on_server
    from harness.engines.base import Engine
    from harness.engines.execution import Execution, Limits, execute
    from harness.provision.dsn import server_from_environment
    from harness.runs.reader import Run
    from harness.serve.client import AsyncScoreClient, ScoreClient, reward
    from harness.session.evaluation import score
    from harness.session.evaluator import Evaluator, Statistics
    from harness.session.plan import prepare
    from harness.session.request import Request
    from harness.session.resolver import Answer, Triple

__all__ = [
    "Answer",
    "AsyncScoreClient",
    "Engine",
    "Evaluator",
    "Execution",
    "Judgement",
    "Limits",
    "Outcome",
    "PairResult",
    "Request",
    "Run",
    "ScoreClient",
    "Statistics",
    "Triple",
    "__version__",
    "execute",
    "on_server",
    "prepare",
    "reward",
    "score",
    "server_from_environment",
]

__version__ = "0.1.0"
"""The version, defined only here: the build reads it."""

_MODULES = {
    "Answer": "harness.session.resolver",
    "AsyncScoreClient": "harness.serve.client",
    "Engine": "harness.engines.base",
    "Evaluator": "harness.session.evaluator",
    "Execution": "harness.engines.execution",
    "Judgement": "harness.data.outcomes",
    "Limits": "harness.engines.execution",
    "Outcome": "harness.data.outcomes",
    "PairResult": "harness.data.outcomes",
    "Request": "harness.session.request",
    "Run": "harness.runs.reader",
    "ScoreClient": "harness.serve.client",
    "Statistics": "harness.session.evaluator",
    "Triple": "harness.session.resolver",
    "execute": "harness.engines.execution",
    "on_server": "harness.engines",
    "prepare": "harness.session.plan",
    "reward": "harness.serve.client",
    "score": "harness.session.evaluation",
    "server_from_environment": "harness.provision.dsn",
}


def __getattr__(name: str) -> object:
    """Import an exported name on first use: every pytest run of an environment imports this package."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
