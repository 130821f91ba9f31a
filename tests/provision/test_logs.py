"""The last lines of a server's log, from where it came to be there."""

from pathlib import Path

import pytest

from dialects.enums import Dialect
from harness.provision import last_lines
from harness.provision.servers import ServerState
from loaders.server import Origin, Server

SERVER = Server(Dialect.MYSQL, "127.0.0.1", 12345, "root", "s3cret'pass", Origin.NATIVE)


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The log of a private server that does not run any more."""
    monkeypatch.setenv("BIRD_STATE", str(tmp_path))
    home = tmp_path / SERVER.dialect
    home.mkdir()
    ServerState(SERVER.port, SERVER.user, SERVER.password, 1, "", "9.7").write(home / "server.json")
    return home / "server.log"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("", []),
        ("one\n\n  two\n", ["one", "  two"]),
        ("\n".join(map(str, range(30))), ["27", "28", "29"]),
        (f"login with {SERVER.password} failed\n", ["login with [hidden] failed"]),
        (f"{SERVER.reader_password}\n", ["[hidden]"]),
        ("ALTER ROLE r PASSWORD 'it''s' VALID\n", ["ALTER ROLE r PASSWORD [hidden] VALID"]),
        ("CREATE USER u IDENTIFIED  by 'cut off\n", ["CREATE USER u IDENTIFIED  by [hidden]"]),
        ("bell \x07 and \x1b[31m red\n", ["bell \\x07 and \\x1b[31m red"]),
        ("x" * 400 + "\n", ["x" * 300 + "..."]),
    ],
)
def test_the_last_lines_are_shown_without_what_nobody_may_see(
    log: Path, written: str, shown: list[str]
) -> None:
    log.write_text(written, encoding="utf-8")
    assert last_lines(SERVER, 3) == shown


def test_a_log_that_cannot_be_had_is_empty(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert last_lines(SERVER) == [], "there is no such file"
    log.write_text("of another server\n", encoding="utf-8")
    assert last_lines(Server(Dialect.MYSQL, "127.0.0.1", 1, "root", "x", Origin.NATIVE)) == []
    assert last_lines(Server(Dialect.MYSQL, "127.0.0.1", 12345, "root", "x", Origin.DSN)) == []
    monkeypatch.setenv("PATH", "")
    assert last_lines(Server(Dialect.MYSQL, "127.0.0.1", 12345, "root", "x", Origin.COMPOSE)) == []
    assert last_lines(Server(Dialect.MYSQL, "127.0.0.1", 12345, "root", "x", Origin.TESTCONTAINERS)) == []


@pytest.mark.engine
def test_a_container_says_what_it_has_logged(server: Server) -> None:
    lines = last_lines(server)
    in_container = server.origin in (Origin.COMPOSE, Origin.TESTCONTAINERS)
    assert bool(lines) == in_container, "a throw-away native server has its log in a place of its own"
    assert not any(server.password in line for line in lines)
