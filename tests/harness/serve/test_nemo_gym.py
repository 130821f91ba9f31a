"""The routes of a NeMo Gym resources server: rows come back with the reward of the response in them."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import httpx2
import jsonschema  # type: ignore[import-untyped]  # the checker's own
import pytest

from tests.harness.serve.served import ENDLESS, PATIENT_SECONDS, Served, served

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

GOLD = "SELECT COUNT(*) FROM books"
ASKED = {"input": [{"role": "user", "content": "How many books are there?"}]}
OWN = {"db_id": "city_library", "gt_sql": GOLD}
DOCUMENTED = {
    "type": "object",
    "required": ["responses_create_params", "response", "reward"],
    "properties": {
        "responses_create_params": {"type": "object", "required": ["input"]},
        "response": {"type": "object", "required": ["id", "created_at", "model", "object", "output"]},
        "reward": {"type": "number"},
        "mask_sample": {"type": "boolean"},
        "failure_kind": {"enum": [None, "verifier_error"]},  # one of `nemo_gym.failure_kinds`
        "failure_reason": {"type": ["string", "null"]},
    },
}
"""`BaseVerifyResponse` of nemo-gym 0.7.0, whose validation takes other members as well."""


@pytest.fixture(scope="module")
def gym() -> Iterator[Served]:
    with served("--timeout", "1", "--max-bytes", "100000") as found:
        yield found


def message(text: str, kind: str = "output_text") -> Mapping[str, Any]:
    part = {"type": kind, "refusal" if kind == "refusal" else "text": text, "annotations": []}
    return {"id": "m", "type": "message", "role": "assistant", "status": "completed", "content": [part]}


def response(*output: Mapping[str, Any]) -> Mapping[str, Any]:
    """An object of the interface Responses, as NeMo Gym's model servers return it."""
    about = {"id": "resp_1", "created_at": 1.0, "model": "m", "object": "response", "status": "completed"}
    rest = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "metadata": None}
    return about | rest | {"output": [*output]}


def post(gym: Served, route: str, content: Any) -> httpx2.Response:
    headers = {"Content-Type": "application/json"}
    body = json.dumps(content).encode()
    return httpx2.post(f"{gym.address}{route}", content=body, headers=headers, timeout=PATIENT_SECONDS)


def verified(gym: Served, row: Mapping[str, Any], *output: Mapping[str, Any]) -> dict[str, Any]:
    """Have a response verified; return the answer, which repeats the request."""
    sent = {"responses_create_params": ASKED, "_ng_task_index": 3, **row, "response": response(*output)}
    answer = post(gym, "/verify", sent)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    assert {name: found[name] for name in sent} == sent
    jsonschema.Draft202012Validator(DOCUMENTED).validate(found)
    described = httpx2.get(f"{gym.address}/openapi.json").json()
    schema = {"$ref": "#/components/schemas/NemoGymReward", "components": described["components"]}
    jsonschema.Draft202012Validator(schema).validate(found)
    return found


CALL = {"type": "function_call", "call_id": "c", "name": "run_sql", "arguments": "{}"}
RETURNED = {"type": "function_call_output", "call_id": "c", "output": "[[1]]"}
REASONING = {"id": "r", "type": "reasoning", "summary": []}
RIGHT = message("<think>`SELECT 2`?</think>\n```sql\nSELECT COUNT(title) FROM books\n```")
REWARDS: Mapping[str, tuple[Mapping[str, Any], list[Mapping[str, Any]], float, str]] = {
    "right": (OWN, [REASONING, RIGHT], 1.0, "match"),
    "metadata": ({"verifier_metadata": OWN}, [RIGHT], 1.0, "match"),
    "dialect": ({**OWN, "dialect": "sqlite"}, [RIGHT], 1.0, "match"),
    "wrong": (OWN, [message("SELECT 0")], 0.0, "mismatch"),
    "question": ({"question_id": 1, "db_id": "x"}, [message("SELECT 0")], 0.0, "mismatch"),
    "its key": ({"question_id": "1"}, [message("SELECT 0")], 0.0, "mismatch"),
    "metric": ({**OWN, "metric": "soft_f1"}, [RIGHT], 1.0, "match"),
    "as it is": ({**OWN, "extract": "none"}, [RIGHT], 0.0, "prediction_error"),
    "no SQL": (OWN, [message("I do not know.")], 0.0, "prediction_error"),
    "refused": (OWN, [message("No.", "refusal")], 0.0, "prediction_error"),
    "cut off": (OWN, [message("<think>SELECT COUNT(*) FROM books")], 0.0, "prediction_error"),
    "only reasoning": (OWN, [REASONING], 0.0, "prediction_error"),
    "nothing": (OWN, [], 0.0, "prediction_error"),
    "nothing, as it is": ({**OWN, "extract": "none"}, [], 0.0, "mismatch"),
    "half a character": (OWN, [message(f"\ud83d\n```sql\n{GOLD}\n```")], 1.0, "match"),
    "endless": (OWN, [message(ENDLESS)], 0.0, "prediction_timeout"),
    "writes": (OWN, [message("DROP TABLE books")], 0.0, "prediction_error"),
    "looked first": (OWN, [message("```sql\nSELECT 2"), CALL, RETURNED, RIGHT], 1.0, "match"),
    "only looked": (OWN, [RIGHT, CALL, RETURNED], 0.0, "prediction_error"),
    "told by a user": (OWN, [message("SELECT 0"), {**RIGHT, "role": "user"}], 0.0, "mismatch"),
}  # fmt: skip


@pytest.mark.parametrize("name", REWARDS)
def test_the_reward_is_the_score_of_the_final_answer(gym: Served, name: str) -> None:
    row, output, reward, outcome = REWARDS[name]
    found = verified(gym, row, *output)
    assert (found["reward"], found["outcome"]) == (reward, outcome)
    assert (found["mask_sample"], found["failure_kind"], found["failure_reason"]) == (False, None, None)
    if name == "right":
        assert found["extracted_sql"] == "SELECT COUNT(title) FROM books"


def test_a_sample_is_masked_if_nobody_is_to_blame(gym: Served) -> None:
    found = verified(gym, {**OWN, "gt_sql": "SELECT no_such_column FROM books"}, RIGHT)
    assert (found["reward"], found["mask_sample"], found["failure_kind"]) == (0.0, True, "verifier_error")
    assert found["failure_reason"].startswith("gold_error: ")
    assert "no_such_column" in found["failure_reason"]


SENT = {"responses_create_params": ASKED, **OWN, "response": response(RIGHT)}
REFUSED = {
    "question": ({**SENT, "gt_sql": None, "question_id": "none"}, 422, "none"),
    "no question": ({**SENT, "gt_sql": None}, 422, "the row needs either question_id, or db_id and gt_sql"),
    "both": ({**SENT, "question_id": 1}, 422, "give one of the two"),
    "database": ({**SENT, "db_id": "../x"}, 422, "not in sample"),
    "dialect": ({**SENT, "dialect": "oracle"}, 422, "choose from"),
    "metric": ({**SENT, "metric": "ves"}, 422, "this server computes"),
    "policy": ({**SENT, "extract": "some"}, 422, "extract"),
    "gold": ({**SENT, "gt_sql": 1}, 422, "gt_sql"),
    "response": ({**SENT, "response": "SELECT 1"}, 422, "response: is not a response"),
    "no response": (OWN, 422, "response: is not a response"),
    "no output": ({**SENT, "response": {"id": "resp_1"}}, 422, "`output`"),
    "a list": ([], 422, "not an object"),
    "bytes": ({**SENT, "more": " " * 100_000}, 413, "more than 100,000 bytes"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_bad_row_is_refused_in_a_sentence(gym: Served, name: str) -> None:
    content, status, says = REFUSED[name]
    answer = post(gym, "/verify", content)
    assert answer.status_code == status, answer.text
    assert says in answer.json()["error"]
    assert "\n" not in answer.json()["error"]


def test_metrics_are_means_of_what_is_not_masked(gym: Served) -> None:
    rows = [
        {**verified(gym, OWN, text), "_ng_task_index": task}
        for task, text in enumerate([RIGHT, message("SELECT 0")])
    ]
    broken = verified(gym, {**OWN, "gt_sql": "SELEC"}, RIGHT)

    def metrics(*sent: Mapping[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = post(gym, "/aggregate_metrics", {"verify_responses": sent}).json()
        assert found["key_metrics"] == found["agent_metrics"]
        return found

    assert metrics(*rows)["agent_metrics"] == {"mean/reward": 0.5}
    groups = [{"_ng_task_index": 0, "mean/reward": 1.0}, {"_ng_task_index": 1, "mean/reward": 0.0}]
    assert metrics(*rows, broken)["group_level_metrics"] == groups
    coverage = {"coverage/measured_rollouts": 2, "coverage/masked_rollouts": 1}
    assert metrics(*rows, broken)["agent_metrics"] == {"mean/reward": 0.5} | coverage
    assert metrics(broken)["agent_metrics"] == {
        "coverage/measured_rollouts": 0,
        "coverage/masked_rollouts": 1,
    }
    assert metrics()["agent_metrics"] == {}
    for wrong in ({}, {"verify_responses": [1]}, {"verify_responses": [{"reward": "x"}]}):
        answer = post(gym, "/aggregate_metrics", wrong)
        assert (answer.status_code, "verify_responses: " in answer.json()["error"]) == (422, True)


def test_sessions_need_nothing(gym: Served) -> None:
    assert post(gym, "/seed_session", {"responses_create_params": ASKED, **OWN}).json() == {}
    session = {"resources_session_id": "s", "episode_id": "e", "task_id": "t", "task_data": {}}
    for route in ("/seed_session", "/close_session"):
        assert post(gym, route, session).json() == {"resources_session_id": "s"}
    assert httpx2.get(f"{gym.address}/reverify_mode").json() == "stateless"
    assert post(gym, "/ng-rollout/1-2/verify", SENT).json()["reward"] == 1.0
    assert httpx2.get(f"{gym.address}/verify").status_code == 405


def test_the_protections_of_the_server_hold() -> None:
    sent = json.dumps(SENT).encode()
    with served("--extract", "fences", BIRD_SERVE_TOKEN="a-token") as server:
        refused = httpx2.post(f"{server.address}/verify", content=sent)
        assert refused.status_code == 401
        headers = {"Authorization": "Bearer a-token", "Content-Type": "application/json"}
        taken = httpx2.post(f"{server.address}/verify", content=sent, headers=headers).json()
        assert taken["reward"] == 1.0
        bare = json.dumps({**SENT, "response": response(message(f"Query: {GOLD}"))}).encode()
        unfenced = httpx2.post(f"{server.address}/verify", content=bare, headers=headers).json()
        assert (unfenced["reward"], unfenced["extracted_sql"]) == (0.0, f"Query: {GOLD}")
