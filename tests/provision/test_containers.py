"""Throw-away containers, on a real Docker engine."""

import dataclasses
import json
from collections.abc import Callable

import pytest

from dialects.enums import Dialect
from harness.engines import on_server
from harness.engines.base import EngineLost
from harness.provision import compose, containers
from harness.provision.docker_command import docker
from harness.provision.server_kinds import SERVERS
from loaders.errors import EngineUnavailable
from loaders.server import Origin, Server

pytestmark = pytest.mark.engine


def container_of(server: Server) -> str:
    """The id of the container behind `server`."""
    return docker("ps", "--quiet", f"--filter=publish={server.port}")


def volumes_of(container: str) -> list[str]:
    """The names of a container's volumes."""
    mounts = json.loads(docker("inspect", "--format={{json .Mounts}}", container))
    return [mount["Name"] for mount in mounts if mount["Type"] == "volume"]


def published(container: str) -> list[str]:
    """Where a container can be reached: address and port of the machine."""
    ports = json.loads(docker("inspect", "--format={{json .NetworkSettings.Ports}}", container))
    return [
        f"{binding['HostIp']}:{binding['HostPort']}" for found in ports.values() for binding in found or ()
    ]


@pytest.mark.usefixtures("image")
def test_a_container_is_there_for_the_context_alone(
    dialect: Dialect, keeps_promises: Callable[[Server], None]
) -> None:
    with containers.throwaway(dialect) as server:
        assert server.origin is Origin.TESTCONTAINERS
        keeps_promises(server)
        container = container_of(server)
        assert published(container) == [f"127.0.0.1:{server.port}"]
        volumes = volumes_of(container)
        assert len(volumes) == 1, "the data are there while they are needed"
    with pytest.raises(EngineLost):
        on_server(server).version()
    assert set(volumes).isdisjoint(docker("volume", "ls", "--quiet").split())


def test_a_container_that_ends_is_quoted(
    dialect: Dialect, image: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(compose.image_variable(dialect), image)
    kind = SERVERS[dialect]
    wrong = dataclasses.replace(kind, command=(*kind.command, "--nonsense=1"))
    monkeypatch.setattr(containers, "SERVERS", {**SERVERS, dialect: wrong})
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
