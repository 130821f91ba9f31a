"""Prompts: what is in them, what goes when they are too long, templates of users, and counted tokens."""

import math
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.engines.base import ColumnText, TableText
from harness.labs.predict.adapters import token_counter
from harness.predictors.base import Message, Problem, Prompt, PromptTooLong
from harness.predictors.prompts import (
    ESTIMATE,
    Prompter,
    PromptOptions,
    Tokens,
    open_prompter,
    show,
)
from tests.every_engine import EVERY_ENGINE
from tests.harness.predictors.making import FARM, about_farm, table
from tests.labs.predict.snapshots import FOLDER, VERSIONS, snapshots

WORDS = Tokens("words", lambda text: len(text.split()), estimated=False)


def prompter(*, words: int | None = None, thinks: bool = False, templates: Path | None = None) -> Prompter:
    options = PromptOptions(chain_of_thought=thinks, max_prompt_tokens=words, templates=templates)
    return open_prompter(options, WORDS)


def content(prompt: Prompt) -> str:
    [message] = prompt.messages
    assert message.role == "user"
    return message.content


def rich(problem: Problem) -> Problem:
    """The problem with rows and descriptions."""

    def told(column: ColumnText) -> ColumnText:
        return replace(column, title="TITLE", description="DESCRIPTION", values="VALUES")

    def full(table: TableText) -> TableText:
        columns = tuple(map(told, table.columns))
        return replace(table, columns=columns, rows=(("ROW",) * len(columns),))

    tables = tuple(map(full, problem.database.tables))
    return replace(problem, database=replace(problem.database, tables=tables))


STEPS = [
    ("sample rows", "ROW"),
    ("descriptions of values", "VALUES"),
    ("descriptions of columns", "DESCRIPTION"),
    ("worked example", "bicycles"),
    ("table stables", "CREATE TABLE stables"),
    ("table visits", "CREATE TABLE visits"),
]
"""What goes, with a text that goes with it; `vet`, a column of visits, is named by the question."""


@pytest.mark.slow
@pytest.mark.parametrize("lost", range(len(STEPS)))
def test_a_long_prompt_loses_parts_in_the_documented_order(lost: int) -> None:
    problem = rich(about_farm("Which animal was seen by the vet?", "seen refers to nothing"))
    whole = prompter(thinks=True).write("direct.j2", problem)
    assert whole.dropped == ()
    shortest = whole
    for _ in range(lost + 1):
        shortest = prompter(words=shortest.tokens - 1, thinks=True).write("direct.j2", problem)
    assert list(shortest.dropped) == [what for what, _ in STEPS[: lost + 1]]
    assert [marker in content(shortest) for _, marker in STEPS] == [
        place > lost for place in range(len(STEPS))
    ]
    assert shortest.tokens == WORDS.count(content(shortest)) < whole.tokens
    for kept in ("Which animal was seen by the vet?", "seen refers to nothing", "begins with ```sql"):
        assert kept in content(shortest)


@pytest.mark.parametrize(
    ("question", "evidence", "first"),
    [
        ("Which Animals are there, and which visit was last?", "", "stables"),
        ("Which animal is where?", "the stable is where it lives", "visits"),
        ("When was it BUILT IN?", "", "visits"),
        ("When was it built?", "built refers to BuiltIn", "visits"),
        ("How much was paid?", "", "stables"),
        ("What is its number?", "number refers to StableId or stable ID", "visits"),
        ("How unstable is it?", "", "visits"),
    ],
)
def test_tables_that_the_question_names_go_last_or_not_at_all(
    question: str, evidence: str, first: str
) -> None:
    problem = about_farm(question, evidence)
    tokens = prompter().write("direct.j2", problem).tokens
    assert prompter(words=tokens - 1).write("direct.j2", problem).dropped == (f"table {first}",)


def test_a_name_that_postgresql_has_in_lower_case_is_named_all_the_same() -> None:
    mixed, other = table("loans", "loandate"), table("fees", "amount")
    problem = about_farm("What is the date?", "date refers to LoanDate")
    problem = replace(problem, database=replace(FARM, tables=(other, mixed)))
    tokens = prompter().write("direct.j2", problem).tokens
    assert prompter(words=tokens - 1).write("direct.j2", problem).dropped == ("table fees",)


@pytest.mark.parametrize(
    ("question", "tables"),
    [("Which animal, stable and visit?", 3), ("Which animal?", 1), ("What?", 1)],
)
def test_what_is_too_long_with_what_has_to_stay_is_refused(question: str, tables: int) -> None:
    problem = about_farm(question)
    kept = prompter().write("direct.j2", problem)
    for _ in range(3 - tables):
        kept = prompter(words=kept.tokens - 1).write("direct.j2", problem)
    assert content(kept).count("CREATE TABLE") == tables
    least = kept.tokens
    reason = rf"the prompt has {least} tokens after all that can be dropped, and {least - 1} are allowed"
    with pytest.raises(PromptTooLong, match=reason):
        prompter(words=least - 1).write("direct.j2", problem)


def test_an_estimated_length_is_said_to_be_one() -> None:
    with pytest.raises(PromptTooLong, match=r"has \d+ tokens \(estimated\) after"):
        open_prompter(PromptOptions(max_prompt_tokens=1), ESTIMATE).write("direct.j2", about_farm())


def test_knowledge_that_is_off_is_not_told_even_where_the_problem_has_it() -> None:
    problem = about_farm(evidence="oldest refers to SECRET")
    assert "SECRET" in content(prompter().write("direct.j2", problem))
    off = open_prompter(PromptOptions(knowledge=False, chain_of_thought=True), WORDS)
    told = content(off.write("direct.j2", problem))
    assert "SECRET" not in told
    assert "External knowledge" not in told


@pytest.mark.parametrize(
    ("column", "told"),
    [
        (ColumnText("a_b", "text", "a b", "A  B", None), None),
        (ColumnText("a_b", "text", "title", "two\r\nlines", "1:\n2:"), "title; two lines; values: 1: 2:"),
        (ColumnText("a_b", "text", None, None, "one"), "values: one"),
        (ColumnText("a_b", "text", "title", "Title", None), "title"),
    ],
)
def test_descriptions_are_one_line_and_do_not_repeat_the_name(column: ColumnText, told: str | None) -> None:
    table = TableText("t", "CREATE TABLE t (a_b text)", (column,))
    problem = replace(about_farm(), database=replace(FARM, tables=(table,)))
    lines = content(prompter().write("direct.j2", problem)).splitlines()
    said = [line for line in lines if line.startswith("--")]
    assert said == ([] if told is None else ["-- The columns of t:", f"--   a_b: {told}"])


@pytest.mark.parametrize(
    ("value", "shown"), [(None, "NULL"), ("it's", "'it''s'"), (1, "1"), (-2.5, "-2.5"), (True, "True")]
)
def test_values_of_rows_are_shown_as_sql_writes_them(value: object, shown: str) -> None:
    table = TableText("t", "CREATE TABLE t (a text)", (ColumnText("a", "text"),), rows=((value,),))
    problem = replace(about_farm(), database=replace(FARM, tables=(table,)))
    assert f"\n--   {shown}\n" in content(prompter().write("direct.j2", problem))


def test_a_question_is_told_as_it_is_whatever_is_in_it() -> None:
    text = "Is {{ 7 * 7 }} < {% if 1 %} & 'x'?"
    assert f"\nQuestion: {text}\n" in content(prompter().write("direct.j2", about_farm(f" {text}\n")))


@pytest.mark.parametrize(
    ("options", "says"),
    [({"rows": -1}, "--rows -1"), ({"max_prompt_tokens": 0}, "--max-prompt-tokens 0")],
)
def test_numbers_out_of_range_are_refused(options: dict[str, int], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        PromptOptions(**options)  # type: ignore[arg-type]


def test_a_user_s_template_takes_the_place_of_the_project_s_alone(tmp_path: Path) -> None:
    (tmp_path / "direct.j2").write_text(
        "{% include 'rules.j2' %}{{ dialect }} {{ question }}\n{{ schema }}", encoding="utf-8"
    )
    (tmp_path / "rules.j2").write_text("Be <brief>. ", encoding="utf-8")
    prompt = prompter(templates=tmp_path).write("direct.j2", about_farm())
    assert content(prompt).startswith(
        "Be <brief>. SQLite Which animal is the oldest?\nCREATE TABLE animals ("
    )
    told = prompter(templates=tmp_path).correction(Dialect.MYSQL, None)
    assert told.startswith("There is no SQL query")


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("direct.j2", "ok\n{% if %}", r"direct\.j2: line 2: Expected an expression"),
        ("direct.j2", "{{ question }}\n\n{{ qestion }}", r"direct\.j2: line 3: unknown variable qestion"),
        ("direct.j2", "{% include 'more.j2' %}", r"direct\.j2: more\.j2 does not exist"),
        ("schema.j2", "{{ question }}", r"line 1: unknown variable question; there are dialect, tables"),
        ("drect.j2", "{{ question }}", r": has none of schema\.j2, "),
        ("direct.txt", "", r": has none of schema\.j2, "),
    ],
)  # fmt: skip
def test_a_template_with_a_fault_is_told_before_anything_is_asked(
    name: str, text: str, says: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=says):
        prompter(templates=tmp_path)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{{ question }}\n{{ question / 2 }}", r"direct\.j2: line 2: TypeError"),
        ("{{ question }}\n{% include 'part.j2' %}", r"part\.j2: line 3: UndefinedError: 'x' is undefined"),
        ("{{ question.nothing }}", r"direct\.j2: line 1: UndefinedError"),
    ],
)
def test_a_template_that_fails_is_told_with_its_line(text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "direct.j2").write_text(text, encoding="utf-8")
    (tmp_path / "part.j2").write_text("\n\n{{ x }}", encoding="utf-8")
    with pytest.raises(BadInput, match=says):
        prompter(templates=tmp_path).write("direct.j2", about_farm())


def test_a_folder_or_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="not a folder"):
        prompter(templates=tmp_path / "nowhere")
    (tmp_path / "direct.j2").write_bytes(b"\xff")
    with pytest.raises(BadInput, match=r"direct\.j2: cannot be read"):
        prompter(templates=tmp_path)


@pytest.mark.slow
def test_identity_changes_with_what_decides_the_prompt_and_with_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "direct.j2").write_text("{{ question }}", encoding="utf-8")
    same = [PromptOptions(), PromptOptions(max_prompt_tokens=None)]
    others = [
        PromptOptions(knowledge=False),
        PromptOptions(chain_of_thought=True),
        PromptOptions(descriptions=True),
        PromptOptions(rows=1),
        PromptOptions(max_prompt_tokens=9),
        PromptOptions(templates=tmp_path),
    ]
    identities = [str(open_prompter(each, ESTIMATE).identity) for each in (*same, *others)]
    assert len(set(identities)) == len(others) + 1
    assert open_prompter(PromptOptions(), WORDS).identity == open_prompter(PromptOptions(), ESTIMATE).identity
    limited = PromptOptions(max_prompt_tokens=9)
    assert open_prompter(limited, WORDS).identity != open_prompter(limited, ESTIMATE).identity


def test_a_prompt_is_shown_with_all_that_is_to_be_known_of_it() -> None:
    messages = (Message("system", "Be brief."), Message("user", "How many?"))
    assert show(Prompt(messages, 5, estimated=True, dropped=("sample rows",), notes=("so it is",))) == (
        "--- system ---\nBe brief.\n--- user ---\nHow many?\n--- 5 tokens, estimated ---\n"
        "left out: sample rows\nnote: so it is\n"
    )
    assert "--- 5 tokens ---" in show(Prompt(messages, 5, estimated=False))


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
        ("my_counters", "write it as my_tokens:count"),
        (":words", "write it as my_tokens:count"),
        ("no_such_module:words", "ModuleNotFoundError"),
        ("my_counters:nothing", "has no nothing"),
        ("my_counters:number", "int cannot be called"),
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


@pytest.mark.slow
@pytest.mark.parametrize("dialect", [each for each in EVERY_ENGINE if each.values[0] in VERSIONS])
def test_prompts_are_those_that_were_read(dialect: Dialect, request: pytest.FixtureRequest) -> None:
    server = None if dialect is Dialect.SQLITE else request.getfixturevalue(f"{dialect}_server")
    made = dict(snapshots(dialect, server))
    assert {path.name for path in FOLDER.glob(f"*_{dialect}.txt")} == made.keys()
    for name, text in made.items():
        assert text.encode() == (FOLDER / name).read_bytes(), f"{name}: see {FOLDER.name}.py for what to do"
