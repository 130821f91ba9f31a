"""What an endpoint is sent: parameters, addresses, keys; and that no key is anywhere else."""

import logging
import sys
from typing import Any

import pytest

from dialects.errors import BadInput
from harness.predictors.adapters.common import Api, MaxTokensField, Settings
from harness.predictors.adapters.endpoints import EndpointPredictor, Service
from harness.predictors.budget import Meter
from tests.harness.predictors.adapters.asking import ANSWERS, KEY, SOON, asked_by_many, asking
from tests.harness.predictors.adapters.endpoint_server import Act, Does, EndpointServer, Rule
from tests.harness.predictors.making import ask

pytestmark = pytest.mark.usefixtures("key_alone")


@pytest.mark.parametrize(
    ("settings", "sent"),
    [
        ({}, {}),
        (
            {"temperature": 0.0, "top_p": 0.5, "stop": (";", "#")},
            {"temperature": 0.0, "top_p": 0.5, "stop": [";", "#"]},
        ),
        ({"max_tokens": 99}, {"max_tokens": 99}),
        (
            {"max_tokens": 99, "max_tokens_field": MaxTokensField.MAX_COMPLETION_TOKENS},
            {"max_completion_tokens": 99},
        ),
        ({"seed": 7}, {"seed": 9}),
        ({"extra_body": {"top_k": 1}}, {"top_k": 1}),
    ],
)
def test_what_was_set_is_sent_and_nothing_else(settings: dict[str, Any], sent: dict[str, Any]) -> None:
    with EndpointServer() as server, asking(server, **settings) as predictor:
        predictor.ask(ask(sample=2))
    request = server.requests[0]
    assert request.path == "/v1/chat/completions"
    assert request.body == {"model": "m-1", "messages": [{"role": "user", "content": "How many?"}], **sent}
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.headers["idempotency-key"] == "id-1-2-sql"


def test_responses_get_their_own_fields() -> None:
    with (
        EndpointServer() as server,
        asking(server, api=Api.RESPONSES, max_tokens=9, temperature=1.0) as predictor,
    ):
        predictor.ask(ask())
    request = server.requests[0]
    assert request.path == "/v1/responses"
    assert request.body == {
        "model": "m-1",
        "input": [{"role": "user", "content": "How many?"}],
        "max_output_tokens": 9,
        "temperature": 1.0,
        "store": False,
    }


@pytest.mark.parametrize("api", Api)
def test_azure_is_asked_at_its_own_addresses(monkeypatch: pytest.MonkeyPatch, api: Api) -> None:
    with EndpointServer(ANSWERS) as server:
        monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", server.base_url.removesuffix("/v1"))
        monkeypatch.setenv("AZURE_OPENAI_API_KEY", "azure-key-0123456789")
        monkeypatch.setenv("OPENAI_API_VERSION", "2025-03-01-preview")
        with asking(server, None, Service.AZURE, base_url=None, api=api, max_tokens=9) as predictor:
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


@pytest.mark.parametrize(
    ("service", "model", "settings", "environment", "said"),
    [
        (
            "openai",
            "m",
            {},
            {"OPENAI_API_KEY": ""},
            "openai:m: no key; set OPENAI_API_KEY in the environment",
        ),
        (
            "openai",
            "m",
            {"key_variable": "MINE", "base_url": "http://h/v1"},
            {},
            "set MINE in the environment",
        ),
        ("openai", "", {}, {}, "names no model"),
        ("openai", "m", {"base_url": "localhost:8000"}, {}, "base URL: is no address"),
        ("openai", "m", {"base_url": "http://h:99999999/v1"}, {}, "base URL: is no address"),
        ("openai", "m", {"base_url": "http://u:secret@h/v1"}, {}, "has credentials or a query in it"),
        ("openai", "m", {"base_url": f"http://h/v1?key={KEY}"}, {}, "has credentials or a query in it"),
        ("openai", "m", {}, {"OPENAI_API_KEY": "sk-a\nb"}, "OPENAI_API_KEY: has characters that no key has"),
        ("azure", "m", {}, {"AZURE_OPENAI_API_KEY": KEY}, "set AZURE_OPENAI_ENDPOINT"),
        ("azure", "m", {}, {"AZURE_OPENAI_ENDPOINT": "https://r.test"}, "set OPENAI_API_VERSION"),
        (
            "azure",
            "m",
            {},
            {"AZURE_OPENAI_ENDPOINT": "https://r.test", "OPENAI_API_VERSION": "1"},
            "azure:m: no key; set AZURE_OPENAI_API_KEY",
        ),
    ],
)
def test_what_is_missing_is_said_before_anything_is_asked(  # noqa: PLR0913, PLR0917
    monkeypatch: pytest.MonkeyPatch,
    service: str,
    model: str,
    settings: dict[str, Any],
    environment: dict[str, str],
    said: str,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(BadInput) as raised:
        EndpointPredictor(Service(service), model, Settings(**settings), Meter())
    assert said in str(raised.value)
    assert KEY not in str(raised.value)
    assert "secret" not in str(raised.value)


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
    predictor = EndpointPredictor(Service.OPENAI, "m", Settings(base_url=base_url, max_tokens=5), Meter())
    predictor.close()
    assert predictor.identity[field] == 5


def test_a_client_that_is_not_installed_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "harness.predictors.adapters.endpoint_http", raising=False)
    monkeypatch.setitem(sys.modules, "httpx2", None)
    with pytest.raises(BadInput, match=r"openai:m: the client is not installed .*bird-harness\[models\]"):
        EndpointPredictor(Service.OPENAI, "m", Settings(), Meter())


def test_identity_has_what_decides_replies() -> None:
    settings = Settings(
        base_url="http://h/v1/", temperature=0.0, seed=3, stop=(";",), extra_body={"top_k": 1}
    )
    predictor = EndpointPredictor(Service.OPENAI, "m", settings, Meter())
    predictor.close()
    assert predictor.identity == {
        "kind": "openai",
        "model": "m",
        "base_url": "http://h/v1",
        "api": "chat",
        "temperature": 0.0,
        "seed": 3,
        "stop": [";"],
        "extra_body": {"top_k": 1},
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
