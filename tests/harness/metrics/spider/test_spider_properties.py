"""What holds for every pair, shown on generated queries and on the golds of the sample."""

from dataclasses import asdict
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialects.enums import Dialect
from harness.data.questions import QuestionSet
from harness.data.sets.loader import load_set
from harness.sqltree import DatabaseSchema
from harness.sqltree.spider import Match, SpiderPart, SpiderSchema, Structure, compare, read, structure
from loaders.base.records import to_record
from tests.harness.metrics.spider.library import LIBRARY

COLUMNS = ("id", "title", "author_id", "year", "pages", '"Shelf No"')
CONDITIONS = (
    "{0} = {1}", "{0} > {1}", "{0} NOT LIKE {1}", "{0} BETWEEN {1} AND 9", "{0} IS NULL", "{0} IN ({1}, 2)",
    "{0} IN (SELECT id FROM Author WHERE born = {1})", "length({0}) < {1}", "({0} = {1} OR {0} < 3)",
)  # fmt: skip

columns = st.sampled_from(COLUMNS)
values = st.sampled_from(["1", "-2.5", "'a'", '"b c"'])
conditions = st.builds(
    lambda form, *parts: str(form.format(*parts)), st.sampled_from(CONDITIONS), columns, values
)
items = st.one_of(columns, st.builds("{}({})".format, st.sampled_from(["count", "max"]), columns))


@st.composite
def queries(draw: st.DrawFn) -> str:
    """A query over one table, of every clause."""
    parts = [f"SELECT {', '.join(draw(st.lists(items, min_size=1, max_size=3)))} FROM Book"]
    if where := draw(st.lists(conditions, max_size=3)):
        parts.append("WHERE " + draw(st.sampled_from([" AND ", " OR "])).join(where))
    if group := draw(st.lists(columns, max_size=2)):
        parts.append(f"GROUP BY {', '.join(group)}")
        if draw(st.booleans()):
            parts.append(f"HAVING count(*) > 1 AND {draw(conditions)}")
    if draw(st.booleans()):
        parts.append("UNION SELECT " + draw(columns) + " FROM Book")
    if order := draw(st.lists(columns, max_size=2)):
        parts.append(f"ORDER BY {', '.join(order)} {draw(st.sampled_from(['', 'DESC']))}")
    if draw(st.booleans()):
        parts.append("LIMIT 1")
    return " ".join(parts)


def all_right(found: Structure) -> bool:
    return all(match.is_right for match in found.parts.values())


@given(queries())
def test_a_query_matches_itself(sql: str) -> None:
    found = structure(sql, sql, LIBRARY)
    assert found.parsed
    assert found.exact
    assert all_right(found)


@given(queries(), queries())
def test_exact_means_that_every_component_is_right(prediction: str, gold: str) -> None:
    found = structure(prediction, gold, LIBRARY)
    assert found.exact == all_right(found), "there is but one table, so nothing else can differ"


@given(queries(), queries())
def test_both_directions_agree(prediction: str, gold: str) -> None:
    there, back = structure(prediction, gold, LIBRARY), structure(gold, prediction, LIBRARY)
    assert there.exact == back.exact
    assert there.parts == {
        part: Match(match.gold, match.predicted, match.matched) for part, match in back.parts.items()
    }


@given(queries(), queries())
def test_a_component_never_has_more_matches_than_elements(prediction: str, gold: str) -> None:
    for match in structure(prediction, gold, LIBRARY).parts.values():
        assert 0 <= match.matched <= min(match.predicted, match.gold)


@given(
    st.lists(conditions, min_size=1, max_size=5),
    st.lists(items, min_size=1, max_size=4),
    st.sampled_from([" AND ", " OR "]),
    st.randoms(use_true_random=False),
)
def test_the_order_of_conditions_and_columns_never_counts(
    where: list[str], select: list[str], connector: str, chance: Random
) -> None:
    def sql() -> str:
        return f"SELECT {', '.join(select)} FROM Book WHERE {connector.join(where)}"

    gold = sql()
    chance.shuffle(where)
    chance.shuffle(select)
    found = structure(sql(), gold, LIBRARY)
    assert found.exact
    assert found == structure(gold, gold, LIBRARY)


@given(queries(), st.text(max_size=12))
def test_any_text_has_a_structure(gold: str, text: str) -> None:
    for prediction in (text, gold[: len(gold) // 2] + text, gold + text):
        found = structure(prediction, gold, LIBRARY)
        assert set(found.parts) == set(SpiderPart)
        assert to_record(Structure, asdict(found)) == found


def spider_schema(schema: DatabaseSchema) -> SpiderSchema:
    tables: dict[str, list[str]] = {table: [] for table in schema.tables}
    for column in schema.columns:
        tables[column.table].append(column.name)
    keys = [(f"{a.table}.{a.name}", f"{b.table}.{b.name}") for a, b in schema.foreign_keys]
    return SpiderSchema(tables, keys)


@pytest.fixture(scope="module")
def sample() -> QuestionSet:
    return load_set("sample")


def test_every_gold_of_the_sample_matches_itself(sample: QuestionSet) -> None:
    schemas = {db_id: spider_schema(schema) for db_id, schema in sample.schemas.items()}
    unmatched = []
    for question in sample.questions:
        gold = read(question.gold[Dialect.SQLITE], schemas[question.db_id])
        if gold is None or not compare(gold, gold).exact or not all_right(compare(gold, gold)):
            unmatched.append(question.key)
    assert unmatched == []
