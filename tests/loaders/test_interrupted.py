"""A load that is interrupted leaves the old database, never half of one, and the next load succeeds."""

import signal
import subprocess
import sys
import threading

import pytest

from harness.engines.namespace import Database
from harness.engines.server import Server
from harness.words import Dialect
from loaders.load import load, loaded
from tests.loaders.conftest import MakeFile
from tests.loaders.servers import ask, read

pytestmark = pytest.mark.engine

ROWS = 5_000
SCRIPT = """
CREATE TABLE a (n INTEGER PRIMARY KEY, t TEXT);
CREATE TABLE b (n INTEGER, t TEXT);
WITH RECURSIVE up (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM up WHERE n < {rows})
INSERT INTO a SELECT n, '{word}' FROM up;
INSERT INTO b SELECT n, t FROM a;
"""


class Interrupted(Exception):
    pass


def holds(server: Server, database: Database, word: str, rows: int = 3) -> bool:
    counts = [read(server, database, f"SELECT count(*), min(t), max(t) FROM {table}") for table in ("a", "b")]
    return counts == [[(rows, word, word)]] * 2


def leftovers(server: Server) -> list[str]:
    if server.dialect is Dialect.POSTGRESQL:
        return []
    names = [name for (name,) in ask(server, None, "SHOW DATABASES")]
    return [name for name in names if name.startswith("bird_harness_")]


@pytest.mark.parametrize("stop_at", [0, 1, 2 * ROWS])
def test_an_exception_at_any_point_leaves_the_old_database(
    server: Server, database: Database, make_file: MakeFile, stop_at: int
) -> None:
    make_file(SCRIPT.format(rows=3, word="old"))
    load([database], server)
    before = loaded([database], server)
    old = database.sqlite_path.read_bytes()
    make_file(SCRIPT.format(rows=ROWS, word="new"))

    def stop(_: Database, done: int, __: int) -> None:
        if done >= stop_at:
            raise Interrupted

    with pytest.raises(Interrupted):
        load([database], server, progress=stop)
    assert holds(server, database, "old")
    assert leftovers(server) == []
    new = database.sqlite_path.read_bytes()
    database.sqlite_path.write_bytes(old)
    assert loaded([database], server) == before
    database.sqlite_path.write_bytes(new)
    assert [done.skipped for done in load([database], server)] == [False]
    assert holds(server, database, "new", ROWS)


@pytest.mark.parametrize("stop_at", [1, 2 * ROWS])
def test_a_killed_process_leaves_the_old_database(
    server: Server, database: Database, make_file: MakeFile, pytestconfig: pytest.Config, stop_at: int
) -> None:
    make_file(SCRIPT.format(rows=3, word="old"))
    load([database], server)
    make_file(SCRIPT.format(rows=ROWS, word="new"))
    command = [
        sys.executable, "-m", "tests.loaders.stalling_load",
        server.dialect, server.host, str(server.port), server.user, server.password,
        database.collection, database.profile, str(database.sqlite_path), str(stop_at),
    ]  # fmt: skip
    with subprocess.Popen(command, cwd=pytestconfig.rootpath, stdout=subprocess.PIPE) as child:
        assert child.stdout
        assert child.stdout.readline() == b"there\n"
        child.send_signal(signal.SIGKILL)
    assert holds(server, database, "old")
    assert [done.skipped for done in load([database], server)] == [False]
    assert holds(server, database, "new", ROWS)
    assert leftovers(server) == []


def test_a_mysql_load_cut_short_while_the_tables_change_places_is_done_again(
    mysql_server: Server, mysql_collection: str, make_file: MakeFile
) -> None:
    database = Database(mysql_collection, "shop", make_file(SCRIPT.format(rows=3, word="old")))
    load([database], mysql_server)
    unfinished = "UPDATE bird_harness.loads SET marker = JSON_SET(marker, '$.loaded_at', NULL)"
    ask(mysql_server, None, f"{unfinished} WHERE collection = '{mysql_collection}'")
    assert loaded([database], mysql_server) == {}
    assert [done.skipped for done in load([database], mysql_server)] == [False]
    assert holds(mysql_server, database, "old")


def test_two_loads_at_once_take_turns(server: Server, database: Database, make_file: MakeFile) -> None:
    make_file(SCRIPT.format(rows=3, word="same"))
    skipped: list[bool] = []

    def run() -> None:
        skipped.extend(done.skipped for done in load([database], server))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(skipped) == [False, True, True, True]
    assert holds(server, database, "same")
