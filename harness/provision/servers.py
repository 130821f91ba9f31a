"""Shared by all origins of servers: their kinds, their files, and waiting until one answers a query."""

import re
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from signal import Signals
from typing import Self

from dialects.by_dialect import ByDialect
from dialects.enums import Dialect
from harness.engines import on_server
from harness.engines.base import EngineLost
from loaders.base.files import as_json, one_line, parse_json
from loaders.base.records import to_plain, to_record
from loaders.server import Origin, Server

ENTRANCE = "/usr/local/bin/bird-harness-loaded"
"""Path of the script that packs and opens the databases inside an image."""

_PACKAGED = Path(__file__).with_name("assets")
_CHECKOUT = Path(__file__).parents[2]


def assets() -> Path:
    """Return the folder with `docker-compose.yml` and `docker/`: in the wheel, or the checkout's root."""
    return _CHECKOUT if is_checkout() else _PACKAGED


def is_checkout() -> bool:
    """Return True if the project runs from its own source tree."""
    return not _PACKAGED.is_dir()


@dataclass(frozen=True)
class Program:
    """A server program that can be started on this machine."""

    path: Path
    version: str
    options: tuple[str, ...] = ()
    """Options this program needs on every command line, because of its location."""


class Home:
    """The folder of one private server, and its files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.temporary = folder / "tmp"
        self.configuration = folder / "server.cnf"
        """The project's configuration file for this server, copied to where the server can read it."""
        self.log = folder / "server.log"
        """Log of initialisation and operation."""
        self.state = folder / "server.json"
        """Address and password of the running server."""


LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class ServerState:
    """Address, password and process of the server started last; it may have ended since."""

    port: int
    user: str
    password: str
    pid: int
    """0 if the server has never run, or was stopped on purpose."""
    identity: str
    """`native.identity` of `pid`: a later process with the same id is not the server."""
    version: str
    host: str = LOOPBACK

    def server(self, dialect: Dialect, home: Home) -> Server:
        """Return the address as other packages use it."""
        folder = str(home.folder)
        return Server(dialect, self.host, self.port, self.user, self.password, Origin.NATIVE, home=folder)

    @classmethod
    def read(cls, path: Path) -> Self | None:
        """Read the state from `path`; None if there is none that this version wrote."""
        try:
            return to_record(cls, parse_json(path.read_text("utf-8")))
        except (FileNotFoundError, ValueError):
            return None

    def write(self, path: Path) -> None:
        """Write it to `path`, whole or not at all."""
        write_secret(path, as_json(to_plain(self), indent=2))


def write_secret(path: Path, text: str) -> None:
    """Write a file that only its owner can read, whole or not at all."""
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    new.touch(mode=0o600)
    new.write_text(text, encoding="utf-8")
    new.replace(path)


@dataclass(frozen=True, kw_only=True)
class ServerKind:
    """One engine's servers: how they are reached, started in containers, and started as private processes."""

    dialect: Dialect
    title: str

    # An address.
    schemes: tuple[str, ...]
    """Schemes of its addresses, the preferred one first."""
    port: int

    # Containers, the same in `docker-compose.yml`.
    prefix: str
    """Prefix of its variables in `.env`."""
    container_port: int
    """Port of this machine for a container: other than the engine's own, and below the ephemeral range."""
    password: str
    """Variable that sets the password."""
    account: str
    """Administrator account."""
    configuration: tuple[str, str]
    """The project's configuration file below `docker/`, and its path in the image."""
    command: tuple[str, ...]
    """Command of a container; the server program first."""
    variables: Mapping[str, str] = field(default_factory=dict)
    most_processes: int
    most_data: int | None = None
    """Memory limit of one process, in bytes, if each connection has a process of its own. Otherwise a private
    server may have as much as a container."""

    # Images.
    official: str
    """The official image, without a tag."""
    versions: tuple[str, ...]
    """Versions that every change is tested on, oldest first."""
    packages: tuple[str, ...]
    """The Debian packages of an image that is built without a registry."""
    mount: str
    """Where `docker-compose.yml` mounts the volume."""
    data: str
    """Path of the data in it."""
    loaded_files: Mapping[str, str]
    """Additional files of an image with databases: sources below `docker/`, and their paths. Empty: no such
    image can be made."""

    # Private processes.
    system_accounts: tuple[str, ...]
    """System accounts that root may start the server as, preferred first."""
    leftovers: tuple[str, ...] = ()
    """Files that a killed server leaves in the data folder, and that prevent the next start if another
    process has its id."""
    stop_signal: Signals
    """Asks the server to close every connection and shut down cleanly."""
    abort_signal: Signals
    """Ends it at once, with all its processes; for data that are no longer needed."""
    find: Callable[[], Program]
    secret: Callable[[Program, str], str]
    """Text of a file that sets the account's password while the data folder is initialised."""
    initialise: Callable[[Program, Home, Path, Path], list[str]]
    """Command line that initialises a data folder, given that folder and the secret's file."""
    serve: Callable[[Program, Home, int], list[str]]
    """Command line of the server on a port of 127.0.0.1."""

    @property
    def image_variable(self) -> str:
        """Name of the variable in `.env` that chooses the image."""
        return f"{self.prefix}_IMAGE"

    @property
    def port_variable(self) -> str:
        """Name of the variable that chooses the port."""
        return f"{self.prefix}_PORT"

    @property
    def memory_variable(self) -> str:
        """Name of the variable that limits the server's memory."""
        return f"{self.prefix}_MEMORY"


_PAUSE_SECONDS = 0.1


def version_of(server: Server) -> str | None:
    """Return the version that `server` reports, or None while it does not answer."""
    try:
        return on_server(server).version()
    except EngineLost:
        return None


def wait_for(server: Server, seconds: float, check: Callable[[], None] = lambda: None) -> str:
    """Wait until `server` answers.

    Args:
        server: the server, which may not be listening yet.
        seconds: how long to keep trying.
        check: called between attempts; raises when waiting is pointless.

    Returns:
        The version that the server answered with.

    Raises:
        EngineLost: the last answer, when the time is up.
    """
    deadline = time.monotonic() + seconds
    while True:
        try:
            return on_server(server).version()
        except EngineLost:
            check()
            if time.monotonic() > deadline:
                raise
        time.sleep(_PAUSE_SECONDS)


_LINES = 3
_COMPLAINT = re.compile(r"error|fatal|panic|abort", re.IGNORECASE)


def say(line: str) -> None:
    """Print a line of progress to standard error, never to standard output."""
    sys.stderr.write(f"{one_line(line)}\n")
    sys.stderr.flush()


def last_words(log: str) -> str:
    """Return the end of a server's log in one line: its errors, or else its last lines."""
    lines = [" ".join(line.split()) for line in log.splitlines() if line.strip()]
    complaints = [line for line in lines if _COMPLAINT.search(line)]
    return "its log ends: " + (" / ".join((complaints or lines)[-_LINES:]) or "(empty)")


SERVERS = ByDialect[ServerKind]("harness.provision.{}", "KIND")
"""Every engine that has servers: those with a module of their name here."""
