"""A gold query with one mistake made on purpose has that mistake's class, in every dialect."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path

import pytest
import sqlglot
from sqlglot import exp

from dialects.enums import Dialect
from dialects.targets import SQLGLOT
from harness.data.questions import Question, QuestionSet
from harness.data.set_manifest import PUBLISHED
from harness.data.sets.loader import load_set
from harness.engines.errors import ErrorClass
from harness.sqltree import DatabaseSchema
from harness.sqltree.diagnosis import diagnose, read
from harness.sqltree.diagnosis.differences import first_difference
from tests.harness.sqltree.diagnosis.mutations import MUTATIONS

Schemas = Mapping[str, DatabaseSchema]

OTHERWISE_BY_SQLGLOT = {(Dialect.MYSQL, "54")}
"""Questions of the sample that sqlglot itself writes with other functions."""


def parsed(sql: str, dialect: Dialect) -> exp.Query:
    query = sqlglot.parse_one(sql, read=SQLGLOT[dialect])
    assert isinstance(query, exp.Query)
    return query


def judge(questions: Sequence[Question], schemas: Schemas, dialect: Dialect) -> Counter[str]:
    """Make every mistake in every gold; how often each could be made, and all found out."""
    made: Counter[str] = Counter()
    taken_for_another = []
    for question in questions:
        sql, schema = question.gold[dialect], schemas[question.db_id]
        gold = cache(partial(read, sql, dialect, schema))
        assert gold() is not None, question.key
        query = parsed(sql, dialect)
        for mutation, expected in MUTATIONS.items():
            mistaken = mutation(query.copy(), schema)
            if mistaken is None:
                continue
            made[mutation.__name__] += 1
            prediction = mistaken.sql(SQLGLOT[dialect])
            found = diagnose(prediction, gold, dialect, schema)
            if found is not expected:
                taken_for_another.append((question.key, mutation.__name__, str(found), prediction))
    assert taken_for_another == []
    return made


def written_again(query: exp.Query) -> exp.Query:
    """The same query under other aliases, with = and AND the other way round."""
    aliases = {alias.name.lower(): f"a{alias.name}" for alias in query.find_all(exp.TableAlias) if alias.name}
    for alias in query.find_all(exp.TableAlias):
        if isinstance(alias.parent, exp.Table | exp.Subquery):
            alias.set("this", exp.to_identifier(aliases[alias.name.lower()]))
    ctes = {cte.alias.lower() for cte in query.find_all(exp.CTE)}
    for column in query.find_all(exp.Column):
        if column.table.lower() in aliases and column.table.lower() not in ctes:
            column.set("table", exp.to_identifier(aliases[column.table.lower()]))
    for node in query.find_all(exp.EQ, exp.And):
        left, right = node.this, node.expression
        node.set("this", right)
        node.set("expression", left)
    return query


def unlike_itself(
    questions: Sequence[Question], schemas: Schemas, dialect: Dialect
) -> list[tuple[str, ErrorClass]]:
    """Golds that are taken for other ones when they are only written in another way."""
    different: list[tuple[str, ErrorClass]] = []
    for question in questions:
        sql, schema = question.gold[dialect], schemas[question.db_id]
        again = written_again(parsed(sql, dialect)).sql(SQLGLOT[dialect], pretty=True)
        found = diagnose(again, partial(read, sql, dialect, schema), dialect, schema)
        if found is not ErrorClass.OTHER:
            different.append((question.key, found))
    return different


@pytest.fixture(scope="module")
def sample() -> QuestionSet:
    return load_set("sample")


@pytest.mark.slow
@pytest.mark.parametrize("dialect", PUBLISHED)
def test_mistakes_in_the_samples_golds_are_told_apart(sample: QuestionSet, dialect: Dialect) -> None:
    made = judge(sample.questions, sample.schemas, dialect)
    assert made.keys() == {mutation.__name__ for mutation in MUTATIONS}
    assert min(made.values()) >= 5


@pytest.mark.slow
@pytest.mark.parametrize("dialect", PUBLISHED)
def test_an_answer_that_need_not_be_parsed_has_the_class_that_the_rules_give_it(
    sample: QuestionSet, dialect: Dialect
) -> None:
    for question in sample.questions[::8]:
        schema = sample.schemas[question.db_id]
        gold = cache(partial(read, question.gold[dialect], dialect, schema))
        expected = gold()
        assert expected is not None
        for other in sample.questions:
            prediction = read(other.gold[dialect], dialect, schema)
            if other.db_id == question.db_id and prediction is not None:
                found = diagnose(other.gold[dialect], gold, dialect, schema)
                assert found is first_difference(prediction, expected), (question.key, other.key)


@pytest.mark.slow
@pytest.mark.parametrize("dialect", PUBLISHED)
def test_the_samples_golds_are_the_same_when_they_are_written_again(
    sample: QuestionSet, dialect: Dialect
) -> None:
    different = unlike_itself(sample.questions, sample.schemas, dialect)
    assert {(dialect, key) for key, _ in different} <= OTHERWISE_BY_SQLGLOT


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.bird
@pytest.mark.parametrize("dialect", PUBLISHED)
def test_mistakes_in_mini_devs_golds_are_told_apart(bird_home: Path, dialect: Dialect) -> None:
    mini_dev = load_set("mini_dev", bird_home)
    questions = mini_dev.questions[::4]
    made = judge(questions, mini_dev.schemas, dialect)
    assert made.keys() == {mutation.__name__ for mutation in MUTATIONS}
    assert unlike_itself(questions, mini_dev.schemas, dialect) == []
