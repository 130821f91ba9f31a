"""Servers that the user runs, named by their addresses in the environment.

`BIRD_MYSQL_DSN=mysql://user:password@host:port` and
`BIRD_POSTGRESQL_DSN=postgresql://user:password@host:port`, user and password percent-encoded; several
addresses, separated by white space or commas, name servers that share the work. The account must be allowed
to create databases and roles. A database in the address is accepted and not used: the harness makes its own.
"""

import os
import re
from dataclasses import replace
from urllib.parse import unquote, urlsplit

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.provision.servers import SERVERS
from loaders.server import Origin, Server

_SEPARATORS = re.compile(r"[\s,]+")
_BROKEN_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})(?![^@\[]{0,64}\])")
"""Except in the zone of an address in brackets, `[fe80::1%eth0]`; no system has longer zone names."""


def variable(dialect: Dialect) -> str:
    """Return the name of the environment variable: `BIRD_MYSQL_DSN`."""
    return f"BIRD_{dialect.upper()}_DSN"


def server_from_environment(dialect: Dialect) -> Server | None:
    """Return the first server that the environment names for `dialect`; it may not be running.

    Raises:
        BadInput: see `servers_from_environment`.
    """
    named = servers_from_environment(dialect)
    return named[0] if named else None


def servers_from_environment(dialect: Dialect) -> tuple[Server, ...]:
    """Return the servers that the environment names for `dialect`, in its order; they may not be running.

    Raises:
        BadInput: an address is malformed, or a server is named twice. No part of an address is repeated:
            any part may be a piece of a password that was not percent-encoded.
    """
    texts = [text for text in _SEPARATORS.split(os.environ.get(variable(dialect), "")) if text]
    name = variable(dialect)
    servers = tuple(
        parse(dialect, text, name if len(texts) == 1 else f"{name}, address {place},")
        for place, text in enumerate(texts, start=1)
    )
    addresses = [server.address for server in servers]
    for place, address in enumerate(addresses, start=1):
        first = addresses.index(address) + 1
        if first < place:
            raise BadInput(f"{name} names one server twice, as addresses {first} and {place}; name each once")
    return servers


def private(dialect: Dialect, text: str, name: str) -> Server:
    """Parse the address of a server that already has the database; its account only reads.

    Args:
        dialect: the server's dialect.
        text: the address, which names the database.
        name: where the address is given, for messages.

    Raises:
        BadInput: see `servers_from_environment`; or it names no database.
    """
    server = parse(dialect, text, name)
    try:
        database = unquote(urlsplit(text).path.removeprefix("/"), errors="strict")
    except UnicodeDecodeError:
        database = ""
    if not database or "\0" in database:
        shape = f"{SERVERS[dialect].schemes[0]}://user:password@host:port/database"
        raise BadInput(f"{name} names no database; give {shape}")
    return replace(server, reader_user=server.user, is_private=True, database=database)


def parse(dialect: Dialect, text: str, name: str | None = None) -> Server:
    """Parse the address `text` of a server; `name` is where it is given, for messages.

    Raises:
        BadInput: see `servers_from_environment`.
    """
    name = name or variable(dialect)
    scheme = SERVERS[dialect].schemes[0]
    shape = f"give {scheme}://user:password@host:port, user and password percent-encoded"
    try:
        parts = urlsplit(text)
        port = parts.port or SERVERS[dialect].port
    except ValueError:
        raise BadInput(f"{name} has no valid host or port; {shape}") from None
    if parts.scheme not in SERVERS[dialect].schemes:
        raise BadInput(f"{name} does not start with {scheme}://; {shape}")
    if not parts.hostname or not parts.username:
        missing = "user" if parts.hostname else "host"
        raise BadInput(f"{name} names no {missing}; {shape}")
    if _BROKEN_ESCAPE.search(text):
        raise BadInput(f"{name} has a % without two hexadecimal digits after it, write it as %25; {shape}")
    if "%" in parts.hostname and ":" not in parts.hostname:
        raise BadInput(f"{name} has no valid host or port; {shape}")
    try:
        user, password = (unquote(part, errors="strict") for part in (parts.username, parts.password or ""))
    except UnicodeDecodeError:
        raise BadInput(f"{name} has a user or password whose %XX are not UTF-8; {shape}") from None
    if "\0" in user + password:
        raise BadInput(f"{name} has a NUL character (%00) in its user or password; {shape}")
    if parts.query or parts.fragment:
        raise BadInput(f"{name} has options after its address, and none are supported; {shape}")
    return Server(dialect, parts.hostname, port, user, password, Origin.DSN)
