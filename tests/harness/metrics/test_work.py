"""What work weighs, and what scores it comes to."""

import hashlib
import json
from math import sqrt

import pytest

from benchmarks.work import SAMPLES, fitted, judged, read
from harness.data.outcomes import Judgement, Outcome
from harness.metrics.efficiency import TOLERANCE
from harness.metrics.work import WEIGHTS, WorkRatio, r_ves_work, ratio, units, ves_work

FITTED = json.loads(WEIGHTS.read_text(encoding="utf-8"))
ENGINES = sorted(FITTED)


@pytest.mark.parametrize("engine", ENGINES)
def test_more_work_weighs_more_and_none_weighs_less_than_nothing(engine: str) -> None:
    weights = FITTED[engine]["weights"]
    assert all(weight >= 0 for weight in weights.values())
    heavy = max(weights, key=lambda name: weights[name])
    assert units(engine, {heavy: 2}) == 2 * weights[heavy] > units(engine, {heavy: 1}) > 0
    assert units(engine, {}) == 0


@pytest.mark.parametrize("engine", ENGINES)
def test_the_order_of_counters_changes_no_digit(engine: str) -> None:
    names = sorted(FITTED[engine]["weights"])
    counters = {name: 7 * place + 1 for place, name in enumerate(names)}
    assert units(engine, counters) == units(engine, dict(reversed(counters.items())))


@pytest.mark.parametrize("engine", ENGINES)
def test_weights_are_those_of_the_samples_that_they_name(engine: str) -> None:
    path = SAMPLES / f"{engine}.csv"
    assert FITTED[engine]["samples"] == hashlib.sha256(path.read_bytes()).hexdigest()
    samples = read(path)
    again = fitted([each for each in samples if not each.is_held_out])
    assert again.keys() == FITTED[engine]["weights"].keys()
    # Of other releases of NumPy the last digits may be others.
    assert judged(again, samples).explained == pytest.approx(
        judged(FITTED[engine]["weights"], samples).explained, abs=0.01
    )


def test_what_has_no_weight_is_no_work_that_can_be_told() -> None:
    with pytest.raises(LookupError):
        ratio("sqlite", {"miracle": 1}, {"vm_step": 1000, "page": 1})
    with pytest.raises(LookupError):
        units("oracle", {})


def test_the_ratio_is_golds_work_over_the_predictions() -> None:
    found = ratio("sqlite", {"vm_step": 1000, "page": 100}, {"vm_step": 3000, "page": 300})
    assert found.tau == pytest.approx(3)
    assert found.gold is not None
    assert found.prediction is not None
    assert found.gold == pytest.approx(3 * found.prediction)


@pytest.mark.parametrize(
    ("tau", "score"),
    [
        (2.0, sqrt(1.25)),
        (1.99, 1.0),
        (1.0, 1.0),
        (1 / TOLERANCE, 1.0),
        (0.9, sqrt(0.75)),
        (0.5, sqrt(0.75)),
        (0.3, sqrt(0.5)),
        (0.1, 0.5),
    ],
)
def test_rewards_are_those_of_r_ves_stable(tau: float, score: float) -> None:
    assert r_ves_work(tau) == score
    assert ves_work(tau) == sqrt(tau)


@pytest.mark.parametrize("work", [None, WorkRatio(0.5, 2.0, 1.0), WorkRatio(reason="it was not counted")])
def test_a_judgement_keeps_its_work_as_json(work: WorkRatio | None) -> None:
    judgement = Judgement(Outcome.MATCH, {"ex": 1.0}, work=work)
    assert Judgement.from_json(json.loads(json.dumps(judgement.to_json()))) == judgement
