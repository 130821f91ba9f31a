"""MariaDB through MySQL's driver: where its accounts, settings and errors differ."""

from __future__ import annotations  # PyMySQL's Connection is generic in its stubs alone

from collections.abc import Mapping, Sequence
from typing import ClassVar

from dialects.enums import Profile
from harness.engines.mysql import connections as mysql
from harness.engines.mysql.connections import (
    CODES,
    FAILURES,
    Accounts,
    Codes,
    MySQLConnections,
    administrating,
    assigned,
    clock_of,
    collation_of,
)
from loaders.namespace import Database
from loaders.server import Server

__all__ = ["FAILURES", "MariaDBConnections", "administrating", "rights_to_write"]

_MEMORY_BYTES = 256 * 2**20
"""What one session may have, as on MySQL."""

ERROR_NUMBERS = Codes(
    title="MariaDB",
    time_is_up=frozenset({1969}),  # ER_STATEMENT_TIMEOUT
    # 200: HA_ERR_LOCAL_TMP_SPACE_FULL; 1038, 1114, 1153, 3170 as on MySQL.
    too_large=(CODES.too_large - {4081, 4082}) | {200},
    lost=CODES.lost - {3118, 3169, 4031},
    too_large_words="max-session-mem-used",
)
"""https://mariadb.com/kb/en/mariadb-error-codes/"""


class _Accounts(Accounts):
    MAKE: ClassVar[Sequence[str]] = (
        "CREATE USER IF NOT EXISTS %(account)s@'%%' IDENTIFIED BY %(nothing)s",
        "GRANT %(role)s TO %(account)s@'%%'",
        "SET DEFAULT ROLE %(role)s FOR %(account)s@'%%'",
        "ALTER USER %(account)s@'%%' IDENTIFIED BY %(password)s WITH MAX_USER_CONNECTIONS 1 ACCOUNT UNLOCK",
    )


class MariaDBConnections(MySQLConnections):
    """See `MySQLConnections`."""

    COLLATION: ClassVar[str] = "utf8mb4_uca1400_ai_ci"
    SESSION: ClassVar[Mapping[str, str | int]] = {
        **{
            name: value
            for name, value in MySQLConnections.SESSION.items()
            if name not in {"cte_max_recursion_depth", "windowing_use_high_precision"}
        },
        "sql_mode": "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,"
        "NO_ENGINE_SUBSTITUTION",
        "group_concat_max_len": 2**20,
        "max_recursive_iterations": 1000,
        "old_mode": "UTF8_IS_UTF8MB3",
    }

    @staticmethod
    def accounts(server: Server) -> Accounts:
        """See `MySQLConnections.accounts`."""
        return _Accounts(server)

    def settings(self, database: Database, seconds: float) -> str:
        """See `MySQLConnections.settings`.

        A recursive query ends without an error after `max_recursive_iterations` steps, a list at
        `group_concat_max_len` bytes with a warning, and texts are sorted by their first `max_sort_length`
        bytes, four a character, which need room in `sort_buffer_size`: translations need all lifted, and have
        no hint for it. Of texts that are longer, the first 65,536 characters decide.
        With `split_materialized`, a join with a derived table that has IN in its HAVING loses rows.
        """
        unlimited = (
            ", SESSION max_recursive_iterations = 4294967295, SESSION group_concat_max_len = 1073741824"
            ", SESSION max_sort_length = 262144, SESSION sort_buffer_size = 67108864"
            ", SESSION optimizer_search_depth = 5, SESSION optimizer_switch = 'split_materialized=off'"
            if database.profile is Profile.FAITHFUL
            else ""
        )
        return (
            f"SET NAMES utf8mb4{collation_of(database, self.COLLATION)}, SESSION transaction_read_only = 1, "
            f"SESSION max_statement_time = {max(0.001, seconds)}, "
            f"SESSION max_session_mem_used = {_MEMORY_BYTES}{assigned(self.SESSION)}{unlimited}"
            f"{clock_of(database)}"
        )


def rights_to_write(server: Server) -> list[str]:
    """See `Administration.rights_to_write`."""
    with mysql.connect(server, server.user, server.password) as connection, connection.cursor() as cursor:
        cursor.execute("SHOW GRANTS")  # those of the account and of its roles
        return mysql.beyond_reading(str(line) for (line,) in cursor.fetchall())
