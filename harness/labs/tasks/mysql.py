"""Tasks on MySQL: sessions on copies, the state of a copy, and the cost of a plan."""

import hashlib
import json
from collections.abc import Collection, Sequence
from contextlib import closing, suppress
from typing import Any

import pymysql

from dialects.enums import Dialect
from harness.labs.tasks.engine import (
    State,
    StatementFault,
    TaskEngine,
    only_reads,
    reached_by,
    time_limit,
)
from harness.labs.tasks.families import ScriptFamily
from harness.labs.tasks.helpers import MOST_ROWS, Rows
from harness.labs.tasks.mysql_copies import TABLES, WRITTEN, MySQLCopies, ask, dump_of, quoted
from loaders.namespace import Database
from loaders.server import Server

_COMMITTED = (
    *("insert", "update", "delete", "create", "drop", "alter", "truncate", "rename", "replace", "grant"),
    *("revoke", "lock tables", "unlock tables", "start transaction", "begin", "commit", "rollback", "call"),
    *("load data", "set", "do", "handler", "load xml", "merge", "prepare", "execute", "deallocate prepare"),
    "xa",
)
"""A text is committed if one of these is anywhere in it, in other words as well."""

_SETTINGS = (
    "SET SESSION sql_mode = 'STRICT_TRANS_TABLES,NO_ZERO_DATE,NO_ENGINE_SUBSTITUTION', time_zone = '+00:00'"
)
"""As the servers of BIRD-CRITIC have them."""


class MySQLTaskSession:
    """A session on a database; statements go on after errors in it, as in the scripts, until `limit`.

    Args:
        place: the options of a connection as JSON, and `written`: how often rows of the copy were written.
        family: the script family.
    """

    def __init__(self, place: str, family: ScriptFamily) -> None:
        self.goes_on = True
        options = json.loads(place)
        self._seconds = family.statement_seconds or 0.0
        self._written = options.pop("written")
        self.place = str(options["database"])
        self.connection: Any = pymysql.connect(**options)
        # What a session changes for itself, like temporary tables, is not to be seen by it.
        self._watching = pymysql.connect(**options, autocommit=True, read_timeout=600)
        self._only_reads = True
        self._limit = 0.0
        for connection in (self.connection, self._watching):
            _prepare_session(connection)

    def official(self, text: str) -> Rows:
        """See `TaskSession.official`."""
        connection = self.connection
        with suppress(Exception), connection.cursor() as cursor:
            cursor.execute(f"SET SESSION MAX_EXECUTION_TIME = {self._seconds * 1000:.0f}")
        cursor = connection.cursor()
        try:
            cursor.execute(text)
            words = text.strip().lower()
            if any(word in words for word in _COMMITTED):
                connection.commit()
            found: Sequence[tuple[Any, ...]] = cursor.fetchall()
            # The driver returns a list where there is no result set, other than the scripts' does.
            return tuple(found[:MOST_ROWS])
        except Exception:
            connection.rollback()
            raise
        finally:
            cursor.close()

    def fault(self, error: Exception) -> StatementFault:
        """See `TaskSession.fault`: the scripts call no error one of time."""
        return StatementFault(str(error))

    def whole(self, text: str) -> Rows:
        """See `TaskSession.whole`."""
        self._only_reads = self._only_reads and only_reads([text])
        try:
            with time_limit(self._limit), self.connection.cursor() as cursor:
                cursor.execute(text)
                return tuple(cursor.fetchall()) if cursor.description is not None else None
        except (TimeoutError, pymysql.OperationalError) as error:
            if isinstance(error, TimeoutError) or not self.connection.open:
                # It took too long; the server goes on with what nobody waits for.
                number = self.connection.thread_id()
                self.connection._force_close()  # noqa: SLF001 - a result may be on its way
                with suppress(pymysql.Error):
                    ask(self._watching, f"KILL {number}")
            raise

    def limit(self, seconds: float) -> None:
        """See `TaskSession.limit`: the server limits queries, and the client whatever else takes longer."""
        self.connection.autocommit(True)
        ask(self.connection, f"SET SESSION MAX_EXECUTION_TIME = {seconds * 1000:.0f}")
        self._limit = seconds + 1
        self.goes_on = False

    def again(self) -> "MySQLTaskSession":
        """See `TaskSession.again`."""
        self.connection._execute_command(_RESET_CONNECTION, "")  # noqa: SLF001 - the driver has no name for it
        self.connection._read_ok_packet()  # noqa: SLF001
        self.connection.set_character_set("utf8mb4")
        _prepare_session(self.connection)
        self.connection.autocommit(False)
        self.goes_on = True
        return self

    def state(self, wanted: Collection[str] = ()) -> State:
        """See `TaskSession.state`; the checksum of rows takes little time, so that all entries have one."""
        del wanted
        with suppress(pymysql.Error):
            self.connection.rollback()
            ask(self.connection, "UNLOCK TABLES")
        return mysql_state(self._watching, self.place)

    def is_untouched(self) -> bool:
        """See `TaskSession.is_untouched`."""
        with suppress(pymysql.Error):
            self.connection.rollback()
            return self._only_reads and ask(self._watching, WRITTEN, self.place) == [(self._written,)]
        return False

    def close(self) -> None:
        """See `TaskSession.close`."""
        for connection in (self.connection, self._watching):
            with suppress(pymysql.Error):
                connection.close()


_RESET_CONNECTION = 0x1F
"""https://dev.mysql.com/doc/c-api/9.7/en/mysql-reset-connection.html."""


def _prepare_session(connection: Any) -> None:
    ask(connection, _SETTINGS)
    # Version 8.0 has this format alone.
    with suppress(pymysql.Error):
        ask(connection, "SET SESSION explain_json_format_version = 1")


_SCHEMA = (
    (
        "SELECT concat('column ', table_name, '.', column_name), concat_ws(' ', column_type, is_nullable,"
        " quote(column_default), extra, generation_expression, collation_name)"
        " FROM information_schema.columns WHERE table_schema = %(db)s"
    ),
    (
        "SELECT concat('index ', table_name, '.', index_name), group_concat(concat_ws(' ', non_unique,"
        " column_name, sub_part, expression, collation, index_type) ORDER BY seq_in_index)"
        " FROM information_schema.statistics WHERE table_schema = %(db)s GROUP BY table_name, index_name"
    ),
    (
        "SELECT concat('constraint ', k.table_name, '.', k.constraint_name), group_concat(concat_ws(' ',"
        " k.column_name, k.referenced_table_name, k.referenced_column_name, r.update_rule, r.delete_rule)"
        " ORDER BY k.ordinal_position) FROM information_schema.key_column_usage k"
        " JOIN information_schema.referential_constraints r USING (constraint_schema, table_name,"
        " constraint_name) WHERE k.constraint_schema = %(db)s GROUP BY k.table_name, k.constraint_name"
    ),
    (
        "SELECT concat('check ', t.table_name, '.', constraint_name), concat(check_clause, t.enforced)"
        " FROM information_schema.check_constraints c JOIN information_schema.table_constraints t"
        " USING (constraint_schema, constraint_name) WHERE c.constraint_schema = %(db)s"
    ),
    (
        "SELECT concat('view ', table_name), concat(view_definition, check_option)"
        " FROM information_schema.views WHERE table_schema = %(db)s"
    ),
    (
        "SELECT concat('trigger ', event_object_table, '.', trigger_name), concat_ws(' ', action_timing,"
        " event_manipulation, action_order, action_statement) FROM information_schema.triggers"
        " WHERE trigger_schema = %(db)s"
    ),
    (
        "SELECT concat(lower(r.routine_type), ' ', r.routine_name), concat_ws(' ', r.dtd_identifier,"
        " r.routine_definition, group_concat(concat_ws(' ', p.parameter_mode, p.parameter_name,"
        " p.dtd_identifier) ORDER BY p.ordinal_position)) FROM information_schema.routines r"
        " LEFT JOIN information_schema.parameters p ON p.specific_schema = r.routine_schema"
        " AND p.specific_name = r.specific_name WHERE r.routine_schema = %(db)s"
        " GROUP BY r.routine_type, r.routine_name, r.dtd_identifier, r.routine_definition"
    ),
    (
        "SELECT concat('event ', event_name), concat_ws(' ', event_definition, interval_value,"
        " interval_field, status) FROM information_schema.events WHERE event_schema = %(db)s"
    ),
)


def mysql_state(connection: Any, name: str) -> State:
    """Return the state of a database; the next number of AUTO_INCREMENT is no part of it."""
    found: dict[str, str] = {}
    # A view names the database.
    place = f"`{name}`."
    with connection.cursor() as cursor:
        for text in _SCHEMA:
            cursor.execute(text, {"db": name})
            found |= {str(key): str(value).replace(place, "") for key, value in cursor.fetchall()}
    for (table,) in ask(connection, TABLES, name):
        where = f"{quoted(name)}.{quoted(table)}"
        # The checksum is the sum of those of the rows, so that their order does not matter.
        try:
            [(count,)] = ask(connection, f"SELECT count(*) FROM {where}")  # noqa: S608 - quoted names
            [(_, checksum)] = ask(connection, f"CHECKSUM TABLE {where}")
        except pymysql.Error as error:
            if not connection.open:
                raise
            # A table without its file, for one.
            count, checksum = "no rows can be read", error.args[0]
        found[f"rows {table}"] = f"{count} {checksum}"
    return {key: hashlib.sha256(value.encode()).hexdigest() for key, value in found.items()}


def _plan_cost(rows: Rows) -> float:
    """Return the cost of a query by its plan in JSON, in version 1 of the format."""
    plan = json.loads(rows[0][0]) if rows else {}
    return float(plan.get("query_block", {}).get("cost_info", {}).get("query_cost", 0.0))


_WAITS = "SET SESSION lock_wait_timeout = 5"
"""An answer may hold a lock."""


def _reached(place: str, dialect: Dialect) -> tuple[Server, Database]:
    options = json.loads(place)
    del options["written"]
    name = str(options["database"])
    # Statistics come some time after rows.
    with closing(pymysql.connect(**options, autocommit=True)) as connection:
        ask(connection, _WAITS)
        for (table,) in ask(connection, TABLES, name):
            ask(connection, f"ANALYZE TABLE {quoted(table)}")
    return reached_by(options, dialect, name, name)


ENGINE = TaskEngine(
    has_server=True,
    session=MySQLTaskSession,
    copies=MySQLCopies,
    query_function="perform_query_on_mysql_databases",
    execution_options={"is_solution": True},
    place="db_name",
    reached=_reached,
    explain="EXPLAIN FORMAT=JSON",
    cost=_plan_cost,
    sources=lambda databases, name: [dump_of(databases, name)],
)
