"""The enums that all packages share: dialects and profiles."""

from enum import StrEnum


class Dialect(StrEnum):
    """The SQL that an engine speaks; also the engine's name."""

    SQLITE = "sqlite"
    MYSQL = "mysql"
    POSTGRESQL = "postgresql"
    DUCKDB = "duckdb"
    MARIADB = "mariadb"


class Profile(StrEnum):
    """How the databases of a question set are loaded into a server."""

    OFFICIAL = "official"
    """Like the published dumps: one namespace for all databases of the set, with the dumps' column types."""
    FAITHFUL = "faithful"
    """With SQLite's semantics: one namespace per database, dates as text, binary collations."""


class ParamStyle(StrEnum):
    """How parameters are written: https://peps.python.org/pep-0249/#paramstyle."""

    FORMAT = "format"
    """`%s`, one value for each place; a percent sign of the text is doubled."""
    PYFORMAT = "pyformat"
    """`%(name)s`, values by name; a percent sign of the text is doubled."""
    QMARK = "qmark"
    """`?`, one value for each place."""
    NUMERIC = "numeric"
    """`$1`, values by number, as PostgreSQL's and DuckDB's servers take them."""
    NAMED = "named"
    """`:name`, values by name."""
    DOLLAR = "dollar"
    """`$name`, values by name, as DuckDB takes them."""

    @property
    def is_by_place(self) -> bool:
        """True if a value is given for each place, so that one may be needed several times."""
        return self in {ParamStyle.FORMAT, ParamStyle.QMARK}

    @property
    def doubles_percent(self) -> bool:
        """True if `%` is written as `%%`."""
        return self in {ParamStyle.FORMAT, ParamStyle.PYFORMAT}
