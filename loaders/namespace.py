"""Where one benchmark database stands on each engine."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from dialects.enums import Profile

LONGEST_NAME = 63
"""Bytes: PostgreSQL's limit of a name, one short of MySQL's."""

_DIGITS = 8


def _short(name: str) -> str:
    """A name that servers take: with a digest of the whole in the place of an end that is too long."""
    encoded = name.encode()
    if len(encoded) <= LONGEST_NAME:
        return name
    kept = encoded[: LONGEST_NAME - _DIGITS - 1].decode(errors="ignore")
    return f"{kept}_{hashlib.sha256(encoded).hexdigest()[:_DIGITS]}"


@dataclass(frozen=True)
class Database:
    """One database of a question set, in one profile.

    `collection` names the databases that belong together and share a namespace in the profile `official`:
    `bird` (Mini-Dev, both revisions), `bird_dev`, `bird_sample`, one of these with a digest where another set
    stands in the place of a published one, or a user's own name with a digest of the set.
    """

    collection: str
    db_id: str
    sqlite_path: Path
    profile: Profile = Profile.OFFICIAL
    standing: tuple[str, str] | None = None
    """The database and the schema on a server that it stands on without the harness."""

    @property
    def mysql_database(self) -> str:
        """Name of the MySQL database that holds the tables.

        In lower case, as `lower_case_table_names=1` stores it.
        https://dev.mysql.com/doc/refman/9.7/en/identifier-case-sensitivity.html
        """
        if self.standing is not None:
            return self.standing[0]
        if self.profile is Profile.OFFICIAL:
            return self.collection.lower()
        return _short(f"{self.collection}__{self.db_id}".lower())

    @property
    def postgresql_database(self) -> str:
        """Name of the PostgreSQL database that holds the schema."""
        if self.standing is not None:
            return self.standing[0]
        if self.profile is Profile.OFFICIAL:
            return self.collection.lower()
        return f"{self.collection}_faithful".lower()

    @property
    def postgresql_schema(self) -> str:
        """Name of the PostgreSQL schema that holds the tables, and the only one on the search path."""
        if self.standing is not None:
            return self.standing[1]
        return "public" if self.profile is Profile.OFFICIAL else _short(self.db_id.lower())
