"""The project's own tasks: what their files hold, and what `eval --set sample_tasks` says of them."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.data.answers import Extract
from harness.labs.tasks.evaluation import evaluate_sample
from harness.labs.tasks.families import FAMILIES
from harness.labs.tasks.judging import judge
from harness.labs.tasks.layouts import read_answers
from harness.labs.tasks.sample import sample_answers, sample_families, sample_tasks
from harness.runs.reader import read_run
from harness.session.evaluator import Evaluator
from harness.session.request import Request
from loaders.server import Server
from tests.harness.conftest import Call

HERE = Path(__file__).parents[3] / "harness" / "labs" / "tasks" / "sample"
DIALECTS = ("sqlite", "postgresql", "mysql")


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_tasks_are_the_same_on_every_engine() -> None:
    own = {"sol_sql", "test_cases", "db_id", "issue_sql"}
    sets = [
        [
            {key: value for key, value in one.items() if key not in own}
            for one in records(HERE / f"{name}.jsonl")
        ]
        for name in DIALECTS
    ]
    assert sets[0] == sets[1] == sets[2]
    assert Counter(one["category"] for one in sets[0]) == {"Query": 12, "Management": 12}
    assert Counter(one["selected_database"] for one in sets[0]) == {"city_library": 12, "island_ferries": 12}
    assert Counter(one["difficulty_tier"] for one in sets[0]) == {
        "Simple": 8,
        "Moderate": 8,
        "Challenging": 8,
    }
    for one in sets[0]:
        knowledge = records(
            HERE / "databases" / one["selected_database"] / f"{one['selected_database']}_kb.jsonl"
        )
        assert set(one["external_knowledge"]) <= {entry["id"] for entry in knowledge}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_task_has_an_answer_in_each_file(dialect: str) -> None:
    tasks = [one["instance_id"] for one in records(HERE / f"{dialect}.jsonl")]
    files = sample_answers(Dialect(dialect))
    assert [path.stem for path in files] == ["careless", "right", "traps"]
    assert [[one["instance_id"] for one in records(path)] for path in files] == [tasks] * 3


Verdicts = tuple[bool, bool | None, bool | None]


def verdicts(
    family: str, server: Server | None
) -> dict[str, dict[str, tuple[bool, bool | None, bool | None]]]:
    """The three verdicts, by predictor and task."""
    tasks = sample_tasks(family)
    answers = [read_answers(path, tasks) for path in sample_answers(FAMILIES[family].dialect)]
    found: dict[str, dict[str, Verdicts]] = {}
    for one in judge(tasks, answers, 2, server):
        found.setdefault(one.predictor, {})[one.task] = (one.official.passes, one.strict.passes, one.state)
    return found


def check(
    family: str, server: Server | None = None, *, right_but_refused: set[str], traps_that_fail: set[str]
) -> None:
    found = verdicts(family, server)
    for predictor in ("gold", "right"):
        own = found[predictor].items()
        assert {task for task, (_, strict, state) in own if not strict or state is False} == set()
        # A task that changes data has a verdict on the state.
        assert all(("_M_" in task) == (state is not None) for task, (*_, state) in own)
    assert {task for task, (official, *_) in found["gold"].items() if not official} == set()
    assert {task for task, (official, *_) in found["right"].items() if not official} == right_but_refused
    assert {task for task, (official, *_) in found["traps"].items() if not official} == traps_that_fail
    seen = {task for task, (_, strict, state) in found["traps"].items() if not strict or state is False}
    assert len(seen) == 13
    careless = found["careless"].values()
    assert 10 <= sum(official for official, *_ in careless) <= 14


@pytest.mark.slow
def test_verdicts_on_the_sample_on_sqlite() -> None:
    check("livesqlbench-sqlite", right_but_refused=set(), traps_that_fail={"island_ferries_4"})


@pytest.mark.engine
@pytest.mark.thorough
def test_verdicts_on_the_sample_on_postgresql(postgresql_server: Server) -> None:
    # Its mean is double precision, and gold's is numeric.
    check("livesqlbench", postgresql_server, right_but_refused={"city_library_3"}, traps_that_fail=set())


@pytest.mark.engine
@pytest.mark.thorough
def test_verdicts_on_the_sample_on_mysql(mysql_server: Server) -> None:
    # These means are double precision, and gold's are decimal numbers.
    refused = {"city_library_3", "island_ferries_3"}
    check("critic-mysql", mysql_server, right_but_refused=refused, traps_that_fail={"island_ferries_3"})


@pytest.mark.slow
def test_eval_judges_the_sample(call: Call, tmp_path: Path) -> None:
    code, printed, said = call(
        "eval", "--set", "sample_tasks", "--dialect", "sqlite", "--limit", "2", "--out", "out"
    )
    assert code == 0, said
    assert "Tasks passed, by the scripts of livesqlbench-sqlite, by difficulty" in printed
    folder = tmp_path / "out" / "latest"
    found = records(folder / "verdicts.jsonl")
    assert {(one["family"], one["predictor"], one["task"]) for one in found} == {
        ("livesqlbench-sqlite", predictor, f"city_library_{number}")
        for predictor in ("gold", "careless", "right", "traps")
        for number in (1, 2)
    }
    assert "careless" in (folder / "tables.txt").read_text(encoding="utf-8")
    # The run folder of questions, with the verdicts as metrics; golds are no predictor of it.
    run = read_run(folder)
    assert {result.predictor for result in run.results} == {"careless", "right", "traps"}
    assert run.extent.lines(dict.fromkeys(run.extent.planned, 2), {}) == [
        "The first 2 of 24 questions: a selection by --limit, not the set."
    ]
    assert "Golds as answers" in (folder / "tables.md").read_text(encoding="utf-8")
    assert (folder / "report.html").is_file()


@pytest.mark.slow
def test_eval_reads_responses_of_ones_own(call: Call, tmp_path: Path) -> None:
    response = "```sql\nSELECT COUNT(*) FROM loans WHERE return_date > due_date OR return_date IS NULL\n```"
    line = json.dumps({"instance_id": "city_library_1", "response": response})
    (tmp_path / "model.jsonl").write_text(line, encoding="utf-8")
    options = ("--set", "sample_tasks", "--dialect", "sqlite", "--limit", "1", "--predictions", "model.jsonl")
    passed, runs = [], []
    for more in ((), ("--extract", "answer-1")):
        code, _, said = call("eval", *options, *more)
        assert code == 0, said
        found = records(tmp_path / "results" / "latest" / "verdicts.jsonl")
        runs.append((tmp_path / "results" / "latest").resolve().name)
        passed += [one["official"]["passes"] for one in found if one["predictor"] == "model"]
    # The script of the benchmark looks for a fence of its own.
    assert passed == [False, True]
    # Two policies are told apart, and the comparison says who passes where.
    code, printed, said = call("compare", *(f"results/{run}" for run in runs))
    assert code == 0, said
    assert "extract: official in A, answer-1 in B" in printed
    assert "city_library_1 (city_library, Simple): mismatch -> match; Official, Strict" in printed


def test_eval_refuses_what_means_nothing_for_tasks() -> None:
    with pytest.raises(BadInput, match="--metrics: means nothing for tasks of sample_tasks"):
        evaluate_sample(Request(set_name="sample_tasks", metrics=["ves"]))
    with pytest.raises(BadInput, match="--extract fences: is no rule for tasks"):
        evaluate_sample(Request(set_name="sample_tasks", extract=Extract.FENCES))
    with pytest.raises(BadInput, match="sample_tasks is judged on sqlite, postgresql"):
        evaluate_sample(Request(set_name="sample_tasks", dialects=["duckdb"]))
    assert {"sqlite", "postgresql"} <= set(sample_families())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("status",), "sample_tasks: lab tasks makes its databases when `bird-harness eval --set"),
        (("load",), "sample_tasks: lab tasks makes its databases when `bird-harness eval --set"),
    ],
)
def test_commands_about_servers_say_what_applies_to_tasks(
    call: Call, words: tuple[str, ...], said: str
) -> None:
    code, printed, errors = call(*words, "--set", "sample_tasks")
    assert (code, errors.count("\n")) == (0, 1)
    assert said in errors
    assert ("embedded" in printed) == ("status" in words)


def test_status_as_json_has_the_engines_of_tasks(call: Call) -> None:
    code, printed, _ = call("status", "--set", "sample_tasks", "--json")
    assert code == 0
    found = json.loads(printed)
    assert (found["set"], found["engines"]["sqlite"]["where"]) == ("sample_tasks", "embedded")


@pytest.mark.parametrize(
    "words",
    [
        ("lab", "mcp"),
        ("coverage",),
        ("describe",),
        ("translate", "--dialect", "postgresql", "--out", "golds"),
        ("lab", "audit"),
        ("lab", "twins", "--out", "twins"),
    ],
    ids=" ".join,
)
def test_commands_that_take_questions_refuse_tasks_in_one_line(call: Call, words: tuple[str, ...]) -> None:
    code, printed, said = call(*words, "--set", "sample_tasks")
    assert (code, printed, said.count("\n")) == (2, "", 1)
    assert "--set sample_tasks: is a set of lab tasks with databases of its own" in said
    assert "name a question set here, such as sample or mini_dev" in said


def test_an_evaluator_refuses_tasks() -> None:
    with pytest.raises(BadInput, match="is a set of lab tasks"):
        Evaluator("sample_tasks", dialects="sqlite")
