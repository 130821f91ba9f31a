"""Hostile predictions on a real MySQL and a real MariaDB: each ends in time, and leaves nothing behind."""

import resource
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pymysql
import pytest

from dialects.enums import Dialect
from harness.engines import on_server
from harness.engines.execution import Ending, Execution, Limits, execute
from loaders.bulk_load import load
from loaders.namespace import Database
from loaders.server import Server
from tests.engines.hostile import mariadb_cases, mysql_cases
from tests.engines.hostile.cases import Hostile

pytestmark = [pytest.mark.engine, pytest.mark.thorough]

COLLECTION = "bird_hostile"
LIMITS = Limits(seconds=0.1)
INNOCENT = "SELECT name, legs, @bird, IS_USED_LOCK('a'), @@sql_mode FROM animal ORDER BY legs, name"

CHANGING = frozenset({
    "timestamp", "pseudo_thread_id", "rand_seed1", "rand_seed2", "error_count", "warning_count",
    "statement_id", "last_insert_id", "identity",
})  # fmt: skip
"""Variables that differ from one statement to the next."""

CASES = {Dialect.MYSQL: mysql_cases.CASES, Dialect.MARIADB: mariadb_cases.CASES}

EVERYWHERE = (
    "SELECT schema_name FROM information_schema.schemata ORDER BY 1",
    "SELECT table_schema, table_name, table_type FROM information_schema.tables ORDER BY 1, 2",
    "SELECT routine_schema, routine_name FROM information_schema.routines ORDER BY 1, 2",
    "SELECT trigger_name FROM information_schema.triggers ORDER BY 1",
    "SELECT event_name FROM information_schema.events ORDER BY 1",
    "SELECT plugin_name, plugin_status FROM information_schema.plugins ORDER BY 1",
    (
        "SELECT DISTINCT privilege_type FROM information_schema.user_privileges"
        " WHERE grantee REGEXP '^.bird_reader'"
    ),
    "SELECT * FROM mysql.db ORDER BY 1, 2, 3",
    "SELECT * FROM mysql.func",
)

# A statement that is still being stopped has its account: the next one may be given a new one.
_LASTING = "WHERE user NOT REGEXP '^bird_reader_[0-9]+$' ORDER BY 1, 2"

ON_MYSQL = (
    f"SELECT user, host, authentication_string, account_locked FROM mysql.user {_LASTING}",
    "SELECT * FROM mysql.component",
    "SELECT * FROM performance_schema.persisted_variables",
    "SELECT * FROM performance_schema.global_variables WHERE variable_name <> 'timestamp' ORDER BY 1",
    "SELECT ID FROM performance_schema.processlist WHERE USER LIKE 'bird_reader%' AND COMMAND <> 'Sleep'",
    "SELECT object_name FROM performance_schema.metadata_locks WHERE object_type = 'USER LEVEL LOCK'",
)

ON_MARIADB = (
    f"SELECT host, user, priv FROM mysql.global_priv {_LASTING}",
    "SELECT * FROM information_schema.global_variables WHERE variable_name <> 'timestamp' ORDER BY 1",
    "SELECT id FROM information_schema.processlist WHERE user LIKE 'bird_reader%' AND command <> 'Sleep'",
    "SELECT * FROM mysql.roles_mapping WHERE user NOT REGEXP '^bird_reader_[0-9]+$' ORDER BY 1, 2, 3",
)

STATE = {Dialect.MYSQL: (*EVERYWHERE, *ON_MYSQL), Dialect.MARIADB: (*EVERYWHERE, *ON_MARIADB)}


@dataclass(frozen=True)
class Attack:
    """What came of the whole corpus."""

    cases: Sequence[Hostile]
    executions: Mapping[str, Execution]
    state: tuple[object, object]
    """What the server says of itself, before and after."""
    answers: tuple[object, object]
    """The rows of an innocent query, before and after."""
    settings: tuple[object, object]
    """The variables of a session of the reading role, before and after."""
    grown: int
    """Bytes by which the peak memory of this process has grown."""
    left: object
    """What the reading role still ran when everything had time to end."""


@pytest.fixture(scope="module", params=list(CASES))
def attacked(request: pytest.FixtureRequest) -> Server:
    found = request.getfixturevalue(f"{request.param}_server")
    assert isinstance(found, Server)
    return found


@pytest.fixture(scope="module")
def attack(attacked: Server, tmp_path_factory: pytest.TempPathFactory) -> Attack:
    cases = CASES[attacked.dialect]
    folder = tmp_path_factory.mktemp("hostile")
    database, other = _database(folder, COLLECTION), _database(folder, f"{COLLECTION}_other")
    load([database, other], attacked)
    engine = on_server(attacked)

    def rows(sql: str) -> object:
        execution = execute(engine, database, sql, Limits())
        assert execution.ending is Ending.ROWS, execution.error
        return [row for row in execution.rows if row[0] not in CHANGING]

    before = _state(attacked), rows(INNOCENT), rows("SHOW SESSION VARIABLES"), _peak()
    executions = {case.name: execute(engine, database, case.sql, case.within(LIMITS)) for case in cases}
    grown = _peak() - before[3]
    left = _left(attacked)
    return Attack(
        cases,
        executions,
        (before[0], _state(attacked)),
        (before[1], rows(INNOCENT)),
        (before[2], rows("SHOW SESSION VARIABLES")),
        grown,
        left,
    )


def _database(folder: Path, collection: str) -> Database:
    path = folder / f"{collection}.sqlite"
    connection = sqlite3.connect(path)
    connection.execute('CREATE TABLE animal (name TEXT, legs INTEGER, born DATE, "Top Speed" REAL)')
    connection.executemany(
        "INSERT INTO animal VALUES (?, ?, NULL, NULL)", [("cat", 4), ("hen", 2), ("ant", 6)]
    )
    connection.commit()
    connection.close()
    return Database(collection, collection, path)


def _asker(server: Server) -> Callable[[str], list[Any]]:
    connection: Any = pymysql.connect(
        host=server.host, port=server.port, user=server.user, password=server.password,
        ssl_disabled=server.is_local,
    )  # fmt: skip

    def ask(sql: str) -> list[Any]:
        with connection.cursor() as cursor:
            cursor.execute(sql)
            return list(cursor.fetchall())

    return ask


def _state(server: Server) -> object:
    ask = _asker(server)
    loaded = [
        f"`{schema}`.`{table}`"
        for schema, table, kind in ask(EVERYWHERE[1])
        if kind == "BASE TABLE" and schema.startswith("bird_")
    ]
    return [ask(f"CHECKSUM TABLE {', '.join(loaded)}"), *(ask(sql) for sql in STATE[server.dialect])]


def _left(server: Server) -> object:
    """What the reading role runs; a value that is being computed cannot be interrupted and is waited for."""
    ask = _asker(server)
    for _ in range(300):
        left = ask(
            "SELECT LEFT(info, 200) FROM information_schema.processlist"
            f" WHERE user LIKE '{server.reader_user}%' AND command <> 'Sleep'"
        )
        if not left:
            return []
        time.sleep(0.1)
    return left


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def test_a_hostile_prediction_ends_in_time_and_as_it_may(attack: Attack) -> None:
    found = attack.executions
    assert len(found) == len(attack.cases) >= 80
    assert {
        case.name: (found[case.name].code, found[case.name].error)
        for case in attack.cases
        if found[case.name].ending not in case.endings
    } == {}
    # The promise is one second after the limit; a machine that runs other tests as well may take longer.
    latest = LIMITS.seconds + 2
    assert {name: each.seconds for name, each in found.items() if each.seconds >= latest} == {}


def test_nothing_of_it_goes_on_on_the_server(attack: Attack) -> None:
    assert attack.left == []


def test_tables_accounts_and_global_settings_are_as_before(attack: Attack) -> None:
    before, after = attack.state
    assert after == before


def test_the_next_prediction_has_the_same_rows_and_settings(attack: Attack) -> None:
    assert attack.answers[1] == attack.answers[0]
    assert attack.settings[1] == attack.settings[0]


def test_memory_of_this_process_stays_bounded(attack: Attack) -> None:
    assert attack.grown < 2**30


@pytest.mark.parametrize("attacked", [Dialect.MYSQL], indirect=True, scope="module")
def test_the_server_has_no_place_to_write_files_to(attack: Attack, attacked: Server) -> None:
    assert attack.executions["into outfile"].code in ("1227", "1290")
    assert _asker(attacked)("SELECT @@secure_file_priv") == [("NULL",)]
