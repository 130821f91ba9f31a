"""What SQLite's engine promises: whose fault an error is, what is opened anew, and that it is closed."""

import gc
import multiprocessing
import os
import shutil
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness.engines.base import BATCH_ROWS, EngineLost, SqlTimeout, SqlTooLarge
from harness.engines.execution import WATCHDOG, Ending, Limits, execute
from harness.engines.retry import execute_patiently
from harness.engines.sqlite.engine import VALUE_BYTES, SQLiteEngine, SQLiteSession
from loaders.namespace import Database
from tests.sqlite_files import sqlite_file

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
LARGE = f"{ENDLESS}, m(i, h) AS (SELECT i, hex(zeroblob(7000000)) || i FROM n)"
NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)"


def write(path: Path, *names: str) -> Path:
    path.unlink(missing_ok=True)
    sqlite_file(path, "CREATE TABLE animal (name TEXT)", animal=[(name,) for name in names])
    return path


@pytest.fixture
def zoo(tmp_path: Path) -> Database:
    return Database("bird_sqlite", "zoo", write(tmp_path / "zoo.sqlite", "cat", "hen"))


def rows(session: SQLiteSession, sql: str) -> list[tuple[object, ...]]:
    return [row for batch in session.batches(sql) for row in batch]


def opened(path: Path) -> int:
    """How many handles of a file this process has."""
    found = 0
    for handle in Path("/proc/self/fd").iterdir():
        try:
            found += str(handle.readlink()).startswith(str(path))
        except FileNotFoundError:
            continue
    return found


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT value FROM json_each('[1, 2]')",
        "SELECT fullkey FROM json_tree('{\"a\": 1}')",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3) SELECT i FROM n",
        "SELECT name, row_number() OVER (ORDER BY name) FROM animal",
        "SELECT name FROM sqlite_master",
        "SELECT 1 WHERE 1 IN (" + ",".join(str(number) for number in range(30_000)) + ")",
        f"{NUMBERS} SELECT length(group_concat(hex(zeroblob(500)))) FROM n",
        f"{NUMBERS} SELECT a.i, b.i FROM n AS a, n AS b WHERE b.i < 5 ORDER BY a.i % 7, b.i DESC, a.i",
    ],
)
def test_what_reads_is_answered_as_an_unlimited_connection_answers_it(zoo: Database, sql: str) -> None:
    connection = sqlite3.connect(zoo.sqlite_path)
    expected = connection.execute(sql).fetchall()
    connection.close()
    for pooled in (False, True):
        with SQLiteEngine(pooled=pooled).session(zoo, 30) as session:
            assert rows(session, sql) == expected != []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sql", "ending", "code"),
    [
        ("SELECT zeroblob(2147483647)", Ending.TOO_LARGE, "SQLITE_TOOBIG"),
        (f"SELECT zeroblob({VALUE_BYTES + 1})", Ending.TOO_LARGE, "SQLITE_TOOBIG"),
        (f"{LARGE} SELECT count(DISTINCT h) FROM m", Ending.TOO_LARGE, "SQLITE_NOMEM"),
        (f"{LARGE} SELECT h FROM m ORDER BY i DESC", Ending.TOO_LARGE, "SQLITE_NOMEM"),
        ("SELECT nme FROM animal", Ending.ERROR, "SQLITE_ERROR"),
        ("DELETE FROM animal", Ending.ERROR, "SQLITE_AUTH"),
        ("SELECT CAST(x'ff' AS TEXT)", Ending.ERROR, None),
        ("SELECT '\ud800'", Ending.ERROR, None),
        ("SELECT 1 --" + "x" * 2_000_000, Ending.ERROR, None),
    ],
)  # fmt: skip
def test_what_a_statement_is_refused_is_its_own_fault_and_what_it_outgrows_too_large(
    zoo: Database, sql: str, ending: Ending, code: str | None
) -> None:
    execution = execute(SQLiteEngine(pooled=True), zoo, sql, Limits(seconds=60))
    assert (execution.ending, execution.code) == (ending, code)
    assert execution.error


def test_an_error_is_the_same_whatever_ran_before_it(zoo: Database) -> None:
    engine = SQLiteEngine(pooled=True)
    asked = "SELECT nme", "SELECT )", "SELECT sum(nme) WHERE 1"
    found = [execute(SQLiteEngine(), zoo, sql, Limits()) for sql in asked]
    for _ in range(2):
        for sql, anew in zip(asked, found, strict=True):
            again = execute(engine, zoo, sql, Limits())
            assert (again.error, again.code) == (anew.error, anew.code)
    assert {each.code for each in found} == {"SQLITE_ERROR"}


def _missing(path: Path) -> None:
    path.unlink()


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _no_database(path: Path) -> None:
    path.write_bytes(b"no database " * 1000)


def _cut_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:4096])


def _broken_page(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[4096:8192] = b"\xff" * 4096
    path.write_bytes(content)


@pytest.mark.parametrize("pooled", [False, True])
@pytest.mark.parametrize("breaks", [_missing, _folder, _no_database, _cut_off, _broken_page])
def test_a_file_that_is_broken_is_not_the_statements_fault(
    zoo: Database,
    breaks: Callable[[Path], None],
    pooled: bool,  # noqa: FBT001 - a value of the table
) -> None:
    breaks(zoo.sqlite_path)
    for run in (execute, execute_patiently):
        with pytest.raises(EngineLost, match=r"zoo\.sqlite"):
            run(SQLiteEngine(pooled=pooled), zoo, "SELECT name FROM animal", Limits())


def test_text_that_is_not_utf_8_is_an_error_of_the_statement_that_reads_it(zoo: Database) -> None:
    sqlite_file(zoo.sqlite_path, "INSERT INTO animal VALUES (CAST(x'63e974' AS TEXT))")
    engine = SQLiteEngine(pooled=True)
    assert execute(engine, zoo, "SELECT name FROM animal", Limits()).ending is Ending.ERROR
    assert execute(engine, zoo, "SELECT hex(name) FROM animal LIMIT 1 OFFSET 2", Limits()).rows == (
        ("63E974",),
    )


def test_batches_are_small_enough_for_the_largest_values(zoo: Database) -> None:
    with SQLiteEngine().session(zoo, 30) as session:
        sizes = [len(batch) for batch in session.batches(f"{NUMBERS} SELECT i FROM n")]
    assert sum(sizes) == 5000
    assert max(sizes) * VALUE_BYTES <= Limits().bytes
    assert max(sizes) <= BATCH_ROWS


def test_sorting_and_materialising_write_no_temporary_file(zoo: Database) -> None:
    sql = (
        f"{NUMBERS}, m AS MATERIALIZED (SELECT i, hex(zeroblob(2000)) AS h FROM n) "
        "SELECT DISTINCT m.i, m.h FROM m JOIN m AS o ON o.i = m.i ORDER BY m.i % 7"
    )
    with SQLiteEngine().session(zoo, 30) as session:
        batches = session.batches(sql)
        assert next(batches)
        handles = [str(path.readlink()) for path in Path("/proc/self/fd").iterdir() if path.is_symlink()]
        batches.close()  # type: ignore[attr-defined]
    assert [name for name in handles if "etilqs" in name] == []


def test_a_connection_is_used_again_after_statements_that_ran_to_their_end(zoo: Database) -> None:
    engine = SQLiteEngine(pooled=True)
    with engine.session(zoo, 1) as session:
        first = session._connection
        assert rows(session, "SELECT name FROM animal") == [("cat",), ("hen",)]
        with pytest.raises(Exception, match="no such column"):
            rows(session, "SELECT nme FROM animal")
    with engine.session(zoo, 1) as session:
        assert session._connection is first
        with engine.session(zoo, 1) as beside:
            assert beside._connection is not first
            assert rows(beside, "SELECT count(*) FROM animal") == [(2,)]
        assert rows(session, "SELECT count(*) FROM animal") == [(2,)]


def _interrupted(session: SQLiteSession) -> None:
    with pytest.raises(SqlTimeout), WATCHDOG.guard(session, 0.05):
        rows(session, f"{ENDLESS} SELECT count(*) FROM n")


def _out_of_memory(session: SQLiteSession) -> None:
    with pytest.raises(SqlTooLarge):
        rows(session, f"{LARGE} SELECT h FROM m ORDER BY i DESC")


def _left_unread(session: SQLiteSession) -> None:
    assert next(session.batches(f"{ENDLESS} SELECT i FROM n"))


@pytest.mark.parametrize("ends", [_interrupted, _out_of_memory, _left_unread])
def test_a_connection_is_closed_after_a_statement_that_did_not_run_to_its_end(
    zoo: Database, ends: Callable[[SQLiteSession], None]
) -> None:
    engine = SQLiteEngine(pooled=True)
    with engine.session(zoo, 1) as session:
        closed = session._connection
        ends(session)
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        closed.execute("SELECT 1")
    assert execute(engine, zoo, "SELECT count(*) FROM animal", Limits()).rows == ((2,),)


def test_an_engine_that_is_not_pooled_opens_every_session_anew(zoo: Database) -> None:
    engine = SQLiteEngine()
    connections = []
    for _ in range(2):
        with engine.session(zoo, 1) as session:
            connections.append(session._connection)
    assert connections[0] is not connections[1]


def _replaced(path: Path) -> None:
    write(path.with_name("new"), "cow", "dog")
    path.with_name("new").replace(path)


def _written_over(path: Path) -> None:
    before = path.stat()
    shutil.copyfile(write(path.with_name("new"), "cow", "dog"), path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))


@pytest.mark.parametrize("changes", [_replaced, _written_over])
def test_a_file_that_has_changed_is_read_anew(zoo: Database, changes: Callable[[Path], None]) -> None:
    engine = SQLiteEngine(pooled=True)
    assert execute(engine, zoo, "SELECT name FROM animal", Limits()).rows == (("cat",), ("hen",))
    changes(zoo.sqlite_path)
    assert execute(engine, zoo, "SELECT name FROM animal", Limits()).rows == (("cow",), ("dog",))
    assert opened(zoo.sqlite_path) == 1


@pytest.mark.slow
def test_few_files_stay_open_and_none_after_the_engine(tmp_path: Path) -> None:
    databases = [
        Database("bird_sqlite", f"zoo{number}", write(tmp_path / f"zoo{number}.sqlite", "cat"))
        for number in range(40)
    ]
    engine = SQLiteEngine(pooled=True)
    for database in (*databases, *databases):
        assert execute(engine, database, "SELECT name FROM animal", Limits()).rows == (("cat",),)
    assert 0 < opened(tmp_path) <= 16
    del engine
    gc.collect()
    assert opened(tmp_path) == 0


def test_statements_of_others_cannot_be_read_from_a_connection_that_is_used_again(zoo: Database) -> None:
    engine = SQLiteEngine(pooled=True)
    execute(engine, zoo, "SELECT 'secret'", Limits())
    execution = execute(engine, zoo, "SELECT sql FROM sqlite_stmt", Limits())
    assert execution.ending is Ending.ERROR


def _in_child(engine: SQLiteEngine, database: Database) -> None:
    with engine.session(database, 1) as session:
        os._exit(0 if rows(session, "SELECT name FROM animal") == [("cat",), ("hen",)] else 1)


@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
def test_a_forked_process_opens_its_own_connections(zoo: Database) -> None:
    engine = SQLiteEngine(pooled=True)
    execute(engine, zoo, "SELECT name FROM animal", Limits())
    child = multiprocessing.get_context("fork").Process(target=_in_child, args=(engine, zoo))
    child.start()
    child.join(60)
    assert child.exitcode == 0
    assert execute(engine, zoo, "SELECT count(*) FROM animal", Limits()).rows == ((2,),)


def test_many_threads_share_an_engine(zoo: Database) -> None:
    engine = SQLiteEngine(pooled=True)

    def ask(number: int) -> object:
        return execute(engine, zoo, f"SELECT {number}, count(*) FROM animal", Limits()).rows

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, range(400))) == [((number, 2),) for number in range(400)]
    assert opened(zoo.sqlite_path) <= 8
