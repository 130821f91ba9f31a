"""Files of tasks and answers, the official text functions, and the command."""

import json
from decimal import Decimal
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dialects.errors import BadInput
from harness.cli.commands import app
from harness.labs.tasks.evaluation import check_answers
from harness.labs.tasks.families import FAMILIES
from harness.labs.tasks.helpers import (
    check_sql_function_usage,
    preprocess_results,
    remove_comments,
    remove_distinct,
    remove_every_distinct,
    remove_round,
)
from harness.labs.tasks.layouts import Task, read_answers, read_tasks
from harness.labs.tasks.sqlite import ENGINE, SQLiteCopies
from tests.labs.tasks.shop import make_sqlite
from tests.sqlite_files import sqlite_file

TASK = {"instance_id": "t1", "selected_database": "shop", "preprocess_sql": [], "sol_sql": ["SELECT 1"]}


def lines(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in records), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT ROUND(a, 2)", "SELECT a"),
        ("SELECT 10 * round (a + b, 1)", "SELECT 10 * a + b"),
        ("SELECT ROUND(ROUND(f(x, y), 2), 1), 3", "SELECT f(x, y), 3"),
        ("SELECT GROUND(a, 2)", "SELECT Ga"),
        ("SELECT ROUND(a, 2", "SELECT ROUND(a, 2"),
        ("SELECT ROUND(')', 2)", "SELECT '', 2)"),
    ],
)
def test_round_is_removed_as_the_scripts_do(text: str, expected: str) -> None:
    assert remove_round([text]) == [expected]


def test_comments_and_distinct_are_removed_as_the_scripts_do() -> None:
    assert remove_comments(["SELECT 1 -- a\nFROM t -- end"]) == ["SELECT 1 \nFROM t -- end"]
    assert remove_comments(["SELECT '/* a */' /* b\n */\n\n\nFROM t"]) == ["SELECT '' \nFROM t"]
    assert remove_distinct(["SELECT DISTINCT a, count(DISTINCT b)\tdistinct\n"]) == [
        "SELECT a, count(DISTINCT b)\tdistinct\n"
    ]
    assert remove_every_distinct(["SELECT count(DISTINCT b), 'distinct'"]) == ["SELECT count( b), ''"]
    assert check_sql_function_usage(["SELECT 1 -- rank"], ["RANK"]) == 1
    assert check_sql_function_usage([], []) == 0


def test_rows_are_converted_as_the_scripts_do() -> None:
    row = (2.675, Decimal("2.675"), {"b": [1.005], "a": None}, (1.239,), True, "1.239")
    assert preprocess_results([row]) == [
        (2.67, Decimal("2.68"), '{"a": null, "b": [1.0]}', (1.24,), True, "1.239")
    ]
    with pytest.raises(TypeError):
        preprocess_results([([Decimal(1)],)])


def test_ground_truth_is_merged(tmp_path: Path) -> None:
    public = {**TASK, "sol_sql": []}
    tasks = lines(tmp_path / "tasks.jsonl", public, {**public, "instance_id": "t2"})
    with pytest.raises(BadInput, match=r"no task has a solution: .* --ground-truth"):
        read_tasks(tasks, "livesqlbench-sqlite", tmp_path)
    more = {"instance_id": "t2", "sol_sql": ["SELECT 2"], "test_cases": ["x"]}
    found = read_tasks(tasks, "livesqlbench-sqlite", tmp_path, lines(tmp_path / "mailed.jsonl", more))
    assert [(task.gold, task.test_cases) for task in found.tasks] == [([], ()), (["SELECT 2"], ("x",))]
    assert found.notes == [
        f"{tmp_path / 'mailed.jsonl'}: has no solution of 1 tasks (t1); no rate leaves them out"
    ]
    other = {**more, "instance_id": "t9"}
    found = read_tasks(tasks, "livesqlbench-sqlite", tmp_path, lines(tmp_path / "mailed.jsonl", more, other))
    assert "left out what is of no task of" in found.notes[0]
    with pytest.raises(BadInput, match=r"mailed\.jsonl: is of another set: none of its tasks is in"):
        read_tasks(tasks, "livesqlbench-sqlite", tmp_path, lines(tmp_path / "mailed.jsonl", other))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "tasks.jsonl:1: is no JSON"),
        ("[" * 100_000, "tasks.jsonl:1: is no JSON"),
        ('{"sol_sql": "SELECT 1"}\n', "tasks.jsonl:1: has no instance_id"),
        ('{"instance_id": 1}\n{"instance_id": "1"}\n', "tasks.jsonl:2: instance_id 1 stands there twice"),
        ('{"instance_id": null}\n', "tasks.jsonl:1: has no instance_id"),
        ('{"instance_id": "a"}\n', "tasks.jsonl: task a: names no database; give the name"),
        ('{"instance_id": "a", "db_id": null}\n', "task a: names no database"),
        ('{"instance_id": "a", "selected_database": "../x"}\n', "task a: names no database"),
        ("\n", "is empty"),
    ],
)
def test_a_wrong_file_of_tasks_is_one_error(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "tasks.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=message):
        read_tasks(tmp_path / "tasks.jsonl", "livesqlbench-sqlite", tmp_path)


def test_an_answer_without_statements_is_an_error(tmp_path: Path) -> None:
    tasks = read_tasks(lines(tmp_path / "tasks.jsonl", TASK), "livesqlbench-sqlite", tmp_path)
    for wrong, said in (
        ({"sql": "SELECT 1"}, "has no pred_sqls and no response"),
        ({"pred_sqls": {"a": 1}}, "pred_sqls is an object"),
        ({"predicted_sql": 5}, "predicted_sql is a number"),
        ({"response": 5}, "response is a number"),
    ):
        with pytest.raises(BadInput, match=rf"a\.jsonl: line 1 \(t1\): {said}; give a list of statements"):
            read_answers(lines(tmp_path / "a.jsonl", {"instance_id": "t1", **wrong}), tasks)
    both = [{"instance_id": name, "predicted_sql": "SELECT 1"} for name in ("t1", "t9")]
    found = read_answers(lines(tmp_path / "a.jsonl", *both), tasks)
    assert (found.predictor, found.answers) == ("a", {"t1": ["SELECT 1"], "t9": ["SELECT 1"]})
    assert found.unknown == ["t9"]


@pytest.mark.slow
def test_answers_of_another_set_are_an_error(tmp_path: Path) -> None:
    tasks = read_tasks(lines(tmp_path / "tasks.jsonl", TASK), "livesqlbench-sqlite", tmp_path)
    answers = read_answers(lines(tmp_path / "a.jsonl", {"instance_id": "other", "pred_sqls": []}), tasks)
    with pytest.raises(BadInput, match=r"a\.jsonl: no answer is to a task of .*'other'"):
        check_answers(tasks, [answers])


def test_what_has_to_fail_first_is_one_field_of_one_family() -> None:
    record = {"error_sql": ["SELECT 1"]}
    fixed = record | {"issue_sql": ["SELECT 2"]}
    family, other = FAMILIES["critic-sqlite"], FAMILIES["critic-postgresql"]
    assert [list(Task(record, family).failing), list(Task(fixed, family).failing)] == [[], ["SELECT 2"]]
    assert (list(Task(record, other).issue), list(Task(fixed, other).failing)) == (["SELECT 1"], [])


def test_the_command_writes_what_it_prints(tmp_path: Path) -> None:
    make_sqlite(tmp_path / "databases")
    tasks = lines(tmp_path / "tasks.jsonl", TASK, {**TASK, "instance_id": "t2", "category": "Management"})
    answers = lines(tmp_path / "model.jsonl", {"instance_id": "t1", "pred_sqls": ["SELECT 1.001"]})
    call = ["lab", "tasks", str(tasks), "--databases", str(tmp_path / "databases"), "--workers", "1"]
    call += ["--out", str(tmp_path / "out"), "--published"]
    done = CliRunner().invoke(app, [*call, "--answers", str(answers)])
    assert done.exit_code == 0, done.output
    assert "model: 1 tasks have no answer" in done.output
    run = tmp_path / "out/latest"
    printed = (run / "tables.txt").read_text(encoding="utf-8")
    assert "Tasks passed, by the scripts of livesqlbench-sqlite" in printed
    assert [*map(str.split, filter(lambda line: "o3-mini" in line, printed.splitlines()))] == [
        ["o3-mini", "42.59", "47.78"]
    ]
    found = map(json.loads, (run / "verdicts.jsonl").read_text(encoding="utf-8").splitlines())
    assert [
        (one["task"], one["predictor"], one["official"]["passes"], one["strict"]["passes"]) for one in found
    ] == [
        ("t1", "gold", True, True),
        ("t1", "model", True, True),
        ("t2", "gold", True, True),
        ("t2", "model", False, False),
    ]


def test_the_command_refuses_what_it_cannot_judge(tmp_path: Path) -> None:
    tasks = lines(tmp_path / "tasks.jsonl", TASK)
    gold = lines(tmp_path / "gold.jsonl", {"instance_id": "t1", "pred_sqls": []})
    call = ["lab", "tasks", str(tasks), "--databases", str(tmp_path), "--out", str(tmp_path / "out")]
    for more, message in (
        (["--family", "other"], "--family other: unknown; choose from livesqlbench-sqlite"),
        (["--answers", str(gold)], "rename the file"),
    ):
        done = CliRunner().invoke(app, [*call, *more])
        assert isinstance(done.exception, BadInput)
        assert message in str(done.exception)
    assert not (tmp_path / "out").exists()


def test_a_file_that_is_no_database_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    path = tmp_path / "shop" / "shop_template.sqlite"
    with SQLiteCopies(tmp_path) as copies:
        for content in ("", "version https://git-lfs.github.com/spec/v1\n"):
            path.write_text(content)
            with pytest.raises(BadInput, match="is no SQLite file; fetch it again"):
                copies.fresh("shop")
        path.unlink()
        path.parent.rmdir()
        make_sqlite(tmp_path)
        path.write_bytes(path.read_bytes()[:-4096])
        with pytest.raises(BadInput, match=r"SQLite cannot read .*shop_template.sqlite: .*; fetch it again"):
            copies.fresh("shop")


def test_the_release_of_sqlite_that_wrote_a_database_is_no_part_of_it(tmp_path: Path) -> None:
    make_sqlite(tmp_path)
    path = tmp_path / "shop" / "shop_template.sqlite"
    assert ENGINE.contents is not None
    before, written = ENGINE.contents(tmp_path, "shop"), path.read_bytes()
    for change, is_same in (("PRAGMA page_size = 8192; VACUUM", True), ("DELETE FROM orders", False)):
        sqlite_file(path, change)
        assert path.read_bytes() != written
        assert (ENGINE.contents(tmp_path, "shop") == before) is is_same


@pytest.mark.slow
def test_a_database_that_is_missing_is_one_error(tmp_path: Path) -> None:
    tasks = lines(tmp_path / "tasks.jsonl", TASK)
    call = ["lab", "tasks", str(tasks), "--databases", str(tmp_path), "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, call)
    assert isinstance(done.exception, BadInput)
    assert "has no SQLite file for 'shop'; expected shop_template.sqlite" in str(done.exception)
    assert str(done.exception).endswith("tasks.jsonl: task t1)")
