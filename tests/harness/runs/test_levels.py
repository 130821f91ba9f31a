"""A run of a set with levels of its own is written, read, tabulated, grouped and compared by them."""

import json
import pickle
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import pytest

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.analyses.coverage.answers import CoverageAnswer, DifferenceReason
from harness.analyses.coverage.command import markdown
from harness.data.outcomes import GoldOrigin
from harness.data.questions import BIRD_LEVELS, Difficulty, Level, level, levels_of
from harness.report.comparison import differences, levels
from harness.report.documents import tables
from harness.report.html.pairs import Questions
from harness.runs.folder import RunFolder
from harness.runs.reader import MANIFEST, SUMMARY, read_run
from harness.runs.summary import TOTAL, By, shares
from tests.harness.run_folders import pair, right_on, write_run

OWN = ("warm-up", "7 of 10", "fiendish")


def own_run(path: Path, right: list[int]) -> Path:
    results = [
        replace(each, difficulty=Level(OWN[-1 if int(each.question_id) < 20 else 0], OWN))
        for each in right_on(right)
    ]
    return write_run(path, results, levels=OWN)


def test_a_level_knows_its_scale_wherever_it_is_sent() -> None:
    one = Level("fiendish", OWN)
    for copied in (one, deepcopy(one), pickle.loads(pickle.dumps(one))):  # noqa: S301 - our own
        assert (copied, levels_of([copied])) == ("fiendish", OWN)
    assert json.dumps([one]) == '["fiendish"]'
    assert levels_of([]) == levels_of(["simple"]) == BIRD_LEVELS
    assert levels_of([one, Difficulty.SIMPLE]) == (*OWN, *BIRD_LEVELS)
    assert level("simple", BIRD_LEVELS) is Difficulty.SIMPLE
    with pytest.raises(ValueError, match="'simple' is not one of the levels warm-up, 7 of 10, fiendish"):
        level("simple", OWN)


def test_tables_pages_and_groups_have_the_levels_of_the_set_in_its_order(tmp_path: Path) -> None:
    folder = own_run(tmp_path / "run", [0, 1, 2, 3, 4, 25])
    run = read_run(folder)
    assert {levels_of([result.difficulty]) for result in run.results} == {OWN}
    summary = json.loads((folder / SUMMARY).read_text())
    assert summary["scores"][0]["metrics"]["ex"] == {
        "warm-up": 10.0, "7 of 10": None, "fiendish": 25.0, "total": 20.0
    }  # fmt: skip
    assert [column.head for column in tables(run).grids[0].columns] == [*OWN, TOTAL]
    assert list(shares(run.results, "ex", By.DIFFICULTY, {})) == ["warm-up", "fiendish"]
    asked = Questions({}, ["d"], (result.difficulty for result in run.results))
    assert asked.levels == OWN
    assert [asked.of(result) for result in run.results] == list(range(30))
    assert asked.to_json()["questions"]["difficulty"] == [2] * 20 + [0] * 10


def test_runs_are_compared_by_the_levels_of_the_set(tmp_path: Path) -> None:
    a, b = (
        read_run(own_run(tmp_path / name, right)) for name, right in (("a", [0, 25]), ("b", [0, 1, 2, 3]))
    )
    found = differences(a.results, b.results, ["ex"])
    assert found is not None
    assert levels(found.changes[0]) == list(OWN)
    assert found.changes[0].differences == {
        "warm-up": -10.0, "7 of 10": None, "fiendish": 15.0, "total": pytest.approx(20 / 3)
    }  # fmt: skip


def test_coverage_has_the_levels_of_the_set() -> None:
    answers = [
        CoverageAnswer(str(place), "d", Level(name, OWN), Dialect.MYSQL, GoldOrigin.TRANSLATED, reason=reason)
        for place, (name, reason) in enumerate(
            [("fiendish", None), ("fiendish", DifferenceReason.ERROR), ("warm-up", None)]
        )
    ]
    text = markdown(answers)
    assert "| covered | % | warm-up | 7 of 10 | fiendish |" in text
    assert "| 2 | 66.7 | 100.0 | - | 50.0 |" in text


def test_a_run_of_another_scale_is_damaged_and_one_without_is_birds(tmp_path: Path) -> None:
    old = write_run(tmp_path / "old", [pair(1, ex=1.0), pair(2, ex=0.0)])
    assert "levels" not in json.loads((old / MANIFEST).read_text())
    assert levels_of(result.difficulty for result in read_run(old).results) == BIRD_LEVELS
    wrong = own_run(tmp_path / "wrong", [1])
    manifest = json.loads((wrong / MANIFEST).read_text())
    (wrong / MANIFEST).write_text(json.dumps(manifest | {"levels": ["easy"]}))
    with pytest.raises(BadInput, match="not a result of this version"):
        read_run(wrong)


def test_a_run_goes_on_with_its_levels(tmp_path: Path) -> None:
    whole = own_run(tmp_path / "run", [1, 2])
    manifest = json.loads((whole / MANIFEST).read_text())
    asked = {name: manifest[name] for name in ("set", "questions", "profile", "metrics", "levels")}
    with RunFolder.resume(whole, asked, ["ex", "soft_f1"]) as folder:
        assert {levels_of([result.difficulty]) for result in folder.done.values()} == {OWN}
        folder.finish()
    assert len(read_run(whole).results) == 30
