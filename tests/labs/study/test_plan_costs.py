"""E5: operators, estimates and costs of plans, over the sample's golds and made-up figures."""

import json
from pathlib import Path

import pytest
from rich.console import Console

from dialects.enums import Dialect
from harness.labs.study.base import BarChart
from harness.labs.study.command import StudyRequest, study
from harness.labs.study.parts import parts_by_name
from harness.labs.study.parts.plan_costs import _costs, _Held
from harness.report.table_model import TableModel
from harness.session.request import Request

SAME_ROWS = {
    1: "SELECT COUNT(*) FROM Books WHERE Language = 'French' AND BookID IS NOT NULL",
    3: "SELECT b.[Opening Hours] FROM branches AS b WHERE b.name = 'Hillcrest'",
}


def held(engine: Dialect, tau: float, cost: float | None, work: float | None) -> _Held:
    return _Held(engine, is_same_plan=False, tau=tau, cost=cost, work=work)


def values(grid: TableModel) -> dict[str, list[float | None]]:
    return {row.level: [cell.value if cell else None for cell in row.cells] for row in grid.rows}


def test_costs_that_follow_the_times_correlate_and_others_do_not() -> None:
    follows = [held(Dialect.MYSQL, tau, 10 * tau, tau) for tau in (0.1, 0.5, 1.5, 4.0)]
    against = [held(Dialect.POSTGRESQL, tau, 1 / tau, tau) for tau in (0.1, 0.5, 1.5, 4.0)]
    silent = [held(Dialect.SQLITE, tau, None, tau) for tau in (0.1, 0.5, 1.5, 4.0)]
    grid, chart = _costs([*follows, *against, *silent])
    assert isinstance(grid, TableModel)
    assert isinstance(chart, BarChart)
    pairs, same, cost, _, work, clear, cost_right, work_right = range(8)
    found = values(grid)
    assert found["mysql"][pairs] == 4
    assert found["mysql"][same] == 0
    assert found["mysql"][cost] == pytest.approx(1)
    assert found["mysql"][clear] == 3
    # A ratio of 1 and more says that the prediction is faster: 10 * 0.1 is 1, and says nothing.
    assert found["mysql"][cost_right] == pytest.approx(100 / 3)
    assert found["postgresql"][cost] == pytest.approx(-1)
    assert found["postgresql"][cost_right] == 0
    assert found["postgresql"][work_right] == 100
    assert found["sqlite"][cost] is None
    assert found["sqlite"][cost_right] is None
    assert found["sqlite"][work] == pytest.approx(1)
    assert [bar.name for bar in chart.bars] == [
        "MySQL, cost", "MySQL, work", "PostgreSQL, cost", "PostgreSQL, work", "SQLite, work",
    ]  # fmt: skip


def studied(out: Path, resume: Path | None = None) -> Path:
    answers = out / "answers.jsonl"
    lines = [{"question_id": key, "sql": sql} for key, sql in SAME_ROWS.items()]
    answers.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    request = Request(
        predictions=[answers], predictor="us", dialects=[Dialect.SQLITE], metrics=("ex",), limit=5, out=out,
        resume=resume, workers=1, allow_missing=True,
    )  # fmt: skip
    part = parts_by_name()["e5"]
    said: list[str] = []
    return study(StudyRequest(request, [part]), Console(quiet=True), said.append).folder


@pytest.mark.slow
@pytest.mark.thorough
def test_golds_and_right_predictions_are_explained_and_timed_once(tmp_path: Path) -> None:
    folder = studied(tmp_path)
    units = (folder / "journal.jsonl").read_text(encoding="utf-8")
    tables = (folder / "tables.md").read_text(encoding="utf-8")
    assert "SQLite 5 golds, SQLite 2 predictions" in tables
    assert "| scan |" in tables
    assert "SQLite: tells no estimates." in tables
    assert "| SQLite | 2 |" in tables
    # A study that goes on measures nothing again.
    assert studied(tmp_path, folder) == folder
    assert (folder / "journal.jsonl").read_text(encoding="utf-8") == units
