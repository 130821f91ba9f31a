"""Servers that share the work have to be equal; shown on a real server that is known by two addresses."""

from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import quote

import psycopg
import pytest

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness import provision
from harness.provision import native
from loaders.base.errors import EngineUnavailable
from loaders.server import Server

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("fresh_machine")]

POSTGRESQL = Dialect.POSTGRESQL


@pytest.fixture(scope="module")
def one() -> Iterator[Server]:
    with native.throwaway(POSTGRESQL) as server:
        yield server


def _named(*servers: Server) -> str:
    return ", ".join(f"postgresql://{s.user}:{quote(s.password)}@{s.host}:{s.port}" for s in servers)


def _account(server: Server, name: str, setting: str) -> Server:
    """An account of its own on `server`, for whose sessions `setting` holds."""
    address = {"host": server.host, "port": server.port, "user": server.user, "password": server.password}
    with psycopg.connect(**address, dbname="postgres", autocommit=True) as connection:  # type: ignore[arg-type]
        connection.execute(f"CREATE ROLE {name} SUPERUSER LOGIN PASSWORD 'for this test'".encode())
        connection.execute(f"ALTER ROLE {name} SET {setting}".encode())
    return replace(server, host="localhost", user=name, password="for this test")


def test_none_is_no_servers() -> None:
    assert provision.find_all(POSTGRESQL) == ()


def test_equal_servers_share_the_work(one: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    other = _account(one, "equal", "lock_timeout = 0")
    monkeypatch.setenv("BIRD_POSTGRESQL_DSN", _named(one, other))
    found = provision.find_all(POSTGRESQL)
    assert [server.address for server in found] == [one.address, other.address]
    assert provision.find(POSTGRESQL) == found[0]


def test_what_differs_between_two_servers_is_named(one: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    other = _account(one, "elsewhere", "default_transaction_read_only = on")
    monkeypatch.setenv("BIRD_POSTGRESQL_DSN", _named(one, other))
    with pytest.raises(BadInput) as caught:
        provision.find_all(POSTGRESQL)
    assert str(caught.value) == (
        f"BIRD_POSTGRESQL_DSN: servers 1 ({one.address}) and 2 ({other.address}) differ in"
        " default_transaction_read_only: off and on; use equal servers, or results differ, too"
    )


def test_each_server_of_a_list_has_to_answer(one: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIRD_POSTGRESQL_DSN", _named(one, replace(one, port=9)))
    with pytest.raises(EngineUnavailable, match="correct or unset BIRD_POSTGRESQL_DSN"):
        provision.find_all(POSTGRESQL)
