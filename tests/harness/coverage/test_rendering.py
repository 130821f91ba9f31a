import json
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from dialects.errors import BadInput
from harness.analyses.coverage.answers import DifferenceReason
from harness.analyses.coverage.command import JSON, MARKDOWN, markdown, print_coverage, totals, write_folder
from harness.data.questions import Difficulty
from tests.harness.coverage.test_expectations import DIFFERENT, ELSEWHERE, REFUSED, SAME, TIE

SHOWN = replace(DIFFERENT, question="5", only_sqlite=("('a|b',)",), only_engine=("(1,)",))
ORDERED = replace(SAME, question="6", same_order=True, difficulty=Difficulty.MODERATE)
ANSWERS = [SAME, TIE, REFUSED, SHOWN, ORDERED, ELSEWHERE]


def test_the_totals_count_each_engine_for_itself() -> None:
    mysql, postgresql = totals(ANSWERS)
    counted = ("questions", "runs", "same_set", "same_bag", "covered", "same_order", "ordered")
    assert [mysql[name] for name in counted] == [5, 4, 2, 2, 3, 1, 1]
    assert mysql["reasons"] == {
        DifferenceReason.TIE: 1,
        DifferenceReason.UNTRANSLATABLE: 1,
        DifferenceReason.DIFFERENT: 1,
    }
    assert mysql["covered_percent_by_difficulty"] == {
        Difficulty.SIMPLE: 50.0, Difficulty.MODERATE: 100.0, Difficulty.CHALLENGING: None
    }  # fmt: skip
    assert (postgresql["questions"], postgresql["covered"]) == (1, 1)


def test_the_console_has_a_line_for_what_is_not_covered_and_a_row_for_each_engine() -> None:
    console = Console(file=StringIO(), width=160, no_color=True)
    print_coverage("Golds", ANSWERS, console)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "MySQL 137#2 (d): untranslatable x: why\n" in text
    assert "MySQL 5 (d): different only SQLite: ('a|b',); only MySQL: (1,)\n" in text
    assert "MySQL 2" not in text, "a proven tie is covered"
    assert "MySQL: 1 tie, 1 untranslatable, 1 different" in text
    assert "PostgreSQL: every answer is SQLite's" in text


def test_markdown_shows_rows_of_what_differs() -> None:
    text = markdown(ANSWERS)
    assert "| MySQL | 5 | d | `different` | only SQLite: ('a\\|b',); only MySQL: (1,) |" in text
    assert "| MySQL | 2 | d | `tie` |  |\n" in text


def test_a_folder_holds_both_files(tmp_path: Path) -> None:
    path = write_folder(tmp_path / "results", "Golds", {"set": "s"}, ANSWERS)
    assert sorted(file.name for file in path.iterdir()) == sorted([JSON, MARKDOWN])
    assert [each.name for each in path.parent.iterdir()] == [path.name]
    content = json.loads((path / JSON).read_text(encoding="utf-8"))
    assert content["set"] == "s"
    assert content["totals"][0]["covered"] == 3
    assert [one["covered"] for one in content["answers"]] == [True, True, False, False, True, True]


def test_a_folder_that_cannot_be_written_is_bad_input_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="--out"):
        write_folder(tmp_path / "file", "Golds", {}, ANSWERS)
    with pytest.raises(TypeError):
        write_folder(tmp_path, "Golds", {"set": object()}, ANSWERS)
    assert [each.name for each in tmp_path.iterdir()] == ["file"]
