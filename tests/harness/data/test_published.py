"""EX and Soft-F1 of published predictions are the official evaluator's, question by question."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from dialects.enums import Dialect
from dialects.volatility import is_volatile
from harness.data.outcomes import Outcome
from harness.data.prediction_files import Format
from harness.data.predictions import PredictionFile, read_predictions
from harness.data.questions import QuestionSet
from harness.data.sets.loader import load_set
from harness.engines.execution import Limits
from harness.scoring.tasks import Setup
from loaders.bulk_load import load
from loaders.server import Server
from tests.evaluating import results

pytestmark = pytest.mark.bird

OFFICIAL_LIMIT_OF_THE_EXPECTED = 5.0
"""Seconds after which the expected figures were given up: those are null."""


@pytest.fixture(scope="module")
def mini_dev(bird_home: Path) -> QuestionSet:
    return load_set("mini_dev", bird_home)


DIGITS = 12
"""After the point, to which the expected figures are rounded."""

MOST_OF_TODAY = 200
"""Pairs, of 6,500, whose gold or prediction asks for the present."""


@pytest.mark.slow
def test_scores_on_sqlite_are_the_official_scripts_for_every_question(
    bird_home: Path, mini_dev: QuestionSet
) -> None:
    expected: Mapping[str, Mapping[str, Sequence[float | None]]] = json.loads(
        (bird_home / "expected" / "official_sqlite.json").read_text(encoding="utf-8")
    )["files"]
    files = read_predictions([bird_home / "predictions"], mini_dev, dialects=[Dialect.SQLITE])
    assert {file.path.name for file in files} == set(expected)
    # A second more, which the gold may take: no other text needs half of it.
    limits = Limits(seconds=OFFICIAL_LIMIT_OF_THE_EXPECTED + 1)
    found = results(Setup(mini_dev, {Dialect.SQLITE: ()}, limits=limits), files)
    names = {file.predictor: file.path.name for file in files}
    assert len(found) == 13 * 500
    # The expected figures are of another day: ages, for one, are other numbers today.
    texts = {(file.predictor, key): sql for file in files for key, sql in file.predictions.items()}
    of_today = [
        is_volatile(mini_dev.by_key[result.question].gold[Dialect.SQLITE])
        or is_volatile(texts[result.predictor, result.question] or "")
        for result in found
    ]
    assert sum(of_today) < MOST_OF_TODAY
    for metric in ("ex", "soft_f1"):
        official = [(file.path.name, score) for file in files for score in expected[file.path.name][metric]]
        ours = [(names[result.predictor], round(result.scores[metric], DIGITS)) for result in found]
        different = [
            (metric, position % 500, mine, theirs)
            for position, (mine, theirs) in enumerate(zip(ours, official, strict=True))
            if theirs[1] is not None and not of_today[position] and mine != theirs
        ]
        assert different == []


def gold_as_prediction(questions: QuestionSet, dialect: Dialect) -> PredictionFile:
    return PredictionFile(
        predictor="gold",
        dialect=dialect,
        path=Path("gold"),
        sha256="",
        format=Format.OFFICIAL,
        predictions={question.key: question.gold[dialect] for question in questions.questions},
    )


def failures_of_gold(
    questions: QuestionSet, dialect: Dialect, servers: tuple[Server, ...]
) -> dict[str, Outcome]:
    """What gold comes to where it does not match itself."""
    found = results(Setup(questions, {dialect: servers}), [gold_as_prediction(questions, dialect)])
    assert len(found) == len(questions.questions)
    unmatched = [result for result in found if result.outcome is not Outcome.MATCH]
    assert all(result.error for result in unmatched), "an exception comes with its text"
    return {result.question: result.outcome for result in unmatched}


def golds_of(name: str, mini_dev: QuestionSet, bird_home: Path) -> QuestionSet:
    """A revision; of the later one the questions whose golds are not in the first one too."""
    questions = load_set(name, bird_home)
    if name == mini_dev.name:
        return questions
    before = {(each.db_id, *each.gold.items()) for each in mini_dev.questions}
    new = [each for each in questions.questions if (each.db_id, *each.gold.items()) not in before]
    assert len(new) >= 5
    return replace(questions, questions=tuple(new))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mini_dev", "mini_dev_2025"])
def test_gold_matches_itself_on_sqlite(bird_home: Path, mini_dev: QuestionSet, name: str) -> None:
    assert failures_of_gold(golds_of(name, mini_dev, bird_home), Dialect.SQLITE, ()) == {}


@pytest.mark.engine
@pytest.mark.parametrize("name", ["mini_dev", "mini_dev_2025"])
def test_gold_matches_itself_on_a_server_or_fails_with_a_reason(
    bird_home: Path, mini_dev: QuestionSet, name: str, server: Server
) -> None:
    questions = golds_of(name, mini_dev, bird_home)
    load([questions.database(db_id) for db_id in questions.db_ids], server)
    failures = failures_of_gold(questions, server.dialect, (server,))
    assert set(failures.values()) <= {Outcome.GOLD_ERROR, Outcome.GOLD_TIMEOUT}
    assert len(failures) <= 10, "nearly all published gold runs"
