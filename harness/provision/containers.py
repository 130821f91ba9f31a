"""Use Docker: through its command line, and for throw-away servers through testcontainers.

The command line knows contexts, credentials and plugins that a library would not. Testcontainers' plain
container class is used rather than the ones for MySQL and PostgreSQL: those wait for log lines that only the
official images write, and publish their port on every address. Here a server is ready when it answers a query
on 127.0.0.1, whichever image it came from.
"""

import atexit
import contextlib
import functools
import secrets
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from typing import IO, TYPE_CHECKING, Any

from dialects.enums import Dialect
from harness.engines.base import EngineLost
from harness.provision import envfile
from harness.provision.servers import LOOPBACK, SERVERS, ServerKind, assets, last_words, say, wait_for
from loaders.base.errors import EngineUnavailable, command
from loaders.server import Origin, Server

if TYPE_CHECKING:
    from testcontainers.core.container import DockerContainer

_READY_SECONDS = 180
_PAUSE_SECONDS = 0.2
_HEALTH = "{{.State.Health.Status}}"

_STARTED: "dict[Server, DockerContainer]" = {}
"""The throw-away containers of this process."""


def _without() -> str:
    return f"or start private servers without Docker: {command('up', 'native')}"


def docker(*arguments: str, stdin: IO[bytes] | None = None, env: Mapping[str, str] | None = None) -> str:
    """Run one `docker` command and return its standard output.

    Raises:
        EngineUnavailable: the command is missing or fails; with the last line that it wrote.
    """
    try:
        done = subprocess.run(
            ["docker", *arguments],
            stdin=stdin or subprocess.DEVNULL,
            capture_output=True,
            env=env,
            check=False,
        )
    except FileNotFoundError:
        raise EngineUnavailable(f"docker was not found; install Docker, {_without()}") from None
    if done.returncode != 0:
        said = (done.stderr or done.stdout).decode(errors="replace").strip()
        written = said or f"exit code {done.returncode}"
        raise EngineUnavailable(f"docker {arguments[0]}: {written.splitlines()[-1].strip()}")
    return done.stdout.decode(errors="replace").strip()


def require_engine() -> None:
    """Make sure that a Docker engine answers.

    Raises:
        EngineUnavailable: what is missing, and what to do about it.
    """
    if not shutil.which("docker"):
        raise EngineUnavailable(f"docker was not found; install Docker, {_without()}")
    try:
        docker("version", "--format", "{{.Server.Version}}")
    except EngineUnavailable as error:
        raise EngineUnavailable(f"no Docker engine answers ({error}); start it, {_without()}") from None


def require_compose() -> None:
    """Make sure that a Docker engine answers and that the Compose plugin is installed.

    Raises:
        EngineUnavailable: what is missing, and what to do about it.
    """
    require_engine()
    try:
        docker("compose", "version", "--short")
    except EngineUnavailable:
        raise EngineUnavailable(
            "docker has no Compose plugin; install it (package docker-compose-plugin of Docker's own "
            f"repository, docker-compose-v2 on Ubuntu, docker-compose on Debian 13 and later), {_without()}"
        ) from None


def engine_answers() -> bool:
    """Return True if a Docker engine answers."""
    try:
        require_engine()
    except EngineUnavailable:
        return False
    return True


def is_here(image: str) -> bool:
    """Return True if `image` is on this machine; False if no engine answers."""
    try:
        docker("image", "inspect", image)
    except EngineUnavailable:
        return False
    return True


@functools.cache
def ensure_image(image: str, variable: str) -> None:
    """Make sure that `image` is on this machine: pull it if it is not; `variable` chooses another one.

    Raises:
        EngineUnavailable: it cannot be pulled.
    """
    if is_here(image):
        return
    say(f"pulling {image} ...")
    try:
        docker("pull", "--quiet", image)
    except EngineUnavailable as error:
        raise EngineUnavailable(
            f"the image {image} is not on this machine and cannot be pulled ({error}); choose another "
            f"with {variable}, build an equivalent from distribution packages (`{command('images')}`), "
            f"{_without()}"
        ) from None


def require_image(dialect: Dialect) -> str:
    """Return the image for `dialect`, pulled if it is not on this machine.

    Raises:
        EngineUnavailable: no Docker engine answers, or the image cannot be pulled.
    """
    require_engine()
    variable = SERVERS[dialect].image_variable
    image = envfile.read(envfile.default_path())[variable]
    ensure_image(image, variable)
    return image


@contextlib.contextmanager
def throwaway(dialect: Dialect) -> Iterator[Server]:
    """Provide a server that is removed with its data when the context, or at the latest the process, ends.

    Raises:
        EngineUnavailable: no Docker engine answers, the image cannot be pulled, or the server does not
            start; with the end of its log.
    """
    image = require_image(dialect)
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


def restart(port: int) -> None:
    """End the container that has a port of this machine at once, and start it again until it is healthy.

    Raises:
        EngineUnavailable: no Docker engine answers, or it cannot be started, or is not healthy in time.
    """
    for container in docker("ps", "--quiet", f"--filter=publish={port}").split():
        docker("restart", "--time=0", container)
        until = time.monotonic() + _READY_SECONDS
        while (state := docker("inspect", f"--format={_HEALTH}", container)) != "healthy":
            if time.monotonic() > until:
                raise EngineUnavailable(f"the container {container} is {state} after {_READY_SECONDS} s")
            time.sleep(_PAUSE_SECONDS)


def logs(server: Server) -> str:
    """Return the log of a throw-away container of this process; empty if the server is in none."""
    return _log(_STARTED[server]) if server in _STARTED else ""


def limits_of(kind: ServerKind) -> dict[str, Any]:
    """Return a container's resource limits, by docker-py's names; the same as in `docker-compose.yml`."""
    from docker.types import Ulimit  # noqa: PLC0415 - slow to import, and needed by tests only

    most = envfile.read(envfile.default_path())[kind.memory_variable]
    found: dict[str, Any] = {"mem_limit": most, "pids_limit": kind.most_processes}
    if kind.most_data is not None:
        found["ulimits"] = [Ulimit(name="data", soft=kind.most_data, hard=kind.most_data)]
    return found


def _container(kind: ServerKind, image: str, password: str) -> "DockerContainer":
    from testcontainers.core.container import DockerContainer  # noqa: PLC0415 - slow to import

    ours, theirs = kind.configuration
    limits = limits_of(kind)
    container = (
        DockerContainer(image)
        .with_envs(**kind.variables, **{kind.password: password})
        .with_volume_mapping(assets() / "docker" / ours, theirs)
        .with_command(list(kind.command))
        .with_kwargs(shm_size="256m", **limits)
    )
    # An address without a port: any free port of that address. The annotation allows numbers only.
    container.ports[str(kind.port)] = (LOOPBACK,)  # type: ignore[assignment]
    return container


def _answering(dialect: Dialect, container: "DockerContainer", password: str) -> Server:
    port = container.get_docker_client().port(container.get_container_id(), SERVERS[dialect].port)
    account = SERVERS[dialect].account
    server = Server(dialect, LOOPBACK, int(port), account, password, Origin.TESTCONTAINERS)

    def check() -> None:
        container.reload()
        if container.status != "running":
            raise EngineUnavailable(f"the container is {container.status}: {last_words(_log(container))}")

    try:
        wait_for(server, _READY_SECONDS, check)
    except EngineLost as error:
        raise EngineUnavailable(
            f"the container does not answer: {error}; {last_words(_log(container))}"
        ) from error
    return server


def _log(container: "DockerContainer") -> str:
    return b"\n".join(container.get_logs()).decode(errors="replace")


def _settle_reaper() -> None:
    """Do without the container that cleans up after crashed processes if its image is unavailable."""
    from testcontainers.core.config import testcontainers_config  # noqa: PLC0415 - slow to import

    if not testcontainers_config.ryuk_disabled:
        try:
            ensure_image(testcontainers_config.ryuk_image, "RYUK_CONTAINER_IMAGE")
        except EngineUnavailable:
            testcontainers_config.ryuk_disabled = True
