"""Every figure of a run is the same text wherever it stands: on a terminal, in every file, in the page."""

import csv
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from dialects.enums import Dialect
from harness.data.outcomes import Outcome
from harness.engines.errors import ErrorClass
from harness.report.console import console_text
from harness.report.documents import tables
from harness.report.html import write_html
from harness.report.table_model import DASH, Document, TableModel, spelled, spelled_range, texts
from harness.report.texts import csv_text, json_text, latex, markdown
from harness.runs.reader import Run, read_previews, read_questions, read_run
from tests.harness.html.conftest import View
from tests.harness.html.made_up import question, result
from tests.harness.real_runs import evaluated, recorded
from tests.harness.report.tables import write_run


def _uneven(parent: Path) -> Path:
    """Means that stand half-way between two roundings, and intervals of every kind."""
    results = []
    for place, dialect in enumerate(list(Dialect)[:4]):  # as many as a terminal is wide for
        for predictor in range(4):
            for number in range(1, 33 if place else 17):
                outcome = Outcome.MATCH if number % (predictor + 2) == place else Outcome.MISMATCH
                results.append(result(question(number), f"p{predictor}", dialect, outcome, "SELECT 1"))
    asked = [question(number) for number in range(1, 33)]
    manifest = {**recorded(), "metrics": ["ex", "soft_f1"]}
    manifest["engines"] = dict.fromkeys(Dialect, manifest["engines"]["sqlite"])
    # Not every predictor answers every question, so that this is no run's plan.
    del manifest["questions"], manifest["planned"]
    return write_run(parent, results, asked, **manifest)


@pytest.fixture(scope="module", params=[pytest.param("real", marks=pytest.mark.slow), "uneven"])
def finished(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("finished")
    return read_run(evaluated(folder) if request.param == "real" else _uneven(folder))


def rows_of(document: Document) -> Iterator[tuple[TableModel, Sequence[str], list[str]]]:
    for grid in document.grids:
        for row in grid.rows:
            yield grid, row.labels, list(texts(grid, row))


@pytest.mark.slow
def test_every_cell_of_every_table_is_the_same_text_in_every_text_format(finished: Run) -> None:
    document = tables(finished)
    expected = [[*labels, *cells] for _, labels, cells in rows_of(document)]
    assert len(expected) > 4
    in_markdown = [
        [re.sub(r"\\(.)", r"\1", cell) for cell in line[2:-2].split(" | ")]
        for line in markdown(document, "t").splitlines()
        if line.startswith("| ")
    ]
    assert [row for row in in_markdown if row in expected] == expected
    in_latex = [
        line.removesuffix(r" \\").replace("{-}", "-").replace("--", DASH).split(" & ")
        for line in latex(document, "t").splitlines()
    ]
    assert [row for row in in_latex if row in expected] == expected
    on_terminal = [line.split() for line in console_text(document.grids).splitlines()]
    for row in expected:
        assert " ".join(row).split() in on_terminal, row


def test_files_for_programs_have_what_is_printed_with_all_its_digits(finished: Run) -> None:
    document = tables(finished)
    printed = [text for _, _, cells in rows_of(document) for text in cells if text != ""]
    content = json.loads(json_text(document))["tables"]
    figures = [figure for table in content for figure in table["figures"]]
    rows = list(csv.DictReader(StringIO(csv_text(document))))
    columns = [
        column
        for grid in document.grids
        for row in grid.rows
        for column, cell in zip(grid.columns, row.cells, strict=True)
        if cell is not None
    ]
    for read in (figures, rows):
        assert len(read) == len(columns)
        again = []
        for column, figure in zip(columns, read, strict=True):
            if column.has_questions:
                again.append(str(figure["questions"]))
            again.append(spelled(_number(figure["value"]), column.kind))
            if column.has_interval:
                low, high = _number(figure["low"]), _number(figure["high"])
                again.append(spelled_range(None if low is None or high is None else (low, high)))
        assert again == printed


def _number(value: Any) -> float | None:
    return None if value in ("", None) else float(value)


def test_the_page_shows_every_figure_of_the_metrics_as_the_tables_print_it(
    view: View, finished: Run, tmp_path: Path
) -> None:
    path = tmp_path / "report.html"
    write_html(finished, read_questions(finished.folder), read_previews(finished.folder), path)
    page = view(path).go()
    metrics = [grid for grid in tables(finished).grids if grid.columns[0].by == "difficulty"]
    for grid in metrics:
        if len(metrics) > 1:
            page.get_by_label("Metric").select_option(grid.columns[0].metric)
        expected = [[*row.labels, *texts(grid, row)] for row in grid.rows]
        assert table(page, "#scores ~ .scroll table.scores") == expected
        titles = page.locator("#scores ~ figure title").all_text_contents()
        drawn = [
            f"{row.labels[0]}, {group.head}: {cells[-2]}{f' ({cells[-1]})' if cells[-1] != '-' else ''}"
            for row in grid.rows
            for place, group in enumerate(grid.groups)
            if (cells := list(texts(grid, row))[place * 5 : place * 5 + 5])
        ]
        assert [title for title in titles if ": " in title] == drawn
        levels = page.locator("#difficulty ~ .panels title").all_text_contents()
        by_level = [
            f"{row.labels[0]}, {column.level}: {text}"
            for group_place in range(len(grid.groups))
            for row in grid.rows
            for column, text in zip(grid.columns[:3], list(texts(grid, row))[group_place * 5 :], strict=False)
            if text != "-"
        ]
        assert [title for title in levels if ": " in title] == by_level
    (outcomes,) = (grid for grid in tables(finished).grids if grid.columns[0].by == "outcome")
    bars = [bar.get_attribute("title") or "" for bar in page.locator(".bars .stack a").all()]
    assert bars == [
        f"{column.head}: {text} of {sum(int(cell.value or 0) for cell in row.cells if cell)}"
        for row in outcomes.rows
        for column, text in zip(outcomes.columns, texts(outcomes, row), strict=True)
        if text != "0"
    ]


def test_a_mean_that_leaves_pairs_out_has_its_count_beside_it_in_every_form(
    view: View, tmp_path: Path
) -> None:
    whole = read_run(_uneven(tmp_path))
    asked = list(read_questions(whole.folder).values())
    results = [
        replace(one, scores={"ex": one.scores["ex"]})
        if one.predictor == "p1" and one.dialect == Dialect.MYSQL and int(one.question_id) < 4
        else one
        for one in whole.results
    ]
    of = {name: value for name, value in whole.manifest.items() if name in {"engines", "left_out"}}
    run = read_run(write_run(tmp_path / "partial", results, asked, **of))
    document = tables(run)
    ex, soft_f1, *_ = document.grids
    assert not any(column.has_questions for column in ex.columns)
    (cells,) = (list(texts(soft_f1, row)) for row in soft_f1.rows if row.predictor == "p1")
    assert [cells[3], cells[9], cells[15]] == ["16", "29", "32"]
    heads = "| SQLite challenging | SQLite questions | SQLite total |"
    assert heads in markdown(document, "t")
    path = tmp_path / "report.html"
    write_html(run, read_questions(run.folder), read_previews(run.folder), path)
    page = view(path).go()
    page.get_by_label("Metric").select_option("soft_f1")
    expected = [[*row.labels, *texts(soft_f1, row)] for row in soft_f1.rows]
    assert table(page, "#scores ~ .scroll table.scores") == expected


def test_the_page_counts_error_classes_as_the_tables_do(view: View, finished: Run, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_html(finished, read_questions(finished.folder), read_previews(finished.folder), path)
    found = [grid for grid in tables(finished).grids if grid.columns[0].by == "error_class"]
    page = view(path).go()
    shown = table(page, "#classes ~ .scroll table")
    for grid in found:
        assert [row[2:] for row in shown] == [
            ["·" if text == "0" else text for text in texts(grid, row)] for row in grid.rows
        ]
    assert bool(found) == any(each.error_class in ErrorClass for each in finished.results if each.error_class)


def table(page: Page, where: str) -> list[list[str]]:
    return [
        [" ".join(cell.split()) for cell in row.locator("th, td").all_inner_texts()]
        for row in page.locator(f"{where} tbody tr").all()
    ]


def test_what_was_left_out_stands_in_the_page_as_in_the_tables(view: View, tmp_path: Path) -> None:
    run = read_run(evaluated(tmp_path, "--limit", "2"))
    page = view(run.folder / "report.html").go()
    lines = [fact for fact in tables(run).facts if fact.startswith("Left out: ")]
    assert [line.split(":")[1] for line in lines] == [" mysql", " postgresql"]
    assert [line for line in page.locator(".notice").all_inner_texts() if line in lines] == lines
