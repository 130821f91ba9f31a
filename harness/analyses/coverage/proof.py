"""Proofs of golds: each translation runs on its server, and its rows are compared with SQLite's.

What is exported with certificates and what is measured for a table are proven alike.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from dialects.enums import Dialect
from dialects.overrides import Override, overrides
from dialects.translation import Translation, Untranslatable, translate
from harness.analyses.bench import Bench
from harness.analyses.coverage.answers import CoverageAnswer, DifferenceReason, OverrideState
from harness.analyses.coverage.comparison import Reference
from harness.analyses.coverage.plain import PlainForms
from harness.data.outcomes import GoldOrigin
from harness.data.questions import Question
from harness.engines.execution import Execution


class GoldProver:
    """Proves golds of a set on the servers of a bench; thread-safe.

    Args:
        bench: the servers, with the databases of a set; its SQLite golds are the reference.
        plain: finds plain forms, which replace exact forms that are proven; None to keep these.
    """

    def __init__(self, bench: Bench, plain: PlainForms | None = None) -> None:
        self.bench = bench
        self._plain = plain
        self._reference = Reference(bench.limits)

    def reference(self, question: Question) -> Execution:
        """Run the gold of a question on SQLite."""
        return self._reference.run(self.bench.database(question.db_id), question.gold[Dialect.SQLITE])

    def blank(
        self, question: Question, dialect: Dialect, origin: GoldOrigin, reference: Execution
    ) -> CoverageAnswer:
        """Return what is known of an answer before anything runs; `reason` tells if nothing can."""
        missing = self.bench.missing_databases.get((dialect, question.db_id))
        return CoverageAnswer(
            question=question.key,
            db_id=question.db_id,
            difficulty=question.difficulty,
            dialect=dialect,
            origin=origin,
            reason=None if missing is None else DifferenceReason.NOT_LOADED,
            detail=missing,
            sqlite_seconds=reference.seconds,
        )

    def proven(
        self, question: Question, blank: CoverageAnswer, translation: Translation, reference: Execution
    ) -> CoverageAnswer:
        """Run a text and compare its rows with SQLite's.

        Raises:
            EngineLost: the server broke.
        """
        database, engine = self.bench.database(question.db_id), self.bench.engines[translation.target]
        gold = question.gold[Dialect.SQLITE]
        compared = self._reference.compare(database, gold, reference, engine, translation)
        return replace(
            blank,
            sql=translation.sql,
            rules=translation.rules,
            warnings=translation.warnings,
            **vars(compared),
        )

    def translated(
        self, question: Question, blank: CoverageAnswer, translation: Translation, reference: Execution
    ) -> CoverageAnswer:
        """Prove the translation of a gold; its plain form replaces it if both are proven.

        Raises:
            EngineLost: the server broke.
            EngineUnavailable: the server cannot hold the small databases of a plain form.
        """
        answer = self.proven(question, blank, translation, reference)
        if self._plain is None or not answer.covered:
            return answer
        found = self._plain.of(question.db_id, question.gold[Dialect.SQLITE], translation, reference)
        if found is None:
            return answer
        return replace(
            answer,
            sql=found.sql,
            reason=None,
            detail=None,
            exact=translation.sql,
            witnesses=found.witnesses,
        )


Chosen = Callable[[Dialect, Question], bool]


def every(_dialect: Dialect, _question: Question) -> bool:
    """Choose every answer."""
    return True


def cover(
    bench: Bench,
    origin: GoldOrigin = GoldOrigin.TRANSLATED,
    chosen: Chosen = every,
    plain: PlainForms | None = None,
) -> Iterator[CoverageAnswer]:
    """Yield the answer of every gold on every engine, question by question.

    Args:
        bench: see `GoldProver`.
        origin: TRANSLATED, which takes an override where there is one, or DATASET, the golds that the set
            publishes for a dialect; a question without one has no answer then.
        chosen: which answers are wanted.
        plain: see `GoldProver`.

    Raises:
        EngineLost: an engine broke.
        BadInput: a database that an engine has cannot be read, or an override is none.
    """
    prover = GoldProver(bench, plain)
    written: dict[Dialect, Mapping[str, Override]] = {}
    if origin is GoldOrigin.TRANSLATED:
        of = bench.questions
        written = {name: overrides(of.name, name, own=of.overrides) for name in map(Dialect, bench.engines)}

    def dialects(question: Question) -> list[Dialect]:
        return [
            dialect
            for dialect in map(Dialect, bench.engines)
            if (origin is GoldOrigin.TRANSLATED or dialect in question.gold) and chosen(dialect, question)
        ]

    def answer(question: Question, dialect: Dialect, reference: Execution) -> CoverageAnswer:
        blank = prover.blank(question, dialect, origin, reference)
        if blank.reason is not None:
            return blank
        if origin is GoldOrigin.DATASET:
            text = Translation(question.gold[dialect], dialect)
            return prover.proven(question, blank, text, reference)
        automatic = _automatic(prover, question, blank, reference)
        override = written[dialect].get(question.key)
        if override is None or Dialect.SQLITE in question.corrected:
            return automatic
        state = OverrideState.UNNEEDED if automatic.covered else OverrideState.NEEDED
        if not override.replaces(question.gold[Dialect.SQLITE]):
            state = OverrideState.STALE
        blank = replace(blank, origin=GoldOrigin.OVERRIDE, override=state)
        return prover.proven(question, blank, Translation(override.sql, dialect), reference)

    def answers(question: Question) -> list[CoverageAnswer]:
        reference = prover.reference(question)
        return [answer(question, dialect, reference) for dialect in dialects(question)]

    for found in bench.each(answers, [each for each in bench.questions.questions if dialects(each)]):
        yield from found


def _automatic(
    prover: GoldProver, question: Question, blank: CoverageAnswer, reference: Execution
) -> CoverageAnswer:
    schema = prover.bench.schema(question.db_id, blank.dialect)
    try:
        translation = translate(question.gold[Dialect.SQLITE], schema, blank.dialect)
    except Untranslatable as refusal:
        return replace(blank, reason=DifferenceReason.UNTRANSLATABLE, detail=str(refusal))
    return prover.translated(question, blank, translation, reference)
