"""An environment of OpenEnv: its server, with looks and an answer as actions, and its client.

https://huggingface.co/docs/openenv
"""

import asyncio
from functools import partial
from typing import Any, Literal

from openenv.core.client_types import StepResult
from openenv.core.env_client import EnvClient
from openenv.core.env_server import Action, Environment, Observation, State, create_fastapi_app
from starlette.applications import Starlette

from dialects.errors import BadInput
from harness.adapters.database_tools import DatabaseTools
from harness.engines import EngineName


class SqlAction(Action):
    """SQL to `look` at rows, or the `answer`, which ends the episode: all that the model wrote."""

    sql: str
    does: Literal["look", "answer"] = "answer"


class SqlObservation(Observation):
    """What a model reads: the prompt, then the rows of each look, at last the outcome and its scores.

    `reward` is EX, and None if nothing could judge the answer.
    """

    text: str
    scores: dict[str, float]


class QuestionState(State):
    """The question of the episode, by its key."""

    question: str | None = None


class TextToSqlEnvironment(Environment[SqlAction, SqlObservation, QuestionState]):
    """One question an episode; `make_app` makes one for each session.

    Args:
        tools: what judges answers and runs queries; all sessions share it.
        dialect: the engine of the answers; may be None if the evaluator has only one.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, tools: DatabaseTools, dialect: EngineName | None = None) -> None:
        super().__init__()
        self._tools, self._dialect = tools, dialect
        self._by_key = tools.looking().setup.questions.by_key
        self._state = QuestionState()

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, question: str | None = None, **_: Any
    ) -> SqlObservation:
        """Begin with a question: the one with this key, else the one at the place of the seed."""
        questions = self._tools.questions
        by_key = self._by_key
        if question is not None and question not in by_key:
            raise BadInput(f"question {question!r}: the set has none of this key")
        found = questions[(seed or 0) % len(questions)] if question is None else by_key[question]
        self._state = QuestionState(episode_id=episode_id, question=found.key)
        return SqlObservation(text=self._tools.prompt(found, self._dialect, may_look=True), scores={})

    def step(self, action: SqlAction, timeout_s: float | None = None, **_: Any) -> SqlObservation:
        """As `step_async`."""
        return asyncio.run(self.step_async(action, timeout_s))

    async def step_async(self, action: SqlAction, timeout_s: float | None = None, **_: Any) -> SqlObservation:
        """Run a query, or judge the answer; the evaluator's own limits hold."""
        del timeout_s
        if self._state.question is None:
            raise BadInput("there is no episode; reset first")
        self._state.step_count += 1
        question = self._by_key[self._state.question]
        if action.does == "look":
            rows = await self._tools.run_sql(question.db_id, action.sql, self._dialect)
            return SqlObservation(text=rows, scores={})
        judgement = await self._tools.judge_completion(question.key, action.sql, self._dialect)
        scores = dict(judgement.scores) if judgement.outcome.is_predictors else {}
        return SqlObservation(text=judgement.outcome, scores=scores, reward=scores.get("ex"), done=True)

    @property
    def state(self) -> QuestionState:
        """The question and the number of steps."""
        return self._state


def make_app(tools: DatabaseTools, *, dialect: EngineName | None = None, sessions: int = 64) -> Starlette:
    """Return the application, as a server of ASGI runs it.

    Args:
        tools: what judges answers and runs queries; its evaluator must stay open while the server runs.
        dialect: the engine of the answers; may be None if the evaluator has only one.
        sessions: the most sessions at a time.
    """
    tools.looking()  # tasks are refused at once
    make = partial(TextToSqlEnvironment, tools, dialect)
    app: Starlette = create_fastapi_app(
        make, SqlAction, SqlObservation, max_concurrent_envs=sessions, state_cls=QuestionState
    )
    return app


class TextToSqlClient(EnvClient[SqlAction, SqlObservation, QuestionState]):
    """A session with the server: `reset(question=KEY)`, then `step(SqlAction(...))` until it is done."""

    def _step_payload(self, action: SqlAction) -> dict[str, Any]:
        sent: dict[str, Any] = action.model_dump()
        return sent

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[SqlObservation]:
        about = {"reward": payload.get("reward"), "done": payload.get("done", False)}
        return StepResult(observation=SqlObservation(**payload["observation"], **about), **about)

    def _parse_state(self, payload: dict[str, Any]) -> QuestionState:
        return QuestionState(**payload)
