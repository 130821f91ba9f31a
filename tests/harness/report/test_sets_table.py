"""Several sets in one table: whose figure is where, which interval a change has, and how runs may differ."""

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.data.questions import Question
from harness.metrics.statistics import independent_difference, paired_difference, wilson
from harness.report.paper import PaperRequest
from harness.report.sets_table import sets_table
from harness.report.table_model import MINUS, Document, TableModel, texts
from harness.report.texts import csv_text, json_text, latex, markdown
from harness.runs.reader import Run, read_run
from tests.harness import own_sets as sets
from tests.harness.conftest import Call
from tests.harness.report.tables import compile_latex, question, write_run
from tests.harness.run_folders import right_on

SQL = "SELECT {} FROM shop"
BASE = [
    replace(question(number, SQL.format(number // 2)), db_id="d", text=f"text {number} of {number // 2}")
    for number in range(30)
]
"""Every two questions have the same gold."""
OTHERS = [
    replace(one, gold={Dialect.SQLITE: f"SELECT 0{one.key}"}, text=f"another {one.key}") for one in BASE
]
PART = [replace(BASE[2 * number + 1], key=str(number), text=f"TEXT {2 * number + 1}") for number in range(15)]
"""The second question of each gold in fewer words, at another position."""


def run(
    parent: Path,
    name: str,
    asked: Sequence[Question],
    right: Mapping[str, Sequence[int]],
    **manifest: object,
) -> Run:
    """A run of a set with these questions; each predictor is right on these positions."""
    found = [one for who, numbers in right.items() for one in right_on(numbers, who, questions=len(asked))]
    return read_run(write_run(parent / name, found, asked, **{"set": name, "collection": name} | manifest))


def table(*runs: Run, **asked: Sequence[str]) -> tuple[TableModel, TableModel]:
    scores, changes = sets_table(
        runs, PaperRequest(**{"metrics": ["ex"], "columns": ["total"]} | asked)
    ).grids
    return scores, changes


def rows(grid: TableModel) -> list[list[str]]:
    return [[*row.labels, *(text.rstrip("†") for text in texts(grid, row))] for row in grid.rows]


@pytest.fixture
def base(tmp_path: Path) -> Run:
    return run(tmp_path, "spider", BASE, {"p": range(24), "q": range(27)})


def test_questions_in_other_words_are_compared_in_pairs(base: Run, tmp_path: Path) -> None:
    said = [
        replace(one, text="?", gold={Dialect.SQLITE: one.gold[Dialect.SQLITE].replace(" ", "  ")})
        for one in BASE
    ]
    title, page = "Spider-Syn", "https://example.org"
    other = run(tmp_path, "a", said, {"p": range(21)}, published={"title": title, "page": page})
    scores, changes = table(base, other)
    assert [group.head for group in scores.groups] == ["Spider", title]
    assert rows(scores) == [["q", "90.00", ""], ["p", "80.00", "70.00"]]
    assert f"{title}: 30 questions ({page})." in scores.notes
    expected = paired_difference([1.0] * 24 + [0.0] * 6, [1.0] * 21 + [0.0] * 9).interval
    assert expected is not None
    cell = changes.rows[1].cells[1]
    assert cell is not None
    assert cell.value == pytest.approx(-10)
    assert cell.questions == 30
    assert cell.interval == pytest.approx([100 * bound for bound in expected], abs=1)
    assert rows(changes)[0] == ["q", "", "", ""], "not lost, and nothing to compare"
    (note,) = changes.notes
    assert note.startswith("Spider-Syn: paired bootstrap on the 30 questions that it shares with Spider")


def test_a_part_of_the_questions_is_compared_with_that_part_of_the_base(tmp_path: Path) -> None:
    base = run(tmp_path, "spider", BASE, {"p": range(1, 24, 2)})
    scores, changes = table(base, run(tmp_path, "part", PART, {"p": range(12)}))
    assert rows(scores) == [["p", "40.00", "80.00"]]
    # The part has the questions 1, 3, ..., 29 in other words, and has those right that the base has right.
    assert rows(changes) == [["p", "80.00", "0.00", "-"]]
    assert "the 15 questions" in changes.notes[0]


def test_other_questions_are_compared_by_the_intervals_of_both_totals(base: Run, tmp_path: Path) -> None:
    _, changes = table(base, run(tmp_path, "dk", [*OTHERS[:20], *BASE[20:25]], {"p": range(15)}))
    bounds = wilson(24, 30), wilson(15, 25)
    assert bounds[0] is not None
    assert bounds[1] is not None
    expected = independent_difference(0.8, bounds[0], 0.6, bounds[1])
    cell = changes.rows[1].cells[1]
    assert cell is not None
    assert cell.value == pytest.approx(-20)
    assert cell.interval == pytest.approx([100 * bound for bound in expected])
    (note,) = changes.notes
    assert note.startswith("dk: unpaired, from the intervals of both totals")
    assert note.endswith("the interval ignores that Spider has 5 of its 25.")


def test_runs_of_one_set_share_its_columns_and_how_they_differ_is_said(base: Run, tmp_path: Path) -> None:
    another = run(tmp_path, "spider", BASE, {"r": range(3)}, limits={"seconds": 5.0})
    other = run(tmp_path, "dk", OTHERS, {"r": range(6)}, reference="sqlite")
    scores, changes = table(base, another, other)
    assert rows(scores) == [["q", "90.00", ""], ["p", "80.00", ""], ["r", "10.00", "20.00"]]
    assert rows(changes)[2][1:3] == ["10.00", "+10.00"]
    text = " ".join(scores.notes)
    first, second = (f"Spider ({one.manifest['run_id']})" for one in (base, another))
    assert f'limits: {{"seconds": 30.0}} in {first}, {{"seconds": 5.0}} in {second}.' in text
    assert "dk: Answers on servers are compared with the rows of SQLite's golds" in text


def test_levels_metrics_and_predictors_are_chosen(base: Run, tmp_path: Path) -> None:
    other = run(tmp_path, "dk", OTHERS, {"p": range(9)})
    document = sets_table(
        [base, other], PaperRequest(["soft_f1"], predictors=["p"], columns=["simple", "interval"])
    )
    scores, _ = document.grids
    assert scores.title == "Soft-F1 (%) on SQLite"
    assert [column.head for column in scores.columns] == ["simple", "total"] * 2
    assert len(rows(scores)) == 1
    assert len(sets_table([base, other], PaperRequest(columns=())).grids) == 4
    alone = run(tmp_path, "syn", OTHERS, {"r": [1]})
    assert len(sets_table([base, alone], PaperRequest(["ex"])).grids) == 1, "nobody has a change"


@pytest.mark.parametrize(
    ("runs", "fragment"),
    [
        ([BASE], r"--table sets: the runs are all of Spider; name runs of two sets or more"),
        ([BASE, BASE], r"all of Spider"),
        ([BASE, OTHERS, BASE], r"an earlier run of Spider has p on SQLite, too; leave out one of the two"),
    ],
)
def test_runs_that_make_no_table_are_one_clear_error(
    tmp_path: Path, runs: Sequence[Sequence[Question]], fragment: str
) -> None:
    names = ["spider" if asked is BASE else "dk" for asked in runs]
    found = [run(tmp_path, name, asked, {"p": [1]}) for name, asked in zip(names, runs, strict=True)]
    with pytest.raises(BadInput, match=fragment):
        table(*found)


@pytest.mark.parametrize(
    ("options", "fragment"),
    [
        (["two", "--table", "paper"], "--table paper: shows one run"),
        (["two", "--table", "all"], "--table all: shows one run"),
        (["--table", "sets"], "name runs of two sets or more"),
        (["two", "--by", "type"], "--by: does not group --table sets"),
        (["two", "--format", "html"], "--table sets: has no HTML format"),
        (["two", "--published", "x"], "--published: needs --table paper and one run"),
        (["two", "--columns", "extra"], "--columns extra: not in this run; choose from simple, moderate"),
        (["nowhere"], "nowhere: has no manifest.json"),
    ],
)
def test_bad_usage_is_one_clear_error(
    base: Run, tmp_path: Path, call: Call, options: list[str], fragment: str
) -> None:
    two = str(run(tmp_path, "dk", OTHERS, {"p": [1]}).folder)
    code, _, errors = call("report", str(base.folder), *(two if one == "two" else one for one in options))
    assert (code, len(errors.splitlines())) == (2, 1)
    assert fragment in errors


def document_of(base: Run, tmp_path: Path) -> Document:
    """Four sets with all levels, and a predictor that one of them lacks."""
    others = [
        run(tmp_path, name, OTHERS, {"p": range(9), **({} if name == "dk" else {"q": range(20)})})
        for name in ("dk", "syn_%", "realistic")
    ]
    return sets_table([base, *others], PaperRequest(columns=()))


def test_programs_read_the_set_of_each_figure(base: Run, tmp_path: Path) -> None:
    document = document_of(base, tmp_path)
    found = list(csv.DictReader(StringIO(csv_text(document))))
    assert [row["set"] for row in found if row["predictor"] == "q" and row["level"] == "simple"] == [
        "Spider", "syn_%", "realistic",
    ] * 2  # fmt: skip
    assert {(row["by"], row["planned"]) for row in found} == {
        ("difficulty", "30"), ("base", "30"), ("change", "30"),
    }  # fmt: skip
    figures = json.loads(json_text(document))["tables"][1]["figures"]
    assert figures[1]["set"] == "syn_%"
    assert "| q | 86.67 |" not in markdown(document, "Runs")
    assert "| predictor | Spider simple |" in markdown(document, "Runs")


@pytest.mark.slow
@pytest.mark.thorough
def test_it_is_a_page_of_latex_that_nothing_sticks_out_of(base: Run, tmp_path: Path) -> None:
    text = latex(document_of(base, tmp_path), "Runs")
    assert r" & \multicolumn{4}{c}{Spider} & \multicolumn{4}{c}{dk} & \multicolumn{4}{c}{syn\_\%}" in text
    compile_latex(tmp_path, "[twocolumn]{article}", text)


@pytest.mark.slow
@pytest.mark.thorough
def test_four_sets_in_spiders_layout_make_one_table(tmp_path: Path, call: Call) -> None:
    paths = sets.robust(tmp_path / "sets")
    titles = ["Spider", "Spider-Syn", "Spider-DK", "Spider-Realistic"]
    folders = []
    for title in titles:
        golds = {"Spider-Realistic": sets.ASKED[1:], "Spider-DK": sets.ASKED[:3]}.get(title, sets.ASKED)
        answers = [
            {
                "question_id": place,
                "predictor": who,
                "dialect": "sqlite",
                "sql": gold if place or who == "all" else "SELECT 0",
            }
            for who in (("all",) if title == "Spider-DK" else ("all", "some"))
            for place, (_, gold) in enumerate(golds)
        ]
        sets.write(tmp_path / f"{title}.jsonl", sets.lines(answers))
        out = str(tmp_path / title)
        code, _, errors = call(
            "eval", "--set", str(paths[title]), "--predictions", str(tmp_path / f"{title}.jsonl"),
            "--dialect", "sqlite", "--metrics", "ex", "--out", out, "--workers", "1", "--no-report",
        )  # fmt: skip
        assert code == 0, errors
        folders.append(f"{out}/latest")
    code, printed, errors = call("report", *folders, "--format", "markdown")
    assert (code, errors) == (0, "")
    levels = ("easy", "medium", "hard", "extra", "all")
    assert (
        f"| predictor | {' | '.join(f'{title} {level}' for title in titles for level in levels)} |" in printed
    )
    assert (
        "| some | 50.00 | 100.00 | 100.00 | - | 75.00† | 50.00 | 100.00 | 100.00 | - | 75.00† |"
        "  |  |  |  |  | 100.00 | 100.00 | 0.00 | - | 66.67† |"
    ) in printed
    change = f"{MINUS}33.33 | {MINUS}100.0 to 0.0"
    assert f"| some | 75.00 | 0.00 | - |  |  |  | 100.00 | {change} |" in printed
    assert "Spider-DK: unpaired" in printed
