"""Where a cold evaluation's time goes: seconds of each phase, with all tasks judged in this process.

A phase's time is its own: that of phases within it counts for them alone. Wall time includes the server's;
processor time is this process's, which is what a faster harness can save.
"""

import pickle
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any
from unittest.mock import patch

from harness.engines import execution
from harness.runs.folder import RunFolder
from harness.scoring import judge as judging
from harness.scoring.cache import Lookup
from harness.scoring.judge import Judge, Scorer
from harness.scoring.tasks import JudgeResult, JudgeTask, Setup

REST = "everything else"


@dataclass
class Phase:
    """How often a phase was entered, and its own seconds: by the clock, and on the processor."""

    calls: int = 0
    seconds: float = 0.0
    processor: float = 0.0


class Phases:
    """Attributes time to the innermost phase that runs."""

    def __init__(self) -> None:
        self.found: dict[str, Phase] = {REST: Phase(1)}
        self._running = [REST]
        self._last = time.perf_counter(), time.process_time()

    def _pass(self) -> None:
        """Give the time since the last change to the phase that ran."""
        now = time.perf_counter(), time.process_time()
        phase = self.found[self._running[-1]]
        phase.seconds += now[0] - self._last[0]
        phase.processor += now[1] - self._last[1]
        self._last = now

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Run a phase."""
        self._pass()
        self.found.setdefault(name, Phase()).calls += 1
        self._running.append(name)
        try:
            yield
        finally:
            self._pass()
            self._running.pop()

    def of(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function, as a phase."""

        @wraps(function)
        def timed(*arguments: Any, **options: Any) -> Any:
            with self.phase(name):
                return function(*arguments, **options)

        return timed

    def end(self) -> Mapping[str, Phase]:
        """Return what was found."""
        self._pass()
        return self.found


_FUNCTIONS: Mapping[str, tuple[tuple[Any, str], ...]] = {
    "statement: server, wire and decoding": ((execution, "_collect"),),
    "session: taken, watched and made as new": ((execution, "execute"),),
    "comparison and metrics": ((Scorer, "_compared"), (Scorer, "_answered")),
    "error classes": ((Scorer, "_diagnose"),),
    "previews": ((Scorer, "_preview"),),
    "encoding of rows for the cache": ((judging, "encode_execution"),),
    "cache, looked up and written": ((Lookup, "get"), (Lookup, "store"), (Lookup, "note")),
    "run folder": ((RunFolder, "add"), (RunFolder, "finish")),
}


@contextmanager
def phases() -> Iterator[Phases]:
    """Measure the phases of what runs within the context."""
    found = Phases()
    with ExitStack() as stack:
        for name, functions in _FUNCTIONS.items():
            for owner, attribute in functions:
                stack.enter_context(patch.object(owner, attribute, found.of(name, getattr(owner, attribute))))
        yield found


class Inline:
    """Workers that judge each task at once, in this process, and pickle what would pass the pipe."""

    def __init__(self, setup: Setup, measured: Phases) -> None:
        self._judge = Judge(setup, setup.engines(0))
        self._phases = measured

    def submit(self, task: JudgeTask) -> "Future[JudgeResult]":
        """See `Workers.submit`."""
        future: Future[JudgeResult] = Future()
        with self._phases.phase("pipe, pickled and unpickled"):
            task = pickle.loads(pickle.dumps(task))  # noqa: S301 - its own bytes
        found = self._judge.judge(task)
        with self._phases.phase("pipe, pickled and unpickled"):
            future.set_result(pickle.loads(pickle.dumps(found)))  # noqa: S301 - the same
        return future

    def at_once(self, task: JudgeTask) -> "Future[JudgeResult] | None":
        """See `Workers.at_once`."""
        return self.submit(task)

    def close(self) -> None:
        """See `Workers.close`."""
