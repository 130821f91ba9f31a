"""What test cases find in place of psycopg2, which the scripts use: psycopg's connections in its manner.

Cursors put values into texts themselves, go to the last result of several, and return nothing from `execute`;
the end of a `with` block ends the transaction and not the connection. https://www.psycopg.org/docs/
"""

import re
import sys
from collections.abc import Iterable
from datetime import date, datetime
from types import ModuleType, TracebackType
from typing import Any

import psycopg
from psycopg.adapt import RecursiveDumper
from psycopg.pq import TransactionStatus
from psycopg.rows import dict_row, namedtuple_row
from psycopg.types.array import ArrayLoader
from psycopg.types.datetime import DateLoader, TimeLoader, TimestampLoader, TimestamptzLoader, TimetzLoader
from psycopg.types.string import TextLoader

_TEXTS = (
    *("uuid", "inet", "cidr", "macaddr", "macaddr8", "bit", "varbit", "money", "xml", "record"),
    *("int4multirange", "int8multirange", "nummultirange", "datemultirange", "tsmultirange"),
    "tstzmultirange",
)
"""Types that psycopg2 returns as texts, and psycopg in types of their own."""

_LISTS = frozenset(
    {
        *("int2", "int4", "int8", "float4", "float8", "numeric", "bool", "text", "varchar", "bpchar", "name"),
        *("char", "oid", "bytea", "date", "time", "timetz", "timestamp", "timestamptz", "interval", "inet"),
        *("cidr", "macaddr", "json", "jsonb", "int2vector", "int4range", "int8range", "numrange"),
        *("daterange", "tsrange", "tstzrange"),
    }
)
"""Types whose arrays psycopg2 returns as lists; those of all others are texts."""


class _DateLoader(DateLoader):
    """As psycopg2 reads days: without end they are the last and the first that Python knows."""

    def load(self, data: Any) -> date:
        end = _ENDS.get(bytes(data))
        return super().load(data) if end is None else end.date()


class _MomentLoader(TimestampLoader):
    def load(self, data: Any) -> datetime:
        return _ENDS.get(bytes(data)) or super().load(data)


class _ZonedMomentLoader(TimestamptzLoader):
    def load(self, data: Any) -> datetime:
        return _ENDS.get(bytes(data)) or super().load(data)


class _TimeLoader(TimeLoader):
    """As psycopg2 reads times: the end of a day is its begin."""

    def load(self, data: Any) -> Any:
        return super().load(_MIDNIGHT.sub(b"00", bytes(data)))


class _ZonedTimeLoader(TimetzLoader):
    """The same."""

    def load(self, data: Any) -> Any:
        return super().load(_MIDNIGHT.sub(b"00", bytes(data)))


_MIDNIGHT = re.compile(rb"\A24")
_ENDS = {b"infinity": datetime.max, b"-infinity": datetime.min}  # noqa: DTZ901 - compared by their day


class _MomentsLoader(ArrayLoader):
    """As psycopg2 reads lists of days and moments: none is without an end."""

    def load(self, data: Any) -> list[Any]:
        if b"infinity" in bytes(data):
            raise psycopg.DataError("unable to parse date")
        return super().load(data)


_LOADERS = {
    "date": _DateLoader,
    "timestamp": _MomentLoader,
    "timestamptz": _ZonedMomentLoader,
    "time": _TimeLoader,
    "timetz": _ZonedTimeLoader,
}


def read_as_psycopg2(adapters: Any) -> None:
    """Have the adapters of a connection return the values that psycopg2 returns."""
    for name, loader in [*_LOADERS.items(), *((name, TextLoader) for name in _TEXTS)]:
        adapters.register_loader(name, loader)
    for info in adapters.types:
        if info.array_oid and info.name not in _LISTS:
            adapters.register_loader(info.array_oid, TextLoader)
        elif info.name in _LOADERS and info.name not in {"time", "timetz"}:
            made: Any = type("MomentsLoader", (_MomentsLoader,), {"base_oid": info.oid})
            adapters.register_loader(info.array_oid, made)


class _TupleDumper(RecursiveDumper):
    """Writes a tuple as what follows IN."""

    def dump(self, obj: Any) -> bytes:
        return self.quote(obj)

    def quote(self, obj: Any) -> bytes:
        return b"(" + b", ".join(map(self._tx.as_literal, obj)) + b")"


class _ListDumper(_TupleDumper):
    """Writes a list as an array."""

    def quote(self, obj: Any) -> bytes:
        return b"ARRAY[" + b", ".join(map(self._tx.as_literal, obj)) + b"]" if obj else b"'{}'"


class Cursor(psycopg.ClientCursor[Any]):
    """A cursor of psycopg2; `query` is the last statement as it was sent."""

    query: bytes | None = None

    def execute(self, query: Any, vars: Any = None, **options: Any) -> None:  # type: ignore[override]  # noqa: A002 - its name
        """Execute one or several statements, and go to the result of the last."""
        super().execute(query, vars, **options)
        sent: Any = self._query
        self.query = None if sent is None else bytes(sent.query)
        while self.nextset():
            pass

    def executemany(self, query: Any, vars_list: Any, **_: Any) -> None:  # type: ignore[override]
        """Execute a statement for each list of values."""
        for each in vars_list:
            self.execute(query, each)

    def mogrify(self, query: Any, vars: Any = None) -> bytes:  # type: ignore[override]  # noqa: A002
        """Return a statement with its values, as bytes."""
        return super().mogrify(query, vars).encode()


class RealDictCursor(Cursor):
    """Its rows are dictionaries."""

    def __init__(self, connection: Any, **_: Any) -> None:
        super().__init__(connection, row_factory=dict_row)


class NamedTupleCursor(Cursor):
    """Its rows have attributes."""

    def __init__(self, connection: Any, **_: Any) -> None:
        super().__init__(connection, row_factory=namedtuple_row)


class _NamedRow(list[Any]):
    """A row whose values have numbers and names."""

    names: dict[str, int]

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(self.names[key] if isinstance(key, str) else key)

    def keys(self) -> Iterable[str]:
        """Return the names of the columns."""
        return self.names.keys()

    def get(self, key: str, default: Any = None) -> Any:
        """Return a value by name."""
        return self[key] if key in self.names else default


def _named_row(cursor: Any) -> Any:
    names = {column.name: place for place, column in enumerate(cursor.description or ())}

    def made(values: Iterable[Any]) -> _NamedRow:
        row = _NamedRow(values)
        row.names = names
        return row

    return made


class DictCursor(Cursor):
    """Its rows are lists whose values have names, too."""

    def __init__(self, connection: Any, **_: Any) -> None:
        super().__init__(connection, row_factory=_named_row)


class Connection(psycopg.Connection[Any]):
    """A connection of psycopg2."""

    def __init__(self, *values: Any, **named: Any) -> None:
        super().__init__(*values, **named)
        self.cursor_factory = Cursor
        self.adapters.register_dumper(tuple, _TupleDumper)
        self.adapters.register_dumper(list, _ListDumper)
        self.notices: list[str] = []
        self.add_notice_handler(
            lambda told: self.notices.append(f"{told.severity}:  {told.message_primary}\n")
        )

    def execute(self, query: Any, params: Any = None, **options: Any) -> psycopg.Cursor[Any]:
        """Execute a statement and return its cursor, as psycopg does."""
        cursor: psycopg.Cursor[Any] = self.cursor()
        cursor.execute(query, params, **options)
        return cursor

    def cursor(self, name: str = "", cursor_factory: Any = None, **options: Any) -> Any:
        """Return a cursor, of a class that a test case names."""
        if cursor_factory is None:
            return super().cursor(name or "", **options)
        return cursor_factory(self)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.commit()
        else:
            self.rollback()

    @property
    def status(self) -> int:
        """1 outside of a transaction, 2 in one."""
        return 1 if self.info.transaction_status is TransactionStatus.IDLE else 2

    @property
    def encoding(self) -> str:
        """The name of the encoding, as the server calls it."""
        return str(self.info.parameter_status("client_encoding"))

    @property
    def server_version(self) -> int:
        """As 150004 for 15.4."""
        return self.info.server_version

    def get_backend_pid(self) -> int:
        """Return the number of the server's process."""
        return self.info.backend_pid

    def set_isolation_level(self, level: Any) -> None:
        """Choose a level by its number, of which 0 is none: each statement is committed."""
        self.rollback()
        self.autocommit = level == 0

    def set_session(self, *, readonly: bool | None = None, autocommit: bool | None = None, **_: Any) -> None:
        """Change what the next transactions are; not in one."""
        if autocommit is not None:
            self.autocommit = autocommit
        if readonly is not None:
            self.read_only = readonly


def stand_in() -> None:
    """Have `import psycopg2` find this in place of psycopg2, in this process."""
    if "psycopg2" in sys.modules:
        return
    root, extras, extensions = map(ModuleType, ("psycopg2", "psycopg2.extras", "psycopg2.extensions"))
    root.__dict__.update({name: value for name, value in vars(psycopg).items() if not name.startswith("__")})
    root.__dict__.update(extras=extras, extensions=extensions)
    for cursor in (RealDictCursor, NamedTupleCursor, DictCursor):
        setattr(extras, cursor.__name__, cursor)
    levels = ("AUTOCOMMIT", "READ_COMMITTED", "REPEATABLE_READ", "SERIALIZABLE", "READ_UNCOMMITTED")
    vars(extensions).update({f"ISOLATION_LEVEL_{name}": level for level, name in enumerate(levels)})
    vars(extensions).update(
        STATUS_READY=1,
        STATUS_BEGIN=2,
        QueryCanceledError=psycopg.errors.QueryCanceled,
        connection=Connection,
        cursor=Cursor,
    )
    parts = {"": root, ".extras": extras, ".extensions": extensions}
    parts |= {".errors": psycopg.errors, ".sql": psycopg.sql}
    sys.modules.update({f"psycopg2{name}": module for name, module in parts.items()})
