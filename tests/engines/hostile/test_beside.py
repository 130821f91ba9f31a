"""A predictor whose every answer is hostile changes nobody else's scores."""

from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path

import pytest

from dialects.enums import Dialect
from harness.data.outcomes import Outcome, PairResult
from harness.data.prediction_files import Format
from harness.data.predictions import PredictionFile, read_predictions
from harness.data.sets.loading import load_set
from harness.engines.execution import Limits
from harness.scoring.tasks import Setup
from loaders.load import load
from loaders.sample import PREDICTIONS
from loaders.server import Server
from tests.engines.hostile import mysql_cases, postgresql_cases, sqlite_cases
from tests.engines.hostile.cases import Hostile
from tests.evaluating import results

pytestmark = pytest.mark.engine

CORPORA: Mapping[Dialect, Sequence[Hostile]] = {
    Dialect.SQLITE: (*sqlite_cases.CASES, *sqlite_cases.UNSTOPPABLE),
    Dialect.MYSQL: mysql_cases.CASES,
    Dialect.POSTGRESQL: postgresql_cases.CASES,
}
QUESTIONS = 20
HOSTILE_PREDICTORS = 2
LIMITS = Limits(seconds=0.7)


def innocent(found: Sequence[PairResult]) -> list[tuple[str, str, Outcome, Mapping[str, float], str | None]]:
    return [
        (result.predictor, result.question, result.outcome, result.scores, result.error)
        for result in found
        if not result.predictor.startswith("hostile")
    ]


@pytest.mark.parametrize("dialect", list(Dialect))
def test_hostile_predictions_change_nothing_for_those_beside_them(
    request: pytest.FixtureRequest, dialect: Dialect
) -> None:
    questions = load_set("sample").limit(QUESTIONS)
    servers: tuple[Server, ...] = ()
    if dialect is not Dialect.SQLITE:
        servers = (request.getfixturevalue(f"{dialect}_server"),)
        load([questions.database(db_id) for db_id in questions.db_ids], servers[0])
    files = read_predictions([PREDICTIONS], load_set("sample"), dialects=[dialect])
    corpus = CORPORA[dialect]
    # Texts from all over the corpus: every seventh or so, and from the beginning again.
    step = max(1, len(corpus) // (QUESTIONS * HOSTILE_PREDICTORS))
    texts = cycle(case.sql for case in corpus[::step])
    keys = [question.key for question in questions.questions]
    hostile = [
        PredictionFile(
            predictor=f"hostile-{number}",
            dialect=dialect,
            path=Path("hostile"),
            sha256="",
            format=Format.OFFICIAL,
            predictions={key: next(texts) for key in keys},
        )
        for number in range(HOSTILE_PREDICTORS)
    ]
    setup = Setup(questions, {dialect: servers}, limits=LIMITS)
    alone = results(setup, files)
    beside = results(setup, [*hostile, *files])
    assert innocent(beside) == innocent(alone)
    worst = [result for result in beside if result.outcome is Outcome.HARNESS_ERROR]
    assert worst == [], "each has an outcome of its own"
