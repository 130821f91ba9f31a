"""Endpoints over real HTTP: what they are sent, what comes of each answer, and what is paid."""

import json
import logging
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from dialects.errors import BadInput
from harness.labs.predict.adapters import open_predictor
from harness.labs.predict.budget import CLOSED, Budget, Meter, Pace
from harness.labs.predict.endpoints import EndpointPredictor, Service, refusal_of, reply_of, usage_of
from harness.labs.predict.settings import Api, MaxTokensField, Settings
from harness.predictors.base import BudgetSpent, PredictorBroken, Reply, RequestFailed, Usage
from tests.harness.predictors.making import ask
from tests.labs.predict.endpoint_server import Act, Does, EndpointServer, Rule

KEY = "sk-proj-5kEyTh4tN0b0dyMayS33/x+y"
ANSWERS = {"How many?": "SELECT 42"}
SOON = "0.01"
NO_QUESTIONS: Any = None


@pytest.fixture(autouse=True)
def key_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all that says which endpoint is meant, only the key."""
    for name in ("OPENAI_BASE_URL", "AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_KEY", "OPENAI_API_VERSION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@contextmanager
def asking(
    server: EndpointServer, meter: Meter | None = None, service: Service = "openai", **settings: Any
) -> Iterator[EndpointPredictor]:
    given = Settings(**{"base_url": server.base_url, "retries": 1, "timeout": 20.0, **settings})
    predictor = EndpointPredictor(service, "m-1", given, meter or Meter())
    try:
        yield predictor
    finally:
        predictor.close()


def identity(model: str = "m", service: Service = "openai", **settings: Any) -> dict[str, Any]:
    predictor = EndpointPredictor(service, model, Settings(**settings), Meter())
    predictor.close()
    return dict(predictor.identity)


def asked_by_many(predictor: EndpointPredictor, count: int) -> list[Reply | Exception]:
    def one(number: int) -> Reply | Exception:
        try:
            return predictor.ask(ask(str(number)))
        except (RequestFailed, BudgetSpent, PredictorBroken) as error:
            return error

    with ThreadPoolExecutor(16) as pool:
        return list(pool.map(one, range(count)))


def chat(message: object, finish: str | None = "stop", **more: Any) -> dict[str, Any]:
    return {"choices": [{"message": message, "finish_reason": finish}], **more}


def output(*parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"output": [{"type": "reasoning"}, {"type": "message", "content": list(parts)}], **more}


TEXT = {"type": "output_text", "text": "SELECT 1"}
CUT = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}


PART = {"type": "text", "text": "a"}
CHAT, RESPONSES = Api.CHAT, Api.RESPONSES
TEXTS: Sequence[tuple[Api, dict[str, Any], tuple[str, str | None, str | None]]] = [
    (CHAT, chat({"content": "SELECT 1"}, model="m-1"), ("SELECT 1", "stop", "m-1")),
    (CHAT, chat({"content": "SELECT"}, "length"), ("SELECT", "length", None)),
    (CHAT, chat({"content": ""}), ("", "stop", None)),
    (CHAT, chat({"content": "x"}, None), ("x", None, None)),
    (CHAT, chat({"content": [PART, {"type": "text", "text": "b"}]}), ("ab", "stop", None)),
    (CHAT, chat({"content": [{"type": "thinking"}, PART]}), ("a", "stop", None)),
    (CHAT, chat({"content": "half \ud83d"}), ("half \ufffd", "stop", None)),
    (CHAT, chat({"content": "a"}, model=7), ("a", "stop", None)),
    (RESPONSES, output(TEXT, status="completed", model="m"), ("SELECT 1", "stop", "m")),
    (RESPONSES, output(TEXT, TEXT), ("SELECT 1SELECT 1", None, None)),
    (RESPONSES, output(TEXT, **CUT), ("SELECT 1", "length", None)),
]  # fmt: skip


@pytest.mark.parametrize(("api", "answer", "expected"), TEXTS)
def test_a_text_is_given_as_it_came(
    api: Api, answer: dict[str, Any], expected: tuple[str, str | None, str | None]
) -> None:
    reply = reply_of(json.dumps(answer).encode(), api, Usage(1))
    assert (reply.text, reply.finish, reply.model) == expected


NO_TEXTS: Sequence[tuple[Api, bytes | dict[str, Any], str]] = [
    (CHAT, b"", "the answer is empty instead of a JSON object"),
    (CHAT, b"<!DOCTYPE html><html>Log in</html>", "the answer is HTML instead of a JSON object"),
    (CHAT, b'{"choices": [{"message": {"content": "caf\xe9"}}]}', "the answer is not UTF-8"),
    (CHAT, b'{"choices": [', "the answer is something else instead of a JSON object"),
    (CHAT, b"[]", "the answer is something else instead of a JSON object"),
    (CHAT, b"[" * 100_000, "the answer is something else instead of a JSON object"),
    (CHAT, {}, "the answer has no choices"),
    (CHAT, {"choices": []}, "the answer has no choices"),
    (CHAT, {"choices": "none"}, "the answer has no choices"),
    (CHAT, {"choices": [1]}, "the answer has no choices"),
    (CHAT, {"choices": [{}]}, "the answer's choice has no message"),
    (CHAT, chat({"content": None}), "the answer has no text (finished by stop)"),
    (CHAT, chat({"content": 1}, None), "the answer has no text"),
    (CHAT, chat({"content": None}, "length"), "all its tokens went into reasoning"),
    (CHAT, chat({"content": None}, "content_filter"), "finished by content_filter"),
    (CHAT, chat({"content": None, "refusal": "No,\nthanks"}), "refused: No, thanks"),
    (CHAT, {"error": {"message": "out of memory", "code": "oom"}}, "is an error: oom: out of memory"),
    (CHAT, {"error": "out of memory"}, "is an error: out of memory"),
    (RESPONSES, {}, "the answer has no output"),
    (RESPONSES, {"output": []}, "the answer has no text"),
    (RESPONSES, output({"type": "refusal", "refusal": "No"}), "the model refused: No"),
    (RESPONSES, {"output": [], **CUT}, "all its tokens went into reasoning"),
    (RESPONSES, {"status": "failed", "error": {"code": "server_error", "message": "x"}}, "server_error: x"),
]


@pytest.mark.parametrize(("api", "body", "reason"), NO_TEXTS)
def test_an_answer_without_a_text_fails_with_its_reason(
    api: Api, body: bytes | dict[str, Any], reason: str
) -> None:
    with pytest.raises(RequestFailed) as raised:
        reply_of(body if isinstance(body, bytes) else json.dumps(body).encode(), api, Usage(1, 2, 3))
    assert reason in raised.value.reason
    assert "\n" not in raised.value.reason
    assert raised.value.usage == Usage(1, 2, 3)


@pytest.mark.parametrize(
    ("body", "usage"),
    [
        (b'{"usage": {"prompt_tokens": 3, "completion_tokens": 4}}', Usage(1, 3, 4)),
        (b'{"usage": {"input_tokens": 3, "output_tokens": 4}}', Usage(1, 3, 4)),
        (b'{"usage": {"prompt_tokens": 3}}', Usage(1, 3, None)),
        (b'{"usage": {"prompt_tokens": -3, "completion_tokens": "4"}}', Usage(1, None, None)),
        (b'{"usage": {"prompt_tokens": true, "completion_tokens": 1.5}}', Usage(1, None, None)),
        (b'{"usage": null}', Usage(1)),
        (b"no JSON", Usage(1)),
    ],
)
def test_usage_is_what_the_endpoint_tells(body: bytes, usage: Usage) -> None:
    assert usage_of(body) == usage


FINAL = [
    (401, {"code": "invalid_api_key", "message": "wrong"}),
    (402, {"message": "no credit"}),
    (403, {"message": "not yours"}),
    (404, {"code": "model_not_found", "message": "no such model"}),
    (405, {"message": "POST?"}),
    (307, {}),
    (429, {"code": "insufficient_quota", "message": "pay"}),
    (429, {"type": "insufficient_quota", "message": "pay"}),
    (400, {"code": "unsupported_parameter", "message": "max_tokens"}),
]
PASSING = [
    (429, {"code": "rate_limit_exceeded", "message": "slow down"}),
    (400, {"code": "context_length_exceeded", "message": "too long"}),
    *((status, {"message": "no"}) for status in (413, 422, 500, 503, 529)),
]


@pytest.mark.parametrize(("status", "error"), [*FINAL, *PASSING])
def test_what_every_ask_would_be_refused_is_final(status: int, error: dict[str, str]) -> None:
    refusal = refusal_of(status, json.dumps({"error": error}).encode())
    assert isinstance(refusal, PredictorBroken) is ((status, error) in FINAL)
    assert str(refusal).startswith(f"HTTP {status}")
    assert error.get("message", "") in str(refusal)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "HTTP 500"),
        (b"<html>\n<h1>Bad Gateway</h1>", "HTTP 500: <html> <h1>Bad Gateway</h1>"),
        (b'{"detail": "wrong path"}', "HTTP 500: wrong path"),
        (b'{"error": "wrong path"}', "HTTP 500: wrong path"),
        (b'[{"error": {"code": 7, "message": "listed"}}]', "HTTP 500: listed"),
        (b'{"error": {"message": ["a"]}}', 'HTTP 500: {"message": ["a"]}'),
        (b"\xff\xfe", "HTTP 500: \ufffd\ufffd"),
    ],
)
def test_an_error_is_told_in_the_words_of_the_endpoint(body: bytes, said: str) -> None:
    assert str(refusal_of(500, body)) == said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "sent"),
    [
        ({}, {}),
        (
            {"temperature": 0.0, "top_p": 0.5, "stop": (";", "#")},
            {"temperature": 0.0, "top_p": 0.5, "stop": [";", "#"]},
        ),
        ({"max_tokens": 9}, {"max_tokens": 9}),
        (
            {"max_tokens": 9, "max_tokens_field": MaxTokensField.MAX_COMPLETION_TOKENS},
            {"max_completion_tokens": 9},
        ),
        ({"seed": 7}, {"seed": 9}),
        ({"extra_body": {"top_k": 1}}, {"top_k": 1}),
        (
            {"api": RESPONSES, "max_tokens": 9, "temperature": 1.0},
            {"max_output_tokens": 9, "temperature": 1.0, "store": False},
        ),
    ],
)
def test_what_was_set_is_sent_and_nothing_else(settings: dict[str, Any], sent: dict[str, Any]) -> None:
    with EndpointServer() as server, asking(server, **settings) as predictor:
        predictor.ask(ask(sample=2))
    request = server.requests[0]
    api = settings.get("api", CHAT)
    name, path = {CHAT: ("messages", "/v1/chat/completions"), RESPONSES: ("input", "/v1/responses")}[api]
    assert request.path == path
    message = {"role": "user", "content": "How many?"}
    assert request.body == {"model": "m-1", "temperature": 0.0, name: [message], **sent}
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.headers["idempotency-key"] == "id-1-2-sql"


def test_a_model_that_refuses_the_usual_temperature_is_asked_without() -> None:
    refusal = Act(Does.STATUS, status=400, code="unsupported_value", message="temperature must be 1")
    with EndpointServer(ANSWERS, script=(refusal,)) as server, asking(server) as predictor:
        predictor.ask(ask())
        predictor.ask(ask(sample=1))
        assert ["temperature" in one.body for one in server.requests] == [True, False, False]
        assert predictor.identity["temperature"] == "0, unless the model refuses it"


@pytest.mark.parametrize("api", Api)
def test_azure_is_asked_at_its_own_addresses(monkeypatch: pytest.MonkeyPatch, api: Api) -> None:
    with EndpointServer(ANSWERS) as server:
        monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", server.base_url.removesuffix("/v1"))
        monkeypatch.setenv("AZURE_OPENAI_API_KEY", "azure-key-0123456789")
        monkeypatch.setenv("OPENAI_API_VERSION", "2025-03-01-preview")
        with asking(server, None, "azure", base_url=None, api=api, max_tokens=9) as predictor:
            assert predictor.ask(ask()).text == "SELECT 42"
            assert predictor.identity["api_version"] == "2025-03-01-preview"
    request = server.requests[0]
    paths = {Api.CHAT: "/openai/deployments/m-1/chat/completions", Api.RESPONSES: "/openai/responses"}
    assert request.path == f"{paths[api]}?api-version=2025-03-01-preview"
    assert request.headers["api-key"] == "azure-key-0123456789"
    assert request.body.get("max_completion_tokens", request.body.get("max_output_tokens")) == 9
    assert KEY not in str(request.headers)


def test_a_server_of_ones_own_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with EndpointServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        with asking(server, base_url=None) as predictor:
            assert predictor.ask(ask()).text == "SELECT 1"


def test_another_variable_may_have_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "mine-0123")
    with EndpointServer(api_key="mine-0123") as server, asking(server, key_variable="MY_KEY") as predictor:
        predictor.ask(ask())


AT_AZURE = {"AZURE_OPENAI_ENDPOINT": "https://r.test"}
MISSING: Sequence[tuple[str, dict[str, Any], dict[str, str], str]] = [
    ("openai:m", {}, {"OPENAI_API_KEY": ""}, "openai:m: no key; set OPENAI_API_KEY in the environment"),
    ("openai:m", {"key_variable": "MINE", "base_url": "http://h/v1"}, {}, "set MINE in the environment"),
    ("openai:", {}, {}, "openai: no model is named; write it as openai:gpt-5-mini"),
    ("openai:m", {"base_url": "localhost:8000"}, {}, "base URL: not an address"),
    ("openai:m", {"base_url": "http://h:99999999/v1"}, {}, "base URL: not an address"),
    ("openai:m", {"base_url": "http://u:secret@h/v1"}, {}, "contains credentials or a query"),
    ("openai:m", {"base_url": f"http://h/v1?key={KEY}"}, {}, "contains credentials or a query"),
    ("openai:m", {}, {"OPENAI_API_KEY": "sk-a\nb"}, "OPENAI_API_KEY: has characters that no key has"),
    ("azure:m", {}, {"AZURE_OPENAI_API_KEY": KEY}, "set AZURE_OPENAI_ENDPOINT"),
    ("azure:m", {}, AT_AZURE, "set OPENAI_API_VERSION"),
    ("azure:m", {}, {**AT_AZURE, "OPENAI_API_VERSION": "1"}, "azure:m: no key; set AZURE_OPENAI_API_KEY"),
]


@pytest.mark.parametrize(("spec", "settings", "environment", "said"), MISSING)
def test_what_is_missing_is_said_before_anything_is_asked(
    monkeypatch: pytest.MonkeyPatch,
    spec: str,
    settings: dict[str, Any],
    environment: dict[str, str],
    said: str,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(BadInput) as raised:
        open_predictor(spec, Settings(**settings), Meter(), questions=NO_QUESTIONS, dialects=[])
    assert said in str(raised.value)
    assert KEY not in str(raised.value)
    assert "secret" not in str(raised.value)


def test_a_client_that_is_not_installed_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "harness.labs.predict.endpoints")
    monkeypatch.setitem(sys.modules, "httpx2", None)
    with pytest.raises(BadInput, match=r"openai:m: the client is not installed .*bird-harness\[models\]"):
        open_predictor("openai:m", Settings(), Meter(), questions=NO_QUESTIONS, dialects=[])


@pytest.mark.parametrize(
    ("base_url", "field"),
    [
        (None, "max_completion_tokens"),
        ("https://eu.api.openai.com/v1", "max_completion_tokens"),
        ("https://r.openai.azure.com/openai/v1", "max_completion_tokens"),
        ("http://localhost:8000/v1", "max_tokens"),
        ("https://notopenai.com.example/v1", "max_tokens"),
    ],
)
def test_the_limit_on_tokens_has_the_name_that_the_server_knows(base_url: str | None, field: str) -> None:
    assert identity(base_url=base_url, max_tokens=5)[field] == 5


def test_identity_has_what_decides_replies() -> None:
    given: dict[str, Any] = {"temperature": 0.0, "seed": 3, "extra_body": {"top_k": 1}}
    assert identity(base_url="http://h/v1/", stop=(";",), **given) == {
        "kind": "openai",
        "model": "m",
        "base_url": "http://h/v1",
        "api": "chat",
        "stop": [";"],
        **given,
    }


ECHOES = [
    Act(Does.STATUS, status=401, message="wrong key {authorization}"),
    Act(Does.STATUS, status=400, message="x" * 130 + "{authorization}" + "y" * 400),
    Act(Does.STATUS, status=500, retry_after=SOON, message="{authorization} {authorization}"),
    Act(Does.STATUS, status=429, code="insufficient_quota", message="{authorization}"),
    Act(Does.RAW, body=f"<html>{KEY}"),
    Act(Does.RAW, body=f'{{"error": "{KEY}"}}'),
    Act(Does.RAW, body='{"error": "' + KEY.replace("/", "\\/") + '"}'),
    Act(Does.RAW, body=f'{{"choices": [{{"message": {{"content": null, "refusal": "{KEY}"}}}}]}}'),
    Act(Does.RAW, body=f'{{"model": "{KEY}", "choices": [{{"message": {{"content": "is {KEY}"}}}}]}}'),
]


@pytest.mark.parametrize("act", ECHOES)
def test_a_key_is_nowhere_even_if_the_server_sends_it_back(
    act: Act, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Gateway: Bearer gateway-secret-1")
    caplog.set_level(logging.DEBUG)
    with EndpointServer(rules=[Rule((act,))]) as server, asking(server) as predictor:
        (outcome,) = asked_by_many(predictor, 1)
        assert getattr(outcome, "__cause__", None) is None
        assert getattr(outcome, "__context__", None) is None
        assert server.requests[0].headers["x-gateway"] == "Bearer gateway-secret-1"
        seen = [repr(outcome), str(outcome), caplog.text, repr(predictor), repr(predictor.identity)]
        seen.append(repr(vars(predictor)))
    assert "[key]" in seen[0]
    for part in (KEY, KEY[4:20], "gateway-secret-1"):
        assert not [text for text in seen if part in text]


def test_a_placeholder_for_a_key_is_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "EMPTY")
    with EndpointServer(script=[Act(text="SELECT 'EMPTY'")]) as server, asking(server) as predictor:
        assert predictor.ask(ask()).text == "SELECT 'EMPTY'"


@pytest.mark.parametrize("api", Api)
@pytest.mark.parametrize(
    ("act", "text", "finish"),
    [
        (Act(), "SELECT 42", "stop"),
        (Act(Does.FENCED), "```sql\nSELECT 42\n```", "stop"),
        (Act(Does.LENGTH), "SELE", "length"),
        (Act(Does.STALL, seconds=0.2), "SELECT 42", "stop"),
        (Act(Does.STALL_WITHIN, seconds=0.2), "SELECT 42", "stop"),
        (Act(Does.TRICKLE, seconds=0.0001), "SELECT 42", "stop"),
        (Act(content_type="text/plain"), "SELECT 42", "stop"),
        (Act(text="SELECT 'żółć 🦜'"), "SELECT 'żółć 🦜'", "stop"),
    ],
)
def test_an_answer_is_given_as_it_came(api: Api, act: Act, text: str, finish: str) -> None:
    with EndpointServer(ANSWERS, script=[act]) as server, asking(server, api=api) as predictor:
        reply = predictor.ask(ask())
    assert (reply.text, reply.finish, reply.model) == (text, finish, "m-1")
    assert reply.usage == Usage(1, 2, len(text) // 4)


@pytest.mark.parametrize(
    "first",
    [
        *(Act(Does.STATUS, status=status, retry_after=SOON) for status in (408, 429, 500, 503)),
        Act(Does.STATUS, status=429, retry_after="date+1"),
        Act(Does.BREAK),
        Act(Does.BREAK_WITHIN),
    ],
)
def test_what_may_be_better_next_time_is_asked_again_with_the_same_key(first: Act) -> None:
    meter = Meter()
    with EndpointServer(ANSWERS, script=[first]) as server, asking(server, meter) as predictor:
        reply = predictor.ask(ask())
    assert (reply.text, reply.usage) == ("SELECT 42", Usage(2, 2, 2))
    assert [request.key for request in server.requests] == ["id-1-0-sql"] * 2
    assert meter.snapshot().requests == 2


def test_it_waits_as_long_as_the_server_says(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "openai")
    acts = [Act(Does.STATUS, status=429, retry_after="0.07")]
    with EndpointServer(script=acts) as server, asking(server) as predictor:
        predictor.ask(ask())
    assert "Retrying request in 0.070000 seconds" in caplog.text


@pytest.mark.parametrize(
    ("act", "requests", "reason"),
    [
        (Act(Does.STATUS, status=429, retry_after=SOON), 2, "HTTP 429: told to fail (2 requests)"),
        (Act(Does.STATUS, status=429, retry_after="3600", message="later"), 1, "HTTP 429: later"),
        (Act(Does.STATUS, status=503, retry_after=SOON), 2, "HTTP 503: told to fail (2 requests)"),
        (Act(Does.STATUS, status=400, code="content_filter"), 1, "HTTP 400: content_filter: told to fail"),
        (Act(Does.BREAK), 2, "RemoteProtocolError: Server disconnected"),
        (Act(Does.BREAK_WITHIN), 2, "RemoteProtocolError: peer closed connection"),
        (Act(Does.ENDLESS), 1, "the answer has more than 16777216 bytes"),
        (Act(Does.RAW, body="<html>Please log in</html>", content_type="text/html"), 1, "the answer is HTML"),
        (Act(Does.RAW, body='{"choices": [{"message": {"content": "\xff"}}]}'), 1, "the answer is not UTF-8"),
    ],
)
def test_what_stays_bad_fails_this_ask_and_no_other(act: Act, requests: int, reason: str) -> None:
    meter = Meter()
    rules = [Rule((act,), contains="How many?")]
    with EndpointServer(rules=rules) as server, asking(server, meter) as predictor:
        with pytest.raises(RequestFailed) as raised:
            predictor.ask(ask())
        other = replace(ask(), messages=(replace(ask().messages[0], content="Which?"),))
        assert predictor.ask(other).text == "SELECT 1"
    assert raised.value.reason.startswith(reason)
    assert raised.value.usage.requests == requests
    assert len(server.requests) == meter.snapshot().requests == requests + 1


@pytest.mark.parametrize(
    "act",
    [
        Act(Does.STALL, seconds=60),
        Act(Does.STALL_WITHIN, seconds=60),
        Act(Does.TRICKLE, seconds=0.1),
        Act(Does.TRICKLE_HEAD, seconds=0.1),
    ],
)
def test_an_answer_that_is_not_whole_in_time_is_given_up(act: Act) -> None:
    meter = Meter()
    with (
        EndpointServer(rules=[Rule((act,))]) as server,
        asking(server, meter, timeout=0.5, retries=0) as predictor,
        pytest.raises(RequestFailed, match=r"^no whole answer within 0\.5 s$") as raised,
    ):
        predictor.ask(ask())
    assert raised.value.usage == Usage(1)
    # Nobody knows what it took: the prompt counts as estimated.
    assert meter.snapshot().estimated_tokens == 3


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        ({"api_key": "another"}, "HTTP 401: invalid_api_key: Incorrect API key provided: [key]."),
        ({"models": ("m-2",)}, "HTTP 404: model_not_found: The model `m-1` does not exist"),
        ({"rules": [Rule((Act(Does.STATUS, status=307),))]}, "the address redirects elsewhere"),
        ({"rules": [Rule((Act(Does.STATUS, status=429, code="insufficient_quota"),))]}, "quota is used up"),
        (
            {"rules": [Rule((Act(Does.STATUS, status=400, code="unsupported_value"),))]},
            "the refused option",
        ),
    ],
)
def test_what_no_ask_can_mend_breaks_the_predictor(plan: dict[str, Any], said: str) -> None:
    with EndpointServer(**plan) as server, asking(server, retries=5) as predictor:
        with pytest.raises(PredictorBroken) as raised:
            predictor.ask(ask())
        assert said in str(raised.value)
        assert f"m-1 at {server.base_url}" in str(raised.value)
        assert len(server.requests) == 1


def test_a_server_that_was_never_there_breaks_the_predictor() -> None:
    with EndpointServer() as gone:
        pass
    with asking(gone, retries=0) as predictor, pytest.raises(PredictorBroken, match="never reached"):
        predictor.ask(ask())


def test_a_server_that_goes_away_fails_the_ask() -> None:
    with EndpointServer() as server, asking(server, retries=0) as predictor:
        predictor.ask(ask())
        server.__exit__()
        with pytest.raises(RequestFailed, match="ConnectError"):
            predictor.ask(ask())


def test_every_request_is_held_against_the_budget() -> None:
    meter = Meter(Budget(requests=3))
    acts = (Act(Does.STATUS, status=500, retry_after=SOON),)
    with EndpointServer(rules=[Rule(acts)]) as server, asking(server, meter, retries=9) as predictor:
        with pytest.raises(RequestFailed) as raised:
            predictor.ask(ask())
        assert raised.value.reason.startswith(
            "HTTP 500: told to fail; not sent again: the budget of 3 requests"
        )
        assert raised.value.usage == Usage(3)
        with pytest.raises(BudgetSpent, match="the budget of 3 requests is spent"):
            predictor.ask(ask())
    assert len(server.requests) == 3


@pytest.mark.slow
def test_many_at_once_do_not_overshoot_a_budget_of_tokens() -> None:
    # 3 tokens of prompt are held back by estimate, 10 for the answer, of which 2 and 2 are then taken.
    meter = Meter(Budget(tokens=60))
    with EndpointServer(ANSWERS, delay=0.02) as server, asking(server, meter, max_tokens=10) as predictor:
        outcomes = asked_by_many(predictor, 40)
    spent = meter.snapshot()
    assert {type(outcome) for outcome in outcomes} == {Reply, BudgetSpent}
    assert spent.tokens == 4 * len(server.requests)
    assert 60 - 13 < spent.tokens <= 60  # used up to the last request that may not fit
    assert spent.in_flight == 0


def test_an_answer_that_tells_no_usage_is_estimated_by_its_length() -> None:
    meter = Meter()
    with (
        EndpointServer(script=[Act(text="x" * 4000, usage=False)]) as server,
        asking(server, meter) as predictor,
    ):
        assert predictor.ask(ask()).usage == Usage(1)
    assert meter.snapshot().prompt_tokens == 3
    assert 1000 <= meter.snapshot().completion_tokens == meter.snapshot().estimated_tokens - 3 < 1100


@pytest.mark.slow
def test_threads_share_it() -> None:
    with EndpointServer(ANSWERS, delay=0.1) as server, asking(server) as predictor:
        replies = asked_by_many(predictor, 48)
    assert [reply.text for reply in replies if isinstance(reply, Reply)] == ["SELECT 42"] * 48
    assert {request.key for request in server.requests} == {f"id-{number}-0-sql" for number in range(48)}
    assert server.most_at_once > 4


@pytest.mark.parametrize(
    ("rules", "pace"),
    [
        ([Rule((Act(Does.STALL, seconds=60),))], None),
        ([Rule((Act(Does.STATUS, status=429, retry_after="60"),))], None),
        ([], 1),
    ],
    ids=["an answer", "a retry", "the pace"],
)
def test_closing_breaks_off_who_waits_for(rules: list[Rule], pace: int | None) -> None:
    meter = Meter(pace=Pace(pace))
    with EndpointServer(rules=rules) as server, asking(server, meter) as predictor:
        outcomes: list[Reply | Exception] = []
        thread = threading.Thread(target=lambda: outcomes.extend(asked_by_many(predictor, 4)))
        thread.start()
        while not server.requests:
            time.sleep(0.01)
        time.sleep(0.2)
        predictor.close()
        thread.join(10)
        assert not thread.is_alive()
    failed = [outcome for outcome in outcomes if isinstance(outcome, RequestFailed)]
    assert {outcome.reason for outcome in failed} == {CLOSED}
    assert len(failed) >= 3
    assert meter.snapshot().in_flight == 0
    with pytest.raises(RequestFailed, match=CLOSED):
        predictor.ask(ask())
