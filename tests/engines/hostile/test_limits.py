"""Texts that go on after their limit, or take the server's memory, or the server itself: it is held on it.

Each server is of this module's own, as the harness ends it: natively, by its process.
"""

import json
import os
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import Event, Thread

import psycopg
import pymysql
import pytest

from dialects.enums import Dialect
from harness.data.outcomes import Outcome
from harness.data.sets.loader import load_set
from harness.engines import on_server
from harness.engines.execution import Ending, Execution, Limits
from harness.engines.retry import execute_patiently
from harness.provision import native
from harness.provision.servers import ServerState
from harness.runs.reader import LATEST, read_manifest, read_results
from loaders.base.errors import EngineUnavailable
from loaders.bulk_load import load
from loaders.namespace import Database
from loaders.sample import PREDICTIONS
from tests import forked
from tests.engines.victims import Victim, children, victim
from tests.reasons import Reason, skip

pytestmark = [pytest.mark.engine, pytest.mark.thorough]

LIMITS = Limits(seconds=0.5)
HONEST = "SELECT COUNT(*) FROM Books"
MARK = "the text that ends its server"

_NEEDLE = "CONCAT(REPEAT('a', 3000000), 'b')"
_HAY = "REPEAT('a', 9000000)"
_LINE = "ST_GeomFromText(CONCAT('LINESTRING({0} {0}', REPEAT(',{0} {1},{1} {0}', 60000), ')'))"
_LETTERS = "<r>', REPEAT('<a>x</a>', 2000), '</r>"
_COUNTED = "count(//a[count(//a[count(//a)>1])>1])"

_MYSQL = {
    "locate": f"SELECT LOCATE({_NEEDLE}, {_HAY})",
    "replace": f"SELECT LENGTH(REPLACE({_HAY}, {_NEEDLE}, ''))",
    "substring_index": f"SELECT LENGTH(SUBSTRING_INDEX({_HAY}, {_NEEDLE}, 2))",
    "extractvalue": f"SELECT EXTRACTVALUE(CONCAT('{_LETTERS}'), '{_COUNTED}')",
    "distance": f"SELECT ST_Distance({_LINE.format(1, 2)}, {_LINE.format(5, 6)})",
}
_PG_NEEDLE = "'b' || repeat('a', 3000000)"
_PG_HAY = "repeat('a', 9000000)"

GOES_ON: Mapping[Dialect, Mapping[str, str]] = {
    Dialect.MYSQL: {
        **_MYSQL,
        "pattern of a schema": 'SELECT JSON_SCHEMA_VALID(\'{"type": "string", "pattern": "^(a+)+$"}\', '
        "CONCAT('\"', REPEAT('a', 34), 'b\"'))",
    },
    Dialect.MARIADB: {**_MYSQL, "key": "SELECT HEX(KDF('foo', 'bar', 2000000000, 'pbkdf2_hmac', 512))"},
    Dialect.POSTGRESQL: {
        "position": f"SELECT position({_PG_NEEDLE} in {_PG_HAY})",
        "replace": f"SELECT length(replace({_PG_HAY}, {_PG_NEEDLE}, ''))",
        "split_part": f"SELECT length(split_part({_PG_HAY}, {_PG_NEEDLE}, 2))",
        "normalize": "SELECT length(normalize(repeat(chr(803) || chr(775), 1000000), NFC))",
        "distance": "SELECT p <-> p FROM (SELECT ('(' || repeat('(1,1),', 1000000) || '(0,0))')::path AS p)"
        " AS t",
        "xpath": f"SELECT xpath('{_COUNTED}', concat('{_LETTERS}')::xml)".replace("REPEAT", "repeat"),
    },
}
"""By kind: none looks whether it was told to stop."""

SLEEP = {
    Dialect.MYSQL: "SELECT SLEEP(3), '{}'",
    Dialect.MARIADB: "SELECT SLEEP(3), '{}'",
    Dialect.POSTGRESQL: "SELECT pg_sleep(3), '{}'",
}
_THREADS = "SELECT {} FROM information_schema.processlist WHERE user LIKE 'bird_reader%' AND info IS NOT NULL"
RUNNING = {
    Dialect.MYSQL: _THREADS.format("info"),
    Dialect.MARIADB: _THREADS.format("info"),
    Dialect.POSTGRESQL: "SELECT query FROM pg_stat_activity WHERE usename = 'bird_reader'"
    " AND coalesce(state, '') <> 'idle' AND wait_event_type IS DISTINCT FROM 'Client'",
}


@pytest.fixture(params=list(GOES_ON), scope="module")
def held(request: pytest.FixtureRequest) -> Iterator[Victim]:
    """A native server of each kind in turn, with little memory; the harness starts it again."""
    dialect: Dialect = request.param
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("MYSQL_MEMORY", "2g")
        patched.setenv("MARIADB_MEMORY", "2g")
        try:
            with victim(dialect, is_native=True) as found:
                yield found
        except EngineUnavailable as error:
            skip(Reason[f"NO_{dialect.name}"], str(error))


@pytest.fixture(scope="module")
def books(held: Victim) -> Database:
    questions = load_set("sample").limit(1)
    [found] = [questions.database(db_id) for db_id in questions.db_ids]
    load([found], held.server)
    if held.server.dialect is Dialect.POSTGRESQL:
        # Lets the tests see what runs, which the reading role itself may not.
        held.ask("ALTER ROLE bird_reader IN DATABASE bird_sample SET track_activities = on")
    return found


def process(of: Victim) -> tuple[int, str]:
    known = ServerState.read(of.folder / of.server.dialect / "server.json")
    assert known is not None
    return known.pid, known.identity


def test_what_goes_on_after_its_limit_is_ended_on_the_server(held: Victim, books: Database) -> None:
    texts = GOES_ON[held.server.dialect]
    run = partial(_run, held, books)
    with ThreadPoolExecutor(len(texts)) as pool:
        found = dict(zip(texts, pool.map(run, texts.values()), strict=True))
    assert {kind: each.ending for kind, each in found.items()} == dict.fromkeys(texts, Ending.TIMEOUT)
    assert any(each.overrun for each in found.values())
    assert run("SELECT 1").rows == ((1,),), "it answers again"
    assert [text for text in held.ask(RUNNING[held.server.dialect]) if text in texts.values()] == []


def _run(held: Victim, books: Database, sql: str, limits: Limits = LIMITS) -> Execution:
    return execute_patiently(on_server(held.server), books, sql, limits)


MEMORY = {
    "buffer": "SELECT ST_Buffer(ST_GeomFromText("
    "CONCAT('MULTIPOINT(0 0', REPEAT(',1 1,0 1', 800), ')')), 5) IS NULL",
    "distance": "SELECT ST_FrechetDistance("
    + ", ".join(["ST_GeomFromText(CONCAT('LINESTRING(0 0', REPEAT(',1 1,0 1', 20000), ')'))"] * 2)
    + ")",
}


@pytest.mark.parametrize("held", [Dialect.MYSQL], indirect=True, scope="module")
def test_a_text_that_takes_the_servers_memory_is_too_large_and_the_server_goes_on(
    held: Victim, books: Database
) -> None:
    before, limits = process(held), Limits(seconds=60)
    assert _run(held, books, MEMORY["distance"], limits).ending is Ending.TOO_LARGE
    with ThreadPoolExecutor(2) as pool:
        large = pool.submit(_run, held, books, MEMORY["buffer"], Limits(seconds=3))
        while not large.done():
            assert _run(held, books, HONEST, limits).ending is Ending.ROWS
            time.sleep(0.2)
    assert large.result().ending in {Ending.TOO_LARGE, Ending.TIMEOUT}
    assert _peak(before[0]) < 2 * 2**30


def _peak(pid: int) -> int:
    """Most bytes that a process had, or 0 if it has ended."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0


@contextmanager
def killing(held: Victim) -> Iterator[list[int]]:
    """End the server whenever it runs a text with the mark, and list the processes that were ended."""
    ended: list[int] = []
    is_over = Event()

    def watch() -> None:
        while not is_over.wait(0.02):
            with suppress(psycopg.Error, pymysql.Error, OSError):
                if any(MARK in text for text in held.ask(RUNNING[held.server.dialect])):
                    pid, _ = process(held)
                    for each in (pid, *children(pid)):
                        with suppress(ProcessLookupError):
                            os.kill(each, 9)
                    ended.append(pid)

    thread = Thread(target=watch)
    thread.start()
    try:
        yield ended
    finally:
        is_over.set()
        thread.join()


def test_a_text_under_which_its_server_dies_twice_is_to_blame_and_others_are_not(
    held: Victim, books: Database
) -> None:
    sleep = SLEEP[held.server.dialect]
    run = partial(_run, held, books, limits=Limits(seconds=20))
    with killing(held) as ended, ThreadPoolExecutor(2) as pool:
        neighbour = pool.submit(run, sleep.format("beside it"))
        found = run(sleep.format(MARK))
        assert neighbour.result().ending is Ending.ROWS
        assert run(HONEST).ending is Ending.ROWS, "nobody but the harness has started the server"
    assert found.ending is Ending.ERROR
    assert (found.error or "").startswith("it ends its server: ")
    assert len(set(ended)) == 2, "once beside others, and once alone"


@pytest.mark.parametrize("held", [Dialect.MYSQL, Dialect.POSTGRESQL], indirect=True, scope="module")
def test_a_run_goes_on_after_such_texts_and_tells_of_them(
    held: Victim, books: Database, tmp_path: Path
) -> None:
    del books  # loaded
    dialect = held.server.dialect
    name = f"predict_sample_careless_{dialect}.json"
    answers = json.loads((PREDICTIONS / name).read_text(encoding="utf-8"))
    bad = tmp_path / name.replace("careless", "endless")
    key, texts = next(iter(answers)), list(GOES_ON[dialect].values())
    bad.write_text(json.dumps({key: f"{texts[-1]}\t----- bird -----\tcity_library"}), encoding="utf-8")
    shared = (
        f"--dialect={dialect}", "--limit=18", "--allow-missing", "--timeout=1", "--workers=2", "--no-cache",
    )  # fmt: skip
    alone, beside = (
        forked.run(
            "harness", "eval", *(f"--predictions={path}" for path in paths), *shared, f"--out={out}",
            cwd=tmp_path, env=held.environment,
        )
        for out, paths in (("alone", [PREDICTIONS / name]), ("beside", [PREDICTIONS / name, bad]))
    )  # fmt: skip
    assert (alone.returncode, beside.returncode) == (0, 0), beside.stdout
    results = read_results(tmp_path / "beside" / LATEST)
    outcomes = {each.outcome for each in results if each.predictor == "endless"}
    assert outcomes == {Outcome.PREDICTION_TIMEOUT, Outcome.MISSING}
    honest = {each.question: (each.outcome, each.scores) for each in results if each.predictor == "careless"}
    assert honest == {
        each.question: (each.outcome, each.scores) for each in read_results(tmp_path / "alone" / LATEST)
    }
    assert f"{dialect}: 1 text went on for " in beside.stdout
    overruns = read_manifest(tmp_path / "beside" / LATEST)["overruns"]
    assert overruns[dialect]["texts"] == 1
    assert "went on" not in alone.stdout
    assert read_manifest(tmp_path / "alone" / LATEST)["overruns"] == {}


def test_a_server_that_was_stopped_on_purpose_is_not_started_by_a_text(held: Victim, books: Database) -> None:
    held.stop()
    try:
        assert not native.revive(held.server.dialect, home=Path(held.server.home))
        assert native.running(held.server.dialect, home=Path(held.server.home)) is None
    finally:
        held.start()
    assert _run(held, books, HONEST).ending is Ending.ROWS
