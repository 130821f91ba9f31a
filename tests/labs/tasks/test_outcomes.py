"""Results of tasks in a run folder, and what comparisons and reports make of them."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from harness.data.outcomes import Outcome
from harness.labs.tasks import VERDICTS
from harness.labs.tasks.families import FAMILIES
from harness.labs.tasks.judging import TaskResult
from harness.labs.tasks.layouts import Task, TaskAnswers, TaskSet
from harness.labs.tasks.official import OfficialStatus, OfficialVerdict
from harness.labs.tasks.outcomes import (
    FILE,
    JudgedTasks,
    TaskRequest,
    pair_result,
    read_verdicts,
    shown_text,
    write_run,
)
from harness.labs.tasks.strict import StrictStatus, StrictVerdict
from harness.runs.reader import read_questions, read_run
from tests.harness.conftest import Call

Judged = tuple[OfficialStatus, StrictStatus, bool | None]

PASSED: Judged = (OfficialStatus.PASSED, StrictStatus.PASSED, True)
TRAP: Judged = (OfficialStatus.PASSED, StrictStatus.MISMATCH, None)
WRONG: Judged = (OfficialStatus.ASSERTION_ERROR, StrictStatus.MISMATCH, False)
UNTESTED: Judged = (OfficialStatus.PASSED, StrictStatus.UNTESTED, None)


def task(name: str, family: str, **more: Any) -> Task:
    record = {
        "instance_id": name,
        "selected_database": "shop",
        "query": f"Ask {name}.",
        "sol_sql": ["SELECT 1"],
    }
    return Task({**record, **more}, FAMILIES[family])


def result(predictor: str, of: Task, judged: Judged) -> TaskResult:
    official, strict, state = judged
    return TaskResult(
        predictor,
        of.id,
        of.database,
        str(of.category),
        of.difficulty,
        OfficialVerdict(official, None if official is OfficialStatus.PASSED else "rows differ"),
        StrictVerdict(strict, "one row more" if strict is StrictStatus.MISMATCH else None),
        state,
        ("table orders",) if state is False else (),
    )


def judged_set(
    folder: Path,
    family: str,
    tasks: Sequence[Task],
    verdicts: Mapping[str, Sequence[Judged]],
    texts: Sequence[str] = ("SELECT 1",),
) -> JudgedTasks:
    path = folder / f"{family}.jsonl"
    path.write_text("".join(json.dumps(each.record) + "\n" for each in tasks), encoding="utf-8")
    answers = [
        TaskAnswers(name, {each.id: texts for each in tasks}, (), path) for name in verdicts if name != "gold"
    ]
    results = [
        result(name, of, one) for name, each in verdicts.items() for of, one in zip(tasks, each, strict=True)
    ]
    return JudgedTasks(TaskSet(path, FAMILIES[family], tasks, folder), answers, results)


def request(**more: Any) -> TaskRequest:
    return TaskRequest(**{"set_name": "tasks", "extract": "official", "workers": 1, **more})


LITE = "livesqlbench-sqlite"
TASKS = [
    task("shop_1", LITE, category="Query", difficulty_tier="Moderate"),
    task("shop_M_1", LITE, category="Management", difficulty_tier="Simple"),
]


def test_verdicts_are_the_metrics_of_a_run(tmp_path: Path) -> None:
    one = judged_set(tmp_path, LITE, TASKS, {"gold": [PASSED, PASSED], "m": [TRAP, WRONG]})
    folder = write_run(tmp_path / "out", [one], request(command=["bird-harness", "lab", "tasks"]))
    assert (tmp_path / "out" / "latest").resolve() == folder.resolve()
    run = read_run(folder)
    assert run.manifest["metrics"] == [*VERDICTS]
    assert run.manifest["families"] == {"sqlite": LITE}
    assert [(one.predictor, one.question, one.outcome, dict(one.scores)) for one in run.results] == [
        ("m", "shop_1", Outcome.MATCH, {"official": 1.0, "strict": 0.0}),
        ("m", "shop_M_1", Outcome.MISMATCH, {"official": 0.0, "strict": 0.0, "state": 0.0}),
    ]
    assert [one.error for one in run.results] == ["one row more", "rows differ"]
    questions = read_questions(folder)
    assert [(one.text, one.difficulty, one.types) for one in questions.values()] == [
        ("Ask shop_1.", "Moderate", ("Query",)),
        ("Ask shop_M_1.", "Simple", ("Management",)),
    ]
    # The file of the lab has everything, golds included.
    assert read_verdicts(folder / FILE) == {LITE: one.results}


def test_golds_alone_are_a_run(tmp_path: Path) -> None:
    one = judged_set(tmp_path, LITE, TASKS, {"gold": [PASSED, UNTESTED]})
    run = read_run(write_run(tmp_path / "out", [one], request()))
    assert [(one.predictor, dict(one.scores)) for one in run.results] == [
        ("gold", {"official": 1.0, "strict": 1.0, "state": 1.0}),
        ("gold", {"official": 1.0}),
    ]


@pytest.mark.parametrize(
    ("judged", "answer", "outcome"),
    [
        (PASSED, ("SELECT 1",), Outcome.MATCH),
        (WRONG, ("SELECT 1",), Outcome.MISMATCH),
        ((OfficialStatus.TIMEOUT, StrictStatus.ERROR, None), ("SELECT 1",), Outcome.PREDICTION_TIMEOUT),
        ((OfficialStatus.EXECUTION_ERROR, StrictStatus.ERROR, None), ("x",), Outcome.PREDICTION_ERROR),
        ((OfficialStatus.ISSUE_PASSES, StrictStatus.PASSED, None), ("SELECT 1",), Outcome.MISMATCH),
        (WRONG, None, Outcome.MISSING),
        (WRONG, (), Outcome.MISMATCH),
        # The scripts run an answer that is missing as an empty one, and may pass it.
        (UNTESTED, None, Outcome.MATCH),
    ],
)
def test_the_official_verdict_is_the_outcome(
    judged: Judged, answer: Sequence[str] | None, outcome: Outcome
) -> None:
    found = pair_result(result("m", TASKS[0], judged), FAMILIES[LITE].dialect, answer, ("Moderate",))
    assert found.outcome is outcome


def test_tasks_without_a_difficulty_are_unrated(tmp_path: Path) -> None:
    one = judged_set(tmp_path, LITE, [task("t", LITE)], {"gold": [PASSED], "m": [PASSED]})
    run = read_run(write_run(tmp_path / "out", [one], request()))
    assert [one.difficulty for one in run.results] == ["unrated"]


def test_statements_are_shown_as_one_text() -> None:
    assert shown_text(["DELETE FROM t", "SELECT 1; ", "SELECT 2"]) == "DELETE FROM t;\nSELECT 1;\nSELECT 2"
    assert shown_text([]) == ""


def test_a_comparison_says_who_passes_where_per_verdict(call: Call, tmp_path: Path) -> None:
    """Undecided verdicts are compared where both sides have one, whatever the engine."""
    postgresql = [task(one.id, "livesqlbench", **one.record) for one in TASKS]
    sides = [
        judged_set(tmp_path, LITE, TASKS, {"gold": [PASSED, PASSED], "m": [TRAP, PASSED]}),
        judged_set(tmp_path, LITE, postgresql, {"gold": [PASSED, PASSED], "m": [PASSED, WRONG]}),
    ]
    names = [write_run(tmp_path / "out", [one], request()).name for one in sides]
    code, printed, said = call("compare", *(f"out/{name}" for name in names), "--json")
    assert code == 0, said
    [found] = json.loads(printed)["comparisons"]
    metrics = found["metrics"]
    assert {name: (one["a"]["total"], one["b"]["total"]) for name, one in metrics.items()} == {
        "official": (100.0, 50.0),
        "strict": (50.0, 50.0),
        "state": (100.0, 0.0),
    }
    assert [(one["question"], one["lost"], one["won"]) for one in found["flips"]] == [
        ("shop_1", [], ["strict"]),
        ("shop_M_1", ["official", "strict", "state"], []),
    ]
    code, printed, said = call("compare", *(f"out/{name}" for name in names), "--by", "type")
    assert code == 0, said
    assert "State by type" in printed


def test_runs_of_different_tasks_are_not_compared(call: Call, tmp_path: Path) -> None:
    sides = [
        judged_set(tmp_path, LITE, TASKS[:count], {"gold": [PASSED] * count, "m": [PASSED] * count})
        for count in (1, 2)
    ]
    names = [write_run(tmp_path / "out", [one], request()).name for one in sides]
    code, _, said = call("compare", *(f"out/{name}" for name in names))
    assert code == 2
    assert "both are called tasks, but have different questions" in said


def test_a_report_of_a_run_has_the_tables_of_the_lab(call: Call, tmp_path: Path) -> None:
    one = judged_set(tmp_path, LITE, TASKS, {"gold": [PASSED, WRONG], "m": [TRAP, WRONG]})
    folder = write_run(tmp_path / "out", [one], request())
    code, printed, said = call("report", f"out/{folder.name}", "--format", "markdown")
    assert code == 0, said
    for title in (
        "Official (%)",
        "Strict (%)",
        "State (%)",
        "Tasks passed, by the scripts of",
        "Golds as answers",
    ):
        assert title in printed
    assert "sqlite, official: 1 (shop\\_M\\_1)" in printed
    assert "profile" not in printed
    code, printed, said = call("runs", "--out", "out")
    assert (code, "complete" in printed) == (0, True), said
    for more in (("--format", "html"), ("--table", "paper"), ("--by", "type")):
        code, _, said = call("report", f"out/{folder.name}", *more)
        assert code == 0, said


@pytest.mark.parametrize(
    "words",
    [("lab", "chance", "RUN"), ("report", "RUN", "--by", "error-group")],
    ids=" ".join,
)
def test_commands_that_execute_a_run_again_refuse_one_of_tasks(
    call: Call, tmp_path: Path, words: Sequence[str]
) -> None:
    one = judged_set(tmp_path, LITE, TASKS, {"gold": [PASSED, PASSED], "m": [PASSED, WRONG]})
    folder = write_run(tmp_path / "out", [one], request())
    code, printed, said = call(*(f"out/{folder.name}" if word == "RUN" else word for word in words))
    assert (code, printed, said.count("\n")) == (2, "", 1)
    assert "is a run of tasks, which a lab judges by verdicts of its own; name a run of questions" in said
    assert "report, runs, compare and lab submit take this one" in said


def test_verdicts_of_tasks_cannot_be_asked_for_questions(call: Call) -> None:
    code, _, said = call("eval", "--metrics", "ex,official")
    assert code == 2
    assert "'official' is not a metric; choose from ex" in said
