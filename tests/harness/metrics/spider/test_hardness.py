"""Spider's documented criteria, case by case.

https://github.com/taoyds/spider/tree/master/evaluation_examples, "SQL Hardness Criteria": components 1 are
WHERE, GROUP BY, ORDER BY, LIMIT, JOIN, OR, LIKE; components 2 are EXCEPT, UNION, INTERSECT, NESTED; others
are more than one aggregate, column of SELECT, condition of WHERE, term of GROUP BY.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict
from itertools import product

import pytest

from harness.sqltree.spider import Hardness, Match, SpiderPart, Structure, hardness, structure, totals
from loaders.base.records import to_record
from tests.harness.metrics.spider.library import LIBRARY, is_exact, query, wrong_parts
from tests.sides import sides

EASY, MEDIUM, HARD, EXTRA = Hardness


@pytest.mark.parametrize(
    ("sql", "level"),
    [
        # Easy: none or exactly one of components 1, none of the others, none of components 2.
        ("SELECT name FROM Author", EASY),
        ("SELECT count(*) FROM Author", EASY),
        ("SELECT name FROM Author WHERE born > 1900", EASY),
        ("SELECT count(*) FROM Book GROUP BY author_id", EASY),
        ("SELECT name FROM Author ORDER BY born", EASY),
        ("SELECT name FROM Author LIMIT 3", EASY),
        ("SELECT title FROM Book AS T1 JOIN Author AS T2 ON T1.author_id = T2.id", EASY),
        # Medium: at most two of the others with at most one of components 1,
        ("SELECT name, born FROM Author", MEDIUM),
        ("SELECT name, born FROM Author WHERE born > 1900 AND country = 'PT'", MEDIUM),
        ("SELECT max(born), min(born) FROM Author", MEDIUM),
        ("SELECT count(*) FROM Author GROUP BY born, country", MEDIUM),
        # or exactly two of components 1 with less than two of the others.
        ("SELECT name FROM Author ORDER BY born LIMIT 1", MEDIUM),
        (
            "SELECT title FROM Book AS T1 JOIN Author AS T2 ON T1.author_id = T2.id WHERE T2.born > 1900",
            MEDIUM,
        ),
        ("SELECT name, born FROM Author WHERE country LIKE 'P%'", MEDIUM),
        (
            "SELECT name, count(*) FROM Book AS T1 JOIN Author AS T2 ON T1.author_id = T2.id GROUP BY T2.id",
            MEDIUM,
        ),
        # Hard: more than two of the others with at most two of components 1,
        ("SELECT max(born), min(born) FROM Author WHERE born > 1900 AND country = 'PT'", HARD),
        # or three of components 1 with at most two of the others,
        ("SELECT name FROM Author WHERE born > 1900 ORDER BY born LIMIT 1", HARD),
        ("SELECT name FROM Author WHERE name LIKE 'A%' OR born = 1900", HARD),
        (
            "SELECT T1.name FROM Author AS T1 JOIN Book AS T2 JOIN Loan AS T3 GROUP BY T1.id",
            HARD,
        ),
        # or at most one of components 1 with none of the others and exactly one of components 2.
        ("SELECT name FROM Author WHERE born = (SELECT max(born) FROM Author)", HARD),
        ("SELECT name FROM Author UNION SELECT name FROM Reader", HARD),
        ("SELECT name FROM Author INTERSECT SELECT name FROM Reader WHERE city = 'Faro'", HARD),
        # Extra hard: all that is left.
        ("SELECT name FROM Author WHERE born > 1900 EXCEPT SELECT name FROM Reader ORDER BY name", HARD),
        ("SELECT name, born FROM Author UNION SELECT name, born FROM Reader", EXTRA),
        ("SELECT name FROM Author WHERE id NOT IN (SELECT author_id FROM Book) ORDER BY born", EXTRA),
        ("SELECT name FROM Author WHERE born > 1900 OR born < 1800 OR name LIKE 'A%' ORDER BY born", EXTRA),
        ("SELECT name FROM Author WHERE id IN (SELECT id FROM Book) AND id IN (SELECT id FROM Loan)", EXTRA),
    ],
)
def test_the_documented_criteria(sql: str, level: Hardness) -> None:
    assert hardness(query(sql)) is level


CLAUSES = ("", " WHERE born = 1", " WHERE born = 1 ORDER BY born", " WHERE born = 1 ORDER BY born LIMIT 1")
"""None to three of components 1."""
OTHERS = (
    "SELECT name FROM Author{}",
    "SELECT name, born FROM Author{}",
    "SELECT max(name), min(born) FROM Author{}",
)
"""None, one and two of the others."""
BY_COUNTS = {
    (0, 0): EASY, (1, 0): EASY, (2, 0): MEDIUM, (3, 0): HARD,
    (0, 1): MEDIUM, (1, 1): MEDIUM, (2, 1): MEDIUM, (3, 1): HARD,
    (0, 2): MEDIUM, (1, 2): MEDIUM, (2, 2): EXTRA, (3, 2): HARD,
}  # fmt: skip


@pytest.mark.parametrize(("clauses", "others"), list(product(range(4), range(3))))
def test_levels_by_how_many_components_there_are(clauses: int, others: int) -> None:
    sql = OTHERS[others].format(CLAUSES[clauses])
    assert hardness(query(sql)) is BY_COUNTS[clauses, others]


@pytest.mark.parametrize(
    ("sql", "level"),
    [
        ("SELECT born FROM Author GROUP BY born HAVING count(*) > 1", EASY),  # HAVING is no component
        # Every NOT counts as an aggregate: one and one are more than one, as in the query of Spider's README.
        ("SELECT avg(born) FROM Author WHERE name IN (SELECT name FROM Reader)", HARD),
        ("SELECT avg(born) FROM Author WHERE name NOT IN (SELECT name FROM Reader)", EXTRA),
        ("SELECT name, born FROM Author WHERE name IN (1) AND born IN (1)", MEDIUM),
        ("SELECT name, born FROM Author WHERE name NOT IN (1) AND born NOT IN (1)", HARD),
        # So does every AND or OR of HAVING, but no aggregate in there.
        ("SELECT born FROM Author GROUP BY born HAVING count(*) > 1 AND max(id) > 1", EASY),
        ("SELECT count(*) FROM Author GROUP BY born HAVING count(*) > 1 AND max(id) > 1", MEDIUM),
        ("SELECT name, born - max(id) FROM Author ORDER BY max(id)", MEDIUM),  # the inner one does not count
        ("SELECT count(*) FROM (SELECT * FROM Author WHERE born > 1900)", EASY),  # nor does FROM
    ],
)
def test_the_published_script_decides_where_it_counts_otherwise(sql: str, level: Hardness) -> None:
    assert hardness(query(sql)) is level


@pytest.mark.parametrize(
    ("sql", "level"),
    [
        ("SELECT 100.0 * sum(born) / count(*) FROM Author", MEDIUM),  # two aggregates in one column
        ("SELECT CAST(sum(born) AS REAL) FROM Author", EASY),
        ("SELECT name FROM Author WHERE born = 1 AND (country = 'PT' OR country = 'ES')", MEDIUM),
        ("SELECT name FROM (SELECT name FROM Author) AS a", HARD),  # a query with a name is nested
        ("WITH a AS (SELECT name FROM Author) SELECT name FROM a", HARD),
        ("SELECT (SELECT max(born) FROM Author)", HARD),
        ("SELECT name FROM Author WHERE EXISTS (SELECT 1 FROM Book)", HARD),
        ("SELECT name FROM Author UNION ALL SELECT name FROM Reader", HARD),
        ("SELECT title FROM Book LEFT JOIN Author ON author_id = Author.id, Loan", MEDIUM),
    ],
)
def test_beyond_spiders_grammar_the_same_things_count(sql: str, level: Hardness) -> None:
    assert hardness(query(sql)) is level


SAME_FOR_SPIDER = {
    "values": "SELECT name FROM Author WHERE born > {1900|2} AND country = '{PT|x}'",
    "the number of LIMIT": "SELECT name FROM Author LIMIT {3|5}",
    "values of BETWEEN": "SELECT name FROM Author WHERE born BETWEEN {1 AND 2|3 AND 4}",
    "case": "{select NAME from AUTHOR|SELECT name FROM author}",
    "aliases": (
        "{SELECT T1.name FROM Author AS T1 JOIN Book AS T2 ON T1.id = T2.author_id|"
        "SELECT b.name FROM Author AS b JOIN Book AS a ON b.id = a.author_id}"
    ),
    "no aliases": "SELECT {T1.name|name} FROM Author{ AS T1|}",
    "the order of columns": "SELECT {name, born|born, name} FROM Author",
    "the order of conditions": (
        "SELECT name FROM Author WHERE {born = 1 AND country = 'PT'|country = 'PT' AND born = 1}"
    ),
    "which of them OR joins": (
        "SELECT name FROM Author WHERE born = 1 {AND|OR} country = 'PT' {OR|AND} id = 1"
    ),
    "the order of tables": (
        "{SELECT T1.name FROM Author AS T1 JOIN Book AS T2 ON T1.id = T2.author_id|"
        "SELECT T2.name FROM Book AS T1 JOIN Author AS T2 ON T1.author_id = T2.id}"
    ),
    "what tables are joined on": (
        "SELECT T1.name FROM Author AS T1 JOIN Book AS T2 ON {T1.id = T2.author_id|T1.born = T2.year}"
    ),
    "a foreign key and what it refers to": (
        "SELECT {T2.author_id|T1.id}, max(born) FROM Author AS T1 JOIN Book AS T2 GROUP BY "
        "{T2.author_id|T1.id}"
    ),
    "DISTINCT": "SELECT{ DISTINCT|} name FROM Author",
    "DISTINCT in an aggregate": "SELECT count({DISTINCT |}name) FROM Author",
    "a column and a value on the right": (
        "SELECT title FROM Book AS T1 JOIN Loan AS T2 WHERE T1.year = {T2.day|1900}"
    ),
    "every direction but the last": "SELECT name FROM Author ORDER BY born{ DESC|}, name ASC",
    "values in a nested query": (
        "SELECT name FROM Author WHERE id IN (SELECT author_id FROM Book WHERE year = {1|2} LIMIT {2|3})"
    ),
    "the order of columns behind a set operation": (
        "SELECT id FROM Author UNION SELECT {id, born|born, id} FROM Reader WHERE city = '{Faro|Beja}'"
    ),
}
"""What Spider's script does not see: `sides` of a query of its grammar that are the same to it."""

DIFFERENT_FOR_SPIDER = {
    "column": "SELECT {name|born} FROM Author",
    "a column more": "SELECT name{, born|} FROM Author",
    "a column twice": "SELECT name, {name|born} FROM Author",
    "aggregate": "SELECT {max|min}(born) FROM Author",
    "no aggregate": "SELECT {born|max(born)} FROM Author",
    "what is counted": "SELECT count({*|id}) FROM Author",
    "table": "SELECT count(*) FROM {Author|Book}",
    "a table more": "SELECT {T1.name|name} FROM Author{ AS T1 JOIN Book AS T2 ON T1.id = T2.author_id|}",
    "a table joined to itself": (
        "SELECT {T1.name|name} FROM Author{ AS T1 JOIN Author AS T2 ON T1.born = T2.born|}"
    ),
    "the same name in another table": (
        "SELECT {T1.name|T2.name} FROM Author AS T1 JOIN Reader AS T2 ON T1.born = T2.born"
    ),
    "operator": "SELECT name FROM Author WHERE born {>|>=} 1",
    "LIKE": "SELECT name FROM Author WHERE name {LIKE|=} 'a'",
    "BETWEEN": "SELECT name FROM Author WHERE born {BETWEEN|>=} 1 AND {|born <= }2",
    "NOT IN": "SELECT name FROM Author WHERE id {NOT |}IN (SELECT author_id FROM Book)",
    "NOT LIKE": "SELECT name FROM Author WHERE name {NOT |}LIKE 'a'",
    "a condition more": "SELECT name FROM Author{ WHERE born = 1|}",
    "AND and OR": "SELECT name FROM Author WHERE born = 1 {AND|OR} id = 1",
    "a value and a nested query": "SELECT name FROM Author WHERE born = {1|(SELECT max(born) FROM Author)}",
    "a nested query": (
        "SELECT name FROM Author WHERE id IN (SELECT author_id FROM Book WHERE {year|pages} > 1)"
    ),
    "the order within a nested query": (
        "SELECT name FROM Author WHERE id IN (SELECT author_id FROM Book WHERE {year|pages} = 1 AND "
        "{pages|year} = 1)"
    ),
    "DISTINCT within a nested query": (
        "SELECT name FROM Author WHERE id IN (SELECT {DISTINCT |}author_id FROM Book)"
    ),
    "the terms of GROUP BY": "SELECT count(*) FROM Author GROUP BY {born|country}",
    "their order": "SELECT count(*) FROM Author GROUP BY {born, country|country, born}",
    "HAVING": "SELECT born FROM Author GROUP BY born HAVING count(*) {>|>=} 1",
    "no HAVING": "SELECT born FROM Author GROUP BY born{ HAVING count(*) > 1|}",
    "the direction": "SELECT name FROM Author ORDER BY born{ DESC|}",
    "what is sorted by": "SELECT name FROM Author ORDER BY {born|name}",
    "LIMIT": "SELECT name FROM Author ORDER BY born{ LIMIT 1|}",
    "the set operation": "SELECT id FROM Author {UNION|EXCEPT} SELECT id FROM Reader",
    "what follows a set operation": "SELECT id FROM Author UNION SELECT {id|born} FROM Reader",
    "its sides": "SELECT id FROM {Author|Reader} EXCEPT SELECT id FROM {Reader|Author}",
    "an operator between columns": "SELECT {year - pages|pages - year} FROM Book",
}

SAME_BEYOND = {
    "parentheses that change nothing": (
        "{SELECT name FROM Author WHERE (born = 1) AND (country = 'PT' AND (id = 1))|"
        "SELECT name FROM Author WHERE born = 1 AND country = 'PT' AND id = 1}"
    ),
    "the order within a group": (
        "{SELECT name FROM Author WHERE born = 1 AND (country = 'PT' OR id = 1)|"
        "SELECT name FROM Author WHERE (id = 2 OR country = 'ES') AND born = 1}"
    ),
    "how many values IN has": "SELECT name FROM Author WHERE born IN ({1, 2, 3|4})",
    "a value on the left": "SELECT name FROM Author WHERE {1900 < born|born > 1900}",
    "<> and !=": "SELECT name FROM Author WHERE born {<>|!=} 1",
    "INNER JOIN, comma and JOIN": (
        "SELECT T1.name FROM Author AS T1{ INNER JOIN|,} Book AS T2{ ON T1.id = T2.author_id|}"
    ),
    "aliases of columns": (
        "{SELECT count(*) AS n, born AS b FROM Author GROUP BY b ORDER BY n|"
        "SELECT count(*), born FROM Author GROUP BY born ORDER BY count(*)}"
    ),
    "numbers of columns": "SELECT born, count(*) FROM Author GROUP BY {1|born} ORDER BY {2|count(*)}",
    "values in a function": "SELECT substr(name, {1, 2|3, 4}) FROM Author WHERE length(name) > {1|9}",
    "names of a query in FROM": "SELECT {a.n|b.m} FROM (SELECT count(*) AS {n|m} FROM Author) AS {a|b}",
    "a common table expression and a query in FROM": (
        "{WITH a AS|SELECT max(n) FROM} (SELECT count(*) AS n FROM Author){ SELECT max(n) FROM a|}"
    ),
    "values of a query in FROM": "SELECT count(*) FROM (SELECT * FROM Author WHERE born > {1|2})",
    "a column that a * passes on": "SELECT {a.name|name} FROM (SELECT * FROM Author){ AS a|}",
    "where a compound SELECT is sorted by": (
        "SELECT id{ AS x|} FROM Author UNION SELECT born FROM Reader ORDER BY {x|1}"
    ),
    "quotes of a name": 'SELECT {"Shelf No"|`shelf no`} FROM Book',
    "a string in double quotes": "SELECT name FROM Author WHERE country = {\"Nowhere\"|'PT'}",
    "comments and a semicolon": "SELECT name {-- of them\n|}FROM Author{;|}",
    "NOT in front": "SELECT name FROM Author WHERE {NOT id|id NOT} IN (SELECT author_id FROM Book)",
}
"""What is the same beyond Spider's grammar."""

DIFFERENT_BEYOND = {
    "what a group holds together": (
        "{SELECT name FROM Author WHERE born = 1 AND (country = 'PT' OR id = 1)|"
        "SELECT name FROM Author WHERE (born = 1 AND country = 'PT') OR id = 1}"
    ),
    "NOT before a group": "SELECT name FROM Author WHERE born = 1 AND {NOT |}(country = 'PT' OR id = 1)",
    "IS NULL and IS NOT NULL": "SELECT name FROM Author WHERE born IS {|NOT }NULL",
    "IS NULL and IS a value": "SELECT name FROM Author WHERE born IS {NULL|1}",
    "LEFT JOIN": "SELECT T1.name FROM Author AS T1{ LEFT|} JOIN Book AS T2 ON T1.id = T2.author_id",
    "OFFSET": "SELECT name FROM Author ORDER BY born LIMIT 1{ OFFSET 1|}",
    "UNION ALL": "SELECT id FROM Author UNION {ALL |}SELECT id FROM Reader",
    "the type of CAST": "SELECT CAST(born AS {REAL|INTEGER}) FROM Author",
    "function": "SELECT {upper|lower}(name) FROM Author",
    "CASE": "SELECT sum(CASE WHEN {born|id} = 1 THEN 1 ELSE 0 END) FROM Author",
    "where NULLs sort": "SELECT name FROM Author ORDER BY born{ NULLS LAST|}",
    "EXISTS": "SELECT name FROM Author WHERE EXISTS (SELECT * FROM {Book|Loan})",
    "a query in FROM": "SELECT count(*) FROM (SELECT {born|name} FROM Author)",
    "which of two queries in FROM": (
        "SELECT {a.n|b.n} FROM (SELECT count(*) AS n FROM Author) AS a, (SELECT count(*) AS n FROM Book) AS b"
    ),
    "what a window goes over": "SELECT rank() OVER (ORDER BY {born|name}) FROM Author",
    "which tables a * is of": "SELECT {Author|Book}.* FROM Author, Book",
}


def _rows(table: dict[str, str]) -> list[object]:
    return [pytest.param(*sides(both), id=name) for name, both in table.items()]


@pytest.mark.parametrize(("prediction", "gold"), _rows(SAME_FOR_SPIDER | SAME_BEYOND))
def test_exact_matching_does_not_see(prediction: str, gold: str) -> None:
    assert is_exact(prediction, gold)
    assert is_exact(gold, prediction)


@pytest.mark.parametrize(("prediction", "gold"), _rows(DIFFERENT_FOR_SPIDER | DIFFERENT_BEYOND))
def test_exact_matching_sees(prediction: str, gold: str) -> None:
    assert not is_exact(prediction, gold)
    assert not is_exact(gold, prediction)


@pytest.mark.parametrize(
    "gold",
    [
        "",
        "SELECT",
        "SELECT name FROM",
        "SELECT name FROM Author; SELECT name FROM Author",
        "DELETE FROM Author",
        "VALUES (1)",
        "SELECT name FROM Nothing",
        "SELECT nothing FROM Author",
        "SELECT T1.title FROM Author AS T1",
        "SELECT T9.name FROM Author AS T1",
        "SELECT 1" + " UNION SELECT 1" * 5000,
        "SELECT " + "(" * 5000 + "1" + ")" * 5000,
    ],
)
def test_what_is_no_query_over_the_schema_is_never_exact(gold: str) -> None:
    found = structure(gold, "SELECT name FROM Author", LIBRARY)
    assert not found.exact
    assert not found.parsed
    with pytest.raises(ValueError, match="the gold query is no SELECT over the schema"):
        structure("SELECT name FROM Author", gold, LIBRARY)


GOLD = (
    "SELECT country, max(born) FROM Author WHERE born > 1900 AND name LIKE 'A%' GROUP BY country"
    " HAVING count(*) > 1 ORDER BY max(born) DESC LIMIT 3"
)


@pytest.mark.parametrize(
    ("written", "instead", "wrong"),
    [
        ("max(born) FROM", "min(born) FROM", {SpiderPart.SELECT}),
        ("max(born) FROM", "max(id) FROM", {SpiderPart.SELECT, SpiderPart.SELECT_NO_AGGREGATE}),
        ("SELECT country,", "SELECT", {SpiderPart.SELECT, SpiderPart.SELECT_NO_AGGREGATE}),
        ("born > 1900", "born < 1900", {SpiderPart.WHERE}),
        ("born > 1900", "id > 1900", {SpiderPart.WHERE, SpiderPart.WHERE_NO_OPERATOR}),
        ("LIKE 'A%'", "NOT LIKE 'A%'", {SpiderPart.WHERE, SpiderPart.KEYWORDS}),
        ("LIKE 'A%'", "= 'A'", {SpiderPart.WHERE, SpiderPart.KEYWORDS}),
        ("1900 AND", "1900 OR", {SpiderPart.AND_OR, SpiderPart.KEYWORDS}),
        (
            " WHERE born > 1900 AND name LIKE 'A%'",
            "",
            {SpiderPart.WHERE, SpiderPart.WHERE_NO_OPERATOR, SpiderPart.AND_OR, SpiderPart.KEYWORDS},
        ),
        ("BY country", "BY born", {SpiderPart.GROUP_BY, SpiderPart.GROUP_BY_HAVING}),
        ("count(*) > 1", "count(*) = 1", {SpiderPart.GROUP_BY_HAVING}),
        ("count(*) > 1", "max(born) > 1", {SpiderPart.GROUP_BY_HAVING}),
        (" HAVING count(*) > 1", "", {SpiderPart.GROUP_BY_HAVING, SpiderPart.KEYWORDS}),
        (" DESC", "", {SpiderPart.ORDER_BY, SpiderPart.KEYWORDS}),
        ("ORDER BY max(born)", "ORDER BY min(born)", {SpiderPart.ORDER_BY}),
        (" LIMIT 3", "", {SpiderPart.ORDER_BY, SpiderPart.KEYWORDS}),
        (" LIMIT 3", " LIMIT 9", set()),
        (
            " LIMIT 3",
            " UNION SELECT 1, 2",
            {SpiderPart.ORDER_BY, SpiderPart.SET_OPERATIONS, SpiderPart.KEYWORDS},
        ),
        ("FROM Author", "FROM Author JOIN Book ON 1 = 1", set()),  # tables are no component
    ],
)
def test_a_difference_is_of_its_components_alone(written: str, instead: str, wrong: set[SpiderPart]) -> None:
    assert written in GOLD
    assert wrong_parts(GOLD.replace(written, instead), GOLD) == wrong


@pytest.mark.parametrize(
    ("prediction", "gold", "part", "counts"),
    [
        ("SELECT id, id, born FROM Author", "SELECT id, name FROM Author", SpiderPart.SELECT, (3, 2, 1)),
        # The documentation's example of SELECT: one of two columns is right.
        (
            "SELECT id, min(name) FROM Author",
            "SELECT id, max(born) FROM Author",
            SpiderPart.SELECT,
            (2, 2, 1),
        ),
        ("SELECT id FROM Author WHERE id = 1", "SELECT id FROM Author", SpiderPart.WHERE, (1, 0, 0)),
        ("SELECT id FROM Author", "SELECT id FROM Author", SpiderPart.WHERE, (0, 0, 0)),
        # GROUP BY does not see the table, HAVING does.
        (
            "SELECT 1 FROM Author AS a JOIN Reader AS r GROUP BY a.name",
            "SELECT 1 FROM Author AS a JOIN Reader AS r GROUP BY r.name",
            SpiderPart.GROUP_BY,
            (1, 1, 1),
        ),
        (
            "SELECT 1 FROM Author AS a JOIN Reader AS r GROUP BY a.name",
            "SELECT 1 FROM Author AS a JOIN Reader AS r GROUP BY r.name",
            SpiderPart.GROUP_BY_HAVING,
            (1, 1, 0),
        ),
        # HAVING without GROUP BY is a keyword alone.
        (
            "SELECT 1 FROM Author HAVING count(*) > 1",
            "SELECT 1 FROM Author",
            SpiderPart.GROUP_BY_HAVING,
            (0, 0, 0),
        ),
        ("SELECT 1 FROM Author HAVING count(*) > 1", "SELECT 1 FROM Author", SpiderPart.KEYWORDS, (1, 0, 0)),
        # AND/OR is there even where neither side has one; where they differ, the script exchanges the counts.
        ("SELECT id FROM Author", "SELECT id FROM Author", SpiderPart.AND_OR, (1, 1, 1)),
        (
            "SELECT id FROM Author WHERE id = 1 AND born = 1",
            "SELECT id FROM Author",
            SpiderPart.AND_OR,
            (0, 1, 0),
        ),
        (
            "SELECT id FROM Author",
            "SELECT id FROM Author UNION SELECT id FROM Reader",
            SpiderPart.SET_OPERATIONS,
            (0, 1, 0),
        ),
        (
            "SELECT id FROM Author WHERE id NOT IN (SELECT 1) OR name LIKE 'a' ORDER BY id LIMIT 1",
            "SELECT id FROM Author WHERE id IN (1)",
            SpiderPart.KEYWORDS,
            (8, 2, 2),  # where, not, in, or, like, order, asc, limit
        ),
    ],
)
def test_what_a_component_counts(
    prediction: str, gold: str, part: SpiderPart, counts: tuple[int, int, int]
) -> None:
    assert structure(prediction, gold, LIBRARY).parts[part] == Match(*counts)


def test_what_cannot_be_read_counts_as_an_empty_query() -> None:
    found = structure("SELECT FROM WHERE", GOLD, LIBRARY)
    assert not found.parsed
    assert not found.exact
    assert found.hardness is Hardness.EXTRA
    right = {part for part, match in found.parts.items() if match.is_right}
    assert right == {SpiderPart.SET_OPERATIONS}, "neither has one"
    assert found.parts[SpiderPart.SELECT] == Match(0, 2, 0)


def test_a_structure_survives_json() -> None:
    found = structure("SELECT name FROM Author", GOLD, LIBRARY)
    assert to_record(Structure, json.loads(json.dumps(asdict(found)))) == found
    with pytest.raises(ValueError, match="simple"):
        to_record(Structure, {**asdict(found), "hardness": "simple"})


def _pair(match: tuple[int, int, int], others: Mapping[SpiderPart, Match] | None = None) -> Structure:
    nothing = {part: Match(0, 0, 0) for part in SpiderPart}
    parts = {**nothing, **(others or {}), SpiderPart.WHERE: Match(*match)}
    return Structure(Hardness.EASY, exact=False, parsed=True, parts=parts)


RIGHT, WRONG, MISSING, INVENTED, NEITHER = (2, 2, 2), (2, 2, 1), (0, 1, 0), (1, 0, 0), (0, 0, 0)


@pytest.mark.parametrize(
    ("pairs", "figures"),
    [
        ([RIGHT], (1, 1, 1)),
        ([RIGHT, WRONG], (1 / 2, 1 / 2, 1 / 2)),  # a component is right as a whole
        ([RIGHT, NEITHER, NEITHER], (1, 1, 1)),  # what has it on neither side does not count
        ([RIGHT, MISSING], (1, 1 / 2, 2 / 3)),  # gold's side alone: recall
        ([RIGHT, INVENTED, INVENTED], (1 / 3, 1, 1 / 2)),  # the prediction's side alone: accuracy
        ([WRONG], (0, 0, 0)),
        ([MISSING], (None, 0, 0)),
        ([INVENTED], (0, None, 0)),
        ([NEITHER], (None, None, None)),
        ([], (None, None, None)),
    ],
)
def test_accuracy_recall_and_f1_over_pairs(
    pairs: list[tuple[int, int, int]], figures: tuple[float | None, float | None, float | None]
) -> None:
    found = totals(map(_pair, pairs))[SpiderPart.WHERE]
    assert (found.accuracy, found.recall, found.f1) == pytest.approx(figures)
    assert found.precision == found.accuracy
