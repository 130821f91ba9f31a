"""Judge answers to tasks: each in processes of their own, on fresh copies, with three verdicts side by side.

A worker process takes one task after the other and forks a child for each verdict: code of a test case and
a text that ends its process cost their own verdict and nothing else.
"""

import atexit
import ctypes
import os
import pickle
import re
import resource
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import TypeVar

from harness.labs.tasks.engine import (
    NOBODY,
    Copies,
    State,
    StatementFault,
    StatementsResult,
    TaskSession,
    differences,
    engine_of,
    run_whole,
)
from harness.labs.tasks.families import ScriptFamily
from harness.labs.tasks.layouts import Task, TaskAnswers, TaskSet
from harness.labs.tasks.official import OfficialStatus, OfficialVerdict, missing_fields, official_verdict
from harness.labs.tasks.strict import StrictStatus, StrictVerdict, strict_verdict
from loaders.base.errors import EngineUnavailable
from loaders.base.files import ascii_json, parse_json
from loaders.base.processes import end_with
from loaders.server import Server

GOLD = "gold"
"""The predictor whose answers are the golds: what it cannot pass, nobody can."""

TASK_SECONDS = 600.0
"""The limit of a task whose family has none."""

STATEMENT_SECONDS = 60.0
"""The limit of a statement under the strict verdict."""

_MEMORY_BYTES = 4 * 2**30
_FILE_BYTES = 2 * 2**30

Made = TypeVar("Made")


@dataclass(frozen=True)
class TaskResult:
    """The verdicts on one answer.

    `state` is True if schema and rows are gold's, False if not, None if gold or the answer fails, or nothing
    is to be changed; `changed` names what differs.
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


class Ended(Exception):
    """A child was ended: by its limit of time, or by itself."""

    def __init__(self, message: str, *, is_timeout: bool) -> None:
        super().__init__(message)
        self.is_timeout = is_timeout


def in_child(work: Callable[[], Made], seconds: float, *, is_plain: bool = True) -> Made:
    """Do work in a forked child that has no rights, no environment and little memory.

    Args:
        work: what the child does.
        seconds: after which the child is killed.
        is_plain: True if the result comes back as JSON, which executes nothing: required where code of test
           cases runs. Else it comes back as it is.

    Raises:
        Ended: it was killed, or ended without a result.
        EngineUnavailable: `work` raised; this is the harness's fault or the server's, and no verdict.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _work(work, reading, writing, is_plain=is_plain)
    os.close(writing)
    data, deadline = bytearray(), time.monotonic() + seconds
    try:
        while True:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([reading], [], [], left)[0]:
                raise Ended(f"it was not judged within {seconds:g} s", is_timeout=True)
            piece = os.read(reading, 2**20)
            if not piece:
                break
            data += piece
    finally:
        os.close(reading)
        for kill in (os.killpg, os.kill):
            with suppress(ProcessLookupError):
                kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    if not data:
        raise Ended(f"its process ended ({os.waitstatus_to_exitcode(status)})", is_timeout=False)
    kind, content = data[:1], bytes(data[1:])
    if kind == _FAULT:
        raise EngineUnavailable(f"a task cannot be judged: {content.decode(errors='replace')}")
    if not is_plain:
        # Only statements ran in it.
        return pickle.loads(content)  # type: ignore[no-any-return]  # noqa: S301
    try:
        return parse_json(content.decode())  # type: ignore[no-any-return]
    except ValueError as error:
        raise Ended(f"its process wrote no verdict ({error})", is_timeout=False) from error


_RESULT, _FAULT = b"r", b"f"
"""The first byte of what a child writes."""


def _work(work: Callable[[], Made], reading: int, writing: int, *, is_plain: bool) -> None:
    """Be the child: do the work, write the result and end."""
    try:
        os.close(reading)
        os.setsid()
        _confine()
        try:
            result = work()
            data = _RESULT + (ascii_json(result).encode() if is_plain else pickle.dumps(result))
        except Exception as error:  # noqa: BLE001 - it is raised in the parent
            data = _FAULT + f"{type(error).__name__}: {error}".encode(errors="replace")
        with os.fdopen(writing, "wb") as file:
            file.write(data)
    finally:
        os._exit(0)


_NEW_NETWORK = 0x40000000
"""CLONE_NEWNET, https://man7.org/linux/man-pages/man2/unshare.2.html."""


def _confine() -> None:
    """Take from this process the environment, memory, big files and, from root's, all rights."""
    os.environ.clear()
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    sys.stdout = sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - to the end
    for what, most in (
        (resource.RLIMIT_AS, _MEMORY_BYTES),
        (resource.RLIMIT_FSIZE, _FILE_BYTES),
        (resource.RLIMIT_CORE, 0),
    ):
        with suppress(ValueError, OSError):
            resource.setrlimit(what, (most, most))


def _lose_rights() -> None:
    """Leave the network, if the system lets this process, and root's account."""
    if sys.platform == "linux":
        ctypes.CDLL(None).unshare(_NEW_NETWORK)
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)


def judge(
    tasks: TaskSet, predictors: Sequence[TaskAnswers], workers: int, server: Server | None = None
) -> Iterator[TaskResult]:
    """Yield the results of every task, in order: gold's first, then each predictor's.

    Args:
        tasks: the tasks.
        predictors: their answers; an id without one is an empty list, which the scripts run as any other.
        workers: processes that judge.
        server: where copies are made, if the family's engine has servers.

    Raises:
        BadInput: a database is missing.
        EngineUnavailable: the server failed.
    """
    answered = [
        (GOLD, {task.id: task.gold for task in tasks.tasks}),
        *((one.predictor, one.answers) for one in predictors),
    ]
    context = get_context("spawn")
    with ProcessPoolExecutor(
        workers, context, initializer=_begin, initargs=(tasks.databases, tasks.family, server, os.getpid())
    ) as pool:
        jobs = [
            pool.submit(_judged, task, [(name, answers.get(task.id)) for name, answers in answered])
            for task in tasks.tasks
        ]
        try:
            for job in jobs:
                yield from job.result()
        finally:
            pool.shutdown(cancel_futures=True)


_copies: Copies | None = None
"""Of this worker process."""


def _begin(databases: Path, family: ScriptFamily, server: Server | None, parent: int) -> None:
    global _copies  # noqa: PLW0603 - one a process, made by its initializer
    end_with(parent, grace=False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _copies = engine_of(family).copies(databases, server)
    # A worker that ends by itself leaves nothing; one that is killed is cleaned up after by the next.
    atexit.register(_copies.close)


def _judged(task: Task, answers: Sequence[tuple[str, Sequence[str] | None]]) -> list[TaskResult]:
    """Judge all answers to a task, in a worker process; equal answers once."""
    copies = _copies
    assert copies is not None  # noqa: S101 - made by the initializer
    known: dict[tuple[str, ...], tuple[OfficialVerdict, StrictVerdict, bool | None, Sequence[str]]] = {}
    results = []
    try:
        gold = _gold(task, copies)
    finally:
        copies.discard()
    for predictor, answer in answers:
        texts = tuple(answer or ())
        if texts not in known:
            try:
                known[texts] = (_official(task, texts, copies), *_strict(task, texts, gold, copies))
            finally:
                copies.discard()
        official, strict, state, changed = known[texts]
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
            )
        )
    return results


def _official(task: Task, answer: Sequence[str], copies: Copies) -> OfficialVerdict:
    family = task.family
    if missing := missing_fields(task, family):
        return OfficialVerdict(OfficialStatus.EXECUTION_ERROR, f"the task has no {', '.join(missing)}")
    places = [copies.fresh(task.database) for _ in range(2 if family.has_issue and task.issue else 1)]

    def work() -> tuple[str, str | None]:
        found = official_verdict(task, family, answer, _opened(family, places))
        return found.status, found.message

    try:
        status, message = in_child(work, family.task_seconds or TASK_SECONDS)
        return OfficialVerdict(OfficialStatus(status), message)
    except Ended as error:
        # A kill at the task's limit counts as an execution error, and so does a crash.
        return OfficialVerdict(OfficialStatus.EXECUTION_ERROR, str(error))


def _opened(family: ScriptFamily, places: Sequence[str]) -> Callable[[], TaskSession]:
    """Open sessions on copies before the rights to reach a server are lost; return what hands them out."""
    engine = engine_of(family)
    # A file can be opened without rights; a server cannot be reached without a network.
    sessions = [engine.session(place, family) for place in places] if engine.has_server else []
    _lose_rights()
    left = iter(sessions or [engine.session(place, family) for place in places])
    return lambda: next(left)


@dataclass(frozen=True)
class _GoldRun:
    """What gold returns, and the state of its copy before and after it; a state is None if gold failed."""

    result: StatementsResult
    before: State | None = None
    after: State | None = None


def _gold(task: Task, copies: Copies) -> _GoldRun:
    """Run gold once for all answers, on a copy of its own."""
    places = [copies.fresh(task.database)]

    def work() -> _GoldRun:
        session = _prepared(task, places)
        before = session.state()
        result = run_whole(session, task.gold)
        return _GoldRun(result, before, session.state() if result.fault is None else None)

    try:
        return in_child(work, TASK_SECONDS, is_plain=False)
    except Ended as error:
        return _GoldRun(StatementsResult(None, StatementFault(str(error), is_timeout=error.is_timeout)))


def _prepared(task: Task, places: Sequence[str]) -> TaskSession:
    """Open a session, and prepare its copy."""
    session = _opened(task.family, places)()
    session.limit(STATEMENT_SECONDS)
    run_whole(session, task.preprocess)
    return session


def _strict(
    task: Task, answer: Sequence[str], gold: _GoldRun, copies: Copies
) -> tuple[StrictVerdict, bool | None, Sequence[str]]:
    places = [copies.fresh(task.database)]

    def work() -> tuple[str, str | None, bool | None, Sequence[str]]:
        session = _prepared(task, places)
        done = run_whole(session, answer)
        # Before the test cases, which may change the copy, too.
        state, changed = _compared_states(gold, done, session, answer)
        found = strict_verdict(task, task.family, answer, done, gold.result, session)
        return found.status, found.message, state, list(changed)

    try:
        status, message, state, changed = in_child(work, TASK_SECONDS)
        return StrictVerdict(StrictStatus(status), message), state, changed
    except Ended as error:
        return StrictVerdict(StrictStatus.ERROR, str(error)), None, ()


def _compared_states(
    gold: _GoldRun, done: StatementsResult, session: TaskSession, answer: Sequence[str]
) -> tuple[bool | None, Sequence[str]]:
    """Return whether a copy is in gold's state, and what differs.

    None if a side failed, or neither changes anything.
    """
    if gold.before is None or gold.after is None or done.fault is not None:
        return None, ()
    if gold.after == gold.before and _only_reads(answer):
        return None, ()
    after = session.state()
    if after == gold.before == gold.after:
        return None, ()
    changed = differences(after, gold.after)
    return not changed, changed


_FIRST = re.compile(r"[\s(]*(?:select|values|with|explain)\b", re.IGNORECASE)
_WRITES = re.compile(r"\b(?:insert|update|delete|replace|merge|into|analyze|create|drop)\b", re.IGNORECASE)


def _only_reads(statements: Sequence[str]) -> bool:
    """Return True if statements begin as queries and have no word of another kind, wherever it is."""
    return all(_FIRST.match(text) and not _WRITES.search(text) for text in statements)
