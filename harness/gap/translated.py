"""Right answers for SQLite, translated exactly and run on the other engines: are the translations right?"""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial

from dialects.enums import Dialect
from dialects.errors import BadInput
from dialects.translate import Untranslatable, translate
from dialects.volatility import is_volatile
from harness.data.outcomes import PairResult
from harness.data.questions import Question
from harness.engines import EngineName, dialect_of
from harness.gap.trying import SQLITE_ROWS, Ask, Trying
from loaders.base.files import one_line


@dataclass(frozen=True)
class TranslationGap:
    """A right answer whose translation is not right, and why; `refused` where there is no translation."""

    question: str
    db_id: str
    why: str
    refused: bool = False


@dataclass(frozen=True)
class TranslatedAnswers:
    """One predictor's right answers for SQLite on one target: how many there are, and which do not match."""

    predictor: str
    target: EngineName
    right: int
    exceptions: Sequence[TranslationGap] = ()

    @property
    def translatable(self) -> int:
        """How many have a translation."""
        return self.right - sum(one.refused for one in self.exceptions)

    @property
    def matching(self) -> int:
        """How many of these return the rows of SQLite's gold."""
        return self.right - len(self.exceptions)


def hold_translations(
    predictor: str,
    target: EngineName,
    answers: Sequence[tuple[Question, PairResult]],
    trying: Trying,
    pool: Executor,
) -> TranslatedAnswers:
    """Translate right answers and hold what they return against the rows of SQLite's gold, by value.

    Args:
        predictor: whose they are.
        target: the engine, with the databases in profile faithful.
        answers: questions with right results on SQLite.
        trying: runs the translations.
        pool: works on several side by side.
    """
    found = pool.map(partial(_held, target, trying), answers)
    return TranslatedAnswers(predictor, target, len(answers), [one for one in found if one is not None])


def _held(target: EngineName, trying: Trying, answer: tuple[Question, PairResult]) -> TranslationGap | None:
    question, result = answer
    sql = result.sql or ""
    gap = partial(TranslationGap, question.key, question.db_id)
    try:
        translation = translate(sql, trying.schema(question.db_id), dialect_of(target), as_json=False)
    except (Untranslatable, BadInput) as refusal:
        return gap(one_line(f"no translation: {refusal}"), refused=True)
    what = "SQLite's answer, translated exactly"
    trial = trying.one(question, Ask(what, target, translation.sql, SQLITE_ROWS, faithful=True))
    if trial.is_right:
        return None
    why = "other rows"
    if not trial.ran:
        why = f"{trial.outcome}: {trial.error or ''}"
    elif trial.strict:
        why = "another choice among ties that gold allows"
    elif translation.leaves_open:
        why = f"SQLite leaves its answer open: {translation.warnings[0]}"
    elif is_volatile(sql) or is_volatile(question.gold[Dialect.SQLITE]):
        why = "it asks the clock, or chance"
    return gap(one_line(why))
