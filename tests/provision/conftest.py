"""What the tests of this room share: promised settings, images to start containers from, a fresh machine."""

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dialects.enums import Dialect
from harness.engines import on_server
from harness.provision import envfile
from harness.provision.containers import docker, require_compose
from harness.provision.servers import SERVERS
from loaders.base.errors import EngineUnavailable
from loaders.server import Origin, Server
from tests.reasons import Reason, skip

_CONTAINERS = [
    "test_compose.py",
    "test_containers.py",
    "test_images.py",
    "test_loaded_images.py",
]
_OTHER_WAYS: dict[str, list[str]] = {
    Origin.DSN: [*_CONTAINERS, "test_native.py"],
    Origin.NATIVE: _CONTAINERS,
    Origin.COMPOSE: ["test_images.py", "test_native.py"],
    Origin.TESTCONTAINERS: ["test_native.py"],
}
# BIRD_PROVISION runs the tests with servers of one origin: the other ways are not looked at then.
collect_ignore = _OTHER_WAYS.get(os.environ.get("BIRD_PROVISION", ""), [])

PROMISED = {
    Dialect.MYSQL: {
        "sql_mode": "STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,"
        "NO_ENGINE_SUBSTITUTION",
        "lower_case_table_names": "1",
        "time_zone": "+00:00",
        "collation_server": "utf8mb4_0900_ai_ci",
    },
    Dialect.POSTGRESQL: {
        "TimeZone": "UTC",
        "jit": "off",
        "work_mem": "64MB",
        "max_parallel_workers_per_gather": "0",
        "server_encoding": "UTF8",
    },
}


@pytest.fixture
def keeps_promises() -> Callable[[Server], None]:
    """Read the settings that decide results back from a server."""

    def check(server: Server) -> None:
        settings = on_server(server).settings()
        promised = PROMISED[server.dialect]
        assert {name: settings[name] for name in promised} == promised

    return check


@pytest.fixture(params=[Dialect.MYSQL, Dialect.POSTGRESQL])
def dialect(request: pytest.FixtureRequest) -> Dialect:
    """Each dialect that needs a server, in turn."""
    found = request.param
    assert isinstance(found, Dialect)
    return found


@pytest.fixture
def image(dialect: Dialect) -> str:
    """The image that the environment or `.env` chooses, if this machine has it and can start it."""
    name = envfile.read(envfile.default_path())[SERVERS[dialect].image_variable]
    try:
        require_compose()
        docker("image", "inspect", name)
    except EngineUnavailable as error:
        skip(Reason.NO_DOCKER, str(error))
    return name


@pytest.fixture
def fresh_machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No server of the developer's is seen, and none is touched."""
    for name in ("BIRD_MYSQL_DSN", "BIRD_POSTGRESQL_DSN", "BIRD_PROVISION"):
        monkeypatch.delenv(name, raising=False)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)  # for the account that root starts servers as
        monkeypatch.setenv("BIRD_STATE", folder)
        monkeypatch.setattr(envfile, "default_path", lambda: Path(folder) / ".env")
        yield
