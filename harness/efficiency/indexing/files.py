"""SQLite files with other keys: the same tables, columns and rows, in the same order.

What SQLite calls INTEGER PRIMARY KEY is the number under which it stores a row, no index beside the table. A
file without keys has such a column as any other, and SQLite numbers the rows by itself.
https://sqlite.org/lang_createtable.html#rowid
"""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from dialects.errors import BadInput
from dialects.identifiers import quoted
from loaders.source import DeclaredTable, declarations, opened


def copy_file(source: Path, target: Path) -> None:
    """Copy a file with all its keys and indexes."""
    shutil.copyfile(source, target)


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
    """Bytes of every index and table of a file, by names; tables by (`table`, "").

    Where SQLite was built without `dbstat`, they are not known, and nothing is said.
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
