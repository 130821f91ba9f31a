import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.figures.pages import write_expectations
from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.analyses.coverage import expectations
from harness.analyses.coverage.answers import JUDGED, CoverageAnswer, DifferenceReason, OverrideState
from harness.analyses.coverage.expectations import faults_of_judgements
from harness.data.outcomes import GoldOrigin
from harness.data.questions import Difficulty

SAME = CoverageAnswer(
    question="1",
    db_id="d",
    difficulty=Difficulty.SIMPLE,
    dialect=Dialect.MYSQL,
    origin=GoldOrigin.TRANSLATED,
    sql="SELECT 1",
    runs=True,
    same_set=True,
    same_bag=True,
)
TIE = replace(SAME, question="2", same_set=False, same_bag=False, reason=DifferenceReason.TIE, sql="SELECT 2")
REFUSED = replace(
    SAME,
    question="137#2",
    sql=None,
    runs=False,
    same_set=False,
    same_bag=False,
    reason=DifferenceReason.UNTRANSLATABLE,
    detail="x: why",
)
ELSEWHERE = replace(SAME, dialect=Dialect.POSTGRESQL)
ALL = (SAME, TIE, REFUSED, ELSEWHERE)
KEYS = ("1", "2", "137#2")


def write(name: str, answers: Sequence[CoverageAnswer], home: Path) -> None:
    write_expectations(name, [answer.to_json() for answer in answers], home)


def test_what_was_written_is_what_is_expected(tmp_path: Path) -> None:
    write("s", ALL, tmp_path)
    before = expectations.read("s", tmp_path)
    assert before[Dialect.MYSQL]["1"].answer == before[Dialect.MYSQL]["2"].answer == "covered"
    assert before[Dialect.MYSQL]["137#2"] == expectations.Expected("untranslatable", None)
    assert list(expectations.changes(ALL, before, KEYS)) == []
    assert list(expectations.changes(ALL[:1], before, KEYS)) == [], (
        "a part of the set is held against its part"
    )


def test_expectations_are_a_line_a_question_without_the_text(tmp_path: Path) -> None:
    write("s", ALL, tmp_path)
    text = (tmp_path / "s.json").read_text(encoding="utf-8")
    assert len(text.splitlines()) == len(ALL) + 2 * 2 + 2
    assert "SELECT" not in text
    assert [path.name for path in tmp_path.iterdir()] == ["s.json"]


def test_the_sample_sets_translations_are_kept_as_text(tmp_path: Path) -> None:
    write("sample", [*ALL, replace(REFUSED, sql="SELECT 3")], tmp_path)
    assert (tmp_path / "sample" / "mysql" / "137#2.sql").read_text(encoding="utf-8") == "SELECT 3\n"
    write("sample", ALL, tmp_path)
    kept = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.sql"))
    assert kept == ["sample/mysql/1.sql", "sample/mysql/2.sql", "sample/postgresql/1.sql"]


@pytest.mark.parametrize(
    ("now", "says"),
    [
        (replace(SAME, reason=DifferenceReason.DIFFERENT), ["mysql 1: was covered, is different"]),
        (replace(SAME, reason=DifferenceReason.ERROR, detail="no"), ["mysql 1: was covered, is error (no)"]),
        (replace(SAME, reason=DifferenceReason.TIE), []),
        (replace(SAME, sql="SELECT 9"), ["mysql 1: its translation has changed"]),
        (replace(SAME, question="9"), ["mysql 9: there is no expectation of it"]),
        (
            replace(REFUSED, reason=None, sql="SELECT 1"),
            ["mysql 137#2: was untranslatable, is covered", "mysql 137#2: its translation has changed"],
        ),
        (replace(SAME, warnings=("any row",), reason=DifferenceReason.UNSPECIFIED), []),
        (
            replace(SAME, warnings=("any row",), reason=DifferenceReason.ERROR, detail="no"),
            ["mysql 1: was covered, is error (no)"],
        ),
    ],
)
def test_every_change_is_named(tmp_path: Path, now: CoverageAnswer, says: list[str]) -> None:
    write("s", ALL, tmp_path)
    found = map(str, expectations.changes([now], expectations.read("s", tmp_path), (*KEYS, "9")))
    assert [line.partition(" (x:")[0] for line in found] == says


def test_a_question_that_is_gone_is_named(tmp_path: Path) -> None:
    write("s", ALL, tmp_path)
    found = list(map(str, expectations.changes([SAME], expectations.read("s", tmp_path), ("1", "137#2"))))
    assert found == ["mysql 2: is no question of the set any more"]


def test_no_file_is_no_expectation_and_a_broken_one_is_bad_input(tmp_path: Path) -> None:
    assert expectations.read("s", tmp_path) == {}
    for broken in ("{", "[]", '{"oracle": {}}', '{"mysql": {"1": ["covered"]}}'):
        (tmp_path / "s.json").write_text(broken, encoding="utf-8")
        with pytest.raises(BadInput, match=r"s\.json"):
            expectations.read("s", tmp_path)


def test_a_stale_or_unneeded_override_is_a_fault() -> None:
    states = [replace(SAME, override=state) for state in (None, *OverrideState)]
    found = list(map(str, expectations.faults_of_overrides(states)))
    assert [line.split(":")[0] for line in found] == ["mysql 1", "mysql 1"]
    assert "stale" in found[0]
    assert "no longer needed" in found[1]


DIFFERENT = replace(SAME, same_bag=False, same_set=False, reason=DifferenceReason.DIFFERENT)


def test_a_judgement_explains_what_differs_and_nothing_else() -> None:
    table = {Dialect.MYSQL: {"1": DifferenceReason.NULL_ORDER, "2": DifferenceReason.GROUPING}}
    answers = [expectations.judged(one, table) for one in (DIFFERENT, TIE, ELSEWHERE)]
    assert [answer.reason for answer in answers] == [DifferenceReason.NULL_ORDER, DifferenceReason.TIE, None]
    assert list(map(str, faults_of_judgements(answers, table))) == ["mysql 2: is judged grouping, but is tie"]


def test_a_difference_without_a_reason_and_a_reason_without_a_difference_are_faults() -> None:
    [fault] = faults_of_judgements([DIFFERENT], {})
    assert str(fault) == "mysql 1: returns other rows, and nobody has said why"
    table = {Dialect.MYSQL: {"1": DifferenceReason.GROUPING}}
    assert list(map(str, faults_of_judgements([SAME], table))) == [
        "mysql 1: is judged grouping, but is the same"
    ]
    assert list(faults_of_judgements([ELSEWHERE], table)) == [], "what was not run is not judged"


def test_only_reasons_for_a_person_can_be_judged(tmp_path: Path) -> None:
    assert expectations.read_judgements("s", tmp_path) == {}
    path = tmp_path / "published" / "s.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"mysql": {"1": "tie"}}), encoding="utf-8")
    with pytest.raises(BadInput, match="mysql 1: tie is found by itself"):
        expectations.read_judgements("s", tmp_path)
    for broken in ("{", "[]", '{"mysql": {"1": "because"}}'):
        path.write_text(broken, encoding="utf-8")
        with pytest.raises(BadInput, match=r"s\.json"):
            expectations.read_judgements("s", tmp_path)


@pytest.mark.parametrize("name", ["mini_dev", "mini_dev_2025"])
def test_the_committed_judgements_are_readable(name: str) -> None:
    found = expectations.read_judgements(name, expectations.HOME)
    assert {reason for entries in found.values() for reason in entries.values()} <= JUDGED


def test_the_documentation_explains_every_reason_that_a_published_gold_can_have() -> None:
    page = (Path(__file__).parents[3] / "docs" / "measurements" / "coverage.md").read_text(encoding="utf-8")
    never = {
        DifferenceReason.UNSPECIFIED,
        DifferenceReason.CLOCK,
        DifferenceReason.NO_REFERENCE,
        DifferenceReason.NOT_LOADED,
        DifferenceReason.UNTRANSLATABLE,
        DifferenceReason.DIFFERENT,
    }
    assert [reason for reason in DifferenceReason if reason not in never and f"`{reason}`" not in page] == []
