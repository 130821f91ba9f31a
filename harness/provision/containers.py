"""Throw-away servers in containers, through testcontainers.

The plain container class is used and not the ones for MySQL and PostgreSQL: those wait for log lines that
only the official images write, and publish their port on every address. Here a server is ready when it
answers a query on 127.0.0.1, whichever image it came from.
"""

import atexit
import contextlib
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docker.types import Ulimit
from testcontainers.core.config import testcontainers_config
from testcontainers.core.container import DockerContainer

from dialects.enums import Dialect
from harness.engines.base import EngineLost
from harness.provision import assets, compose, envfile, readiness
from harness.provision.docker_command import ensure_image, require_engine
from harness.provision.readiness import last_words, say
from harness.provision.server_kinds import SERVERS, ServerKind
from loaders.base.errors import EngineUnavailable
from loaders.server import Origin, Server

_LOOPBACK = "127.0.0.1"
_READY_SECONDS = 180
_MOST_MEMORY = "6g"

_STARTED: dict[Server, DockerContainer] = {}
"""The throw-away containers of this process."""


def require_image(dialect: Dialect, *, env: Path | None = None) -> str:
    """The image for `dialect`, made sure to be on this machine.

    Raises:
        EngineUnavailable: no Docker engine answers, or the image cannot be pulled.
    """
    require_engine()
    variable = compose.image_variable(dialect)
    image = envfile.read(env or envfile.default_path())[variable]
    ensure_image(image, variable)
    return image


@contextlib.contextmanager
def throwaway(dialect: Dialect, *, env: Path | None = None) -> Iterator[Server]:
    """A server that is removed with its data when the context, or at the latest the process, ends.

    Args:
        dialect: MySQL or PostgreSQL.
        env: the `.env` file that may choose the image. Default: `envfile.default_path`.

    Raises:
        EngineUnavailable: no Docker engine answers, the image cannot be pulled, or the server does not
            start; with its last words.
    """
    image = require_image(dialect, env=env)
    _settle_reaper()
    say(f"starting {image} as a throw-away container ...")
    password = secrets.token_urlsafe(24)
    with contextlib.ExitStack() as stack:
        container = _container(SERVERS[dialect], image, password)
        stack.callback(container.stop)
        atexit.register(stack.close)
        stack.callback(atexit.unregister, stack.close)
        container.start()
        server = _answering(dialect, container, password)
        _STARTED[server] = container
        stack.callback(_STARTED.pop, server)
        yield server


def logs(server: Server) -> str:
    """What a throw-away container of this process has logged; nothing where the server is in none."""
    return _log(_STARTED[server]) if server in _STARTED else ""


def limits_of(kind: ServerKind) -> dict[str, Any]:
    """What a container may use, by docker-py's names; the same as in `docker-compose.yml`."""
    found: dict[str, Any] = {"mem_limit": _MOST_MEMORY, "pids_limit": kind.most_processes}
    if kind.most_data is not None:
        found["ulimits"] = [Ulimit(name="data", soft=kind.most_data, hard=kind.most_data)]
    return found


def _container(kind: ServerKind, image: str, password: str) -> DockerContainer:
    ours, theirs = kind.configuration
    limits = limits_of(kind)
    container = (
        DockerContainer(image)
        .with_envs(**kind.variables, **{kind.password: password})
        .with_volume_mapping(assets.folder() / "docker" / ours, theirs)
        .with_command(list(kind.command))
        .with_kwargs(shm_size="256m", **limits)
    )
    # An address without a port: any free port of that address. The annotation knows numbers only.
    container.ports[str(kind.port)] = (_LOOPBACK,)  # type: ignore[assignment]
    return container


def _answering(dialect: Dialect, container: DockerContainer, password: str) -> Server:
    port = container.get_docker_client().port(container.get_container_id(), SERVERS[dialect].port)
    account = SERVERS[dialect].account
    server = Server(dialect, _LOOPBACK, int(port), account, password, Origin.TESTCONTAINERS)

    def check() -> None:
        container.reload()
        if container.status != "running":
            raise EngineUnavailable(f"the container is {container.status}: {last_words(_log(container))}")

    try:
        readiness.wait(server, _READY_SECONDS, check)
    except EngineLost as error:
        raise EngineUnavailable(
            f"the container does not answer: {error}; {last_words(_log(container))}"
        ) from error
    return server


def _log(container: DockerContainer) -> str:
    return b"\n".join(container.get_logs()).decode(errors="replace")


def _settle_reaper() -> None:
    """Do without the container that removes what crashed processes leave, where its image cannot be had."""
    if not testcontainers_config.ryuk_disabled:
        try:
            ensure_image(testcontainers_config.ryuk_image, "RYUK_CONTAINER_IMAGE")
        except EngineUnavailable:
            testcontainers_config.ryuk_disabled = True
