"""Raw responses, follow-ups and prompts."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.cli.commands import app
from harness.labs.tasks.evaluation import first_phase
from harness.labs.tasks.judging import judge
from harness.labs.tasks.layouts import Phase, read_answers, read_tasks
from harness.labs.tasks.outcomes import as_record
from harness.labs.tasks.prompts import prompts
from harness.labs.tasks.report import reward_table
from harness.labs.tasks.responses import (
    TaskExtract,
    fenced_statements,
    own_statements,
    postgresql_statements,
    sqlite_statements,
)
from harness.labs.tasks.sample import sample_tasks
from loaders.server import Server
from tests.labs.tasks.shop import make_dumps
from tests.labs.tasks.test_files import TASK, lines


@pytest.mark.parametrize(
    ("response", "sqlite", "postgresql", "critic"),
    [
        # What the scripts return for each.
        (
            "A\n```sqlite\nSELECT ';'; B\n```",
            ["SELECT ';", "';", "B;"],
            ["ite\nSELECT ';'; B"],
            ["ite\nSELECT ';'; B"],
        ),
        ("SELECT 1;\n```", ["SELECT 1;"], ["SELECT 1;"], []),
        ("```sql\nSELECT 1;\n```", [], ["SELECT 1;"], ["SELECT 1;"]),
        ("```postgresql\nA; B\n``` ```SQL C```", [], ["A; B"], ["C"]),
        ("Say `SELECT 1` or `SELECT 2`", ["SELECT 1;"], ["SELECT 1"], []),
        ("I say select 1; and more", ["select 1;"], ["select 1;"], []),
        ("``` sql\nA``````sql B```", [], ["B"], ["A", "B"]),
        ("no idea", [], ["no idea"], []),
        ("one ` alone", [], ["one ` alone"], []),
        ("", [], [""], []),
    ],
)
def test_statements_are_taken_out_as_the_scripts_do(
    response: str, sqlite: list[str], postgresql: list[str], critic: list[str]
) -> None:
    assert sqlite_statements(response) == sqlite
    assert postgresql_statements(response) == postgresql
    assert fenced_statements(response) == critic


TRIGGER = "CREATE TRIGGER a AFTER INSERT ON t BEGIN DELETE FROM x; END;"


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        (
            "So:\n```sql\nUPDATE t SET a = ';';\nDELETE FROM x\n```\nDone.",
            ["UPDATE t SET a = ';';", "DELETE FROM x"],
        ),
        (f"```sqlite\n{TRIGGER}\nSELECT 1\n```", [TRIGGER, "SELECT 1"]),
        ("UPDATE t SET a = 1; ```", ["UPDATE t SET a = 1;"]),
        ("CREATE VIEW a AS SELECT 1", ["CREATE VIEW a AS SELECT 1"]),
        ("<think>```sql\nDROP TABLE t\n```</think>```sql\nSELECT 1\n```", ["SELECT 1"]),
        ("```sql\nSELECT 1\n```\nrather\n```sql\nSELECT 2\n```", ["SELECT 2"]),
        ("I would not do it.", []),
    ],
)
def test_our_own_rules_take_whole_blocks_that_write(response: str, expected: list[str]) -> None:
    assert own_statements(response, Dialect.SQLITE) == expected


def test_a_server_takes_a_block_as_one_text() -> None:
    text = "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS $$ SELECT 1; $$;\nSELECT f();"
    assert own_statements(f"```sql\n{text}\n```", Dialect.POSTGRESQL) == [text]


@pytest.mark.slow
def test_hostile_responses_are_read_in_one_pass() -> None:
    for piece in ("```", "```sql ", "`", "select ", ";", "CREATE TRIGGER BEGIN;", "``` \t"):
        text = piece * (200_000 // len(piece))
        for read in (sqlite_statements, postgresql_statements, fenced_statements):
            read(text)
        own_statements(text, Dialect.SQLITE)


def test_answers_may_be_responses(tmp_path: Path) -> None:
    tasks = read_tasks(lines(tmp_path / "tasks.jsonl", TASK), "livesqlbench-sqlite", tmp_path)
    chat = {"choices": [{"message": {"content": "```sqlite\nSELECT 2;\n```"}}]}
    found = lines(
        tmp_path / "a.jsonl",
        {"instance_id": "t1", "response": "```sql\nSELECT 1\n```"},
        {"instance_id": "t2", "response": chat},
        {"instance_id": "t3", "response": None},
        {"instance_id": "t4", "response": "x", "pred_sqls": ["SELECT 4"]},
    )
    assert read_answers(found, tasks).answers == {"t1": [], "t2": ["SELECT 2;"], "t3": [], "t4": ["SELECT 4"]}
    ours = read_answers(found, tasks, TaskExtract.ANSWER_1).answers
    assert ours == {"t1": ["SELECT 1"], "t2": ["SELECT 2;"], "t3": [], "t4": ["SELECT 4"]}
    other = read_tasks(tmp_path / "tasks.jsonl", "interact", tmp_path)
    with pytest.raises(BadInput, match="t1: no script of interact takes statements out of responses"):
        read_answers(found, other)


FOLLOWED: dict[str, Any] = {
    "instance_id": "shop_M_1",
    "selected_database": "shop",
    "preprocess_sql": ["CREATE TABLE made (n int)"],
    "sol_sql": "INSERT INTO made VALUES (1)",
    "clean_up_sqls": ["INSERT INTO made VALUES (2)"],
    "test_cases": [],
    "conditions": {"order": True},
    "follow_up": {
        "query": "and then?",
        "sol_sql": ["SELECT n FROM made ORDER BY n"],
        "test_cases": [],
        "conditions": {"order": False},
    },
}


def test_a_follow_up_begins_after_the_first_gold(tmp_path: Path) -> None:
    public = {**FOLLOWED, "follow_up": {**FOLLOWED["follow_up"], "sol_sql": []}}
    path = lines(tmp_path / "tasks.jsonl", public, {**TASK})
    mailed = lines(tmp_path / "mailed.jsonl", FOLLOWED)
    [task] = read_tasks(path, "interact", tmp_path, mailed, Phase.FOLLOW_UP).tasks
    assert task.preprocess == [
        "CREATE TABLE made (n int)",
        "INSERT INTO made VALUES (1)",
        "INSERT INTO made VALUES (2)",
    ]
    assert task.gold == ["SELECT n FROM made ORDER BY n"]
    # The scripts read the first phase's conditions.
    assert (task.conditions, task.own_conditions) == ({"order": True}, {"order": False})
    with pytest.raises(BadInput, match="no task has a follow-up"):
        read_tasks(lines(tmp_path / "other.jsonl", TASK), "interact", tmp_path, phase=Phase.FOLLOW_UP)


@pytest.mark.engine
def test_a_follow_up_is_judged(tmp_path: Path, postgresql_server: Server) -> None:
    make_dumps(tmp_path / "databases")
    path = lines(tmp_path / "tasks.jsonl", FOLLOWED)
    tasks = read_tasks(path, "interact", tmp_path / "databases", phase=Phase.FOLLOW_UP)
    reverse = "SELECT n FROM made ORDER BY n DESC"
    answers = read_answers(
        lines(tmp_path / "m.jsonl", {"instance_id": "shop_M_1", "pred_sqls": reverse}), tasks
    )
    found = list(judge(tasks, [answers], 1, postgresql_server))
    assert [(one.predictor, one.official.passes, one.strict.passes) for one in found] == [
        ("gold", True, True),
        ("m", False, True),
    ]
    # A follow-up after a first phase that failed earns nothing.
    passed, failed = found
    told = [passed, replace(passed, predictor="m"), replace(failed, task="t2")]
    first = lines(tmp_path / "results.jsonl", *(as_record(one, "interact") for one in told))
    table = reward_table(first_phase(first), found)
    assert [(line.labels, [cell and cell.value for cell in line.cells]) for line in table.rows] == [
        (("gold",), [1, 1, 1, 100.0]),
        (("m",), [2, 1, 0, 35.0]),
    ]


def test_a_file_that_is_no_first_phase_is_one_error(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"results.jsonl: .*the run folder was changed or cut off"):
        first_phase(lines(tmp_path / "results.jsonl", TASK))


def test_prompts_show_all_that_the_baselines_show(tmp_path: Path) -> None:
    found = {each["instance_id"]: each["prompt"] for each in prompts(sample_tasks("livesqlbench-sqlite"))}
    assert len(found) == 24
    text = found["city_library_1"]
    parts = [
        "# Database schema\nCREATE TABLE branches",
        "First 3 rows:",
        "Maëlle Kerguélen",
        '"city_library|loans|renewals"',
        '"knowledge": "Heavy Reader"',
        "# Task\nHow many loans are overdue?",
    ]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert text.endswith("```sqlite\n")
    # Only what a model may see of the knowledge.
    assert "children_knowledge" not in text
    path = lines(tmp_path / "tasks.jsonl", {**TASK, "query": "q"})
    with pytest.raises(BadInput, match=r"shop_schema.txt: does not exist, and prompts show what is in it"):
        list(prompts(read_tasks(path, "livesqlbench-sqlite", tmp_path)))


def test_prompts_of_issues_show_them(tmp_path: Path) -> None:
    issue = {
        "query": "Why?",
        "issue_sql": ["SELECT 1", "SELECT 2"],
        "preprocess_schema": "CREATE TABLE t (n)",
    }
    path = lines(tmp_path / "tasks.jsonl", {**TASK, **issue})
    [found] = prompts(read_tasks(path, "critic-sqlite", tmp_path))
    for part in ("CREATE TABLE t (n)", "# Issue\nWhy?", "```sql\nSELECT 1\n```\n```sql\nSELECT 2\n```"):
        assert part in found["prompt"]


def test_prompts_of_oracle_ask_for_statements_without_semicolons(tmp_path: Path) -> None:
    issue = {**TASK, "query": "Why?", "issue_sql": ["SELECT 1"]}
    path = lines(tmp_path / "tasks.jsonl", {**issue, "dialect": "Oracle"})
    schemas = lines(tmp_path / "schemas.jsonl", {"instance_id": "t1", "preprocess_schema": "CREATE TABLE s"})
    [found] = prompts(read_tasks(path, "critic-mysql", tmp_path, schemas))
    assert "CREATE TABLE s" in found["prompt"]
    assert "Correct the SQL for Oracle." in found["prompt"]
    assert "No statement may end with a semicolon" in found["prompt"]
    path = lines(tmp_path / "tasks.jsonl", {**issue, "dialect": "PostgreSQL"})
    [found] = prompts(read_tasks(path, "critic-postgresql", tmp_path, schemas))
    assert found["prompt"].endswith(
        "Correct the SQL for PostgreSQL. Give each statement in a block of its own, ```sql."
    )


def test_prompts_of_talks_hide_knowledge_and_ask_the_ambiguous_question(tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "shop_schema.txt").write_text("CREATE TABLE t (n)", encoding="utf-8")
    lines(folder / "shop_kb.jsonl", *({"id": number, "knowledge": f"k{number}"} for number in range(3)))
    record = {
        **TASK,
        "query": "Clear?",
        "amb_user_query": "Vague?",
        "knowledge_ambiguity": [{"term": "x", "deleted_knowledge": 1}, {"deleted_knowledge": None}],
        "follow_up": {"query": "And then?", "sol_sql": ["SELECT 2"]},
    }
    path = lines(tmp_path / "tasks.jsonl", record)
    asked = []
    for phase in Phase:
        [found] = prompts(read_tasks(path, "interact", tmp_path, None, phase))
        text = found["prompt"]
        assert [f'"k{number}"' in text for number in range(3)] == [True, False, True]
        assert text.endswith("```postgresql\n")
        assert "Clear?" not in text
        assert "# Column meanings" not in text
        asked.append(text.partition("# Task\n")[2].partition("\n")[0])
    assert asked == ["Vague?", "And then?"]


def test_the_command_writes_prompts_of_sets_without_golds(tmp_path: Path) -> None:
    public = {**TASK, "query": "Why?", "issue_sql": "SELECT 1", "preprocess_schema": "s", "sol_sql": []}
    path = lines(tmp_path / "tasks.jsonl", public)
    call = ["lab", "tasks", str(path), "--databases", str(tmp_path), "--family", "critic-sqlite"]
    done = CliRunner().invoke(app, [*call, "--prompts", str(tmp_path / "prompts.jsonl")])
    assert done.exit_code == 0, done.output
    [line] = (tmp_path / "prompts.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(line)["instance_id"] == "t1"
    done = CliRunner().invoke(app, [*call, "--first", str(path)])
    assert "--first: belongs to the reward of follow-ups" in str(done.exception)
