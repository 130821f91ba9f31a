import pytest

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.provision import dsn
from loaders.server import Origin, Server

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
        (POSTGRESQL, "postgres://postgres:x@[fe80::1%eth0]", ("fe80::1%eth0", 5432, "postgres", "x")),
        (POSTGRESQL, "postgres://postgres:%C3%A9@h", ("h", 5432, "postgres", "é")),
    ],
)
def test_an_address_becomes_a_server(
    dialect: Dialect, text: str, expected: tuple[str, int, str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(dsn.variable(dialect), text)
    assert dsn.server_from_environment(dialect) == Server(dialect, *expected, Origin.DSN)


@pytest.mark.parametrize("text", [None, "", " , \n"])
def test_no_address_is_no_server(text: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BIRD_MYSQL_DSN", raising=False)
    if text is not None:
        monkeypatch.setenv("BIRD_MYSQL_DSN", text)
    assert dsn.server_from_environment(MYSQL) is None
    assert dsn.servers_from_environment(MYSQL) == ()


@pytest.mark.parametrize("separator", [" ", ",", ", ", "\n", " \t\n", " , "])
@pytest.mark.parametrize("around", ["", " ", "\n", ","])
def test_several_addresses_are_servers_in_their_order(
    separator: str, around: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = ["mysql://root:a%2Cb%20c@one", "mysql://root:x@two:3307", "mysql://root:x@one:3307"]
    monkeypatch.setenv("BIRD_MYSQL_DSN", around + separator.join(texts) + around)
    expected = (
        Server(MYSQL, "one", 3306, "root", "a,b c", Origin.DSN),
        Server(MYSQL, "two", 3307, "root", "x", Origin.DSN),
        Server(MYSQL, "one", 3307, "root", "x", Origin.DSN),
    )
    assert dsn.servers_from_environment(MYSQL) == expected
    assert dsn.server_from_environment(MYSQL) == expected[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "mysql://u:hunter2@h,postgresql://u:hunter2@i",
            "BIRD_MYSQL_DSN, address 2, does not start with mysql://;",
        ),
        ("mysql://u:hunter2@h:port mysql://u@h", "BIRD_MYSQL_DSN, address 1, has no valid host or port;"),
        ("mysql://u:hunt,er2@h", "BIRD_MYSQL_DSN, address 1, has no valid host or port;"),
        (
            "mysql://u:hunter2@h mysql://u@i mysql://w:hunter2@h:3306",
            "BIRD_MYSQL_DSN names one server twice, as addresses 1 and 3; name each once",
        ),
    ],
)
def test_a_flaw_in_a_list_is_named_with_its_place(
    text: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BIRD_MYSQL_DSN", text)
    with pytest.raises(BadInput) as caught:
        dsn.servers_from_environment(MYSQL)
    assert str(caught.value).startswith(message)
    assert "hunter2" not in str(caught.value)
    assert "er2" not in str(caught.value)


@pytest.mark.parametrize(
    ("dialect", "text", "flaw"),
    [
        (MYSQL, "postgresql://u:hunter2@h", "does not start with mysql://"),
        (MYSQL, "mysql://u:hunter2%zz@h", "a % without two hexadecimal digits"),
        (MYSQL, "mysql://u:hunter2%@h", "a % without two hexadecimal digits"),
        (POSTGRESQL, "postgresql://u%4:hunter2@h", "a % without two hexadecimal digits"),
        (POSTGRESQL, "postgresql://u:hunter2@h/%zz", "a % without two hexadecimal digits"),
        (POSTGRESQL, "postgresql://u:hunter2@h%zz", "a % without two hexadecimal digits"),
        (POSTGRESQL, "postgresql://u:hunter2@h%20x", "no valid host or port"),
        (MYSQL, "mysql://u:hunter2%ff@h", "are not UTF-8"),
        (MYSQL, "mysql://u:hunter2%00@h", "NUL"),
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
