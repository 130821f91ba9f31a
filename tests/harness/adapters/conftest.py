"""What every adapter is compared with: the judgements of the sample's predictions.

`python -m benchmarks.adapters` compares adapters with a run of `eval` on another set and engine, which it
writes to the file that BIRD_EVALUATED names.
"""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from dialects.enums import Dialect
from harness import Answer, Evaluator
from harness.data.answers import Extract
from harness.data.outcomes import Judgement
from harness.data.predictions import read_predictions
from harness.data.questions import Question
from harness.data.sets.loader import load_set
from harness.engines import EngineName
from loaders.base.records import to_record
from loaders.sample import PREDICTIONS

Evaluated = Sequence[tuple[Answer, Judgement]]

EVALUATED = "BIRD_EVALUATED"


@dataclass(frozen=True)
class Reference:
    """A run of `eval`: its set, engine and limit, and of each answer the question, SQL and judgement."""

    set_name: str = "sample"
    dialect: EngineName = Dialect.SQLITE
    seconds: float = 1.0
    answers: Sequence[tuple[str, str, Judgement]] = ()


_PATH = os.environ.get(EVALUATED)
REFERENCE = to_record(Reference, json.loads(Path(_PATH).read_bytes())) if _PATH else Reference()


def open_evaluator(of: Reference = REFERENCE) -> Evaluator:
    """Return an evaluator for the answers."""
    return Evaluator(of.set_name, dialects=of.dialect, seconds=of.seconds, workers=2)


@pytest.fixture(scope="session")
def evaluated() -> Evaluated:
    """Each text that is predicted for SQLite, and its judgement, which is that of `bird-harness eval`."""
    if REFERENCE.answers:
        return [(Answer(key, sql), judgement) for key, sql, judgement in REFERENCE.answers]
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
