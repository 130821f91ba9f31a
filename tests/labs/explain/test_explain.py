"""`bird-harness lab explain`: plans of a set's pairs, of a run's, and of a user's own texts."""

import json
import re
import sqlite3
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from harness.engines.execution import Ending
from harness.engines.plans import Operator, PlanNode, QueryPlan
from harness.labs.explain.explainer import ExplainedPair
from harness.labs.explain.tables import plans_markdown, print_plans, spelled_rows
from harness.metrics.work import units
from harness.runs.plans import ExplainedText, read_plans
from tests.harness.conftest import Call

pytestmark = pytest.mark.slow

TEXT = "SELECT name FROM animal WHERE legs = 4"
OTHER = "SELECT name FROM animal WHERE rowid IN (SELECT rowid FROM animal WHERE legs = 4)"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "zoo.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE animal (name TEXT, legs INTEGER)")
        connection.executemany("INSERT INTO animal VALUES (?, ?)", [("cat", 4), ("hen", 2), ("dog", 4)])
    connection.close()
    return path


def test_two_texts_of_a_user_stand_beside_each_other(call: Call, file: Path) -> None:
    code, out, _ = call("lab", "explain", "--database", str(file), "--sql", OTHER, "--gold", TEXT)
    assert code == 0
    assert "Gold" in out.splitlines()[2]
    assert "Prediction" in out.splitlines()[2]
    assert "scan animal" in out
    assert "Other plans: " in out
    assert re.search(r"Work, gold: [\d.]+ units: .*vm_step \d+", out)


def test_texts_come_from_files_too(call: Call, file: Path, tmp_path: Path) -> None:
    (tmp_path / "one.sql").write_text(TEXT, encoding="utf-8")
    code, out, _ = call("lab", "explain", "--database", str(file), "--sql", "one.sql", "--json")
    assert code == 0
    [pair] = json.loads(out)["pairs"]
    assert pair["prediction"]["sql"] == TEXT
    assert pair["prediction"]["plan"]["real_rows"] == 2
    assert pair["prediction"]["counters"]["vm_step"] > 0
    assert pair["prediction"]["units"] == units("sqlite", pair["prediction"]["counters"])
    assert pair["comparison"] is None


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT missing FROM animal", "no such column: missing (SQLITE_ERROR)"),
        ("DROP TABLE animal", "the text is not a query, and only a query has a plan"),
        ("SELECT 1; DROP TABLE animal", "You can only execute one statement at a time."),
        ("EXPLAIN SELECT 1", "the text is not a query, and only a query has a plan"),
        ("", "the text is empty: there is no query in it"),
    ],
)
def test_a_text_that_fails_has_the_words_of_the_engine(call: Call, file: Path, sql: str, said: str) -> None:
    before = file.read_bytes()
    code, out, _ = call("lab", "explain", "--database", str(file), f"--sql={sql}", "--gold", TEXT)
    assert code == 0
    assert f"Prediction: {said}" in out
    assert "scan animal" in out  # gold's plan is there all the same
    assert file.read_bytes() == before


def test_a_text_that_does_not_end_says_so(call: Call, file: Path) -> None:
    endless = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT COUNT(*) FROM c"
    code, out, _ = call("lab", "explain", "--database", str(file), "--sql", endless, "--timeout", "0.3")
    assert code == 0
    assert "it did not end within 0.3 s" in out
    assert "recursion" in out


def test_a_question_of_a_set_is_explained_for_a_predictor(call: Call) -> None:
    arguments = ("--question", "1", "--question", "10", "--dialect", "sqlite")
    code, out, _ = call("lab", "explain", *arguments, "--predictor", "careless", "--json")
    assert code == 0
    pairs = json.loads(out)["pairs"]
    assert [(pair["question"], pair["predictor"], pair["dialect"]) for pair in pairs] == [
        ("1", "careless", "sqlite"), ("10", "careless", "sqlite"),
    ]  # fmt: skip
    code, out, _ = call("lab", "explain", *arguments, "--json")
    assert len(json.loads(out)["pairs"]) == 4


def test_a_run_is_explained_with_its_own_texts(call: Call, tmp_path: Path) -> None:
    assert call("eval", "--dialect", "sqlite", "--limit", "3", "--no-report", "--driver", "direct")[0] == 0
    code, out, _ = call("lab", "explain", "results/latest:careless", "--question", "1", "--json")
    assert code == 0
    [pair] = json.loads(out)["pairs"]
    lines = (tmp_path / "results/latest/results.jsonl").read_text(encoding="utf-8").splitlines()
    results = [json.loads(line) for line in lines]
    [sql] = [one["sql"] for one in results if one["predictor"] == "careless" and one["question"] == "1"]
    assert pair["prediction"]["sql"] == sql
    assert pair["gold"]["plan"]["operator"] == "query"
    code, _, errors = call("lab", "explain", "results/latest", "--question", "nine")
    assert code == 2
    assert "--question nine: results/latest has no result for it" in errors


SAME_ROWS = "SELECT COUNT(*) FROM Books WHERE Language = 'French' AND BookID IS NOT NULL"


def evaluated(call: Call, tmp_path: Path, *more: str) -> None:
    answers = tmp_path / "answers.jsonl"
    lines = [{"question_id": 1, "sql": SAME_ROWS}, {"question_id": 2, "sql": "SELECT 1"}]
    answers.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    code, _, _ = call(
        "eval", "--predictions", str(answers), "--predictor", "us", "--dialect", "sqlite", "--allow-missing",
        "--limit", "2", "--driver", "direct", *more,
    )  # fmt: skip
    assert code == 0


def kept(tmp_path: Path) -> list[str]:
    lines = (tmp_path / "results/latest/plans.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["sql"] for line in lines]


def test_an_evaluation_keeps_the_plans_of_what_matches(call: Call, tmp_path: Path) -> None:
    evaluated(call, tmp_path, "--plans")
    gold = "SELECT COUNT(BookID) FROM Books WHERE Language = 'French'"
    assert sorted(kept(tmp_path)) == sorted([gold, SAME_ROWS])
    assert read_plans(tmp_path / "results/latest")["sqlite", "city_library", gold].plan.root is not None
    # What is there is not explained again; the report is made of the folder alone.
    code, _, errors = call("lab", "explain", "results/latest", "--keep")
    assert code == 0
    assert "0 plans of 2 texts added" in errors
    assert call("report", "results/latest")[0] == 0
    code, _, errors = call("lab", "explain", "results/latest", "--keep", "--question", "2")
    assert "2 plans of 2 texts added" in errors
    assert len(kept(tmp_path)) == 4


def test_a_line_that_was_cut_off_is_explained_again_and_a_damaged_one_refused(
    call: Call, tmp_path: Path
) -> None:
    evaluated(call, tmp_path, "--plans", "--no-report")
    path = tmp_path / "results/latest/plans.jsonl"
    whole = path.read_text(encoding="utf-8")
    path.write_text(whole[:-20], encoding="utf-8")
    assert len(read_plans(path.parent)) == 1
    code, _, errors = call("lab", "explain", "results/latest", "--keep")
    assert "1 plans of 2 texts added" in errors
    assert len(read_plans(path.parent)) == 2
    path.write_text(f'{{"dialect": 1}}\n{whole}', encoding="utf-8")
    code, _, errors = call("lab", "explain", "results/latest", "--keep")
    assert code == 2
    assert "line 1 is not a plan" in errors


def test_where_nothing_matches_there_is_nothing_to_keep(call: Call, tmp_path: Path) -> None:
    evaluated(call, tmp_path, "--plans", "--question", "2")
    assert not (tmp_path / "results/latest/plans.jsonl").exists()
    code, _, errors = call("lab", "explain", "results/latest", "--keep")
    assert code == 2
    assert "no prediction matches" in errors


def test_markdown_is_printed_or_written(call: Call, file: Path, tmp_path: Path) -> None:
    arguments = (
        "lab",
        "explain",
        "--database",
        str(file),
        "--sql",
        OTHER,
        "--gold",
        TEXT,
        "--format",
        "markdown",
    )
    code, out, _ = call(*arguments)
    assert code == 0
    assert "|  | Gold | rows |  | Prediction | rows |" in out
    assert call(*arguments, "--out", "plans.md")[0] == 0
    assert (tmp_path / "plans.md").read_text(encoding="utf-8") == out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "name a question with --question, or a text with --sql and --database"),
        (("--sql", "SELECT 1"), "--sql: needs a database; name one with --database"),
        (("--gold", "SELECT 1"), "--gold: needs a query of your own; add --sql"),
        (("--database", "x"), "--database: needs a query of your own; add --sql"),
        (("--sql", "SELECT 1", "--database", "x", "--question", "1"), "leave out RUN"),
        (("results/latest", "--predictions", "x"), "--predictions: the run has its own"),
        (("--sql", "none.sql", "--database", "x"), "--sql none.sql: no such file"),
        (("--sql", "SELECT 1", "--database", "nothing"), "--db 'nothing': not in sample"),
        (("--question", "1", "--predictor", "nobody"), "--predictor nobody: no predictions by this name"),
        (("--question", "1", "--out", "x"), "--out x: needs a --format other than console"),
        (("--question", "1", "--timeout", "0"), "--timeout 0"),
        (("nothing", "--question", "1"), "nothing: no such folder"),
        (("--question", "1", "--keep"), "--keep: needs a run; name its folder"),
    ],
)
def test_bad_options_are_refused_in_a_line(call: Call, arguments: tuple[str, ...], said: str) -> None:
    code, _, errors = call("lab", "explain", *arguments)
    assert code == 2
    assert said in errors
    assert len(errors.strip().splitlines()) == 1


def node(operator: Operator, *children: PlanNode, **more: object) -> PlanNode:
    return PlanNode(operator, "?", children=children, **more)  # type: ignore[arg-type]


def pair(gold: PlanNode, prediction: PlanNode) -> ExplainedPair:
    texts = [
        ExplainedText("postgresql", "shop", f"SELECT {place}", QueryPlan(Ending.ROWS, root))
        for place, root in enumerate((gold, prediction))
    ]
    return ExplainedPair("postgresql", "shop", texts[0], texts[1], name="somebody", question="7")


FIGURES = {"estimated_rows": 1200.0, "real_rows": 3.5, "loops": 4, "cost": 0.25}
GOLD = node(Operator.SORT, node(Operator.SCAN, table="book", condition="[red]x\x1b[31m = '1'[/]", **FIGURES))
OURS = node(Operator.SORT, node(Operator.INDEX_SEARCH, table="book", index="by_author", **FIGURES))


@pytest.mark.parametrize("width", [80, 120, 200])
def test_plans_stand_beside_each_other_where_there_is_room(
    monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    file = StringIO()
    print_plans([pair(GOLD, OURS)], Console(file=file, width=width))
    lines = file.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    assert any("Gold" in line and "Prediction" in line for line in lines) is (width > 80)
    # Rows of all loops; nothing of anybody's text is markup, or obeyed by a terminal.
    assert "4,800" in file.getvalue()
    assert "\x1b" not in file.getvalue()
    assert "[red]" in file.getvalue()
    assert any(line.lstrip().startswith("~") for line in lines)
    assert "Other plans: 1 of 2 steps differ." in file.getvalue()


def test_markdown_of_a_pair_escapes_what_is_anybodys() -> None:
    text = plans_markdown([pair(GOLD, OURS)])
    assert "\\[red\\]" in text
    assert "\x1b" not in text


def test_the_same_plan_is_called_so() -> None:
    assert "The same plan, apart from rows, costs and conditions." in plans_markdown([pair(GOLD, GOLD)])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (0, "0"),
        (0.254, "0.254"),
        (3.0, "3"),
        (99.96, "100"),
        (1234.5, "1,234"),
        (2.5e12, "2.5e+12"),
    ],
)
def test_figures_are_short(value: float | None, text: str) -> None:
    assert spelled_rows(value) == text
