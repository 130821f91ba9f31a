"""How pairs are timed on real servers: with the server's own clock, within limits, apart from each other."""

import dataclasses
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest

from dialects.enums import Dialect
from harness.data.questions import QuestionSet
from harness.engines import on_server
from harness.engines.execution import Ending, Limits, execute
from harness.metrics.efficiency import LOOKS, Clock, Timing
from harness.scoring.tasks import Setup, TimeTask, TimingMethod
from harness.scoring.timing import ITERATIONS, measure
from harness.scoring.workers import LocalWorkers
from loaders.bulk_load import load
from loaders.namespace import Database
from loaders.server import Origin, Server
from tests.loaders.servers import ask
from tests.sqlite_files import sqlite_file
from tests.watching import Watched, in_turn

pytestmark = [pytest.mark.engine, pytest.mark.thorough]


@pytest.fixture(scope="session")
def database(tmp_path_factory: pytest.TempPathFactory) -> Database:
    path = sqlite_file(
        tmp_path_factory.mktemp("timing") / "numbers" / "numbers.sqlite",
        "CREATE TABLE number (n INTEGER)",
        number=[(n,) for n in range(1000)],
    )
    return Database("bird_timing_tests", "numbers", path)


def timed(
    server: Server, database: Database, prediction: str, gold: str, limits: Limits | None = None
) -> Timing:
    load([database], server)
    return measure(on_server(server), database, prediction, gold, TimingMethod.STABLE, limits or Limits())


SLEEP: Mapping[Dialect, str] = {
    Dialect.MYSQL: "SELECT SLEEP({})",
    Dialect.POSTGRESQL: "SELECT pg_sleep({})",
}


@pytest.mark.parametrize(("prediction", "gold", "reward"), [(0.02, 0.06, 1.25), (0.06, 0.02, 0.5)])
def test_a_third_of_the_time_is_told_apart(
    server: Server, database: Database, prediction: float, gold: float, reward: float
) -> None:
    sleep = SLEEP[server.dialect]
    timing = timed(server, database, sleep.format(prediction), sleep.format(gold))
    assert (timing.reward, timing.error) == (reward, None)
    assert timing.samples in LOOKS
    assert timing.executions == 2 * timing.samples + 2
    if server.origin is not Origin.DSN:
        assert timing.clock is Clock.SERVER


def test_work_is_told_apart_from_hardly_any(server: Server, database: Database) -> None:
    heavy = "SELECT COUNT(*) > 0 FROM number a, number b WHERE a.n + b.n > 900"
    light = "SELECT COUNT(*) > 0 FROM number a WHERE a.n > 900"
    assert timed(server, database, light, heavy).reward == 1.25
    assert timed(server, database, heavy, light).reward == 0.25


def test_the_same_text_is_not_run(server: Server, database: Database) -> None:
    sleep = SLEEP[server.dialect].format(60)
    timing = timed(server, database, f"{sleep};\n", sleep)
    assert (timing.tau, timing.executions, timing.clock) == (1.0, 0, Clock.IDENTICAL)


@pytest.mark.parametrize(
    ("dialect", "prediction"),
    [
        (Dialect.MYSQL, "SELECT SLEEP(60)"),
        (Dialect.MYSQL, "SELECT /*+ MAX_EXECUTION_TIME(60000) */ SLEEP(60)"),
        (Dialect.POSTGRESQL, "SELECT pg_sleep(60)"),
        (Dialect.POSTGRESQL, "SET statement_timeout = 0; SELECT pg_sleep(60)"),
    ],
)
def test_a_prediction_that_is_endless_while_it_is_timed_is_stopped(
    request: pytest.FixtureRequest, database: Database, dialect: Dialect, prediction: str
) -> None:
    server: Server = request.getfixturevalue(f"{dialect}_server")
    timing = timed(server, database, prediction, "SELECT 1", Limits(seconds=0.5))
    assert timing.error == "the prediction took longer than 0.5 s while it was timed"
    assert (timing.reward, timing.executions) == (0.0, 1)


def test_nothing_that_the_prediction_sets_reaches_gold(postgresql_server: Server, database: Database) -> None:
    prediction = "SET search_path TO nowhere; SELECT 1000"
    timing = timed(postgresql_server, database, prediction, "SELECT COUNT(*) FROM number")
    assert timing.error is None


def test_a_server_that_does_not_count_is_timed_by_the_client(
    mysql_server: Server, database: Database
) -> None:
    def switch(enabled: str) -> None:
        ask(
            mysql_server,
            None,
            f"UPDATE performance_schema.setup_consumers SET enabled = '{enabled}'"
            " WHERE name = 'events_statements_cpu'",
        )

    switch("NO")
    try:
        assert timed(mysql_server, database, "SELECT 1", "SELECT 1 + 0").clock is Clock.CLIENT
    finally:
        switch("YES")
    assert timed(mysql_server, database, "SELECT 1", "SELECT 1 + 0").clock is Clock.SERVER


def test_the_extension_is_created_on_servers_of_the_harness_only(
    postgresql_server: Server, database: Database
) -> None:
    ask(postgresql_server, None, "DROP EXTENSION IF EXISTS pg_stat_statements")
    somebodys = dataclasses.replace(postgresql_server, origin=Origin.DSN)
    assert timed(somebodys, database, "SELECT 1", "SELECT 1 + 0").clock is Clock.CLIENT
    ours = dataclasses.replace(postgresql_server, origin=Origin.NATIVE)
    assert timed(ours, database, "SELECT 1", "SELECT 1 + 0").clock is Clock.SERVER
    assert timed(somebodys, database, "SELECT 1", "SELECT 1 + 0").clock is Clock.SERVER


def test_what_a_server_of_the_harness_counted_before_is_forgotten(
    postgresql_server: Server, database: Database
) -> None:
    def counted() -> int:
        [(number,)] = ask(postgresql_server, None, "SELECT COUNT(*) FROM pg_stat_statements")
        return int(number)

    timed(postgresql_server, database, "SELECT 1", "SELECT 1 + 0")
    for columns in range(1, 101):
        text = f"SELECT {', '.join(map(str, range(columns)))}"
        assert execute(on_server(postgresql_server), database, text, Limits()).ending is Ending.ROWS
    somebodys = dataclasses.replace(postgresql_server, origin=Origin.DSN)
    timed(somebodys, database, "SELECT 1", "SELECT 1 + 0")
    assert counted() > 100
    timed(dataclasses.replace(postgresql_server, origin=Origin.NATIVE), database, "SELECT 1", "SELECT 1 + 0")
    assert counted() < 100


@pytest.mark.parametrize(
    "table",
    [
        "performance_schema.events_statements_current", "performance_schema.threads",
        "pg_stat_statements", "postgres.public.pg_stat_statements",
    ],
)  # fmt: skip
def test_a_prediction_cannot_read_what_the_server_counts(
    server: Server, database: Database, table: str
) -> None:
    timed(server, database, "SELECT 1", "SELECT 1 + 0")
    execution = execute(on_server(server), database, f"SELECT * FROM {table}", Limits())
    assert execution.ending is Ending.ERROR


SOME, ALL = "SELECT n FROM number WHERE n > 500", "SELECT n FROM number"


@pytest.mark.parametrize("method", TimingMethod)
def test_both_are_run_strictly_in_turn(server: Server, database: Database, method: TimingMethod) -> None:
    load([database], server)
    watched = Watched(on_server(server))
    timing = measure(watched.engine, database, SOME, ALL, method, Limits())
    assert timing.error is None
    assert watched.texts == in_turn(method, timing, SOME, ALL)


@contextmanager
def timer(server: Server, database: Database, limits: Limits | None = None) -> Iterator[LocalWorkers]:
    """The process in which pairs of a run are timed."""
    load([database], server)
    questions = QuestionSet(
        name="timing",
        title="timing",
        collection=database.collection,
        questions=(),
        order={},
        databases=database.sqlite_path.parents[1],
        schemas={},
        files={},
    )
    assert questions.database(database.db_id) == database
    started = LocalWorkers(Setup(questions, {server.dialect: (server,)}, limits=limits or Limits()), 1)
    try:
        yield started
    finally:
        started.close()


@pytest.mark.parametrize("method", TimingMethod)
def test_a_pair_is_timed_in_a_worker_as_often_and_by_the_same_clock(
    server: Server, database: Database, method: TimingMethod
) -> None:
    with timer(server, database) as workers:
        found = workers.submit(TimeTask(server.dialect, database.db_id, SOME, ALL, method)).result()
    here = measure(on_server(server), database, SOME, ALL, method, Limits())
    assert (found.error, found.clock) == (None, here.clock)
    is_official = method is TimingMethod.OFFICIAL
    for timing in found, here:
        assert timing.samples in ({ITERATIONS} if is_official else set(LOOKS))
        assert timing.executions == 2 * timing.samples + (0 if is_official else 2)


def test_what_is_endless_while_it_is_timed_in_a_worker_costs_no_other_pair(
    server: Server, database: Database
) -> None:
    with timer(server, database, Limits(seconds=2)) as workers:
        endless, other = [
            workers.submit(TimeTask(server.dialect, database.db_id, text, ALL, TimingMethod.STABLE))
            for text in (SLEEP[server.dialect].format(60), SOME)
        ]
        assert endless.result().error == "the prediction took longer than 2 s while it was timed"
        assert endless.result().reward == 0.0
        assert other.result().error is None
