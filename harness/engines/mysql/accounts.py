"""Accounts of the reading role on MySQL, one for each of its connections: none can see what another one runs.

MySQL shows the statements of all sessions of an account to each of them (`SHOW PROCESSLIST`, `EXPLAIN FOR
CONNECTION`), and no privilege takes that away. So the reading role is a role, `bird_reader`, and its accounts
are `bird_reader_1`, `bird_reader_2` and so on. Each has one connection at most, which the server sees to: who
is refused because an account is in use tries the next one. An account is made when it is first needed.
https://dev.mysql.com/doc/refman/9.7/en/processlist-access.html
"""

from __future__ import annotations  # PyMySQL's Connection is generic in its stubs alone

import re
from contextlib import closing
from dataclasses import replace
from typing import Any

import pymysql
from pymysql.connections import Connection

from harness.engines.base import EngineLost
from loaders.server import READER_CONNECTIONS, Server

CONNECT_SECONDS = 10

_IN_USE = 1226
"""ER_USER_LIMIT_REACHED."""
_REFUSED = 1045
"""ER_ACCESS_DENIED_ERROR: there is no such account, or its password is another one."""

_MAY_END_OTHERS = (
    "SELECT COUNT(*) FROM information_schema.user_privileges"
    " WHERE privilege_type IN ('SUPER', 'CONNECTION_ADMIN')"
    " AND grantee = CONCAT('\\'', REPLACE(CURRENT_USER(), '@', '\\'@\\''), '\\'')"
)

_MAKE = "CREATE USER IF NOT EXISTS %s@'%%' IDENTIFIED BY %s DEFAULT ROLE %s@'%%' WITH MAX_USER_CONNECTIONS 1"
_SET_RIGHT = "ALTER USER %s@'%%' IDENTIFIED BY %s WITH MAX_USER_CONNECTIONS 1"

_NUMBERED = re.compile(rf"'({re.escape(Server.reader_user)})_\d+'")


def connect(server: Server, user: str, password: str, **options: Any) -> Connection[Any]:
    """A new connection of an account.

    Raises:
        EngineLost: the server does not answer or refuses the account.
    """
    try:
        return _connect(server, user, password, **options)
    except pymysql.Error as error:
        raise _lost(server, error) from error


def unnumbered(words: str) -> str:
    """An error message that says the same whichever account it came to."""
    return _NUMBERED.sub(r"'\1'", words)


class Accounts:
    """The accounts of the reading role on one server."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._first = 1
        self._are_to_be_had = not server.is_private

    def connect(self, **options: Any) -> Connection[Any]:
        """A new connection, of an account that has no other.

        On a server whose administrator may not make accounts or end the statements of others, all connections
        are of one account, and can see each other's statements.

        Raises:
            EngineLost: the server does not answer, or has no connection left for the role.
        """
        try:
            if self._are_to_be_had and (found := self._free(options)):
                return found
            return _connect(self._server, self._server.reader_user, self._server.reader_password, **options)
        except pymysql.Error as error:
            raise _lost(self._server, error) from error

    def _free(self, options: dict[str, Any]) -> Connection[Any] | None:
        """A connection of the first account that is free; None where there can be no such accounts."""
        busy: pymysql.Error | None = None
        for step in range(READER_CONNECTIONS):
            number = (self._first - 1 + step) % READER_CONNECTIONS + 1
            own = replace(self._server, reader_user=f"{self._server.reader_user}_{number}")
            try:
                try:
                    found = _connect(own, own.reader_user, own.reader_password, **options)
                except pymysql.OperationalError as error:
                    if error.args[0] != _REFUSED:
                        raise
                    if not self._made(own):
                        self._are_to_be_had = False
                        return None
                    found = _connect(own, own.reader_user, own.reader_password, **options)
            except pymysql.OperationalError as error:
                if error.args[0] != _IN_USE:
                    raise
                busy = error
                continue
            self._first = number
            return found
        assert busy is not None  # noqa: S101 - there was at least one to try
        raise busy

    def _made(self, own: Server) -> bool:
        """Make an account of the role, or give it the right password. Whether that could be done.

        Raises:
            pymysql.Error: the server took no connection of the administrating account.
        """
        server = self._server
        with closing(_connect(server, server.user, server.password)) as connection:
            try:
                with connection.cursor() as cursor:
                    cursor.execute(_MAY_END_OTHERS)
                    if cursor.fetchone() == (0,):
                        return False
                    account = [own.reader_user, own.reader_password]
                    cursor.execute(_MAKE, [*account, server.reader_user])
                    cursor.execute(_SET_RIGHT, account)
            except pymysql.Error:
                return False
        return True


FAILURES = (pymysql.Error, OSError)
"""See `Administration.FAILURES`."""


def administrating(server: Server) -> Connection[Any]:
    """See `Administration.administrating`."""
    return _connect(server, server.user, server.password, read_timeout=CONNECT_SECONDS)


_READS = frozenset({"USAGE", "SELECT", "SHOW VIEW", "SHOW DATABASES", "EXECUTE"})
"""Privileges that change nothing in a read-only session, which a function or procedure runs in, too."""
_GRANTED = re.compile(r"GRANT (.+) ON ")
_COLUMNS = re.compile(r" ?\([^()]*\)")


def rights_to_write(server: Server) -> list[str]:
    """See `Administration.rights_to_write`: every privilege but those of reading, its roles' among them."""
    with connect(server, server.user, server.password) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT role_name, role_host FROM information_schema.applicable_roles")
        roles = [f"{connection.escape(name)}@{connection.escape(host)}" for name, host in cursor.fetchall()]
        cursor.execute("SHOW GRANTS FOR CURRENT_USER()" + (f" USING {', '.join(roles)}" if roles else ""))
        lines = [str(line) for (line,) in cursor.fetchall()]
    found = [privilege for line in lines for privilege in _privileges(line)]
    return list(dict.fromkeys(one for one in found if one not in _READS))


def _privileges(line: str) -> list[str]:
    """Those of one line of SHOW GRANTS; a role that is granted has its own in other lines."""
    granted = _GRANTED.match(line)
    return _COLUMNS.sub("", granted[1]).split(", ") if granted else []


def _connect(server: Server, user: str, password: str, **options: Any) -> Connection[Any]:
    return pymysql.connect(
        host=server.host,
        port=server.port,
        user=user,
        password=password,
        charset="utf8mb4",
        connect_timeout=CONNECT_SECONDS,
        autocommit=True,
        ssl_disabled=server.is_local,
        **options,
    )


def _lost(server: Server, error: pymysql.Error) -> EngineLost:
    words = error.args[-1] if error.args else error
    return EngineLost(f"MySQL at {server.address}: {words}")
