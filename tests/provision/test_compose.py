"""Containers by Compose, on a real Docker engine; each test in a project of its own."""

import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dialects.enums import Dialect
from harness.engines import on_server
from harness.provision import compose, envfile
from harness.provision.containers import docker
from harness.provision.server_kinds import SERVERS
from loaders.base.errors import EngineUnavailable
from loaders.server import Origin, Server

pytestmark = pytest.mark.engine


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
