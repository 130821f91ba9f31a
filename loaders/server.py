"""A database server's address and credentials, wherever it came from, and sessions that are used again."""

import hashlib
import hmac
import importlib
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, TypeVar, cast

from dialects.enums import Dialect


class Origin(StrEnum):
    """How a server came to be there, in the order in which the harness looks for one."""

    DSN = "dsn"
    COMPOSE = "compose"
    TESTCONTAINERS = "testcontainers"
    NATIVE = "native"


@dataclass(frozen=True)
class Server:
    """An account that may create databases and roles on a running MySQL or PostgreSQL server.

    Predictions never run under this account: they run as `reader_user`, a role that can only read. But on a
    private server, whose databases are there already, the account is that role, and nothing is made;
    `database` is the one that it connects to.
    """

    dialect: Dialect
    host: str
    port: int
    user: str
    password: str = field(repr=False)
    origin: Origin

    reader_user: str = "bird_reader"
    is_private: bool = False
    database: str = ""

    @property
    def reader_password(self) -> str:
        """The reading role's password: derived, so that there is no second secret to keep."""
        if self.is_private:
            return self.password
        return hmac.new(self.password.encode(), self.reader_user.encode(), hashlib.sha256).hexdigest()

    @property
    def is_local(self) -> bool:
        """True if the way to the server never leaves this machine, so that encrypting it gains nothing."""
        return self.host in ("127.0.0.1", "::1", "localhost")

    @property
    def address(self) -> str:
        """`host:port`, for messages."""
        return f"{self.host}:{self.port}"


READER_CONNECTIONS = 150
"""What the reading role may have on a server at once; both servers of the harness take 200 in all.

Loading and looking at the server are always possible. PostgreSQL limits the role, MySQL has an account for
each of them (`mysql_accounts`).
"""


class _Closable(Protocol):
    def close(self) -> None: ...


Session = TypeVar("Session", bound=_Closable)

_IDLE: ContextVar[dict[Hashable, list[_Closable]] | None] = ContextVar("idle sessions", default=None)


@contextmanager
def kept() -> Iterator[None]:
    """Within the block sessions of this thread are kept for whoever wants the same; then they are closed."""
    idle: dict[Hashable, list[_Closable]] = {}
    token = _IDLE.set(idle)
    try:
        yield
    finally:
        _IDLE.reset(token)
        for sessions in idle.values():
            for session in sessions:
                session.close()


@contextmanager
def borrowed(want: Hashable, connect: Callable[[], Session]) -> Iterator[Session]:
    """A session that is idle, or a new one; one in which anything failed is closed.

    Args:
        want: what makes sessions the same.
        connect: opens one.
    """
    idle = _IDLE.get()
    sessions: list[Session] = [] if idle is None else idle.setdefault(want, [])  # type: ignore[assignment]
    session = sessions.pop() if sessions else connect()
    is_fit = False
    try:
        yield session
        is_fit = idle is not None
    finally:
        if is_fit:
            sessions.append(session)
        else:
            session.close()


Parameters = Sequence[object] | Mapping[str, object]


class Sessions(Protocol):
    """The administrator's sessions with an engine's servers: the module `session` of the engine's folder."""

    TITLE: str
    """What people call the engine."""
    Error: type[Exception]
    """What its driver raises."""

    def connected(
        self, server: Server, database: str = ..., *, autocommit: bool = ...
    ) -> AbstractContextManager[Any]:
        """A connection; to a database where the engine asks for one, by default to that of maintenance.

        Raises:
            EngineUnavailable: for every error of the server that nobody caught within the `with` block.
        """
        ...

    def ask(self, connection: Any, statement: str, values: Parameters | None = None) -> list[Any]:
        """Run a statement, `%s` or `%(name)s` where `values` are, and return its rows."""
        ...

    def attempt(self, connection: Any, statement: str) -> str | None:
        """Run a statement and return None, or undo it and return why the server refused it."""
        ...

    def is_broken(self, error: Exception) -> bool:
        """True if the server is at fault, and not what was asked of it."""
        ...

    def message(self, error: Exception) -> str:
        """The server's message alone, without numbers, hints and context."""
        ...


def sessions(dialect: Dialect) -> Sessions:
    """The engine's; it brings its driver along, which is slow to import."""
    return cast("Sessions", importlib.import_module(f"loaders.{dialect}.session"))
