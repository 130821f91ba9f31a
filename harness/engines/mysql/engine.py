"""MySQL through PyMySQL, the driver of the official evaluator, which returns the same Python values."""

import contextlib
import json
import re
import socket
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from itertools import groupby
from typing import Any, ClassVar

import pymysql

from dialects.enums import Dialect
from dialects.identifiers import table_name
from harness.engines import TITLES
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
    is_empty,
)
from harness.engines.clock import without_sysdate
from harness.engines.mysql.connections import (
    CODES,
    Codes,
    MySQLClock,
    MySQLConnections,
    close_at_once,
    connect,
    message,
    rows_of,
    translated,
)
from harness.engines.mysql.plans import (
    EXPLAIN,
    PLAN,
    SETTING,
    STATUS,
    TABLE,
    TABLE_SETTING,
    TableSize,
    counters,
    read_plan,
    requests,
)
from harness.engines.plans import NOT_A_QUERY, PlanNode
from loaders.namespace import Database
from loaders.server import Parameters, Server
from loaders.source import DeclaredTable

_BATCH_BYTES = 4 * 2**20
"""No row is added to a batch that has as much: the values of a thousand rows could be 64 MB each."""

_SHORT = 2**16
"""A text that every server takes: `max_allowed_packet` is larger."""

_NOT_A_QUERY = "1064"
"""ER_PARSE_ERROR, MySQL's own error for most such texts."""

_DENIED = "1227"
"""ER_SPECIFIC_ACCESS_DENIED_ERROR."""

_OF_THE_LAST = re.compile(rb"found_rows|row_count", re.IGNORECASE)
"""Functions of the session's last statement, which resetting a connection does not forget."""

_UNKNOWN_VARIABLE = 1193
"""ER_UNKNOWN_SYSTEM_VARIABLE."""
_NO_RIGHT_TO_EXPLAIN = "1345"
"""ER_VIEW_NO_EXPLAIN: SHOW VIEW is wanted for the views of a query."""


class MySQLSession(AbstractContextManager["MySQLSession"]):
    """One connection of the reading role to one database, for itself as long as it lasts."""

    CODES: ClassVar[Codes] = CODES
    EXPLAIN: ClassVar[Sequence[str]] = ("EXPLAIN FORMAT=JSON", "EXPLAIN ANALYZE FORMAT=JSON")
    """Before a text that is not run, and before one that is."""
    read_plan = staticmethod(read_plan)

    columns: tuple[str, ...] = ()

    def __init__(
        self, server: Server, connections: MySQLConnections, database: Database, seconds: float
    ) -> None:
        self._server = server
        self._connections = connections
        self._seconds = seconds
        self._database = database
        self._connection = connections.take(database, seconds)
        self._tables: dict[tuple[str, str], TableSize] = {}
        self._closing = contextlib.ExitStack()
        self.backend: int = self._connection.thread_id()  # type: ignore[no-untyped-call]
        self._runs = False
        self._stopped = False
        self._broken = False
        self._left = False

    def batches(self, sql: str, values: Parameters | None = None) -> Iterator[list[Row]]:
        """See `Session.batches`. Only queries are sent; the driver writes values into them."""
        text = self._pinned(sql)
        sent = _encoded(text)
        if values is not None:
            with self._connection.cursor() as cursor:
                # Bytes of a value that are no UTF-8 are surrogates here.
                sent = cursor.mogrify(text, values).encode(errors="surrogateescape")
        yield from self._sent(sent, sql)

    def _pinned(self, sql: str) -> str:
        return sql if self._database.now is None else without_sysdate(sql)

    def _sent(self, text: bytes, sql: str = "") -> Iterator[list[Row]]:
        """Send a statement and yield its rows; `sql` is the part that a predictor wrote."""
        started = time.monotonic()
        try:
            self._require_room(text)
            self._require_own(sql)
            if _OF_THE_LAST.search(text):
                self._forget_last()
            self._runs = True
            yield from self._rows(text)
        except (SqlError, MemoryError):
            raise
        except Exception as error:
            late = self._stopped or time.monotonic() - started >= self._seconds
            failure = translated(error, in_time=not late, is_open=self._connection.open, codes=self.CODES)
            # After an error of the server's the connection is as good as before, unless it went with it.
            self._runs = self._runs and not isinstance(error, pymysql.Error)
            self._broken = type(failure) is not SqlError
            raise failure from error
        self._runs = False
        # SLEEP and BENCHMARK return a value when they are stopped.
        if time.monotonic() - started >= self._seconds:
            raise SqlTimeout("the statement's time was up before it had ended", None)

    def _forget_last(self) -> None:
        """Set both functions to their values on a new connection."""
        with self._connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM DUAL WHERE FALSE")
            cursor.fetchall()
            cursor.execute("SET SESSION transaction_read_only = 1")

    def _require_own(self, sql: str) -> None:
        """Reject a text that shows or reaches other sessions."""
        if reason := reaching_out(sql, is_shared=self._connections.are_shared):
            raise SqlError(reason, _DENIED)

    def _require_room(self, text: bytes) -> None:
        """Reject a text that is too large: MySQL closes the connection, often before it says why."""
        if len(text) > _SHORT:
            with self._connection.cursor() as cursor:
                cursor.execute("SELECT @@max_allowed_packet")
                [[most]] = cursor.fetchall()
            if len(text) >= most:
                raise SqlTooLarge(
                    f"the text has {len(text):,} bytes, and {self.CODES.title} takes less than {most:,}",
                    None,
                )

    def _rows(self, text: bytes) -> Iterator[list[Row]]:
        connection: Any = self._connection
        connection.query(text, unbuffered=True)
        result = connection._result  # noqa: SLF001 - no public one
        try:
            if result.description:
                self.columns = tuple(each[0] for each in result.description)
                yield from _batched(rows_of(connection, result))
        finally:
            # PyMySQL would read all rows that are left before it lets go of them.
            result.unbuffered_active = False

    def cancel(self) -> None:
        """See `Session.cancel`: KILL QUERY from another connection."""
        self._stopped = True
        self._connections.kill(self.backend, "QUERY")

    def abandon(self) -> None:
        """See `Session.abandon`. The server is told when the session is closed."""
        self._stopped = True
        with contextlib.suppress(AttributeError, OSError):
            self._connection._sock.shutdown(socket.SHUT_RDWR)  # type: ignore[attr-defined]  # noqa: SLF001

    def lingers(self) -> bool:
        """See `ServerSession.lingers`."""
        return self._left and self._connections.has(self.backend)

    def program(self, sql: str) -> None:
        """See `Session.program`: MySQL's plans leave steps out."""

    def plan(self, sql: str, *, is_run: bool) -> PlanNode:
        """See `PlanningSession.plan`. Versions before 8.3 do not have this format."""
        if reason := EMPTY if is_empty(sql) else refused(sql):
            raise SqlError(reason, _NOT_A_QUERY)
        # What may follow EXPLAIN instead of a query (options, a connection) begins with other words.
        if word := uncounted(sql):
            raise SqlError(f"{word} {NOT_A_QUERY}", _NOT_A_QUERY)
        try:
            self._begin_counting()
        except CannotCount as error:
            raise SqlError(error.reason, None) from error
        [[told]] = self._all(f"{self.EXPLAIN[is_run]} ".encode() + _encoded(self._pinned(sql)), sql)
        try:
            return self.read_plan(str(told))
        except ValueError as error:
            raise SqlError(f"the plan cannot be read: {error}", None) from error

    def refuses(self, sql: str, words: str) -> bool:
        """See `Session.refuses`. What is prepared here goes when the connection is made as new."""
        connection = self._connection
        try:
            connection.query(f"PREPARE bird FROM {connection.escape(self._pinned(sql))}")
        except (pymysql.Error, UnicodeError, OSError) as error:
            return isinstance(error, pymysql.Error) and cut(message(error)) == words
        return False

    def counted(self, sql: str) -> Mapping[str, int]:
        """See `Session.counted`."""
        text = _encoded(self._pinned(sql))
        if word := uncounted(sql):
            raise CannotCount(f"MySQL counts what EXPLAIN ANALYZE takes, which a text with {word} is not")
        self._begin_counting()
        try:
            self._all(PLAN.encode() + text, sql)
            readings = [self._all(STATUS.encode()) for _ in range(2)]
            [(explained,)] = self._all(EXPLAIN.encode() + text)
            readings.append(self._all(STATUS.encode()))
        except SqlError as error:
            if error.code == _NO_RIGHT_TO_EXPLAIN:
                raise CannotCount(f"this account may not count on MySQL: {error.message}") from error
            raise
        if self._stopped:
            # What was stopped is told as far as it came, without an error.
            raise SqlTimeout("stopped while it was counted", None)
        self._all(TABLE_SETTING.encode())
        found = counters(json.loads(str(explained))["query_plan"], self._table_of)
        return found + requests(readings)

    def _begin_counting(self) -> None:
        """Enable reports on plans as they run, until the connection is reset."""
        try:
            self._connection.query(SETTING)
        except pymysql.Error as error:
            if error.args[:1] == (_UNKNOWN_VARIABLE,):
                words = "MySQL tells the rows of each step since 8.3: use a later server than this"
                raise CannotCount(words) from error
            raise translated(error, in_time=not self._stopped, is_open=self._connection.open) from error

    def _table_of(self, schema: str, table: str) -> TableSize:
        key = (schema, table)
        if key not in self._tables:
            sql = TABLE.format(self._connection.escape(schema), self._connection.escape(table))
            self._tables[key] = TableSize.of(self._all(sql.encode()))
        return self._tables[key]

    def _all(self, text: bytes, sql: str = "") -> list[Row]:
        """Return all rows of a statement; see `_sent`."""
        return [row for batch in self._sent(text, sql) for row in batch]

    def spent(self) -> Spent | None:
        """See `Session.spent`."""
        counted = self._clock and self._clock.spent()
        return Spent(*counted) if counted else None

    @cached_property
    def _clock(self) -> MySQLClock | None:
        server = self._server
        try:
            connection = connect(server, server.user, server.password)
        except EngineLost:
            return None
        clock = MySQLClock(connection, self.backend)
        self._closing.callback(clock.close)
        return clock

    def __exit__(self, *_: object) -> None:
        self._closing.close()
        if not (self._runs or self._stopped or self._broken):
            self._connections.give(self._connection, self._database)
            return
        close_at_once(self._connection)
        if self._runs or self._stopped:
            # MySQL notices that its client has gone when it has something to send, which may be never.
            self._left = True
            self._connections.kill(self.backend, "CONNECTION")


def _encoded(sql: str) -> bytes:
    """Return a text as the server gets it, if it is a query.

    Raises:
        SqlError: it is none.
    """
    if reason := refused(sql):
        raise SqlError(reason, _NOT_A_QUERY)
    try:
        return sql.encode()
    except UnicodeError as error:
        raise SqlError(str(error), None) from error


def _batched(rows: Iterator[Row]) -> Iterator[list[Row]]:
    batch: list[Row] = []
    size = 0
    for row in rows:
        batch.append(row)
        for value in row:
            if isinstance(value, str | bytes):
                size += len(value)
        if len(batch) == BATCH_ROWS or size > _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


class MySQLEngine:
    """A MySQL server, wherever it came from."""

    dialect: ClassVar[Dialect] = Dialect.MYSQL
    CONNECTIONS: ClassVar[type[MySQLConnections]] = MySQLConnections
    SESSION: ClassVar[type[MySQLSession]] = MySQLSession
    SETTINGS: ClassVar[Sequence[str]] = (
        "sql_mode", "lower_case_table_names", "collation_server", "time_zone", "group_concat_max_len",
        "optimizer_switch", "div_precision_increment", "cte_max_recursion_depth",
    )  # fmt: skip
    """Variables that can decide a result: sessions have those of `MySQLConnections.SESSION`, the others are
    the server's."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self._connections = self.CONNECTIONS(server)
        weakref.finalize(self, self._connections.close)

    def session(self, database: Database, seconds: float) -> MySQLSession:
        """See `Engine.session`."""
        return self.SESSION(self.server, self._connections, database, seconds)

    def version(self) -> str:
        """See `Engine.version`."""
        return self._ask("SELECT VERSION()")[0]

    def settings(self) -> Mapping[str, str]:
        """See `Engine.settings`."""
        asked = "SELECT " + ", ".join(f"@@{name}" for name in self.SETTINGS)
        found = dict(zip(self.SETTINGS, self._ask(asked), strict=True))
        return found | {name: str(value) for name, value in self.CONNECTIONS.SESSION.items()}

    def _ask(self, sql: str) -> list[str]:
        """Return the one row that `sql` returns to the administrating account, as text."""
        server = self.server
        try:
            with connect(server, server.user, server.password) as connection, connection.cursor() as cursor:
                cursor.execute(sql)
                row = cursor.fetchone()
        except (pymysql.Error, OSError) as error:
            raise EngineLost(f"{TITLES[server.dialect]} at {server.address}: {message(error)}") from error
        return [str(value) for value in row or ()]


_QUERIES = frozenset({"SELECT", "WITH", "VALUES", "TABLE", "SHOW", "DESC", "DESCRIBE", "EXPLAIN"})
"""What a text may begin with. https://dev.mysql.com/doc/refman/9.7/en/sql-statements.html."""

_COUNTED = frozenset({"SELECT", "WITH", "VALUES", "TABLE"})
"""What EXPLAIN ANALYZE takes of these.
https://dev.mysql.com/doc/refman/9.7/en/explain.html#explain-analyze."""

_SKIPPED = re.compile(
    r"(?: [\s(]++ | /\*(?!M?!) .*? \*/ | \#[^\n]* | --(?=[\s\x00-\x1f]|\Z)[^\n]* )*+", re.VERBOSE | re.DOTALL
)
"""Space, parentheses and comments, but none of the comments that MySQL or MariaDB executes.

https://dev.mysql.com/doc/refman/9.7/en/comments.html, https://mariadb.com/kb/en/comment-syntax/
"""

_NOTHING = re.compile(
    r"(?: [\s;]++ | /\*(?!M?!) .*? \*/ | \#[^\n]* | --(?=[\s\x00-\x1f]|\Z)[^\n]* )*+\Z",
    re.VERBOSE | re.DOTALL,
)
"""The same with semicolons instead of parentheses, to the end."""

_WORD = re.compile(r"\w{1,40}|/\*M?!|.", re.DOTALL)


def refused(sql: str) -> str | None:
    """Return why a text is not sent, or None if it is; the server refuses a text without any statement.

    The reading role may change nothing, but it may end other sessions of its own account and wait. What is in
    a query can do that to its own session only, which ends with it. Whatever cannot be recognised as a query
    is refused, so nothing depends on reading it just as MySQL does.
    """
    [found] = _words(sql, 1)
    if not found or found.upper() in _QUERIES:
        return None
    if _NOTHING.match(sql):
        return EMPTY
    return f"{found!r} does not begin a query, and only queries are run"


_LOCKS = re.compile(r"\b(get_lock)`?\s*+(?:\(|/\*|--|\#)", re.IGNORECASE)
"""A call that takes a lock by name, which all sessions of the server see: one text could tell another."""

_OF_OTHERS = re.compile(
    r"processlist|performance_schema|innodb_trx|general_log|slow_log|\bsys\b`?\s*+(?=\.|/\*|--|\#)"
)
"""Names by which an account sees the statements of its other sessions, in a folded text."""
_CONNECTION = re.compile(r"\bconnection\b")
_EXPLAINS = frozenset({"EXPLAIN", "DESCRIBE", "DESC"})

_SHOWN = frozenset(
    """
    character charset collation columns count create databases engines errors events fields function index
    indexes keys package plugins privileges procedure schemas status table tables triggers variables warnings
    """.upper().split()
)
"""What SHOW may be followed by: the data, the server's features and the session. Not accounts, because SHOW
GRANTS has a password's hash on MariaDB, and not what other sessions do.
https://dev.mysql.com/doc/refman/9.7/en/show.html, https://mariadb.com/kb/en/show/"""
_SHOW_OPTIONS = frozenset({"FULL", "EXTENDED", "GLOBAL", "SESSION", "LOCAL", "STORAGE"})
_SHOWN_CREATED = frozenset({
    "TABLE", "VIEW", "DATABASE", "SCHEMA", "FUNCTION", "PROCEDURE", "PACKAGE", "TRIGGER", "EVENT", "SEQUENCE",
})  # fmt: skip


def reaching_out(sql: str, *, is_shared: bool) -> str | None:
    """Return why a query is not sent because it shows or reaches other sessions, or None if it does not.

    Args:
        sql: a text that `refused` does not refuse.
        is_shared: whether other sessions of the account run texts, so that the server shows them.
    """
    # Looking for a pattern regardless of case takes seconds in a text of 70 MB.
    if "get_lock" in sql.lower() and (found := _LOCKS.search(sql)):
        return f"{found[1].upper()} reaches other sessions: a text has none but its own"
    first, *words = (word.upper() for word in _words(sql, 4))
    if first == "SHOW":
        while words and words[0] in _SHOW_OPTIONS:
            del words[0]
        name, created = [*words, "", ""][:2]
        if name not in _SHOWN or (name == "CREATE" and created not in _SHOWN_CREATED):
            return f"SHOW {name}: accounts and other sessions are not shown"
    if is_shared:
        names = (_OF_OTHERS, _CONNECTION) if first in _EXPLAINS else (_OF_OTHERS,)
        folded = sql.casefold()  # the servers find `information_schema.proce\u017f\u017flist`, too
        if found := next(filter(None, (name.search(folded) for name in names)), None):
            return f"{found[0]}: other sessions have the same account, whose statements it shows"
    return None


def _words(sql: str, count: int) -> list[str]:
    """Return the first words of a text, or signs in their place; empty where there is nothing."""
    found, at = [], 0
    for _ in range(count):
        skipped = _SKIPPED.match(sql, at)
        word = _WORD.match(sql, skipped.end() if skipped else at)
        found.append(word[0] if word else "")
        at = word.end() if word else len(sql)
    return found


def uncounted(sql: str) -> str | None:
    """The first word of a text whose work the server does not count; None where it does, or there is none."""
    [found] = _words(sql, 1)
    return found if found and found.upper() not in _COUNTED else None


# Tables: what SHOW CREATE TABLE prints, without what says nothing of how to query a table. Left out are
# invisible columns (the loader's, for SQLite's order of rows), ordinary indexes, the names of foreign
# keys, and the table's options (engine, character set, counters, statistics). A collation is told once
# for a table, and only if it is not MySQL's default, which ignores case and accents.
# https://dev.mysql.com/doc/refman/9.7/en/show-create-table.html

_DEFAULT_COLLATION = "utf8mb4_0900_ai_ci"
_PIECE = re.compile(r"`(?:[^`]|``)*+`|'(?:[^'\\]|''|\\.)*+'|,\n {2}|\n\)|[^`',\n]++|.", re.DOTALL)
_COLUMN = re.compile(
    r"(?P<column>`(?:[^`]|``)*+` [a-z]\w*(?:\((?:'(?:[^']|'')*+'|[^)'])*+\))?)"
    r"(?: CHARACTER SET \w+)?(?: COLLATE (?P<collation>\w+))?"
)
_TABLE_COLLATION = re.compile(r"\bCOLLATE=(\w+)")
_REFERENCE = re.compile(r"CONSTRAINT `(?:[^`]|``)*+` (?=FOREIGN KEY)")
_INVISIBLE = re.compile(r"`(?:[^`]|``)*+` [^'`]*\bINVISIBLE\b")
"""MySQL writes the word in a comment, MariaDB does not."""

_AS_IT_IS = re.compile(
    r"(?:tiny|small|medium|big)?int\b|double|float|(?:var)?(?:char|binary)|(?:tiny|medium|long)?(?:text|blob)"
)
"""Types whose values the driver returns as plain numbers, texts and bytes."""

_COLUMNS = """
SELECT table_name AS t, column_name AS c, column_type AS type FROM information_schema.columns
WHERE table_schema = DATABASE() AND extra NOT LIKE '%INVISIBLE%' ORDER BY table_name, ordinal_position
"""
_KEYS = """
SELECT table_name AS t, constraint_name AS k, referenced_table_name AS parent, column_name AS c,
    referenced_column_name AS there
FROM information_schema.key_column_usage
WHERE table_schema = DATABASE() AND (constraint_name = 'PRIMARY' OR referenced_table_schema = DATABASE())
ORDER BY table_name, constraint_name, ordinal_position
"""


def version(run: Callable[[str], list[Row]]) -> str:
    """Major and minor version of the server."""
    [[text]] = run("SELECT VERSION()")
    return ".".join(str(text).split(".")[:2])


def tables(
    run: Callable[[str], list[Row]],
    database: Database,  # noqa: ARG001 - the session's
    declared: Sequence[DeclaredTable],
) -> list[TableText]:
    """Return those of the declared tables that are there, in their order."""
    names = [table_name(table.name, Dialect.MYSQL) for table in declared]
    columns = {
        name: tuple(ColumnText(str(column), str(kind)) for _, column, kind in rows)
        for name, rows in groupby(run(_COLUMNS), key=lambda row: row[0])
    }
    keys = _keys(run(_KEYS))
    made = []
    for name in (name for name in names if name in columns):
        [[_, statement, *_]] = run(f"SHOW CREATE TABLE {_quoted(name)}")
        own = keys.get(name, [])
        made.append(
            TableText(
                name,
                without_noise(str(statement)),
                columns[name],
                next((columns for columns, parent, _ in own if parent is None), ()),
                tuple((columns, parent, there) for columns, parent, there in own if parent in names),
            )
        )
    return made


_Key = tuple[tuple[str, ...], str | None, tuple[str, ...]]


def _keys(rows: Sequence[Row]) -> Mapping[str, Sequence[_Key]]:
    found: dict[str, list[_Key]] = {}
    for (table, _, parent), group in groupby(rows, key=lambda row: row[:3]):
        parts = list(group)
        there = tuple(str(part[4]) for part in parts) if parent is not None else ()
        key = tuple(str(part[3]) for part in parts), None if parent is None else str(parent), there
        found.setdefault(str(table), []).append(key)
    return found


def without_noise(statement: str) -> str:
    """What SHOW CREATE TABLE printed, without what the module says is left out."""
    first, *items, options = _split(statement)
    collation = _TABLE_COLLATION.search(options)
    special = collation[1] if collation and collation[1] != _DEFAULT_COLLATION else None
    kept = [
        _REFERENCE.sub("", _without_collation(item, special or _DEFAULT_COLLATION))
        for item in items
        if not item.startswith("KEY ") and not _INVISIBLE.match(item)
    ]
    return f"{first}\n  " + ",\n  ".join(kept) + "\n)" + (f" COLLATE={special}" if special else "")


def _without_collation(item: str, of_table: str) -> str:
    column = _COLUMN.match(item)
    if column is None or column["collation"] not in {None, of_table}:
        return item
    return column["column"] + item[column.end() :]


def _split(statement: str) -> Iterator[str]:
    """Yield the first line, one text for each column and key, and what follows the last parenthesis."""
    first, body = statement.split("(\n  ", maxsplit=1)
    yield f"{first}("
    item = ""
    pieces = _PIECE.finditer(body)
    for piece in pieces:
        if piece[0] == "\n)":
            yield item
            yield body[piece.end() :]
            return
        if piece[0] == ",\n  ":
            yield item
            item = ""
        else:
            item += piece[0]


def first_rows(table: TableText, count: int) -> str:
    """Return the query for a table's first rows, in the order of the clustered index."""
    columns = ", ".join(
        _quoted(column.name)
        if _AS_IT_IS.match(column.type)
        else f"CAST({_quoted(column.name)} AS CHAR) AS {_quoted(column.name)}"
        for column in table.columns
    )
    # https://dev.mysql.com/doc/refman/9.7/en/index-hints.html: without indexes, the table itself is read.
    return f"SELECT {columns} FROM {_quoted(table.name)} USE INDEX () LIMIT {count}"  # noqa: S608 - quoted


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
