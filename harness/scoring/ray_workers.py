"""Judges tasks on a Ray cluster: `bird-harness eval --ray ADDRESS`.

Promises: results are those of a local run, because every worker judges with the same code on the same files,
in a process of its own that it supervises as on one machine; what a lost worker has not finished is judged
again by another one. Which worker runs where, and when it is started again, is decided by Ray.
"""

import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any

from dialects.errors import BadInput
from harness.engines.base import EngineLost
from harness.scoring.ray_cluster import Cluster, Facts, import_ray, words
from harness.scoring.tasks import Judged, Setup, Task
from harness.scoring.workers import LocalWorkers
from loaders.base.errors import EngineUnavailable

_START_SECONDS = 60
"""How long to wait for workers at the start; later ones join in when they come."""
_LOST_SECONDS = 60
"""How long to be without any worker before a task is given up."""
_MOST_TRIES = 3
"""How many workers may be lost with a task before it is given up."""
_MOST_RESTARTS = 10


class _Actor:
    """One worker of the cluster."""

    def __init__(self, place: int) -> None:
        self._place = place
        self._workers: LocalWorkers | None = None

    def fault(self, expected: Facts) -> str | None:
        """Why it cannot be used, in one line."""
        fault = expected.fault()
        return None if fault is None else f"node {import_ray().util.get_node_ip_address()}: {fault}"

    def judge(self, setup: Sequence[Any], task: Task) -> Judged:
        """What the texts of a task come to.

        `setup` is the one element of a list: as an argument of its own Ray would copy it for every task.
        """
        if self._workers is None:
            self._workers = LocalWorkers(import_ray().get(setup[0]), 1, self._place)
        return self._workers.submit(task).result()


class RayWorkers:
    """Workers on a Ray cluster, one per processor; thread-safe.

    Args:
        setup: what is the same for every task. It goes to every node, passwords included.
        address: the cluster's, see `Cluster`.
        count: how many workers; default: as many as the cluster has processors. The number of a worker
            decides which of several servers it uses.

    Raises:
        BadInput: see `Cluster`; or it has fewer processors than `count`, or a node has other versions or
            files than this one, or cannot reach a server.
        EngineUnavailable: no worker has come up.
    """

    def __init__(self, setup: Setup, address: str, count: int | None = None) -> None:
        self._closed = False
        self._actors: list[Any] = []
        self._free: SimpleQueue[int] = SimpleQueue()
        self._living: set[int] = set()
        self._lost = "none has come up"
        self._cluster = Cluster(address, count)
        self._ray = self._cluster.ray
        cpus = self._cluster.cpus
        self._threads = ThreadPoolExecutor(max(count or cpus, 1), thread_name_prefix="bird-ray")
        try:
            self._start(_absolute(setup), cpus if count is None else count, cpus)
        except BaseException:
            self.close()
            raise

    def at_once(self, task: Task) -> None:
        """See `Workers.at_once`: the way to another machine is longer than what it would spare."""

    def submit(self, task: Task) -> Future[Judged]:
        """See `Workers.submit`."""
        try:
            return self._threads.submit(self._judge, task)
        except RuntimeError:  # closed
            future: Future[Judged] = Future()
            future.cancel()
            return future

    def close(self) -> None:
        """See `Workers.close`. A cluster that was started here ends."""
        self._closed = True
        # Before the actors end: what waits would otherwise be taken up, and fail instead of being cancelled.
        self._threads.shutdown(wait=False, cancel_futures=True)
        try:
            for actor in self._actors:
                self._ray.kill(actor)
            self._threads.shutdown()
        finally:
            self._cluster.close()

    def _start(self, setup: Setup, count: int, cpus: int) -> None:
        ray, name = self._ray, self._cluster.name
        if not 1 <= count <= cpus:
            raise BadInput(f"{name}: has {cpus} processors, so it cannot have {count} workers")
        self._cluster.require([server for servers in setup.servers.values() for server in servers])
        self._facts = Facts.here(setup)
        self._setup = ray.put(setup)
        kind = ray.remote(_Actor).options(
            num_cpus=1, scheduling_strategy="SPREAD", max_restarts=_MOST_RESTARTS, max_task_retries=-1
        )
        self._actors = [kind.remote(place) for place in range(count)]
        ready, _ = ray.wait(
            [self._await(place) for place in range(count)], num_returns=count, timeout=_START_SECONDS
        )
        for each in ready:
            try:
                fault = ray.get(each)
            except ray.exceptions.RayError as error:
                fault = words(error)
            if fault is not None:
                raise BadInput(f"{name}: {fault}")
        if not ready:
            raise EngineUnavailable(
                f"{name}: no worker has come up in {_START_SECONDS} seconds; try again when fewer of its "
                f"{cpus} processors are in use"
            )

    def _await(self, place: int) -> Any:
        """Use a worker as soon as it is there, if nothing is wrong with it."""
        asked = self._actors[place].fault.remote(self._facts)
        asked.future().add_done_callback(partial(self._join, place))
        return asked

    def _join(self, place: int, answer: "Future[str | None]") -> None:
        try:
            fault = answer.result()
        except Exception as error:  # noqa: BLE001 - it is lost for good, whatever the reason
            fault = words(error)
        if fault is not None:
            self._lost = fault
            return
        self._living.add(place)
        self._free.put(place)

    def _judge(self, task: Task) -> Judged:
        """Have a task judged by the next worker that is free, and by another one where that is lost.

        Raises:
            EngineLost: they are all lost, or no text is to blame for the deaths of their processes.
        """
        ray = self._ray
        for _ in range(_MOST_TRIES):
            place = self._take()
            # Not tried again by Ray: it would wait for this very worker, and others may be free.
            judge = self._actors[place].judge.options(max_task_retries=0)
            try:
                judged: Judged = ray.get(judge.remote([self._setup], task))
            except ray.exceptions.RayTaskError as error:
                self._free.put(place)
                raise error.cause from None
            except ray.exceptions.RayError as error:
                self._lost = words(error)
                self._living.discard(place)
                if not self._closed:
                    self._await(place)
            else:
                self._free.put(place)
                return judged
        raise EngineLost(f"{self._cluster.name}: {_MOST_TRIES} workers were lost with it: {self._lost}")

    def _take(self) -> int:
        """Wait for a worker that is free; its number."""
        seen = time.monotonic()
        while not self._closed:
            try:
                return self._free.get(timeout=1)
            except Empty:
                if self._living:
                    seen = time.monotonic()
                if time.monotonic() - seen > _LOST_SECONDS:
                    raise EngineLost(f"{self._cluster.name}: no worker is left: {self._lost}") from None
        raise EngineLost("the run was stopped")


def _absolute(setup: Setup) -> Setup:
    """The setup with paths that do not depend on the working folder."""
    questions = replace(setup.questions, databases=setup.questions.databases.absolute())
    return replace(setup, questions=questions)
