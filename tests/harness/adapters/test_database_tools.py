"""The tools of a model: texts to read for whatever it asks, and the scores of `eval`."""

import asyncio
from collections.abc import Iterator, Mapping

import pytest

from harness import Evaluator
from harness.adapters.database_tools import DatabaseTools
from tests.harness.adapters.conftest import CURVE, STEPS, Evaluated, learners_questions, scripted
from tests.harness.hostile_texts import CROSS_JOIN, HOSTILE

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def tools() -> Iterator[DatabaseTools]:
    with Evaluator("sample", workers=2, seconds=1) as evaluator:
        yield DatabaseTools(evaluator, rows=3)


def test_a_completion_has_the_score_of_its_sql(tools: DatabaseTools, evaluated: Evaluated) -> None:
    async def judged() -> list[Mapping[str, float]]:
        asked = (tools.judge_completion(each.question, str(each.sql)) for each, _ in evaluated)
        return [each.scores for each in await asyncio.gather(*asked)]

    assert asyncio.run(judged()) == [each.scores for _, each in evaluated]


def test_rewards_rise_with_what_a_policy_has_learned(tools: DatabaseTools) -> None:
    async def mean(step: int) -> float:
        asked = enumerate(learners_questions())
        judged = [await tools.judge_completion(each.key, scripted(step, place)) for place, each in asked]
        return sum(each.scores["ex"] for each in judged) / len(judged)

    assert [asyncio.run(mean(step)) for step in range(STEPS + 1)] == CURVE


def test_a_model_reads_rows_or_what_went_wrong(tools: DatabaseTools) -> None:
    async def run(*texts: str) -> list[str]:
        return [await tools.run_sql("city_library", each) for each in texts]

    async def beside_others() -> list[str]:
        hostile = [asyncio.ensure_future(tools.run_sql("city_library", each)) for each in HOSTILE]
        [answer] = await run("SELECT 1, NULL, 'é', x'ff', 1e999")
        return [answer, *await asyncio.gather(*hostile)]

    answer, *said = asyncio.run(beside_others())
    assert answer == '[1, null, "é", "0xFF", "inf"]'
    for (text, ending), words in zip(HOSTILE.items(), said, strict=True):
        assert ("... cut: more than 3 rows" if text is CROSS_JOIN else f"{ending}: ") in words
    found = asyncio.run(
        run("SELECT 1 WHERE 0", "SELECT '\ud83d'", "SELECT CAST(x'ff' AS TEXT)", "SELEC\n\ud83d")
    )
    assert found[0] == "no rows"
    assert found[1].startswith("error: ")
    assert all(each.encode() and "\n" not in each for each in found)
    assert asyncio.run(tools.run_sql("nowhere", "SELECT 1")).startswith("error: database 'nowhere'")


def test_a_prompt_has_the_tables_that_are_described(tools: DatabaseTools) -> None:
    [question, *_] = tools.questions
    described = asyncio.run(tools.describe(question.db_id))
    assert described.startswith("CREATE TABLE")
    assert described in tools.prompt(question)
    assert question.text in tools.prompt(question)
    assert asyncio.run(tools.describe("nowhere")).startswith("error: database 'nowhere'")
