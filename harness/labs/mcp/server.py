"""A server of the Model Context Protocol with the tools of `DatabaseTools`.

https://modelcontextprotocol.io
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

import harness
from dialects.errors import HarnessError
from harness.adapters.database_tools import DatabaseTools, told
from harness.engines.execution import Ending
from loaders.base.files import as_json, one_line

_INSTRUCTIONS = "Databases to answer questions from. Call describe before you write SQL; run_sql only reads."

DatabaseName = Annotated[str, Field(description="The name of a database, as list_databases returns it.")]


@contextmanager
def _told() -> Iterator[None]:
    """Tell the model what is wrong in the harness's words: the package hides those of other exceptions."""
    try:
        yield
    except HarnessError as error:
        raise ToolError(str(error)) from error


def make_server(tools: DatabaseTools, *, scores: bool = False) -> MCPServer[Any]:
    """Return a server with the tools `list_databases`, `describe` and `run_sql`.

    Args:
        tools: what the tools do; its evaluator may have several engines, which the calls name then.
        scores: True to offer `score`, too, which tells whether an answer to a question of the set is right.
    """
    server = MCPServer[Any](
        "bird-harness", instructions=_INSTRUCTIONS, version=harness.__version__, log_level="ERROR"
    )
    names = list(tools.looking().dialects)
    engines = ", ".join(names)
    engine_name = Annotated[
        str | None,
        Field(
            description=f"The engine, whose dialect the SQL is in: {engines}."
            + (" Must be named." if len(names) > 1 else " May be left out."),
            json_schema_extra={"examples": list(names)},
        ),
    ]
    reads = ToolAnnotations(read_only_hint=True, open_world_hint=False)

    @server.tool(annotations=reads)
    def list_databases() -> list[str]:
        """List the names of the databases."""
        return tools.databases

    @server.tool(
        annotations=reads,
        structured_output=False,
        description=f"Return a database's CREATE TABLE statements on an engine. Engines: {engines}.",
    )
    async def describe(database: DatabaseName, dialect: engine_name = None) -> str:
        with _told():
            return await tools.schema(database, dialect)

    @server.tool(
        annotations=reads,
        structured_output=False,
        description="Run one SQL query; returns the names of its columns, then its first rows, a JSON array"
        f" each. Engines: {engines}.",
    )
    async def run_sql(
        database: DatabaseName,
        sql: Annotated[str, Field(description="One query that only reads.")],
        dialect: engine_name = None,
    ) -> str:
        with _told():
            done = await tools.execute(database, sql, dialect)
        if done.ending is not Ending.ROWS and not done.rows:
            raise ToolError(told(done))
        return f"columns: {as_json([*done.columns])}\n{told(done)}"

    if scores:

        @server.tool(annotations=reads)
        async def score(
            question: Annotated[str, Field(description="The question's id.")],
            sql: Annotated[str, Field(description="The answer to it.")],
            dialect: engine_name = None,
        ) -> dict[str, Any]:
            """Score SQL as the answer to a question of the set, by its id."""
            with _told():
                judgement = await tools.judge_completion(question, sql, dialect)
            return {
                "outcome": judgement.outcome,
                "is_predictors": judgement.outcome.is_predictors,
                "scores": judgement.scores,
                "error": judgement.error and one_line(judgement.error),
                "extract": tools.extract,
                "sql": tools.extracted(question, sql, dialect),
            }

    return server
