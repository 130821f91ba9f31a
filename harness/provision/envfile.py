"""The `.env` file: passwords, ports and images of the containers.

It is written on first use, readable only by its owner and never tracked. A variable of the same name in the
environment overrides the file, as it does for `docker compose` itself.
"""

import contextlib
import os
import re
import secrets
import socket
from collections.abc import Mapping
from pathlib import Path

import dotenv

from dialects.errors import BadInput
from harness.provision.servers import SERVERS, ServerKind, assets, is_checkout
from loaders.base import paths

PROJECT = "COMPOSE_PROJECT_NAME"
_PORTS = {kind.port_variable: str(kind.container_port) for kind in SERVERS.values()}
_PASSWORDS = tuple(kind.password for kind in SERVERS.values())
_MEMORIES = tuple(kind.memory_variable for kind in SERVERS.values())
MOST_MEMORY = "6g"
"""What a server may have unless its variable says otherwise, as `docker-compose.yml` has it."""
_BYTES = re.compile(r"([1-9][0-9]*)([kmg])b?", re.IGNORECASE)
_UNITS = {"k": 2**10, "m": 2**20, "g": 2**30}
_DEFAULTS: Mapping[str, str] = {
    "BIND_ADDRESS": "127.0.0.1",
    **{kind.image_variable: f"{kind.official}:{kind.versions[-1]}" for kind in SERVERS.values()},
    **_PORTS,
    **dict.fromkeys(_MEMORIES, MOST_MEMORY),
}
HARNESS_USER = "HARNESS_USER"
"""User and group of the harness in a container: whoever writes the file, so that results are theirs."""
NAMES = (*_DEFAULTS, *_PASSWORDS, PROJECT, HARNESS_USER)
"""Every variable that the containers use."""


def default_path() -> Path:
    """Return `.env` next to a checkout's `docker-compose.yml`, or in the user's state folder.

    The first file of `COMPOSE_ENV_FILES`, if it is set, as for `docker compose`:
    https://docs.docker.com/compose/how-tos/environment-variables/envvars/#compose_env_files
    """
    named = os.environ.get("COMPOSE_ENV_FILES", "").split(",")[0]
    if named:
        return Path(named).absolute()
    return (assets() if is_checkout() else paths.state()) / ".env"


def read(path: Path) -> dict[str, str]:
    """Read every variable that the containers use: from the environment, else from `path`, else the default.

    Passwords and the project's name have no default: they are missing until `ensure` has run.

    Raises:
        BadInput: a port is not a number, or a memory limit is none.
    """
    written = {name: value for name, value in dotenv.dotenv_values(path).items() if value}
    known = {**_DEFAULTS, **written}
    values = known | {name: os.environ[name] for name in {*known, *NAMES} if os.environ.get(name)}
    for name in _PORTS:
        if not values[name].isdecimal():
            raise BadInput(f"{name} is {values[name]!r} in {path} or the environment; give a port number")
    for name in _MEMORIES:
        if not _BYTES.fullmatch(values[name]):
            raise BadInput(f"{name} is {values[name]!r} in {path} or the environment; give a size such as 6g")
    return values


def memory(kind: ServerKind) -> int:
    """Return the bytes of memory that a private server may have: by default half of the machine's at most.

    Raises:
        BadInput: its variable is malformed.
    """
    said = read(default_path())[kind.memory_variable]
    found = _BYTES.fullmatch(said)
    assert found is not None  # noqa: S101 - `read` has checked it
    most = int(found[1]) * _UNITS[found[2].lower()]
    if said != MOST_MEMORY:
        return most
    return min(most, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2)


def ensure(path: Path) -> dict[str, str]:
    """Add missing variables to the file, and read it.

    These are a password for each engine, the user of the harness, a port if another program listens on the
    default one, and a unique project name, so that two checkouts on one machine do not share containers.

    Raises:
        BadInput: a port is not a number.
    """
    values = read(path)
    for name in _PASSWORDS:
        if name not in values:
            write(path, name, secrets.token_urlsafe(24))
    if HARNESS_USER not in values:
        write(path, HARNESS_USER, f"{os.getuid()}:{os.getgid()}")
    if PROJECT not in values:
        write(path, PROJECT, f"bird-harness-{secrets.token_hex(2)}")
        for name in _PORTS:
            if values[name] == _DEFAULTS[name]:
                write(path, name, str(_free_port(values["BIND_ADDRESS"], int(values[name]))))
    return read(path)


def write_any_ports(path: Path) -> None:
    """Let the system choose the servers' ports: for containers that no other process needs to find."""
    address = read(path)["BIND_ADDRESS"]
    with contextlib.ExitStack() as kept:
        for name in _PORTS:
            probe = kept.enter_context(_socket(address))
            probe.bind((address.strip("[]"), 0))
            write(path, name, str(probe.getsockname()[1]))


def write(path: Path, name: str, value: str) -> None:
    """Set one variable in the file, and leave the others as they are."""
    if not path.exists():
        path.touch(mode=0o600)
    dotenv.set_key(path, name, value)


def _free_port(address: str, wanted: int) -> int:
    """Return `wanted`, or the first free port above it."""
    for port in range(wanted, wanted + 1000):
        with _socket(address) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((address.strip("[]"), port))
            except OSError:
                continue
            return port
    return wanted


def _socket(address: str) -> socket.socket:
    return socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
