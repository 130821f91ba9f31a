"""What is asked twice is executed once: at the same time, later, and in another run."""

import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from types import FrameType

import pytest

from dialects.enums import Dialect
from harness.data.outcomes import Judgement, Outcome
from harness.data.questions import Question
from harness.data.sets.loader import load_set
from harness.engines import on_server
from harness.engines.base import Engine
from harness.engines.execution import Limits
from harness.engines.sqlite.engine import SQLiteEngine
from harness.scoring import scheduler as module
from harness.scoring.cache import CacheKeys, Lifetime, Lookup
from harness.scoring.golds import Golds
from harness.scoring.judge import Judge
from harness.scoring.scheduler import Candidate, Scheduler
from harness.scoring.tasks import JudgeResult, JudgeTask, Setup
from harness.scoring.tasks import decode_execution as decode
from loaders.base.store import EntryKind, Store
from loaders.bulk_load import load
from loaders.server import Server


class Interrupting:
    """Raises at the n-th line of this call that the scheduler runs without its lock, as Ctrl-C may.

    With the lock it would come between the last line and the release, which Python leaves to nobody.
    """

    def __init__(self, scheduler: Scheduler, lines: int) -> None:
        self._lock = scheduler._lock
        self.left = lines

    def __call__(self, frame: FrameType, event: str, _argument: object) -> "Interrupting | None":
        if frame.f_code.co_filename != module.__file__:
            return None
        if event == "line" and not self._lock.locked():
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
        return self


class NotingWorkers:
    """Judges in this thread, when it is let to, and keeps the tasks."""

    def __init__(self, setup: Setup) -> None:
        self._judge = Judge(setup, {Dialect.SQLITE: SQLiteEngine()})
        self._waiting: list[tuple[JudgeTask, Future[JudgeResult]]] = []
        self.tasks: list[JudgeTask] = []
        self.holds = False

    def at_once(self, task: JudgeTask) -> None:
        pass

    def submit(self, task: JudgeTask) -> Future[JudgeResult]:
        self.tasks.append(task)
        future: Future[JudgeResult] = Future()
        self._waiting.append((task, future))
        if not self.holds:
            self.release()
        return future

    def release(self) -> None:
        for task, future in self._waiting:
            future.set_result(self._judge.judge(task))
        self._waiting.clear()

    def close(self) -> None:
        pass


@pytest.fixture(scope="module")
def setup() -> Setup:
    return Setup(load_set("sample"), {Dialect.SQLITE: ()})


Open = Callable[[], tuple[Scheduler, NotingWorkers]]


@pytest.fixture
def opened(setup: Setup, tmp_path: Path) -> Open:
    def opened(store: Path = tmp_path / "store.sqlite") -> tuple[Scheduler, NotingWorkers]:
        workers = NotingWorkers(setup)
        return Scheduler(setup, lambda: workers, store=Store(store, say=pytest.fail)), workers

    return opened


def question(setup: Setup, place: int = 0) -> Question:
    return setup.questions.questions[place]


def ask(scheduler: Scheduler, *asked: tuple[Question, str]) -> list[Judgement]:
    futures = scheduler.begin([Candidate(each, Dialect.SQLITE, sql) for each, sql in asked])
    return [future.result(60) for future in futures]


def test_equal_texts_of_one_call_are_one_and_a_question_is_one_task(setup: Setup, opened: Open) -> None:
    scheduler, workers = opened()
    first, second = question(setup), question(setup, 1)
    ask(scheduler, (first, "SELECT 1"), (second, "SELECT 1"), (first, "SELECT 1"), (first, "SELECT 2"))
    assert [(task.question.key, task.texts) for task in workers.tasks] == [
        (first.key, ("SELECT 1", "SELECT 2")),
        (second.key, ("SELECT 1",)),
    ]


def test_a_text_that_is_being_judged_is_not_judged_again(setup: Setup, opened: Open) -> None:
    scheduler, workers = opened()
    workers.holds = True
    asked = Candidate(question(setup), Dialect.SQLITE, "SELECT 1")
    [early] = scheduler.begin([asked])
    [late] = scheduler.begin([Candidate(question(setup), Dialect.SQLITE, "SELECT 1")])
    assert not early.done()
    workers.release()
    assert early.result(60) == late.result(60)
    assert len(workers.tasks) == 1


def test_what_is_known_is_not_put_on_a_task_in_this_run_or_in_the_next(setup: Setup, opened: Open) -> None:
    scheduler, workers = opened()
    [before] = ask(scheduler, (question(setup), "SELECT 1"))
    assert ask(scheduler, (question(setup), "SELECT 1")) == [before]
    scheduler.close()
    later, others = opened()
    assert ask(later, (question(setup), "SELECT 1")) == [before]
    assert (len(workers.tasks), others.tasks) == (1, [])


def test_what_was_answered_is_kept_before_the_store_is_closed(
    setup: Setup, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduler, workers = opened()
    workers.holds = True
    [future] = scheduler.begin([Candidate(question(setup), Dialect.SQLITE, "SELECT 1")])
    answered, keep = Event(), Lookup.store

    def slowly(lookup: Lookup, values: Mapping[bytes, bytes], kind: EntryKind) -> None:
        answered.set()
        time.sleep(0.2)
        keep(lookup, values, kind)

    monkeypatch.setattr(Lookup, "store", slowly)
    thread = Thread(target=workers.release)
    thread.start()
    assert answered.wait(60)
    assert future.done()
    scheduler.close()
    thread.join()
    later, others = opened()
    ask(later, (question(setup), "SELECT 1"))
    assert others.tasks == []


def test_gold_is_known_to_the_next_task_of_a_question(setup: Setup, opened: Open) -> None:
    scheduler, workers = opened()
    ask(scheduler, (question(setup), "SELECT 1"))
    ask(scheduler, (question(setup), "SELECT 2"))
    first, second = workers.tasks
    assert not first.reusable.golds
    assert decode(second.reusable.golds[0]).rows


def test_other_metrics_are_computed_from_executions_that_are_known(setup: Setup, tmp_path: Path) -> None:
    asked = (question(setup), "SELECT 1")
    tasks = []
    for metrics in (("ex",), ("ex", "soft_f1_aligned")):
        other = Setup(setup.questions, setup.servers, metrics=metrics)
        workers = NotingWorkers(other)
        store = Store(tmp_path / "store.sqlite", say=pytest.fail)
        scheduler = Scheduler(other, lambda workers=workers: workers, store=store)  # type: ignore[misc]
        [judgement] = ask(scheduler, asked)
        assert set(judgement.scores) == set(metrics)
        scheduler.close()
        tasks += workers.tasks
    assert set(tasks[1].reusable.executions) == {"SELECT 1"}
    assert set(tasks[1].reusable.golds) == {0}


@pytest.mark.parametrize("sql", ["SELECT random()", "SELECT datetime('now')"])
def test_what_chance_or_the_clock_decides_is_never_known(setup: Setup, opened: Open, sql: str) -> None:
    scheduler, workers = opened()
    for _ in range(2):
        ask(scheduler, (question(setup), sql))
    assert [task.reusable.executions for task in workers.tasks] == [{}, {}]
    scheduler.close()
    scheduler, workers = opened()
    ask(scheduler, (question(setup), sql))
    assert len(workers.tasks) == 1


@pytest.mark.parametrize(
    ("sql", "is_known"),
    [
        ("SELECT random(), nme FROM nowhere", True),
        ("SELECT datetime('now'", True),
        ("SELECT datetime('now'); SELECT 2", True),
        # These fail while they run, which they may not do at another moment.
        ("SELECT abs(-9223372036854775808 + 0 * random())", False),
        ("SELECT json_extract(datetime('now'), '$')", False),
    ],
)
def test_an_error_on_reading_a_text_is_known_whatever_it_asks(
    setup: Setup, opened: Open, sql: str, *, is_known: bool
) -> None:
    answers = []
    for executed in (1, 0 if is_known else 1):
        scheduler, workers = opened()
        answers += ask(scheduler, (question(setup), sql), (question(setup), "SELECT 1"))
        assert sum(len(task.texts) for task in workers.tasks) == (2 if not answers[2:] else executed)
        scheduler.close()
    assert answers[0].outcome is Outcome.PREDICTION_ERROR
    assert answers[0].error == answers[2].error
    assert (answers[0] == answers[2]) >= is_known


def test_what_asks_for_the_date_is_known_for_the_day(
    setup: Setup, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduler, workers = opened()
    sql = "SELECT strftime('%Y', 'now')"
    for day, tasks in (("2026-12-31", 1), ("2026-12-31", 1), ("2027-01-01", 2)):
        monkeypatch.setattr(module, "today", lambda day=day: day)
        ask(scheduler, (question(setup), sql))
        assert len(workers.tasks) == tasks


@pytest.mark.parametrize(
    ("zone", "is_kept"), [({"time_zone": "+00:00"}, True), ({"TimeZone": "UTC"}, True), ({}, True)]
    + [({"time_zone": zone}, False) for zone in ("SYSTEM", "+02:00", "Europe/Berlin")],
)  # fmt: skip
def test_a_day_is_one_in_utc(setup: Setup, zone: dict[str, str], *, is_kept: bool) -> None:
    engine = SQLiteEngine()
    engine.settings = lambda: zone  # type: ignore[method-assign]
    keys = CacheKeys(setup, Golds(setup.questions, [Dialect.SQLITE], Limits()), {Dialect.SQLITE: engine})
    expected = Lifetime.TODAY if is_kept else Lifetime.NEVER
    assert keys.lifetime(Dialect.SQLITE, "SELECT CURRENT_DATE") is expected


def test_harness_errors_are_not_kept(setup: Setup, tmp_path: Path) -> None:
    class Broken(NotingWorkers):
        def submit(self, task: JudgeTask) -> Future[JudgeResult]:
            self.tasks.append(task)
            future: Future[JudgeResult] = Future()
            future.set_exception(RuntimeError("no worker"))
            return future

    path = tmp_path / "store.sqlite"
    broken = Broken(setup)
    scheduler = Scheduler(setup, lambda: broken, store=Store(path, say=pytest.fail))
    [judgement] = ask(scheduler, (question(setup), "SELECT 1"))
    assert (judgement.outcome, judgement.error) == (Outcome.HARNESS_ERROR, "RuntimeError: no worker")
    scheduler.close()
    with Store(path, say=pytest.fail) as store:
        assert EntryKind.JUDGEMENT not in store.figures().kinds


def test_what_joins_most_goes_first(setup: Setup, opened: Open) -> None:
    scheduler, workers = opened()
    heavy = "SELECT 1 FROM (SELECT 1) JOIN (SELECT 1) JOIN (SELECT 1)"
    ask(
        scheduler,
        *((question(setup, place), "SELECT 1") for place in range(19)),
        (question(setup, 19), heavy),
    )
    assert [task.question.key for task in workers.tasks[:1]] == [question(setup, 19).key]
    assert len(workers.tasks) == 20


@pytest.mark.slow
def test_an_interrupted_call_leaves_nothing_that_is_waited_for(
    setup: Setup, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduler, _ = opened()
    asked = [Candidate(question(setup), Dialect.SQLITE, f"SELECT 1000 + {number}") for number in range(2)]
    line, was_interrupted = 0, True
    while was_interrupted:
        line += 1
        again = [Candidate(each.question, each.dialect, f"{each.sql} + {line}") for each in asked]
        before = sys.gettrace()
        sys.settrace(Interrupting(scheduler, line))
        try:
            scheduler.begin(again)
        except KeyboardInterrupt:
            pass
        else:
            was_interrupted = False
        finally:
            sys.settrace(before)
        for future in scheduler.begin(again):
            assert future.result(60).outcome is Outcome.MISMATCH, line
    assert line > 40, "each line of it was interrupted"
    monkeypatch.setattr(scheduler._settled, "wait", lambda _seconds: pytest.fail("it waits"))
    scheduler.close()


@pytest.mark.parametrize("name", ["judgements", "gold", "execution", "dated"])
def test_a_call_that_fails_fails_alone(
    setup: Setup, opened: Open, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    scheduler, _ = opened()
    asked = [Candidate(question(setup), Dialect.SQLITE, "SELECT date('now')")]

    def fail(*_arguments: object) -> None:
        raise OSError("no room")

    with monkeypatch.context() as patched:
        patched.setattr(CacheKeys, name, fail)
        with pytest.raises(OSError, match="no room"):
            scheduler.begin(asked)
    [future] = scheduler.begin(asked)
    assert future.result(60).outcome is Outcome.MISMATCH
    scheduler.close()


def test_what_cannot_be_noted_is_answered_all_the_same(
    setup: Setup, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduler, _ = opened()

    def fail(*_arguments: object) -> None:
        raise OSError("no room")

    monkeypatch.setattr(module, "_worth_keeping", fail)
    [future] = scheduler.begin([Candidate(question(setup), Dialect.SQLITE, "SELECT 12")])
    assert future.result(60).outcome is Outcome.MISMATCH
    scheduler.close()


class FailingWorkers:
    """Every task fails without a text to blame."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup

    def at_once(self, task: JudgeTask) -> None:
        pass

    def submit(self, task: JudgeTask) -> Future[JudgeResult]:
        future: Future[JudgeResult] = Future()
        future.set_result(JudgeResult(dict.fromkeys(task.texts, self._setup.broken(task.dialect, "broken"))))
        return future

    def close(self) -> None:
        pass


@pytest.mark.engine
@pytest.mark.parametrize("answers", [True, False])
def test_a_server_is_given_up_only_if_it_does_not_answer_the_harness_either(
    postgresql_server: Server,
    answers: bool,  # noqa: FBT001 - a value of the table
) -> None:
    questions = load_set("sample")
    load([questions.database(db_id) for db_id in questions.db_ids], postgresql_server)
    setup = Setup(questions, {Dialect.POSTGRESQL: (postgresql_server,)})
    server = postgresql_server if answers else replace(postgresql_server, reader_user="nobody_at_all")
    engines: dict[str, Engine] = {Dialect.POSTGRESQL: on_server(server)}
    scheduler = Scheduler(setup, lambda: FailingWorkers(setup), engines=engines)
    asked = [Candidate(each, Dialect.POSTGRESQL, "SELECT 1") for each in questions.questions[:8]]
    found = [future.result(60) for future in scheduler.begin(asked)]
    assert {each.outcome for each in found} == {Outcome.HARNESS_ERROR}
    assert scheduler.failed == ({} if answers else {Dialect.POSTGRESQL: "broken"})
    scheduler.close()
