import csv
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialects.enums import Dialect
from harness.data.outcomes import Outcome, PairResult
from harness.report.compare import CompareRequest, compare
from harness.report.comparison import Differences, differences
from harness.report.table_model import CellKind, spelled
from harness.runs.reader import LATEST, MANIFEST, RESULTS, SUMMARY, read_questions, read_results
from harness.sqltree.constructs import QuestionType
from tests import forked
from tests.harness.conftest import Call
from tests.harness.run_folders import pair, right_on, write_run


@pytest.fixture
def call(call: Call) -> Call:
    """`compare` in this process."""
    return partial(call, "compare")


def found(a: Sequence[PairResult], b: Sequence[PairResult], *metrics: str) -> Differences:
    result = differences(a, b, metrics)
    assert result is not None
    return result


@pytest.mark.slow
def test_a_difference_has_its_counts_its_tests_and_its_levels() -> None:
    a, b = right_on(range(20)), right_on([*range(12), 29])
    of = found(a, b, "ex", "soft_f1")
    assert (of.questions, of.only_a, of.only_b) == (30, 0, 0)
    ex, soft_f1 = of.changes
    assert ex.mcnemar is not None
    assert (ex.mcnemar.only_first, ex.mcnemar.only_second) == (8, 1)
    assert ex.p == pytest.approx(2 * (1 + 9) / 2**9)
    assert ex.total == pytest.approx(100 * (13 - 20) / 30)
    assert ex.interval is not None
    assert ex.interval[0] < ex.total < ex.interval[1] < 0
    assert soft_f1.mcnemar is None
    assert soft_f1.total == pytest.approx(ex.total / 2)
    assert {level: round(of or 0, 6) for level, of in ex.differences.items()} == {
        "simple": -30.0,
        "moderate": -30.0,
        "challenging": -10.0,
        "total": pytest.approx(-23.333333),
    }
    assert [flip.question for flip in of.flips] == [*map(str, range(12, 20)), "29"]
    assert (of.flips[0].a, of.flips[0].b) == (Outcome.MATCH, Outcome.MISMATCH)
    assert (of.flips[0].lost, of.flips[0].won) == (("ex",), ())
    assert (of.flips[-1].lost, of.flips[-1].won) == ((), ("ex",))


def test_only_questions_that_both_have_are_compared() -> None:
    a, b = right_on(range(10)), right_on(range(10), questions=20)
    of = found(a, b[5:], "ex")
    assert (of.questions, of.only_a, of.only_b) == (15, 15, 0)
    assert of.changes[0].a == of.changes[0].b
    assert differences(a[:5], b[5:], ["ex"]) is None


def test_a_question_can_be_lost_by_one_metric_and_won_by_another() -> None:
    a, b = pair(1, ex=1.0, ex_strict=0.0), pair(1, ex=0.0, ex_strict=1.0)
    (flip,) = found([a], [b], "ex", "ex_strict").flips
    assert (flip.lost, flip.won) == (("ex",), ("ex_strict",))


def test_without_a_metric_of_0_and_1_outcomes_say_which_questions_flipped() -> None:
    a, b = pair(1, soft_f1=1.0), pair(1, soft_f1=0.5)
    (flip,) = found([replace(a, outcome=Outcome.MATCH)], [b], "soft_f1").flips
    assert flip.lost == ("ex",)


SIDES = st.lists(st.tuples(st.booleans(), st.sampled_from([0.0, 0.3, 1.0])), min_size=12, max_size=12)


@given(SIDES, SIDES)
def test_swapping_the_sides_swaps_signs_and_directions_and_nothing_else(
    of_a: list[tuple[bool, float]], of_b: list[tuple[bool, float]]
) -> None:
    a, b = (
        [pair(number, ex=float(ex), soft_f1=soft_f1) for number, (ex, soft_f1) in enumerate(side)]
        for side in (of_a, of_b)
    )
    there, back = found(a, b, "ex", "soft_f1"), found(b[::-1], a[::-1], "ex", "soft_f1")
    for change, swapped in zip(there.changes, back.changes, strict=True):
        assert (change.a, change.b, change.p) == (swapped.b, swapped.a, swapped.p)
        assert change.total == pytest.approx(-swapped.total)
        if change.interval is not None:
            assert swapped.interval == pytest.approx((-change.interval[1], -change.interval[0]))
    assert {(flip.question, flip.lost, flip.won) for flip in there.flips} == {
        (flip.question, flip.won, flip.lost) for flip in back.flips
    }


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample's own predictions, scored on SQLite."""
    cwd = tmp_path_factory.mktemp("evaluated")
    forked.run("harness", "eval", "--dialect", "sqlite", "--driver", "direct", cwd=cwd).check_returncode()
    return cwd / "results" / LATEST


def test_two_predictors_of_one_run_are_compared_as_the_summary_has_them(evaluated: Path, call: Call) -> None:
    sides = f"{evaluated}:careless", f"{evaluated}:every-fifth-wrong"
    code, output, _ = call(*sides)
    assert code == 0
    (content,) = json.loads(call(*sides, "--json")[1])["comparisons"]
    assert [content[side]["predictor"] for side in "ab"] == ["careless", "every-fifth-wrong"]
    summary = json.loads((evaluated / SUMMARY).read_text(encoding="utf-8"))["scores"]
    for side, score in zip("ab", summary, strict=True):
        assert content["questions"] == score["questions"]
        assert content["outcomes"][side] == score["outcomes"]
        assert {name: one[side] for name, one in content["metrics"].items()} == score["metrics"]
    rights = [
        {
            result.question
            for result in read_results(evaluated)
            if result.predictor == content[side]["predictor"] and result.outcome is Outcome.MATCH
        }
        for side in "ab"
    ]
    assert {flip["question"] for flip in content["flips"] if "ex" in flip["lost"]} == rights[0] - rights[1]
    assert {flip["question"] for flip in content["flips"] if "ex" in flip["won"]} == rights[1] - rights[0]
    test = content["metrics"]["ex"]["mcnemar"]
    assert (test["only_a"], test["only_b"]) == (len(rights[0] - rights[1]), len(rights[1] - rights[0]))
    for flip in content["flips"]:
        assert (
            f"  {flip['question']} ({flip['db_id']}, {flip['difficulty']}): {flip['a']} -> {flip['b']}"
            in output
        )


@pytest.mark.slow
def test_groups_of_questions_are_compared_as_the_choice_of_them_alone(evaluated: Path, call: Call) -> None:
    sides = f"{evaluated}:careless", f"{evaluated}:every-fifth-wrong"
    code, output, _ = call(*sides, "--by", "type")
    assert code == 0
    (content,) = json.loads(call(*sides, "--by", "type", "--json")[1])["comparisons"]
    questions = read_questions(evaluated)
    results = {
        result.question: result for result in read_results(evaluated) if result.predictor == "careless"
    }
    assert list(content["groups"]) == [*QuestionType, "none"]
    for name, group in content["groups"].items():
        own = [key for key, question in questions.items() if name in (question.types or ("none",))]
        assert group["questions"] == len(own)
        right = sum(results[key].outcome is Outcome.MATCH for key in own)
        assert group["metrics"]["ex"]["a"]["total"] == pytest.approx(100 * right / len(own))
        line = next(each for each in output.splitlines() if each.startswith(f" {name.replace('_', ' ')} "))
        expected = group["metrics"]["ex"]["difference"]["challenging"]
        assert line.split()[-1] == spelled(expected, CellKind.DIFFERENCE)
    text = call(*sides, "--by", "type", "--metrics", "ex", "--format", "csv")[1]
    found = {(row["by"], row["level"], row["metric"]): row for row in csv.DictReader(StringIO(text))}
    for name, group in {"total": content, **content["groups"]}.items():
        ex = group["metrics"]["ex"]
        row = found["difference", name, "ex"]
        assert (row["value"], row["questions"]) == (str(ex["difference"]["total"]), str(group["questions"]))
        assert [row["low"], row["high"]] == [*map(str, ex["interval"] or ("", ""))]
        assert row["mark"] == ("significant" if ex["p"] < 0.05 else "")
        assert found["difference", name, "ex_p"]["value"] == str(ex["p"])
        simple = found["difference", f"{name}, simple", "ex"]["value"]
        assert simple == str(ex["difference"]["simple"]).removeprefix("None")
    paper = call(*sides, "--by", "type", "--metrics", "ex", "--format", "latex")[1]
    assert "careless on SQLite & every{-}fifth{-}wrong on SQLite & B$-$A" in paper
    levels = json.loads(call(*sides, "--by", "difficulty", "--json")[1])["comparisons"][0]
    for name, group in levels["groups"].items():
        assert group["metrics"]["ex"]["difference"]["total"] == levels["metrics"]["ex"]["difference"][name]


def test_a_run_is_no_different_from_itself(evaluated: Path, call: Call) -> None:
    code, output, _ = call(str(evaluated), str(evaluated), "--no-regression")
    assert code == 0
    assert "none" in output
    content = json.loads(call(str(evaluated), str(evaluated), "--json")[1])
    assert [one["a"]["predictor"] for one in content["comparisons"]] == ["careless", "every-fifth-wrong"]
    assert content["notes"] == content["failures"] == []
    for comparison in content["comparisons"]:
        assert comparison["flips"] == []
        for change in comparison["metrics"].values():
            assert (change["difference"]["total"], change["interval"], change["p"]) == (0.0, None, 1.0)


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        ([], 0, ""),
        (["--fail-under", "ex=40"], 0, ""),
        (["--fail-under", "ex=40.1"], 1, "EX of p on SQLite is 40.00, below 40.1 (--fail-under)"),
        (["--fail-under", "ex=0", "--fail-under", "soft_f1=71"], 1, "Soft-F1 of p on SQLite is 70.00"),
        (["--no-regression"], 1, "EX of p on SQLite fell from 43.33 to 40.00, p 1 (--no-regression)"),
        (["--no-regression", "--metrics", "soft_f1"], 1, "Soft-F1 of p on SQLite fell from 71.67 to 70.00"),
        (["--no-regression", "--significant"], 0, ""),
    ],
)
def test_exit_codes_and_their_reasons(
    options: list[str], code: int, says: str, call: Call, tmp_path: Path
) -> None:
    write_run(tmp_path / "a", right_on(range(13)))
    write_run(tmp_path / "b", right_on(range(12)))
    found_code, output, errors = call("a", "b", *options)
    assert found_code == code, output + errors
    if says:
        assert errors.startswith("exit code 1: ")
        assert says in errors
        assert len(errors.splitlines()) == 1
    else:
        assert not errors
    assert call("b", "a", "--no-regression")[0] == 0, "better is no regression"


def test_a_regression_that_chance_would_seldom_make_is_significant(call: Call, tmp_path: Path) -> None:
    write_run(tmp_path / "a", right_on(range(20)))
    write_run(tmp_path / "b", right_on(range(12)))
    code, _, errors = call("a", "b", "--no-regression", "--significant")
    assert code == 1
    assert "EX of p on SQLite fell from 66.67 to 40.00, p 0.00781" in errors
    assert "Soft-F1" in errors


def test_what_only_one_side_has_and_what_else_differs_is_said(call: Call, tmp_path: Path) -> None:
    engines = {"sqlite": {"version": "3.45", "settings": {"x": 1}}, "mysql": {"version": "8.4"}}
    newer = {"sqlite": {"version": "3.50", "settings": {"x": 1}}, "mysql": {"version": "9.0"}}
    both = [*right_on([1]), *right_on([1], "q")]
    files = {"q.json": "12", "g.sql": "34"}
    write_run(tmp_path / "a", both, engines=engines, set_files=files)
    short = [*right_on([1], questions=20), *right_on([1], "r", questions=20)]
    unlike: Mapping[str, Any] = {
        "profile": "faithful",
        "questions": 20,
        "limits": {"seconds": 5},
        "engines": newer,
        "set_files": {"q.json": "12", "g.sql": "56"},
    }
    write_run(tmp_path / "b", short, **unlike)
    code, output, _ = call("a", "b")
    assert code == 0
    notes = [line.removeprefix("note: ") for line in output.splitlines() if line.startswith("note: ")]
    assert notes == [
        "only in A, so not compared: sqlite/q",
        "only in B, so not compared: sqlite/r",
        "questions: 30 in A, 20 in B",
        "profile: official in A, faithful in B",
        'limits: null in A, {"seconds": 5} in B',
        "sqlite's version: 3.45 in A, 3.50 in B",
        "files of the question set differ: g.sql",
    ]
    assert "20 questions in both; 10 more only in A" in output


def test_two_policies_of_extraction_are_told_apart(call: Call, tmp_path: Path) -> None:
    write_run(tmp_path / "a", right_on([1]), extract="none")
    write_run(tmp_path / "b", right_on([1]), extract="answer-1")
    code, output, _ = call("a", "b")
    assert (code, "note: extract: none in A, answer-1 in B" in output) == (0, True)
    assert "extract" not in call("a", "a")[1]


def test_flips_can_be_cut_short_and_names_are_no_markup(call: Call, tmp_path: Path) -> None:
    write_run(tmp_path / "a", right_on(range(30), "[red]p"))
    write_run(tmp_path / "b", right_on(range(10), "[red]p"))
    _, output, _ = call("a", "b", "--flips", "2")
    assert "right in A, wrong in B: 20\n  10 (d, moderate): match -> mismatch; EX\n  11 (d" in output
    assert "  and 18 more" in output
    assert "wrong in A, right in B: none" in output
    assert "A: [red]p on SQLite" in output
    assert "  29 (d, challenging): match -> mismatch; EX" in call("a", "b")[1], "all of them by default"


_LINE_2 = "b/results.jsonl: line 2: not a result of this version"
_AGAIN = "run it again"


def cut(folder: Path) -> None:
    lines = (folder / RESULTS).read_text(encoding="utf-8").splitlines()
    (folder / RESULTS).write_text("\n".join(lines[:-1]))


def on_result(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        lines = (folder / RESULTS).read_text(encoding="utf-8").splitlines()
        record = json.loads(lines[1])
        change(record)
        lines[1] = json.dumps(record)
        (folder / RESULTS).write_text("\n".join(lines))

    return spoil


def on_file(name: str, **values: object) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        content = json.loads((folder / name).read_text(encoding="utf-8"))
        (folder / name).write_text(json.dumps({**content, **values}))

    return spoil


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda b: (b / SUMMARY).unlink(), ["b: has no summary.json", "broken off", "--resume"]),
        (lambda b: (b / MANIFEST).unlink(), ["b: has no manifest.json", "name a run folder"]),
        (lambda b: (b / RESULTS).unlink(), ["b/results.jsonl: cannot be read", "check the path"]),
        (on_file(SUMMARY, schema_version=1), ["b/summary.json", "is 1", "reads 4", "run it again"]),
        (on_file(SUMMARY, scores=[1]), ["b/summary.json: is damaged", "run it again"]),
        (on_file(MANIFEST, set="mini_dev"), ["compare a b", "question sets (sample and mini_dev)"]),
        (lambda b: (b / MANIFEST).write_text("[]"), ["b/manifest.json: is an array, not an object", _AGAIN]),
        (lambda b: (b / MANIFEST).write_text("{"), ["b/manifest.json: not valid JSON", _AGAIN]),
        (lambda b: (b / RESULTS).write_text('{"dia'), ["b/results.jsonl: line 1: not a result", _AGAIN]),
        (on_result(lambda record: record.update(outcome="luck")), [_LINE_2, _AGAIN]),
        (on_result(lambda record: record.update(more=1)), [_LINE_2, _AGAIN]),
        (on_result(lambda record: record.update(scores={"ex": None})), [_LINE_2, _AGAIN]),
        (on_result(lambda record: record.update(scores=[])), [_LINE_2, _AGAIN]),
        (on_result(lambda record: record.pop("question")), [_LINE_2, _AGAIN]),
        (on_result(lambda record: record.update(question="0")), ["line 2 (question 0): a second", _AGAIN]),
        (cut, ["b/results.jsonl: has 29 results, summary.json 30", _AGAIN]),
    ],
)
def test_a_run_that_cannot_be_compared_exits_with_2_and_says_what_to_do(
    spoil: Callable[[Path], object], says: list[str], call: Call, tmp_path: Path
) -> None:
    write_run(tmp_path / "a", right_on([1]))
    write_run(tmp_path / "b", right_on([2]))
    spoil(tmp_path / "b")
    code, _, errors = call("a", "b")
    assert code == 2, errors
    assert len(errors.strip().splitlines()) == 1, errors
    assert [part for part in says if part not in errors] == [], errors


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["a", "gone"], ["gone: no such folder"]),
        (["a:q", "a"], ["'q' is neither a dialect nor a predictor", "sqlite/p"]),
        (
            ["a", "two"],
            ["engine in common: sqlite/p and sqlite/r, sqlite/s; choose one of each"],
        ),
        (["a", "late"], ["sqlite/p and sqlite/p have no question in common"]),
        (["a", "strict"], ["have no metric in common", "--metrics"]),
        (["a", "a", "--metrics", "ex_strict"], ["have no ex_strict in common", "--metrics"]),
        (["a", "a", "--fail-under", "em=1"], ["have no em in common"]),
        (["a", "a", "--metrics", "bleu"], ["--metrics bleu: not a metric", "soft_f1"]),
        (["a", "a", "--metrics", ""], ["--metrics : not a metric"]),
        (["a", "a", "--metrics", "partial"], ["--metrics partial: not a metric that can be compared"]),
        (["a", "a", "--fail-under", "bleu=1"], ["--fail-under bleu: not a metric"]),
        (["a", "a", "--fail-under", "ex"], ["--fail-under ex: must be METRIC=PERCENT"]),
        (["a", "a", "--fail-under", "ex=nan"], ["--fail-under ex=nan: must be METRIC=PERCENT"]),
        (["a", "a", "--by", "outcome"], ["--by outcome: differs between the sides", "type"]),
        (["a", "a", "--significant"], ["--significant", "--no-regression"]),
        (["a", "a", "--format", "csv"], ["--format csv: needs --by or --golds"]),
        (["a", "a", "--by", "type", "--format", "html"], ["--format html: choose from console, markdown"]),
    ],
)
def test_bad_usage_exits_with_2_and_one_line(
    args: list[str], says: list[str], call: Call, tmp_path: Path
) -> None:
    write_run(tmp_path / "a", right_on([1]))
    write_run(tmp_path / "two", [*right_on([1], "r"), *right_on([1], "s")])
    write_run(tmp_path / "late", [pair(number, ex=1.0, soft_f1=1.0) for number in range(50, 60)])
    write_run(tmp_path / "strict", [pair(number, em=1.0) for number in range(9)])
    code, _, errors = call(*args)
    assert code == 2, errors
    assert len(errors.strip().splitlines()) == 1, errors
    assert [part for part in says if part not in errors] == [], errors


def test_a_metric_of_one_engine_alone_is_compared_there(tmp_path: Path, call: Call) -> None:
    results = [*(replace(one, scores={**one.scores, "em": 1.0}) for one in right_on([1]))]
    write_run(tmp_path / "a", [*results, *right_on([1], dialect=Dialect.MYSQL)])
    code, output, _ = call("a", "a", "--metrics", "em", "--fail-under", "em=100", "--json")
    assert code == 0
    content = json.loads(output)
    assert [(one["a"]["dialect"], list(one["metrics"])) for one in content["comparisons"]] == [
        ("sqlite", ["em"])
    ]
    assert content["notes"] == ["no metric to compare p on MySQL by"]


def test_the_library_call_says_why(tmp_path: Path) -> None:
    path = write_run(tmp_path / "run", right_on([1]))
    said: list[str] = []
    assert compare(CompareRequest(str(path), str(path), fail_under={"ex": 99}), said.append) == 1
    assert len(said) == 1
