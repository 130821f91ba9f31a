"""From the results of a run to the gap of each predictor on each engine."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from dialects.enums import Dialect, Profile
from harness.analyses.bench import provenance_of, synthetic_databases
from harness.analyses.units import Units
from harness.data.outcomes import Judgement, Outcome, PairResult
from harness.data.published_sets import Provenance
from harness.data.questions import Question, QuestionSet, cached_types
from harness.engines import EngineName, in_order, kind_of
from harness.labs.gap.cause_rules import Cause, Decider, Direction, EngineDifference, FoundCause
from harness.labs.gap.experiments import (
    METRICS,
    SQLITE_ROWS,
    TranslatedAnswers,
    TranslationGap,
    TrialText,
    Trying,
    held_translation,
)
from harness.scoring.tasks import Setup
from harness.session.plan import equip, open_scheduler
from harness.session.request import Request
from loaders.base.files import content_digest
from loaders.base.records import to_plain, to_record
from loaders.bulk_load import Progress


@dataclass(frozen=True)
class Explained:
    """A question with another outcome on a target, and why."""

    predictor: str
    target: EngineName
    question: Question
    direction: Direction
    sqlite: PairResult
    native: PairResult
    decision: FoundCause
    synthetic: bool = False
    """The database is not the published one."""


@dataclass(frozen=True)
class WhatIf:
    """How many questions would be right on the target under other conditions.

    `repaired`: every answer that three edits or fewer make right counts as right. Edits are looked for where
    the engine refuses an answer, and where SQLite's is right. `translated`: answers are matched with the rows
    of SQLite's gold, which its exact translation returns. `faithful`: that, and columns are as SQLite stores
    them.
    """

    repaired: int
    translated: int
    faithful: int


@dataclass(frozen=True)
class PredictorGap:
    """One predictor on one target and on SQLite, on the same questions.

    `on_sqlite` and `on_target` count the questions that it has right.
    """

    predictor: str
    target: EngineName
    questions: int
    on_sqlite: int
    on_target: int
    explained: Sequence[Explained]
    what_if: WhatIf
    pairs: Sequence[tuple[PairResult, PairResult]] = ()
    """The results that are compared, SQLite's first."""

    def count(self, cause: Cause, direction: Direction | None = None) -> int:
        """Return the questions of a cause, in one direction or in both."""
        return sum(
            one.decision.cause is cause and direction in {None, one.direction} for one in self.explained
        )

    def step(self, cause: Cause) -> int:
        """Return the net effect of a cause on the right questions: those won less those lost."""
        return self.count(cause, Direction.GAIN) - self.count(cause, Direction.LOSS)


@dataclass(frozen=True)
class Gap:
    """The gaps of a run, by predictor and then by engine; `left_out` says who has none, and why."""

    run_id: str
    set_name: str
    profile: Profile
    gaps: Sequence[PredictorGap]
    left_out: Sequence[str] = ()
    provenance: Mapping[str, Provenance] = field(default_factory=dict)
    """Whether each database is the published one; empty where none is published."""
    translated: Sequence[TranslatedAnswers] = ()
    """Right answers for SQLite, translated; of every predictor with answers for it."""
    types: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The types of each question, by its key."""

    @property
    def explained(self) -> list[Explained]:
        """All questions that differ."""
        return [one for gap in self.gaps for one in gap.explained]


MOST_REPAIRS = 40
"""Edited texts that are run for an answer that the target refuses where SQLite's is wrong, too."""


def several(
    answered: Iterable[tuple[str, EngineName]],
) -> tuple[dict[str, list[EngineName]], list[str]]:
    """Return the other engines of each predictor with answers for SQLite, and a line for each left out.

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
    """Yield the engines of a run with its databases in both profiles; the workers end with the block.

    Args:
        request: what was run.
        setup: what it was run with.
        say: takes one line at a time.
        progress: called with the rows loaded.

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


def _key(target: EngineName, *results: PairResult) -> tuple[str, ...]:
    """Return a key for these results alone: a run that is continued may have others."""
    facts = [[one.dialect, one.sql, one.outcome, one.error, one.code] for one in results]
    return results[0].predictor, target, results[0].question, content_digest(facts)


def explain(  # noqa: PLR0913 - what is explained, and with what
    results: Sequence[PairResult],
    trying: Trying,
    questions: QuestionSet,
    run_id: str,
    *,
    threads: int,
    units: Units | None = None,
) -> Gap:
    """Explain every question that a predictor has right on one of two engines.

    Args:
        results: of a run, with SQLite's.
        trying: the engines.
        questions: those of the run.
        run_id: of the run.
        threads: how many questions are explained side by side.
        units: keep the findings; None keeps them for this call only.
    """
    units = units or Units()
    found, left_out = several((one.predictor, one.dialect) for one in results)
    by_key = {(one.predictor, one.dialect, one.question): one for one in results}
    work = [
        _work(predictor, target, questions, by_key)
        for predictor, targets in found.items()
        for target in targets
    ]
    held = _held(trying, work, units.stage("holding", "answers against the rows of SQLite"))
    decider = Decider(trying)
    differing = [(_key(one.target, each.wrong, each.right), each) for one in work for each in one.differences]
    explaining = units.stage("explaining", "what differs")
    decided = explaining.all(differing, lambda one: to_plain(decider.decide(one)), threads)
    decisions = (to_record(FoundCause, value) for _, value in decided)
    refused = [(_key(one.target, each[1]), each) for one in work for each in one.refused]
    repairing = units.stage("repairing", "what an engine refuses")
    repairs = repairing.all(refused, lambda one: decider.mend(*one, [], MOST_REPAIRS) is not None, threads)
    mended = iter(repairs)
    stage = units.stage("translating", "right answers for SQLite")
    translated = _translated(results, trying, questions, stage, threads)
    provenance = provenance_of(questions)
    synthetic = synthetic_databases(provenance)
    gaps = []
    for one in work:
        explained = [_explained(one, each, next(decisions), synthetic) for each in one.differences]
        repaired = sum(next(mended)[1] for _ in one.refused)
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
                one.pairs,
            )
        )
    profile, types = trying.profile, cached_types(questions.questions)
    return Gap(run_id, questions.name, profile, gaps, left_out, provenance, translated, types)


def _translated(
    results: Sequence[PairResult], trying: Trying, questions: QuestionSet, units: Units, threads: int
) -> list[TranslatedAnswers]:
    """Translate the right answers for SQLite to every target; by predictor, then by engine."""
    right: dict[str, list[PairResult]] = {}
    for one in results:
        if one.dialect == Dialect.SQLITE:
            some = right.setdefault(one.predictor, [])
            if _right(one) and one.question in questions.by_key:
                some.append(one)
    targets = [name for name in trying.engines if kind_of(name).has_server]
    wanted = [(predictor, target) for predictor in sorted(right) for target in targets]

    def gap(answer: tuple[EngineName, PairResult]) -> Any:
        target, result = answer
        return to_plain(held_translation(target, trying, questions.by_key[result.question], result))

    keyed = [(_key(target, one), (target, one)) for predictor, target in wanted for one in right[predictor]]
    exceptions: dict[tuple[str, EngineName], list[TranslationGap]] = {each: [] for each in wanted}
    for (target, result), value in units.all(keyed, gap, threads):
        if value is not None:
            exceptions[result.predictor, target].append(to_record(TranslationGap, value))
    return [
        TranslatedAnswers(predictor, target, len(right[predictor]), exceptions[predictor, target])
        for predictor, target in wanted
    ]


@dataclass
class _Work:
    """One predictor on one target: all pairs, SQLite's result first, and the differences to explain."""

    predictor: str
    target: EngineName
    pairs: list[tuple[PairResult, PairResult]] = field(default_factory=list)
    natives: list[tuple[Question, PairResult]] = field(default_factory=list)
    differences: list[EngineDifference] = field(default_factory=list)
    refused: list[tuple[Question, PairResult]] = field(default_factory=list)
    """Refusals of the target where SQLite's answer is wrong, too."""


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
            work.differences.append(EngineDifference(question, target, wrong, right))
        elif native.outcome is Outcome.PREDICTION_ERROR:
            work.refused.append((question, native))
    return work


def _explained(
    work: _Work, found: EngineDifference, decision: FoundCause, synthetic: Collection[str]
) -> Explained:
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
    trying: Trying, work: Sequence[_Work], units: Units
) -> dict[tuple[str, EngineName], tuple[int, int]]:
    """Count the native answers with the rows of SQLite's gold, as they ran and in profile faithful."""
    # All begin before the first is waited for: the scheduler runs texts for the same gold together.
    waiting: dict[tuple[str, EngineName], list[tuple[Sequence[str], list[Future[Judgement]]]]] = {}
    for each in work:
        some = waiting[each.predictor, each.target] = []
        for question, native in each.natives:
            key, sql = _key(each.target, native), native.sql
            profiles = () if sql is None or units.has(key) else (False, True)
            asks = (TrialText("", each.target, sql or "", SQLITE_ROWS, faithful=there) for there in profiles)
            some.append((key, [trying.begin(question, ask) for ask in asks]))
    units.expect(sum(map(len, waiting.values())))
    found = {}
    for whose, answers in waiting.items():
        # Without an answer nothing was begun, and nothing matches.
        matches = [units.unit(key, partial(_matches, futures)) for key, futures in answers]
        found[whose] = sum(any(one[:1]) for one in matches), sum(any(one[1:]) for one in matches)
    return found


def _matches(futures: Sequence["Future[Judgement]"]) -> list[bool]:
    return [one.result().outcome is Outcome.MATCH for one in futures]
