"""Spider's measures read the published golds and predictions of Mini-Dev."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

from dialects.enums import Dialect
from harness.data.predictions import read_predictions
from harness.data.questions import QuestionSet
from harness.data.sets.loader import load_set
from harness.sqltree.spider import SpiderSchema, compare, read
from tests.harness.metrics.spider.test_spider_properties import all_right, spider_schema

pytestmark = pytest.mark.bird

UNREAD = 2
"""Predictions that SQLite can run and that are not read: one subtracts from IN, one has a column that a
common table expression finds only where it is used."""


def schemas(questions: QuestionSet) -> Mapping[str, SpiderSchema]:
    return {db_id: spider_schema(schema) for db_id, schema in questions.schemas.items()}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mini_dev", "mini_dev_2025"])
def test_every_gold_is_read_and_matches_itself(bird_home: Path, name: str) -> None:
    questions = load_set(name, bird_home)
    by_db = schemas(questions)
    unmatched = []
    for question in questions.questions:
        gold = read(question.gold[Dialect.SQLITE], by_db[question.db_id])
        if gold is None or not compare(gold, gold).exact or not all_right(compare(gold, gold)):
            unmatched.append(question.key)
    assert len(questions.questions) == 500
    assert unmatched == []


@pytest.mark.slow
def test_predictions_that_sqlite_can_run_are_read(bird_home: Path) -> None:
    questions = load_set("mini_dev", bird_home)
    by_db = schemas(questions)
    texts = {
        (questions.by_key[key].db_id, sql)
        for file in read_predictions([bird_home / "predictions"], questions, dialects=[Dialect.SQLITE])
        for key, sql in file.predictions.items()
        if sql is not None
    }
    assert len(texts) > 5000
    unread = []
    for db_id in questions.db_ids:
        path = questions.database(db_id).sqlite_path
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            unread += [
                sql
                for named, sql in sorted(texts)
                if named == db_id and read(sql, by_db[db_id]) is None and _can_run(connection, sql)
            ]
    assert len(unread) <= UNREAD, unread


def _can_run(connection: sqlite3.Connection, sql: str) -> bool:
    try:
        connection.execute(f"EXPLAIN {sql}")
    except (sqlite3.Error, sqlite3.Warning, ValueError):
        return False
    return True
