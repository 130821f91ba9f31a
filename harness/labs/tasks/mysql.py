"""Tasks on MySQL: a copy is a database, in which each table that an answer may have changed is made anew."""

import hashlib
import json
import re
import secrets
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pymysql

from dialects.errors import BadInput
from harness.labs.tasks.engine import (
    State,
    StatementFault,
    TaskEngine,
    only_reads,
)
from harness.labs.tasks.families import ScriptFamily
from harness.labs.tasks.helpers import MOST_ROWS, Rows
from loaders.base.errors import EngineUnavailable
from loaders.dumps import statements
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

_WRITTEN = (
    "SELECT coalesce(sum(count_write), 0) FROM performance_schema.table_io_waits_summary_by_table"
    " WHERE object_schema = %s"
)


class MySQLTaskSession:
    """A session on a database; statements go on after errors in it, as in the scripts.

    Args:
        place: the options of a connection as JSON, and `written`: how often rows of the copy were written.
        family: the script family.
    """

    goes_on = True

    def __init__(self, place: str, family: ScriptFamily) -> None:
        options = json.loads(place)
        self._seconds = family.statement_seconds or 0.0
        self._written = options.pop("written")
        self.place = str(options["database"])
        self.connection: Any = pymysql.connect(**options)
        # What a session changes for itself, like temporary tables, is not to be seen by it.
        self._watching = pymysql.connect(**options, autocommit=True, read_timeout=600)
        self._only_reads = True
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
            return found[:MOST_ROWS]
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
            with self.connection.cursor() as cursor:
                cursor.execute(text)
                return list(cursor.fetchall()) if cursor.description is not None else None
        except pymysql.OperationalError:
            if not self.connection.open:
                # It took too long; the server goes on with what nobody waits for.
                with suppress(pymysql.Error):
                    _ask(self._watching, f"KILL {self.connection.thread_id()}")
            raise

    def limit(self, seconds: float) -> None:
        """See `TaskSession.limit`: the server limits queries, and the client whatever else takes longer."""
        self.connection.autocommit(True)
        _ask(self.connection, f"SET SESSION MAX_EXECUTION_TIME = {seconds * 1000:.0f}")
        self.connection._read_timeout = seconds + 1  # noqa: SLF001 - it cannot be set otherwise later on

    def again(self) -> "MySQLTaskSession":
        """See `TaskSession.again`."""
        self.connection._execute_command(_RESET_CONNECTION, "")  # noqa: SLF001 - the driver has no name for it
        self.connection._read_ok_packet()  # noqa: SLF001
        self.connection.set_character_set("utf8mb4")
        _prepare_session(self.connection)
        self.connection.autocommit(False)
        return self

    def state(self, wanted: Collection[str] = ()) -> State:
        """See `TaskSession.state`; the checksum of rows takes little time, so that all entries have one."""
        del wanted
        with suppress(pymysql.Error):
            self.connection.rollback()
            _ask(self.connection, "UNLOCK TABLES")
        return mysql_state(self._watching, self.place)

    def is_untouched(self) -> bool:
        """See `TaskSession.is_untouched`."""
        with suppress(pymysql.Error):
            self.connection.rollback()
            return self._only_reads and _ask(self._watching, _WRITTEN, self.place) == [(self._written,)]
        return False

    def close(self) -> None:
        """See `TaskSession.close`."""
        for connection in (self.connection, self._watching):
            with suppress(pymysql.Error):
                connection.close()


_RESET_CONNECTION = 0x1F
"""https://dev.mysql.com/doc/c-api/9.7/en/mysql-reset-connection.html."""


def _prepare_session(connection: Any) -> None:
    _ask(connection, _SETTINGS)
    # Version 8.0 has this format alone.
    with suppress(pymysql.Error):
        _ask(connection, "SET SESSION explain_json_format_version = 1")


def _ask(connection: Any, text: str, *values: object) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(text, values or None)
        return list(cursor.fetchall())


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

_TABLES = (
    "SELECT table_name FROM information_schema.tables WHERE table_schema = %s AND table_type = 'BASE TABLE'"
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
    for (table,) in _ask(connection, _TABLES, name):
        where = f"{_quoted(name)}.{_quoted(table)}"
        # The checksum is the sum of those of the rows, so that their order does not matter.
        [(count,)] = _ask(connection, f"SELECT count(*) FROM {where}")  # noqa: S608 - quoted names
        [(_, checksum)] = _ask(connection, f"CHECKSUM TABLE {where}")
        found[f"rows {table}"] = f"{count} {checksum}"
    return {key: hashlib.sha256(value.encode()).hexdigest() for key, value in found.items()}


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


_TEMPLATE = "bird_tasks_"
_COPY = "bird_task_copy_"
_ROLE = "bird_task_role_"
_LOCK = "bird_tasks"
_MOST_COPIES = 24
"""Copies that a worker keeps for later tasks: they cost more to make than to keep."""
_SECONDS_TO_END = 60.0
"""How long the sessions of an answer may take to end."""
_ADMINISTRATION = (
    "SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO', foreign_key_checks = 0, unique_checks = 0,"
    " lock_wait_timeout = 5, innodb_lock_wait_timeout = 5, time_zone = '+00:00',"
    " information_schema_stats_expiry = 0, group_concat_max_len = 1000000"
)

_EVENTS = "SELECT 1 FROM information_schema.events WHERE event_schema = %s LIMIT 1"

_OTHERS = (
    (
        "SELECT table_name, view_definition, definer, security_type FROM information_schema.views"
        " WHERE table_schema = %s"
    ),
    (
        "SELECT trigger_name, action_timing, event_manipulation, event_object_table, action_statement,"
        " definer FROM information_schema.triggers WHERE trigger_schema = %s"
    ),
    (
        "SELECT routine_type, routine_name, routine_definition, definer, security_type, last_altered"
        " FROM information_schema.routines WHERE routine_schema = %s"
    ),
    (
        "SELECT event_name, event_definition, status, last_altered FROM information_schema.events"
        " WHERE event_schema = %s"
    ),
    (
        "SELECT table_name, column_name, histogram FROM information_schema.column_statistics"
        " WHERE schema_name = %s"
    ),
    (
        "SELECT default_character_set_name, default_collation_name FROM information_schema.schemata"
        " WHERE schema_name = %s"
    ),
)

_ROUTINES = "SELECT routine_name FROM information_schema.routines WHERE routine_schema = %s AND routine_type"
_MADE: Mapping[str, tuple[str, str]] = {
    "VIEW": ("SELECT table_name FROM information_schema.views WHERE table_schema = %s", "Create View"),
    "FUNCTION": (f"{_ROUTINES} = 'FUNCTION'", "Create Function"),
    "PROCEDURE": (f"{_ROUTINES} = 'PROCEDURE'", "Create Procedure"),
    "TRIGGER": (
        "SELECT trigger_name FROM information_schema.triggers WHERE trigger_schema = %s",
        "SQL Original Statement",
    ),
}
"""What a copy gets after its tables: how it is listed, and where SHOW CREATE has its text."""

_DEFINER = re.compile(r"\bDEFINER\s*=\s*(?:`[^`]*`|'[^']*'|\w+)@(?:`[^`]*`|'[^']*'|[\w%.]+)", re.IGNORECASE)
_SKIPPED = re.compile(
    rb"(?:/\*!\d+ )?(?:CREATE DATABASE|USE |DROP DATABASE|SET @@GLOBAL|SET @@SESSION\.SQL_LOG_BIN)",
    re.IGNORECASE,
)
_ENCODED = re.compile(r"@([0-9a-f]{4})")


@dataclass(frozen=True)
class _Snapshot:
    """What tells whether a copy is as it was made.

    `tables` has for each table its definition, its numbers in InnoDB and how often rows were written. Rows
    that a foreign key changes are not counted: `parents` has the tables that each refers to. `others` is
    everything else.
    """

    tables: Mapping[str, tuple[str, Sequence[int], int]]
    parents: Mapping[str, Sequence[str]]
    others: object

    def changed(self, now: "_Snapshot") -> set[str]:
        """Return the tables that may differ now, and those whose rows they may have changed."""
        names = self.tables.keys() | now.tables.keys()
        found = {name for name in names if self.tables.get(name) != now.tables.get(name)}
        while more := {
            child
            for parents in (self.parents, now.parents)
            for child, of in parents.items()
            if child not in found and not found.isdisjoint(of)
        }:
            found |= more
        return found


class MySQLCopies:
    """Copies of databases on a server, made by its administrator from a database that a dump was loaded into.

    Sessions use an account that has all rights on the copy alone. After each answer the tables that it may
    have changed are made anew; the whole copy is, if it changed anything else.

    Args:
        databases: the folder with a dump for each database.
        server: the server with an administrator's account.

    Raises:
        EngineUnavailable: the server does not answer, or does not count what is written.
    """

    def __init__(self, databases: Path, server: Server) -> None:
        self._databases, self._server = databases, server
        try:
            self._admin = self._connected(user=server.user, password=server.password)
            _ask(self._admin, _ADMINISTRATION)
            with suppress(pymysql.Error):
                _ask(self._admin, _COUNTING)
            if _ask(self._admin, _COUNTS) != [(1,)]:
                raise EngineUnavailable("mysql: performance_schema has to count reads and writes of tables")
            self._names_are_literal = _ask(self._admin, "SELECT @@partial_revokes") == [(1,)]
            self._prepared = {str(row[-1]) for row in _ask(self._admin, "XA RECOVER CONVERT XID")}
        except pymysql.Error as error:
            raise EngineUnavailable(f"mysql: {error}") from error
        self._token = secrets.token_hex(7)
        self._role = f"{_ROLE}{self._token}"
        # Held as long as the worker lives: what is named by it is then no orphan to any other.
        _ask(self._admin, "SELECT get_lock(%s, 0)", self._role)
        self._password: str | None = None
        self._role_state: object = None
        self._made = 0
        self._templates: dict[str, str] = {}
        self._snapshots: dict[str, _Snapshot] = {}
        self._spare: list[tuple[str, str]] = []
        self._used: list[tuple[str, str]] = []
        self._changed: list[tuple[str, str]] = []
        self._locked(self._remove_orphans)

    def _connected(self, **options: Any) -> Any:
        return pymysql.connect(**self._options(), **options, autocommit=True)

    def _options(self) -> dict[str, Any]:
        server = self._server
        return {"host": server.host, "port": server.port, "ssl_disabled": server.is_local}

    def _run(self, text: str, *names: str) -> None:
        _ask(self._admin, text.format(*map(_quoted, names)))

    def _locked(self, work: Callable[[], None]) -> None:
        _ask(self._admin, "SELECT get_lock(%s, 600)", _LOCK)
        try:
            work()
        finally:
            _ask(self._admin, "SELECT release_lock(%s)", _LOCK)

    def _remove_orphans(self) -> None:
        """Remove the databases and accounts of killed workers: nobody holds the lock of their names."""
        for query, prefix, drop in (
            ("SELECT user FROM mysql.user WHERE user LIKE %s", _ROLE, self._drop_role),
            (
                "SELECT schema_name FROM information_schema.schemata WHERE schema_name LIKE %s",
                _COPY,
                self._drop,
            ),
        ):
            for (name,) in _ask(self._admin, query, prefix.replace("_", r"\_") + "%"):
                owner = name.removeprefix(prefix).partition("_")[0]
                if _ask(self._admin, "SELECT is_used_lock(%s)", f"{_ROLE}{owner}") == [(None,)]:
                    drop(name)

    def fresh(self, database: str) -> str:
        """See `Copies.fresh`."""
        self.prepare(database)
        one = next(one for one in self._spare if one[0] == database)
        self._spare.remove(one)
        self._used.append(one)
        name = one[1]
        if self._password is None:
            self._password = secrets.token_hex(16)
            _ask(self._admin, "CREATE USER %s@'%%' IDENTIFIED BY %s", self._role, self._password)
            _ask(
                self._admin,
                "GRANT SELECT ON performance_schema.table_io_waits_summary_by_table TO %s@'%%'",
                self._role,
            )
            self._role_state = self._found_role()
        self._run("GRANT ALL ON {}.* TO {}@'%'", self._granted(name), self._role)
        [(written,)] = _ask(self._admin, _WRITTEN, name)
        options = {
            "user": self._role,
            "password": self._password,
            "database": name,
            "written": int(written),
        }
        return json.dumps(self._options() | options)

    def prepare(self, database: str) -> None:
        """See `Copies.prepare`: the copy is one that is put right again, or a new one."""
        if any(name == database for name, _ in self._spare):
            return
        for one in [one for one in self._changed if one[0] == database]:
            self._changed.remove(one)
            if self._restored(*one):
                self._spare.append(one)
                return
            self._drop(one[1])
        while len(self._spare) + len(self._changed) >= _MOST_COPIES:
            self._drop((self._spare or self._changed).pop(0)[1])
        self._spare.append((database, self._copied(database)))

    def _copied(self, database: str) -> str:
        source = self._template(database)
        name = f"{_COPY}{self._token}_{self._made}"
        self._made += 1
        self._run("CREATE DATABASE {}", name)
        for (table,) in _ask(self._admin, _TABLES, source):
            self._copy_table(source, name, table)
        _ask(self._admin, f"USE {_quoted(name)}")
        left = [
            self._text(kind, listed, column, source, name)
            for kind, (query, column) in _MADE.items()
            for (listed,) in _ask(self._admin, query, source)
        ]
        while left:
            failed = [text for text in left if not self._attempted(text)]
            if len(failed) == len(left):
                _ask(self._admin, failed[0])
            left = failed
        _ask(self._admin, "USE mysql")
        self._snapshots[name] = self._snapshot(name)
        return name

    def _attempted(self, text: str) -> bool:
        try:
            _ask(self._admin, text)
        except pymysql.Error:
            return False
        return True

    def _text(self, kind: str, name: str, column: str, source: str, copy: str) -> str:
        with self._admin.cursor(pymysql.cursors.DictCursor) as cursor:
            cursor.execute(f"SHOW CREATE {kind} {_quoted(source)}.{_quoted(name)}")
            text = str((cursor.fetchone() or {})[column])
        # It has the rights of the account, and no more.
        text = _DEFINER.sub(f"DEFINER={_quoted(self._role)}@`%`", text, count=1)
        return text.replace(f"{_quoted(source)}.", f"{_quoted(copy)}.")

    def _copy_table(self, source: str, copy: str, table: str) -> None:
        """Make a table of a copy anew."""
        to, of = f"{_quoted(copy)}.{_quoted(table)}", f"{_quoted(source)}.{_quoted(table)}"
        [(_, text, *_)] = _ask(self._admin, f"SHOW CREATE TABLE {of}")
        _ask(self._admin, f"USE {_quoted(copy)}")
        _ask(self._admin, f"DROP TABLE IF EXISTS {to}")
        _ask(self._admin, text)
        columns = ", ".join(
            _quoted(name)
            for (name,) in _ask(
                self._admin,
                "SELECT column_name FROM information_schema.columns WHERE table_schema = %s"
                " AND table_name = %s AND generation_expression = '' ORDER BY ordinal_position",
                source,
                table,
            )
        )
        if columns:
            _ask(self._admin, f"INSERT INTO {to} ({columns}) SELECT {columns} FROM {of}")  # noqa: S608 - quoted names

    def _snapshot(self, name: str) -> _Snapshot:
        numbers: dict[str, list[int]] = {}
        for encoded, number in _ask(
            self._admin,
            "SELECT name, table_id FROM information_schema.innodb_tables WHERE name LIKE %s ORDER BY 1, 2",
            name.replace("_", r"\_") + "/%",
        ):
            table = encoded.partition("/")[2].partition("#")[0]
            numbers.setdefault(_ENCODED.sub(lambda found: chr(int(found[1], 16)), table), []).append(number)
        counts = dict(
            _ask(
                self._admin,
                "SELECT object_name, count_write FROM performance_schema.table_io_waits_summary_by_table"
                " WHERE object_schema = %s AND object_type = 'TABLE'",
                name,
            )
        )
        tables = {}
        for (table,) in _ask(self._admin, _TABLES, name):
            [(_, text, *_)] = _ask(self._admin, f"SHOW CREATE TABLE {_quoted(name)}.{_quoted(table)}")
            tables[table] = text, numbers.get(table, ()), counts.get(table, 0)
        parents: dict[str, list[str]] = {}
        for child, parent in _ask(
            self._admin,
            "SELECT table_name, referenced_table_name FROM information_schema.referential_constraints"
            " WHERE constraint_schema = %s",
            name,
        ):
            parents.setdefault(child, []).append(parent)
        others = [sorted(map(repr, _ask(self._admin, query, name))) for query in _OTHERS]
        return _Snapshot(tables, parents, others)

    def _restored(self, database: str, name: str) -> bool:
        """Put a copy right again; return False if that cannot be done table by table."""
        try:
            made, now = self._snapshots[name], self._snapshot(name)
            if made.others != now.others:
                return False
            for table in made.changed(now):
                if table in made.tables:
                    self._copy_table(self._template(database), name, table)
                else:
                    self._run("DROP TABLE {}.{}", name, table)
            if made != now:
                self._snapshots[name] = self._snapshot(name)
        except pymysql.Error:
            return False
        finally:
            _ask(self._admin, "USE mysql")
        return True

    def _template(self, database: str) -> str:
        if (known := self._templates.get(database)) is not None:
            return known
        path = _dump(self._databases, database)
        found = path.stat()
        digest = hashlib.sha256(f"1 {path.name} {found.st_size} {found.st_mtime_ns}".encode())
        name = f"{_TEMPLATE}{digest.hexdigest()[:16]}"
        self._locked(lambda: self._load(path, name))
        self._templates[database] = name
        return name

    def _load(self, path: Path, name: str) -> None:
        """Load a dump, unless that is done; the table of a name that no dump has says that it is whole."""
        if _ask(self._admin, "SELECT 1 FROM mysql.user WHERE user = %s", name):
            return
        # An account that nobody can use stands for a template that is complete.
        self._run("DROP DATABASE IF EXISTS {}", name)
        self._run("CREATE DATABASE {}", name)
        with closing(
            self._connected(user=self._server.user, password=self._server.password, database=name)
        ) as connection:
            for statement in statements(path, self._server.dialect):
                if _SKIPPED.match(statement.text):
                    continue
                text = statement.text.decode("utf-8", "surrogateescape")
                text = text if text[:6].upper() == "INSERT" else _DEFINER.sub("", text)
                try:
                    connection.query(text)
                except pymysql.Error as error:
                    self._run("DROP DATABASE IF EXISTS {}", name)
                    raise BadInput(f"{path}: line {statement.line}: cannot be loaded: {error}") from error
        _ask(self._admin, "CREATE USER %s@'%%' ACCOUNT LOCK", name)

    def discard(self, *, may_keep: bool) -> None:
        """See `Copies.discard`."""
        self._end_sessions(self._role)
        self._end_prepared()
        for database, name in self._used:
            if _ask(self._admin, _EVENTS, name):
                # It would go on.
                self._drop(name)
            elif may_keep and self._restored(database, name):
                self._spare.append((database, name))
            else:
                self._changed.append((database, name))
            if self._password is not None:
                self._run("REVOKE ALL ON {}.* FROM {}@'%'", self._granted(name), self._role)
        self._used.clear()
        if self._password is not None and self._found_role() != self._role_state:
            # An answer has changed the account.
            self._drop_role(self._role)
            self._password = None

    def _found_role(self) -> object:
        """Return what an account may change about itself: its password, and when that was set."""
        return _ask(self._admin, "SELECT * FROM mysql.user WHERE user = %s", self._role)

    def _end_sessions(self, role: str) -> None:
        """End the sessions of an account, and wait for it."""
        ended = time.monotonic() + _SECONDS_TO_END
        while left := _ask(
            self._admin, "SELECT id FROM information_schema.processlist WHERE user = %s", role
        ):
            for (number,) in left:
                with suppress(pymysql.Error):
                    _ask(self._admin, f"KILL {number}")
            if time.monotonic() > ended:
                raise EngineUnavailable(f"mysql: sessions of {role} do not end")
            time.sleep(0.002)

    def _drop_role(self, role: str) -> None:
        self._end_sessions(role)
        _ask(self._admin, "DROP USER IF EXISTS %s@'%%'", role)

    def _drop(self, name: str) -> None:
        self._snapshots.pop(name, None)
        try:
            self._run("DROP DATABASE IF EXISTS {}", name)
        except pymysql.Error:
            self._end_prepared()
            self._run("DROP DATABASE IF EXISTS {}", name)

    def _end_prepared(self) -> None:
        """Roll back transactions that were prepared for XA: they outlive their sessions, and their locks do.

        Those that were there before are left alone. Nothing tells whose the others are.
        """
        for row in _ask(self._admin, "XA RECOVER CONVERT XID"):
            if str(row[-1]) not in self._prepared:
                _roll_back(self._admin, row)

    def _granted(self, name: str) -> str:
        """Return the name of a database as GRANT takes it, where `_` may stand for any letter."""
        return name if self._names_are_literal else name.replace("_", r"\_")

    def close(self) -> None:
        """See `Copies.close`."""
        with suppress(pymysql.Error, EngineUnavailable):
            self._drop_role(self._role)
            for _, name in (*self._used, *self._spare, *self._changed):
                self._drop(name)
        with suppress(pymysql.Error):
            self._admin.close()


_COUNTING = (
    "UPDATE performance_schema.setup_instruments SET enabled = 'YES', timed = 'NO'"
    " WHERE name = 'wait/io/table/sql/handler'"
)
_COUNTS = (
    "SELECT (SELECT count(*) FROM performance_schema.setup_instruments WHERE enabled = 'YES'"
    " AND name = 'wait/io/table/sql/handler') = 1 AND (SELECT sum(variable_value) FROM"
    " performance_schema.global_status WHERE variable_name IN ('Performance_schema_table_instances_lost',"
    " 'Performance_schema_table_handles_lost')) = 0"
)


def _roll_back(admin: Any, row: Sequence[Any]) -> None:
    """Roll back a prepared transaction, https://dev.mysql.com/doc/refman/9.7/en/xa-statements.html."""
    form, length, more, data = row
    text = str(data).removeprefix("0x")
    parts = text[: 2 * length], text[2 * length : 2 * (length + more)]
    with suppress(pymysql.Error):
        _ask(admin, f"XA ROLLBACK X'{parts[0]}', X'{parts[1]}', {form}")


def _dump(databases: Path, database: str) -> Path:
    names = (f"{database}_template_dump.sql", f"{database}_dump.sql", f"{database}.sql")
    for name in names:
        if (path := databases / name).is_file():
            return path
    raise BadInput(f"{databases / names[0]}: is missing; databases on MySQL are dumps of this name")


def _plan_cost(rows: Rows) -> float:
    """Return the cost of a query by its plan in JSON, in version 1 of the format."""
    plan = json.loads(rows[0][0]) if rows else {}
    return float(plan.get("query_block", {}).get("cost_info", {}).get("query_cost", 0.0))


def _copies(databases: Path, server: Server | None) -> MySQLCopies:
    assert server is not None  # noqa: S101 - the command has found it
    return MySQLCopies(databases, server)


ENGINE = TaskEngine(
    has_server=True,
    session=MySQLTaskSession,
    copies=_copies,
    query_function="perform_query_on_mysql_databases",
    execution_options={"is_solution": True},
    place="db_name",
    explain="EXPLAIN FORMAT=JSON",
    cost=_plan_cost,
)
