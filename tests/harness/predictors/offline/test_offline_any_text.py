"""Whatever is asked, the baseline answers, and with SQL of the dialect."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest
import sqlglot
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlglot import exp

from dialects.enums import Dialect
from dialects.targets import SQLGLOT
from harness.engines.base import ColumnText, TableText
from harness.predictors.base import DatabaseText, Problem
from harness.predictors.offline import open_offline
from tests.harness.predictors.offline.schemas import cinema

PREDICTOR = open_offline()
SCHEMAS = {dialect: cinema(dialect) for dialect in Dialect}

WORDS = st.sampled_from(
    ["how", "many", "what", "which", "who", "when", "where", "give", "list", "the", "of", "in", "on", "with",
    "each", "every", "per", "most", "least", "highest", "lowest", "oldest", "first", "second", "top", "two",
    "5", "2010", "2010-05-03", "May", '"Dam"', "'x'", "between", "and", "or", "not", "never", "both",
    "average", "total", "number", "percentage", "difference", "ratio", "films", "film's", "studios", "studio",
    "ticket", "sales", "people", "title", "titles", "names", "name", "genre", "rating", "released", "box",
    "office", "running", "time", "(min)", "after", "before", "more", "than", "at", "least", "up", "to",
    "average", "than", "country", "Peru", "Ada", "Quill", "same", "as", "other", "lower", "case", "leaving",
    "out", "separated", "by", ",", ".", "?", ";", "&", "%", "(", ")", "'"]
)  # fmt: skip
PHRASES = st.lists(WORDS, max_size=25).map(" ".join)
BODIES = st.lists(
    st.sampled_from(
        [
            "refers",
            "to",
            "means",
            "=",
            "is",
            "MAX(",
            "MIN(",
            "SUM(",
            "COUNT(",
            "AVG(",
            "DIVIDE(",
            "SUBTRACT(",
            "MULTIPLY(",
            "STRFTIME('%Y',",
            "JULIANDAY(",
            "DATE(",
            "CAST(",
            "SUBSTR(",
            "IIF(",
            ")",
            ",",
            "*",
            "100",
            "/",
            "-",
            "+",
            ">",
            "<",
            ">=",
            "<>",
            "AND",
            "OR",
            "NOT",
            "IN",
            "(",
            "BETWEEN",
            "LIKE",
            "IS",
            "NULL",
            "where",
            "genre",
            "Title",
            "released",
            "sold_at",
            "seats",
            "`Running",
            "Time",
            "(min)`",
            '"box_office"',
            "studios.name",
            "category",
            "'drama'",
            "'%a'",
            "3",
            "2012",
            "'2012-01-01'",
            ";",
            ";",
            "CASE",
            "WHEN",
            "THEN",
            "ELSE",
            "END",
            "DISTINCT",
            "spelled",
            "films",
            "bird_part(",
            "unixepoch",
            "c0_",
            "s0_",
            "the",
            "longest",
        ]
    ),
    max_size=30,
).map(" ".join)


COLUMNS = st.sampled_from(
    [
        "genre",
        "Title",
        "released",
        "sold_at",
        "seats",
        "box_office",
        "`Running Time (min)`",
        "studios.founded",
        "rating",
    ]
)
LITERALS = st.sampled_from(
    [
        "'drama'",
        "'Comedy'",
        "3",
        "2.5",
        "'12'",
        "''",
        "2012",
        "'2012'",
        "'2012-05'",
        "'2012-05-01'",
        "TRUE",
        "NULL",
    ]
)
VALUES = st.recursive(
    COLUMNS,
    lambda inner: st.one_of(
        st.builds(
            "{}({})".format,
            st.sampled_from(["MAX", "MIN", "SUM", "AVG", "COUNT", "JULIANDAY", "YEAR"]),
            inner,
        ),
        st.builds(
            "{}({}, {})".format, st.sampled_from(["DIVIDE", "SUBTRACT", "MULTIPLY", "ADD"]), inner, inner
        ),
        st.builds("STRFTIME('{}', {})".format, st.sampled_from(["%Y", "%m", "%Y-%m", "%H", "%s"]), inner),
        st.builds("SUBSTR({}, 1, 4)".format, inner),
        st.builds(
            "{} {} {}".format, inner, st.sampled_from(["+", "-", "*", "/"]), st.one_of(inner, st.just("100"))
        ),
    ),
    max_leaves=4,
)
CONDITIONS = st.one_of(
    st.builds("{} {} {}".format, VALUES, st.sampled_from(["=", "<>", ">", ">=", "<", "LIKE"]), LITERALS),
    st.builds("{} {} {}".format, VALUES, st.sampled_from(["=", ">", "<"]), VALUES),
    st.builds("{} IS {}".format, COLUMNS, st.sampled_from(["NULL", "NOT NULL"])),
    st.builds("{} IN ({}, {})".format, COLUMNS, LITERALS, LITERALS),
    st.builds("{} BETWEEN {} AND {}".format, COLUMNS, LITERALS, LITERALS),
)
STATEMENTS = st.lists(
    st.builds(
        "{} {} {}".format,
        st.sampled_from(
            ["films", "highest", "average", "percentage", "Ada Quill", "oldest", "rating above 10", "ratio"]
        ),
        st.sampled_from(["refers to", "=", "means"]),
        st.one_of(
            VALUES,
            CONDITIONS,
            st.builds("COUNT({})".format, CONDITIONS),
            st.builds("DIVIDE(SUM({}), COUNT({})) * 100".format, CONDITIONS, COLUMNS),
            st.builds("{} AND {}".format, CONDITIONS, CONDITIONS),
            st.builds("{} where {}".format, VALUES, CONDITIONS),
        ),
    ),
    max_size=4,
).map("; ".join)


def parsed(dialect: Dialect, text: str, evidence: str) -> exp.Expr:
    sql = PREDICTOR.answer(Problem("1", text, evidence, SCHEMAS[dialect]))
    return sqlglot.parse_one(sql, read=SQLGLOT[dialect])


@pytest.mark.parametrize("dialect", list(Dialect))
@settings(max_examples=150, deadline=None)
@given(
    text=st.one_of(st.text(max_size=200), PHRASES),
    evidence=st.one_of(st.text(max_size=200), PHRASES, BODIES, STATEMENTS),
)
def test_any_text_gets_a_query(dialect: Dialect, text: str, evidence: str) -> None:
    assert isinstance(parsed(dialect, text, evidence), exp.Query)


@pytest.fixture(scope="module")
def empty() -> Iterator[sqlite3.Connection]:
    """The schema as empty tables."""
    with closing(sqlite3.connect(":memory:")) as connection:
        for table in SCHEMAS[Dialect.SQLITE].tables:
            columns = ", ".join(f'"{column.name}" {column.type}' for column in table.columns)
            connection.execute(f'CREATE TABLE "{table.name}" ({columns})')
        yield connection


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=PHRASES, evidence=st.one_of(PHRASES, BODIES, STATEMENTS))
def test_any_question_gets_a_query_that_sqlite_runs(
    empty: sqlite3.Connection, text: str, evidence: str
) -> None:
    sql = PREDICTOR.answer(Problem("1", text, evidence, SCHEMAS[Dialect.SQLITE]))
    empty.execute(sql).fetchall()


NAMES = st.text(min_size=1, max_size=12).filter(lambda name: "\0" not in name)


@settings(max_examples=150, deadline=None)
@given(
    names=st.lists(NAMES, min_size=2, max_size=6, unique_by=str.lower),
    types=st.lists(
        st.sampled_from(["INTEGER", "TEXT", "REAL", "DATE", "DATETIME", "", "blob", "point"]),
        min_size=6,
        max_size=6,
    ),
    text=PHRASES,
    dialect=st.sampled_from(list(Dialect)),
)
def test_any_names_get_a_query(names: list[str], types: list[str], text: str, dialect: Dialect) -> None:
    columns = tuple(ColumnText(name, kind) for name, kind in zip(names, types, strict=False))
    table = TableText(names[0], "", columns, (names[1],))
    sql = PREDICTOR.answer(Problem("1", f"{text} {names[1]}", "", DatabaseText("d", dialect, (table,))))
    assert sql.startswith("SELECT ")


@pytest.mark.parametrize(
    "evidence", ["(" * 5000, "x = " + "(" * 25 + "1", "a" * 100_000, "Title = " + "'" * 99]
)
def test_long_and_deep_texts_are_read_as_far_as_they_go(evidence: str) -> None:
    assert isinstance(parsed(Dialect.SQLITE, evidence, evidence), exp.Query)
