"""The table for a paper: what stands in it, what is marked, and that it is a page of LaTeX."""

import csv
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.data.outcomes import Outcome, PairResult
from harness.data.published_scores import PublishedTotals
from harness.data.published_sets import Provenance
from harness.labs.reproduce.tables import write_reproduction
from harness.report.documents import PublishedReference, published_beside
from harness.report.paper import PaperRequest, paper
from harness.report.table_model import DAGGER, Mark, texts
from harness.report.texts import csv_text, latex, markdown
from harness.runs.reader import Run, read_run
from tests.harness.conftest import Call
from tests.harness.report.tables import HOSTILE, compile_latex, question, result, write_run

QUESTIONS = 40
RIGHT = {"best": 36, "near": 34, "far": 12}
"""How many of the 40 questions each predictor has right."""
PUBLISHED = [
    PublishedTotals("ex", "The Far", "far", {Dialect.SQLITE: 31.0, Dialect.MYSQL: 99.0}),
    PublishedTotals("soft_f1", "Absent", "absent", {Dialect.SQLITE: 50.0}),
]
SET_FILES = {"mini_dev_sqlite.json": "0123456789abcdef", "mini_dev_sqlite_gold.sql": "fedc"}


def answers(predictor: str, right: int, dialects: Sequence[Dialect]) -> list[PairResult]:
    """The first so many right; for MySQL one more of each predictor is wrong."""
    return [
        replace(
            result(number, predictor, dialect, ex=float(is_right), soft_f1=1.0 if is_right else 0.5),
            outcome=Outcome.MATCH if is_right else Outcome.MISMATCH,
        )
        for dialect in dialects
        for number in range(QUESTIONS)
        for is_right in [number < right - (dialect is Dialect.MYSQL)]
    ]


def write(parent: Path, names: Sequence[str] = tuple(RIGHT), **manifest: object) -> Run:
    found = [
        one
        for name, right in zip(names, RIGHT.values(), strict=False)
        for one in answers(
            name, right, (Dialect.SQLITE, Dialect.MYSQL) if name != "near" else (Dialect.SQLITE,)
        )
    ]
    asked = [question(number) for number in range(QUESTIONS)]
    return read_run(write_run(parent, found, asked, **{"set": "mini_dev", "set_files": SET_FILES} | manifest))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return write(tmp_path_factory.mktemp("paper"))


def shown(
    run: Run, asked: PaperRequest | None = None, published: Sequence[PublishedTotals] = ()
) -> list[list[str]]:
    (grid,) = paper(run, asked or PaperRequest(), published).grids
    return [[*row.labels, *texts(grid, row)] for row in grid.rows]


def test_predictors_stand_down_and_metrics_of_engines_across_the_best_first(run: Run) -> None:
    (grid,) = paper(run, PaperRequest()).grids
    assert [(group.head, [column.head for column in group.columns]) for group in grid.groups] == [
        ("SQLite", ["EX", "Soft-F1"]),
        ("MySQL", ["EX", "Soft-F1"]),
    ]
    assert shown(run) == [
        ["best", "90.00", "95.00", "87.50", "93.75"],
        ["near", f"85.00{DAGGER}", f"92.50{DAGGER}", "", ""],
        ["far", "30.00", "65.00", "27.50", "63.75"],
    ]
    assert [cell and cell.mark for cell in grid.rows[0].cells] == [Mark.BEST] * 4
    text = " ".join(grid.notes)
    assert "Bold: the best of its column." in text
    assert f"{DAGGER} Not distinguishable from the best of its column (p \u2265 0.05 in a paired test" in text
    assert "6 tests without correction" in text


def test_the_caption_says_what_was_run_on_what(run: Run) -> None:
    (grid,) = paper(run, PaperRequest()).grids
    assert grid.title == "EX and Soft-F1 (%) on Mini-Dev, first revision"
    facts, versions, *_ = grid.notes
    assert facts == "12 questions, mini_dev_sqlite.json 01234567, profile official, limit 30 s."
    assert re.fullmatch(r"SQLite 3\.50, MySQL, bird-harness \S+ \(\w{8}\)\.", versions)


def test_golds_that_are_not_the_sets_own_are_said(tmp_path: Path) -> None:
    (grid,) = paper(write(tmp_path, reference="sqlite"), PaperRequest()).grids
    assert "Answers on servers are compared with the rows of SQLite's golds, by value." in grid.notes


def test_published_figures_stand_above_those_of_the_same_predictor(run: Run) -> None:
    assert shown(run, published=PUBLISHED) == [
        ["best", "own", "90.00", "95.00", "87.50", "93.75"],
        ["near", "own", f"85.00{DAGGER}", f"92.50{DAGGER}", "", ""],
        ["The Far", "published", "31.00", "-", "99.00", "-"],
        ["The Far", "own", "30.00", "65.00", "27.50", "63.75"],
        ["Absent", "published", "-", "50.00", "-", "-"],
    ]
    document = paper(run, PaperRequest(), PUBLISHED)
    (grid,) = document.grids
    assert [row.cells[2] and row.cells[2].mark for row in grid.rows] == [None, None, Mark.BEST, None, None]
    assert "Source published: as its authors report it. A dash: nothing is published." in grid.notes
    rows = list(csv.DictReader(StringIO(csv_text(document))))
    assert {(row["by"], row["predictor"]) for row in rows} == {
        ("difficulty", "best"), ("difficulty", "near"), ("difficulty", "far"), ("published", "far"),
        ("published", "absent"),
    }  # fmt: skip
    assert {row["mark"] for row in rows} == {"best", "not_distinguishable", ""}


def test_a_published_best_is_told_from_own_figures_by_their_intervals(run: Run) -> None:
    near = [PublishedTotals("ex", "Rival", "rival", {Dialect.SQLITE: 92.5})]
    (grid,) = paper(run, PaperRequest(metrics=["ex"], engines=["sqlite"]), near).grids
    assert [list(texts(grid, row)) for row in grid.rows] == [
        ["92.50"], [f"90.00{DAGGER}"], [f"85.00{DAGGER}"], ["30.00"],
    ]  # fmt: skip
    assert "(a published best within the 95 % interval)" in " ".join(grid.notes)


def test_what_is_shown_is_chosen(run: Run) -> None:
    asked = PaperRequest(["soft_f1"], ["sqlite"], ["far", "best"], ["simple", "interval", "n"])
    (grid,) = paper(run, asked).grids
    assert [row.labels for row in grid.rows] == [("far",), ("best",)], "in the order that was asked for"
    assert [column.head for column in grid.columns] == ["Soft-F1 simple", "Soft-F1"]
    cells = list(texts(grid, grid.rows[1]))
    assert cells[1:3] == ["40", "95.00"]
    assert re.fullmatch(r"\d+\.\d\u2013\d+\.\d", cells[3])


def test_what_is_too_wide_has_its_engines_one_below_the_other(run: Run) -> None:
    (grid,) = paper(run, PaperRequest(columns=["simple", "moderate", "challenging", "total"])).grids
    assert grid.labels == ("engine", "predictor")
    assert [row.labels for row in grid.rows] == [
        ("SQLite", "best"), ("SQLite", "near"), ("SQLite", "far"), ("MySQL", "best"), ("MySQL", "far"),
    ]  # fmt: skip
    assert [column.head for column in grid.groups[0].columns] == [
        "simple",
        "moderate",
        "challenging",
        "total",
    ]


def test_databases_that_are_not_the_published_ones_are_marked_and_noted(tmp_path: Path) -> None:
    run = write(tmp_path, provenance={"shop": "other", "zoo": "published"})
    (grid,) = paper(run, PaperRequest(), PUBLISHED).grids
    assert [row.labels[-1] for row in grid.rows] == ["own‡", "own‡", "published", "own‡", "published"]
    (note,) = [note for note in grid.notes if note.startswith("‡")]
    assert note.startswith("‡ Not Mini-Dev results: 1 of 2 databases are not the published ones.")


@pytest.mark.parametrize(
    ("asked", "fragment"),
    [
        (
            PaperRequest(metrics=["r_ves"]),
            r"--metrics r_ves: not in this run; choose from ex, soft_f1",
        ),
        (PaperRequest(engines=["postgresql"]), r"--engines postgresql: .* choose from sqlite, mysql"),
        (PaperRequest(predictors=["you"]), r"--predictors you: .* choose from best, near, far"),
        (
            PaperRequest(columns=["easy"]),
            r"--columns easy: .* simple, moderate, challenging, total, interval, n",
        ),
    ],
)
def test_what_is_not_there_is_one_clear_error(run: Run, asked: PaperRequest, fragment: str) -> None:
    with pytest.raises(BadInput, match=fragment):
        paper(run, asked)


def test_figures_published_for_another_set_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"--published x: .* are of mini_dev, and .* is of sample"):
        published_beside(write(tmp_path, set="sample"), Path("x"))


def test_the_command_writes_it_in_every_format_with_what_reproduce_kept(
    run: Run, call: Call, tmp_path: Path
) -> None:
    folder = str(run.folder)
    code, output, errors = call("report", folder, "--table", "paper", "--metrics", "ex")
    assert (code, errors) == (0, "")
    assert " ".join(output.split()).startswith(
        "EX (%) on Mini-Dev, first revision SQLite MySQL predictor EX EX"
    )
    write_reproduction(run, PublishedReference(PUBLISHED, {"shop": Provenance.PUBLISHED}))
    assert "\\label{tab:text-to-sql}" in (run.folder / "reproduce.tex").read_text(encoding="utf-8")
    (tmp_path / "to").mkdir()
    forms = [option for form in ("latex", "markdown", "csv", "json") for option in ("--format", form)]
    assert call("report", folder, "--table", "paper", *forms, "--out", "to")[0] == 0
    assert sorted(path.name for path in (tmp_path / "to").iterdir()) == [
        "paper.csv", "paper.json", "paper.md", "paper.tex",
    ]  # fmt: skip
    assert "| best | own | **90.00** | **95.00** |" in (tmp_path / "to" / "paper.md").read_text(
        encoding="utf-8"
    )
    content = json.loads((tmp_path / "to" / "paper.json").read_text(encoding="utf-8"))
    assert content["tables"][0]["figures"][0]["mark"] == "best"
    for name in ("reproduce.json", "reproduce.tex"):
        (run.folder / name).unlink()


@pytest.mark.parametrize(
    ("options", "fragment"),
    [
        (["--metrics", "ex"], "--metrics: needs --table paper"),
        (["--table", "paper", "--by", "outcome"], "--by: does not group --table paper"),
        (["--table", "paper", "--format", "html"], "--table paper: has no HTML format"),
        (["--table", "paper", "--published", "nowhere"], "nowhere: has none of ex.csv"),
    ],
)
def test_bad_usage_is_one_clear_error(run: Run, call: Call, options: list[str], fragment: str) -> None:
    code, _, errors = call("report", str(run.folder), *options)
    assert (code, len(errors.splitlines())) == (2, 1)
    assert fragment in errors


@pytest.mark.parametrize("paper_class", ["{article}", "[twocolumn]{article}"])
def test_it_is_a_page_of_latex_that_nothing_sticks_out_of(tmp_path: Path, paper_class: str) -> None:
    names = ["a-predictor-whose-name-is-" + "very-" * 20 + "long", HOSTILE[7], "far"]
    run = write(tmp_path / "run", names, provenance={"shop": "other"})
    asked = [PaperRequest(), PaperRequest(columns=["simple", "moderate", "challenging", "interval", "n"])]
    tables = [
        latex(paper(run, each, PUBLISHED), "Run").replace("{tab:text", f"{{tab:{at}")
        for at, each in enumerate(asked)
    ]
    compile_latex(tmp_path, paper_class, *tables, r"\ref{tab:0-to-sql}")


def test_markdown_has_its_caption_below(run: Run) -> None:
    text = markdown(paper(run, PaperRequest()), "Run")
    assert "- Bold: the best of its column." in text
    assert f"| near | 85.00{DAGGER} |" in text
