"""Options of reward functions, their names, and what they say of a step without rewards."""

import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from dialects.errors import BadInput
from harness import Evaluator
from harness.adapters.rewards import trl_reward, verl_batch_reward, verl_reward

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

DATABASE = "city_library"
GOLD = "SELECT 1 UNION SELECT 2"
HALF = "SELECT 1 UNION SELECT 3"
BROKEN = "SELECT no_such_column"


@pytest.fixture(scope="module")
def evaluator() -> Iterator[Evaluator]:
    with Evaluator("sample", metrics=["ex", "soft_f1"], dialects=["sqlite"], workers=1) as evaluator:
        yield evaluator


@pytest.fixture(scope="module")
def of_ex() -> Iterator[Evaluator]:
    with Evaluator("sample", metrics="ex", dialects=["sqlite", "duckdb"], workers=1) as evaluator:
        yield evaluator


def made(evaluator: Evaluator, **options: Any) -> list[Callable[..., Any]]:
    return [
        trl_reward(evaluator, **options),
        verl_reward(evaluator, unjudged=0.5, **options),
        verl_batch_reward(evaluator, unjudged=0.5, **options),
    ]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"metrc": "ex"}, "reward option 'metrc': choose from metric, name"),
        ({"metric": "f1"}, "metric 'f1': choose from ex, "),
        ({"metric": "em"}, "the evaluator computes ex, soft_f1; add it"),
        ({"metric": "partial"}, "metric 'partial': choose from ex, "),
        ({"metric": "ex_set"}, "'ex_set'"),
        ({"metric": {"ex": 1, "rves": 1}}, "'rves'"),
        ({"metric": {"ex": float("nan")}}, "metric 'ex': its weight nan is not a number"),
        ({"metric": {"ex": "1"}}, "metric 'ex': its weight '1' is not a number"),
        ({"metric": {}}, "metric: none is named"),
        ({"dialect": "oracle"}, "dialect 'oracle': choose from sqlite"),
        ({"deadline": 0}, "deadline"),
    ],
)
def test_a_wrong_option_is_refused_when_the_function_is_made(
    evaluator: Evaluator, options: dict[str, Any], says: str
) -> None:
    makers: dict[Callable[..., Any], dict[str, Any]] = {
        trl_reward: {}, verl_reward: {"unjudged": 0.5}, verl_batch_reward: {"unjudged": 0.5},
    }  # fmt: skip
    for make, needed in makers.items():
        with pytest.raises(BadInput) as refused:
            make(evaluator, **needed, **options)
        assert says in str(refused.value)


def test_a_metric_that_the_evaluator_does_not_compute_is_refused(of_ex: Evaluator) -> None:
    with pytest.raises(BadInput, match="metric 'soft_f1': the evaluator computes ex; add it to its metrics"):
        trl_reward(of_ex, metric="soft_f1", dialect="sqlite")
    with pytest.raises(BadInput, match="dialect '': choose from sqlite, duckdb"):
        trl_reward(of_ex)


def test_functions_have_names_of_their_own(evaluator: Evaluator) -> None:
    def names(**options: Any) -> list[str]:
        return [function.__name__ for function in made(evaluator, **options)]

    assert names() == ["sql_reward", "compute_score", "compute_score"]
    assert names(metric="soft_f1")[:2] == ["sql_reward_soft_f1", "compute_score_soft_f1"]
    assert names(metric={"ex": 1, "soft_f1": 1})[0] == "sql_reward_ex_soft_f1"
    assert names(name="mine") == ["mine"] * 3


def test_a_mix_is_the_weighted_sum(evaluator: Evaluator) -> None:
    columns = {"completions": [GOLD, HALF, "SELECT 8", GOLD], "database": [DATABASE] * 4}
    columns |= {"gold": [GOLD, GOLD, GOLD, BROKEN]}
    soft = trl_reward(evaluator, metric="soft_f1")(**columns)
    assert soft == [1.0, pytest.approx(0.5), 0.0, None]
    mixed = trl_reward(evaluator, metric={"ex": 0.75, "soft_f1": 0.25})(**columns)
    assert mixed == [1.0, pytest.approx(0.125), 0.0, None]


def test_a_missing_column_is_named(evaluator: Evaluator) -> None:
    with pytest.raises(BadInput, match=r"column 'gold': the training set has database, query; .*gold="):
        trl_reward(evaluator)(completions=["SELECT 1"], database=[DATABASE], query=[GOLD])
    one = {"solution_str": "SELECT 1", "ground_truth": GOLD, "extra_info": {"db": DATABASE}}
    with pytest.raises(
        BadInput, match="extra_info: has no 'database' but db; name the member with database="
    ):
        verl_reward(evaluator, unjudged=0.5)(**one)


def test_a_step_without_rewards_is_warned_of_once(
    evaluator: Evaluator, caplog: pytest.LogCaptureFixture
) -> None:
    def step(reward: Callable[..., Any], *golds: str) -> Any:
        return reward(completions=["SELECT 1"] * len(golds), database=[DATABASE] * len(golds), gold=golds)

    reward = trl_reward(evaluator)
    with caplog.at_level(logging.WARNING, "harness.adapters.rewards"):
        assert step(reward, GOLD, BROKEN) == [0.0, None]
        assert not caplog.records
        for _ in range(3):
            assert step(reward, BROKEN, BROKEN) == [None, None]
        [record] = caplog.records
        assert "none of the last 2 answers could be judged" in record.getMessage()
        assert "no_such_column" in record.getMessage()
        caplog.clear()
        single = verl_reward(evaluator, unjudged=0.5)
        one = {"solution_str": "SELECT 1", "extra_info": {"database": DATABASE}}
        for _ in range(40):
            assert single(ground_truth=BROKEN, **one) == 0.5
        [record] = caplog.records
        assert "none of the last 32 answers" in record.getMessage()
