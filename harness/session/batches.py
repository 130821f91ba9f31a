"""Batches of answers: judged together, awaited or streamed, given up at a deadline, and counted.

Every evaluator does this alike, whatever its answers are and whatever judges them.
"""

import asyncio
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from concurrent.futures import as_completed as as_judged
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Self

from harness.data.answers import Extract
from harness.data.outcomes import Judgement, Outcome
from harness.data.questions import Question
from harness.engines import EngineName
from harness.session.request import check_range
from harness.session.resolver import Answer, Triple


@dataclass(frozen=True)
class Statistics:
    """What an evaluator has done in this process.

    `answers` counts the answers given to it, `late` those not judged by the deadline of their batch,
    `outcomes` all answers by outcome. Of the distinct texts, `cached` were found in the result cache and
    `executed` were run. Two properties sum up `outcomes`: `timeouts` of predictions and golds, and `errors`
    of predictions, golds and the harness.
    """

    answers: int = 0
    cached: int = 0
    executed: int = 0
    late: int = 0
    outcomes: Mapping[Outcome, int] = field(default_factory=dict)

    @property
    def timeouts(self) -> int:
        """Answers whose prediction or gold timed out."""
        return self._of(Outcome.PREDICTION_TIMEOUT, Outcome.GOLD_TIMEOUT)

    @property
    def errors(self) -> int:
        """Answers where the prediction, its gold or the harness failed."""
        return self._of(Outcome.PREDICTION_ERROR, Outcome.GOLD_ERROR, Outcome.HARNESS_ERROR)

    def _of(self, *outcomes: Outcome) -> int:
        return sum(self.outcomes.get(each, 0) for each in outcomes)

    def __str__(self) -> str:
        names = ("answers", "cached", "executed", "timeouts", "errors", "late")
        return ", ".join(f"{name} {getattr(self, name):,}" for name in names)


@dataclass(frozen=True)
class Batch:
    """A batch of answers being judged: the future of each.

    `zeros` are the scores of each answer if it is late. `deadline` is in seconds, `until` on the monotonic
    clock. `stop` keeps those from being started whose futures are not done, for the reason `why`.
    """

    futures: Sequence[Future[Judgement]]
    zeros: Sequence[Mapping[str, float]]
    deadline: float | None
    until: float | None
    stop: Callable[[set[Future[Judgement]], str], object]

    @property
    def why(self) -> str:
        """Why answers that are late are not judged."""
        if self.deadline is None:
            return "it was not run: the caller stopped waiting"
        return f"it was not judged within {self.deadline:g} s, the deadline of its batch"

    @property
    def left(self) -> float | None:
        """Seconds until the deadline."""
        return None if self.until is None else max(0.0, self.until - time.monotonic())

    def places(self) -> dict[Future[Judgement], list[int]]:
        """Return the indices of the answers by their future, which equal answers share."""
        found: dict[Future[Judgement], list[int]] = {}
        for place, future in enumerate(self.futures):
            found.setdefault(future, []).append(place)
        return found

    def give_up(self) -> set[Future[Judgement]]:
        """Cancel what has not been judged; return its futures."""
        late = {future for future in self.futures if not future.done()}
        if late:
            self.stop(late, self.why)
        return late


@dataclass(frozen=True)
class Prepared:
    """Answers that an evaluator has read: it takes them in place of the answers, and reads nothing again.

    `asked` is its own of each; `sql` is what is judged of each as one text, None where nothing is.
    """

    asked: Sequence[Any]
    sql: Sequence[str | None]


Answers = Sequence[Answer | Triple] | Prepared


class BatchEvaluator(ABC):
    """Judges batches of answers; what judges them is a subclass's. Threads may share it.

    `outcome_metric` is the metric whose score is 1 if an answer's outcome is a match. `has_tasks`: whether
    answers are to tasks, which have no gold of the caller's. `policies` are those by which SQL is taken out.
    """

    outcome_metric: str
    has_tasks = False
    policies: Sequence[str] = tuple(Extract)

    def _count(self) -> None:
        self._lock = Lock()
        self._outcomes: Counter[Outcome] = Counter()
        self._late = 0

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of its set."""

    @property
    @abstractmethod
    def questions(self) -> Sequence[Question]:
        """The questions, or tasks, of its set."""

    @property
    @abstractmethod
    def metrics(self) -> Sequence[str]:
        """The metrics that it computes."""

    @property
    @abstractmethod
    def dialects(self) -> Sequence[EngineName]:
        """The engines that answers are for."""

    @property
    @abstractmethod
    def extract(self) -> str:
        """How it takes the SQL out of answers, unless a batch says otherwise."""

    def own_prompt(self, key: str, dialect: EngineName | None = None) -> str | None:
        """Return the prompt of a task, single turn; None of a question, which has none of its own.

        Raises:
            BadInput: there is no such task or engine, or a file that the prompt shows is missing.
        """
        del key, dialect
        return None

    @abstractmethod
    def prepare(self, answers: Sequence[Answer | Triple], extract: str | None = None) -> Prepared:
        """Find what answers are to, and take the SQL out of them.

        Raises:
            BadInput: as in `score`.
        """

    def known(self, answers: Answers, *, extract: str | None = None) -> list[Judgement] | None:
        """Return the judgement of each answer if all are known, without waiting; None otherwise.

        Raises:
            BadInput: as in `score`.
        """
        del answers, extract
        return None

    @abstractmethod
    def close(self) -> None:
        """Stop its workers; answers that other threads wait for become harness errors."""

    @abstractmethod
    def _start(self, prepared: Prepared, deadline: float | None) -> Batch:
        """Start a batch."""

    async def _astart(self, prepared: Prepared, deadline: float | None) -> Batch:
        """Start a batch, in another thread."""
        return await asyncio.to_thread(self._start, prepared, deadline)

    def _prepared(self, answers: Answers, deadline: float | None, extract: str | None) -> Prepared:
        check_range("seconds", deadline, "deadline")
        return answers if isinstance(answers, Prepared) else self.prepare(answers, extract)

    @property
    def _executed(self) -> tuple[int, int]:
        """How many distinct texts were found in the result cache, and how many were run."""
        return 0, 0

    def score(
        self,
        answers: Answers,
        *,
        deadline: float | None = None,
        extract: str | None = None,
    ) -> list[Judgement]:
        """Return the judgement of each answer, in order; wait for all of them.

        Never raises for an error of an engine or a statement: that is an outcome.

        Args:
            answers: to questions of the set, or with golds of their own; or what `prepare` has made of them.
            deadline: seconds for all of them together. Answers not judged by then are `harness_error` and
               are not started any more; a running statement ends at its own time limit.
            extract: how the SQL is taken out of answers; None as the evaluator does.

        Raises:
            BadInput: this evaluator lacks a question, a database or a dialect, or an answer is not a text.
            EngineUnavailable: an engine does not respond to its first task.
        """
        batch = self._start(self._prepared(answers, deadline, extract), deadline)
        if deadline is not None:
            wait(batch.futures, batch.left)
        return self._collect(batch)

    def as_completed(
        self,
        answers: Answers,
        *,
        deadline: float | None = None,
        extract: str | None = None,
    ) -> Iterator[tuple[int, Judgement]]:
        """Yield answers as they are judged: the index of each in `answers`, and its judgement.

        Once the caller stops iterating, answers not yet judged are not started any more.

        Args:
            answers: as in `score`.
            deadline: as in `score`; late answers come last.
            extract: as in `score`.

        Raises:
            BadInput, EngineUnavailable: as in `score`, before the first.
        """
        return self._each(self._start(self._prepared(answers, deadline, extract), deadline))

    def _each(self, batch: Batch) -> Iterator[tuple[int, Judgement]]:
        places = batch.places()
        try:
            with suppress(TimeoutError):
                for future in as_judged(list(places), batch.left):
                    for place in places.pop(future):
                        yield place, self._judgement(batch, future, is_late=False)
            yield from self._rest(batch, places)
        finally:
            batch.give_up()

    def _rest(
        self, batch: Batch, places: Mapping[Future[Judgement], Sequence[int]]
    ) -> Iterator[tuple[int, Judgement]]:
        """Give up what has not been judged, and yield what has not been yielded, in order."""
        late = batch.give_up()
        for place, future in enumerate(batch.futures):
            if future in places:
                yield place, self._judgement(batch, future, is_late=future in late)

    async def ascore(
        self,
        answers: Answers,
        *,
        deadline: float | None = None,
        extract: str | None = None,
    ) -> list[Judgement]:
        """Like `score`, without blocking the event loop; no thread waits.

        If the awaiting task is cancelled, answers not yet judged are not started any more.
        """
        batch = await self._astart(self._prepared(answers, deadline, extract), deadline)
        awaited = {asyncio.wrap_future(future) for future in set(batch.futures) if not future.done()}
        try:
            if awaited:
                await asyncio.wait(awaited, timeout=batch.left)
        except BaseException:
            batch.give_up()
            raise
        return self._collect(batch)

    async def astream(
        self,
        answers: Answers,
        *,
        deadline: float | None = None,
        extract: str | None = None,
    ) -> AsyncGenerator[tuple[int, Judgement]]:
        """Like `as_completed`, without blocking the event loop; no thread waits.

        Await it before iterating: `async for place, judgement in await evaluator.astream(answers)`.
        """
        return self._aeach(await self._astart(self._prepared(answers, deadline, extract), deadline))

    async def _aeach(self, batch: Batch) -> AsyncGenerator[tuple[int, Judgement]]:
        places = batch.places()
        done: asyncio.Queue[Future[Judgement]] = asyncio.Queue()
        for future in places:
            waiting = asyncio.wrap_future(future)
            waiting.add_done_callback(lambda _, future=future: done.put_nowait(future))  # type: ignore[misc]
        try:
            with suppress(TimeoutError):
                while places:
                    future = await asyncio.wait_for(done.get(), batch.left)
                    for place in places.pop(future):
                        yield place, self._judgement(batch, future, is_late=False)
            for place, judgement in self._rest(batch, places):
                yield place, judgement
        finally:
            batch.give_up()

    def _collect(self, batch: Batch) -> list[Judgement]:
        late = batch.give_up() if batch.until is not None else ()
        return [self._judgement(batch, future, is_late=future in late) for future in batch.futures]

    def _judgement(self, batch: Batch, future: Future[Judgement], *, is_late: bool) -> Judgement:
        """Return the judgement of an answer and count it; wait for it unless it is late."""
        if is_late:
            zero = batch.zeros[batch.futures.index(future)]
            judgement = Judgement(Outcome.HARNESS_ERROR, zero, error=batch.why)
        else:
            judgement = future.result()
        with self._lock:
            self._outcomes[judgement.outcome] += 1
            self._late += is_late
        return judgement

    @property
    def statistics(self) -> Statistics:
        """The counts so far, in this process."""
        with self._lock:
            cached, executed = self._executed
            outcomes = dict(self._outcomes)
            return Statistics(sum(outcomes.values()), cached, executed, self._late, outcomes)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
