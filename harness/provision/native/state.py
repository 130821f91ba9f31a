"""What is written down about a private server: later processes find it, and nobody else can read it."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from dialects.enums import Dialect
from loaders.server import Origin, Server

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


def read(path: Path) -> State | None:
    """The state kept in `path`; None when there is none, or none that this version wrote."""
    try:
        return State(**json.loads(path.read_text("utf-8")))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def write(path: Path, state: State) -> None:
    """Keep `state` in `path`, whole or not at all."""
    write_secret(path, json.dumps(asdict(state), indent=2))


def write_secret(path: Path, text: str) -> None:
    """Write a file that only its owner can read, whole or not at all."""
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    new.touch(mode=0o600)
    new.write_text(text, encoding="utf-8")
    new.replace(path)
