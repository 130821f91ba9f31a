"""Workers without processes, for tests that count or break what an engine does."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor

from harness.engines import EngineName
from harness.engines.base import Engine
from harness.scoring.judge import Judge
from harness.scoring.tasks import JudgeResult, JudgeTask, Setup, Workers


class ThreadWorkers:
    """One thread of this process, with engines of the test's own."""

    def __init__(self, setup: Setup, engines: Mapping[EngineName, Engine]) -> None:
        self._judge = Judge(setup, engines)
        self._pool = ThreadPoolExecutor(1)

    def at_once(self, task: JudgeTask) -> None:
        pass

    def submit(self, task: JudgeTask) -> Future[JudgeResult]:
        return self._pool.submit(self._judge.judge, task)

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)


def threads(setup: Setup, engines: Mapping[EngineName, Engine]) -> Callable[[], Workers]:
    """For `Scheduler`: starts them."""
    return lambda: ThreadWorkers(setup, engines)
