"""Reward functions in the signatures that TRL, verl and SkyRL call.

TRL and verl are not imported; `skyrl_environment` imports SkyRL's gym when it is called. A completion is a
text or a list of chat messages with SQL in it. Nothing counts as wrong for which nobody is to blame: a gold
that failed, an engine that broke, a deadline that passed.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from math import isfinite
from typing import Any, TypedDict, Unpack

from dialects.errors import BadInput
from harness.adapters.database_tools import DatabaseTools
from harness.data.answers import Extract
from harness.data.answers.reply import visible
from harness.data.outcomes import Judgement
from harness.engines import EngineName
from harness.metrics import METRICS
from harness.session.batches import BatchEvaluator
from harness.session.evaluator import Evaluator
from harness.session.request import within
from harness.session.resolver import Answer, Triple, one_of
from loaders.base.errors import brief
from loaders.base.files import one_line

_log = logging.getLogger(__name__)

Message = Mapping[str, Any]
Completion = str | Sequence[Message]


class RewardOptions(TypedDict, total=False):
    """What every reward function may be told.

    `metric` is one of the evaluator's, `ex` by default, or several with their weights, whose weighted sum is
    the reward: `{"ex": 0.8, "soft_f1": 0.2}`. `name` is the function's name, by which trainers log it; by
    default it is made of the metric. `dialect` is the engine, if the evaluator has
    several. `gold_dialect` is that of the golds if it is another one: see `Triple`. `deadline` is in seconds,
    for a batch. `extract` is how the SQL is taken out of a completion: `answer-1` by default, `fences`,
    `none`, or a function of yours that returns it, or None. A completion without SQL gets 0.

    With an evaluator of tasks the gold is the name of the task, no database is read, and the metric is one of
    the verdicts, `official` by default.
    """

    metric: str | Mapping[str, float]
    name: str
    dialect: EngineName
    gold_dialect: EngineName
    deadline: float
    extract: Extract | str | Callable[[str], str | None]


def trl_reward(
    evaluator: BatchEvaluator,
    *,
    database: str = "database",
    gold: str = "gold",
    **options: Unpack[RewardOptions],
) -> Callable[..., list[float | None]]:
    """Return a reward function for TRL's trainers.

    It returns a number for each completion, and None, which TRL leaves out, where nobody is to blame. If that
    is so for a whole step, it is logged as a warning, once.

    Args:
        evaluator: judges the answers; closed by the caller.
        database: the column of the training set with the names of databases.
        gold: the column with the golds.
        options: those of `RewardOptions`.

    Raises:
        BadInput: an option is unknown, or the evaluator does not compute the metric. Of the function: the
            training set has no such column.
    """
    judge = _Judge.of(evaluator, options)

    def sql_reward(*, completions: Sequence[Completion], **columns: Any) -> list[float | None]:
        golds = _column(columns, gold, "gold")
        names = [""] * len(golds) if evaluator.has_tasks else _column(columns, database, "database")
        return judge.rewards(names, golds, completions)

    return judge.named(sql_reward)


def verl_reward(
    evaluator: BatchEvaluator,
    *,
    unjudged: float,
    database: str = "database",
    **options: Unpack[RewardOptions],
) -> Callable[..., float]:
    """Return a `compute_score` for verl, which is called for each answer.

    `ground_truth` is the gold.

    Args:
        evaluator: judges the answers.
        unjudged: the reward where nobody is to blame; verl needs a number.
        database: the member of `extra_info` with the name of the database.
        options: as in `trl_reward`.

    Raises:
        BadInput: as in `trl_reward`.
    """
    judge = _Judge.of(evaluator, options)

    def compute_score(
        *, solution_str: str, ground_truth: str, extra_info: Mapping[str, Any], **_: Any
    ) -> float:
        name = "" if evaluator.has_tasks else _member(extra_info, database)
        [reward] = judge.rewards([name], [ground_truth], [solution_str])
        return unjudged if reward is None else reward

    return judge.named(compute_score)


def verl_batch_reward(
    evaluator: BatchEvaluator,
    *,
    unjudged: float,
    database: str = "database",
    **options: Unpack[RewardOptions],
) -> Callable[..., list[float]]:
    """Return a `compute_score` for verl's reward manager `batch`, which is called for a batch of answers.

    Args:
        evaluator: judges the answers.
        unjudged: the reward where nobody is to blame.
        database: the member of each of `extra_infos` with the name of the database.
        options: as in `trl_reward`.

    Raises:
        BadInput: as in `trl_reward`.
    """
    judge = _Judge.of(evaluator, options)

    def compute_score(
        *,
        solution_strs: Sequence[str],
        ground_truths: Sequence[str],
        extra_infos: Sequence[Mapping[str, Any]],
        **_: Any,
    ) -> list[float]:
        names = ["" if evaluator.has_tasks else _member(info, database) for info in extra_infos]
        rewards = judge.rewards(names, ground_truths, solution_strs)
        return [unjudged if reward is None else reward for reward in rewards]

    return judge.named(compute_score)


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
        options: as in `trl_reward`, without `name`.

    Raises:
        BadInput: as in `trl_reward`.
    """
    judge = _Judge.of(evaluator, options)
    tools = DatabaseTools(evaluator)
    tools.looking()  # tasks are refused at once
    base: type[Any] = import_module("skyrl_gym.envs.base_text_env").BaseTextEnv

    class SqlEnvironment(base):
        """One question to answer in SQL."""

        def __init__(self, *, extras: Mapping[str, Any], **_: Any) -> None:
            super().__init__()
            self.database = _column(extras, "db_id")
            self.gold = _column(_column(extras, "reward_spec"), "ground_truth")
            self.max_turns = extras.get("max_turns", 1)

        def step(self, action: str) -> dict[str, Any]:
            self.turns += 1
            said = visible(action)
            solution, query = _last_within("solution", said), _last_within("sql", said)
            if solution is not None or self.turns >= self.max_turns:
                answer = action if solution is None else solution
                [reward] = judge.rewards([self.database], [self.gold], [answer])
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


_ALONE = 32
"""So many answers in a row that could not be judged count as a whole step, if they come one by one."""


@dataclass
class _Judge:
    """Makes rewards of completions: `weights` of metrics, by their names.

    `unjudged` counts the answers that could not be judged since the last one that could.
    """

    evaluator: BatchEvaluator
    options: RewardOptions
    weights: Mapping[str, float]
    unjudged: int = 0
    has_warned: bool = False

    @classmethod
    def of(cls, evaluator: BatchEvaluator, options: RewardOptions) -> "_Judge":
        """Check the options.

        Raises:
            BadInput: one is unknown or wrong.
        """
        for option in options:
            one_of(RewardOptions.__annotations__, "reward option", option)
        metric = options.get("metric", evaluator.outcome_metric)
        weights: dict[str, Any] = {metric: 1.0} if isinstance(metric, str) else dict(metric)
        computed = [name for name in METRICS if name in {evaluator.outcome_metric, *evaluator.metrics}]
        for name, weight in weights.items():
            one_of([each.name for each in METRICS.values() if each.has_score], "metric", name)
            if name not in computed:
                raise BadInput(
                    f"metric {name!r}: the evaluator computes {', '.join(computed)}; add it to its metrics"
                )
            if not isinstance(weight, int | float) or not isfinite(weight):
                raise BadInput(f"metric {name!r}: its weight {brief(repr(weight))} is not a number; give one")
        if not weights:
            raise BadInput("metric: none is named; name one, or several with their weights")
        if "dialect" in options or len(evaluator.dialects) > 1:
            one_of(evaluator.dialects, "dialect", options.get("dialect", ""))
        if evaluator.has_tasks and "gold_dialect" in options:
            raise BadInput("gold_dialect: means nothing for tasks; leave it out")
        if isinstance(extract := options.get("extract", Extract.ANSWER_1), str):
            one_of(evaluator.policies, "extract", extract)
        within("deadline", options.get("deadline"), 0.001, float("inf"), "seconds")
        return cls(evaluator, options, weights)

    def named(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Give a function its name."""
        metrics = () if [*self.weights] == [self.evaluator.outcome_metric] else self.weights
        function.__name__ = self.options.get("name", "_".join((function.__name__, *metrics)))
        function.__qualname__ = function.__name__
        return function

    def rewards(
        self, databases: Sequence[str], golds: Sequence[str], completions: Sequence[Completion]
    ) -> list[float | None]:
        """Return the reward of each completion, None where nobody is to blame."""
        dialects = self.options.get("dialect"), self.options.get("gold_dialect")
        extract: Extract | str | Callable[[str], str | None] = self.options.get("extract", Extract.ANSWER_1)
        texts = [_text(completion) for completion in completions]
        if not isinstance(extract, str):
            texts, extract = [extract(text) or "" for text in texts], Extract.NONE
        answers: list[Answer | Triple] = [
            Answer(gold, text, dialects[0])
            if self.evaluator.has_tasks
            else Triple(name, gold, text, *dialects)
            for name, gold, text in zip(databases, golds, texts, strict=True)
        ]
        judged = self.evaluator.score(answers, deadline=self.options.get("deadline"), extract=extract)
        self._warn(judged)
        return [self._reward(each) if each.outcome.is_predictors else None for each in judged]

    def _reward(self, judgement: Judgement) -> float | None:
        """Return the weighted sum of scores; None if one of them is unknown."""
        scores = [judgement.scores.get(name) for name in self.weights]
        known = [score for score in scores if score is not None]
        if len(known) < len(scores):
            return None
        return sum(score * weight for score, weight in zip(known, self.weights.values(), strict=True))

    def _warn(self, judged: Sequence[Judgement]) -> None:
        """Log once that nothing of a whole step could be judged."""
        if not judged or any(each.outcome.is_predictors for each in judged):
            self.unjudged = 0
            return
        self.unjudged += len(judged)
        if self.has_warned or (len(judged) == 1 and self.unjudged < _ALONE):
            return
        self.has_warned = True
        why = f"{judged[-1].outcome}: {brief(one_line(judged[-1].error or ''), 300)}"
        _log.warning(
            "none of the last %d answers could be judged, so none has a reward (%s)", self.unjudged, why
        )


def _column(columns: Mapping[str, Any], name: str, option: str = "") -> Any:
    """Return a column of the training set.

    Raises:
        BadInput: it has none of this name.
    """
    if name not in columns:
        remedy = f"name it with {option}=" if option else "add it"
        raise BadInput(f"column {name!r}: the training set has {', '.join(columns)}; {remedy}")
    return columns[name]


def _member(info: Mapping[str, Any], name: str) -> str:
    """Return the database that verl's `extra_info` names.

    Raises:
        BadInput: it does not.
    """
    if name not in info:
        has = ", ".join(info) or "nothing"
        raise BadInput(f"extra_info: has no {name!r} but {has}; name the member with database=")
    return str(info[name])


def _text(completion: Completion) -> str:
    """Return the text of a completion: of a chat, that of the last message, in one part or several."""
    if isinstance(completion, str):
        return completion
    content = completion[-1]["content"] if completion else ""
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content or ())
