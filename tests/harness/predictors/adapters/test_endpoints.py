"""Endpoints over real HTTP: what each behaviour of a server comes to, and what is paid."""

import logging
import threading
import time
from dataclasses import replace
from typing import Any

import pytest

from harness.predictors.adapters.common import CLOSED, Api
from harness.predictors.base import BudgetSpent, PredictorBroken, Reply, RequestFailed, Usage
from harness.predictors.budget import Budget, Meter
from tests.harness.predictors.adapters.asking import ANSWERS, SOON, asked_by_many, asking, failure
from tests.harness.predictors.adapters.endpoint_server import Act, Does, EndpointServer, Rule
from tests.harness.predictors.making import ask

pytestmark = pytest.mark.usefixtures("key_alone")


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
    ("first", "usage"),
    [
        (Act(Does.STATUS, status=429, retry_after=SOON), Usage(2, 2, 2)),
        (Act(Does.STATUS, status=429, retry_after="date+1"), Usage(2, 2, 2)),
        (Act(Does.STATUS, status=500, retry_after=SOON), Usage(2, 2, 2)),
        (Act(Does.STATUS, status=503, retry_after=SOON), Usage(2, 2, 2)),
        (Act(Does.STATUS, status=408, retry_after=SOON), Usage(2, 2, 2)),
        (Act(Does.BREAK), Usage(2, 2, 2)),
        (Act(Does.BREAK_WITHIN), Usage(2, 2, 2)),
    ],
)
def test_what_may_be_better_next_time_is_asked_again_with_the_same_key(first: Act, usage: Usage) -> None:
    meter = Meter()
    with EndpointServer(ANSWERS, script=[first]) as server, asking(server, meter) as predictor:
        reply = predictor.ask(ask())
    assert (reply.text, reply.usage) == ("SELECT 42", usage)
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
        (
            Act(Does.STATUS, status=429, retry_after=SOON, message="slow down"),
            2,
            "HTTP 429: slow down (2 requests)",
        ),
        (Act(Does.STATUS, status=429, retry_after="3600", message="later"), 1, "HTTP 429: later"),
        (Act(Does.STATUS, status=500, retry_after=SOON), 2, "HTTP 500: told to fail (2 requests)"),
        (Act(Does.STATUS, status=503, retry_after=SOON), 2, "HTTP 503: told to fail (2 requests)"),
        (
            Act(Does.STATUS, status=400, code="context_length_exceeded"),
            1,
            "HTTP 400: context_length_exceeded: told",
        ),
        (Act(Does.STATUS, status=400, code="content_filter"), 1, "HTTP 400: content_filter: told to fail"),
        (Act(Does.STATUS, status=422), 1, "HTTP 422: told to fail"),
        (Act(Does.BREAK), 2, "RemoteProtocolError: Server disconnected"),
        (Act(Does.BREAK_WITHIN), 2, "RemoteProtocolError: peer closed connection"),
        (Act(Does.ENDLESS), 1, "AnswerTooLong: an answer of more than 16777216 bytes"),
        (Act(Does.RAW, body="<html>Please log in</html>", content_type="text/html"), 1, "the answer is HTML"),
        (Act(Does.RAW, body=""), 1, "the answer is empty"),
        (Act(Does.RAW, body='{"choices": []}'), 1, "the answer has no choices"),
        (Act(Does.RAW, body='{"choices": [{"message": {"content": null}}]}'), 1, "the answer has no text"),
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
    with EndpointServer(rules=[Rule((act,))]) as server:
        failed = failure(server, meter, timeout=0.5, retries=0)
    assert failed.reason == "no whole answer within 0.5 s"
    assert failed.usage == Usage(1)
    # Nobody knows what it took: the prompt counts as estimated.
    assert meter.snapshot().estimated_tokens == 3


@pytest.mark.parametrize(
    ("plan", "settings", "said"),
    [
        ({"api_key": "another"}, {}, "HTTP 401: invalid_api_key: Incorrect API key provided: [key]."),
        ({"models": ("m-2",)}, {}, "HTTP 404: model_not_found: The model `m-1` does not exist"),
        ({"rules": [Rule((Act(Does.STATUS, status=403, message="not here"),))]}, {}, "HTTP 403: not here"),
        ({"rules": [Rule((Act(Does.STATUS, status=307),))]}, {}, "the address redirects elsewhere"),
        (
            {"rules": [Rule((Act(Does.STATUS, status=429, code="insufficient_quota"),))]},
            {},
            "quota is used up",
        ),
        (
            {"rules": [Rule((Act(Does.STATUS, status=400, code="unsupported_value"),))]},
            {},
            "the option that is refused",
        ),
    ],
)
def test_what_no_ask_can_mend_breaks_the_predictor(
    plan: dict[str, Any], settings: dict[str, Any], said: str
) -> None:
    with EndpointServer(**plan) as server, asking(server, retries=5, **settings) as predictor:
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


def test_threads_share_it() -> None:
    with EndpointServer(ANSWERS, delay=0.1) as server, asking(server) as predictor:
        replies = asked_by_many(predictor, 48)
    assert [reply.text for reply in replies if isinstance(reply, Reply)] == ["SELECT 42"] * 48
    assert {request.key for request in server.requests} == {f"id-{number}-0-sql" for number in range(48)}
    assert server.most_at_once > 4


@pytest.mark.parametrize(
    ("rules", "settings"),
    [
        ([Rule((Act(Does.STALL, seconds=60),))], {}),
        ([Rule((Act(Does.STATUS, status=429, retry_after="60"),))], {}),
        ([], {"requests_per_minute": 1}),
    ],
    ids=["an answer", "a retry", "the pace"],
)
def test_closing_breaks_off_who_waits_for(rules: list[Rule], settings: dict[str, Any]) -> None:
    meter = Meter()
    with EndpointServer(rules=rules) as server, asking(server, meter, **settings) as predictor:
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
