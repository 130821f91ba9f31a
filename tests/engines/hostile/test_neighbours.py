"""Honest predictions come to the same whatever stands beside them, with one worker.

With two, `test_families` tries what stands beside them.
"""

import random
from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path

import pytest

from dialects.enums import Dialect
from harness.data.outcomes import Outcome, PairResult
from harness.data.prediction_files import Format
from harness.data.predictions import PredictionFile, read_predictions
from harness.data.sets.loader import load_set
from harness.engines.execution import Limits
from harness.scoring.scheduler import Scheduler
from harness.scoring.tasks import Setup
from harness.scoring.workers import LocalWorkers
from loaders.load import load
from loaders.sample import PREDICTIONS
from loaders.server import Server
from tests.engines.hostile import mysql_cases, postgresql_cases, sqlite_cases
from tests.engines.hostile.cases import Hostile
from tests.engines.hostile.families import FAMILIES
from tests.evaluating import results

pytestmark = pytest.mark.engine

CORPORA: Mapping[Dialect, Sequence[Hostile]] = {
    Dialect.SQLITE: (*sqlite_cases.CASES, *sqlite_cases.UNSTOPPABLE),
    Dialect.MYSQL: mysql_cases.CASES,
    Dialect.POSTGRESQL: postgresql_cases.CASES,
}
QUESTIONS = 20
SPREAD = 2
"""Predictors whose every answer is hostile."""
CROWDED = 2
"""Questions on which the hostile predictions of a crowd are."""
HOSTILE = 14
LIMITS = Limits(seconds=0.7)

Facts = Mapping[tuple[str, str], tuple[object, ...]]


def facts(found: Sequence[PairResult]) -> Facts:
    """What honest predictions came to, in all that does not depend on time."""
    return {
        (each.predictor, each.question): (each.outcome, each.scores, each.error, each.code, each.error_class)
        for each in found
        if not each.predictor.startswith("hostile")
    }


def predictor(number: int, dialect: Dialect, predictions: Mapping[str, str]) -> PredictionFile:
    return PredictionFile(
        predictor=f"hostile-{number}",
        dialect=dialect,
        path=Path("hostile"),
        sha256="",
        format=Format.LINES,
        predictions=predictions,
    )


def spread(dialect: Dialect, keys: Sequence[str]) -> list[PredictionFile]:
    """Predictors who answer every question, with texts from all over the corpus."""
    corpus = CORPORA[dialect]
    texts = cycle(case.sql for case in corpus[:: max(1, len(corpus) // (QUESTIONS * SPREAD))])
    return [predictor(number, dialect, {key: next(texts) for key in keys}) for number in range(SPREAD)]


def crowd(dialect: Dialect, keys: Sequence[str], dice: random.Random) -> list[PredictionFile]:
    """Predictors who answer a question each, a few questions in all, with hostile texts from anywhere."""
    cases = [*CORPORA[dialect], *(case for family in FAMILIES.values() for case in family[dialect])]
    chosen, crowded = dice.sample(cases, HOSTILE), dice.sample(list(keys), CROWDED)
    return [
        predictor(number, dialect, {dice.choice(crowded): case.sql}) for number, case in enumerate(chosen)
    ]


@pytest.mark.parametrize("dialect", list(Dialect))
def test_no_outcome_score_or_error_of_an_honest_prediction_depends_on_its_neighbours(
    request: pytest.FixtureRequest, dialect: Dialect
) -> None:
    questions = load_set("sample").limit(QUESTIONS)
    servers: tuple[Server, ...] = ()
    if dialect is not Dialect.SQLITE:
        servers = (request.getfixturevalue(f"{dialect}_server"),)
        load([questions.database(db_id) for db_id in questions.db_ids], servers[0])
    honest = read_predictions([PREDICTIONS], load_set("sample"), dialects=[dialect])
    setup = Setup(questions, {dialect: servers}, limits=LIMITS, diagnoses=True)
    alone = facts(results(setup, honest))
    assert len(alone) == QUESTIONS * len(honest)
    keys = [question.key for question in questions.questions]
    dice = random.Random(1)  # noqa: S311 - no secret
    files = [*spread(dialect, keys), *honest, *crowd(dialect, keys, dice)]
    dice.shuffle(files)
    found = results(setup, files, Scheduler(setup, lambda: LocalWorkers(setup, 1)))
    assert facts(found) == alone
    worst = [each for each in found if each.outcome is Outcome.HARNESS_ERROR]
    assert worst == [], "a hostile prediction has an outcome of its own, too"
