"""The tools of a model on the databases of an evaluator: list, describe, run SQL, be scored.

Every adapter offers them in the words of its framework. Nothing that a model writes can change a database,
stop the process that calls, or take longer than the evaluator's time limit.
"""

import asyncio
from collections.abc import Sequence

from dialects.errors import BadInput
from harness.data.answers import Extract
from harness.data.descriptions import description_folder
from harness.data.outcomes import Judgement
from harness.data.questions import Question
from harness.engines import EngineName, kind_of
from harness.engines.execution import Ending, Execution
from harness.predictors.base import DatabaseText, Problem
from harness.predictors.prompts import PromptOptions, open_prompter
from harness.predictors.schema import describe, plain_value, read_database
from harness.session.batches import BatchEvaluator
from harness.session.evaluator import Evaluator
from harness.session.resolver import Answer, one_of
from loaders.base.files import as_json, one_line

_MAY_LOOK = (
    "The database is {!r}. Before you reply, you may call run_sql to look at its rows and try queries."
)


class DatabaseTools:
    """The tools of a model; callable from any event loop.

    A wrong name of a database or engine is the model's fault: its tools return the words for it. They raise
    EngineUnavailable if an engine fails, because an episode is worth nothing then.

    Tasks of a `TaskEvaluator` have prompts of their own, single turn. Their databases are shown to no model.

    Args:
        evaluator: judges answers and runs SQL, under its time limit; closed by the caller.
        rows: the most rows that `run_sql` shows.
        max_bytes: the most bytes of texts and nested values in them.
        extract: how the SQL is taken out of what a model answers.
    """

    def __init__(
        self,
        evaluator: BatchEvaluator,
        *,
        rows: int = 50,
        max_bytes: int = 8_192,
        extract: Extract | str = Extract.ANSWER_1,
    ) -> None:
        self.evaluator = evaluator
        self.extract = one_of(evaluator.policies, "extract", extract)
        self._most = {"rows": rows, "max_bytes": max_bytes}
        self._prompter = open_prompter(PromptOptions())
        self._schemas: dict[tuple[str, EngineName], DatabaseText] = {}

    @property
    def questions(self) -> Sequence[Question]:
        """The questions of the evaluator's set; none if it has databases only."""
        return self.evaluator.questions

    def looking(self) -> Evaluator:
        """Return the evaluator, whose databases may be shown to models.

        Raises:
            BadInput: it is one of tasks.
        """
        if not isinstance(self.evaluator, Evaluator):
            raise BadInput(
                "databases of tasks are shown to no model; ask in a single turn by lm-eval, Inspect or"
                " verifiers, or judge answers by trl_reward, verl_reward or bird-harness serve"
            )
        return self.evaluator

    @property
    def databases(self) -> list[str]:
        """The names of the databases."""
        return sorted(self.looking().setup.questions.db_ids)

    def prompt(self, question: Question, dialect: EngineName | None = None, *, may_look: bool = False) -> str:
        """Return the prompt for a question, as `lab predict` sends it: schema, question, evidence.

        Args:
            question: one of `questions`.
            dialect: the engine of the answer.
            may_look: True to say that the model may call `run_sql` first.

        Raises:
            BadInput: the evaluator has several engines and none is named, or not this one; or the model may
                look at the database of a task.
            EngineUnavailable: the engine does not answer.
        """
        if not may_look and (own := self.evaluator.own_prompt(question.key, dialect)) is not None:
            return own
        schema = self._schema(question.db_id, dialect)
        problem = Problem(question.key, question.text, question.evidence, schema)
        text = self._prompter.write("direct.j2", problem).messages[0].content
        return f"{text}\n\n{_MAY_LOOK.format(question.db_id)}" if may_look else text

    async def describe(self, database: str, dialect: EngineName | None = None) -> str:
        """Return the CREATE TABLE statements of a database on an engine, with its published descriptions.

        Raises:
            EngineUnavailable: the engine does not answer.
        """
        try:
            return await self.schema(database, dialect)
        except BadInput as fault:
            return f"error: {fault}"

    async def schema(self, database: str, dialect: EngineName | None = None) -> str:
        """Return the same, where a wrong name is an error.

        Raises:
            BadInput: there is no such database or engine.
            EngineUnavailable: the engine does not answer.
        """
        schema = await asyncio.to_thread(self._schema, database, dialect)
        title = kind_of(schema.dialect).title
        return self._prompter.render("schema.j2", dialect=title, tables=schema.tables)

    def _schema(self, database: str, dialect: EngineName | None) -> DatabaseText:
        evaluator = self.looking()
        setup, engine = evaluator.setup, evaluator.engine_for(database, dialect)
        if (database, engine) not in self._schemas:
            place = setup.database(database, engine)
            schema = read_database(setup.engine(engine), place, kind=kind_of(engine))
            folder = description_folder(setup.questions.databases, database)
            if folder.is_dir():
                schema, _ = describe(schema, folder)
            self._schemas[database, engine] = schema
        return self._schemas[database, engine]

    async def run_sql(self, database: str, sql: str, dialect: EngineName | None = None) -> str:
        """Run a query and return its rows as text, a JSON array each, or what went wrong.

        Raises:
            EngineUnavailable: the engine failed, not the query.
        """
        try:
            return told(await self.execute(database, sql, dialect))
        except BadInput as fault:
            return f"error: {fault}"

    async def execute(self, database: str, sql: str, dialect: EngineName | None = None) -> Execution:
        """Run a query for its first rows.

        Raises:
            BadInput: there is no such database or engine.
            EngineUnavailable: the engine failed, not the query.
        """
        return await self.looking().aexecute(database, sql, dialect=dialect, **self._most)

    def run_sql_and_wait(self, database: str, sql: str, dialect: EngineName | None = None) -> str:
        """Like `run_sql`, where there is no event loop, or none to be awaited.

        Raises:
            EngineUnavailable: the engine failed, not the query.
        """
        try:
            return told(self.looking().execute(database, sql, dialect=dialect, **self._most))
        except BadInput as fault:
            return f"error: {fault}"

    async def judge_completion(
        self, question: int | str, answer: str, dialect: EngineName | None = None
    ) -> Judgement:
        """Judge an answer to a question of the set, as `bird-harness eval` does with the same `extract`.

        Raises:
            BadInput: there is no such question or engine.
            EngineUnavailable: an engine does not respond to its first task.
        """
        [judgement] = await self.evaluator.ascore([Answer(question, answer, dialect)], extract=self.extract)
        return judgement

    def extracted(self, question: int | str, answer: str, dialect: EngineName | None = None) -> str | None:
        """Return the SQL that `judge_completion` judges; None if the answer has none."""
        return self.evaluator.prepare([Answer(question, answer, dialect)], self.extract).sql[0]


def told(done: Execution) -> str:
    """Return what a query returned, as a model reads it."""
    lines = [as_json(list(map(plain_value, row))) for row in done.rows]
    match done.ending:
        case Ending.ROWS:
            return "\n".join(lines) or "no rows"
        case Ending.TOO_LARGE if lines:
            return "\n".join([*lines, f"... cut: {done.error}; these are the first {len(lines)}"])
    return one_line(f"{done.ending}: {done.error}")
