"""From SQL texts to judgements: what is known is looked up, the rest is put on tasks and judged by workers.

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
from enum import StrEnum
from threading import Condition, Lock, get_ident

from dialects.volatility import is_volatile
from harness.cache.lookup import Lifetime, Lookup
from harness.data.outcomes import Judgement, Outcome
from harness.data.questions import Question
from harness.engines import EngineName, dialect_of
from harness.engines.base import Engine
from harness.metrics import Basis, of_basis
from harness.scoring.cache_keys import CacheKeys, is_as_at_the_start, today
from harness.scoring.tasks import Golds, Judged, NoGold, Setup, Task, Workers, explain
from loaders.base.store import EntryKind, Store

MOST_FAILURES = 3
"""So many tasks in a row that a server could not be used for, and it is left alone."""

_WORK = re.compile(r"\b(?:select|join)\b", re.IGNORECASE)
_LOOKED_AT = 20_000
"""Characters of a text that are looked at for what it may cost."""

_from_json = json.JSONDecoder().decode

_MOST_WAITING = 10.0
"""Seconds for the disk, at the end."""

_NOT_KEPT = frozenset({Outcome.HARNESS_ERROR, Outcome.GOLD_TIMEOUT})
"""Outcomes that another run may not have: nobody's SQL is to blame for them."""


class Way(StrEnum):
    """How a text is answered."""

    CACHED = "cached"
    EXECUTED = "executed"


@dataclass(frozen=True, eq=False)
class Asked:
    """An SQL text as an answer to a question on an engine."""

    question: Question
    dialect: EngineName
    sql: str

    @property
    def key(self) -> tuple[EngineName, str, str]:
        """What makes two of them the same."""
        return self.dialect, self.question.key, self.sql


@dataclass(frozen=True)
class _Keyed:
    """The distinct texts for a question on an engine, with the keys of what they come to."""

    question: Question
    dialect: EngineName
    day: str
    judgements: Mapping[str, bytes | None]


@dataclass(frozen=True)
class _Keys:
    """The keys of what comes of a task: of its golds' executions, and of two things for each text."""

    golds: Sequence[bytes | None]
    executions: Mapping[str, bytes | None]
    judgements: Mapping[str, bytes | None]
    works: Mapping[str, bytes | None]
    """Of what texts and golds make the engine do, where a metric asks for it."""


class Judging:
    """Judges texts; thread-safe.

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
        self._running: dict[tuple[EngineName, str, str], Future[Judgement]] = {}
        self._shared: set[tuple[EngineName, str, str]] = set()
        """Of what is running, what was asked for by several."""
        self._tasks: dict[Future[Judged], Task] = {}
        self._given_up: set[Future[Judged]] = set()
        self._finishing: dict[Future[Judged], int] = {}
        """By which thread each is finished."""
        self._settled = Condition(self._lock)
        self.counts: Counter[Way] = Counter()
        """How many texts were answered in which way."""
        self._same_code, self._looked_at = True, 0.0
        self._failures: Counter[EngineName] = Counter()
        self.failed: dict[EngineName, str] = {}
        """Engines that were left alone, and why."""

    def begin(self, asked: Sequence[Asked], *, waits: bool = False) -> list[Future[Judgement]]:
        """Have texts judged; one future each, which never raises for what an engine or a statement does.

        Args:
            asked: the texts.
            waits: whether the caller does nothing else until they are judged.
        """
        futures: list[Future[Judgement]] = []
        new: dict[tuple[EngineName, str, str], Future[Judgement]] = {}
        try:
            with self._lock:
                for each in asked:
                    future = self._running.get(each.key)
                    if future is None:
                        future = new[each.key] = Future()
                        # Others may get it, too: whoever has it cannot cancel it.
                        future.set_running_or_notify_cancel()
                        self._running[each.key] = future
                    elif each.key not in new:
                        self._shared.add(each.key)
                    futures.append(future)
            self._have_judged([each for each in asked if each.key in new], new, waits=waits)
        except BaseException as error:
            self._give_back(new, explain(error))
            raise
        return futures

    def _have_judged(
        self,
        asked: Sequence[Asked],
        new: "dict[tuple[EngineName, str, str], Future[Judgement]]",
        *,
        waits: bool,
    ) -> None:
        """Answer what is known, and give the rest to the workers: that is taken out of `new`."""
        # What ends after midnight is kept as this day's, which nobody asks for any more then.
        day = today()
        questions = _by_question(asked)
        # Workers take a moment to start, in which the rest is looked up; without a store nothing is.
        first, others = self._parted(questions) if self._lookup.has_store else ([], questions)
        for some in first, others:
            tasks = self._unknown([self._keyed(texts, day) for texts in some])
            # Finding out what asks for the date takes longer than looking up what does not.
            tasks = [rest for task in tasks for rest in self._unknown_today(task)]
            for task in _heaviest_first(tasks):
                self._submit(task, alone=waits and len(questions) == 1)
                for text in task.judgements:
                    new.pop((task.dialect, task.question.key, text), None)

    def give_up(self, asked: Iterable[Asked], why: str) -> None:
        """Take back what nobody waits for any more; its futures get a harness error at once.

        What others have asked for, too, goes on, and so does a statement that runs.
        """
        with self._lock:
            keys = {each.key for each in asked} - self._shared
            tasks = {
                future: {(task.dialect, task.question, text) for text in task.texts}
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
            waiting.set_result(Judgement(Outcome.HARNESS_ERROR, self._setup.zero(dialect), error=why))

    def _give_back(self, new: "Mapping[tuple[EngineName, str, str], Future[Judgement]]", why: str) -> None:
        """End what was begun and is in nobody's hands: others may wait for it, or ask for it again."""
        for key, future in new.items():
            with self._lock:
                if self._running.get(key) is not future:
                    continue
                del self._running[key]
                self._shared.discard(key)
            zero = self._setup.zero(key[0])
            future.set_result(Judgement(Outcome.HARNESS_ERROR, zero, error=f"it was not run: {why}"))

    def _parted(self, questions: Iterable[list[Asked]]) -> tuple[list[list[Asked]], list[list[Asked]]]:
        """Where something may have to run whatever is known, and the others: a quick guess."""
        parts: tuple[list[list[Asked]], list[list[Asked]]] = [], []
        for asked in questions:
            dialect = asked[0].dialect
            golds = (self.golds.written(one, dialect) for one in asked[0].question.each(dialect_of(dialect)))
            texts = [*golds, *(each.sql for each in asked)]
            parts[not any(map(is_volatile, texts))].append(asked)
        return parts

    def _keyed(self, asked: Sequence[Asked], day: str) -> "_Keyed":
        question, dialect = asked[0].question, asked[0].dialect
        judgements = self._cache_keys.judgements(question, dialect, [each.sql for each in asked], day)
        return _Keyed(question, dialect, day, judgements)

    def _unknown_today(self, asked: "_Keyed") -> "list[_Keyed]":
        """Answer what is known for this day; what remains."""
        dated = self._cache_keys.dated(asked.question, asked.dialect, asked.judgements, asked.day)
        return self._unknown([replace(asked, judgements={**asked.judgements, **dated})]) if dated else [asked]

    def _unknown(self, tasks: "Sequence[_Keyed]") -> "list[_Keyed]":
        """Answer what is known; what remains."""
        wanted = [
            cache_key for each in tasks for cache_key in each.judgements.values() if cache_key is not None
        ]
        known = self._lookup.get(wanted)
        remaining = []
        for each in tasks:
            unknown = {}
            for text, cache_key in each.judgements.items():
                if cache_key is not None and cache_key in known:
                    judgement = _from_bytes(known[cache_key])
                    self._answer((each.dialect, each.question.key, text), judgement)
                else:
                    unknown[text] = cache_key
            if unknown:
                remaining.append(replace(each, judgements=unknown))
            self._count_ways(Way.CACHED, len(each.judgements) - len(unknown))
        return remaining

    def _submit(self, asked: "_Keyed", *, alone: bool) -> None:
        question, dialect, day = asked.question, asked.dialect, asked.day
        golds = [self._cache_keys.gold(one, dialect, day) for one in question.each(dialect_of(dialect))]
        executions = {
            text: self._cache_keys.execution(question, dialect, text, day) for text in asked.judgements
        }
        works = self._works(asked)
        keys = _Keys(golds, executions, asked.judgements, works)
        known = self._lookup.get(
            cache_key
            for cache_key in (*golds, *executions.values(), *works.values())
            if cache_key is not None
        )
        task = Task(
            dialect,
            question.key,
            tuple(executions),
            {text: known[cache_key] for text, cache_key in executions.items() if cache_key in known},
            {place: known[cache_key] for place, cache_key in enumerate(golds) if cache_key in known},
            frozenset(
                text for text in executions if self._cache_keys.lifetime(dialect, text) is Lifetime.NEVER
            ),
            of=None if question.key in self._setup.questions.by_key else question,
            works={text: known[cache_key] for text, cache_key in works.items() if cache_key in known},
        )
        future = self._workers.at_once(task) if alone else None
        with self._lock:
            if future is None:
                future = self._workers.submit(task)
            self._tasks[future] = task
        future.add_done_callback(lambda future: self._finish(keys, task, future))

    def _works(self, asked: "_Keyed") -> dict[str, bytes | None]:
        """The keys of the work of what predictions and golds of a question run, by their texts."""
        if not of_basis(self._setup.metrics, Basis.WORK):
            return {}
        question, dialect = asked.question, asked.dialect
        texts = list(asked.judgements)
        for one in question.each(dialect_of(dialect)):
            # A gold that is no text of the engine's is never counted.
            with suppress(NoGold):
                texts.append(self.golds.text(one, dialect))
        return {text: self._cache_keys.work(question, dialect, text, asked.day) for text in texts}

    def _finish(self, keys: _Keys, task: Task, future: Future[Judged]) -> None:
        try:
            with self._lock:
                self._finishing[future] = get_ident()
            self._answer_task(keys, task, future)
        finally:
            with self._settled:
                self._finishing.pop(future, None)
                self._settled.notify_all()

    def _answer_task(self, keys: _Keys, task: Task, future: Future[Judged]) -> None:
        with self._lock:
            self._tasks.pop(future, None)
            if future in self._given_up and future.cancelled():
                self._given_up.discard(future)
                return
        try:
            judged = future.result()
        except CancelledError:
            why = self.failed.get(task.dialect, "the run was stopped")
            judged = self._broken(task, f"it was not run: {why}")
        except Exception as error:  # noqa: BLE001 - a fault of ours is one task's, not the run's
            judged = self._broken(task, explain(error))
        else:
            self._count_ways(Way.EXECUTED, len(task.texts))
        try:
            self._count(task.dialect, judged)
            kinds = _worth_keeping(keys, task, judged) if self._is_same_code() else {}
            for values in kinds.values():
                self._lookup.note(values)
        finally:
            for text, judgement in zip(task.texts, judged.judgements, strict=True):
                self._answer((task.dialect, task.question, text), judgement)
        # Nobody has to wait for the disk.
        for kind, values in kinds.items():
            self._lookup.store(values, kind)

    def _is_same_code(self) -> bool:
        """Whether what workers come to is that of the code that keys know; looked at once a second."""
        with self._lock:
            if self._looked_at + 1 < time.monotonic():
                self._same_code, self._looked_at = is_as_at_the_start(), time.monotonic()
            return self._same_code

    def _count_ways(self, way: "Way", texts: int) -> None:
        with self._lock:
            self.counts[way] += texts

    def _broken(self, task: Task, why: str) -> Judged:
        judgement = Judgement(Outcome.HARNESS_ERROR, self._setup.zero(task.dialect), error=why)
        return Judged((judgement,) * len(task.texts), {}, {})

    def _count(self, dialect: EngineName, judged: Judged) -> None:
        """Leave a server alone that could not be used for several tasks in a row."""
        errors = [each.error for each in judged.judgements if each.outcome is Outcome.HARNESS_ERROR]
        with self._lock:
            # Of SQLite's files each is an engine of its own.
            if len(errors) < len(judged.judgements) or not self._setup.servers[dialect]:
                self._failures[dialect] = 0
                return
            self._failures[dialect] += 1
            if self._failures[dialect] < MOST_FAILURES or dialect in self.failed:
                return
            self.failed[dialect] = errors[0] or ""
            waiting = [future for future, task in self._tasks.items() if task.dialect == dialect]
        for future in waiting:
            future.cancel()

    def _answer(self, key: tuple[EngineName, str, str], judgement: Judgement) -> None:
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


def _worth_keeping(keys: _Keys, task: Task, judged: Judged) -> dict[EntryKind, dict[bytes, bytes]]:
    """What another run may use of what came of a task, by its keys."""
    found = {keys.executions[text]: encoded for text, encoded in judged.executed.items()}
    found |= {keys.golds[place]: encoded for place, encoded in judged.golds.items()}
    found |= {keys.works.get(text): encoded for text, encoded in judged.works.items()}
    refused = judged.executed.keys() | task.known.keys()
    judgements = {
        cache_key: _as_bytes(judgement)
        for (text, cache_key), judgement in zip(keys.judgements.items(), judged.judgements, strict=True)
        if cache_key is not None
        and judgement.outcome not in _NOT_KEPT
        # Why nothing could be counted may be otherwise another time; its rows are kept.
        and (judgement.work is None or judgement.work.tau is not None)
        # Where gold failed, the text was not run.
        and (text not in task.fleeting or text in refused or judgement.outcome is Outcome.GOLD_ERROR)
    }
    return {
        EntryKind.EXECUTION: {
            cache_key: value for cache_key, value in found.items() if cache_key is not None
        },
        EntryKind.JUDGEMENT: judgements,
    }


def _as_bytes(judgement: Judgement) -> bytes:
    """A line of JSON, and a second one for the preview, which is JSON already."""
    record = judgement.to_json()
    shown = record.pop("preview")
    line = json.dumps(record, separators=(",", ":"))
    return (line if shown is None else f"{line}\n{shown}").encode()


def _from_bytes(data: bytes) -> Judgement:
    line, _, shown = data.decode().partition("\n")
    record = _from_json(line)
    record["preview"] = shown or None
    return Judgement.from_json(record)


def _by_question(asked: Iterable[Asked]) -> list[list[Asked]]:
    tasks: dict[tuple[EngineName, str], list[Asked]] = {}
    for each in asked:
        tasks.setdefault((each.dialect, each.question.key), []).append(each)
    return list(tasks.values())


def _heaviest_first(tasks: Sequence[_Keyed]) -> list[_Keyed]:
    """The tenth of the tasks that is likeliest to run long, and then the others in their order.

    A statement that runs into the time limit holds its worker up for as long, and the whole run if it comes
    last. What runs long joins a lot or has subqueries in subqueries.
    """
    heavy = len(tasks) // 10
    if not heavy:
        return list(tasks)
    heaviest = sorted(
        range(len(tasks)),
        key=lambda place: max(len(_WORK.findall(text[:_LOOKED_AT])) for text in tasks[place].judgements),
        reverse=True,
    )[:heavy]
    first = set(heaviest)
    return [tasks[place] for place in heaviest] + [
        task for place, task in enumerate(tasks) if place not in first
    ]
