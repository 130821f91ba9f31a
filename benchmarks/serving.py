"""Answers scored in a second: a plain loop of sqlite3, the library, and the server, in turn.

The plain loop is the reward function that public training environments have: for each answer a connection,
both texts executed in the trainer's process, and sets of rows compared; it has no limit of time. Callers are
threads of this process, which share an evaluator or have a client each, and send batches. Cold: no text is
known. Warm: all are. Texts are a set's predictions, made distinct by a comment.

    python -m benchmarks.serving --callers 1,8,64
"""

import itertools
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks import options
from benchmarks.options import BirdHome, Predictions, SetName, Workers
from dialects.enums import Dialect
from dialects.errors import BadInput, HarnessError
from harness import Answer, Evaluator
from harness.serve.client import ScoreClient
from harness.session.evaluation import Pair
from harness.session.plan import Plan, prepare
from harness.session.request import Request

Scores = Sequence[float]
Score = Callable[[Sequence[Answer]], Scores]


def plain(plan: Plan, pairs: Sequence[Pair]) -> Scores:
    """The scores of pairs by a loop of sqlite3."""
    scores = []
    for pair in pairs:
        path = plan.questions.database(pair.question.db_id, plan.request.profile).sqlite_path
        with closing(sqlite3.connect(path)) as connection:
            try:
                predicted = connection.execute(pair.sql or "").fetchall()
                gold = connection.execute(pair.question.gold[Dialect.SQLITE]).fetchall()
            except sqlite3.Error:
                scores.append(0.0)
            else:
                scores.append(float(set(predicted) == set(gold)))
    return scores


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


def measured(callers: Sequence[Score], batches: Sequence[Sequence[Answer]]) -> tuple[float, Scores, Scores]:
    """The seconds of all batches, sent by callers side by side; all scores; and the seconds of each batch."""
    taken = [0.0] * len(batches)
    found: list[Scores] = [[]] * len(batches)
    left = iter(range(len(batches)))

    def work(score: Score) -> None:
        for place in left:
            begun = time.perf_counter()
            found[place] = score(batches[place])
            taken[place] = time.perf_counter() - begun

    begun = time.perf_counter()
    with ThreadPoolExecutor(len(callers)) as pool:
        list(pool.map(work, callers))
    return time.perf_counter() - begun, list(itertools.chain(*found)), taken


def _library(evaluator: Evaluator) -> Score:
    return lambda batch: [each.scores["ex"] for each in evaluator.score(batch, deadline=300)]


def _server(client: ScoreClient) -> Score:
    def score(batch: Sequence[Answer]) -> Scores:
        sent: list[dict[str, Any]] = [{"question": each.question, "sql": each.sql} for each in batch]
        return [each["scores"]["ex"] for each in client.score(sent)]

    return score


def main(  # noqa: PLR0913, PLR0917 - the benchmark's options
    set_name: SetName = "sample",
    predictions: Predictions = None,
    callers: Annotated[str, typer.Option(help="Numbers of callers, separated by commas.")] = "1,8,64",
    answers: Annotated[int, typer.Option(help="Answers of each measurement.", min=1)] = 4_096,
    batch: Annotated[int, typer.Option(help="Answers of a batch.", min=1)] = 64,
    workers: Workers = 2,
    bird_home: BirdHome = None,
) -> None:
    """Print answers a second, and their ratios to the plain loop, a row for each number of callers."""
    numbers = [int(each) for each in callers.split(",") if each.isdecimal()]
    if not numbers or 0 in numbers:
        raise BadInput(f"--callers {callers}: has to be numbers separated by commas, such as 1,8,64")
    contest = options.contest(
        set_name=set_name, predictions=predictions, dialect="sqlite", workers=workers, metrics="ex",
        bird_home=bird_home,
    )  # fmt: skip
    request = Request(
        set_name=set_name, predictions=[Path(each) for each in contest.predictions],
        dialects=(Dialect.SQLITE,), metrics=("ex",), bird_home=bird_home, cache=False,
    )  # fmt: skip
    print(f"| callers | {' | '.join(_HEADS)} |\n|{'---|' * (1 + len(_HEADS))}")
    with prepare(request, say=lambda _: None) as plan:
        pairs = [pair for pair in plan.evaluation.pairs if pair.sql is not None]
        pairs = list(itertools.islice(itertools.cycle(pairs), answers))
        begun = time.perf_counter()
        expected = plain(plan, pairs)
        alone = answers / (time.perf_counter() - begun)
        # A text of the last question may end in a comment or a semicolon: the mark begins a line of its own.
        texts = [Answer(pair.question.key, f"{pair.sql}\n-- {place}") for place, pair in enumerate(pairs)]
        batches = [texts[place : place + batch] for place in range(0, answers, batch)]
        for number in numbers:
            print(_row(number, batches, alone, expected, [set_name, str(workers), bird_home]), flush=True)


_HEADS = (
    "plain /s", "library cold /s", "library warm /s", "server cold /s", "server warm /s",
    "library / plain", "server / plain", "server warm / plain", "ms of a warm batch", "99 %, ms",
)  # fmt: skip


def _row(
    number: int, batches: Sequence[Sequence[Answer]], alone: float, expected: Scores, of: Sequence[Any]
) -> str:
    set_name, workers, bird_home = of
    with tempfile.TemporaryDirectory() as stores:
        os.environ["BIRD_STORE"] = f"{stores}/library.sqlite"
        with Evaluator(set_name, metrics="ex", workers=int(workers), bird_home=bird_home) as evaluator:
            library = [measured([_library(evaluator)] * number, batches) for _ in ("cold", "warm")]
        os.environ["BIRD_STORE"] = f"{stores}/server.sqlite"
        arguments = ("--set", set_name, "--metrics", "ex", "--workers", workers, "--queue", "100000")
        with served(*arguments) as address:
            clients = [ScoreClient(address) for _ in range(number)]
            server = [measured(list(map(_server, clients)), batches) for _ in ("cold", "warm")]
            for client in clients:
                client.close()
    for _, scores, _ in (*library, *server):
        assert scores == expected
    rates = [len(expected) / seconds for seconds, _, _ in (*library, *server)]
    taken = sorted(1000 * each for each in server[1][2])
    ratios = [rates[0] / alone, rates[2] / alone, rates[3] / alone]
    figures = [
        *(f"{each:,.0f}" for each in (alone, *rates)), *(f"{each:.2f}" for each in ratios),
        f"{statistics.median(taken):.1f}", f"{taken[int(0.99 * (len(taken) - 1))]:.1f}",
    ]  # fmt: skip
    return f"| {number} | {' | '.join(figures)} |"


if __name__ == "__main__":
    try:
        typer.run(main)
    except HarnessError as error:
        raise SystemExit(str(error)) from error
