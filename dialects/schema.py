"""What a SQLite database holds, in terms that any server can be told: the portable schema.

`loaders.census` makes it from a file; nothing in it depends on an engine or a profile.
"""

from dataclasses import dataclass
from enum import StrEnum


class PortableType(StrEnum):
    """The types that a column can have on every engine."""

    INTEGER = "integer"
    REAL = "real"
    TEXT = "text"
    BLOB = "blob"
    DATE = "date"
    """Text in SQLite, each the text of a day; see `loaders.portable`."""
    DATETIME = "datetime"
    """Text in SQLite, each the text of a plain day or a moment; see `loaders.portable`."""


MARK = "\u241b"
"""How escaped values begin: the symbol for escape, which servers hold and texts hardly ever begin with."""

ESCAPED_TEXT, ESCAPED_BLOB = f"{MARK}t", f"{MARK}b"
"""How escaped texts and blobs begin; what follows are the bytes of the text in UTF-8, or the blob's."""


@dataclass(frozen=True)
class Column:
    """One column: how it is declared and what is stored in it."""

    name: str
    declared: str
    """The declared type as written, empty if there is none."""
    type: PortableType
    nullable: bool
    """Whether it holds NULL, or is not declared NOT NULL."""
    nulls: bool = True
    """Whether it holds NULL."""
    longest: int = 0
    """Bytes of the longest text or blob in the file; of a text, never fewer than its characters."""
    least: float | None = None
    greatest: float | None = None
    """The extremes of a column of numbers, or of texts that are such, see `digits`; they can be infinite."""
    slashes: bool = False
    """DATE: whether a value is written with slashes."""
    days: bool = False
    """Text of any declaration: whether every value is a calendar day, written YYYY-MM-DD."""
    moments: bool = False
    """Text of any declaration: whether every value is such a day or YYYY-MM-DD HH:MM:SS, decimals or not."""
    digits: bool = False
    """Text of any declaration: whether every value is an INTEGER, written as SQLite prints it."""
    fractions: bool = False
    """DATETIME: whether a value has a fraction of a second other than zero."""
    escaped: bool = False
    """Whether its texts are written as `loaders.portable` says; `longest` is that of what is written."""
    mixed: bool = False
    """Whether values of more than one SQLite storage class have to be converted to `type`."""
    apart: bool = False
    """Whether it is a mixture of numbers and texts none of which reads as a number."""
    blobs: bool = False
    """Whether blobs are among those values; such a column is loaded only where values are escaped."""
    readable: bool = False
    """Whether all of these blobs are the bytes of texts without a NUL."""
    opaque: bool = False
    """Whether a text in it has a NUL or bytes that are no characters, which no server has as a text."""
    collation: str = "BINARY"
    """What compares its texts: BINARY, NOCASE or RTRIM. https://sqlite.org/datatype3.html#collating_sequences"""


@dataclass(frozen=True)
class ForeignKey:
    """A reference that every stored row satisfies, to a key that is unique."""

    columns: tuple[str, ...]
    parent: str
    parent_columns: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """One table. All names are spelled as the table and its columns are, not as a key spells them."""

    name: str
    columns: tuple[Column, ...]
    rows: int
    primary_key: tuple[str, ...] = ()
    """Empty where there is none, and where SQLite let NULL into it."""
    unique: tuple[tuple[str, ...], ...] = ()
    indexes: tuple[tuple[str, ...], ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    has_rowid: bool = True
    """Whether it is an ordinary table, and none WITHOUT ROWID. https://sqlite.org/withoutrowid.html"""
    has_key_index: bool = False
    """Whether the primary key has an index of its own: INTEGER PRIMARY KEY DESC is not the rowid."""
    rowids: tuple[tuple[int, int], ...] = ()
    """Runs of rowids that follow each other, in their order: the number of the first row, from 1, and its
    rowid. Empty where there are too many runs, or no rowids."""

    @property
    def rowid(self) -> str | None:
        """The INTEGER PRIMARY KEY, which is the rowid. https://sqlite.org/lang_createtable.html#rowid."""
        if self.has_rowid and not self.has_key_index and len(self.primary_key) == 1:
            [name] = self.primary_key
            return name if self.column(name).declared.upper() == "INTEGER" else None
        return None

    def column(self, name: str) -> Column:
        """The column of that exact name."""
        return next(column for column in self.columns if column.name == name)


@dataclass(frozen=True)
class View:
    """One view: no server gets it, translations put its query in its place."""

    name: str
    sql: str
    """CREATE VIEW as SQLite keeps it."""


@dataclass(frozen=True)
class Schema:
    """All tables and views of one file, in the order in which they were created."""

    tables: tuple[Table, ...]
    notes: tuple[str, ...] = ()
    """What could not be taken over as declared, one sentence each."""
    escapes: bool = False
    """Whether what a server cannot hold is to be written in another form; see `loaders.portable`."""
    views: tuple[View, ...] = ()
    encoding: str = "UTF-8"
    """Of its texts in the file, as `PRAGMA encoding` says."""

    @property
    def rows(self) -> int:
        """Rows of all tables together."""
        return sum(table.rows for table in self.tables)


def affinity(declared: str) -> str:
    """SQLite's five rules, in their order. https://sqlite.org/datatype3.html#determination_of_column_affinity."""
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
