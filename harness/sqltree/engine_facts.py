"""Rules of each dialect for names, equal values and keys, as far as rewriting needs: one record each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlglot import exp

from dialects.enums import Dialect, Profile
from dialects.identifiers import column_name, table_name
from dialects.schema import Column, PortableType, Table
from dialects.server_schema import MYSQL_COLLATIONS, TYPES


def _folded(name: exp.Expr) -> str:
    return name.name.lower()


def _folded_unless_quoted(name: exp.Expr) -> str:
    return name.name if name.args.get("quoted") else name.name.lower()


@dataclass(frozen=True, kw_only=True)
class EngineFacts:
    """One dialect."""

    title: str
    fold: Callable[[exp.Expr], str]
    """An identifier as it is compared with others."""
    table: Callable[[Table], str]
    """Returns the name of a stored table for comparisons."""
    column: Callable[[Column], str]
    spelled: Callable[[Column], str]
    """A stored column in quotes."""
    is_exact: Callable[[Column, Profile], bool]
    """Whether values of a column that are equal are the same value, whichever of them a query shows."""
    enforces: bool
    """Whether declared foreign keys, and NOT NULL of primary keys, hold for any data."""
    merges: Callable[[Column, Profile], bool]
    """Whether values that differ in SQLite can be equal here, so that a key of them may not hold."""
    dates: Callable[[Column, Profile], str | None]
    """The type in which days and moments of a column are kept: `text`, `date`, `datetime`, `timestamptz`."""


def _sqlite_is_exact(column: Column, _profile: Profile) -> bool:
    # 1 and 1.0 are the same value to whoever compares results.
    return column.collation == "BINARY"


def _kept(dialect: Dialect) -> Callable[[Column, Profile], str | None]:
    return lambda column, profile: TYPES[dialect][profile].get(column.type)


def _sqlite_dates(column: Column, _profile: Profile) -> str | None:
    return "text" if column.days or column.moments else None


def _mysql_merges(column: Column, profile: Profile) -> bool:
    return column.type is PortableType.TEXT and not MYSQL_COLLATIONS[profile].endswith("_bin")


def _postgresql_merges(column: Column, profile: Profile) -> bool:
    return column.type is PortableType.REAL and profile is Profile.OFFICIAL


ENGINES: Mapping[Dialect, EngineFacts] = {
    Dialect.SQLITE: EngineFacts(
        title="SQLite",
        fold=_folded,
        table=lambda table: table.name.lower(),
        column=lambda column: column.name.lower(),
        spelled=lambda column: column.name,
        is_exact=_sqlite_is_exact,
        enforces=False,
        merges=lambda _column, _profile: False,
        dates=_sqlite_dates,
    ),
    Dialect.MYSQL: EngineFacts(
        title="MySQL",
        fold=_folded,
        table=lambda table: table_name(table.name, Dialect.MYSQL),
        column=lambda column: column_name(column.name, Dialect.MYSQL).lower(),
        spelled=lambda column: column_name(column.name, Dialect.MYSQL),
        is_exact=lambda column, profile: not _mysql_merges(column, profile) or column.days or column.moments,
        enforces=True,
        merges=_mysql_merges,
        dates=_kept(Dialect.MYSQL),
    ),
    Dialect.POSTGRESQL: EngineFacts(
        title="PostgreSQL",
        fold=_folded_unless_quoted,
        table=lambda table: table_name(table.name, Dialect.POSTGRESQL),
        column=lambda column: column_name(column.name, Dialect.POSTGRESQL),
        spelled=lambda column: column_name(column.name, Dialect.POSTGRESQL),
        is_exact=lambda _column, _profile: True,
        enforces=True,
        merges=_postgresql_merges,
        dates=_kept(Dialect.POSTGRESQL),
    ),
}
