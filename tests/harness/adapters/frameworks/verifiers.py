"""The environment of verifiers with its own agent, against a scripted model, in one turn and in several."""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import verifiers.v1 as vf
from verifiers.v1.utils.loaders import environment_class

from dialects.enums import Dialect
from harness.adapters import verifiers as adapter
from harness.adapters.verifiers import TextToSqlEnvConfig
from tests.harness import own_sets
from tests.harness.adapters.conftest import (
    RAW,
    REFERENCE,
    Evaluated,
    RecordedTools,
    Reference,
    Taken,
    answered_tasks,
    learners_questions,
)
from tests.harness.adapters.raw_answers import RawAnswer, rounds
from tests.harness.adapters.scripted_endpoint import Policy, calls, endpoint
from tests.harness.hostile_texts import CROSS_JOIN
from tests.harness.serve.served import ENDLESS

Messages = Sequence[Mapping[str, Any]]


@pytest.fixture(autouse=True)
def _module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The module of a user, whose name is the taskset's."""
    names = "TextToSqlEnv", "TextToSqlTaskset"
    text = f"from harness.adapters.verifiers import {', '.join(names)}\n__all__ = {names}\n"
    (tmp_path / "bird_sql.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    sys.modules.pop("bird_sql", None)


def opened(of: Reference = REFERENCE, *, may_look: bool = False) -> Any:
    """Return the environment, as the command line of verifiers loads it."""
    kind = environment_class("bird_sql")
    task = {"set_name": of.set_name, "dialect": of.dialect, "seconds": of.seconds}
    taskset = {"id": "bird_sql", "may_look": may_look, "task": task}
    return kind(TextToSqlEnvConfig.model_validate({"taskset": taskset}))


def rollouts(environment: Any, policy: Policy, keys: Sequence[str]) -> list[Any]:
    """Run a rollout for each question; return the traces."""

    async def run(url: str) -> list[Any]:
        context = vf.ModelContext(model="scripted", client=vf.EvalClientConfig(base_url=url))
        async with environment.serving():
            tasks = environment.taskset.include(ids=list(keys))
            slots = [slot for each in tasks for slot in environment.slots(each)]
            done = await asyncio.gather(*(environment.run_slot(each, context) for each in slots))
        return [trace for each in done for trace in each.traces]

    with endpoint(policy) as url:
        return asyncio.run(run(url))


def says(text: str) -> Mapping[str, Any]:
    return {"role": "assistant", "content": text}


def test_scores_are_those_of_eval(evaluated: Evaluated) -> None:
    environment = opened()
    [trace] = rollouts(environment, lambda _: says("SELECT 1"), [str(evaluated[0][0].question)])
    assert trace.ok
    tasks = {each.data.id: each for each in environment.taskset}

    async def scored(key: str, text: str) -> Any:
        other = trace.model_copy(deep=True, update={"root_reply": text})
        await tasks[key].score(other)
        return other

    async def all_scored() -> list[Any]:
        return await asyncio.gather(*(scored(str(each.question), str(each.sql)) for each, _ in evaluated))

    found = asyncio.run(all_scored())
    assert [each.metrics for each in found] == [each.scores for _, each in evaluated]
    assert [each.reward for each in found] == [each.scores["ex"] for _, each in evaluated]


def test_raw_answers_have_the_sql_and_the_score_of_eval(
    few_taken: Taken, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[RecordedTools] = []

    def tools(*given: Any, **options: Any) -> RecordedTools:
        made.append(RecordedTools(*given, **options))
        return made[-1]

    monkeypatch.setattr(adapter, "DatabaseTools", tools)
    environment = opened(RAW)
    tasks = {each.data.id: each for each in environment.taskset}
    [trace] = rollouts(environment, lambda _: says("SELECT 1"), [next(iter(tasks))])

    async def scored(texts: Mapping[str, RawAnswer]) -> dict[str, float]:
        found = {}
        for key, each in texts.items():
            other = trace.model_copy(deep=True, update={"root_reply": each.text})
            await tasks[key].score(other)
            found[key] = other.reward
        return found

    for texts in rounds(few_taken):
        expected = {key: few_taken[each] for key, each in texts.items()}
        for each in made:
            each.judged.clear()
        assert asyncio.run(scored(texts)) == {key: ex for key, (_, ex) in expected.items()}
        [recorded] = made
        assert recorded.judged == expected


def test_a_model_that_looks_first_may_try_anything() -> None:
    texts = [ENDLESS, CROSS_JOIN, "SELECT 1"]
    gold = learners_questions()[0].gold[Dialect.SQLITE]

    def policy(messages: Messages) -> Mapping[str, Any]:
        looked = sum(each["role"] == "tool" for each in messages)
        if looked == len(texts):
            return says(f"```sql\n{gold}\n```")
        return calls(looked, database="city_library", sql=texts[looked])

    [trace] = rollouts(opened(may_look=True), policy, ["1"])
    said = [str(each.content) for each in trace.messages if each.role == "tool"]
    assert "timeout: " in said[0]
    assert "cut: " in said[1]
    assert "[1]" in said[2]
    assert (trace.ok, trace.reward) == (True, 1.0)


def test_tasks_have_the_official_verdict_as_reward() -> None:
    answers = answered_tasks()
    environment = opened(Reference("sample_tasks", seconds=30.0))
    texts = {
        each.data.prompt: answers[each.data.id][0] for each in environment.taskset if each.data.id in answers
    }
    found = rollouts(environment, lambda messages: says(texts[messages[-1]["content"]]), [*answers])
    assert {each.task.data.id: (each.reward, each.metrics) for each in found} == {
        key: (scores["official"], scores) for key, (_, scores) in answers.items()
    }


def test_a_rollout_that_nothing_could_judge_fails_instead_of_getting_0(tmp_path: Path) -> None:
    folder = own_sets.bird_dev(tmp_path / "dev_kit")
    (folder / "dev.json").write_text((folder / "dev.json").read_text().replace("COUNT(*)", "no_such_column"))
    (folder / "dev.sql").unlink()
    [trace] = rollouts(opened(Reference(str(folder))), lambda _: says("SELECT 1"), ["10"])
    assert not trace.ok
    assert "gold_error" in trace.last_error.message
    assert trace.rewards == {"execution": None}
