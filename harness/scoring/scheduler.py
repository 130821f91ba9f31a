"""Turn SQL texts into judgements: look cached outcomes up and send the rest to the workers as tasks.

A text is executed once for all callers, in this run and, with a store, in later ones. A server that fails
repeatedly, and at a statement of the harness's own, too, is given up: its remaining texts become harness
errors.
"""

import hashlib
import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from dataclasses import dataclass, field, replace
from threading import Condition, Lock, get_ident

from dialects.volatility import is_volatile
from harness.data.outcomes import Judgement, Outcome, Verdict
from harness.data.questions import Question
from harness.engines import EngineName, dialect_of, kind_of
from harness.engines.base import Engine, EngineLost
from harness.engines.execution import Ending, execute
from harness.metrics import Basis, of_basis
from harness.scoring.cache import CacheKeys, Lifetime, Lookup, is_code_unchanged, today
from harness.scoring.golds import NoGold
from harness.scoring.tasks import JudgeResult, JudgeTask, Setup, Workers, error_message
from loaders.base.records import decode, encode
from loaders.base.store import EntryKind, Store

MOST_FAILURES = 3
"""Consecutive failed tasks after which a server is given up."""

_HEAVY = re.compile(r"\b(?:select|join)\b", re.IGNORECASE)
_FEW = 64
"""Answers that are looked up in a millisecond or two."""
_SHORT = 20_000
"""Characters that are: of all these answers, or the leading ones of a text whose cost is estimated."""

_MOST_WAITING = 10.0
"""Seconds to wait for writes at the end."""

_NOT_KEPT = frozenset({Outcome.HARNESS_ERROR, Outcome.GOLD_TIMEOUT})
"""Outcomes that are not cached, because no SQL text is to blame for them."""

Key = tuple[EngineName, str, str]
"""An engine, a question and a text."""

TaskKeys = Mapping[str, Mapping[str | int, bytes]]
"""Cache keys of the results of a task, by the fields of `JudgeResult` and their entries."""


@dataclass(frozen=True)
class Overruns:
    """How many texts a server went on with after their limit, and the sum of these seconds."""

    texts: int = 0
    seconds: float = 0.0

    def plus(self, seconds: Collection[float]) -> "Overruns":
        """Return the same with some more texts, by the seconds of each."""
        return Overruns(self.texts + len(seconds), self.seconds + sum(seconds))


@dataclass(frozen=True, eq=False)
class Candidate:
    """An SQL text as an answer to a question on an engine."""

    question: Question
    dialect: EngineName
    sql: str

    @property
    def key(self) -> Key:
        """The identity of the candidate: equal keys are judged once."""
        return self.dialect, self.question.key, self.sql


@dataclass(frozen=True)
class _Batch:
    """The distinct texts for a question on an engine, with the cache keys of their judgements.

    `undecided` has cached judgements of texts that have not met all witnesses of their question.
    """

    question: Question
    dialect: EngineName
    day: str
    judgements: Mapping[str, bytes | None]
    undecided: Mapping[str, Judgement] = field(default_factory=dict)

    def key(self, text: str) -> Key:
        """Return the key of a candidate."""
        return self.dialect, self.question.key, text


class Scheduler:
    """Distributes texts to workers and caches their judgements; thread-safe.

    Args:
        setup: what all tasks share.
        start: creates the workers; they are closed with the scheduler.
        store: the results of earlier runs; None to judge everything anew.
        engines: engines whose version and settings enter the cache keys; default: those of the setup.

    Raises:
        EngineLost: an engine does not respond.
    """

    def __init__(
        self,
        setup: Setup,
        start: Callable[[], Workers],
        *,
        store: Store | None = None,
        engines: Mapping[EngineName, Engine] | None = None,
    ) -> None:
        self._setup = setup
        self.engines = engines or {dialect: setup.engine(dialect) for dialect in setup.servers}
        self.golds = setup.golds()
        self._cache_keys = CacheKeys(setup, self.golds, self.engines)
        self._lookup = Lookup(store)
        self._lock = Lock()
        self._workers = start()
        self._running: dict[Key, Future[Judgement]] = {}
        self._shared: set[Key] = set()
        """The running keys with several callers."""
        self._tasks: dict[Future[JudgeResult], JudgeTask] = {}
        """The submitted tasks without an answer."""
        self._given_up: set[Future[JudgeResult]] = set()
        """Those of them whose callers have stopped waiting and been answered."""
        self._finishing: dict[Future[JudgeResult], int] = {}
        """The thread that finishes each task."""
        self._settled = Condition(self._lock)
        self.cached = self.executed = 0
        """Number of texts found in the cache, and executed."""
        self._same_code, self._code_seen = True, 0.0
        self._failures: Counter[EngineName] = Counter()
        self.failed: dict[EngineName, str] = {}
        """Engines that were given up, and why."""
        self.overruns: dict[EngineName, Overruns] = {}
        """The texts of each engine that went on after their limit."""

    def begins_at_once(self, candidates: Sequence[Candidate]) -> bool:
        """Return True if `begin` would read no file and translate no gold: it takes a millisecond or two."""
        return (
            len(candidates) <= _FEW
            and sum(len(each.sql) for each in candidates) <= _SHORT
            and all(
                dialect_of(each.dialect) in each.question.gold
                and self._cache_keys.has_hasher(each.dialect, each.question.db_id)
                for each in candidates
            )
        )

    def known(self, candidates: Sequence[Candidate]) -> list[Judgement] | None:
        """Return the judgements of a few texts if all are in memory, at once; None otherwise."""
        if not self.begins_at_once(candidates):
            return None
        day = today()
        keys = [self._cache_keys.judgement(each.question, each.dialect, each.sql, day) for each in candidates]
        values = self._lookup.in_memory(keys)
        if values is None:
            return None
        judgements = []
        for each, value in zip(candidates, values, strict=True):
            judgement, met = _from_bytes(value)
            if self._is_open(judgement, met, each.question, each.dialect):
                return None
            judgements.append(judgement)
        with self._lock:
            self.cached += len(set(keys))
        return judgements

    def begin(self, candidates: Sequence[Candidate], *, waits: bool = False) -> list[Future[Judgement]]:
        """Start judging texts; return one future each, which never raises for an engine or a text.

        Args:
            candidates: the texts.
            waits: True if the caller does nothing else until they are judged.
        """
        futures: list[Future[Judgement]] = []
        new: dict[Key, Future[Judgement]] = {}
        try:
            with self._lock:
                for each in candidates:
                    future = self._running.get(each.key)
                    if future is None:
                        future = new[each.key] = Future()
                        # Other callers may share the future: mark it as running so that none can cancel it.
                        future.set_running_or_notify_cancel()
                        self._running[each.key] = future
                    elif each.key not in new:
                        self._shared.add(each.key)
                    futures.append(future)
            self._have_judged([each for each in candidates if each.key in new], new, waits=waits)
        except BaseException as error:
            # Finish what no task has taken over: other callers may wait for it, or request it again.
            for key, future in new.items():
                if self._running.get(key) is future:
                    self._answer(key, self._setup.broken(key[0], f"it was not run: {error_message(error)}"))
            raise
        return futures

    def _have_judged(
        self, candidates: Sequence[Candidate], new: dict[Key, Future[Judgement]], *, waits: bool
    ) -> None:
        """Answer what is cached, and submit the rest to the workers, removing it from `new`."""
        # A result that ends after midnight is stored under this day, so no later run finds it.
        day = today()
        groups: dict[tuple[EngineName, str], list[Candidate]] = {}
        for each in candidates:
            groups.setdefault(each.key[:2], []).append(each)
        parts: tuple[list[list[Candidate]], list[list[Candidate]]] = ([], [])
        for group in groups.values():
            # Workers take a moment to start; look the rest up meanwhile, if there is a store.
            parts[not (self._lookup.has_store and self._may_run(group))].append(group)
        for part in parts:
            batches = self._unknown([self._batch(group, day) for group in part])
            # Finding the texts that use the date takes longer than looking the others up.
            batches = [rest for batch in batches for rest in self._unknown_today(batch)]
            for batch in _heaviest_first(batches):
                self._submit(batch, alone=waits and len(groups) == 1)
                for text in batch.judgements:
                    new.pop(batch.key(text), None)

    def _may_run(self, group: Sequence[Candidate]) -> bool:
        """Guess quickly if something must run whatever the cache has: a gold that asks for the present."""
        question, dialect = group[0].question, group[0].dialect
        golds = question.each(dialect_of(dialect))
        return any(is_volatile(self.golds.written(one, dialect)) for one in golds)

    def _batch(self, group: Sequence[Candidate], day: str) -> _Batch:
        question, dialect = group[0].question, group[0].dialect
        texts = [each.sql for each in group]
        return _Batch(question, dialect, day, self._cache_keys.judgements(question, dialect, texts, day))

    def _unknown_today(self, batch: _Batch) -> list[_Batch]:
        """Answer what is cached for this day; return the rest."""
        dated = self._cache_keys.dated(batch.question, batch.dialect, batch.judgements, batch.day)
        return self._unknown([replace(batch, judgements={**batch.judgements, **dated})]) if dated else [batch]

    def _unknown(self, batches: Sequence[_Batch]) -> list[_Batch]:
        """Answer what is cached; return the rest."""
        known = self._lookup.get(
            key for batch in batches for key in batch.judgements.values() if key is not None
        )
        remaining = []
        for batch in batches:
            unknown, undecided = {}, {}
            for text, key in batch.judgements.items():
                if key is None or key not in known:
                    unknown[text] = key
                    continue
                judgement, met = _from_bytes(known[key])
                if self._is_open(judgement, met, batch.question, batch.dialect):
                    unknown[text], undecided[text] = key, judgement
                else:
                    self._answer(batch.key(text), judgement)
            if unknown:
                remaining.append(replace(batch, judgements=unknown, undecided=undecided))
            with self._lock:
                self.cached += len(batch.judgements) - len(unknown)
        return remaining

    def _is_open(self, judgement: Judgement, met: str, question: Question, dialect: EngineName) -> bool:
        """Return True if an undecided answer has not met all witnesses that are known for its question.

        Args:
            judgement: what is cached of the answer.
            met: the digest of the witnesses that it has met.
            question: the question.
            dialect: the engine.
        """
        if judgement.tested is None or judgement.tested.verdict is not Verdict.UNDECIDED:
            return False
        key = self._cache_keys.witnesses(question, dialect)
        return met != ("" if key is None else _digest(self._lookup.get([key]).get(key)))

    def _submit(self, batch: _Batch, *, alone: bool) -> None:
        keys = self._task_keys(batch)
        known = self._lookup.get(key for entries in keys.values() for key in entries.values())
        task = JudgeTask(
            batch.dialect,
            batch.question,
            tuple(batch.judgements),
            JudgeResult(**{
                field: {entry: known[key] for entry, key in entries.items() if key in known}
                for field, entries in keys.items()
            }),  # type: ignore[arg-type]  # each field has its own kind of entries
            frozenset(
                text
                for text in batch.judgements
                if self._cache_keys.lifetime(batch.dialect, text) is Lifetime.NEVER
            ),
            undecided=batch.undecided,
        )  # fmt: skip
        # Also to an engine that was given up: what waited then is lost, but it may be back for later requests
        # of an evaluator that lives for days. If it is not, each such task says so by itself.
        # Without the lock: the task is judged before this returns.
        future = self._workers.at_once(task) if alone else None
        # With it: whoever cancels waiting tasks must find each that has been submitted.
        with self._lock:
            if future is None:
                future = self._workers.submit(task)
            self._tasks[future] = task
        future.add_done_callback(lambda future: self._finish(batch, keys, task, future))

    def _task_keys(self, batch: _Batch) -> TaskKeys:
        question, dialect, day = batch.question, batch.dialect, batch.day
        golds = question.each(dialect_of(dialect))
        counted: list[str] = []
        if of_basis(self._setup.metrics, Basis.WORK):
            counted += batch.judgements
            for gold in golds:
                # The work of a gold without a text for the engine is never counted.
                with suppress(NoGold):
                    counted.append(self.golds.text(gold, dialect))
        tested = of_basis(self._setup.metrics, Basis.WITNESSES)
        keys: Mapping[str, Mapping[str | int, bytes | None]] = {
            "golds": {place: self._cache_keys.gold(gold, dialect, day) for place, gold in enumerate(golds)},
            "executions": {
                text: self._cache_keys.execution(question, dialect, text, day) for text in batch.judgements
            },
            "works": {text: self._cache_keys.work(question, dialect, text, day) for text in counted},
            "witnesses": {0: self._cache_keys.witnesses(question, dialect)} if tested else {},
        }
        return {
            field: {entry: key for entry, key in entries.items() if key is not None}
            for field, entries in keys.items()
        }

    def _finish(self, batch: _Batch, keys: TaskKeys, task: JudgeTask, future: Future[JudgeResult]) -> None:
        try:
            with self._lock:
                self._finishing[future] = get_ident()
            self._answer_task(batch, keys, task, future)
        finally:
            with self._settled:
                self._finishing.pop(future, None)
                self._settled.notify_all()

    def _answer_task(
        self, batch: _Batch, keys: TaskKeys, task: JudgeTask, future: Future[JudgeResult]
    ) -> None:
        with self._lock:
            self._tasks.pop(future, None)
            if future in self._given_up and future.cancelled():
                self._given_up.discard(future)
                return
        try:
            result = future.result()
        except CancelledError:
            why = self.failed.get(task.dialect, "the run was stopped")
            result = self._all_broken(task, f"it was not run: {why}")
        except Exception as error:  # noqa: BLE001 - a fault of ours is one task's, not the run's
            result = self._all_broken(task, error_message(error))
        else:
            with self._lock:
                self.executed += len(task.texts) - len(task.undecided)
                self.cached += len(task.undecided)
                if result.overruns:
                    before = self.overruns.get(task.dialect, Overruns())
                    self.overruns[task.dialect] = before.plus(result.overruns.values())
        try:
            if not future.cancelled():
                self._count_failures(task, result)
            kinds = _worth_keeping(batch, keys, task, result) if self._is_same_code() else {}
            for values in kinds.values():
                self._lookup.note(values)
        finally:
            for text in task.texts:
                self._answer(batch.key(text), result.judgements[text])
        # Answer first, so that no caller waits for the disk.
        for kind, values in kinds.items():
            self._lookup.store(values, kind)

    def give_up(self, candidates: Iterable[Candidate], why: str) -> None:
        """Cancel candidates that their caller no longer waits for; their futures get a harness error at once.

        Candidates of other callers go on, and so do running statements.
        """
        with self._lock:
            keys = {each.key for each in candidates} - self._shared
            tasks = {
                future: {(task.dialect, task.question.key, text) for text in task.texts}
                for future, task in self._tasks.items()
                if not future.running()
            }
            given_up = [future for future, texts in tasks.items() if texts <= keys]
            self._given_up.update(given_up)
            # Later requests for one of them judge it anew.
            texts = set().union(*(tasks[future] for future in given_up)) & self._running.keys()
            left = [(key[0], self._running.pop(key)) for key in texts]
        for future in given_up:
            if not future.cancel():
                with self._lock:
                    self._given_up.discard(future)
        for dialect, waiting in left:
            waiting.set_result(self._setup.broken(dialect, why))

    def _is_same_code(self) -> bool:
        """Return True if workers run the code of the cache keys; checked once a second."""
        with self._lock:
            if self._code_seen + 1 < time.monotonic():
                self._same_code, self._code_seen = is_code_unchanged(), time.monotonic()
            return self._same_code

    def _all_broken(self, task: JudgeTask, why: str) -> JudgeResult:
        return JudgeResult(dict.fromkeys(task.texts, self._setup.broken(task.dialect, why)))

    def _count_failures(self, task: JudgeTask, result: JudgeResult) -> None:
        """Give a server up that failed for several tasks in a row, and does not answer."""
        dialect = task.dialect
        judgements = result.judgements.values()
        errors = [each.error for each in judgements if each.outcome is Outcome.HARNESS_ERROR]
        with self._lock:
            # Without a server, a failure concerns one file.
            has_server = self._setup.servers[dialect] and kind_of(dialect).embedded is None
            if len(errors) < len(judgements) or not has_server:
                self._failures[dialect] = 0
                return
            self._failures[dialect] += 1
            if self._failures[dialect] < MOST_FAILURES or dialect in self.failed:
                return
        if self._responds(task):
            # Whatever failed, it was not the server: other texts are judged as before.
            with self._lock:
                self._failures[dialect] = 0
            return
        with self._lock:
            self.failed.setdefault(dialect, errors[0] or "")
            waiting = [future for future, task in self._tasks.items() if task.dialect == dialect]
        for future in waiting:
            future.cancel()

    def _responds(self, task: JudgeTask) -> bool:
        """Return True if the engine runs a statement of the harness's own on the database of a task."""
        try:
            database = self._setup.database(task.question.db_id, task.dialect)
            found = execute(self.engines[task.dialect], database, "SELECT 1", self._setup.limits)
        except EngineLost:
            return False
        return found.ending is Ending.ROWS

    def _answer(self, key: Key, judgement: Judgement) -> None:
        with self._lock:
            future = self._running.pop(key, None)
            self._shared.discard(key)
        # None if the caller was interrupted.
        if future is not None:
            future.set_result(judgement)

    def close(self) -> None:
        """Stop at once, after writing what has been answered."""
        self._workers.close()
        # Tasks that this thread was finishing were interrupted; nothing continues them.
        own = {get_ident()}
        with self._settled:
            self._settled.wait_for(lambda: own.issuperset(self._finishing.values()), timeout=_MOST_WAITING)
        self._lookup.close()


def _worth_keeping(
    batch: _Batch, keys: TaskKeys, task: JudgeTask, result: JudgeResult
) -> dict[EntryKind, dict[bytes, bytes]]:
    """Return the results of a task that other runs may use, by cache key."""
    executions = {
        key: getattr(result, field)[entry]
        for field, entries in keys.items()
        for entry, key in entries.items()
        if entry in getattr(result, field)
    }
    refused = result.executions.keys() | task.reusable.executions.keys()
    judgements = {}
    for text, key in batch.judgements.items():
        judgement = result.judgements[text]
        if (
            key is not None
            and judgement.outcome not in _NOT_KEPT
            # Failures to count may be temporary: keep only the rows.
            and (judgement.work is None or judgement.work.tau is not None)
            # If gold failed, the text was not run.
            and (text not in task.volatile or text in refused or judgement.outcome is Outcome.GOLD_ERROR)
        ):
            judgements[key] = _as_bytes(judgement, _digest(task.reusable.witnesses.get(0)))
    return {EntryKind.EXECUTION: executions, EntryKind.JUDGEMENT: judgements}


def _digest(witnesses: bytes | None) -> str:
    return "" if witnesses is None else hashlib.sha256(witnesses).hexdigest()[:16]


def _as_bytes(judgement: Judgement, met: str) -> bytes:
    """Return a line with the digest of the witnesses that a judgement has met, and the judgement."""
    return met.encode() + b"\n" + encode(judgement)


def _from_bytes(data: bytes) -> tuple[Judgement, str]:
    met, _, document = data.partition(b"\n")
    return decode(Judgement, document), met.decode()


def _heaviest_first(batches: Sequence[_Batch]) -> list[_Batch]:
    """Sort the tenth of the tasks that is likeliest to run long to the front; keep the order of the others.

    A statement that times out occupies its worker until then, and delays the whole run if it comes last.
    Slow texts have many joins or nested subqueries.
    """
    places = range(len(batches))
    heaviest: list[int] = []
    if heavy := len(batches) // 10:
        weights = [max(len(_HEAVY.findall(text[:_SHORT])) for text in each.judgements) for each in batches]
        heaviest = sorted(places, key=weights.__getitem__, reverse=True)[:heavy]
    return [batches[place] for place in dict.fromkeys([*heaviest, *places])]
