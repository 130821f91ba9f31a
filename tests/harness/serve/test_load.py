"""What is killed while batches are judged, and clients that behave badly: no score is ever wrong."""

import json
import os
import resource
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Any

import httpx2
import pytest

from dialects.enums import Dialect
from harness.data.outcomes import Outcome
from harness.engines.execution import Ending
from harness.serve.client import ScoreClient, reward
from harness.serve.processes import _most_connections
from loaders.base.errors import EngineUnavailable
from loaders.base.files import is_text
from tests.engines.hostile import sqlite_cases
from tests.engines.hostile.families import FAMILIES
from tests.engines.hostile.running import allowed
from tests.engines.victims import victim
from tests.harness.serve.served import ENDLESS, PATIENT_SECONDS, SERVERS, WORKERS, Served, metrics, served
from tests.reasons import Reason, skip

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds processes in /proc"),
]

CALLERS, BATCH = 4, 12
KILLS = 5
GOLD = "SELECT count(*) FROM books"


class Load:
    """Callers who send batches until told to stop: what no judgement may be, and how many were right."""

    def __init__(self, client: ScoreClient) -> None:
        self._client = client
        self._stopping = threading.Event()
        self.wrong: list[Any] = []
        self.right = 0

    def ask(self, mark: str) -> list[float | None]:
        """Ask for the rewards of texts that nobody has asked for, of which each second one is right."""
        texts = [f"SELECT count(*) + {place % 2} FROM books -- {mark} {place}" for place in range(BATCH)]
        sent = [{"database": "city_library", "gold": GOLD, "sql": sql} for sql in texts]
        return [reward(each) for each in self._client.score(sent)]

    def _send(self, caller: int) -> None:
        number = 0
        while not self._stopping.is_set():
            number += 1
            for place, found in enumerate(self.ask(f"{caller} {number}")):
                self.right += found == 1 - place % 2
                if found not in (1 - place % 2, None):
                    self.wrong.append((caller, number, place, found))

    @contextmanager
    def running(self) -> Iterator[None]:
        """Send for the time of the context."""
        with ThreadPoolExecutor(CALLERS) as pool:
            callers = [pool.submit(self._send, number) for number in range(CALLERS)]
            try:
                yield
            finally:
                self._stopping.set()
            for each in callers:
                each.result()

    def check(self) -> None:
        """Nothing was wrong, and what is asked for from now on is right."""
        assert self.wrong == []
        assert self.ask("afterwards") == [1.0, 0.0] * (BATCH // 2)


def kill_in_turn(find: Callable[[], Sequence[int]]) -> None:
    """Kill one process after the other, each as soon as it is there and has had a moment to work."""
    killed: set[int] = set()
    until = time.monotonic() + PATIENT_SECONDS
    while len(killed) < KILLS:
        assert time.monotonic() < until
        for each in [each for each in find() if each not in killed][:1]:
            time.sleep(0.2)
            os.kill(each, signal.SIGKILL)
            killed.add(each)
        time.sleep(0.05)


@pytest.mark.parametrize(("what", "processes"), [(WORKERS, "1"), (SERVERS, "2")])
def test_killed_processes_never_make_a_score_wrong(what: bytes, processes: str) -> None:
    with served("--processes", processes) as server, ScoreClient(server.address) as client:
        load = Load(client)
        with load.running():
            kill_in_turn(lambda: server.below(what))
        assert load.right
        load.check()
        assert metrics(server)["bird_waiting_answers"] == 0
        assert server.end() == 0


@pytest.mark.engine
def test_a_killed_database_server_never_makes_a_score_wrong() -> None:
    with ExitStack() as stack:
        try:
            prey = stack.enter_context(victim(Dialect.POSTGRESQL))
        except EngineUnavailable as error:
            skip(Reason.NO_POSTGRESQL, str(error))
        server = stack.enter_context(served("--dialect", "postgresql", **prey.environment))
        load = Load(stack.enter_context(ScoreClient(server.address)))
        load.ask("first")
        with load.running():
            prey.kill()
            time.sleep(0.5)
            prey.start()
            time.sleep(0.5)
        assert load.right
        load.check()
        assert server.end() == 0


def _connected(server: Served) -> socket.socket:
    host, _, port = server.address.rpartition("//")[2].partition(":")
    return socket.create_connection((host, int(port)))


QUICK = [
    case
    for cases in FAMILIES.values()
    for case in cases[Dialect.SQLITE]
    if Ending.TIMEOUT not in case.endings
]
CORPUS = [
    each
    for each in (*QUICK[::2], *sqlite_cases.CASES[::10], sqlite_cases.UNSTOPPABLE[0])
    if is_text(each.sql)
]
"""Some of each kind; `benchmarks.soak` deals all of them out."""


def test_hostile_texts_hurt_nobody_else() -> None:
    limits = ("--timeout", "1", "--workers", "2", "--max-bytes", "100000000")
    with served(*limits) as server, ScoreClient(server.address) as client:
        load = Load(client)
        with load.running():
            found = [
                client.score([{"question": "5", "sql": case.sql} for case in CORPUS[place : place + BATCH]])
                for place in range(0, len(CORPUS), BATCH)
            ]
        load.check()
        outcomes = {case.name: each["outcome"] for case, each in zip(CORPUS, chain(*found), strict=True)}
        # Some of them ask for tables of another database.
        may = {case.name: {*allowed(case), Outcome.PREDICTION_ERROR} for case in CORPUS}
        assert {name: each for name, each in outcomes.items() if each not in may[name]} == {}
        assert server.end() == 0


HEAD = (
    b"POST /score HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
)
SLOW = b'{"database": "city_library", "gold": "SELECT 1", "sql": "%s"}' % ENDLESS.encode()
BAD_CLIENTS = {
    "says nothing": (),
    "stops in the head": (HEAD[:40],),
    "stops in the body": (HEAD % 1_000, b"{"),
    "reads nothing": (HEAD % len(SLOW), SLOW),
    "garbage": (bytes(range(256)) * 40,),
    "TLS": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",),
    "HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",),
    "an endless head": (b"GET / HTTP/1.1\r\n" + b"x: y\r\n" * 20_000,),
    "an endless member of the head": (b"GET / HTTP/1.1\r\nx: " + b"y" * 600_000,),
    "endless trailers": (
        HEAD.replace(b"Content-Length: %d", b"Transfer-Encoding: chunked"),
        b"1\r\n{\r\n0\r\n" + b"x: y\r\n" * 100_000,
    ),
    "a size of many digits": (HEAD.replace(b"%d", b"9" * 400),),
}


@pytest.mark.parametrize("name", BAD_CLIENTS)
def test_a_client_that_behaves_badly_hurts_nobody_else(name: str, steady: Served) -> None:
    with ExitStack() as stack, ScoreClient(steady.address) as client:
        for _ in range(30):
            sending = stack.enter_context(_connected(steady))
            with suppress(ConnectionError):  # the server has had enough
                for part in BAD_CLIENTS[name]:
                    sending.sendall(part)
                if "endless" in name:
                    assert sending.recv(12) in (b"HTTP/1.1 400", b"")
        Load(client).check()
    assert steady.process.poll() is None


@pytest.fixture(scope="module")
def steady() -> Iterator[Served]:
    with served("--timeout", "1") as found:
        yield found


def test_more_connections_than_there_are_places_hurt_nobody_else(steady: Served) -> None:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    with ExitStack() as stack:
        stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, limits)
        resource.setrlimit(resource.RLIMIT_NOFILE, (limits[1], limits[1]))
        for _ in range(1_100):
            stack.enter_context(_connected(steady))
        with ScoreClient(steady.address, patience=0) as client:
            Load(client).check()


def _half_sent(server: Served, size: int, body: bytes) -> socket.socket:
    """A connection with a request for scores that lacks some of its body."""
    connection = _connected(server)
    head = (
        "POST /score HTTP/1.1",
        "Host: localhost",
        "Content-Type: application/json",
        f"Content-Length: {size}",
    )
    connection.sendall("\r\n".join((*head, "", "")).encode() + body)
    return connection


@contextmanager
def _many_files(count: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, count)), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_half_sent_bodies_keep_nobody_out() -> None:
    with _many_files(4_096), served() as server, ExitStack() as stack:
        for _ in range(1_500):
            stack.enter_context(_half_sent(server, 1_000, b"{"))
        time.sleep(2)
        for place in range(5):
            sent = {"database": "city_library", "gold": GOLD, "sql": f"{GOLD} -- {place}"}
            answer = httpx2.post(f"{server.address}/score", json=sent, timeout=PATIENT_SECONDS)
            assert answer.status_code == 200, answer.text


def _peak(server: Served) -> int:
    """The most bytes that the first process has had in memory."""
    status = Path(f"/proc/{server.process.pid}/status").read_text(encoding="ascii")
    return 1024 * int(status.partition("VmHWM:")[2].split()[0])


def test_large_bodies_share_a_bounded_room() -> None:
    size, count = 4_000_000, 100
    body = json.dumps({"answers": [], "set": "x" * (size - 26)}).encode()
    assert len(body) == size
    with served() as server, ExitStack() as stack, ScoreClient(server.address) as client:
        client.score([{"database": "city_library", "gold": GOLD, "sql": GOLD}])
        before = _peak(server)
        with ThreadPoolExecutor(count) as pool:
            opened = [*pool.map(lambda _: _half_sent(server, size, body[:-1]), range(count))]
            for each in opened:
                stack.enter_context(each)
            # Small ones have room beside them.
            assert client.score([{"database": "city_library", "gold": GOLD, "sql": GOLD}])
            for each in opened:
                with suppress(OSError):
                    each.sendall(body[-1:])
            said = [*pool.map(_first_line, opened)]
        assert _peak(server) - before < count * size // 2
        assert {line[9:12] for line in said} <= {b"422", b"429", b"408", b""}
        assert client.score([{"database": "city_library", "gold": GOLD, "sql": GOLD}])


def _first_line(connection: socket.socket) -> bytes:
    connection.settimeout(PATIENT_SECONDS)
    with suppress(OSError):
        return connection.recv(4_096).partition(b"\r\n")[0]
    return b""


def test_without_descriptors_the_log_stays_short() -> None:
    with _many_files(2_048), served() as server, ExitStack() as stack:
        pid = server.process.pid
        with ScoreClient(server.address) as client:
            # It raises its own limit when it starts.
            assert client.score([{"database": "city_library", "gold": GOLD, "sql": GOLD}])
        soft, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        taken = sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (taken + 5, hard))
        for _ in range(300):
            stack.enter_context(_connected(server))
        deadline = time.monotonic() + 20
        while sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir()) < taken + 5 and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(2)
        stack.close()
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (soft, hard))
        with ScoreClient(server.address) as client:
            assert client.score([{"database": "city_library", "gold": GOLD, "sql": GOLD}])
        assert server.end() == 0
        assert server.process.stderr is not None
        lines = server.process.stderr.read().splitlines()
        assert [line for line in lines if "raise the limit" in line]
        assert len(lines) < 20


@pytest.mark.parametrize(("soft", "most"), [(4_096, 1_024), (600, 600 - 192), (200, 16)])
def test_connections_are_no_more_than_descriptors(soft: int, most: int) -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, before[1]))
    try:
        assert 16 <= _most_connections() <= most
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
