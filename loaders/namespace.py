"""Where one benchmark database stands on each engine."""

from dataclasses import dataclass
from pathlib import Path

from dialects.enums import Profile


@dataclass(frozen=True)
class Database:
    """One database of a question set, in one profile.

    `collection` names the databases that belong together and share a namespace in the profile `official`:
    `bird` (Mini-Dev, both revisions), `bird_dev`, `bird_sample`, or one of these with a digest where another
    set stands in the place of a published one.
    """

    collection: str
    db_id: str
    sqlite_path: Path
    profile: Profile = Profile.OFFICIAL

    @property
    def mysql_database(self) -> str:
        """Name of the MySQL database that holds the tables.

        In lower case, as `lower_case_table_names=1` stores it.
        https://dev.mysql.com/doc/refman/9.7/en/identifier-case-sensitivity.html
        """
        if self.profile is Profile.OFFICIAL:
            return self.collection.lower()
        return f"{self.collection}__{self.db_id}".lower()

    @property
    def postgresql_database(self) -> str:
        """Name of the PostgreSQL database that holds the schema."""
        if self.profile is Profile.OFFICIAL:
            return self.collection.lower()
        return f"{self.collection}_faithful".lower()

    @property
    def postgresql_schema(self) -> str:
        """Name of the PostgreSQL schema that holds the tables, and the only one on the search path."""
        return "public" if self.profile is Profile.OFFICIAL else self.db_id.lower()
