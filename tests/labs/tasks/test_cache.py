"""Verdicts of earlier runs: which are used again, and which are judged anew."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.labs.tasks.cache import VerdictCache, to_judge
from harness.labs.tasks.evaluation import judged_tasks
from harness.labs.tasks.judging import GOLD, TaskResult
from harness.labs.tasks.layouts import TaskAnswers, TaskSet, read_tasks
from harness.labs.tasks.official import OfficialStatus, OfficialVerdict
from harness.labs.tasks.strict import StrictStatus, StrictVerdict
from loaders.base.store import Store
from tests.labs.tasks.shop import make_dumps, make_mysql_dump, make_sqlite

TASK: dict[str, Any] = {
    "instance_id": "t1",
    "selected_database": "shop",
    "query": "How many orders?",
    "sol_sql": ["SELECT COUNT(*) FROM orders"],
    "preprocess_sql": [],
    "clean_up_sql": [],
    "test_cases": [],
    "category": "Query",
    "conditions": {},
}


def read(folder: Path, **more: Any) -> TaskSet:
    path = folder / "tasks.jsonl"
    path.write_text(json.dumps({**TASK, **more}) + "\n", encoding="utf-8")
    return read_tasks(path, "livesqlbench-sqlite", folder / "databases")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    make_sqlite(tmp_path / "databases")
    return tmp_path


def opened(folder: Path) -> Store:
    return Store(folder / "store.sqlite", 2**20, lambda _: None)


def one(predictor: str = "m", message: str | None = None) -> TaskResult:
    status = OfficialStatus.PASSED if message is None else OfficialStatus.EXECUTION_ERROR
    return TaskResult(
        predictor,
        "t1",
        "shop",
        "Query",
        None,
        OfficialVerdict(status, message),
        StrictVerdict(StrictStatus.PASSED),
        None,
        [],
    )


def answers(*texts: str, predictor: str = "m") -> list[TaskAnswers]:
    return [TaskAnswers(predictor, {"t1": texts})]


KEPT = "SELECT 299"


def is_known(folder: Path, asked: dict[str, Any] | None = None, **more: Any) -> bool:
    """Whether a kept verdict is found by another question."""
    said = {"version": "3", "texts": (KEPT,), "message": None, "task": {}, **more}
    with opened(folder) as store:
        VerdictCache(read(folder, **said["task"]), "3", store).keep(
            one(message=said["message"]), said["texts"]
        )
        found = VerdictCache(
            read(folder, **({**said["task"], **(asked or {})})), said["version"], store
        ).known(answers(*said.get("again", said["texts"]), predictor="other"))
        assert all(result.predictor == name for (name, _), result in found.items())
        return ("other", "t1") in found


@pytest.mark.parametrize("tests", [[], ["def test_case(*_): pass"], [5], [None]])
def test_the_same_answer_to_the_same_task_is_known(folder: Path, tests: list[Any]) -> None:
    assert is_known(folder, task={"test_cases": tests})


@pytest.mark.parametrize(
    ("asked", "more"),
    [
        ({"sol_sql": ["SELECT 299"]}, {}),
        ({"conditions": {"order": True}}, {}),
        ({"test_cases": ["def test_case(*_): pass"]}, {}),
        ({"preprocess_sql": ["DELETE FROM orders"]}, {}),
        ({}, {"version": "4"}),
        ({}, {"again": ("SELECT 299 ",)}),
        ({}, {"again": ("SELECT 299", "SELECT 299")}),
        # Chance, the clock and a busy machine decide anew.
        ({}, {"texts": ("SELECT random()",)}),
        ({}, {"task": {"sol_sql": ["SELECT date('now')"]}}),
        ({}, {"task": {"test_cases": ["def test_case(*_): assert date.today()"]}}),
        ({}, {"task": {"test_cases": ["def test_case(*_):\n import time\n time.sleep(1)"]}}),
        ({}, {"message": "interrupted"}),
        ({}, {"message": "it was not judged within 180 s"}),
        ({}, {"message": "canceling statement due to statement timeout"}),
    ],
)
def test_whatever_can_decide_a_verdict_is_in_its_key(
    folder: Path, asked: dict[str, Any], more: dict[str, Any]
) -> None:
    assert not is_known(folder, asked, **more)


@pytest.mark.parametrize(
    ("family", "make", "file"),
    [
        ("livesqlbench-sqlite", make_sqlite, "shop/shop_template.sqlite"),
        ("livesqlbench", make_dumps, "shop_template/customers.sql"),
        ("critic-mysql", make_mysql_dump, "shop_template_dump.sql"),
    ],
)
def test_another_database_of_the_name_is_judged_anew(
    tmp_path: Path, family: str, make: Callable[[Path], None], file: str
) -> None:
    make(tmp_path / "databases")
    path = tmp_path / "tasks.jsonl"
    path.write_text(json.dumps(TASK), encoding="utf-8")
    tasks = read_tasks(path, family, tmp_path / "databases")
    known = []
    with opened(tmp_path) as store:
        VerdictCache(tasks, "3", store).keep(one(), [KEPT])
        known.append(VerdictCache(tasks, "3", store).known(answers(KEPT)))
        template = tmp_path / "databases" / file
        template.write_bytes(template.read_bytes() + b"\0" * 4096)
        known.append(VerdictCache(tasks, "3", store).known(answers(KEPT)))
    assert [[*each] for each in known] == [[("m", "t1")], []]


def test_only_unknown_answers_are_judged(folder: Path) -> None:
    tasks = read(folder)
    predictors = [*answers("SELECT 1"), *answers("SELECT 2", predictor="n")]
    known = {(GOLD, "t1"): one(GOLD), ("m", "t1"): one()}
    left, unknown = to_judge(tasks, predictors, known)
    assert [task.id for task in left.tasks] == ["t1"]
    # Equal answers are judged once, so that the known one costs nothing.
    assert [dict(each.answers) for each in unknown] == [
        {"t1": ["SELECT COUNT(*) FROM orders"]},
        {"t1": ("SELECT 2",)},
    ]
    left, _ = to_judge(tasks, predictors, known | {("n", "t1"): one("n")})
    assert left.tasks == []


@pytest.mark.slow
def test_a_second_run_judges_what_is_new(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = read(folder)
    with opened(folder) as store:
        first = judged_tasks(tasks, answers(KEPT), 1, store, is_silent=True)
        assert [(each.predictor, each.strict.passes) for each in first.results] == [(GOLD, True), ("m", True)]
        monkeypatch.setattr("harness.labs.tasks.evaluation.judge", None)
        again = judged_tasks(tasks, answers(KEPT), 1, store, is_silent=True)
    assert again.results == first.results
