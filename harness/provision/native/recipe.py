"""What the life cycle of a private server needs to know: of one kind of server, its folder and its state.

Later processes find the state, and nobody else can read it.
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from signal import Signals
from typing import Self

from dialects.enums import Dialect
from loaders.server import Origin, Server


@dataclass(frozen=True)
class Program:
    """A server program that can be started on this machine."""

    path: Path
    version: str
    options: tuple[str, ...] = ()
    """What this program needs on every command line, because of where it lies."""


@dataclass(frozen=True)
class Home:
    """The folder of one private server."""

    folder: Path

    @property
    def data(self) -> Path:
        """What the server stores."""
        return self.folder / "data"

    @property
    def temporary(self) -> Path:
        """The server's temporary files."""
        return self.folder / "tmp"

    @property
    def configuration(self) -> Path:
        """The project's configuration file for this server, copied to where the server can read it."""
        return self.folder / "server.cnf"

    @property
    def log(self) -> Path:
        """What the server says while it is initialised and while it runs."""
        return self.folder / "server.log"

    @property
    def state(self) -> Path:
        """Address and password of the running server."""
        return self.folder / "server.json"


@dataclass(frozen=True)
class ServerRecipe:
    """How one kind of server is found, initialised and started."""

    title: str
    account: str
    """The administrating account inside the database."""
    system_accounts: tuple[str, ...]
    """Accounts of the machine that root may start the server as, best first."""
    configuration: str
    """The project's configuration file, relative to the folder `docker`."""
    leftovers: tuple[str, ...]
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


LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class State:
    """Address, password and process of the server that was started last; it need not run any more."""

    port: int
    user: str
    password: str
    pid: int
    identity: str
    """`process.identity` of `pid`: a process that happens to have the same id later is not the server."""
    version: str
    host: str = LOOPBACK

    def server(self, dialect: Dialect) -> Server:
        """The address as every other room knows it."""
        return Server(dialect, self.host, self.port, self.user, self.password, Origin.NATIVE)

    @classmethod
    def read(cls, path: Path) -> Self | None:
        """The state kept in `path`; None when there is none, or none that this version wrote."""
        try:
            return cls(**json.loads(path.read_text("utf-8")))
        except (FileNotFoundError, ValueError, TypeError):
            return None

    def write(self, path: Path) -> None:
        """Keep it in `path`, whole or not at all."""
        write_secret(path, json.dumps(asdict(self), indent=2))


def write_secret(path: Path, text: str) -> None:
    """Write a file that only its owner can read_state, whole or not at all."""
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    new.touch(mode=0o600)
    new.write_text(text, encoding="utf-8")
    new.replace(path)
