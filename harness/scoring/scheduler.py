"""Turns SQL texts into judgements: looks up what is known, and gives the rest to the workers as tasks.

Promises: a text is executed once for all that ask for it, in this run and, with a store, in later ones; an
engine that fails again and again is left alone, and what was asked of it is a harness error.
"""

import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from dataclasses import dataclass, replace
from threading import Condition, Lock, get_ident

from dialects.volatility import is_volatile
from harness.data.outcomes import Judgement, Outcome
from harness.data.questions import Question
from harness.engines import EngineName, dialect_of
from harness.engines.base import Engine
from harness.metrics import Basis, of_basis
from harness.scoring.cache import CacheKeys, Lifetime, Lookup, is_as_at_the_start, today
from harness.scoring.tasks import Golds, JudgeTask, NoGold, Setup, TaskResult, Workers, explain
from loaders.base.store import EntryKind, Store

MOST_FAILURES = 3
"""So many tasks in a row that a server could not be used for, and it is left alone."""

_WORK = re.compile(r"\b(?:select|join)\b", re.IGNORECASE)
_LOOKED_AT = 20_000
"""Characters of a text that are looked at for what it may cost."""

_MOST_WAITING = 10.0
"""Seconds for the disk, at the end."""

_NOT_KEPT = frozenset({Outcome.HARNESS_ERROR, Outcome.GOLD_TIMEOUT})
"""Outcomes that another run may not have: nobody's SQL is to blame for them."""

Key = tuple[EngineName, str, str]
"""An engine, a question and a text."""

TaskKeys = Mapping[str, Mapping[str | int, bytes]]
"""Cache keys of what comes of a task, by the fields of `TaskResult` and the entries of these."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """An SQL text as an answer to a question on an engine."""

    question: Question
    dialect: EngineName
    sql: str

    @property
    def key(self) -> Key:
        """What makes two of them the same."""
        return self.dialect, self.question.key, self.sql


@dataclass(frozen=True)
class _Batch:
    """The distinct texts for a question on an engine, with the cache keys of their judgements."""

    question: Question
    dialect: EngineName
    day: str
    judgements: Mapping[str, bytes | None]

    def key(self, text: str) -> Key:
        """That of a candidate."""
        return self.dialect, self.question.key, text


class Scheduler:
    """Has texts judged; thread-safe.

    Args:
        setup: what is the same for all.
        start: gives the workers; they end with it.
        store: what is known from earlier runs; None to judge everything anew.
        engines: other engines than those of the setup, to be asked what they are.

    Raises:
        EngineLost: an engine does not answer.
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
        self.golds = Golds(setup.questions, tuple(setup.servers), setup.limits, setup.unloaded)
        self._cache_keys = CacheKeys(setup, self.golds, self.engines)
        self._lookup = Lookup(store)
        self._lock = Lock()
        self._workers = start()
        self._running: dict[Key, Future[Judgement]] = {}
        self._shared: set[Key] = set()
        """Of what is running, what was asked for by several."""
        self._tasks: dict[Future[TaskResult], JudgeTask] = {}
        self._given_up: set[Future[TaskResult]] = set()
        self._finishing: dict[Future[TaskResult], int] = {}
        """By which thread each is finished."""
        self._settled = Condition(self._lock)
        self.cached = self.executed = 0
        """How many texts were answered in which way."""
        self._same_code, self._looked_at = True, 0.0
        self._failures: Counter[EngineName] = Counter()
        self.failed: dict[EngineName, str] = {}
        """Engines that were left alone, and why."""

    def begin(self, candidates: Sequence[Candidate], *, waits: bool = False) -> list[Future[Judgement]]:
        """Have texts judged; one future each, which never raises for what an engine or a statement does.

        Args:
            candidates: the texts.
            waits: whether the caller does nothing else until they are judged.
        """
        futures: list[Future[Judgement]] = []
        new: dict[Key, Future[Judgement]] = {}
        try:
            with self._lock:
                for each in candidates:
                    future = self._running.get(each.key)
                    if future is None:
                        future = new[each.key] = Future()
                        # Others may get it, too: whoever has it cannot cancel it.
                        future.set_running_or_notify_cancel()
                        self._running[each.key] = future
                    elif each.key not in new:
                        self._shared.add(each.key)
                    futures.append(future)
            self._have_judged([each for each in candidates if each.key in new], new, waits=waits)
        except BaseException as error:
            # What is in nobody's hands ends here: others may wait for it, or ask for it again.
            for key, future in new.items():
                if self._running.get(key) is future:
                    self._answer(key, self._setup.broken(key[0], f"it was not run: {explain(error)}"))
            raise
        return futures

    def _have_judged(
        self, candidates: Sequence[Candidate], new: dict[Key, Future[Judgement]], *, waits: bool
    ) -> None:
        """Answer what is known, and give the rest to the workers: that is taken out of `new`."""
        # What ends after midnight is kept as this day's, which nobody asks for any more then.
        day = today()
        groups: dict[tuple[EngineName, str], list[Candidate]] = {}
        for each in candidates:
            groups.setdefault(each.key[:2], []).append(each)
        parts: tuple[list[list[Candidate]], list[list[Candidate]]] = ([], [])
        for group in groups.values():
            # Workers take a moment to start, in which the rest is looked up; without a store nothing is.
            parts[not (self._lookup.has_store and self._may_run(group))].append(group)
        for part in parts:
            batches = self._unknown([self._batch(group, day) for group in part])
            # Finding out what asks for the date takes longer than looking up what does not.
            batches = [rest for batch in batches for rest in self._unknown_today(batch)]
            for batch in _heaviest_first(batches):
                self._submit(batch, alone=waits and len(groups) == 1)
                for text in batch.judgements:
                    new.pop(batch.key(text), None)

    def _may_run(self, group: Sequence[Candidate]) -> bool:
        """Whether something may have to run whatever is known: a quick guess."""
        question, dialect = group[0].question, group[0].dialect
        golds = (self.golds.written(one, dialect) for one in question.each(dialect_of(dialect)))
        return any(map(is_volatile, [*golds, *(each.sql for each in group)]))

    def _batch(self, group: Sequence[Candidate], day: str) -> _Batch:
        question, dialect = group[0].question, group[0].dialect
        texts = [each.sql for each in group]
        return _Batch(question, dialect, day, self._cache_keys.judgements(question, dialect, texts, day))

    def _unknown_today(self, batch: _Batch) -> list[_Batch]:
        """Answer what is known for this day; what remains."""
        dated = self._cache_keys.dated(batch.question, batch.dialect, batch.judgements, batch.day)
        return self._unknown([replace(batch, judgements={**batch.judgements, **dated})]) if dated else [batch]

    def _unknown(self, batches: Sequence[_Batch]) -> list[_Batch]:
        """Answer what is known; what remains."""
        known = self._lookup.get(
            key for batch in batches for key in batch.judgements.values() if key is not None
        )
        remaining = []
        for batch in batches:
            unknown = {}
            for text, key in batch.judgements.items():
                if key is not None and key in known:
                    self._answer(batch.key(text), _from_bytes(known[key]))
                else:
                    unknown[text] = key
            if unknown:
                remaining.append(replace(batch, judgements=unknown))
            with self._lock:
                self.cached += len(batch.judgements) - len(unknown)
        return remaining

    def _submit(self, batch: _Batch, *, alone: bool) -> None:
        keys = self._task_keys(batch)
        known = self._lookup.get(key for entries in keys.values() for key in entries.values())
        task = JudgeTask(
            batch.dialect,
            batch.question,
            tuple(batch.judgements),
            TaskResult(**{
                field: {entry: known[key] for entry, key in entries.items() if key in known}
                for field, entries in keys.items()
            }),  # type: ignore[arg-type]  # each field has its own kind of entries
            frozenset(
                text
                for text in batch.judgements
                if self._cache_keys.lifetime(batch.dialect, text) is Lifetime.NEVER
            ),
        )  # fmt: skip
        future = self._workers.at_once(task) if alone else None
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
                # A gold that is no text of the engine's is never counted.
                with suppress(NoGold):
                    counted.append(self.golds.text(gold, dialect))
        keys: Mapping[str, Mapping[str | int, bytes | None]] = {
            "golds": {place: self._cache_keys.gold(gold, dialect, day) for place, gold in enumerate(golds)},
            "executions": {
                text: self._cache_keys.execution(question, dialect, text, day) for text in batch.judgements
            },
            "works": {text: self._cache_keys.work(question, dialect, text, day) for text in counted},
        }
        return {
            field: {entry: key for entry, key in entries.items() if key is not None}
            for field, entries in keys.items()
        }

    def _finish(self, batch: _Batch, keys: TaskKeys, task: JudgeTask, future: Future[TaskResult]) -> None:
        try:
            with self._lock:
                self._finishing[future] = get_ident()
            self._answer_task(batch, keys, task, future)
        finally:
            with self._settled:
                self._finishing.pop(future, None)
                self._settled.notify_all()

    def _answer_task(
        self, batch: _Batch, keys: TaskKeys, task: JudgeTask, future: Future[TaskResult]
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
            result = self._all_broken(task, explain(error))
        else:
            with self._lock:
                self.executed += len(task.texts)
        try:
            self._count_failures(task.dialect, result)
            kinds = _worth_keeping(batch, keys, task, result) if self._is_same_code() else {}
            for values in kinds.values():
                self._lookup.note(values)
        finally:
            for text in task.texts:
                self._answer(batch.key(text), result.judgements[text])
        # Nobody has to wait for the disk.
        for kind, values in kinds.items():
            self._lookup.store(values, kind)

    def give_up(self, candidates: Iterable[Candidate], why: str) -> None:
        """Take back what nobody waits for any more; its futures get a harness error at once.

        What others have asked for, too, goes on, and so does a statement that runs.
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
            # Who asks for one of them from now on has it judged anew.
            texts = set().union(*(tasks[future] for future in given_up)) & self._running.keys()
            left = [(key[0], self._running.pop(key)) for key in texts]
        for future in given_up:
            if not future.cancel():
                with self._lock:
                    self._given_up.discard(future)
        for dialect, waiting in left:
            waiting.set_result(self._setup.broken(dialect, why))

    def _is_same_code(self) -> bool:
        """Whether what workers come to is that of the code that keys know; looked at once a second."""
        with self._lock:
            if self._looked_at + 1 < time.monotonic():
                self._same_code, self._looked_at = is_as_at_the_start(), time.monotonic()
            return self._same_code

    def _all_broken(self, task: JudgeTask, why: str) -> TaskResult:
        return TaskResult(dict.fromkeys(task.texts, self._setup.broken(task.dialect, why)))

    def _count_failures(self, dialect: EngineName, result: TaskResult) -> None:
        """Leave a server alone that could not be used for several tasks in a row."""
        judgements = result.judgements.values()
        errors = [each.error for each in judgements if each.outcome is Outcome.HARNESS_ERROR]
        with self._lock:
            # Of SQLite's files each is an engine of its own.
            if len(errors) < len(judgements) or not self._setup.servers[dialect]:
                self._failures[dialect] = 0
                return
            self._failures[dialect] += 1
            if self._failures[dialect] < MOST_FAILURES or dialect in self.failed:
                return
            self.failed[dialect] = errors[0] or ""
            waiting = [future for future, task in self._tasks.items() if task.dialect == dialect]
        for future in waiting:
            future.cancel()

    def _answer(self, key: Key, judgement: Judgement) -> None:
        with self._lock:
            future = self._running.pop(key, None)
            self._shared.discard(key)
        # None where whoever asked was interrupted.
        if future is not None:
            future.set_result(judgement)

    def close(self) -> None:
        """Stop at once; what has been answered is kept first."""
        self._workers.close()
        # What is left of this thread's own was interrupted: nobody goes on with it.
        own = {get_ident()}
        with self._settled:
            self._settled.wait_for(lambda: own.issuperset(self._finishing.values()), timeout=_MOST_WAITING)
        self._lookup.close()


def _worth_keeping(
    batch: _Batch, keys: TaskKeys, task: JudgeTask, result: TaskResult
) -> dict[EntryKind, dict[bytes, bytes]]:
    """What another run may use of what came of a task, by its cache keys."""
    executions = {
        key: getattr(result, field)[entry]
        for field, entries in keys.items()
        for entry, key in entries.items()
        if entry in getattr(result, field)
    }
    refused = result.executions.keys() | task.known.executions.keys()
    judgements = {}
    for text, key in batch.judgements.items():
        judgement = result.judgements[text]
        if (
            key is not None
            and judgement.outcome not in _NOT_KEPT
            # Why nothing could be counted may be otherwise another time; its rows are kept.
            and (judgement.work is None or judgement.work.tau is not None)
            # Where gold failed, the text was not run.
            and (text not in task.volatile or text in refused or judgement.outcome is Outcome.GOLD_ERROR)
        ):
            judgements[key] = _as_bytes(judgement)
    return {EntryKind.EXECUTION: executions, EntryKind.JUDGEMENT: judgements}


def _as_bytes(judgement: Judgement) -> bytes:
    """A line of JSON, and a second one for the preview, which is JSON already."""
    record = judgement.to_json()
    shown = record.pop("preview")
    line = json.dumps(record, separators=(",", ":"))
    return (line if shown is None else f"{line}\n{shown}").encode()


def _from_bytes(data: bytes) -> Judgement:
    line, _, shown = data.decode().partition("\n")
    return Judgement.from_json({**json.loads(line), "preview": shown or None})


def _heaviest_first(batches: Sequence[_Batch]) -> list[_Batch]:
    """The tenth of the tasks that is likeliest to run long, and then the others in their order.

    A statement that runs into the time limit holds its worker up for as long, and the whole run if it comes
    last. What runs long joins a lot or has subqueries in subqueries.
    """
    places = range(len(batches))
    heaviest: list[int] = []
    if heavy := len(batches) // 10:
        weights = [max(len(_WORK.findall(text[:_LOOKED_AT])) for text in each.judgements) for each in batches]
        heaviest = sorted(places, key=weights.__getitem__, reverse=True)[:heavy]
    return [batches[place] for place in dict.fromkeys([*heaviest, *places])]
