"""The Python API: score SQL texts one batch at a time, in a training loop, a notebook or a service.

    from harness import Answer, Evaluator

    with Evaluator("mini_dev", dialects=["sqlite"], workers=8) as evaluator:
        for judgement in evaluator.score([Answer("1471", "SELECT ...")]):
            print(judgement.outcome, judgement.scores["ex"])

To score an answer against a gold of your own, pass `Triple("shop", "SELECT ...", "SELECT ...")`. The
outcomes, the scores and the result cache are those of `bird-harness eval`.
"""

import asyncio
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from dialects.enums import Dialect, Profile
from dialects.errors import BadInput
from harness.data.answers import NO_SQL, Extract
from harness.data.gold_packs import with_golds
from harness.data.outcomes import Judgement, Outcome
from harness.data.questions import Question
from harness.data.sets.loader import load_databases, load_set
from harness.engines import EngineName, kinds_by_name
from harness.engines.clock import parse_moment
from harness.engines.execution import Execution
from harness.lab import evaluator_of_set, option_of_lab
from harness.metrics import METRICS, OUTCOME_METRIC
from harness.scoring.scheduler import Candidate, Scheduler
from harness.scoring.tasks import ExecuteTask, Setup
from harness.scoring.workers import LocalWorkers
from harness.session.batches import Answers, Batch, BatchEvaluator, Prepared
from harness.session.plan import equip, open_scheduler
from harness.session.request import Request, check_range, parse_metrics
from harness.session.resolver import Answer, NoSql, Resolver, Triple, check_text, one_of, policy_of


def _texts(candidates: Sequence[Candidate | NoSql]) -> list[Candidate]:
    return [each for each in candidates if isinstance(each, Candidate)]


def _silent(line: str) -> None:
    del line


def _several(named: str | Sequence[str]) -> Sequence[str]:
    """Split names that were given as one text with commas; a sequence stays as it is."""
    return (
        [each.strip() for each in named.split(",")]
        if isinstance(named, str)
        else [str(each) for each in named]
    )


def open_evaluator(
    set_name: str, *, family: str | None = None, phase: str | None = None, **options: Any
) -> BatchEvaluator:
    """Return the evaluator of a set, of questions or of a lab's own; the options are those of `Evaluator`.

    `family` says that the set is a file of tasks, and which scripts judge them; `phase` is the part of them.

    Raises:
        BadInput, EngineUnavailable: as `Evaluator`.
    """
    if family is not None:
        opened = option_of_lab("family", "tasks")
        judging: BatchEvaluator = opened(set_name, family=family, phase=phase, **options)
        return judging
    if phase is not None:
        raise BadInput("phase: belongs to tasks; add a family")
    opened = None if Path(set_name).exists() else evaluator_of_set(set_name)
    return Evaluator(set_name, **options) if opened is None else opened(set_name, **options)


class Evaluator(BatchEvaluator):
    """Scores answers to the questions of a set, and SQL texts with golds of their own.

    Its workers start with the first answers that are not in the result cache, and run until it is closed.
    Threads may share an evaluator: equal answers are executed once. Processes may, too: a forked process, or
    one that unpickles an evaluator, starts workers of its own and shares the result cache.

    Args:
        set_name: a name that `--set` of the command line knows: `sample`, `mini_dev`, `mini_dev_2025`, `dev`,
           `train`, `spider`, ... (docs/how-to/data.md); or the path of your own set.
        databases: a folder with SQLite files (`NAME.sqlite` or `NAME/NAME.sqlite`), or one file, instead of a
           set: each answer is a `Triple` then.
        dialects: the engines that answers are for, one or several (`"postgresql"`, `["sqlite", "mysql"]`);
           their servers must be up (`bird-harness up`).
        metrics: names from `harness.metrics.METRICS`, except time metrics; one or several.
        workers: the number of judging processes; default: one per core.
        gold: the path of a gold pack, whose golds replace the set's own.
        profile: how the databases are loaded.
        seconds: the time limit for a prediction and its gold together.
        now: the moment, in UTC, that golds and answers take for the present, such as `2025-02-19`.
        bird_home: the folder of the published data; default: where `bird-harness eval` finds them.
        cache: True to use and fill the result cache.
        diagnose: True to classify the error of each answer that does not match
           (`Judgement.error_class`), which takes about a millisecond each.
        extract: how the SQL is taken out of answers: `none`, `fences` or `answer-1`
           (docs/reference/extraction.md). An answer without SQL is a `prediction_error`; nothing runs.
        say: called with one line of progress at a time.

    Raises:
        BadInput: the set, a dialect or a metric is wrong.
        EngineUnavailable: an engine is not up, or loading into it failed.
    """

    outcome_metric = OUTCOME_METRIC

    def __init__(  # noqa: PLR0913 - the options of a run
        self,
        set_name: str = Request.set_name,
        *,
        databases: Path | str | None = None,
        dialects: EngineName | Sequence[EngineName] = (Dialect.SQLITE,),
        metrics: str | Sequence[str] = Request.metrics,
        workers: int | None = None,
        gold: Path | str | None = None,
        profile: Profile | str = Request.profile,
        seconds: float = Request.seconds,
        now: str | None = None,
        bird_home: Path | str | None = None,
        cache: bool = Request.cache,
        diagnose: bool = False,
        extract: Extract | str = Request.extract,
        say: Callable[[str], None] = _silent,
    ) -> None:
        names = parse_metrics(",".join(_several(metrics)))
        timed = [name for name in names if METRICS[name].is_timed]
        if timed:
            raise BadInput(
                f"{', '.join(timed)}: times are measured with nothing else running; use bird-harness eval"
            )
        check_range("workers", workers, "workers")
        check_range("seconds", seconds, "seconds")
        clock = None if now is None else parse_moment("now", now)
        home = None if bird_home is None else Path(bird_home)
        if databases is not None and set_name != Request.set_name:
            raise BadInput(f"databases {databases}: replaces the set, but {set_name} is given, too; give one")
        questions = (
            load_set(set_name, home, on_server=True) if databases is None else load_databases(Path(databases))
        )
        questions = replace(with_golds(questions, None if gold is None else str(gold)), now=clock)
        for note in questions.notes:
            say(note)
        if questions.pack is not None:
            say(str(questions.pack))
        named = [one_of(kinds_by_name(), "dialects", each) for each in _several(dialects)]
        if not named:
            raise BadInput(f"dialects: none given; choose from {', '.join(kinds_by_name())}")
        request = Request(
            set_name=set_name,
            extract=policy_of(extract),
            dialects=list(dict.fromkeys(named)),
            metrics=names,
            profile=Profile(one_of(list(Profile), "profile", profile)),
            seconds=seconds,
            now=now,
            bird_home=home,
            cache=cache,
            workers=workers,
        )
        equipped = equip(request, questions, request.dialects or (), say=say)
        self._request = equipped.request
        self._setup = replace(equipped.setup, diagnoses=diagnose, previews=False)
        self._questions = equipped.setup.questions
        self._begin()

    def _begin(self) -> None:
        self._count()
        self._process = os.getpid()
        self._scheduler: Scheduler | None = None
        self._readers: LocalWorkers | None = None
        self._closed = False
        self._resolver = Resolver(self._questions, self._setup.servers, self._setup.profile)

    def known(self, answers: Answers, *, extract: str | None = None) -> list[Judgement] | None:
        """Return the judgement of each answer if all are known, without waiting; None otherwise.

        None also for more answers than can be looked up in a millisecond or two: ask `ascore` then.

        Raises:
            BadInput: as in `score`.
        """
        candidates = self._prepared(answers, None, extract).asked
        scheduler = self._started
        found = None if scheduler is None else scheduler.known(_texts(candidates))
        if found is None:
            return None
        left = iter(found)
        judged = [self._without_sql(each) if isinstance(each, NoSql) else next(left) for each in candidates]
        with self._lock:
            self._outcomes.update(each.outcome for each in judged)
        return judged

    def execute(
        self,
        database: str,
        sql: str,
        *,
        dialect: EngineName | None = None,
        rows: int = 1_000,
        max_bytes: int = 2**20,
    ) -> Execution:
        """Run a text that only reads, such as a model's query before it answers; return its first rows.

        It runs under the evaluator's limits, in worker processes apart from those that judge.

        Args:
            database: a database of the evaluator.
            sql: the text.
            dialect: its engine; may be None if the evaluator has only one.
            rows: the most rows to return; if there are more, `ending` is `too_large`.
            max_bytes: the most bytes of texts and nested values in them.

        Raises:
            BadInput: this evaluator lacks the database or the dialect, or `sql` is not a text.
            EngineUnavailable: the engine failed, not the text.
        """
        return self._execute(database, sql, dialect, rows, max_bytes).result()

    async def aexecute(
        self,
        database: str,
        sql: str,
        *,
        dialect: EngineName | None = None,
        rows: int = 1_000,
        max_bytes: int = 2**20,
    ) -> Execution:
        """Like `execute`, without blocking the event loop; no thread waits."""
        return await asyncio.wrap_future(self._execute(database, sql, dialect, rows, max_bytes))

    def _execute(
        self, database: str, sql: str, dialect: EngineName | None, rows: int, max_bytes: int
    ) -> Future[Execution]:
        engine = self.engine_for(database, dialect)
        check_text(f"database {database}", "text", sql)
        with self._held_open():
            if self._readers is None:
                self._readers = LocalWorkers(self._setup, self._request.processes)
            return self._readers.submit(ExecuteTask(engine, database, sql, rows, max_bytes))

    def engine_for(self, database: str, dialect: EngineName | None = None) -> EngineName:
        """Return the engine of a text on a database: the one named, or the only one.

        Raises:
            BadInput: this evaluator lacks the database or the dialect, or has several.
        """
        return self._resolver.place(database, dialect)

    @property
    def name(self) -> str:
        """The name of its set."""
        return self._questions.name

    @property
    def questions(self) -> Sequence[Question]:
        """The questions of its set; none if it has databases only."""
        return self._questions.questions

    @property
    def metrics(self) -> Sequence[str]:
        """The metrics that it computes."""
        return self._request.metrics

    @property
    def dialects(self) -> Sequence[EngineName]:
        """The engines that answers are for."""
        return tuple(self._setup.servers)

    @property
    def extract(self) -> Extract:
        """How it takes the SQL out of answers, unless a batch says otherwise."""
        return self._request.extract

    def prepare(self, answers: Sequence[Answer | Triple], extract: str | None = None) -> Prepared:
        """Find the questions and engines of answers, and take the SQL out of them.

        Raises:
            BadInput: as in `score`.
        """
        policy = self.extract if extract is None else policy_of(extract)
        candidates = [self._resolver.candidate(each, policy) for each in answers]
        return Prepared(
            candidates, [each.sql if isinstance(each, Candidate) else None for each in candidates]
        )

    @property
    def setup(self) -> Setup:
        """Its questions, engines and limits."""
        return self._setup

    async def _astart(self, prepared: Prepared, deadline: float | None) -> Batch:
        """Start a batch, in another thread if it may take a while."""
        scheduler = self._started
        if scheduler is not None and scheduler.begins_at_once(_texts(prepared.asked)):
            return self._start(prepared, deadline)
        return await super()._astart(prepared, deadline)

    def _start(self, prepared: Prepared, deadline: float | None) -> Batch:
        candidates: Sequence[Candidate | NoSql] = prepared.asked
        until = None if deadline is None else time.monotonic() + deadline
        scheduler = self._open()
        futures_of_sql = iter(scheduler.begin(_texts(candidates), waits=deadline is None))
        futures = [
            self._wrong(each) if isinstance(each, NoSql) else next(futures_of_sql) for each in candidates
        ]

        def stop(late: set[Future[Judgement]], why: str) -> None:
            pairs = zip(candidates, futures, strict=True)
            scheduler.give_up(
                [each for each, future in pairs if future in late and isinstance(each, Candidate)], why
            )

        zeros = [self._setup.zero(each.dialect) for each in candidates]
        return Batch(futures, zeros, deadline, until, stop)

    @property
    def _executed(self) -> tuple[int, int]:
        scheduler = self._scheduler
        return (0, 0) if scheduler is None else (scheduler.cached, scheduler.executed)

    def _without_sql(self, answer: NoSql) -> Judgement:
        return Judgement(Outcome.PREDICTION_ERROR, self._setup.zero(answer.dialect), error=NO_SQL)

    def _wrong(self, answer: NoSql) -> Future[Judgement]:
        judged: Future[Judgement] = Future()
        judged.set_result(self._without_sql(answer))
        return judged

    def __repr__(self) -> str:
        count = len(self._questions.questions)
        done = "closed" if self._closed else str(self.statistics)
        parts = [
            f"{self._questions.name}: {f'questions {count}, ' if count else ''}",
            f"databases {len(self._questions.db_ids)}; {', '.join(self._setup.servers)}; ",
            f"{', '.join(self._setup.metrics)}; extract {self.extract}; ",
            f"workers {self._request.processes}; {done}",
        ]
        return f"<Evaluator {''.join(parts)}>"

    @contextmanager
    def _held_open(self) -> Iterator[None]:
        # A fork does not inherit threads and connections.
        if self._process != os.getpid():
            self._begin()
        with self._lock:
            if self._closed:
                raise BadInput("this evaluator is closed; create another one")
            yield

    @property
    def _started(self) -> Scheduler | None:
        """The scheduler of this process, if it has one: a fork has only a copy of its parent's."""
        return self._scheduler if self._process == os.getpid() else None

    def _open(self) -> Scheduler:
        with self._held_open():
            if self._scheduler is None:
                self._scheduler = open_scheduler(self._request, self._setup, _silent)
            return self._scheduler

    def close(self) -> None:
        """Stop its workers; answers that other threads wait for become harness errors."""
        if self._process != os.getpid():
            return
        with self._lock:
            self._closed = True
            scheduler, self._scheduler = self._scheduler, None
            readers, self._readers = self._readers, None
        if scheduler is not None:
            scheduler.close()
        if readers is not None:
            readers.close()

    def __getstate__(self) -> dict[str, Any]:
        return {"_request": self._request, "_setup": self._setup, "_questions": self._questions}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._begin()
