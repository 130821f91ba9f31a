"""Loading into DuckDB: each database and profile is a file; a load uses `target`."""

import hashlib
import re

from dialects.enums import Profile
from loaders.namespace import Database, short
from loaders.source import NOT_TEXT, TOO_LARGE

REFUSED_NUMBERS = {Profile.OFFICIAL: (TOO_LARGE,), Profile.FAITHFUL: ()}
REFUSED_TEXTS = (NOT_TEXT,)

_DIGITS = 8


def namespace(database: Database) -> tuple[str, ...]:
    """Return the name of a database's file, without its ending."""
    name = f"{database.collection}__{database.db_id}__{database.profile}".lower()
    plain = re.sub("[^a-z0-9_-]", "_", name)
    digits = hashlib.sha256(name.encode()).hexdigest()[:_DIGITS]
    return (short(name if plain == name else f"{plain}_{digits}"),)
