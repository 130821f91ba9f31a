"""Every awkward file loads exactly, on each server and in each profile, or stops with its case's error."""

import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest

from dialects.enums import Profile
from dialects.errors import BadInput
from loaders.load import Loaded, load, load_each, loaded
from loaders.namespace import Database, Marker
from loaders.server import Server
from tests.loaders.awkward.case import EVERYWHERE, Case
from tests.loaders.awkward.cases import CASES
from tests.loaders.awkward.comparing import require_same, standing
from tests.loaders.awkward.files import LARGE
from tests.loaders.servers import drop, read

pytestmark = pytest.mark.engine


@dataclass(frozen=True)
class Batch:
    """All files on one server in one profile, each in a namespace of its own."""

    server: Server
    databases: Mapping[str, Database]
    """By the name of the case."""
    done: Mapping[Database, Loaded]
    """What one load made of them; where a case is to be refused, of an earlier file in its place."""
    left: Mapping[Database, str]
    """Why it left the others."""
    standing: Mapping[Database, Marker]
    """What stood on the server afterwards."""


@pytest.fixture(scope="module", params=EVERYWHERE, ids="-".join)
def batch(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Batch]:
    dialect, profile = place = request.param
    server: Server = request.getfixturevalue(f"{dialect}_server")
    folder, name = tmp_path_factory.mktemp("awkward"), f"test_{uuid4().hex[:8]}"
    databases: dict[str, Database] = {}
    for number, case in enumerate(CASES):
        path = folder / str(number) / "shop.sqlite"
        path.parent.mkdir()
        # In profile official all databases of a collection have one namespace.
        collection = name if profile is Profile.FAITHFUL else f"{name}_{number}"
        databases[case.name] = Database(collection, f"shop{number}", path, profile)
        if place in case.refused:
            _write_earlier(path)
        else:
            case.write(path)
    try:
        done, left = load_each(list(databases.values()), server)
        yield Batch(
            server,
            databases,
            {one.database: one for one in done},
            {one.database: one.reason for one in left},
            loaded(list(databases.values()), server),
        )
    finally:
        drop(server, *{database.collection for database in databases.values()})


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_it_loads_exactly_or_stops_with_a_clear_error(batch: Batch, case: Case) -> None:
    server, database = batch.server, batch.databases[case.name]
    place = (server.dialect, database.profile)
    assert database not in batch.left, batch.left[database]
    done = batch.done[database]
    if place in case.refused:
        _refused(server, database, case, case.refused[place])
        return
    wanted = (*case.notes, *case.more.get(place, ()))
    assert len(done.notes) == len(wanted), done.notes
    assert all(note.startswith(start) for note, start in zip(done.notes, wanted, strict=True)), done.notes
    assert batch.standing[database].notes == list(done.notes)
    assert require_same(server, database, done.notes) == done.rows


def _write_earlier(path: Path) -> None:
    with closing(sqlite3.connect(path)) as file:
        file.executescript("CREATE TABLE earlier (a INTEGER); INSERT INTO earlier VALUES (5)")


def _refused(server: Server, database: Database, case: Case, words: str) -> None:
    """The file takes the place of the earlier one; the load stops, and the earlier one stays as it was."""
    path = database.sqlite_path
    path.unlink()
    case.write(path)
    with pytest.raises(BadInput, match=f"{re.escape(str(path))}: {words}") as error:
        load([database], server)
    assert "\n" not in str(error.value)
    assert loaded([database], server) == {}
    assert read(server, database, "SELECT a FROM earlier") == [(5,)]
    assert standing(server, database) == {"earlier"}


def test_the_largest_values_load_exactly(server: Server, database: Database) -> None:
    LARGE[database.profile].write(database.sqlite_path)
    [done] = load([database], server, jobs=2)
    assert require_same(server, database, done.notes) == done.rows == 2


def test_there_are_enough_cases_of_either_kind() -> None:
    assert len({case.name for case in CASES}) == len(CASES) >= 40
    refused = [case for case in CASES if case.refused.keys() == set(EVERYWHERE)]
    assert len(refused) >= 10
    assert len(CASES) - len(refused) >= 30
