"""PostgreSQL through psycopg 3, made to return the Python values that psycopg2 returns.

The official evaluator uses psycopg2. Where the two drivers differ, psycopg2's way is kept: several
statements in one text return the last one's rows, and types that psycopg2 does not know come back as text.

A session can reach nothing beyond itself: only the statements of `statements` are run, each alone,
by a role that can read; and a connection is used again only after a query that cannot have set anything.
"""

import contextlib
import logging
import os
import re
import socket
import weakref
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property, lru_cache
from itertools import groupby
from typing import Any, ClassVar, cast

import psycopg
from psycopg.adapt import AdaptersMap
from psycopg.conninfo import make_conninfo
from psycopg.pq import TransactionStatus
from psycopg.types.string import TextLoader

from dialects.enums import Dialect
from dialects.identifiers import quoted, table_name
from harness.engines.base import (
    BATCH_ROWS,
    EMPTY,
    CannotCount,
    ColumnText,
    EngineLost,
    Row,
    Spent,
    SqlError,
    SqlTimeout,
    SqlTooLarge,
    TableText,
    cut,
)
from harness.engines.clock import pinned_for_postgresql
from harness.engines.plans import NOT_A_QUERY, SEVERAL, PlanNode
from harness.engines.postgresql.connections import (
    CONNECT_SECONDS,
    ConnectionPool,
    PostgreSQLClock,
    ReceivedTooMuch,
    administrating,
    parse,
    results,
    run,
)
from harness.engines.postgresql.plans import (
    EXPLAIN,
    INDEX,
    SETTINGS,
    TABLE,
    TableStatistics,
    counters,
    read_plan,
)
from harness.engines.postgresql.statements import MOST, Statement, says_nothing, statements
from loaders.namespace import Database
from loaders.postgresql.session import message
from loaders.server import Origin, Parameters, Server
from loaders.source import DeclaredTable

_TEXT_IN_PSYCOPG2 = (
    "uuid", "inet", "cidr", "record",
    "int4range", "int8range", "numrange", "daterange", "tsrange", "tstzrange",
    "int4multirange", "int8multirange", "nummultirange", "datemultirange", "tsmultirange", "tstzmultirange",
)  # fmt: skip

_QUOTE = "'"
_QUERY_CANCELED = "57014"
_SYNTAX_ERROR = "42601"
_SEVERAL_STATEMENTS = "cannot insert multiple commands into a prepared statement"
_REFUSED_ON_READING = "42"
"""SQLSTATEs of invalid SQL, or of unknown names."""
_NOT_ALLOWED = "42501"
"""insufficient_privilege, the server's error for anything the role may not do."""
_TOO_LARGE = ("53200", "53400", "54000")
"""SQLSTATEs of a statement that was refused memory or disk, or made a value that is too large.

53400 is what comes of `temp_file_limit`. The rest of class 54 (statements too deep or too wide) is an error
like any other. https://www.postgresql.org/docs/current/errcodes-appendix.html
"""
_TOO_LARGE_WORDS = ("invalid memory alloc request size", "out of memory", "cannot allocate memory")
"""The same without an SQLSTATE of its own: of the server's allocator, and of libpq here."""
_LOST = ("53100", "53300", "57P", "08")
"""SQLSTATEs of a server that is full, stopping or not understood. Others that servers of this kind refuse a
connection with (28000, 3D000) a statement can bring about as well; those of a connection never come here."""

_LONGEST = 1_000_000
"""Characters of a text that the server is given: it reads to the end before it looks whether time is up."""
_OPERATORS = re.compile(r"[~!@#^&|`?+*/%<>=-]++")
_LONGEST_OPERATOR = 1_000
"""Characters of operators in a row that the server is given. It reads on to the last of them at every start
of a comment among them: a million take it minutes."""

_NONE_LEFT = re.compile("too many (connections|clients)|remaining connection slots")
"""libpq's message if a server has no connection left for the role; it does not pass on the SQLSTATE."""

_CANCEL_SECONDS = 2

_HAS = "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE pid = %s)"

_SETTINGS = (
    "DateStyle", "IntervalStyle", "TimeZone", "bytea_output", "default_transaction_read_only",
    "extra_float_digits", "jit", "max_parallel_workers_per_gather",
    "server_encoding", "standard_conforming_strings", "work_mem",
)  # fmt: skip


_UNSTABLE = """
    SELECT string_agg(name, ' ') FROM (
        SELECT lower(proname) AS name FROM pg_proc
        WHERE pronamespace = 'pg_catalog'::regnamespace AND prokind <> 'p'
        GROUP BY 1
        HAVING NOT bool_or(provolatile = 'i') AND (bool_or(provolatile = 'v') OR bool_and(pronargs = 0))
    ) AS unstable"""
"""Volatile functions, and stable ones without arguments, which can only depend on the session. Other ones
depend on settings, which are the same for all texts, or on the catalogue.
https://www.postgresql.org/docs/current/xfunc-volatility.html"""


def _as_psycopg2() -> AdaptersMap:
    adapters = AdaptersMap(psycopg.adapters)
    for name in _TEXT_IN_PSYCOPG2:
        adapters.register_loader(name, TextLoader)
    return adapters


_ADAPTERS = _as_psycopg2()

# What it warns of, such as the time zone that a prediction sets, is nothing for the user's terminal.
logging.getLogger("psycopg").addHandler(logging.NullHandler())


_SETS = re.compile(
    r"set_config|seed|query_to_xml|ts_stat|ts_rewrite|dblink|[uU]&[\"']", re.ASCII | re.IGNORECASE
)
"""What a query needs to change its session for good: the function, a function that runs text as SQL, or a
name spelled by code points. `DISCARD ALL` leaves the random seed and customized settings behind."""


_SESSION = {
    "DateStyle": "ISO,MDY",
    "IntervalStyle": "postgres",
    "TimeZone": "UTC",
    "array_nulls": "on",
    "backslash_quote": "safe_encoding",
    "bytea_output": "hex",
    "default_text_search_config": "pg_catalog.english",
    "extra_float_digits": "1",
    "jit": "off",
    "lc_monetary": "C",
    "lc_numeric": "C",
    "lc_time": "C",
    "max_parallel_workers_per_gather": "0",
    "quote_all_identifiers": "off",
    "row_security": "on",
    "standard_conforming_strings": "on",
    "transform_null_equals": "off",
    "work_mem": "64MB",
    "xmlbinary": "base64",
    "xmloption": "content",
}
"""The settings of a session that can decide a result, with the values of docker/postgresql/bird.conf or
PostgreSQL's own defaults: whatever a user's server, database or role has."""

_DECIDING = " ".join(f"-c {name}={value}" for name, value in _SESSION.items())


_READ_ONLY = "-c default_transaction_read_only=on -c idle_in_transaction_session_timeout=60s"
"""Settings that another's role lacks."""

_REACHES_OUT = re.compile(
    r"\b(lo_\w+|loread|lowrite|pg_(?:try_)?advisory_\w+|pg_notify|pg_cancel_backend|pg_terminate_backend"
    r"|pg_logical_emit_message|(?:query|cursor|table|schema|database)_to_xml\w*|ts_stat|dblink\w*|set_config)"
    r'\b"?\s*\(|[uU]&"',
    re.ASCII | re.IGNORECASE,
)
"""Calls that write or reach another session in a read-only transaction, too, or run text as SQL.

The harness takes them from its own role (`loaders.postgresql.target`), and cannot from another's.
"""


_OF_OTHERS = re.compile(
    r"\b(pg_stat_activity|pg_stat_get_(?:backend_)?activity|pg_stat_statements\w*)\b",
    re.ASCII | re.IGNORECASE,
)
"""Names by which another's role sees the statements of its other sessions: `track_activities` may be on."""


def _refuse_reaching_out(sql: str) -> None:
    for kind, names in (("function", _REACHES_OUT), ("relation", _OF_OTHERS)):
        if found := names.search(sql):
            raise SqlError(f"permission denied for {kind} {(found[1] or found[0]).lower()}", _NOT_ALLOWED)


@lru_cache(maxsize=1024)
def _conninfo(server: Server, database: str, schema: str, limit: int) -> str:
    """Where and how to connect; `limit` in milliseconds."""
    # A blank ends an option: https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNECT-OPTIONS
    spelled = schema.replace(" ", r"\ ")
    options = f'-c search_path="{spelled}" -c statement_timeout={limit} {_DECIDING}'
    # https://www.postgresql.org/docs/current/runtime-config-client.html#GUC-STATEMENT-TIMEOUT
    return make_conninfo(
        host=server.host,
        port=server.port,
        user=server.reader_user,
        password=server.reader_password,
        dbname=database,
        options=f"{options} {_READ_ONLY}" if server.is_private else options,
        connect_timeout=CONNECT_SECONDS,
        client_encoding="utf8",
        application_name="bird-harness",
    )


class PostgreSQLSession(AbstractContextManager["PostgreSQLSession"]):
    """A connection of the reading role, with one schema on its search path."""

    columns: tuple[str, ...] = ()

    def __init__(self, server: Server, database: Database, seconds: float, pool: ConnectionPool) -> None:
        limit = max(1, round(seconds * 1000))
        self._conninfo = _conninfo(server, database.postgresql_database, database.postgresql_schema, limit)
        self._server = server
        self._pool = pool
        self._as_new = True
        self._now = database.now
        self._known: dict[str, list[Row]] = {}
        self._may_have_set = self._stopped = False
        self._connection = pool.take(self._conninfo) or self._connect()
        self.backend = self._connection.info.backend_pid
        self._left = False

    def _connect(self) -> psycopg.Connection:
        while True:
            try:
                return psycopg.connect(
                    self._conninfo, autocommit=True, prepare_threshold=None, context=_Context()
                )
            except psycopg.Error as error:
                # Perhaps the server has none left because of those that wait here for other databases.
                if _NONE_LEFT.search(words := message(error)) and self._pool.close():
                    continue
                raise EngineLost(f"PostgreSQL at {self._server.address}: {words}") from error

    def batches(self, sql: str, values: Parameters | None = None) -> Iterator[list[Row]]:
        """See `Session.batches`. Of several statements all are run, and the last one's rows come back."""
        self._as_new = False
        try:
            yield from self._rows(sql) if values is None else self._bound(sql, values)
        except (psycopg.Error, UnicodeError) as error:
            failure = self._translated(error)
            # What has read a long error keeps as much memory for the next one.
            is_usable = type(failure) is SqlError and not failure.is_cut
            self._as_new = is_usable and not self._may_have_set
            raise failure from error
        except ReceivedTooMuch as error:
            raise SqlTooLarge(str(error), None) from error

    def _readable(self, sql: str) -> list[Statement]:
        """Return the statements of a text if all may be run and the server can be given the text at all."""
        if "\0" in sql:
            raise SqlError("the text holds a NUL character", _SYNTAX_ERROR)
        if len(sql) > _LONGEST:
            raise SqlTooLarge(f"more than {_LONGEST:,} characters", None)
        if len(sql) > _LONGEST_OPERATOR and max(map(len, _OPERATORS.findall(sql)), default=0) > (
            _LONGEST_OPERATOR
        ):
            raise SqlTooLarge(f"more than {_LONGEST_OPERATOR:,} characters of operators in a row", None)
        sql.encode()
        return self._allowed(self._pinned(sql))

    def _pinned(self, sql: str) -> str:
        return sql if self._now is None else pinned_for_postgresql(sql, self._now)

    def _rows(self, sql: str) -> Iterator[list[Row]]:
        *earlier, last = self._readable(sql)
        self._may_have_set |= bool(earlier or not last.is_query or _SETS.search(sql))
        if earlier:
            # As psycopg2, which begins a transaction before whatever it runs.
            self._run("BEGIN")
        for statement in earlier:
            self._run(statement.text)
        for found in results(self._connection, last.text.encode(), self._name):
            if found is None:
                raise SqlError("the statement returns no rows", None)
            yield found
            if self._stopped:
                # A server that is sending does not look whether it was canceled.
                raise SqlTimeout("canceled while rows were arriving", _QUERY_CANCELED)
        if earlier and self._connection.info.transaction_status is not TransactionStatus.IDLE:
            # What the text has set holds for the next one in this session, if there is one.
            self._run("COMMIT")
        self._as_new = not self._may_have_set

    def _bound(self, sql: str, values: Parameters) -> Iterator[list[Row]]:
        """Run one query with values, which the driver reads whole."""
        if len(self._readable(sql)) > 1:
            raise SqlError(SEVERAL, None)
        self._may_have_set = True
        cursor = self._connection.execute(sql.encode(), values)
        self._name(tuple(column.name for column in cursor.description or ()))
        while batch := cursor.fetchmany(BATCH_ROWS):
            yield batch

    def _name(self, columns: tuple[str, ...]) -> None:
        self.columns = columns

    def _allowed(self, sql: str) -> list[Statement]:
        if self._server.is_private:
            _refuse_reaching_out(sql)
        found = statements(sql)
        refused = next((each.word for each in found if not each.is_allowed), None)
        if len(found) > 1 or refused is not None:
            # The server reads a text to its end before it runs anything of it.
            self._parse(sql)
        if refused is not None:
            if says_nothing(sql):
                raise SqlError(EMPTY, None)
            raise SqlError(f"{refused or 'this'}: only queries are run", _NOT_ALLOWED)
        if len(found) > MOST:
            raise SqlError(f"more than {MOST:,} statements", None)
        return found

    def plan(self, sql: str, *, is_run: bool) -> PlanNode:
        """See `PlanningSession.plan`."""
        [first, *more] = statements(sql)
        if more:
            raise SqlError(SEVERAL, None)
        if not first.is_query:
            said = EMPTY if says_nothing(sql) else f"{first.word or 'this'} {NOT_A_QUERY}"
            raise SqlError(said, _NOT_ALLOWED)
        # Behind the prefix it is read as what it is alone: EXPLAIN takes no options after these.
        options = "ANALYZE, TIMING OFF, FORMAT JSON" if is_run else "FORMAT JSON"
        [[told]] = [row for batch in self.batches(f"EXPLAIN ({options}) {sql}") for row in batch]
        return read_plan(told)

    def _parse(self, sql: str) -> None:
        try:
            parse(self._connection, sql.encode())
        except psycopg.errors.SyntaxError as error:
            if error.diag.message_primary != _SEVERAL_STATEMENTS:
                raise

    def _run(self, text: str) -> None:
        run(self._connection, text.encode())
        if self._stopped:
            raise SqlTimeout("canceled between two statements", _QUERY_CANCELED)

    def _translated(self, error: Exception) -> Exception:
        code = error.sqlstate if isinstance(error, psycopg.Error) else None
        words = message(error)
        if any(each in words for each in _TOO_LARGE_WORDS) or code in _TOO_LARGE:
            return SqlTooLarge(words, code)
        if code == _QUERY_CANCELED:
            return SqlTimeout(words, code)
        if self._connection.broken and self._stopped:
            return SqlTimeout("canceled, and the connection broken", _QUERY_CANCELED)
        if self._connection.broken or (code or "").startswith(_LOST):
            return EngineLost(f"PostgreSQL: {words}")
        return SqlError(words, code)

    def cancel(self) -> None:
        """See `Session.cancel`."""
        self._stopped = True
        self._cancel()

    def _cancel(self) -> None:
        with contextlib.suppress(psycopg.Error):
            self._connection.cancel_safe(timeout=_CANCEL_SECONDS)

    def abandon(self) -> None:
        """See `Session.abandon`."""
        self._stopped = True
        # libpq goes on owning the socket: only a duplicate of it is closed here.
        with (
            contextlib.suppress(psycopg.Error, OSError),
            socket.socket(fileno=os.dup(self._connection.fileno())) as connection,
        ):
            connection.shutdown(socket.SHUT_RDWR)

    def lingers(self) -> bool:
        """See `ServerSession.lingers`."""
        if not self._left:
            return False
        with contextlib.suppress(psycopg.Error), administrating(self._server) as connection:
            return connection.execute(_HAS, [self.backend]).fetchone() == (True,)
        return False

    def program(self, sql: str) -> None:
        """See `Session.program`: PostgreSQL's plans leave steps out."""

    def refuses(self, sql: str, words: str) -> bool:
        """See `Session.refuses`."""
        try:
            parse(self._connection, self._pinned(sql).encode())
        except psycopg.Error as error:
            return (error.sqlstate or "").startswith(_REFUSED_ON_READING) and cut(message(error)) == words
        except UnicodeError:
            return False
        return False

    def counted(self, sql: str) -> Mapping[str, int]:
        """See `Session.counted`. Of several statements all count, if they are queries."""
        self._as_new = False
        counted = Counter[str]()
        try:
            found = self._readable(sql)
            if not all(each.is_query for each in found):
                raise CannotCount("PostgreSQL counts the work of queries, and the text has another statement")
            self._may_have_set |= len(found) > 1 or bool(_SETS.search(sql))
            for setting in SETTINGS:
                self._run(setting)
            for statement in found:
                counted += counters(self._explained(statement), self)
        except (psycopg.Error, UnicodeError) as error:
            raise self._translated(error) from error
        except ReceivedTooMuch as error:
            raise SqlTooLarge(str(error), None) from error
        self._as_new = not self._may_have_set
        return counted

    def table(self, schema: str, name: str) -> TableStatistics:
        """See `Catalog.table`."""
        return TableStatistics.of(self._asked(TABLE, schema, name))

    def first_place(self, schema: str, index: str) -> int:
        """See `Catalog.first_place`."""
        return sum(int(str(place)) for (place,) in self._asked(INDEX, schema, index))

    def _asked(self, text: str, *names: str) -> list[Row]:
        """Return the rows of a statement with names in it, which is sent once."""
        asked = text.format(*(f"'{name.replace(_QUOTE, 2 * _QUOTE)}'" for name in names))
        if asked not in self._known:
            found = results(self._connection, asked.encode())
            self._known[asked] = [row for rows in found for row in rows or ()]
        return self._known[asked]

    def _explained(self, statement: Statement) -> Any:
        """Return the plan of a query that was run."""
        text = (EXPLAIN + statement.text).encode()
        [[[explained]]] = [rows for rows in results(self._connection, text) if rows]
        if self._stopped:
            raise SqlTimeout("canceled while it was counted", _QUERY_CANCELED)
        [plan] = cast("list[Any]", explained)
        return plan["Plan"]

    def spent(self) -> Spent | None:
        """See `Session.spent`; for all sessions of the reading role together."""
        seconds = None if self._clock is None else self._clock.seconds()
        return None if seconds is None else Spent(seconds, None)

    @cached_property
    def _clock(self) -> PostgreSQLClock | None:
        server = self._server
        try:
            connection = administrating(server)
        except psycopg.Error:
            return None
        return PostgreSQLClock(connection, server.reader_user, is_ours=server.origin is not Origin.DSN)

    def __exit__(self, *_: object) -> None:
        if "_clock" in self.__dict__ and self._clock is not None:
            self._clock.close()
        if self._as_new and not self._stopped:
            self._pool.give(self._conninfo, self._connection)
            return
        is_active = self._connection.info.transaction_status is TransactionStatus.ACTIVE
        self._left = is_active or self._stopped
        if is_active:
            self._cancel()
        self._connection.close()


class _Context:
    """Carries the adapters to a connection. https://www.psycopg.org/psycopg3/docs/api/abc.html."""

    adapters = _ADAPTERS
    connection = None


class PostgreSQLEngine:
    """A PostgreSQL server, wherever it came from."""

    dialect: ClassVar[Dialect] = Dialect.POSTGRESQL

    def __init__(self, server: Server) -> None:
        self.server = server
        self._pool = ConnectionPool()
        weakref.finalize(self, self._pool.close)

    def session(self, database: Database, seconds: float) -> PostgreSQLSession:
        """See `Engine.session`."""
        return PostgreSQLSession(self.server, database, seconds, self._pool)

    def version(self) -> str:
        """See `Engine.version`."""
        return self._ask("SELECT current_setting('server_version')")[0]

    def settings(self) -> Mapping[str, str]:
        """See `Engine.settings`. A setting that this version does not have is an empty string."""
        values = self._ask("SELECT " + ", ".join(f"current_setting('{name}', true)" for name in _SETTINGS))
        # Settings until version 15, properties of each database since then.
        locale = self._ask("SELECT datcollate, datctype FROM pg_database WHERE datname = current_database()")
        found = dict(zip((*_SETTINGS, "lc_collate", "lc_ctype"), (*values, *locale), strict=True))
        return found | {name: value for name, value in _SESSION.items() if name in _SETTINGS}

    def unstable_functions(self) -> frozenset[str]:
        """See `Catalogued.unstable_functions`: the server's own, which every loaded database has."""
        return frozenset(self._ask(_UNSTABLE)[0].split())

    def _ask(self, sql: str) -> list[str]:
        """Return the one row that `sql` returns to the administrating account, as text."""
        server = self.server
        try:
            with administrating(server) as connection:
                row = connection.execute(sql.encode()).fetchone()
        except psycopg.Error as error:
            raise EngineLost(f"PostgreSQL at {server.address}: {message(error)}") from error
        return ["" if value is None else str(value) for value in row or ()]


# Tables: the CREATE TABLE statement that the server itself has none for, from its catalogs. All of its
# words are the server's own functions' (`format_type`, `quote_ident`, `pg_get_expr`,
# `pg_get_constraintdef`), so that the statement makes the same columns and keys on an empty database,
# after the tables that it refers to. Left out are names of constraints, indexes that are no key, comments
# and options. https://www.postgresql.org/docs/current/functions-info.html

_AS_IT_IS = frozenset(
    {"bigint", "integer", "smallint", "real", "double precision", "boolean", "text", "bytea"}
)
"""Types whose values the driver returns as plain numbers, texts and bytes."""

_COLUMNS = """
SELECT c.relname::text, a.attname::text, format_type(a.atttypid, a.atttypmod),
    quote_ident(c.relname), quote_ident(a.attname),
    CASE WHEN a.attcollation <> t.typcollation THEN
        (SELECT quote_ident(collname) FROM pg_collation WHERE oid = a.attcollation) END,
    pg_get_expr(d.adbin, d.adrelid), a.attgenerated::text, a.attnotnull
FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid JOIN pg_type AS t ON t.oid = a.atttypid
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    LEFT JOIN pg_attrdef AS d ON d.adrelid = c.oid AND d.adnum = a.attnum
WHERE n.nspname = {schema} AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY c.relname, a.attnum
"""
_CONSTRAINTS = """
SELECT c.relname::text, k.contype::text, pg_get_constraintdef(k.oid), p.relname::text,
    ARRAY(SELECT a.attname::text FROM unnest(k.conkey) WITH ORDINALITY AS u (number, place)
        JOIN pg_attribute AS a ON a.attrelid = k.conrelid AND a.attnum = u.number ORDER BY u.place),
    ARRAY(SELECT a.attname::text FROM unnest(k.confkey) WITH ORDINALITY AS u (number, place)
        JOIN pg_attribute AS a ON a.attrelid = k.confrelid AND a.attnum = u.number ORDER BY u.place)
FROM pg_constraint AS k JOIN pg_class AS c ON c.oid = k.conrelid
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    LEFT JOIN pg_class AS p ON p.oid = k.confrelid
WHERE n.nspname = {schema} AND k.contype IN ('p', 'u', 'c', 'f', 'x')
ORDER BY c.relname, position(k.contype IN 'pucxf'), k.conkey, k.conname
"""


def version(run: Callable[[str], list[Row]]) -> str:
    """Major version of the server."""
    [[text]] = run("SHOW server_version")
    return str(text).split(".")[0].split()[0]


def tables(
    run: Callable[[str], list[Row]], database: Database, declared: Sequence[DeclaredTable]
) -> list[TableText]:
    """Return those of the declared tables that are there, in their order."""
    names = [table_name(table.name, Dialect.POSTGRESQL) for table in declared]
    schema = "'" + database.postgresql_schema.replace("'", "''") + "'"
    columns = _by_table(run(_COLUMNS.format(schema=schema)))
    constraints = _by_table(run(_CONSTRAINTS.format(schema=schema)))
    return [
        _table(name, columns[name], [row for row in constraints.get(name, ()) if row[3] in {None, *names}])
        for name in names
        if name in columns
    ]


def _by_table(rows: Sequence[Row]) -> Mapping[str, Sequence[Row]]:
    return {str(name): list(group) for name, group in groupby(rows, key=lambda row: row[0])}


def _table(name: str, columns: Sequence[Row], constraints: Sequence[Row]) -> TableText:
    lines = [_column(row) for row in columns] + [str(definition) for _, _, definition, *_ in constraints]
    return TableText(
        name,
        f"CREATE TABLE {columns[0][3]} (\n    " + ",\n    ".join(lines) + "\n)",
        tuple(ColumnText(str(row[1]), str(row[2])) for row in columns),
        next((_names(row[4]) for row in constraints if row[1] == "p"), ()),
        tuple((_names(row[4]), str(row[3]), _names(row[5])) for row in constraints if row[1] == "f"),
    )


def _names(array: object) -> tuple[str, ...]:
    return tuple(map(str, array)) if isinstance(array, list) else ()


def _column(row: Row) -> str:
    _, _, kind, _, name, collation, expression, generated, not_null = row
    words = [f"{name} {kind}"]
    if collation is not None:
        words.append(f"COLLATE {collation}")
    if generated:
        words.append(f"GENERATED ALWAYS AS ({expression}) {'STORED' if generated == 's' else 'VIRTUAL'}")
    elif expression is not None:
        words.append(f"DEFAULT {expression}")
    if not_null:
        words.append("NOT NULL")
    return " ".join(words)


def first_rows(table: TableText, count: int) -> str:
    """Return the query for a table's first rows, by place: a scan may begin anywhere, next to another one."""
    columns = ", ".join(
        f"{quoted(column.name)}{'' if column.type in _AS_IT_IS else '::text'}" for column in table.columns
    )
    return f"SELECT {columns} FROM {quoted(table.name)} ORDER BY ctid LIMIT {count}"  # noqa: S608 - quoted
