"""The portable schema: the contents of a SQLite database in terms common to all engines.

`loaders.file_census` reads it from a file; it does not depend on an engine or a profile.
"""

from dataclasses import dataclass, field
from enum import StrEnum


class PortableType(StrEnum):
    """The types that a column can have on every engine."""

    INTEGER = "integer"
    REAL = "real"
    TEXT = "text"
    BLOB = "blob"
    DATE = "date"
    """Text in SQLite, every value a calendar day; see `loaders.portable`."""
    DATETIME = "datetime"
    """Text in SQLite, every value a day or a date and time; see `loaders.portable`."""


MARK = "\u241b"
"""Prefix of escaped values: the symbol for escape, which servers can store and texts rarely begin with."""

ESCAPED_TEXT, ESCAPED_BLOB = f"{MARK}t", f"{MARK}b"
"""Prefixes of escaped texts and blobs; the bytes of the text in UTF-8, or of the blob, follow."""


@dataclass(frozen=True)
class Column:
    """One column: its declaration, and facts about its stored values."""

    name: str
    declared: str
    """The declared type as written, empty if there is none."""
    type: PortableType
    nullable: bool
    """True if it contains NULL, or is not declared NOT NULL."""
    nulls: bool = True
    """True if it contains NULL."""
    longest: int = 0
    """Length of the longest text or blob in the file, in bytes; for a text, at least its characters."""
    least: float | None = None
    greatest: float | None = None
    """The extremes of a column of numbers, or of texts that are numbers (`digits`); can be infinite."""
    slashes: bool = False
    """DATE: True if a value is written with slashes."""
    days: bool = False
    """Text of any declaration: True if every value is a calendar day, written YYYY-MM-DD."""
    moments: bool = False
    """Text of any declaration: True if every value is such a day or YYYY-MM-DD HH:MM:SS[.fraction]."""
    digits: bool = False
    """Text of any declaration: True if every value is an INTEGER, written as SQLite prints it."""
    long_numbers: bool = False
    """Text of any declaration: True if a value has 16 digits in a row: an INTEGER in it may exceed 2^53."""
    first_year: bool = False
    """Text of any declaration: True if a value begins with -4713-, the year of the first day."""
    fractions: bool = False
    """DATETIME: True if a value has a fraction of a second other than zero."""
    escaped: bool = False
    """True if its values are escaped, see `loaders.portable`; `longest` is that of the escaped values."""
    mixed: bool = False
    """True if it has several SQLite storage classes, whose values are converted to `type`."""
    apart: bool = False
    """True if it has numbers, and texts that do not read as numbers."""
    blobs: bool = False
    """True if it has blobs among other values; such a column is loaded only if values are escaped."""
    readable: bool = False
    """True if all of these blobs are the bytes of texts without a NUL."""
    untyped: bool = False
    """True if no type keeps its values distinct: it is text, and only where values are escaped."""
    opaque: bool = False
    """True if a text has a NUL or invalid bytes, which no server can store as text."""
    unfit: str = ""
    """Why no type of a server fits its values, in a lenient census; else empty."""
    collation: str = "BINARY"
    """Collation of its texts: BINARY, NOCASE or RTRIM. https://sqlite.org/datatype3.html#collating_sequences"""


@dataclass(frozen=True)
class ForeignKey:
    """A reference to a unique key that every stored row satisfies."""

    columns: tuple[str, ...]
    parent: str
    parent_columns: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """One table. Names are spelled as the table and its columns are declared, not as a key spells them."""

    name: str
    columns: tuple[Column, ...]
    rows: int
    primary_key: tuple[str, ...] = ()
    """Empty if there is none, or if it contains NULL, which SQLite allows."""
    unique: tuple[tuple[str, ...], ...] = ()
    indexes: tuple[tuple[str, ...], ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    has_rowid: bool = True
    """False for a table WITHOUT ROWID. https://sqlite.org/withoutrowid.html"""
    has_key_index: bool = False
    """True if the primary key has its own index: INTEGER PRIMARY KEY DESC is not the rowid."""
    rowids: tuple[tuple[int, int], ...] = ()
    """Runs of consecutive rowids in order, each as the number of its first row, from 1, and that row's
    rowid. Empty if there are too many runs, or no rowids."""

    @property
    def rowid(self) -> str | None:
        """The INTEGER PRIMARY KEY, which is the rowid. https://sqlite.org/lang_createtable.html#rowid."""
        if self.has_rowid and not self.has_key_index and len(self.primary_key) == 1:
            [name] = self.primary_key
            return name if self.column(name).declared.upper() == "INTEGER" else None
        return None

    def column(self, name: str) -> Column:
        """Return the column of exactly that name."""
        return next(column for column in self.columns if column.name == name)


CatalogueRow = tuple[str, str, str, int, str | None]
"""A row of `sqlite_schema`: type, name, tbl_name, rootpage and sql. https://sqlite.org/schematab.html"""


@dataclass(frozen=True)
class View:
    """One view: servers do not have it; translations use its query instead."""

    name: str
    sql: str
    """CREATE VIEW as SQLite stores it."""


@dataclass(frozen=True)
class Schema:
    """All tables and views of one file, in the order in which they were created."""

    tables: tuple[Table, ...]
    notes: tuple[str, ...] = ()
    """Declarations that could not be kept, one sentence each."""
    escapes: bool = False
    """True if values that a server cannot store are escaped; see `loaders.portable`."""
    views: tuple[View, ...] = ()
    encoding: str = "UTF-8"
    """Encoding of texts in the file, from `PRAGMA encoding`."""
    virtual: tuple[str, ...] = ()
    """Names of virtual tables, such as full-text indexes, which no server has."""
    catalogue: tuple[CatalogueRow, ...] = field(default=(), compare=False, repr=False)
    """What the file says of itself."""

    @property
    def rows(self) -> int:
        """Number of rows in all tables."""
        return sum(table.rows for table in self.tables)


def affinity(declared: str) -> str:
    """Return a type's affinity by SQLite's five rules. https://sqlite.org/datatype3.html#determination_of_column_affinity."""
    upper = declared.upper()
    rules = (
        ("INTEGER", ("INT",)),
        ("TEXT", ("CHAR", "CLOB", "TEXT")),
        ("BLOB", ("BLOB",)),
        ("REAL", ("REAL", "FLOA", "DOUB")),
    )
    if not upper.strip():
        return "BLOB"
    return next((name for name, parts in rules if any(part in upper for part in parts)), "NUMERIC")
