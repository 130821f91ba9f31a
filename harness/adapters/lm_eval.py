"""A task of the Language Model Evaluation Harness: questions of a set, scored by execution.

https://github.com/EleutherAI/lm-evaluation-harness
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from datasets import Dataset
from lm_eval.api.task import ConfigurableTask

from harness.adapters.database_tools import DatabaseTools
from harness.engines import EngineName

_MOST_TOKENS = 1_024


def make_task(tools: DatabaseTools, *, dialect: EngineName | None = None) -> ConfigurableTask:
    """Return a task with every question, or task, of the evaluator's set, for `lm_eval.simple_evaluate`.

    Its metrics are the evaluator's. An answer that nothing could judge has none, and does not count in the
    means; nor does a verdict on a task that decides nothing.

    Args:
        tools: what judges answers; its evaluator must stay open while the task runs.
        dialect: the engine of the answers; may be None if the evaluator has only one.
    """
    docs = [{"key": each.key, "prompt": tools.prompt(each, dialect)} for each in tools.questions]

    def judged(doc: Mapping[str, str], completions: Sequence[str]) -> dict[str, float]:
        judgement = asyncio.run(tools.judge_completion(doc["key"], completions[0], dialect))
        return dict(judgement.scores) if judgement.outcome.is_predictors else {}

    def dataset(**_: Any) -> dict[str, Dataset]:
        return {"test": Dataset.from_list(docs)}

    config = {
        "task": tools.evaluator.name,
        "custom_dataset": dataset,
        "test_split": "test",
        "output_type": "generate_until",
        "doc_to_text": "{{prompt}}",
        "doc_to_target": "",
        "process_results": judged,
        "metric_list": [
            {"metric": name, "aggregation": "mean", "higher_is_better": True}
            for name in tools.evaluator.metrics
        ],
        "generation_kwargs": {"until": [], "do_sample": False, "max_gen_toks": _MOST_TOKENS},
        "metadata": {"version": 1.0},
    }
    return ConfigurableTask(config=config)
