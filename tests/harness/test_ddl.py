"""The schema that an application keeps, run on each engine: what it declares holds there."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pytest

from dialects.enums import Dialect
from loaders.ddl import ddl
from loaders.server import Server, sessions
from tests.harness.conftest import Call
from tests.sqlite_files import sqlite_file

SERVERS = ("mysql", "postgresql", "mariadb")

SCHEMA = """
    CREATE TABLE "Order" (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        code TEXT NOT NULL UNIQUE,
        state TEXT NOT NULL DEFAULT 'new' CHECK (state IN ('new', 'paid')),
        total REAL DEFAULT 1.5,
        made TEXT DEFAULT CURRENT_TIMESTAMP,
        note TEXT,
        CHECK (total >= 0 AND length(code) < 9)
    );
    CREATE TABLE line (
        order_id INTEGER NOT NULL REFERENCES "Order" (id) ON DELETE CASCADE ON UPDATE CASCADE,
        place INTEGER NOT NULL,
        up INTEGER REFERENCES line2 (id) ON DELETE SET NULL,
        PRIMARY KEY (order_id, place)
    );
    CREATE TABLE line2 (
        id INTEGER PRIMARY KEY, label TEXT COLLATE NOCASE, key TEXT GENERATED ALWAYS AS (label)
    );
    CREATE TABLE broken (child INTEGER REFERENCES line2 (id));
    CREATE INDEX by_state ON "Order" (state, total DESC);
    CREATE UNIQUE INDEX paid_note ON "Order" (note) WHERE state = 'paid';
    CREATE INDEX by_day ON "Order" (substr(made, 1, 10));
    CREATE VIEW v AS SELECT 1;
    CREATE TRIGGER tr AFTER INSERT ON line BEGIN SELECT 1; END;
    INSERT INTO "Order" (id, code) VALUES (41, 'a');
    INSERT INTO line2 (id, label) VALUES (1, 'x');
    INSERT INTO line VALUES (41, 1, 1);
    INSERT INTO broken VALUES (99);
"""

ROWS = (
    """INSERT INTO {order} (id, code) VALUES (41, 'a')""",
    "INSERT INTO line2 (id, label) VALUES (1, 'x')",
    "INSERT INTO line VALUES (41, 1, 1)",
)
REFUSED = {
    "a key twice": "INSERT INTO {order} (id, code) VALUES (41, 'b')",
    "a unique value twice": "INSERT INTO {order} (code) VALUES ('a')",
    "no code": "INSERT INTO {order} (total) VALUES (1)",
    "another state": "INSERT INTO {order} (code, state) VALUES ('b', 'old')",
    "a total below 0": "INSERT INTO {order} (code, total) VALUES ('b', -1)",
    "a long code": "INSERT INTO {order} (code) VALUES ('abcdefghij')",
    "no parent": "INSERT INTO line VALUES (7, 1, NULL)",
    "a place twice": "INSERT INTO line VALUES (41, 1, NULL)",
}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return sqlite_file(tmp_path / "shop.sqlite", SCHEMA)


class Place:
    """Runs statements in an empty database."""

    def __init__(self, engine: Any, connection: Any) -> None:
        self._engine, self._connection = engine, connection

    def ask(self, statement: str) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in self._engine.ask(self._connection, statement)]

    def refuses(self, statement: str) -> bool:
        try:
            self.ask(statement)
        except self._engine.Error:
            return True
        return False


@contextmanager
def empty(server: Server) -> Iterator[Place]:
    engine = sessions(server.dialect)
    with engine.connected(server, autocommit=True) as connection:
        place, name = Place(engine, connection), "ddl_of_an_application"
        kind = "SCHEMA" if server.dialect is Dialect.POSTGRESQL else "DATABASE"
        cascade = " CASCADE" if kind == "SCHEMA" else ""
        place.ask(f"DROP {kind} IF EXISTS {name}{cascade}")
        place.ask(f"CREATE {kind} {name}")
        place.ask(f"SET search_path = {name}" if kind == "SCHEMA" else f"USE {name}")
        if kind == "DATABASE":
            place.ask("SET foreign_key_checks = 1")  # a session that loads has it off
        try:
            yield place
        finally:
            place.ask(f"DROP {kind} {name}{cascade}")


class _Embedded:
    Error = duckdb.Error

    @staticmethod
    def ask(connection: Any, statement: str) -> list[Any]:
        return list(connection.execute(statement).fetchall())


def holds(shop: Path, target: Dialect, place: Place) -> None:
    found = ddl(shop, target)
    order = "`Order`" if target in {Dialect.MYSQL, Dialect.MARIADB} else '"order"'
    if target is Dialect.DUCKDB:
        order = '"Order"'
    for statement in found.statements:
        place.ask(statement)
    for row in ROWS:
        place.ask(row.format(order=order))
    for what, statement in REFUSED.items():
        assert place.refuses(statement.format(order=order)), what
    place.ask(f"INSERT INTO {order} (code) VALUES ('new')")
    [(number, state, total, made)] = place.ask(
        f"SELECT id, state, total, made FROM {order} WHERE code = 'new'"
    )
    assert (number >= 42, state, total, len(made)) == (True, "new", 1.5, 19)
    if target is not Dialect.DUCKDB:
        place.ask(f"DELETE FROM {order} WHERE id = 41")
        assert place.ask("SELECT COUNT(*) FROM line") == [(0,)]
    if target is Dialect.POSTGRESQL:
        for code in ("p", "q"):
            statement = f"INSERT INTO {order} (code, state, note) VALUES ('{code}', 'paid', 'n')"
            assert place.refuses(statement) == (code == "q")
    reasons = "\n".join(found.left_out)
    for part in (
        "foreign key of broken (child) to line2: stored rows break it",
        "index by_day of Order: it is over an expression",
        "trigger tr of line: ",
        "view v: ",
        "COLLATE NOCASE of line2.label: columns compare bytes",
        "generated column line2.key: ",
    ):
        assert part in reasons
    assert ("ON DELETE CASCADE of the foreign key of line" in reasons) == (target is Dialect.DUCKDB)
    assert ("index paid_note of Order: the target has no partial" in reasons) == (
        target is not Dialect.POSTGRESQL
    )


@pytest.mark.engine
def test_what_the_schema_declares_holds_on_a_server(shop: Path, server: Server) -> None:
    with empty(server) as place:
        holds(shop, server.dialect, place)


def test_what_the_schema_declares_holds_in_duckdb(shop: Path) -> None:
    with closing(duckdb.connect()) as connection:
        holds(shop, Dialect.DUCKDB, Place(_Embedded, connection))


def test_load_writes_the_schema_and_says_what_it_leaves_out(shop: Path, call: Call) -> None:
    to = shop.parent / "schema.sql"
    asked = ("load", "--ddl", str(to), "--database", str(shop), "--dialect", "postgresql")
    code, printed, said = call(*asked)
    assert (code, printed) == (0, "")
    assert "left out: view v: " in said
    text = to.read_text(encoding="utf-8")
    assert text == str(ddl(shop, Dialect.POSTGRESQL))
    assert text.startswith("-- left out: ")
    assert "GENERATED BY DEFAULT AS IDENTITY (START WITH 42)" in text


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--dialect", "mysql"), "give the SQLite file with --database"),
        (("--database", "shop.sqlite"), "a schema is for mysql, postgresql, duckdb or mariadb"),
        (("--database", "shop.sqlite", "--dialect", "all"), "name one"),
        (("--database", "missing.sqlite", "--dialect", "mysql"), "unable to open database file"),
        (("--database", "shop.sqlite", "--dialect", "mysql", "--force"), "leave the others out"),
    ],
)
def test_a_schema_is_of_one_file_for_one_target(
    shop: Path, call: Call, monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...], says: str
) -> None:
    monkeypatch.chdir(shop.parent)
    code, printed, said = call("load", "--ddl", "schema.sql", *more)
    assert (code, printed) == (2, "")
    assert says in said
    assert not Path("schema.sql").exists()
