"""A choice is what its options say, in the order of the set; a sample keeps shares and comes out again."""

from collections import Counter
from pathlib import Path

import pytest

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.data.predictions import Choice
from harness.data.questions import QuestionSet
from harness.data.sets.loading import load_set
from harness.runs.summary import Extent
from tests.harness import own_sets as sets


@pytest.fixture
def sample_set() -> QuestionSet:
    return load_set("sample")


def keys(questions: QuestionSet) -> list[str]:
    return [question.key for question in questions.questions]


def test_databases_levels_and_names_are_those_asked_for(sample_set: QuestionSet) -> None:
    db_id = sample_set.db_ids[0]
    found = Choice(db_ids=[db_id], difficulties=["simple", "moderate"]).of(sample_set)
    assert keys(found) == [
        one.key
        for one in sample_set.questions
        if one.db_id == db_id and one.difficulty in {"simple", "moderate"}
    ]
    assert found.order[Dialect.MYSQL] == tuple(keys(found))
    whole = keys(sample_set)
    assert keys(Choice(keys=[whole[5], whole[2]]).of(sample_set)) == [whole[2], whole[5]]
    assert Choice().of(sample_set) == sample_set
    assert (
        keys(Choice(difficulties=["moderate"], limit=2).of(sample_set))
        == keys(Choice(difficulties=["moderate"]).of(sample_set))[:2]
    )


@pytest.mark.parametrize("count", [1, 7, 20, 33, 65])
def test_a_sample_keeps_the_shares_and_comes_out_again(sample_set: QuestionSet, count: int) -> None:
    found = Choice(sample=count, seed=3).of(sample_set)
    assert len(found.questions) == count
    assert keys(found) == [key for key in keys(sample_set) if key in set(keys(found))]
    assert keys(found) == keys(Choice(sample=count, seed=3).of(sample_set))
    total = len(sample_set.questions)
    groups = Counter((one.db_id, one.difficulty) for one in sample_set.questions)
    drawn = Counter((one.db_id, one.difficulty) for one in found.questions)
    assert all(abs(drawn[group] - count * size / total) < 1 for group, size in groups.items())


def test_another_seed_draws_others_and_a_large_sample_is_the_set(sample_set: QuestionSet) -> None:
    assert len({tuple(keys(Choice(sample=20, seed=seed).of(sample_set))) for seed in range(5)}) == 5
    assert Choice(sample=1000).of(sample_set) == sample_set


@pytest.mark.parametrize(
    ("choice", "says"),
    [
        (Choice(db_ids=["market"]), "--db 'market': Shop-Bench has none such; it has shop"),
        (
            Choice(difficulties=["hard"]),
            "--difficulty 'hard': Shop-Bench has none such; it has warm-up, tricky",
        ),
        (Choice(keys=["Q/9"]), "question 'Q/9': not in Shop-Bench"),
        (Choice(difficulties=["tricky"], keys=["Q/1"]), "no question of Shop-Bench is left"),
    ],
)
def test_what_cannot_be_chosen_is_said(tmp_path: Path, choice: Choice, says: str) -> None:
    with pytest.raises(BadInput) as raised:
        choice.of(load_set(str(sets.own(tmp_path / "own"))))
    assert says in str(raised.value)


def test_tables_say_what_was_chosen_of_what() -> None:
    choice = Choice(db_ids=["shop"], sample=5, seed=2)
    planned = {("p", "sqlite"): 5}
    extent = Extent(planned, 5, 66, by=choice.beyond_limit)
    line = "5 of 66 questions: a selection by --db shop --sample 5 --seed 2, not the set."
    assert extent.lines({("p", "sqlite"): 5}, {"sqlite": "SQLite"}) == [line]
    assert Extent.from_manifest({"planned": extent.to_json()}) == extent
    assert Choice(limit=5).beyond_limit == ""
