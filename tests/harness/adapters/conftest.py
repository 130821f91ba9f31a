"""What every adapter is compared with: the judgements of the sample's predictions."""

from collections.abc import Sequence

import pytest

from dialects.enums import Dialect
from harness import Answer, Evaluator
from harness.data.outcomes import Judgement
from harness.data.predictions import Extract, read_predictions
from harness.data.questions import Question
from harness.data.sets.loader import load_set
from loaders.sample import PREDICTIONS

Evaluated = Sequence[tuple[Answer, Judgement]]


@pytest.fixture(scope="session")
def evaluated() -> Evaluated:
    """Each text that is predicted for SQLite, and its judgement, which is that of `bird-harness eval`."""
    files = read_predictions(
        [PREDICTIONS],
        load_set("sample"),
        dialects=[Dialect.SQLITE],
        extract=Extract.FENCES,
        allow_missing=True,
    )
    answers = [Answer(key, sql) for file in files for key, sql in file.predictions.items() if sql is not None]
    with Evaluator("sample", workers=1, seconds=1) as evaluator:
        return list(zip(answers, evaluator.score(answers), strict=True))


def by_predictor(evaluated: Evaluated) -> list[dict[str, tuple[str, Judgement]]]:
    """The answers with their judgements by question, for each predictor."""
    found: list[dict[str, tuple[str, Judgement]]] = []
    for answer, judgement in evaluated:
        if not found or answer.question in found[-1]:
            found.append({})
        found[-1][str(answer.question)] = (answer.sql, judgement)
    return found


STEPS = 2
CURVE = [place / STEPS for place in range(STEPS + 1)]
"""The mean reward at each step of the policy that `scripted` is."""


def learners_questions() -> Sequence[Question]:
    """What the policy is asked at each step."""
    return load_set("sample").questions[:STEPS]


def scripted(step: int, place: int) -> str:
    """Return the answer of a policy that learns one more question at each step."""
    gold = learners_questions()[place].gold[Dialect.SQLITE]
    return f"Therefore:\n```sql\n{gold}\n```" if place < step else "SELECT 'not yet'"
