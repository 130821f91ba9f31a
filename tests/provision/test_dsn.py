import pytest

from harness.engines.server import Origin, Server
from harness.errors import BadInput
from harness.provision import dsn
from harness.words import Dialect

MYSQL, POSTGRESQL = Dialect.MYSQL, Dialect.POSTGRESQL


@pytest.mark.parametrize(
    ("dialect", "text", "expected"),
    [
        (MYSQL, "mysql://root:secret@db.example:3307", ("db.example", 3307, "root", "secret")),
        (MYSQL, "mysql://root:secret@db.example", ("db.example", 3306, "root", "secret")),
        (MYSQL, "mysql://root@127.0.0.1", ("127.0.0.1", 3306, "root", "")),
        (MYSQL, "mysql://r%40t:p%2Fa%3As%40s%25@h", ("h", 3306, "r@t", "p/a:s@s%")),
        (MYSQL, "mysql://root:secret@h/bird", ("h", 3306, "root", "secret")),
        (POSTGRESQL, "postgresql://postgres:x@[::1]:5433/db", ("::1", 5433, "postgres", "x")),
        (POSTGRESQL, "postgres://postgres:x@h", ("h", 5432, "postgres", "x")),
    ],
)
def test_an_address_becomes_a_server(
    dialect: Dialect, text: str, expected: tuple[str, int, str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(dsn.variable(dialect), text)
    assert dsn.from_environment(dialect) == Server(dialect, *expected, Origin.DSN)


@pytest.mark.parametrize("text", [None, ""])
def test_no_address_is_no_server(text: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BIRD_MYSQL_DSN", raising=False)
    if text is not None:
        monkeypatch.setenv("BIRD_MYSQL_DSN", text)
    assert dsn.from_environment(MYSQL) is None


@pytest.mark.parametrize(
    ("dialect", "text", "flaw"),
    [
        (MYSQL, "postgresql://u:hunter2@h", "does not start with mysql://"),
        (POSTGRESQL, "mysql://u:hunter2@h", "does not start with postgresql://"),
        (MYSQL, "root:hunter2@h", "does not start with mysql://"),
        (MYSQL, "mysql://u:hunter2@", "names no host"),
        (MYSQL, "mysql://h:3306", "names no user"),
        (MYSQL, "mysql://:hunter2@h", "names no user"),
        (MYSQL, "mysql://u:hunter2@h:port", "no valid host or port"),
        (MYSQL, "mysql://u:p/hunter2@h", "no valid host or port"),
        (MYSQL, "mysql://u:hunter2@h:99999", "no valid host or port"),
        (MYSQL, "mysql://u:hunter2@[::1", "no valid host or port"),
        (POSTGRESQL, "postgresql://u:hunter2@h/db?sslmode=require", "options after its address"),
        (POSTGRESQL, "postgresql://u:p#hunter2@h", "no valid host or port"),
    ],
)
def test_a_malformed_address_is_named_without_its_password(dialect: Dialect, text: str, flaw: str) -> None:
    with pytest.raises(BadInput) as caught:
        dsn.parse(dialect, text)
    message = str(caught.value)
    assert flaw in message
    assert message.startswith(dsn.variable(dialect))
    assert "hunter2" not in message
    assert caught.value.__cause__ is None
    assert "\n" not in message
