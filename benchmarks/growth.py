"""How time and memory of load, coverage and eval grow with databases, questions, predictors and rows.

Each set is made up: databases of three tables, questions of four kinds about them, and answers of which every
fifth is wrong. One dimension grows by doubling, the others keep their size. The parts run as whole commands,
one after the other; what a server's connections come to is counted ten times a second.

An exponent is the slope of the logarithm of seconds over that of the size, by least squares; of *the last
step*, over the two largest sizes only, where the start of a command weighs least.

    python -m benchmarks.growth --dialect postgresql --chart growth.svg
    python -m benchmarks.growth --databases 150 --questions 60 --steps 1
    python -m benchmarks.growth --databases 11 --questions 140 --predictors 100 --steps 1 --dialect sqlite
"""

import json
import math
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, fields, replace
from pathlib import Path
from threading import Event, Thread
from typing import Annotated
from urllib.parse import quote

import typer

from benchmarks import options
from benchmarks.memory import below, peak
from dialects.errors import BadInput, HarnessError
from harness import provision
from harness.engines import kind_of
from harness.provision.dsn import variable
from loaders.server import Server

_EVERY_SECONDS = 0.1
_COUNT = {
    "mysql": "SELECT COUNT(*) - 1 FROM information_schema.processlist WHERE user <> 'event_scheduler'",
    "postgresql": "SELECT count(*) - 1 FROM pg_stat_activity WHERE backend_type = 'client backend'",
}
"""All but the one that counts."""
_TOP = ("SELECT c.town, COUNT(*) FROM orders AS o JOIN customers AS c ON c.id = o.customer GROUP BY c.town"
        " ORDER BY 2 DESC, 1 LIMIT {1}")  # fmt: skip
_COST = "SELECT SUM(pieces * price) FROM orders AS o JOIN items AS i ON i.id = o.item WHERE o.pieces > {1}"
_ASKED = (
    ("How many orders of customer {0} are there?", "SELECT COUNT(*) FROM orders WHERE customer = {0}"),
    ("Who lives in town {1}?", "SELECT name FROM customers WHERE town = 'town {1}' ORDER BY name"),
    ("What do orders of more than {1} pieces cost?", _COST),
    ("Which {1} towns order most?", _TOP),
)


@dataclass(frozen=True)
class Size:
    """Of a set: databases, questions about each, predictors, and rows of each database's largest table."""

    databases: int
    questions: int
    predictors: int
    rows: int


DIMENSIONS = tuple(field.name for field in fields(Size))


def make_set(folder: Path, size: Size, dialect: str) -> Path:
    """Write a set with its manifest and answers into a folder.

    Returns:
        The file of answers, for one engine.
    """
    asked, answers = [], []
    for number in range(size.databases):
        name = f"shop_{number:03}"
        _make_database(folder / "databases" / name / f"{name}.sqlite", number, size.rows)
        for place in range(size.questions):
            given = place + 1, place % 5 + 1
            text, sql = (each.format(*given) for each in _ASKED[place % len(_ASKED)])
            key = f"{name}-{place}"
            difficulty = ("easy", "hard")[place % 2]
            one = {"question_id": key, "db_id": name, "question": text, "SQL": sql, "difficulty": difficulty}
            asked.append(one)
            for predictor in range(size.predictors):
                is_wrong = (len(asked) + predictor) % 5 == 0
                # Three spellings of a right answer, as predictors have.
                answer = f"SELECT -{predictor + 1}" if is_wrong else f"{sql} -- {predictor % 3}"
                answers.append(
                    {"question_id": key, "predictor": f"p{predictor}", "dialect": dialect, "sql": answer}
                )
    (folder / "questions.json").write_text(json.dumps(asked), encoding="utf-8")
    (folder / "benchmark.toml").write_text(
        # A name of its own, so that a server has nothing of it.
        f'name = "{folder.name}"\nquestions = "questions.json"\ndatabases = "databases"\n'
        'levels = ["easy", "hard"]\n',
        encoding="utf-8",
    )
    path = folder / "answers.jsonl"
    path.write_text("".join(f"{json.dumps(one)}\n" for one in answers), encoding="utf-8")
    return path


def _make_database(path: Path, number: int, rows: int) -> None:
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(
            "CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, town TEXT);"
            "CREATE TABLE items (id INTEGER PRIMARY KEY, title TEXT, price INTEGER);"
            "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER REFERENCES customers (id),"
            " item INTEGER REFERENCES items (id), pieces INTEGER, day TEXT);"
        )
        few = max(2, rows // 5)
        connection.executemany(
            "INSERT INTO customers VALUES (?, ?, ?)",
            [(at, f"customer {number}.{at}", f"town {at % 7}") for at in range(1, few)],
        )
        connection.executemany(
            "INSERT INTO items VALUES (?, ?, ?)",
            [(at, f"item {at}", at * 3 + number) for at in range(1, few)],
        )
        connection.executemany(
            "INSERT INTO orders VALUES (?, ?, ?, ?, ?)",
            [(at, at * 7 % (few - 1) + 1, at * 3 % (few - 1) + 1, at % 9, f"2024-01-{at % 28 + 1:02}")
             for at in range(1, rows)],
        )  # fmt: skip


class _Connections:
    """The most connections that a server has at once, of the harness's accounts."""

    def __init__(self, server: Server | None) -> None:
        self.most = 0
        self._server = server
        self._is_over = Event()
        self._thread = Thread(target=self._watch, daemon=True)

    def _watch(self) -> None:
        server = self._server
        if server is None or (administration := kind_of(server.dialect).administration) is None:
            return
        with closing(administration().administrating(server)) as connection:
            while not self._is_over.wait(_EVERY_SECONDS):
                with connection.cursor() as cursor:
                    cursor.execute(_COUNT[server.dialect])
                    [count] = cursor.fetchone()
                self.most = max(self.most, int(count))

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Count within the block."""
        self._thread.start()
        try:
            yield
        finally:
            self._is_over.set()
            self._thread.join()


@dataclass(frozen=True)
class Command:
    """One run of a command: seconds, the peak of its largest process in MB, and the most connections."""

    seconds: float
    megabytes: float
    connections: int


def _measured(command: Sequence[str], environment: dict[str, str], server: Server | None) -> Command:
    connections = _Connections(server)
    with connections.watched(), tempfile.TemporaryFile("w+") as errors:
        begun = time.monotonic()
        running = subprocess.Popen(
            [sys.executable, "-m", "harness", *command],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=errors,
        )
        megabytes = 0.0
        while running.poll() is None:
            megabytes = max([megabytes, *(peak(process) for process in (running.pid, *below(running.pid)))])
            time.sleep(_EVERY_SECONDS / 2)
        seconds = time.monotonic() - begun
        if running.returncode:
            errors.seek(0)
            raise BadInput(f"{' '.join(command)}: exit code {running.returncode}: {errors.read()[-500:]}")
    return Command(seconds, megabytes, connections.most)


def _parts(folder: Path, answers: Path, dialect: str, workers: int) -> dict[str, list[str]]:
    on_set = ["--set", str(folder), "--dialect", dialect]
    out = ["--workers", str(workers), "--out", str(folder / "results")]
    eval_ = ["--predictions", str(answers), "--driver", "direct", "--no-report", "--metrics", "ex,soft_f1"]
    parts = {
        "load": ["load", *on_set, "--profile", "faithful"],
        "load again": ["load", *on_set, "--profile", "faithful"],
        "coverage": ["coverage", *on_set, *out],
        "eval, cold": ["eval", *on_set, *eval_, *out],
        "eval, warm": ["eval", *on_set, *eval_, *out],
    }
    return {name: part for name, part in parts.items() if dialect != "sqlite" or name.startswith("eval")}


Found = Mapping[str, Mapping[int, Sequence[Command]]]
"""The runs of each part, by the size of what grew."""


def exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """Return the slope of log seconds over log size, by least squares."""
    return statistics.linear_regression([*map(math.log, sizes)], [*map(math.log, seconds)]).slope


def medians(runs: Mapping[int, Sequence[Command]]) -> dict[int, float]:
    """Return the median seconds of each size."""
    return {size: statistics.median(run.seconds for run in some) for size, some in runs.items()}


def chart(found: Mapping[str, Found]) -> str:
    """Draw seconds over size, both logarithmic, as SVG: a panel for each dimension, a line for each part.

    The dashed line grows in proportion.
    """
    parts = list(dict.fromkeys(part for runs in found.values() for part in runs))
    every = [value for runs in found.values() for some in runs.values() for value in medians(some).values()]
    least, octaves = math.log2(min(every)), max(1.0, math.log2(max(every) / min(every)))
    colours = ("#0072b2", "#56b4e9", "#009e73", "#d55e00", "#cc79a7")  # Okabe and Ito, for all eyes
    drawn = []
    for panel, (dimension, runs) in enumerate(found.items()):
        left, sizes = 40 + 220 * panel, sorted(next(iter(runs.values())))

        def at(size: float, seconds: float, left: int = left, sizes: Sequence[int] = sizes) -> str:
            x = left + 170 * math.log(size / sizes[0]) / max(1.0, math.log(sizes[-1] / sizes[0]))
            return f"{x:.1f},{220 - 190 * (math.log2(seconds) - least) / octaves:.1f}"

        drawn.append(f'<text x="{left}" y="250">{dimension}, {sizes[0]:,} to {sizes[-1]:,}</text>')
        drawn.append(f'<path d="M{left},25V220H{left + 175}" stroke="#888" fill="none"/>')
        end = min(float(sizes[-1]), sizes[0] * 2**octaves)
        steady = f"{at(sizes[0], 2**least)} {at(end, 2**least * end / sizes[0])}"
        drawn.append(f'<polyline points="{steady}" stroke="#888" stroke-dasharray="4" fill="none"/>')
        for part, some in runs.items():
            line = " ".join(at(size, seconds) for size, seconds in medians(some).items())
            colour = colours[parts.index(part)]
            drawn.append(f'<polyline points="{line}" stroke="{colour}" stroke-width="2" fill="none"/>')
    for place, part in enumerate(parts):
        drawn.append(f'<text x="{40 + 110 * place}" y="15" fill="{colours[place]}">{part}</text>')
    drawn.append(f'<text x="2" y="30">{max(every):.0f} s</text><text x="2" y="222">{min(every):.1f} s</text>')
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {220 * len(found) + 20} 260"'
    return "\n".join([f'{head} font-family="sans-serif" font-size="12">', *drawn, "</svg>", ""])


def main(  # noqa: PLR0913, PLR0917 - the benchmark's options
    grow: Annotated[list[str] | None, typer.Option(help=f"{', '.join(DIMENSIONS)}; default: each.")] = None,
    databases: Annotated[int, typer.Option(help="At first.", min=1)] = 16,
    questions: Annotated[int, typer.Option(help="About each database, at first.", min=1)] = 40,
    predictors: Annotated[int, typer.Option(help="At first.", min=1)] = 4,
    rows: Annotated[int, typer.Option(help="Of the largest table, at first.", min=10)] = 8000,
    steps: Annotated[int, typer.Option(help="Sizes: each twice the one before.", min=1)] = 4,
    runs: options.Runs = 1,
    dialect: options.Dialect = "postgresql",
    workers: options.Workers = 2,
    to: Annotated[Path | None, typer.Option("--chart", help="Draw the figures to this SVG file.")] = None,
) -> None:
    """Print a row for each command, then the exponents."""
    unknown = [each for each in grow or () if each not in DIMENSIONS]
    if unknown:
        raise BadInput(f"--grow {unknown[0]}: choose from {', '.join(DIMENSIONS)}")
    first = Size(databases, questions, predictors, rows)
    needed = kind_of(dialect).has_server
    engine = provision.throwaway(kind_of(dialect).dialect) if needed else nullcontext()
    print(f"| {' | '.join(DIMENSIONS)} | part | s | largest process, MB | connections at once |")
    print(f"|{'---|' * (len(DIMENSIONS) + 4)}", flush=True)
    found: dict[str, dict[str, dict[int, list[Command]]]] = {}
    with tempfile.TemporaryDirectory() as place, engine as server:
        environment = {**os.environ, "BIRD_PROVISION": "dsn"}
        if server is not None:
            address = f"{server.user}:{quote(server.password)}@{server.address}"
            environment[variable(server.dialect)] = f"{server.dialect}://{address}"
        for dimension in dict.fromkeys(grow or DIMENSIONS[: len(DIMENSIONS) if steps > 1 else 1]):
            for number in range(steps * runs):
                grown = getattr(first, dimension) * 2 ** (number % steps)
                size = replace(first, **{dimension: grown})
                folder = Path(place, f"{dimension}_{number}")
                for part, run in _run(folder, size, dialect, workers, environment, server):
                    found.setdefault(dimension, {}).setdefault(part, {}).setdefault(grown, []).append(run)
    if steps > 1:
        _print(found)
    if to is not None:
        to.write_text(chart(found), encoding="utf-8")


def _run(  # noqa: PLR0913, PLR0917 - what to run, and where
    folder: Path, size: Size, dialect: str, workers: int, environment: dict[str, str], server: Server | None
) -> Iterator[tuple[str, Command]]:
    answers = make_set(folder, size, dialect)
    own = {**environment, "BIRD_STORE": str(folder / "store.sqlite")}
    for part, command in _parts(folder, answers, dialect, workers).items():
        run = _measured(command, own, server)
        cells = (*(getattr(size, name) for name in DIMENSIONS), part, f"{run.seconds:.2f}",
                 f"{run.megabytes:.0f}", run.connections)  # fmt: skip
        print(f"| {' | '.join(map(str, cells))} |", flush=True)
        yield part, run


def _print(found: Mapping[str, Found]) -> None:
    print("\n| grown | part | s | exponent | of the last step |\n|---|---|---|---|---|")
    for dimension, parts in found.items():
        for part, some in parts.items():
            seconds = medians(some)
            sizes, times = list(seconds), list(seconds.values())
            slopes = f"{exponent(sizes, times):.2f} | {exponent(sizes[-2:], times[-2:]):.2f}"
            print(f"| {dimension} | {part} | {' '.join(f'{each:.2f}' for each in times)} | {slopes} |")


if __name__ == "__main__":
    try:
        typer.run(main)
    except HarnessError as error:
        raise SystemExit(str(error)) from error
