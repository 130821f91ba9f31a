import math
import sys
from pathlib import Path

import pytest

from dialects.errors import BadInput
from harness.predictors.prompts.prompter import ESTIMATE, token_counter


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("ÄÖ", 1), ("🌱🌱a", 3), ("\ud83d", 1)]
)
def test_the_estimate_is_a_quarter_of_the_bytes(text: str, tokens: int) -> None:
    assert ESTIMATE.count(text) == tokens
    assert token_counter(None) is ESTIMATE
    assert ESTIMATE.estimated


COUNTERS = """
class Encoding:
    def encode(self, text):
        return text.split()

encoding = Encoding()

def words(text):
    return len(text.split())

def broken(text):
    raise RuntimeError("no vocabulary")

def half(text):
    return 0.5

def truth(text):
    return True

def negative(text):
    return -1

number = 3
"""


@pytest.fixture
def counters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_counters.py").write_text(COUNTERS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [each for each in sys.path if each])
    monkeypatch.delitem(sys.modules, "my_counters", raising=False)


@pytest.mark.usefixtures("counters")
@pytest.mark.parametrize("named", ["my_counters:words", "my_counters:encoding.encode"])
def test_a_user_s_function_counts_by_number_or_by_list(named: str) -> None:
    tokens = token_counter(named)
    assert tokens.count("SELECT a FROM b") == 4
    assert (tokens.name, tokens.estimated) == (named, False)


@pytest.mark.usefixtures("counters")
@pytest.mark.parametrize(
    ("named", "says"),
    [
        ("my_counters", "is not MODULE:FUNCTION"),
        (":words", "is not MODULE:FUNCTION"),
        ("no_such_module:words", "ModuleNotFoundError"),
        ("my_counters:nothing", "AttributeError"),
        ("my_counters:number", "is no function"),
        ("my_counters:broken", "RuntimeError: no vocabulary"),
        ("my_counters:half", "returned float 0.5"),
        ("my_counters:truth", "returned bool True"),
        ("my_counters:negative", "returned int -1"),
    ],
)
def test_what_does_not_count_is_one_clear_error(named: str, says: str) -> None:
    with pytest.raises(BadInput, match=f"^--tokenizer {named}: .*{says}"):
        token_counter(named)


def test_a_function_of_any_installed_module_counts() -> None:
    assert token_counter("builtins:len").count("abc") == 3
    assert math.isclose(token_counter("builtins:list").count("abc"), 3)
