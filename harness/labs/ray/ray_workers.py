"""Judge tasks on a Ray cluster: `bird-harness eval --ray ADDRESS`.

Results are those of a local run, because every worker judges with the same code on the same files, in a
process of its own that is supervised as on one machine. Another worker judges again what a lost worker has
not finished. Ray decides where workers run and when they are restarted.
"""

import contextlib
import ipaddress
import logging
import os
import platform
import secrets
import shutil
import socket
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from dialects.errors import BadInput
from harness.engines.base import EngineLost
from harness.scoring.cache import CODE
from harness.scoring.tasks import JudgeResult, JudgeTask, Setup
from harness.scoring.workers import LocalWorkers
from loaders.base.digests import digests
from loaders.base.errors import EngineUnavailable
from loaders.base.processes import processors
from loaders.server import Server

# A Ray cluster (https://docs.ray.io): a running one, or one started on this machine.
#
# A cluster started here listens on the loopback address only, requires a token, makes no outgoing calls and
# leaves nothing behind. A cluster whose nodes differ from this one in what decides results is rejected.

LOCAL = "local"
"""The address of a cluster on this machine's processors, started for the run."""

AUTO = "auto"
"""The address of the cluster that this machine is a node of."""

_GIVE = "give the address that `ray start --head` prints"
_ANSWER_SECONDS = 10
_PACKAGES = ("ray", "sqlglot", "pymysql", "psycopg", "numpy", "scipy")
_STORE_BYTES = 256 * 2**20
_ALONE = {
    # Ray's own switch for clusters of one machine, read at import: everything listens on 127.0.0.1.
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_AUTH_MODE": "token",
    # One token for the life of this process: Ray remembers the first that it has read.
    "RAY_AUTH_TOKEN": secrets.token_hex(32),
}


def import_ray() -> Any:
    """Import Ray, which is optional and takes seconds to import.

    Raises:
        BadInput: it is not installed.
    """
    try:
        import ray  # noqa: PLC0415 - see above
    except ImportError:
        raise BadInput("--ray needs Ray: pip install 'bird-harness[ray]'") from None
    return ray


def require_answer(address: str) -> None:
    """Check that something answers at an address: Ray itself retries for minutes.

    Raises:
        BadInput: nothing does, or the address is malformed.
    """
    name = f"--ray {address}"
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or "/" in host:
        raise BadInput(f"{name}: must be HOST:PORT, {AUTO} or {LOCAL}; {_GIVE}")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _ANSWER_SECONDS).close()
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise BadInput(f"{name}: nothing answers there ({reason}); {_GIVE}") from None


@contextlib.contextmanager
def _connected(address: str, cpus: int | None) -> Iterator[Any]:
    """Connect to a cluster and yield Ray; a cluster started here ends with the context.

    A program that is already connected to a cluster stays connected to it.

    Raises:
        BadInput: Ray is not installed, or there is no cluster at the address.
    """
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    if address == LOCAL:
        for variable, value in _ALONE.items():
            os.environ.setdefault(variable, value)
    ray = import_ray()
    if ray.is_initialized():
        yield ray
        return
    name = f"--ray {address}"
    with contextlib.ExitStack() as stack:
        alone: dict[str, Any] = {}
        if address == LOCAL:
            # Not below TMPDIR: the system limits the length of the paths of Ray's sockets.
            folder = tempfile.mkdtemp(prefix="bird-ray-", dir="/tmp")
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
            alone = {
                "num_cpus": cpus or processors(),
                "object_store_memory": _STORE_BYTES,
                "include_dashboard": False,
                "_node_ip_address": "127.0.0.1",
                "_temp_dir": folder,
            }
        elif address != AUTO:
            require_answer(address)
        stack.callback(ray.shutdown)
        try:
            # Ray's workers import from the folder in which this process connects: use an empty one.
            with tempfile.TemporaryDirectory() as nothing, contextlib.chdir(nothing):
                ray.init(address, log_to_driver=False, logging_level=logging.ERROR, **alone)
        except Exception as error:
            raise BadInput(f"{name}: {words(error)}; {_GIVE}") from error
        here = _here(ray)
        if address == LOCAL and not ipaddress.ip_address(here).is_loopback:
            raise BadInput(
                f"{name}: this program has imported Ray before, so Ray would listen on {here}; "
                "start a cluster yourself and give its address"
            )
        yield ray


def _here(ray: Any) -> str:
    return str(ray.util.get_node_ip_address())


def difference(versions: Mapping[str, str], files: Mapping[Path, str]) -> str | None:
    """Describe in one line what is different on the node where this is called.

    Args:
        versions: what must be the same wherever tasks are judged, by name.
        files: digests of files that must be the same, too.
    """
    found = _versions()
    for name, expected in versions.items():
        if found[name] != expected:
            return f"{name} is {found[name]} there and {expected} here; install the same on every node"
    try:
        there = digests(files)
    except BadInput as error:
        return f"{error}, the same on every node"
    for path, expected in files.items():
        if there[path] != expected:
            return f"{path} has other contents there; give every node the same files"
    return None


def words(error: BaseException) -> str:
    """Return one line of an error of Ray: the last of a traceback, else the first."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if not lines:
        return type(error).__name__
    return lines[-1] if any("ray::" in line or "Traceback" in line for line in lines) else lines[0]


def _paths(setup: Setup) -> list[Path]:
    """The SQLite files that judging may read."""
    db_ids = setup.questions.db_ids if setup.questions.server is None else ()
    paths = [setup.questions.database(db_id).sqlite_path for db_id in db_ids]
    if setup.variants is not None:
        paths += [each.sqlite_path for each in setup.variants.databases()]
    return paths


def _versions() -> dict[str, str]:
    packages = {name: version(name) for name in _PACKAGES}
    own = {"the code of bird-harness": CODE.digest[:12]}
    return {"Python": platform.python_version(), "SQLite": sqlite3.sqlite_version, **packages, **own}


_START_SECONDS = 60
"""Seconds to wait for workers at the start; later ones join as they come up."""
_LOST_SECONDS = 60
"""Seconds without any worker before a task is given up."""
_MOST_TRIES = 3
"""Number of workers that may be lost with a task before it is given up."""
_MOST_RESTARTS = 10


class _Actor:
    """One worker of the cluster."""

    def __init__(self, place: int) -> None:
        self._place = place
        self._workers: LocalWorkers | None = None

    def fault(self, versions: Mapping[str, str], files: Mapping[Path, str]) -> str | None:
        """Return in one line why this worker cannot be used, or None."""
        fault = difference(versions, files)
        return None if fault is None else f"node {_here(import_ray())}: {fault}"

    def judge(self, setup: Sequence[Any], task: JudgeTask) -> JudgeResult:
        """Judge the texts of a task.

        `setup` is the only element of a list: Ray would copy a direct argument for every task.
        """
        if self._workers is None:
            self._workers = LocalWorkers(import_ray().get(setup[0]), 1, self._place)
        return self._workers.submit(task).result()


class RayWorkers:
    """Workers on a Ray cluster, one per processor; thread-safe.

    Args:
        setup: what all tasks share. It is sent to every node, passwords included.
        address: `HOST:PORT` of the cluster's head, `AUTO` for the one that this machine is a node of, or
           `LOCAL`.
        count: the number of workers; default: one per processor of the cluster. The index of a worker
           decides which of several servers it uses.

    Raises:
        BadInput: Ray is not installed, or there is no cluster at the address; it has fewer processors than
            `count`, or a node has other versions or files than this one, or cannot reach a server.
        EngineUnavailable: no worker has come up.
    """

    def __init__(self, setup: Setup, address: str, count: int | None = None) -> None:
        self._name = f"--ray {address}"
        self._closed = False
        self._actors: list[Any] = []
        self._free: SimpleQueue[int] = SimpleQueue()
        self._living: set[int] = set()
        self._lost = "none has come up"
        with contextlib.ExitStack() as stack:
            self._ray = stack.enter_context(_connected(address, count))
            cpus = int(self._ray.cluster_resources().get("CPU", 0))
            self._threads = ThreadPoolExecutor(max(count or cpus, 1), thread_name_prefix="bird-ray")
            stack.callback(self._stop)
            self._start(_absolute(setup), cpus if count is None else count, cpus)
            self._opened = stack.pop_all()

    def at_once(self, task: JudgeTask) -> None:
        """See `Workers.at_once`: always None, because the network costs more than it would save."""

    def submit(self, task: JudgeTask) -> Future[JudgeResult]:
        """See `Workers.submit`."""
        try:
            return self._threads.submit(self._judge, task)
        except RuntimeError:  # closed
            future: Future[JudgeResult] = Future()
            future.cancel()
            return future

    def close(self) -> None:
        """See `Workers.close`. A cluster that was started here ends."""
        self._opened.close()

    def _stop(self) -> None:
        self._closed = True
        # Before the actors end: waiting tasks would otherwise start, and fail instead of being cancelled.
        self._threads.shutdown(wait=False, cancel_futures=True)
        for actor in self._actors:
            self._ray.kill(actor)
        self._threads.shutdown()

    def _start(self, setup: Setup, count: int, cpus: int) -> None:
        ray = self._ray
        if not 1 <= count <= cpus:
            raise BadInput(
                f"{self._name}: the cluster has {cpus} processors for {count} workers; lower --workers"
            )
        self._require([server for servers in setup.servers.values() for server in servers])
        self._expected = _versions(), digests(_paths(setup))
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
                raise BadInput(f"{self._name}: {fault}")
        if not ready:
            raise EngineUnavailable(
                f"{self._name}: no worker has come up in {_START_SECONDS} seconds; try again when fewer of "
                f"its {cpus} processors are in use"
            )

    def _require(self, servers: list[Server]) -> None:
        """Reject servers that only this machine reaches if the cluster has other machines."""
        nodes = [node["NodeManagerAddress"] for node in self._ray.nodes() if node["Alive"]]
        others = sorted(node for node in nodes if node != _here(self._ray))
        for server in servers:
            if others and server.is_local:
                raise BadInput(
                    f"{self._name}: node {others[0]} cannot reach {server.dialect} at {server.address}, "
                    "which is this machine's own address; "
                    f"name a server in BIRD_{server.dialect.upper()}_DSN"
                )

    def _await(self, place: int) -> Any:
        """Use a worker as soon as it is up, unless it reports a fault."""
        asked = self._actors[place].fault.remote(*self._expected)
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

    def _judge(self, task: JudgeTask) -> JudgeResult:
        """Have a task judged by the next free worker, and by another one if that is lost.

        Raises:
            EngineLost: all are lost, or their processes died without a text to blame.
        """
        ray = self._ray
        for _ in range(_MOST_TRIES):
            place = self._take()
            # Ray does not retry: it would wait for this very worker, while others may be free.
            judge = self._actors[place].judge.options(max_task_retries=0)
            try:
                judged: JudgeResult = ray.get(judge.remote([self._setup], task))
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
        raise EngineLost(f"{self._name}: {_MOST_TRIES} workers were lost with it: {self._lost}")

    def _take(self) -> int:
        """Wait for a free worker; return its number."""
        seen = time.monotonic()
        while not self._closed:
            try:
                return self._free.get(timeout=1)
            except Empty:
                if self._living:
                    seen = time.monotonic()
                if time.monotonic() - seen > _LOST_SECONDS:
                    raise EngineLost(f"{self._name}: no worker is left: {self._lost}") from None
        raise EngineLost("the run was stopped")


def _absolute(setup: Setup) -> Setup:
    """Return the setup with absolute paths."""
    questions = replace(setup.questions, databases=setup.questions.databases.absolute())
    return replace(setup, questions=questions)
