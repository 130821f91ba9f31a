"""Reward functions in the signatures that TRL, verl and SkyRL call.

TRL and verl are not imported; `skyrl_environment` imports SkyRL's gym when it is called. A completion is a
text or a list of chat messages with SQL in it. Nothing counts as wrong for which nobody is to blame: a gold
that failed, an engine that broke, a deadline that passed.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, TypedDict, Unpack

from harness import Evaluator, Triple
from harness.adapters.database_tools import DatabaseTools
from harness.engines import EngineName
from harness.predictors.extraction import take_sql

Message = Mapping[str, Any]
Completion = str | Sequence[Message]


class RewardOptions(TypedDict, total=False):
    """What every reward function may be told.

    `metric` is one of the evaluator's, `ex` by default. `dialect` is the engine, if the evaluator has
    several. `gold_dialect` is that of the golds if it is another one: see `Triple`. `deadline` is in seconds,
    for a batch. `extract` returns the SQL in a completion, or None to take all of it; by default it is found
    as by `bird-harness predict`, and `str` leaves completions as they are.
    """

    metric: str
    dialect: EngineName
    gold_dialect: EngineName
    deadline: float
    extract: Callable[[str], str | None]


def trl_reward(
    evaluator: Evaluator, *, database: str = "database", gold: str = "gold", **options: Unpack[RewardOptions]
) -> Callable[..., list[float | None]]:
    """Return a reward function for TRL's trainers.

    It returns a number for each completion, and None, which TRL leaves out, where nobody is to blame.

    Args:
        evaluator: judges the answers; closed by the caller.
        database: the column of the training set with the names of databases.
        gold: the column with the golds.
        options: those of `RewardOptions`.
    """

    def sql_reward(*, completions: Sequence[Completion], **columns: Any) -> list[float | None]:
        return _rewards(evaluator, columns[database], columns[gold], completions, options)

    return sql_reward


def verl_reward(
    evaluator: Evaluator, *, unjudged: float, database: str = "database", **options: Unpack[RewardOptions]
) -> Callable[..., float]:
    """Return a `compute_score` for verl, which is called for each answer.

    `ground_truth` is the gold.

    Args:
        evaluator: judges the answers.
        unjudged: the reward where nobody is to blame; verl needs a number.
        database: the member of `extra_info` with the name of the database.
        options: as in `trl_reward`.
    """

    def compute_score(
        *, solution_str: str, ground_truth: str, extra_info: Mapping[str, Any], **_: Any
    ) -> float:
        [reward] = _rewards(evaluator, [extra_info[database]], [ground_truth], [solution_str], options)
        return unjudged if reward is None else reward

    return compute_score


def verl_batch_reward(
    evaluator: Evaluator, *, unjudged: float, database: str = "database", **options: Unpack[RewardOptions]
) -> Callable[..., list[float]]:
    """Return a `compute_score` for verl's reward manager `batch`, which is called for a batch of answers.

    Args:
        evaluator: judges the answers.
        unjudged: the reward where nobody is to blame.
        database: the member of each of `extra_infos` with the name of the database.
        options: as in `trl_reward`.
    """

    def compute_score(
        *,
        solution_strs: Sequence[str],
        ground_truths: Sequence[str],
        extra_infos: Sequence[Mapping[str, Any]],
        **_: Any,
    ) -> list[float]:
        names = [info[database] for info in extra_infos]
        rewards = _rewards(evaluator, names, ground_truths, solution_strs, options)
        return [unjudged if reward is None else reward for reward in rewards]

    return compute_score


def _last_within(tag: str, text: str) -> str | None:
    """Return what is between the last closing tag and the tag that opens it; None if there is none.

    Not by a pattern: the time of one grows with the square of the tags that a text leaves open.
    """
    before, ended, _ = text.rpartition(f"</{tag}>")
    _, opened, within = before.rpartition(f"<{tag}>")
    return within if ended and opened else None


def skyrl_environment(
    evaluator: Evaluator, *, unjudged: float, **options: Unpack[RewardOptions]
) -> type[Any]:
    """Return an environment class for SkyRL's gym, with the tags of its own `text2sql`.

    A query in `<sql>` tags is run, and its first rows are the next observation. An answer in `<solution>`
    tags, or the action of the last turn, is judged and ends the episode. The name of the database is
    `extras["db_id"]`, the gold `extras["reward_spec"]["ground_truth"]`, the number of turns
    `extras["max_turns"]`, 1 by default.

    Args:
        evaluator: judges the answers and runs the queries.
        unjudged: the reward where nobody is to blame; SkyRL needs a number.
        options: as in `trl_reward`.
    """
    base: type[Any] = import_module("skyrl_gym.envs.base_text_env").BaseTextEnv
    tools = DatabaseTools(evaluator)

    class SqlEnvironment(base):
        """One question to answer in SQL."""

        def __init__(self, *, extras: Mapping[str, Any], **_: Any) -> None:
            super().__init__()
            self.database, self.gold = extras["db_id"], extras["reward_spec"]["ground_truth"]
            self.max_turns = extras.get("max_turns", 1)

        def step(self, action: str) -> dict[str, Any]:
            self.turns += 1
            solution, query = _last_within("solution", action), _last_within("sql", action)
            if solution is not None or self.turns >= self.max_turns:
                answer = action if solution is None else solution
                [reward] = _rewards(evaluator, [self.database], [self.gold], [answer], options)
                return _step([], unjudged if reward is None else reward, is_judged=reward is not None)
            if query is not None:
                seen = tools.run_sql_and_wait(self.database, query, options.get("dialect"))
            else:
                seen = "error: no query in <sql> tags, and no answer in <solution> tags"
            return _step([{"role": "user", "content": f"<observation>{seen}</observation>"}])

    return SqlEnvironment


def _step(
    observations: Sequence[Message], reward: float = 0.0, *, is_judged: bool | None = None
) -> dict[str, Any]:
    """Return the outcome of a step; without `is_judged`, the episode continues."""
    metadata = {} if is_judged is None else {"judged": is_judged}
    done = is_judged is not None
    return {"observations": [*observations], "reward": reward, "done": done, "metadata": metadata}


def _rewards(
    evaluator: Evaluator,
    databases: Sequence[str],
    golds: Sequence[str],
    completions: Sequence[Completion],
    options: RewardOptions,
) -> list[float | None]:
    """Return the score of each completion, None where nobody is to blame or the metric has none."""
    dialects = options.get("dialect"), options.get("gold_dialect")
    extract, texts = options.get("extract", take_sql), map(_text, completions)
    triples = [
        Triple(name, gold, extract(text) or text, *dialects)
        for name, gold, text in zip(databases, golds, texts, strict=True)
    ]
    judged, metric = evaluator.score(triples, deadline=options.get("deadline")), options.get("metric", "ex")
    return [each.scores.get(metric) if each.outcome.is_predictors else None for each in judged]


def _text(completion: Completion) -> str:
    """Return the text of a completion: of a chat, that of the last message, in one part or several."""
    if isinstance(completion, str):
        return completion
    content = completion[-1]["content"] if completion else ""
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content or ())
