"""What is remembered of a load, on the server itself and where no prediction can see it."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from dialects.enums import Profile
from loaders.namespace import Database

LOADER_VERSION = 4
"""Raised by one whenever the same file would be loaded differently: what older loaders loaded is reloaded."""

NAMESPACE = "bird_harness"
"""The MySQL database, and the schema in each PostgreSQL database, that holds the markers."""

STAGING = f"{NAMESPACE}_staging"
"""How the name of every staging begins, and no other name."""

Key = tuple[str, str, str]
"""Collection, profile and db_id: what a marker is filed under."""


def key(database: Database) -> Key:
    """What the marker of `database` is filed under."""
    return database.collection, database.profile.value, database.db_id


def filed(collection: str, profile: str, db_id: str) -> Database:
    """The database that a marker is about; the marker does not know its file."""
    return Database(collection, db_id, Path(), Profile(profile))


@dataclass(frozen=True)
class Marker:
    """One database as it was loaded."""

    sha256: str
    """Of the SQLite file."""
    version: int
    """`LOADER_VERSION` of the load."""
    tables: Mapping[str, int]
    """Rows of each table, by the name that the loader gave it."""
    notes: Sequence[str]
    """What could not be taken over as declared."""
    loaded_at: str | None
    """ISO 8601, UTC; None where the tables may not be whole."""
    indexes: bool = True
    """Whether they have all keys and indexes of the file, or primary keys alone."""
    escape: bool = False
    """Whether what a server cannot hold was to be escaped: see `loaders.escaping`."""

    @classmethod
    def now(
        cls,
        sha256: str,
        tables: Mapping[str, int],
        notes: Sequence[str],
        *,
        indexes: bool = True,
        escape: bool = False,
    ) -> Self:
        """The marker of a load that has just been done."""
        moment = datetime.now(UTC).isoformat(timespec="seconds")
        return cls(sha256, LOADER_VERSION, tables, notes, moment, indexes, escape)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` wrote."""
        return cls(**json.loads(text))

    def to_json(self) -> str:
        """The marker as a JSON object."""
        return json.dumps(asdict(self))

    def is_current(self, sha256: str, *, indexes: bool | None = None, escape: bool | None = None) -> bool:
        """Whether loading a file of that digest again would change nothing; None is content with either."""
        is_same = (self.sha256, self.version) == (sha256, LOADER_VERSION)
        is_wanted = indexes in {None, self.indexes} and escape in {None, self.escape}
        return self.loaded_at is not None and is_same and is_wanted

    def checked(self, present: AbstractSet[str]) -> Self:
        """The marker, no longer called whole if one of its tables is not among those present."""
        return self if self.tables.keys() <= present else replace(self, loaded_at=None)

    @property
    def content(self) -> str:
        """A digest of all that says what stands there, whoever loaded it and when.

        The file or the dump, the version of the loader, and how it was told to load.
        """
        facts = json.dumps({**asdict(self), "loaded_at": None}, sort_keys=True)
        return hashlib.sha256(facts.encode()).hexdigest()

    @property
    def rows(self) -> int:
        """Rows of all tables together."""
        return sum(self.tables.values())
