"""Whose table is whose: in the profile official databases share a namespace, and none may lose a table."""

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from dialects.enums import Dialect
from dialects.errors import BadInput
from dialects.identifiers import FUNCTIONS_NAMESPACE
from loaders.bookkeeping import NAMESPACE, STAGING, Key, Marker, filed, key
from loaders.namespace import LONGEST_NAME, Database

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
