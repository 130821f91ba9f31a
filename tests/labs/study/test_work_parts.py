"""E6 and E7: repeated counts, work beside time, and the VES family, on the sample and on made-up figures."""

import hashlib
import json
from dataclasses import replace
from math import sqrt
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from dialects.enums import Dialect
from harness.data.sets.loader import load_set
from harness.labs.study.base import BarChart, RightPair
from harness.labs.study.command import StudyRequest, study
from harness.labs.study.parts import chosen_parts
from harness.labs.study.parts.counted_work import TimedMatch, correlations, disagreements, spread_of
from harness.metrics.efficiency import Clock, Timing, reward, tolerant
from harness.metrics.work import WEIGHTS
from harness.report.table_model import TableModel
from harness.session.request import Request
from loaders.server import Server

RIGHT = {
    1: "SELECT COUNT(*) FROM Books WHERE Language = 'French' AND BookID IS NOT NULL",
    3: "SELECT b.[Opening Hours] FROM branches AS b WHERE b.name = 'Hillcrest'",
}
PLAIN = {1: "SELECT COUNT(*) FROM Books WHERE Language = 'French' AND 1 = 1"}


def studied(  # noqa: PLR0913 - one argument a choice
    out: Path,
    answers: dict[int, str],
    *,
    dialect: Dialect = Dialect.SQLITE,
    parts: tuple[str, ...] = ("e6", "e7"),
    with_times: bool = False,
    resume: Path | None = None,
) -> Path:
    file = out / "answers.jsonl"
    lines = [{"question_id": key, "sql": sql} for key, sql in answers.items()]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    request = Request(
        predictions=[file], predictor="us", dialects=[dialect], metrics=("ex",), limit=5, out=out / "runs",
        resume=resume, workers=1, allow_missing=True,
    )  # fmt: skip
    asked = StudyRequest(request, chosen_parts(parts), named_parts=parts, with_times=with_times)
    return study(asked, Console(quiet=True), lambda _: None).folder


def units(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "journal.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.slow
def test_every_text_is_counted_twice_the_same_and_its_digest_is_of_the_file(tmp_path: Path) -> None:
    folder = studied(tmp_path, RIGHT, parts=("e6",))
    assert [unit["key"][:2] for unit in units(folder)].count(["work", "0"]) == 4
    assert [unit["key"][:2] for unit in units(folder)].count(["work", "1"]) == 4
    content = (folder / "work-sqlite.jsonl").read_bytes()
    digest = hashlib.sha256(content).hexdigest()[:16]
    assert f"| SQLite | {digest} | 4 | 0 | 0 | 0 | 0.00 |" in (folder / "tables.md").read_text()
    (tmp_path / "again").mkdir()
    again = studied(tmp_path / "again", RIGHT, parts=("e6",))
    assert (again / "work-sqlite.jsonl").read_bytes() == content


@pytest.mark.slow
@pytest.mark.thorough
def test_both_parts_measure_a_pair_once_and_resume_without_measuring(tmp_path: Path) -> None:
    folder = studied(tmp_path, RIGHT, with_times=True)
    keys = [tuple(unit["key"]) for unit in units(folder)]
    assert len(keys) == len(set(keys)) == 8 + 2 * 2
    before = [(folder / name).read_bytes() for name in ("journal.jsonl", "tables.md", "tables.csv")]
    assert studied(tmp_path, RIGHT, with_times=True, resume=folder) == folder
    assert [(folder / name).read_bytes() for name in ("journal.jsonl", "tables.md", "tables.csv")] == before


@pytest.mark.slow
def test_the_family_is_computed_from_its_units_and_the_script_runs_on_request_alone(tmp_path: Path) -> None:
    folder = studied(tmp_path, RIGHT, parts=("e7",))
    assert {unit["key"][1] for unit in units(folder) if unit["key"][0] == "time"} == {"stable"}
    text = (folder / "tables.md").read_text()
    assert "| predictor | engine | right | R-VES stable | R-VES work | VES work |" in text
    stable = [unit["value"]["reward"] for unit in units(folder) if unit["key"][0] == "time"]
    expected = 100 * sum(map(sqrt, stable)) / 5
    assert f"| us | SQLite | 2 | {expected:.2f} |" in text


@pytest.mark.engine
@pytest.mark.thorough
def test_on_a_server(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIRD_PROVISION", "dsn")
    address = f"{server.dialect}://{server.user}:{server.password}@{server.address}"
    monkeypatch.setenv(f"BIRD_{server.dialect.upper()}_DSN", address)
    folder = studied(tmp_path, PLAIN, dialect=Dialect(server.dialect))
    text = (folder / "tables.md").read_text()
    assert "| 2 | 0 | 0 | 0 | 0.00 |" in text
    assert "| us | " in text


def held(tau: float, timed: float, width: float = 1.05, predictor: str = "p", sql: str = "") -> TimedMatch:
    question = load_set("sample", None).questions[0]
    timing = Timing(
        timed, timed / width, timed * width, 16, 34, Clock.CLIENT, 0.95, True, reward(tolerant(timed))
    )
    pair = RightPair("sqlite", predictor, question, sql or f"SELECT {tau} + {timed}", "SELECT 1")
    return TimedMatch(pair, tau, timing)


def test_correlations_are_of_all_pairs_and_of_those_that_time_decides() -> None:
    some = [held(0.2, 0.2), held(0.5, 0.6), held(1.0, 1.01), held(1.02, 0.99), held(3.0, 4.0)]
    some[0] = replace(some[0], timing=replace(some[0].timing, decided=False))
    grid, chart = correlations(["sqlite"], some)
    assert isinstance(grid, TableModel)
    assert isinstance(chart, BarChart)
    found = {row.level: [cell.value for cell in row.cells if cell] for row in grid.rows}
    assert found["all"] == [5, pytest.approx(0.9), 100]
    assert found["decided"][0] == 4
    assert found["apart from 1"] == [3, pytest.approx(1), 100]


def test_what_disagrees_most_comes_first_and_once_a_text() -> None:
    some = [held(1.0, 1.0), held(8.0, 1.0, predictor="a", sql="x"), held(8.0, 1.0, predictor="b", sql="x")]
    grid = disagreements(["sqlite"], some)
    assert [row.predictor for row in grid.rows] == ["a, b", "p"]


def test_the_spread_is_of_the_smaller_work_and_of_whole_counts_alone() -> None:
    weighs = next(iter(json.loads(WEIGHTS.read_text())["sqlite"]["weights"]))
    assert spread_of("sqlite", [{"counters": {weighs: 100}}, {"counters": {weighs: 110}}]) == pytest.approx(
        0.1
    )
    assert spread_of("sqlite", [{"counters": {weighs: 100}}, {"ending": "timeout"}]) is None
