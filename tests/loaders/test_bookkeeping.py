"""A marker says exactly what stands on the server."""

import json
from pathlib import Path

from dialects.enums import Profile
from loaders.namespace import LOADER_VERSION, Database, Marker, filed, key


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
