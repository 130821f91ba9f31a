"""Hostile and honest predictions for minutes on end: what grows, what stays behind, what changes?

Each round scores the sample's own predictions, shuffled among hostile ones of every kind in
`tests/engines/hostile/table.py`, by one `Evaluator` that lives as long as the soak, and among others by a
`bird-harness eval` of its own; with `--serve`, by a reward server that lives as long, alone. Then, while
nothing is done, it is counted what processes hold, which connections are open on the servers and what lies on
the disk. Servers that are up are used; if none is, native ones are started for the time of the soak, and
counted apart from workers.

Golds have a name in them that nobody else knows. It is searched in every preview of rows and in every error.
All the while an administrator's connection asks each server what it works on for readers, so that it is seen
for how long a text goes on after its time limit.

Hostile texts are dealt out in turn: what is larger after the heaviest of them is so from the first third on.

It ends with 1 if something grew, an honest outcome changed, a hostile one is not the text's own fault, a gold
was read, or a server went on with a text for more than 10 seconds after its limit.

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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from itertools import chain
from pathlib import Path
from statistics import median
from threading import Event, Thread
from typing import Annotated, Any

import typer

from benchmarks import options
from benchmarks.memory import below
from benchmarks.serving import served
from dialects.enums import Dialect
from dialects.errors import BadInput, HarnessError
from harness import Answer, Evaluator, provision
from harness.data.outcomes import Judgement, Outcome, PairResult, Preview
from harness.data.predictions import read_predictions
from harness.data.questions import Question
from harness.data.set_manifest import MANIFEST
from harness.data.sets.loader import load_set
from harness.engines import EngineName
from harness.engines.retry import administrating
from harness.provision import native
from harness.runs.reader import LATEST, key_of, read_previews, read_results
from harness.serve.client import ScoreClient
from harness.serve.messages import ScoredAnswer
from loaders.base.files import FILE_BYTES, is_text
from loaders.base.processes import working_in
from loaders.sample import PREDICTIONS
from loaders.server import Origin, Server
from tests.engines.hostile.cases import HARMLESS, Hostile
from tests.engines.hostile.families import FAMILIES
from tests.engines.hostile.running import Place, allowed
from tests.engines.hostile.table import texts

QUESTIONS = 24
SET = "marked"
_CALLERS, _BATCH = 8, 16
"""Of a server: how many ask it at a time, and the answers of each request."""
ROUNDS = 4
"""So many at least: a third of them is compared with another third."""

MARKER = "bird_gold_7c1e"
"""A name, a column and a literal of every gold."""
_SESSION = re.compile(r"(?<=[ (])\{\}")
"""What stands for the number of another session in a text."""
_GOLD = re.compile("WITH(?: RECURSIVE)? |", re.IGNORECASE)

MOST_SECONDS_AFTER = 10.0
"""How long a server may go on with a text after its limit: the harness tells it to stop, and then ends it."""
_LOOKS_EVERY = 0.1
_WORKING = (
    "SELECT id, SHA2(info, 256) FROM information_schema.processlist"
    " WHERE user LIKE 'bird\\_reader%' AND info IS NOT NULL"
)
_WORKS = {
    Dialect.MYSQL: _WORKING,
    Dialect.MARIADB: _WORKING,
    # It shows nobody's texts or their times. Each has a transaction of its own.
    Dialect.POSTGRESQL: (
        "SELECT pid, virtualtransaction FROM pg_stat_activity JOIN pg_locks USING (pid)"
        " WHERE usename = 'bird_reader' AND locktype = 'virtualxid' AND granted"
        " AND wait_event_type IS DISTINCT FROM 'Client'"
    ),
}
"""What a server works on for readers: a session, and a name of its statement."""

_OF_MYSQL = "SELECT COUNT(*) FROM information_schema.processlist WHERE user <> 'event_scheduler'"
_CONNECTIONS = {
    Dialect.MYSQL: _OF_MYSQL,
    Dialect.MARIADB: _OF_MYSQL,
    Dialect.POSTGRESQL: "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'",
}

_ROOM = {FILE_BYTES: "1GB"}
"""Several of the hostile texts have 10 MB and more, and may come in one round."""
_PATIENCE = 900
"""Seconds for the command line, of five engines and everything that goes on after its limit."""

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


def marked(gold: str) -> str:
    """The same query, with the marker as the name of a part of it that nothing reads."""
    begins = _GOLD.match(gold)
    assert begins is not None
    mark = f"{MARKER} AS (SELECT '{MARKER}' AS {MARKER})"
    return f"{begins[0]}{mark}, {gold[begins.end() :]}" if begins[0] else f"WITH {mark} {gold}"


def marked_set(folder: Path) -> Path:
    """Write the sample's first questions as a set, with marked golds."""
    questions = load_set("sample").limit(QUESTIONS)
    records = [
        {"question_id": each.key, "db_id": each.db_id, "question": each.text}
        | {str(dialect): marked(each.gold[dialect]) for dialect in Dialect}
        for each in questions.questions
    ]
    databases = questions.database(questions.db_ids[0]).sqlite_path.parents[1]
    keys = "\n".join(f'{dialect} = "{dialect}"' for dialect in Dialect)
    folder.mkdir()
    (folder / "questions.json").write_text(json.dumps(records), encoding="utf-8")
    (folder / MANIFEST).write_text(
        f'name = "marked"\nquestions = "questions.json"\ndatabases = "{databases}"\n\n[keys.SQL]\n{keys}\n',
        encoding="utf-8",
    )
    return folder


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
        self._families = {case.sql for cases in FAMILIES.values() for case in cases[dialect]}
        # Half a character is refused before it is run.
        cases = [case for case in texts(dialect) if is_text(case.sql)]
        self._cases = InTurn(cases, dice)
        self.size = len(cases)

    def asked(self, count: int) -> list[Asked]:
        """The next ones, all of them on a few questions."""
        # The others were written for another database: there they are errors, or do what they do.
        chosen = [
            (case, allowed(case) if case.sql in self._families else _ANY) for case in self._cases.take(count)
        ]
        some = self._dice.sample(self._questions, 3)
        return [
            Asked(
                f"hostile-{number}",
                Answer(question.key, self._filled(case.sql, question), self._dialect),
                self._dialect,
                may,
            )
            for number, (case, may) in enumerate(chosen)
            for question in [self._dice.choice(some)]
        ]

    def _filled(self, sql: str, question: Question) -> str:
        if self._dialect in provision.SERVED:
            sql = _SESSION.sub(str(self._dice.randint(1, 99)), sql)
        return sql.replace("{gold}", question.gold[self._dialect])


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
        """Hold an outcome against what it may be, and look for golds in what is shown of it."""
        preview = judgement.preview and str(replace(Preview.from_text(judgement.preview), gold_sql=None))
        if MARKER in f"{judgement.error} {judgement.code} {preview}":
            self.add(f"{asked.dialect} {asked.answer.question}: {asked.answer.sql[:100]!r}: reads a gold")
        seen = (judgement.outcome, dict(judgement.scores), judgement.error)
        key = (asked.dialect, asked.predictor, str(asked.answer.question))
        if asked.allowed is None and self._first.setdefault(key, seen) != seen:
            self.add(f"{' '.join(key)}: {self._first[key]}, now {seen}")
        elif judgement.outcome not in (asked.allowed or _ANY):
            self.add(
                f"{asked.dialect} {asked.answer.question}: {asked.answer.sql[:100]!r}: {judgement.outcome}: "
                f"{(judgement.error or '')[:200]}"
            )


def command(place: Place, asked: Sequence[Asked], seconds: float, changes: Changes) -> float:
    """Score the same by the command line; the peak memory of the process that asks, in MB."""
    with (place.folder / "answers.jsonl").open("w", encoding="utf-8") as file:
        for each in asked:
            record = {
                "question_id": each.answer.question,
                "sql": each.answer.sql,
                "predictor": each.predictor,
                "dialect": each.dialect,
            }
            file.write(json.dumps(record) + "\n")
    dialects = ",".join({each.dialect: None for each in asked})
    done = place.harness(
        "eval", f"--set={place.folder / SET}", "--predictions=answers.jsonl", f"--dialect={dialects}",
        "--allow-missing", f"--timeout={seconds}", "--workers=2", "--out=results", "--no-cache",
    )  # fmt: skip
    if done.code != 0 or done.left:
        changes.add(f"bird-harness eval: exit code {done.code}, left {done.left}: {done.said[-500:]}")
        return done.megabytes
    by_place = {(each.dialect, each.predictor, str(each.answer.question)): each for each in asked}
    run = place.folder / "results" / LATEST
    previews = read_previews(run)
    for result in read_results(run):
        if found := by_place.get((result.dialect, result.predictor, result.question)):
            preview = previews.get(key_of(result))
            changes.note(found, replace(_as_asked(result), preview=preview.to_text() if preview else None))
    return done.megabytes


def _as_asked(result: PairResult) -> Judgement:
    return Judgement(result.outcome, result.scores, result.error, result.code)


class StatementTimes:
    """For how long each server works on the texts of readers, as its administrator sees it."""

    def __init__(self, servers: Sequence[Server]) -> None:
        self._seen = {server.dialect: dict[tuple[object, ...], tuple[float, float]]() for server in servers}
        self._done: dict[Dialect, list[float]] = {server.dialect: [] for server in servers}
        self._servers = servers
        self._is_over = Event()

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Ask the servers all the while. A server that does not answer the first time is an error."""
        for server in self._servers:
            with closing(administrating(server)) as connection:
                self._look(server, connection)
        threads = [Thread(target=self._watch, args=(server,)) for server in self._servers]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._is_over.set()
            for thread in threads:
                thread.join()

    def _watch(self, server: Server) -> None:
        while not self._is_over.wait(_LOOKS_EVERY):
            # It may be starting again.
            with suppress(Exception), closing(administrating(server)) as connection:
                while not self._is_over.wait(_LOOKS_EVERY):
                    self._look(server, connection)

    def _look(self, server: Server, connection: Any) -> None:
        with closing(connection.cursor()) as cursor:
            cursor.execute(_WORKS[server.dialect])
            self.note(server.dialect, cursor.fetchall(), time.monotonic())

    def note(self, dialect: Dialect, working: Iterable[Sequence[object]], now: float) -> None:
        """Take what a server works on at a time. What it no longer works on is over."""
        seen, rows = self._seen[dialect], set(map(tuple, working))
        for key in seen.keys() - rows:
            first, last = seen.pop(key)
            self._done[dialect].append(last - first)
        for key in rows:
            seen[key] = seen.get(key, (now, now))[0], now

    def after(self, limit: float) -> Mapping[Dialect, Sequence[float]]:
        """For how many seconds servers went on, of all texts that they worked on for longer than `limit`."""
        found = {}
        for dialect, done in self._done.items():
            every = [*done, *(last - first for first, last in self._seen[dialect].values())]
            found[dialect] = sorted(each - limit for each in every if each > limit)
        return found


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


def _servers(dialects: Sequence[Dialect], folder: Path, stack: ExitStack) -> list[Server]:
    """Those that are up, or native ones for the time of the soak, which the harness may end as a user's own.

    Whatever is run by this process finds the same.

    Raises:
        BadInput: some are up, and others are not.
    """
    found = {dialect: provision.find(dialect) for dialect in dialects}
    up = [server for server in found.values() if server is not None]
    if missing := [dialect for dialect, server in found.items() if server is None]:
        if up:
            raise BadInput(
                f"{', '.join(missing)} is not up, and {up[0].dialect} is; start it, or stop the others"
            )
        os.environ |= {"BIRD_STATE": str(folder), "BIRD_PROVISION": Origin.NATIVE}
        for dialect in missing:
            stack.callback(native.destroy, dialect)
            up.append(native.start(dialect))
    return up


def _processes(servers: Sequence[Server]) -> list[int]:
    """Those of native servers, also of one that was started again meanwhile."""
    homes = [Path(server.home) for server in servers if server.origin is Origin.NATIVE]
    return [process for home in homes for process in working_in(home / "data")]


def _environment() -> Mapping[str, str]:
    """What the command line needs to find the same servers, loaded by the same."""
    kept = {name: value for name, value in os.environ.items() if name.startswith("BIRD_")}
    return {"BIRD_PROVISION": "", **kept, **_ROOM}


def main(  # noqa: PLR0913, PLR0917 - the benchmark's options
    minutes: Annotated[float, typer.Option(help="How long.", min=0.0)] = 30.0,
    dialect: Annotated[str, typer.Option(help="Engines, separated by commas.")] = ",".join(Dialect),
    hostile_texts: Annotated[int, typer.Option("--hostile", help="For each engine, each time.", min=2)] = 12,
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
        temporary, folder, state = (
            Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bird-soak-"))) for _ in range(3)
        )
        state.chmod(0o755)  # the account that root starts a server as has to enter it
        servers = _servers([each for each in dialects if each in provision.SERVED], state, stack)
        questions = marked_set(folder / SET)
        place = Place(folder, (), _environment(), _PATIENCE, lambda: _processes(servers))
        times = StatementTimes(servers)
        stack.enter_context(times.watched())
        stack.enter_context(_temporary_files_in(temporary))
        score = _by_server if serve else _by_library
        scores = stack.enter_context(score(str(questions), dialects, workers, timeout))
        known, corpora = honest(dialects), [Corpus(each, dice) for each in dialects]
        for engine, corpus in zip(dialects, corpora, strict=True):
            print(f"{engine}: {corpus.size} texts", flush=True)
        while time.monotonic() < until or len(samples) < ROUNDS:
            first, second = list(known), list(known)
            if samples:  # the first round has what they come to alone
                first += [each for corpus in corpora for each in corpus.asked(hostile_texts)]
                second += [each for corpus in corpora for each in corpus.asked(hostile_texts) if not serve]
            dice.shuffle(first)
            for each, judgement in zip(first, scores([one.answer for one in first]), strict=True):
                changes.note(each, judgement)
            peak = 0.0 if serve else command(place, second, timeout, changes)
            held = sample(servers, _processes(servers), temporary)
            samples.append({**held, "command, peak MB": peak})
            _describe(samples, len(first) + (0 if serve else len(second)), len(changes.found))
    after = times.after(timeout)
    for engine, seconds in after.items():
        if seconds and seconds[-1] > MOST_SECONDS_AFTER:
            changes.add(f"{engine}: a text went on for {seconds[-1]:.1f} s after its limit")
    if after:
        print(seconds_table(after, timeout))
    _conclude(samples, len(changes.found))


def seconds_table(after: Mapping[Dialect, Sequence[float]], limit: float) -> str:
    """A table of how long servers went on with texts after their limit, by engine; Markdown."""
    lines = [f"| after a limit of {limit:g} s | texts | median s | most s |", "|---|--:|--:|--:|"]
    for dialect, seconds in after.items():
        shown = f"{median(seconds):.1f} | {seconds[-1]:.1f}" if seconds else "- | -"
        lines.append(f"| {dialect} | {len(seconds)} | {shown} |")
    return "\n".join(lines)


Scores = Callable[[Sequence[Answer]], Sequence[Judgement]]


@contextmanager
def _by_library(
    questions: str, dialects: Sequence[Dialect], workers: int, seconds: float
) -> Iterator[Scores]:
    with Evaluator(
        questions, dialects=dialects, workers=workers, seconds=seconds, cache=False, diagnose=True
    ) as evaluator:
        yield evaluator.score


@contextmanager
def _by_server(questions: str, dialects: Sequence[Dialect], workers: int, seconds: float) -> Iterator[Scores]:
    """A server, which counts among the workers; callers of small batches ask it side by side."""
    arguments = (
        "--set", questions, "--dialect", ",".join(dialects), "--workers", str(workers),
        "--timeout", str(seconds), "--no-cache", "--diagnose", "--max-bytes", str(2**30),
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
