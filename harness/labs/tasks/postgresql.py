"""Tasks on PostgreSQL: a copy is a database, made from a template that dumps were loaded into once."""

import hashlib
import json
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo
from psycopg.pq import ExecStatus
from psycopg.types.string import TextLoader

from dialects.errors import BadInput
from harness.labs.tasks.engine import READING, State, StatementFault, TaskEngine, is_alive
from harness.labs.tasks.families import ScriptFamily
from harness.labs.tasks.helpers import MOST_ROWS, Rows
from loaders.base.errors import EngineUnavailable
from loaders.base.files import read_text
from loaders.server import Server

_RECURSION = "WITH RECURSIVE"

_TEXTS = ("uuid", "inet", "cidr", "macaddr", "macaddr8", "bit", "varbit", "money", "xml")
"""Types that psycopg2 returns as texts, and psycopg in types of their own."""


class PostgreSQLTaskSession:
    """A session on a database.

    Args:
        place: a connection string.
        family: the script family.
    """

    def __init__(self, place: str, family: ScriptFamily) -> None:
        self._family = family
        self.connection = psycopg.connect(place)
        for name in _TEXTS:
            self.connection.adapters.register_loader(name, TextLoader)

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
            if cursor.description is None:
                return None
            rows = cursor.fetchall()
            is_cut = family.cuts_all_rows or text.strip().lower().startswith(READING)
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
        return StatementFault(str(error), is_timeout=isinstance(error, psycopg.errors.QueryCanceled))

    def whole(self, text: str) -> Rows:
        """See `TaskSession.whole`."""
        with self.connection.cursor() as cursor:
            _execute(cursor, text)
            return cursor.fetchall() if cursor.description is not None else None

    def limit(self, seconds: float) -> None:
        """See `TaskSession.limit`."""
        self.connection.autocommit = True
        self.connection.execute(f"SET statement_timeout = '{seconds:g}s'")

    def state(self) -> State:
        """See `TaskSession.state`."""
        self.connection.rollback()
        return postgresql_state(self.connection)

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


_OWNER = "bird_task_owner"
"""The role that owns templates; the roles of sessions are members of it."""

_TEMPLATE = "bird_tasks_"
_COPY = "bird_task_copy_"
_ROLE = "bird_task_role_"
_LOCK = 0x42495244
"""Key of the advisory lock under which templates are made."""


class PostgreSQLCopies:
    """Copies of databases on a server, made by its administrator.

    Sessions use a role that can do nothing outside of the copy: no superuser, not allowed to create roles or
    databases, and with the right to connect to its copy alone.

    Args:
        databases: the folder with a folder of dumps for each database.
        server: the server with an administrator's account.

    Raises:
        EngineUnavailable: the server does not answer.
    """

    def __init__(self, databases: Path, server: Server) -> None:
        self._databases, self._server = databases, server
        self._admin = _connected(server, "postgres")
        self._token = f"{os.getpid()}_{secrets.token_hex(4)}"
        self._password = secrets.token_hex(16)
        self._made: list[str] = []
        self._roles: list[str] = []
        with _locked(self._admin):
            _create_owner(self._admin)
            _remove_orphaned_copies(self._admin)

    def fresh(self, database: str) -> str:
        """See `Copies.fresh`."""
        source = self._template(database)
        name = f"{_COPY}{self._token}_{len(self._made)}"
        role = f"{_ROLE}{self._token}_{len(self._made)}"
        self._run("CREATE ROLE {} LOGIN NOINHERIT IN ROLE {}", role, _OWNER, password=self._password)
        self._roles.append(role)
        self._run("ALTER ROLE {} INHERIT", role)
        self._run("CREATE DATABASE {} TEMPLATE {} OWNER {}", name, source, _OWNER)
        self._made.append(name)
        self._run("REVOKE ALL ON DATABASE {} FROM PUBLIC", name)
        self._run("GRANT CONNECT, TEMPORARY, CREATE ON DATABASE {} TO {}", name, role)
        return make_conninfo(
            host=self._server.host,
            port=self._server.port,
            user=role,
            password=self._password,
            dbname=name,
            options="-c TimeZone=Asia/Hong_Kong -c idle_in_transaction_session_timeout=0",
        )

    def _run(self, text: str, *names: str, password: str | None = None) -> None:
        statement = sql.SQL(text).format(*map(sql.Identifier, names))
        if password is not None:
            statement += sql.SQL(" PASSWORD {}").format(sql.Literal(password))
        self._admin.execute(statement)

    def _template(self, database: str) -> str:
        files = _dumps(self._databases, database)
        digest = hashlib.sha256()
        for path in files:
            digest.update(
                path.name.encode() + str(path.stat().st_size).encode() + str(path.stat().st_mtime_ns).encode()
            )
        name = f"{_TEMPLATE}{digest.hexdigest()[:16]}"
        with _locked(self._admin):
            if self._admin.execute("SELECT FROM pg_database WHERE datname = %s", [name]).fetchone() is None:
                staging = f"{_COPY}{self._token}_staging"
                self._run(
                    "CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C' OWNER {}",
                    staging,
                    _OWNER,
                )
                self._made.append(staging)
                _load(_connected(self._server, staging), files)
                self._run("ALTER DATABASE {} RENAME TO {}", staging, name)
                self._made.remove(staging)
                self._run("REVOKE ALL ON DATABASE {} FROM PUBLIC", name)
        return name

    def discard(self) -> None:
        """See `Copies.discard`."""
        while self._made:
            self._run("DROP DATABASE IF EXISTS {} WITH (FORCE)", self._made.pop())
        while self._roles:
            self._run("DROP ROLE IF EXISTS {}", self._roles.pop())

    def close(self) -> None:
        """See `Copies.close`."""
        with suppress(psycopg.Error):
            self.discard()
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


def _remove_orphaned_copies(admin: psycopg.Connection[Any]) -> None:
    """Remove the databases and roles of workers that were killed; only this machine's are known."""
    for prefix, query, drop in (
        (
            _COPY,
            "SELECT datname FROM pg_database WHERE starts_with(datname, %s)",
            "DROP DATABASE IF EXISTS {} WITH (FORCE)",
        ),
        (_ROLE, "SELECT rolname FROM pg_roles WHERE starts_with(rolname, %s)", "DROP ROLE IF EXISTS {}"),
    ):
        for (name,) in admin.execute(query.encode(), [prefix]).fetchall():
            owner = name.removeprefix(prefix).partition("_")[0]
            if owner.isdigit() and not is_alive(int(owner)):
                admin.execute(sql.SQL(drop).format(sql.Identifier(name)))


def _dumps(databases: Path, database: str) -> list[Path]:
    for folder in (databases / f"{database}_template", databases / database):
        if files := sorted(folder.glob("*.sql")):
            return files
    raise BadInput(f"{databases / f'{database}_template'}: has no dumps (*.sql) of {database!r}")


_COPY_FROM = re.compile(r"^COPY .* FROM stdin;\s*$", re.IGNORECASE)
_SKIPPED = re.compile(r"^(?:\\|ALTER \w+(?: \w+)? .* OWNER TO |SELECT pg_catalog\.set_config\('search_path')")


def _load(connection: psycopg.Connection[Any], files: list[Path]) -> None:
    """Load dumps of tables; one that needs another's table is tried again after it.

    Raises:
        BadInput: some cannot be loaded.
    """
    with connection:
        connection.autocommit = False
        left = list(files)
        while left:
            failed: list[tuple[Path, psycopg.Error]] = []
            for path in left:
                try:
                    with connection.transaction():
                        connection.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(_OWNER)))
                        _replay(connection, read_text(path).text)
                except psycopg.Error as error:
                    failed.append((path, error))
            if len(failed) == len(left):
                path, fault = failed[0]
                raise BadInput(f"{path}: cannot be loaded: {fault}") from fault
            left = [path for path, _ in failed]


def _replay(connection: psycopg.Connection[Any], text: str) -> None:
    """Execute the statements of a plain dump, and stream the rows of its COPY."""
    statements: list[str] = []
    lines = iter(text.splitlines(keepends=True))
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
    _execute_all(connection, statements)


def _execute_all(connection: psycopg.Connection[Any], statements: list[str]) -> None:
    if text := "".join(statements).strip():
        connection.execute(text.encode())
    statements.clear()


_POSTGRESQL_SCHEMA = """
SELECT 'column ' || n.nspname || '.' || c.relname || '.' || a.attname,
       concat_ws(' ', format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity,
       a.attgenerated, pg_get_expr(d.adbin, d.adrelid))
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND {own}
UNION ALL
SELECT 'constraint ' || n.nspname || '.' || c.relname || '.' || o.conname, pg_get_constraintdef(o.oid)
FROM pg_constraint o JOIN pg_class c ON c.oid = o.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE o.contype <> 'n' AND {own}
UNION ALL
SELECT 'index ' || n.nspname || '.' || c.relname, pg_get_indexdef(c.oid)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('i', 'I') AND {own}
UNION ALL
SELECT 'view ' || n.nspname || '.' || c.relname, concat(c.relkind, pg_get_viewdef(c.oid))
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('v', 'm') AND {own}
UNION ALL
SELECT 'trigger ' || n.nspname || '.' || c.relname || '.' || t.tgname,
       concat(pg_get_triggerdef(t.oid), t.tgenabled)
FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE NOT t.tgisinternal AND {own}
UNION ALL
SELECT concat('function ', n.nspname, '.', p.proname, '(', pg_get_function_identity_arguments(p.oid), ')'),
       concat(p.prokind, pg_get_function_result(p.oid), p.prosrc)
FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
WHERE p.prokind <> 'a' AND {own}
      AND NOT EXISTS (SELECT FROM pg_depend e WHERE e.objid = p.oid AND e.deptype = 'e')
UNION ALL
SELECT 'type ' || n.nspname || '.' || t.typname, string_agg(e.enumlabel, ',' ORDER BY e.enumsortorder)
FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace JOIN pg_enum e ON e.enumtypid = t.oid
WHERE {own} GROUP BY n.nspname, t.typname
UNION ALL
SELECT 'schema ' || n.nspname, '' FROM pg_namespace n WHERE {own}
UNION ALL
SELECT 'policy ' || n.nspname || '.' || c.relname || '.' || p.polname,
       concat(p.polcmd, pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid))
FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE {own}
"""

_OWN = "n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\\_%'"

_TABLES = f"""
SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'm') AND {_OWN}
"""  # noqa: S608 - a constant


_ENTRIES = _POSTGRESQL_SCHEMA.replace("{own}", _OWN).encode()


def postgresql_state(connection: psycopg.Connection[Any]) -> State:
    """Return the state of a database; the next number of a sequence is no part of it."""
    with connection.transaction():
        # What a text has set for the session decides nothing.
        for setting in ("search_path = pg_catalog", "statement_timeout = 0", "row_security = off"):
            connection.execute(f"SET LOCAL {setting}".encode())
        found = {name: value or "" for name, value in connection.execute(_ENTRIES).fetchall()}
        for schema, name in connection.execute(_TABLES.encode()).fetchall():
            query = sql.SQL("SELECT count(*), sum(hashtextextended(t::text, 0)::numeric) FROM {} t").format(
                sql.Identifier(schema, name)
            )
            found[f"rows {schema}.{name}"] = repr(connection.execute(query).fetchone())
    return {name: hashlib.sha256(value.encode()).hexdigest() for name, value in found.items()}


def _plan_cost(rows: Rows) -> float:
    """Return the total cost of a plan in JSON."""
    plan = rows[0][0] if rows else None
    plan = json.loads(plan) if isinstance(plan, str) else plan
    return float(plan[0].get("Plan", {}).get("Total Cost", 0.0)) if isinstance(plan, list) and plan else 0.0


def _copies(databases: Path, server: Server | None) -> PostgreSQLCopies:
    assert server is not None  # noqa: S101 - the command has found it
    return PostgreSQLCopies(databases, server)


ENGINE = TaskEngine(
    has_server=True,
    session=PostgreSQLTaskSession,
    copies=_copies,
    query_function="perform_query_on_postgresql_databases",
    place="db_name",
    explain="EXPLAIN (FORMAT JSON)",
    cost=_plan_cost,
)
