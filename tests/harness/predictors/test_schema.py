"""The schema as each engine has it, and the published descriptions of its columns."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from dialects.enums import Dialect, Profile
from dialects.errors import BadInput
from harness.data.descriptions import description_folder
from harness.data.sets.loader import load_set
from harness.engines import on_server
from harness.engines.base import ColumnText, Engine, TableText
from harness.engines.mysql.engine import without_noise
from harness.engines.sqlite.engine import SQLiteEngine
from harness.predictors.base import DatabaseText
from harness.predictors.schema import describe, read_database
from loaders.base.errors import EngineUnavailable
from loaders.bulk_load import load
from loaders.namespace import Database
from loaders.server import Server
from tests.every_engine import EVERY_ENGINE, LOADED, SERVED
from tests.harness.predictors.making import FARM
from tests.loaders.servers import ask, drop
from tests.sqlite_files import sqlite_file

SERVERS = LOADED

SHOP = """
CREATE TABLE Customers (
    CustomerID INTEGER PRIMARY KEY,
    "Full Name" TEXT NOT NULL,
    email TEXT UNIQUE,
    born DATE,
    RecommendedBy INTEGER REFERENCES customers (customerid)
);
CREATE TABLE "order" (
    id INTEGER NOT NULL, year INTEGER NOT NULL, CustomerID INTEGER NOT NULL, placed DATETIME,
    note TEXT, seal BLOB,
    PRIMARY KEY (year, id),
    FOREIGN KEY (CustomerID) REFERENCES Customers
);
CREATE TABLE `Order Line` (
    year INTEGER, id INTEGER, "Price, ""net"" (€)" REAL, `what's it` TEXT,
    FOREIGN KEY (year, id) REFERENCES "order" (year, id)
);
CREATE VIEW latest AS SELECT * FROM "order";
INSERT INTO Customers VALUES (2, 'Zoë O''Hara', NULL, '1990-02-28', NULL), (5, 'Abe', 'a@b.example', NULL, 2);
INSERT INTO "order" VALUES
    (1, 2024, 2, '2024-02-29 12:30:00', NULL, x'00ff'), (1, 2023, 5, NULL, 'LONG', NULL);
INSERT INTO `Order Line` VALUES (2024, 1, 12.5, 'two
lines'), (2023, 1, NULL, '');
""".replace("LONG", "x" * 100)

BAKERY = """
CREATE TABLE loaves (loaf_id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE shelves (place INTEGER, loaf_id INTEGER, UNIQUE (place, loaf_id));
INSERT INTO loaves VALUES (1, 'rye');
INSERT INTO shelves VALUES (2, 1), (1, 3);
"""


def written(folder: Path, collection: str, db_id: str, script: str) -> Database:
    """A database as a SQLite file."""
    path = sqlite_file(folder / f"{db_id}.sqlite", script)
    return Database(collection, db_id, path)


COLLECTION = "bird_prompt_tests"
SAMPLE = f"{COLLECTION}_sample"
AGAIN = f"{COLLECTION}_again"

MYSQL_CATALOG = (
    """
    SELECT table_name, column_name, column_type, is_nullable, collation_name, column_default
    FROM information_schema.columns WHERE table_schema = DATABASE() AND extra NOT LIKE '%INVISIBLE%'
    ORDER BY 1, 2
    """,
    """
    SELECT table_name, column_name, ordinal_position, referenced_table_name, referenced_column_name,
        constraint_name = 'PRIMARY'
    FROM information_schema.key_column_usage WHERE table_schema = DATABASE() ORDER BY 1, 4, 2, 3
    """,
)
POSTGRESQL_CATALOG = (
    """
    SELECT table_name, column_name, row_number() OVER (PARTITION BY table_name ORDER BY ordinal_position),
        data_type, is_nullable, column_default, is_generated, generation_expression, collation_name
    FROM information_schema.columns WHERE table_schema = current_schema() ORDER BY 1, 3
    """,
    """
    SELECT conrelid::regclass::text, contype, pg_get_constraintdef(oid)
    FROM pg_constraint WHERE connamespace = current_schema()::regnamespace ORDER BY 1, 2, 3
    """,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shops")


@pytest.fixture(params=list(Profile))
def profile(request: pytest.FixtureRequest) -> Profile:
    return Profile(request.param)


@pytest.fixture
def shop(folder: Path, profile: Profile) -> Database:
    return shops(folder)[profile]


@cache
def shops(folder: Path) -> dict[Profile, Database]:
    shop = written(folder, COLLECTION, "shop", SHOP)
    return {profile: replace(shop, profile=profile) for profile in Profile}


@cache
def bakery(folder: Path) -> Database:
    return written(folder, COLLECTION, "bakery", BAKERY)


@cache
def sample() -> list[Database]:
    questions = load_set("sample", None)
    return [replace(questions.database(db_id), collection=SAMPLE) for db_id in questions.db_ids]


@cache
def loaded(server: Server, folder: Path) -> Engine:
    """The engine of a server that has all of these, once for all tests."""
    every = [*shops(folder).values(), *sample(), bakery(folder)]
    load([*every, replace(bakery(folder), profile=Profile.FAITHFUL)], server)
    return on_server(server)


def engine_of(dialect: Dialect, folder: Path, request: pytest.FixtureRequest) -> Engine:
    if dialect is Dialect.SQLITE:
        return SQLiteEngine()
    return loaded(request.getfixturevalue(f"{dialect}_server"), folder)


def in_order(tables: Sequence[TableText]) -> list[TableText]:
    """Tables after those that they refer to."""
    waiting, done = list(tables), list[TableText]()
    while waiting:
        names = {table.name for table in done}
        ready = [
            table
            for table in waiting
            if all(parent in {*names, table.name} for _, parent, _ in table.foreign_keys)
        ]
        assert ready
        done += ready
        waiting = [table for table in waiting if table not in ready]
    return done


def catalog(server: Server, database: Database) -> list[list[tuple[object, ...]]]:
    queries = MYSQL_CATALOG if server.dialect is Dialect.MYSQL else POSTGRESQL_CATALOG
    return [ask(server, database, query) for query in queries]


def made_again(server: Server, database: Database, *texts: DatabaseText) -> list[list[tuple[object, ...]]]:
    """The catalog of an empty database in which the statements were run."""
    again = replace(database, collection=AGAIN, db_id="again")
    mysql = server.dialect is Dialect.MYSQL
    name = again.mysql_database if mysql else again.postgresql_database
    drop(server, AGAIN)
    ask(server, None, f'CREATE DATABASE "{name}"' + ("" if mysql else " TEMPLATE template0 LC_COLLATE 'C'"))
    try:
        if not mysql and again.postgresql_schema != "public":
            ask(server, again, f'CREATE SCHEMA "{again.postgresql_schema}"')
        for text in texts:
            for table in in_order(text.tables):
                ask(server, again, table.create)
        return catalog(server, again)
    finally:
        drop(server, AGAIN)


@pytest.mark.engine
@pytest.mark.thorough
@pytest.mark.parametrize("server", SERVED, indirect=True)
def test_the_statements_make_the_same_tables_on_an_empty_database(
    server: Server, shop: Database, folder: Path
) -> None:
    engine = loaded(server, folder)
    texts = [read_database(engine, shop)]
    if shop.profile is Profile.OFFICIAL:
        texts.append(read_database(engine, bakery(folder)))
    assert made_again(server, shop, *texts) == catalog(server, shop)


@pytest.mark.engine
@pytest.mark.thorough
@pytest.mark.parametrize("server", SERVED, indirect=True)
def test_the_sample_s_statements_make_the_same_tables(server: Server, folder: Path) -> None:
    engine = loaded(server, folder)
    texts = [read_database(engine, database) for database in sample()]
    assert made_again(server, sample()[0], *texts) == catalog(server, sample()[0])


@pytest.mark.engine
@pytest.mark.thorough
def test_postgresql_s_statement_has_all_that_a_table_can_have(
    postgresql_server: Server, tmp_path: Path
) -> None:
    collection = f"{COLLECTION}_changed"
    shop = written(tmp_path, collection, "shop", SHOP)
    load([shop], postgresql_server)
    for change in (
        "ALTER TABLE customers ALTER email SET DEFAULT 'no''body', ADD CHECK (customerid > 0)",
        'ALTER TABLE customers ADD shout text COLLATE "POSIX"',
        "ALTER TABLE customers ADD twice bigint GENERATED ALWAYS AS (customerid * 2) STORED",
        'ALTER TABLE "order" ADD price numeric(8, 2) DEFAULT 0, ADD tags text[]',
        'ALTER TABLE "order" ADD at timestamp(3) DEFAULT now(), DROP COLUMN note',
    ):
        ask(postgresql_server, shop, change)
    text = read_database(on_server(postgresql_server), shop)
    assert "COLLATE" in text.tables[0].create
    assert made_again(postgresql_server, shop, text) == catalog(postgresql_server, shop)


def test_sqlite_s_statements_are_those_of_the_file(shop: Database) -> None:
    text = read_database(SQLiteEngine(), shop)
    with closing(sqlite3.connect(shop.sqlite_path)) as connection:
        own = connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE type IN ('table', 'view')"
        ).fetchall()
    assert [(table.name, table.create) for table in text.tables] == own


@pytest.mark.parametrize("dialect", EVERY_ENGINE)
def test_names_and_keys_are_spelled_as_the_engine_has_them(
    dialect: Dialect, shop: Database, folder: Path, request: pytest.FixtureRequest
) -> None:
    text = read_database(engine_of(dialect, folder, request), shop)
    customers, order, line, *views = text.tables
    shown = ["id", "year", "CustomerID", "placed", "note", "seal"]
    expected = [("latest", shown)] if dialect is Dialect.SQLITE else []
    assert [(view.name, [each.name for each in view.columns]) for view in views] == expected
    by_name = {
        Dialect.SQLITE: ["Customers", "order", "Order Line", "CustomerID", "RecommendedBy"],
        Dialect.MYSQL: ["customers", "order", "order line", "CustomerID", "RecommendedBy"],
        Dialect.POSTGRESQL: ["customers", "order", "Order Line", "customerid", "recommendedby"],
        Dialect.MARIADB: ["customers", "order", "order line", "CustomerID", "RecommendedBy"],
        Dialect.DUCKDB: ["Customers", "order", "Order Line", "CustomerID", "RecommendedBy"],
    }[dialect]
    assert [customers.name, order.name, line.name] == by_name[:3]
    key, recommended = by_name[3:]
    assert [each.name for each in customers.columns] == [key, "Full Name", "email", "born", recommended]
    assert [table.primary_key for table in text.tables[:3]] == [(key,), ("year", "id"), ()]
    assert customers.foreign_keys == (((recommended,), customers.name, (key,)),)
    assert order.foreign_keys == (((key,), customers.name, (key,)),)
    assert line.foreign_keys == ((("year", "id"), "order", ("year", "id")),)
    assert (text.db_id, text.dialect) == ("shop", dialect)
    assert text.version


NOON = {
    (Dialect.POSTGRESQL, Profile.OFFICIAL): "2024-02-29 12:30:00+00",
    (Dialect.DUCKDB, Profile.OFFICIAL): "2024-02-29 12:30:00+00:00",
}


@pytest.mark.parametrize("dialect", EVERY_ENGINE)
def test_first_rows_are_plain_values_in_the_order_of_storage(
    dialect: Dialect, shop: Database, folder: Path, request: pytest.FixtureRequest
) -> None:
    engine = engine_of(dialect, folder, request)
    noon = NOON.get((dialect, shop.profile), "2024-02-29 12:30:00")
    orders = [
        (1, 2024, 2, noon, None, "0x00FF"),
        (1, 2023, 5, None, "x" * 77 + "...", None),
    ]
    if dialect in {Dialect.MYSQL, Dialect.MARIADB}:  # InnoDB keeps rows in the order of the primary key
        orders.reverse()
    text = read_database(engine, shop, rows=3)
    if dialect is Dialect.SQLITE:
        assert len(text.tables[3].rows) == len(orders), "a view's"
    assert [list(table.rows) for table in text.tables[:3]] == [
        [(2, "Zoë O'Hara", None, "1990-02-28", None), (5, "Abe", "a@b.example", None, 2)],
        orders,
        [(2024, 1, 12.5, "two lines"), (2023, 1, None, "")],
    ]
    [first, *_] = read_database(engine, shop, rows=1).tables
    assert first.rows == text.tables[0].rows[:1]


@pytest.mark.parametrize("dialect", EVERY_ENGINE)
def test_first_rows_are_not_those_of_an_index(
    dialect: Dialect, folder: Path, request: pytest.FixtureRequest
) -> None:
    text = read_database(engine_of(dialect, folder, request), bakery(folder), rows=2)
    assert text.tables[1].rows == ((2, 1), (1, 3))


@pytest.mark.engine
@pytest.mark.thorough
def test_only_the_database_s_own_tables_are_told(server: Server, folder: Path, profile: Profile) -> None:
    text = read_database(loaded(server, folder), replace(bakery(folder), profile=profile))
    assert [table.name for table in text.tables] == ["loaves", "shelves"]
    assert [each.name for each in text.tables[0].columns] == ["loaf_id", "name"]


@pytest.mark.engine
@pytest.mark.thorough
def test_what_the_loader_adds_on_mysql_is_not_told(mysql_server: Server, folder: Path) -> None:
    engine, shop = loaded(mysql_server, folder), shops(folder)[Profile.FAITHFUL]
    [[_, printed]] = ask(mysql_server, shop, 'SHOW CREATE TABLE "order line"')
    assert "INVISIBLE" in printed
    line = read_database(engine, shop, rows=1).tables[2]
    assert line.create == (
        "CREATE TABLE `order line` (\n"
        "  `year` bigint DEFAULT NULL,\n"
        "  `id` bigint DEFAULT NULL,\n"
        '  `Price, "net" (€)` double DEFAULT NULL,\n'
        "  `what's it` text,\n"
        "  FOREIGN KEY (`year`, `id`) REFERENCES `order` (`year`, `id`)\n"
        ") COLLATE=utf8mb4_0900_bin"
    )
    assert len(line.rows[0]) == len(line.columns) == 4


PRINTED = """CREATE TABLE `a``b,
  c` (
  `id` int NOT NULL AUTO_INCREMENT,
  `KEY x` varchar(9) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci DEFAULT 'a''s,\\n  (' COMMENT 'COLLATE,
  )',
  `kind` enum('a,b','c)') COLLATE utf8mb4_bin DEFAULT NULL,
  `hidden` bigint NOT NULL /*!80023 INVISIBLE */,
  PRIMARY KEY (`id`),
  UNIQUE KEY `u` (`kind`),
  KEY `k` (`KEY x`),
  CONSTRAINT `a_ibfk_1` FOREIGN KEY (`id`) REFERENCES `z` (`CONSTRAINT`) ON DELETE CASCADE,
  CONSTRAINT `positive` CHECK ((`id` > 0))
) ENGINE=InnoDB AUTO_INCREMENT=7 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci STATS_PERSISTENT=1"""

KEPT = """CREATE TABLE `a``b,
  c` (
  `id` int NOT NULL AUTO_INCREMENT,
  `KEY x` varchar(9) DEFAULT 'a''s,\\n  (' COMMENT 'COLLATE,
  )',
  `kind` enum('a,b','c)') COLLATE utf8mb4_bin DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `u` (`kind`),
  FOREIGN KEY (`id`) REFERENCES `z` (`CONSTRAINT`) ON DELETE CASCADE,
  CONSTRAINT `positive` CHECK ((`id` > 0))
)"""


def test_noise_of_mysql_is_left_out_and_nothing_in_quotes_is_taken_for_it() -> None:
    assert without_noise(PRINTED) == KEPT


@pytest.mark.engine
@pytest.mark.thorough
def test_a_table_that_is_not_loaded_is_told(server: Server, folder: Path, tmp_path: Path) -> None:
    later = written(tmp_path, COLLECTION, "bakery", BAKERY + "CREATE TABLE ovens (oven_id INTEGER);")
    with pytest.raises(EngineUnavailable, match=r"table ovens of bakery is not loaded in profile official"):
        read_database(loaded(server, folder), later)


def test_a_sqlite_file_whose_rows_cannot_be_read_is_told(tmp_path: Path) -> None:
    broken = BAKERY + "INSERT INTO loaves VALUES (2, CAST(x'ff' AS TEXT));"
    bakery = written(tmp_path, COLLECTION, "bakery", broken)
    assert len(read_database(SQLiteEngine(), bakery, rows=1).tables[0].rows) == 1
    with pytest.raises(BadInput, match=r"bakery\.sqlite: Could not decode to UTF-8"):
        read_database(SQLiteEngine(), bakery, rows=2)


@pytest.mark.bird
def test_all_published_databases_are_read_with_their_descriptions(bird_home: Path) -> None:
    questions = load_set("mini_dev", bird_home)
    described = {}
    left_over = []
    for db_id in questions.db_ids:
        text = read_database(SQLiteEngine(), questions.database(db_id), rows=3)
        found, unused = describe(text, description_folder(questions.databases, db_id))
        columns = [column for table in found.tables for column in table.columns]
        told = sum(any((each.title, each.description, each.values)) for each in columns)
        described[db_id] = (len(found.tables), len(columns), told)
        left_over += [line.split("database_description/")[1] for line in unused]
        assert all(len(row) == len(table.columns) for table in text.tables for row in table.rows)
    assert described == {
        "california_schools": (3, 89, 82),
        "card_games": (6, 115, 111),
        "codebase_community": (8, 71, 71),
        "debit_card_specializing": (5, 21, 20),
        "european_football_2": (7, 199, 103),
        "financial": (8, 55, 54),
        "formula_1": (13, 94, 94),
        "student_club": (8, 48, 48),
        "superhero": (10, 31, 31),
        "thrombosis_prediction": (3, 64, 61),
        "toxicology": (4, 11, 11),
    }
    assert left_over == ["constructors.csv: line 8: table constructors has no column wins"]


HEADER = "original_column_name,column_name,column_description,data_format,value_description\n"


def described(folder: Path, name: str, content: bytes) -> tuple[dict[str, ColumnText], list[str]]:
    """The stables' columns, and what is left over but for the files that the other tables have not."""
    (folder / name).write_bytes(content)
    found, left_over = describe(FARM, folder)
    columns = {column.name: column for column in found.tables[1].columns}
    return columns, [line for line in left_over if "no file describes" not in line]


TEXTS = [
    ("plain", b"name,short name,what it is called,text,any\n", ("short name", "what it is called", "any")),
    ("blanks", b' Name ,  ," what\r\n it is called ",text,\r\n', (None, "what\r\n it is called", None)),
    ("case", b"NAME,,called,text,\n", (None, "called", None)),
    ("quotes and commas", b'name,"a, ""b""",,text,\n', ('a, "b"', None, None)),
    ("too few cells", b"name,short\n", ("short", None, None)),
    ("Windows-1252", b"name,,a \x96 b,text,\x95 one\n", (None, "a \u2013 b", "\u2022 one")),
    ("no text in Windows-1252 either", b"name,,\x81\x96,text,\n", (None, "\ufffd\u2013", None)),
    ("UTF-8", "name,,Größe,text,\n".encode(), (None, "Größe", None)),
]


@pytest.mark.parametrize(("lines", "texts"), [each[1:] for each in TEXTS], ids=[each[0] for each in TEXTS])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["", "with a byte order mark"])
def test_descriptions_are_read_however_they_are_written(
    lines: bytes, texts: tuple[str | None, ...], mark: bytes, tmp_path: Path
) -> None:
    if mark and any(byte > 0x7F for byte in lines) and "Größe".encode() not in lines:
        lines = lines.decode("cp1252", errors="replace").encode()
    columns, left_over = described(tmp_path, " Stables.csv", mark + HEADER.encode() + lines)
    assert (columns["name"].title, columns["name"].description, columns["name"].values) == texts
    assert left_over == []


@pytest.mark.parametrize(
    ("name", "lines", "says"),
    [
        ("stables.csv", "doors,,how many,integer,\n", "line 2: table stables has no column doors"),
        ("stables.csv", ",,of nothing,text,\n", "line 2: table stables has no column (no name)"),
        ("stables.csv", 'name,"a\nb",,,\ndoors,,x,,\n', "line 4: table stables has no column doors"),
        ("stables.csv", "name,,a,,\nName,,b,,\n", "line 3: describes column name a second time"),
        ("barns.csv", "name,,a,,\n", "farm has no table barns"),
    ],
)
def test_what_belongs_to_nothing_is_told(name: str, lines: str, says: str, tmp_path: Path) -> None:
    _, left_over = described(tmp_path, name, (HEADER + lines).encode())
    assert left_over == [f"{tmp_path / name}: {says}"]


def test_lines_that_say_nothing_and_columns_without_a_line_are_no_fault(tmp_path: Path) -> None:
    columns, left_over = described(tmp_path, "stables.csv", (HEADER + ",,,,\nname,,,text,\n\n").encode())
    assert left_over == []
    assert {column.description for column in columns.values()} == {None}


def test_tables_and_databases_without_descriptions_are_told(tmp_path: Path) -> None:
    (tmp_path / "animals.csv").write_text(HEADER, encoding="utf-8")
    assert describe(FARM, tmp_path)[1] == [
        f"{tmp_path}: no file describes table {table}" for table in ("stables", "visits")
    ]
    nowhere = tmp_path / "nowhere"
    assert describe(FARM, nowhere)[1] == [f"{nowhere}: there are no descriptions of farm"]


def test_of_two_files_for_a_table_the_second_is_told(tmp_path: Path) -> None:
    (tmp_path / "Stables.csv").write_text(HEADER + "name,,one,,\n", encoding="utf-8")
    columns, left_over = described(tmp_path, "stables.csv", (HEADER + "name,,two,,\n").encode())
    assert columns["name"].description == "one"
    assert left_over == [f"{tmp_path / 'stables.csv'}: another file also describes table stables"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "line 1 has no column original_column_name"),
        ("name,description\n", "line 1 has no column original_column_name"),
        (HEADER + 'name,"open\n', r"line \d: not CSV \(unexpected end of data\)"),
    ],
)
def test_what_is_no_description_file_is_one_clear_error(content: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "stables.csv").write_text(content, encoding="utf-8")
    with pytest.raises(BadInput, match=rf"stables\.csv: {says}"):
        describe(FARM, tmp_path)
