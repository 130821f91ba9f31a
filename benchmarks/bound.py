"""The bound: every distinct text executed once by the plain driver, its rows fetched and put into a set.

No evaluator with these drivers can do less: no session is made as new, no row is compared or kept. Each
process has one connection for each database, of the account that reads, and takes the next text when it has
finished one. A text that takes longer than the limit is cancelled.
"""

import contextlib
import multiprocessing
import time
from collections.abc import Callable, Sequence
from multiprocessing.sharedctypes import Synchronized
from threading import Event, Thread
from typing import Any

import psycopg

from benchmarks.naive import OPEN, Opened, server_of
from harness.engines import dialect_of
from harness.session.plan import Pair, Plan

_LOOK_SECONDS = 0.2


def run(plan: Plan, pairs: Sequence[Pair], workers: int) -> int:
    """Execute the distinct texts of the pairs and of their golds; return how many there are."""
    texts = _distinct(plan, pairs)
    execute(plan, texts, workers)
    return len(texts)


def execute(plan: Plan, texts: Sequence[tuple[Pair, str]], workers: int) -> None:
    """Execute texts, each as one for its pair."""
    context = multiprocessing.get_context("fork")
    place = context.Value("l", 0)
    processes = [context.Process(target=_execute, args=(plan, texts, place)) for _ in range(workers)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert not any(process.exitcode for process in processes), "a process of the bound failed"


def _distinct(plan: Plan, pairs: Sequence[Pair]) -> list[tuple[Pair, str]]:
    """The texts, question by question as in the harness's tasks, each with one of its pairs."""
    places = {question.key: place for place, question in enumerate(plan.questions.questions)}
    found: dict[tuple[str, str, str], tuple[Pair, str]] = {}
    for pair in sorted(pairs, key=lambda pair: places[pair.question.key]):
        for sql in (pair.question.gold[dialect_of(pair.dialect)], pair.sql):
            if sql is not None:
                found.setdefault((pair.dialect, pair.question.db_id, sql), (pair, sql))
    return list(found.values())


def _execute(plan: Plan, texts: Sequence[tuple[Pair, str]], place: "Synchronized[int]") -> None:
    """Execute the next text until there is none left."""
    opened: dict[tuple[str, str], Opened] = {}
    watch = _Watch()
    while True:
        with place.get_lock():
            number, place.value = place.value, place.value + 1
        if number >= len(texts):
            return
        pair, sql = texts[number]
        of = pair.dialect, pair.question.db_id
        if of not in opened:
            opened[of] = _open(plan, pair)
        connection, watch.cancel = opened[of]
        watch.due = time.monotonic() + plan.request.seconds
        try:
            _fetch(connection, sql)
        except Exception:  # noqa: BLE001 - an error is as good as rows: the text has been executed
            if getattr(connection, "closed", False) or not getattr(connection, "open", True):
                del opened[of]
        watch.due = float("inf")


def _open(plan: Plan, pair: Pair) -> Opened:
    database = plan.questions.database(pair.question.db_id, plan.request.profile)
    connection, cancel = OPEN[dialect_of(pair.dialect)](server_of(plan, pair), database)
    if isinstance(connection, psycopg.Connection):
        connection.autocommit = True
    return connection, cancel


def _fetch(connection: Any, sql: str) -> None:
    cursor = connection.cursor()
    cursor.execute(sql.encode() if isinstance(connection, psycopg.Connection) else sql)
    set(cursor.fetchall())


class _Watch:
    """Cancels what runs when its time is up."""

    def __init__(self) -> None:
        self.due = float("inf")
        self.cancel: Callable[[], object] = lambda: None
        Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while not Event().wait(_LOOK_SECONDS):
            if time.monotonic() > self.due:
                with contextlib.suppress(Exception):
                    self.cancel()
