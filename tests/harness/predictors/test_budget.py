"""What a meter lets through, holds back and counts."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from dialects.errors import BadInput
from harness.predictors.base import BudgetSpent, Usage
from harness.predictors.budget import Budget, Meter, SpentBudget
from harness.predictors.prompts.prompter import ESTIMATE


def test_nothing_is_limited_unless_told() -> None:
    meter = Meter()
    held = [meter.before_request(10**9, 10**9) for _ in range(100)]
    assert meter.snapshot() == SpentBudget(0, 0, 0, 0, 100, None)
    for each in held:
        meter.after(each, Usage(1, 1, 2))
    assert meter.snapshot() == SpentBudget(100, 100, 200, 0, 0, None)


@pytest.mark.parametrize(
    ("budget", "spent", "request_tokens", "said"),
    [
        (Budget(requests=3), Usage(3), (1, 1), "the budget of 3 requests is spent"),
        (
            Budget(tokens=100),
            Usage(0, 60, 30),
            (8, 3),
            "the budget of 100 tokens is spent (90 spent, 101 with",
        ),
        (
            Budget(money=1, prompt_price=1, completion_price=2),
            Usage(0, 400_000, 299_000),
            (3000, 0),
            "0.9980 spent",
        ),
        (
            Budget(money=1, prompt_price=1, completion_price=2),
            Usage(0, 400_000, 299_000),
            (0, 1500),
            "1.0010 with",
        ),
    ],
)
def test_a_request_beyond_the_budget_is_refused(
    budget: Budget, spent: Usage, request_tokens: tuple[int, int], said: str
) -> None:
    meter = Meter(budget, spent)
    with pytest.raises(BudgetSpent) as raised:
        meter.before_request(*request_tokens)
    assert said in str(raised.value)
    assert "raise it and resume" in str(raised.value)
    assert meter.snapshot().in_flight == 0


@pytest.mark.parametrize(
    ("budget", "spent", "request_tokens"),
    [
        (Budget(requests=3), Usage(2), (1, 1)),
        (Budget(tokens=100), Usage(0, 60, 30), (8, 2)),
        (Budget(money=1, prompt_price=1, completion_price=2), Usage(0, 400_000, 299_000), (2000, 0)),
        (Budget(money=1, prompt_price=0, completion_price=0), Usage(0, 400_000, 299_000), (2000, 10**9)),
    ],
)
def test_a_request_that_uses_it_up_is_let_through(
    budget: Budget, spent: Usage, request_tokens: tuple[int, int]
) -> None:
    Meter(budget, spent).before_request(*request_tokens)


def test_requests_under_way_are_held_back() -> None:
    meter = Meter(Budget(tokens=100))
    first = meter.before_request(20, 40)
    assert meter.attempt(20, 40) is None  # it may fit, if the first takes less
    meter.after(first, Usage(1, 20, 10))
    assert meter.attempt(20, 40) is not None


def test_a_request_under_way_is_one_whatever_becomes_of_it() -> None:
    meter = Meter(Budget(requests=1))
    held = meter.before_request(1)
    with pytest.raises(BudgetSpent):
        meter.attempt(1)
    meter.release(held)  # it was not sent after all
    meter.before_request(1)


def test_who_waits_goes_on_when_there_is_room() -> None:
    meter = Meter(Budget(tokens=10))
    held = meter.before_request(10)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(meter.before_request, 5)
        meter.after(held, Usage(1, 5, 0))
        assert waiting.result(10).prompt_tokens == 5


def test_who_waits_is_refused_when_there_is_none_or_it_is_closed() -> None:
    meter = Meter(Budget(tokens=10))
    held = meter.before_request(10)
    with ThreadPoolExecutor(2) as pool:
        waiting = pool.submit(meter.before_request, 5)
        meter.after(held, Usage(1, 6, 0))
        with pytest.raises(BudgetSpent, match="tokens is spent"):
            waiting.result(10)
        meter.before_request(4)
        waiting = pool.submit(meter.before_request, 4)
        meter.close()
        with pytest.raises(BudgetSpent, match="asking was ended"):
            waiting.result(10)


@pytest.mark.parametrize(
    ("usage", "text", "expected"),
    [
        (Usage(1, 7, 3), "x", SpentBudget(1, 7, 3, 0, 0, None)),
        (Usage(4, 7, 3), "", SpentBudget(4, 7, 3, 0, 0, None)),
        (Usage(0, 7, 3), "", SpentBudget(1, 7, 3, 0, 0, None)),
        (Usage(1, 0, 0), "", SpentBudget(1, 0, 0, 0, 0, None)),
        (Usage(1), "", SpentBudget(1, 10, 20, 30, 0, None)),
        (Usage(1), "12345", SpentBudget(1, 10, 2, 12, 0, None)),
        (Usage(1, 7), "12345", SpentBudget(1, 7, 2, 2, 0, None)),
    ],
)
def test_what_nobody_tells_is_estimated(usage: Usage, text: str, expected: SpentBudget) -> None:
    meter = Meter()
    meter.after(meter.before_request(10, 20), usage, text)
    assert meter.snapshot() == expected


def test_a_resumed_run_starts_from_what_is_spent() -> None:
    budget = Budget(requests=5, prompt_price=2.5, completion_price=10)
    meter = Meter(budget, Usage(4, 1_000_000, 100_000))
    assert meter.snapshot() == SpentBudget(4, 1_000_000, 100_000, 0, 0, 3.5)
    assert meter.snapshot().tokens == 1_100_000
    meter.after(meter.before_request(1), Usage(1, 1, 1))
    with pytest.raises(BudgetSpent):
        meter.before_request(1)


def test_many_threads_take_no_more_than_there_is() -> None:
    meter = Meter(Budget(tokens=1000))
    start = threading.Barrier(16)

    def spend() -> int:
        start.wait()
        done = 0
        try:
            while True:
                meter.after(meter.before_request(3, 10), Usage(1, 3, 4))
                done += 1
        except BudgetSpent:
            return done

    with ThreadPoolExecutor(16) as pool:
        done = sum(future.result() for future in [pool.submit(spend) for _ in range(16)])
    assert done == 142  # the 143rd might have made it 994 + 13
    assert meter.snapshot().tokens == 994


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"requests": 0}, "budget of 0 requests"),
        ({"tokens": -1}, "budget of -1 tokens"),
        ({"money": 0.0}, "budget of 0.0 money"),
        ({"money": float("nan"), "prompt_price": 1, "completion_price": 1}, "budget of nan money"),
        ({"money": 5.0}, "budget of 5 in money without prices"),
        ({"money": 5.0, "prompt_price": 1}, "budget of 5 in money without prices"),
        ({"prompt_price": -1}, "a price of -1 per million tokens"),
    ],
)
def test_limits_and_prices_have_to_make_sense(values: dict[str, float], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        Budget(**values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("żółć", 2), ("\ud800", 1)]
)
def test_tokens_are_estimated_from_bytes(text: str, tokens: int) -> None:
    assert ESTIMATE.count(text) == tokens
