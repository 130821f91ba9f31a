"""Expectations: coverage when it was last reviewed.

Per question and target they hold whether the answer is covered, or the reason why not, and the sha256 of the
text that was run, so that every change of a translation is reviewed.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from dialects.enums import Dialect
from dialects.errors import BadInput
from dialects.overrides import digest
from harness.analyses.coverage.answers import JUDGED, CoverageAnswer, DifferenceReason, Fault, OverrideState
from loaders.base.paths import FIGURES
from loaders.base.records import read_record

Value = TypeVar("Value")

HOME = FIGURES / "expectations"
"""The folder of the project's own expectations."""

COVERED = "covered"
"""The expectation of a gold whose rows are SQLite's, or another valid answer."""


@dataclass(frozen=True)
class Expected:
    """One question on one target; `sha256` is None where there was no text to run."""

    answer: str
    """`covered`, or a `DifferenceReason`."""
    sha256: str | None


Expectations = Mapping[Dialect, Mapping[str, Expected]]


def read(question_set: str, home: Path = HOME) -> Expectations:
    """Return the expectations of a question set; empty if there are none.

    Raises:
        BadInput: the file is no such table.
    """
    return _table(home / f"{question_set}.json", lambda entry: Expected(*entry), "docs/how-to/coverage.md")


def _table(path: Path, make: Callable[[Any], Value], page: str) -> dict[Dialect, dict[str, Value]]:
    """Read a file's expectations for each question of each target; empty if there is no file."""
    if not path.exists():
        return {}

    def made(content: Any) -> dict[Dialect, dict[str, Value]]:
        try:
            return {
                Dialect(target): {key: make(entry) for key, entry in answers.items()}
                for target, answers in content.items()
            }
        except (TypeError, AttributeError) as error:
            raise ValueError(str(error)) from error

    return read_record(path, made, f"see {page}")


def changes(
    answers: Sequence[CoverageAnswer], expected: Expectations, questions: Sequence[str]
) -> Iterator[Fault]:
    """List the deviations; `questions` are the keys of the whole set."""
    for answer in answers:
        before = expected.get(answer.dialect, {}).get(answer.question)
        now = _expected(answer)
        if before is None:
            yield Fault(answer.dialect, answer.question, "there is no expectation of it")
            continue
        if before.answer != now.answer and not _may_vary(answer, before):
            detail = f" ({answer.detail})" if answer.detail else ""
            yield Fault(answer.dialect, answer.question, f"was {before.answer}, is {now.answer}{detail}")
        if before.sha256 != now.sha256:
            yield Fault(answer.dialect, answer.question, "its translation has changed")
    known = set(questions)
    for target in dict.fromkeys(answer.dialect for answer in answers):
        for key in expected.get(target, {}):
            if key not in known:
                yield Fault(target, key, "is no question of the set any more")


def faults_of_overrides(answers: Sequence[CoverageAnswer]) -> Iterator[Fault]:
    """List the faults of overrides."""
    for answer in answers:
        if answer.override in _OVERRIDES:
            yield Fault(answer.dialect, answer.question, _OVERRIDES[answer.override])


_OVERRIDES = {
    OverrideState.STALE: "the override is stale, its gold has changed; check it and renew gold-sha256",
    OverrideState.UNNEEDED: "the override is no longer needed, since the translation is right; remove it",
}


def _expected(answer: CoverageAnswer) -> Expected:
    return Expected(
        COVERED if answer.covered else str(answer.reason), None if answer.sql is None else digest(answer.sql)
    )


def _may_vary(answer: CoverageAnswer, before: Expected) -> bool:
    """True if SQLite leaves the answer open: a server may return SQLite's today and another tomorrow."""
    open_answers = {COVERED, str(DifferenceReason.UNSPECIFIED)}
    return bool(answer.warnings) and {before.answer, _expected(answer).answer} == open_answers


# What reading has found out about published golds that return other rows than SQLite's.
#
# `published/<question set>.json` in the folder of expectations maps a target to question keys to one of the
# JUDGED reasons. It holds nothing of the golds themselves. Each entry has to meet a difference that nothing
# else explains, and the other way round.

Judgements = Mapping[Dialect, Mapping[str, DifferenceReason]]


def read_judgements(question_set: str, home: Path) -> Judgements:
    """Return the judgements on a question set in a folder of expectations; empty if there are none.

    Raises:
        BadInput: the file is no such table, or names a reason that the command finds itself.
    """
    path = home / "published" / f"{question_set}.json"
    found = _table(path, DifferenceReason, "docs/measurements/coverage.md")
    for target, entries in found.items():
        for key, reason in entries.items():
            if reason not in JUDGED:
                choices = ", ".join(sorted(JUDGED))
                raise BadInput(f"{path}: {target} {key}: {reason} is found by itself; choose from {choices}")
    return found


def judged(answer: CoverageAnswer, judgements: Judgements) -> CoverageAnswer:
    """Return the answer, with its judged reason if it is DIFFERENT."""
    found = judgements.get(answer.dialect, {}).get(answer.question)
    return replace(answer, reason=found) if found and answer.reason is DifferenceReason.DIFFERENT else answer


def faults_of_judgements(answers: Sequence[CoverageAnswer], judgements: Judgements) -> Iterator[Fault]:
    """Yield differences without a reason and reasons without a difference.

    Args:
        answers: as `judged` returns them.
        judgements: the same that it was given.
    """
    by_question = {(answer.dialect, answer.question): answer for answer in answers}
    for answer in answers:
        if answer.reason is DifferenceReason.DIFFERENT:
            yield Fault(answer.dialect, answer.question, "returns other rows, and nobody has said why")
    for target, entries in judgements.items():
        for key, reason in entries.items():
            found = by_question.get((target, key))
            if found is not None and found.reason is not reason:
                yield Fault(target, key, f"is judged {reason}, but is {found.reason or 'the same'}")
