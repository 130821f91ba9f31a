"""NeMo Gym's messages: a row of its data set with a model's response, and the reward that it returns.

The interface is that of `nemo_gym.base_resources_server` of nemo-gym 0.7.0, over HTTP:
https://docs.nvidia.com/nemo/gym. The package itself is not needed.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Literal

from dialects.errors import BadInput
from harness.data.outcomes import Judgement
from harness.data.responses import member, responses_response
from harness.session.resolver import Answer, Triple
from loaders.base.records import to_object, to_record

Policy = Literal["none", "fences", "answer-1", "official"]
"""The names of all policies of extraction; an evaluator has some of them."""

_TASK = "_ng_task_index"
_TURN_ENDS = {"function_call", "function_call_output"}


@dataclass(frozen=True, kw_only=True)
class NemoGymRow:
    """The members of a row that name what is asked, at its top or in its `verifier_metadata`.

    `question_id` is a question of the set, or a task; or `gt_sql` is the gold of the row's own, on the
    database `db_id`. `metric` is the reward, one of the server's: by default `ex`, and `official` for tasks.
    `extract` is how the SQL is taken out of the response, by default as the server does, or by `answer-1` if
    that takes nothing.
    """

    question_id: int | str | None = None
    db_id: str | None = None
    gt_sql: str | None = None
    dialect: str | None = None
    gold_dialect: str | None = None
    set: str | None = None
    metric: str | None = None
    extract: Policy | None = None

    def answer(self, text: str) -> Answer | Triple:
        """Return what the evaluator takes.

        Raises:
            BadInput: the row names neither a question nor its own gold, or both.
        """
        if self.question_id is not None and self.gt_sql is None:
            return Answer(self.question_id, text, self.dialect)
        if self.question_id is None and self.db_id is not None and self.gt_sql is not None:
            return Triple(self.db_id, self.gt_sql, text, self.dialect, self.gold_dialect)
        raise BadInput("the row needs either question_id, or db_id and gt_sql; give one of the two")


@dataclass(frozen=True, kw_only=True)
class NemoGymReward:
    """Members added to a row. If `mask_sample` is true, nobody is to blame and the reward means nothing."""

    reward: float
    mask_sample: bool
    failure_kind: Literal["verifier_error"] | None
    failure_reason: str | None
    outcome: str
    extracted_sql: str | None


@dataclass(frozen=True, kw_only=True)
class NemoGymMetrics:
    """Means over the rollouts that are not masked: of each task, and of all."""

    group_level_metrics: list[dict[str, float]]
    agent_metrics: dict[str, float]
    key_metrics: dict[str, float]


def read_row(content: Mapping[str, Any]) -> tuple[NemoGymRow, str]:
    """Read the body of `/verify`: its row, and the text that the model ends with, "" if there is none.

    Raises:
        BadInput: it is no such body.
    """
    about = content.get("verifier_metadata")
    told = {**(about if isinstance(about, dict) else {}), **content}
    response = content.get("response")
    output = member(response, "output")
    if not isinstance(response, dict) or not isinstance(output, list):
        raise BadInput("response: is not a response with `output`; send an object of the interface Responses")
    said = [each for each in output if member(each, "role") in {None, "assistant"}]
    ends = [place for place, each in enumerate(said) if member(each, "type") in _TURN_ENDS]
    text = responses_response({**response, "output": said[ends[-1] + 1 :] if ends else said}).text or ""
    try:
        row = to_record(NemoGymRow, told, others=True)
    except ValueError as fault:
        raise BadInput(f"the row is wrong: {fault}") from None
    return row, text.encode("utf-8", "replace").decode()


def rewarded(metric: str, judged: Judgement, sql: str | None) -> NemoGymReward:
    """Return the members added to a row; `sql` was taken out of the response."""
    score = judged.scores.get(metric)
    is_masked = score is None or not judged.outcome.is_predictors
    return NemoGymReward(
        reward=0.0 if is_masked or score is None else score,
        mask_sample=is_masked,
        failure_kind="verifier_error" if is_masked else None,
        failure_reason=f"{judged.outcome}: {judged.error or 'it has no score'}" if is_masked else None,
        outcome=judged.outcome,
        extracted_sql=sql,
    )


def metrics(content: Mapping[str, Any]) -> NemoGymMetrics:
    """Return the metrics of the body of `/aggregate_metrics`: rows with what `rewarded` added.

    Raises:
        BadInput: it is no such body.
    """
    try:
        rows = [to_object(each) for each in to_record(list, content.get("verify_responses"))]
        rewards: dict[int, list[float]] = defaultdict(list)
        measured = [each for each in rows if each.get("mask_sample") is not True]
        for each in measured:
            rewards[to_record(int, each.get(_TASK, 0))].append(to_record(float, each.get("reward")))
    except ValueError as fault:
        raise BadInput(f"verify_responses: {fault}; send what /verify returned") from None
    every = [reward for group in rewards.values() for reward in group]
    found = _mean(every) if every else {}
    if len(measured) < len(rows):
        masked = len(rows) - len(measured)
        found |= {"coverage/measured_rollouts": len(measured), "coverage/masked_rollouts": masked}
    groups = [{_TASK: task, **_mean(group)} for task, group in sorted(rewards.items())]
    return NemoGymMetrics(group_level_metrics=groups, agent_metrics=found, key_metrics=found)


def _mean(rewards: Sequence[float]) -> dict[str, float]:
    return {"mean/reward": fmean(rewards)}
