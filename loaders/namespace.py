"""The namespaces of benchmark databases on each engine, the owners of tables, and the markers of loads.

In profile `official` databases share a namespace, and none may lose a table to another. Markers are stored on
the server itself, where no prediction can see them.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from dialects.by_dialect import ByDialect
from dialects.enums import Dialect, Profile
from dialects.errors import BadInput
from dialects.identifiers import FUNCTIONS_NAMESPACE
from loaders.base.files import as_json, content_digest, parse_json
from loaders.base.records import to_record

LONGEST_NAME = 63
"""PostgreSQL's limit of a name in bytes, one less than MySQL's."""

_DIGITS = 8


def short(name: str) -> str:
    """Return a name that servers allow: if it is too long, its end is replaced by a digest."""
    encoded = name.encode()
    if len(encoded) <= LONGEST_NAME:
        return name
    kept = encoded[: LONGEST_NAME - _DIGITS - 1].decode(errors="ignore")
    return f"{kept}_{hashlib.sha256(encoded).hexdigest()[:_DIGITS]}"


@dataclass(frozen=True)
class Database:
    """One database of a question set, in one profile.

    `collection` names the databases that belong together and share a namespace in the profile `official`:
    `bird` (Mini-Dev, both revisions), `bird_dev`, `bird_sample`, one of these with a digest if another set
    replaces a published one, or a user's own name with a digest of the set.
    """

    collection: str
    db_id: str
    sqlite_path: Path
    profile: Profile = Profile.OFFICIAL
    standing: tuple[str, str] | None = None
    """Database and schema on the server if it was not loaded by the harness."""
    now: datetime | None = None
    """The moment, in UTC, that sessions on it take for the present; None for the clock."""

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
        return short(f"{self.collection}__{self.db_id}".lower())

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
        return "public" if self.profile is Profile.OFFICIAL else short(self.db_id.lower())


LOADER_VERSION = 4
"""Incremented whenever the same file would be loaded differently: loads of older versions are reloaded."""

NAMESPACE = "bird_harness"
"""The MySQL database, and the schema in each PostgreSQL database, that holds the markers."""

STAGING = f"{NAMESPACE}_staging"
"""Prefix of every staging's name, and of no other name."""

Key = tuple[str, str, str]
"""The key of a marker: collection, profile and db_id."""


def key(database: Database) -> Key:
    """Return the key of a database's marker."""
    return database.collection, database.profile.value, database.db_id


def filed(collection: str, profile: str, db_id: str) -> Database:
    """Return the database of a marker; its file is unknown."""
    return Database(collection, db_id, Path(), Profile(profile))


@dataclass(frozen=True)
class Marker:
    """One database as it was loaded."""

    sha256: str
    """SHA-256 of the SQLite file."""
    version: int
    """`LOADER_VERSION` at the time of the load."""
    tables: Mapping[str, int]
    """Number of rows of each table, by its name on the server."""
    notes: Sequence[str]
    """Declarations that could not be kept."""
    loaded_at: str | None
    """ISO 8601, UTC; None if the tables may be incomplete."""
    indexes: bool = True
    """True for all keys and indexes of the file, False for primary keys only."""
    escape: bool = False
    """True if values that a server cannot store were to be escaped; see `loaders.portable`."""

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
        """Return the marker of a load that has just finished."""
        moment = datetime.now(UTC).isoformat(timespec="seconds")
        return cls(sha256, LOADER_VERSION, tables, notes, moment, indexes, escape)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read the output of `to_json`."""
        return to_record(cls, parse_json(text))

    def to_json(self) -> str:
        """Return the marker as a JSON object."""
        return as_json(asdict(self))

    def is_current(self, sha256: str, *, indexes: bool | None = None, escape: bool | None = None) -> bool:
        """True if loading a file of that digest again would change nothing; None matches either value."""
        is_same = (self.sha256, self.version) == (sha256, LOADER_VERSION)
        is_wanted = indexes in {None, self.indexes} and escape in {None, self.escape}
        return self.loaded_at is not None and is_same and is_wanted

    def checked(self, present: AbstractSet[str]) -> Self:
        """Return the marker, with `loaded_at` None if one of its tables is not present."""
        return self if self.tables.keys() <= present else replace(self, loaded_at=None)

    @property
    def content(self) -> str:
        """A digest of everything that determines the loaded data, whoever loaded it and when.

        That is the file or the dump, the version of the loader, and the options of the load.
        """
        return content_digest({**asdict(self), "loaded_at": None})

    @property
    def rows(self) -> int:
        """Rows of all tables together."""
        return sum(self.tables.values())


_TAKEN = frozenset({
    "information_schema", "mysql", "performance_schema", "sys",
    "pg_catalog", "postgres", "template0", "template1",
    NAMESPACE, FUNCTIONS_NAMESPACE,
})  # fmt: skip
"""Names reserved for servers or for the harness itself."""

_NAMESPACES = ByDialect[Callable[[Database], tuple[str, ...]]]("loaders.{}", "namespace")


def namespace(database: Database, dialect: Dialect) -> tuple[str, ...]:
    """Return the namespace of a database's tables: a MySQL database, or a PostgreSQL database and schema."""
    return _NAMESPACES[dialect](database)


def refuse_place(database: Database, dialect: Dialect) -> None:
    """Reject a collection or db_id whose namespace is not available.

    Raises:
        BadInput: the namespace is reserved, or its name is too long.
    """
    for name in namespace(database, dialect):
        is_taken = name in _TAKEN or name.startswith(STAGING)
        if is_taken or len(name.encode()) > LONGEST_NAME:
            trouble = "is taken" if is_taken else f"is longer than {LONGEST_NAME} bytes"
            raise BadInput(
                f"{database.sqlite_path}: its place on {dialect} would be {name!r}, which {trouble};"
                " choose another collection or rename the database"
            )


def refuse_collisions(
    planned: Mapping[Database, Sequence[str]],
    markers: Mapping[Key, Marker],
    present: Mapping[Database, AbstractSet[str]],
    dialect: Dialect,
) -> None:
    """Reject tables that would replace a table of another owner.

    Args:
        planned: the tables of each database to load, by their names on the server.
        markers: the markers of everything loaded so far.
        present: the tables now in the namespace of each of these databases.
        dialect: the server's.

    Raises:
        BadInput: names both databases, or the one and the table that no load created.
    """
    owners: dict[tuple[tuple[str, ...], str], str] = {}
    for filed_under, marker in markers.items():
        owner = filed(*filed_under)
        owners |= {(namespace(owner, dialect), table): owner.db_id for table in marker.tables}
    for database, tables in planned.items():
        place = namespace(database, dialect)
        own = markers[key(database)].tables if key(database) in markers else {}
        for table in tables:
            owner_id = None if table in own else owners.get((place, table))
            where = f"{database.sqlite_path}: table {table}: {'.'.join(place)} on {dialect}"
            if owner_id is not None:
                raise BadInput(
                    f"{where} already has this table, from {owner_id}; use --profile faithful, where"
                    " each database has its own namespace"
                )
            if table in present[database] and table not in own:
                raise BadInput(
                    f"{where} has a table of that name, not loaded by bird-harness; drop or rename it"
                )
            owners[place, table] = database.db_id
