"""Counted work of tasks of efficiency, beside their costs by the plan."""

import json
from pathlib import Path
from typing import Any

import pytest

from harness.labs.tasks.evaluation import judged_tasks
from harness.labs.tasks.families import FAMILIES
from harness.labs.tasks.judging import judge
from harness.labs.tasks.layouts import TaskAnswers, read_tasks
from harness.labs.tasks.report import task_tables
from loaders.base.store import Store
from loaders.server import Server
from tests.labs.tasks.shop import make_dumps, make_mysql_dump, make_sqlite

ANSWERS = {
    "same": ["SELECT count(*) FROM orders o, customers c WHERE o.customer = c.id"],
    "comment": ["/* free */ SELECT count(*) FROM orders o, customers c WHERE o.customer = c.id"],
    "less": ["SELECT count(*) FROM orders"],
    "more": ["SELECT count(*) FROM orders o, orders p WHERE o.total < p.total"],
    "index": ["CREATE INDEX i ON big(n)", "SELECT count(*) FROM big WHERE n = 5"],
    "fails": ["SELECT missing FROM orders"],
    "writes": ["DELETE FROM orders"],
}
ISSUES = dict.fromkeys(ANSWERS, ANSWERS["same"]) | {"index": ["SELECT count(*) FROM big WHERE n = 5"]}
# Large enough that reading it by an index is less work by far, small enough to be made for each answer.
BIG = "CREATE TABLE big AS SELECT o.id AS n FROM orders o, orders p WHERE p.id <= 60"
MAKE = {"sqlite": make_sqlite, "postgresql": make_dumps, "mysql": make_mysql_dump}


def works(folder: Path, family: str, server: Server | None = None) -> dict[str, float | None]:
    databases = folder / "databases"
    MAKE[FAMILIES[family].dialect](databases)
    record: dict[str, Any] = {
        "db_id": "shop",
        "preprocess_sql": [BIG],
        "sol_sql": ["SELECT 1"],
        "category": "Efficiency",
        "efficiency": True,
        "test_cases": ["def test_case(*_, **__): pass"],
    }
    path = folder / "tasks.jsonl"
    lines = (json.dumps({**record, "instance_id": name, "issue_sql": ISSUES[name]}) for name in ANSWERS)
    path.write_text("\n".join(lines), encoding="utf-8")
    answers = [TaskAnswers("m", ANSWERS), TaskAnswers("none", {})]
    results = list(judge(read_tasks(path, family, databases), answers, 1, server))
    assert all(one.work is None for one in results if one.predictor == "none")
    return {one.task: one.work for one in results if one.predictor == "m"}


def check(found: dict[str, float | None]) -> None:
    assert (found["fails"], found["writes"]) == (None, None)
    assert found["same"] == found["comment"] == 1
    counted = {name: work for name, work in found.items() if work is not None}
    assert found.keys() - counted.keys() == {"fails", "writes"}
    # An answer's index is not the issue's, and making it counts nothing.
    assert counted["index"] > 2 * counted["less"] > 2 > counted["more"]


@pytest.mark.slow
def test_work_is_counted_on_sqlite(tmp_path: Path) -> None:
    found = works(tmp_path, "critic-sqlite")
    check(found)
    again = tmp_path / "again"
    again.mkdir()
    assert works(again, "critic-sqlite") == found


@pytest.mark.engine
def test_work_is_counted_on_postgresql(tmp_path: Path, postgresql_server: Server) -> None:
    check(works(tmp_path, "critic-postgresql", postgresql_server))


@pytest.mark.engine
def test_work_is_counted_on_mysql(tmp_path: Path, mysql_server: Server) -> None:
    check(works(tmp_path, "critic-mysql", mysql_server))


@pytest.mark.slow
def test_a_table_has_the_work_beside_the_verdicts(tmp_path: Path) -> None:
    make_sqlite(tmp_path / "databases")
    record = {"instance_id": "t", "db_id": "shop", "preprocess_sql": [], "sol_sql": ANSWERS["less"]}
    more = {"efficiency": True, "issue_sql": ANSWERS["more"], "category": "Efficiency"}
    (tmp_path / "tasks.jsonl").write_text(json.dumps({**record, **more}), encoding="utf-8")
    tasks = read_tasks(tmp_path / "tasks.jsonl", "critic-sqlite", tmp_path / "databases")
    answers = [TaskAnswers("m", {"t": ANSWERS["same"]})]
    store = Store(tmp_path / "store.sqlite", 2**20, lambda _: None)
    kept = [judged_tasks(tasks, answers, 1, store, is_silent=True).results for _ in range(2)]
    store.close()
    assert kept[0] == kept[1]
    titles = {table.title: table for table in task_tables({"critic-sqlite": kept[0]})}
    [row] = titles["Tasks of efficiency, by counted work"].rows
    counted, official, strict, less, median = [cell.value for cell in row.cells if cell is not None]
    assert (counted, official, strict, less) == (1, 100.0, 100.0, 100.0)
    assert median == kept[0][1].work is not None
    # A set without such tasks has no such table.
    (tmp_path / "tasks.jsonl").write_text(json.dumps(record), encoding="utf-8")
    tasks = read_tasks(tmp_path / "tasks.jsonl", "critic-sqlite", tmp_path / "databases")
    found = judged_tasks(tasks, answers, 1, None, is_silent=True).results
    assert "Tasks of efficiency, by counted work" not in {
        table.title for table in task_tables({"critic-sqlite": found})
    }
