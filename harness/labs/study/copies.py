"""Copies of databases whose keys and indexes can be changed: a user's own are never altered.

A copy on a server is loaded by the loader into a namespace of its own; of SQLite it is a file in a folder of
its own. Both are gone when the block that made them ends, and what a killed process left goes when the next
one begins: while one works, it holds a lock on each server and on its folder.
"""

import os
import secrets
import shutil
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Protocol
from urllib.parse import quote

from dialects.errors import BadInput
from dialects.identifiers import quoted
from dialects.schema import Schema
from dialects.server_schema import server_tables
from harness.engines import EngineName
from loaders import index_copies
from loaders.base import paths
from loaders.base.errors import EngineUnavailable
from loaders.base.files import locked
from loaders.bulk_load import load
from loaders.file_census import census
from loaders.namespace import Database, namespace
from loaders.server import Server
from loaders.source import DeclaredTable, declarations, opened

# SQLite files with other keys: the same tables, columns and rows, in the same order.
#
# What SQLite calls INTEGER PRIMARY KEY is the number under which it stores a row, no index besides the
# table. A file without keys has such a column as any other, and SQLite numbers the rows by itself.
# https://sqlite.org/lang_createtable.html#rowid


def copy_with_keys(source: Path, target: Path, *, primary: bool) -> None:
    """Write the tables of a file with their primary keys alone, or without any key.

    Declared types, NOT NULL and collations stay. Views, virtual tables and SQLite's statistics are left out.

    Args:
        source: the file, which is only read.
        target: a file that is not there yet.
        primary: whether primary keys stay.

    Raises:
        BadInput: the file cannot be read, or not be copied.
    """
    with opened(source) as connection:
        tables = declarations(connection).tables
        [page] = connection.execute("PRAGMA page_size").fetchone()
        [encoding] = connection.execute("PRAGMA encoding").fetchone()
    try:
        with closing(sqlite3.connect(target, isolation_level=None)) as connection:
            connection.execute(f"PRAGMA page_size = {page}")
            connection.execute(f"PRAGMA encoding = '{encoding}'")
            connection.execute("PRAGMA journal_mode = OFF")
            connection.execute("PRAGMA synchronous = OFF")
            place = f"file:{quote(str(source.absolute()))}?mode=ro&immutable=1"
            connection.execute("ATTACH ? AS there", (place,))
            connection.execute("BEGIN")
            for table in tables:
                _copy(connection, table, primary=primary)
            connection.execute("COMMIT")
    except sqlite3.Error as error:
        raise BadInput(
            f"{source}: cannot be copied to study indexes ({error}); leave it out by --db"
        ) from error


def _copy(connection: sqlite3.Connection, table: DeclaredTable, *, primary: bool) -> None:
    key = table.primary_key if primary else ()
    columns = ", ".join(
        f"{quoted(column.name)} {column.declared}"
        f"{' NOT NULL' if column.not_null else ''} COLLATE {column.collation}"
        for column in table.columns
    )
    # DESC keeps an INTEGER PRIMARY KEY that is not the rowid from becoming it.
    order = " DESC" if table.has_key_index and len(key) == 1 else ""
    constraint = f", PRIMARY KEY ({', '.join(map(quoted, key))}{order})" if key else ""
    without = " WITHOUT ROWID" if key and not table.has_rowid else ""
    name = quoted(table.name)
    connection.execute(f"CREATE TABLE main.{name} ({columns}{constraint}){without}")
    names = ", ".join(quoted(column.name) for column in table.columns)
    connection.execute(f"INSERT INTO main.{name} ({names}) SELECT {names} FROM there.{name} NOT INDEXED")  # noqa: S608 - quoted


def index_bytes(path: Path) -> dict[tuple[str, str], int]:
    """Return bytes of every index and table of a file, by names; tables by (`table`, "").

    Where SQLite was built without `dbstat`, they are unknown, and there are none.
    https://sqlite.org/dbstat.html
    """
    with closing(sqlite3.connect(f"file:{quote(str(path.absolute()))}?mode=ro", uri=True)) as connection:
        try:
            found = connection.execute(
                "SELECT tbl_name, CASE type WHEN 'index' THEN sqlite_master.name ELSE '' END, sum(pgsize)"
                " FROM dbstat JOIN sqlite_master USING (name) GROUP BY 1, 2"
            ).fetchall()
        except sqlite3.OperationalError:
            return {}
    return {(table, index): size for table, index, size in found}


INDEX_PREFIX = "bird_study_"
"""The prefix of every index that a study makes."""


class Scheme(StrEnum):
    """The keys and indexes of a copy of a database."""

    NONE = "none"
    """No key and no index. InnoDB stores a table by a number of its own then, SQLite by the rowid, PostgreSQL
    as a heap, as always."""
    PRIMARY = "primary"
    """Primary keys. InnoDB stores a table by it, SQLite where it is INTEGER; else it is an index."""
    FOREIGN = "primary + foreign"
    """And an index on the columns of each foreign key. InnoDB makes these by itself, the others do not."""
    ADVISED = "advised"
    """Primary keys, and the indexes advised for the workload (`harness.labs.study.advice`)."""


class Keys(StrEnum):
    """The keys and indexes of a copy at first."""

    DECLARED = "declared"
    """All that the file declares. MySQL makes an index for each foreign key."""
    PRIMARY = "primary"
    """Primary keys alone."""


@dataclass(frozen=True)
class Index:
    """An ordinary index, by SQLite's names of table and columns."""

    table: str
    columns: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name of the copy on every engine."""
        digest = sha256("\0".join((self.table, *self.columns)).encode()).hexdigest()
        return f"{INDEX_PREFIX}{digest[:12]}"

    def __str__(self) -> str:
        return f"{self.table}({', '.join(self.columns)})"


@dataclass(frozen=True)
class Made:
    """The result of making an index: the seconds, or why the engine refused it."""

    seconds: float
    refused: str | None = None


class DatabaseCopy(Protocol):
    """One copy of one database on one engine."""

    database: Database
    """The database of the copy, for sessions."""
    schema: Schema

    def add(self, index: Index) -> Made:
        """Make an index."""
        ...

    def remove(self, index: Index) -> None:
        """Drop an index that was made."""
        ...

    def drop_primary_keys(self) -> None:
        """Drop all other keys and indexes; those that were made must be removed before."""
        ...

    def sizes(self) -> Mapping[tuple[str, str], int]:
        """Return bytes of every index by names of table and index, and of tables by (table, "")."""
        ...


class CopyRoom:
    """Makes copies on the engines of a study; by `copying`."""

    def __init__(self, folder: Path, servers: Mapping[EngineName, Server]) -> None:
        self._folder = folder
        self._servers = servers

    @contextmanager
    def copy(self, engine: EngineName, database: Database, keys: Keys) -> Iterator[DatabaseCopy]:
        """Yield a copy of a database, gone at the end.

        Args:
            engine: where it is to be.
            database: the original, in the profile that the copy is to have.
            keys: what the copy begins with.

        Raises:
            BadInput: the file cannot be read, or a server cannot hold what it holds.
            EngineUnavailable: the server broke.
        """
        server = self._servers.get(engine)
        if server is None:
            folder = self._folder / secrets.token_hex(4)
            folder.mkdir()
            try:
                yield _FileCopy(folder, database, keys)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
            return
        there = replace(database, collection=index_copies.copy_collection())
        try:
            load([there], server, indexes=keys is Keys.DECLARED)
            yield _ServerCopy(server, there)
        finally:
            # A server that is gone is swept by the next study.
            with suppress(EngineUnavailable):
                index_copies.drop(server, [namespace(there, server.dialect)[0]])


@contextmanager
def copying(servers: Mapping[EngineName, Server]) -> Iterator[CopyRoom]:
    """Yield a room for copies; remains of an earlier process are removed first.

    Args:
        servers: the administrating account of each engine that has servers.

    Raises:
        BadInput: there is no folder for files.
        EngineUnavailable: a server does not answer, or another study has copies there.
    """
    with ExitStack() as stack:
        for server in servers.values():
            if not stack.enter_context(index_copies.hold(server)):
                raise EngineUnavailable(
                    f"{server.dialect} at {server.address}: another study uses copies of databases"
                    " there; wait for it to end"
                )
            index_copies.drop(server, index_copies.copies(server))
        yield CopyRoom(stack.enter_context(_folder()), servers)


@contextmanager
def _folder() -> Iterator[Path]:
    """Yield a folder of this process alone; those of dead ones are removed."""
    parent = paths.state() / "study"
    parent.mkdir(exist_ok=True)
    for other in parent.iterdir():
        # Another process has it, or has just removed it.
        with suppress(OSError, BadInput):
            descriptor = locked(other)
            shutil.rmtree(other, ignore_errors=True)
            os.close(descriptor)
    folder = parent / secrets.token_hex(8)
    folder.mkdir()
    descriptor = locked(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(descriptor)


class _FileCopy:
    """A copy as a file."""

    def __init__(self, folder: Path, database: Database, keys: Keys) -> None:
        self._source = database.sqlite_path
        self._folder = folder
        self.schema = census(self._source)
        path = folder / "copy.sqlite"
        if keys is Keys.DECLARED:
            shutil.copyfile(self._source, path)
        else:
            copy_with_keys(self._source, path, primary=True)
        self.database = replace(database, sqlite_path=path)

    def add(self, index: Index) -> Made:
        columns = ", ".join(map(quoted, index.columns))
        return self._run(f"CREATE INDEX {quoted(index.name)} ON {quoted(index.table)} ({columns})")

    def remove(self, index: Index) -> None:
        self._run(f"DROP INDEX {quoted(index.name)}")

    def drop_primary_keys(self) -> None:
        path = self._folder / "bare.sqlite"
        copy_with_keys(self._source, path, primary=False)
        path.replace(self.database.sqlite_path)

    def sizes(self) -> Mapping[tuple[str, str], int]:
        return index_bytes(self.database.sqlite_path)

    def _run(self, statement: str) -> Made:
        began = time.perf_counter()
        try:
            with closing(sqlite3.connect(self.database.sqlite_path, isolation_level=None)) as connection:
                connection.execute("PRAGMA journal_mode = MEMORY")
                connection.execute(statement)
        except sqlite3.Error as error:
            return Made(time.perf_counter() - began, str(error))
        return Made(time.perf_counter() - began)


class _ServerCopy:
    """A copy on a server."""

    def __init__(self, server: Server, database: Database) -> None:
        self._server = server
        self.database = database
        self.schema = census(database.sqlite_path)
        tables = server_tables(self.schema, server.dialect, database.profile, database.sqlite_path)
        self._tables = {table.source.name: table for table in tables}

    def add(self, index: Index) -> Made:
        began = time.perf_counter()
        refused = index_copies.add_index(
            self._server, self.database, self._tables[index.table], index.columns, index.name
        )
        return Made(time.perf_counter() - began, refused)

    def remove(self, index: Index) -> None:
        index_copies.drop_index(self._server, self.database, self._tables[index.table], index.name)

    def drop_primary_keys(self) -> None:
        index_copies.drop_primary_keys(self._server, self.database, list(self._tables.values()))

    def sizes(self) -> Mapping[tuple[str, str], int]:
        return index_copies.sizes(self._server, self.database)


def foreign_indexes(schema: Schema) -> list[Index]:
    """Return an index for each foreign key whose columns do not begin the primary key; each once."""
    found = {
        Index(table.name, key.columns): None
        for table in schema.tables
        for key in table.foreign_keys
        if table.primary_key[: len(key.columns)] != key.columns
    }
    return list(found)
