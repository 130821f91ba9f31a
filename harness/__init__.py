"""Scoring: files to outcomes to metrics to reports, on every engine.

Score single answers from Python (`harness.session.evaluator`):

    from harness import Answer, Evaluator

    with Evaluator("sample", workers=2) as evaluator:
        for judgement in evaluator.score([Answer("1", "SELECT 1")]):
            print(judgement.outcome, judgement.scores["ex"])

Read a run folder as a table, with pandas installed: `Run.load("results/latest").to_pandas()`. Score whole
prediction files:

    from harness.session.plan import prepare
    from harness.session.request import Request
    from harness.session.runner import score

    with prepare(Request(set_name="sample"), say=print) as plan:
        for row in score(plan):
            print(row.predictor, row.dialect, row.metrics["ex"]["total"])
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.runs.reader import Run
    from harness.session.evaluator import Answer, Evaluator, Triple

__all__ = ["Answer", "Evaluator", "Run", "Triple", "__version__"]

__version__ = "0.1.0"
"""The version, defined only here: the build reads it."""


def __getattr__(name: str) -> object:
    """Import an exported name on first use: every pytest run of an environment imports this package."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module("harness.runs.reader" if name == "Run" else "harness.session.evaluator")
    return getattr(module, name)
