"""Columns of what answers took, beside scores: only where any is known, and never 0 for what is not."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.data.outcomes import AnswerUsage
from harness.report.console import console_text
from harness.report.documents import scores_of, tables
from harness.report.overview import totals
from harness.report.paper import PaperRequest, paper
from harness.report.table_model import figures
from harness.report.texts import csv_text, json_text, latex, markdown
from harness.runs.folder import write_usage
from harness.runs.reader import read_run
from harness.runs.summary import UsageByPair
from tests.harness.report.tables import result, results, write_run

SOME: UsageByPair = {
    (Dialect.SQLITE.value, "told", "0"): AnswerUsage(cost=0.25),
    **{
        (Dialect.SQLITE.value, "told", str(number)): AnswerUsage(100, number, float(number), 0.25)
        for number in (1, 2, 6)
    },
}


def run_of(parent: Path, usage: UsageByPair = SOME) -> Path:
    found = [*results(("told",), (Dialect.SQLITE, Dialect.MYSQL)), *results(("silent",), (Dialect.SQLITE,))]
    folder = write_run(parent, found)
    write_usage(folder, usage)
    return folder


def test_figures_are_means_medians_and_sums_of_what_is_known(tmp_path: Path) -> None:
    told, silent = (
        next(one for one in scores_of(read_run(run_of(tmp_path))) if (one.predictor, one.dialect) == whose)
        for whose in (("told", "sqlite"), ("silent", "sqlite"))
    )
    assert told.to_json()["usage"] == {
        "tokens": 103.0,
        "seconds_median": 2.0,
        "seconds_mean": 3.0,
        "cost": 1.0,
        "known": {"tokens": 3, "seconds": 3, "cost": 4},
    }
    assert silent.usage is not None
    assert silent.usage.tokens is silent.usage.seconds_median is silent.usage.cost is None


def test_every_form_has_them_beside_scores(tmp_path: Path) -> None:
    run = read_run(run_of(tmp_path))
    document = tables(run)
    for text in (console_text(document.grids), markdown(document, "R"), latex(document, "R")):
        for figure in ("103.0", "2.000", "3.000", "1.0000", "not known"):
            assert figure in text
        assert "of 12 answers are known, and counted: tokens 3, seconds 3, cost 4" in " ".join(text.split())
    assert "told,sqlite,tokens,usage,mean,103.0,,,3,12,12" in csv_text(document)
    assert "silent,sqlite,cost,usage,total,,,,,12,12" in csv_text(document)
    found = [one for table in json.loads(json_text(document))["tables"] for one in table["figures"]]
    assert [one["value"] for one in found if one["metric"] == "cost"] == [None, 1.0, None]


def test_no_figure_is_named_twice(tmp_path: Path) -> None:
    grids = tables(read_run(run_of(tmp_path))).grids
    named = [
        (one.predictor, one.engine, one.metric, one.by, one.level) for grid in grids for one in figures(grid)
    ]
    assert len(named) == len(set(named))


def test_the_totals_on_a_terminal_have_them_and_stand_in_the_order_of_scores(tmp_path: Path) -> None:
    run = read_run(run_of(tmp_path))
    grid = totals(scores_of(run), ["ex"], run.extent)
    assert [column.metric for column in grid.groups[0].columns] == ["ex", "tokens", "seconds", "cost"]
    cells = {row.labels[0]: [cell and cell.value for cell in row.cells] for row in grid.rows}
    assert cells["told"][1:4] == [103.0, 2.0, 1.0]
    assert cells["told"][5:] == [None, None, None]
    assert cells["silent"][1:4] == [None, None, None]
    # Not scored on MySQL: nothing is shown of it there.
    assert all(cell is None for row in grid.rows if row.labels == ("silent",) for cell in row.cells[4:])
    assert not any(cell and cell.mark for row in grid.rows for cell in row.cells[1:4])


def test_a_table_for_a_paper_has_those_that_are_asked_for(tmp_path: Path) -> None:
    run = read_run(run_of(tmp_path))
    plain = paper(run, PaperRequest())
    assert all(column.metric in {"ex", "soft_f1"} for column in plain.grids[0].columns)
    (grid,) = paper(run, PaperRequest(metrics=("ex",), columns=("total", "cost", "tokens"))).grids
    assert [column.metric for column in grid.groups[0].columns] == ["ex", "cost", "tokens"]
    levels = ("simple", "moderate", "challenging", "total", "seconds")
    (stacked,) = paper(run, PaperRequest(columns=levels)).grids
    assert stacked.labels[0] == "engine"
    assert [row.cells[-1] and row.cells[-1].value for row in stacked.rows if row.labels[1] == "told"] == [
        2.0,
        None,
    ]


def test_a_run_that_knows_nothing_is_as_ever(tmp_path: Path) -> None:
    run = read_run(run_of(tmp_path, {}))
    assert not (run.folder / "usage.jsonl").exists()
    assert all("usage" not in score.to_json() for score in scores_of(run))
    assert "usage" not in csv_text(tables(run))
    with pytest.raises(BadInput, match="--columns cost: not in this run"):
        paper(run, PaperRequest(columns=("cost",)))


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    folder = run_of(tmp_path)
    (folder / "usage.jsonl").write_text('{"dialect": "sqlite"}\n', encoding="utf-8")
    with pytest.raises(BadInput, match=r"usage\.jsonl: line 1"):
        read_run(folder)


def test_answers_without_a_result_are_not_counted(tmp_path: Path) -> None:
    folder = write_run(tmp_path, [result(1, "told", ex=1.0, soft_f1=1.0)])
    write_usage(folder, SOME)
    (score,) = scores_of(replace(read_run(folder)))
    assert score.usage is not None
    assert score.usage.cost == 0.25
