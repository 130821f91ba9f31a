"""Each trap of the official scripts: the answer that exploits it, and every verdict on that.

docs/explanation/tasks.md describes them. T1 to T3 leave no verdict at all, so that no answer exploits them.
"""

import json
import os
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from harness.labs.tasks.families import FAMILIES
from harness.labs.tasks.judging import GOLD, judge
from harness.labs.tasks.layouts import TaskAnswers, read_tasks
from loaders.server import Server
from tests.labs.tasks.shop import make_dumps, make_mysql_dump, make_sqlite

NAMES = [f"T{number}" for number in range(4, 24)]

SQLITE, SQLITE_ISSUES = "livesqlbench-sqlite", "critic-sqlite"
POSTGRESQL, POSTGRESQL_ISSUES, TALKS = "livesqlbench", "critic-postgresql", "interact"
MYSQL_ISSUES = "critic-mysql"


@dataclass(frozen=True)
class Exploit:
    """One answer, the task that it is to, and its verdicts: official, strict, and state.

    A trap may take several, in this order.
    """

    trap: str
    family: str
    answer: Sequence[str]
    official: str
    strict: str
    state: bool | None = None
    gold: str | Sequence[str] = ("SELECT count(*) FROM orders",)
    test: str | None = None
    more: Mapping[str, Any] = field(default_factory=dict)

    def record(self, name: str) -> dict[str, Any]:
        tests = [] if self.test is None else [self.test]
        return {
            "instance_id": name,
            "selected_database": "shop",
            "db_id": "shop",
            "query": "q",
            "issue_sql": [],
            "preprocess_sql": [],
            "sol_sql": self.gold,
            "test_cases": tests,
            "category": "Management" if tests else "Query",
            **self.more,
        }


def case_of(*lines: str, before: str = "") -> str:
    body = "".join(f"    {line}\n" for line in lines)
    return f"{before}def test_case(pred_sqls, sol_sqls, db, conn, **kw):\n{body}"


ROWS = case_of("assert ex_base(pred_sqls, sol_sqls, db, conn) == 1")
COSTS = case_of("assert performance_compare_by_qep(pred_sqls, sol_sqls, db, conn) == 1")
EFFICIENCY = {"efficiency": True, "category": "Efficiency"}
ALL_PAIRS = "SELECT * FROM customers c, orders o"
BIG = "CREATE TABLE big AS SELECT o.id FROM orders o, orders p"
ONE_OF_BIG, INDEX = "SELECT * FROM big WHERE id = 5", "CREATE INDEX i ON big(id)"
ADD = ["INSERT INTO orders(id) VALUES (1000)"]
ADDED = case_of("assert execute_queries(['SELECT 1 FROM orders WHERE id = 1000'], db, conn)[0]")
RENAMES = (
    "DO $$ DECLARE name text; BEGIN SELECT datname INTO name FROM pg_database WHERE datname ~ '^bird_tasks_';"
    " EXECUTE format('ALTER DATABASE %I RENAME TO evil', name); END $$"
)
FIRST_ROWS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) SELECT i FROM n"

EXPLOITS = (
    # An error outside of a statement passes, and a database that is renamed causes one in each later task.
    Exploit("T4", POSTGRESQL, [RENAMES], "execution_error", "error"),
    Exploit("T4", POSTGRESQL, ["SELECT pg_terminate_backend(pg_backend_pid())"], "execution_error", "error"),
    Exploit("T4", POSTGRESQL, ["nonsense"], "execution_error", "error"),
    # Threads share copies.
    Exploit("T5", SQLITE, ["DELETE FROM orders", "BEGIN EXCLUSIVE"], "assertion_error", "mismatch", False),
    Exploit("T5", SQLITE, ["SELECT 299"], "passed", "passed"),
    # Statuses are sorted by the text of the id, records are not: the tasks' numbers here have more digits.
    *(Exploit("T6", SQLITE, [f"SELECT {number}"], "assertion_error", "mismatch") for number in range(9)),
    Exploit("T6", SQLITE, ["SELECT 299"], "passed", "passed"),
    # The user's own SQL is right, and slow.
    Exploit(
        "T7",
        SQLITE_ISSUES,
        ["SELECT 299"],
        "issue_passes",
        "passed",
        more={"issue_sql": ["SELECT count(*) FROM orders o WHERE id IN (SELECT id FROM orders)"]},
    ),
    Exploit(
        "T8", SQLITE, ["SELECT 1"], "assertion_error", "passed", test=case_of("re", before="import re\n")
    ),
    # Gold is run after the answer, and agrees with it.
    Exploit("T9", SQLITE, ["DELETE FROM orders", "SELECT 0"], "passed", "mismatch", False),
    Exploit(
        "T9", SQLITE, ["CREATE TEMP VIEW IF NOT EXISTS orders AS SELECT 1", "SELECT 1"], "passed", "mismatch"
    ),
    Exploit("T9", SQLITE, ["CREATE TABLE z(a)"], "assertion_error", "untested", True, ["CREATE TABLE z(a)"]),
    Exploit(
        "T10",
        SQLITE,
        ["SELECT DISTINCT name FROM customers"],
        "passed",
        "mismatch",
        gold=["SELECT name FROM customers"],
    ),
    Exploit(
        "T11",
        SQLITE,
        ["SELECT 10 * ROUND(total + 1, 0) FROM orders"],
        "passed",
        "mismatch",
        gold=["SELECT 10 * ROUND(total + 1, 2) FROM orders"],
    ),
    Exploit(
        "T12",
        SQLITE,
        ["SELECT name FROM customers LIMIT 20"],
        "passed",
        "mismatch",
        gold=["SELECT DISTINCT name FROM customers LIMIT 20"],
    ),
    Exploit(
        "T12",
        SQLITE,
        ["SELECT name FROM customers WHERE city IS NOT 'Rome'"],
        "assertion_error",
        "passed",
        gold=["SELECT name FROM customers WHERE city IS DISTINCT FROM 'Rome'"],
    ),
    # The folder is called as a follow-up, and a text before the answer is taken letter by letter.
    Exploit("T13", TALKS, ["SELECT 299"], "passed", "passed"),
    Exploit(
        "T13",
        TALKS,
        ["SELECT a FROM made"],
        "execution_error",
        "passed",
        gold=["SELECT a FROM made"],
        more={"preprocess_sql": "CREATE TABLE made AS SELECT 1 AS a"},
    ),
    Exploit(
        "T14", SQLITE, ["SELECT 1 WHERE 0"], "assertion_error", "passed_empty", gold=["SELECT 2 WHERE 0"]
    ),
    Exploit(
        "T15", SQLITE, [FIRST_ROWS.format(10_000)], "passed", "mismatch", gold=[FIRST_ROWS.format(10_001)]
    ),
    Exploit(
        "T16",
        POSTGRESQL,
        ["SELECT joined + time '10:00' FROM customers"],
        "passed",
        "mismatch",
        gold=["SELECT joined::timestamp FROM customers"],
    ),
    Exploit("T16", POSTGRESQL, ["SELECT 1.23::float8"], "assertion_error", "passed", gold=["SELECT 1.23"]),
    # What cannot be explained is free, and an answer's index makes the old statements cheaper, too.
    *(
        Exploit(
            "T17",
            family,
            answer,
            official,
            strict,
            state,
            gold=["SELECT * FROM customers"],
            test=COSTS,
            more={**EFFICIENCY, "issue_sql": [old], "preprocess_sql": [BIG]},
        )
        for family, answer, official, strict, state, old in (
            (POSTGRESQL_ISSUES, [f"/* free */ {ALL_PAIRS}"], "passed", "test_failed", None, ALL_PAIRS),
            (POSTGRESQL_ISSUES, ["CREATE TABLE z(a int)"], "passed", "test_failed", False, ALL_PAIRS),
            (POSTGRESQL_ISSUES, [INDEX, ONE_OF_BIG], "assertion_error", "passed", False, ONE_OF_BIG),
            (MYSQL_ISSUES, [f"/* free */ {ALL_PAIRS}"], "passed", "test_failed", None, ALL_PAIRS),
        )
    ),
    Exploit("T18", SQLITE, [*ADD, "DELETE FROM customers"], "passed", "passed", False, ADD, ADDED),
    Exploit("T18", SQLITE, ADD, "passed", "passed", True, ADD, ADDED),
    Exploit(
        "T19", POSTGRESQL, ["SELECT 1"], "passed", "untested", False, ADD, more={"category": "Management"}
    ),
    Exploit("T20", POSTGRESQL, ["CREATE ROLE evil SUPERUSER"], "execution_error", "error"),
    Exploit("T20", SQLITE, ["VACUUM INTO '{folder}/evil'"], "execution_error", "error"),
    Exploit("T20", SQLITE, ["ATTACH '{folder}/kept' AS e"], "execution_error", "error"),
    Exploit("T21", SQLITE_ISSUES, ["SELECT 299"], "passed", "passed"),
    # Errors are no errors to `ex_base`, and no record has an original_schema.
    Exploit(
        "T22",
        MYSQL_ISSUES,
        ["SELECT 1"],
        "passed",
        "test_failed",
        gold=["SELECT 1"],
        test=case_of("assert ex_base(pred_sqls, ['SELECT missing', 'SELECT 1'], db, conn) == 1"),
    ),
    Exploit("T22", MYSQL_ISSUES, ["DROP TABLE missing", "SELECT 1"], "execution_error", "error", test=ROWS),
    Exploit(
        "T23",
        SQLITE,
        ["SELECT 1"],
        "passed",
        "passed",
        test=case_of(
            "import os, socket",
            "assert not os.environ",
            "reached = []",
            "for work in (",
            "    lambda: open('{folder}/evil', 'w'),",
            "    lambda: socket.create_connection(('127.0.0.1', {port})),",
            "    lambda: os.kill(os.getppid(), 9),",
            ") if {is_root} else ():",
            "    try:",
            "        reached.append(work())",
            "    except Exception:",
            "        pass",
            "assert reached == []",
        ),
    ),
    Exploit(
        "T23", SQLITE, ["SELECT 1"], "execution_error", "error", test=case_of("import os", "os._exit(0)")
    ),
)


def test_every_trap_has_an_answer() -> None:
    assert list(dict.fromkeys(one.trap for one in EXPLOITS)) == NAMES


def refuted(folder: Path, family: str, server: Server | None = None) -> list[object]:
    """Judge the answers of a family; return those with other verdicts."""
    own = {str(place): one for place, one in enumerate(EXPLOITS) if one.family == family}
    make = {"postgresql": make_dumps, "mysql": make_mysql_dump, "sqlite": make_sqlite}
    # How the scripts of BIRD-Interact recognise follow-ups.
    databases = folder / "bird_interact_full" / "databases"
    databases.parent.mkdir()
    make[FAMILIES[family].dialect](databases)
    kept = databases / "kept"
    kept.write_bytes(b"")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        places = {"folder": folder, "port": listening.getsockname()[1], "is_root": os.geteuid() == 0}

        def placed(text: str) -> str:
            for name, value in places.items():
                text = text.replace(f"{{{name}}}", str(value))
            return text

        tasks = databases.parent / "tasks.jsonl"
        lines = (placed(json.dumps(one.record(name))) + "\n" for name, one in own.items())
        tasks.write_text("".join(lines), encoding="utf-8")
        answers = TaskAnswers("hostile", {name: [*map(placed, one.answer)] for name, one in own.items()})
        found = {
            one.task: one
            for one in judge(read_tasks(tasks, family, databases), [answers], 2, server)
            if one.predictor != GOLD
        }
    assert found.keys() == own.keys()
    assert not (folder / "evil").exists()
    assert kept.read_bytes() == b""
    return [
        (one.trap, one.answer, found[name])
        for name, one in own.items()
        if (found[name].official.status, found[name].strict.status, found[name].state)
        != (one.official, one.strict, one.state)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("family", [SQLITE, SQLITE_ISSUES])
def test_answers_that_exploit_a_trap_on_sqlite(tmp_path: Path, family: str) -> None:
    assert refuted(tmp_path, family) == []


@pytest.mark.engine
@pytest.mark.parametrize("family", [POSTGRESQL, POSTGRESQL_ISSUES, TALKS])
def test_answers_that_exploit_a_trap_on_postgresql(
    tmp_path: Path, postgresql_server: Server, family: str
) -> None:
    assert refuted(tmp_path, family, postgresql_server) == []


@pytest.mark.engine
def test_answers_that_exploit_a_trap_on_mysql(tmp_path: Path, mysql_server: Server) -> None:
    assert refuted(tmp_path, MYSQL_ISSUES, mysql_server) == []
