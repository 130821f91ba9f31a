"""How many golds answer on a twin, and how many wrong predictions it tells apart: two generators in one run.

A pair is a question and a different text that was predicted for it and runs on the set's own database. It is
known to be wrong if its rows are not gold's (as sets, as EX) on the set's own database or on a twin of either
generator. What is measured of each twin is the share of those that it alone tells apart from gold. Texts that
fail are left out: every database tells those apart.

The peer is a generator that `--peer` names, such as one that comes with synthetic data. Both make twins of
the same scale and seeds; with `--data schema` the project's own sees the published schema alone, with
`--data files` the set's databases.

    python -m benchmarks.twins --seeds 3 --peer BIRD_HOME/twins/make_twins.py
"""

import multiprocessing
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from dialects.enums import Dialect
from dialects.errors import HarnessError
from harness.data.answers import Extract
from harness.data.predictions import read_predictions
from harness.data.questions import QuestionSet
from harness.data.sets.loader import load_set
from harness.labs.twins.builder import make
from harness.labs.twins.sources import TwinSource
from loaders.base.processes import processors

SETS = ("mini_dev", "mini_dev_2025")
SECONDS = 5.0

Answer = frozenset[tuple[object, ...]]
Pair = tuple[str, str, str]
"""Database, gold, prediction."""


def answer(path: Path, sql: str) -> Answer | None:
    """The rows of a query as a set; None where it fails or takes longer than `SECONDS`."""
    end = time.monotonic() + SECONDS
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        connection.set_progress_handler(lambda: int(time.monotonic() > end), 100_000)
        try:
            return frozenset(connection.execute(sql).fetchall())
        except (sqlite3.Error, sqlite3.Warning):
            return None


def apart(folder: Path, pair: Pair) -> bool | None:
    """Whether a prediction's rows are others than gold's; None where gold fails."""
    db_id, gold, text = pair
    path = folder / db_id / f"{db_id}.sqlite"
    rows = answer(path, gold)
    return None if rows is None else answer(path, text) != rows


def runs(folder: Path, pair: Pair) -> bool:
    """Whether prediction and gold run."""
    path = folder / pair[0] / f"{pair[0]}.sqlite"
    return answer(path, pair[1]) is not None and answer(path, pair[2]) is not None


def answers(folder: Path, gold: tuple[str, str]) -> tuple[bool, bool]:
    """Whether a gold returns rows, and whether with a value that is neither NULL nor 0."""
    rows = answer(folder / gold[0] / f"{gold[0]}.sqlite", gold[1]) or frozenset()
    return bool(rows), any(value not in {None, 0} for row in rows for value in row)


def find_pairs(questions: QuestionSet, files: Sequence[Path]) -> list[Pair]:
    """All different texts that were predicted for each question."""
    found: dict[Pair, None] = {}
    for file in files:
        [read] = read_predictions([file], questions, extract=Extract.FENCES, dialects=[Dialect.SQLITE])
        for question in questions.questions:
            text = read.predictions.get(question.key)
            if text is not None and text.strip() != question.gold[Dialect.SQLITE].strip():
                found[question.db_id, question.gold[Dialect.SQLITE], text] = None
    return list(found)


def peers_twins(
    script: Path, folder: Path, scale: float, seeds: Sequence[int], processes: int
) -> Iterator[Path]:
    """Twins by the peer; what is in the folder already is kept."""
    for seed in seeds:
        place = folder / f"peer-{seed}"
        if not place.is_dir():
            staging = folder / f".peer-{seed}"
            command = [sys.executable, "-B", str(script), f"--out={staging}", f"--scale={scale}"]
            command += [f"--seed={seed}", f"--processes={processes}"]
            began = time.monotonic()
            subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
            print(f"peer, seed {seed}: {time.monotonic() - began:.0f} s, {_megabytes(staging):.1f} MB")
            staging.rename(place)
        yield place


def own_twins(
    sources: Sequence[TwinSource], folder: Path, scale: float, seeds: Sequence[int], processes: int
) -> Iterator[Path]:
    """The project's own twins; what is in the folder already is kept."""
    for seed in seeds:
        place = folder / f"own-{seed}"
        if not place.is_dir():
            staging = folder / f".own-{seed}"
            began = time.monotonic()
            make(sources, staging, scale=scale, seed=seed, workers=processes)
            print(f"own, seed {seed}: {time.monotonic() - began:.0f} s, {_megabytes(staging):.1f} MB")
            staging.rename(place)
        yield place


def _megabytes(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*.sqlite")) / 1e6


def shares(verdicts: Mapping[str, Sequence[bool | None]], wrong: Sequence[int]) -> str:
    """The share of the wrong pairs that each twin tells apart: the mean, and of each."""
    each = [100 * sum(bool(found[at]) for at in wrong) / max(len(wrong), 1) for found in verdicts.values()]
    return f"{statistics.mean(each):5.1f} %  ({', '.join(f'{share:.1f}' for share in each)})"


def main(  # noqa: PLR0913, PLR0917 - the options
    peer: Annotated[Path, typer.Option(help="The script of the other generator; it is run.")],
    seeds: Annotated[int, typer.Option(help="Twins by each generator.", min=1)] = 3,
    scale: Annotated[float, typer.Option(help="Of the real row counts.")] = 0.02,
    data: Annotated[str, typer.Option(help="schema: the published one; files: the databases.")] = "schema",
    folder: Annotated[Path | None, typer.Option(help="Where twins are kept, and found again.")] = None,
    without: Annotated[list[str] | None, typer.Option(help="A database to leave out (repeatable).")] = None,
    bird_home: Annotated[Path | None, typer.Option(help="Instead of the environment's BIRD_HOME.")] = None,
    processes: Annotated[int, typer.Option(min=1)] = processors(),
) -> None:
    """Measure, and print the table."""
    home = bird_home or Path(os.environ.get("BIRD_HOME") or "data")
    sets = [load_set(name, home) for name in SETS]
    golds = [
        list(dict.fromkeys((each.db_id, each.gold[Dialect.SQLITE]) for each in one.questions)) for one in sets
    ]
    files = sorted({*home.glob("predictions/*_sqlite.json"), *home.glob("predictions/*_SQLite.json")})
    left_out = set(without or ())
    pairs = [pair for pair in find_pairs(sets[0], files) if pair[0] not in left_out]
    kind: Literal["schema", "files"] = "files" if data == "files" else "schema"
    with tempfile.TemporaryDirectory() as scratch, multiprocessing.Pool(processes) as pool:
        place = folder or Path(scratch)
        place.mkdir(parents=True, exist_ok=True)
        numbers = range(1, seeds + 1)
        peers = list(peers_twins(peer, place, scale, numbers, processes))
        own = list(own_twins(sources(sets, home, kind), place, scale, numbers, processes))
        for title, folders in (("peer", peers), ("own", own)):
            for one, asked in zip(sets, golds, strict=True):
                for each in folders:
                    found = pool.map(partial(answers, each), asked, chunksize=8)
                    rows, values = (sum(column) for column in zip(*found, strict=True))
                    name = f"{title:5}{each.name:8}{one.name:14}"
                    print(f"{name} golds {len(asked)}: rows {rows}, not only NULL or 0 {values}")
        real = sets[0].databases
        ran = pool.map(partial(runs, real), pairs, chunksize=16)
        pairs = [pair for pair, good in zip(pairs, ran, strict=True) if good]
        verdicts = {
            str(each): pool.map(partial(apart, each), pairs, chunksize=16) for each in (real, *peers, *own)
        }
    print_shares(verdicts, str(real), [str(each) for each in peers], [str(each) for each in own], len(pairs))


def print_shares(
    verdicts: Mapping[str, Sequence[bool | None]],
    real: str,
    peers: Sequence[str],
    own: Sequence[str],
    pairs: int,
) -> None:
    """The table, by who says that a prediction is wrong."""
    print(f"{pairs} different texts that run and are not gold's")
    judges = {
        "any database": [real, *peers, *own],
        "the set's own database": [real],
        "the set's own and the peer's twins": [real, *peers],
        "the set's own and the own twins": [real, *own],
    }
    for title, names in judges.items():
        wrong = [at for at in range(pairs) if any(verdicts[name][at] for name in names)]
        print(f"wrong by {title}: {len(wrong)}")
        print(f"    told apart by a twin of the peer: {shares({n: verdicts[n] for n in peers}, wrong)}")
        print(f"    told apart by a twin of our own:  {shares({n: verdicts[n] for n in own}, wrong)}")


def sources(sets: Sequence[QuestionSet], home: Path, kind: Literal["schema", "files"]) -> list[TwinSource]:
    """What twins of the sets' databases are made of."""
    golds: dict[str, list[str]] = {}
    for one in sets:
        for each in one.questions:
            golds.setdefault(each.db_id, []).append(each.gold[Dialect.SQLITE])
    schema = home / "schema" / "sqlite.json"
    return [
        TwinSource(
            db_id,
            sets[0].database(db_id).sqlite_path if kind == "files" else schema,
            tuple(golds[db_id]),
            sets[0].databases,
        )
        for db_id in sorted(golds)
    ]


if __name__ == "__main__":
    try:
        typer.run(main)
    except HarnessError as error:
        print(f"{error}", file=sys.stderr)
        sys.exit(error.exit_code)
