"""Forms that only SQLite takes, and deep ones, give its rows; what describes SQLite's own file is refused."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pytest

from dialects.enums import Profile
from dialects.errors import BadInput, Untranslatable
from dialects.schema import Schema
from dialects.translation import translate
from harness.engines import on_server
from harness.engines.execution import Ending, Limits, execute
from harness.metrics.comparison import compare
from loaders.file_census import census
from loaders.namespace import Database
from loaders.server import Server
from tests.every_engine import LOADED
from tests.sqlite_files import sqlite_file

SERVERS = LOADED

DATA = """
CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, n INTEGER);
INSERT INTO t VALUES (1, 'a', 3), (2, 'b', NULL), (3, NULL, 5);
CREATE TABLE u (t_id INTEGER, said TEXT);
INSERT INTO u VALUES (1, 'x'), (3, 'y'), (3, 'z'), (NULL, 'w');
CREATE TABLE v (id INTEGER, code TEXT);
INSERT INTO v VALUES (1, 'p'), (2, 'q');
"""
QUERIES = (
    "SELECT t.id, said FROM t, u ON t.id = u.t_id",
    "SELECT t.id, said, code FROM t, u ON t.id = u.t_id, v ON v.id = t.id",
    "SELECT name, code FROM t, v USING (id)",
    "SELECT t.id, said FROM t LEFT JOIN v ON v.id = t.id, u ON u.t_id = t.id AND n > 3",
    "SELECT * FROM t, v ON t.id = v.id WHERE n IS NULL",
    "WITH c AS (SELECT t_id FROM u) SELECT id FROM t WHERE id IN c",
    "WITH c(x) AS (SELECT 1 UNION SELECT 3) SELECT id FROM t WHERE id NOT IN c",
    "SELECT 't'.'id', \"t\".'name', 't'.n FROM t WHERE 't'.'id' > 1",
    "SELECT x.'id' FROM t x ORDER BY 'x'.'id' DESC",
    "SELECT id FROM t LIMIT '0'",
    "SELECT id FROM t ORDER BY id LIMIT '00' OFFSET '0'",
    "SELECT id FROM t ORDER BY id LIMIT '2' OFFSET '01'",
    f"SELECT {' || '.join(['name'] * 400)} FROM t",
    f"SELECT id FROM t WHERE {' || '.join(['name', 'n', repr('-')] * 100)} > 'a'",
    f"SELECT {'(' * 80}id{')' * 80} + 1 FROM t",
    f"SELECT id FROM t WHERE {'(' * 70} n > 3 {')' * 70} OR {'( ' * 25} name = ')' {' )' * 25}",
    f"SELECT id FROM t WHERE id IN {'(' * 40}SELECT t_id FROM u WHERE said = 'y'{')' * 40}",
    f"SELECT {'(' * 30}1 + {'(' * 30}n{')' * 60} /* ((( */ FROM t -- (((",
)
"""Each has the same rows in any order, or is sorted by a key."""


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Database:
    path = sqlite_file(tmp_path_factory.mktemp("forms") / "forms.sqlite", DATA)
    return Database(f"test_{uuid4().hex[:8]}", "forms", path, Profile.FAITHFUL)


@pytest.fixture(scope="module")
def schema(database: Database) -> Schema:
    return census(database.sqlite_path, escape=True)


@pytest.mark.engine
def test_each_form_has_the_rows_of_sqlite(
    server: Server, stand: Callable[[Server, Database], None], database: Database, schema: Schema
) -> None:
    stand(server, database)
    engine, differences = on_server(server), []
    with closing(sqlite3.connect(database.sqlite_path)) as connection:
        for sql in QUERIES:
            expected = connection.execute(sql).fetchall()
            text = translate(sql, schema, server.dialect).sql
            found = execute(engine, database, text, Limits(seconds=60))
            if found.ending is not Ending.ROWS or not compare(expected, found.rows).same_bag:
                differences.append(f"{sql}\n{text}\n{found.error}\n{expected}\n{found.rows}")
    assert not differences, "\n\n".join(differences)


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("SELECT name FROM sqlite_temp_master", "information_schema.tables"),
        ("SELECT sql FROM sqlite_temp_schema WHERE type = 'table'", "information_schema.tables"),
        ("SELECT name FROM pragma_database_list", "information_schema.tables"),
        ("SELECT pgsize FROM dbstat", "about its own file"),
        ("SELECT seq FROM sqlite_sequence", "about its own file"),
        ("SELECT name FROM pragma_function_list()", "information_schema.tables"),
        ("SELECT last_insert_rowid()", "depends on what the connection wrote before"),
        ("SELECT changes()", "depends on what the connection wrote before"),
        ("SELECT id FROM t WHERE name MATCH 'a'", "searches a full-text index of SQLite's"),
    ],
)
def test_what_only_sqlite_has_is_refused(schema: Schema, sql: str, says: str) -> None:
    for target in LOADED:
        with pytest.raises(Untranslatable) as refusal:
            translate(sql, schema, target)
        assert says in str(refusal.value)


MOTLEY = """
CREATE TABLE m (id INTEGER PRIMARY KEY, v, name TEXT);
INSERT INTO m VALUES (1, 1, 'a'), (2, 'x', 'b'), (3, x'00ff', 'c');
CREATE VIRTUAL TABLE found USING fts5(body);
"""
READERS = (
    "SELECT v FROM m", "SELECT * FROM m", "SELECT id FROM m WHERE v = 1", "SELECT id FROM m ORDER BY v",
    "SELECT max(v) FROM m", "SELECT DISTINCT v FROM m", "SELECT count(*) FROM m GROUP BY v",
    "SELECT a.id FROM m a JOIN m b USING (v)", "SELECT a.id FROM m a NATURAL JOIN m b",
    "SELECT id FROM (SELECT v AS x, id FROM m)", "SELECT v || 'x' FROM m", "SELECT typeof(v) FROM m",
    "SELECT id FROM m WHERE (id, v) = (1, 2)", "SELECT lag(v) OVER (ORDER BY id) FROM m",
)  # fmt: skip


def test_a_column_that_fits_no_type_blocks_only_the_queries_that_read_it(tmp_path: Path) -> None:
    path = sqlite_file(tmp_path / "motley.sqlite", MOTLEY)
    with pytest.raises(BadInput, match=r"column v, rowid 3: a blob"):
        census(path)
    schema = census(path, lenient=True)
    for target in LOADED:
        assert translate("SELECT id, name FROM m WHERE name > 'a'", schema, target).warnings == ()
        for sql in READERS:
            with pytest.raises(Untranslatable, match=r"the column v.*: it holds a blob .* with --escape"):
                translate(sql, schema, target)
        with pytest.raises(Untranslatable, match=r"the table found .*: it is a virtual table"):
            translate("SELECT body FROM found", schema, target)


@pytest.fixture(scope="module")
def own_collation(tmp_path_factory: pytest.TempPathFactory) -> Schema:
    path = tmp_path_factory.mktemp("collation") / "own.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.create_collation("unicase", lambda one, other: (one > other) - (one < other))
        connection.executescript("""
            CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT COLLATE unicase, b TEXT);
            INSERT INTO t VALUES (1, 'x', 'B'), (2, 'X', 'a');
            CREATE INDEX by_a ON t (a);
            CREATE UNIQUE INDEX by_b ON t (b COLLATE "unicase");
            CREATE TABLE u (a TEXT COLLATE [unicase] PRIMARY KEY, n INT REFERENCES t, c TEXT REFERENCES u);
            INSERT INTO u VALUES ('q', 1, 'q');
            CREATE VIEW v AS SELECT a FROM t;
        """)
        connection.commit()
    return census(path)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a, b FROM t WHERE b = 'a'",
        "SELECT a FROM v WHERE a LIKE 'x%' AND a IS NOT NULL",
        "SELECT id FROM t WHERE a COLLATE BINARY = 'x' ORDER BY a COLLATE NOCASE",
        "SELECT a || '' = 'x', length(a), upper(a), instr(a, 'x') FROM t",
        "SELECT t.a, u.a FROM t JOIN u ON u.n = t.id",
        "SELECT DISTINCT b FROM t ORDER BY b",
        "SELECT name FROM pragma_table_info('t')",
    ],
)
def test_a_collation_of_an_application_blocks_no_other_query(own_collation: Schema, sql: str) -> None:
    for target in LOADED:
        assert translate(sql, own_collation, target).sql


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id FROM t WHERE a = 'x'",
        "SELECT id FROM t WHERE a IN ('x', 'y')",
        "SELECT id FROM t WHERE a BETWEEN 'a' AND 'b'",
        "SELECT id FROM t ORDER BY a",
        "SELECT count(*) FROM t GROUP BY a",
        "SELECT DISTINCT a FROM t",
        "SELECT count(DISTINCT a) FROM t",
        "SELECT min(a) FROM t",
        "SELECT max(a, b) FROM t",
        "SELECT a FROM t UNION SELECT b FROM t",
        "SELECT * FROM t JOIN u USING (a)",
        "SELECT CASE a WHEN 'x' THEN 1 END FROM t",
        "SELECT count(*) OVER (PARTITION BY a) FROM t",
        "SELECT b FROM t ORDER BY b COLLATE unicase",
    ],
)
def test_what_an_applications_collation_decides_is_refused_by_its_name(
    own_collation: Schema, sql: str
) -> None:
    for target in LOADED:
        with pytest.raises(Untranslatable, match="unicase"):
            translate(sql, own_collation, target)


def test_a_reference_that_an_applications_collation_decides_is_left_out(own_collation: Schema) -> None:
    kept = [reference for table in own_collation.tables for reference in table.foreign_keys]
    assert [reference.columns for reference in kept] == [("n",)]
    assert any("the collation unicase is the application's own" in note for note in own_collation.notes)
