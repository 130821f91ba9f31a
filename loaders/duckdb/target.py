"""Load into DuckDB: fill a file that nobody else opens, then replace the old one by it.

A database is one file in both profiles, and its marker a file beside it. A session that has the old file open
goes on reading that.

SQLite writes whole pages of text, which DuckDB reads as CSV from a pipe; tables with blobs and other rare
ones are sent as lists of values. Primary and unique keys follow after the rows. DuckDB cannot add foreign
keys to tables that exist, and scans a column faster than it uses an ordinary index: neither is made.
"""

import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import duckdb
from filelock import FileLock

from dialects.enums import Dialect
from dialects.errors import BadInput
from dialects.identifiers import quoted
from dialects.server_schema import ServerTable
from loaders.base.errors import EngineUnavailable, said
from loaders.duckdb.session import attempt, connected, file_of, path_of
from loaders.namespace import STAGING, Database, Key, Marker, key
from loaders.pages import REAL, SINGLE, TextForm, batches, is_plain, pages, stored_value
from loaders.server import Server
from loaders.target import DdlSyntax, KeySyntax, LoadSource, Target

_NO_DUMPS = "DuckDB: no dumps are published for it; leave --dump out"

_FORM = TextForm(
    escape=b"\x1d",
    field=b"\x1f",
    line=b"\n",
    escapes={b"\x1d": b"\x1de", b"\n": b"\x1dn", b"\r": b"\x1dr", b"\x1f": b"\x1df"},
    reals={"double": REAL, "real": SINGLE},
)
_LONGEST_LINE = 2**24


class DuckDBTarget(Target):
    """Fills and replaces files of a folder."""

    dialect = Dialect.DUCKDB
    in_processes = False  # SQLite writes what is sent
    locks_files = True
    settled = ""
    ddl = DdlSyntax(identity=" DEFAULT nextval('{sequence}')", has_sequences=True, has_actions=False)

    @contextmanager
    def exclusive(self, server: Server) -> Iterator[None]:
        folder = Path(server.host)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with FileLock(folder / "loading.lock"):
                yield
        except OSError as error:
            raise EngineUnavailable(f"DuckDB at {folder}: {said(error)}") from error

    def tidy(self, server: Server, databases: Sequence[Database]) -> None:
        for path in Path(server.host).glob(f"{STAGING}*"):
            path.unlink(missing_ok=True)

    def admit_reader(self, server: Server) -> None:
        """Do nothing: files have no accounts, and sessions open them read-only."""

    def install_functions(self, server: Server, databases: Sequence[Database]) -> None:
        """Do nothing: sessions bring SQLite's functions along (`loaders.duckdb.functions`)."""

    def markers(self, server: Server, databases: Sequence[Database]) -> dict[Key, Marker]:
        found: dict[Key, Marker] = {}
        for database in databases:
            with suppress(FileNotFoundError):
                text = _marker(server, database).read_text(encoding="utf-8")
                marker = Marker.from_json(text)
                is_there = file_of(server, database).is_file()
                found[key(database)] = marker.checked(marker.tables.keys() if is_there else set())
        return found

    def present(self, server: Server, database: Database) -> set[str]:
        """Return the tables of a load: nobody else has tables in the file."""
        marker = self.markers(server, [database]).get(key(database))
        return set(marker.tables) if marker else set()

    def prepare(self, server: Server, database: Database, staging: str) -> None:
        with connected(server, staging):
            pass

    def staged(self, database: Database, staging: str) -> str:
        return staging

    def send(
        self,
        session: duckdb.DuckDBPyConnection,
        name: str,
        table: ServerTable,
        connection: sqlite3.Connection,
        advance: Callable[[int], None],
    ) -> int:
        session.execute("SET TimeZone = 'UTC'")
        # An empty line of a single column would be no row.
        is_text = is_plain(connection, table) and len(table.columns) > 1
        for rows in (_as_text if is_text else _as_values)(session, name, table, connection):
            advance(rows)
        [count] = session.execute(f"SELECT count(*) FROM {name}").fetchone() or (0,)  # noqa: S608 - quoted
        return int(count)

    def add_keys(
        self,
        session: duckdb.DuckDBPyConnection,
        database: Database,
        source: LoadSource,
        table: ServerTable,
        syntax: KeySyntax,
    ) -> list[str]:
        wanted = [("PRIMARY KEY", table.source.primary_key)] if table.source.primary_key else []
        wanted += [("UNIQUE", columns) for columns in table.source.unique]
        notes = []
        for words, columns in wanted:
            listed = syntax.columns(table, columns, whole=True)
            if refused := attempt(session, f"ALTER TABLE {syntax.table(table)} ADD {words} {listed}"):
                notes.append(f"{words} of {table.source.name} {listed} is left out: {refused}")
        return notes

    def analyze(self, session: duckdb.DuckDBPyConnection, staging: str, table: str) -> None:
        """Do nothing: DuckDB keeps statistics as rows come."""

    def link(self, server: Server, database: Database, source: LoadSource, staging: str) -> list[str]:
        return []

    def put_in_place(
        self, server: Server, database: Database, staging: str, old: Sequence[str], marker: Marker
    ) -> None:
        with connected(server, staging) as connection:
            connection.execute("CHECKPOINT")
        beside = _marker(server, database)
        # Without a marker a database counts as not loaded, so that none is ever beside another's file.
        beside.unlink(missing_ok=True)
        path_of(server, staging).replace(file_of(server, database))
        written = beside.with_name(f"{STAGING}_{beside.name}")
        written.write_text(marker.to_json(), encoding="utf-8")
        written.replace(beside)

    def discard(self, server: Server, database: Database, staging: str) -> None:
        for path in Path(server.host).glob(f"{staging}.*"):
            path.unlink(missing_ok=True)

    def run_dump(
        self, server: Server, database: Database, staging: str, dump: Path, advance: Callable[[int], None]
    ) -> None:
        raise BadInput(_NO_DUMPS)

    def take_over(
        self, server: Server, database: Database, staging: str, to: str, tables: Sequence[str]
    ) -> None:
        raise BadInput(_NO_DUMPS)

    def drop_databases(self, server: Server, collections: Mapping[str, str]) -> None:
        for name in collections:
            path_of(server, name).with_suffix(".json").unlink(missing_ok=True)
            path_of(server, name).unlink(missing_ok=True)


TARGET = DuckDBTarget()


def _marker(server: Server, database: Database) -> Path:
    return file_of(server, database).with_suffix(".json")


def _as_text(
    session: duckdb.DuckDBPyConnection, name: str, table: ServerTable, connection: sqlite3.Connection
) -> Iterator[int]:
    """Send all rows as text; yield the number of additional rows sent."""
    kinds = {column.name: column.type for column in table.columns}
    columns = ", ".join(f"{_literal(column)}: {_literal(kind)}" for column, kind in kinds.items())
    values = ", ".join(
        _unescaped(quoted(column)) if kind == "text" else quoted(column) for column, kind in kinds.items()
    )
    reading, writing = os.pipe()
    source = (
        f"read_csv('/dev/fd/{reading}', delim = {_literal(_FORM.field.decode())}, quote = '', escape = '',"
        f" nullstr = {_literal(_FORM.null.decode())}, header = true, auto_detect = false, new_line = '\\n',"
        f" max_line_size = {_LONGEST_LINE}, buffer_size = {2 * _LONGEST_LINE}, columns = {{{columns}}})"
    )

    def read() -> None:
        try:
            session.execute(f"INSERT INTO {name} SELECT {values} FROM {source}")  # noqa: S608 - quoted
        finally:
            os.close(reading)

    with ThreadPoolExecutor(1) as pool:
        reader = pool.submit(read)
        try:
            with suppress(BrokenPipeError), os.fdopen(writing, "wb") as pipe:
                # Else a text that begins with U+FEFF would lose it as the file's byte order mark.
                pipe.write(_FORM.field * (len(table.columns) - 1) + _FORM.line)
                for page, rows in pages(connection, table, _FORM):
                    pipe.write(page)
                    yield rows
        finally:
            reader.result()


def _literal(text: str) -> str:
    doubled = text.replace("'", "''")
    return f"'{doubled}'"


def _unescaped(column: str) -> str:
    """Return SQL for a text without the escapes of `_FORM`."""
    value = column
    for special, written in reversed(list(_FORM.escapes.items())):
        value = f"replace({value}, {_literal(written.decode())}, chr({special[0]}))"
    return f"CASE WHEN contains({column}, chr({_FORM.escape[0]})) THEN {value} ELSE {column} END"


def _as_values(
    session: duckdb.DuckDBPyConnection, name: str, table: ServerTable, connection: sqlite3.Connection
) -> Iterator[int]:
    """Send all rows as lists of values; yield the number of additional rows sent."""
    marks = ", ".join(f"CAST(unnest(?) AS {column.type})" for column in table.columns)
    for batch in batches(connection, table.source, [stored_value(column) for column in table.columns]):
        session.execute(f"INSERT INTO {name} SELECT {marks}", list(map(list, zip(*batch, strict=True))))
        yield len(batch)
