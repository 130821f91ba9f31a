"""The baseline on the sample set: every query runs on its engine, and some of them are right."""

from dataclasses import replace

import pytest

from dialects.enums import Dialect
from harness import Answer, Evaluator
from harness.data.sets.loading import load_set
from harness.engines import on_server
from harness.engines.base import Engine, SqlError
from harness.engines.sqlite.engine import SQLiteEngine
from harness.predictors.base import Problem
from harness.predictors.offline import open_offline
from harness.predictors.schema import read_database
from loaders.load import load

SAMPLE = load_set("sample", None)
DATABASES = {
    db_id: replace(SAMPLE.database(db_id), collection="bird_offline_tests") for db_id in SAMPLE.db_ids
}


def engine_of(dialect: Dialect, request: pytest.FixtureRequest) -> Engine:
    if dialect is Dialect.SQLITE:
        return SQLiteEngine()
    server = request.getfixturevalue(f"{dialect}_server")
    load(list(DATABASES.values()), server)
    return on_server(server)


def answers(engine: Engine, rows: int) -> dict[str, str]:
    """The query for every question, by its key."""
    texts = {db_id: read_database(engine, database, rows=rows) for db_id, database in DATABASES.items()}
    predictor = open_offline()
    return {
        each.key: predictor.answer(Problem(each.key, each.text, each.evidence, texts[each.db_id]))
        for each in SAMPLE.questions
    }


@pytest.mark.engine
@pytest.mark.parametrize("dialect", list(Dialect))
def test_every_query_runs_on_its_engine(dialect: Dialect, request: pytest.FixtureRequest) -> None:
    engine = engine_of(dialect, request)
    refused = {}
    for rows in (0, 3):
        for key, sql in answers(engine, rows).items():
            try:
                with engine.session(DATABASES[SAMPLE.by_key[key].db_id], 10.0) as session:
                    for _ in session.batches(sql):
                        pass
            except SqlError as error:
                refused[rows, key] = f"{error.message}: {sql}"
    assert refused == {}


def test_a_tenth_of_the_questions_is_answered_rightly() -> None:
    found = answers(SQLiteEngine(), rows=3)
    with Evaluator("sample", metrics=["ex"], workers=1) as evaluator:
        judgements = evaluator.score([Answer(key, sql) for key, sql in found.items()])
    assert sum(each.scores["ex"] for each in judgements) > 0.1 * len(SAMPLE.questions)
