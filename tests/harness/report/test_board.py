"""The board shows what receipts confirm, tells predictors apart by tests, and names what it leaves out."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from dialects.enums import Dialect
from harness.data.outcomes import PairResult
from harness.data.published_sets import published
from harness.report.board import read_board, write_board
from harness.report.table_model import DASH
from harness.runs.bundle import Receipt, pack, write_receipt
from harness.runs.reader import read_run
from tests.harness.run_folders import right_on, write_run

QUESTIONS = 60
PATH = re.compile(r"<[^>]+>")


def bundled(
    folder: Path,
    name: str,
    results: Sequence[PairResult],
    *,
    day: int = 1,
    confirmed: bool | None = True,
    **claims: Any,
) -> Path:
    """A bundle of a run with these results on a day of May, with a receipt unless `confirmed` is None."""
    whose = {(one.predictor, one.dialect) for one in results}
    scores = [
        {"predictor": who, "dialect": dialect, "questions": QUESTIONS} for who, dialect in sorted(whose)
    ]
    manifest = {
        "planned": {
            "pairs": len(results),
            "questions": QUESTIONS,
            "set_questions": QUESTIONS,
            "scores": scores,
        },
        "limits": {"seconds": 30.0},
        "engines": {dialect: {"version": "1.2", "settings": {}} for _, dialect in whose},
        "set_files": {"questions.json": "f" * 64},
        "databases": {"d": "d" * 64},
        **claims,
    }
    run = write_run(folder / f"{name}-run", results, **manifest)
    started = json.loads((run / "manifest.json").read_text()) | {
        "started": f"2026-05-{day:02}T10:00:00+00:00"
    }
    (run / "manifest.json").write_text(json.dumps(started))
    path = folder / f"{name}.bundle.json"
    digest = pack(read_run(run), path)
    if confirmed is not None:
        told = () if confirmed else ({"reason": "result", "says": "sqlite/p::1: match was submitted"},)
        receipt = Receipt(
            digest, "2026-06-01T08:00:00+00:00", confirmed, len(results), told, (), (), {"sqlite": "3.50"}, {}
        )
        write_receipt(receipt, folder / f"{name}.receipt.json", path.name)
    return path


def right(predictor: str, number: int, dialect: Dialect = Dialect.SQLITE) -> list[PairResult]:
    return right_on(range(number), predictor, dialect, QUESTIONS)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Bundles of four predictors: two that cannot be told apart, a worse one, and one that got better."""
    folder = tmp_path / "bundles"
    folder.mkdir()
    bundled(folder, "alike", [*right("alpha", 50), *right("beta", 48)])
    bundled(folder, "worse", right("gamma", 20))
    bundled(folder, "first", right("delta", 5), day=2)
    bundled(folder, "second", right("delta", 30), day=3)
    (folder / "second.report.html").write_text("<title>Report</title>")
    return folder


def rows(page: str, title: str) -> list[list[str]]:
    """The texts of the table below a heading."""
    table = page.partition(f">{title}</h2>")[2].partition("<tbody>")[2].partition("</tbody>")[0]
    lines = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", line) for line in table.splitlines() if line]
    return [[PATH.sub("", cell) for cell in line] for line in lines]


def test_predictors_stand_in_groups_with_levels_and_intervals(folder: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    index = write_board(read_board(folder), site).read_text()
    [(name,)] = [re.findall(r'href="([^"]+\.html)"', index)]
    page = (site / name).read_text()
    assert [(line[0], line[1], *line[-2:]) for line in rows(page, "EX (%)")] == [
        ("alpha", "1", "83.33", f"72.0{DASH}90.7"),
        ("beta", "1", "80.00", f"68.2{DASH}88.2"),
        ("delta", "2", "50.00", f"37.7{DASH}62.3"),
        ("gamma", "3", "33.33", f"22.7{DASH}45.9"),
    ]
    assert len(rows(page, "EX (%)")[0]) == len(
        ("predictor", "group", "three levels", "", "", "total", "95 %")
    )
    assert [line[:3] for line in rows(page, "History")][2:4] == [
        ["delta", "2026-05-02", "8.33"],
        ["delta", "2026-05-03", "50.00"],
    ]
    for link in re.findall(r'href="([^"]+)"', page):
        assert link == "data:," or (site / link).exists(), link


def test_what_nobody_confirmed_is_left_out_with_a_line(folder: Path, tmp_path: Path) -> None:
    whole = bundled(folder, "unverified", right("eager", 60), confirmed=None)
    bundled(folder, "refuted", right("liar", 60), confirmed=False)
    (folder / "damaged.bundle.json").write_text(whole.read_text().replace('"match', '"mitch', 1))
    (folder / "odd.receipt.json").write_text("{}")
    text = (folder / "first.bundle.json").read_text()
    (folder / "first.bundle.json").write_text(text + "\n")
    board = read_board(folder, site=tmp_path / "site")
    assert [line.partition(":")[0] for line in board.left_out] == [
        "odd.receipt.json", "damaged.bundle.json", "first.bundle.json", "refuted.bundle.json",
        "unverified.bundle.json",
    ]  # fmt: skip
    assert board.left_out[3].endswith("not confirmed: 1 faults, such as sqlite/p::1: match was submitted")
    assert "not verified" in board.left_out[4]
    index = write_board(board, tmp_path / "site").read_text()
    assert all(line.partition(":")[0] in index for line in board.left_out)
    assert not {"eager", "liar"} & set(re.findall(r"\w+", index))


def test_a_part_of_the_set_and_other_databases_stand_apart(folder: Path, tmp_path: Path) -> None:
    part = {"pairs": 60, "questions": 60, "set_questions": 66, "scores": []}
    part["scores"] = [{"predictor": "zeta", "dialect": "sqlite", "questions": 60}]
    bundled(folder, "part", right("zeta", 60), planned=part)
    bundled(folder, "elsewhere", right("eta", 60), databases={"d": "e" * 64})
    board = read_board(folder)
    assert board.left_out == ["part.bundle.json: of 60 of 66 questions, not of the set"]
    write_board(board, tmp_path / "site")
    pages = [path.read_text() for path in (tmp_path / "site").glob("sample-*.html")]
    assert sorted([len(rows(page, "EX (%)")) for page in pages]) == [1, 4]


def test_the_public_board_gets_rows_of_published_databases_alone(tmp_path: Path) -> None:
    files = published()["mini_dev"].files
    known = {Path(name).stem: digest for name, digest in files.items() if name.endswith(".sqlite")}
    both = [*right("theta", 30), *right("theta", 15, Dialect.POSTGRESQL)]
    bundled(tmp_path, "real", both, set="mini_dev", databases=known)
    bundled(tmp_path, "twin", right("iota", 60), set="mini_dev", databases=dict.fromkeys(known, "0" * 64))
    index = write_board(read_board(tmp_path), tmp_path / "site").read_text()
    title = "Rows for the public Mini-Dev board (mini_dev)"
    assert rows(index, title) == [["theta", "May 01, 2026", "50.00", "-", "25.00"]]
    assert "no rows, because its databases are not the published ones" in index
