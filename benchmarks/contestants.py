"""The contestants, each in a process of its own: one run of one of them becomes one `Measured`.

What is measured begins when everything has been imported, read and loaded. Worker processes are started
within it. It ends when the scores of all pairs are there; what the harness takes after that to write its run
folder, with intervals and tables, is given beside it.
"""

import gc
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import asdict, astuple, dataclass, field, replace
from enum import StrEnum
from pathlib import Path

import pytest

from benchmarks import bound
from benchmarks.memory import Memory
from benchmarks.naive import Naive
from benchmarks.phases import Inline, phases
from dialects.errors import HarnessError
from harness import Answer, Evaluator
from harness.data.outcomes import Outcome, PairResult
from harness.pytest_plugin.pairs import PairItems, run_with_pytest
from harness.runs.reader import LATEST, read_results
from harness.scoring.tasks import JudgeResult, JudgeTask, Workers
from harness.session.evaluation import Evaluation
from harness.session.plan import Pair, Plan, prepare
from harness.session.request import Request, parse_dialects

ROOT = Path(__file__).parents[1]

NAIVE_METRICS = {"ex": "ex", "soft_f1": "soft_f1", "r_ves": "r_ves", "r_ves_stable": "r_ves"}
"""The pass of the naive evaluator that stands beside a metric of ours."""


_LIMITED = (Outcome.PREDICTION_TIMEOUT, Outcome.GOLD_TIMEOUT, Outcome.PREDICTION_TOO_LARGE)


class Contestant(StrEnum):
    """What can be measured."""

    NAIVE = "naive"
    OURS = "ours"
    PYTEST = "pytest"
    """Ours by pytest items, with the worker processes' share of the time, and with pytest's."""
    XDIST = "xdist"
    """The same with the items spread over two processes of pytest-xdist."""
    LIBRARY = "library"
    """Ours as a library: one pair after the other."""
    BOUND = "bound"
    """No evaluator: every distinct text executed once (`benchmarks.bound`)."""
    PHASES = "phases"
    """Ours in one process, with the time of each phase (`benchmarks.phases`)."""
    BATCH = "batch"
    """Ours as a library: all pairs in one call, without error classes, which naive does not give either."""


@dataclass(frozen=True)
class Contest:
    """What every contestant is to do.

    `without` has the keys of questions to leave out; `only` the names of the pairs to do where it is not
    empty. Paths are absolute.
    """

    set_name: str
    predictions: tuple[str, ...]
    dialect: str
    workers: int
    metrics: tuple[str, ...]
    limit: int | None = None
    without: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    seconds: float = 30.0
    bird_home: str | None = None


@dataclass(frozen=True)
class Measured:
    """One run.

    `seconds` is the time until the scores of all pairs were there; `whole` until the run folder was complete,
    too. `executions` counts SQL texts that were executed, None where the contestant does not tell.
    `processor` is the time on a processor, in user and kernel mode, of the contestant's processes.
    Memory is in MB, `worker` is the largest one. `scores` has the scores of each pair; `limited` names pairs
    that a limit ended. `overheads`: for each pair in turn, seconds beyond the database's own, or their mean.
    `phases`: of each, how often it was entered, its seconds, and those on the processor.
    """

    seconds: float
    whole: float
    executions: int | None = None
    processor: float = 0.0
    own: float = 0.0
    worker: float = 0.0
    scores: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    limited: Sequence[str] = ()
    overheads: Sequence[float] = ()
    phases: Mapping[str, tuple[int, float, float]] = field(default_factory=dict)


def run(contestant: Contestant, contest: Contest, store: Path) -> Measured:
    """Measure one run in a new process.

    Args:
        contestant: who runs.
        contest: what it does.
        store: the folder of what the harness remembers; an empty one is a cold store.

    Raises:
        SystemExit: the process failed; it has said why.
    """
    with tempfile.TemporaryDirectory() as folder:
        task, result = Path(folder, "contest.json"), Path(folder, "measured.json")
        task.write_text(json.dumps(asdict(contest)), encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.contestants", contestant, task, result],
            cwd=ROOT,
            env={**os.environ, "BIRD_STORE": str(store / "store.sqlite")},
            stdout=subprocess.DEVNULL,
            check=False,
        )
        if done.returncode != 0:
            raise SystemExit(done.returncode)
        return Measured(**json.loads(result.read_text(encoding="utf-8")))


def _prepared(contest: Contest, out: Path) -> tuple[Plan, tuple[Pair, ...]]:
    """The plan, and the pairs of it that count."""
    request = Request(
        set_name=contest.set_name,
        predictions=[Path(path) for path in contest.predictions],
        dialects=parse_dialects(contest.dialect),
        metrics=contest.metrics,
        workers=contest.workers,
        limit=contest.limit,
        seconds=contest.seconds,
        out=out,
        report=False,
        bird_home=None if contest.bird_home is None else Path(contest.bird_home),
    )
    plan = prepare(request, say=_to_stderr)
    pairs = tuple(
        pair
        for pair in plan.pairs
        if pair.question.key not in contest.without and (not contest.only or pair.name in contest.only)
    )
    return plan, pairs


def _to_stderr(line: str) -> None:
    print(line, file=sys.stderr)


def _naive(contest: Contest, plan: Plan, pairs: Sequence[Pair]) -> Measured:
    evaluator = Naive(plan, pairs)
    started = time.perf_counter()
    attempts = {metric: evaluator.run(NAIVE_METRICS[metric], contest.workers) for metric in contest.metrics}
    seconds = time.perf_counter() - started
    scores: dict[str, dict[str, float]] = {pair.name: {} for pair in pairs}
    limited = set()
    for metric, of_pairs in attempts.items():
        for pair, attempt in zip(pairs, of_pairs, strict=True):
            if attempt.score is None:
                limited.add(pair.name)
            else:
                scores[pair.name][metric] = attempt.score
    executions = sum(attempt.executions for of_pairs in attempts.values() for attempt in of_pairs)
    return Measured(seconds, seconds, executions, scores=scores, limited=sorted(limited))


def _bound(contest: Contest, plan: Plan, pairs: Sequence[Pair]) -> Measured:
    started = time.perf_counter()
    executions = bound.run(plan, pairs, contest.workers)
    seconds = time.perf_counter() - started
    return Measured(seconds, seconds, executions)


def _ours(contest: Contest, plan: Plan, pairs: Sequence[Pair]) -> Measured:
    del contest
    given = _given(plan)
    started = time.perf_counter()
    with plan.open_run() as folder, closing(Evaluation(plan)) as evaluation:
        results = []
        for result in evaluation.results(pairs):
            folder.add(result)
            results.append(result)
        seconds = time.perf_counter() - started
        folder.finish()
    return _measured(results, given, seconds, time.perf_counter() - started)


def _phases(contest: Contest, plan: Plan, pairs: Sequence[Pair]) -> Measured:
    del contest
    scheduler = plan.scheduler
    scheduler._workers.close()  # noqa: SLF001 - as `_given`
    started = time.perf_counter()
    with phases() as measured:
        scheduler._workers = Inline(plan.setup, measured)  # noqa: SLF001
        with plan.open_run() as folder, closing(Evaluation(plan)) as evaluation:
            for result in evaluation.results(pairs):
                folder.add(result)
            folder.finish()
        found = {name: astuple(phase) for name, phase in measured.end().items()}
    seconds = time.perf_counter() - started
    return Measured(seconds, seconds, phases=found)


def _pytest(contest: Contest, plan: Plan, pairs: Sequence[Pair]) -> Measured:
    del contest
    plan = replace(plan, pairs=tuple(pairs))
    given = _given(plan)
    started = time.perf_counter()
    code = run_with_pytest(plan)
    seconds = time.perf_counter() - started
    assert code == 0, f"pytest's exit code is {code}"
    return _measured(read_results(plan.request.out / LATEST), given, seconds, seconds)


def _xdist(contest: Contest, plan: Plan, pairs: Sequence[Pair]) -> Measured:
    del contest
    plan = replace(plan, pairs=tuple(pairs))
    given = _given(plan)
    started = time.perf_counter()
    options = ["-c", os.devnull, "-p", "no:cacheprovider", "-n", "2"]
    with tempfile.TemporaryDirectory() as nothing:
        code = pytest.main([*options, "--rootdir", nothing, nothing], plugins=[PairItems(plan)])
    seconds = time.perf_counter() - started
    assert code == 0, f"pytest's exit code is {code}"
    return _measured(read_results(plan.request.out / LATEST), given, seconds, seconds)


def _evaluator(contest: Contest, plan: Plan) -> Evaluator:
    plan.close()
    return Evaluator(
        contest.set_name,
        dialects=plan.request.dialects or (),
        metrics=contest.metrics,
        workers=contest.workers,
        profile=plan.request.profile,
        seconds=contest.seconds,
        bird_home=plan.request.bird_home,
    )


def _batch(contest: Contest, plan: Plan, pairs: Sequence[Pair]) -> Measured:
    """Overhead: what the workers' time is beyond the database's, a pair on average."""
    with _evaluator(contest, plan) as evaluator:
        started = time.perf_counter()
        asked = [pair for pair in pairs if pair.sql is not None]
        judgements = evaluator.score(
            [Answer(pair.question.key, pair.sql or "", pair.dialect) for pair in asked]
        )
        seconds = time.perf_counter() - started
    scores = {pair.name: dict(plan.setup.zero(pair.dialect)) for pair in pairs}
    judged = list(zip(asked, judgements, strict=True))
    scores |= {pair.name: dict(judgement.scores) for pair, judgement in judged}
    limited = {pair.name for pair, judgement in judged if judgement.outcome in _LIMITED}
    golds = {pair.question.key: each.gold_seconds for pair, each in judged}
    predictions = {(pair.question.key, pair.sql): each.prediction_seconds for pair, each in judged}
    database = sum(took or 0.0 for took in (*golds.values(), *predictions.values()))
    mean = (seconds * contest.workers - database) / len(judged)
    return Measured(seconds, seconds, scores=scores, limited=sorted(limited), overheads=[mean])


def _library(contest: Contest, plan: Plan, pairs: Sequence[Pair]) -> Measured:
    """Overhead: the time of a call less what the database took for what was executed in this call."""
    scores, overheads = {}, []
    seen: set[tuple[str, ...]] = set()
    with _evaluator(contest, plan) as evaluator:
        began = time.perf_counter()
        for pair in pairs:
            if pair.sql is None:
                continue
            started = time.perf_counter()
            [judgement] = evaluator.score([Answer(pair.question.key, pair.sql, pair.dialect)])
            seconds = time.perf_counter() - started
            gold = pair.dialect, pair.question.key
            prediction = *gold, pair.sql
            if gold not in seen:
                seconds -= judgement.gold_seconds or 0.0
            if prediction not in seen:
                seconds -= judgement.prediction_seconds or 0.0
            seen |= {gold, prediction}
            overheads.append(seconds)
            scores[pair.name] = dict(judgement.scores)
        took = time.perf_counter() - began
    return Measured(took, took, scores=scores, overheads=overheads)


@dataclass(frozen=True)
class _Counting:
    """Workers that pass everything on and keep the tasks."""

    workers: Workers
    tasks: list[JudgeTask]

    def submit(self, task: JudgeTask) -> "Future[JudgeResult]":
        """See `Workers.submit`."""
        self.tasks.append(task)
        return self.workers.submit(task)

    def at_once(self, task: JudgeTask) -> "Future[JudgeResult] | None":
        """See `Workers.at_once`."""
        judged = self.workers.at_once(task)
        if judged is not None:
            self.tasks.append(task)
        return judged

    def close(self) -> None:
        """See `Workers.close`."""
        self.workers.close()


def _given(plan: Plan) -> list[JudgeTask]:
    """The tasks that the plan will give to its workers."""
    scheduler = plan.scheduler
    tasks: list[JudgeTask] = []
    # To count what is executed; nothing else has to.
    scheduler._workers = _Counting(scheduler._workers, tasks)  # noqa: SLF001
    return tasks


def _measured(
    results: Sequence[PairResult], given: Sequence[JudgeTask], seconds: float, whole: float
) -> Measured:
    broken = [result for result in results if result.outcome is Outcome.HARNESS_ERROR]
    assert not broken, f"{len(broken)} harness errors, the first: {broken[0].error}"
    found = {f"{result.dialect}/{result.predictor}::{result.question}": result for result in results}
    executed = sum(
        1 - len(task.reusable.golds) + len(task.texts) - len(task.reusable.executions) for task in given
    )
    # Equal predictions for a question have one measurement.
    timings = {
        (result.dialect, result.question, method, timing): timing.executions
        for result in results
        for method, timing in result.timings.items()
    }
    return Measured(
        seconds,
        whole,
        executed + sum(timings.values()),
        scores={name: dict(result.scores) for name, result in found.items()},
        limited=sorted(name for name, result in found.items() if result.outcome in _LIMITED),
    )


_RUN = {
    Contestant.NAIVE: _naive,
    Contestant.BOUND: _bound,
    Contestant.OURS: _ours,
    Contestant.PYTEST: _pytest,
    Contestant.XDIST: _xdist,
    Contestant.LIBRARY: _library,
    Contestant.BATCH: _batch,
    Contestant.PHASES: _phases,
}


def _main(contestant: str, task: str, result: str) -> None:
    """Run in this process what `run` asks for."""
    content = json.loads(Path(task).read_text(encoding="utf-8"))
    lists = {name: tuple(value) for name, value in content.items() if isinstance(value, list)}
    contest = Contest(**{**content, **lists})
    with tempfile.TemporaryDirectory() as out:
        plan, pairs = _prepared(contest, Path(out))
        # As the command line does.
        gc.freeze()
        before = _processor()
        with plan, Memory() as memory:
            measured = _RUN[Contestant(contestant)](contest, plan, pairs)
        processor = _processor() - before
    measured = replace(measured, processor=processor, own=memory.own, worker=memory.worker)
    Path(result).write_text(json.dumps(asdict(measured)), encoding="utf-8")


def _processor() -> float:
    """The time on a processor of this process so far, and of its children that have ended."""
    used = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


if __name__ == "__main__":
    try:
        _main(*sys.argv[1:])
    except HarnessError as error:
        raise SystemExit(str(error)) from error
