"""Private servers, on real ones: initialised, found, stopped, killed, broken."""

import contextlib
import dataclasses
import os
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from signal import Signals
from threading import Thread

import psycopg
import pymysql
import pytest

from dialects.enums import Dialect
from harness.engines import on_server
from harness.engines.base import EngineLost
from harness.provision import native
from harness.provision.servers import ServerState, version_of
from loaders.base.errors import EngineUnavailable
from loaders.base.processes import working_in
from loaders.server import Origin, Server

pytestmark = [pytest.mark.engine, pytest.mark.thorough]


def _home(dialect: Dialect) -> Iterator[Path]:
    """A folder for one server, in a place that the account that root starts servers as can enter."""
    with tempfile.TemporaryDirectory(prefix="bird-harness-test-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder / dialect
        native.destroy(dialect, home=folder / dialect)


@pytest.fixture(scope="module")
def mysql_home() -> Iterator[Path]:
    yield from _home(Dialect.MYSQL)


@pytest.fixture(scope="module")
def postgresql_home() -> Iterator[Path]:
    yield from _home(Dialect.POSTGRESQL)


@pytest.fixture
def shared_home(dialect: Dialect, request: pytest.FixtureRequest) -> Path:
    """The same for all tests: each leaves a folder in which a server can be started, or none."""
    found = request.getfixturevalue(f"{dialect}_home")
    assert isinstance(found, Path)
    return found


def run(server: Server, *statements: str) -> list[tuple[object, ...]]:
    """The rows of the last of `statements`, run by the administrating account."""
    if server.dialect is Dialect.MYSQL:
        with (
            pymysql.connect(
                host=server.host, port=server.port, user=server.user, password=server.password
            ) as mysql,
            mysql.cursor() as cursor,
        ):
            for statement in statements:
                cursor.execute(statement)
            return list(cursor.fetchall())
    with psycopg.connect(
        host=server.host, port=server.port, user=server.user, password=server.password, dbname="postgres",
        autocommit=True,
    ) as postgresql:  # fmt: skip
        done = [postgresql.execute(statement.encode()) for statement in statements]
        return done[-1].fetchall() if done[-1].description else []


def test_several_processes_start_one_server(dialect: Dialect, shared_home: Path) -> None:
    home = shared_home
    native.destroy(dialect, home=home)  # where another test came first
    script = (
        "from pathlib import Path; from harness.provision import native; "
        f"server = native.start(native.Dialect({str(dialect)!r}), home=Path({str(home)!r})); "
        "print(server.port, server.password)"
    )
    started = [
        subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) for _ in range(3)
    ]
    said = {each.communicate()[0] for each in started}
    assert [each.returncode for each in started] == [0, 0, 0]
    found = native.running(dialect, home=home)
    assert found is not None, "it outlives the process that started it"
    assert said == {f"{found.port} {found.password}\n"}


def test_nobody_else_gets_in(dialect: Dialect, shared_home: Path) -> None:
    server = native.start(dialect, home=shared_home)
    for password in ("", "wrong"):
        with pytest.raises(EngineLost):
            on_server(dataclasses.replace(server, password=password)).version()
    listening = {
        Dialect.MYSQL: "SELECT @@bind_address, @@secure_file_priv",
        Dialect.POSTGRESQL: "SELECT current_setting('listen_addresses'), "
        "coalesce(nullif(current_setting('unix_socket_directories'), ''), 'NULL')",
    }
    assert run(server, listening[dialect]) == [("127.0.0.1", "NULL")]
    for family, *_, address in socket.getaddrinfo(socket.gethostname(), None, type=socket.SOCK_STREAM):
        if not str(address[0]).startswith("127."):
            with socket.socket(family) as probe:
                assert probe.connect_ex((address[0], server.port)) != 0
    for name in ("server.json", "data", "tmp"):
        assert stat.S_IMODE((shared_home / name).stat().st_mode) & 0o077 == 0, name
    for name in ("server.log", "server.cnf"):
        assert server.password not in (shared_home / name).read_text("utf-8")


def test_another_process_with_the_same_id_is_left_alone(dialect: Dialect, shared_home: Path) -> None:
    native.start(dialect, home=shared_home)
    native.stop(dialect, home=shared_home)
    path = shared_home / "server.json"
    known = ServerState.read(path)
    assert known
    # As after a restart of the machine: the id belongs to somebody else, here to the tests themselves.
    dataclasses.replace(known, pid=os.getpid()).write(path)
    assert native.running(dialect, home=shared_home) is None
    assert not native.stop(dialect, home=shared_home)
    native.start(dialect, home=shared_home)


def test_a_server_that_was_killed_is_started_again(dialect: Dialect, shared_home: Path) -> None:
    server = native.start(dialect, home=shared_home)
    known = ServerState.read(shared_home / "server.json")
    assert known
    if known.pid not in native._children:  # only its parent waits until the last thread of it has gone
        native.stop(dialect, home=shared_home)
        server = native.start(dialect, home=shared_home)
        known = ServerState.read(shared_home / "server.json")
        assert known
    native.end_process(known.pid, known.identity, Signals.SIGKILL, seconds=10)
    assert native.running(dialect, home=shared_home) is None
    assert native.start(dialect, home=shared_home) == server
    assert version_of(server)


ENDLESS = {
    Dialect.MYSQL: "SELECT LOCATE(CONCAT(REPEAT('a', 3000000), 'b'), REPEAT('a', 9000000))",
    Dialect.POSTGRESQL: "SELECT normalize(repeat(chr(803) || chr(775), 1000000), NFC)",
}
"""What looks neither for a signal nor for the end of its server or client."""


@contextlib.contextmanager
def endless(server: Server) -> Iterator[None]:
    """A server that works on a text that never ends, which is over with the server."""

    def ask() -> None:
        with contextlib.suppress(psycopg.Error, pymysql.Error):
            run(server, ENDLESS[server.dialect])

    thread = Thread(target=ask)
    thread.start()
    time.sleep(0.5)
    yield
    thread.join(timeout=60)
    assert not thread.is_alive()


def test_a_server_that_does_not_stop_is_ended_with_all_of_its_processes(
    dialect: Dialect, shared_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = native.start(dialect, home=shared_home)
    monkeypatch.setattr(native, "_STOP_SECONDS", 2)
    with endless(server):
        assert native.stop(dialect, home=shared_home)
        assert list(working_in(shared_home / "data")) == []
    assert native.start(dialect, home=shared_home) == server


def test_a_backend_that_outlives_its_killed_server_is_ended_by_the_next_start(postgresql_home: Path) -> None:
    server = native.start(Dialect.POSTGRESQL, home=postgresql_home)
    known = ServerState.read(postgresql_home / "server.json")
    assert known
    with endless(server):
        native.end_process(known.pid, known.identity, Signals.SIGKILL, seconds=10)
        [orphan] = _once_settled(postgresql_home / "data")
        assert native.start(Dialect.POSTGRESQL, home=postgresql_home) == server
        assert orphan not in working_in(postgresql_home / "data")


def _once_settled(data: Path) -> list[int]:
    """The processes that are left when those that look for their server have gone."""
    until = time.monotonic() + 20
    while len(found := list(working_in(data))) > 1 and time.monotonic() < until:
        time.sleep(0.1)
    return found


def test_a_file_of_a_dead_server_with_the_id_of_another_process_prevents_no_start(
    postgresql_home: Path,
) -> None:
    server = native.start(Dialect.POSTGRESQL, home=postgresql_home)
    native.stop(Dialect.POSTGRESQL, home=postgresql_home)
    (postgresql_home / "data/postmaster.pid").write_text(f"{os.getppid()}\n", encoding="ascii")
    assert native.start(Dialect.POSTGRESQL, home=postgresql_home) == server


def test_mysql_knows_the_named_time_zones(mysql_home: Path) -> None:
    server = native.start(Dialect.MYSQL, home=mysql_home)
    asked = "SELECT CONVERT_TZ('2020-01-01 12:00:00', 'UTC', 'Europe/Berlin') = '2020-01-01 13:00:00'"
    assert run(server, asked) == [(1,)]


def test_postgresql_sorts_by_bytes_and_knows_letters(postgresql_home: Path) -> None:
    server = native.start(Dialect.POSTGRESQL, home=postgresql_home)
    assert run(server, "SELECT 'a' > 'B', upper('é'), 'É' ILIKE 'é'") == [(True, "É", True)]
    asked = "SELECT datcollate, datctype FROM pg_database WHERE datname = 'template1'"
    assert run(server, asked) == [("C", "C.UTF-8")]


def test_a_server_that_does_not_start_is_quoted(dialect: Dialect, shared_home: Path) -> None:
    native.start(dialect, home=shared_home)
    native.stop(dialect, home=shared_home)
    needed = {Dialect.MYSQL: "ibdata1", Dialect.POSTGRESQL: "global/pg_control"}[dialect]
    broken = shared_home / "data" / needed
    whole = broken.rename(broken.with_name("whole"))
    broken.write_bytes(b"broken")
    try:
        with pytest.raises(
            EngineUnavailable, match=r"stopped while it was starting; its log ends: .+ \(from .*server\.log\)"
        ):
            native.start(dialect, home=shared_home)
        assert native.running(dialect, home=shared_home) is None
    finally:
        whole.rename(broken)


def test_a_server_is_started_once_kept_and_found_again(
    dialect: Dialect,
    shared_home: Path,
    keeps_promises: Callable[[Server], None],
    capfd: pytest.CaptureFixture[str],
) -> None:
    home = shared_home
    native.stop(dialect, home=home)  # where another test came first, which has initialised it
    capfd.readouterr()
    first = native.start(dialect, home=home)
    assert first.origin is Origin.NATIVE
    keeps_promises(first)
    assert capfd.readouterr().err.splitlines()[-1].startswith("starting ")
    assert native.start(dialect, home=home) == first
    assert native.running(dialect, home=home) == first
    assert capfd.readouterr() == ("", ""), "nothing was done, nothing is said"
    run(first, "CREATE DATABASE kept")

    assert native.stop(dialect, home=home)
    assert native.running(dialect, home=home) is None
    assert not native.stop(dialect, home=home)
    assert native.start(dialect, home=home) == first, (
        "the same port and password, so that addresses stay good"
    )
    catalogue = {Dialect.MYSQL: "information_schema.schemata", Dialect.POSTGRESQL: "pg_database"}[dialect]
    name = {Dialect.MYSQL: "schema_name", Dialect.POSTGRESQL: "datname"}[dialect]
    assert ("kept",) in run(first, f"SELECT {name} FROM {catalogue}")

    assert native.destroy(dialect, home=home)
    assert not home.exists()
    assert not native.destroy(dialect, home=home)


@pytest.mark.parametrize("ending", ["sys.exit()", "raise KeyboardInterrupt"])
def test_a_throwaway_ends_with_its_process(ending: str) -> None:
    script = (
        "import sys, tempfile; from harness.provision import native\n"
        "print(tempfile.gettempdir())\n"
        "server = native.throwaway(native.Dialect.POSTGRESQL)\n"
        "print(server.__enter__().port, flush=True)\n"
        f"{ending}\n"
    )
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        environment = {**os.environ, "TMPDIR": name}
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=False, env=environment
        )
        used, port = done.stdout.split()
        assert used == name
        assert list(Path(name).iterdir()) == []
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", int(port))) != 0


def test_a_throwaway_ends_with_a_process_that_is_killed() -> None:
    code = (
        "from harness.provision import native; "
        "print(native.throwaway(native.Dialect.POSTGRESQL).__enter__().port, flush=True); input()"
    )
    with tempfile.TemporaryDirectory(prefix="bird-harness-test-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        with subprocess.Popen(
            [sys.executable, "-c", code],
            env={**os.environ, "TMPDIR": name}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        ) as process:  # fmt: skip
            assert process.stdout
            port = int(process.stdout.readline())
            process.kill()
        last = time.monotonic() + 60
        while list(folder.iterdir()):
            assert time.monotonic() < last, "its folder is still there"
            time.sleep(0.05)
        with socket.socket() as probe:
            assert probe.connect_ex(("127.0.0.1", port)) != 0
