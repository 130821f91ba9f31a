"""Run other texts than the predictors' answers: on any engine, in either profile, against any reference.

Everything goes through `harness.scoring.scheduler`, as predictions do: in worker processes, under limits, and
through the result cache, so that nothing that is known is executed again.
"""

import hashlib
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial

from dialects.enums import Dialect, Profile
from dialects.errors import BadInput
from dialects.schema import Schema
from dialects.server_schema import server_tables
from dialects.translation import Untranslatable, translate
from dialects.volatility import is_volatile
from harness.data.outcomes import Judgement, Outcome, PairResult
from harness.data.questions import Question, QuestionSet
from harness.engines import EngineName, dialect_of, in_order
from harness.labs.gap.edits import Names
from harness.metrics import OUTCOME_METRIC
from harness.scoring.golds import NoGold
from harness.scoring.scheduler import Candidate, Scheduler
from loaders.base.files import one_line
from loaders.base.processes import Memo

STRICT = "ex_strict"
METRICS = (OUTCOME_METRIC, STRICT)
"""The metrics that compare every text with its reference."""

_EVERYWHERE = frozenset(Dialect)


@dataclass(frozen=True)
class Against:
    """The reference that a text is compared with: `what` in words.

    `gold` None is the gold of the question on that engine. `by_rows`: the rows that SQLite's gold, or `gold`
    run on SQLite, returns there, by value; else those of `gold` on the engine itself.
    """

    what: str
    by_rows: bool = False
    gold: str | None = None


OWN_GOLD = Against("the gold of its dialect")
SQLITE_ROWS = Against("the rows of SQLite's gold", by_rows=True)


@dataclass(frozen=True)
class Trial:
    """A text that was run, and what came of it; `what` says in words which text it is."""

    what: str
    dialect: EngineName
    profile: Profile
    sql: str
    against: str
    outcome: Outcome
    strict: bool
    """True if the reference allows the rows, given that another order or choice among ties is valid."""
    error: str | None = None
    code: str | None = None
    preview: str | None = None

    @property
    def is_right(self) -> bool:
        """True if its rows are those of the reference."""
        return self.outcome is Outcome.MATCH

    @property
    def ran(self) -> bool:
        """True if it and the reference returned rows."""
        return self.outcome in (Outcome.MATCH, Outcome.MISMATCH)


@dataclass(frozen=True)
class TrialText:
    """A text that is to be run; as in `Trial`."""

    what: str
    dialect: EngineName
    sql: str
    against: Against = OWN_GOLD
    faithful: bool = False


class Trying:
    """The engines with the databases in both profiles; thread-safe.

    Args:
        questions: the set.
        base: judges in the profile in which the answers are scored.
        faithful: judges in profile faithful; the same where that is the profile of the answers.
        profile: the first one's.
    """

    def __init__(
        self, questions: QuestionSet, base: Scheduler, faithful: Scheduler, profile: Profile
    ) -> None:
        self._questions = questions
        self._base, self._faithful = base, faithful
        self.profile = profile
        self._names = Memo()

    @property
    def engines(self) -> Sequence[EngineName]:
        """The engines that texts can be run on, in order."""
        return in_order(self._base.engines)

    @property
    def schedulers(self) -> Sequence[Scheduler]:
        """Those that judge, each once."""
        return list(dict.fromkeys([self._base, self._faithful]))

    def schema(self, db_id: str, dialect: EngineName) -> Schema:
        """Return the census of a database as translations find it on an engine.

        Raises:
            BadInput: its file cannot be read.
        """
        return self._faithful.golds.schema(db_id, dialect)

    def names(self, db_id: str, dialect: Dialect) -> Names:
        """Return the names that a database has on an engine."""
        found: Names = self._names((db_id, dialect), lambda: self._names_of(db_id, dialect))
        return found

    def _names_of(self, db_id: str, dialect: Dialect) -> Names:
        schema, path = self.schema(db_id, dialect), self._questions.database(db_id).sqlite_path
        is_server = dialect is not Dialect.SQLITE
        tables = server_tables(schema, dialect, self.profile, path) if is_server else schema.tables
        return Names({table.name: [column.name for column in table.columns] for table in tables}, db_id)

    def gold(self, question: Question, dialect: EngineName) -> str | None:
        """Return the text of the gold that counts on an engine; None if there is none."""
        try:
            return self._base.golds.text(question, dialect)
        except (BadInput, NoGold):
            return None

    def translation(self, question: Question, sql: str, dialect: Dialect) -> str | None:
        """Return a text of SQLite's, translated exactly; None if it cannot be."""
        try:
            return translate(sql, self.schema(question.db_id, dialect), dialect, as_json=False).sql
        except (Untranslatable, BadInput):
            return None

    def run(self, question: Question, asks: Sequence[TrialText]) -> list[Trial]:
        """Return the results of texts for a question, run in parallel."""
        waiting = [self.begin(question, ask) for ask in asks]
        return [self._trial(ask, future.result()) for ask, future in zip(asks, waiting, strict=True)]

    def one(self, question: Question, ask: TrialText) -> Trial:
        """Return the result of one text."""
        return self.run(question, [ask])[0]

    def begin(self, question: Question, ask: TrialText) -> "Future[Judgement]":
        """Have one text judged."""
        scheduler = self._faithful if ask.faithful else self._base
        return scheduler.begin([Candidate(self._question(question, ask), ask.dialect, ask.sql)])[0]

    def _trial(self, ask: TrialText, judgement: Judgement) -> Trial:
        return Trial(
            what=ask.what,
            dialect=ask.dialect,
            profile=Profile.FAITHFUL if ask.faithful else self.profile,
            sql=ask.sql,
            against=ask.against.what,
            outcome=judgement.outcome,
            strict=judgement.scores.get(STRICT) == 1.0,
            error=judgement.error,
            code=judgement.code,
            preview=judgement.preview,
        )

    def _question(self, question: Question, ask: TrialText) -> Question:
        """Return the question with the reference of a text as its gold.

        It gets its own key: texts are distinguished by the keys of their questions.
        """
        against = ask.against
        if against.gold is None and not against.by_rows:
            # In another profile the same texts are run; what is translated is so in both.
            return question
        if against.gold is None:
            return replace(question, key=f"{question.key}\0rows", by_rows=_EVERYWHERE)
        digest = hashlib.sha256(against.gold.encode("utf-8", "surrogatepass")).hexdigest()
        language = Dialect.SQLITE if against.by_rows else dialect_of(ask.dialect)
        gold: Mapping[Dialect, str] = {language: against.gold}
        return replace(
            question,
            key=f"{question.key}\0{language} {digest}",
            gold=gold,
            more_gold={},
            corrected=frozenset(),
            by_rows=_EVERYWHERE if against.by_rows else frozenset(),
        )


# Right answers for SQLite, translated exactly and run on the other engines: are the translations right?


@dataclass(frozen=True)
class TranslationGap:
    """A right answer whose translation is wrong, and why; `refused` if there is no translation."""

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


def held_translation(
    target: EngineName, trying: Trying, question: Question, result: PairResult
) -> TranslationGap | None:
    """Translate a right answer and compare its rows, by value, with those of SQLite's gold.

    Args:
        target: the engine, with the databases in profile faithful.
        trying: runs the translation.
        question: what is answered.
        result: the answer on SQLite.
    """
    sql = result.sql or ""
    gap = partial(TranslationGap, question.key, question.db_id)
    try:
        translation = translate(sql, trying.schema(question.db_id, target), dialect_of(target), as_json=False)
    except (Untranslatable, BadInput) as refusal:
        return gap(one_line(f"no translation: {refusal}"), refused=True)
    what = "SQLite's answer, translated exactly"
    trial = trying.one(question, TrialText(what, target, translation.sql, SQLITE_ROWS, faithful=True))
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
