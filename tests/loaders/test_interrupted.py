"""A load that is interrupted leaves the old database, never half of one, and the next load succeeds."""

import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from dialects.enums import Dialect, Profile
from dialects.errors import HarnessError
from loaders.bulk_load import load, loaded
from loaders.namespace import Database
from loaders.server import Server
from tests.every_engine import LOADED, OWN
from tests.loaders.conftest import MakeFile
from tests.loaders.servers import ask, read

pytestmark = [pytest.mark.engine, pytest.mark.thorough]
SERVERS = OWN

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


def leftovers(server: Server, database: Database) -> list[str]:
    if server.dialect is Dialect.DUCKDB:
        names = [path.name for path in Path(server.host).iterdir()]
    elif server.dialect is Dialect.POSTGRESQL:
        names = [name for (name,) in ask(server, database, "SELECT nspname FROM pg_namespace")]
    else:
        names = [name for (name,) in ask(server, None, "SHOW DATABASES")]
    return [name for name in names if name.startswith("bird_harness_")]


@contextmanager
def loading(  # noqa: PLR0913 - what the process is told
    server: Server, databases: Sequence[Database], root: Path, *, rows: int, seconds: float, jobs: int
) -> Iterator["subprocess.Popen[bytes]"]:
    """A process that loads, once it has sent as many rows; it waits then."""
    command = [
        sys.executable, "-m", "tests.loaders.stalling", "load",
        server.dialect, server.host, str(server.port), server.user, server.password,
        databases[0].collection, ",".join(database.profile for database in databases),
        str(databases[0].sqlite_path), str(rows), str(seconds), str(jobs),
    ]  # fmt: skip
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE) as child:
        assert child.stdout
        assert child.stdout.readline() == b"there\n"
        yield child


@pytest.mark.usefixtures("profile")
@pytest.mark.parametrize(
    ("stop_at", "jobs", "profile"),
    [
        (0, 1, Profile.OFFICIAL),
        (1, 1, Profile.FAITHFUL),
        (2 * ROWS, 1, Profile.OFFICIAL),
        (1, 2, Profile.OFFICIAL),
        (2 * ROWS, 2, Profile.FAITHFUL),
    ],
    indirect=["profile"],
)
def test_an_exception_at_any_point_leaves_the_old_database(
    server: Server, database: Database, make_file: MakeFile, stop_at: int, jobs: int
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
        load([database], server, jobs=jobs, progress=stop)
    assert holds(server, database, "old")
    assert leftovers(server, database) == []
    new = database.sqlite_path.read_bytes()
    database.sqlite_path.write_bytes(old)
    assert loaded([database], server) == before
    database.sqlite_path.write_bytes(new)
    assert [done.skipped for done in load([database], server)] == [False]
    assert holds(server, database, "new", ROWS)


@pytest.mark.usefixtures("profile")
@pytest.mark.parametrize(
    ("stop_at", "jobs", "profile"),
    [(1, 1, Profile.OFFICIAL), (2 * ROWS, 1, Profile.FAITHFUL), (2 * ROWS, 2, Profile.OFFICIAL)],
    indirect=["profile"],
)
def test_a_killed_process_leaves_the_old_database(  # noqa: PLR0913, PLR0917 - fixtures and parameters
    server: Server,
    database: Database,
    make_file: MakeFile,
    pytestconfig: pytest.Config,
    stop_at: int,
    jobs: int,
) -> None:
    make_file(SCRIPT.format(rows=3, word="old"))
    load([database], server)
    make_file(SCRIPT.format(rows=ROWS, word="new"))
    with loading(server, [database], pytestconfig.rootpath, rows=stop_at, seconds=600, jobs=jobs) as child:
        child.send_signal(signal.SIGKILL)
    assert holds(server, database, "old")
    assert [done.skipped for done in load([database], server)] == [False]
    assert holds(server, database, "new", ROWS)
    assert leftovers(server, database) == []


def test_killed_six_times_at_random_moments_it_is_the_old_or_the_new_database(
    server: Server, collection: str, make_file: MakeFile, pytestconfig: pytest.Config
) -> None:
    """In both profiles at once, with two processes; each load finds what the killed one before it left."""
    path = make_file(SCRIPT.format(rows=3, word="v0"))
    databases = [Database(collection, "shop", path, profile) for profile in Profile]
    load(databases, server)
    counted = ", ".join(
        f"(SELECT {figure} FROM {table})" for table in "ab" for figure in ("count(*)", "min(t)", "max(t)")
    )
    allowed = {database: {(3, "v0") * 2} for database in databases}
    moments = random.Random(6)  # noqa: S311 - moments to be killed at
    for number in range(1, 7):
        rows, word = 3 + number, f"v{number}"
        if number % 2:
            rows = ROWS + number
        make_file(SCRIPT.format(rows=rows, word=word))
        reached = moments.randrange(2 * rows + 1)
        with loading(server, databases, pytestconfig.rootpath, rows=reached, seconds=0, jobs=2) as child:
            time.sleep(moments.random() ** 2 / 2)
            child.send_signal(signal.SIGKILL)
        standing = loaded(databases, server)
        for database in databases:
            [(a, low, high, b, *others)] = read(server, database, f"SELECT {counted}")
            assert others == [low, high]
            assert low == high
            found = (a, low, b, low)
            assert found in allowed[database] | {(rows, word) * 2}
            assert database not in standing or found == (rows, word) * 2
            allowed[database] = {found}
    assert len(load(databases, server)) == len(databases)
    for database in databases:
        assert holds(server, database, word, rows)
        assert leftovers(server, database) == []


def test_a_worker_process_that_is_killed_is_one_clear_error(
    mysql_server: Server, mysql_collection: str, make_file: MakeFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = mysql_server
    database = Database(mysql_collection, "shop", make_file(SCRIPT.format(rows=ROWS, word="new")))
    started: list[subprocess.Popen[bytes]] = []

    class Process(subprocess.Popen[bytes]):
        def __init__(self, *arguments: object, **options: object) -> None:
            super().__init__(*arguments, **options)  # type: ignore[call-overload]
            started.append(self)

    monkeypatch.setattr(subprocess, "Popen", Process)

    def kill(_: Database, __: int, ___: int) -> None:
        for process in started:
            process.send_signal(signal.SIGKILL)

    with pytest.raises(HarnessError, match=r"shop\.sqlite: .* ended with exit code -9; load again"):
        load([database], server, jobs=2, progress=kill)
    assert loaded([database], server) == {}
    assert leftovers(server, database) == []


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


@pytest.mark.parametrize("server", LOADED, indirect=True)
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
