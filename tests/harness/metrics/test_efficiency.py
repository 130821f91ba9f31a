"""The rules of R-VES and VES: what they say of times, and how often they are wrong."""

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from itertools import cycle, islice
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import wilcoxon

from harness.metrics.efficiency import (
    CONFIDENCE,
    LOOKS,
    TOLERANCE,
    Clock,
    Decision,
    Timing,
    decide,
    interval,
    official_tau,
    reward,
    same_text,
    steady,
)

LAST = max(LOOKS)


@pytest.mark.parametrize(
    ("tau", "expected"),
    [
        (100.0, 1.25), (2.0, 1.25), (1.999, 1.0), (1.0, 1.0), (0.999, 0.75), (0.5, 0.75), (0.499, 0.5),
        (0.25, 0.5), (0.249, 0.25), (1e-6, 0.25), (0.0, 0.0),
    ],
)  # fmt: skip
def test_the_documented_reward(tau: float, expected: float) -> None:
    assert reward(tau) == expected


@pytest.mark.parametrize(
    ("ratios", "tau"),
    [
        ([1.0] * 100, 1.0),  # the script fails here and gives reward 0
        ([0.1] * 100, 0.1),  # where the mean is not exactly the value
        ([2.5], 2.5),
        ([1.0, 3.0], 2.0),
        ([*[1.0, 1.2] * 50, 9.0], 1.1),
        ([*[1.0, 1.2] * 50, 0.001], 1.1),
        ([*[1.0] * 9, 2.0], 1.0),  # exactly 3 standard deviations off, which is not inside
        ([*[1.0] * 8, 2.0], 10 / 9),  # less than 3
    ],
)
def test_official_tau_is_the_mean_of_what_is_strictly_within_three_sigma(
    ratios: Sequence[float], tau: float
) -> None:
    assert official_tau(ratios) == pytest.approx(tau)


@pytest.mark.parametrize(
    ("prediction", "gold", "same"),
    [
        ("SELECT 1", "SELECT 1", True),
        ("\n SELECT 1 ;\n", "SELECT 1", True),
        ("SELECT 1;", "SELECT 1 ", True),
        ("SELECT 1;;", "SELECT 1", False),
        ("select 1", "SELECT 1", False),
        ("SELECT  1", "SELECT 1", False),
        ("SELECT 'a '", "SELECT 'a'", False),
    ],
)
def test_texts_are_the_same_but_for_their_ends(prediction: str, gold: str, same: bool) -> None:  # noqa: FBT001
    assert same_text(prediction, gold) is same


@pytest.mark.parametrize(
    ("elapsed", "processor", "times"),
    [
        ([5.0, 9.0, 6.0], [5.0, 5.0, 6.0], [5.0, 5.0, 6.0]),  # only one of three was kept waiting
        ([25.0, 29.0, 26.0], [5.0, 5.0, 6.0], [25.0, 25.0, 26.0]),  # all of them slept for 20
        ([5.0, 4.0, 6.0], [5.0, 5.0, 6.0], [5.0, 5.0, 6.0]),  # two clocks, one read after the other
    ],
)
def test_a_wait_counts_where_every_execution_has_it(
    elapsed: Sequence[float], processor: Sequence[float], times: Sequence[float]
) -> None:
    assert steady(elapsed, processor) == times


def noisy(
    tau: float, jitter: Sequence[float] = (1.03, 1 / 1.02, 1.01, 1 / 1.03, 1 / 1.01, 1.02)
) -> list[float]:
    """Ratios a few percent around tau."""
    return [tau * factor for factor in islice(cycle(jitter), LAST)]


def concluded(ratios: Sequence[float]) -> tuple[int, Decision]:
    """After how many of the ratios it stops, and with what."""
    for count in range(1, len(ratios) + 1):
        if (decision := decide(ratios[:count])) is not None:
            return count, decision
    pytest.fail("it never stops")


@pytest.mark.parametrize(
    ("tau", "expected"),
    [(10.0, 1.25), (2.2, 1.25), (1.8, 1.0), (1.0, 1.0), (0.95, 1.0), (0.8, 0.75), (0.55, 0.75), (0.4, 0.5),
     (0.1, 0.25)],
)  # fmt: skip
def test_what_is_clear_is_decided_at_the_first_look(tau: float, expected: float) -> None:
    count, decision = concluded(noisy(tau))
    assert (count, decision.reward, decision.decided) == (min(LOOKS), expected, True)
    assert decision.low <= decision.tau <= decision.high


@pytest.mark.parametrize(("edge", "expected"), [(2.0, 1.0), (1 / TOLERANCE, 1.0), (0.5, 0.75), (0.25, 0.5)])
def test_what_stays_open_gets_the_reward_nearest_to_1(edge: float, expected: float) -> None:
    count, decision = concluded(noisy(edge))
    assert (count, decision.reward, decision.decided) == (LAST, expected, False)


def test_what_looks_equal_is_left_open_without_more_ado_and_what_does_not_is_measured_on() -> None:
    wild = (2.5, 0.4, 1.5, 0.7, 3.0, 0.3)
    count, decision = concluded(noisy(1.0, wild))
    assert (count, decision.reward, decision.decided) == (min(LOOKS), 1.0, False)
    count, decision = concluded(noisy(0.7, wild))
    assert (count, decision.reward, decision.decided) == (LAST, 1.0, False)


@pytest.mark.parametrize("tau", [3.0, 1.0, 0.7, 0.35, 0.1])
@pytest.mark.parametrize("outlier", [1e-6, 0.05, 20.0, 1e6])
@pytest.mark.parametrize("place", range(6))
def test_an_outlier_does_not_change_the_verdict(tau: float, outlier: float, place: int) -> None:
    ratios = noisy(tau)
    ratios[place] *= outlier
    assert concluded(ratios)[1].reward == concluded(noisy(tau))[1].reward


def test_the_intervals_of_all_looks_together_are_wrong_as_often_as_it_says() -> None:
    assert math.fsum(LOOKS.values()) == pytest.approx(1 - CONFIDENCE)


def test_the_interval_of_a_published_example() -> None:
    """Hollander and Wolfe, example 3.1: nine patients' depression before and after; 96.1 % for both ends."""
    before = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
    after = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]
    ratios = [math.exp(second - first) for first, second in zip(before, after, strict=True)]
    low, estimate, high = map(math.log, interval(ratios, 0.0196))
    assert (low, estimate, high) == pytest.approx((-0.786, -0.46, -0.010))


def test_too_few_ratios_for_an_interval_are_refused() -> None:
    with pytest.raises(ValueError, match="4 ratios are too few for an interval"):
        interval([1.0, 1.1, 1.2, 1.3], 0.05)


@given(
    st.lists(st.integers(-1000, 1000).filter(bool), min_size=6, max_size=LAST, unique_by=abs),
    st.sampled_from([0.0313, 0.05, 0.2]),
)
def test_the_interval_leaves_1_out_where_wilcoxons_exact_test_rejects(steps: list[int], error: float) -> None:
    logs = [step / 997 for step in steps]
    low, _, high = interval([math.exp(value) for value in logs], error)
    assume(low != 1 and high != 1)
    assert (low > 1) == (wilcoxon(logs, alternative="greater", method="exact").pvalue <= error)
    assert (high < 1) == (wilcoxon(logs, alternative="less", method="exact").pvalue <= error)


Noise = Callable[[Random], float]

NOISES: dict[str, Noise] = {
    "normal": lambda random: random.gauss(0, 0.1),
    "slight": lambda random: random.gauss(0, 0.01),
    "even": lambda random: random.uniform(-0.3, 0.3),
    "with outliers": lambda random: random.gauss(0, 0.05 if random.random() < 0.8 else 1.5),
    "two late times": lambda random: random.expovariate(5) - random.expovariate(5),
}
"""Of the logarithm of a ratio, symmetric."""

MEASUREMENTS = 1500


def measurements(tau: float, noise: Noise) -> Iterator[Decision]:
    random = Random(4)  # noqa: S311 - a simulation
    for _ in range(MEASUREMENTS):
        ratios = [tau * math.exp(noise(random)) for _ in range(LAST)]
        yield concluded(ratios)[1]


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
@pytest.mark.parametrize("edge", [2.0, 1 / TOLERANCE, 0.5, 0.25])
def test_a_reward_further_from_1_than_deserved_is_no_more_frequent_than_stated(
    edge: float, noise: Noise
) -> None:
    just_inside = edge * (0.9999 if edge > 1 else 1.0001)
    deserved = 1.0 if edge == 1 / TOLERANCE else reward(just_inside)
    wrong = sum(
        decision.reward > deserved if edge > 1 else decision.reward < deserved
        for decision in measurements(just_inside, noise)
    )
    assert wrong / MEASUREMENTS <= 1 - CONFIDENCE


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
def test_each_end_of_the_interval_holds_as_often_as_stated(noise: Noise) -> None:
    found = list(measurements(0.5, noise))
    assert sum(decision.low > 0.5 for decision in found) / MEASUREMENTS <= 1 - CONFIDENCE
    assert sum(decision.high < 0.5 for decision in found) / MEASUREMENTS <= 1 - CONFIDENCE


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
def test_a_prediction_as_fast_as_gold_is_hardly_ever_called_slower_or_faster(noise: Noise) -> None:
    rewards = [decision.reward for decision in measurements(1.0, noise)]
    assert sum(value != 1.0 for value in rewards) / MEASUREMENTS <= 0.01


@pytest.mark.parametrize(("tau", "deserved"), [(3.0, 1.25), (0.7, 0.75), (0.35, 0.5), (0.1, 0.25)])
def test_a_clear_difference_is_found_through_noise(tau: float, deserved: float) -> None:
    rewards = [decision.reward for decision in measurements(tau, NOISES["normal"])]
    assert sum(value == deserved for value in rewards) / MEASUREMENTS >= 0.95


def test_a_timing_survives_json() -> None:
    timing = Timing(0.98, 0.95, 1.02, 9, 20, Clock.SERVER, CONFIDENCE, decided=True, reward=1.0)
    again = Timing(**json.loads(json.dumps(asdict(timing))))
    assert again == timing
    assert isinstance(again.clock, Clock)
