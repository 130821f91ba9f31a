"""Loading into MySQL; a load uses `target`."""

from dialects.enums import Profile
from loaders.namespace import Database
from loaders.source import INFINITE, NOT_TEXT

REFUSED_NUMBERS = dict.fromkeys(Profile, (INFINITE,))
REFUSED_TEXTS = (NOT_TEXT,)


def namespace(database: Database) -> tuple[str, ...]:
    """Return the MySQL database of a database's tables."""
    return (database.mysql_database,)
