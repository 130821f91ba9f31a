"""An Inspect AI task: questions of a set, a scorer by execution and a tool that runs SQL.

https://inspect.aisi.org.uk
"""

from math import nan

from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Solver, TaskState, generate, use_tools
from inspect_ai.tool import Tool, tool

from harness.adapters.database_tools import DatabaseTools
from harness.engines import EngineName, dialect_of


@tool
def run_sql(tools: DatabaseTools, dialect: EngineName | None = None) -> Tool:
    """Return the tool that runs a query, for `use_tools` and agents."""
    tools.looking()

    async def execute(database: str, sql: str) -> str:
        """Run one SQL query that only reads, and return its first rows.

        Args:
            database: The name of the database.
            sql: The query.

        Returns:
            The rows, a JSON array each, or what went wrong.
        """
        return await tools.run_sql(database, sql, dialect)

    return execute


@scorer(metrics={"*": [mean(), stderr()]})
def execution(tools: DatabaseTools, dialect: EngineName | None = None) -> Scorer:
    """Return the scorer: the evaluator's metrics for the SQL in a completion.

    The score's answer is the SQL, and its metadata names the policy that took it out. A sample is unscored
    if no answer could be judged, because its gold or the engine failed.
    """

    async def score(state: TaskState, target: Target) -> Score:
        del target
        completion = state.output.completion
        judgement = await tools.judge_completion(str(state.sample_id), completion, dialect)
        told = {
            "answer": tools.extracted(str(state.sample_id), completion, dialect),
            "explanation": judgement.error,
            "reason": judgement.outcome.value,
            "metadata": {"extract": tools.extract},
        }
        if not judgement.outcome.is_predictors:
            return Score.unscored(**told)
        # A verdict on a task that decides nothing is unscored.
        return Score(
            value={name: judgement.scores.get(name, nan) for name in tools.evaluator.metrics}, **told
        )

    return score


def make_task(tools: DatabaseTools, *, dialect: EngineName | None = None, turns: int = 1) -> Task:
    """Return a task with every question, or task, of the evaluator's set.

    Args:
        tools: what judges answers and runs queries; its evaluator must stay open while the task runs.
        dialect: the engine of the answers; may be None if the evaluator has only one.
        turns: the most generations of a sample; with more than one, the model gets `run_sql`, not for tasks.
    """
    samples = []
    for each in tools.questions:
        prompt, engine = (
            tools.prompt(each, dialect, may_look=turns > 1),
            dialect or tools.evaluator.dialects[0],
        )
        samples.append(
            Sample(
                prompt,
                id=each.key,
                target=each.gold.get(dialect_of(engine), ""),
                metadata={"database": each.db_id, "difficulty": each.difficulty, "dialect": engine},
            )
        )
    solver: list[Solver] = [use_tools(run_sql(tools, dialect)), generate()] if turns > 1 else [generate()]
    return Task(
        MemoryDataset(samples, name=tools.evaluator.name),
        solver=solver,
        scorer=execution(tools, dialect),
        turn_limit=turns,
    )
