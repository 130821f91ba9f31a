"""No table takes the place of another database's, nor of one that the harness did not load."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from dialects.enums import Dialect, Profile
from dialects.errors import BadInput
from loaders.namespace import Database, Marker, key, refuse_collisions, refuse_place

A, B = (Database("set", name, Path(f"{name}.sqlite")) for name in "ab")
FAITHFUL = [Database("set", name, Path(f"{name}.sqlite"), Profile.FAITHFUL) for name in "ab"]
OTHER = Database("other", "b", Path("b.sqlite"))


def check(
    planned: dict[Database, Sequence[str]],
    marked: dict[Database, Sequence[str]],
    foreign: Sequence[str] = (),
    dialect: Dialect = Dialect.MYSQL,
) -> None:
    markers = {
        key(database): Marker.now("0", dict.fromkeys(tables, 1), ()) for database, tables in marked.items()
    }
    loaded = {
        table for database, tables in marked.items() if database.collection == "set" for table in tables
    }
    present = {database: loaded | set(foreign) for database in planned}
    refuse_collisions(planned, markers, present, dialect)


@pytest.mark.parametrize("dialect", [Dialect.MYSQL, Dialect.POSTGRESQL])
def test_own_and_free_names_are_taken(dialect: Dialect) -> None:
    check({A: ["t", "u"], B: ["v"]}, {A: ["t", "w"]}, dialect=dialect)
    check({database: ["t"] for database in FAITHFUL}, {}, dialect=dialect)
    check({A: ["t"], OTHER: ["t"]}, {}, dialect=dialect)


@pytest.mark.parametrize("dialect", [Dialect.MYSQL, Dialect.POSTGRESQL])
def test_a_name_is_given_once_per_namespace(dialect: Dialect) -> None:
    with pytest.raises(BadInput, match=r"b\.sqlite: table t: set.* has that of a already"):
        check({A: ["t"], B: ["t"]}, {}, dialect=dialect)
    with pytest.raises(BadInput, match=r"b\.sqlite: table t: set.* has that of a already"):
        check({B: ["t"]}, {A: ["t"]}, dialect=dialect)
    with pytest.raises(BadInput, match=r"a\.sqlite: table x: set.* has one that bird-harness did not load"):
        check({A: ["x"]}, {A: ["t"]}, foreign=["x"], dialect=dialect)


@pytest.mark.parametrize(
    ("collection", "db_id", "profile", "dialect"),
    [
        ("MySQL", "a", Profile.OFFICIAL, Dialect.MYSQL),
        ("bird_harness", "a", Profile.OFFICIAL, Dialect.MYSQL),
        ("postgres", "a", Profile.OFFICIAL, Dialect.POSTGRESQL),
        ("set", "bird_harness", Profile.FAITHFUL, Dialect.POSTGRESQL),
        ("set", "information_schema", Profile.FAITHFUL, Dialect.POSTGRESQL),
        ("set", "bird_harness_staging_of_mine", Profile.FAITHFUL, Dialect.POSTGRESQL),
        ("bird_harness_staging", "a", Profile.OFFICIAL, Dialect.MYSQL),
    ],
)
def test_the_servers_own_places_are_refused(
    collection: str, db_id: str, profile: Profile, dialect: Dialect
) -> None:
    with pytest.raises(BadInput, match=r"a\.sqlite: its place on .* which is taken; choose another"):
        refuse_place(Database(collection, db_id, Path("a.sqlite"), profile), dialect)


@pytest.mark.parametrize("dialect", [Dialect.MYSQL, Dialect.POSTGRESQL])
def test_a_place_that_the_server_would_cut_short_is_refused(dialect: Dialect) -> None:
    with pytest.raises(BadInput, match="longer than 63 bytes"):
        refuse_place(Database("s" * 64, "a", Path("a.sqlite")), dialect)
    # Databases' own names are shortened.
    refuse_place(Database("set", "a" * 64, Path("a.sqlite"), Profile.FAITHFUL), dialect)
