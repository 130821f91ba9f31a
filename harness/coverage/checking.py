"""Runs golds on SQLite and on servers and says how the answers relate: the measurement itself."""

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from dialects.enums import Dialect, Profile
from dialects.overrides import Override, overrides
from dialects.schema import Schema
from dialects.translate import Translation, Untranslatable, translate
from harness.coverage.answers import CoverageAnswer, OverrideState, Reason
from harness.coverage.holding import Reference
from harness.data.outcomes import GoldOrigin
from harness.data.questions import Question, QuestionSet
from harness.engines.base import Engine
from harness.engines.execution import Execution, Limits
from loaders.census import census


def cover(  # noqa: PLR0913 - the measurement's whole description
    questions: QuestionSet,
    engines: Mapping[Dialect, Engine],
    limits: Limits,
    *,
    origin: GoldOrigin = GoldOrigin.TRANSLATED,
    profile: Profile = Profile.FAITHFUL,
    workers: int = 1,
    unloaded: Mapping[tuple[Dialect, str], str] | None = None,
) -> Iterator[CoverageAnswer]:
    """The answer of every gold on every engine, question by question.

    Args:
        questions: the question set; its SQLite golds are the reference.
        engines: servers, with the set's databases loaded in `profile`.
        limits: what one SQL text may use.
        origin: TRANSLATED, which takes an override where there is one, or DATASET, the golds that the set
            publishes for a dialect; a question without one has no answer then.
        profile: how the databases are loaded.
        workers: threads, each with a question at a time.
        unloaded: the databases that an engine does not have, and why: nothing is asked of them there.

    Raises:
        EngineLost: an engine broke.
        BadInput: a database that an engine has cannot be read, or an override is none.
    """
    bench = _Bench(questions, engines, limits, origin, profile, unloaded or {})
    with ThreadPoolExecutor(workers, thread_name_prefix="coverage") as pool:
        try:
            for answers in pool.map(bench.answers, questions.questions):
                yield from answers
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


@dataclass(frozen=True)
class _Text:
    """What is to be run for a gold."""

    origin: GoldOrigin
    translation: Translation


class _Bench:
    """The engines, with what is the same for all questions; thread-safe."""

    def __init__(  # noqa: PLR0913, PLR0917 - what a measurement is made of
        self,
        questions: QuestionSet,
        engines: Mapping[Dialect, Engine],
        limits: Limits,
        origin: GoldOrigin,
        profile: Profile,
        unloaded: Mapping[tuple[Dialect, str], str],
    ) -> None:
        self._unloaded = unloaded
        self._questions = questions
        self._engines = engines
        self._origin = origin
        self._profile = profile
        self._reference = Reference(limits)
        self._schemas: dict[str, Schema] = {}
        self._overrides: dict[Dialect, Mapping[str, Override]] = {}
        if origin is GoldOrigin.TRANSLATED:
            self._schemas = {
                db_id: census(questions.database(db_id, profile).sqlite_path)
                for db_id in questions.db_ids
                if any((dialect, db_id) not in unloaded for dialect in engines)
            }
            self._overrides = {dialect: overrides(questions.name, dialect) for dialect in engines}

    def answers(self, question: Question) -> list[CoverageAnswer]:
        """The answers of one question's gold on every engine."""
        database = self._questions.database(question.db_id, self._profile)
        reference = self._reference.run(database, question.gold[Dialect.SQLITE])
        return [
            answer
            for dialect in self._engines
            if self._origin is GoldOrigin.TRANSLATED or dialect in question.gold
            for answer in [self._answer(question, dialect, reference)]
        ]

    def _answer(self, question: Question, dialect: Dialect, reference: Execution) -> CoverageAnswer:
        if why := self._unloaded.get((dialect, question.db_id)):
            blank = _blank(question, dialect, self._origin, reference)
            return replace(blank, reason=Reason.NOT_LOADED, detail=why)
        if self._origin is GoldOrigin.DATASET:
            published = _Text(GoldOrigin.DATASET, Translation(question.gold[dialect], dialect))
            return self._compared(question, published, reference)
        override = self._overrides[dialect].get(question.key)
        automatic = self._translated(question, dialect, reference)
        if override is None:
            return automatic
        text = _Text(GoldOrigin.OVERRIDE, Translation(override.sql, dialect))
        answer = self._compared(question, text, reference)
        state = OverrideState.UNNEEDED if automatic.covered else OverrideState.NEEDED
        if not override.replaces(question.gold[Dialect.SQLITE]):
            state = OverrideState.STALE
        return replace(answer, override=state)

    def _translated(self, question: Question, dialect: Dialect, reference: Execution) -> CoverageAnswer:
        try:
            translation = translate(question.gold[Dialect.SQLITE], self._schemas[question.db_id], dialect)
        except Untranslatable as refusal:
            answer = _blank(question, dialect, GoldOrigin.TRANSLATED, reference)
            return replace(answer, reason=Reason.UNTRANSLATABLE, detail=str(refusal))
        return self._compared(question, _Text(GoldOrigin.TRANSLATED, translation), reference)

    def _compared(self, question: Question, text: _Text, reference: Execution) -> CoverageAnswer:
        translation = text.translation
        gold, dialect = question.gold[Dialect.SQLITE], translation.target
        database = self._questions.database(question.db_id, self._profile)
        held = self._reference.hold(database, gold, reference, self._engines[dialect], translation)
        return replace(
            _blank(question, dialect, text.origin, reference),
            sql=translation.sql,
            rules=translation.rules,
            warnings=translation.warnings,
            **vars(held),
        )


def _blank(question: Question, dialect: Dialect, origin: GoldOrigin, reference: Execution) -> CoverageAnswer:
    return CoverageAnswer(
        question=question.key,
        db_id=question.db_id,
        difficulty=question.difficulty,
        dialect=dialect,
        origin=origin,
        sqlite_seconds=reference.seconds,
    )
