"""Expectations: what coverage was when somebody last looked at it.

Per question and target they hold whether the answer is covered, or the reason why not, and the sha256 of the
text that was run, so that every change of a translation is one that somebody has seen.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dialects.enums import Dialect
from dialects.errors import BadInput
from dialects.overrides import digest
from harness.analyses.coverage.answers import CoverageAnswer, Fault, OverrideState, Reason
from loaders.base.paths import FIGURES

HOME = FIGURES / "expectations"
"""Where the project's own are."""

COVERED = "covered"
"""What is expected of a gold whose rows are SQLite's, or another valid answer."""


@dataclass(frozen=True)
class Expected:
    """One question on one target; `sha256` is None where there was no text to run."""

    answer: str
    """`covered`, or a `Reason`."""
    sha256: str | None


Expectations = Mapping[Dialect, Mapping[str, Expected]]


def read(question_set: str, home: Path = HOME) -> Expectations:
    """The expectations of a question set; empty if there are none.

    Raises:
        BadInput: the file is no such table.
    """
    path = home / f"{question_set}.json"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return {
            Dialect(target): {key: Expected(*entry) for key, entry in answers.items()}
            for target, answers in content.items()
        }
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise BadInput(f"{path}: is no file of expectations ({error}); see docs/coverage.md") from error


def changes(
    answers: Sequence[CoverageAnswer], expected: Expectations, questions: Sequence[str]
) -> Iterator[Fault]:
    """What is not as it was; `questions` are the keys of the whole set."""
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
    """What is wrong with overrides."""
    for answer in answers:
        if answer.override in _OVERRIDES:
            yield Fault(answer.dialect, answer.question, _OVERRIDES[answer.override])


_OVERRIDES = {
    OverrideState.STALE: "the override is stale, its gold has changed; check it and renew gold-sha256",
    OverrideState.UNNEEDED: "the override is no longer needed, the translation is right; take it away",
}


def _expected(answer: CoverageAnswer) -> Expected:
    return Expected(
        COVERED if answer.covered else str(answer.reason), None if answer.sql is None else digest(answer.sql)
    )


def _may_vary(answer: CoverageAnswer, before: Expected) -> bool:
    """Where SQLite does not define the answer, a server may give SQLite's today and another tomorrow."""
    open_answers = {COVERED, str(Reason.UNSPECIFIED)}
    return bool(answer.warnings) and {before.answer, _expected(answer).answer} == open_answers
