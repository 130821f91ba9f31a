"""No table takes the place of one that is not its own, and a marker says exactly what stands there."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from dialects.enums import Dialect, Profile
from dialects.errors import BadInput
from loaders.namespace import LOADER_VERSION, Database, Marker, filed, key, refuse_collisions, refuse_place

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
    with pytest.raises(BadInput, match=r"b\.sqlite: table t: set.* already has this table, from a;"):
        check({A: ["t"], B: ["t"]}, {}, dialect=dialect)
    with pytest.raises(BadInput, match=r"b\.sqlite: table t: set.* already has this table, from a;"):
        check({B: ["t"]}, {A: ["t"]}, dialect=dialect)
    with pytest.raises(
        BadInput, match=r"a\.sqlite: table x: set.* has a table of that name, not loaded by bird-harness"
    ):
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


def test_a_marker_survives_being_written_down() -> None:
    marker = Marker.now("ab", {"Größe": 3, "b": 4}, ["a note"])
    assert Marker.from_json(marker.to_json()) == marker
    assert marker.rows == 7


def test_a_marker_is_current_for_one_file_and_one_loader() -> None:
    marker = Marker.now("ab", {"t": 1}, [])
    assert marker.is_current("ab")
    assert not marker.is_current("cd")
    assert not Marker("ab", LOADER_VERSION - 1, {"t": 1}, [], marker.loaded_at).is_current("ab")
    assert not Marker("ab", LOADER_VERSION, {"t": 1}, [], None).is_current("ab")


def test_a_load_without_indexes_is_current_for_those_who_do_not_ask_for_them() -> None:
    bare, full = (Marker.now("ab", {"t": 1}, [], indexes=indexes) for indexes in (False, True))
    assert [bare.is_current("ab", indexes=wanted) for wanted in (None, False, True)] == [True, True, False]
    assert [full.is_current("ab", indexes=wanted) for wanted in (None, False, True)] == [True, False, True]
    assert Marker.from_json(bare.to_json()) == bare


def test_a_marker_from_before_there_was_a_choice_has_indexes() -> None:
    written = json.loads(Marker.now("ab", {"t": 1}, []).to_json())
    del written["indexes"]
    assert Marker.from_json(json.dumps(written)).is_current("ab", indexes=True)


def test_a_database_that_lost_a_table_is_not_whole() -> None:
    marker = Marker.now("ab", {"t": 1, "u": 1}, [])
    assert marker.checked({"t", "u", "v"}) == marker
    assert marker.checked({"t"}).loaded_at is None


def test_a_marker_is_filed_under_what_places_its_database() -> None:
    database = Database("set", "a", Path("a.sqlite"), Profile.FAITHFUL)
    assert filed(*key(database)).mysql_database == database.mysql_database
