"""A database server's address and credentials, whatever its origin, and reusable sessions."""

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
    """The origin of a server, in the order in which the harness looks for one."""

    DSN = "dsn"
    COMPOSE = "compose"
    TESTCONTAINERS = "testcontainers"
    NATIVE = "native"
    EMBEDDED = "embedded"


@dataclass(frozen=True)
class Server:
    """An account that may create databases and roles on a running MySQL or PostgreSQL server.

    Predictions never use this account: they run as `reader_user`, a role that can only read. On a private
    server, whose databases exist already, this account is that role, and nothing is created; `database` is
    the one to connect to.
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
    home: str = ""
    """The folder of a server that the harness has started as a process of this machine."""

    @property
    def reader_password(self) -> str:
        """The reading role's password, derived so that there is only one secret to keep."""
        if self.is_private:
            return self.password
        return hmac.new(self.password.encode(), self.reader_user.encode(), hashlib.sha256).hexdigest()

    @property
    def is_local(self) -> bool:
        """True if the server is on this machine, so that encryption gains nothing."""
        return self.host in ("127.0.0.1", "::1", "localhost")

    @property
    def address(self) -> str:
        """`host:port`, for messages; an embedded engine's folder."""
        return f"{self.host}:{self.port}" if self.port else self.host


READER_CONNECTIONS = 150
"""Most connections of the reading role; the harness's own servers allow 200 in total.

The rest stays free for loading and for administration. PostgreSQL limits the role; on MySQL each connection
has its own account (`harness.engines.mysql.connections.Accounts`).
"""


class _Closable(Protocol):
    def close(self) -> None: ...


Session = TypeVar("Session", bound=_Closable)

_IDLE: ContextVar[dict[Hashable, list[_Closable]] | None] = ContextVar("idle sessions", default=None)


@contextmanager
def session_pool() -> Iterator[None]:
    """Within the block, keep this thread's sessions open for reuse; close them at the end."""
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
def pooled(want: Hashable, connect: Callable[[], Session]) -> Iterator[Session]:
    """Yield an idle session or a new one; close it if anything fails in the block.

    Args:
        want: the key under which sessions are interchangeable.
        connect: opens a session.
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
    """The engine's name in messages."""
    Error: type[Exception]
    """The driver's base exception."""

    def connected(
        self, server: Server, database: str = ..., *, autocommit: bool = ...
    ) -> AbstractContextManager[Any]:
        """Yield a connection; if the engine needs a database, to this one or the maintenance database.

        Raises:
            EngineUnavailable: for every error of the server not caught within the `with` block.
        """
        ...

    def ask(self, connection: Any, statement: str, values: Parameters | None = None) -> list[Any]:
        """Run a statement with `%s` or `%(name)s` for `values`, and return its rows."""
        ...

    def attempt(self, connection: Any, statement: str) -> str | None:
        """Run a statement and return None, or undo it and return why the server refused it."""
        ...

    def is_broken(self, error: Exception) -> bool:
        """True if the server is at fault, not the statement."""
        ...

    def message(self, error: Exception) -> str:
        """Return the server's message without numbers, hints and context."""
        ...


def sessions(dialect: Dialect) -> Sessions:
    """Return the engine's sessions; imports its driver, which is slow."""
    return cast("Sessions", importlib.import_module(f"loaders.{dialect}.session"))
