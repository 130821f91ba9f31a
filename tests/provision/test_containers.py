"""Throw-away containers, on a real Docker engine."""

import json
from collections.abc import Callable

import pytest

from harness.engines import on_server
from harness.engines.base import EngineLost
from harness.engines.server import Origin, Server
from harness.errors import EngineUnavailable
from harness.provision import compose, containers
from harness.provision.docker_command import docker
from harness.words import Dialect

pytestmark = pytest.mark.engine


def published(server: Server) -> list[str]:
    """Where the container behind `server` can be reached: address and port of the machine."""
    identity = docker("ps", "--quiet", f"--filter=publish={server.port}")
    ports = json.loads(docker("inspect", "--format={{json .NetworkSettings.Ports}}", identity))
    return [
        f"{binding['HostIp']}:{binding['HostPort']}" for found in ports.values() for binding in found or ()
    ]


@pytest.mark.usefixtures("image")
def test_a_container_is_there_for_the_context_alone(
    dialect: Dialect, keeps_promises: Callable[[Server], None]
) -> None:
    volumes = docker("volume", "ls", "--quiet").split()
    with containers.throwaway(dialect) as server:
        assert server.origin is Origin.TESTCONTAINERS
        keeps_promises(server)
        assert published(server) == [f"127.0.0.1:{server.port}"]
    with pytest.raises(EngineLost):
        on_server(server).version()
    assert docker("volume", "ls", "--quiet").split() == volumes


def test_a_container_that_ends_is_quoted(
    dialect: Dialect, image: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(compose.image_variable(dialect), image)
    kind = containers._KINDS[dialect]
    monkeypatch.setitem(
        containers._KINDS,
        dialect,
        containers._Kind(**{**vars(kind), "command": (*kind.command, "--nonsense=1")}),
    )
    with (
        pytest.raises(EngineUnavailable, match=r"the container is exited: its log ends: .*nonsense"),
        containers.throwaway(dialect),
    ):
        pass


def test_an_image_that_cannot_be_had_says_what_to_do(monkeypatch: pytest.MonkeyPatch, image: str) -> None:
    del image
    monkeypatch.setenv("MYSQL_IMAGE", "127.0.0.1:1/no/such:image")
    with pytest.raises(
        EngineUnavailable, match=r"127\.0\.0\.1:1/no/such:image .* MYSQL_IMAGE.*make images.*NATIVE=1"
    ):
        containers.require_image(Dialect.MYSQL)
