"""The types of questions: cases by hand, what must not change them, and the sample's three dialects."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.question_types import PAGE, counts, dialects, listed
from dialects.enums import Dialect
from harness.data.sets.loader import load_set
from harness.session.options import OPTIONS
from harness.sqltree.constructs import QuestionType
from harness.sqltree.question_types import question_types

GOLDS = {
    # A column compared with constants.
    QuestionType.MATCH: {
        "SELECT name FROM t WHERE city = 'Oslo'": "match",
        "SELECT name FROM t WHERE city LIKE 'O%'": "match",
        "SELECT name FROM t WHERE city <> 'Oslo'": "match",
        "SELECT name FROM t WHERE id IN (1, 2)": "match",
        "SELECT name FROM t WHERE STRFTIME('%Y', born) = '1990'": "match",
        "SELECT SUM(IIF(city = 'Oslo', 1, 0)) FROM t": "match counting",
        "SELECT name FROM t WHERE id IN (SELECT id FROM u)": "",
        "SELECT name FROM t JOIN u ON t.id = u.id": "",
        "SELECT name FROM t WHERE city IS NULL": "",
        "SELECT name FROM t WHERE 1 = 1": "",
        # Neither a query nor readable.
        "DELETE FROM t WHERE id = 1": "",
        "SELECT FROM WHERE": "",
    },
    # An order that decides.
    QuestionType.RANKING: {
        "SELECT name FROM t ORDER BY age LIMIT 1": "ranking",
        "SELECT name FROM t WHERE age = (SELECT MAX(age) FROM t)": "ranking",
        "SELECT name, MAX(age) FROM t": "ranking aggregation",
        "SELECT name FROM (SELECT name, RANK() OVER (ORDER BY age) AS r FROM t)": "ranking",
        "SELECT name FROM (SELECT name, RANK() OVER (ORDER BY age) AS r FROM t) WHERE r = 1": "ranking",
        "SELECT city, name, MAX(age) FROM t GROUP BY city": "ranking aggregation",
        "SELECT name FROM t ORDER BY age": "",
        "SELECT name FROM t LIMIT 3": "",
        "SELECT city, MAX(age) FROM t GROUP BY city": "aggregation",
        "SELECT name FROM t WHERE age > (SELECT AVG(age) FROM t)": "comparison aggregation",
    },
    # Above, below, between.
    QuestionType.COMPARISON: {
        "SELECT name FROM t WHERE age >= 18": "comparison",
        "SELECT name FROM t WHERE age NOT BETWEEN 18 AND 65": "comparison",
        "SELECT name FROM t WHERE 18 < age": "comparison",
        "SELECT name FROM t JOIN u ON t.born < u.born": "comparison",
        "SELECT city FROM t GROUP BY city HAVING COUNT(*) > 3": "comparison",
        "SELECT city FROM t GROUP BY city HAVING COUNT(name) = 3": "",
        "SELECT name FROM t WHERE NOT age = 18": "match",
        "SELECT name FROM t WHERE age IS NOT NULL": "",
        "SELECT name FROM t WHERE name LIKE '>%'": "match",
        "SELECT name FROM (SELECT name, RANK() OVER (ORDER BY age) AS r FROM t) WHERE r <= 5": "ranking",
    },
    # How many.
    QuestionType.COUNTING: {
        "SELECT COUNT(*) FROM t": "counting",
        "SELECT COUNT(DISTINCT city) FROM t": "counting",
        "SELECT SUM(CASE WHEN age > 18 THEN 1 ELSE 0 END) FROM t": "comparison counting",
        "SELECT SUM(age > 18) FROM t": "comparison counting",
        "SELECT SUM(age > 18) - SUM(age < 9) FROM t": "comparison counting numeric_computation",
        "SELECT city, COUNT(*) FROM t GROUP BY city": "counting",
        "SELECT CAST(COUNT(*) AS REAL) * 100 / (SELECT COUNT(*) FROM u) FROM t": "numeric_computation",
        "SELECT name FROM t GROUP BY name ORDER BY COUNT(*)": "",
        "SELECT name FROM t WHERE 3 = (SELECT COUNT(*) FROM u)": "",
        "SELECT SUM(age) FROM t": "aggregation",
    },
    # Sums, averages, extremes.
    QuestionType.AGGREGATION: {
        "SELECT AVG(age) FROM t": "aggregation",
        "SELECT SUM(IIF(city = 'Oslo', age, 0)) FROM t": "match aggregation",
        "SELECT city FROM t GROUP BY city ORDER BY SUM(age) LIMIT 1": "ranking aggregation",
        "SELECT city FROM t GROUP BY city HAVING AVG(age) > 18": "comparison aggregation",
        "SELECT MIN(age) FROM t": "aggregation",
        "SELECT AVG(age) FROM t UNION SELECT AVG(age) FROM u": "aggregation",
        "SELECT MIN(age, 18) FROM t": "",
        "SELECT SUM(1) FROM t WHERE city = (SELECT MIN(city) FROM t)": "ranking aggregation",
        "SELECT COUNT(age) FROM t": "counting",
        "SELECT city FROM t GROUP BY city": "",
    },
    # Arithmetic.
    QuestionType.NUMERIC_COMPUTATION: {
        "SELECT price * amount FROM t": "numeric_computation",
        "SELECT name FROM t WHERE price / amount > 9": "comparison numeric_computation",
        "SELECT name FROM t ORDER BY price - paid LIMIT 1": "ranking numeric_computation",
        "SELECT SUM(price * amount) FROM t": "aggregation numeric_computation",
        "SELECT COUNT(*) * 100.0 / 7 FROM t": "numeric_computation",
        "SELECT 1 + 2": "",
        "SELECT SUBSTR(name, INSTR(name, ' ') + 1) FROM t": "",
        "SELECT -age FROM t": "",
        "SELECT name || ' ' || city FROM t": "",
        "SELECT name FROM t WHERE day = '2020-01-02'": "match",
    },
}

EVIDENCE = {
    # What the evidence adds to "How tall is the youngest female driver over 18 on the web?", by this gold.
    QuestionType.DOMAIN_KNOWLEDGE: {
        "grown up refers to age > 21": "domain_knowledge",
        "normal refers to 40 < height": "domain_knowledge",
        "youngest means between 3 and 5": "domain_knowledge",
        "ratio = DIVIDE(a, b)": "domain_knowledge",
        "ratio = `Free Meals (K-12)` / `Enrollment (K-12)`": "domain_knowledge",
        "grown up refers to age > 18": "",
        "well-known in 1990-1995": "",
        "age is in years": "",
        "K-12 refers to schools": "",
        "famous means well known": "",
        "": "",
    },
    QuestionType.SYNONYM: {
        "tall refers to height": "synonym",
        "web refers to url": "synonym",
        "url stands for web": "synonym",
        "web can be found in url": "synonym",
        "height refers to height": "",
        "web refers to page": "",
        "shoe refers to url": "",
        "web refers to url IS NOT NULL": "",
        "drivers refers to drivers.url": "",
        "url": "",
    },
    QuestionType.VALUE_ILLUSTRATION: {
        "female refers to sex = 'F'": "value_illustration",
        "sex = 'F' stands for women": "value_illustration",
        "the sign F is a value": "value_illustration",
        "female refers to sex = 'f'": "value_illustration",
        "F: female": "value_illustration",
        "female refers to sex = 'W'": "",
        "female refers to sex LIKE 'FM'": "",
        "For a driver": "",
        "over 18": "",
        "Female": "",
    },
}
QUESTION = "How tall is the youngest female driver over 18 on the web?"
GOLD = "SELECT height, url FROM drivers WHERE sex = 'F' AND age > 18"


def of(question: str, evidence: str, gold: str, dialect: Dialect = Dialect.SQLITE) -> str:
    return " ".join(question_types(question, evidence, gold, dialect))


def cases(by_type: Mapping[QuestionType, Mapping[str, str]]) -> list[tuple[str, str]]:
    return [case for own in by_type.values() for case in own.items()]


@pytest.mark.parametrize(("gold", "expected"), cases(GOLDS))
def test_the_gold_decides_the_fundamental_types(gold: str, expected: str) -> None:
    assert of("Which?", "", gold) == expected


@pytest.mark.parametrize(("evidence", "expected"), cases(EVIDENCE))
def test_the_evidence_decides_the_types_of_reasoning(evidence: str, expected: str) -> None:
    assert of(QUESTION, evidence, GOLD) == " ".join(["match comparison", *expected.split()])


def test_every_rule_has_ten_cases_with_and_without_its_type() -> None:
    rules = GOLDS | EVIDENCE
    assert set(rules) == set(QuestionType)
    for rule, own in rules.items():
        assert len(own) >= 10
        assert {rule in expected.split() for expected in own.values()} == {True, False}


NAMES = st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=8).map(lambda name: f"{name}_")


@given(st.sampled_from([gold for gold, _ in cases(GOLDS) if " t" in gold]), NAMES, st.booleans())
def test_renaming_and_reformatting_the_gold_change_no_type(gold: str, name: str, upper: bool) -> None:  # noqa: FBT001
    changed = gold.replace("FROM t", f"FROM\n  {name}t -- {name}\n").replace("name", f"{name}name")
    changed = changed.replace("SELECT", "select") if upper else changed
    assert of("Which?", "", changed) == of("Which?", "", gold)


@given(st.sampled_from([evidence for evidence, _ in cases(EVIDENCE)]), NAMES, st.booleans())
def test_they_change_none_of_the_evidence(evidence: str, name: str, upper: bool) -> None:  # noqa: FBT001
    changed = GOLD.replace("drivers", f"{name}drivers AS {name} -- {name}\n").replace(" AND ", "\n\tAND ")
    changed = changed.replace("height", f"{name}.height") if upper else changed.lower().replace("'f'", "'F'")
    assert of(QUESTION, evidence, changed) == of(QUESTION, evidence, GOLD)


WRITTEN_OTHERWISE = {
    "14": "MAX() with a bare column is a rank on the servers",
    "45": "the same",
    "61": "a recursive calendar is GENERATE_SERIES on PostgreSQL",
}


@pytest.mark.slow
def test_the_golds_of_three_dialects_give_the_sample_the_same_types() -> None:
    differing = set()
    for question in load_set("sample").questions:
        own = {
            question_types(question.text, question.evidence, gold, dialect)
            for dialect, gold in question.gold.items()
        }
        if own != {question.types}:
            differing.add(question.key)
    assert differing == set(WRITTEN_OTHERWISE)


@pytest.mark.slow
def test_the_rules_agree_with_reading(bird_home: Path) -> None:
    ruled, read, both = counts(load_set("mini_dev", bird_home, questions_alone=True))
    for each in QuestionType:
        assert both[each] >= 0.85 * ruled[each], each
        # A reader calls "oldest" a synonym of a date of birth, too.
        assert both[each] >= (0.2 if each is QuestionType.SYNONYM else 0.85) * read[each], each


@pytest.mark.slow
def test_the_page_has_the_types_of_mini_dev(bird_home: Path) -> None:
    questions = load_set("mini_dev", bird_home, questions_alone=True)
    page = PAGE.read_text(encoding="utf-8")
    for lines in (listed({one.key: one.types for one in questions.questions}), dialects(questions)):
        assert "".join(f"{line}\n" for line in lines) in page


def test_ids_in_a_row_are_listed_as_a_range() -> None:
    keys = ["12", "3", "1", "2", "137", "137#2", "138", "11"]
    assert list(listed({key: ["match"] for key in keys})) == [
        "- `match` (8): 1\N{EN DASH}3, 11, 12, 137, 137#2, 138"
    ]


def test_the_help_of_the_option_names_every_type() -> None:
    assert [each for each in QuestionType if each not in OPTIONS["types"].help] == []
