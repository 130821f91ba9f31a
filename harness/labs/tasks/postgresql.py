"""Tasks on PostgreSQL: a copy is a database, made from a template that dumps were loaded into once."""

import hashlib
import json
import re
import secrets
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import ExecStatus

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.labs.tasks.engine import (
    MOST_SPARE,
    READING,
    State,
    StatementFault,
    TaskEngine,
    reached_by,
    time_limit,
)
from harness.labs.tasks.families import ScriptFamily
from harness.labs.tasks.helpers import MOST_ROWS, Rows
from harness.labs.tasks.postgresql_state import EXACT_SINCE, postgresql_state, tables_made
from harness.labs.tasks.psycopg2 import Connection, read_as_psycopg2, stand_in
from loaders.base.errors import EngineUnavailable
from loaders.base.files import read_text
from loaders.namespace import Database
from loaders.server import Server

_RECURSION = "WITH RECURSIVE"


class PostgreSQLTaskSession:
    """A session on a database.

    Args:
        place: a connection string.
        family: the script family.
    """

    goes_on = False

    def __init__(self, place: str, family: ScriptFamily) -> None:
        self._family, self._seconds = family, 0.0
        # A text that was prepared by the driver could have one statement only.
        self.connection = Connection.connect(place, prepare_threshold=None)
        self.place = self.connection.info.dbname
        self._made: Mapping[str, object] = {}
        self._sequences: list[Any] = []
        read_as_psycopg2(self.connection.adapters)

    def official(self, text: str) -> Rows:
        """See `TaskSession.official`."""
        connection, family = self.connection, self._family
        is_recursive = family.recursive_seconds is not None and _RECURSION in text.upper()
        seconds = family.recursive_seconds if is_recursive else family.statement_seconds
        cursor = connection.cursor()
        cursor.execute(f"SET statement_timeout = '{seconds}s'")
        try:
            _execute(cursor, text)
            connection.commit()
            is_query = text.strip().lower().startswith(READING)
            # BIRD-Interact fetches the rows of a query, also of WITH before INSERT, which has none: an error.
            if cursor.description is None and (family.cuts_all_rows or not is_query):
                return None
            rows: Sequence[tuple[Any, ...]] = cursor.fetchall()
            is_cut = family.cuts_all_rows or is_query
            return rows[:MOST_ROWS] if is_cut else rows
        except Exception:
            connection.rollback()
            raise
        finally:
            if family.recursive_seconds is not None:
                # It opens the transaction of the next statement, whose now() it decides.
                with suppress(psycopg.Error):
                    cursor.execute(f"SET statement_timeout = '{family.statement_seconds}s'")
            cursor.close()

    def fault(self, error: Exception) -> StatementFault:
        """See `TaskSession.fault`: any cancelled statement is one that ran out of time."""
        is_timeout = isinstance(error, psycopg.errors.QueryCanceled | TimeoutError)
        return StatementFault(str(error), is_timeout=is_timeout)

    def whole(self, text: str) -> Rows:
        """See `TaskSession.whole`."""
        # The text may lift the server's limit.
        with time_limit(self._seconds + _GRACE), self.connection.cursor() as cursor:
            _execute(cursor, text)
            return cursor.fetchall() if cursor.description is not None else None

    def limit(self, seconds: float) -> None:
        """See `TaskSession.limit`."""
        self._seconds = seconds
        self.connection.autocommit = True
        self.connection.execute(f"SET statement_timeout = '{seconds:g}s'")
        if not self._made:
            self._made = tables_made(self.connection)
            self._sequences = self.connection.execute(_SEQUENCES).fetchall()

    def state(self, wanted: Collection[str] = ()) -> State:
        """See `TaskSession.state`."""
        try:
            self.connection.rollback()
            return postgresql_state(self.connection, self._made, wanted)
        except psycopg.OperationalError as error:
            if self.connection.closed:
                # By a limit on idle sessions that a statement has set, for example.
                raise StatementFault(f"the session has ended: {error}") from error
            raise

    def is_untouched(self) -> bool:
        """See `TaskSession.is_untouched`."""
        try:
            self.connection.rollback()
            with self.connection.cursor() as cursor:
                cursor.execute("SELECT pg_catalog.pg_stat_force_next_flush()")
                self.connection.commit()
                # The statistics of this session are sent when the statement before has ended.
                cursor.execute(_WRITTEN.encode(), [self.connection.info.dbname])
                found = cursor.fetchone()
                # The next number of a sequence is no row.
                sequences = cursor.execute(_SEQUENCES).fetchall() if self._sequences else []
            self.connection.commit()
        except psycopg.Error:
            # PostgreSQL 14 has no such function, and a session may have ended.
            if not self.connection.closed:
                self.connection.rollback()
            return False
        return found == (0,) and sequences == self._sequences

    def again(self) -> "PostgreSQLTaskSession":
        """See `TaskSession.again`."""
        self.connection.rollback()
        self.connection.autocommit = True
        self.connection.execute("DISCARD ALL")
        self.connection.autocommit = False
        return self

    def close(self) -> None:
        """See `TaskSession.close`."""
        self.connection.close()


def _execute(cursor: psycopg.Cursor[Any], text: str) -> None:
    """Execute a text of one or several statements, and go to the result of the last.

    Raises:
        psycopg.Error: it failed, or it has no statement.
    """
    cursor.execute(text.encode())
    while cursor.nextset():
        pass
    if cursor.pgresult is not None and cursor.pgresult.status == ExecStatus.EMPTY_QUERY:
        raise psycopg.ProgrammingError("can't execute an empty query")


_GRACE = 1.0
"""Seconds after which a statement is given up that the server has not ended at its limit."""

_WRITTEN = """
SELECT (tup_inserted + tup_updated + tup_deleted)::integer FROM pg_catalog.pg_stat_database
WHERE datname = %s AND pg_catalog.current_setting('track_counts')::bool
"""
"""How many rows were ever written to a database, in catalogs and failed transactions as well."""

_MAINTAINED = """
SELECT count(*)::integer FROM pg_stat_all_tables s JOIN pg_class c ON c.oid = s.relid
WHERE NOT c.relisshared AND greatest(last_vacuum, last_autovacuum, last_analyze, last_autoanalyze) IS NOT NULL
"""
"""How many tables have other numbers for the planner, which are updated in place: that counts as no row."""

_USED = """
SELECT (SELECT count(*)::integer FROM pg_stat_activity WHERE datname = %(name)s)
     + (SELECT count(*)::integer FROM pg_prepared_xacts WHERE database = %(name)s)
"""
"""How many sessions and prepared transactions a database has."""

_SEQUENCES = (
    "SELECT schemaname, sequencename, last_value, start_value, increment_by"
    " FROM pg_catalog.pg_sequences ORDER BY 1, 2"
)

_ROLE_STATE = """
SELECT r.xmin::text, r.rolpassword, o.rolpassword,
       (SELECT count(*) FROM pg_db_role_setting s WHERE s.setrole IN (r.oid, o.oid)),
       (SELECT count(*) FROM pg_auth_members m WHERE r.oid IN (m.roleid, m.member, m.grantor))
FROM pg_authid r, pg_authid o WHERE r.rolname = %s AND o.rolname = %s
"""

_MOST_CONNECTIONS = 8
"""Of one answer; test cases may open some of their own."""

_SECONDS_TO_END = 2.0
"""How long a session may take to end, once its process has."""

_OWNER = "bird_task_owner"
"""The role that owns what is in templates; the roles of sessions are members of it."""

_TEMPLATE = "bird_tasks_"
_TEMPLATES_MADE = "3"
"""Changes when templates are made otherwise."""

_EMPTY = "TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'"
_COPY = "bird_task_copy_"
_ROLE = "bird_task_role_"
_TOKEN = 14
"""Hexadecimal digits in the names of what belongs to a worker: a number that fits 64 bits."""
_LOCK = 0x42495244
"""Key of the advisory lock under which templates are made."""
_NAMES_LOCK = 0x42495245
"""Key of the one that is held while answers use names that are the server's."""
_NAMES = re.compile(r"\bprepared?\b", re.IGNORECASE)


class PostgreSQLCopies:
    """Copies of databases on a server, made and owned by its administrator.

    Sessions use a role that can do nothing outside of the copy: no superuser, not allowed to create roles or
    databases, and with the right to connect to its copy alone, as long as that is handed out. The worker has
    one role, which is made anew once anything about it has changed.

    Args:
        databases: the folder with a folder of dumps for each database.
        server: the server with an administrator's account.

    Raises:
        EngineUnavailable: the server does not answer.
    """

    def __init__(self, databases: Path, server: Server) -> None:
        # Test cases catch errors of the driver that the scripts have; this one's have the same names. Copies
        # are made in workers alone, so that no other program takes one driver for the other.
        stand_in()
        self._databases, self._server = databases, server
        self._admin = _connected(server, "postgres")
        self._admin.execute("SET synchronous_commit = off")
        self._token = secrets.token_hex(_TOKEN // 2)
        # Held as long as the worker lives: what is named by it is then no orphan to any other.
        self._admin.execute("SELECT pg_advisory_lock(%s)", [int(self._token, 16)])
        self._role = f"{_ROLE}{self._token}"
        self._password = ""
        self._role_state: object = None
        self._made = 0
        self._templates: dict[str, str] = {}
        self._sequences: dict[str, list[Any]] = {}
        self._keeps = self._admin.info.server_version >= EXACT_SINCE
        self._prepares = self._admin.execute("SHOW max_prepared_transactions").fetchone() != ("0",)
        self._has_names = False
        self._spare: list[tuple[str, str]] = []
        self._used: list[tuple[str, str]] = []
        self._unwanted: list[str] = []
        with _locked(self._admin):
            _create_owner(self._admin)
            self._remove_orphaned_copies()

    def reserve(self, texts: Sequence[str]) -> None:
        """See `Copies.reserve`: prepared transactions have the server's names, where it allows any."""
        if not self._has_names and self._prepares and any(map(_NAMES.search, texts)):
            self._admin.execute("SELECT pg_advisory_lock(%s)", [_NAMES_LOCK])
            self._has_names = True

    def fresh(self, database: str) -> str:
        """See `Copies.fresh`."""
        one = next((one for one in self._spare if one[0] == database), None)
        if one is not None:
            self._spare.remove(one)
        else:
            one = database, self._copied(database)
        self._used.append(one)
        self._create_role()
        self._run("GRANT CONNECT, TEMPORARY, CREATE ON DATABASE {} TO {}", one[1], self._role)
        return make_conninfo(
            host=self._server.host,
            port=self._server.port,
            user=self._role,
            password=self._password,
            dbname=one[1],
            options="-c TimeZone=Asia/Hong_Kong -c idle_in_transaction_session_timeout=0",
        )

    def _copied(self, database: str) -> str:
        source = self._template(database)
        name = f"{_COPY}{self._token}_{self._made}"
        self._made += 1
        # Before it is made, so that it is removed whatever happens.
        self._unwanted.append(name)
        # Files are copied: it takes less time than to log them, which is the default since PostgreSQL 15.
        strategy = "STRATEGY file_copy" if self._keeps else ""
        self._run(f"CREATE DATABASE {{}} TEMPLATE {{}} {strategy}", name, source)
        self._run("REVOKE ALL ON DATABASE {} FROM PUBLIC", name)
        self._unwanted.remove(name)
        if self._keeps and database not in self._sequences:
            with closing(_connected(self._server, name)) as connection:
                self._sequences[database] = connection.execute(_SEQUENCES).fetchall()
        return name

    def prepare(self, database: str) -> None:
        """See `Copies.prepare`."""
        if all(name != database for name, _ in self._spare):
            self._spare.append((database, self._copied(database)))
        self._drop()

    def _create_role(self) -> None:
        """Create the role of sessions, unless there is one."""
        if self._password:
            return
        self._password = secrets.token_hex(16)
        self._run(
            f"CREATE ROLE {{}} LOGIN CONNECTION LIMIT {_MOST_CONNECTIONS} IN ROLE {{}}",
            self._role,
            _OWNER,
            password=self._password,
        )
        self._role_state = self._found_role()

    def _found_role(self) -> object:
        """Return what a role may change about itself and the owner: password, settings, and its members."""
        return self._admin.execute(_ROLE_STATE, [self._role, _OWNER]).fetchone()

    def _run(self, text: str, *names: str, password: str | None = None) -> None:
        statement = sql.SQL(text).format(*map(sql.Identifier, names))
        if password is not None:
            statement += sql.SQL(" PASSWORD {}").format(sql.Literal(password))
        self._admin.execute(statement)

    def _template(self, database: str) -> str:
        if (known := self._templates.get(database)) is not None:
            return known
        files = _dumps(self._databases, database)
        digest = hashlib.sha256(_TEMPLATES_MADE.encode())
        for path in files:
            digest.update(
                path.name.encode() + str(path.stat().st_size).encode() + str(path.stat().st_mtime_ns).encode()
            )
        name = f"{_TEMPLATE}{digest.hexdigest()[:16]}"
        with _locked(self._admin):
            if self._admin.execute("SELECT FROM pg_database WHERE datname = %s", [name]).fetchone() is None:
                staging = f"{_COPY}{self._token}_staging"
                self._unwanted.append(staging)
                self._run(f"CREATE DATABASE {{}} {_EMPTY}", staging)
                self._run("REVOKE ALL ON DATABASE {} FROM PUBLIC", staging)
                self._run("GRANT CREATE, TEMPORARY ON DATABASE {} TO {}", staging, _OWNER)
                _load(_connected(self._server, staging), files)
                # An answer could take it back, as it acts for the owner.
                self._run("REVOKE ALL ON DATABASE {} FROM {}", staging, _OWNER)
                self._run("ALTER DATABASE {} RENAME TO {}", staging, name)
                self._unwanted.remove(staging)
        self._templates[database] = name
        return name

    def discard(self, *, may_keep: bool) -> None:
        """See `Copies.discard`."""
        is_same = self._password == "" or self._found_role() == self._role_state
        for database, name in self._used:
            if is_same and self._is_untouched(database, name, is_maintained=not may_keep):
                self._run("REVOKE ALL ON DATABASE {} FROM {}", name, self._role)
                self._spare.append((database, name))
            else:
                self._unwanted.append(name)
        self._used.clear()
        while len(self._spare) > MOST_SPARE:
            self._unwanted.append(self._spare.pop(0)[1])
        if len(self._unwanted) > MOST_SPARE or self._has_names or not is_same:
            # No copy may refer to the role.
            self._drop()
        if self._has_names:
            self._admin.execute("SELECT pg_advisory_unlock(%s)", [_NAMES_LOCK])
            self._has_names = False
        if not is_same:
            self._run("DROP ROLE IF EXISTS {}", self._role)
            self._password = ""
            _restore_owner(self._admin)

    def _is_untouched(self, database: str, name: str, *, is_maintained: bool) -> bool:
        """Return True if no session is left, no row was written, and all sequences are the template's.

        Args:
            database: which it is a copy of.
            name: the copy.
            is_maintained: whether VACUUM or ANALYZE may have run.
        """
        if not self._keeps:
            return False
        ended = time.monotonic() + _SECONDS_TO_END
        while (found := self._admin.execute(_USED.encode(), {"name": name}).fetchone()) != (0,):
            if found is None or time.monotonic() > ended:
                return False
            time.sleep(0.002)
        if self._admin.execute(_WRITTEN.encode(), [name]).fetchone() != (0,):
            return False
        if not self._sequences[database] and not is_maintained:
            return True
        # The next number of a sequence is no row.
        with closing(_connected(self._server, name)) as connection:
            return connection.execute(_SEQUENCES).fetchall() == self._sequences[
                database
            ] and connection.execute(_MAINTAINED.encode()).fetchone() == (0,)

    def _drop(self) -> None:
        while self._unwanted:
            _drop_database(self._admin, self._server, self._unwanted[-1])
            self._unwanted.pop()

    def _remove_orphaned_copies(self) -> None:
        """Remove the databases and roles of workers that were killed: nobody holds the lock of the names."""
        admin = self._admin

        def drop_copy(name: str) -> None:
            _drop_database(admin, self._server, name)

        def drop_role(name: str) -> None:
            self._run("DROP ROLE IF EXISTS {}", name)

        for prefix, query, drop in (
            (_COPY, "SELECT datname FROM pg_database WHERE starts_with(datname, %s)", drop_copy),
            (_ROLE, "SELECT rolname FROM pg_roles WHERE starts_with(rolname, %s)", drop_role),
        ):
            for (name,) in admin.execute(query.encode(), [prefix]).fetchall():
                owner = name.removeprefix(prefix).partition("_")[0]
                if len(owner) != _TOKEN:
                    continue
                lock = [int(owner, 16)]
                if admin.execute("SELECT pg_try_advisory_lock(%s)", lock).fetchone() == (True,):
                    drop(name)
                    admin.execute("SELECT pg_advisory_unlock(%s)", lock)

    def close(self) -> None:
        """See `Copies.close`."""
        with suppress(psycopg.Error):
            self._unwanted += [name for _, name in (*self._used, *self._spare)]
            self._used, self._spare = [], []
            self._drop()
            self._run("DROP ROLE IF EXISTS {}", self._role)
        self._admin.close()


def _connected(server: Server, database: str) -> psycopg.Connection[Any]:
    try:
        return psycopg.connect(
            host=server.host,
            port=server.port,
            user=server.user,
            password=server.password,
            dbname=database,
            autocommit=True,
        )
    except psycopg.OperationalError as error:
        raise EngineUnavailable(f"postgresql: {error}") from error


@contextmanager
def _locked(admin: psycopg.Connection[Any]) -> Iterator[None]:
    admin.execute("SELECT pg_advisory_lock(%s)", [_LOCK])
    try:
        yield
    finally:
        admin.execute("SELECT pg_advisory_unlock(%s)", [_LOCK])


def _create_owner(admin: psycopg.Connection[Any]) -> None:
    if admin.execute("SELECT FROM pg_roles WHERE rolname = %s", [_OWNER]).fetchone() is None:
        admin.execute(sql.SQL("CREATE ROLE {} NOLOGIN").format(sql.Identifier(_OWNER)))
    _restore_owner(admin)


def _restore_owner(admin: psycopg.Connection[Any]) -> None:
    """Take back what an answer, which may act for it, has changed about the owner of templates."""
    for again in reversed(range(_TRIES)):
        try:
            _reset_owner(admin)
        except psycopg.errors.InternalError_ as error:
            # Another worker, or an answer that it judges, changes the same row.
            if not again or "concurrently updated" not in str(error):
                raise
            time.sleep(0.01)
        else:
            return


def _reset_owner(admin: psycopg.Connection[Any]) -> None:
    owner = sql.Identifier(_OWNER)
    admin.execute(sql.SQL("ALTER ROLE {} RESET ALL").format(owner))
    admin.execute(sql.SQL("ALTER ROLE {} PASSWORD NULL").format(owner))
    for (name,) in admin.execute(_OWNER_SETTINGS, [_OWNER]).fetchall():
        with suppress(psycopg.errors.InvalidCatalogName):
            # A copy may be dropped meanwhile.
            admin.execute(
                sql.SQL("ALTER ROLE {} IN DATABASE {} RESET ALL").format(owner, sql.Identifier(name))
            )


_TRIES = 200
"""Of a change that another one of the same row made fail, every 10 ms."""

_OWNER_SETTINGS = (
    "SELECT d.datname FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase"
    " WHERE s.setrole = %s::regrole"
)


def _drop_database(admin: psycopg.Connection[Any], server: Server, name: str) -> None:
    """Drop a copy with its sessions and prepared transactions, which outlive theirs and the server."""
    prepared = admin.execute("SELECT gid FROM pg_prepared_xacts WHERE database = %s", [name]).fetchall()
    if prepared:
        with closing(_connected(server, name)) as connection:
            for (gid,) in prepared:
                connection.execute(sql.SQL("ROLLBACK PREPARED {}").format(sql.Literal(gid)))
    admin.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


def _dumps(databases: Path, database: str) -> list[Path]:
    for folder in (databases / f"{database}_template", databases / database):
        if files := sorted(folder.glob("*.sql")):
            return files
    raise BadInput(
        f"{databases / f'{database}_template'}: has no dumps (*.sql) of {database!r}; get"
        " them with the set, or correct --databases"
    )


_COPY_FROM = re.compile(r"^COPY .* FROM stdin;\s*$", re.IGNORECASE)
_SKIPPED = re.compile(r"^(?:\\|ALTER \w+(?: \w+)? .* OWNER TO |SELECT pg_catalog\.set_config\('search_path')")


def _load(connection: psycopg.Connection[Any], files: list[Path]) -> None:
    """Load dumps of tables; one that needs another's table is tried again after it.

    Raises:
        BadInput: some cannot be loaded.
    """
    with connection:
        # VACUUM takes no row for visible to all as long as a commit near its own is not on disk.
        connection.execute("SET synchronous_commit = on")
        connection.autocommit = False
        connection.execute(sql.SQL("ALTER SCHEMA public OWNER TO {}").format(sql.Identifier(_OWNER)))
        left = list(files)
        while left:
            failed: list[tuple[Path, psycopg.Error]] = []
            for path in left:
                try:
                    with connection.transaction():
                        connection.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(_OWNER)))
                        _replay(connection, path)
                except psycopg.Error as error:
                    failed.append((path, error))
            if len(failed) == len(left):
                path, fault = failed[0]
                raise BadInput(f"{path}: cannot be loaded: {fault}") from fault
            left = [path for path, _ in failed]
        # As autovacuum would do later: then a plan's cost would depend on when a copy is made.
        connection.commit()
        connection.autocommit = True
        connection.execute("VACUUM (ANALYZE)")


def _replay(connection: psycopg.Connection[Any], path: Path) -> None:
    """Execute the statements of a plain dump, and stream the rows of its COPY."""
    statements: list[str] = []
    lines = iter(read_text(path).text.splitlines(keepends=True))
    for line in lines:
        if _SKIPPED.match(line):
            continue
        if not _COPY_FROM.match(line):
            statements.append(line)
            continue
        _execute_all(connection, statements)
        with connection.cursor() as cursor, cursor.copy(line.encode()) as copy:
            for row in lines:
                if row.rstrip("\r\n") == "\\.":
                    break
                copy.write(row)
            else:
                raise BadInput(f"{path}: ends among the rows of a table; fetch it again")
    _execute_all(connection, statements)


def _execute_all(connection: psycopg.Connection[Any], statements: list[str]) -> None:
    if text := "".join(statements).strip():
        connection.execute(text.encode())
    statements.clear()


def _plan_cost(rows: Rows) -> float:
    """Return the total cost of a plan in JSON."""
    plan = rows[0][0] if rows else None
    plan = json.loads(plan) if isinstance(plan, str) else plan
    return float(plan[0].get("Plan", {}).get("Total Cost", 0.0)) if isinstance(plan, list) and plan else 0.0


def _reached(place: str, dialect: Dialect) -> tuple[Server, Database]:
    # Statistics come some time after rows, and an answer may hold a lock.
    with closing(psycopg.connect(place, autocommit=True)) as connection:
        connection.execute("SET lock_timeout = '5s'")
        connection.execute("ANALYZE")
    account = conninfo_to_dict(place)
    return reached_by(account, dialect, str(account["dbname"]), "public")


ENGINE = TaskEngine(
    has_server=True,
    session=PostgreSQLTaskSession,
    copies=PostgreSQLCopies,
    query_function="perform_query_on_postgresql_databases",
    place="db_name",
    reached=_reached,
    explain="EXPLAIN (FORMAT JSON)",
    cost=_plan_cost,
    sources=_dumps,
)
