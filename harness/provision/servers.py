"""What the ways to a server have in common: its kind, its files, and waiting until it answers a query."""

import re
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from signal import Signals
from typing import Self

from dialects.enums import Dialect
from harness.engines import on_server
from harness.engines.base import EngineLost
from loaders.base.files import as_json, one_line, parse_json
from loaders.base.records import to_plain, to_record
from loaders.server import Origin, Server

ENTRANCE = "/usr/local/bin/bird-harness-loaded"
"""What packs and opens the databases inside of an image."""

_PACKAGED = Path(__file__).with_name("assets")
_CHECKOUT = Path(__file__).parents[2]


def assets() -> Path:
    """The folder that holds `docker-compose.yml` and `docker/`: in the wheel, or the checkout's root."""
    return _CHECKOUT if is_checkout() else _PACKAGED


def is_checkout() -> bool:
    """Whether the project runs from its own source tree."""
    return not _PACKAGED.is_dir()


@dataclass(frozen=True)
class Program:
    """A server program that can be started on this machine."""

    path: Path
    version: str
    options: tuple[str, ...] = ()
    """What this program needs on every command line, because of where it lies."""


class Home:
    """The folder of one private server, and what is in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.temporary = folder / "tmp"
        self.configuration = folder / "server.cnf"
        """The project's configuration file for this server, copied to where the server can read it."""
        self.log = folder / "server.log"
        """What the server says while it is initialised and while it runs."""
        self.state = folder / "server.json"
        """Address and password of the running server."""


LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class State:
    """Address, password and process of the server that was started last; it need not run any more."""

    port: int
    user: str
    password: str
    pid: int
    identity: str
    """`native.identity` of `pid`: a process that happens to have the same id later is not the server."""
    version: str
    host: str = LOOPBACK

    def server(self, dialect: Dialect) -> Server:
        """The address as every other room knows it."""
        return Server(dialect, self.host, self.port, self.user, self.password, Origin.NATIVE)

    @classmethod
    def read(cls, path: Path) -> Self | None:
        """The state kept in `path`; None when there is none, or none that this version wrote."""
        try:
            return to_record(cls, parse_json(path.read_text("utf-8")))
        except (FileNotFoundError, ValueError):
            return None

    def write(self, path: Path) -> None:
        """Keep it in `path`, whole or not at all."""
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
    """How an address of one may begin, the best first."""
    port: int

    # Containers, the same in `docker-compose.yml`.
    prefix: str
    """How the variables of `.env` begin."""
    container_port: int
    """The port of this machine that a container is reached at, beside the engine's own, and below the range
    that systems hand out by themselves."""
    password: str
    """The variable that sets the password."""
    account: str
    """The administrating account."""
    configuration: tuple[str, str]
    """The project's configuration file below `docker/`, and where the image looks for it."""
    command: tuple[str, ...]
    """What a container runs; first the server's program."""
    variables: Mapping[str, str] = field(default_factory=dict)
    most_processes: int
    most_data: int | None = None
    """Bytes that one process may ask for."""

    # Images.
    official: str
    """The official image, without a tag."""
    versions: tuple[str, ...]
    """Those that every change is held against, the oldest first."""
    packages: tuple[str, ...]
    """The Debian packages of an image that is built without a registry."""
    mount: str
    """Where `docker-compose.yml` mounts the volume."""
    data: str
    """Where in it the data are."""
    loaded_files: Mapping[str, str]
    """What an image with databases has more than its base: files below `docker/`, and their places."""

    # Private processes.
    system_accounts: tuple[str, ...]
    """Accounts of the machine that root may start the server as, best first."""
    leftovers: tuple[str, ...] = ()
    """Files of the data folder that a killed server leaves and that keep the next one from starting, as soon
    as any process has the killed one's id."""
    stop_signal: Signals
    """Asks the server to close every connection and end in good order."""
    abort_signal: Signals
    """Ends it at once, with all its processes; for data that nobody wants any more."""
    find: Callable[[], Program]
    secret: Callable[[Program, str], str]
    """Text of a file that sets the account's password while the data folder is initialised."""
    initialise: Callable[[Program, Home, Path, Path], list[str]]
    """Command line that initialises a data folder, given that folder and the secret's file."""
    serve: Callable[[Program, Home, int], list[str]]
    """Command line of the server on a port of 127.0.0.1."""

    @property
    def image_variable(self) -> str:
        """Name of the variable of `.env` that chooses the image."""
        return f"{self.prefix}_IMAGE"

    @property
    def port_variable(self) -> str:
        """Name of the variable that chooses the port."""
        return f"{self.prefix}_PORT"


_PAUSE_SECONDS = 0.1


def version_of(server: Server) -> str | None:
    """The version that `server` answers with, or None while it does not answer."""
    try:
        return on_server(server).version()
    except EngineLost:
        return None


def wait_for(server: Server, seconds: float, check: Callable[[], None] = lambda: None) -> str:
    """Wait until `server` answers.

    Args:
        server: the server, which may not be listening yet.
        seconds: how long to go on asking.
        check: called between two questions; raises when there is nothing left to wait for.

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
    """Tell whoever waits what is being done: one line on standard error, never on standard output."""
    sys.stderr.write(f"{one_line(line)}\n")
    sys.stderr.flush()


def last_words(log: str) -> str:
    """The last lines of a server's log in one line: its complaints, or else whatever it said last."""
    lines = [" ".join(line.split()) for line in log.splitlines() if line.strip()]
    complaints = [line for line in lines if _COMPLAINT.search(line)]
    return "its log ends: " + (" / ".join((complaints or lines)[-_LINES:]) or "with nothing")
