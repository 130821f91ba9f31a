"""What every adapter is compared with: the judgements of the sample's predictions.

`python -m benchmarks.adapters` compares adapters with a run of `eval` on another set and engine, which it
writes to the file that BIRD_EVALUATED names.
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dialects.enums import Dialect
from harness import Answer, Evaluator
from harness.adapters.database_tools import DatabaseTools
from harness.data.answers import Extract
from harness.data.outcomes import Judgement
from harness.data.predictions import read_predictions
from harness.data.questions import Question
from harness.data.sets.loader import load_set
from harness.engines import EngineName
from harness.labs.tasks.evaluator import TaskEvaluator
from harness.labs.tasks.sample import sample_tasks
from loaders.base.records import to_record
from loaders.sample import PREDICTIONS
from tests.harness.adapters.raw_answers import FEW, RawAnswer, raw_answers

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
RAW = Reference(seconds=5.0)
"""Where raw answers are judged."""
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


def answered_tasks() -> dict[str, tuple[str, Mapping[str, float]]]:
    """Texts that models answer to tasks, a right and a wrong one, with their scores; by task."""
    set_of_tasks = sample_tasks("livesqlbench-sqlite")
    [right] = [task for task in set_of_tasks.tasks if task.id == "city_library_2"]
    texts = {
        right.id: "So:\n```sqlite\n" + "\n".join(right.gold) + "\n```",
        "city_library_M_5": "DELETE FROM loans",
    }
    with TaskEvaluator([set_of_tasks], workers=1) as evaluator:
        judged = evaluator.score([Answer(*each) for each in texts.items()], extract=Extract.ANSWER_1)
    assert [sorted(each.scores.items()) for each in judged] == [
        [("official", 1.0), ("strict", 1.0)],
        [("official", 0.0), ("state", 0.0), ("strict", 0.0)],
    ]
    return {name: (text, each.scores) for (name, text), each in zip(texts.items(), judged, strict=True)}


def by_predictor(evaluated: Evaluated) -> list[dict[str, tuple[str, Judgement]]]:
    """The answers with their judgements by question, for each predictor."""
    found: list[dict[str, tuple[str, Judgement]]] = []
    for answer, judgement in evaluated:
        if not found or answer.question in found[-1]:
            found.append({})
        found[-1][str(answer.question)] = (str(answer.sql), judgement)
    return found


Taken = Mapping[RawAnswer, tuple[str | None, float]]
"""Of each raw answer the SQL that is taken out of it by `answer-1`, and its EX."""


@pytest.fixture(scope="session")
def taken() -> Taken:
    """What the library takes and scores, as `eval` does."""
    return taken_of(raw_answers())


@pytest.fixture(scope="session")
def few_taken() -> Taken:
    """The same of as many as each framework is given."""
    return taken_of(raw_answers(count=FEW))


def taken_of(raw: Sequence[RawAnswer], policy: Extract = Extract.ANSWER_1) -> Taken:
    answers = [Answer(each.question, each.text) for each in raw]
    with Evaluator("sample", workers=1, seconds=5) as evaluator:
        judged = evaluator.score(answers, extract=policy)
        found = evaluator.prepare(answers, policy).sql
    scores = [each.scores["ex"] for each in judged]
    return dict(zip(raw, zip(found, scores, strict=True), strict=True))


class RecordedTools(DatabaseTools):
    """Tools that keep the SQL and EX of the last answer that they judged to each question."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self.judged: dict[str, tuple[str | None, float]] = {}

    async def judge_completion(
        self, question: int | str, answer: str, dialect: EngineName | None = None
    ) -> Judgement:
        judgement = await super().judge_completion(question, answer, dialect)
        self.judged[str(question)] = self.extracted(question, answer, dialect), judgement.scores["ex"]
        return judgement


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
