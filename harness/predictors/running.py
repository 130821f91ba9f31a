"""Solves problems side by side: asks go to the predictor, replies to the journal, and SQL is taken out.

Promises: an ask whose reply is known is not sent; a reply is in the journal before anything is made of it;
what fails is one answer's, unless it fails again and again; a stop waits for what is under way, because it
is paid for.
"""

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from threading import Event, Lock
from typing import Any

from harness.data.outcomes import Outcome
from harness.data.questions import Question
from harness.engines import EngineName, dialect_of
from harness.metrics import OUTCOME_METRIC
from harness.predictors.base import (
    Ask,
    Asking,
    BudgetSpent,
    Message,
    Method,
    Predictor,
    PredictorBroken,
    Problem,
    Prompt,
    PromptTooLong,
    Reply,
    RequestFailed,
    Role,
    Usage,
)
from harness.predictors.extraction import Taking, take_sql
from harness.predictors.journal import Journal
from harness.predictors.prompts.prompter import Tokens
from harness.scoring.dispatch import Asked, Judging
from harness.scoring.tasks import Setup
from harness.session.plan import open_judging
from harness.session.request import Request

# Runs predicted SQL without gold: whether a text runs, and which texts return the same.
#
# Texts run as predictions do, in the workers and under the limits of an evaluation, and what they come to
# is kept in the same store. Nothing here reads gold: where judging needs a reference, it is another
# predicted text, or `SELECT 1`.

Place = tuple[EngineName, str]
"""A dialect and the key of a question."""

_FAILURES = frozenset({Outcome.PREDICTION_ERROR, Outcome.PREDICTION_TIMEOUT, Outcome.PREDICTION_TOO_LARGE})


def _silent(line: str) -> None:
    del line


class Trials:
    """Says what an engine finds wrong with a text; thread-safe.

    Args:
        request: workers and store, as for an evaluation.
        setup: engines, databases and limits.
    """

    def __init__(self, request: Request, setup: Setup) -> None:
        gold = dict.fromkeys(map(dialect_of, setup.servers), "SELECT 1")
        self._questions = {
            question.key: replace(question, gold=gold) for question in setup.questions.questions
        }
        self._judging = _judging(request, setup, tuple(self._questions.values()))

    def error(self, dialect: EngineName, question: str, sql: str) -> str | None:
        """The engine's words for why a text does not run; None where it does, or the engine is to blame."""
        (future,) = self._judging.begin([Asked(self._questions[question], dialect, sql)])
        judgement = future.result()
        return judgement.error if judgement.outcome in _FAILURES else None

    def close(self) -> None:
        """Stop the workers."""
        self._judging.close()


def votes(
    request: Request, setup: Setup, answers: Mapping[Place, Sequence[str | None]]
) -> dict[Place, int | None]:
    """Which of several answers to a question most of them agree with.

    Answers agree if they return the same rows as EX compares them, as a set
    (`harness.metrics.accuracy`). Texts that do not run have no vote.

    Args:
        request: workers and store, as for an evaluation.
        setup: engines, databases and limits.
        answers: the SQL of each sample, None where there is none.

    Returns:
        The number of the first sample of the largest group, and of the group that comes first among equals.
        Where nothing runs, the first sample with a text; None where there is none.
    """
    texts = {place: list(dict.fromkeys(filter(None, given))) for place, given in answers.items()}
    questions = setup.questions.by_key
    references = {
        (place, text): _reference(questions[place[1]], place[0], number, text)
        for place, found in texts.items()
        for number, text in enumerate(found)
    }
    pairs = [(place, a, b) for place, found in texts.items() for a, b in _pairs(found)]
    judging = _judging(request, setup, tuple(references.values()))
    try:
        futures = judging.begin([Asked(references[place, a], place[0], b) for place, a, b in pairs])
        outcomes = {pair: future.result().outcome for pair, future in zip(pairs, futures, strict=True)}
    finally:
        judging.close()

    def same(place: Place) -> Callable[[str, str], bool]:
        return lambda a, b: outcomes[place, a, b] is Outcome.MATCH

    return {place: _largest(given, same(place)) for place, given in answers.items()}


def _reference(question: Question, dialect: EngineName, number: int, text: str) -> Question:
    return replace(question, key=f"{dialect} {question.key} {number}", gold={dialect_of(dialect): text})


def _pairs(texts: Sequence[str]) -> list[tuple[str, str]]:
    """Every text beside itself, which says whether it runs, and beside those that come later."""
    return [*((text, text) for text in texts), *combinations(texts, 2)]


def _largest(given: Sequence[str | None], same: Callable[[str, str], bool]) -> int | None:
    groups: list[tuple[str, list[int]]] = []
    for number, text in enumerate(given):
        if text is None or not same(text, text):
            continue
        for first, members in groups:
            if first == text or same(first, text):
                members.append(number)
                break
        else:
            groups.append((text, [number]))
    if groups:
        return max(groups, key=lambda group: len(group[1]))[1][0]
    return next((number for number, text in enumerate(given) if text is not None), None)


def _judging(request: Request, setup: Setup, questions: tuple[Question, ...]) -> Judging:
    alone = replace(
        setup,
        questions=replace(setup.questions, questions=questions),
        metrics=(OUTCOME_METRIC,),
        variants=None,
        diagnoses=False,
        previews=False,
    )
    return open_judging(request, alone, _silent)


Check = Callable[[EngineName, str, str], str | None]
"""What the engine of a dialect says against an SQL text for a question (its key); None where it runs."""


@dataclass(frozen=True)
class Corrected:
    """A method whose answers are corrected, at most `rounds` times.

    An answer that does not run is shown its engine's error, and asked for again. The engine's words are all
    that is told; whether rows are right is not known here. The idea is that of execution feedback in Chen et
    al. 2023, "Teaching Large Language Models to Self-Debug" (https://arxiv.org/abs/2304.05128).

    `take` takes the SQL out of a reply; `tell` spells the message that has the error (dialect, error; None
    where there was no SQL at all); `tokens` counts.
    """

    method: Method
    rounds: int
    check: Check
    take: Callable[[str], str | None]
    tell: Callable[[EngineName, str | None], str]
    tokens: Tokens

    @property
    def identity(self) -> Mapping[str, Any]:
        """That of the method, and how often it is corrected."""
        return {**self.method.identity, "corrections": self.rounds}

    def solve(self, problem: Problem, asking: Asking) -> str:
        """The first answer that runs, or the last one."""
        prompts: list[Prompt] = []

        def remembering(stage: str, prompt: Prompt) -> str:
            prompts.append(prompt)
            return asking(stage, prompt)

        text = self.method.solve(problem, remembering)
        for number in range(1, self.rounds + 1):
            sql = self.take(text)
            error = None if sql is None else self.check(problem.dialect, problem.question, sql)
            if sql is not None and error is None:
                break
            prompt = self._continued(prompts[-1], text, self.tell(problem.dialect, error))
            prompts.append(prompt)
            text = asking(f"correction-{number}", prompt)
        return text

    def _continued(self, prompt: Prompt, text: str, told: str) -> Prompt:
        turns = (Message(Role.ASSISTANT, text), Message(Role.USER, told))
        more = sum(self.tokens.count(turn.content) for turn in turns)
        return replace(prompt, messages=(*prompt.messages, *turns), tokens=prompt.tokens + more)


MOST_FAILURES = 10
"""So many asks in a row without a reply, and the predictor is not asked any more."""

NO_SQL = "the answer has no SQL in it"
CUT_OFF = "the answer was cut off, and has no SQL in it"


@dataclass(frozen=True)
class Job:
    """One answer that is wanted: a problem, and which of several samples."""

    problem: Problem
    sample: int


@dataclass(frozen=True)
class Step:
    """One ask of an answer, with what came of it."""

    stage: str
    prompt: Prompt
    reply: Reply
    known: bool
    """Whether the reply was in the journal."""


@dataclass(frozen=True)
class Answered:
    """What came of a job: SQL, or the reason for having none.

    `text` is the last reply as it came; `steps` all asks that had a reply; `usage` what this run spent on it.
    """

    job: Job
    text: str | None
    sql: str | None
    reason: str | None
    steps: tuple[Step, ...]
    usage: Usage


class _Ended(Exception):
    """Asking has ended before every job was done. The message says why, in one line."""


@dataclass
class Running:
    """Runs jobs.

    Args:
        predictor: who is asked.
        method: how.
        journal: where replies are kept.
        taking: what is taken out of the last reply.
        concurrency: how many jobs run at once.
    """

    predictor: Predictor
    method: Method
    journal: Journal
    taking: Taking
    concurrency: int
    ended: BaseException | None = None
    """Why asking has ended early: PredictorBroken or BudgetSpent."""
    _stop: Event = field(default_factory=Event)
    _lock: Lock = field(default_factory=Lock)
    _failures: int = 0

    def run(self, jobs: Iterable[Job]) -> Iterator[Answered]:
        """Do jobs, and yield what came of them as they are done, but for those that `stop` came before."""
        pool = ThreadPoolExecutor(self.concurrency, thread_name_prefix="asking")
        waiting: set[Future[Answered | None]] = set()
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
        """Send no more asks; those under way are waited for, because they are paid for.

        Callable from any thread.
        """
        self._stop.set()

    def _job(self, job: Job) -> Answered | None:
        """What comes of a job; None where asking ended before."""
        steps: list[Step] = []
        spent: list[Usage] = []
        text: str | None = None
        reason: str | None = None
        sql: str | None = None
        try:
            text = self.method.solve(
                job.problem, lambda stage, prompt: self._asked(job, stage, prompt, steps, spent)
            )
            sql = text if self.taking is Taking.NONE else take_sql(text)
            if sql is None or not sql.strip():
                sql, reason = None, CUT_OFF if steps and steps[-1].reply.finish == "length" else NO_SQL
        except (RequestFailed, PromptTooLong) as failed:
            reason = failed.reason
        except (PredictorBroken, BudgetSpent) as ended:
            with self._lock:
                self.ended = self.ended or ended
            self._stop.set()
            return None
        except _Ended:
            return None
        return Answered(job, text, sql, reason, tuple(steps), sum(spent, Usage()))

    def _asked(self, job: Job, stage: str, prompt: Prompt, steps: list[Step], spent: list[Usage]) -> str:
        ask = Ask(job.problem, prompt.messages, stage, job.sample, self._identity(job, stage, prompt))
        reply = self.journal.reply(ask.identity)
        known = reply is not None
        if reply is None:
            if self._stop.is_set():
                raise _Ended
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
            # So that it does not look like one that a kill has cut off.
            self.journal.failed(ask, str(ended), Usage())
            raise
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
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def jobs(problems: Sequence[Problem], samples: int) -> list[Job]:
    """Every problem so many times, all first samples first: what is broken off has whole samples."""
    return [Job(problem, sample) for sample in range(samples) for problem in problems]
