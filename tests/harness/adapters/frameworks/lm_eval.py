"""The task of lm-evaluation-harness with a scripted model."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from lm_eval import simple_evaluate
from lm_eval.api.model import LM
from lm_eval.tasks import TaskManager

from harness.adapters.database_tools import DatabaseTools
from harness.adapters.lm_eval import make_task
from harness.labs.tasks.evaluator import TaskEvaluator
from harness.labs.tasks.sample import sample_tasks
from tests.harness.adapters.conftest import (
    RAW,
    REFERENCE,
    Evaluated,
    RecordedTools,
    Taken,
    answered_tasks,
    by_predictor,
    open_evaluator,
    scripted,
)
from tests.harness.adapters.raw_answers import rounds
from tests.harness.serve.served import ENDLESS


class Scripted(LM):
    """Answers each prompt by a function of it."""

    def __init__(self, policy: Callable[[str], str]) -> None:
        super().__init__()
        self._policy = policy

    def generate_until(self, requests: Sequence[Any], **_: bool) -> list[str]:
        return [self._policy(each.args[0]) for each in requests]

    def loglikelihood(self, requests: Any) -> Any:
        raise NotImplementedError

    def loglikelihood_rolling(self, requests: Any) -> Any:
        raise NotImplementedError


@pytest.fixture(scope="module")
def tools() -> Iterator[DatabaseTools]:
    with open_evaluator() as evaluator:
        yield DatabaseTools(evaluator)


def run(tools: DatabaseTools, policy: Callable[[str], str], places: Sequence[int]) -> Any:
    found = simple_evaluate(
        model=Scripted(policy),
        tasks=[make_task(tools)],
        samples={tools.evaluator.name: list(places)},
        bootstrap_iters=0,
        task_manager=TaskManager(include_defaults=False),  # else it reads thousands of tasks
    )
    assert found is not None
    return found


def test_scores_are_those_of_eval(tools: DatabaseTools, evaluated: Evaluated) -> None:
    places = {each.key: place for place, each in enumerate(tools.questions)}
    for texts in by_predictor(evaluated):
        answers = {tools.prompt(each): texts[each.key][0] for each in tools.questions if each.key in texts}
        found = run(tools, answers.__getitem__, [places[key] for key in texts])
        scored = {
            each["doc"]["key"]: {name: each[name] for name in ("ex", "soft_f1")}
            for each in found["samples"][REFERENCE.set_name]
        }
        assert scored == {key: judgement.scores for key, (_, judgement) in texts.items()}
        mean = found["results"][REFERENCE.set_name]["ex,none"]
        assert mean == pytest.approx(sum(each["ex"] for each in scored.values()) / len(scored))


def test_raw_answers_have_the_sql_and_the_score_of_eval(few_taken: Taken) -> None:
    with open_evaluator(RAW) as evaluator:
        tools = RecordedTools(evaluator)
        places = {each.key: place for place, each in enumerate(tools.questions)}
        prompts = {each.key: tools.prompt(each) for each in tools.questions}
        for texts in rounds(few_taken):
            tools.judged.clear()
            expected = {key: few_taken[each] for key, each in texts.items()}
            answers = {prompts[key]: each.text for key, each in texts.items()}
            found = run(tools, answers.__getitem__, [places[key] for key in texts])
            scored = {each["doc"]["key"]: each["ex"] for each in found["samples"][RAW.set_name]}
            assert scored == {key: ex for key, (_, ex) in expected.items()}
            assert tools.judged == expected


def test_tasks_have_their_verdicts() -> None:
    answers = answered_tasks()
    with TaskEvaluator([sample_tasks("livesqlbench-sqlite")], workers=1) as evaluator:
        tools = DatabaseTools(evaluator)
        texts = {tools.prompt(each): answers[each.key][0] for each in tools.questions if each.key in answers}
        places = [place for place, each in enumerate(tools.questions) if each.key in answers]
        found = run(tools, texts.__getitem__, places)
    assert {
        each["doc"]["key"]: {name: each[name] for name in each["metrics"]}
        for each in found["samples"]["sample_tasks"]
    } == {key: scores for key, (_, scores) in answers.items()}
    means = found["results"]["sample_tasks"]
    assert (means["official,none"], means["state,none"]) == (0.5, 0.0)


def test_a_query_that_does_not_end_scores_0(tools: DatabaseTools) -> None:
    answers = {tools.prompt(tools.questions[0]): ENDLESS, tools.prompt(tools.questions[1]): scripted(2, 1)}
    assert run(tools, answers.__getitem__, range(2))["results"]["sample"]["ex,none"] == 0.5
