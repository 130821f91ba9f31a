"""Judge answers to tasks: each in processes of their own, on fresh copies, with three verdicts side by side.

A worker process takes one task after the other and forks a child for each verdict: code of a test case and
a text that ends its process cost their own verdict and nothing else.
"""

import atexit
import gc
import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from types import FrameType
from typing import Self

from dialects.errors import BadInput, HarnessError
from harness.labs.tasks.child import Ended, Made, in_child, lines_of_child, lose_rights
from harness.labs.tasks.engine import (
    UNTOUCHED,
    Copies,
    State,
    StatementFault,
    StatementsResult,
    TaskSession,
    differences,
    engine_of,
    only_reads,
    run_whole,
)
from harness.labs.tasks.families import ScriptFamily
from harness.labs.tasks.layouts import Task, TaskAnswers, TaskSet
from harness.labs.tasks.official import (
    OfficialStatus,
    OfficialVerdict,
    missing_fields,
    official_verdict,
    tests_of,
)
from harness.labs.tasks.strict import StrictStatus, StrictVerdict, issue_cost, strict_verdict
from harness.labs.tasks.work import prepare_counting, work_of
from loaders.base.errors import EngineUnavailable, brief
from loaders.base.processes import end_with
from loaders.server import Server

GOLD = "gold"
"""The predictor whose answers are the golds: what it cannot pass, nobody can."""

TASK_SECONDS = 600.0
"""The limit of a task whose family has none."""

STATEMENT_SECONDS = 60.0
"""The limit of a statement under the strict verdict, unless a whole task has less."""


@dataclass(frozen=True)
class TaskResult:
    """The verdicts on one answer.

    `state` is True if schema and rows are gold's, False if not, None if gold or the answer fails, or nothing
    is to be changed; `changed` names what differs. `work` is the counted work of the issue's statements,
    divided by the answer's, for a task of efficiency: more than 1 if the answer does less. It is None for
    other tasks, for an answer that fails, and where the engine does not count.
    """

    predictor: str
    task: str
    database: str
    category: str
    difficulty: str | None
    official: OfficialVerdict
    strict: StrictVerdict
    state: bool | None = None
    changed: Sequence[str] = field(default_factory=tuple)
    work: float | None = None


class _Stopped(BaseException):
    """The process that judges is told to stop."""


def answered(tasks: TaskSet, predictors: Sequence[TaskAnswers]) -> Mapping[str, Mapping[str, Sequence[str]]]:
    """Return the statements of golds and answers, by predictor and task."""
    golds = {task.id: task.gold for task in tasks.tasks}
    return {GOLD: golds, **{one.predictor: one.answers for one in predictors}}


def judge(
    tasks: TaskSet, predictors: Sequence[TaskAnswers], workers: int, server: Server | None = None
) -> Iterator[TaskResult]:
    """Yield the results of every task, in order: gold's first, then each predictor's.

    Args:
        tasks: the tasks.
        predictors: their answers; an id may have none, which fails, unlike an empty list.
        workers: processes that judge.
        server: where copies are made, if the family's engine has servers.

    Raises:
        BadInput: a database is missing.
        EngineUnavailable: the server failed.
    """
    given = answered(tasks, predictors)
    with _pool(tasks, workers, server) as pool:
        jobs = [
            pool.submit(_judged, task, [(name, answers.get(task.id)) for name, answers in given.items()])
            for task in tasks.tasks
        ]
        try:
            for job in jobs:
                yield from job.result()
        except BrokenProcessPool as error:
            raise EngineUnavailable("a process that judges tasks was ended; run the same again") from error
        finally:
            pool.shutdown(cancel_futures=True)


def _pool(tasks: TaskSet, workers: int, server: Server | None) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(
        workers,
        get_context("spawn"),
        initializer=_begin,
        initargs=(tasks.databases, tasks.family, server, os.getpid()),
    )


class TaskJudge:
    """Judges single answers to the tasks of a set, as a reward function or a server needs it; thread-safe.

    Its worker processes keep their copies until the end of the block. They are spawned, so that a script
    that makes one does so below `if __name__ == "__main__"`.

    Args:
        tasks: the tasks.
        workers: processes that judge.
        server: where copies are made, if the family's engine has servers.
    """

    def __init__(self, tasks: TaskSet, workers: int = 1, server: Server | None = None) -> None:
        self._family = tasks.family
        self._tasks = {task.id: task for task in tasks.tasks}
        self._make = partial(_pool, tasks, workers, server)
        self._workers = self._make()
        # The kernel ends a worker with the thread that started it.
        self._starter = ThreadPoolExecutor(1, "tasks")
        self._is_closed = False

    def judge(self, task_id: str, answer: str | Sequence[str], predictor: str = "answer") -> TaskResult:
        """Return the verdicts on an answer: the statements of `pred_sqls`, read as the family reads them.

        Raises:
            BadInput: there is no such task, or its database is missing.
            EngineUnavailable: the server failed.
        """
        if (task := self._tasks.get(task_id)) is None:
            raise BadInput(f"{brief(task_id)}: the set has no such task; it has {len(self._tasks):,} others")
        statements = self._family.statements(answer if isinstance(answer, str) else list(answer))
        return self.submit(task, statements, predictor).result()

    def submit(self, task: Task, statements: Sequence[str], predictor: str = "answer") -> Future[TaskResult]:
        """Begin to judge an answer; cancel the future of one that is not to be started any more.

        The future raises what `judge` does. If a worker is killed, what it judged begins again, once.
        """
        judged: Future[TaskResult] = Future()

        def begin(*, is_last: bool = False) -> None:
            if judged.cancelled():
                return
            try:
                judging = self._submitted(task, [(predictor, statements)])
            except Exception as error:  # noqa: BLE001 - the caller's
                judging = Future()
                judging.set_exception(error)

            def end(done: Future[list[TaskResult]]) -> None:
                is_broken = not done.cancelled() and isinstance(done.exception(), BrokenProcessPool)
                if is_broken and not is_last and not self._is_closed:
                    self._starter.submit(begin, is_last=True)
                else:
                    _hand_over(judged, done)

            judging.add_done_callback(end)
            judged.add_done_callback(lambda done: done.cancelled() and judging.cancel())

        self._starter.submit(begin)
        return judged

    def _submitted(
        self, task: Task, answers: Sequence[tuple[str, Sequence[str]]]
    ) -> Future[list[TaskResult]]:
        """Give an answer to the workers; to new ones, if one of them was ended."""
        try:
            return self._workers.submit(_judged, task, answers)
        except BrokenProcessPool:
            self._workers = self._make()
            return self._workers.submit(_judged, task, answers)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._is_closed = True
        self._starter.submit(self._close).result()
        self._starter.shutdown()

    def _close(self) -> None:
        """Stop the workers, each of which removes its copies."""
        for worker in self._workers._processes or ():  # noqa: SLF001 - nothing public names them
            with suppress(ProcessLookupError):
                os.kill(worker, _STOPS)
        self._workers.shutdown(cancel_futures=True)


def _hand_over(judged: Future[TaskResult], done: Future[list[TaskResult]]) -> None:
    """Give the only result of a worker, or what it raised, to who waits for it."""
    if not judged.set_running_or_notify_cancel():
        return
    error = CancelledError() if done.cancelled() else done.exception()
    if isinstance(error, BrokenProcessPool | CancelledError):
        error = EngineUnavailable("a process that judges tasks was ended; judge the answer again")
    if error is None and (results := done.result()):
        judged.set_result(results[0])
    else:
        judged.set_exception(error or EngineUnavailable("the answer was not judged: its judge was closed"))


_IMPORTED = (
    *("ast", "base64", "bisect", "calendar", "cmath", "configparser", "csv", "dataclasses", "difflib"),
    *("fractions", "glob", "heapq", "hmac", "html", "inspect", "locale", "logging", "numbers", "pprint"),
    *("random", "shutil", "sqlite3", "statistics", "string", "struct", "subprocess", "tempfile"),
    *("textwrap", "timeit", "traceback", "typing", "unicodedata", "unittest", "uuid", "zoneinfo"),
)
"""Modules that test cases may import: the account without rights cannot read those of root's own Python."""

_copies: Copies | None = None
"""Of this worker process."""

_make_copies: Callable[[], Copies] | None = None

_fault: Exception | None = None
"""Why it has none, or why the last answer was not judged."""


def _begin(databases: Path, family: ScriptFamily, server: Server | None, parent: int) -> None:
    global _copies, _fault, _make_copies  # noqa: PLW0603 - one a process, made by its initializer
    end_with(parent, grace=False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(_STOPS, _stop)
    for name in _IMPORTED:
        import_module(name)
    _make_copies = partial(engine_of(family).copies, databases, server)
    try:
        _copies = _make_copies()
    except Exception as error:  # noqa: BLE001 - the first task raises it
        _fault = error
    # What is there now is looked at by no child, so that no page of it is copied.
    gc.freeze()
    # A worker that ends by itself leaves nothing; one that is killed is cleaned up after by the next.
    atexit.register(_close)


def _close() -> None:
    if _copies is not None:
        _copies.close()


def _reopen() -> None:
    """Make new copies in place of those whose server failed; it may be up again."""
    global _copies  # noqa: PLW0603 - one a process
    with suppress(Exception):
        _close()
    _copies = None
    assert _make_copies is not None  # noqa: S101 - for the type
    _copies = _make_copies()


_STOPS = signal.SIGURG
"""Tells a worker to judge no more, and to clean up; one that is not ready for it ignores it."""

_is_judging = _is_stopped = False
"""Of this worker process."""


def _stop(number: int, frame: FrameType | None) -> None:
    """End what is being judged, but nothing that cleans up after it when it has ended."""
    global _is_stopped  # noqa: PLW0603 - one a process
    del number, frame
    _is_stopped = True
    if _is_judging:
        raise _Stopped


_NO_ANSWER = "there is no answer"

Verdicts = tuple[OfficialVerdict, StrictVerdict, bool | None, Sequence[str]]


def _judged(task: Task, answers: Sequence[tuple[str, Sequence[str] | None]]) -> list[TaskResult]:
    """Judge all answers to a task, in a worker process; raise one of the project's own errors.

    Returns nothing if the process is told to stop.
    """
    global _is_judging, _fault  # noqa: PLW0603 - one a process
    try:
        _is_judging = True
        if _is_stopped:
            return []
        if _fault is not None and not isinstance(_fault, BadInput):
            _reopen()
            _fault = None
        return _judged_here(task, answers)
    except BadInput:
        raise
    except HarnessError as error:
        _fault = error
        raise
    except Exception as error:  # noqa: BLE001 - what a driver raises may not go from process to process
        _fault = error
        raise EngineUnavailable(f"task {task.id} cannot be judged: {type(error).__name__}: {error}") from None
    except _Stopped:
        return []
    finally:
        _is_judging = False


def _judged_here(task: Task, answers: Sequence[tuple[str, Sequence[str] | None]]) -> list[TaskResult]:
    """Judge all answers to a task; equal answers once."""
    if (copies := _copies) is None:
        raise _fault or EngineUnavailable("no copies can be made")
    judging = _TaskJudging(task, copies)
    known = judging.together([*dict.fromkeys(tuple(answer or ()) for _, answer in answers)])
    results = []
    works: dict[tuple[str, ...], float | None] = {}
    for predictor, answer in answers:
        texts = tuple(answer or ())
        if texts not in known:
            known[texts] = (judging.official(texts), *judging.strict(texts))
        official, strict, state, changed = known[texts]
        if answer is None:
            strict = StrictVerdict(StrictStatus.ERROR, _NO_ANSWER)
            if task.family.needs_answer:
                official = OfficialVerdict(OfficialStatus.EXECUTION_ERROR, _NO_ANSWER)
        if texts not in works:
            works[texts] = None if strict.status is StrictStatus.ERROR else judging.work(texts)
        results.append(
            TaskResult(
                predictor,
                task.id,
                task.database,
                str(task.category),
                task.difficulty,
                official,
                strict,
                state,
                changed,
                works[texts],
            )
        )
    return results


_untouched: dict[str, State] = {}
"""The state of each database as it is loaded, by name; of this worker process."""


@dataclass(frozen=True)
class _Run:
    """What statements return on a copy, and its state after them; a state is None if nothing was written."""

    result: StatementsResult
    before: State | None = None
    after: State | None = None


class _TaskJudging:
    """Judges the answers to one task, on copies that it hands out; gold runs once for all of them."""

    def __init__(self, task: Task, copies: Copies) -> None:
        self._task, self._copies = task, copies

    def official(self, answer: Sequence[str]) -> OfficialVerdict:
        """Return the official verdict on an answer."""
        task, family = self._task, self._task.family
        if missing := missing_fields(task, family):
            return OfficialVerdict(OfficialStatus.EXECUTION_ERROR, f"the task has no {', '.join(missing)}")
        has_issue = bool(task.failing)

        def judged(places: Sequence[str]) -> tuple[str, str | None]:
            found = official_verdict(task, family, answer, _opened(family, places))
            return found.status, found.message

        texts = (*answer, *task.gold, *task.failing)
        try:
            status, message = self._on_copies(
                judged, texts, family.task_seconds or TASK_SECONDS, number=1 + has_issue
            )
            return OfficialVerdict(OfficialStatus(status), message)
        except Ended as error:
            # A kill at the task's limit counts as an execution error, and so does a crash.
            return OfficialVerdict(OfficialStatus.EXECUTION_ERROR, str(error))

    def strict(self, answer: Sequence[str]) -> tuple[StrictVerdict, bool | None, Sequence[str]]:
        """Return the strict verdict on an answer, whether its state is gold's, and what differs."""
        gold = self._gold

        def judged(places: Sequence[str]) -> tuple[str, str | None, bool, State | None]:
            task, family = self._task, self._task.family
            session = _prepared(task, places)
            # On the same copy: an engine gathers the statistics of each by itself, sooner or later.
            cost = issue_cost(task, session)
            done = run_whole(session, answer)
            # Before the test cases, which may change the copy, too.
            is_decided = gold.result.fault is None and done.fault is None
            try:
                after = session.state() if is_decided and not session.is_untouched() else None
                found = strict_verdict(task, family, answer, done, gold.result, session, cost)
            except Exception as error:  # noqa: BLE001 - if the server is gone, `discard` says so
                return StrictStatus.ERROR, _unreadable(error), False, None
            return found.status, found.message, is_decided, after

        try:
            status, message, is_decided, after = self._on_copies(judged, answer, TASK_SECONDS)
        except Ended as error:
            return StrictVerdict(StrictStatus.ERROR, str(error)), None, ()
        state, changed = self._compared_states(after, answer) if is_decided else (None, ())
        return StrictVerdict(StrictStatus(status), message), state, changed

    def work(self, answer: Sequence[str]) -> float | None:
        """Return the issue's counted work divided by the answer's; see `TaskResult`."""
        if not (self._task.is_efficiency and self._task.issue):
            return None
        ours, theirs = self._counted(answer), self._issue_work
        return theirs / ours if ours and theirs else None

    @cached_property
    def _issue_work(self) -> float | None:
        return self._counted(self._task.issue)

    def _counted(self, statements: Sequence[str]) -> float | None:
        """Return the counted work of statements on a copy of their own."""
        task = self._task
        seconds = _statement_seconds(task.family)
        prepare_counting(task.family)

        def counted(places: Sequence[str]) -> float | None:
            # Counting opens sessions of its own.
            session = _prepared(task, places, keeps_rights=engine_of(task.family).has_server)
            return work_of(task.family, places[0], session, statements, seconds)

        try:
            return self._on_copies(counted, statements, TASK_SECONDS, has_code=False)
        except Ended:
            return None

    @cached_property
    def _gold(self) -> _Run:
        """What gold does on a copy of its own."""
        task = self._task

        def run(places: Sequence[str]) -> _Run:
            session = _prepared(task, places)
            before = None if session.is_untouched() else session.state()
            result = run_whole(session, task.gold)
            try:
                after = None if result.fault is not None or session.is_untouched() else session.state()
            except Exception as error:  # noqa: BLE001 - as in `strict`
                return _Run(StatementsResult(None, StatementFault(_unreadable(error))))
            return _Run(result, before, after)

        try:
            return self._on_copies(run, task.gold, TASK_SECONDS, is_plain=False, has_code=False)
        except Ended as error:
            return _Run(StatementsResult(None, StatementFault(str(error), is_timeout=error.is_timeout)))

    def _compared_states(
        self, after: State | None, answer: Sequence[str]
    ) -> tuple[bool | None, Sequence[str]]:
        """Return whether a copy is in gold's state, and what differs.

        None if neither changes anything.
        """
        gold = self._gold
        if gold.after is None and (after is None or only_reads(answer)):
            return None, ()
        before = self._loaded() if gold.before is None else gold.before
        golds = before if gold.after is None else gold.after
        found = before if after is None else after
        states = before, golds, found
        if written := {
            name
            for state in states
            for name, digest in state.items()
            if digest == UNTOUCHED and any(one.get(name, UNTOUCHED) != UNTOUCHED for one in states)
        }:
            loaded = self._loaded(written)
            before, golds, found = (
                {**state, **{name: loaded[name] for name in written if state.get(name) == UNTOUCHED}}
                for state in states
            )
        if golds == before and (found == before or only_reads(answer)):
            return None, ()
        changed = differences(found, golds)
        return not changed, changed

    def _loaded(self, wanted: AbstractSet[str] = frozenset()) -> State:
        """Return the state of the database before anything is done to it, with digests of some entries."""
        family, name = self._task.family, self._task.database
        known = _untouched.get(name, {})
        if not known or any(known[each] == UNTOUCHED for each in wanted):

            def found(places: Sequence[str]) -> dict[str, str]:
                session = _opened(family, places)()
                session.limit(STATEMENT_SECONDS)
                return dict(session.state(wanted))

            more = self._on_copies(found, (), TASK_SECONDS, has_code=False)
            _untouched[name] = known = more | {key: one for key, one in known.items() if one != UNTOUCHED}
        return known

    def together(self, answers: Sequence[tuple[str, ...]]) -> dict[tuple[str, ...], "Verdicts"]:
        """Judge answers that only read, one after the other in one child, on one copy.

        An answer is left out if something was written after all, or judging it did not end.
        """
        task, family, copies = self._task, self._task.family, self._copies
        reading = [answer for answer in answers if only_reads(answer)]
        if (
            tests_of(task, family)
            or task.failing
            or missing_fields(task, family)
            or not only_reads((*task.preprocess, *task.gold))
            or len(reading) < _WORTH_SHARING
        ):
            return {}
        found: dict[tuple[str, ...], Verdicts] = {}
        try:
            copies.reserve([*task.preprocess, *task.gold, *(text for answer in reading for text in answer)])
            place = copies.fresh(task.database)
            lines = lines_of_child(
                partial(_judged_on_one, task, place, reading),
                family.task_seconds or TASK_SECONDS,
            )
            with suppress(Ended):
                for (status, message, strict, more), answer in zip(lines, reading, strict=False):
                    found[answer] = (
                        OfficialVerdict(OfficialStatus(status), message),
                        StrictVerdict(StrictStatus(strict), more),
                        None,
                        (),
                    )
        finally:
            copies.discard(may_keep=True)
        return found

    def _on_copies(  # noqa: PLR0913 - where, what and how long
        self,
        work: Callable[[Sequence[str]], Made],
        texts: Sequence[str],
        seconds: float,
        *,
        number: int = 1,
        is_plain: bool = True,
        has_code: bool | None = None,
    ) -> Made:
        """Do work in a child on fresh copies.

        Args:
            work: gets the places of the copies.
            texts: the statements that run there, in addition to those that prepare the copy.
            seconds: after which the child is killed.
            number: of copies.
            is_plain: see `in_child`.
            has_code: whether code of test cases runs; None if the task decides.
        """
        task, copies = self._task, self._copies
        if has_code is None:
            has_code = bool(tests_of(task, task.family))
        may_keep = not has_code and only_reads((*task.preprocess, *texts))
        try:
            copies.reserve((*task.preprocess, *texts, *(map(str, task.test_cases) if has_code else ())))
            places = [copies.fresh(task.database) for _ in range(number)]
            meanwhile = None if may_keep else partial(copies.prepare, task.database)
            return in_child(partial(work, places), seconds, is_plain=is_plain, meanwhile=meanwhile)
        finally:
            copies.discard(may_keep=may_keep)


def _unreadable(error: Exception) -> str:
    return f"its copy cannot be read afterwards: {error}"


_WORTH_SHARING = 2
"""Answers for which a child of its own costs more than one for all."""


def _judged_on_one(
    task: Task, place: str, answers: Sequence[Sequence[str]]
) -> Iterator[tuple[str, str | None, str, str | None]]:
    """Yield both verdicts on each answer, in order, until something was written to the copy."""
    family = task.family
    session = _prepared(task, [place])
    gold = run_whole(session, task.gold)
    for answer in answers:
        if not session.is_untouched():
            return
        session = again = session.again()
        official = official_verdict(task, family, answer, lambda again=again: again)  # type: ignore[misc]
        if not session.is_untouched():
            return
        session = session.again()
        session.limit(_statement_seconds(family))
        run_whole(session, task.preprocess)
        strict = strict_verdict(task, family, answer, run_whole(session, answer), gold, session)
        if not session.is_untouched():
            return
        yield official.status, official.message, strict.status, strict.message


def _opened(
    family: ScriptFamily, places: Sequence[str], *, keeps_rights: bool = False
) -> Callable[[], TaskSession]:
    """Open sessions on copies before the rights to reach a server are lost; return what hands them out.

    Args:
        family: the script family.
        places: of the copies.
        keeps_rights: True where nothing but statements on a server are executed.
    """
    engine = engine_of(family)
    # A file can be opened without rights; a server cannot be reached without a network.
    sessions = [engine.session(place, family) for place in places] if engine.has_server else []
    if not keeps_rights:
        lose_rights()
    left = iter(sessions or [engine.session(place, family) for place in places])
    return lambda: next(left)


def _prepared(task: Task, places: Sequence[str], *, keeps_rights: bool = False) -> TaskSession:
    """Open a session, and prepare its copy."""
    session = _opened(task.family, places, keeps_rights=keeps_rights)()
    session.limit(_statement_seconds(task.family))
    run_whole(session, task.preprocess)
    return session


def _statement_seconds(family: ScriptFamily) -> float:
    return min(STATEMENT_SECONDS, family.task_seconds or TASK_SECONDS)
