"""A naive evaluator in the manner of the official scripts, to measure the harness against.

A `multiprocessing.Pool` of workers, one pass per metric, and in each pass a connection of its own for every
pair, on which the prediction and then gold are executed and fetched whole. One limit of 30 s holds for both
together. R-VES compares the rows once more and then times both 100 times, each execution on a new connection.
The drivers, the account that reads and the functions that score are the harness's own.
https://github.com/bird-bench/mini_dev/tree/main/evaluation
"""

import contextlib
import multiprocessing
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import sqrt
from threading import Event, Timer
from typing import Any

import duckdb
import psycopg
import pymysql

from dialects.enums import Dialect, Profile
from dialects.errors import BadInput
from harness.data.questions import QuestionSet
from harness.engines import dialect_of, kind_of
from harness.metrics.accuracy import ex
from harness.metrics.efficiency import official_tau, reward
from harness.metrics.soft_f1 import soft_f1
from harness.session.plan import Pair, Plan
from loaders.duckdb.functions import install
from loaders.duckdb.session import file_of
from loaders.namespace import Database, namespace
from loaders.server import Server

ITERATIONS = 100
"""How often R-VES times a pair; also by how many times it lengthens the limit."""

PASSES = ("ex", "soft_f1", "r_ves")
"""The metrics that there are published scripts for."""

_SCORES = {"ex": ex, "soft_f1": soft_f1}


@dataclass(frozen=True)
class Attempt:
    """What one pass made of one pair; `score` is None where the time limit ended it."""

    score: float | None
    executions: int


class Naive:
    """The evaluator.

    Args:
        plan: what to evaluate; only its questions, pairs and servers are used.
        pairs: the pairs of it that count.

    Raises:
        BadInput: a question has no published gold in a pair's dialect.
    """

    def __init__(self, plan: Plan, pairs: Sequence[Pair]) -> None:
        self._pairs = pairs
        self._task = _Task(
            plan.questions,
            {dialect_of(pair.dialect): server_of(plan, pair) for pair in pairs},
            plan.request.profile,
            plan.request.seconds,
        )
        lacking = [pair for pair in pairs if dialect_of(pair.dialect) not in pair.question.gold]
        if lacking:
            raise BadInput(
                f"{lacking[0].name}: no gold is published for it, and the naive evaluator has no other; "
                "choose another --dialect"
            )

    def run(self, metric: str, workers: int) -> list[Attempt]:
        """One pass over all pairs, in their order."""
        context = multiprocessing.get_context("fork")
        with context.Pool(workers, _begin, (self._task, self._pairs)) as pool:
            return pool.map(partial(_attempt, metric), range(len(self._pairs)), chunksize=1)


@dataclass(frozen=True)
class _Task:
    """What the workers know of the run."""

    questions: QuestionSet
    servers: dict[Dialect, Server | None]
    profile: Profile
    seconds: float


def server_of(plan: Plan, pair: Pair) -> Server | None:
    """The server that a pair runs on."""
    embedded = kind_of(pair.dialect).embedded
    return embedded() if embedded else getattr(plan.scheduler.engines[pair.dialect], "server", None)


class _TimeIsUp(Exception):
    """The limit of a pair ended a statement."""


_given: tuple[_Task, Sequence[Pair]]
"""In a worker: what it was started with."""


def _begin(task: _Task, pairs: Sequence[Pair]) -> None:
    global _given  # noqa: PLW0603 - how a Pool's workers keep what they were started with
    _given = task, pairs


def _attempt(metric: str, number: int) -> Attempt:
    task, pairs = _given
    pair = pairs[number]
    if pair.sql is None:
        return Attempt(0.0, 0)
    texts = pair.sql, pair.question.gold[dialect_of(pair.dialect)]
    run = _Run(partial(_connected, task, pair), texts)
    try:
        score = run.efficiency(task.seconds) if metric == "r_ves" else run.compared(metric, task.seconds)
    except _TimeIsUp:
        score = None
    except Exception:  # noqa: BLE001 - as in the scripts: whatever goes wrong scores 0
        score = 0.0
    return Attempt(score, run.executions)


class _Run:
    """The executions of one pair in one pass."""

    def __init__(
        self, connected: Callable[[float], contextlib.AbstractContextManager[Any]], texts: Sequence[str]
    ) -> None:
        self._connected = connected
        self._texts = texts
        self.executions = 0

    def compared(self, metric: str, seconds: float) -> float:
        """The score of the rows."""
        with self._connected(seconds) as connection:
            predicted, expected = (self._fetched(connection, text) for text in self._texts)
        return _SCORES[metric](predicted, expected)

    def efficiency(self, seconds: float) -> float:
        """The script's R-VES."""
        due = time.monotonic() + ITERATIONS * seconds
        if self.compared("ex", ITERATIONS * seconds) == 0.0:
            return 0.0
        times: list[float] = []
        for _ in range(ITERATIONS):
            for text in self._texts:
                with self._connected(max(0.0, due - time.monotonic())) as connection:
                    started = time.perf_counter()
                    self._fetched(connection, text)
                    times.append(time.perf_counter() - started)
        ratios = [gold / prediction for prediction, gold in zip(times[::2], times[1::2], strict=True)]
        return sqrt(reward(official_tau(ratios)))

    def _fetched(self, connection: Any, text: str) -> Sequence[tuple[object, ...]]:
        self.executions += 1
        cursor = connection.cursor()
        if isinstance(connection, psycopg.Connection):
            # psycopg2, which the scripts use, returns the last statement's rows.
            cursor.execute(text.encode())
            cursor.set_result(-1)
        else:
            cursor.execute(text)
        rows: Sequence[tuple[object, ...]] = cursor.fetchall()
        return rows


@contextlib.contextmanager
def _connected(task: _Task, pair: Pair, seconds: float) -> Iterator[Any]:
    """A connection that is cancelled when the time is up; then leaving it raises `_TimeIsUp`."""
    database = task.questions.database(pair.question.db_id, task.profile)
    connection, cancel = OPEN[dialect_of(pair.dialect)](task.servers[dialect_of(pair.dialect)], database)
    is_over = Event()

    def stop() -> None:
        is_over.set()
        with contextlib.suppress(Exception):
            cancel()

    timer = Timer(seconds, stop)
    timer.start()
    try:
        yield connection
    except Exception:
        if is_over.is_set():
            raise _TimeIsUp from None
        raise
    finally:
        timer.cancel()
        connection.close()
    # MySQL's SLEEP is stopped without an error.
    if is_over.is_set():
        raise _TimeIsUp


Opened = tuple[Any, Callable[[], object]]
"""A connection, and what stops its statement from another thread."""


def _open_sqlite(server: Server | None, database: Database) -> Opened:
    del server
    connection = sqlite3.connect(database.sqlite_path, check_same_thread=False)
    return connection, connection.interrupt


def _open_mysql(server: Server | None, database: Database) -> Opened:
    assert server is not None

    def connect(name: str | None) -> Any:
        return pymysql.connect(
            host=server.host, port=server.port, user=server.reader_user, password=server.reader_password,
            database=name, charset="utf8mb4", ssl_disabled=server.is_local,
        )  # fmt: skip

    connection = connect(namespace(database, server.dialect)[0])

    def cancel() -> None:
        with connect(None) as other, other.cursor() as cursor:
            cursor.execute(f"KILL QUERY {connection.thread_id()}")

    return connection, cancel


def _open_postgresql(server: Server | None, database: Database) -> Opened:
    assert server is not None
    connection = psycopg.connect(
        host=server.host, port=server.port, user=server.reader_user, password=server.reader_password,
        dbname=database.postgresql_database, options=f'-c search_path="{database.postgresql_schema}"',
    )  # fmt: skip
    return connection, connection.cancel


def _open_duckdb(server: Server | None, database: Database) -> Opened:
    assert server is not None
    connection = duckdb.connect(file_of(server, database), read_only=True, config={"threads": 1})
    install(connection)  # translated golds call SQLite's functions
    return connection, connection.interrupt


OPEN: dict[Dialect, Callable[[Server | None, Database], Opened]] = {
    Dialect.SQLITE: _open_sqlite,
    Dialect.MYSQL: _open_mysql,
    Dialect.POSTGRESQL: _open_postgresql,
    Dialect.MARIADB: _open_mysql,
    Dialect.DUCKDB: _open_duckdb,
}
"""Opens a connection of the plain driver, by dialect."""
