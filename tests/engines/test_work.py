"""What a text makes each engine do is counted: alike every time, by what it does, within the limits."""

import gc
import sqlite3
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dialects.enums import Dialect, Profile
from harness.data.sets.loader import load_set
from harness.engines import kind_of, on_server
from harness.engines.base import Engine, SqlError, SqlTimeout, SqlTooLarge
from harness.engines.execution import Limits, NotCounted, Work, count_work, execute
from harness.engines.sqlite.engine import SQLiteEngine
from loaders.bulk_load import load, load_each
from loaders.namespace import Database
from loaders.server import Server
from tests.counting import TEXTS, numbers_in

pytestmark = [pytest.mark.engine, pytest.mark.thorough]

READ: Mapping[Dialect, str] = {
    Dialect.SQLITE: "scan_step",
    Dialect.MYSQL: "scan",
    Dialect.POSTGRESQL: "scan",
    Dialect.DUCKDB: "scan",
}
"""The counter of rows that are read one after the other."""

ENDLESS: Mapping[Dialect, str] = {
    Dialect.SQLITE: "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT MAX(i) FROM n",
    Dialect.MYSQL: "SELECT COUNT(*) FROM number a, number b, number c, number d"
    " WHERE a.n + b.n + c.n + d.n = 1",
    Dialect.POSTGRESQL: "SELECT COUNT(*) FROM number a, number b, number c, number d"
    " WHERE a.n + b.n + c.n + d.n = 1",
    Dialect.DUCKDB: "SELECT COUNT(*) FROM number a, number b, number c, number d"
    " WHERE sin(a.n + b.n + c.n + d.n) = 2",
}


@pytest.fixture(scope="session")
def numbers(tmp_path_factory: pytest.TempPathFactory) -> Database:
    return numbers_in(tmp_path_factory.mktemp("work"))


@pytest.fixture(params=sorted(READ))
def engine(request: pytest.FixtureRequest, numbers: Database) -> Engine:
    """Each engine in turn, with the database on it."""
    kind = kind_of(request.param)
    if not kind.has_server:
        return kind.make(None, pooled=True)
    server = request.getfixturevalue(f"{request.param}_server")
    assert isinstance(server, Server)
    load([numbers], server)
    return on_server(server)


def counted(engine: Engine, database: Database, sql: str, limits: Limits | None = None) -> Mapping[str, int]:
    found = count_work(engine, database, sql, limits or Limits())
    assert isinstance(found, Work), found
    return found.counters


@pytest.mark.parametrize("sql", TEXTS)
def test_the_same_is_counted_every_time_however_many_count(
    engine: Engine, numbers: Database, sql: str
) -> None:
    first = counted(engine, numbers, sql)
    assert all(count > 0 for count in first.values())
    with ThreadPoolExecutor(4) as threads:
        again = threads.map(lambda _: counted(engine, numbers, sql), range(8))
    assert all(found == first for found in again)


def test_golds_count_the_same_first_and_again_in_any_order(server: Server) -> None:
    questions = load_set("sample")
    databases = {db_id: questions.database(db_id, Profile.OFFICIAL) for db_id in questions.db_ids}
    # As new: no session has read a page or the catalog.
    load_each(list(databases.values()), server, force=True)
    texts = [(databases[each.db_id], each.gold[server.dialect]) for each in questions.questions]
    kind = kind_of(server.dialect)
    first = [counted(kind.make(server, pooled=False), database, sql) for database, sql in texts]
    engine = on_server(server)
    again = [counted(engine, database, sql) for database, sql in reversed(texts)]
    assert again[::-1] == first
    assert [counted(engine, database, sql) for database, sql in texts] == first


def test_what_reads_twice_as_much_counts_twice_as_much(engine: Engine, numbers: Database) -> None:
    # DuckDB answers without reading where statistics tell, and reads a table once for equal parts.
    one, other = (f"SELECT MAX(word) FROM number WHERE word LIKE '%{digit}%'" for digit in (1, 2))
    rows = counted(engine, numbers, one)[READ[engine.dialect]]
    assert rows in (1999, 2000)
    assert counted(engine, numbers, f"{one} UNION ALL {other}")[READ[engine.dialect]] == 2 * rows


@pytest.mark.parametrize(
    "engine",
    [each for each in READ if each is not Dialect.DUCKDB],
    indirect=True,  # which reads 2,048 rows at once
)
def test_what_stops_early_counts_little(engine: Engine, numbers: Database) -> None:
    assert counted(engine, numbers, "SELECT word FROM number LIMIT 5").get(READ[engine.dialect], 0) <= 5


def test_time_that_is_up_is_a_timeout(engine: Engine, numbers: Database) -> None:
    with pytest.raises(SqlTimeout):
        count_work(engine, numbers, ENDLESS[engine.dialect], Limits(seconds=0.3))
    # And what follows is as ever.
    assert counted(engine, numbers, "SELECT 1")


@pytest.mark.parametrize("sql", ["SELECT nothing FROM number", "SELECT FROM WHERE", "SELECT 1 1 1"])
def test_a_text_that_fails_is_an_error(engine: Engine, numbers: Database, sql: str) -> None:
    with pytest.raises(SqlError):
        count_work(engine, numbers, sql, Limits())


@pytest.mark.parametrize("sql", ["DROP TABLE number", "DELETE FROM number", "SET GLOBAL x = 1"])
def test_nothing_is_changed(engine: Engine, numbers: Database, sql: str) -> None:
    try:
        found: object = count_work(engine, numbers, sql, Limits())
    except SqlError as error:
        found = error
    assert isinstance(found, SqlError | NotCounted)
    found = counted(engine, numbers, "SELECT MAX(word) FROM number WHERE word LIKE '%1%'")
    assert found[READ[engine.dialect]] in (1999, 2000)


@pytest.mark.parametrize(("sql"), ["SHOW TABLES", "EXPLAIN SELECT 1"])
def test_what_is_no_query_is_not_counted(mysql_server: Server, numbers: Database, sql: str) -> None:
    load([numbers], mysql_server)
    found = count_work(on_server(mysql_server), numbers, sql, Limits())
    assert isinstance(found, NotCounted)
    assert sql.split(maxsplit=1)[0] in found.reason


def test_all_queries_of_a_text_count(postgresql_server: Server, numbers: Database) -> None:
    load([numbers], postgresql_server)
    engine = on_server(postgresql_server)
    one = "SELECT MAX(word) FROM number"
    assert counted(engine, numbers, f"{one}; {one}")["scan"] == 2 * counted(engine, numbers, one)["scan"]
    found = count_work(engine, numbers, "SHOW work_mem", Limits())
    assert isinstance(found, NotCounted)
    assert "queries" in found.reason


def test_another_load_comes_to_the_same_statistics_and_counts(
    postgresql_server: Server, mysql_server: Server, tmp_path: Path
) -> None:
    path = tmp_path / "lots" / "lots.sqlite"
    path.parent.mkdir()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE lot (n INTEGER PRIMARY KEY, few INTEGER, many INTEGER)")
    connection.executemany(
        "INSERT INTO lot VALUES (?, ?, ?)",
        [(n, n * n % 997 % 61, n * 7919 % 100_003 if n % 3 else None) for n in range(45_000)],
    )
    connection.execute("CREATE TABLE word (word TEXT)")
    connection.executemany("INSERT INTO word VALUES (?)", [(str(n * n % 31_337),) for n in range(35_000)])
    connection.commit()
    connection.close()
    database = Database("bird_work_tests", "lots", path)
    sql = (
        "SELECT a.few, COUNT(*) FROM lot a JOIN lot b ON a.many = b.n WHERE b.few < 7"
        " AND a.n IN (SELECT n FROM lot WHERE many > 60000) GROUP BY a.few"
    )
    found: dict[Server, list[Mapping[str, int]]] = {}
    for server in (postgresql_server, mysql_server):
        found[server] = []
        for _ in range(2):
            load([database], server, force=True)
            found[server].append(counted(on_server(server), database, sql))
    assert all(one == other for one, other in found.values())
    statistics = (
        "SELECT tablename, attname, null_frac, n_distinct, most_common_vals::text, most_common_freqs::text,"
        " histogram_bounds::text, correlation FROM pg_stats WHERE tablename IN ('lot', 'word') ORDER BY 1, 2"
    )
    first, second = (_after_load(postgresql_server, database, statistics) for _ in range(2))
    assert first == second
    assert len(first) == 4
    # As fine as ever: a planner reads them for every query.
    assert all(str(row[6]).count(",") <= 100 for row in first)


def _after_load(server: Server, database: Database, sql: str) -> Sequence[tuple[object, ...]]:
    load([database], server, force=True)
    return execute(on_server(server), database, sql, Limits()).rows


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT load_extension('x')",
        "SELECT * FROM sqlite_dbpage",
        "ATTACH 'other.sqlite' AS other",
        "PRAGMA temp_store = 1",
        "SELECT 1; SELECT 2",
        "SELECT 'a\0b'",
    ],
)
def test_what_sqlite_may_not_run_is_not_counted(numbers: Database, sql: str) -> None:
    with pytest.raises(SqlError):
        count_work(SQLiteEngine(pooled=True), numbers, sql, Limits())


def test_a_fault_while_sqlite_asks_for_leave_is_none(
    numbers: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise MemoryError

    monkeypatch.setattr("harness.engines.sqlite.engine.allow_reading", full)
    with pytest.raises(SqlError):
        count_work(SQLiteEngine(), numbers, "SELECT MAX(n) FROM number", Limits())


def test_sqlite_counts_in_many_threads_that_are_stopped_or_run_out_of_memory(numbers: Database) -> None:
    large = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
        " SELECT MAX(h) FROM (SELECT hex(zeroblob(7000000)) || i AS h FROM n ORDER BY h)"
    )
    engine, word = SQLiteEngine(pooled=True), "SELECT word FROM number ORDER BY word"
    expected = counted(engine, numbers, word)

    def count(turn: int) -> object:
        sql = (word, large, ENDLESS[Dialect.SQLITE], "SELECT nothing FROM number")[turn % 4]
        try:
            return count_work(engine, numbers, sql, Limits(seconds=0.2 if turn % 8 < 4 else 2))
        except SqlError as error:
            return error

    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(count, range(24)))
    gc.collect()
    assert {type(each) for turn, each in enumerate(found) if turn % 4} <= {SqlTimeout, SqlTooLarge, SqlError}
    # Memory is one limit for all of a process: a neighbour may take what these need.
    whole = [each for each in found[::4] if isinstance(each, Work)]
    assert all(each.counters == expected for each in whole)
    assert counted(engine, numbers, word) == expected
