"""The SQL in answers, as a reader would find it.

`answers.jsonl` has a text, the SQL that a reader takes for its answer (null for none), and why, line by line:
the forms in which models are known to answer.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.data.answers import Extract, extract
from harness.data.answers.rules import RULES, ExtractionRule

FILE = Path(__file__).with_name("answers.jsonl")
CASES: list[dict[str, Any]] = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
_RULES = [rule for rules in RULES.values() for rule in rules]


def taken(text: str, dialect: str = "sqlite") -> str | None:
    return extract(text, Extract.ANSWER_1, dialect).sql


def test_the_sql_of_an_answer_is_what_a_reader_takes_for_it() -> None:
    wrong = [
        f"{case['why']}: {found!r} instead of {case['sql']!r}"
        for case in CASES
        if (found := taken(case["text"], case.get("dialect", "sqlite"))) != case["sql"]
    ]
    assert wrong == []


def test_there_are_many_answers_and_none_twice() -> None:
    assert len({case["text"] for case in CASES}) == len(CASES) >= 300


@pytest.mark.parametrize("rule", _RULES, ids=[rule.name for rule in _RULES])
def test_the_example_of_a_rule(rule: ExtractionRule) -> None:
    assert taken(rule.answer) == rule.sql


def test_what_was_taken_is_taken_again() -> None:
    texts = {case["sql"]: case.get("dialect", "sqlite") for case in CASES if case["sql"] is not None}
    assert {text: taken(text, dialect) for text, dialect in texts.items()} == {text: text for text in texts}


PIECES = st.sampled_from(
    [*"aS;\n `'\"(){}<>/:-", "SELECT ", "WITH x AS (", "```", "\n```sql\n", "</think>", "<sql>", "</sql>"]
)


@given(st.lists(PIECES).map("".join))
def test_nothing_is_taken_that_is_not_in_the_answer(answer: str) -> None:
    found = extract(answer, Extract.ANSWER_1)
    prompted = found.rule == "continuation" and found.sql is not None
    text = (found.sql or "").removeprefix("SELECT ") if prompted else found.sql
    assert text is None or text in answer


@pytest.mark.parametrize("policy", [Extract.NONE, Extract.FENCES])
def test_other_policies_keep_what_they_do_not_find(policy: Extract) -> None:
    assert extract("I cannot", policy).sql == "I cannot"


def test_a_policy_of_fences_takes_the_first_block() -> None:
    text = "```\nplan\n```\n```sql\nSELECT 1\n```"
    assert extract(text, Extract.FENCES).sql == "plan"
    assert extract(text, Extract.NONE).sql == text


@pytest.mark.parametrize(
    ("text", "candidates", "is_surrounded"),
    [
        ("SELECT 1", 1, False),
        ("```sql\nSELECT 1\n```", 1, False),
        ("<think>So</think><answer>SELECT 1</answer>", 1, True),
        ("```sql\nSELECT 1\n```\nBetter:\n```sql\nSELECT 2\n```", 2, True),
        ("I cannot", 0, True),
        ("", 0, False),
    ],
)
def test_what_else_an_answer_has_is_counted(text: str, candidates: int, *, is_surrounded: bool) -> None:
    found = extract(text, Extract.ANSWER_1)
    assert (found.candidates, found.is_surrounded) == (candidates, is_surrounded)
