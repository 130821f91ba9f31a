"""Weights of what engines count: measured, fitted, and how well they foretell times that are not fitted to.

`measure` runs golds and predictions of a set, and writes for each text what the engine counts and the
processor time that it takes, one CSV file an engine. `fit` makes `harness/metrics/weights.json` of these
files and prints the tables of docs/explanation/efficiency.md.

A processor is slower while others are busy, by two to five times. So a short text that only computes is run
right before and after each run, as a yardstick: a time is the median of a text's times in yardsticks, times
what a yardstick takes where nothing else runs. Servers have to be private ones on this machine: PostgreSQL's
processor time is that of its process.

    python -m benchmarks.work measure --set mini_dev --predictions FILE --dialect mysql
    python -m benchmarks.work fit
"""

import csv
import hashlib
import json
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Annotated

import numpy as np
import typer
from scipy.optimize import nnls

from dialects.enums import Profile
from harness.data.predictions import read_predictions
from harness.data.sets.loader import load_set
from harness.engines import TITLES, EngineName, dialect_of, kind_of
from harness.engines.base import Engine, Session, SqlError
from harness.engines.execution import WATCHDOG, Limits, Work, count_work
from harness.metrics.work import WEIGHTS
from harness.session.plan import find_servers
from loaders.bulk_load import load_each
from loaders.namespace import Database

SAMPLES = Path(__file__).with_name("work_samples")
RUNS = 5
YARDSTICK = (
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)"
    " SELECT COUNT(*) FROM n a CROSS JOIN n b WHERE a.i + b.i > 250"
)
YARDSTICK_SECONDS = {"sqlite": 1.15e-3, "mysql": 1.23e-3, "postgresql": 1.67e-3, "duckdb": 1.4e-3}
"""What it takes on a machine where nothing else runs, by engine."""
LIMITS = Limits(seconds=5.0)
HELD_OUT = 3
"""Every third question is not fitted on."""
POWER = 0.5
"""An error counts by the time of its text to the power of minus this: 0 absolutely, 1 relatively."""
SHORT_SECONDS = 0.008
"""What is counted in less is short; of such answers, which are most, one is measured in"""
ONE_IN = 5
LEAST_SECONDS = 0.01
"""From here on a text is what the weights are judged by."""

app = typer.Typer(help=__doc__)


@dataclass(frozen=True)
class Sample:
    """What one text made an engine do, and its processor time in seconds."""

    question: str
    seconds: float
    counters: Mapping[str, int]

    @property
    def is_held_out(self) -> bool:
        """Whether its question is one that is not fitted on; the same in every run."""
        return zlib.crc32(self.question.encode()) % HELD_OUT == 0


@app.command()
def measure(
    set_name: Annotated[str, typer.Option("--set")] = "sample",
    predictions: Annotated[list[Path] | None, typer.Option(help="Beside golds (repeatable).")] = None,
    dialect: Annotated[list[str] | None, typer.Option(help="Engine (repeatable).")] = None,
    runs: Annotated[int, typer.Option(min=1)] = RUNS,
) -> None:
    """Count and time every text that an engine runs in time."""
    questions = load_set(set_name)
    SAMPLES.mkdir(exist_ok=True)
    for name in dialect or list(YARDSTICK_SECONDS):
        servers = find_servers([name], required=True, say=print)
        server = servers[name][0] if kind_of(name).has_server else None
        if server is not None:
            load_each([questions.database(db_id, Profile.OFFICIAL) for db_id in questions.db_ids], server)
        engine = kind_of(name).make(server, pooled=False)
        files = (
            read_predictions(predictions or [], questions, dialects=[name], say=print) if predictions else []
        )
        found: list[Sample] = []
        for question in questions.questions:
            answers = [file.predictions.get(question.key) for file in files if file.dialect == name]
            golds = [question.gold.get(dialect_of(name)), *answers]
            texts = dict.fromkeys(each for each in golds if each)
            database = questions.database(question.db_id, Profile.OFFICIAL)
            found += _measured(engine, database, question.key, texts, runs)
            print(f"\r{name}: {question.key}, {len(found)} texts ", end="", flush=True)
        _write(SAMPLES / f"{name}.csv", found)
        print(
            f"\r{name}: {len(found)} texts, {sum(each.seconds >= LEAST_SECONDS for each in found)} slow ones"
        )


def _measured(
    engine: Engine, database: Database, question: str, texts: Mapping[str, None], runs: int
) -> Iterator[Sample]:
    """Golds, and answers that count otherwise than what was there before; of short ones a few."""
    known: list[Mapping[str, int]] = []
    for sql in texts:
        # What fails or takes too long is no sample.
        with suppress(SqlError):
            began = time.perf_counter()
            work = count_work(engine, database, sql, LIMITS)
            is_short = time.perf_counter() - began < SHORT_SECONDS
            if not isinstance(work, Work) or work.counters in known:
                continue
            known.append(work.counters)
            if is_short and len(known) > 1 and zlib.crc32(sql.encode()) % ONE_IN:
                continue
            yield Sample(question, _seconds(engine, database, sql, runs), work.counters)


def _seconds(engine: Engine, database: Database, sql: str, runs: int) -> float:
    with engine.session(database, LIMITS.seconds) as session:
        clock = _CLOCKS.get(dialect_of(engine.dialect), _of_session)(session)

        def run(text: str) -> float:
            with WATCHDOG.guard(session, LIMITS.seconds):
                before = next(clock)
                for _rows in session.batches(text):
                    pass
                return next(clock) - before

        run(sql)
        ratios = []
        for _ in range(runs):
            # Processors run slower while others are busy: a text that only computes tells by how much.
            before, took, after = run(YARDSTICK), run(sql), run(YARDSTICK)
            ratios.append(2 * took / (before + after))
    return median(ratios) * YARDSTICK_SECONDS[dialect_of(engine.dialect)]


def _of_session(session: Session) -> Iterator[float]:
    """What the session itself says."""
    while True:
        spent = session.spent()
        assert spent is not None, "the engine does not count"
        assert spent.processor is not None, "the engine does not count processor time"
        yield spent.processor


def _of_process(session: Session) -> Iterator[float]:
    """What the operating system says of the server's process for the session; only processor time."""
    [[(process,)]] = session.batches("SELECT pg_backend_pid()")
    while True:
        nanoseconds = int(Path(f"/proc/{process}/schedstat").read_text(encoding="ascii").split()[0])
        yield nanoseconds / 1e9


_CLOCKS = {"postgresql": _of_process}
"""The engines whose sessions do not tell processor time."""


def _write(path: Path, samples: Sequence[Sample]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("question", "microseconds", "counters"))
        for each in samples:
            counters = " ".join(f"{name}={count}" for name, count in each.counters.items())
            writer.writerow((each.question, f"{each.seconds * 1e6:.4g}", counters))


def read(path: Path) -> list[Sample]:
    """The samples of a file that `measure` wrote."""
    with path.open(encoding="utf-8", newline="") as file:
        return [
            Sample(
                row["question"],
                float(row["microseconds"]) / 1e6,
                {name: int(count) for name, count in (pair.split("=") for pair in row["counters"].split())},
            )
            for row in csv.DictReader(file)
        ]


def fitted(samples: Sequence[Sample]) -> dict[str, float]:
    """The weights, in microseconds: non-negative least squares of relative errors.

    A text of a millisecond counts as much as one of a second. Its error is divided by the square root of its
    time, so that neither the shortest nor the longest texts decide alone.
    """
    names = sorted({name for each in samples for name in each.counters})
    seconds = np.array([each.seconds for each in samples])
    counts = np.array([[each.counters.get(name, 0) for name in names] for each in samples], dtype=float)
    scale = 1 / seconds**POWER
    weights, _ = nnls(counts * scale[:, None], seconds * scale)
    return {name: float(f"{weight * 1e6:.4g}") for name, weight in zip(names, weights, strict=True)}


def weighed(weights: Mapping[str, float], sample: Sample) -> float:
    """Seconds that the weights foretell."""
    return sum(weights.get(name, 0.0) * count for name, count in sample.counters.items()) / 1e6


@dataclass(frozen=True)
class Fit:
    """How well weights foretell the times of samples: of those from `LEAST_SECONDS` on, and of all."""

    texts: int
    explained: float
    """Share of the variance of seconds."""
    explained_logs: float
    """The same of their logarithms, where a small text counts as much as a large one."""
    off: float
    """By which factor the times of half of the texts are off, at most."""


def judged(weights: Mapping[str, float], samples: Sequence[Sample]) -> Fit:
    """How well weights foretell samples."""
    seconds = np.array([each.seconds for each in samples])
    foretold = np.array([max(weighed(weights, each), 1e-9) for each in samples])
    logs, foretold_logs = np.log(seconds), np.log(foretold)
    return Fit(
        len(samples),
        _explained(seconds, foretold),
        _explained(logs, foretold_logs),
        float(np.exp(np.median(np.abs(logs - foretold_logs)))),
    )


def _explained(
    values: "np.ndarray[tuple[int], np.dtype[np.float64]]",
    foretold: "np.ndarray[tuple[int], np.dtype[np.float64]]",
) -> float:
    return float(1 - np.sum((values - foretold) ** 2) / np.sum((values - values.mean()) ** 2))


def _figures(fit: Fit) -> tuple[object, ...]:
    shares = (f"{100 * share:.1f} %" for share in (fit.explained, fit.explained_logs))
    return fit.texts, *shares, f"{fit.off:.2f}"


@app.command()
def fit(*, write: Annotated[bool, typer.Option(help="Write the weights.")] = True) -> None:
    """Fit the weights of every engine that has samples, on two thirds of the questions."""
    made = {}
    for path in sorted(SAMPLES.glob("*.csv")):
        samples = read(path)
        held_out = [each for each in samples if each.is_held_out]
        weights = fitted([each for each in samples if not each.is_held_out])
        slow = judged(weights, [each for each in held_out if each.seconds >= LEAST_SECONDS])
        every = judged(weights, held_out)
        name: EngineName = path.stem
        made[name] = {
            "weights": weights,
            "samples": hashlib.sha256(path.read_bytes()).hexdigest(),
        }
        figures = (len(samples) - every.texts, *_figures(slow), *_figures(every))
        print(f"| {TITLES[name]} | {' | '.join(map(str, figures))} |")
    if write:
        WEIGHTS.write_text(json.dumps(made, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    app()
