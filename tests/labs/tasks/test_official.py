"""What test cases can call and see, as the scripts of mini_dev and BIRD-CRITIC answer them.

Whether a text passes was asked of these scripts, with an answer that is gold.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import date, datetime, time, timedelta, timezone
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from dialects.errors import BadInput
from harness.labs.tasks.families import FAMILIES
from harness.labs.tasks.judging import GOLD, TaskJudge, TaskResult, judge
from harness.labs.tasks.layouts import Task, read_answers, read_tasks
from harness.labs.tasks.official import OfficialStatus, OfficialVerdict, missing_fields, official_verdict
from harness.labs.tasks.postgresql import PostgreSQLTaskSession
from harness.labs.tasks.report import task_tables
from harness.labs.tasks.sqlite import SQLiteTaskSession
from harness.labs.tasks.strict import StrictStatus, StrictVerdict
from loaders.server import Server
from tests.labs.tasks.shop import make_dumps, make_sqlite

SQLITE, CRITIC = FAMILIES["livesqlbench-sqlite"], FAMILIES["critic-sqlite"]
GOLD_SQL = ["SELECT id, name FROM customers WHERE id < 5"]
RECORD: dict[str, Any] = {
    "instance_id": "shop_M_1",
    "selected_database": "shop",
    "db_id": "shop",
    "query": "q",
    "preprocess_sql": [],
    "sol_sql": GOLD_SQL,
    "category": "Management",
    "issue_sql": [],
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("databases")
    make_sqlite(folder)
    return folder / "shop" / "shop_template.sqlite"


def passes(
    shop: Path, record: dict[str, Any], answer: list[str], family: str = "livesqlbench-sqlite"
) -> bool:
    task = Task({**RECORD, **record}, FAMILIES[family])
    with closing(SQLiteTaskSession(str(shop), FAMILIES[family])) as session:
        return official_verdict(task, FAMILIES[family], answer, lambda: session).passes


def body(text: str) -> str:
    lines = "".join(f"    {line}\n" for line in text.splitlines())
    return f"def test_case(pred_sqls, sol_sqls, db_path, conn, **kw):\n{lines}"


PASSING = [
    "return False",
    "print('x' * 1000)",
    "assert date(2020, 1, 1)",
    "import datetime\nassert datetime.date.today()",
    "assert len(pred_query_result) == 4 and isinstance(pred_query_result, list)",
    "assert pred_sqls == sol_sqls and isinstance(pred_sqls, list)",
    "assert len(execute_queries(pred_sqls, db_path, conn)) == 3",
    "assert execute_queries(pred_sqls, db_path, conn, None, '', True)[3] == ''",
    "assert execute_queries(queries=pred_sqls, db_path=db_path, conn=conn, section_title='x')[0]",
    "assert execute_queries(['bad'], db_path, conn, return_error=True)[3]",
    "assert execute_queries('SELECT 1', db_path, conn)[0] == [(1,)]",
    "assert execute_queries([], db_path, conn)[0] is None",
    "assert execute_queries(['SELECT 1', 'bad', 'SELECT 2'], db_path, conn) == ([(1,)], True, False)",
    "assert execute_queries(['SELECT 1', None], db_path, conn)[1]",
    "rows, same = perform_query_on_sqlite_databases('SELECT 1', db_path, conn)\nassert same is conn and rows",
    "assert perform_query_on_sqlite_databases(query='SELECT 1', db_path=db_path, conn=conn)[0]",
    "assert perform_query_on_sqlite_databases('SELECT 1', db_path, conn, 10)[0]",
    "try:\n    perform_query_on_sqlite_databases('bad', db_path, conn)\nexcept Exception:\n    pass",
    "assert ex_base(pred_sqls, sol_sqls, db_path, conn, conditions={'order': True}) == 1",
    "assert ex_base(pred_sqls=pred_sqls, sol_sqls=sol_sqls, db_path=db_path, conn=conn) == 1",
    "assert ex_base('SELECT 1', 'SELECT 1', db_path, conn) == 1",
    "assert ex_base([], sol_sqls, db_path, conn) == 0",
    "assert check_sql_function_usage(sqls=pred_sqls, required_keywords=['select', 'FROM'])",
    "assert remove_distinct(sql_list=['SELECT DISTINCT a']) == ['SELECT a']",
    "assert remove_comments(sql_list=['a -- b\\nc']) == ['a \\nc']",
    "assert remove_round(sql_list=['ROUND(a, 2)']) == ['a']",
    "assert preprocess_results(results=[(1.23456,)], decimal_places=3) == [(1.235,)]",
    "from decimal import Decimal\nassert preprocess_results([(Decimal('1.235'),)]) == [(Decimal('1.24'),)]",
    "assert preprocess_results([((1.239, 2),)]) == [((1.24, 2),)]",
    "cursor = conn.cursor()\ncursor.execute('SELECT 1 AS a')\nassert cursor.description[0][0] == 'a'",
    "import sqlite3\nassert execute_queries(['SELECT 7'], db_path, sqlite3.connect(db_path))[0] == [(7,)]",
    "assert execute_queries(pred_sqls, db_path, None)[0]",
    "import os\nassert os.path.exists(db_path)",
    "assert kw == {}",
]
FAILING = [
    "raise ValueError('x')",
    "assert datetime",
    "assert json.dumps({})",
    "assert isinstance(pred_query_result, tuple)",
    "execute_queries(pred_sqls)",
    "execute_queries(pred_sqls, db_path)",
    "execute_queries(pred_sqls, db_path, conn, is_solution=False)",
    "execute_queries(None, db_path, conn)",
    "perform_query_on_sqlite_databases('bad', db_path, conn)",
    "perform_query_on_sqlite_databases('SELECT 1')",
    "ex_base(pred_sqls, sol_sqls)",
    "assert ex_base(['SELECT 1'], ['SELECT 1', 'bad'], db_path, conn) == 1",
    "remove_distinct([None])",
    "preprocess_results(None)",
    "from decimal import Decimal\npreprocess_results([(Decimal('Infinity'),)])",
    "performance_compare_by_qep(['SELECT 1'], ['SELECT 1'], db_path, conn)",
    "test_case_default(pred_sqls, sol_sqls, db_path, conn)",
    "assert kw == {'conditions': {}}",
]


@pytest.mark.parametrize(("texts", "expected"), [(PASSING, True), (FAILING, False)])
def test_test_cases_call_what_the_scripts_have(shop: Path, texts: list[str], *, expected: bool) -> None:
    assert [
        text for text in texts if passes(shop, {"test_cases": [body(text)]}, GOLD_SQL) is not expected
    ] == []


TRUE = body("pass")


@pytest.mark.parametrize(
    ("tests", "expected"),
    [
        (["x = 1"], False),
        ([TRUE, TRUE], True),
        ([TRUE, body("assert 0")], False),
        (["X = 3\n" + body("assert X == 3")], False),
        (["test_case = lambda *a, **k: 1"], True),
        (["test_case = 5"], False),
        (["def test_case(*a, **k):\n    yield 1\n    assert 0"], True),
        (["pred_sqls = ['SELECT 5']\n" + body("assert pred_sqls == ['SELECT 5']")], True),
        (TRUE, False),
        ([None], False),
        ("", True),
        ([], True),
    ],
)
def test_texts_of_test_cases_are_run_as_the_scripts_do(shop: Path, tests: Any, *, expected: bool) -> None:
    assert passes(shop, {"test_cases": tests}, GOLD_SQL) is expected


@pytest.mark.parametrize("family", ["livesqlbench-sqlite", "critic-sqlite"])
def test_a_test_case_finds_what_the_one_before_did_to_the_lists(shop: Path, family: str) -> None:
    changing = body("pred_sqls.append('SELECT 1')\nsol_sqls.clear()")
    finding = body("assert (len(pred_sqls), sol_sqls) == (2, [])")
    record = {"test_cases": [changing, finding]}
    assert passes(shop, record, GOLD_SQL, family)
    assert not passes(shop, {"test_cases": [finding, changing]}, GOLD_SQL, family)


def test_the_answer_finds_what_a_test_case_did_to_gold_for_the_issue(shop: Path) -> None:
    test = body("seen = list(sol_sqls)\nsol_sqls.clear()\nassert not seen")
    record = {"issue_sql": ["SELECT 2"], "test_cases": [test]}
    assert passes(shop, record, GOLD_SQL, "critic-sqlite")
    assert not passes(shop, record, GOLD_SQL)


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ({"order": True}, False),
        ({"order": "false"}, False),
        ({"order": 0}, True),
        ({}, True),
        (None, True),
        ([], False),
        ("x", False),
    ],
)
def test_conditions_are_taken_as_they_are(shop: Path, conditions: Any, *, expected: bool) -> None:
    record = {"sol_sql": ["SELECT id FROM customers ORDER BY id"], "conditions": conditions}
    assert passes(shop, record, ["SELECT id FROM customers ORDER BY id DESC"]) is expected
    # BIRD-CRITIC's test cases get them, whatever they are.
    told = {**record, "test_cases": [body(f"assert kw == {{'conditions': {conditions!r}}}")]}
    assert passes(shop, told, ["SELECT 1"], "critic-sqlite")


@pytest.mark.parametrize(
    ("value", "statements"),
    [
        ([None, 5, {"a": 1}], ["null", "5", '{"a": 1}']),
        (5, []),
        ({"a": 1}, []),
        (None, []),
    ],
)
def test_what_is_no_text_is_a_statement_that_fails(shop: Path, value: Any, statements: list[str]) -> None:
    assert all(family.statements(value) == statements for family in FAMILIES.values())
    assert not any(passes(shop, {"test_cases": [TRUE]}, [statement]) for statement in statements)


def test_a_field_of_interact_is_trimmed_and_never_empty() -> None:
    read = FAMILIES["interact"].statements
    assert [read(" SELECT 1 "), read(""), read("5"), read('["a", 1]')] == [["SELECT 1"], [""], [], ["a"]]


@pytest.mark.parametrize(
    ("family", "category", "expected"),
    [
        ("livesqlbench-sqlite", "Query", True),
        ("critic-mysql", "Management", True),
        ("livesqlbench", "Management", True),
        ("livesqlbench", "Query", False),
        ("interact", "Query", False),
    ],
)
def test_test_cases_without_a_length_fail_where_they_are_counted(
    family: str, category: str, *, expected: bool
) -> None:
    task = Task({**RECORD, "category": category, "test_cases": None}, FAMILIES[family])
    assert ("test_cases" in missing_fields(task, FAMILIES[family])) is expected
    assert "test_cases" not in missing_fields(Task(RECORD, FAMILIES[family]), FAMILIES[family])


def lines(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


_OTHER = {"instance_id": "other", "pred_sqls": []}


def verdicts(folder: Path, tests: list[str], *answers: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Judge a task with answers, each of a predictor of its own, which has none where it is empty."""
    make_sqlite(folder / "databases")
    tasks = read_tasks(
        lines(folder / "tasks.jsonl", {**RECORD, "test_cases": tests}),
        SQLITE.name,
        folder / "databases",
    )
    named = ({"instance_id": RECORD["instance_id"], **each} if each else _OTHER for each in answers)
    paths = [lines(folder / f"{place}.jsonl", each) for place, each in enumerate(named)]
    for one in judge(tasks, [read_answers(path, tasks) for path in paths], 1):
        if one.predictor != GOLD:
            yield one.official.status, one.strict.status, str(one.official.message)


def test_no_answer_fails_where_an_empty_one_is_run(tmp_path: Path) -> None:
    found = list(
        verdicts(tmp_path, [TRUE], {}, {"pred_sqls": []}, {"pred_sqls": None}, {"pred_sqls": [None]})
    )
    assert found[0] == ("execution_error", "error", "there is no answer")
    assert found[1][:2] == found[2][:2] == ("passed", "passed")
    assert found[3][:2] == ("execution_error", "error")


def test_a_test_case_that_exits_fails_and_may_import_the_standard_library(tmp_path: Path) -> None:
    exits = body("import sys\nif len(pred_sqls) == 2:\n    sys.exit(0)\nimport csv, difflib, uuid, calendar")
    found = list(
        verdicts(tmp_path, [exits], {"pred_sqls": GOLD_SQL}, {"pred_sqls": ["SELECT 1", "SELECT 1"]})
    )
    assert found[0][:2] == ("passed", "passed")
    assert found[1][:2] == ("execution_error", "test_failed")


@pytest.mark.slow
def test_single_answers_are_judged_from_python(tmp_path: Path) -> None:
    make_sqlite(tmp_path / "databases")
    writes = {"instance_id": "w", "sol_sql": ["DELETE FROM orders"], "test_cases": [TRUE]}
    path = lines(tmp_path / "tasks.jsonl", {**RECORD, "instance_id": "q"}, {**RECORD, **writes})
    with TaskJudge(read_tasks(path, SQLITE.name, tmp_path / "databases")) as tasks:
        right = tasks.judge("q", "SELECT id, name FROM customers WHERE id < 5")
        assert (right.official.passes, right.strict.passes, right.state) == (True, True, None)
        assert tasks.judge("q", ["SELECT 1"]).official.status == "assertion_error"
        # Twice, each on a copy of its own.
        for _ in range(2):
            wrong = tasks.judge(
                "w", ["DELETE FROM orders WHERE id > 5", "DELETE FROM customers WHERE id = 9"]
            )
            assert (wrong.official.passes, wrong.state, wrong.predictor) == (True, False, "answer")
            assert [*wrong.changed] == ["table customers", "table orders"]
        with pytest.raises(BadInput, match=r"x: the set has no such task; it has 2 others"):
            tasks.judge("x", "SELECT 1")


def result(*, passes: bool, message: str | None = None) -> TaskResult:
    official = OfficialVerdict(OfficialStatus.PASSED if passes else OfficialStatus.EXECUTION_ERROR, message)
    strict = StrictVerdict(StrictStatus.PASSED if passes else StrictStatus.ERROR, message)
    return TaskResult("m", "t", "shop", "Query", None, official, strict)


@pytest.mark.parametrize(
    ("here", "there", "said"),
    [
        (
            result(passes=True),
            result(passes=False, message='column "a"\n  is missing'),
            ['m, official, t fails on postgresql: column "a" is missing'],
        ),
        (
            result(passes=False),
            result(passes=True),
            ["m, official, t fails on sqlite: execution_error"],
        ),
        (result(passes=True), result(passes=True), []),
        (result(passes=False, message="a"), result(passes=False, message="b"), []),
    ],
)
def test_a_task_that_passes_on_some_engines_has_the_reason_of_each_other(
    here: TaskResult, there: TaskResult, said: list[str]
) -> None:
    tables = task_tables({"livesqlbench-sqlite": [here], "livesqlbench": [there]})
    [found] = [table for table in tables if table.title == "Who passes where"]
    assert [note for note in found.notes if "m, official, t fails on" in note] == said


VALUES: dict[str, Any] = {
    "'infinity'::date": date.max,
    "'-infinity'::timestamp": datetime.min,  # noqa: DTZ901
    "'2024-01-01 10:00'::timestamp": datetime(2024, 1, 1, 10),  # noqa: DTZ001
    "'24:00'::time": time(0, 0),
    "'10:30'::time": time(10, 30),
    "array['24:00+02'::timetz]": [time(0, 0, tzinfo=timezone(timedelta(hours=2)))],
    "row(1, 2)": "(1,2)",
    "array[row(1, 2)]": '{"(1,2)"}',
    "array['550e8400-e29b-41d4-a716-446655440000'::uuid]": "{550e8400-e29b-41d4-a716-446655440000}",
    "array[B'101']": "{101}",
    "array['a'::xml]": "{a}",
    "int4multirange(int4range(1, 5))": "{[1,5)}",
    "array['1.2.3.4'::inet]": ["1.2.3.4"],
    "array[1, NULL]": [1, None],
    "array['{\"a\": 1}'::jsonb]": [{"a": 1}],
    "array['2024-01-01'::date]": [date(2024, 1, 1)],
    "array['2024-01-01'::timestamp, NULL]": [datetime(2024, 1, 1), None],  # noqa: DTZ001
}


@pytest.mark.engine
def test_values_on_postgresql_are_those_of_psycopg2(postgresql_server: Server) -> None:
    at = postgresql_server
    place = make_conninfo(host=at.host, port=at.port, user=at.user, password=at.password, dbname="postgres")
    with closing(PostgreSQLTaskSession(place, FAMILIES["livesqlbench"])) as session:
        [row] = session.official(f"SELECT {', '.join(VALUES)}") or []
        for kind in ("date", "timestamp", "timestamptz"):
            with pytest.raises(psycopg.DataError, match="unable to parse date"):
                session.official(f"SELECT array['-infinity'::{kind}]")
    assert dict(zip(VALUES, row, strict=True)) == VALUES


# Each passes with psycopg2, and failed with psycopg itself.
PSYCOPG2 = """
assert conn.cursor().execute('SELECT 1') is None
---
cur.execute('SELECT 1; SELECT 2')
assert cur.fetchone() == (2,)
---
cur.execute('SELECT count(*) FROM customers WHERE id IN %s', ((1, 2),))
assert cur.fetchone() == (2,)
---
cur.execute('SELECT 1 = ANY(%s), %s', ([1], [2, 3]))
assert cur.fetchone() == (True, [2, 3])
---
cur.execute('SELECT date %s', ('2024-01-01',))
assert cur.fetchone()[0].year == 2024
---
assert cur.mogrify('SELECT %s', ('a',)) == b"SELECT 'a'"
---
cur.execute('SELECT %s', (1,))
assert cur.query == b'SELECT 1'
---
cur.executemany('SELECT %s', [(1,), (2,)])
assert cur.fetchone() == (2,)
---
with conn:
    conn.cursor().execute('DELETE FROM orders')
rows = execute_queries(['SELECT count(*) FROM orders'], db_path, conn)[0]
assert rows == [(0,)]
---
try:
    with conn, conn.cursor() as cur:
        cur.execute('bad')
except Exception:
    pass
assert execute_queries(['SELECT 1'], db_path, conn)[0]
---
assert (conn.status, conn.encoding, conn.notices) == (1, 'UTF8', [])
assert conn.get_backend_pid() and conn.server_version > 120000
---
conn.cursor().execute("DO $$ BEGIN RAISE NOTICE 'x'; END $$")
assert conn.notices == ['NOTICE:  x\\n']
---
conn.set_session(autocommit=True)
conn.cursor().execute('VACUUM customers')
---
from psycopg2.extensions import ISOLATION_LEVEL_AUTOCOMMIT
conn.set_isolation_level(ISOLATION_LEVEL_AUTOCOMMIT)
conn.cursor().execute('VACUUM customers')
---
from psycopg2.extras import RealDictCursor
cur = conn.cursor(cursor_factory=RealDictCursor)
cur.execute('SELECT 1 AS a')
assert cur.fetchall() == [{'a': 1}]
---
import psycopg2.extras
cur = conn.cursor(cursor_factory=psycopg2.extras.DictCursor)
cur.execute('SELECT 1 AS a')
row = cur.fetchone()
assert (row['a'], row[0], row.get('b')) == (1, 1, None)
---
import psycopg2.extras
cur = conn.cursor(cursor_factory=psycopg2.extras.NamedTupleCursor)
cur.execute('SELECT 1 AS a')
assert cur.fetchone().a == 1
---
import psycopg2
from psycopg2 import errors, sql
try:
    conn.cursor().execute('SELECT * FROM missing')
except psycopg2.errors.UndefinedTable:
    pass
"""


@pytest.mark.engine
def test_connections_are_psycopg2s_to_test_cases_of_workers_alone(
    tmp_path: Path, postgresql_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Tests that make copies are workers, too.
    monkeypatch.delitem(sys.modules, "psycopg2", raising=False)
    make_dumps(tmp_path / "databases")
    texts = [f"cur = conn.cursor()\n{text.strip()}" for text in PSYCOPG2.split("---")]
    records = [{**RECORD, "instance_id": text, "test_cases": [body(text)]} for text in texts]
    tasks = read_tasks(lines(tmp_path / "tasks.jsonl", *records), "livesqlbench", tmp_path / "databases")
    results = judge(tasks, [], 2, postgresql_server)
    wrong = [
        (one.task, one.official.message, one.strict.message)
        for one in results
        if not (one.official.passes and one.strict.passes)
    ]
    assert wrong == []
    assert "psycopg2" not in sys.modules
