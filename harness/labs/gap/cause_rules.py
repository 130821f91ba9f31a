"""Rules that find the cause of a difference: executions in their order, until one decides.

What needs no change of the wrong text comes first (no query, a limit, another gold, ties, other columns),
then small edits of it, one more at a time, and at last the text as a whole on the other engine.
docs/how-to/compare.md has the order with reasons.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice

from dialects.enums import Dialect
from dialects.volatility import is_volatile
from harness.data.outcomes import Outcome, PairResult
from harness.data.questions import Question
from harness.engines import EngineName, dialect_of, kind_of
from harness.engines.errors import EditKind, ErrorClass
from harness.labs.gap.edits import THROUGH_TREES, Broken, Edit, crossed, edits, read, unescaped, write
from harness.labs.gap.experiments import OWN_GOLD, SQLITE_ROWS, Against, Trial, TrialText, Trying


class Cause(StrEnum):
    """Why one of two engines alone calls a predictor right; `ABOUT` says what each means."""

    NO_QUERY = "no_query"
    TIME = "time"
    GOLD = "gold"
    PROFILE = "profile"
    TIES = "ties"
    SYNTAX = "syntax"
    NAMES = "names"
    TYPES = "types"
    SEMANTICS = "semantics"
    REASONING = "reasoning"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class AboutCause:
    """The title of a cause, its meaning, and the execution that decides it."""

    title: str
    meaning: str
    decided_by: str


ABOUT: Mapping[Cause, AboutCause] = {
    Cause.NO_QUERY: AboutCause(
        "no query",
        "the predictor gave no answer for one of the engines, or a text that no engine reads as a query",
        "there is no text to run; or both engines refuse to read it, and so does every parser here",
    ),
    Cause.TIME: AboutCause(
        "time or size",
        "a limit of time or size was reached on one engine alone, or the text asks the clock",
        "the answer or its gold ends in a timeout or too large a result",
    ),
    Cause.GOLD: AboutCause(
        "gold differs",
        "the gold of the dialect asks something else than SQLite's",
        "the dialect's gold returns other rows than SQLite's, in both profiles, and the answer is right by"
        " one of the two alone",
    ),
    Cause.PROFILE: AboutCause(
        "profile",
        "the columns of the published dump have other types than SQLite's",
        "the unchanged text, or the dialect's gold, returns the rows of SQLite's gold where columns are as"
        " SQLite stores them, and not where they are as in the dump",
    ),
    Cause.TIES: AboutCause(
        "ties",
        "ORDER BY or LIMIT leaves a choice, and the engines choose otherwise",
        "the rows are another answer that the text of gold allows, or gold's rows one that the answer allows",
    ),
    Cause.SYNTAX: AboutCause(
        "syntax or function",
        "syntax, a function or a leniency of another dialect, or signs of another notation",
        "an edit of syntax or function makes the text right; or the engine refuses it so, and taken to the"
        " other engine it is right or cannot be run",
    ),
    Cause.NAMES: AboutCause(
        "names and quoting",
        "a name in other letters, quotes or words than the engine has it, or a text in the quotes of names",
        "an edit of names or quotes makes the text right; or the engine knows no such name, and taken to the"
        " other engine the text is right",
    ),
    Cause.TYPES: AboutCause(
        "types and casts",
        "values or operands of types that the engine does not mix, or compares otherwise",
        "a cast makes the text right; or the rows are gold's by value and not by type",
    ),
    Cause.SEMANTICS: AboutCause(
        "NULL order, collation, division",
        "what the engine does by default with NULL in an order, with case in texts, with quotients",
        "an edit that says what the other engine does by default makes the text right",
    ),
    Cause.REASONING: AboutCause(
        "reasoned differently",
        "the two answers are different questions, in whichever dialect",
        "taken to the other engine the wrong answer is wrong there, too, or names what no engine has; or the"
        " right answer, written for this engine, is right here",
    ),
    Cause.UNDECIDED: AboutCause(
        "not decided", "none of the executions tells", "all of the above were run, and none decides"
    ),
}
"""In the order of tables and of the waterfall."""

_EDITS: Mapping[Cause, Sequence[EditKind]] = {
    Cause.SYNTAX: (
        EditKind.UNESCAPE, EditKind.FUNCTION, EditKind.READ_AS, EditKind.GROUP, EditKind.FIRST_ROW,
        EditKind.CONCAT,
    ),
    Cause.NAMES: (
        EditKind.REQUOTE, EditKind.QUOTE, EditKind.TEXT_QUOTES, EditKind.RESPELL, EditKind.RENAME,
        EditKind.QUALIFY, EditKind.UNQUALIFY,
    ),
    Cause.TYPES: (EditKind.CAST, EditKind.PRECISION),
    Cause.SEMANTICS: (
        EditKind.NULLS, EditKind.COLLATE, EditKind.LIKE_CASE, EditKind.DIVISION, EditKind.ZERO,
    ),
}  # fmt: skip

OF_EDIT: Mapping[EditKind, Cause] = {kind: cause for cause, kinds in _EDITS.items() for kind in kinds}
"""The cause that an edit removes."""

OF_ERROR: Mapping[ErrorClass | None, Cause] = {
    ErrorClass.UNKNOWN_TABLE: Cause.NAMES,
    ErrorClass.UNKNOWN_COLUMN: Cause.NAMES,
    ErrorClass.TYPE_ERROR: Cause.TYPES,
}
"""The cause of an error that no edit fixes; all others are SYNTAX."""


MOST_EDITS = 3
"""The number of edits that are applied in turn."""
MOST_TEXTS = 160
"""Edited texts that are run for one answer that is to be explained."""
_AT_A_TIME = 16

_LIMITS = frozenset({Outcome.PREDICTION_TIMEOUT, Outcome.PREDICTION_TOO_LARGE, Outcome.GOLD_TIMEOUT})


class Direction(StrEnum):
    """The engine on which the predictor is right."""

    LOSS = "loss"
    """SQLite alone."""
    GAIN = "gain"
    """The other engine alone."""


@dataclass(frozen=True)
class Mended:
    """A text after edits that make it right, and the edits in their order."""

    edits: Sequence[Edit]
    trial: Trial

    @property
    def says(self) -> str:
        """The edits in words."""
        return "; ".join(edit.what for edit in self.edits)


@dataclass(frozen=True)
class FoundCause:
    """The cause, the execution that decides it and those that were run before it.

    `says` is the reason in a sentence. `mended` is there where edits of the wrong text make it right.
    """

    cause: Cause
    says: str
    decisive: Trial | None = None
    tried: Sequence[Trial] = ()
    mended: Mended | None = None


@dataclass
class EngineDifference:
    """A question that a predictor has right on one of two engines, with its result on each."""

    question: Question
    target: EngineName
    wrong: PairResult
    right: PairResult
    tried: list[Trial] = field(default_factory=list)

    @property
    def direction(self) -> Direction:
        """Return the engine on which it is right."""
        return Direction.LOSS if self.wrong.dialect == self.target else Direction.GAIN

    @property
    def native(self) -> PairResult:
        """The answer for the other engine than SQLite."""
        return self.wrong if self.direction is Direction.LOSS else self.right


class Decider:
    """Decides differences; thread-safe.

    Args:
        trying: runs texts.
    """

    def __init__(self, trying: Trying) -> None:
        self._trying = trying

    def decide(self, found: EngineDifference) -> FoundCause:
        """Return the cause of one difference; never raises for what an engine or a statement does."""
        for step in (self._without_text, self._by_reference, self._by_small_changes, self._across):
            decision = step(found)
            if decision is not None:
                return decision
        if any(is_volatile(one.sql or "") for one in (found.wrong, found.right)):
            return self._decided(found, Cause.TIME, "the text asks the clock, and nothing else tells", None)
        return self._decided(found, Cause.UNDECIDED, "none of the executions tells", None)

    def _decided(
        self,
        found: EngineDifference,
        cause: Cause,
        says: str,
        decisive: Trial | None,
        mended: Mended | None = None,
    ) -> FoundCause:
        return FoundCause(cause, says, decisive, tuple(found.tried), mended)

    def _run(self, found: EngineDifference, *asks: TrialText) -> list[Trial]:
        trials = self._trying.run(found.question, asks)
        found.tried += trials
        return trials

    # Without a change of any text.

    def _without_text(self, found: EngineDifference) -> FoundCause | None:
        wrong, right = found.wrong, found.right
        for one in (wrong, right):
            if one.sql is None:
                where = kind_of(one.dialect).title
                return self._decided(found, Cause.NO_QUERY, f"there is no answer for {where}", None)
        if wrong.outcome is Outcome.HARNESS_ERROR:
            return self._decided(found, Cause.UNDECIDED, f"it was not run: {wrong.error}", None)
        if wrong.outcome in _LIMITS:
            [trial] = self._run(found, TrialText("the answer", wrong.dialect, wrong.sql or ""))
            return self._decided(found, Cause.TIME, f"{wrong.outcome}: {wrong.error or ''}", trial)
        return None

    def _by_reference(self, found: EngineDifference) -> FoundCause | None:
        """Decide for another gold, or other columns under the same gold."""
        question, target = found.question, found.target
        native = found.native.sql or ""
        gold = self._trying.gold(question, target)
        texts = [("the native answer", native), *([("the dialect's gold", gold)] if gold is not None else [])]
        asks = [
            TrialText(f"{what}{where}", target, sql, SQLITE_ROWS, faithful=bool(where))
            for what, sql in texts
            for where in ("", " where columns are as SQLite stores them")
        ]
        answer, answer_there, *golds = self._run(found, *asks)
        differs = bool(golds) and not golds[0].is_right
        if found.direction is Direction.LOSS:
            return self._loss_by_reference(found, answer, answer_there, golds, differs=differs)
        if found.wrong.outcome is Outcome.PREDICTION_ERROR:
            # SQLite refuses the text whatever the golds are.
            return None
        return self._gain_by_reference(found, answer, answer_there, golds, differs=differs)

    def _loss_by_reference(
        self,
        found: EngineDifference,
        answer: Trial,
        answer_there: Trial,
        golds: Sequence[Trial],
        *,
        differs: bool,
    ) -> FoundCause | None:
        failed = found.wrong.outcome is Outcome.GOLD_ERROR
        if failed and not golds:
            return self._decided(found, Cause.GOLD, "there is no gold for the engine", answer)
        if (failed or differs) and (answer.is_right or (failed and answer_there.is_right)):
            return self._gold(found, golds, answer)
        if answer.is_right:
            return self._decided(found, Cause.TYPES, "by value its rows are gold's, and not by type", answer)
        return None

    def _gold(self, found: EngineDifference, golds: Sequence[Trial], decisive: Trial) -> FoundCause:
        """Decide why the dialect's gold is not SQLite's: ties, the columns' types, or another question."""
        gold, gold_there = golds
        if gold.strict or (gold_there.strict and not gold_there.is_right):
            return self._decided(
                found, Cause.TIES, "the dialect's gold decides a tie otherwise than SQLite's", gold
            )
        if gold_there.is_right:
            says = "the dialect's gold returns SQLite's rows only where columns are as SQLite stores them"
            return self._decided(found, Cause.PROFILE, says, gold_there)
        says = (
            "the dialect's gold fails"
            if not gold.ran
            else "the dialect's gold returns other rows than SQLite's"
        )
        return self._decided(found, Cause.GOLD, says, gold if gold.ran else decisive)

    def _gain_by_reference(
        self,
        found: EngineDifference,
        answer: Trial,
        answer_there: Trial,
        golds: Sequence[Trial],
        *,
        differs: bool,
    ) -> FoundCause | None:
        if found.wrong.outcome is Outcome.GOLD_ERROR:
            [trial] = self._run(
                found, TrialText("SQLite's answer", found.wrong.dialect, found.wrong.sql or "")
            )
            return self._decided(found, Cause.GOLD, "SQLite's gold fails", trial)
        if not differs or answer.is_right or answer_there.is_right or not golds:
            return None
        # The native answer is right by the dialect's gold alone. So is SQLite's answer, or it is another one.
        text = self._trying.translation(found.question, found.wrong.sql or "", dialect_of(found.target))
        gold = self._trying.gold(found.question, found.target) or ""
        if text is not None:
            against = Against("the dialect's gold", gold=gold)
            what = "SQLite's answer, translated exactly"
            self._run(found, TrialText(what, found.target, text, against, faithful=True))
        return self._gold(found, golds, answer)

    # Small changes of the wrong text.

    def _by_small_changes(self, found: EngineDifference) -> FoundCause | None:
        wrong = found.wrong
        if wrong.outcome is Outcome.PREDICTION_ERROR:
            return self._profile(found) or self._edited(found)
        return self._ties(found) or self._edited(found) or self._profile(found)

    def _profile(self, found: EngineDifference) -> FoundCause | None:
        if found.direction is Direction.GAIN:
            return None
        there = next(
            (one for one in found.tried if one.profile == "faithful" and one.sql == found.wrong.sql), None
        )
        if there is None or not there.is_right:
            return None
        says = "the unchanged text is right where columns are as SQLite stores them"
        return self._decided(found, Cause.PROFILE, says, there)

    def _ties(self, found: EngineDifference) -> FoundCause | None:
        wrong = found.wrong
        text = wrong.sql or ""
        gold = self._trying.gold(found.question, wrong.dialect)
        asks = [TrialText("the answer", wrong.dialect, text)]
        if gold is not None:
            asks.append(TrialText("the gold", wrong.dialect, gold, Against("the answer's rows", gold=text)))
        if found.direction is Direction.GAIN:
            asks.insert(1, TrialText("the answer, by value", wrong.dialect, text, SQLITE_ROWS))
        own, *others = self._run(found, *asks)
        by_value = next((one for one in others if one.sql == text and one.is_right), None)
        if by_value is not None:
            return self._decided(
                found, Cause.TYPES, "by value its rows are gold's, and not by type", by_value
            )
        if own.strict:
            says = "its rows are another choice among ties that gold allows"
            return self._decided(found, Cause.TIES, says, own)
        reverse = [one for one in others if one.sql == gold]
        if reverse and reverse[0].strict:
            return self._decided(
                found,
                Cause.TIES,
                "gold's rows are another choice among ties that the answer allows",
                reverse[0],
            )
        return None

    def _edited(self, found: EngineDifference) -> FoundCause | None:
        mended = self.mend(found.question, found.wrong, found.tried)
        if mended is None:
            return None
        cause = OF_EDIT[mended.edits[0].kind]
        count = len(mended.edits)
        says = f"{count} edit{'' if count == 1 else 's'} away from right: {mended.says}"
        return self._decided(found, cause, says, mended.trial, mended)

    def mend(
        self, question: Question, wrong: PairResult, tried: list[Trial], most: int = MOST_TEXTS
    ) -> Mended | None:
        """Return the fewest edits that make a text right on its engine; None if there are none.

        Args:
            question: what it answers.
            wrong: the text, and what came of it.
            tried: what is run is added to it, as far as it is worth telling.
            most: edited texts that are run.
        """
        repairs = kind_of(wrong.dialect).repairs
        if repairs is None or wrong.sql is None:
            return None
        names = self._trying.names(question.db_id, dialect_of(wrong.dialect))

        def broken(sql: str, error: str | None, code: str | None) -> Broken:
            return Broken(sql, dialect_of(wrong.dialect), names, repairs, code, error)

        is_error = wrong.outcome is Outcome.PREDICTION_ERROR
        start = broken(wrong.sql, wrong.error if is_error else None, wrong.code)
        search = _Search(self._trying, question, wrong.dialect, broken, tried)
        return search.mended(start, most)

    # The text as a whole on the other engine.

    def _across(self, found: EngineDifference) -> FoundCause | None:
        wrong = found.wrong
        is_loss = found.direction is Direction.LOSS
        there: EngineName = Dialect.SQLITE if is_loss else found.target
        texts = self._taken(wrong.sql or "", wrong.dialect, there)
        title = kind_of(there).title
        trials = self._run(
            found,
            *(
                TrialText(f"the {kind_of(wrong.dialect).title} answer {how} {title}", there, text, OWN_GOLD)
                for how, text in texts
            ),
        )
        right = next((one for one in trials if one.is_right), None)
        ran = next((one for one in reversed(trials) if one.ran), None)
        if wrong.outcome is Outcome.PREDICTION_ERROR:
            return self._refused(found, trials, right, ran)
        return self._other_rows(found, right, ran)

    def _taken(self, sql: str, source: EngineName, target: EngineName) -> list[tuple[str, str]]:
        """Return a text unchanged, and as one would write it for the other engine, each with words for it."""
        plain = unescaped(sql)
        texts = {sql: "as it stands on"}
        texts.setdefault(plain, "without backslashes on")
        text = crossed(plain, dialect_of(source), dialect_of(target))
        if text is not None:
            texts.setdefault(text, "taken to")
        return [(how, text) for text, how in texts.items()]

    def _refused(
        self, found: EngineDifference, trials: Sequence[Trial], right: Trial | None, ran: Trial | None
    ) -> FoundCause | None:
        """Decide where the engine refuses the wrong text, and no edit fixes it."""
        wrong = found.wrong
        kind = kind_of(wrong.dialect).class_of_error(wrong.code, wrong.error or "")
        # An error of no class depends on the rows: a division by 0, several rows for one value.
        of_rows = kind is None and wrong.code is not None
        cause = Cause.SEMANTICS if of_rows else OF_ERROR.get(kind, Cause.SYNTAX)
        said = f"{kind_of(wrong.dialect).title} refuses it ({wrong.error})"
        if right is not None:
            title = kind_of(right.dialect).title
            return self._decided(found, cause, f"{said}, and {title} finds it right", right)
        if ran is not None:
            title = kind_of(ran.dialect).title
            says = f"{said}, and what it asks is another question: on {title} its rows are not gold's, too"
            return self._decided(found, Cause.REASONING, says, ran)
        refusals = [one for one in trials if one.outcome is Outcome.PREDICTION_ERROR]
        nowhere = [
            one for one in refusals if _class(one) in {ErrorClass.UNKNOWN_COLUMN, ErrorClass.UNKNOWN_TABLE}
        ]
        if nowhere:
            says = f"{said}, and it names what no engine has"
            return self._decided(found, Cause.REASONING, says, nowhere[-1])
        if refusals and not _is_query(wrong.sql or ""):
            return self._decided(found, Cause.NO_QUERY, f"{said}, and no dialect reads it", refusals[-1])
        if refusals:
            return self._decided(found, cause, f"{said}, and so does the other engine", refusals[-1])
        return None

    def _other_rows(
        self, found: EngineDifference, right: Trial | None, ran: Trial | None
    ) -> FoundCause | None:
        """Decide where the wrong text runs, and no edit fixes its rows."""
        good = found.right
        if right is None and ran is not None:
            title = kind_of(ran.dialect).title
            says = f"it asks another question: on {title} its rows are not gold's, too"
            return self._decided(found, Cause.REASONING, says, ran)
        # The right answer, as one would write it for the engine that calls the other one wrong.
        here = found.wrong.dialect
        texts = self._taken(good.sql or "", good.dialect, here)
        if found.direction is Direction.LOSS:
            exact = self._trying.translation(found.question, good.sql or "", dialect_of(here))
        else:
            exact = None
        asks = [TrialText(f"the right answer {how} {kind_of(here).title}", here, text) for how, text in texts]
        if exact is not None:
            asks.append(
                TrialText("the right answer, translated exactly", here, exact, SQLITE_ROWS, faithful=True)
            )
        trials = self._run(found, *asks)
        plain = next((one for one in trials if one.is_right), None)
        if plain is not None and right is None:
            says = "the right answer is right here, too, and this one is another question"
            return self._decided(found, Cause.REASONING, says, plain)
        if right is not None and found.direction is Direction.GAIN:
            return self._right_there(found, right)
        return None

    def _right_there(self, found: EngineDifference, right: Trial) -> FoundCause | None:
        """SQLite's answer is right on the target as it is written: because of the columns' types?"""
        what = "SQLite's answer where columns are as SQLite stores them"
        [there] = self._run(found, TrialText(what, right.dialect, right.sql, SQLITE_ROWS, faithful=True))
        if there.is_right:
            return None
        says = "SQLite's answer is right on the target, and only where columns are as in the dump"
        return self._decided(found, Cause.PROFILE, says, right)


Make = Callable[[str, str | None, str | None], Broken]
"""Takes a text, the engine's message against it, and the code."""

_Path = tuple[Edit, ...]


class _Search:
    """Looks for the fewest edits that make a text right: all texts one edit away, then two, then three.

    To read a text in another dialect and write it in this one changes much at once: that is tried last, as
    the first of the edits.
    """

    def __init__(
        self, trying: Trying, question: Question, dialect: EngineName, make: Make, tried: list[Trial]
    ) -> None:
        self._trying, self._question, self._dialect = trying, question, dialect
        self._make, self._told = make, tried
        self._seen: set[str] = set()
        self._left = 0

    def mended(self, start: Broken, most: int) -> Mended | None:
        """Return the edited text, or None; at most `most` texts are run, and half of that at last."""
        self._left = most
        self._seen.add(start.sql)
        found = self._after([((), start)], MOST_EDITS)
        if isinstance(found, Mended) or EditKind.READ_AS not in _kinds(start):
            return found
        self._left = max(self._left, most // 2)
        read_as = self._expanded((), start, lambda edit: edit.kind is EditKind.READ_AS)
        return read_as if isinstance(read_as, Mended) else self._after(read_as, MOST_EDITS - 1)

    def _after(self, level: list[tuple[_Path, Broken]], most: int) -> Mended | None:
        for _ in range(most):
            following: list[tuple[_Path, Broken]] = []
            for path, before in level:
                found = self._expanded(path, before, lambda edit: edit.kind is not EditKind.READ_AS)
                if isinstance(found, Mended):
                    return found
                following += found
            level = following
        return None

    def _expanded(
        self, path: _Path, before: Broken, wanted: Callable[[Edit], bool]
    ) -> Mended | list[tuple[_Path, Broken]]:
        """Try one more edit: return a text that is right, or those worth another edit."""
        following: list[tuple[_Path, Broken]] = []
        if self._left <= 0 or self._is_mended_by_writing(before):
            return following
        new = (edit for edit in _of(before) if edit.sql not in self._seen and wanted(edit))
        while self._left > 0 and (some := list(islice(new, min(_AT_A_TIME, self._left)))):
            self._left -= len(some)
            self._seen.update(edit.sql for edit in some)
            what = "the answer with an edit: {}"
            trials = self._trying.run(
                self._question, [TrialText(what.format(edit.what), self._dialect, edit.sql) for edit in some]
            )
            for edit, trial in zip(some, trials, strict=True):
                if trial.is_right:
                    self._told.append(trial)
                    return Mended((*path, edit), trial)
                # Only what changed something is worth another edit.
                is_other = (trial.error, trial.code) != (before.error, before.code)
                if trial.outcome is Outcome.PREDICTION_ERROR and is_other:
                    following.append(((*path, edit), self._make(edit.sql, trial.error, trial.code)))
                elif trial.outcome is Outcome.MISMATCH and before.error is not None:
                    following.append(((*path, edit), self._make(edit.sql, None, None)))
        return following

    def _is_mended_by_writing(self, before: Broken) -> bool:
        """True if a text becomes right by being read and written again, without any edit."""
        if not THROUGH_TREES.intersection(_kinds(before)):
            return False
        tree = read(before.sql, before.dialect)
        text = None if tree is None else write(tree, before.dialect)
        if text is None or text == before.sql:
            return False
        return self._trying.one(
            self._question, TrialText("the answer, written anew", self._dialect, text)
        ).is_right


def _kinds(before: Broken) -> tuple[EditKind, ...]:
    repairs = before.repairs
    return repairs.of_rows if before.error is None else repairs.of_error(before.code, before.error)


def _class(trial: Trial) -> ErrorClass | None:
    return kind_of(trial.dialect).class_of_error(trial.code, trial.error or "")


def _is_query(sql: str) -> bool:
    return any(read(unescaped(sql), dialect) is not None for dialect in Dialect)


def _of(before: Broken) -> Iterator[Edit]:
    try:
        yield from edits(before)
    except Exception:  # noqa: BLE001 - sqlglot raises whatever it meets in unforeseen texts
        return


__all__ = ["MOST_EDITS", "Decider", "Direction", "EditKind", "EngineDifference", "FoundCause", "Mended"]
