"""How well the search for a witness works: on pairs that are known, and against random twins.

`pairs` searches the planted differences and the equal pairs of the tests, each several times with other
random numbers:

    python -m benchmarks.chance pairs --seconds 0.2 --seeds 2

`twins` compares what tells published predictions from gold, and in how many bytes: random twins, one after
the other; the witnesses of a search on SQLite, each only for the question that it was found for; and these
packed into few databases, which meet every question. Differences are those that EX sees, as in
`benchmarks.twins`. A prediction is right if the set's own database does not tell it from gold. A witness is
found for a right answer, so that it refutes this one by construction; *others* leaves out those that were
found for the same text.

    bird-harness eval --set mini_dev --predictions BIRD_HOME/predictions --extract fences --out results/chance
    bird-harness lab chance results/chance/latest --seconds 0.2
    python -m benchmarks.chance twins results/chance/latest/chance-...
"""

import multiprocessing
import os
import sqlite3
import statistics
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.twins import Pair as Told
from benchmarks.twins import apart, find_pairs, own_twins, peers_twins, sources
from dialects.enums import Dialect
from dialects.errors import BadInput, HarnessError
from harness.data.sets.loader import load_set
from harness.data.witnesses import WITNESSES, Witness, load
from harness.engines import kind_of
from harness.labs.twins.suite import packed, told_apart, write
from harness.scoring.chance.search import SECONDS, Data, PairToRefute, searched
from harness.scoring.chance.shape import Shape, TableName, folded, of_file
from harness.scoring.chance.witness import ExecutionPlace, data_of, find
from loaders.base.processes import processors
from tests.labs.chance.cases import DIFFERENT, SCHEMA
from tests.labs.chance.rules import EQUAL

_TIMES, _SHARE = 1.5, 0.1
"""How many times as many right answers witnesses are to refute as twins do, in which share of their bytes."""

app = typer.Typer(pretty_exceptions_enable=False)


@app.command("pairs")
def known_pairs(
    seconds: Annotated[float, typer.Option(help="Of processor time for a pair.")] = SECONDS,
    seeds: Annotated[int, typer.Option(help="Searches of each pair.", min=1)] = 1,
) -> None:
    """Print how many planted differences of each class are found, and how many equal pairs are refuted."""
    place = ExecutionPlace(kind_of(Dialect.SQLITE).make(None, pooled=False))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "club.sqlite"
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(SCHEMA)
        # The name of the database is the seed of a search.
        shapes = [replace(of_file(path), db_id=f"club {seed}") for seed in range(seeds)]
        for difference, pairs in DIFFERENT.items():
            found, times, rows = Counter[str](), [], []
            for shape in shapes:
                for sql, gold in pairs:
                    began = time.thread_time()
                    witness = find(shape, PairToRefute(sql, [gold]), place, seconds=seconds)
                    times.append(time.thread_time() - began)
                    if witness is not None:
                        found[witness.difference] += 1
                        rows.append(witness.rows)
            print(
                f"{difference:11}{found.total()} of {len(times)} found, {found[difference]} of this class;"
                f" {statistics.median(times):.3f} s (most {max(times):.3f}),"
                f" {statistics.median(rows):g} rows (most {max(rows)})"
            )
        began = time.thread_time()
        refuted = [
            sql
            for shape in shapes
            for sql, gold in set(EQUAL)
            if any(searched(shape, PairToRefute(sql, [gold]), seconds))
        ]
        print(
            f"equal      {len(refuted)} of {len(shapes) * len(set(EQUAL))} refuted"
            f" in {time.thread_time() - began:.0f} s: {refuted}"
        )


@dataclass(frozen=True)
class Part:
    """The shape of one database, and the witnesses of its questions."""

    shape: Shape
    witnesses: Sequence[Witness]


def part_of(shape: Shape, witness: Witness) -> Shape:
    """The tables of a witness."""
    keys = [TableName(folded(table.name)) for table in witness.tables]
    return replace(shape, tables=tuple(shape.by_key[key] for key in keys))


def by_own_question(part: Part, pairs: Sequence[Told]) -> list[tuple[bool, bool]]:
    """Whether a witness for its question tells a prediction apart; and one for another text."""
    about = defaultdict(list)
    for each in part.witnesses:
        about[each.golds[0]].append(each)
    found = []
    for pair in pairs:
        told = [
            each.sql for each in about[pair[1]] if _told(part_of(part.shape, each), data_of(each), [pair])[0]
        ]
        found.append((bool(told), any(sql != pair[2] for sql in told)))
    return found


def _told(shape: Shape, data: Data, pairs: Iterable[Told]) -> list[bool]:
    return told_apart(shape, data, [(text, [gold]) for _, gold, text in pairs])


def _packed(part: Part) -> list[Data]:
    return packed(part.shape, part.witnesses)[0]


def _bytes(shape: Shape, data: Data, folder: Path) -> int:
    path = folder / "small.sqlite"
    write(shape, data, path)
    return path.stat().st_size


@app.command("twins")
def against_twins(  # noqa: PLR0913, PLR0917 - the options
    chance: Annotated[Path, typer.Argument(help="Folder of `lab chance`, of all predictions.")],
    peer: Annotated[Path | None, typer.Option(help="Script of another generator of twins.")] = None,
    seeds: Annotated[int, typer.Option(help="Twins of each database.", min=1)] = 10,
    scale: Annotated[float, typer.Option(help="Of the real row counts.")] = 0.02,
    folder: Annotated[Path, typer.Option(help="Where twins are kept, and found again.")] = Path(
        "results/twins"
    ),
    processes: Annotated[int, typer.Option(min=1)] = processors(),
) -> None:
    """Print what each kind of database tells from gold, in how many bytes."""
    questions, home = load_set("mini_dev"), Path(os.environ.get("BIRD_HOME") or "data")
    files = sorted({*home.glob("predictions/*_sqlite.json"), *home.glob("predictions/*_SQLite.json")})
    found = map(load, sorted((chance / WITNESSES).glob("*.json")))
    witnesses = [one for one in found if one.dialect == Dialect.SQLITE]
    if not witnesses:
        raise BadInput(f"{chance}: has no witness of SQLite; name a folder of lab chance")
    parts = {
        db_id: Part(
            of_file(questions.database(db_id).sqlite_path), [one for one in witnesses if one.db_id == db_id]
        )
        for db_id in sorted({one.db_id for one in questions.questions})
    }
    with multiprocessing.Pool(processes) as pool, tempfile.TemporaryDirectory() as scratch:
        pairs = find_pairs(questions, files)
        verdicts = pool.map(partial(apart, questions.databases), pairs, chunksize=16)
        pairs = [pair for pair, is_told in zip(pairs, verdicts, strict=True) if is_told is not None]
        wrong = {
            pair
            for pair, is_told in zip(pairs, [one for one in verdicts if one is not None], strict=True)
            if is_told
        }
        print(
            f"{len(pairs)} texts: {len(pairs) - len(wrong)} right, {len(wrong)} wrong on the set's databases"
        )
        rows: dict[str, tuple[float, set[Told]]] = {}

        size = 0.0
        told: set[Told] = set()
        folder.mkdir(parents=True, exist_ok=True)
        numbers = range(1, seeds + 1)
        twins = (
            own_twins(sources([questions], home, "files"), folder, scale, numbers, processes)
            if peer is None
            else peers_twins(peer, folder, scale, numbers, processes)
        )
        for number, twin in enumerate(twins, 1):
            size += sum(path.stat().st_size for path in twin.rglob("*.sqlite")) / 1e6
            left = [pair for pair in pairs if pair not in told]
            told_now = pool.map(partial(apart, twin), left, chunksize=16)
            told |= {pair for pair, is_told in zip(left, told_now, strict=True) if is_told}
            rows[f"{number} twins"] = size, set(told)

        by_db = [(part, [pair for pair in pairs if pair[0] == db_id]) for db_id, part in parts.items()]
        size = sum(
            _bytes(part_of(part.shape, one), data_of(one), Path(scratch))
            for part, _ in by_db
            for one in part.witnesses
        ) / 1e6  # fmt: skip
        answers = pool.starmap(by_own_question, by_db, chunksize=1)
        for name, at in (("witnesses", 0), ("witnesses, others", 1)):
            rows[name] = (
                size,
                {
                    pair
                    for (_, asked), some in zip(by_db, answers, strict=True)
                    for pair, found_by in zip(asked, some, strict=True)
                    if found_by[at]
                },
            )
        suites = pool.map(_packed, [part for part, _ in by_db], chunksize=1)
        size, told = 0.0, set()
        for (part, asked), suite in zip(by_db, suites, strict=True):
            for data in suite:
                size += _bytes(part.shape, data, Path(scratch)) / 1e6
                told |= {pair for pair, yes in zip(asked, _told(part.shape, data, asked), strict=True) if yes}
        rows[f"packed, {max(map(len, suites))} at most"] = size, told
    print(f"{'databases':22}{'MB':>8}{'right':>7}{'per MB':>9}{'wrong':>7}{'per MB':>9}")
    for name, (size, told) in rows.items():
        right = len(told - wrong)
        other = len(told) - right
        print(f"{name:22}{size:8.2f}{right:7}{right / size:9.1f}{other:7}{other / size:9.1f}")
    twins_size, twins_told = rows[f"{seeds} twins"]
    for name, (size, told) in list(rows.items())[seeds:]:
        times, share = len(told - wrong) / max(len(twins_told - wrong), 1), size / twins_size
        is_met = times >= _TIMES and share <= _SHARE
        print(
            f"{name}: {times:.2f} times the right texts that {seeds} twins refute, in {share:.3f}"
            f" of the bytes; at least {_TIMES} times in at most {_SHARE}: {'yes' if is_met else 'no'}"
        )


if __name__ == "__main__":
    try:
        app()
    except HarnessError as error:
        print(f"{error}", file=sys.stderr)
        sys.exit(error.exit_code)
