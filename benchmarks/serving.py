"""Answers scored in a second, and how long each batch takes: every way to a score, in turn.

The plain loop is the reward function that public training environments have: for each answer a connection,
both texts executed in the trainer's process, and sets of rows compared; it has no limit of time, and there is
none for servers of databases. Callers are threads of this process, which share an evaluator, a reward
function, or a session with the MCP server, whose tool takes one answer; or have a client of the reward server
each. They send batches, one after the other or with a pause. Cold: no text is known. Warm: all are. Texts are
a set's predictions, made distinct by a comment; all ways have to agree on the scores. Processor time is that
of callers, servers of scores and workers together, without servers of databases.

    python -m benchmarks.serving --callers 1,8,64,256
    python -m benchmarks.serving --ways server --callers 64 --batch 1 --pause 0.2
"""

import asyncio
import itertools
import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks import options
from benchmarks.memory import below
from benchmarks.options import BirdHome, Predictions, SetName, Workers
from dialects.enums import Dialect
from dialects.errors import BadInput, HarnessError
from harness import Answer, Evaluator
from harness.adapters.rewards import trl_reward
from harness.serve.client import ScoreClient
from harness.session.plan import Plan, prepare
from harness.session.request import Request


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


Scores = Sequence[float]
Score = Callable[[Sequence[Asked]], Scores]
Way = Callable[[Job, int], AbstractContextManager[Sequence[Score]]]
"""For a job and a number of callers, what each of them calls."""


def plain(batch: Sequence[Asked]) -> Scores:
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
def _plain(job: Job, callers: int) -> Iterator[Sequence[Score]]:
    del job
    yield [plain] * callers


@contextmanager
def _library(job: Job, callers: int) -> Iterator[Sequence[Score]]:
    with job.evaluator() as evaluator:

        def score(batch: Sequence[Asked]) -> Scores:
            judged = evaluator.score([Answer(each.question, each.sql) for each in batch], deadline=300)
            return [each.scores["ex"] for each in judged]

        yield [score] * callers


@contextmanager
def _trl(job: Job, callers: int) -> Iterator[Sequence[Score]]:
    with job.evaluator() as evaluator:
        reward = trl_reward(evaluator, deadline=300, extract=str)

        def score(batch: Sequence[Asked]) -> Scores:
            found = reward(
                completions=[each.sql for each in batch],
                database=[each.database for each in batch],
                gold=[each.gold for each in batch],
            )
            return [each or 0.0 for each in found]

        yield [score] * callers


@contextmanager
def served(*arguments: str) -> Iterator[str]:
    """The address of a server that ends with the block."""
    command = [sys.executable, "-m", "harness", "serve", "--port", "0", *arguments]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        address = next((line.split()[-1] for line in server.stderr if "http://" in line), None)
        assert address is not None
        try:
            yield address
        finally:
            server.terminate()


@contextmanager
def _server(job: Job, callers: int) -> Iterator[Sequence[Score]]:
    def by(client: ScoreClient) -> Score:
        def score(batch: Sequence[Asked]) -> Scores:
            found = client.score([{"question": each.question, "sql": each.sql} for each in batch])
            return [each["scores"]["ex"] for each in found]

        return score

    with served(*job.words, "--metrics", "ex", "--queue", "100000") as address, ExitStack() as stack:
        yield [by(stack.enter_context(ScoreClient(address))) for _ in range(callers)]


@contextmanager
def _mcp(job: Job, callers: int) -> Iterator[Sequence[Score]]:
    """One session, which an event loop of its own holds."""
    from mcp import Client, StdioServerParameters  # noqa: PLC0415 - an extra of its own

    words = ["-m", "harness", "mcp", "--score", *job.words]
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

    async def called(batch: Sequence[Asked]) -> Scores:
        calls = [client.call_tool("score", {"question": each.question, "sql": each.sql}) for each in batch]
        return [_content(each)["scores"]["ex"] for each in await asyncio.gather(*calls)]

    try:
        yield [lambda batch: asyncio.run_coroutine_threadsafe(called(batch), loop).result()] * callers
    finally:
        loop.call_soon_threadsafe(done.set)
        holding.join()


def _content(called: Any) -> Mapping[str, Any]:
    found: Mapping[str, Any] = called.structured_content
    return found


WAYS: Mapping[str, Way] = {"plain": _plain, "library": _library, "trl": _trl, "server": _server, "mcp": _mcp}


def _processor_seconds() -> float:
    """What this process and those below it have used so far."""
    ticks = 0
    for process in below(os.getpid()):
        with suppress(OSError):  # one has ended
            stat = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
            ticks += int(stat[11]) + int(stat[12])
    return time.process_time() + ticks / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Measured:
    """What all batches took: seconds by the clock and of processors, the seconds of each; and the scores."""

    seconds: float
    processor: float
    taken: Sequence[float]
    scores: Scores


def measured(callers: Sequence[Score], batches: Sequence[Sequence[Asked]], pause: float) -> Measured:
    """Have all batches scored by callers side by side."""
    taken = [0.0] * len(batches)
    found: list[Scores] = [[]] * len(batches)
    left = iter(range(len(batches)))

    def work(score: Score) -> None:
        for place in left:
            time.sleep(pause)
            begun = time.perf_counter()
            found[place] = score(batches[place])
            taken[place] = time.perf_counter() - begun

    begun, used = time.perf_counter(), _processor_seconds()
    with ThreadPoolExecutor(len(callers)) as pool:
        list(pool.map(work, callers))
    seconds = time.perf_counter() - begun
    return Measured(seconds, _processor_seconds() - used, taken, list(itertools.chain(*found)))


def asked(plan: Plan, dialect: Dialect, answers: int) -> list[Asked]:
    """So many answers, none of them twice."""
    pairs = [pair for pair in plan.evaluation.pairs if pair.sql is not None]
    # A text of the last question may end in a comment or a semicolon: the mark begins a line of its own.
    return [
        Asked(
            pair.question.key, f"{pair.sql}\n-- {place}", pair.question.db_id, pair.question.gold[dialect],
            plan.questions.database(pair.question.db_id, plan.request.profile).sqlite_path,
        )
        for place, pair in enumerate(itertools.islice(itertools.cycle(pairs), answers))
    ]  # fmt: skip


def main(  # noqa: PLR0913, PLR0917 - the benchmark's options
    set_name: SetName = "sample",
    predictions: Predictions = None,
    dialect: options.Dialect = "sqlite",
    ways: Annotated[str, typer.Option(help="Ways, separated by commas.")] = ",".join(WAYS),
    callers: Annotated[str, typer.Option(help="Numbers of callers, separated by commas.")] = "1,8,64",
    answers: Annotated[int, typer.Option(help="Answers of each measurement.", min=1)] = 4_096,
    batch: Annotated[int, typer.Option(help="Answers of a batch.", min=1)] = 64,
    pause: Annotated[float, typer.Option(help="Seconds for which a caller waits before each batch.")] = 0.0,
    workers: Workers = 2,
    bird_home: BirdHome = None,
) -> None:
    """Print answers a second, their ratio to the plain loop's, and times of batches, a row for each."""
    numbers = [int(each) for each in callers.split(",") if each.isdecimal()]
    if not numbers or 0 in numbers:
        raise BadInput(f"--callers {callers}: has to be numbers separated by commas, such as 1,8,64")
    if unknown := [each for each in ways.split(",") if each not in WAYS]:
        raise BadInput(f"--ways {unknown[0]}: choose from {', '.join(WAYS)}")
    engine = Dialect(dialect)
    contest = options.contest(
        set_name=set_name, predictions=predictions, dialect=dialect, workers=workers, metrics="ex",
        bird_home=bird_home,
    )  # fmt: skip
    request = Request(
        set_name=set_name, predictions=[Path(each) for each in contest.predictions], dialects=(engine,),
        metrics=("ex",), bird_home=bird_home, cache=False,
    )  # fmt: skip
    with prepare(request, say=lambda _: None) as plan:
        texts = asked(plan, engine, answers)
    batches = [texts[place : place + batch] for place in range(0, answers, batch)]
    print(f"| {' | '.join(_HEADS)} |\n|{'---|' * len(_HEADS)}")
    expected, alone = list[Scores](), 0.0
    for number, way in itertools.product(numbers, ways.split(",")):
        if way == "plain" and engine != Dialect.SQLITE:
            continue
        with tempfile.TemporaryDirectory() as stores:
            os.environ["BIRD_STORE"] = f"{stores}/store.sqlite"
            with WAYS[way](Job(set_name, dialect, workers, bird_home), number) as scores:
                cold, warm = (measured(scores, batches, pause) for _ in ("cold", "warm"))
        expected = expected or [cold.scores]
        assert cold.scores == warm.scores == expected[0], way
        alone = answers / cold.seconds if way == "plain" else alone
        print(_row(way, number, cold, warm, alone), flush=True)


_HEADS = (
    "way", "callers", "cold /s", "warm /s", "cold / plain", "warm / plain", "processor ms, cold", "warm",
    "warm batch, p50 ms", "p99 ms",
)  # fmt: skip


def _row(way: str, number: int, cold: Measured, warm: Measured, alone: float) -> str:
    answers = len(cold.scores)
    rates = [answers / each.seconds for each in (cold, warm)]
    ratios = [f"{each / alone:.2f}" if alone else "" for each in rates]
    processor = [f"{1000 * each.processor / answers:.2f}" for each in (cold, warm)]
    taken = sorted(1000 * each for each in warm.taken)
    times = [f"{taken[int(part * (len(taken) - 1))]:.1f}" for part in (0.5, 0.99)]
    figures = [*(f"{each:,.0f}" for each in rates), *ratios, *processor, *times]
    return f"| {' | '.join([way, str(number), *figures])} |"


if __name__ == "__main__":
    try:
        typer.run(main)
    except HarnessError as error:
        raise SystemExit(str(error)) from error
