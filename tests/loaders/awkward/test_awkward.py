"""Every awkward file loads exactly, on each server and in each profile, or stops with its case's error."""

import re
import sqlite3
from contextlib import closing

import pytest

from dialects.errors import BadInput
from loaders.load import load, loaded
from loaders.namespace import Database
from loaders.server import Server
from tests.loaders.awkward.case import EVERYWHERE, Case
from tests.loaders.awkward.cases import CASES
from tests.loaders.awkward.comparing import require_same, standing
from tests.loaders.servers import read

pytestmark = pytest.mark.engine


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_it_loads_exactly_or_stops_with_a_clear_error(server: Server, database: Database, case: Case) -> None:
    place = (server.dialect, database.profile)
    if place in case.refused:
        _refused(server, database, case, case.refused[place])
        return
    case.write(database.sqlite_path)
    [done] = load([database], server, jobs=case.jobs)
    wanted = (*case.notes, *case.more.get(place, ()))
    assert len(done.notes) == len(wanted), done.notes
    assert all(note.startswith(start) for note, start in zip(done.notes, wanted, strict=True)), done.notes
    assert loaded([database], server)[database].notes == list(done.notes)
    assert require_same(server, database, done.notes) == done.rows


def _refused(server: Server, database: Database, case: Case, words: str) -> None:
    """The file takes the place of an earlier one; the load stops, and the earlier one stays as it was."""
    path = database.sqlite_path
    with closing(sqlite3.connect(path)) as file:
        file.executescript("CREATE TABLE earlier (a INTEGER); INSERT INTO earlier VALUES (5)")
    load([database], server)
    path.unlink()
    case.write(path)
    with pytest.raises(BadInput, match=f"{re.escape(str(path))}: {words}") as error:
        load([database], server)
    assert "\n" not in str(error.value)
    assert loaded([database], server) == {}
    assert read(server, database, "SELECT a FROM earlier") == [(5,)]
    assert standing(server, database) == {"earlier"}


def test_there_are_enough_cases_of_either_kind() -> None:
    assert len({case.name for case in CASES}) == len(CASES) >= 40
    refused = [case for case in CASES if case.refused.keys() == set(EVERYWHERE)]
    assert len(refused) >= 10
    assert len(CASES) - len(refused) >= 30
