"""Solve problems concurrently: send asks to the predictor, journal the replies, and extract the SQL.

Promises: an ask whose reply is known is not sent; a reply is on disk before it is used; a crash can lose only
the line of the journal that it cut off, and the loss is reported; a failure affects one answer, unless
failures go on and on; a stop waits for the asks in flight, because they are paid for.
"""

import time
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from threading import Event, Lock
from typing import Any, Literal

from harness.data.answers import NO_SQL, Extract, extract
from harness.data.outcomes import Outcome
from harness.data.prediction_files import JOURNAL
from harness.data.questions import Question
from harness.engines import EngineName, dialect_of
from harness.labs.predict.methods import Method
from harness.predictors.base import (
    Ask,
    BudgetSpent,
    Message,
    Predictor,
    PredictorBroken,
    Problem,
    Prompt,
    PromptTooLong,
    Reply,
    RequestFailed,
    Usage,
)
from harness.scoring.scheduler import Candidate, Scheduler
from harness.scoring.tasks import Setup
from harness.session.plan import open_scheduler
from harness.session.request import Request
from loaders.base.files import content_digest
from loaders.base.records import Recorder, to_record


@dataclass(frozen=True)
class JournalLine:
    """The event that a line records for an ask.

    `sent`: it is on its way; without a later line of the same ask, the process was killed before the reply.
    A reply has its own members in addition.
    """

    event: Literal["sent", "reply", "failed"]
    identity: str
    usage: Usage = field(default_factory=Usage)


_LOST = (
    "asks were under way when an earlier run was killed: they are sent again, under the same idempotency key"
)


class Journal:
    """Asks and replies, line by line; equal asks have one reply, whichever run asked.

    Threads share it, processes do not (whoever opens it locks the folder). `known` counts the replies of
    earlier runs, `usage` is their cost, `notes` describe what they have left.

    Args:
        folder: the folder of the file, which need not exist yet.

    Raises:
        BadInput: a line that is not the last one is broken.
    """

    def __init__(self, folder: Path) -> None:
        self._recorder = Recorder(folder / JOURNAL)
        self._replies: dict[str, Reply] = {}
        self._lock = Lock()
        self.usage = Usage()
        last: dict[str, str] = {}
        remedy = "repair or remove that line, or choose another folder with --out"
        for line in self._recorder.read(self._line, remedy, "line of a journal"):
            self.usage += line.usage
            last[line.identity] = line.event
        self.known = len(self._replies)
        waiting = Counter(event for identity, event in last.items() if identity not in self._replies)
        self.notes = [
            f"{count} {note}"
            for count, note in (
                (self.known, "replies are known from earlier runs: the same asks are not sent again"),
                (waiting["failed"], "asks failed earlier, and are sent again"),
                (waiting["sent"], _LOST),
            )
            if count
        ]
        if self._recorder.was_cut_off:
            self.notes.append("the last line of the journal was cut off by a crash, and is ignored")

    def _line(self, content: Any) -> JournalLine:
        line = to_record(JournalLine, content, others=True)
        if line.event == "reply":
            self._replies[line.identity] = to_record(Reply, content, others=True)
        return line

    def reply(self, identity: str) -> Reply | None:
        """Return the reply to an ask, of this run or an earlier one."""
        with self._lock:
            return self._replies.get(identity)

    def sent(self, ask: Ask, **facts: Any) -> None:
        """Record that an ask is about to be sent, with facts about its messages."""
        self._add("sent", ask, facts)

    def replied(self, ask: Ask, reply: Reply) -> None:
        """Record a reply."""
        self._add("reply", ask, asdict(reply), durable=reply.usage.requests > 0)
        with self._lock:
            self._replies[ask.identity] = reply

    def failed(self, ask: Ask, reason: str, usage: Usage) -> None:
        """Record that there is no reply, and why; the ask is sent again when the run is resumed."""
        self._add("failed", ask, {"reason": reason, "usage": asdict(usage)})

    def _add(self, event: str, ask: Ask, facts: Mapping[str, Any], *, durable: bool = False) -> None:
        record = {
            "event": event,
            "identity": ask.identity,
            "question": ask.problem.question,
            "dialect": ask.problem.dialect,
            "stage": ask.stage,
            "sample": ask.sample,
            "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
            **facts,
        }
        self._recorder.add(record, durable=durable)

    def close(self) -> None:
        """Close the file."""
        self._recorder.close()


MOST_FAILURES = 10
"""After so many asks in a row without a reply, the predictor is not asked any more."""

CUT_OFF = "the answer was cut off, and has no SQL in it"


@dataclass(frozen=True)
class Job:
    """One requested answer: a problem, and the number of the sample."""

    problem: Problem
    sample: int


def jobs(problems: Sequence[Problem], samples: int) -> list[Job]:
    """List every problem `samples` times, first samples first, so that a stopped run has whole samples."""
    return [Job(problem, sample) for sample in range(samples) for problem in problems]


@dataclass(frozen=True)
class Step:
    """One ask of an answer, with its reply; `known`: the reply was in the journal."""

    stage: str
    prompt: Prompt
    reply: Reply
    known: bool


@dataclass(frozen=True)
class JobResult:
    """The result of a job: SQL, or the reason for having none.

    `text` is the last reply as received; `steps` all asks that had a reply; `usage` what this run spent on
    it.
    """

    job: Job
    text: str | None
    sql: str | None
    reason: str | None
    steps: Sequence[Step]
    usage: Usage


Correct = Callable[[Problem, Prompt, str, str | None], Prompt | None]
"""Maps the last prompt, its reply and SQL to a prompt that asks again; None if nothing is wrong."""


@dataclass
class JobRunner:
    """Runs jobs.

    Args:
        predictor: answers the asks.
        method: turns problems into asks.
        journal: keeps the replies.
        policy: takes the SQL out of the last reply.
        concurrency: how many jobs run at once.
        corrections: how often an answer that `correct` rejects is requested again.
        correct: rejects answers, and writes the next prompt.
    """

    predictor: Predictor
    method: Method
    journal: Journal
    policy: Extract
    concurrency: int
    corrections: int = 0
    correct: Correct | None = None
    ended: BaseException | None = None
    """Why asking ended early: PredictorBroken or BudgetSpent."""
    _stop: Event = field(default_factory=Event)
    _lock: Lock = field(default_factory=Lock)
    _failures: int = 0

    def run(self, jobs: Iterable[Job]) -> Iterator[JobResult]:
        """Run jobs, and yield their results as they finish, except those that `stop` prevented."""
        pool = ThreadPoolExecutor(self.concurrency, thread_name_prefix="asking")
        waiting: set[Future[JobResult | None]] = set()
        rest = iter(jobs)
        try:
            while True:
                # Two for each thread, so that none waits for this loop.
                while not self._stop.is_set() and len(waiting) < 2 * self.concurrency:
                    job = next(rest, None)
                    if job is None:
                        break
                    waiting.add(pool.submit(self._job, job))
                if not waiting:
                    return
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    answered = future.result()
                    if answered is not None:
                        yield answered
        finally:
            self._stop.set()
            pool.shutdown(cancel_futures=True)

    def stop(self) -> None:
        """Send no more asks; those in flight are awaited, because they are paid for.

        Callable from any thread.
        """
        self._stop.set()

    def _job(self, job: Job) -> JobResult | None:
        """Run a job; None if asking ended before it was done."""
        steps: list[Step] = []
        spent: list[Usage] = []
        text: str | None = None
        reason: str | None = None
        try:
            text = self._solved(job, steps, spent)
        except (RequestFailed, PromptTooLong) as failed:
            reason = failed.reason
        except (PredictorBroken, BudgetSpent) as ended:
            with self._lock:
                self.ended = self.ended or ended
            self._stop.set()
            return None
        except CancelledError:
            return None
        sql = self._sql(job.problem, text)
        if sql is None and reason is None:
            reason = CUT_OFF if steps and steps[-1].reply.finish == "length" else NO_SQL
        return JobResult(job, text, sql, reason, steps, sum(spent, Usage()))

    def _sql(self, problem: Problem, text: str | None) -> str | None:
        sql = None if text is None else extract(text, self.policy, problem.dialect).sql
        return sql if sql is not None and sql.strip() else None

    def _solved(self, job: Job, steps: list[Step], spent: list[Usage]) -> str:
        """Return the last reply: that of the method, or of a correction."""
        stages = self.method.stages(job.problem)
        stage, prompt = next(stages)
        try:
            while True:
                stage, prompt = stages.send(self._reply(job, stage, prompt, steps, spent))
        except StopIteration as done:
            text: str = done.value
        for number in range(1, self.corrections + 1):
            again = self.correct and self.correct(
                job.problem, steps[-1].prompt, text, self._sql(job.problem, text)
            )
            if again is None:
                break
            text = self._reply(job, f"correction-{number}", again, steps, spent)
        return text

    def _reply(self, job: Job, stage: str, prompt: Prompt, steps: list[Step], spent: list[Usage]) -> str:
        ask = Ask(job.problem, prompt.messages, stage, job.sample, self._identity(job, stage, prompt))
        reply = self.journal.reply(ask.identity)
        known = reply is not None
        if reply is None:
            if self._stop.is_set():
                raise CancelledError
            reply = self._sent(ask, prompt, spent)
        steps.append(Step(stage, prompt, reply, known))
        return reply.text

    def _sent(self, ask: Ask, prompt: Prompt, spent: list[Usage]) -> Reply:
        self.journal.sent(
            ask, prompt_tokens=prompt.tokens, estimated=prompt.estimated, dropped=prompt.dropped
        )
        begun = time.monotonic()
        try:
            reply = self.predictor.ask(ask)
        except RequestFailed as failed:
            self.journal.failed(ask, failed.reason, failed.usage)
            spent.append(failed.usage)
            self._count(failed)
            raise
        except (PredictorBroken, BudgetSpent) as ended:
            # So that it does not look like an ask interrupted by a kill.
            self.journal.failed(ask, str(ended), Usage())
            raise
        if not reply.is_ready:
            reply = replace(reply, seconds=round(time.monotonic() - begun, 6))
        self.journal.replied(ask, reply)
        spent.append(reply.usage)
        with self._lock:
            self._failures = 0
        return reply

    def _count(self, failed: RequestFailed) -> None:
        with self._lock:
            self._failures += 1
            if self._failures >= MOST_FAILURES:
                raise PredictorBroken(
                    f"{self._failures} asks in a row had no reply; the last: {failed.reason}"
                )

    def _identity(self, job: Job, stage: str, prompt: Prompt) -> str:
        problem = job.problem
        facts: Mapping[str, Any] = {
            "predictor": self.predictor.identity,
            "question": [
                problem.question,
                problem.database.db_id,
                problem.dialect,
                problem.text,
                problem.evidence,
            ],
            "stage": stage,
            "sample": job.sample,
            "messages": [asdict(message) for message in prompt.messages],
        }
        return content_digest(facts)


# Run predicted SQL without gold, to find whether a text runs, and which texts return the same rows.
#
# Texts run as predictions do, in the workers and under the limits of an evaluation, and their results are
# kept in the same store. Nothing here reads gold: the reference is another predicted text, or `SELECT 1`.

Place = tuple[EngineName, str]
"""A dialect and the key of a question."""

Check = Callable[[Place, str], str | None]
"""Returns an engine's error for a text; None if it runs, or the engine itself failed."""

_FAILURES = frozenset({Outcome.PREDICTION_ERROR, Outcome.PREDICTION_TIMEOUT, Outcome.PREDICTION_TOO_LARGE})


@contextmanager
def trials(request: Request, setup: Setup) -> Iterator[Check]:
    """Provide a check of texts by engines; callable from any thread.

    Args:
        request: workers and store, as for an evaluation.
        setup: engines, databases and limits.
    """
    gold = dict.fromkeys(map(dialect_of, setup.servers), "SELECT 1")
    questions = {question.key: replace(question, gold=gold) for question in setup.questions.questions}

    def error(place: Place, sql: str) -> str | None:
        dialect, question = place
        (future,) = scheduler.begin([Candidate(questions[question], dialect, sql)])
        judgement = future.result()
        return judgement.error if judgement.outcome in _FAILURES else None

    with closing(_scheduler(request, setup, tuple(questions.values()))) as scheduler:
        yield error


def correction(method: Method, check: Check) -> Correct:
    """Ask again for an answer that does not run, with its engine's error.

    The engine's message is all that is shown; whether rows are right is unknown here. The idea is execution
    feedback, as in Chen et al. 2023, "Teaching Large Language Models to Self-Debug"
    (https://arxiv.org/abs/2304.05128).
    """

    def correct(problem: Problem, prompt: Prompt, text: str, sql: str | None) -> Prompt | None:
        error = None if sql is None else check((problem.dialect, problem.question), sql)
        if sql is not None and error is None:
            return None
        told = method.prompter.correction(problem.dialect, error)
        turns = (Message("assistant", text), Message("user", told))
        more = sum(method.prompter.tokens.count(turn.content) for turn in turns)
        return replace(prompt, messages=(*prompt.messages, *turns), tokens=prompt.tokens + more)

    return correct


def votes(
    request: Request, setup: Setup, answers: Mapping[Place, Sequence[str | None]]
) -> dict[Place, int | None]:
    """Choose, for each question, the answer that most answers agree with.

    Answers agree if they return the same rows as EX compares them, as a set
    (`harness.metrics.accuracy`). Texts that do not run have no vote.

    Args:
        request: workers and store, as for an evaluation.
        setup: engines, databases and limits.
        answers: the SQL of each sample, or None.

    Returns:
        The number of the first sample of the largest group, or of the first of equally large groups. If
        nothing runs, the first sample with a text; None if there is none.
    """
    texts = {place: list(dict.fromkeys(filter(None, given))) for place, given in answers.items()}
    questions = setup.questions.by_key
    references = {
        (place, text): replace(
            questions[place[1]],
            key=f"{place[0]} {place[1]} {number}",
            gold={dialect_of(place[0]): text},
        )
        for place, found in texts.items()
        for number, text in enumerate(found)
    }
    # Compare every text with itself, which shows whether it runs, and with all later ones.
    pairs = [
        (place, a, b)
        for place, found in texts.items()
        for a, b in (*((text, text) for text in found), *combinations(found, 2))
    ]
    with closing(_scheduler(request, setup, tuple(references.values()))) as scheduler:
        futures = scheduler.begin([Candidate(references[place, a], place[0], b) for place, a, b in pairs])
        agreeing = {
            pair
            for pair, future in zip(pairs, futures, strict=True)
            if future.result().outcome is Outcome.MATCH
        }
    return {place: _largest(place, given, agreeing) for place, given in answers.items()}


def _largest(
    place: Place, given: Sequence[str | None], agreeing: Container[tuple[Place, str, str]]
) -> int | None:
    groups: dict[str, list[int]] = {}
    for number, text in enumerate(given):
        if text is not None and (place, text, text) in agreeing:
            alike = (first for first in groups if first == text or (place, first, text) in agreeing)
            groups.setdefault(next(alike, text), []).append(number)
    with_text = [number for number, text in enumerate(given) if text is not None]
    largest = max(groups.values(), key=len) if groups else with_text
    return largest[0] if largest else None


def _scheduler(request: Request, setup: Setup, questions: tuple[Question, ...]) -> Scheduler:
    alone = replace(
        setup,
        questions=replace(setup.questions, questions=questions),
        metrics=(),
        variants=None,
        diagnoses=False,
        previews=False,
    )
    return open_scheduler(request, alone, lambda _: None)
