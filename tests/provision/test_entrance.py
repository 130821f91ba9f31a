"""Which server is found, and in which order, on real ones."""

from collections.abc import Callable, Iterator
from urllib.parse import quote

import pytest

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness import provision
from harness.cli.servers import down
from harness.provision import dsn, native
from loaders.base import paths
from loaders.base.errors import EngineUnavailable
from loaders.server import Origin, Server

pytestmark = pytest.mark.usefixtures("fresh_machine")

POSTGRESQL = Dialect.POSTGRESQL


@pytest.fixture(scope="module")
def running() -> Iterator[Server]:
    with native.throwaway(POSTGRESQL) as server:
        yield server


def address(server: Server) -> str:
    return f"postgresql://{server.user}:{quote(server.password)}@{server.address}"


def test_nothing_is_found_on_a_fresh_machine() -> None:
    assert [provision.find(dialect) for dialect in provision.SERVED] == [None, None, None]
    assert provision.down() == []


@pytest.mark.engine
def test_a_named_server_is_found_first(running: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIRD_POSTGRESQL_DSN", address(running))
    found = provision.find(POSTGRESQL)
    assert found == dsn.server_from_environment(POSTGRESQL)
    assert found
    assert (found.address, found.origin) == (running.address, Origin.DSN)
    assert provision.up([Dialect.SQLITE, POSTGRESQL]) == [found], "there is nothing to start"
    with provision.throwaway(POSTGRESQL) as server:
        assert server == found
    monkeypatch.setenv("BIRD_PROVISION", "native")
    assert provision.find(POSTGRESQL) is None


def _find() -> None:
    provision.find(POSTGRESQL)


def _up() -> None:
    provision.up([POSTGRESQL])


def _throwaway() -> None:
    provision.throwaway(POSTGRESQL).__enter__()


@pytest.mark.parametrize("use", [_find, _up, _throwaway])
def test_a_named_server_that_does_not_answer_is_not_replaced(
    use: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BIRD_POSTGRESQL_DSN", "postgresql://postgres:hunter2@127.0.0.1:1")
    with pytest.raises(EngineUnavailable, match=r"127\.0\.0\.1:1.* unset BIRD_POSTGRESQL_DSN") as caught:
        use()
    assert "hunter2" not in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("origin", ["docker", "Native", "native,compose"])
def test_an_unknown_origin_is_bad_input(origin: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIRD_PROVISION", origin)
    with pytest.raises(
        BadInput, match=r"BIRD_PROVISION is .*; set it to one of dsn, compose, testcontainers, native"
    ):
        provision.find(POSTGRESQL)


def test_what_is_forced_and_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIRD_PROVISION", "dsn")
    with pytest.raises(
        EngineUnavailable, match=r"no running postgresql server was found, and BIRD_PROVISION=dsn"
    ):
        provision.up([POSTGRESQL])
    with pytest.raises(EngineUnavailable, match=r"BIRD_PROVISION=dsn allows no other"):
        provision.throwaway(POSTGRESQL).__enter__()


@pytest.mark.engine
def test_a_private_server_is_started_found_and_removed(capsys: pytest.CaptureFixture[str]) -> None:
    [server] = provision.up([POSTGRESQL], native_processes=True)
    assert server.origin is Origin.NATIVE
    assert provision.find(POSTGRESQL) == server
    assert provision.down() == [(Origin.NATIVE, POSTGRESQL)]
    assert provision.find(POSTGRESQL) is None
    assert provision.up([POSTGRESQL], native_processes=True) == [server]
    capsys.readouterr()
    down(volumes=True)
    removed = f"removed: folder {paths.state() / 'postgresql'}, which all checkouts of a user share"
    assert capsys.readouterr().err == f"postgresql stopped (native); all its databases {removed}\n"
    assert provision.down(volumes=True) == []


@pytest.mark.engine
def test_a_throwaway_is_private_where_nothing_else_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIRD_PROVISION", "native")
    with provision.throwaway(POSTGRESQL) as server:
        assert server.origin is Origin.NATIVE
    assert native.running(POSTGRESQL) is None
