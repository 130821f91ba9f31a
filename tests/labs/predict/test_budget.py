"""What a meter lets through, holds back and counts, and when requests may go."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from dialects.errors import BadInput
from harness.labs.predict.budget import CLOSED, Bill, Budget, Meter, Pace, SpentBudget
from harness.predictors.base import BudgetSpent, RequestFailed, Usage
from tests.harness.predictors.making import ask


def settle(meter: Meter, bill: Bill, usage: Usage | None, text: str = "") -> None:
    with meter.settling(bill):
        bill.usage, bill.text = usage, text


def spend(meter: Meter, bill: Bill, usage: Usage, text: str = "") -> None:
    assert meter.hold(bill)
    settle(meter, bill, usage, text)


def test_nothing_is_limited_unless_told() -> None:
    meter = Meter()
    bills = [Bill(10**9, 10**9) for _ in range(100)]
    assert all(map(meter.hold, bills))
    assert meter.snapshot() == SpentBudget(0, 0, 0, 0, 100, None)
    for each in bills:
        settle(meter, each, Usage(1, 1, 2))
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
        meter.hold(Bill(*request_tokens))
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
    assert Meter(budget, spent).hold(Bill(*request_tokens))


def test_requests_under_way_are_held_back() -> None:
    meter = Meter(Budget(tokens=100))
    first, second = Bill(20, 40), Bill(20, 40)
    assert meter.hold(first)
    assert not meter.hold(second)  # it may fit, if the first takes less
    settle(meter, first, Usage(1, 20, 10))
    assert meter.hold(second)


def test_a_request_under_way_is_one_whatever_becomes_of_it() -> None:
    meter = Meter(Budget(requests=1))
    held = Bill(1)
    assert meter.hold(held)
    with pytest.raises(BudgetSpent):
        meter.hold(Bill(1))
    settle(meter, held, None)  # it was not sent after all
    assert meter.hold(Bill(1))


@pytest.mark.parametrize(
    ("taken", "reply"), [(7, "sent"), (8, "the budget of 10 tokens is spent"), (None, CLOSED)]
)
def test_who_waits_goes_on_when_there_is_room_and_is_refused_where_there_is_none(
    taken: int | None, reply: str
) -> None:
    meter, held, closed = Meter(Budget(tokens=10)), Bill(8), threading.Event()
    assert meter.hold(held)

    def wait() -> str:
        try:
            with meter.paying(ask(), closed) as bill:  # of 3 tokens
                assert bill.usage == Usage(1)
                return "sent"
        except (BudgetSpent, RequestFailed) as error:
            return str(error)

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(wait)
        if taken is None:
            closed.set()
        else:
            settle(meter, held, Usage(1, taken, 0))
        assert waiting.result(10).startswith(reply)


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
    spend(meter, Bill(10, 20), usage, text)
    assert meter.snapshot() == expected


def test_a_resumed_run_starts_from_what_is_spent() -> None:
    budget = Budget(requests=5, prompt_price=2.5, completion_price=10)
    meter = Meter(budget, Usage(4, 1_000_000, 100_000))
    assert meter.snapshot() == SpentBudget(4, 1_000_000, 100_000, 0, 0, 3.5)
    assert meter.snapshot().tokens == 1_100_000
    spend(meter, Bill(1), Usage(1, 1, 1))
    with pytest.raises(BudgetSpent):
        meter.hold(Bill(1))


def test_many_threads_take_no_more_than_there_is() -> None:
    meter = Meter(Budget(tokens=1000))
    start = threading.Barrier(16)

    def spending() -> int:
        start.wait()
        done = 0
        try:
            while True:
                bill = Bill(3, 10)
                for _ in meter.waits(bill):
                    pass
                settle(meter, bill, Usage(1, 3, 4))
                done += 1
        except BudgetSpent:
            return done

    with ThreadPoolExecutor(16) as pool:
        done = sum(future.result() for future in [pool.submit(spending) for _ in range(16)])
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


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("requests", "tokens", "weights", "waits"),
    [
        (None, None, [5, 5, 5], [0, 0, 0]),
        (60, None, [5, 5, 5, 5], [0, 1, 2, 3]),
        (1, None, [5, 5], [0, 60]),
        (None, 600, [60, 60, 60], [0, 6, 12]),  # ten tokens a second, sixty at once
        (None, 600, [30, 30, 30, 30], [0, 0, 3, 6]),
        (None, 600, [600, 10], [54, 55]),  # more than goes at once waits for all of it
        (None, 5, [1, 1, 1], [0, 12, 24]),
        (60, 600, [60, 60, 60], [0, 6, 12]),
        (6, 600, [60, 60, 60], [0, 10, 20]),
        (60, 600, [0, 0], [0, 1]),
    ],
)
def test_who_comes_first_goes_first_and_no_faster_than_told(
    requests: int | None, tokens: int | None, weights: list[int], waits: list[float]
) -> None:
    pace = Pace(requests, tokens, clock=Clock())
    assert [pace.reserve(weight) for weight in weights] == pytest.approx(waits)


def test_time_that_passes_is_counted() -> None:
    clock = Clock()
    pace = Pace(60, clock=clock)
    assert pace.reserve(1) == 0
    clock.now += 0.25
    assert pace.reserve(1) == 0.75
    clock.now += 100  # a pause is no credit for a burst
    assert [pace.reserve(1) for _ in range(3)] == [0, 1, 2]


def test_threads_get_places_of_their_own() -> None:
    pace = Pace(600, clock=Clock())
    with ThreadPoolExecutor(16) as pool:
        waits = list(pool.map(pace.reserve, [1] * 200))
    assert sorted(waits) == pytest.approx([number / 10 for number in range(200)])
