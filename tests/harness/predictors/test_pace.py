"""When requests may go, by a clock that stands still unless it is moved."""

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from dialects.errors import BadInput
from harness.predictors.budget import Pace


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
    assert [pace.reserve(weight) for weight in weights] == waits


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
    assert sorted(waits) == [number / 10 for number in range(200)]


def test_a_limit_without_the_library_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyrate_limiter", None)
    assert Pace().reserve(10) == 0
    with pytest.raises(BadInput, match=r"pip install 'bird-harness\[models\]'"):
        Pace(60)
