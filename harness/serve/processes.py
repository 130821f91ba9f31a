"""The processes of a reward server behind one port, and how they end."""

import asyncio
import errno
import gc
import ipaddress
import logging
import multiprocessing
import os
import resource
import signal
import socket
import time
from asyncio import Transport
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing.connection import wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from dialects.errors import BadInput
from harness.serve.app import Service, ServiceLimits, application
from harness.serve.counters import Counters
from harness.session.batches import BatchEvaluator
from loaders.base.errors import said

TOKEN = "BIRD_SERVE_TOKEN"  # noqa: S105 - the variable's name
"""The environment variable with the token that clients must send."""

_CONNECTIONS = 1_024
"""Most connections of a process at a time: if all have requests, others get 503."""
_SPARE_FILES = 192
"""Descriptors that are left to what is accepted at once and to judging; no more connections are taken."""
_ACCEPTED = 64
"""Connections that are accepted at once."""
_PATIENCE_SECONDS = 1.0
"""Seconds from the head of a request after which one without its whole body may lose its place."""
_QUIET_SECONDS = 60.0
"""Seconds between two lines about a lack of descriptors."""
_HEAD = 65_536
"""Most bytes of a request before, after and between the parts of its body."""
_ENDING = (signal.SIGTERM, signal.SIGINT)
_AGAIN_SECONDS = 1.0
"""Seconds until a process that has died is replaced."""


@dataclass(frozen=True)
class ServedSets:
    """What every process of a server needs: evaluators by name, limits and the token."""

    evaluators: Mapping[str, BatchEvaluator]
    limits: ServiceLimits
    token: str | None


def token_for(host: str) -> str | None:
    """Return the token of the environment; a host other than this machine needs one.

    Raises:
        BadInput: there is none, or it cannot be sent in a header.
    """
    token = os.environ.get(TOKEN) or None
    if token is None and not _is_loopback(host):
        raise BadInput(f"--host {host}: others could reach the server; set a token in {TOKEN}")
    if token is not None and not (token.isascii() and token.isprintable() and " " not in token):
        raise BadInput(f"{TOKEN}: has characters that a header cannot carry; use letters and digits")
    return token


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens; port 0 is any free one.

    Raises:
        BadInput: the address is not this machine's, or in use.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with ExitStack() as stack:
            listening = stack.enter_context(socket.socket(family, kind, protocol))
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
            listening.listen(_CONNECTIONS)
            stack.pop_all()
    except OSError as error:
        raise BadInput(f"--host {host} --port {port}: {said(error)}; choose another") from None
    return listening


def serve(sets: ServedSets, listening: socket.socket, processes: int) -> None:
    """Serve until SIGTERM or Ctrl-C; then refuse new batches, finish running ones and return.

    A process that dies is replaced. A second signal ends running batches, too.
    """
    # Each connection has a descriptor, and so have workers and databases.
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    enough = 4 * _CONNECTIONS if hard == resource.RLIM_INFINITY else min(hard, 4 * _CONNECTIONS)
    if 0 <= soft < enough:
        resource.setrlimit(resource.RLIMIT_NOFILE, (enough, hard))
    with TemporaryDirectory(prefix="bird-serve-") as counts:
        if processes == 1:
            _serve(sets, listening, Path(counts), None)
        else:
            _supervise(sets, listening, Path(counts), processes)


def _supervise(sets: ServedSets, listening: socket.socket, counts: Path, processes: int) -> None:
    """Keep processes running until a signal comes."""
    came: list[int] = []
    before = {each: signal.signal(each, lambda number, _: came.append(number)) for each in _ENDING}
    # A signal that comes just before a wait begins must end it, too.
    here, there = socket.socketpair()
    there.setblocking(False)
    woken = signal.set_wakeup_fd(there.fileno())
    spawn = multiprocessing.get_context("spawn")
    children: list[SpawnProcess] = []

    def pause() -> None:
        """Wait for a signal or the end of a process."""
        if here in wait([here, *(each.sentinel for each in children)]):
            here.recv(64)
        children[:] = [each for each in children if each.is_alive()]

    try:
        while not came:
            for _ in range(processes - len(children)):
                child = spawn.Process(target=_serve, args=(sets, listening, counts, os.getpid()))
                child.start()
                children.append(child)
            pause()
            if not came and len(children) < processes:
                wait([here], _AGAIN_SECONDS)
        told = 0
        while children:
            for each in children if told < len(came) else ():
                each.terminate()
            told = len(came)
            pause()
    finally:
        signal.set_wakeup_fd(woken)
        for number, handler in before.items():
            signal.signal(number, handler)
        for each in children:
            each.kill()
        here.close()
        there.close()


class _Connection(HttpToolsProtocol):
    """A connection; where all places are taken, it gets that of one without a request.

    If all have requests, it gets that of the one whose body has been sent for longest: a client that sends
    none to its end holds a place only until another one needs it.

    What is sent beside bodies has to be short: the parser keeps heads and trailers of any length.
    """

    _beside_bodies = 0
    _sending: float | None = None
    """When the head of a request had come whose body has not."""

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]  # as uvicorn's
        """Accept it."""
        if len(self.connections) >= (self.limit_concurrency or _CONNECTIONS) - 1:
            others = [each for each in self.connections if isinstance(each, _Connection)]
            idle = next((each for each in others if not each.cycle or each.cycle.response_complete), None)
            leaving = idle or _longest_sending(others)
            if leaving is not None:
                self.connections.discard(leaving)
                leaving.transport.close()
        super().connection_made(transport)

    def on_headers_complete(self) -> None:
        """Begin a request."""
        self._sending = time.monotonic()
        super().on_headers_complete()

    def data_received(self, data: bytes) -> None:
        """Read it, and close the connection if there is no end to a head."""
        self._beside_bodies += len(data)
        super().data_received(data)
        if self._beside_bodies > _HEAD and not self.transport.is_closing():
            self.send_400_response("The head of the request is too long.")

    def on_body(self, body: bytes) -> None:
        """Read a part of a body."""
        self._beside_bodies = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End a request."""
        self._beside_bodies = 0
        self._sending = None
        super().on_message_complete()


def _longest_sending(connections: Sequence[_Connection]) -> _Connection | None:
    """Return the connection whose body has been sent for longest; None if all are quick."""
    begun = {each: each._sending for each in connections if each._sending is not None}  # noqa: SLF001 - of this module
    oldest = min(begun, key=lambda each: begun[each] or 0.0, default=None)
    is_slow = oldest is not None and (begun[oldest] or 0.0) < time.monotonic() - _PATIENCE_SECONDS
    return oldest if is_slow else None


class _Server(uvicorn.Server):
    """Uvicorn's server, which at the first signal still answers until no batch is being judged."""

    def __init__(self, config: uvicorn.Config, service: Service, parent: int | None) -> None:
        super().__init__(config)
        self._service, self._parent = service, parent

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Refuse new batches; at the second signal, end."""
        del frame
        if self._parent is not None and sig == signal.SIGINT:
            return  # Ctrl-C reaches all processes of a terminal; the first of them says when to end
        self.should_exit = self.force_exit = self._service.is_stopping
        self._service.is_stopping = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept connections; if descriptors run out, wait instead of filling the log."""
        asyncio.get_running_loop().set_exception_handler(_Complaints())
        await super().startup(sockets)
        for each in sockets or ():
            each.listen(_CONNECTIONS)

    async def on_tick(self, counter: int) -> bool:
        """Return True when the server is to end."""
        if self._parent is not None and os.getppid() != self._parent:
            self._service.is_stopping = True
        return await super().on_tick(counter) or (self._service.is_stopping and self._service.is_idle)


class _Complaints:
    """Logs what goes wrong in an event loop; of a lack of descriptors, a line a minute.

    The loop reports each connection that it could not accept, thousands each second, and tries again.
    """

    def __init__(self) -> None:
        self._until = 0.0

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if not isinstance(error, OSError) or error.errno not in _NO_FILES:
            loop.default_exception_handler(context)
        elif time.monotonic() >= self._until:
            self._until = time.monotonic() + _QUIET_SECONDS
            _LOGGER.error("no connection can be accepted: %s; raise the limit (ulimit -n)", error.strerror)


_NO_FILES = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
_LOGGER = logging.getLogger("uvicorn.error")


def _most_connections() -> int:
    """Return how many connections this process has descriptors for, at most `_CONNECTIONS`."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return _CONNECTIONS
    try:
        taken = len(os.listdir("/dev/fd"))  # noqa: PTH208 - their number is all that counts
    except OSError:
        taken = 0
    return max(_FEWEST, min(_CONNECTIONS, soft - taken - _SPARE_FILES))


_FEWEST = 16


def _serve(sets: ServedSets, listening: socket.socket, counts: Path, parent: int | None) -> None:
    """Serve in this process."""
    service = Service(sets.evaluators, sets.limits, sets.token, Counters(counts))
    with ExitStack() as stack:
        for each in sets.evaluators.values():
            stack.enter_context(each)
        config = uvicorn.Config(
            application(service),
            http=_Connection,
            ws="none",
            lifespan="off",
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=_most_connections(),
            backlog=_ACCEPTED,
            timeout_graceful_shutdown=5,
        )
        # What is there by now stays: no request waits until the collector has looked at all of it.
        gc.freeze()
        _Server(config, service, parent).run([listening])
