"""From the results of a run to the gap of each predictor on each engine."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TypeVar

from dialects.enums import Dialect, Profile
from harness.analyses.bench import synthetic_databases
from harness.analyses.gap.cause_rules import Cause, Decider, Decision, Difference, Direction
from harness.analyses.gap.experiments import (
    METRICS,
    SQLITE_ROWS,
    Ask,
    TranslatedAnswers,
    Trying,
    hold_translations,
)
from harness.data.outcomes import Judgement, Outcome, PairResult
from harness.data.questions import Question, QuestionSet
from harness.engines import EngineName, in_order, kind_of
from harness.scoring.tasks import Setup
from harness.session.plan import equip, open_scheduler
from harness.session.request import Request
from loaders.load import Progress


@dataclass(frozen=True)
class Explained:
    """A question with another outcome on a target, and why."""

    predictor: str
    target: EngineName
    question: Question
    direction: Direction
    sqlite: PairResult
    native: PairResult
    decision: Decision
    synthetic: bool = False
    """The database is not the published one."""


@dataclass(frozen=True)
class WhatIf:
    """How many questions would be right on the target if one thing were otherwise.

    `repaired`: every answer that three edits or fewer make right counts as right. Edits are looked for where
    the engine refuses an answer, and where SQLite's is right. `translated`: answers are held against the rows
    of SQLite's gold, which its exact translation returns. `faithful`: that, and columns are as SQLite stores
    them.
    """

    repaired: int
    translated: int
    faithful: int


@dataclass(frozen=True)
class PredictorGap:
    """One predictor on one target beside SQLite, on the same questions.

    `on_sqlite` and `on_target` count the questions that it has right.
    """

    predictor: str
    target: EngineName
    questions: int
    on_sqlite: int
    on_target: int
    explained: Sequence[Explained]
    what_if: WhatIf

    def count(self, cause: Cause, direction: Direction | None = None) -> int:
        """The questions of a cause, in one direction or in both."""
        return sum(
            one.decision.cause is cause and direction in {None, one.direction} for one in self.explained
        )

    def step(self, cause: Cause) -> int:
        """What a cause adds to the questions that are right: those won less those lost."""
        return self.count(cause, Direction.GAIN) - self.count(cause, Direction.LOSS)


@dataclass(frozen=True)
class Gap:
    """The gaps of a run, by predictor and then by engine; `left_out` says who has none, and why."""

    run_id: str
    set_name: str
    profile: Profile
    gaps: Sequence[PredictorGap]
    left_out: Sequence[str] = ()
    synthetic: frozenset[str] = frozenset()
    databases: int = 0
    translated: Sequence[TranslatedAnswers] = ()
    """Right answers for SQLite, translated; of every predictor with answers for it."""

    @property
    def explained(self) -> list[Explained]:
        """All questions that differ."""
        return [one for gap in self.gaps for one in gap.explained]


MOST_REPAIRS = 40
"""Edited texts that are run for an answer that the target refuses where SQLite's is wrong, too."""

Counted = Callable[[int], None]
"""Is told of so many more things that are done."""


def several(
    answered: Iterable[tuple[str, EngineName]],
) -> tuple[dict[str, list[EngineName]], list[str]]:
    """The predictors with answers for SQLite and for others, with the others; and a line for each without.

    Args:
        answered: a predictor and an engine that it has answers for; each as often as it comes.
    """
    engines: dict[str, dict[EngineName, None]] = {}
    for predictor, dialect in answered:
        engines.setdefault(predictor, {})[dialect] = None
    found, left_out = {}, []
    for predictor, dialects in engines.items():
        targets = [dialect for dialect in in_order(dialects) if kind_of(dialect).has_server]
        if Dialect.SQLITE in dialects and targets:
            found[predictor] = targets
        else:
            titles = " and ".join(kind_of(dialect).title for dialect in in_order(dialects))
            left_out.append(f"{predictor}: has answers for {titles} alone, so there is no gap to explain")
    return found, left_out


@contextmanager
def trying_on(
    request: Request, setup: Setup, say: Callable[[str], None], progress: Progress | None = None
) -> Iterator[Trying]:
    """The engines of a run with its databases in both profiles; the workers end with the block.

    Args:
        request: what was run.
        setup: what it was run with.
        say: takes one line at a time.
        progress: is told of the rows loaded.

    Raises:
        EngineUnavailable: a server broke.
    """
    ours = replace(setup, metrics=METRICS, variants=None, diagnoses=False, previews=True)
    base = open_scheduler(request, ours, say)
    try:
        if setup.profile is Profile.FAITHFUL:
            yield Trying(setup.questions, base, base, setup.profile)
            return
        there = replace(request, profile=Profile.FAITHFUL, metrics=METRICS)
        whole = replace(setup.questions, profile=None)
        equipped = equip(there, whole, list(setup.servers), say=lambda _: None, progress=progress)
        faithful = open_scheduler(
            there, replace(equipped.setup, questions=setup.questions, diagnoses=False), say
        )
        try:
            yield Trying(setup.questions, base, faithful, setup.profile)
        finally:
            faithful.close()
    finally:
        base.close()


def explain(  # noqa: PLR0913 - what is explained, and who is told
    results: Sequence[PairResult],
    trying: Trying,
    questions: QuestionSet,
    run_id: str,
    *,
    threads: int,
    begin: Callable[[str, int], None] = lambda _what, _total: None,
    counted: Counted = lambda _count: None,
) -> Gap:
    """Explain every question that a predictor has right on one of two engines.

    Args:
        results: of a run, with SQLite's.
        trying: the engines.
        questions: those of the run.
        run_id: of the run.
        threads: how many questions are explained side by side.
        begin: is told what is done now, and of how many things.
        counted: is told of those that are done.
    """
    found, left_out = several((one.predictor, one.dialect) for one in results)
    by_key = {(one.predictor, one.dialect, one.question): one for one in results}
    work = [
        _work(predictor, target, questions, by_key)
        for predictor, targets in found.items()
        for target in targets
    ]
    held = _held(trying, work, begin, counted)
    decider = Decider(trying)
    with ThreadPoolExecutor(threads, thread_name_prefix="gap") as pool:

        def done(what: str, compute: Callable[[Item], Value], items: Sequence[Item]) -> Iterator[Value]:
            begin(what, len(items))

            def one(item: Item) -> Value:
                value = compute(item)
                counted(1)
                return value

            return iter(list(pool.map(one, items)))

        try:
            differences = [each for one in work for each in one.differences]
            decisions = done("explaining", decider.decide, differences)
            refused = [each for one in work for each in one.refused]
            mended = done("repairing", lambda each: decider.mend(*each, [], MOST_REPAIRS), refused)
            translated = _translated(results, trying, questions, pool, (begin, counted))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    synthetic = synthetic_databases(questions)
    gaps = []
    for one in work:
        explained = [_explained(one, each, next(decisions), synthetic) for each in one.differences]
        repaired = sum(next(mended) is not None for _ in one.refused)
        repaired += sum(
            each.direction is Direction.LOSS and each.decision.mended is not None for each in explained
        )
        on_sqlite, on_target = (sum(map(_right, some)) for some in zip(*one.pairs, strict=True))
        gaps.append(
            PredictorGap(
                one.predictor,
                one.target,
                len(one.pairs),
                on_sqlite,
                on_target,
                explained,
                WhatIf(on_target + repaired, *held[one.predictor, one.target]),
            )
        )
    profile, databases = trying.profile, len(questions.db_ids)
    return Gap(run_id, questions.name, profile, gaps, left_out, synthetic, databases, translated)


def _translated(
    results: Sequence[PairResult],
    trying: Trying,
    questions: QuestionSet,
    pool: Executor,
    told: tuple[Callable[[str, int], None], Counted],
) -> list[TranslatedAnswers]:
    """What the right answers for SQLite come to on every target, by predictor, then by engine."""
    begin, counted = told
    targets = [name for name in trying.engines if kind_of(name).has_server]
    right: dict[str, list[tuple[Question, PairResult]]] = {}
    for one in results:
        if one.dialect == Dialect.SQLITE:
            some = right.setdefault(one.predictor, [])
            if _right(one) and one.question in questions.by_key:
                some.append((questions.by_key[one.question], one))
    begin("translating", len(right) * len(targets))
    found = []
    for predictor, answers in sorted(right.items()):
        for target in targets:
            found.append(hold_translations(predictor, target, answers, trying, pool))
            counted(1)
    return found


Item = TypeVar("Item")
Value = TypeVar("Value")


@dataclass
class _Work:
    """One predictor on one target: all pairs, SQLite's result first, and what has to be looked at."""

    predictor: str
    target: EngineName
    pairs: list[tuple[PairResult, PairResult]] = field(default_factory=list)
    natives: list[tuple[Question, PairResult]] = field(default_factory=list)
    differences: list[Difference] = field(default_factory=list)
    refused: list[tuple[Question, PairResult]] = field(default_factory=list)
    """What the target refuses where SQLite's answer is wrong, too."""


def _work(
    predictor: str,
    target: EngineName,
    questions: QuestionSet,
    by_key: Mapping[tuple[str, EngineName, str], PairResult],
) -> _Work:
    work = _Work(predictor, target)
    for question in questions.questions:
        sqlite = by_key.get((predictor, Dialect.SQLITE, question.key))
        native = by_key.get((predictor, target, question.key))
        if sqlite is None or native is None:
            continue
        work.pairs.append((sqlite, native))
        work.natives.append((question, native))
        if _right(sqlite) != _right(native):
            wrong, right = (native, sqlite) if _right(sqlite) else (sqlite, native)
            work.differences.append(Difference(question, target, wrong, right))
        elif native.outcome is Outcome.PREDICTION_ERROR:
            work.refused.append((question, native))
    return work


def _explained(work: _Work, found: Difference, decision: Decision, synthetic: Collection[str]) -> Explained:
    sqlite = found.right if found.direction is Direction.LOSS else found.wrong
    return Explained(
        predictor=work.predictor,
        target=work.target,
        question=found.question,
        direction=found.direction,
        sqlite=sqlite,
        native=found.native,
        decision=decision,
        synthetic=found.question.db_id in synthetic,
    )


def _right(result: PairResult) -> bool:
    return result.outcome is Outcome.MATCH


def _held(
    trying: Trying,
    work: Sequence[_Work],
    begin: Callable[[str, int], None],
    counted: Counted,
) -> dict[tuple[str, EngineName], tuple[int, int]]:
    """How many native answers have the rows of SQLite's gold, as they ran and in profile faithful."""
    begin("holding answers against SQLite", 2 * sum(len(one.natives) for one in work))
    waiting: dict[tuple[str, EngineName], list[tuple[Future[Judgement], Future[Judgement]]]] = {}
    for each in work:
        some = waiting[each.predictor, each.target] = []
        for question, native in each.natives:
            if native.sql is None:
                counted(2)
                continue
            asks = [Ask("", each.target, native.sql, SQLITE_ROWS, faithful=there) for there in (False, True)]
            one, other = (trying.begin(question, ask) for ask in asks)
            for future in (one, other):
                future.add_done_callback(lambda _: counted(1))
            some.append((one, other))
    return {
        whose: (sum(_is_match(one) for one, _ in some), sum(_is_match(other) for _, other in some))
        for whose, some in waiting.items()
    }


def _is_match(future: "Future[Judgement]") -> bool:
    return future.result().outcome is Outcome.MATCH
