"""`lab predict` asks for tasks by their own prompts, and `eval` and `lab tasks` take the answers."""

import json
from pathlib import Path

import pytest

from tests.harness.conftest import Call
from tests.labs.tasks.test_files import TASK, lines

LEARNER = r"""
from harness.labs.tasks.sample import sample_families, sample_tasks

GOLDS = {
    (dialect, task.id): list(task.gold)
    for dialect, family in sample_families().items()
    for task in sample_tasks(family).tasks
}


def answer(ask):
    [message] = ask.messages
    assert "# Knowledge" in message.content and "# Database schema" in message.content
    if ask.problem.question == "city_library_2":
        return None
    texts = ";\n".join(GOLDS[ask.problem.dialect, ask.problem.question])
    return f"So:\n```{ask.problem.dialect}\n{texts}\n```"
"""

OUT = "predictions/sample_tasks/answer"
SET = ("--set", "sample_tasks", "--dialect", "sqlite", "--limit", "3")


def test_answers_of_a_predictor_are_judged(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "learner.py").write_text(LEARNER, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    code, printed, said = call("lab", "predict", "python:learner:answer", *SET, "--eval", "--workers", "1")
    assert code == 0, said
    [row] = [line.split() for line in printed.splitlines() if line.split()[1:3] == ["answer", "3"]]
    assert row[3] == "66.67"
    file = tmp_path / OUT / "predictions/sqlite/answer.jsonl"
    found = {one["instance_id"]: one for one in map(json.loads, file.read_text().splitlines())}
    assert [*found] == ["city_library_1", "city_library_2", "city_library_3"]
    assert found["city_library_2"]["response"] is None
    assert found["city_library_1"]["response"].startswith("So:\n```sqlite\n")
    code, _, said = call("lab", "predict", "python:learner:answer", *SET)
    assert "2 replies are known from earlier runs" in said
    assert f"judge them with bird-harness eval --set sample_tasks --predictions {OUT}/predictions" in said
    # Without an engine's name, on all that have tasks: a file for each.
    code, _, said = call("lab", "predict", "offline", "--set", "sample_tasks", "--limit", "1")
    written = (tmp_path / "predictions/sample_tasks/offline/predictions").rglob("*.jsonl")
    assert (code, sorted(path.parent.name for path in written)) == (0, ["mysql", "postgresql", "sqlite"])


def test_tasks_of_a_published_file_are_asked_without_solutions(call: Call, tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    for name in ("schema.txt", "kb.jsonl", "column_meaning_base.json"):
        (tmp_path / "shop" / f"shop_{name}").write_text("{}", encoding="utf-8")
    public = {**TASK, "sol_sql": [], "query": "Which?"}
    tasks = lines(tmp_path / "public.jsonl", public)
    asked = ("--set", str(tasks), "--family", "livesqlbench-sqlite", "--databases", str(tmp_path))
    code, prompt, _ = call("lab", "predict", "offline", *asked, "--show-prompt", "t1")
    assert (code, "# Task\nWhich?" in prompt) == (0, True)
    code, _, said = call("lab", "predict", "offline", *asked)
    assert (code, "judge them with bird-harness lab tasks" in said) == (0, True)
    file = tmp_path / "predictions/public/offline/predictions/sqlite/offline.jsonl"
    assert json.loads(file.read_text()) == {"instance_id": "t1", "response": "SELECT 1"}


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--method", "ta-sql"), "--method: means nothing for tasks of sample_tasks"),
        (("--rows", "3"), "--options: means nothing"),
        (("--corrections", "1"), "--corrections: means nothing"),
        (("--metrics", "ves"), "--metrics: means nothing"),
        (("--dialect", "duckdb"), "tasks of sample_tasks are for sqlite, postgresql, mysql"),
        (("--show-prompt", "x"), "--show-prompt x: is no task of sample_tasks"),
        (("--family", "livesqlbench"), "name the folder of the databases"),
        (("--family", "livesqlbench", "--databases", "x", "--eval"), "--eval: judges no file of tasks"),
    ],
)
def test_what_means_nothing_for_tasks_is_refused_before_anything_is_asked(
    call: Call, options: tuple[str, ...], says: str
) -> None:
    code, _, said = call("lab", "predict", "offline", "--set", "sample_tasks", *options)
    assert (code, said.count("\n"), says in said) == (2, 1, True), said
