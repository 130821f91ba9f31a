"""MySQL's driver: accounts and connections of the reading role, errors, and the clock of the server.

TLS is not used on connections that cannot be tapped: it would take fifty times as long.
"""

from __future__ import annotations  # PyMySQL's Connection is generic in its stubs alone

import contextlib
import re
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import pymysql
from pymysql.connections import Connection
from pymysql.constants import COMMAND

from dialects.enums import Profile
from harness.engines import TITLES
from harness.engines.base import (
    EngineLost,
    Pool,
    Row,
    SqlError,
    SqlTimeout,
    SqlTooLarge,
    SqlUnreadable,
    is_readable,
)
from loaders.mysql.session import ask
from loaders.namespace import Database
from loaders.server import READER_CONNECTIONS, Server

_RESET_CONNECTION = 0x1F
"""https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_reset_connection.html."""

GRACE_SECONDS = 10
"""Seconds after the time limit until the client gives up on a silent server."""


@dataclass(frozen=True)
class _Kept:
    """A connection that waits, with the database that it has when the server has reset it.

    PyMySQL has no public call for any of this.
    """

    connection: Any
    database: str

    def reset(self) -> None:
        """Send what resets the connection, without waiting for the answer."""
        _send(self.connection, bytes([_RESET_CONNECTION]))

    def use(self, settings: str, database: str, patience: float) -> Sequence[Bystander]:
        """Read the answer and set the connection up for a session; see `set_up`.

        Raises:
            pymysql.Error, OSError: the connection is lost, or not as new.
        """
        connection = self.connection
        connection._read_timeout = connection._write_timeout = patience
        _read_ok(connection)
        if is_readable(connection._sock.fileno()):
            raise pymysql.OperationalError("the server has said more: that would be a farewell")
        bystanders = set_up(connection, settings)
        if database != self.database:
            connection.select_db(database)
        return bystanders


class Bystander(NamedTuple):
    """Another session that a session can see."""

    number: int
    user: str


def set_up(connection: Any, settings: str) -> Sequence[Bystander]:
    """Apply the settings of a session, and return the other sessions that it can see the statements of.

    Without the right PROCESS these are the sessions of the same account. Both statements go to the server in
    one packet. The settings are the second: they leave no warnings.
    https://dev.mysql.com/doc/refman/9.7/en/processlist-access.html

    Raises:
        pymysql.Error, OSError: the connection is lost.
    """
    _send(
        connection, *(bytes([COMMAND.COM_QUERY]) + text.encode() for text in ("SHOW PROCESSLIST", settings))
    )
    connection._next_seq_id = 1
    columns = connection._read_packet().read_length_encoded_integer()
    for _ in range(columns + 1):  # and the end of the columns
        connection._read_packet()
    own, found = connection.thread_id(), []
    while not (packet := connection._read_packet()).is_eof_packet():
        number, user = int(packet.read_length_coded_string()), packet.read_length_coded_string()
        if number != own:
            found.append(Bystander(number, (user or b"").decode()))
    _read_ok(connection)
    return found


def _send(connection: Any, *commands: bytes) -> None:
    """Send commands together. A packet is its length in three bytes, its number, 0, and the command."""
    connection._result = None
    connection._write_bytes(b"".join(len(each).to_bytes(4, "little") + each for each in commands))


def _read_ok(connection: Any) -> None:
    connection._next_seq_id = 1
    connection._read_ok_packet()


class MySQLConnections:
    """Makes connections, and keeps those that can serve another session.

    A kept one is reset by the server: that undoes settings and user variables, drops temporary tables and
    prepared statements and frees locks, and leaves the database, which no query can change. The answer is
    read when the connection is used again, usually after the last result was scored.
    https://dev.mysql.com/doc/c-api/9.7/en/mysql-reset-connection.html

    A connection serves only while it is the one session of its account. That is asked of the server before
    each session: MariaDB no longer counts a connection for `MAX_USER_CONNECTIONS` once it was reset.
    """

    COLLATION: ClassVar[str] = "utf8mb4_0900_ai_ci"
    """Collation of literals in profile official."""
    SESSION: ClassVar[Mapping[str, str | int]] = {
        "sql_mode": "STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,"
        "NO_ENGINE_SUBSTITUTION",
        "time_zone": "+00:00",
        "group_concat_max_len": 1024,
        "div_precision_increment": 4,
        "cte_max_recursion_depth": 1000,
        "default_week_format": 0,
        "lc_time_names": "en_US",
        "max_sort_length": 1024,
        "sql_auto_is_null": 0,
        "sql_big_selects": 1,
        "sql_select_limit": 2**64 - 1,
        "windowing_use_high_precision": 1,
    }
    """The variables of a session that can decide a result, with the values of docker/mysql/bird.cnf or the
    server's own defaults, whatever a user's server has. Golds need a mode without ONLY_FULL_GROUP_BY, and
    quotation marks around texts, not names."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._accounts = self.accounts(server)
        self._pool: Pool[_Kept] = Pool(lambda kept: close_at_once(kept.connection))

    @property
    def are_shared(self) -> bool:
        """True if sessions of others have the same account, and can see the statements of each other."""
        return self._accounts.are_shared

    def take(self, database: Database, seconds: float) -> Connection[Any]:
        """Return a connection to `database`, read-only and with `seconds` as the limit of each statement.

        Raises:
            EngineLost: the server does not answer, or does not know the database.
        """
        settings, patience = self.settings(database, seconds), seconds + GRACE_SECONDS
        while kept := self._pool.take(None):
            try:
                bystanders = kept.use(settings, database.mysql_database, patience)
            except (pymysql.Error, OSError):
                close_at_once(kept.connection)
                continue
            if self.are_shared or not bystanders:
                return kept.connection  # type: ignore[no-any-return]
            close_at_once(kept.connection)
        return self._accounts.connect(
            settings, database=database.mysql_database, read_timeout=patience, write_timeout=patience
        )

    @staticmethod
    def accounts(server: Server) -> Accounts:
        """Return the accounts of the reading role on a server."""
        return Accounts(server)

    def settings(self, database: Database, seconds: float) -> str:
        """Return the statement that makes a connection one of the reading role."""
        # The limit is one for SELECT, and a hint can lift it; `Session.cancel` covers the rest.
        # https://dev.mysql.com/doc/refman/9.7/en/server-system-variables.html#sysvar_max_execution_time
        return (
            f"SET NAMES utf8mb4{collation_of(database, self.COLLATION)}, SESSION transaction_read_only = 1, "
            f"SESSION max_execution_time = {max(1, round(seconds * 1000))}{assigned(self.SESSION)}"
            f"{clock_of(database)}"
        )

    def give(self, connection: Connection[Any], database: Database) -> None:
        """Have a connection whose last statement has ended made as new, and keep it."""
        kept = _Kept(connection, database.mysql_database)
        try:
            kept.reset()
        except (pymysql.Error, OSError):
            close_at_once(connection)
            return
        self._pool.give(None, kept)

    def kill(self, thread: int, what: str) -> None:
        """Have the server end a QUERY or a CONNECTION of the reading role; nothing if it has ended.

        By the administrating account: those of the reading role have one connection each. A server that is
        silent is not waited for: the watchdog's process may be ended `SUPERVISED_AFTER` the limit.
        """
        server = self._server
        for user, password in (
            (server.user, server.password),
            (server.reader_user, server.reader_password),
        ):
            with (
                contextlib.suppress(EngineLost, pymysql.Error, OSError),
                connect(
                    server, user, password, connect_timeout=_KILL_SECONDS, read_timeout=_KILL_SECONDS
                ) as other,
            ):
                other.query(f"KILL {what} {thread}")
                return

    def has(self, thread: int) -> bool:
        """Return True if the server has a connection of that number of the reading role; False if silent."""
        server = self._server
        with (
            contextlib.suppress(EngineLost, pymysql.Error, OSError),
            connect(
                server,
                server.user,
                server.password,
                connect_timeout=_KILL_SECONDS,
                read_timeout=_KILL_SECONDS,
            ) as administrator,
            administrator.cursor() as cursor,
        ):
            cursor.execute(_HAS, (thread, f"{server.reader_user}%"))
            return bool(cursor.fetchone() != (0,))
        return False

    def close(self) -> None:
        """Close those that wait."""
        self._pool.close()


def collation_of(database: Database, official: str) -> str:
    """Return the words after SET NAMES and a character set for the collation of a database's profile."""
    return f" COLLATE {'utf8mb4_0900_bin' if database.profile is Profile.FAITHFUL else official}"


def assigned(variables: Mapping[str, str | int]) -> str:
    """Return the assignments of a session's variables, each after a comma."""
    return "".join(
        f", SESSION {name} = {value if isinstance(value, int) else repr(value)}"
        for name, value in variables.items()
    )


def clock_of(database: Database) -> str:
    """Return the assignments that give a session the clock of a database; empty for the server's.

    https://dev.mysql.com/doc/refman/9.7/en/server-system-variables.html#sysvar_timestamp
    """
    if database.now is None:
        return ""
    return f", SESSION timestamp = {database.now.timestamp():.0f}"


_NULL = 251
_LENGTH_BYTES = {252: 2, 253: 3, 254: 8}
"""Bytes of a length that does not fit into one, by the byte before it.
https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_dt_integers.html"""


def rows_of(connection: Any, result: Any) -> Iterator[Row]:
    """Yield the rows of an unbuffered result, with the values that PyMySQL makes of them.

    PyMySQL calls four functions for each value, which takes longer than making it.
    """
    # What `int` and `float` read from bytes need not be decoded.
    converters = [
        (None if converter in _OF_BYTES else encoding, converter) for encoding, converter in result.converters
    ]
    while not result._check_packet_is_eof(packet := connection._read_packet()):
        yield _row(packet.get_all_data(), converters)
    result.unbuffered_active = False


_OF_BYTES = (int, float)


def _row(data: bytes, converters: Sequence[tuple[str | None, Callable[[Any], Any] | None]]) -> Row:
    """Return one row of the text protocol.

    https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_query_response_text_resultset_row.html
    """
    row: list[Any] = []
    at = 0
    for encoding, converter in converters:
        length = data[at]
        at += 1
        if length == _NULL:
            row.append(None)
            continue
        if length > _NULL:
            start, at = at, at + _LENGTH_BYTES[length]
            length = int.from_bytes(data[start:at], "little")
        value: Any = data[at : at + length]
        at += length
        if encoding is not None:
            value = value.decode(encoding)
        row.append(value if converter is None else converter(value))
    return tuple(row)


def close_at_once(connection: Connection[Any]) -> None:
    """Close a connection; an orderly close would first read every row that the server still wants to send."""
    connection._force_close()  # type: ignore[attr-defined]


CONNECT_SECONDS = 10

_KILL_SECONDS = 2

_HAS = "SELECT COUNT(*) FROM information_schema.processlist WHERE id = %s AND user LIKE %s"

_IN_USE = 1226
"""ER_USER_LIMIT_REACHED."""
_INCOMPLETE = frozenset({1044, 1045, 3118, 4151})
"""The account does not exist, has another password or not the role, or is locked (on MySQL, on MariaDB)."""
_MAY_NOT = frozenset({1044, 1045, 1142, 1227, 1410, 1959, 3523})
"""The administrating account has no right to make accounts, or no role has been made yet."""
_LOCK = "bird_harness accounts"

_MAY_END_OTHERS = (
    "SELECT COUNT(*) FROM information_schema.user_privileges"
    " WHERE privilege_type IN ('SUPER', 'CONNECTION_ADMIN', 'CONNECTION ADMIN')"
    " AND grantee = CONCAT('\\'', REPLACE(CURRENT_USER(), '@', '\\'@\\''), '\\'')"
)

_SESSIONS = "SELECT DISTINCT user FROM information_schema.processlist"

_NUMBERED = re.compile(rf"'({re.escape(Server.reader_user)})_\d+'")


def connect(server: Server, user: str, password: str, **options: Any) -> Connection[Any]:
    """Return a new connection of an account.

    Raises:
        EngineLost: the server does not answer or refuses the account.
    """
    try:
        return _connect(server, user, password, **options)
    except pymysql.Error as error:
        raise _lost(server, error) from error


def unnumbered(words: str) -> str:
    """Remove the number of the account from an error message."""
    return _NUMBERED.sub(r"'\1'", words)


class Accounts:
    """The accounts of the reading role on one server, one for each of its connections.

    MySQL shows the statements of all sessions of an account to each of them (`SHOW PROCESSLIST`, `EXPLAIN FOR
    CONNECTION`), and no privilege takes that away. So the reading role is a role, `bird_reader`, and its
    accounts are `bird_reader_1`, `bird_reader_2` and so on, made when they are first needed.
    https://dev.mysql.com/doc/refman/9.7/en/processlist-access.html

    Accounts are claimed one at a time, under a lock of the server: an account is free if no session has it,
    whatever the server counts. A connection that sees another session of its account is closed before any
    text runs in it.
    """

    MAKE: ClassVar[Sequence[str]] = (
        "CREATE USER IF NOT EXISTS %(account)s@'%%' IDENTIFIED BY %(nothing)s",
        "GRANT %(role)s@'%%' TO %(account)s@'%%'",
        "ALTER USER %(account)s@'%%' DEFAULT ROLE %(role)s@'%%'",
        "ALTER USER %(account)s@'%%' IDENTIFIED BY %(password)s WITH MAX_USER_CONNECTIONS 1 ACCOUNT UNLOCK",
    )
    """Statements that make an account of the role, or repair it. Its password is right from the last one on:
    nobody can use an account that is half made."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._first = 1
        self.are_shared = server.is_private

    def connect(self, settings: str, **options: Any) -> Connection[Any]:
        """Return a new connection with these settings, of an account that has no other.

        On a server whose administrator may not make accounts or end the statements of others, all connections
        are of one account, and `are_shared` is True.

        Raises:
            EngineLost: the server does not answer, or has no connection left for the role.
        """
        try:
            if not self.are_shared and (found := self._claimed(settings, options)):
                return found
            server = self._server
            connection = _connect(server, server.reader_user, server.reader_password, **options)
            set_up(connection, settings)
        except pymysql.Error as error:
            raise _lost(self._server, error) from error
        return connection

    def _claimed(self, settings: str, options: dict[str, Any]) -> Connection[Any] | None:
        """Return a connection of the first account that is free; None where there can be no such accounts."""
        server = self._server
        where = f"{TITLES[server.dialect]} at {server.address}"
        # The lock ends with its connection.
        with closing(_connect(server, server.user, server.password)) as administrator:
            if ask(administrator, _MAY_END_OTHERS) == [(0,)]:
                self.are_shared = True
                return None
            if ask(administrator, "SELECT GET_LOCK(%s, %s)", [_LOCK, CONNECT_SECONDS - 1]) != [(1,)]:
                raise pymysql.OperationalError("other processes are taking the accounts of the reading role")
            taken = {str(user) for (user,) in ask(administrator, _SESSIONS)}
            for step in range(READER_CONNECTIONS):
                number = (self._first - 1 + step) % READER_CONNECTIONS + 1
                own = replace(server, reader_user=f"{server.reader_user}_{number}")
                if own.reader_user in taken:
                    continue
                try:
                    found = self._connected(administrator, own, options)
                except pymysql.OperationalError as error:
                    if error.args[0] != _IN_USE:
                        raise
                    continue
                if found is None:
                    self.are_shared = True
                    return None
                bystanders = set_up(found, settings)
                if not bystanders:
                    self._first = number
                    return found
                close_at_once(found)
                if foreign := {each.user for each in bystanders} - {own.reader_user}:
                    raise EngineLost(
                        f"{where}: the reading role sees the statements of {', '.join(sorted(foreign))};"
                        f" revoke PROCESS from {server.reader_user}"
                    )
        raise EngineLost(
            f"{where}: all {READER_CONNECTIONS} accounts of the reading role have a session; use fewer"
            f" workers, or end sessions of {server.reader_user}_1 and so on"
        )

    def _connected(
        self, administrator: Connection[Any], own: Server, options: dict[str, Any]
    ) -> Connection[Any] | None:
        """Return a connection of an account, which is made or repaired first if it must be.

        None if the administrating account may not do that.

        Raises:
            pymysql.Error: the account is in use, or the server is to blame.
        """
        try:
            return _connect(own, own.reader_user, own.reader_password, **options)
        except pymysql.OperationalError as error:
            if error.args[0] not in _INCOMPLETE:
                raise
        values = {
            "account": own.reader_user,
            "nothing": secrets.token_hex(),
            "password": own.reader_password,
            "role": self._server.reader_user,
        }
        try:
            for statement in self.MAKE:
                ask(administrator, statement, values)
        except pymysql.Error as error:
            if error.args[0] not in _MAY_NOT:
                raise
            return None
        return _connect(own, own.reader_user, own.reader_password, **options)


FAILURES = (pymysql.Error, OSError)
"""See `Administration.FAILURES`."""


def administrating(server: Server) -> Connection[Any]:
    """See `Administration.administrating`."""
    return _connect(server, server.user, server.password)


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
        return beyond_reading(str(line) for (line,) in cursor.fetchall())


def beyond_reading(lines: Iterable[str]) -> list[str]:
    """Return the privileges among lines of SHOW GRANTS that are not for reading alone."""
    found = [privilege for line in lines for privilege in _privileges(line)]
    return list(dict.fromkeys(one for one in found if one not in _READS))


def _privileges(line: str) -> list[str]:
    """Return those of one line of SHOW GRANTS; a role that is granted has its own in other lines."""
    granted = _GRANTED.match(line)
    return _COLUMNS.sub("", granted[1]).split(", ") if granted else []


def _connect(server: Server, user: str, password: str, **options: Any) -> Connection[Any]:
    # PyMySQL reads the server's greeting with the limit of later answers, and without one for ever.
    limits = {"connect_timeout": CONNECT_SECONDS, "read_timeout": CONNECT_SECONDS}
    return pymysql.connect(
        host=server.host,
        port=server.port,
        user=user,
        password=password,
        charset="utf8mb4",
        autocommit=True,
        ssl_disabled=server.is_local,
        **(limits | options),
    )


def _lost(server: Server, error: pymysql.Error) -> EngineLost:
    words = error.args[-1] if error.args else error
    return EngineLost(f"{TITLES[server.dialect]} at {server.address}: {words}")


_TIME_IS_UP = frozenset({3024})
"""MAX_EXECUTION_TIME, the session's or the one in a hint."""

_INTERRUPTED = frozenset({1317, 1028})
"""By KILL, at any point or while it sorted."""

_TOO_LARGE = frozenset({
    4081, 4082,  # the memory of all connections, or of this one; the server closes the connection
    1114,  # a table is full: the reading role can fill none but the temporary ones of its own statement
    1038, 3170,  # memory to sort, to parse or to look for a plan
    1153,  # a packet larger than max_allowed_packet: the text, or a row
    5, 3044,  # memory that the server itself cannot get, or not for a function of geometries
})  # fmt: skip
"""The statement asked for more than it may have."""

_LOST = frozenset({
    2002, 2003, 2006, 2013,  # unreachable, gone, lost
    1040, 1203, 1226,  # too many connections
    1045, 1049, 1129, 1130, 3118, 4031,  # the account, the database, the host or an idle client is refused
    1053, 1077, 1078, 1079, 1927, 3169,  # shutting down; killed
    3, 14, 20, 1021, 1026, 1037, 1041,  # disk or memory of the machine are used up, by whomever
})  # fmt: skip
"""The server cannot be used, whatever the statement."""


class Codes(NamedTuple):
    """What the numbers of a server's errors mean for the harness."""

    title: str = "MySQL"
    time_is_up: frozenset[int] = _TIME_IS_UP
    too_large: frozenset[int] = _TOO_LARGE
    lost: frozenset[int] = _LOST
    too_large_words: str | None = None
    """Words of a message that says the same, whatever its number."""


CODES = Codes()


def message(error: BaseException) -> str:
    """Return the server's or the driver's own words."""
    return unnumbered(str(error.args[-1]) if error.args else str(error))


def translated(
    error: Exception, *, in_time: bool, is_open: bool = True, codes: Codes = CODES
) -> SqlError | EngineLost:
    """Classify a driver's error: the statement's fault, its time, its size, or the server's fault.

    Numbers: https://dev.mysql.com/doc/mysql-errors/9.7/en/

    Args:
        error: as raised.
        in_time: whether the statement's time is not up and the client has not stopped it. An interruption is
            then from elsewhere, such as the server's shutdown.
        is_open: whether the connection is there still.
        codes: the server's error numbers.
    """
    number = error.args[0] if isinstance(error, pymysql.Error) and error.args else None
    code = str(number) if isinstance(number, int) else None
    if number in codes.too_large or (codes.too_large_words and codes.too_large_words in message(error)):
        return SqlTooLarge(message(error), code)
    lost = number in codes.lost or isinstance(error, pymysql.InterfaceError | OSError) or not is_open
    if number in codes.time_is_up or (not in_time and (lost or number in _INTERRUPTED)):
        return SqlTimeout(message(error), code)
    if lost or number in _INTERRUPTED:
        return EngineLost(f"{codes.title}: {message(error)}")
    # The driver makes values while it reads rows, and what it raises for one is of any class.
    return SqlError(message(error), code) if isinstance(error, pymysql.Error) else SqlUnreadable(error)


_LAST_STATEMENT = """
    SELECT event_id, timer_wait, cpu_time, end_event_id IS NOT NULL
    FROM performance_schema.threads JOIN performance_schema.events_statements_current USING (thread_id)
    WHERE processlist_id = %s AND nesting_event_level = 0"""

_COUNTS = """
    SELECT COUNT(*) = 4 FROM performance_schema.setup_consumers WHERE enabled = 'YES' AND name IN (
        'global_instrumentation', 'thread_instrumentation',
        'events_statements_current', 'events_statements_cpu'
    )"""

_PATIENCE_SECONDS = 1.0
"""Seconds the server may take to record a statement whose last row the client already has."""

_PICOSECONDS = 1e12


class MySQLClock:
    """Adds up the times of one session's statements; must be read after each of them.

    The server keeps them in performance_schema, which shows everybody's statements: so the administrating
    account reads it, and never the reading role.
    https://dev.mysql.com/doc/refman/9.7/en/performance-schema-events-statements-current-table.html

    Args:
        connection: of the administrating account; closed by `close`.
        session_id: the id of the session's connection, as `CONNECTION_ID()` gives it.
    """

    def __init__(self, connection: pymysql.Connection[Any], session_id: int) -> None:
        self._connection = connection
        self._session_id = session_id
        self._last: object = None
        self._elapsed = self._processor = 0.0

    def spent(self) -> tuple[float, float] | None:
        """Seconds so far, all and those on the processor; None where the server does not count."""
        try:
            return (self._elapsed, self._processor) if self._counts and self._book() else None
        except pymysql.Error:
            return None

    @cached_property
    def _counts(self) -> bool:
        return self._ask(_COUNTS) == (1,)

    def _book(self) -> bool:
        """Add the last statement, if it was not added before. Whether it could be found."""
        until = time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < until:
            # There is no row while it is being written.
            match self._ask(_LAST_STATEMENT, self._session_id):
                case (event, int(elapsed), int(processor), 1):
                    if event != self._last:
                        self._last = event
                        self._elapsed += elapsed / _PICOSECONDS
                        self._processor += processor / _PICOSECONDS
                    return True
        return False

    def _ask(self, sql: str, *values: object) -> tuple[Any, ...] | None:
        with self._connection.cursor() as cursor:
            cursor.execute(sql, values)
            row: tuple[Any, ...] | None = cursor.fetchone()
            return row

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()
