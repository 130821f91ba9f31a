"""What reading has found out about published golds that return other rows than SQLite's.

`published/<question set>.json` in the folder of expectations maps a target to question keys to one of the
JUDGED reasons. It holds nothing of the golds themselves. Each entry has to meet a difference that nothing
else explains, and the other way round.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.analyses.coverage.answers import JUDGED, CoverageAnswer, Fault, Reason

Judgements = Mapping[Dialect, Mapping[str, Reason]]


def read(question_set: str, home: Path) -> Judgements:
    """The judgements on a question set in a folder of expectations; empty if there are none.

    Raises:
        BadInput: the file is no such table, or names a reason that the command finds itself.
    """
    path = home / "published" / f"{question_set}.json"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        found = {
            Dialect(target): {key: Reason(reason) for key, reason in entries.items()}
            for target, entries in content.items()
        }
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, AttributeError) as error:
        raise BadInput(f"{path}: is no table of judgements ({error}); see docs/published-golds.md") from error
    for target, entries in found.items():
        for key, reason in entries.items():
            if reason not in JUDGED:
                choices = ", ".join(sorted(JUDGED))
                raise BadInput(f"{path}: {target} {key}: {reason} is found by itself; choose from {choices}")
    return found


def judged(answers: Sequence[CoverageAnswer], judgements: Judgements) -> list[CoverageAnswer]:
    """The answers, with the reason of each DIFFERENT one that somebody has judged."""
    return [
        replace(answer, reason=judgements.get(answer.dialect, {}).get(answer.question, answer.reason))
        if answer.reason is Reason.DIFFERENT
        else answer
        for answer in answers
    ]


def faults(answers: Sequence[CoverageAnswer], judgements: Judgements) -> Iterator[Fault]:
    """Differences without a reason and reasons without a difference.

    Args:
        answers: as `judged` returns them.
        judgements: the same that it was given.
    """
    by_question = {(answer.dialect, answer.question): answer for answer in answers}
    for answer in answers:
        if answer.reason is Reason.DIFFERENT:
            yield Fault(answer.dialect, answer.question, "returns other rows, and nobody has said why")
    for target, entries in judgements.items():
        for key, reason in entries.items():
            found = by_question.get((target, key))
            if found is not None and found.reason is not reason:
                yield Fault(target, key, f"is judged {reason}, but is {found.reason or 'the same'}")
