"""The page of `compare`: the figures, every question that flipped, and both sides of it."""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import cycle
from pathlib import Path

import pytest
from playwright.sync_api import expect

from dialects.enums import Dialect
from harness.cli import main
from harness.data.outcomes import Outcome, PairResult, preview
from harness.runs.folder import RunFolder
from harness.runs.summary import Extent
from tests.harness.conftest import Call
from tests.harness.html.conftest import View
from tests.harness.html.made_up import HOSTILE, question, result
from tests.harness.html.test_looks import violations
from tests.harness.html.test_views import choose, widths
from tests.harness.real_runs import recorded
from tests.test_project import ROOT, commands

QUESTIONS = [question(number) for number in range(1, 13)]


def sides(
    texts: Sequence[str] = ("SELECT 1",), first_of_b: int = 4
) -> tuple[list[PairResult], list[PairResult]]:
    """A is right on 1 to 6, B on 4 to 12: 3 are lost, 6 are won. The questions have the texts in turn."""

    def side(right: range, end: str) -> list[PairResult]:
        found = []
        for asked, text in zip(QUESTIONS, cycle(texts), strict=False):
            is_right = asked.question_id in right
            outcome = Outcome.MATCH if is_right else Outcome.MISMATCH
            one = result(asked, "p", Dialect.SQLITE, outcome, text + end)
            rows = [(1, "gold")] if is_right else [(2, text)]
            found.append(replace(one, preview=preview([(1, "gold")], rows).to_text()))
        return found

    return side(range(1, 7), ""), side(range(first_of_b, 13), " /* B */")


def write(parent: Path, name: str, results: list[PairResult]) -> Path:
    planned = Extent({("p", Dialect.SQLITE): len(QUESTIONS)}, len(QUESTIONS), len(QUESTIONS))
    manifest = {**recorded(), "metrics": ["ex", "soft_f1"], "planned": planned.to_json()}
    with RunFolder(parent, manifest, ["ex", "soft_f1"], QUESTIONS) as folder:
        for one in results:
            folder.add(one)
        folder.finish()
    return folder.path.rename(parent / name)


@pytest.fixture
def compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    def page(*options: str, made: tuple[list[PairResult], list[PairResult]] | None = None) -> Path:
        for name, results in zip("ab", made or sides(), strict=True):
            write(tmp_path, name, results)
        path = tmp_path / "page.html"
        arguments = [str(tmp_path / "a"), str(tmp_path / "b"), "--html", str(path), *options]
        monkeypatch.setattr(sys, "argv", ["bird-harness", "compare", *arguments])
        with pytest.raises(SystemExit) as stopped:
            main()
        assert stopped.value.code == (1 if "--fail-under" in options else 0)
        return path

    return page


def test_the_figures_are_those_of_the_command(
    view: View, compared: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    path = compared("--json", "--fail-under", "ex=99")
    (figures,) = json.loads(capsys.readouterr().out)["comparisons"]
    page = view(path).go()
    cells = page.locator("tbody tr", has_text="EX").first.locator("td").all_inner_texts()
    ex = figures["metrics"]["ex"]
    assert cells[:3] == [
        f"{ex['a']['total']:.2f}",
        f"{ex['b']['total']:.2f}",
        f"+{ex['difference']['total']:.2f}",
    ]
    assert cells[5].split()[0] == f"{ex['p']:.3f}"
    assert cells[6:8] == ["3", "6"]
    expect(page.locator(".fault")).to_contain_text("below 99 (--fail-under)")
    expect(page.get_by_role("heading", name="flipped")).to_have_text("9 questions flipped")


def test_what_was_won_or_lost_is_chosen_and_the_differences_stand_on_an_axis(
    view: View, compared: Callable[..., Path]
) -> None:
    page = view(compared()).go()
    expect(page.locator(".found")).to_have_text("9 questions")
    choose(page, "Won or lost", "lost: right only in A")
    expect(page.locator(".found")).to_have_text("3 of 9 questions")
    assert {text.strip() for text in page.locator(".all .f-4").all_inner_texts()} == {"lost EX"}
    choose(page, "Won or lost", "won: wrong only in A")
    expect(page.locator(".found")).to_have_text("9 of 9 questions")
    page.get_by_role("link", name="Clear").click()
    least, middle, most = page.locator(".axis-head span").all_inner_texts()
    assert (middle, float(least[1:])) == ("0", float(most[1:]))


def test_groups_have_the_rows_that_the_command_prints(
    view: View, compared: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    path = compared("--by", "database", "--metrics", "ex")
    lines = capsys.readouterr().out.splitlines()
    rows = view(path).go().get_by_role("region", name="EX by database").locator("tbody tr").all()
    assert len(rows) > 2
    for row in rows:
        cells = [row.locator("th").inner_text(), *row.locator("td").all_inner_texts()]
        assert " ".join(cells) in {" ".join(line.split()) for line in lines}


def test_several_sides_are_held_against_the_first(view: View, tmp_path: Path, call: Call) -> None:
    first, second = sides()
    names = {"a": first, "b": second, "c": first, "d": second}
    folders = [str(write(tmp_path, name, results)) for name, results in names.items()]
    path = tmp_path / "page.html"
    code, output, errors = call("compare", *folders, "--html", str(path))
    assert code == 0, errors
    begins = [line.partition(" on SQLite, ")[0] for line in output.splitlines()]
    assert [begins.count(f"{letter}: p") for letter in "ABCD"] == [3, 1, 1, 1]
    found = json.loads(call("compare", *folders, "--json")[1])["comparisons"]
    assert [Path(one["b"]["folder"]).name for one in found] == ["b", "c", "d"]
    page = view(path, width=1440).go()
    heads = page.get_by_role("heading", level=2).all_inner_texts()
    assert heads[-1] == "9 questions, 18 pairs flipped"
    expect(page.locator(".found")).to_have_text("9 questions, 18 pairs")
    assert widths(page, "Questions that flipped")["Question"] >= 320
    assert heads[:3] == [f"A → {letter}, p on SQLite" for letter in "BCD"]
    table = page.get_by_role("table", name="Questions by comparisons")
    expect(table.locator(".all .row")).to_have_count(9)
    assert table.locator(".head .slanted").all_inner_texts() == ["B: p on SQLite", "D: p on SQLite"]
    assert table.locator(".mark").all_inner_texts().count("+") == 12
    choose(page, "Comparison", "A → D, p on SQLite")
    expect(page.locator(".found")).to_have_text("9 of 9 questions, 9 of 18 pairs")
    assert violations(page) == []
    table.locator(".mark").first.click()
    expect(page.get_by_role("heading", name="D: p on SQLite")).to_be_visible()


def test_a_flipped_question_shows_both_sides(view: View, compared: Callable[..., Path]) -> None:
    viewer = view(compared())
    page = viewer.go()
    page.locator(".all .row a").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("How many are there? (1)")
    assert viewer.hash() == "#/flip/0"
    assert page.get_by_label("A: SQL", exact=True).inner_text().split() == ["SELECT", "1"]
    expect(page.get_by_label("B: SQL", exact=True).locator("mark")).to_have_text("/* B */")
    expect(page.get_by_label("Rows of A")).to_contain_text("the same set of rows as gold")
    assert page.get_by_label("Rows of B").locator("tr.only").count() == 2
    page.keyboard.press("j")
    expect(page.get_by_role("heading", level=1)).to_have_text("How many are there? (2)")
    page.keyboard.press("Escape")
    expect(page.locator(".all .row.current")).to_have_attribute("aria-rowindex", "3")


def test_no_view_of_a_comparison_breaks_a_rule_of_accessibility(
    view: View, compared: Callable[..., Path]
) -> None:
    viewer = view(compared())
    viewer.go()
    assert {place: violations(viewer.move(place)) for place in ("", "#/flip/3", "#/flip/99", "#/run")} == {
        "": [], "#/flip/3": [], "#/flip/99": [], "#/run": [],
    }  # fmt: skip


def test_hostile_texts_stay_texts_in_a_comparison(view: View, compared: Callable[..., Path]) -> None:
    viewer = view(compared(made=sides(HOSTILE, first_of_b=7)))
    page = viewer.go()
    expect(page.locator(".found")).to_have_text("12 questions")
    for place in range(len(HOSTILE)):
        viewer.move(f"#/flip/{place}")
        expect(page.locator("article h1")).to_have_text(QUESTIONS[place].text)
        assert page.locator("script").count() == 3
        assert page.locator("img, [onerror]").count() == 0


def test_two_sides_that_are_the_same_have_no_flips(
    view: View, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write(tmp_path, "a", sides()[0])
    path = tmp_path / "same.html"
    monkeypatch.setattr(
        sys, "argv", ["bird-harness", "compare", str(folder), str(folder), "--html", str(path)]
    )
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 0
    page = view(path).go()
    expect(page.get_by_text("No question is right on one side and wrong on the other.")).to_be_visible()


@pytest.mark.slow
def test_a_page_that_cannot_be_written_is_bad_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(write(tmp_path, "a", sides()[0]))
    path = str(tmp_path / "no" / "page.html")
    monkeypatch.setattr(sys, "argv", ["bird-harness", "compare", folder, folder, "--html", path])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    assert "page.html: cannot be written" in capsys.readouterr().err


def test_the_documented_command_writes_a_page_of_the_samples_run(view: View, tmp_path: Path) -> None:
    documented = ROOT / "docs" / "how-to" / "reports.md"
    (command,) = (one for one in commands(documented) if "--html" in one)
    program, *arguments = command.split()
    assert program == ".venv/bin/bird-harness"
    harness = Path(sys.executable).with_name("bird-harness")
    for each in (["eval", "--dialect", "sqlite", "--driver", "direct"], arguments):
        subprocess.run([harness, *each], cwd=tmp_path, capture_output=True, check=True)
    page = view(tmp_path / "results" / "comparison.html").go()
    expect(page.get_by_role("heading", level=2).first).to_have_text(
        "careless on SQLite → every-fifth-wrong on SQLite"
    )
