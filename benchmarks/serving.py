"""Answers scored in a second, and how long each batch takes: every way to a score, in turn.

The plain loop is the reward function that public training environments have: for each answer a connection,
both texts executed in the trainer's process, and sets of rows compared; it has no limit of time, and there is
none for servers of databases. Callers are threads of this process, which share an evaluator, a reward
function, or a session with the MCP server, whose tool takes one answer; or have a client of the reward server
each. They send batches, one after the other. Of the way `connections`, callers are connections of one other
process, which send prepared requests with one answer each: so the server's latency is not that of a client.
`bound` is no way to a score: as many processes as workers execute the texts and golds by the plain driver.

Cold: no text is known. Warm: all are. Workers and servers have started before. Texts are a set's predictions,
made distinct by a comment; all ways have to agree on the scores. Processor time is that of callers, servers
of scores and workers together, without servers of databases; or of the reward server with its workers alone.
Its own latencies come from its `/metrics`, which counts them up to bounds.

    python -m benchmarks.serving --dialect all,mariadb --callers 1,8,64,256 --answers 512
    python -m benchmarks.serving --ways connections --callers 64
"""

import asyncio
import itertools
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import httpx2
import typer

from benchmarks import bound, connections, options
from benchmarks.memory import below
from benchmarks.options import BirdHome, Predictions, SetName, Workers
from dialects.enums import Dialect
from dialects.errors import BadInput, HarnessError
from harness import Answer, Evaluator
from harness.adapters.rewards import trl_reward
from harness.serve.client import ScoreClient
from harness.session.plan import Pair, Plan, prepare
from harness.session.request import Request, parse_dialects


@dataclass(frozen=True)
class Asked:
    """An answer to a question, with what a reward function of columns is given."""

    question: str
    sql: str
    database: str
    gold: str
    path: Path


@dataclass(frozen=True)
class Job:
    """What is scored: by whom, on what."""

    set_name: str
    dialect: str
    workers: int
    bird_home: Path | None

    def evaluator(self) -> Evaluator:
        """An evaluator of the library."""
        return Evaluator(
            self.set_name, dialects=self.dialect, metrics="ex", workers=self.workers, bird_home=self.bird_home
        )

    @property
    def words(self) -> Sequence[str]:
        """The same, as options of commands."""
        return ("--set", self.set_name, "--dialect", self.dialect, "--workers", str(self.workers))


Batch = Sequence[Asked]
Scores = Sequence[float]
Score = Callable[[Batch], Scores]
Timed = Sequence[tuple[float, Scores]]
"""Of each batch, its seconds and scores."""


@dataclass(frozen=True)
class Served:
    """A reward server: its address and first process."""

    address: str
    process: int


@dataclass(frozen=True)
class Running:
    """A way while it runs: what has batches scored by all callers, and its reward server."""

    score: Callable[[Sequence[Batch]], Timed]
    server: Served | None = None


Way = Callable[[Job, int], AbstractContextManager[Running]]
"""For a job and a number of callers."""


def by_threads(scores: Sequence[Score]) -> Callable[[Sequence[Batch]], Timed]:
    """Have batches scored by callers side by side, each by its own function."""

    def score_all(batches: Sequence[Batch]) -> Timed:
        found: list[tuple[float, Scores]] = [(0.0, [])] * len(batches)
        left = iter(range(len(batches)))

        def work(score: Score) -> None:
            for place in left:
                begun = time.perf_counter()
                judged = score(batches[place])
                found[place] = time.perf_counter() - begun, judged

        with ThreadPoolExecutor(len(scores)) as pool:
            list(pool.map(work, scores))
        return found

    return score_all


def plain(batch: Batch) -> Scores:
    """The scores of answers by a loop of sqlite3."""
    scores = []
    for each in batch:
        with closing(sqlite3.connect(each.path)) as connection:
            try:
                predicted = connection.execute(each.sql).fetchall()
                gold = connection.execute(each.gold).fetchall()
            except sqlite3.Error:
                scores.append(0.0)
            else:
                scores.append(float(set(predicted) == set(gold)))
    return scores


@contextmanager
def _plain(job: Job, callers: int) -> Iterator[Running]:
    del job
    yield Running(by_threads([plain] * callers))


@contextmanager
def _library(job: Job, callers: int) -> Iterator[Running]:
    with job.evaluator() as evaluator:

        def score(batch: Batch) -> Scores:
            judged = evaluator.score([Answer(each.question, each.sql) for each in batch], deadline=300)
            return [each.scores["ex"] for each in judged]

        yield Running(by_threads([score] * callers))


@contextmanager
def _trl(job: Job, callers: int) -> Iterator[Running]:
    with job.evaluator() as evaluator:
        reward = trl_reward(evaluator, deadline=300, extract=str)

        def score(batch: Batch) -> Scores:
            found = reward(
                completions=[each.sql for each in batch],
                database=[each.database for each in batch],
                gold=[each.gold for each in batch],
            )
            return [each or 0.0 for each in found]

        yield Running(by_threads([score] * callers))


@contextmanager
def served(*arguments: str) -> Iterator[Served]:
    """A server that ends with the block."""
    command = [sys.executable, "-m", "harness", "serve", "--port", "0", *arguments]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        address = next((line.split()[-1] for line in server.stderr if "http://" in line), None)
        assert address is not None
        try:
            yield Served(address, server.pid)
        finally:
            server.terminate()


@contextmanager
def _server(job: Job, callers: int) -> Iterator[Running]:
    def by(client: ScoreClient) -> Score:
        def score(batch: Batch) -> Scores:
            found = client.score([{"question": each.question, "sql": each.sql} for each in batch])
            return [each["scores"]["ex"] for each in found]

        return score

    with _reward_server(job) as server, ExitStack() as stack:
        clients = [stack.enter_context(ScoreClient(server.address)) for _ in range(callers)]
        yield Running(by_threads([by(each) for each in clients]), server)


def _reward_server(job: Job) -> AbstractContextManager[Served]:
    return served(*job.words, "--metrics", "ex", "--queue", "100000")


@contextmanager
def _connections(job: Job, callers: int) -> Iterator[Running]:
    with _reward_server(job) as server:

        def score(batches: Sequence[Batch]) -> Timed:
            contents = [{"question": each.question, "sql": each.sql} for [each] in batches]
            answered = connections.send(server.address, contents, callers)
            return [(seconds, [json.loads(body)["scores"]["ex"]]) for seconds, body in answered]

        yield Running(score, server)


@contextmanager
def _mcp(job: Job, callers: int) -> Iterator[Running]:
    """One session, which an event loop of its own holds."""
    from mcp import Client, StdioServerParameters  # noqa: PLC0415 - an extra of its own

    words = ["-m", "harness", "lab", "mcp", "--score", "--extract", "none", *job.words]
    session: list[tuple[Client, asyncio.AbstractEventLoop]] = []
    up, done = threading.Event(), asyncio.Event()

    async def hold() -> None:
        parameters = StdioServerParameters(command=sys.executable, args=words, env=dict(os.environ))
        async with Client(parameters) as client:
            session.append((client, asyncio.get_running_loop()))
            up.set()
            await done.wait()

    holding = threading.Thread(target=asyncio.run, args=(hold(),))
    holding.start()
    up.wait()
    [(client, loop)] = session

    async def called(batch: Batch) -> Scores:
        calls = [client.call_tool("score", {"question": each.question, "sql": each.sql}) for each in batch]
        return [_content(each)["scores"]["ex"] for each in await asyncio.gather(*calls)]

    try:
        ask: Score = lambda batch: asyncio.run_coroutine_threadsafe(called(batch), loop).result()  # noqa: E731
        yield Running(by_threads([ask] * callers))
    finally:
        loop.call_soon_threadsafe(done.set)
        holding.join()


def _content(called: Any) -> Mapping[str, Any]:
    found: Mapping[str, Any] = called.structured_content
    return found


WAYS: Mapping[str, Way] = {
    "plain": _plain, "library": _library, "trl": _trl, "server": _server, "connections": _connections,
    "mcp": _mcp,
}  # fmt: skip
BOUND = "bound"
_TIMES = 4
"""Times that known answers are asked for one by one: the last percent of them has to be some."""


def _used(process: int) -> float:
    """Seconds of processors that a process and those below it have used so far."""
    ticks = 0
    for each in (process, *below(process)):
        with suppress(OSError):  # one has ended
            stat = Path(f"/proc/{each}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
            ticks += sum(map(int, stat[11:15]))  # with those below it that have ended
    return ticks / os.sysconf("SC_CLK_TCK")


def _latencies(server: Served) -> Counter[float]:
    """The number of requests for scores by the bound of their latency, in ms."""
    text = httpx2.get(f"{server.address}/metrics").text
    found = re.findall(r'bird_score_seconds_bucket\{le="(.+)"\} (\d+)', text)
    counts = [int(count) for _, count in found]
    own = [count - before for count, before in zip(counts, [0, *counts], strict=False)]
    return Counter({1000 * float(bound): count for (bound, _), count in zip(found, own, strict=True)})


@dataclass(frozen=True)
class Measured:
    """What all batches took.

    Seconds by the clock and of processors, those of the reward server alone, and of each batch; latencies at
    the server in ms, up to which most are; and the scores.
    """

    seconds: float
    processor: float
    server: float | None
    taken: Sequence[float]
    latencies: Sequence[float]
    scores: Scores


_PARTS = (0.5, 0.99)
"""The percentiles that are printed."""


def _of_parts(ordered: Sequence[float]) -> list[float]:
    return [ordered[int(part * (len(ordered) - 1))] for part in _PARTS]


def measured(running: Running, batches: Sequence[Batch]) -> Measured:
    """Have all batches scored."""
    of, own = running.server, None
    if of is not None:
        before, earlier = _latencies(of), _used(of.process)
    begun, used = time.perf_counter(), _used(os.getpid())
    timed = running.score(batches)
    seconds, used = time.perf_counter() - begun, _used(os.getpid()) - used
    latencies: list[float] = []
    if of is not None:
        own = _used(of.process) - earlier
        latencies = _of_parts(sorted((_latencies(of) - before).elements()))
    scores = list(itertools.chain.from_iterable(each for _, each in timed))
    return Measured(seconds, used, own, sorted(each for each, _ in timed), latencies, scores)


def asked(plan: Plan, dialect: Dialect, answers: int) -> list[tuple[Pair, Asked]]:
    """So many answers, none of them twice, each with the pair that it is made of."""
    pairs = [pair for pair in plan.pairs if pair.sql is not None]
    # A text of the last question may end in a comment or a semicolon: the mark begins a line of its own.
    return [
        (pair, Asked(
            pair.question.key, f"{pair.sql}\n-- {place}", pair.question.db_id, pair.question.gold[dialect],
            plan.questions.database(pair.question.db_id, plan.request.profile).sqlite_path,
        ))
        for place, pair in enumerate(itertools.islice(itertools.cycle(pairs), answers))
    ]  # fmt: skip


def _bound(plan: Plan, texts: Sequence[tuple[Pair, Asked]], workers: int) -> float:
    """Seconds in which plain drivers execute all texts, and each gold once."""
    golds = {(each.database, each.gold): (pair, each.gold) for pair, each in texts}
    begun = time.perf_counter()
    bound.execute(plan, [*golds.values(), *((pair, each.sql) for pair, each in texts)], workers)
    return time.perf_counter() - begun


def main(  # noqa: PLR0913, PLR0917 - the benchmark's options
    set_name: SetName = "sample",
    predictions: Predictions = None,
    dialect: Annotated[str, typer.Option(help="Engines, separated by commas.")] = "sqlite",
    ways: Annotated[str, typer.Option(help="Ways, separated by commas.")] = ",".join((BOUND, *WAYS)),
    callers: Annotated[str, typer.Option(help="Numbers of callers, separated by commas.")] = "1,8,64",
    answers: Annotated[int, typer.Option(help="Answers of each measurement.", min=1)] = 2_048,
    batch: Annotated[int, typer.Option(help="Answers of a batch; less where callers are many.", min=1)] = 64,
    workers: Workers = 2,
    bird_home: BirdHome = None,
) -> None:
    """Print answers a second, their ratio to the plain loop's and the bound's, and times of batches."""
    numbers = [int(each) for each in callers.split(",") if each.isdecimal()]
    if not numbers or 0 in numbers:
        raise BadInput(f"--callers {callers}: has to be numbers separated by commas, such as 1,8,64")
    chosen = ways.split(",")
    if unknown := [each for each in chosen if each not in (BOUND, *WAYS)]:
        raise BadInput(f"--ways {unknown[0]}: choose from {', '.join((BOUND, *WAYS))}")
    _print(*_HEADS)
    print(f"|{'---|' * len(_HEADS)}")
    for engine in parse_dialects(dialect) or ():
        contest = options.contest(
            set_name=set_name, predictions=predictions, dialect=engine, workers=workers, metrics="ex",
            bird_home=bird_home,
        )  # fmt: skip
        request = Request(
            set_name=set_name, predictions=[Path(each) for each in contest.predictions], dialects=(engine,),
            metrics=("ex",), bird_home=bird_home, cache=False,
        )  # fmt: skip
        with prepare(request, say=lambda _: None) as plan:
            pairs = asked(plan, Dialect(engine), answers)
            limit = answers / _bound(plan, pairs, workers) if BOUND in chosen else None
        if limit is not None:
            _print(engine, BOUND, str(workers), "1", f"{limit:,.0f}", *[""] * (len(_HEADS) - 5))
        job, texts = Job(set_name, engine, workers, bird_home), [each for _, each in pairs]
        _compare(job, texts, [each for each in chosen if each != BOUND], numbers, batch, limit)


def _compare(  # noqa: PLR0913, PLR0917 - what the command was asked for
    job: Job, texts: Batch, ways: Sequence[str], numbers: Sequence[int], batch: int, limit: float | None
) -> None:
    expected, alone = list[Scores](), None
    for number, way in itertools.product(numbers, ways):
        if way == "plain" and job.dialect != Dialect.SQLITE:
            continue
        size = 1 if way == "connections" else min(batch, max(1, len(texts) // number))
        batches = [texts[place : place + size] for place in range(0, len(texts), size)]
        with tempfile.TemporaryDirectory() as stores:
            os.environ["BIRD_STORE"] = f"{stores}/store.sqlite"
            with WAYS[way](job, number) as running:
                running.score([[replace(texts[0], sql=f"{texts[0].sql} {each}")] for each in range(number)])
                cold = measured(running, batches)
                times = _TIMES if way == "connections" else 1
                warm = measured(running, batches * times)
        expected = expected or [cold.scores]
        assert warm.scores == list(cold.scores) * times, way
        assert cold.scores == expected[0], way
        alone = len(texts) / cold.seconds if way == "plain" else alone
        _print(job.dialect, way, str(number), str(size), *_figures(cold, warm, alone, limit))


_HEADS = (
    "engine", "way", "callers", "batch", "cold /s", "warm /s", "cold / plain", "warm / plain", "cold / bound",
    "processor ms, cold", "warm", "of the server, cold", "warm", "warm batch, p50 ms", "p99 ms",
    "at the server, p50 ms", "p99 ms",
)  # fmt: skip


def _print(*cells: str) -> None:
    print(f"| {' | '.join(cells)} |", flush=True)


def _figures(cold: Measured, warm: Measured, alone: float | None, limit: float | None) -> list[str]:
    both = cold, warm
    rates = [len(each.scores) / each.seconds for each in both]
    ratios = [(rates[0], alone), (rates[1], alone), (rates[0], limit)]
    used = [(each.processor, each) for each in both] + [(each.server, each) for each in both]
    return [
        *(f"{each:,.0f}" for each in rates),
        *("" if base is None else f"{rate / base:.2f}" for rate, base in ratios),
        *("" if each is None else f"{1000 * each / len(of.scores):.3f}" for each, of in used),
        *(f"{1000 * each:.1f}" for each in _of_parts(warm.taken)),
        *([f"<= {each:g}" for each in warm.latencies] or [""] * len(_PARTS)),
    ]


if __name__ == "__main__":
    try:
        typer.run(main)
    except HarnessError as error:
        raise SystemExit(str(error)) from error
