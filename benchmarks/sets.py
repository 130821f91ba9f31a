"""Sets of many databases: time, memory and connections of load, coverage and eval.

Each set is made up: databases of three tables, questions of four kinds about them, and answers of which every
fifth is wrong. The parts run as whole commands, one after the other; what a server's connections come to is
counted ten times a second.

    python -m benchmarks.sets --databases 50,200 --questions 10 --dialect postgresql
"""

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from threading import Event, Thread
from typing import Annotated
from urllib.parse import quote

import typer

from benchmarks.memory import below, peak
from benchmarks.options import Dialect, Workers
from dialects.errors import BadInput
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


def make_set(folder: Path, databases: int, questions: int, rows: int = 200) -> Path:
    """Write a set with its manifest and answers into a folder.

    Args:
        folder: where to.
        databases: how many.
        questions: about each.
        rows: of the largest table of each.

    Returns:
        The file of answers, for every engine.
    """
    asked, answers = [], []
    for number in range(databases):
        name = f"shop_{number:03}"
        _make_database(folder / "databases" / name / f"{name}.sqlite", number, rows)
        for place in range(questions):
            given = place + 1, place % 5 + 1
            text, sql = (each.format(*given) for each in _ASKED[place % len(_ASKED)])
            key = f"{name}-{place}"
            difficulty = ("easy", "hard")[place % 2]
            one = {"question_id": key, "db_id": name, "question": text, "SQL": sql, "difficulty": difficulty}
            asked.append(one)
            answer = "SELECT -1" if len(asked) % 5 == 0 else sql
            answers += [{"question_id": key, "dialect": each, "sql": answer} for each in _dialects()]
    (folder / "questions.json").write_text(json.dumps(asked), encoding="utf-8")
    (folder / "benchmark.toml").write_text(
        f'name = "many_{databases}"\nquestions = "questions.json"\ndatabases = "databases"\n'
        'levels = ["easy", "hard"]\n',
        encoding="utf-8",
    )
    path = folder / "answers.jsonl"
    path.write_text("".join(f"{json.dumps(one)}\n" for one in answers), encoding="utf-8")
    return path


def _dialects() -> Sequence[str]:
    return ("sqlite", "mysql", "postgresql")


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


def _measured(
    command: Sequence[str], environment: dict[str, str], server: Server | None
) -> tuple[float, float, int]:
    """Seconds, the peak memory of the largest process in MB, and the most connections of a command."""
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
    return seconds, megabytes, connections.most


def _parts(folder: Path, answers: Path, dialect: str, workers: int, out: Path) -> dict[str, list[str]]:
    on_set = ["--set", str(folder), "--dialect", dialect]
    eval_ = ["--predictions", str(answers), "--predictor", "made up", "--driver", "direct", "--no-report",
             "--workers", str(workers), "--out", str(out), "--metrics", "ex,soft_f1"]  # fmt: skip
    parts = {
        "load": ["load", *on_set, "--profile", "faithful"],
        "load again": ["load", *on_set, "--profile", "faithful"],
        "coverage": ["coverage", *on_set, "--workers", str(workers), "--out", str(out)],
        "eval, cold": ["eval", *on_set, *eval_],
        "eval, warm": ["eval", *on_set, *eval_],
    }
    return {name: part for name, part in parts.items() if dialect != "sqlite" or name.startswith("eval")}


def main(
    databases: Annotated[str, typer.Option(help="How many, separated by commas.")] = "50,200",
    questions: Annotated[int, typer.Option(help="About each database.", min=1)] = 10,
    dialect: Dialect = "postgresql",
    workers: Workers = 2,
) -> None:
    """Measure each part for each number of databases."""
    print("| databases | questions | part | s | largest process, MB | connections at once |")
    print("|---|---|---|---|---|---|", flush=True)
    needed = kind_of(dialect).has_server
    engine = provision.throwaway(kind_of(dialect).dialect) if needed else nullcontext()
    with tempfile.TemporaryDirectory() as place, engine as server:
        environment = {**os.environ, "BIRD_PROVISION": "dsn"}
        if server is not None:
            address = f"{server.user}:{quote(server.password)}@{server.address}"
            environment[variable(server.dialect)] = f"{server.dialect}://{address}"
        for count in map(int, databases.split(",")):
            folder = Path(place) / f"many_{count}"
            answers = make_set(folder, count, questions)
            environment["BIRD_STORE"] = str(folder / "store.sqlite")
            for name, command in _parts(folder, answers, dialect, workers, Path(place) / "results").items():
                seconds, megabytes, most = _measured(command, environment, server)
                figures = f"{seconds:.1f} | {megabytes:.0f} | {most}"
                print(f"| {count} | {count * questions} | {name} | {figures} |", flush=True)


if __name__ == "__main__":
    typer.run(main)
