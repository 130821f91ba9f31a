"""Time a prediction and its gold on a real engine: one `Timing` per pair of SQL texts.

Only matching pairs are timed, in a worker process of their own (`harness.scoring.workers`), with nothing else
running. A time starts when the text is sent and ends when the last row has arrived and the cursor is closed;
statements are warm and connecting is not included. The usual limits apply. `harness.metrics.efficiency`
computes scores from the times.
"""

import contextlib
import gc
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from harness.engines.base import Engine, EngineLost, Session, Spent, SqlError, SqlTimeout
from harness.engines.execution import WATCHDOG, Limits
from harness.metrics.efficiency import (
    CONFIDENCE,
    Clock,
    Timing,
    decide,
    official_tau,
    reward,
    same_text,
    steady,
)
from harness.scoring.tasks import Announce, Stage, TimingMethod, unsupervised
from loaders.namespace import Database

ITERATIONS = 100
"""Number of times the official script runs a pair; it multiplies the time limit of the pair, too."""

_LEAST_SECONDS = 1e-9
"""The time to assume when the clock is too coarse to measure it."""


def measure(  # noqa: PLR0913, PLR0917 - a pair, and how to time it
    engine: Engine,
    database: Database,
    prediction: str,
    gold: str,
    method: TimingMethod,
    limits: Limits,
    announce: Announce = unsupervised,
    *,
    beside: Database | None = None,
) -> Timing:
    """Time a prediction that matches its gold.

    Args:
        engine: the engine for both. Nothing else may run there or on this machine.
        database: the database of the question.
        prediction: its SQL text.
        gold: gold's SQL text.
        method: how to time them.
        limits: `seconds` applies to each execution (stable), or 100 times as long to all of them together
           (official). Rows are read and dropped, so the other limits do not matter.
        announce: tells the supervisor of this process about each text; never within a measured time.
        beside: the database that gold runs in, if it is another one; for the stable method.

    Raises:
        EngineLost: the engine is to blame, not a statement.
    """
    if method is TimingMethod.OFFICIAL:
        return _official(engine, database, prediction, gold, limits, announce)
    if beside is None and same_text(prediction, gold):
        return _IDENTICAL
    with (
        engine.session(beside or database, limits.seconds) as gold_session,
        engine.session(database, limits.seconds) as prediction_session,
        _without_garbage_collection(),
    ):
        with announce(Stage.RUNNING, gold, limits.seconds):
            program = gold_session.program(gold)
        if program is not None:
            with announce(Stage.RUNNING, prediction, limits.seconds):
                is_same = program == prediction_session.program(prediction)
            if is_same:
                return _IDENTICAL
        return _stable(
            _Statement(_PREDICTION, prediction, prediction_session, limits.seconds, announce),
            _Statement(_GOLD, gold, gold_session, limits.seconds, announce),
        )


def failed_while_timed(method: TimingMethod, why: str, *, is_of_gold: bool) -> Timing:
    """Return the timing of a pair if running one of its texts ended the process: as if the text had failed.

    Args:
        method: the timing method.
        why: what the text did, as a predicate.
        is_of_gold: True if the text is gold, False if it is the prediction.
    """
    tau = 1.0 if is_of_gold and method is TimingMethod.STABLE else 0.0
    return _untimed(tau, 0, Clock.CLIENT, _Failed(_GOLD if is_of_gold else _PREDICTION, why))


_IDENTICAL = Timing(1.0, 1.0, 1.0, 0, 0, Clock.IDENTICAL, 1.0, decided=True, reward=1.0)


class _Failed(Exception):
    """A statement failed or ran out of time while it was timed."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"{name} {why} while it was timed")
        self.is_of_gold = name == _GOLD


_PREDICTION, _GOLD = "the prediction", "gold"


@dataclass
class _Statement:
    """One of the two SQL texts in a session, with the times of its executions since `spent` was cleared."""

    name: str
    sql: str
    session: Session
    limit: float
    announce: Announce
    clock: Clock = Clock.CLIENT
    spent: list[Spent] = field(default_factory=list)
    executions: int = 0

    def run(self) -> None:
        """Run the text to its last row.

        Raises:
            _Failed: it failed or ran out of time.
        """
        self.executions += 1
        began = time.monotonic()
        try:
            with (
                self.announce(Stage.RUNNING, self.sql, None),
                WATCHDOG.guard(self.session, self.limit) as guarded,
            ):
                before = self._read()
                for _ in self.session.batches(self.sql):
                    pass
                took = self._read() - before
        except SqlError as error:
            if not isinstance(error, SqlTimeout) and not guarded.fired:
                raise _Failed(self.name, f"failed ({error.message})") from error
            raise _Failed(self.name, f"took longer than {self.limit:.3g} s") from error
        # MySQL stops SLEEP without an error.
        if time.monotonic() - began > self.limit:
            raise _Failed(self.name, f"took longer than {self.limit:.3g} s")
        if took.elapsed < 0:
            raise EngineLost("the engine lost its counters; run no other timing on it at the same time")
        self.spent.append(took)

    def _read(self) -> Spent:
        if self.clock is Clock.CLIENT:
            return Spent(time.perf_counter(), None)
        spent = self.session.spent()
        if spent is None:
            raise EngineLost("the engine stopped counting the time of statements")
        return spent

    def times(self) -> list[float]:
        """Seconds of each execution."""
        elapsed = [spent.elapsed for spent in self.spent]
        processor = [spent.processor for spent in self.spent if spent.processor is not None]
        times = steady(elapsed, processor) if processor else elapsed
        return [max(seconds, _LEAST_SECONDS) for seconds in times]


def _stable(prediction: _Statement, gold: _Statement) -> Timing:
    """Time strictly in turn, so that each execution finds the caches as the other statement left them."""
    pair = prediction, gold
    try:
        for statement in pair:
            statement.run()
        counted = all(statement.session.spent() for statement in pair)
        for statement in pair:
            statement.clock = Clock.SERVER if counted else Clock.CLIENT
            statement.spent.clear()
        decision = None
        while decision is None:
            for statement in pair:
                statement.run()
            ratios = [theirs / ours for ours, theirs in zip(prediction.times(), gold.times(), strict=True)]
            decision = decide(ratios)
    except _Failed as failure:
        tau = 1.0 if failure.is_of_gold else 0.0
        return _untimed(tau, prediction.executions + gold.executions, gold.clock, failure)
    return Timing(
        decision.tau,
        decision.low,
        decision.high,
        len(ratios),
        prediction.executions + gold.executions,
        gold.clock,
        CONFIDENCE,
        decision.decided,
        decision.reward,
    )


def _official(  # noqa: PLR0913, PLR0917 - the arguments of `measure`
    engine: Engine, database: Database, prediction: str, gold: str, limits: Limits, announce: Announce
) -> Timing:
    """Time as the official script, which counts any failure against the prediction."""
    whole = limits.seconds * ITERATIONS
    due = time.monotonic() + whole
    times: list[float] = []
    for number in range(2 * ITERATIONS):
        name, sql = (_GOLD, gold) if number % 2 else (_PREDICTION, prediction)
        with engine.session(database, whole) as session:
            statement = _Statement(name, sql, session, max(0.0, due - time.monotonic()), announce)
            try:
                statement.run()
            except _Failed as failure:
                return _untimed(0.0, number + 1, Clock.CLIENT, failure)
            times += statement.times()
    ratios = [theirs / ours for ours, theirs in zip(times[::2], times[1::2], strict=True)]
    tau = official_tau(ratios)
    return Timing(
        tau, None, None, len(ratios), len(times), Clock.CLIENT, None, decided=True, reward=reward(tau)
    )


def _untimed(tau: float, executions: int, clock: Clock, failure: _Failed) -> Timing:
    """Return a timing without times. `tau` is the reward, too: 0, or 1 if the prediction is not to blame."""
    return Timing(tau, None, None, 0, executions, clock, None, tau == 0, tau, str(failure))


@contextlib.contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Switch Python's garbage collector off, which would otherwise run within a measured time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
