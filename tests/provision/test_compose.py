"""Containers by Compose, on a real Docker engine; each test in a project of its own."""

import stat
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dialects.enums import Dialect
from harness.data.sets.loader import load_set
from harness.engines import on_server
from harness.engines.execution import Ending, Execution, Limits
from harness.engines.retry import execute_patiently
from harness.provision import compose, envfile
from harness.provision.containers import docker
from harness.provision.servers import SERVERS
from loaders.base.errors import EngineUnavailable
from loaders.bulk_load import load
from loaders.server import Origin, Server
from tests.engines.hostile.test_limits import GOES_ON, MEMORY

pytestmark = [pytest.mark.engine, pytest.mark.thorough]


@pytest.fixture
def env(tmp_path: Path, image: str, dialect: Dialect, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A `.env` of its own, so that nothing that the developer runs is touched."""
    for name in (
        "MYSQL_ROOT_PASSWORD",
        "POSTGRES_PASSWORD",
        "COMPOSE_PROJECT_NAME",
        "MYSQL_PORT",
        "POSTGRES_PORT",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("BIRD_STATE", str(tmp_path))
    path = tmp_path / ".env"
    envfile.write(path, SERVERS[dialect].image_variable, image)
    envfile.write_any_ports(path)  # another process's tests look for the usual ones at the same time
    yield path
    compose.down(volumes=True, env=path)


def test_containers_are_started_once_kept_and_found_again(
    dialect: Dialect, env: Path, keeps_promises: Callable[[Server], None]
) -> None:
    assert compose.running(dialect, env=env) is None
    [server] = compose.up([dialect], env=env, plain=True)
    assert server.origin is Origin.COMPOSE
    assert stat.S_IMODE(env.stat().st_mode) == 0o600
    keeps_promises(server)
    project = envfile.read(env)["COMPOSE_PROJECT_NAME"]
    published = docker("ps", f"--filter=name={project}", "--format={{.Ports}}")
    assert [port for port in published.split(", ") if "->" in port] == [
        f"127.0.0.1:{server.port}->{ {Dialect.MYSQL: 3306, Dialect.POSTGRESQL: 5432}[dialect] }/tcp"
    ]

    container = docker("ps", "--quiet", f"--filter=name={project}")
    assert compose.up([dialect], env=env, plain=True) == [server]
    assert docker("ps", "--quiet", f"--filter=name={project}") == container, "what runs is left running"
    assert compose.running(dialect, env=env) == server

    assert compose.down(env=env) == [dialect]
    assert compose.running(dialect, env=env) is None
    volume = docker("volume", "ls", "--quiet", f"--filter=name={project}")
    assert volume == f"{project}_{dialect}"
    assert compose.up([dialect], env=env, plain=True) == [server], (
        "a volume that was initialised is used as it is"
    )
    keeps_promises(server)

    assert compose.down(volumes=True, env=env) == [dialect]
    assert docker("volume", "ls", "--quiet", f"--filter=name={project}") == ""
    assert compose.down(env=env) == []


def test_nothing_is_stopped_where_nothing_was_started(env: Path) -> None:
    assert compose.down(volumes=True, env=env) == []


def test_a_password_that_is_newer_than_the_data_is_explained(
    dialect: Dialect, env: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compose, "_ANSWER_SECONDS", 1)
    compose.up([dialect], env=env, plain=True)
    for name in ("MYSQL_ROOT_PASSWORD", "POSTGRES_PASSWORD"):
        envfile.write(env, name, "another")
    with pytest.raises(
        EngineUnavailable, match=r"if its data is older than \.env, remove it with .*--volumes"
    ):
        compose.up([dialect], env=env, plain=True)


def test_a_container_that_does_not_start_is_quoted(dialect: Dialect, env: Path) -> None:
    [server] = compose.up([dialect], env=env, plain=True)
    assert on_server(server).version()
    compose.down(env=env)
    project = envfile.read(env)["COMPOSE_PROJECT_NAME"]
    image = envfile.read(env)[SERVERS[dialect].image_variable]
    needed = {Dialect.MYSQL: "ibdata1", Dialect.POSTGRESQL: "bird/global/pg_control"}[dialect]
    docker(
        "run", "--rm", "--entrypoint=sh", f"--volume={project}_{dialect}:/data", image,
        "-c", f"echo broken >/data/{needed}",
    )  # fmt: skip
    with pytest.raises(EngineUnavailable, match=r"its log ends: .+"):
        compose.up([dialect], env=env, plain=True)


SLEEP = {Dialect.MYSQL: "SELECT SLEEP(1), 1", Dialect.POSTGRESQL: "SELECT pg_sleep(1), 1"}


def started(server: Server) -> str:
    """When the container behind a server was started."""
    container = docker("ps", "--all", "--quiet", f"--filter=publish={server.port}")
    return docker("inspect", "--format={{.State.StartedAt}} {{.HostConfig.Memory}}", container)


def test_texts_that_outlast_their_limit_cost_a_container_one_restart_and_no_neighbour_its_rows(
    dialect: Dialect, env: Path
) -> None:
    [server] = compose.up([dialect], env=env, plain=True)
    books = load_set("sample").database("city_library")
    load([books], server)
    before = started(server)
    over = threading.Event()

    def neighbour(_: int) -> set[Ending]:
        engine, found = on_server(server), set()
        while not over.is_set():
            found.add(execute_patiently(engine, books, SLEEP[dialect], Limits(seconds=60)).ending)
        return found

    def text(sql: str) -> Execution:
        return execute_patiently(on_server(server), books, sql, Limits(seconds=0.5))

    texts = [*GOES_ON[dialect].values()][:2]
    with ThreadPoolExecutor(4) as threads:
        neighbours = [threads.submit(neighbour, number) for number in range(2)]
        found = list(threads.map(text, texts))
        over.set()
        assert [each.result() for each in neighbours] == [{Ending.ROWS}] * 2
    assert [each.ending for each in found] == [Ending.TIMEOUT] * 2
    assert any(each.overrun for each in found)
    assert started(server) > before, "it was restarted"
    assert text("SELECT COUNT(*) FROM Books").ending is Ending.ROWS


@pytest.mark.parametrize("dialect", [Dialect.MYSQL])
def test_a_text_that_takes_a_containers_memory_ends_within_its_cap(dialect: Dialect, env: Path) -> None:
    envfile.write(env, SERVERS[dialect].memory_variable, "1g")
    [server] = compose.up([dialect], env=env, plain=True)
    assert started(server).endswith(f" {2**30}")
    books = load_set("sample").database("city_library")
    load([books], server)
    for sql in MEMORY.values():
        seen = execute_patiently(on_server(server), books, sql, Limits(seconds=20))
        assert seen.ending in {Ending.ERROR, Ending.TOO_LARGE, Ending.TIMEOUT}, seen
        honest = execute_patiently(on_server(server), books, "SELECT COUNT(*) FROM Books", Limits())
        assert honest.ending is Ending.ROWS
