"""No prediction on DuckDB reaches beyond the database that it queries, or past its limits."""

from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

import duckdb
import pytest

from dialects.enums import Dialect
from harness import Evaluator, Triple
from harness.data.outcomes import Outcome
from harness.data.sets.loader import load_set
from harness.engines import on_server
from harness.engines.base import EngineLost
from harness.engines.duckdb.engine import SETTINGS, names_what_is_shared
from harness.engines.execution import Ending, Limits, execute
from harness.engines.retry import execute_patiently
from harness.scoring.tasks import JudgeTask, Setup
from harness.scoring.workers import LocalWorkers
from loaders.bulk_load import load
from loaders.duckdb import functions
from loaders.duckdb.session import file_of
from loaders.namespace import Database
from loaders.server import Server
from tests.engines.hostile.duckdb_cases import BREAKING, CROWDED, HARMLESS_FUNCTIONS, REACHING, REGISTERING
from tests.sqlite_files import sqlite_file

pytestmark = [pytest.mark.engine, pytest.mark.thorough]

PROBE = (
    "SELECT count(*), current_setting('enable_external_access'), current_setting('lock_configuration')"
    " FROM Books"
)


_HUNGRY = ("joins", "texts of 2 GB", "too large", "out of memory", "sorts to a disk")


@pytest.fixture(scope="module")
def library(duckdb_server: Server) -> Database:
    database = load_set("sample").database("city_library")
    load([database], duckdb_server)
    return database


def test_nothing_beyond_the_database_is_in_reach(
    duckdb_server: Server, library: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    secret = tmp_path / "secret.csv"
    secret.write_text("a\n1\n")
    found = [("a variable of this process",)]  # noqa: F841 - "FROM found" must not find it
    engine, loaded = on_server(duckdb_server), file_of(duckdb_server, library).read_bytes()
    probe = execute(engine, library, PROBE, Limits()).rows
    assert probe
    for text in REACHING:
        sql = text.replace("{file}", str(secret)).replace("{out}", str(tmp_path / "out"))
        seen = execute(engine, library, sql, Limits(seconds=10))
        assert seen.ending is Ending.ERROR or (seen.ending, seen.rows) == (Ending.ROWS, ()), (sql, seen)
        assert execute(engine, library, PROBE, Limits()).rows == probe, sql
    assert [path.name for path in tmp_path.iterdir()] == ["secret.csv"]
    assert file_of(duckdb_server, library).read_bytes() == loaded


GOLD = "SELECT COUNT(*) FROM Books"
_CATALOGUE = (
    "duckdb_functions", "duckdb_types", "duckdb_settings", "duckdb_variables", "duckdb_prepared_statements",
    "duckdb_databases", "duckdb_sequences", "duckdb_views", "duckdb_schemas",
    "duckdb_logs", "duckdb_log_contexts", "duckdb_external_resources", "duckdb_external_resource_types",
    "duckdb_grammar_extensions", "duckdb_secret_types", "duckdb_external_file_cache",
    "duckdb_temporary_files", "duckdb_connection_count", "duckdb_dialects", "duckdb_triggers",
)  # fmt: skip

_ROWS = """
    SELECT coalesce(md5(string_agg(t::VARCHAR, chr(10) ORDER BY t::VARCHAR)), '')
    FROM (SELECT COLUMNS(lambda name: name NOT LIKE '%oid') FROM {}()) AS t"""
"""Without numbers that count on with each connection."""


def catalogue(server: Server, database: Database, *names: str) -> Mapping[str, str]:
    """Digests of what the next text's instance has: this process's connections to a file share it."""
    with duckdb.connect(file_of(server, database), config=SETTINGS) as connection:
        found = {name: connection.execute(_ROWS.format(name)).fetchall() for name in names or _CATALOGUE}
    return {name: digest for name, [(digest,)] in found.items()}


def test_no_text_leaves_anything_in_an_instance(duckdb_server: Server, library: Database) -> None:
    engine = on_server(duckdb_server)
    execute(engine, library, GOLD, Limits())
    before = catalogue(duckdb_server, library)
    registries = [name for name in _CATALOGUE if "resource" in name or "log" in name]
    for sql in REGISTERING:
        execute_patiently(engine, library, sql, Limits(seconds=10))
        assert execute(engine, library, GOLD, Limits()).ending is Ending.ROWS, sql
        for name, digest in catalogue(duckdb_server, library, *registries).items():
            assert digest == before[name], (sql, name)
    for sql in (text for text in REACHING if "{" not in text):
        execute_patiently(engine, library, sql, Limits(seconds=10))
    assert execute(engine, library, GOLD, Limits()).ending is Ending.ROWS
    assert catalogue(duckdb_server, library) == before


def test_a_text_sees_no_function_that_another_text_named(duckdb_server: Server, library: Database) -> None:
    engine = on_server(duckdb_server)
    count = "SELECT count(*) FROM duckdb_functions() WHERE starts_with(function_name, 'bird')"
    for sql in (count, "SELECT 1 -- bird_sqlite_", count, "SELECT bird_sqlite_to_real('1')", count):
        seen = execute(engine, library, sql, Limits(seconds=20))
        assert seen.ending is Ending.ROWS, seen.error
        assert sql != count or seen.rows == ((0,),)


def test_the_functions_keep_nothing_of_a_text(duckdb_server: Server, library: Database) -> None:
    engine = on_server(duckdb_server)
    odd = "SELECT bird_sqlite_moment('2024-02-31'), bird_sqlite_modified(bird_sqlite_moment('24:30'), 'utc')"
    many = (
        "SELECT count(DISTINCT bird_sqlite_moment(strftime(DATE '0200-01-01' + range::INT, '%Y-%m-31')))"
        " FROM range(20000)"
    )
    before = execute(engine, library, odd, Limits(seconds=20)), _size_of(functions)
    assert execute(engine, library, many, Limits(seconds=60)).ending is Ending.ROWS
    after = execute(engine, library, odd, Limits(seconds=20)), _size_of(functions)
    assert (before[0].rows, before[1]) == (after[0].rows, after[1])


def _size_of(module: ModuleType) -> int:
    """The entries of all containers at the top of a module."""
    return sum(len(value) for value in vars(module).values() if isinstance(value, list | dict | set))


def test_every_function_of_the_instance_is_known() -> None:
    with duckdb.connect() as connection:
        found = connection.execute(
            "SELECT DISTINCT function_name FROM duckdb_functions()"
            " WHERE function_type IN ('table', 'table_macro') OR stability = 'VOLATILE' OR has_side_effects"
        ).fetchall()
    unknown = {name for (name,) in found if not names_what_is_shared(f"SELECT * FROM {name}('x')")}
    assert unknown == HARMLESS_FUNCTIONS


def test_a_text_has_as_much_memory_after_others_as_alone(duckdb_server: Server, library: Database) -> None:
    questions = load_set("sample")
    question = next(each for each in questions.questions if each.db_id == library.db_id)
    setup = Setup(questions, {Dialect.DUCKDB: (duckdb_server,)}, limits=Limits(5), metrics=("ex",))
    texts = [CROWDED[name][0] for name in (*_HUNGRY, "too many rows")]
    workers = LocalWorkers(setup, 1)
    try:
        judged = workers.submit(JudgeTask(Dialect.DUCKDB, question, tuple(texts))).result(300).judgements
    finally:
        workers.close()
    assert {judged[text].outcome for text in texts} == {Outcome.PREDICTION_TOO_LARGE}
    assert judged[texts[-1]].error == "more than 1,000,000 rows"


def test_an_error_that_may_have_broken_the_instance_is_the_texts_and_meets_no_other(
    duckdb_server: Server, library: Database
) -> None:
    engine = on_server(duckdb_server)
    for sql in BREAKING:
        seen = execute_patiently(engine, library, sql, Limits(seconds=20))
        assert seen.ending is not Ending.TIMEOUT, (sql, seen)
        assert execute(engine, library, GOLD, Limits()).ending is Ending.ROWS, sql


def test_no_text_chooses_that_it_is_not_judged(library: Database) -> None:
    with Evaluator("sample", dialects=[Dialect.DUCKDB], workers=1, seconds=20, cache=False) as evaluator:
        triples = [
            Triple(library.db_id, GOLD, sql)
            for text in BREAKING * 2
            for sql in (text, "SELECT COUNT(title) FROM Books")
        ]
        found = evaluator.score(triples)
    hostile, honest = found[::2], found[1::2]
    assert Outcome.HARNESS_ERROR not in {each.outcome for each in hostile}
    assert Outcome.PREDICTION_ERROR in {each.outcome for each in hostile}
    assert {each.outcome for each in honest} == {Outcome.MATCH}
    assert not [each.error for each in hostile if each.error and ".so" in each.error], (
        "addresses of the process"
    )


def test_a_file_that_is_broken_is_no_texts_fault(duckdb_server: Server, tmp_path: Path) -> None:
    path = sqlite_file(
        tmp_path / "numbers.sqlite",
        "CREATE TABLE t (a INTEGER)",
        t=[(n * n * 7919 % 1_000_003,) for n in range(300_000)],
    )
    database = Database("bird_broken_tests", "numbers", path)
    load([database], duckdb_server)
    file = file_of(duckdb_server, database)
    content = bytearray(file.read_bytes())
    for place in range(len(content) // 4, len(content), 4096):
        content[place] ^= 0xFF
    file.write_bytes(content)
    with pytest.raises(EngineLost, match="numbers"):
        execute_patiently(on_server(duckdb_server), database, "SELECT sum(a) FROM t", Limits())
