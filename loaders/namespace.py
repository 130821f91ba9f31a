"""Where a benchmark database stands on each engine, whose table is whose, and what is remembered of a load.

In the profile official databases share a namespace, and none may lose a table. What is remembered stands on
the server itself, where no prediction can see it.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from dialects.enums import Dialect, Profile
from dialects.errors import BadInput
from dialects.identifiers import FUNCTIONS_NAMESPACE
from loaders.base.files import as_json, content_digest, parse_json
from loaders.base.records import to_record

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
    """True if they have all keys and indexes of the file, or primary keys alone."""
    escape: bool = False
    """True if what a server cannot hold was to be escaped: see `loaders.portable`."""

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
        return to_record(cls, parse_json(text))

    def to_json(self) -> str:
        """The marker as a JSON object."""
        return as_json(asdict(self))

    def is_current(self, sha256: str, *, indexes: bool | None = None, escape: bool | None = None) -> bool:
        """True if loading a file of that digest again would change nothing; None is content with either."""
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
"""Names that belong to a server or to the harness itself."""

_NAMESPACES: Mapping[Dialect, Callable[[Database], tuple[str, ...]]] = {
    Dialect.MYSQL: lambda database: (database.mysql_database,),
    Dialect.POSTGRESQL: lambda database: (database.postgresql_database, database.postgresql_schema),
}


def namespace(database: Database, dialect: Dialect) -> tuple[str, ...]:
    """Where the tables of `database` stand: a MySQL database, or a PostgreSQL database and schema."""
    return _NAMESPACES[dialect](database)


def refuse_place(database: Database, dialect: Dialect) -> None:
    """Refuse a collection or db_id whose namespace is not to be had.

    Raises:
        BadInput: it is the server's or the harness's own, or its name is too long.
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
    """Refuse tables that would take the place of one that is not their own.

    Args:
        planned: the tables of each database that is to be loaded, as the server will name them.
        markers: of everything loaded so far.
        present: what stands in the namespace of each of these databases now.
        dialect: the server's.

    Raises:
        BadInput: with both databases, or the one and the table that nobody is known to have loaded.
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
                    f"{where} has that of {owner_id} already; use --profile faithful, where each"
                    " database has a place of its own"
                )
            if table in present[database] and table not in own:
                raise BadInput(f"{where} has one that bird-harness did not load; drop or rename that one")
            owners[place, table] = database.db_id
