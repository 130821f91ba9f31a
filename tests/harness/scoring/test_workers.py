"""Worker processes: what a text does to one is that text's outcome, and nobody else's."""

import os
import platform
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from dialects.enums import Dialect
from harness.data.outcomes import Judgement, Outcome
from harness.engines.base import EngineLost
from harness.engines.execution import Ending, Execution, Limits
from harness.engines.plans import stopped
from harness.engines.sqlite.engine import SQLiteEngine
from harness.metrics.efficiency import LOOKS
from harness.scoring import workers as module
from harness.scoring.tasks import (
    OPTIONAL,
    ExplainTask,
    JudgeResult,
    JudgeTask,
    Setup,
    Stage,
    TimeTask,
    TimingMethod,
    WorkerTask,
)
from harness.scoring.tasks import decode_execution as decode
from harness.scoring.tasks import encode_execution as encode
from harness.scoring.timing import ITERATIONS, measure
from harness.scoring.worker_process import HUNG, Activity, digest
from harness.scoring.workers import LocalWorkers, WorkerDied, after_death
from tests.harness.small_sets import asked, of_zoo
from tests.sqlite_files import sqlite_file

ROOT = Path(__file__).parents[3]
GOLD = "SELECT name FROM animal"
LIMITS = Limits(seconds=0.5)
# One comparison after the other of 3 MB, for hours, and it looks at nothing meanwhile.
UNSTOPPABLE = "SELECT instr(zeroblob(6000000), CAST(zeroblob(3000000) || x'01' AS BLOB))"
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"

SLOW = f"{ENDLESS} WHERE i < 200000".replace("i + 1 FROM n)", "i + 1 FROM n LIMIT 200000)")


@pytest.fixture
def setup(tmp_path: Path) -> Setup:
    sqlite_file(
        tmp_path / "databases" / "zoo" / "zoo.sqlite",
        "CREATE TABLE animal (name TEXT)",
        "INSERT INTO animal VALUES ('cat'), ('hen')",
    )
    questions = of_zoo(tmp_path / "databases", GOLD)
    return Setup(questions, {Dialect.SQLITE: ()}, limits=LIMITS, metrics=("ex",))


@pytest.fixture
def workers(setup: Setup) -> Iterator[LocalWorkers]:
    started = LocalWorkers(setup, 1)
    yield started
    started.close()


@pytest.fixture
def patient(setup: Setup) -> Iterator[LocalWorkers]:
    """A worker whose statements may take ten minutes."""
    started = LocalWorkers(replace(setup, limits=Limits(600)), 1)
    yield started
    started.close()


def task(*texts: str, gold: str = GOLD, known: JudgeResult | None = None) -> JudgeTask:
    return JudgeTask(Dialect.SQLITE, asked(gold), texts, known or JudgeResult())


def pair(prediction: str, method: TimingMethod = TimingMethod.OFFICIAL, gold: str = GOLD) -> TimeTask:
    return TimeTask(Dialect.SQLITE, "zoo", prediction, gold, method)


EXPLAINED = ExplainTask(Dialect.SQLITE, "zoo", GOLD)


def outcomes(result: JudgeResult, *texts: str) -> list[Outcome]:
    return [result.judgements[text].outcome for text in texts]


HANGING = [UNSTOPPABLE.replace("x'01'", f"x'{number:02x}'") for number in (1, 2)]
RIGHT = "SELECT name FROM animal WHERE 1"
MATCH, MISMATCH, TIMEOUT = Outcome.MATCH, Outcome.MISMATCH, Outcome.PREDICTION_TIMEOUT


@pytest.mark.slow
@pytest.mark.parametrize(
    ("gold", "expected"),
    [
        (GOLD, {RIGHT: MATCH, "SELECT 1": MISMATCH, "SELECT nme": Outcome.PREDICTION_ERROR, GOLD: MATCH}),
        (GOLD, {HANGING[0]: TIMEOUT, "SELECT 1": MISMATCH, HANGING[1]: TIMEOUT, RIGHT: MATCH}),
        (UNSTOPPABLE, dict.fromkeys(["SELECT 1", "SELECT 2"], Outcome.GOLD_TIMEOUT)),
    ],
    ids=["ordinary", "two hang", "gold hangs"],
)
def test_every_text_has_its_own_outcome(
    workers: LocalWorkers, gold: str, expected: dict[str, Outcome]
) -> None:
    """A statement that nothing stops ends its worker and is a timeout, and decides nothing for others."""
    workers.submit(task(GOLD)).result(120)
    before = workers.processes
    result = workers.submit(task(*expected, gold=gold)).result(120)
    assert {text: each.outcome for text, each in result.judgements.items()} == expected
    assert (workers.processes != before) is (gold == UNSTOPPABLE or HANGING[0] in expected)


@pytest.mark.slow
def test_what_was_executed_comes_back_and_what_is_known_is_not_executed_again(workers: LocalWorkers) -> None:
    result = workers.submit(task("SELECT 1", GOLD)).result(120)
    assert set(result.executions) == {"SELECT 1"}
    assert decode(result.executions["SELECT 1"]).rows == ((1,),)
    assert decode(result.golds[0]).rows == (("cat",), ("hen",))
    known = encode(Execution(Ending.ROWS, (("dog",),), seconds=0.125)) or b""
    again = task("SELECT 1", known=JudgeResult(executions={"SELECT 1": known}, golds={0: known}))
    result = workers.submit(again).result(120)
    judgement = result.judgements["SELECT 1"]
    assert (judgement.outcome, judgement.prediction_seconds, judgement.gold_seconds) == (MATCH, 0.125, 0.125)
    assert (result.executions, result.golds) == ({}, {})


@pytest.mark.slow
def test_what_a_score_imports_is_not_taken_for_what_a_text_left_behind(
    setup: Setup, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Importing scipy takes address space once, and no worker is replaced for it."""
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    workers = LocalWorkers(replace(setup, metrics=("ex", "soft_f1_aligned", "ex_subset")), 1)
    try:
        workers.submit(task(GOLD)).result(120)
        before = workers.processes
        for other in ("SELECT name FROM animal LIMIT 1", "SELECT 'cat'"):
            judged = workers.submit(task(other)).result(120).judgements[other]
            assert 0 < judged.scores["soft_f1_aligned"] < 1
        assert workers.processes == before
    finally:
        workers.close()


@pytest.mark.slow
@pytest.mark.thorough
def test_what_took_long_is_not_done_again_for_a_text_that_hangs(workers: LocalWorkers) -> None:
    honest = "SELECT random() AS honest"
    result = workers.submit(task(honest, SLOW, UNSTOPPABLE)).result(120)
    assert decode(result.executions[SLOW]).ending is Ending.ROWS
    assert set(result.golds) == {0}
    assert honest in result.executions


WIDE = f"SELECT {', '.join(f'{column} + i' for column in range(1_990))} FROM n"
MANY = "WITH RECURSIVE n(i) AS (SELECT {} UNION ALL SELECT i + 1 FROM n LIMIT 1000) "


@dataclass(frozen=True)
class Hasty(Setup):
    """Leaves less time to score a text than to execute it."""

    @property
    def scoring_seconds(self) -> float:
        return 2


@pytest.mark.slow
@pytest.mark.thorough
def test_a_text_whose_rows_take_too_long_to_score_is_a_timeout(setup: Setup) -> None:
    """Rows of 1,990 values are looked for in each other, a thousand times."""
    hasty = Hasty(setup.questions, setup.servers, metrics=("ex", "soft_f1"), limits=Limits(60))
    slow = LocalWorkers(hasty, 1)
    text = MANY.format(-5_000) + WIDE
    texts = "SELECT 1", text, "SELECT 2"
    try:
        result = slow.submit(task(*texts, gold=MANY.format(0) + WIDE)).result(200)
    finally:
        slow.close()
    assert outcomes(result, *texts) == [MISMATCH, TIMEOUT, MISMATCH]
    assert result.judgements[text].error == "scoring its rows took longer than 2 s"
    assert replace(setup, limits=Limits(10)).scoring_seconds == 13


def died(code: int, activity: Activity = Activity(), said: str = "", *, was_late: bool = False) -> WorkerDied:  # noqa: B008
    return WorkerDied(code, activity, said, was_late=was_late)


@pytest.mark.parametrize("stage", Stage)
@pytest.mark.parametrize("code", [HUNG, -signal.SIGKILL, -signal.SIGSEGV])
@pytest.mark.parametrize("text", ["SELECT 1", GOLD])
def test_what_a_worker_died_at_is_decided_by_what_it_was(
    setup: Setup, stage: Stage, code: int, text: str
) -> None:
    rest: Any = task("SELECT 1", "SELECT 2")
    death = died(code, Activity(1.0, stage, digest(text)), was_late=code == -signal.SIGKILL)
    for times in (1, 2, 3):
        rest = after_death(setup, rest, death, Counter({(digest(text), int(stage)): times}))
    is_gold = text == GOLD
    ending = Ending.ERROR if code == -signal.SIGSEGV else Ending.TIMEOUT
    if stage in OPTIONAL:
        assert rest.left_out == {(stage, text)}
    elif is_gold:
        assert decode(rest.reusable.golds[0]).ending is ending
    else:
        assert "SELECT 2" not in rest.reusable.executions
        assert decode(rest.reusable.executions[text]).ending is ending
    given_up = {"SELECT 1", "SELECT 2"} if is_gold else {"SELECT 1"}
    assert set(rest.reusable.judgements) == given_up, "given up in the end"


def test_workers_that_die_at_nothing_give_their_task_up(setup: Setup) -> None:
    kept = Judgement(Outcome.MATCH, {"ex": 1.0})
    whole = task("SELECT 1", "SELECT 2", known=JudgeResult({"SELECT 1": kept}))
    death = died(1, said="no memory")
    nothing = death.activity.text, death.activity.stage
    for times in (1, 2):
        assert after_death(setup, whole, death, Counter({nothing: times})) == whole
    rest = after_death(setup, whole, death, Counter({nothing: 3}))
    assert isinstance(rest, JudgeTask)
    assert rest.reusable.judgements["SELECT 1"] is kept
    given_up = rest.reusable.judgements["SELECT 2"]
    assert (given_up.outcome, given_up.error) == (
        Outcome.HARNESS_ERROR, "3 processes that were to run it have ended: exit code 1; no memory",
    )  # fmt: skip


@pytest.mark.parametrize("whole", [pair(GOLD, TimingMethod.STABLE, "SELECT 1"), EXPLAINED])
def test_workers_that_are_killed_cost_a_pair_its_times_and_a_text_its_plan(
    setup: Setup, whole: WorkerTask[Any]
) -> None:
    at = digest(GOLD), int(Stage.RUNNING)
    death = died(-signal.SIGKILL, Activity(1.0, Stage.RUNNING, at[0]))
    for times in (1, 2):
        assert after_death(setup, whole, death, Counter({at: times})) == whole
    with pytest.raises(EngineLost, match="3 processes that were to run it have ended: SIGKILL"):
        after_death(setup, whole, death, Counter({at: 3}))


@pytest.mark.parametrize(
    ("method", "text", "name", "reward"),
    [
        (TimingMethod.STABLE, GOLD, "the prediction", 0.0),
        (TimingMethod.STABLE, "SELECT 1", "gold", 1.0),
        (TimingMethod.OFFICIAL, "SELECT 1", "gold", 0.0),
    ],
)
def test_the_text_at_which_workers_crash_twice_while_a_pair_is_timed_has_failed(
    setup: Setup, method: TimingMethod, text: str, name: str, reward: float
) -> None:
    whole, at = pair(GOLD, method, "SELECT 1"), (digest(text), int(Stage.RUNNING))
    death = died(-signal.SIGSEGV, Activity(1.0, Stage.RUNNING, at[0]))
    assert after_death(setup, whole, death, Counter({at: 1})) == whole
    timing: Any = after_death(setup, whole, death, Counter({at: 2}))
    assert timing.error == f"{name} crashed the process that ran it (SIGSEGV) while it was timed"
    assert timing.reward == reward


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
        return any(Activity.read(each._note).text == digest(text) for each in [*workers._processes.values()])
    return False


def _ticks(process: int) -> int:
    try:
        fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return int(fields[11])


@pytest.mark.slow
def test_a_worker_that_is_killed_is_replaced_and_no_outcome_is_lost(workers: LocalWorkers) -> None:
    workers.submit(task(GOLD)).result(120)
    [process] = workers.processes
    os.kill(process, signal.SIGKILL)
    texts = "SELECT 1", RIGHT
    assert outcomes(workers.submit(task(*texts)).result(120), *texts) == [MISMATCH, MATCH]


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.parametrize(
    ("number", "times", "outcome"),
    [
        (signal.SIGKILL, 3, Outcome.HARNESS_ERROR),
        (signal.SIGSEGV, 2, Outcome.PREDICTION_ERROR),
    ],
)
def test_a_text_is_to_blame_where_workers_crash_and_not_where_they_are_killed(
    patient: LocalWorkers, number: signal.Signals, times: int, outcome: Outcome
) -> None:
    texts = "SELECT 1", ENDLESS, GOLD
    future = patient.submit(task(*texts))
    killed_again_and_again(patient, number, times)
    result = future.result(120)
    assert outcomes(result, *texts) == [MISMATCH, outcome, MATCH]
    assert number.name in (result.judgements[ENDLESS].error or "")


TOO_LARGE = (
    # A few values of 60 MB each, and many rows: more than a worker may have.
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT zeroblob(60000000), i FROM n",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n",
    "SELECT zeroblob(4294967296)",
)


@pytest.mark.slow
def test_a_result_that_is_too_large_takes_no_more_than_a_workers_share_of_memory(
    patient: LocalWorkers,
) -> None:
    patient.submit(task(GOLD)).result(120)
    [process] = patient.processes
    for sql in TOO_LARGE:
        assert outcomes(patient.submit(task(sql)).result(120), sql) == [Outcome.PREDICTION_TOO_LARGE]
    assert patient.processes == [process], "the worker has survived"
    peak = Path(f"/proc/{process}/status").read_text(encoding="utf-8").partition("VmHWM:")[2].split()[0]
    assert int(peak) * 1024 < 760 * 2**20


_GROWN = """
from harness.scoring.worker_process import give_back, resident
at_start = resident()
blocks = [b"x" * size for size in range(100_000, 102_000)]
del blocks[:-1]
kept = resident() - at_start
give_back(at_start)
print(kept, resident() - at_start)
"""


@pytest.mark.slow
def test_what_is_free_below_a_block_that_lives_is_given_back() -> None:
    said = subprocess.run(
        [sys.executable, "-c", _GROWN], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    kept, left = map(int, said.split())
    is_glibc = platform.libc_ver()[0] == "glibc"
    assert not is_glibc or kept > 150_000_000
    assert left < (20_000_000 if is_glibc else 250_000_000)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sql", "running", "waiting"),
    [
        (ENDLESS, task(ENDLESS), task(ENDLESS)),
        (ENDLESS, pair(ENDLESS), pair(GOLD)),
        (UNSTOPPABLE, pair(UNSTOPPABLE), pair(GOLD)),
    ],
    ids=["judged", "timed", "timed and deaf"],
)
def test_closing_stops_what_runs_and_cancels_what_waits(
    patient: LocalWorkers, sql: str, running: WorkerTask[Any], waiting: WorkerTask[Any]
) -> None:
    stopped, *cancelled = [patient.submit(each) for each in (running, waiting, waiting)]
    process = at_work(patient, sql)
    patient.close()
    with pytest.raises(EngineLost, match="stopped"):
        stopped.result(0)
    for future in cancelled:
        with pytest.raises(CancelledError):
            future.result(0)
    assert not Path(f"/proc/{process}").exists()


@pytest.mark.slow
def test_who_waits_has_an_idle_worker_judge_at_once(workers: LocalWorkers) -> None:
    texts = RIGHT, UNSTOPPABLE
    assert workers.at_once(task(*texts)) is None, "none has been started"
    workers.submit(task(GOLD)).result(120)
    [process] = workers.processes
    future = _until_taken(workers, task(*texts))
    assert future.done()
    assert outcomes(future.result(), *texts) == [MATCH, TIMEOUT]
    assert workers.processes != [process], "the worker that hung was replaced"


@pytest.mark.slow
def test_a_busy_worker_judges_nothing_at_once_and_closing_stops_who_waits(patient: LocalWorkers) -> None:
    patient.submit(task(GOLD)).result(120)
    endless = task(GOLD, ENDLESS)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(_until_taken, patient, endless)
        [process] = patient.processes
        while _ticks(process) < 20 and not waiting.done():
            time.sleep(0.01)
        assert patient.at_once(endless) is None
        patient.close()
        with pytest.raises(EngineLost, match="stopped"):
            waiting.result(60).result(0)
    assert not Path(f"/proc/{process}").exists()


def _until_taken(workers: LocalWorkers, task: JudgeTask) -> "Future[JudgeResult]":
    # A worker says that it has judged before it is idle again.
    while (future := workers.at_once(task)) is None:
        time.sleep(0.001)
    return future


@pytest.mark.slow
def test_few_tasks_start_one_worker_and_many_all(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_HEAD_START_SECONDS", 60)
    workers = LocalWorkers(setup, 2)
    try:
        for count, started in ((2, 1), (8, 2)):
            futures = [workers.submit(task(GOLD, SLOW)) for _ in range(count)]
            wait(futures, 60)
            assert len(workers.processes) == started
    finally:
        workers.close()


QUICK = "SELECT DISTINCT name FROM animal"


@pytest.mark.slow
@pytest.mark.parametrize("method", TimingMethod)
def test_a_pair_is_timed_as_often_and_by_the_same_clock_as_in_this_process(
    setup: Setup, workers: LocalWorkers, method: TimingMethod
) -> None:
    found = workers.submit(pair(QUICK, method)).result(120)
    here = measure(SQLiteEngine(), setup.questions.database("zoo"), QUICK, GOLD, method, setup.limits)
    assert (found.error, found.clock) == (None, here.clock)
    is_official = method is TimingMethod.OFFICIAL
    for timing in found, here:
        assert timing.samples in ({ITERATIONS} if is_official else set(LOOKS))
        assert timing.executions == 2 * timing.samples + (0 if is_official else 2)


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.parametrize(
    ("method", "prediction", "gold", "reward"),
    [
        (TimingMethod.STABLE, GOLD, UNSTOPPABLE, 1.0),
        (TimingMethod.OFFICIAL, UNSTOPPABLE, GOLD, 0.0),
    ],
)
def test_a_text_that_nothing_stops_while_it_is_timed_has_failed_and_the_next_pair_is_timed(
    setup: Setup, method: TimingMethod, prediction: str, gold: str, reward: float
) -> None:
    """As one that is stopped. The official limit is 100 times as long, for all executions together."""
    limits = LIMITS if method is TimingMethod.STABLE else Limits(seconds=0.02)
    timer = LocalWorkers(replace(setup, limits=limits), 1)
    try:
        first, second = (
            timer.submit(pair(prediction, method, gold)),
            timer.submit(pair(QUICK, TimingMethod.STABLE)),
        )
        timing = first.result(120)
        name = "the prediction" if gold == GOLD else "gold"
        assert timing.error == f"{name} did not stop when its time was up while it was timed"
        assert (timing.tau, timing.reward, timing.samples) == (reward, reward, 0)
        assert timing.decided is (reward == 0)
        assert second.result(120).error is None
    finally:
        timer.close()


@pytest.mark.slow
@pytest.mark.thorough
def test_a_pair_whose_worker_is_killed_is_timed_again_from_its_beginning(patient: LocalWorkers) -> None:
    text = SLOW.replace("200000", "100000")
    future = patient.submit(pair(text))
    killed_again_and_again(patient, signal.SIGKILL, 1, text)
    timing = future.result(120)
    assert (timing.error, timing.executions) == (None, 2 * ITERATIONS)


@pytest.mark.slow
@pytest.mark.thorough
def test_a_text_at_which_workers_crash_while_it_is_timed_has_failed(patient: LocalWorkers) -> None:
    first, second = patient.submit(pair(ENDLESS, TimingMethod.STABLE)), patient.submit(pair(QUICK))
    killed_again_and_again(patient, signal.SIGSEGV, 2)
    timing = first.result(120)
    assert timing.error == "the prediction crashed the process that ran it (SIGSEGV) while it was timed"
    assert timing.reward == 0.0
    assert second.result(120).error is None


@pytest.mark.slow
def test_what_is_wrong_with_an_engine_is_no_texts_fault_and_costs_no_worker(
    setup: Setup, workers: LocalWorkers
) -> None:
    path = setup.questions.database("zoo").sqlite_path
    assert workers.submit(pair(QUICK)).result(120).error is None
    [process] = workers.processes
    away = path.rename(path.with_suffix(".away"))
    with pytest.raises(EngineLost, match="SQLite cannot open"):
        workers.submit(pair(QUICK)).result(120)
    away.rename(path)
    assert workers.submit(pair(QUICK)).result(120).error is None
    assert workers.processes == [process]


@pytest.mark.slow
def test_a_text_is_explained_in_a_worker(workers: LocalWorkers) -> None:
    plan = workers.submit(ExplainTask(Dialect.SQLITE, "zoo", "SELECT a.name FROM animal AS a")).result(60)
    assert plan.ending is Ending.ROWS
    assert plan.root is not None
    assert plan.root.real_rows == 2
    # SQLite says the alias alone: which table it is, the text tells.
    assert [(node.table, node.alias) for node in plan.root.children] == [("animal", "a")]


@pytest.mark.slow
def test_a_text_that_nothing_stops_is_explained_without_being_run(workers: LocalWorkers) -> None:
    plan = workers.submit(ExplainTask(Dialect.SQLITE, "zoo", UNSTOPPABLE)).result(60)
    assert (plan.ending, plan.error) == (Ending.TIMEOUT, stopped(LIMITS.seconds))
    assert plan.root is not None
    assert plan.root.real_rows is None
    assert workers.submit(ExplainTask(Dialect.SQLITE, "zoo", GOLD)).result(60).ending is Ending.ROWS


@pytest.mark.slow
@pytest.mark.thorough
def test_a_text_at_which_workers_crash_is_explained_without_being_run(patient: LocalWorkers) -> None:
    future = patient.submit(ExplainTask(Dialect.SQLITE, "zoo", ENDLESS))
    killed_again_and_again(patient, signal.SIGSEGV, 2)
    plan = future.result(120)
    assert (plan.ending, plan.error) == (Ending.ERROR, "it crashed the process that ran it (SIGSEGV)")
    assert plan.root is not None
