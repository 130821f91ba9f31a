"""Load into MariaDB as into MySQL, with the reading role as a role that its accounts have.

A role and an account of one name are two things in MariaDB: what is granted without a host is the role's.
https://mariadb.com/kb/en/roles_overview/
"""

from __future__ import annotations  # PyMySQL's Connection is generic in its stubs alone

from typing import Any

from pymysql.connections import Connection

from dialects.enums import Dialect
from loaders.mysql.session import ask, attempt, connected, pattern_of
from loaders.mysql.target import MySQLTarget, reader_is_ready
from loaders.server import Server


def _grant(connection: Connection[Any], server: Server, right: str, database: str) -> None:
    pattern = pattern_of(connection, database)
    ask(connection, f"GRANT {right} ON {pattern}.* TO {connection.escape(server.reader_user)}")


def _revoke(connection: Connection[Any], server: Server, right: str, database: str) -> None:
    pattern = pattern_of(connection, database)
    # An error if there is nothing to revoke.
    attempt(connection, f"REVOKE {right} ON {pattern}.* FROM {connection.escape(server.reader_user)}")


class _MariaDB(MySQLTarget):
    dialect = Dialect.MARIADB
    place = "bigint NOT NULL DEFAULT 0 INVISIBLE"  # an invisible column needs a default
    to_count = ""
    grant = staticmethod(_grant)
    revoke = staticmethod(_revoke)

    def admit_reader(self, server: Server) -> None:
        if reader_is_ready(server):
            return
        with connected(server) as connection:
            names = {"reader": server.reader_user, "password": server.reader_password}
            for statement in (
                "CREATE ROLE IF NOT EXISTS %(reader)s",
                "CREATE USER IF NOT EXISTS %(reader)s@'%%' IDENTIFIED BY %(password)s",
                "ALTER USER %(reader)s@'%%' IDENTIFIED BY %(password)s",
                "GRANT %(reader)s TO %(reader)s@'%%'",
                "SET DEFAULT ROLE %(reader)s FOR %(reader)s@'%%'",
            ):
                ask(connection, statement, names)


TARGET = _MariaDB()
