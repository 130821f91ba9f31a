"""Schemes of keys and indexes, in copies on every engine: a user's own databases stay as they are."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from dialects.enums import Profile
from harness.data.sets.loader import load_set
from harness.engines import dialect_of, kind_of
from harness.engines.base import Engine
from harness.engines.execution import Limits, execute
from harness.labs.study.advice import advise, candidates
from harness.labs.study.copies import (
    INDEX_PREFIX,
    CopyRoom,
    Index,
    Keys,
    copy_with_keys,
    copying,
    foreign_indexes,
)
from harness.labs.study.measures import counted, indexes_of, plan_of, rows_digest, work_of
from loaders import index_copies
from loaders.base import paths
from loaders.base.errors import EngineUnavailable
from loaders.bulk_load import load, loaded
from loaders.file_census import census
from loaders.namespace import Database
from loaders.server import Server
from tests.every_engine import EVERY_ENGINE, INDEXED
from tests.labs.study.rooms import alone_on, copying_in_turn
from tests.sqlite_files import sqlite_file

LIMITS = Limits(seconds=10)
ROOT = Path(__file__).parents[3]
SAMPLE = load_set("sample")


@dataclass
class Place:
    """One engine with the server that it is on."""

    name: str
    engine: Engine
    servers: Mapping[str, Server]

    @property
    def server(self) -> Server | None:
        return self.servers.get(self.name)


@pytest.fixture(params=[each for each in EVERY_ENGINE if each.values[0] in INDEXED])
def place(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Place]:
    name = str(request.param)
    kind = kind_of(name)
    servers = {name: request.getfixturevalue(f"{name}_server")} if kind.has_server else {}
    monkeypatch.setenv("BIRD_STATE", str(tmp_path / "state"))
    # The folder of this run, of all its processes.
    with alone_on(servers.get(name), tmp_path.parents[1]):
        yield Place(name, kind.make(servers.get(name), pooled=True), servers)


@pytest.fixture
def room(place: Place) -> Iterator[CopyRoom]:
    with copying_in_turn(place.servers) as made:
        yield made


def left_on(place: Place) -> list[str]:
    """The copies that are there, on the server and in the folder of files."""
    folder = paths.state() / "study"
    files = [path.name for path in folder.iterdir()] if folder.exists() else []
    return [*files, *(index_copies.copies(place.server) if place.server else [])]


def golds(place: Place, db_id: str) -> list[str]:
    dialect = dialect_of(place.name)
    return [one.gold[dialect] for one in SAMPLE.questions if one.db_id == db_id]


def work(place: Place, database: Database, text: str) -> float | None:
    """Units of work of a text."""
    return work_of(place.name, counted(place.engine, database, text, LIMITS))


def names(sizes: Mapping[tuple[str, str], int]) -> set[str]:
    return {name for _, name in sizes if name}


@pytest.mark.parametrize("profile", Profile)
def test_a_copy_goes_through_every_scheme(place: Place, room: CopyRoom, profile: Profile) -> None:
    database = SAMPLE.database("island_ferries", profile)
    text = (
        golds(place, "island_ferries")[0] if profile is Profile.OFFICIAL else "SELECT COUNT(*) FROM sailings"
    )
    with room.copy(place.name, database, Keys.PRIMARY) as copy:
        before = copy.sizes()
        digest = rows_digest(place.engine, copy.database, text, LIMITS)
        wanted = foreign_indexes(copy.schema)
        assert len(wanted) > 3
        assert [copy.add(index).refused for index in wanted] == [None] * len(wanted)
        there = copy.sizes()
        assert {index.name for index in wanted} == names(there) - names(before)
        assert all(size > 0 for size in there.values())
        assert rows_digest(place.engine, copy.database, text, LIMITS) == digest
        for index in wanted:
            copy.remove(index)
        assert names(copy.sizes()) == names(before)
        copy.drop_primary_keys()
        assert names(copy.sizes()) == set()
        assert rows_digest(place.engine, copy.database, text, LIMITS) == digest


def test_declared_indexes_are_those_of_the_file(place: Place, room: CopyRoom, tmp_path: Path) -> None:
    path = sqlite_file(
        tmp_path / "declared.sqlite",
        "CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER, b INTEGER UNIQUE)",
        "CREATE INDEX i ON t(a)",
        "INSERT INTO t VALUES (1, 2, 3)",
    )
    database = Database("declared", "declared", path)
    with (
        room.copy(place.name, database, Keys.DECLARED) as declared,
        room.copy(place.name, database, Keys.PRIMARY) as primary,
    ):
        assert len(names(declared.sizes())) == len(names(primary.sizes())) + 2


def test_an_index_that_cannot_be_made_is_refused(place: Place, room: CopyRoom) -> None:
    with room.copy(place.name, SAMPLE.database("island_ferries"), Keys.PRIMARY) as copy:
        twice = Index("crew", ("rank",))
        assert copy.add(twice).refused is None
        refused = copy.add(twice).refused
        assert refused is not None
        assert twice.name in refused or "exist" in refused or "uplicate" in refused


def test_the_users_own_databases_stay_as_they_are(place: Place) -> None:
    database = SAMPLE.database("island_ferries")
    before = database.sqlite_path.read_bytes()
    if place.server is not None:
        load([database], place.server)
        marker = loaded([database], place.server)
        sizes = index_copies.sizes(place.server, database)
    with copying_in_turn(place.servers) as room, room.copy(place.name, database, Keys.PRIMARY) as copy:
        copy.add(Index("crew", ("rank",)))
        copy.drop_primary_keys()
    assert database.sqlite_path.read_bytes() == before
    if place.server is not None:
        assert loaded([database], place.server) == marker
        assert index_copies.sizes(place.server, database) == sizes
    assert left_on(place) == []


@pytest.mark.parametrize("db_id", ["city_library", "island_ferries"])
def test_advice_makes_the_work_less_and_no_row_other(place: Place, room: CopyRoom, db_id: str) -> None:
    texts = golds(place, db_id)
    with room.copy(place.name, SAMPLE.database(db_id), Keys.PRIMARY) as copy:

        def count(text: str) -> float | None:
            return work(place, copy.database, text)

        def used(text: str) -> frozenset[str]:
            return indexes_of(plan_of(place.engine, copy.database, text, LIMITS))

        before = {text: count(text) for text in texts}
        rows = {text: rows_digest(place.engine, copy.database, text, LIMITS) for text in texts}
        wanted = candidates(texts, dialect_of(place.name), copy.schema)
        advice = advise(copy, wanted, texts, before, count, used)
        total = sum(before[text] or 0 for text in texts)
        after = sum(count(text) or 0 for text in texts)
        assert advice.before == pytest.approx(total)
        assert after == pytest.approx(advice.after)
        assert after <= total
        assert {text: rows_digest(place.engine, copy.database, text, LIMITS) for text in texts} == rows
        # Each index that is kept is in a plan, and nothing else is left.
        plans = frozenset().union(*map(used, texts))
        assert {index.name for index in advice.kept} <= plans
        made = {name for name in names(copy.sizes()) if name.startswith(INDEX_PREFIX)}
        assert made == {index.name for index in advice.kept}


def test_what_a_scan_of_many_rows_needs_is_advised(place: Place, room: CopyRoom, tmp_path: Path) -> None:
    path = tmp_path / "many.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE seen (id INTEGER PRIMARY KEY, kind INTEGER, day INTEGER)")
        rows = [(number, number % 500, number % 3) for number in range(20_000)]
        connection.executemany("INSERT INTO seen VALUES (?, ?, ?)", rows)
        connection.commit()
    text = "SELECT COUNT(*) FROM seen WHERE kind = 7"
    with room.copy(place.name, Database("many", "many", path), Keys.PRIMARY) as copy:
        before = {text: work(place, copy.database, text)}
        advice = advise(
            copy,
            [Index("seen", ("day",)), Index("seen", ("kind",))],
            [text],
            before,
            lambda one: work(place, copy.database, one),
            lambda one: indexes_of(plan_of(place.engine, copy.database, one, LIMITS)),
        )
        assert [str(index) for index in advice.kept] == ["seen(kind)"]
        # What any statement costs, up to 130 units, is in both.
        assert advice.after < advice.before / 4


def test_one_study_at_a_time_has_copies_on_a_server(place: Place) -> None:
    if place.server is None:
        with copying({}), copying({}):
            assert len(left_on(place)) == 2
        assert left_on(place) == []
        return
    refused = pytest.raises(EngineUnavailable, match="another study uses copies")
    with copying_in_turn(place.servers), refused, copying(place.servers):
        pass


KILLED = """
import json, sys, time
from dialects.enums import Dialect
from harness.labs.study.copies import Keys, copying
from harness.data.sets.loader import load_set
from loaders.server import Origin, Server

name, about = sys.argv[1], json.loads(sys.argv[2])
servers = {name: Server(Dialect(name), origin=Origin.DSN, **about)} if about else {}
with copying(servers) as room:
    room.copy(name, load_set("sample").database("island_ferries"), Keys.DECLARED).__enter__()
    print("there", flush=True)
    time.sleep(60)
"""


def test_nothing_is_left_after_a_kill_and_the_next_study(place: Place) -> None:
    server = place.server
    about = server and {name: getattr(server, name) for name in ("host", "port", "user", "password")}
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, place.name, json.dumps(about)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    assert process.stdout is not None
    assert "there" in process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert left_on(place) != []
    _until(lambda: _copied(place))
    assert left_on(place) == []
    if place.server is not None:
        other = Database(
            "bird_study_of_mine", "island_ferries", SAMPLE.database("island_ferries").sqlite_path
        )
        load([other], place.server)
        _copied(place)
        assert other in loaded([other], place.server)


def _copied(place: Place) -> bool:
    try:
        with copying(place.servers):
            return True
    except EngineUnavailable:
        return False


def _until(done: Callable[[], bool]) -> None:
    """A server notices the end of a process a moment later."""
    end = time.monotonic() + 20
    while not done():
        assert time.monotonic() < end
        time.sleep(0.1)


AWKWARD = """
CREATE TABLE "a b" (id INTEGER PRIMARY KEY DESC, "x y" TEXT COLLATE NOCASE NOT NULL, z);
CREATE TABLE pairs (a TEXT, b INTEGER, v REAL, PRIMARY KEY (b, a)) WITHOUT ROWID;
CREATE TABLE plain (id INTEGER PRIMARY KEY, of INTEGER REFERENCES "a b"(id));
CREATE TABLE made (a INTEGER, b INTEGER GENERATED ALWAYS AS (a * 2) STORED);
CREATE INDEX i ON plain(of);
CREATE VIEW seen AS SELECT 1;
INSERT INTO "a b" VALUES (3, 'B', 1), (1, 'b', 'text'), (2, 'A', NULL);
INSERT INTO pairs VALUES ('b', 2, 0.5), ('a', 2, 1), ('c', 1, NULL);
INSERT INTO plain VALUES (7, 1), (5, 2);
INSERT INTO made (a) VALUES (1), (2);
"""


@pytest.mark.parametrize("primary", [True, False])
def test_a_file_with_other_keys_has_the_same_rows(tmp_path: Path, *, primary: bool) -> None:
    source, target = tmp_path / "source.sqlite", tmp_path / "target.sqlite"
    sqlite_file(source, AWKWARD)
    copy_with_keys(source, target, primary=primary)
    schema = {table.name: table for table in census(target).tables}
    assert list(schema) == ["a b", "pairs", "plain", "made"]
    assert all(bool(table.primary_key) == (primary and name != "made") for name, table in schema.items())
    assert all(not table.indexes and not table.foreign_keys for table in schema.values())
    assert schema["a b"].column("x y").collation == "NOCASE"
    assert schema["pairs"].has_rowid != primary
    engine = kind_of("sqlite").make(None, pooled=False)
    for name in schema:
        text = f'SELECT * FROM "{name}"'
        rows = [execute(engine, Database("c", "d", path), text, LIMITS).rows for path in (source, target)]
        assert rows[0] == rows[1] or sorted(map(repr, rows[0])) == sorted(map(repr, rows[1])), name


def test_a_folder_that_cannot_be_created_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("BIRD_STATE", os.fspath(tmp_path / "file" / "below"))
    with pytest.raises(Exception, match="cannot be created"), copying({}):
        pass
