"""Persistent servers in containers, described by `docker-compose.yml` and `.env`."""

import os
from collections.abc import Sequence
from pathlib import Path

from filelock import FileLock

from harness import places
from harness.engines.base import EngineLost
from harness.engines.server import Origin, Server
from harness.errors import EngineUnavailable
from harness.provision import assets, envfile, readiness
from harness.provision.docker_command import docker, engine_answers, ensure_image, require_compose
from harness.provision.progress import last_words, say
from harness.words import Dialect

_HEALTHY_SECONDS = 300
_ANSWER_SECONDS = 30
_LOG_LINES = 30
_EVERY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1", "[::]": "::1"}  # noqa: S104 - what a user may have set

ACCOUNTS = {Dialect.MYSQL: "root", Dialect.POSTGRESQL: "postgres"}
_PREFIXES = {Dialect.MYSQL: "MYSQL", Dialect.POSTGRESQL: "POSTGRES"}
_PASSWORDS = {Dialect.MYSQL: "MYSQL_ROOT_PASSWORD", Dialect.POSTGRESQL: "POSTGRES_PASSWORD"}


def image_variable(dialect: Dialect) -> str:
    """Name of the variable that chooses the image."""
    return f"{_PREFIXES[dialect]}_IMAGE"


def up(dialects: Sequence[Dialect], *, env: Path | None = None) -> list[Server]:
    """Start the containers of `dialects`, or find them running.

    Args:
        dialects: MySQL, PostgreSQL or both.
        env: the `.env` file; written if it is not there. Default: `envfile.default_path`.

    Returns:
        Servers that answer queries on this machine. They run until `down`.

    Raises:
        EngineUnavailable: Docker, its engine, the Compose plugin or an image is missing, or a server does
            not start; with its last words.
    """
    require_compose()
    path = env or envfile.default_path()
    with FileLock(places.state() / "compose.lock"):
        values = envfile.ensure(path)
        for dialect in dialects:
            ensure_image(values[image_variable(dialect)], image_variable(dialect))
        say(f"starting {' and '.join(dialects)} in containers ...")
        try:
            _compose(path, "up", "--detach", "--wait", f"--wait-timeout={_HEALTHY_SECONDS}", *dialects)
        except EngineUnavailable as error:
            raise EngineUnavailable(f"{error}; {_last_words(path)}") from None
    return [_answering(dialect, values) for dialect in dialects]


def down(*, volumes: bool = False, env: Path | None = None) -> list[Dialect]:
    """Stop and remove the containers.

    Args:
        volumes: whether to remove their data, too.
        env: the `.env` file that they were started with.

    Returns:
        The dialects that there were containers for.
    """
    path = env or envfile.default_path()
    if not path.exists() or not engine_answers():
        return []
    require_compose()
    services = _compose(path, "ps", "--all", "--services").split()
    _compose(path, "down", *(["--volumes"] if volumes else []))
    return [Dialect(service) for service in services]


def running(dialect: Dialect, *, env: Path | None = None) -> Server | None:
    """The server of `dialect` that `up` has started, if it answers a query."""
    server = _server(dialect, envfile.read(env or envfile.default_path()))
    return server if server and readiness.version(server) else None


def logs(dialect: Dialect, count: int, *, env: Path | None = None) -> str:
    """The last `count` lines that the container of `dialect` has logged, whether it still runs or not.

    Raises:
        EngineUnavailable: no Docker engine answers.
    """
    return _logs(env or envfile.default_path(), count, dialect)


def _server(dialect: Dialect, values: dict[str, str]) -> Server | None:
    password = values.get(_PASSWORDS[dialect])
    if not password or "COMPOSE_PROJECT_NAME" not in values:
        return None
    address = values["BIND_ADDRESS"]
    return Server(
        dialect,
        _EVERY_ADDRESS.get(address, address),
        int(values[f"{_PREFIXES[dialect]}_PORT"]),
        ACCOUNTS[dialect],
        password,
        Origin.COMPOSE,
    )


def _answering(dialect: Dialect, values: dict[str, str]) -> Server:
    server = _server(dialect, values)
    if server is None:
        raise EngineUnavailable(f"{_PASSWORDS[dialect]} is empty in .env; remove the line and start again")
    try:
        readiness.wait(server, _ANSWER_SECONDS)
    except EngineLost as error:
        raise EngineUnavailable(
            f"the container is healthy but cannot be used from here: {error}; if its data is older than "
            ".env, remove it with `bird-harness down --volumes`"
        ) from error
    return server


def _last_words(env: Path) -> str:
    """What the containers say that are not what they should be."""
    states = _compose(env, "ps", "--all", "--format={{.Service}} {{.State}} {{.Health}}").splitlines()
    ailing = [state.split()[0] for state in states if not state.endswith(" running healthy")]
    if not ailing:
        return "no container has anything to say about it"
    return last_words(_logs(env, _LOG_LINES, *ailing))


def _logs(env: Path, count: int, *services: str) -> str:
    return _compose(env, "logs", "--no-color", "--no-log-prefix", f"--tail={count}", *services)


def _compose(env: Path, *arguments: str) -> str:
    folder = assets.folder()
    name = envfile.read(env).get("COMPOSE_PROJECT_NAME", "bird-harness")
    return docker(
        "compose",
        f"--project-name={name}",
        f"--project-directory={folder}",
        f"--file={folder / 'docker-compose.yml'}",
        f"--env-file={env}",
        *arguments,
        env={**os.environ, "COMPOSE_PROGRESS": "quiet"},
    )
