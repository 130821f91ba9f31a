"""The task of Inspect AI with its own mock model, in one turn and in several."""

import json
from collections.abc import Callable, Iterator, Mapping
from math import isnan
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval as evaluate
from inspect_ai.model import ModelOutput, ModelUsage, get_model

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness import Evaluator
from harness.adapters.database_tools import DatabaseTools
from harness.adapters.inspect_ai import make_task
from harness.labs.tasks.evaluator import TaskEvaluator
from harness.labs.tasks.sample import sample_tasks
from tests.harness.adapters.conftest import (
    RAW,
    Evaluated,
    RecordedTools,
    Taken,
    answered_tasks,
    by_predictor,
    open_evaluator,
)
from tests.harness.adapters.raw_answers import RawAnswer, rounds
from tests.harness.hostile_texts import CROSS_JOIN
from tests.harness.serve.served import ENDLESS

Policy = Callable[[list[Any]], ModelOutput]
"""Answers the messages so far."""

MODEL = "mockllm/model"


@pytest.fixture(scope="module")
def tools() -> Iterator[DatabaseTools]:
    with open_evaluator() as evaluator:
        yield DatabaseTools(evaluator, rows=3)


def says(text: str) -> ModelOutput:
    return ModelOutput.from_content(MODEL, text)


def run(tools: DatabaseTools, folder: Path, policy: Policy, **options: Any) -> Any:
    def answer(messages: list[Any], *_: object) -> ModelOutput:
        output = policy(messages)
        output.usage = ModelUsage()  # else the mock downloads a tokenizer to count
        return output

    turns = options.pop("turns", 1)
    model = get_model(MODEL, custom_outputs=answer, memoize=False)
    task = make_task(tools, turns=turns)
    [log] = evaluate(task, model=model, log_dir=str(folder), display="none", **options)
    assert log.status == "success", log.error
    return log


def scores(log: Any) -> dict[str, Any]:
    return {each.id: each.scores["execution"] for each in log.samples}


def test_scores_are_those_of_eval(tools: DatabaseTools, evaluated: Evaluated, tmp_path: Path) -> None:
    asked = {tools.prompt(each): each.key for each in tools.questions}
    for texts in by_predictor(evaluated):

        def policy(messages: list[Any], texts: dict[str, Any] = texts) -> ModelOutput:
            return says(texts[asked[messages[-1].text]][0])

        log = run(tools, tmp_path, policy, sample_id=list(texts))
        found = scores(log)
        assert {key: (each.value, each.reason) for key, each in found.items()} == {
            key: (judgement.scores, judgement.outcome) for key, (_, judgement) in texts.items()
        }
        means = {each.name: each.metrics["mean"].value for each in log.results.scores}
        for name, mean in means.items():
            assert mean == pytest.approx(sum(each.scores[name] for _, each in texts.values()) / len(texts))


def test_raw_answers_have_the_sql_and_the_score_of_eval(few_taken: Taken, tmp_path: Path) -> None:
    with open_evaluator(RAW) as evaluator:
        tools = RecordedTools(evaluator)
        asked = {tools.prompt(each): each.key for each in tools.questions}
        for texts in rounds(few_taken):
            tools.judged.clear()
            expected = {key: few_taken[each] for key, each in texts.items()}

            def policy(messages: list[Any], texts: Mapping[str, RawAnswer] = texts) -> ModelOutput:
                return says(texts[asked[messages[-1].text]].text)

            found = scores(run(tools, tmp_path, policy, sample_id=list(texts)))
            assert {key: (each.answer, each.value["ex"]) for key, each in found.items()} == expected
            assert tools.judged == expected


def test_a_model_that_looks_first_may_try_anything(tools: DatabaseTools, tmp_path: Path) -> None:
    texts = [ENDLESS, CROSS_JOIN, "SELECT 1"]

    def policy(messages: list[Any]) -> ModelOutput:
        looked = sum(each.role == "tool" for each in messages)
        if looked == len(texts):
            return says(f"```sql\n{tools.questions[0].gold[Dialect.SQLITE]}\n```")
        arguments = {"database": "city_library", "sql": texts[looked]}
        return ModelOutput.for_tool_call(MODEL, "run_sql", arguments)

    log = run(tools, tmp_path, policy, turns=len(texts) + 1, sample_id="1")
    said = [each.text for each in log.samples[0].messages if each.role == "tool"]
    assert "timeout: " in said[0]
    assert "cut: " in said[1]
    assert "[1]" in said[2]
    assert scores(log)["1"].value["ex"] == 1.0
    stopped = run(tools, tmp_path, policy, turns=2, sample_id="1")
    assert scores(stopped)["1"].value["ex"] == 0.0


def test_tasks_have_their_verdicts(tmp_path: Path) -> None:
    answers = answered_tasks()
    with TaskEvaluator([sample_tasks("livesqlbench-sqlite")], workers=1) as evaluator:
        tools = DatabaseTools(evaluator)
        asked = {tools.prompt(each): each.key for each in tools.questions}
        log = run(tools, tmp_path, lambda said: says(answers[asked[said[-1].text]][0]), sample_id=[*answers])
        with pytest.raises(BadInput, match="databases of tasks are shown to no model"):
            make_task(tools, turns=2)
    assert {
        key: {name: value for name, value in each.value.items() if not isnan(value)}
        for key, each in scores(log).items()
    } == {key: expected for key, (_, expected) in answers.items()}
    counted = {each.name: (each.scored_samples, each.unscored_samples) for each in log.results.scores}
    assert counted == {"official": (2, 0), "strict": (2, 0), "state": (1, 1)}


def test_an_answer_that_nothing_could_judge_is_unscored(tmp_path: Path) -> None:
    pack = {"name": "broken", "version": "1", "set": "sample", "source": "-", "golds": [
        {"question_id": 1, "dialect": "sqlite", "sql": "SELECT no_such_column", "reason": "-", "source": "-"}
    ]}  # fmt: skip
    (tmp_path / "pack.json").write_text(json.dumps(pack), encoding="utf-8")
    with Evaluator("sample", workers=1, gold=tmp_path) as evaluator:
        log = run(DatabaseTools(evaluator), tmp_path, lambda _: says("SELECT 1"), sample_id=["1", "2"])
    assert {key: each.reason for key, each in scores(log).items()} == {"1": "gold_error", "2": "mismatch"}
    assert [(each.scored_samples, each.unscored_samples) for each in log.results.scores] == [(1, 1), (1, 1)]
