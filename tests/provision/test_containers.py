"""Throw-away containers, on a real Docker engine."""

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from dialects.enums import Dialect
from harness.engines import on_server
from harness.engines.base import EngineLost
from harness.engines.execution import Limits, Work, count_work
from harness.labs.matrix.matrix import MatrixRequest, Result, exit_code, run_matrix
from harness.labs.matrix.versions import cells
from harness.provision import containers
from harness.provision.containers import docker, engine_answers
from harness.provision.servers import SERVERS
from loaders.base.errors import EngineUnavailable
from loaders.bulk_load import load
from loaders.server import Origin, Server
from tests.counting import TEXTS, numbers_in
from tests.reasons import Reason, skip

pytestmark = [pytest.mark.engine, pytest.mark.thorough]


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


@pytest.mark.usefixtures("image")
def test_the_same_work_is_counted_with_half_a_processor(dialect: Dialect, tmp_path: Path) -> None:
    database = numbers_in(tmp_path)
    found = []
    for processors in ("1", "0.5"):
        with containers.throwaway(dialect) as server:
            docker("update", f"--cpus={processors}", container_of(server))
            given = docker("inspect", "--format={{.HostConfig.NanoCpus}}", container_of(server))
            assert int(given) == float(processors) * 1e9
            load([database], server)
            engine = on_server(server)
            found.append([count_work(engine, database, sql, Limits()) for sql in TEXTS for _ in range(2)])
    whole, half = found
    assert all(isinstance(each, Work) for each in whole)
    assert half == whole
    assert whole[::2] == whole[1::2]


def test_a_container_that_ends_is_quoted(
    dialect: Dialect, image: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SERVERS[dialect].image_variable, image)
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


def test_images_on_this_machine_are_started_one_after_the_other(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if not engine_answers():
        skip(Reason.NO_DOCKER, "the matrix runs what is there")
    monkeypatch.setenv("BIRD_PROVISION", Origin.TESTCONTAINERS)
    here = docker("image", "ls", "--format={{.Repository}}:{{.Tag}}").splitlines()
    expected = {(cell.dialect, cell.version) for cell in cells() if cell.image_here(here)}
    if not expected:
        skip(Reason.NO_DOCKER, "no image of a version that the matrix has")
    rows = run_matrix(MatrixRequest(sets=["sample"], limit=3, out=tmp_path), print)
    ran = {(row.dialect, row.version) for row in rows if row.result is Result.AS_EXPECTED}
    assert ran == expected
    assert [row.why for row in rows if row.result is Result.NOT_RUN and "docker pull" not in row.why] == []
    assert exit_code(rows) == 0
