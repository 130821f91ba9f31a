"""Honest predictions come to the same whatever stands beside them, in whatever order, with few workers."""

import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from dialects.enums import Dialect
from harness.data.outcomes import Outcome, PairResult
from harness.data.prediction_files import Format
from harness.data.predictions import PredictionFile, read_predictions
from harness.data.sets.loading import load_set
from harness.engines.execution import Limits
from harness.scoring.dispatch import Judging
from harness.scoring.tasks import Setup
from harness.scoring.workers import LocalWorkers
from loaders.load import load
from loaders.sample import PREDICTIONS
from loaders.server import Server
from tests.engines.hostile.runs.families import FAMILIES
from tests.engines.hostile.test_beside import CORPORA
from tests.evaluating import results

pytestmark = pytest.mark.engine

QUESTIONS = 12
CROWDED = 2
"""Questions on which the hostile predictions are."""
HOSTILE = 14
LIMITS = Limits(seconds=1.0)

Facts = Mapping[tuple[str, str], tuple[object, ...]]


def facts(found: Sequence[PairResult]) -> Facts:
    """What honest predictions came to, in all that does not depend on time."""
    return {
        (each.predictor, each.question): (each.outcome, each.scores, each.error, each.code, each.error_class)
        for each in found
        if not each.predictor.startswith("hostile")
    }


def hostile(dialect: Dialect, keys: Sequence[str], dice: random.Random) -> list[PredictionFile]:
    """Predictors who answer a few questions, each of them with hostile texts from anywhere."""
    cases = [*CORPORA[dialect], *(case for family in FAMILIES.values() for case in family[dialect])]
    chosen = dice.sample(cases, HOSTILE)
    crowded = dice.sample(list(keys), CROWDED)
    return [
        PredictionFile(
            predictor=f"hostile-{number}",
            dialect=dialect,
            path=Path("hostile"),
            sha256="",
            format=Format.LINES,
            predictions={dice.choice(crowded): case.sql},
        )
        for number, case in enumerate(chosen)
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
    for seed, workers in ((1, 1), (2, 2)):
        dice = random.Random(seed)  # noqa: S311 - no secret
        files = [*honest, *hostile(dialect, keys, dice)]
        dice.shuffle(files)
        judging = Judging(setup, lambda workers=workers: LocalWorkers(setup, workers))  # type: ignore[misc]
        found = results(setup, files, judging)
        assert facts(found) == alone, f"seed {seed}"
        worst = [each for each in found if each.outcome is Outcome.HARNESS_ERROR]
        assert worst == [], f"seed {seed}: a hostile prediction has an outcome of its own, too"
