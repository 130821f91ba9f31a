"""The environment of OpenEnv: its client against its server, on a loopback port."""

import asyncio
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest
import uvicorn

from harness.adapters.database_tools import DatabaseTools
from harness.adapters.openenv import SqlAction, TextToSqlClient, make_app
from tests.harness.adapters.conftest import (
    RAW,
    Evaluated,
    RecordedTools,
    Taken,
    open_evaluator,
    scripted,
)
from tests.harness.adapters.raw_answers import RawAnswer, rounds
from tests.harness.hostile_texts import CROSS_JOIN
from tests.harness.serve.served import ENDLESS


@contextmanager
def serving(tools: DatabaseTools) -> Iterator[str]:
    """Serve the environment until the end of the block; yield its address."""
    app = make_app(tools)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with open_evaluator() as evaluator, serving(DatabaseTools(evaluator, rows=3)) as address:
        yield address


def test_scores_are_those_of_eval(address: str, evaluated: Evaluated) -> None:
    async def scored() -> list[Any]:
        found = []
        async with TextToSqlClient(base_url=address) as client:
            for each, _ in evaluated:
                await client.reset(question=each.question)
                found.append(await client.step(SqlAction(sql=each.sql)))
        return found

    found = asyncio.run(scored())
    assert [(each.done, each.reward, each.observation.scores) for each in found] == [
        (True, each.scores["ex"], each.scores) for _, each in evaluated
    ]
    assert [each.observation.text for each in found] == [each.outcome for _, each in evaluated]


def test_raw_answers_have_the_sql_and_the_score_of_eval(few_taken: Taken) -> None:
    async def answered(url: str, texts: Mapping[str, RawAnswer]) -> dict[str, float]:
        found = {}
        async with TextToSqlClient(base_url=url) as client:
            for key, each in texts.items():
                await client.reset(question=key)
                found[key] = (await client.step(SqlAction(sql=each.text))).reward
        return found

    with open_evaluator(RAW) as evaluator:
        tools = RecordedTools(evaluator)
        with serving(tools) as url:
            for texts in rounds(few_taken):
                tools.judged.clear()
                expected = {key: few_taken[each] for key, each in texts.items()}
                assert asyncio.run(answered(url, texts)) == {key: ex for key, (_, ex) in expected.items()}
                assert tools.judged == expected


def test_a_model_that_looks_first_may_try_anything(address: str) -> None:
    async def episode() -> None:
        async with TextToSqlClient(base_url=address) as client:
            begun = await client.reset(question="1")
            assert "CREATE TABLE" in begun.observation.text
            for text, says in ((ENDLESS, "timeout: "), (CROSS_JOIN, "cut: "), ("SELECT 1", "[1]")):
                looked = await client.step(SqlAction(sql=text, does="look"))
                assert says in looked.observation.text
                assert not looked.done
            answered = await client.step(SqlAction(sql=scripted(1, 0)))
            assert (answered.done, answered.reward) == (True, 1.0)
            state = await client.state()
            assert (state.question, state.step_count) == ("1", 4)

    asyncio.run(episode())
