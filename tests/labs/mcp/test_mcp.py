"""`bird-harness lab mcp`, as the package's own client sees it over standard input and output."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.types import TextContent

from tests.harness.adapters.conftest import REFERENCE, Evaluated, Taken
from tests.harness.adapters.raw_answers import raw_answers
from tests.harness.conftest import Call
from tests.harness.hostile_texts import HOSTILE

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

ON = {"database": "city_library"}
RAW = raw_answers()
POLICY = "answer-1"


@asynccontextmanager
async def connected(*options: str) -> AsyncIterator[Client]:
    where = ("--set", REFERENCE.set_name, "--dialect", REFERENCE.dialect)
    limits = ("--workers", "1", "--timeout", str(REFERENCE.seconds))
    arguments = ["-m", "harness", "lab", "mcp", *where, *limits, *options]
    server = StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ))
    async with Client(server) as client:
        yield client


def words(called: Any) -> str:
    [content] = called.content
    assert isinstance(content, TextContent)
    return content.text


async def text_of(client: Client, tool: str, **arguments: str) -> str:
    called = await client.call_tool(tool, arguments)
    assert not called.is_error, called
    return words(called)


def test_an_agent_that_looks_first_is_right() -> None:
    async def episode() -> None:
        async with connected() as client:
            tools = (await client.list_tools()).tools
            assert [each.name for each in tools] == ["list_databases", "describe", "run_sql"]
            assert all(each.annotations and each.annotations.read_only_hint for each in tools)
            listed = (await client.call_tool("list_databases")).structured_content
            assert listed
            assert "city_library" in listed["result"]
            assert "CREATE TABLE Books" in await text_of(client, "describe", **ON)
            run_sql = tools[-1]
            assert all(each["description"] for each in run_sql.input_schema["properties"].values())
            assert REFERENCE.dialect in run_sql.input_schema["properties"]["dialect"]["description"]
            for text, ending in HOSTILE.items():
                called = await client.call_tool("run_sql", {"sql": text, **ON})
                said = words(called)
                assert called.is_error or "cut: " in said
                assert f"{ending}: " in said or "cut: " in said
            one = {"sql": 'SELECT 1 AS one, 2 AS "T W"', "dialect": "sqlite"}
            assert await text_of(client, "run_sql", **one, **ON) == 'columns: ["one", "T W"]\n[1, 2]'
            empty = await text_of(client, "run_sql", sql="SELECT 1 AS a WHERE 0", **ON)
            assert empty == 'columns: ["a"]\nno rows'
            for tool, given, says in (
                ("run_sql", {"sql": "SELECT 1", "database": "x"}, "database 'x'"),
                ("run_sql", {"sql": "SELECT 1", "dialect": "oracle", **ON}, "'oracle'"),
                ("run_sql", {"sql": "SELECT no_such", **ON}, "no such column: no_such"),
                ("describe", {"database": "x"}, "database 'x'"),
            ):
                called = await client.call_tool(tool, given)
                assert (called.is_error, says in words(called)) == (True, True), called

    asyncio.run(episode())


def test_scores_are_those_of_eval_where_they_are_offered(evaluated: Evaluated) -> None:
    async def scored() -> list[Any]:
        async with connected("--score") as client:
            asked = [{"question": each.question, "sql": each.sql} for each, _ in evaluated]
            found = [(await client.call_tool("score", each)).structured_content for each in asked]
            wrong = await client.call_tool("score", {"question": "none", "sql": "SELECT 1"})
            assert wrong.is_error
            assert "question 'none'" in str(wrong.content)
            return found

    assert [(each["outcome"], each["scores"]) for each in asyncio.run(scored())] == [
        (each.outcome, each.scores) for _, each in evaluated
    ]


@pytest.mark.parametrize(
    ("options", "says"),
    [(["--rows", "0"], "--rows"), (["--max-bytes", "0"], "--max-bytes"), (["--set", "nowhere"], "nowhere")],
)
def test_an_option_that_cannot_be_is_refused(call: Call, options: list[str], says: str) -> None:
    code, output, errors = call("lab", "mcp", *options)
    assert (code, output) == (2, "")
    assert says in errors


def test_mcp_takes_the_same(taken: Taken) -> None:
    chosen = slice(None, None, 7)  # a call for each

    async def scored() -> list[tuple[str | None, float]]:
        async with connected("--score") as client:
            asked = [{"question": each.question, "sql": each.text} for each in RAW[chosen]]
            told = [(await client.call_tool("score", each)).structured_content for each in asked]
            assert {each["extract"] for each in told} == {POLICY}
            return [(each["sql"], each["scores"]["ex"]) for each in told]

    assert asyncio.run(scored()) == [taken[each] for each in RAW[chosen]]
