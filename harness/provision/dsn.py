"""A server that the user runs, named by an address in the environment.

`BIRD_MYSQL_DSN=mysql://user:password@host:port` and `BIRD_POSTGRESQL_DSN=postgresql://user:password@host:port`,
user and password percent-encoded. The account has to be allowed to create databases and roles. A database in
the address is accepted and not used: the harness makes its own.
"""

import os
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from harness.engines.server import Origin, Server
from harness.errors import BadInput
from harness.words import Dialect

_SCHEMES: Mapping[Dialect, tuple[str, ...]] = {
    Dialect.MYSQL: ("mysql",),
    Dialect.POSTGRESQL: ("postgresql", "postgres"),
}
_PORTS: Mapping[Dialect, int] = {Dialect.MYSQL: 3306, Dialect.POSTGRESQL: 5432}


def variable(dialect: Dialect) -> str:
    """Name of the environment variable: `BIRD_MYSQL_DSN`."""
    return f"BIRD_{dialect.upper()}_DSN"


def from_environment(dialect: Dialect) -> Server | None:
    """The server that the environment names for `dialect`; it may not be running.

    Raises:
        BadInput: the address is malformed. No part of it is repeated: any part may be a piece of a
            password that was not percent-encoded.
    """
    text = os.environ.get(variable(dialect))
    return parse(dialect, text) if text else None


def parse(dialect: Dialect, text: str) -> Server:
    """The server at the address `text`.

    Raises:
        BadInput: see `from_environment`.
    """
    scheme = _SCHEMES[dialect][0]
    shape = f"give {scheme}://user:password@host:port, user and password percent-encoded"
    try:
        parts = urlsplit(text)
        port = parts.port or _PORTS[dialect]
    except ValueError:
        raise BadInput(f"{variable(dialect)} has no valid host or port; {shape}") from None
    if parts.scheme not in _SCHEMES[dialect]:
        raise BadInput(f"{variable(dialect)} does not start with {scheme}://; {shape}")
    if not parts.hostname or not parts.username:
        missing = "user" if parts.hostname else "host"
        raise BadInput(f"{variable(dialect)} names no {missing}; {shape}")
    if parts.query or parts.fragment:
        raise BadInput(f"{variable(dialect)} has options after its address, and none are known; {shape}")
    return Server(
        dialect, parts.hostname, port, unquote(parts.username), unquote(parts.password or ""), Origin.DSN
    )
