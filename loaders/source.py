"""Open a SQLite file read-only; read its declarations, and find values that servers cannot store.

A file with an unfinished journal is rejected, because an immutable connection would not see the changes in
the journal.

Values that show in SQLite's figures are rejected before anything is written; those that show only in the
texts are searched for after a load has failed on them.

Declarations are read through PRAGMAs, never by parsing SQL. Left out, each with a note: views, virtual
tables with their shadow tables, and indexes that are partial or over expressions. Translations replace a view
by its query. DEFAULT, CHECK and COLLATE clauses do not matter to a database that is only read, or have no
counterpart; SQLite's own tables (`sqlite_sequence`, `sqlite_stat1`) are not data.
"""

import sqlite3
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from pathlib import Path

from dialects.by_dialect import ByDialect
from dialects.enums import Dialect, Profile
from dialects.errors import BadInput
from dialects.identifiers import collations_in, quoted, register_collations
from dialects.schema import CatalogueRow, ForeignKey, PortableType, Table, View
from dialects.server_schema import LARGEST_REAL, TYPES, ServerTable
from loaders.base.files import unwritten
from loaders.base.processes import ended_by
from loaders.portable import escaped_text

_SINGLE = struct.Struct("f")

_ROWID_NAMES = ("rowid", "_rowid_", "oid")
"""https://sqlite.org/lang_createtable.html#rowid."""


def rowid_name(columns: Iterable[str]) -> str | None:
    """Return a name for the rowid in a table with these columns; None if all are taken."""
    taken = {column.lower() for column in columns}
    return next((name for name in _ROWID_NAMES if name not in taken), None)


def text_of(name: str) -> str:
    """Return SQL for a value as text, a number as its shortest text; `name` is the quoted column.

    A text is passed unchanged, so that its reader can report invalid bytes.
    """
    return f"CASE WHEN typeof({name}) IN ('integer', 'real') THEN exact_text({name}) ELSE {name} END"


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a SQLite file read-only, with additional functions.

    `exact_text(x)` is a number's shortest text that reads back as the same number, `single_text(x)` that of
    the nearest single; `is_text(x)` is true if the blob `x` is text in the file's encoding;
    `escaped_text(x, y)` is that of `loaders.portable`. Collations that SQLite does not have compare bytes.

    Raises:
        BadInput: it is missing, not a SQLite database, damaged, or has an unfinished journal. Also raised for
            errors of SQLite within the `with` block.
    """
    if fault := unwritten(path):
        raise BadInput(f"{path}: {fault}")
    try:
        with closing(
            # Only one thread at a time uses it, but not always the one that opened it.
            sqlite3.connect(
                f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False
            )
        ) as connection:
            connection.create_function("exact_text", 1, _exact_text, deterministic=True)
            connection.create_function("single_text", 1, _single_text, deterministic=True)
            [encoding] = connection.execute("PRAGMA encoding").fetchone()
            connection.create_function("is_text", 1, partial(_is_text, encoding), deterministic=True)
            connection.create_function("escaped_text", 2, partial(_escaped, encoding), deterministic=True)
            # As bytes: a definition may be no text at all.
            stored = connection.execute("SELECT CAST(sql AS BLOB) FROM sqlite_master WHERE sql IS NOT NULL")
            definitions = [sql.decode(encoding, errors="replace") for (sql,) in stored]
            register_collations(connection, collations_in(definitions))
            with ended_by(connection.interrupt):
                yield connection
    except sqlite3.Error as error:
        raise BadInput(f"{path}: {error}; {_advice(error)}") from error


def _advice(error: sqlite3.Error) -> str:
    # The lowest byte is the error; the others are details. https://sqlite.org/rescode.html
    if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_ERROR:
        return "plain SQLite can't read it; load a copy without the parts that need its own application"
    return "give the path of a complete SQLite file"


def _exact_text(value: float) -> str:
    return str(value)


def _single_text(value: float) -> str:
    [single] = _SINGLE.unpack(_SINGLE.pack(value))
    return str(single)


def _escaped(encoding: str, value: bytes, among_others: int) -> str:
    return escaped_text(value, encoding, among_others=bool(among_others))


def _is_text(encoding: str, value: bytes) -> bool:
    try:
        value.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def place(connection: sqlite3.Connection, table: str, column: str, predicate: str) -> str | None:
    """Describe the row of the first value in `table` that satisfies `predicate`; None if there is none.

    Args:
        connection: one from `opened`.
        table: the table's name.
        column: the name of the predicate's column.
        predicate: SQL in which `{0}` is the column and `{1}` the table.
    """
    condition = predicate.format(quoted(column), quoted(table))
    if _first(connection, ["1"], table, condition) is None:
        return None
    columns = connection.execute(
        "SELECT lower(name), name, pk FROM pragma_table_xinfo(?)", (table,)
    ).fetchall()
    taken = {lowered for lowered, _, _ in columns}
    rowid = rowid_name(taken) or ""
    try:
        [value] = _first(connection, [rowid], table, condition) or ("?",)
        row = f"rowid {value}"
    except sqlite3.OperationalError:  # a table WITHOUT ROWID
        key = [quoted(name) for _, name, number in sorted(columns, key=lambda c: int(c[2])) if number]
        row = f"key {', '.join(map(repr, _first(connection, key, table, condition) or ()))}"
    return f"table {table}, column {column}, {row}"


def _first(
    connection: sqlite3.Connection, names: Sequence[str], table: str, condition: str
) -> tuple[object, ...] | None:
    found: tuple[object, ...] | None = connection.execute(
        f"SELECT {', '.join(names)} FROM {quoted(table)} WHERE {condition} LIMIT 1"  # noqa: S608 - quoted
    ).fetchone()
    return found


@dataclass(frozen=True)
class Refusal:
    """A kind of value that an engine cannot store."""

    what: str
    predicate: str
    """SQL that finds it; `{0}` is the column."""


INFINITE = Refusal("an infinite number, which MySQL cannot store", "abs({0}) = 9e999")
TOO_LARGE = Refusal(
    "a number beyond PostgreSQL's real, the type in the profile official",
    f"abs({{0}}) >= {LARGEST_REAL!r} AND abs({{0}}) < 9e999",
)
NUL = Refusal("a NUL character, which PostgreSQL's text cannot store", "instr({0}, char(0))")
NOT_TEXT = Refusal("text with invalid bytes", "typeof({0}) = 'text' AND NOT is_text(CAST({0} AS BLOB))")

OPAQUE = f"CASE WHEN typeof({{0}}) = 'text' THEN {NUL.predicate} OR {NOT_TEXT.predicate} ELSE 0 END"
"""SQL, `{0}` the column: a text that no server can store as text, escaped or not."""

UNREADABLE = "CASE WHEN typeof({0}) = 'blob' THEN NOT is_text({0}) OR instr({0}, x'00') ELSE 0 END"
"""SQL, `{0}` the column: a blob whose bytes are not a text, or have a NUL."""

_REFUSED = ByDialect[Mapping[Profile, Sequence[Refusal]]]("loaders.{}", "REFUSED_NUMBERS")
_REFUSED_TEXTS = ByDialect[Sequence[Refusal]]("loaders.{}", "REFUSED_TEXTS")

PLACES = tuple((dialect, profile) for dialect in _REFUSED for profile in Profile)
"""All combinations of engine and profile."""


def refusals(type_: PortableType) -> dict[Refusal, list[tuple[Dialect, Profile]]]:
    """Return the kinds of values rejected in a column of that type, with the engines and profiles."""
    found: dict[Refusal, list[tuple[Dialect, Profile]]] = {}
    for dialect, profile in PLACES:
        numbers, texts = _REFUSED[dialect][profile], _REFUSED_TEXTS[dialect]
        for refusal in {PortableType.REAL: numbers, PortableType.TEXT: texts}.get(type_, ()):
            found.setdefault(refusal, []).append((dialect, profile))
    return found


def refuse_numbers(
    connection: sqlite3.Connection, path: Path, table: ServerTable, dialect: Dialect, profile: Profile
) -> None:
    """Reject numbers that the engine cannot store, searching only columns with huge ones in the census.

    Raises:
        BadInput: names the file, table, column and row of the first one.
    """
    usual = TYPES[dialect][profile][PortableType.REAL]
    huge = [
        column.source.name
        for column in table.columns
        if column.type == usual
        and max(-(column.source.least or 0), column.source.greatest or 0) >= LARGEST_REAL
    ]
    _refuse(connection, path, table.source, huge, _REFUSED[dialect][profile])


def refuse_text(connection: sqlite3.Connection, path: Path, table: Table, dialect: Dialect) -> None:
    """Reject text that the engine cannot store, reading every text of the table.

    Raises:
        BadInput: names the file, table, column and row of the first one.
    """
    _refuse(connection, path, table, _texts(table), _REFUSED_TEXTS[dialect])


def refuse_utf16(connection: sqlite3.Connection, path: Path, table: Table) -> None:
    """Reject invalid UTF-16 in a UTF-16 file: SQLite silently returns other characters.

    Raises:
        BadInput: names the file, table, column and row of the first one.
    """
    if connection.execute("PRAGMA encoding").fetchone() != ("UTF-8",):
        _refuse(connection, path, table, _texts(table), [NOT_TEXT])


def _texts(table: Table) -> list[str]:
    return [column.name for column in table.columns if column.type is PortableType.TEXT]


def _refuse(
    connection: sqlite3.Connection,
    path: Path,
    table: Table,
    columns: Iterable[str],
    refusals: Iterable[Refusal],
) -> None:
    for column in columns:
        for refusal in refusals:
            if where := place(connection, table.name, column, refusal.predicate):
                raise BadInput(
                    f"{path}: {where}: {refusal.what}; correct it in the file, or load with --escape"
                )


@dataclass(frozen=True)
class DeclaredColumn:
    """One column, generated ones included."""

    name: str
    declared: str
    not_null: bool
    collation: str = "BINARY"


@dataclass(frozen=True)
class DeclaredTable:
    """One ordinary table; its keys spell columns as the table does."""

    name: str
    columns: tuple[DeclaredColumn, ...]
    primary_key: tuple[str, ...]
    unique: tuple[tuple[str, ...], ...]
    indexes: tuple[tuple[str, ...], ...]
    references: tuple[ForeignKey, ...]
    """As declared: empty `parent_columns` mean the parent's primary key."""
    has_rowid: bool = True
    has_key_index: bool = False
    """See `dialects.schema.Table.has_key_index`."""


@dataclass
class Declarations:
    """All ordinary tables in the order of their creation, with notes on what is left out."""

    tables: list[DeclaredTable] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    views: list[View] = field(default_factory=list)
    virtual: list[str] = field(default_factory=list)
    catalogue: list[CatalogueRow] = field(default_factory=list)


def declarations(connection: sqlite3.Connection) -> Declarations:
    """Read every declaration of a file opened by `opened`."""
    found = Declarations()
    # Types: https://sqlite.org/pragma.html#pragma_table_list. Shadow tables store a virtual table's data.
    entries = connection.execute(
        r"SELECT list.type, name, wr, strict, sql FROM sqlite_master AS entry"
        r" JOIN pragma_table_list AS list USING (name)"
        r" WHERE schema = 'main' AND entry.type IN ('table', 'view') AND name NOT LIKE 'sqlite\_%' ESCAPE '\'"
        r" ORDER BY entry.rowid"
    ).fetchall()
    with suppress(sqlite3.OperationalError):  # a definition is no text
        found.catalogue += connection.execute(
            "SELECT type, name, tbl_name, rootpage, sql FROM sqlite_master"
        ).fetchall()
    for kind, name, without_rowid, strict, sql in entries:
        if kind == "view":
            found.views.append(View(name, sql))
            found.notes.append(f"view {name} is not loaded: only tables are")
        elif kind == "virtual":
            found.virtual.append(name)
            found.notes.append(f"virtual table {name} is not loaded: only ordinary tables are")
        elif kind == "table":
            table = _table(connection, name, found.notes, has_rowid=not without_rowid)
            found.tables.append(_without_any(table) if strict else table)
    return found


def _without_any(table: DeclaredTable) -> DeclaredTable:
    """Return a STRICT table with ANY as no type, which means the same. https://sqlite.org/stricttables.html."""
    columns = [
        replace(column, declared="") if column.declared.upper() == "ANY" else column
        for column in table.columns
    ]
    return replace(table, columns=tuple(columns))


def _table(connection: sqlite3.Connection, name: str, notes: list[str], *, has_rowid: bool) -> DeclaredTable:
    rows = connection.execute(
        'SELECT name, type, "notnull", pk FROM pragma_table_xinfo(?)', (name,)
    ).fetchall()
    unique, indexes = _indexes(connection, name, notes)
    return DeclaredTable(
        name=name,
        columns=tuple(
            DeclaredColumn(column, declared, bool(not_null), _collation(connection, name, column))
            for column, declared, not_null, _ in rows
        ),
        primary_key=tuple(row[0] for row in sorted(rows, key=lambda row: int(row[3])) if row[3]),
        unique=_without_repeats(unique),
        indexes=_without_repeats(indexes),
        references=_references(connection, name, [row[0] for row in rows]),
        has_rowid=has_rowid,
        has_key_index=connection.execute(
            "SELECT count(*) FROM pragma_index_list(?) WHERE origin = 'pk'", (name,)
        ).fetchone()
        != (0,),
    )


def _collation(connection: sqlite3.Connection, table: str, column: str) -> str:
    """Return a column's collation: no PRAGMA lists it, but the bytecode of a comparison names it.

    https://sqlite.org/opcode.html#Eq
    """
    code = connection.execute(f"EXPLAIN SELECT {quoted(column)} = 'x' FROM {quoted(table)} NOT INDEXED")  # noqa: S608
    operands = [row[5] for row in code if row[1] in {"Eq", "Ne"} and row[5]]
    return str(operands[0]).split("-")[0] if operands else "BINARY"


def _indexes(
    connection: sqlite3.Connection, table: str, notes: list[str]
) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    unique: list[tuple[str, ...]] = []
    indexes: list[tuple[str, ...]] = []
    # The latest index comes first: https://sqlite.org/pragma.html#pragma_index_list
    for name, is_unique, origin, is_partial in connection.execute(
        'SELECT name, "unique", origin, partial FROM pragma_index_list(?) ORDER BY seq DESC', (table,)
    ):
        columns = tuple(
            column
            for (column,) in connection.execute(
                "SELECT name FROM pragma_index_xinfo(?) WHERE key ORDER BY seqno", (name,)
            )
        )
        if origin == "pk":
            continue
        if is_partial or None in columns:
            kind = "partial" if is_partial else "over an expression"
            notes.append(f"index {name} of table {table} is left out: it is {kind}")
        else:
            (unique if is_unique else indexes).append(columns)
    return unique, indexes


def _references(connection: sqlite3.Connection, table: str, columns: list[str]) -> tuple[ForeignKey, ...]:
    spelled = {column.lower(): column for column in columns}
    rows = connection.execute(
        'SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(?) ORDER BY id DESC, seq', (table,)
    )
    references = []
    for _, group in groupby(rows, key=lambda row: row[0]):
        parts = list(group)
        own = tuple(spelled[part[2].lower()] for part in parts)
        references.append(
            ForeignKey(own, parts[0][1], tuple(part[3] for part in parts if part[3] is not None))
        )
    return tuple(dict.fromkeys(references))


def _without_repeats(keys: Iterable[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    return tuple(dict.fromkeys(keys))
