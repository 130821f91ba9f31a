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
