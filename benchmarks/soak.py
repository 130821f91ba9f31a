"""Hostile and honest predictions for minutes on end: what grows, what stays behind, what changes?

Each round scores the sample's own predictions, shuffled among hostile ones of the corpus in
`tests/engines/hostile`, by one `Evaluator` that lives as long as the soak, and by a `bird-harness eval` of
its own, on one engine after the other; with `--serve`, by a reward server that lives as long, alone. Then,
while nothing is done, it is counted what processes hold, which connections are open on the servers and what
lies on the disk. Servers that are up are used; the others are started for the time of the soak, below this
process, and counted apart from workers.

Hostile texts are dealt out in turn: what is larger after the heaviest of them is so from the first third on.

It ends with 1 if something grew, an honest outcome changed, or a hostile one is not the text's own fault.

    python -m benchmarks.soak --minutes 30
"""

import ctypes
import gc
import json
import os
import random
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from benchmarks import options
from benchmarks.memory import below
from benchmarks.serving import served
from dialects.enums import Dialect
from dialects.errors import BadInput, HarnessError
from harness import Answer, Evaluator, provision
from harness.data.outcomes import Judgement, Outcome
from harness.data.predictions import read_predictions
from harness.data.sets.loader import load_set
from harness.engines import EngineName
from harness.engines.execution import administrating
from harness.provision import dsn
from harness.runs.reader import LATEST, read_results
from harness.serve.client import ScoreClient
from harness.serve.messages import ScoredAnswer
from loaders.base.files import FILE_BYTES, is_text
from loaders.sample import PREDICTIONS
from loaders.server import Origin, Server
from tests.engines.hostile import duckdb_cases, mariadb_cases, mysql_cases, postgresql_cases, sqlite_cases
from tests.engines.hostile.cases import HARMLESS, Hostile
from tests.engines.hostile.families import FAMILIES
from tests.engines.hostile.running import Place, allowed

QUESTIONS = 24
_CALLERS, _BATCH = 8, 16
"""Of a server: how many ask it at a time, and the answers of each request."""
ROUNDS = 4
"""So many at least: a third of them is compared with another third."""

_OTHERS = {
    Dialect.SQLITE: (*sqlite_cases.CASES, *sqlite_cases.UNSTOPPABLE),
    Dialect.MYSQL: mysql_cases.CASES,
    Dialect.POSTGRESQL: postgresql_cases.CASES,
    Dialect.DUCKDB: [Hostile(text, text) for text in duckdb_cases.REACHING],
    Dialect.MARIADB: mariadb_cases.CASES,
}
_OF_MYSQL = "SELECT COUNT(*) FROM information_schema.processlist WHERE user <> 'event_scheduler'"
_CONNECTIONS = {
    Dialect.MYSQL: _OF_MYSQL,
    Dialect.MARIADB: _OF_MYSQL,
    Dialect.POSTGRESQL: "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'",
}

_ROOM = {FILE_BYTES: "1GB"}
"""Several of the hostile texts have 10 MB and more, and may come in one round."""

_ANY = allowed(Hostile("any", "", HARMLESS))
"""The outcomes of what may even return rows."""

MARGINS: Mapping[str, float] = {
    "parent, MB": 32,
    "workers, MB": 96,
    "servers, MB": 1024,
    "descriptors of the parent": 4,
    "descriptors of the workers": 8,
    "threads of the parent": 2,
    "connections": 4,
    "temporary files, MB": 8,
    "command, peak MB": 64,
}
"""What is counted, and by how much it may differ without having grown.

MySQL's allocator keeps what statements took for those to come, up to what the heaviest ones took at once.
"""


def grown(samples: Sequence[Mapping[str, float]]) -> list[str]:
    """What has grown: its least value in the last third is above the most of the first by more than a margin.

    The first round is left out: by then not everything has been used once.
    """
    steady = samples[1:]
    part = max(len(steady) // 3, 1)
    return [
        name
        for name, margin in MARGINS.items()
        if min(each[name] for each in steady[-part:]) - max(each[name] for each in steady[:part]) > margin
    ]


@dataclass(frozen=True)
class Asked:
    """An answer, the predictor who gives it, and the outcomes that it may have; None: as the first time."""

    predictor: str
    answer: Answer
    dialect: EngineName
    allowed: frozenset[Outcome] | None = None


def honest(dialects: Sequence[Dialect]) -> list[Asked]:
    """The sample's own predictions."""
    questions = load_set("sample").limit(QUESTIONS)
    files = read_predictions([PREDICTIONS], load_set("sample"), dialects=dialects)
    return [
        Asked(file.predictor, Answer(question.key, sql, file.dialect), file.dialect)
        for file in files
        for question in questions.questions
        if (sql := file.predictions.get(question.key)) is not None
    ]


class InTurn:
    """Cases in any order, none of them again before all the others have come."""

    def __init__(self, cases: Sequence[Hostile], dice: random.Random) -> None:
        self._cases = cases
        self._dice = dice
        self._left: list[Hostile] = []

    def take(self, count: int) -> list[Hostile]:
        """The next ones."""
        while len(self._left) < count:
            self._left += self._dice.sample(self._cases, len(self._cases))
        taken, self._left = self._left[:count], self._left[count:]
        return taken


class Corpus:
    """The hostile texts for an engine."""

    def __init__(self, dialect: Dialect, dice: random.Random) -> None:
        self._dialect = dialect
        self._dice = dice
        self._questions = load_set("sample").limit(QUESTIONS).questions
        self._of_families = InTurn([case for cases in FAMILIES.values() for case in cases[dialect]], dice)
        # Half a character is refused before it is run.
        self._others = InTurn([case for case in _OTHERS[dialect] if is_text(case.sql)], dice)

    def asked(self, count: int) -> list[Asked]:
        """The next ones, all of them on a few questions."""
        chosen = [(case, allowed(case)) for case in self._of_families.take(count // 2)]
        # These were written for another database: there they are errors, or do what they do.
        chosen += [(case, _ANY) for case in self._others.take(count - count // 2)]
        some = self._dice.sample(self._questions, 3)
        return [
            Asked(
                f"hostile-{number}",
                Answer(question.key, case.sql.replace("{gold}", question.gold[self._dialect]), self._dialect),
                self._dialect,
                may,
            )
            for number, (case, may) in enumerate(chosen)
            for question in [self._dice.choice(some)]
        ]


class Changes:
    """What honest answers came to first, and which came to something else since; the same of hostile ones."""

    def __init__(self) -> None:
        self._first: dict[tuple[str, str, str], tuple[object, ...]] = {}
        self.found: list[str] = []

    def add(self, change: str) -> None:
        """Print a change at once: it counts even where the soak does not come to its end."""
        self.found.append(change)
        print(f"  changed: {change}", flush=True)

    def note(self, asked: Asked, judgement: Judgement) -> None:
        """Hold an outcome against what it may be."""
        seen = (judgement.outcome, dict(judgement.scores), judgement.error)
        if asked.allowed is None:
            key = (asked.dialect, asked.predictor, str(asked.answer.question))
            if self._first.setdefault(key, seen) != seen:
                self.add(f"{' '.join(key)}: {self._first[key]}, now {seen}")
        elif judgement.outcome not in asked.allowed:
            self.add(
                f"{asked.dialect} {asked.answer.question}: {asked.answer.sql[:100]!r}: {judgement.outcome}: "
                f"{(judgement.error or '')[:200]}"
            )


def command(
    place: Place, dialect: Dialect, asked: Sequence[Asked], seconds: float, changes: Changes
) -> float:
    """Score the same by the command line; the peak memory of the process that asks, in MB."""
    lines = [each for each in asked if each.dialect == dialect]
    with (place.folder / "answers.jsonl").open("w", encoding="utf-8") as file:
        for each in lines:
            record = {
                "question_id": each.answer.question,
                "sql": each.answer.sql,
                "predictor": each.predictor,
            }
            file.write(json.dumps({**record, "dialect": dialect}) + "\n")
    done = place.harness(
        "eval", "--predictions=answers.jsonl", f"--dialect={dialect}", f"--limit={QUESTIONS}",
        "--allow-missing", f"--timeout={seconds}", "--workers=2", "--out=results", "--no-cache",
    )  # fmt: skip
    if done.code != 0 or done.left:
        changes.add(f"bird-harness eval: exit code {done.code}, left {done.left}: {done.said[-500:]}")
        return done.megabytes
    by_place = {(each.predictor, str(each.answer.question)): each for each in lines}
    for result in read_results(place.folder / "results" / LATEST):
        if found := by_place.get((result.predictor, result.question)):
            changes.note(found, Judgement(result.outcome, result.scores, result.error))
    return done.megabytes


_M_MMAP_THRESHOLD = -3
_LARGE = 2**20


def _keep_little_that_is_free() -> None:
    """Have large blocks of this process, such as texts of 10 MB, given back when they are free.

    glibc would keep those that are as large as the largest one before, between blocks of callers' threads.
    https://man7.org/linux/man-pages/man3/mallopt.3.html
    """
    with suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").mallopt(_M_MMAP_THRESHOLD, _LARGE)


def sample(servers: Sequence[Server], started: Sequence[int], folder: Path) -> dict[str, float]:
    """What is held while nothing is done.

    Args:
        servers: those that are asked for their connections.
        started: the processes of those among them that were started for the soak.
        folder: where temporary files are written.
    """
    gc.collect()
    with suppress(OSError, AttributeError):  # what is free, but not given back, is no leak
        ctypes.CDLL("libc.so.6").malloc_trim(0)
    own = os.getpid()
    of_servers = {*started, *(process for one in started for process in below(one))}
    workers = [process for process in below(own) if process not in of_servers]
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {
        "parent, MB": _resident(own),
        "workers, MB": sum(map(_resident, workers)),
        "servers, MB": sum(map(_share, of_servers)),
        "descriptors of the parent": _entries(own, "fd"),
        "descriptors of the workers": sum(_entries(worker, "fd") for worker in workers),
        "threads of the parent": _entries(own, "task"),
        "connections": sum(map(_connections, servers)),
        "temporary files, MB": sum(path.stat().st_size for path in files) / 1e6,
    }


def _resident(process: int) -> float:
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1])
    except (OSError, IndexError):
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _share(process: int) -> float:
    """Its part of the memory, in MB: PostgreSQL's processes have the most of theirs in common."""
    try:
        rollup = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii")
    except OSError:
        return 0.0
    found = re.search(r"^Pss:\s+(\d+) kB", rollup, flags=re.MULTILINE)
    return int(found[1]) * 1024 / 1e6 if found else 0.0


def _entries(process: int, folder: str) -> int:
    try:
        return len(list(Path(f"/proc/{process}/{folder}").iterdir()))
    except OSError:
        return 0


def _connections(server: Server) -> int:
    connection = administrating(server)
    try:
        with connection.cursor() as cursor:
            cursor.execute(_CONNECTIONS[server.dialect])
            return int(cursor.fetchone()[0])
    finally:
        connection.close()


def _server(dialect: Dialect, stack: ExitStack) -> Server:
    """One that is up, or one for the time of the soak; named for whatever looks for it."""
    server = provision.find(dialect) or stack.enter_context(provision.throwaway(dialect))
    os.environ[dsn.variable(dialect)] = (
        f"{dialect}://{server.user}:{server.password}@{server.host}:{server.port}"
    )
    return server


def main(  # noqa: PLR0913, PLR0917 - the benchmark's options
    minutes: Annotated[float, typer.Option(help="How long.", min=0.0)] = 30.0,
    dialect: Annotated[str, typer.Option(help="Engines, separated by commas.")] = ",".join(Dialect),
    hostile_texts: Annotated[int, typer.Option("--hostile", help="For each engine and round.", min=2)] = 12,
    workers: options.Workers = 2,
    timeout: Annotated[float, typer.Option(help="Seconds for a prediction and its gold.")] = 2.0,
    seed: Annotated[int, typer.Option(help="Which hostile texts, in which order.")] = 0,
    *,
    serve: Annotated[bool, typer.Option("--serve", help="Score by `bird-harness serve`.")] = False,
) -> None:
    """Print a line for each round, and a table of what was held first, last and at most."""
    unknown = [name for name in dialect.split(",") if name not in list(Dialect)]
    if unknown:
        raise BadInput(f"--dialect {unknown[0]}: choose from {', '.join(Dialect)}")
    dialects = [Dialect(name) for name in dialect.split(",")]
    _keep_little_that_is_free()
    dice, changes, samples = random.Random(seed), Changes(), list[dict[str, float]]()  # noqa: S311 - no secret
    until = time.monotonic() + 60 * minutes
    with ExitStack() as stack:
        temporary = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bird-soak-")))
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bird-soak-")))
        servers = [_server(each, stack) for each in dialects if each in provision.SERVED]
        started = below(os.getpid())
        if servers:  # all are named by now: whatever is run here finds these and no others
            os.environ["BIRD_PROVISION"] = Origin.DSN
        stack.enter_context(_temporary_files_in(temporary))
        score = _by_server if serve else _by_library
        scores = stack.enter_context(score(dialects, workers, timeout))
        known, corpora = honest(dialects), [Corpus(each, dice) for each in dialects]
        while time.monotonic() < until or len(samples) < ROUNDS:
            asked = known + [each for corpus in corpora for each in corpus.asked(hostile_texts)]
            if not samples:
                asked = list(known)  # what they come to alone
            dice.shuffle(asked)
            for each, judgement in zip(asked, scores([one.answer for one in asked]), strict=True):
                changes.note(each, judgement)
            engine = dialects[len(samples) % len(dialects)]
            peak = 0.0 if serve else command(Place(place, servers, _ROOM), engine, asked, timeout, changes)
            samples.append({**sample(servers, started, temporary), "command, peak MB": peak})
            _describe(samples, len(asked), len(changes.found))
    _conclude(samples, len(changes.found))


Scores = Callable[[Sequence[Answer]], Sequence[Judgement]]


@contextmanager
def _by_library(dialects: Sequence[Dialect], workers: int, seconds: float) -> Iterator[Scores]:
    with Evaluator(
        dialects=dialects, workers=workers, seconds=seconds, cache=False, diagnose=True
    ) as evaluator:
        yield evaluator.score


@contextmanager
def _by_server(dialects: Sequence[Dialect], workers: int, seconds: float) -> Iterator[Scores]:
    """A server, which counts among the workers; callers of small batches ask it side by side."""
    arguments = (
        "--dialect", ",".join(dialects), "--workers", str(workers), "--timeout", str(seconds), "--no-cache",
        "--diagnose", "--max-bytes", str(2**30),
    )  # fmt: skip
    with (
        served(*arguments) as server,
        ScoreClient(server.address) as client,
        ThreadPoolExecutor(_CALLERS) as pool,
    ):

        def judged(answers: Sequence[Answer]) -> list[Judgement]:
            found = client.score([asdict(each) for each in answers])
            return [ScoredAnswer.from_json(each) for each in found]

        def score(answers: Sequence[Answer]) -> list[Judgement]:
            batches = [answers[place : place + _BATCH] for place in range(0, len(answers), _BATCH)]
            return list(chain.from_iterable(pool.map(judged, batches)))

        yield score


class _temporary_files_in:  # noqa: N801 - a context
    """Whatever this process and those below it write for a moment goes into one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._before = os.environ.get("TMPDIR")

    def __enter__(self) -> None:
        os.environ["TMPDIR"] = tempfile.tempdir = str(self._folder)

    def __exit__(self, *_: object) -> None:
        tempfile.tempdir = None
        os.environ.pop("TMPDIR")
        if self._before is not None:
            os.environ["TMPDIR"] = self._before


def _describe(samples: Sequence[Mapping[str, float]], answers: int, changed: int) -> None:
    held = ", ".join(f"{name} {value:.0f}" for name, value in samples[-1].items())
    print(f"round {len(samples)}: {answers} answers; {held}; changed {changed}", flush=True)


def _conclude(samples: Sequence[Mapping[str, float]], changed: int) -> None:
    too_much = grown(samples)
    print("| held while idle | second round | last | most | grew |\n|---|---|---|---|---|")
    for name in MARGINS:
        values = [each[name] for each in samples]
        grew = "yes" if name in too_much else "no"
        print(f"| {name} | {values[1]:.0f} | {values[-1]:.0f} | {max(values):.0f} | {grew} |")
    print(f"{len(samples)} rounds, {changed} outcomes changed or without a reason of their own")
    if too_much or changed:
        raise SystemExit(1)


if __name__ == "__main__":
    try:
        typer.run(main)
    except HarnessError as error:
        raise SystemExit(str(error)) from error
