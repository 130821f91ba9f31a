"""Loading into PostgreSQL; a load uses `target`."""

from dialects.enums import Profile
from loaders.namespace import Database
from loaders.source import NOT_TEXT, NUL, TOO_LARGE

REFUSED_NUMBERS = {Profile.OFFICIAL: (TOO_LARGE,), Profile.FAITHFUL: ()}
REFUSED_TEXTS = (NOT_TEXT, NUL)


def namespace(database: Database) -> tuple[str, ...]:
    """Return the PostgreSQL database and schema of a database's tables."""
    return database.postgresql_database, database.postgresql_schema
