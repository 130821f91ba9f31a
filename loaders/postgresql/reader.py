"""The role that predictions run as on PostgreSQL: it reads what was loaded, within limits, and no more.

Tables are granted where they are loaded. What PostgreSQL lets every role do besides is taken away here.
https://www.postgresql.org/docs/current/ddl-priv.html
"""

from collections.abc import Mapping
from typing import Any

import psycopg
from psycopg import Connection

from dialects.identifiers import quoted
from loaders.postgresql.session import CONNECT_SECONDS, MAINTENANCE, attempt, connected, run
from loaders.server import READER_CONNECTIONS, Origin, Server

_SETTINGS: Mapping[str, str] = {
    "default_transaction_read_only": "on",
    "temp_file_limit": "4GB",
    "idle_in_transaction_session_timeout": "60s",
    "client_connection_check_interval": "1s",
    "track_activities": "off",
    "log_min_messages": "fatal",
    "log_min_error_statement": "panic",
}
"""The role's settings. It can change those that are no limit, for its session.

`temp_file_limit` is the disk that one statement may fill. A statement whose client has gone ends within
`client_connection_check_interval` (from version 14, where the system can tell). What it runs is not shown in
`pg_stat_activity`, where all sessions of one role could read it: golds, and the texts of other predictors.
The log stays small, however long the texts and however many their errors.
"""

_REVOKED = (
    "^lo_",
    "^(loread|lowrite|ts_stat|pg_notify|pg_cancel_backend|pg_terminate_backend)$",
    "^(pg_export_snapshot|pg_logical_emit_message)$",
    "^pg_(try_)?advisory_",
    "^pg_.*_slot(_|$)",
    "^(query|cursor|table|schema|database)_to_xml",
)
"""Functions for everybody that write, reach another session, or run text as SQL.

Nobody answers a question with them; a lock that one prediction holds would decide about another one. As one
pattern they would take three times as long.
"""

_LANGUAGES = "plpgsql, sql"
"""Without them the role writes no code. Functions that exist can be called all the same."""

_SECLUDED = "bird-harness: secluded 1"
"""Comment of a database from which all of that was taken away; the number changes with it."""

_NO_DATABASE_FOR_IT = "permission denied for database"


def admit(server: Server) -> None:
    """Make sure that the role exists, can log in and is held to its limits wherever it may connect."""
    with connected(server, MAINTENANCE) as connection:
        if server.origin is not Origin.DSN:
            _close(connection)
        if not _is_as_wanted(connection, server):
            _put_right(connection, server)
    with connected(server, MAINTENANCE) as connection:
        found = connection.execute(
            "SELECT datname FROM pg_database WHERE datallowconn AND EXISTS (SELECT FROM aclexplode(datacl)"
            " JOIN pg_roles ON grantee = pg_roles.oid WHERE rolname = %s)"
            " AND shobj_description(oid, 'pg_database') IS DISTINCT FROM %s",
            [server.reader_user, _SECLUDED],
        )
        names = [name for (name,) in found]
    for name in names:
        seclude(server, name)


def seclude(server: Server, database: str) -> None:
    """Take from the role what it can do in a database without privileges on tables, unless that was done.

    An administrator who is no superuser cannot take functions away; the driver refuses what writes, anyhow.
    """
    with connected(server, MAINTENANCE) as connection:
        said = connection.execute(
            "SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = %s", [database]
        ).fetchone()
    if said == (_SECLUDED,):
        return
    with connected(server, database) as connection:
        run(connection, "REVOKE ALL ON SCHEMA public FROM PUBLIC")
        attempt(connection, f"REVOKE USAGE ON LANGUAGE {_LANGUAGES} FROM PUBLIC")
        found = connection.execute(
            "SELECT oid::regprocedure::text FROM pg_proc WHERE proname ~ ANY (%s)"
            " AND pronamespace = 'pg_catalog'::regnamespace",
            [[*_REVOKED]],
        )
        attempt(
            connection,
            f"REVOKE EXECUTE ON FUNCTION {', '.join(name for (name,) in found)} FROM PUBLIC",
        )
        run(connection, f"COMMENT ON DATABASE {quoted(database)} IS '{_SECLUDED}'")


def _close(connection: Connection[Any]) -> None:
    """Nobody but administrators connects to databases that hold nothing of ours. Not on servers of others."""
    rows = connection.execute(
        "SELECT datname FROM pg_database WHERE datname IN ('postgres', 'template1')"
        " AND EXISTS (SELECT FROM aclexplode(coalesce(datacl, acldefault('d', datdba))) WHERE grantee = 0)"
    ).fetchall()
    for (name,) in rows:
        run(connection, f"REVOKE ALL ON DATABASE {quoted(name)} FROM PUBLIC")


def _put_right(connection: Connection[Any], server: Server) -> None:
    role = quoted(server.reader_user)
    if not connection.execute("SELECT FROM pg_roles WHERE rolname = %s", [server.reader_user]).rowcount:
        run(connection, f"CREATE ROLE {role}")
    password = connection.pgconn.encrypt_password(
        server.reader_password.encode(), server.reader_user.encode(), b"scram-sha-256"
    )
    run(
        connection,
        f"ALTER ROLE {role} LOGIN CONNECTION LIMIT {READER_CONNECTIONS} PASSWORD '{password.decode()}'",
    )
    attempt(
        connection,
        f"ALTER ROLE {role} NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS",
    )
    run(connection, f"ALTER ROLE {role} RESET ALL")
    run(connection, f"ALTER ROLE {role} SET default_transaction_read_only = on")
    for name, value in _SETTINGS.items():
        # Some are for a superuser to set, some not for every version.
        attempt(connection, f"ALTER ROLE {role} SET {name} = '{value}'")


def _is_as_wanted(connection: Connection[Any], server: Server) -> bool:
    found = connection.execute(
        "SELECT rolconfig, rolcanlogin, rolconnlimit,"
        " rolsuper OR rolcreatedb OR rolcreaterole OR rolreplication OR rolbypassrls"
        " FROM pg_roles WHERE rolname = %s",
        [server.reader_user],
    ).fetchone()
    known = connection.execute("SELECT name FROM pg_settings WHERE name = ANY(%s)", [[*_SETTINGS]])
    wanted = {f"{name}={_SETTINGS[name]}" for (name,) in known}
    if found is None or found[1:] != (True, READER_CONNECTIONS, False):
        return False
    return set(found[0] or ()) == wanted and _logs_in(server)


def _logs_in(server: Server) -> bool:
    """Whether the password is right. A database that is closed to the role says so after looking at it."""
    try:
        with psycopg.connect(
            host=server.host, port=server.port, user=server.reader_user, password=server.reader_password,
            dbname=MAINTENANCE, connect_timeout=CONNECT_SECONDS,
        ):  # fmt: skip
            return True
    except psycopg.OperationalError as error:
        return _NO_DATABASE_FOR_IT in str(error)
