"""Copies of databases on MySQL: each is a database, whose changed tables are made anew after an answer."""

import hashlib
import json
import re
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pymysql

from dialects.errors import BadInput
from loaders.base.errors import EngineUnavailable
from loaders.dumps import statements
from loaders.server import Server

WRITTEN = (
    "SELECT coalesce(sum(count_write), 0) FROM performance_schema.table_io_waits_summary_by_table"
    " WHERE object_schema = %s"
)


TABLES = (
    "SELECT table_name FROM information_schema.tables WHERE table_schema = %s AND table_type = 'BASE TABLE'"
)


def ask(connection: Any, text: str, *values: object) -> list[tuple[Any, ...]]:
    """Execute a statement, and return its rows."""
    with connection.cursor() as cursor:
        cursor.execute(text, values or None)
        return list(cursor.fetchall())


def quoted(name: str) -> str:
    """Return a name in backticks."""
    return "`" + name.replace("`", "``") + "`"


_TEMPLATE = "bird_tasks_"
_COPY = "bird_task_copy_"
_ROLE = "bird_task_role_"
_LOCK = "bird_tasks"
_NAMES_LOCK = "bird_tasks_names"
"""Held while answers use names that are the server's."""
_NAMES = re.compile(
    r"\b(?:xa|get_lock|release_lock|release_all_locks|is_free_lock|is_used_lock)\b", re.IGNORECASE
)
_NOTE = "prepared before: "
_NOTES = "SELECT attribute->>'$.comment' FROM information_schema.user_attributes WHERE user = %s"
_ROLES = "SELECT user FROM mysql.user WHERE user LIKE %s"
_COPIES = "SELECT schema_name FROM information_schema.schemata WHERE schema_name LIKE %s"
_MOST_COPIES = 24
"""Copies that a worker keeps for later tasks: they cost more to make than to keep."""
_SECONDS_TO_END = 60.0
"""How long the sessions of an answer may take to end."""
_ADMINISTRATION = (
    "SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO', foreign_key_checks = 0, unique_checks = 0,"
    " lock_wait_timeout = 60, innodb_lock_wait_timeout = 60, time_zone = '+00:00',"
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
    ("SELECT options FROM information_schema.schemata_extensions WHERE schema_name = %s"),
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
            ask(self._admin, _ADMINISTRATION)
            with suppress(pymysql.Error):
                ask(self._admin, _COUNTING)
            if ask(self._admin, _COUNTS) != [(1,)]:
                raise EngineUnavailable("mysql: performance_schema has to count reads and writes of tables")
            self._names_are_literal = ask(self._admin, "SELECT @@partial_revokes") == [(1,)]
            self._token = secrets.token_hex(7)
            self._role = f"{_ROLE}{self._token}"
            # Held as long as the worker lives: what is named by it is then no orphan to any other.
            ask(self._admin, "SELECT get_lock(%s, 0)", self._role)
        except pymysql.Error as error:
            raise EngineUnavailable(f"mysql: {error}") from error
        self._has_names = False
        self._password: str | None = None
        self._role_state: object = None
        self._made = 0
        self._templates: dict[str, str] = {}
        self._snapshots: dict[str, _Snapshot] = {}
        self._spare: list[tuple[str, str]] = []
        self._used: list[tuple[str, str]] = []
        self._changed: list[tuple[str, str]] = []
        try:
            self._locked(self._remove_orphans)
        except pymysql.Error as error:
            raise EngineUnavailable(f"mysql: what a killed worker left cannot be removed: {error}") from error

    def _connected(self, **options: Any) -> Any:
        return pymysql.connect(**self._options(), **options, autocommit=True)

    def _options(self) -> dict[str, Any]:
        server = self._server
        return {"host": server.host, "port": server.port, "ssl_disabled": server.is_local}

    def _run(self, text: str, *names: str) -> None:
        ask(self._admin, text.format(*map(quoted, names)))

    def _locked(self, work: Callable[[], None]) -> None:
        ask(self._admin, "SELECT get_lock(%s, 600)", _LOCK)
        try:
            work()
        finally:
            ask(self._admin, "SELECT release_lock(%s)", _LOCK)

    def _remove_orphans(self) -> None:
        """Remove the databases and accounts of killed workers: nobody holds the lock of their names."""
        for query, prefix, remove in (
            (_ROLES, _ROLE, self._end_prepared),
            (_COPIES, _COPY, self._drop),
            (_ROLES, _ROLE, self._drop_role),
        ):
            for (name,) in ask(self._admin, query, prefix.replace("_", r"\_") + "%"):
                owner = name.removeprefix(prefix).partition("_")[0]
                if ask(self._admin, "SELECT is_used_lock(%s)", f"{_ROLE}{owner}") == [(None,)]:
                    remove(name)

    def reserve(self, texts: Sequence[str]) -> None:
        """See `Copies.reserve`: transactions of XA and locks by name have the server's names.

        The account has a note of the transactions that were prepared before, for whoever removes it.
        """
        if not any(map(_NAMES.search, texts)):
            return
        self._create_role()
        ask(self._admin, "SELECT get_lock(%s, 86400)", _NAMES_LOCK)
        self._has_names = True
        self._note(f"{_NOTE}{' '.join(sorted(self._prepared()))}")

    def _note(self, text: str) -> None:
        ask(self._admin, "ALTER USER %s@'%%' COMMENT %s", self._role, text)
        self._role_state = self._found_role()

    def _prepared(self) -> dict[str, str]:
        """Return the prepared transactions, as XA ROLLBACK takes them, by a name without blanks."""
        found = {}
        for form, length, more, data in ask(self._admin, "XA RECOVER CONVERT XID"):
            text = str(data).removeprefix("0x")
            parts = text[: 2 * length], text[2 * length : 2 * (length + more)]
            found[f"{form}:{parts[0]}:{parts[1]}"] = f"X'{parts[0]}', X'{parts[1]}', {form}"
        return found

    def fresh(self, database: str) -> str:
        """See `Copies.fresh`."""
        self.prepare(database)
        one = next(one for one in self._spare if one[0] == database)
        self._spare.remove(one)
        self._used.append(one)
        name = one[1]
        self._create_role()
        self._run("GRANT ALL ON {}.* TO {}@'%'", self._granted(name), self._role)
        [(written,)] = ask(self._admin, WRITTEN, name)
        options = {
            "user": self._role,
            "password": self._password,
            "database": name,
            "written": int(written),
        }
        return json.dumps(self._options() | options)

    def _create_role(self) -> None:
        """Create the account of sessions, unless there is one."""
        if self._password is not None:
            return
        self._password = secrets.token_hex(16)
        ask(self._admin, "CREATE USER %s@'%%' IDENTIFIED BY %s", self._role, self._password)
        ask(
            self._admin,
            "GRANT SELECT ON performance_schema.table_io_waits_summary_by_table TO %s@'%%'",
            self._role,
        )
        self._role_state = self._found_role()

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
        for (table,) in ask(self._admin, TABLES, source):
            self._copy_table(source, name, table)
        ask(self._admin, f"USE {quoted(name)}")
        left = [
            self._text(kind, listed, column, source, name)
            for kind, (query, column) in _MADE.items()
            for (listed,) in ask(self._admin, query, source)
        ]
        while left:
            failed = [text for text in left if not self._attempted(text)]
            if len(failed) == len(left):
                ask(self._admin, failed[0])
            left = failed
        ask(self._admin, "USE mysql")
        self._snapshots[name] = self._snapshot(name)
        return name

    def _attempted(self, text: str) -> bool:
        try:
            ask(self._admin, text)
        except pymysql.Error:
            return False
        return True

    def _text(self, kind: str, name: str, column: str, source: str, copy: str) -> str:
        with self._admin.cursor(pymysql.cursors.DictCursor) as cursor:
            cursor.execute(f"SHOW CREATE {kind} {quoted(source)}.{quoted(name)}")
            text = str((cursor.fetchone() or {})[column])
        # It has the rights of the account, and no more.
        text = _DEFINER.sub(f"DEFINER={quoted(self._role)}@`%`", text, count=1)
        return text.replace(f"{quoted(source)}.", f"{quoted(copy)}.")

    def _copy_table(self, source: str, copy: str, table: str) -> None:
        """Make a table of a copy anew."""
        to, of = f"{quoted(copy)}.{quoted(table)}", f"{quoted(source)}.{quoted(table)}"
        [(_, text, *_)] = ask(self._admin, f"SHOW CREATE TABLE {of}")
        ask(self._admin, f"USE {quoted(copy)}")
        ask(self._admin, f"DROP TABLE IF EXISTS {to}")
        ask(self._admin, text)
        columns = ", ".join(
            quoted(name)
            for (name,) in ask(
                self._admin,
                "SELECT column_name FROM information_schema.columns WHERE table_schema = %s"
                " AND table_name = %s AND generation_expression = '' ORDER BY ordinal_position",
                source,
                table,
            )
        )
        if columns:
            ask(self._admin, f"INSERT INTO {to} ({columns}) SELECT {columns} FROM {of}")  # noqa: S608 - quoted names

    def _snapshot(self, name: str) -> _Snapshot:
        numbers: dict[str, list[int]] = {}
        for encoded, number in ask(
            self._admin,
            "SELECT name, table_id FROM information_schema.innodb_tables WHERE name LIKE %s ORDER BY 1, 2",
            name.replace("_", r"\_") + "/%",
        ):
            table = encoded.partition("/")[2].partition("#")[0]
            numbers.setdefault(_ENCODED.sub(lambda found: chr(int(found[1], 16)), table), []).append(number)
        counts = dict(
            ask(
                self._admin,
                "SELECT object_name, count_write FROM performance_schema.table_io_waits_summary_by_table"
                " WHERE object_schema = %s AND object_type = 'TABLE'",
                name,
            )
        )
        tables = {}
        for (table,) in ask(self._admin, TABLES, name):
            [(_, text, *_)] = ask(self._admin, f"SHOW CREATE TABLE {quoted(name)}.{quoted(table)}")
            tables[table] = text, numbers.get(table, ()), counts.get(table, 0)
        parents: dict[str, list[str]] = {}
        for child, parent in ask(
            self._admin,
            "SELECT table_name, referenced_table_name FROM information_schema.referential_constraints"
            " WHERE constraint_schema = %s",
            name,
        ):
            parents.setdefault(child, []).append(parent)
        others = [sorted(map(repr, ask(self._admin, query, name))) for query in _OTHERS]
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
            ask(self._admin, "USE mysql")
        return True

    def _template(self, database: str) -> str:
        if (known := self._templates.get(database)) is not None:
            return known
        path = dump_of(self._databases, database)
        found = path.stat()
        digest = hashlib.sha256(f"1 {path.name} {found.st_size} {found.st_mtime_ns}".encode())
        name = f"{_TEMPLATE}{digest.hexdigest()[:16]}"
        self._locked(lambda: self._load(path, name))
        self._templates[database] = name
        return name

    def _load(self, path: Path, name: str) -> None:
        """Load a dump, unless that is done; the table of a name that no dump has says that it is whole."""
        if ask(self._admin, "SELECT 1 FROM mysql.user WHERE user = %s", name):
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
        ask(self._admin, "CREATE USER %s@'%%' ACCOUNT LOCK", name)

    def discard(self, *, may_keep: bool) -> None:
        """See `Copies.discard`."""
        self._end_sessions(self._role)
        self._end_prepared(self._role)
        for database, name in self._used:
            if ask(self._admin, _EVENTS, name):
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
        if self._has_names:
            if self._password is not None:
                self._note("")
            ask(self._admin, "SELECT release_lock(%s)", _NAMES_LOCK)
            self._has_names = False

    def _found_role(self) -> object:
        """Return what an account may change about itself: its password, and when that was set."""
        return ask(self._admin, "SELECT * FROM mysql.user WHERE user = %s", self._role)

    def _end_sessions(self, role: str) -> None:
        """End the sessions of an account, and wait for it."""
        ended = time.monotonic() + _SECONDS_TO_END
        while left := ask(self._admin, "SELECT id FROM information_schema.processlist WHERE user = %s", role):
            for (number,) in left:
                with suppress(pymysql.Error):
                    ask(self._admin, f"KILL {number}")
            if time.monotonic() > ended:
                raise EngineUnavailable(f"mysql: sessions of {role} do not end")
            time.sleep(0.002)

    def _drop_role(self, role: str) -> None:
        self._end_sessions(role)
        ask(self._admin, "DROP USER IF EXISTS %s@'%%'", role)

    def _drop(self, name: str) -> None:
        self._snapshots.pop(name, None)
        try:
            self._run("DROP DATABASE IF EXISTS {}", name)
        except pymysql.Error:
            self._run("ALTER DATABASE {} READ ONLY = 0", name)
            self._run("DROP DATABASE IF EXISTS {}", name)

    def _end_prepared(self, role: str) -> None:
        """Roll back the transactions that answers prepared for XA, which outlive their sessions.

        They are those that have come since the note of the account: nothing else tells whose they are.
        """
        for (note,) in ask(self._admin, _NOTES, role):
            if str(note).startswith(_NOTE):
                self._end_sessions(role)
                before = str(note).removeprefix(_NOTE).split()
                for name, values in self._prepared().items():
                    if name not in before:
                        # Whoever else prepared one may end it now.
                        with suppress(pymysql.Error):
                            ask(self._admin, f"XA ROLLBACK {values}")

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


def dump_of(databases: Path, database: str) -> Path:
    """Return the dump that a database is made of.

    Raises:
        BadInput: there is none.
    """
    names = (f"{database}_template_dump.sql", f"{database}_dump.sql", f"{database}.sql")
    for name in names:
        if (path := databases / name).is_file():
            return path
    raise BadInput(
        f"{databases / names[0]}: is missing; databases on MySQL are dumps of this name; get it"
        " with the set, or correct --databases"
    )
