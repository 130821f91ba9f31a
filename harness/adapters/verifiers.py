"""An environment of verifiers: a taskset of questions, a reward by execution and a tool that runs SQL.

https://docs.primeintellect.ai/verifiers. Its command line finds tasksets among top-level modules: give it one
with `from harness.adapters.verifiers import *`.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import verifiers.v1 as vf

from harness.adapters.database_tools import DatabaseTools
from harness.data.answers import Extract
from harness.data.outcomes import Judgement
from harness.session.evaluator import Evaluator, open_evaluator

__all__ = ["TextToSqlEnv", "TextToSqlTaskset"]


class TextToSqlTaskConfig(vf.TaskConfig):
    """Where tasks are judged: `seconds` limits an answer with its gold; `metric` is the reward.

    `extract` is how the SQL is taken out of the last message. Tasks of a lab's set have prompts and limits of
    their own, and the official verdict as the reward. With `family` the set is a published file of tasks, and
    `phase`, `databases` and `gold` mean what they do to `bird-harness serve`.
    """

    set_name: str = "sample"
    dialect: str = "sqlite"
    seconds: float = 30.0
    metric: str | None = None
    family: str | None = None
    phase: str | None = None
    databases: str | None = None
    gold: str | None = None
    extract: str = Extract.ANSWER_1.value


class TextToSqlConfig(vf.TasksetConfig):
    """The taskset: with `may_look`, the model has the tool `run_sql`."""

    task: TextToSqlTaskConfig = TextToSqlTaskConfig()
    may_look: bool = False


class SqlToolsetConfig(vf.SharedToolsetConfig):
    """The tool's server: `rows` and `max_bytes` limit what a query shows."""

    set_name: str = "sample"
    dialect: str = "sqlite"
    seconds: float = 30.0
    rows: int = 50
    max_bytes: int = 8_192


@cache
def _tools(extract: str, **where: Any) -> DatabaseTools:
    """Return the tools of this process, whose evaluator lives as long as it does."""
    return DatabaseTools(open_evaluator(**where), extract=extract)


def _tools_of(where: TextToSqlTaskConfig) -> DatabaseTools:
    options = {name: getattr(where, name) for name in ("family", "phase", "databases", "gold", "seconds")}
    dialects = where.dialect if where.family is None else None
    return _tools(where.extract, set_name=where.set_name, dialects=dialects, **options)


class SqlToolset(vf.Toolset[SqlToolsetConfig, vf.State]):
    """The tool `run_sql`, served by a process of its own for all rollouts."""

    TOOL_PREFIX = None

    async def setup(self) -> None:
        """Open the databases."""
        evaluator = Evaluator(self.config.set_name, dialects=self.config.dialect, seconds=self.config.seconds)
        self._exit_stack.enter_context(evaluator)
        self._tools = DatabaseTools(evaluator, rows=self.config.rows, max_bytes=self.config.max_bytes)

    @vf.tool
    async def run_sql(self, database: str, sql: str) -> str:
        """Run one SQL query that only reads; returns its first rows, a JSON array each, or the error."""
        return await self._tools.run_sql(database, sql)


class TextToSqlData(vf.TaskData):
    """A question, by its key in the set."""

    question: str


class TextToSqlTask(vf.Task[TextToSqlData, vf.State, TextToSqlTaskConfig]):
    """Answer a question by one query, in the last message."""

    async def _judged(self, trace: vf.Trace) -> Judgement:
        judgement = await _tools_of(self.config).judge_completion(self.data.question, trace.last_reply)
        if not judgement.outcome.is_predictors:
            raise vf.TaskError(f"{judgement.outcome}: {judgement.error}")
        return judgement

    @vf.reward
    async def execution(self, trace: vf.Trace) -> float:
        """Return the reward; the rollout fails if nothing can be judged, rather than getting 0."""
        metric = self.config.metric or _tools_of(self.config).evaluator.outcome_metric
        scores = (await self._judged(trace)).scores
        if metric not in scores:
            raise vf.TaskError(f"{metric}: decides nothing here")
        return scores[metric]

    @vf.metric
    async def scores(self, trace: vf.Trace) -> Mapping[str, float]:
        """Return all scores."""
        return dict((await self._judged(trace)).scores)


class TextToSqlTaskset(vf.Taskset[TextToSqlTask, TextToSqlConfig]):
    """The questions of a set, with the prompts of `bird-harness lab predict`."""

    def load(self) -> Iterator[TextToSqlTask]:
        """Yield a task for each question."""
        where, tools = self.config.task, _tools_of(self.config.task)
        for each in tools.questions:
            prompt = tools.prompt(each, may_look=self.config.may_look)
            yield TextToSqlTask(TextToSqlData(id=each.key, question=each.key, prompt=prompt), where)

    @classmethod
    def toolsets(cls, config: TextToSqlConfig) -> list[vf.Toolset]:
        """Return the tool, if the model may look."""
        where = config.task
        own = SqlToolsetConfig(set_name=where.set_name, dialect=where.dialect, seconds=where.seconds)
        return [SqlToolset(own)] if config.may_look else []


class TextToSqlEnvConfig(vf.EnvConfig):
    """A chat loop as the agent, in a process of this machine: it runs no code of the model's."""

    agent: vf.AgentConfig = vf.AgentConfig(harness=vf.HarnessConfig(id="null"), runtime=vf.SubprocessConfig())


class TextToSqlEnv(vf.Env[TextToSqlEnvConfig]):
    """One agent answers one question."""

    async def run(self, task: TextToSqlTask, agents: vf.Agents) -> None:
        """Have the agent answer."""
        await agents.agent.run(task)


if __name__ == "__main__":
    SqlToolset.run()  # how verifiers starts the tool's server
