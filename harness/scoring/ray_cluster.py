"""A Ray cluster (https://docs.ray.io): one that runs, or one of this machine's processors alone.

Promises: a cluster that is started here listens on the loopback address alone, asks for a token, calls nobody
and leaves nothing behind; one whose nodes differ from this one in what decides results is refused.
"""

import contextlib
import ipaddress
import logging
import os
import platform
import secrets
import shutil
import socket
import sqlite3
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dialects.errors import BadInput
from harness.scoring.cache_keys import code
from harness.scoring.tasks import Setup
from loaders.base.digests import digests
from loaders.base.processes import processors
from loaders.server import Server

LOCAL = "local"
"""The address that stands for a cluster of this machine's processors, started for the run."""

AUTO = "auto"
"""The address that stands for the cluster that this machine is a node of."""

_GIVE = "give the address that `ray start --head` prints"
_ANSWER_SECONDS = 10
_PACKAGES = ("ray", "sqlglot", "pymysql", "psycopg", "numpy", "scipy")
_STORE_BYTES = 256 * 2**20
_ALONE = {
    # Ray's own switch for clusters of one machine: everything listens on 127.0.0.1. It is read at import.
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_AUTH_MODE": "token",
    # One for the life of this process: Ray remembers the first that it has read.
    "RAY_AUTH_TOKEN": secrets.token_hex(32),
}


def import_ray() -> Any:
    """Ray, which is optional and takes seconds to import.

    Raises:
        BadInput: it is not installed.
    """
    try:
        import ray  # noqa: PLC0415 - see above
    except ImportError:
        raise BadInput("--ray needs Ray: pip install 'bird-harness[ray]'") from None
    return ray


def require_answer(address: str) -> None:
    """See that something answers at an address: Ray itself goes on asking for minutes.

    Raises:
        BadInput: nothing does, or it is no address.
    """
    name = f"--ray {address}"
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or "/" in host:
        raise BadInput(f"{name}: is not HOST:PORT, {AUTO} or {LOCAL}; {_GIVE}")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _ANSWER_SECONDS).close()
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise BadInput(f"{name}: nothing answers there ({reason}); {_GIVE}") from None


class Cluster:
    """A connection to a cluster, until it is closed. One that was started here ends then.

    A program that is connected to a cluster already stays connected to that one.

    Args:
        address: `HOST:PORT` of its head, `AUTO` for the one that this machine is a node of, or `LOCAL`.
        cpus: how many processors one that is started here has; default: all.

    Raises:
        BadInput: Ray is not installed, or there is no cluster at the address.
    """

    def __init__(self, address: str, cpus: int | None = None) -> None:
        self.name = f"--ray {address}"
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        if address == LOCAL:
            for name, value in _ALONE.items():
                os.environ.setdefault(name, value)
        self.ray = import_ray()
        self._folder: Path | None = None
        self._is_ours = not self.ray.is_initialized()
        if not self._is_ours:
            return
        try:
            self._connect(address, cpus)
        except BaseException:
            self.close()
            raise

    def _connect(self, address: str, cpus: int | None) -> None:
        alone: dict[str, Any] = {}
        if address == LOCAL:
            # Not below TMPDIR: the paths of Ray's sockets must not be longer than the system allows.
            self._folder = Path(tempfile.mkdtemp(prefix="bird-ray-", dir="/tmp"))
            alone = {
                "num_cpus": cpus or processors(),
                "object_store_memory": _STORE_BYTES,
                "include_dashboard": False,
                "_node_ip_address": "127.0.0.1",
                "_temp_dir": str(self._folder),
            }
        elif address != AUTO:
            require_answer(address)
        try:
            # Ray's workers import from the folder in which it is connected to: an empty one.
            with tempfile.TemporaryDirectory() as nothing, contextlib.chdir(nothing):
                self.ray.init(address, log_to_driver=False, logging_level=logging.ERROR, **alone)
        except Exception as error:
            raise BadInput(f"{self.name}: {words(error)}; {_GIVE}") from error
        if address == LOCAL and not ipaddress.ip_address(self._here).is_loopback:
            raise BadInput(
                f"{self.name}: this program has imported Ray before, so Ray would listen on {self._here}; "
                "start a cluster yourself and give its address"
            )

    @property
    def cpus(self) -> int:
        """How many processors it has."""
        return int(self.ray.cluster_resources().get("CPU", 0))

    @property
    def _here(self) -> str:
        return str(self.ray.util.get_node_ip_address())

    def require(self, servers: list[Server]) -> None:
        """Refuse servers that only this machine reaches, where the cluster has others.

        Raises:
            BadInput: there is one.
        """
        nodes = [node["NodeManagerAddress"] for node in self.ray.nodes() if node["Alive"]]
        others = sorted(node for node in nodes if node != self._here)
        for server in servers:
            if others and server.is_local:
                raise BadInput(
                    f"{self.name}: node {others[0]} cannot reach {server.dialect} at {server.address}, which "
                    f"is this machine's own address; name a server in BIRD_{server.dialect.upper()}_DSN"
                )

    def close(self) -> None:
        """Disconnect."""
        try:
            if self._is_ours:
                self.ray.shutdown()
        finally:
            if self._folder is not None:
                shutil.rmtree(self._folder, ignore_errors=True)


@dataclass(frozen=True)
class Facts:
    """What has to be the same wherever tasks are judged: versions by name, digests of files by path."""

    versions: Mapping[str, str]
    files: Mapping[Path, str]

    @classmethod
    def here(cls, setup: Setup) -> "Facts":
        """Those of this machine.

        Raises:
            BadInput: a file can't be read.
        """
        return cls(_versions(), digests(_paths(setup)))

    def fault(self) -> str | None:
        """What is different on the node where this is called, in one line."""
        found = _versions()
        for name, expected in self.versions.items():
            if found[name] != expected:
                return f"{name} is {found[name]} there and {expected} here; install the same on every node"
        try:
            files = digests(self.files)
        except BadInput as error:
            return f"{error}, the same on every node"
        for path, expected in self.files.items():
            if files[path] != expected:
                return f"{path} has other contents there; give every node the same files"
        return None


def words(error: BaseException) -> str:
    """What an error of Ray says, in one line: of a traceback the last, else the first."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if not lines:
        return type(error).__name__
    return lines[-1] if any("ray::" in line or "Traceback" in line for line in lines) else lines[0]


def _paths(setup: Setup) -> list[Path]:
    """The SQLite files that judging may read."""
    paths = []
    for db_id in setup.questions.db_ids if setup.questions.server is None else ():
        paths.append(setup.questions.database(db_id).sqlite_path)
        if setup.variants is not None:
            names = setup.variants.telling[db_id]
            paths += [setup.variants.database(name, db_id).sqlite_path for name in names]
    return paths


def _versions() -> dict[str, str]:
    packages = {name: version(name) for name in _PACKAGES}
    own = {"the code of bird-harness": code().partition(" ")[0][:12]}
    return {"Python": platform.python_version(), "SQLite": sqlite3.sqlite_version, **packages, **own}
