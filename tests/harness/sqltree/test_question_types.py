"""The types of questions: cases by hand, what must not change them, and the sample's three dialects."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.question_types import counts
from dialects.enums import Dialect
from harness.data.sets.loader import load_set
from harness.session.options import OPTIONS
from harness.sqltree.constructs import QuestionType
from harness.sqltree.question_types import question_types

GOLDS = {
    # A column compared with constants.
    "SELECT name FROM t WHERE city = 'Oslo'": "match",
    "SELECT name FROM t WHERE city LIKE 'O%'": "match",
    "SELECT name FROM t WHERE city <> 'Oslo'": "match",
    "SELECT name FROM t WHERE id IN (1, 2)": "match",
    "SELECT name FROM t WHERE STRFTIME('%Y', born) = '1990'": "match",
    "SELECT name FROM t WHERE id IN (SELECT id FROM u)": "",
    "SELECT name FROM t JOIN u ON t.id = u.id": "",
    "SELECT name FROM t WHERE city IS NULL": "",
    "SELECT name FROM t WHERE 1 = 1": "",
    "SELECT SUM(IIF(city = 'Oslo', 1, 0)) FROM t": "match counting",
    # An order that decides.
    "SELECT name FROM t ORDER BY age LIMIT 1": "ranking",
    "SELECT name FROM t WHERE age = (SELECT MAX(age) FROM t)": "ranking",
    "SELECT name, MAX(age) FROM t": "ranking aggregation",
    "SELECT name FROM (SELECT name, RANK() OVER (ORDER BY age) AS r FROM t)": "ranking",
    "SELECT name FROM t ORDER BY age": "",
    "SELECT name FROM t LIMIT 3": "",
    "SELECT city, MAX(age) FROM t GROUP BY city": "aggregation",
    "SELECT city, name, MAX(age) FROM t GROUP BY city": "ranking aggregation",
    "SELECT name FROM (SELECT name, RANK() OVER (ORDER BY age) AS r FROM t) WHERE r = 1": "ranking",
    "SELECT name FROM t WHERE age > (SELECT AVG(age) FROM t)": "comparison aggregation",
    # Above, below, between.
    "SELECT name FROM t WHERE age >= 18": "comparison",
    "SELECT name FROM t WHERE age NOT BETWEEN 18 AND 65": "comparison",
    "SELECT city FROM t GROUP BY city HAVING COUNT(*) > 3": "comparison",
    "SELECT city FROM t GROUP BY city HAVING COUNT(name) = 3": "",
    "SELECT name FROM (SELECT name, RANK() OVER (ORDER BY age) AS r FROM t) WHERE r <= 5": "ranking",
    # How many.
    "SELECT COUNT(*) FROM t": "counting",
    "SELECT COUNT(DISTINCT city) FROM t": "counting",
    "SELECT SUM(CASE WHEN age > 18 THEN 1 ELSE 0 END) FROM t": "comparison counting",
    "SELECT SUM(age > 18) FROM t": "comparison counting",
    "SELECT SUM(age > 18) - SUM(age < 9) FROM t": "comparison counting numeric_computation",
    "SELECT CAST(COUNT(*) AS REAL) * 100 / (SELECT COUNT(*) FROM u) FROM t": "numeric_computation",
    "SELECT name FROM t GROUP BY name ORDER BY COUNT(*)": "",
    # Sums, averages, extremes.
    "SELECT AVG(age) FROM t": "aggregation",
    "SELECT SUM(IIF(city = 'Oslo', age, 0)) FROM t": "match aggregation",
    "SELECT city FROM t GROUP BY city ORDER BY SUM(age) LIMIT 1": "ranking aggregation",
    "SELECT MIN(age) FROM t": "aggregation",
    "SELECT MIN(age, 18) FROM t": "",
    # Arithmetic.
    "SELECT price * amount FROM t": "numeric_computation",
    "SELECT name FROM t WHERE price / amount > 9": "comparison numeric_computation",
    "SELECT 1 + 2": "",
    "SELECT SUBSTR(name, INSTR(name, ' ') + 1) FROM t": "",
    "SELECT -age FROM t": "",
    # Neither a query nor readable.
    "DELETE FROM t": "",
    "SELECT FROM WHERE": "",
}

EVIDENCE = {
    # What the evidence adds to "How tall is the youngest female driver over 18 on the web?", by this gold.
    "female refers to sex = 'F'": "value_illustration",
    "sex = 'F' stands for women": "value_illustration",
    "the sign F is a value": "value_illustration",
    "female refers to sex = 'f'": "value_illustration",
    "female refers to sex = 'W'": "",
    "grown up refers to age > 18": "",
    "grown up refers to age > 21": "domain_knowledge",
    "normal refers to 40 < height": "domain_knowledge",
    "youngest means between 3 and 5": "domain_knowledge",
    "ratio = DIVIDE(a, b)": "domain_knowledge",
    "ratio = `Free Meals (K-12)` / `Enrollment (K-12)`": "domain_knowledge",
    "well-known in 1990-1995": "",
    "tall refers to height": "synonym",
    "web refers to url": "synonym",
    "url stands for web": "synonym",
    "web can be found in url": "synonym",
    "height refers to height": "",
    "web refers to page": "",
    "shoe refers to url": "",
    "web refers to url IS NOT NULL": "",
    "drivers refers to drivers.url": "",
    "": "",
}
QUESTION = "How tall is the youngest female driver over 18 on the web?"
GOLD = "SELECT height, url FROM drivers WHERE sex = 'F' AND age > 18"


def of(question: str, evidence: str, gold: str, dialect: Dialect = Dialect.SQLITE) -> str:
    return " ".join(question_types(question, evidence, gold, dialect))


@pytest.mark.parametrize(("gold", "expected"), GOLDS.items())
def test_the_gold_decides_the_fundamental_types(gold: str, expected: str) -> None:
    assert of("Which?", "", gold) == expected


@pytest.mark.parametrize(("evidence", "expected"), EVIDENCE.items())
def test_the_evidence_decides_the_types_of_reasoning(evidence: str, expected: str) -> None:
    assert of(QUESTION, evidence, GOLD) == " ".join(["match comparison", *expected.split()])


NAMES = st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=8).map(lambda name: f"{name}_")


@given(st.sampled_from([gold for gold in GOLDS if " t" in gold]), NAMES, st.booleans())
def test_renaming_and_reformatting_the_gold_change_no_type(gold: str, name: str, upper: bool) -> None:  # noqa: FBT001
    changed = gold.replace("FROM t", f"FROM\n  {name}t -- {name}\n").replace("name", f"{name}name")
    changed = changed.replace("SELECT", "select") if upper else changed
    assert of("Which?", "", changed) == of("Which?", "", gold)


WRITTEN_OTHERWISE = {
    "14": "MAX() with a bare column is a rank on the servers",
    "45": "the same",
    "61": "a recursive calendar is GENERATE_SERIES on PostgreSQL",
}


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


def test_the_rules_agree_with_reading(bird_home: Path) -> None:
    ruled, read, both = counts(load_set("mini_dev", bird_home, questions_alone=True))
    for each in QuestionType:
        assert both[each] >= 0.85 * ruled[each], each
        # A reader calls "oldest" a synonym of a date of birth, too.
        assert both[each] >= (0.2 if each is QuestionType.SYNONYM else 0.85) * read[each], each


def test_the_help_of_the_option_names_every_type() -> None:
    assert [each for each in QuestionType if each not in OPTIONS["types"].help] == []
