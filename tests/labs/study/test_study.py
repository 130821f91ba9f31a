"""The study: its parts, its journal, and that a broken one goes on without measuring anything twice."""

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from rich.console import Console

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.analyses.units import UnitJournal
from harness.labs.study.base import Analysis, BarChart, ChartBar, Output, StudyContext
from harness.labs.study.command import StudyRequest, study
from harness.labs.study.parts import parts_by_name
from harness.metrics.work import weights_digest
from harness.report.table_model import columns, row, table
from harness.session.request import Request
from tests.harness.conftest import Call

TEXTS = ("tables.md", "tables.csv", "tables.tex", "study.html")


class Counted:
    """A part of five units that counts its measurements, and may be broken off before one of them."""

    def __init__(self, broken_at: int | None = None) -> None:
        self.measured: list[int] = []
        self.broken_at = broken_at

    def run(self, context: StudyContext) -> Iterator[Output]:
        context.expect(5)
        values = [context.unit(("square", str(number)), partial(self.measure, number)) for number in range(5)]
        rows = [row([str(n)], value, str(n)) for n, value in enumerate(values)]
        yield table("Squares", ["number"], columns("number", ("square", "square")), rows)
        yield BarChart(
            "Squares",
            tuple(ChartBar(str(n), v[0], str(v[0]), (v[0] / 2, v[0])) for n, v in enumerate(values)),
            4,
        )

    def measure(self, number: int) -> tuple[int]:
        if number == self.broken_at:
            raise KeyboardInterrupt
        self.measured.append(number)
        return (number**2,)

    @property
    def part(self) -> Analysis:
        return Analysis("e0", "Squares of numbers", self.run)


def studied(
    out: Path, part: Analysis, resume: Path | None = None, say: Callable[[str], None] = print, **more: object
) -> Path:
    request = Request(dialects=[Dialect.SQLITE], metrics=("ex",), limit=3, out=out, resume=resume, workers=1)
    asked = StudyRequest(replace(request, **more), [part])  # type: ignore[arg-type]  # fields of a request
    return study(asked, Console(quiet=True), say).folder


def test_a_study_that_was_broken_off_goes_on_and_gives_the_same_tables(tmp_path: Path) -> None:
    said: list[str] = []
    broken = Counted(broken_at=3)
    with pytest.raises(KeyboardInterrupt):
        studied(tmp_path / "broken", broken.part, say=said.append)
    [folder] = (tmp_path / "broken").iterdir()
    assert f"interrupted in e0, after 3 of 5 units; the measurements are in {folder}" in said
    assert any(line.endswith("continues it") and str(folder) in line for line in said)
    assert not (folder / "tables.md").exists()
    again = Counted()
    assert studied(tmp_path, again.part, resume=folder) == folder
    assert (broken.measured, again.measured) == ([0, 1, 2], [3, 4])
    whole = Counted()
    other = studied(tmp_path / "whole", whole.part)
    assert whole.measured == [0, 1, 2, 3, 4]
    for name in TEXTS:
        assert (folder / name).read_text() == (other / name).read_text(), name
    nothing = Counted()
    studied(tmp_path, nothing.part, resume=folder)
    assert nothing.measured == []


def test_a_line_that_was_cut_off_is_measured_again(tmp_path: Path) -> None:
    folder = studied(tmp_path, Counted().part)
    journal = folder / "journal.jsonl"
    journal.write_bytes(journal.read_bytes()[:-4])
    again = Counted()
    studied(tmp_path, again.part, resume=folder)
    assert again.measured == [4]
    assert len(journal.read_text().splitlines()) == 5


@pytest.mark.parametrize(
    "line", ["[]", '{"part": "e0", "key": [1], "value": 2}', '{"part": "e0"}', "nothing"]
)
def test_a_line_that_is_no_unit_is_refused(tmp_path: Path, line: str) -> None:
    (tmp_path / "journal.jsonl").write_text(f"{line}\n")
    with pytest.raises(BadInput, match="line 1 is not a measured unit"):
        UnitJournal(tmp_path)


def test_a_study_of_something_else_is_not_resumed(tmp_path: Path) -> None:
    folder = studied(tmp_path, Counted().part)
    with pytest.raises(BadInput, match="describes another study: questions is 3 there and 2 now"):
        studied(tmp_path, Counted().part, resume=folder, limit=2)
    with pytest.raises(BadInput, match="is not the folder of a study"):
        studied(tmp_path, Counted().part, resume=tmp_path)


@pytest.mark.parametrize("weights", [None, "0" * 64])
def test_a_study_of_other_weights_is_not_resumed(tmp_path: Path, weights: str | None) -> None:
    """Advice is measured in units: that of other weights, or of none, is another workload's."""
    folder = studied(tmp_path, Counted().part)
    manifest = json.loads((folder / "study.json").read_text(encoding="utf-8"))
    assert manifest.pop("weights") == weights_digest()
    if weights is not None:
        manifest["weights"] = weights
    (folder / "study.json").write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(BadInput, match=r"describes another study: weights is .* there and .* now"):
        studied(tmp_path, Counted().part, resume=folder)


def test_a_study_is_written_by_one_process_at_a_time(tmp_path: Path) -> None:
    folder = studied(tmp_path, Counted().part)
    with closing(UnitJournal(folder)), pytest.raises(BadInput, match="another process is writing it"):
        studied(tmp_path, Counted().part, resume=folder)


def test_every_part_has_its_name_and_title() -> None:
    parts = parts_by_name()
    assert "e1" in parts
    assert all(name == part.name and part.title for name, part in parts.items())


@pytest.mark.slow
@pytest.mark.thorough
def test_the_command_writes_tables_and_a_page(call: Call, tmp_path: Path) -> None:
    code, out, said = call("lab", "study", "--part", "e1", "--dialect", "sqlite", "--out", str(tmp_path))
    assert code == 0
    assert "E1: " in out
    [folder] = tmp_path.iterdir()
    assert f"written to {folder}" in said
    manifest = json.loads((folder / "study.json").read_text())
    assert manifest["command"] == [
        "bird-harness",
        "lab",
        "study",
        "--set=sample",
        "--dialect=sqlite",
        "--part=e1",
    ]
    code, again, _ = call("lab", "study", "--resume", str(folder))
    assert (code, again) == (0, out)
    assert [path.name for path in tmp_path.iterdir()] == [folder.name]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--part", "e9"], "--part e9: is not known; choose from e1"),
        (["--set", "nowhere"], "nowhere"),
        (["--set", "sample", "--set", "nowhere"], "nowhere"),
        (["--dialect", "oracle"], "'oracle' is not a dialect"),
        (["--limit", "0"], "--limit 0"),
        (["--resume", "."], "is not the folder of a study"),
        (["--timeout", "0"], "--timeout 0"),
    ],
)
def test_bad_options_are_one_line(call: Call, options: list[str], told: str, tmp_path: Path) -> None:
    code, _, said = call("lab", "study", "--out", str(tmp_path / "out"), *options)
    assert code == 2
    assert told in said
    assert len(said.strip().splitlines()) == 1
    assert not (tmp_path / "out").exists()
