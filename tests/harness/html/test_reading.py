"""What readers of hundreds of questions do: a matrix, groups, scores to sort by, a file, the clipboard."""

import csv
import re
from collections.abc import Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path

from playwright.sync_api import expect

from dialects.enums import Dialect
from harness.data.outcomes import Outcome, PairResult, preview
from harness.data.set_manifest import PUBLISHED
from harness.report.html import write_html
from harness.report.table_model import CellKind, spelled
from harness.runs.reader import key_of
from harness.runs.summary import By, shares
from tests.harness.html.conftest import View
from tests.harness.html.made_up import HOSTILE, Made, made
from tests.harness.html.test_views import address, choose, one


def matching(results: Sequence[PairResult]) -> int:
    return sum(each.outcome is Outcome.MATCH for each in results)


def test_the_matrix_shows_who_is_right_on_which_engine(view: View, report: Path, run: Made) -> None:
    viewer = view(report)
    page = viewer.go("#/matrix")
    results = run.run.results
    rows = page.locator(".all .row")
    expect(rows).to_have_count(12)
    for number, row in enumerate(rows.all(), start=1):
        own = [each for each in results if each.question_id == number]
        assert row.locator(".m-right").inner_text() == f"{matching(own)} of 9"
        assert row.locator(".mark").count() == 9
        assert row.locator(".mark.o-match").count() == matching(own)
    label = f"{results[0].predictor} on SQLite: {results[0].outcome.replace('_', ' ')}"
    assert rows.first.locator(".mark").first.get_attribute("aria-label") == label
    sums = page.locator(".sums .m-sums span").all()
    titles = [str(each.get_attribute("title")) for each in sums]
    for title, (predictor, dialect) in zip(
        titles, [(f"predictor-{n}", d) for n in range(3) for d in PUBLISHED], strict=True
    ):
        own = [each for each in results if (each.predictor, each.dialect) == (predictor, dialect)]
        assert f"{100 * matching(own) / 12:.2f} %, {matching(own)} of 12" in title

    page.get_by_label("Order of questions").select_option("hardest")
    counts = [int(text.split()[0]) for text in page.locator(".all .m-right").all_inner_texts()]
    assert counts == sorted(counts)
    choose(page, "Predictor", "predictor-1", "predictor-2")
    choose(page, "Outcome", "match")
    expect(page.locator(".head .slanted")).to_have_count(2)
    right = [each for each in results if each.predictor != "predictor-0" and each.outcome is Outcome.MATCH]
    expect(page.locator(".found")).to_have_text(f"{len(right)} of 108 pairs")
    expect(page.locator(".mark:not(.other)")).to_have_count(len(right))
    expect(page.locator(".all .row")).to_have_count(len({each.question for each in right}))

    page.locator(".mark").first.click()
    expect(page.locator("article h1")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".head .slanted")).to_have_count(2)
    page.keyboard.type("/place 1")
    expect(page.get_by_label("Search", exact=False).first).to_have_value("place 1")


def test_pairs_are_grouped_sorted_by_scores_and_taken_away(view: View, report: Path, run: Made) -> None:
    page = view(report).go("#/pairs")
    results = [each for each in run.run.results if each.dialect != Dialect.MYSQL]
    choose(page, "Engine", "SQLite", "PostgreSQL")
    expect(page.locator(".chosen li")).to_have_count(3)
    page.get_by_label("Group by").select_option("db")
    heads = [" ".join(text.split()) for text in page.locator(".group-row").all_inner_texts()]
    assert len(heads) >= 1
    first = shares(results, "ex", By.DATABASE, {})["db_0"]
    assert f"{first.questions} pairs, {spelled(first.percent, CellKind.PERCENT)} % match" in heads[0]
    page.locator(".group-row button").first.click()
    expect(page.locator(".group-row")).not_to_have_count(1)
    assert page.locator(".group-row").nth(1).inner_text().strip().startswith("▾")
    # A pair is in the group of each of its types.
    page.get_by_label("Group by").select_option("type")
    types = {key: question.types for key, question in run.questions.items()}
    for place, (name, share) in enumerate(shares(results, "ex", By.TYPE, types).items()):
        head = page.locator(".group-row").nth(place)
        expect(head).to_contain_text(f"{name.replace('_', ' ')} {share.questions} pairs")
        head.get_by_role("button").click()
    page.get_by_label("Group by").select_option("")

    page.get_by_role("button", name="Soft-F1").click()
    page.get_by_role("button", name="Soft-F1").click()
    expect(page.get_by_role("columnheader", name="Soft-F1")).to_have_attribute("aria-sort", "descending")
    assert page.locator(".all .row").first.locator(".c-score").all_inner_texts() == ["100.00", "100.00"]
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    assert download.value.suggested_filename == "pairs.csv"
    rows = list(csv.DictReader(StringIO(download.value.path().read_text(encoding="utf-8"), newline="")))
    found = {(row["question"], row["predictor"], row["engine"]): row for row in rows}
    assert len(rows) == len(found) == len(results)
    for each in results:
        row = found[each.question, each.predictor, each.dialect]
        assert (row["outcome"], float(row["ex"]), float(row["soft_f1"])) == (
            each.outcome, each.scores["ex"], each.scores["soft_f1"],
        )  # fmt: skip
        assert row["sql"] == (each.sql or "")
        assert row["types"] == ", ".join(types[each.question])
    page.get_by_role("link", name="Remove Engine: SQLite").click()
    expect(page.locator(".found")).to_have_text("36 of 108 pairs")


def test_a_text_is_copied_as_it_was_run(view: View, report: Path, run: Made) -> None:
    viewer = view(report, is_alone=True)
    viewer.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    wrong = one(run, Outcome.PREDICTION_ERROR)
    page = viewer.go(address(wrong))
    for name, text in (
        ("Copy Prediction", wrong.sql),
        ("Copy the question", run.questions[wrong.question].text),
        ("Copy the engine's words", wrong.error),
    ):
        button = page.get_by_role("button", name=name).first
        button.click()
        expect(button).to_have_text("Copied")
        assert page.evaluate("navigator.clipboard.readText()") == text
    expect(page.get_by_text("Copied")).to_have_count(0)


def test_the_overview_is_of_the_predictors_that_are_chosen(view: View, report: Path) -> None:
    page = view(report).go()
    choose(page, "Predictor", "predictor-2")
    assert [text.split()[0] for text in page.locator("#scores ~ .scroll tbody th").all_inner_texts()] == [
        "predictor-2"
    ]
    assert page.locator(".bars th[scope=rowgroup]").all_inner_texts() == ["predictor-2"]
    page.get_by_role("navigation", name="Contents").get_by_text("Error classes").click()
    # A function, which is evaluated once: the page's policy forbids to evaluate a text again.
    page.wait_for_function("() => document.getElementById('classes').getBoundingClientRect().top < 300")


def test_active_filters_are_seen_on_a_phone(view: View, report: Path) -> None:
    page = view(report, width=390, height=844).go("#/pairs?engine=mysql&outcome=mismatch&q=place")
    chips = page.locator(".chosen li")
    assert [text.split()[:2] for text in chips.all_inner_texts()] == [
        ["Words:", "place"], ["Engine:", "MySQL"], ["Outcome:", "mismatch"], ["Clear"],
    ]  # fmt: skip
    for chip in chips.all():
        expect(chip).to_be_in_viewport()
    expect(page.locator(".choices")).not_to_be_visible()
    page.get_by_role("button", name="Filters (2)").click()
    choose(page, "Engine", "SQLite")
    expect(page.get_by_role("link", name="Remove Engine: SQLite")).to_be_in_viewport()


def test_a_spreadsheet_computes_nothing_of_what_is_exported(view: View, tmp_path: Path) -> None:
    whole = made(predictors=1, questions=3 * len(HOSTILE))
    texts = [*HOSTILE, "=1+1", "@SUM(1)", 'a"b,c']
    results = [each for each in whole.run.results if each.dialect == Dialect.SQLITE and each.sql is not None]
    results = [replace(each, sql=texts[place % len(texts)]) for place, each in enumerate(results)]
    path = tmp_path / "report.html"
    write_html(replace(whole.run, results=results), whole.questions, whole.previews, path)
    page = view(path).go("#/pairs")
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    text = download.value.path().read_bytes().decode()
    assert not re.search(r"[\0-\x08\x0b\x0c\x0e-\x1f\x7f]", text)
    cells = [cell for row in csv.reader(StringIO(text, newline="")) for cell in row]
    assert [cell for cell in cells if cell.startswith(("=", "+", "@"))] == []
    assert 'a"b,c' in cells


NAMED: Sequence[tuple[str, int, Sequence[str] | None]] = (
    ('SELECT a, t.b, `c d`, "e", [f] FROM t', 5, ["a", "b", "c d", "e", "f"]),
    ("SELECT DISTINCT count(*), sum(x) AS total, x + 1 more FROM t", 3, ["count(*)", "total", "more"]),
    (
        "WITH q AS (SELECT 1 AS z) SELECT (SELECT max(a, b) FROM t), CASE WHEN a THEN 1 END FROM q",
        2,
        ["(SELECT max(a, b) FROM t)", "CASE WHEN a THEN 1 END"],
    ),
    ("SELECT 1 UNION SELECT 2, 3", 1, ["1"]),
    ("SELECT 'it''s, (x)' AS s, -- a comment, too\n b", 2, ["s", "b"]),
    ("SELECT * FROM t", 1, None),
    ("SELECT t.* FROM t", 1, None),
    ("SELECT a FROM t", 2, None),
    ("no query at all", 1, None),
)
"""Queries, how many columns their rows have, and what these are called; None where the text does not say."""


def test_columns_have_the_names_that_the_select_list_gives(view: View, tmp_path: Path) -> None:
    whole = made(predictors=1, questions=len(NAMED))
    firsts = [each for each in whole.run.results if each.dialect == Dialect.SQLITE]
    results, previews = [], {}
    for each, (sql, count, _) in zip(firsts, NAMED, strict=True):
        results.append(replace(each, sql=sql, outcome=Outcome.MISMATCH))
        previews[key_of(each)] = preview([(1,)], [tuple(range(2, 2 + count))])
    path = tmp_path / "report.html"
    write_html(replace(whole.run, results=results), whole.questions, previews, path)
    page = view(path).go()
    for each, (_, count, names) in zip(results, NAMED, strict=True):
        page.evaluate("address => { location.hash = address }", address(each))
        expect(page.locator("article .about .key")).to_have_text(each.question)
        heads = page.locator(".of-prediction thead th").all_text_contents()
        assert heads == list(names or [str(number) for number in range(1, count + 1)])
