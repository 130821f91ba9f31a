"""Persistent servers in containers, described by `docker-compose.yml` and `.env`.

Every function takes the `.env` file as `env`; the default is `envfile.default_path`.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from filelock import FileLock

from dialects.enums import Dialect
from harness.engines.base import EngineLost
from harness.provision import envfile, loaded_images
from harness.provision.containers import docker, engine_answers, ensure_image, is_here, require_compose
from harness.provision.servers import SERVERS, assets, last_words, say, version_of, wait_for
from loaders.base import paths
from loaders.base.errors import EngineUnavailable
from loaders.server import Origin, Server

_HEALTHY_SECONDS = 300
_ANSWER_SECONDS = 30
_LOG_LINES = 30
_EVERY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1", "[::]": "::1"}  # noqa: S104 - what a user may have set


def up(
    dialects: Sequence[Dialect],
    *,
    env: Path | None = None,
    set_name: str | None = None,
    plain: bool = False,
) -> list[Server]:
    """Start the containers of `dialects`, or find them running.

    Without data, they start from an image that has databases inside, if one fits
    (`loaded_images.choose`), else empty.

    Args:
        dialects: MySQL, PostgreSQL or both.
        env: written if it does not exist.
        set_name: the question set whose databases such an image must have. Default: any.
        plain: start empty, whatever images exist.

    Returns:
        Servers that answer queries on this machine. They run until `down`.

    Raises:
        BadInput: there is no such question set.
        EngineUnavailable: Docker, its engine, the Compose plugin or an image is missing, or a server does
        not start; with the end of its log.
    """
    require_compose()
    path = env or envfile.default_path()
    with FileLock(paths.state() / "compose.lock"):
        values = envfile.ensure(path)
        images = {}
        for dialect in dialects:
            name = SERVERS[dialect].image_variable
            images[name] = _image(dialect, path, set_name=set_name, plain=plain)
            ensure_image(images[name], name)
        say(f"starting {' and '.join(dialects)} in containers ...")
        try:
            options = ("--detach", "--wait", f"--wait-timeout={_HEALTHY_SECONDS}")
            _compose(path, "up", *options, *dialects, variables=images)
        except EngineUnavailable as error:
            raise EngineUnavailable(f"{error}; {_last_words(path)}") from None
    return [_answering(dialect, values) for dialect in dialects]


def down(*, volumes: bool = False, env: Path | None = None) -> list[Dialect]:
    """Stop and remove the containers, with `volumes` also their data; return the dialects that had one."""
    path = env or envfile.default_path()
    # Only `images` writes a file without passwords: nothing was started with it.
    is_whole = path.exists() and envfile.read(path).keys() >= {
        envfile.PROJECT,
        *(kind.password for kind in SERVERS.values()),
    }
    if not is_whole or not engine_answers():
        return []
    require_compose()
    services = _compose(path, "ps", "--all", "--services").split()
    # Without profiles, Compose would leave MariaDB running, and say nothing.
    _compose(path, "--profile=*", "down", *(["--volumes"] if volumes else []))
    return [dialect for dialect in SERVERS if dialect in services]


def running(dialect: Dialect, *, env: Path | None = None) -> Server | None:
    """Return the server of `dialect` that `up` has started, if it answers a query."""
    server = _server(dialect, envfile.read(env or envfile.default_path()))
    return server if server and version_of(server) else None


def started_from(dialect: Dialect, *, env: Path | None = None) -> str | None:
    """Return the name of the loaded image that the container of `dialect` started from, if any.

    Raises:
        EngineUnavailable: no Docker engine answers.
    """
    values = envfile.read(env or envfile.default_path())
    if envfile.PROJECT not in values:
        return None
    said = docker(
        "ps",
        "--all",
        f"--filter=label=com.docker.compose.project={values[envfile.PROJECT]}",
        f"--filter=label=com.docker.compose.service={dialect}",
        f'--format={{{{.Image}}}} {{{{.Label "{loaded_images.SET_LABEL}"}}}}',
    )
    image, _, inside = said.partition(" ")
    return image if inside else None


def beginning(dialect: Dialect, set_name: str, *, env: Path | None = None) -> tuple[str, ...]:
    """Return what `up` would report about images with the databases of a set; empty if it would use none.

    Raises:
        BadInput: there is no such question set.
    """
    values = envfile.read(env or envfile.default_path())
    if not engine_answers() or _has_data(dialect, values):
        return ()
    return loaded_images.choose(dialect, values[SERVERS[dialect].image_variable], set_name)[1]


def volume(dialect: Dialect, project: str) -> str:
    """Return the name of the volume that holds the data of `dialect`."""
    return f"{project}_{dialect}"


def logs(count: int, *services: str, env: Path | None = None) -> str:
    """Return the last `count` log lines of the containers of dialects, whether they still run or not.

    Raises:
        EngineUnavailable: no Docker engine answers.
    """
    options = ("--no-color", "--no-log-prefix", f"--tail={count}")
    return _compose(env or envfile.default_path(), "logs", *options, *services)


def _image(dialect: Dialect, env: Path, *, set_name: str | None, plain: bool) -> str:
    """Choose the image that the container of `dialect` starts from.

    An existing container keeps its image, and existing data go with the plain image, unless it is missing:
    the databases inside another would not reach them.
    """
    values = envfile.read(env)
    configured = values[SERVERS[dialect].image_variable]
    if _has_data(dialect, values):
        kept = started_from(dialect, env=env)
        if kept and loaded_images.fits(dialect, kept, configured):
            return kept
        plain = plain or is_here(configured)
    if plain:
        return configured
    image, notes = loaded_images.choose(dialect, configured, set_name)
    for note in notes:
        say(note)
    return image


def _has_data(dialect: Dialect, values: Mapping[str, str]) -> bool:
    if envfile.PROJECT not in values:
        return False
    named = f"--filter=name=^{volume(dialect, values[envfile.PROJECT])}$"
    return bool(docker("volume", "ls", "--quiet", named))


def _server(dialect: Dialect, values: dict[str, str]) -> Server | None:
    password = values.get(SERVERS[dialect].password)
    if not password or envfile.PROJECT not in values:
        return None
    address = values["BIND_ADDRESS"]
    return Server(
        dialect,
        _EVERY_ADDRESS.get(address, address),
        int(values[SERVERS[dialect].port_variable]),
        SERVERS[dialect].account,
        password,
        Origin.COMPOSE,
    )


def _answering(dialect: Dialect, values: dict[str, str]) -> Server:
    server = _server(dialect, values)
    if server is None:
        raise EngineUnavailable(
            f"{SERVERS[dialect].password} is empty in .env; remove the line and start again"
        )
    try:
        wait_for(server, _ANSWER_SECONDS)
    except EngineLost as error:
        raise EngineUnavailable(
            f"the container is healthy but cannot be used from here: {error}; if its data is older than "
            ".env, remove it with `bird-harness down --volumes`"
        ) from error
    return server


def _last_words(env: Path) -> str:
    """Return the end of the logs of containers that are not healthy."""
    states = _compose(env, "ps", "--all", "--format={{.Service}} {{.State}} {{.Health}}").splitlines()
    ailing = [state.split()[0] for state in states if not state.endswith(" running healthy")]
    if not ailing:
        return "no container has logged a reason"
    return last_words(logs(_LOG_LINES, *ailing, env=env))


def _compose(env: Path, *arguments: str, variables: Mapping[str, str] | None = None) -> str:
    """Run `docker compose`; `variables` override the environment and the file."""
    folder = assets()
    name = envfile.read(env).get(envfile.PROJECT, "bird-harness")
    return docker(
        "compose",
        f"--project-name={name}",
        f"--project-directory={folder}",
        f"--file={folder / 'docker-compose.yml'}",
        f"--env-file={env}",
        *arguments,
        env={**os.environ, "COMPOSE_PROGRESS": "quiet", **(variables or {})},
    )
