"""SQLite files made for one test, and a collection on a real server that goes when the test ends."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from uuid import uuid4

import pytest

from dialects.enums import Dialect, Profile
from loaders.namespace import Database
from loaders.server import Server
from tests.loaders.servers import drop, empty, kept_sessions

MakeFile = Callable[..., Path]


@pytest.fixture
def make_file(tmp_path: Path) -> MakeFile:
    """Write a SQLite file: an SQL script, then rows by table."""

    def make(script: str, name: str = "shop", **rows: Sequence[Sequence[object]]) -> Path:
        path = tmp_path / f"{name}.sqlite"
        path.unlink(missing_ok=True)
        with closing(sqlite3.connect(path)) as connection:
            # Each statement of a script would wait for the disk, and nobody needs the file after a crash.
            connection.execute("PRAGMA synchronous = OFF")
            connection.executescript(script)
            for table, values in rows.items():
                marks = ", ".join("?" * len(values[0]))
                connection.executemany(f"INSERT INTO {table} VALUES ({marks})", values)
            connection.commit()
        return path

    return make


@pytest.fixture
def collection(server: Server, _stack: ExitStack, _emptied: list[str]) -> Iterator[str]:
    """The name of a collection on `server`.

    PostgreSQL takes longer to make a database than to load such a file, so that one test after the other gets
    the same ones, which hold nothing. A test that is about new databases asks for a `postgresql_collection`.
    """
    if server.dialect is not Dialect.POSTGRESQL:
        yield from _collection(server)
        return
    if not _emptied:
        name = f"test_{uuid4().hex[:8]}"
        _stack.callback(drop, server, name)
        _emptied.append(name)
    name = _emptied.pop()
    yield name
    empty(server, name)
    _emptied.append(name)


@pytest.fixture
def mysql_collection(mysql_server: Server) -> Iterator[str]:
    yield from _collection(mysql_server)


@pytest.fixture
def postgresql_collection(postgresql_server: Server) -> Iterator[str]:
    yield from _collection(postgresql_server)


def _collection(server: Server) -> Iterator[str]:
    name = f"test_{uuid4().hex[:8]}"
    yield name
    drop(server, name)


@pytest.fixture(params=list(Profile))
def profile(request: pytest.FixtureRequest) -> Profile:
    """Each profile in turn."""
    assert isinstance(request.param, Profile)
    return request.param


@pytest.fixture(autouse=True)
def _sessions() -> Iterator[None]:
    with kept_sessions():
        yield


@pytest.fixture(scope="session")
def _emptied(_stack: ExitStack) -> list[str]:
    """Collections on PostgreSQL whose databases are there, and hold nothing."""
    return []


def _usual(server: Server) -> Profile:
    """A profile for each server: they differ in names, types and, on MySQL, in how rows are ordered."""
    return Profile.OFFICIAL if server.dialect is Dialect.POSTGRESQL else Profile.FAITHFUL


@pytest.fixture
def database(request: pytest.FixtureRequest, server: Server, collection: str, tmp_path: Path) -> Database:
    """The file `shop` of `make_file`, to be loaded in one profile, or in each if the test uses `profile`."""
    either = "profile" in request.fixturenames
    profile = request.getfixturevalue("profile") if either else _usual(server)
    return Database(collection, "shop", tmp_path / "shop.sqlite", profile)
