"""Worker processes: what a text does to one is that text's outcome, and nobody else's."""

import os
import platform
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from dialects.enums import Dialect
from harness.cache.codec import decode, encode
from harness.data.outcomes import Judgement, Outcome
from harness.data.questions import Difficulty, Question, QuestionSet
from harness.engines.base import EngineLost
from harness.engines.execution import Ending, Execution, Limits
from harness.engines.plans import stopped
from harness.engines.sqlite.engine import SQLiteEngine
from harness.metrics.efficiency import LOOKS
from harness.scoring import workers as module
from harness.scoring.tasks import OPTIONAL, Judged, PlanTask, Setup, Stage, Task, TimingTask
from harness.scoring.timing import ITERATIONS, Method, measure
from harness.scoring.worker_process import HUNG, Noted, digest
from harness.scoring.workers import Died, LocalWorkers

ROOT = Path(__file__).parents[3]
GOLD = "SELECT name FROM animal"
LIMITS = Limits(seconds=0.5)
# One comparison after the other of 3 MB, for hours, and it looks at nothing meanwhile.
UNSTOPPABLE = "SELECT instr(zeroblob(6000000), CAST(zeroblob(3000000) || x'01' AS BLOB))"
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"

SLOW = f"{ENDLESS} WHERE i < 200000".replace("i + 1 FROM n)", "i + 1 FROM n LIMIT 200000)")


@pytest.fixture
def setup(tmp_path: Path) -> Setup:
    path = tmp_path / "databases" / "zoo" / "zoo.sqlite"
    path.parent.mkdir(parents=True)
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE animal (name TEXT)")
    connection.execute("INSERT INTO animal VALUES ('cat'), ('hen')")
    connection.commit()
    connection.close()
    golds = {"1": GOLD, "unstoppable": UNSTOPPABLE}
    questions = tuple(
        Question(key, place, "zoo", "", "", Difficulty.SIMPLE, {Dialect.SQLITE: gold})
        for place, (key, gold) in enumerate(golds.items())
    )
    questions_set = QuestionSet(
        name="zoo",
        title="zoo",
        collection="zoo",
        questions=questions,
        order={Dialect.SQLITE: tuple(golds)},
        databases=tmp_path / "databases",
        schemas={},
        files={},
    )
    return Setup(questions_set, {Dialect.SQLITE: ()}, limits=LIMITS, metrics=("ex",))


@pytest.fixture
def workers(setup: Setup) -> Iterator[LocalWorkers]:
    started = LocalWorkers(setup, 1)
    yield started
    started.close()


def outcomes(workers: LocalWorkers, *texts: str, question: str = "1") -> list[Outcome]:
    judged = workers.submit(Task(Dialect.SQLITE, question, texts)).result(120)
    return [judgement.outcome for judgement in judged.judgements]


def test_a_task_comes_back_with_a_judgement_for_each_text_and_what_was_executed(
    workers: LocalWorkers,
) -> None:
    task = Task(Dialect.SQLITE, "1", ("SELECT name FROM animal WHERE 1", "SELECT 1", "SELECT nme", GOLD))
    judged = workers.submit(task).result(120)
    assert [each.outcome for each in judged.judgements] == [
        Outcome.MATCH, Outcome.MISMATCH, Outcome.PREDICTION_ERROR, Outcome.MATCH,
    ]  # fmt: skip
    assert set(judged.executed) == set(task.texts) - {GOLD}
    assert decode(judged.executed["SELECT 1"]).rows == ((1,),)
    assert decode(judged.golds[0]).rows == (("cat",), ("hen",))


def test_what_is_known_is_not_executed_again(workers: LocalWorkers) -> None:
    known = encode(Execution(Ending.ROWS, (("dog",),), seconds=0.125))
    assert known is not None
    task = Task(Dialect.SQLITE, "1", ("SELECT 1",), {"SELECT 1": known}, {0: known})
    judged = workers.submit(task).result(120)
    [judgement] = judged.judgements
    assert (judgement.outcome, judgement.prediction_seconds, judgement.gold_seconds) == (
        Outcome.MATCH, 0.125, 0.125,
    )  # fmt: skip
    assert (judged.executed, judged.golds) == ({}, {})


def test_a_statement_that_nothing_stops_ends_its_worker_and_is_a_timeout(workers: LocalWorkers) -> None:
    before = outcomes(workers, GOLD), workers.processes
    assert outcomes(workers, "SELECT 1", UNSTOPPABLE, "SELECT name FROM animal WHERE 1") == [
        Outcome.MISMATCH, Outcome.PREDICTION_TIMEOUT, Outcome.MATCH,
    ]  # fmt: skip
    assert workers.processes != before[1]


def test_gold_that_nothing_stops_is_a_gold_timeout(workers: LocalWorkers) -> None:
    assert outcomes(workers, "SELECT 1", "SELECT 2", question="unstoppable") == [Outcome.GOLD_TIMEOUT] * 2


def test_texts_that_hang_decide_nothing_for_others(workers: LocalWorkers) -> None:
    hanging = [UNSTOPPABLE.replace("x'01'", f"x'{number:02x}'") for number in range(1, 5)]
    assert outcomes(workers, *hanging[:2], GOLD, *hanging[2:], "SELECT 1") == [
        *[Outcome.PREDICTION_TIMEOUT] * 2, Outcome.MATCH, *[Outcome.PREDICTION_TIMEOUT] * 2, Outcome.MISMATCH,
    ]  # fmt: skip


def test_what_took_long_is_not_done_again_for_a_text_that_hangs(workers: LocalWorkers) -> None:
    task = Task(Dialect.SQLITE, "1", ("SELECT random() AS honest", SLOW, UNSTOPPABLE))
    first = workers.submit(task).result(120)
    assert decode(first.executed[SLOW]).ending is Ending.ROWS
    assert set(first.golds) == {0}
    assert "SELECT random() AS honest" in first.executed


WIDE = f"SELECT {', '.join(f'{column} + i' for column in range(1_990))} FROM n"
MANY = "WITH RECURSIVE n(i) AS (SELECT {} UNION ALL SELECT i + 1 FROM n LIMIT 1000) "


@dataclass(frozen=True)
class Hasty(Setup):
    """Leaves as much time to score a text as to execute it."""

    @property
    def scoring_seconds(self) -> float:
        return self.limits.seconds


def test_a_text_whose_rows_take_too_long_to_score_is_a_timeout(setup: Setup) -> None:
    """Rows of 1,990 values are looked for in each other, a thousand times."""
    gold = MANY.format(0) + WIDE
    question = replace(setup.questions.questions[0], gold={Dialect.SQLITE: gold})
    questions = replace(setup.questions, questions=(question,), order={Dialect.SQLITE: ("1",)})
    hasty = Hasty(questions, setup.servers, metrics=("ex", "soft_f1"), limits=Limits(2))
    slow = LocalWorkers(hasty, 1)
    text = MANY.format(-5_000) + WIDE
    try:
        judged = slow.submit(Task(Dialect.SQLITE, "1", ("SELECT 1", text, "SELECT 2"))).result(200)
    finally:
        slow.close()
    assert [each.outcome for each in judged.judgements] == [
        Outcome.MISMATCH, Outcome.PREDICTION_TIMEOUT, Outcome.MISMATCH,
    ]  # fmt: skip
    assert judged.judgements[1].error == "scoring its rows took longer than 2 s"
    assert replace(setup, limits=Limits(10)).scoring_seconds == 13


@pytest.mark.parametrize("stage", Stage)
@pytest.mark.parametrize("code", [HUNG, -signal.SIGKILL, -signal.SIGSEGV])
@pytest.mark.parametrize("text", ["SELECT 1", GOLD])
def test_what_a_worker_died_at_is_decided_by_what_it_was(
    setup: Setup, stage: Stage, code: int, text: str
) -> None:
    task = Task(Dialect.SQLITE, "1", ("SELECT 1", "SELECT 2"))
    supervisor = LocalWorkers(setup, 1)
    noted = Noted(1.0, stage, digest(text))
    for times in (1, 2, 3):
        task = supervisor._after(task, Died(code, noted, "", was_late=code == -signal.SIGKILL), times)
    is_gold = text == GOLD
    ending = Ending.ERROR if code == -signal.SIGSEGV else Ending.TIMEOUT
    if stage in OPTIONAL:
        assert task.left_out == {(stage, text)}
    elif is_gold:
        assert decode(task.golds[0]).ending is ending
    else:
        assert "SELECT 2" not in task.known
        assert decode(task.known[text]).ending is ending
    assert set(task.judged) == ({"SELECT 1", "SELECT 2"} if is_gold else {"SELECT 1"}), "given up in the end"


def test_workers_that_die_at_nothing_give_their_task_up(setup: Setup) -> None:
    supervisor = LocalWorkers(setup, 1)
    kept = Judgement(Outcome.MATCH, {"ex": 1.0})
    task = Task(Dialect.SQLITE, "1", ("SELECT 1", "SELECT 2"), judged={"SELECT 1": kept})
    for times in (1, 2):
        assert supervisor._after(task, Died(1, Noted(), "no memory", was_late=False), times) == task
    judged = supervisor._after(task, Died(1, Noted(), "no memory", was_late=False), 3).judged
    assert judged["SELECT 1"] is kept
    assert (judged["SELECT 2"].outcome, judged["SELECT 2"].error) == (
        Outcome.HARNESS_ERROR, "3 processes that were to run it have ended: exit code 1; no memory",
    )  # fmt: skip


def killed_again_and_again(
    workers: LocalWorkers, number: signal.Signals, times: int, text: str = ENDLESS
) -> None:
    """Kill so many workers, one after the other, while each is at work on a text."""
    for _ in range(times):
        process = at_work(workers, text)
        os.kill(process, number)
        until = time.monotonic() + 60
        while workers.processes == [process] and time.monotonic() < until:
            time.sleep(0.01)
        assert workers.processes != [process], "it was at work, and its end is noticed"


def at_work(workers: LocalWorkers, text: str) -> int:
    """The one process, as soon as it has used some processor time for the text."""
    until = time.monotonic() + 60
    while not _is_at(workers, text) and time.monotonic() < until:
        time.sleep(0.01)
    assert _is_at(workers, text)
    [process] = workers.processes
    enough = _ticks(process) + 20
    while workers.processes == [process] and _ticks(process) < enough and time.monotonic() < until:
        time.sleep(0.01)
    return process


def _is_at(workers: LocalWorkers, text: str) -> bool:
    with suppress(ValueError):  # it has just ended
        return any(Noted.read(each._note).text == digest(text) for each in [*workers._processes.values()])
    return False


def _ticks(process: int) -> int:
    try:
        fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return int(fields[11])


def test_a_worker_that_is_killed_is_replaced_and_no_outcome_is_lost(workers: LocalWorkers) -> None:
    assert outcomes(workers, GOLD) == [Outcome.MATCH]
    [process] = workers.processes
    os.kill(process, signal.SIGKILL)
    assert outcomes(workers, "SELECT 1", "SELECT name FROM animal WHERE 1") == [
        Outcome.MISMATCH, Outcome.MATCH,
    ]  # fmt: skip


def test_killed_workers_are_not_held_against_a_text(setup: Setup) -> None:
    slow = LocalWorkers(Setup(setup.questions, setup.servers, limits=Limits(600), metrics=("ex",)), 1)
    try:
        future = slow.submit(Task(Dialect.SQLITE, "1", ("SELECT 1", ENDLESS, GOLD)))
        killed_again_and_again(slow, signal.SIGKILL, 3)
        judgements = future.result(120).judgements
        assert [each.outcome for each in judgements] == [
            Outcome.MISMATCH, Outcome.HARNESS_ERROR, Outcome.MATCH,
        ]  # fmt: skip
        assert "SIGKILL" in (judgements[1].error or "")
    finally:
        slow.close()


def test_a_text_at_which_workers_crash_is_to_blame(setup: Setup) -> None:
    slow = LocalWorkers(Setup(setup.questions, setup.servers, limits=Limits(600), metrics=("ex",)), 1)
    try:
        future = slow.submit(Task(Dialect.SQLITE, "1", (GOLD, ENDLESS)))
        killed_again_and_again(slow, signal.SIGSEGV, 2)
        first, second = future.result(120).judgements
        assert first.outcome is Outcome.MATCH
        assert second.outcome is Outcome.PREDICTION_ERROR
        assert "SIGSEGV" in (second.error or "")
    finally:
        slow.close()


@pytest.mark.parametrize(
    "sql",
    [
        # A few values of 60 MB each, and many rows: more than a worker may have.
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT zeroblob(60000000), i FROM n",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n",
        "SELECT zeroblob(4294967296)",
    ],
)
def test_a_result_that_is_too_large_takes_no_more_than_a_workers_share_of_memory(
    setup: Setup, sql: str
) -> None:
    patient = LocalWorkers(Setup(setup.questions, setup.servers, limits=Limits(60), metrics=("ex",)), 1)
    try:
        assert outcomes(patient, GOLD) == [Outcome.MATCH]
        [process] = patient.processes
        assert outcomes(patient, sql) == [Outcome.PREDICTION_TOO_LARGE]
        assert patient.processes == [process], "the worker has survived"
        peak = Path(f"/proc/{process}/status").read_text(encoding="utf-8").partition("VmHWM:")[2].split()[0]
        assert int(peak) * 1024 < 760 * 2**20
    finally:
        patient.close()


_GROWN = """
from harness.scoring.worker_process import give_back, resident
at_start = resident()
blocks = [b"x" * size for size in range(100_000, 102_000)]
del blocks[:-1]
kept = resident() - at_start
give_back(at_start)
print(kept, resident() - at_start)
"""


def test_what_is_free_below_a_block_that_lives_is_given_back() -> None:
    said = subprocess.run(
        [sys.executable, "-c", _GROWN], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    kept, left = map(int, said.split())
    is_glibc = platform.libc_ver()[0] == "glibc"
    assert not is_glibc or kept > 150_000_000
    assert left < (20_000_000 if is_glibc else 250_000_000)


def test_closing_stops_what_runs_and_cancels_what_waits(setup: Setup) -> None:
    busy = LocalWorkers(Setup(setup.questions, setup.servers, limits=Limits(600), metrics=("ex",)), 1)
    futures = [busy.submit(Task(Dialect.SQLITE, "1", (ENDLESS,))) for _ in range(3)]
    while not busy.processes:
        time.sleep(0.01)
    [process] = busy.processes
    busy.close()
    with pytest.raises(EngineLost, match="stopped"):
        futures[0].result(0)
    for future in futures[1:]:
        with pytest.raises(CancelledError):
            future.result(0)
    assert not Path(f"/proc/{process}").exists()


def test_who_waits_has_an_idle_worker_judge_at_once(workers: LocalWorkers) -> None:
    task = Task(Dialect.SQLITE, "1", ("SELECT name FROM animal WHERE 1", UNSTOPPABLE))
    assert workers.at_once(task) is None, "none has been started"
    assert outcomes(workers, GOLD) == [Outcome.MATCH]
    [process] = workers.processes
    # The worker says that it has judged before it is idle again.
    while (future := workers.at_once(task)) is None:
        time.sleep(0.001)
    assert future.done()
    judgements = future.result().judgements
    assert [each.outcome for each in judgements] == [Outcome.MATCH, Outcome.PREDICTION_TIMEOUT]
    assert workers.processes != [process], "the worker that hung was replaced"


def test_a_busy_worker_judges_nothing_at_once_and_closing_stops_who_waits(setup: Setup) -> None:
    busy = LocalWorkers(Setup(setup.questions, setup.servers, limits=Limits(600), metrics=("ex",)), 1)
    assert outcomes(busy, GOLD) == [Outcome.MATCH]
    endless = Task(Dialect.SQLITE, "1", (GOLD, ENDLESS))
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(_until_taken, busy, endless)
        [process] = busy.processes
        while _ticks(process) < 20 and not waiting.done():
            time.sleep(0.01)
        assert busy.at_once(endless) is None
        busy.close()
        with pytest.raises(EngineLost, match="stopped"):
            waiting.result(60).result(0)
    assert not Path(f"/proc/{process}").exists()


def _until_taken(workers: LocalWorkers, task: Task) -> "Future[Judged]":
    while (future := workers.at_once(task)) is None:
        time.sleep(0.001)
    return future


def test_few_tasks_start_one_worker_and_many_all(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_HEAD_START_SECONDS", 60)
    workers = LocalWorkers(setup, 2)
    try:
        for count, started in ((2, 1), (8, 2)):
            futures = [workers.submit(Task(Dialect.SQLITE, "1", (GOLD, SLOW))) for _ in range(count)]
            wait(futures, 60)
            assert len(workers.processes) == started
    finally:
        workers.close()


QUICK = "SELECT DISTINCT name FROM animal"


def pair(prediction: str, method: Method = Method.OFFICIAL, gold: str = GOLD) -> TimingTask:
    return TimingTask(Dialect.SQLITE, "zoo", prediction, gold, method)


@pytest.mark.parametrize("method", Method)
def test_a_pair_is_timed_as_often_and_by_the_same_clock_as_in_this_process(
    setup: Setup, workers: LocalWorkers, method: Method
) -> None:
    found = workers.time(pair(QUICK, method)).result(120)
    here = measure(SQLiteEngine(), setup.questions.database("zoo"), QUICK, GOLD, method, setup.limits)
    assert (found.error, found.clock) == (None, here.clock)
    is_official = method is Method.OFFICIAL
    for timing in found, here:
        assert timing.samples in ({ITERATIONS} if is_official else set(LOOKS))
        assert timing.executions == 2 * timing.samples + (0 if is_official else 2)


@pytest.mark.parametrize(
    ("method", "prediction", "gold", "reward"),
    [
        (Method.STABLE, UNSTOPPABLE, GOLD, 0.0),
        (Method.STABLE, GOLD, UNSTOPPABLE, 1.0),
        (Method.OFFICIAL, UNSTOPPABLE, GOLD, 0.0),
        (Method.OFFICIAL, GOLD, UNSTOPPABLE, 0.0),
    ],
)
def test_a_text_that_nothing_stops_while_it_is_timed_has_failed_and_the_next_pair_is_timed(
    setup: Setup, method: Method, prediction: str, gold: str, reward: float
) -> None:
    """As one that is stopped. The official limit is 100 times as long, for all executions together."""
    limits = LIMITS if method is Method.STABLE else Limits(seconds=0.02)
    timer = LocalWorkers(replace(setup, limits=limits), 1)
    try:
        first, second = timer.time(pair(prediction, method, gold)), timer.time(pair(QUICK, Method.STABLE))
        timing = first.result(120)
        name = "the prediction" if gold == GOLD else "gold"
        assert timing.error == f"{name} did not stop when its time was up while it was timed"
        assert (timing.tau, timing.reward, timing.samples) == (reward, reward, 0)
        assert timing.decided is (reward == 0)
        assert second.result(120).error is None
    finally:
        timer.close()


@pytest.fixture
def patient(setup: Setup) -> Iterator[LocalWorkers]:
    started = LocalWorkers(replace(setup, limits=Limits(600)), 1)
    yield started
    started.close()


def test_a_pair_whose_worker_is_killed_is_timed_again_from_its_beginning(patient: LocalWorkers) -> None:
    text = SLOW.replace("200000", "100000")
    future = patient.time(pair(text))
    killed_again_and_again(patient, signal.SIGKILL, 1, text)
    timing = future.result(120)
    assert (timing.error, timing.executions) == (None, 2 * ITERATIONS)


def test_workers_that_are_killed_cost_the_pair_that_they_timed_and_no_other(patient: LocalWorkers) -> None:
    first, second = patient.time(pair(ENDLESS)), patient.time(pair(QUICK))
    killed_again_and_again(patient, signal.SIGKILL, 3)
    with pytest.raises(EngineLost, match="3 processes that were to run it have ended: SIGKILL"):
        first.result(120)
    assert second.result(120).error is None


@pytest.mark.parametrize("prediction", [ENDLESS, GOLD])
def test_a_text_at_which_workers_crash_while_it_is_timed_has_failed(
    patient: LocalWorkers, prediction: str
) -> None:
    gold = GOLD if prediction == ENDLESS else ENDLESS
    first, second = patient.time(pair(prediction, Method.STABLE, gold)), patient.time(pair(QUICK))
    killed_again_and_again(patient, signal.SIGSEGV, 2)
    name, reward = ("the prediction", 0.0) if gold == GOLD else ("gold", 1.0)
    timing = first.result(120)
    assert timing.error == f"{name} crashed the process that ran it (SIGSEGV) while it was timed"
    assert timing.reward == reward
    assert second.result(120).error is None


def test_what_is_wrong_with_an_engine_is_no_texts_fault_and_costs_no_worker(
    setup: Setup, workers: LocalWorkers
) -> None:
    path = setup.questions.database("zoo").sqlite_path
    assert workers.time(pair(QUICK)).result(120).error is None
    [process] = workers.processes
    away = path.rename(path.with_suffix(".away"))
    with pytest.raises(EngineLost, match="SQLite cannot open"):
        workers.time(pair(QUICK)).result(120)
    away.rename(path)
    assert workers.time(pair(QUICK)).result(120).error is None
    assert workers.processes == [process]


@pytest.mark.parametrize("prediction", [ENDLESS, UNSTOPPABLE])
def test_closing_stops_what_is_timed_and_cancels_what_waits(patient: LocalWorkers, prediction: str) -> None:
    timed, waiting = patient.time(pair(prediction)), patient.time(pair(QUICK))
    process = at_work(patient, prediction)
    patient.close()
    with pytest.raises(EngineLost, match="stopped"):
        timed.result(0)
    with pytest.raises(CancelledError):
        waiting.result(0)
    assert not Path(f"/proc/{process}").exists()


def test_a_text_is_explained_in_a_worker(workers: LocalWorkers) -> None:
    plan = workers.plan(PlanTask(Dialect.SQLITE, "zoo", "SELECT a.name FROM animal AS a")).result(60)
    assert plan.ending is Ending.ROWS
    assert plan.root is not None
    assert plan.root.real_rows == 2
    # SQLite says the alias alone: which table it is, the text tells.
    assert [(node.table, node.alias) for node in plan.root.children] == [("animal", "a")]


def test_a_text_that_nothing_stops_is_explained_without_being_run(workers: LocalWorkers) -> None:
    plan = workers.plan(PlanTask(Dialect.SQLITE, "zoo", UNSTOPPABLE)).result(60)
    assert plan.ending is Ending.TIMEOUT
    assert plan.error == stopped(LIMITS.seconds)
    assert plan.root is not None
    assert plan.root.real_rows is None
    assert workers.plan(PlanTask(Dialect.SQLITE, "zoo", GOLD)).result(60).ending is Ending.ROWS


def test_a_text_at_which_workers_crash_is_explained_without_being_run(setup: Setup) -> None:
    slow = LocalWorkers(Setup(setup.questions, setup.servers, limits=Limits(600), metrics=("ex",)), 1)
    try:
        future = slow.plan(PlanTask(Dialect.SQLITE, "zoo", ENDLESS))
        killed_again_and_again(slow, signal.SIGSEGV, 2)
        plan = future.result(120)
        assert plan.ending is Ending.ERROR
        assert plan.error == "it crashed the process that ran it (SIGSEGV)"
        assert plan.root is not None
    finally:
        slow.close()
