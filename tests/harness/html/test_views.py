"""The views of a report in a browser: figures, filters, order, addresses, keys."""

import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from dialects.enums import Dialect
from harness.data.outcomes import AnswerUsage, Outcome, PairResult
from harness.metrics import METRICS
from harness.metrics.work import IDENTICAL, WorkRatio
from harness.report.html import write_html
from harness.runs.summary import UsageByPair, UsageTotals, summarize
from tests.harness.html.conftest import View
from tests.harness.html.made_up import Made


def address(result: PairResult) -> str:
    return "#/pair/" + "/".join(
        quote(part, safe="") for part in (result.dialect, result.predictor, result.question)
    )


def one(run: Made, outcome: Outcome, dialect: Dialect = Dialect.MYSQL) -> PairResult:
    return next(each for each in run.run.results if each.outcome is outcome and each.dialect == dialect)


def found(page: Page) -> str:
    return page.locator(".found").inner_text()


def first_rows(page: Page, column: str, most: int = 8) -> list[str]:
    return page.locator(f".all .c-{column}").all_inner_texts()[:most]


def widths(page: Page, table: str) -> dict[str, float]:
    """The width in pixels of each column of a list whose rows are no wider than the page."""
    head = page.get_by_role("table", name=table).locator(".head .row")
    assert head.evaluate("row => row.scrollWidth <= row.clientWidth")
    cells = head.get_by_role("columnheader").all()
    boxes = {cell.inner_text().rstrip(" ↑↓"): cell.bounding_box() for cell in cells}
    return {name: box["width"] for name, box in boxes.items() if box}


def choose(page: Page, title: str, *labels: str) -> None:
    """Open a filter and tick some of its values."""
    choice = page.locator(".choice", has=page.locator("summary", has_text=re.compile(f"^{title}( \\d+)?$")))
    choice.locator("summary").click()
    for label in labels:
        choice.get_by_label(label, exact=True).click()
    page.keyboard.press("Escape")
    expect(choice.locator("fieldset")).not_to_be_visible()


def test_the_overview_has_the_figures_of_the_tables(view: View, report: Path, run: Made) -> None:
    page = view(report).go()
    cells = [" ".join(text.split()) for text in page.locator("#scores ~ .scroll tbody tr").all_inner_texts()]
    scores = summarize(run.run.results, ["ex"])
    for row, predictor in zip(cells, ("predictor-0", "predictor-1", "predictor-2"), strict=True):
        totals = [score.metrics["ex"]["total"] for score in scores if score.predictor == predictor]
        assert row.startswith(predictor)
        assert [f"{total:.2f}" in row.split() for total in totals] == [True] * 3, row


def test_every_outcome_is_drawn_as_often_as_it_happened_and_leads_to_its_pairs(
    view: View, report: Path, run: Made
) -> None:
    page = view(report).go()
    (score, *_) = summarize(run.run.results, ["ex"])
    bars = page.locator(".bars tr").nth(1).locator(".stack a")
    titles = [bar.get_attribute("title") for bar in bars.all()]
    assert titles == [
        f"{outcome.replace('_', ' ')}: {score.outcomes[outcome]} of 12"
        for outcome in Outcome
        if score.outcomes.get(outcome)
    ]
    bars.first.click()
    expect(page.locator(".found")).to_have_text(f"{score.outcomes[Outcome.MATCH]} of 108 pairs")


@pytest.mark.parametrize(
    ("query", "keeps"),
    [
        ("engine=mysql", lambda one: one.dialect == Dialect.MYSQL),
        ("engine=mysql&engine=sqlite", lambda one: one.dialect != Dialect.POSTGRESQL),
        (
            "outcome=mismatch&outcome=missing",
            lambda one: one.outcome in (Outcome.MISMATCH, Outcome.MISSING),
        ),
        ("outcome=mismatch", lambda one: one.outcome is Outcome.MISMATCH),
        ("outcome=wrong", lambda one: one.outcome is not Outcome.MATCH),
        ("predictor=predictor-1", lambda one: one.predictor == "predictor-1"),
        (
            "db=db_2&difficulty=challenging",
            lambda one: (one.db_id, one.difficulty) == ("db_2", "challenging"),
        ),
        # Every second question has evidence that names the value of its gold.
        ("type=value_illustration&type=synonym", lambda one: one.question_id % 2),
        ("type=ranking", lambda _: False),
        ("class=wrong_literal", lambda one: one.error_class == "wrong_literal"),
        ("q=no+such+column", lambda one: one.error is not None),
        ("q=PREDICTOR-2+%2311", lambda one: (one.predictor, one.question) == ("predictor-2", "11")),
        ("q=nothing+has+this", lambda _: False),
    ],
)
def test_an_address_filters_the_list(view: View, report: Path, run: Made, query: str, keeps: object) -> None:
    assert callable(keeps)
    page = view(report).go(f"#/pairs?{query}")
    kept = sum(bool(keeps(one)) for one in run.run.results)
    expect(page.locator(".found")).to_have_text(f"{kept} of 108 pairs")
    assert page.get_by_text("No pair matches the filters.").count() == (kept == 0)


@pytest.mark.parametrize("width", [1000, 1280, 1440, 1920])
@pytest.mark.parametrize("scores", [1, 5, 12])
def test_the_question_has_room_however_many_columns_there_are(
    view: View, tmp_path: Path, run: Made, width: int, scores: int
) -> None:
    metrics = [name for name, metric in METRICS.items() if metric.has_score][:scores]
    results = [replace(one, scores=dict.fromkeys(metrics, 0.5)) for one in run.run.results]
    shown = replace(run.run, manifest={**run.run.manifest, "metrics": metrics}, results=results)
    path = tmp_path / "report.html"
    write_html(shown, run.questions, run.previews, path)
    viewer = view(path, width=width)
    columns = widths(viewer.go("#/pairs"), "Pairs")
    assert columns["Question"] >= 370
    assert {"Predictor", "Engine", "Outcome", METRICS[metrics[0]].title} <= columns.keys()
    assert columns.keys() >= ({"Database", "Error class"} if (width, scores) == (1440, 1) else set())
    for name in ("ratio", f"-score.{metrics[-1]}"):
        viewer.move(f"#/pairs?sort={name}")
        sorted_by = viewer.page.locator(".head [aria-sort$=ending]")
        expect(sorted_by).to_have_attribute("aria-sort", "descending" if name[0] == "-" else "ascending")


def test_only_engines_of_the_run_have_a_column(view: View, report: Path, run: Made) -> None:
    page = view(report).go(address(run.run.results[0]))
    heads = page.get_by_role("region", name="Outcomes of all predictors").locator("thead th")
    assert heads.all_inner_texts() == ["predictor", "SQLite", "MySQL", "PostgreSQL"]


def test_pairs_on_which_engines_disagree_are_found(view: View, report: Path, run: Made) -> None:
    right: dict[tuple[str, str], list[bool]] = {}
    for each in run.run.results:
        right.setdefault((each.predictor, each.question), []).append(each.outcome is Outcome.MATCH)
    differ = sum(len(engines) for engines in right.values() if any(engines) and not all(engines))
    only_sqlite = sum(3 for engines in right.values() if engines == [True, False, False])
    page = view(report).go("#/pairs?agree=differ")
    assert found(page) == f"{differ} of 108 pairs"
    page.get_by_role("link", name="Clear").click()
    choose(page, "Engines", "right on SQLite alone")
    expect(page.locator(".found")).to_have_text(f"{only_sqlite} of 108 pairs")


def test_choosing_a_filter_changes_the_address_and_clear_takes_it_back(view: View, report: Path) -> None:
    viewer = view(report)
    page = viewer.go("#/pairs")
    assert found(page) == "108 pairs"
    choose(page, "Engine", "PostgreSQL")
    page.get_by_label("Search").fill("place")
    expect(page.locator(".found")).to_have_text("36 of 108 pairs")
    page.wait_for_url("**/*q=place")
    assert viewer.hash() == "#/pairs?engine=postgresql&q=place"
    page.get_by_role("link", name="Clear").click()
    expect(page.locator(".found")).to_have_text("108 pairs")


def test_a_click_on_a_heading_sorts_and_a_second_one_turns_it_round(view: View, report: Path) -> None:
    page = view(report).go("#/pairs?engine=sqlite")
    heading = page.get_by_role("button", name="Time")
    heading.click()
    expect(page.get_by_role("columnheader", name="Time")).to_have_attribute("aria-sort", "ascending")
    assert first_rows(page, "seconds", 3) == ["2.00 ms"] * 3
    heading.click()
    expect(page.get_by_role("columnheader", name="Time")).to_have_attribute("aria-sort", "descending")
    assert first_rows(page, "seconds", 1) == ["14.0 ms"]
    page.get_by_role("button", name="Outcome").click()
    assert first_rows(page, "outcome", 1)[0].split()[-1] == "match"


@pytest.mark.parametrize("outcome", list(Outcome))
def test_a_link_to_a_pair_shows_it_whatever_became_of_it(
    view: View, report: Path, run: Made, outcome: Outcome
) -> None:
    result = one(run, outcome)
    page = view(report).go(address(result))
    question = run.questions[result.question]
    expect(page.get_by_role("heading", level=1)).to_have_text(question.text)
    assert page.locator(".engines a[aria-current] .badge").inner_text().split("\n")[-1] == outcome.replace(
        "_", " "
    )
    gold, predicted = page.locator("[aria-labelledby=sql] .side").all()
    translated = outcome not in (Outcome.MATCH, Outcome.MISMATCH)
    assert ("translated" if translated else "COUNT(*)") in gold.inner_text()
    assert ("There is no prediction." if result.sql is None else "COUNT(t.id)") in predicted.inner_text()
    if result.error is not None:
        expect(page.locator(".error").first).to_contain_text(result.error)


def test_what_differs_is_marked_in_texts_and_rows(view: View, report: Path, run: Made) -> None:
    result = one(run, Outcome.MISMATCH)
    page = view(report).go(address(result))
    gold, predicted = page.locator("[aria-labelledby=sql] .side").all()
    assert gold.locator("mark").all_inner_texts()[0] == "*"
    assert predicted.locator("mark").all_inner_texts()[0].startswith("t.id")
    side = run.previews[result.dialect, result.predictor, result.question]
    assert side.predicted is not None
    column = page.get_by_label("MySQL", exact=True)
    assert column.locator(".of-gold thead th").all_inner_texts() == ["1", "2", "3", "4"], (
        "COUNT(*) is one column"
    )
    assert column.locator("tr.only").count() == side.gold.marked + side.predicted.marked
    assert column.get_by_text("only in gold").count() == side.gold.marked
    assert column.get_by_text("only in the prediction").count() == side.predicted.marked


def test_formatting_can_be_switched_off(view: View, report: Path, run: Made) -> None:
    result = one(run, Outcome.MATCH)
    page = view(report).go(address(result))
    predicted = page.get_by_label("Prediction: SQL")
    assert "\n" in predicted.inner_text()
    page.get_by_label("formatted").uncheck()
    assert predicted.inner_text() == result.sql


def test_keys_alone_lead_from_the_overview_to_a_pair_and_back(view: View, report: Path) -> None:
    viewer = view(report)
    page = viewer.go()
    page.keyboard.press("g")
    page.keyboard.press("p")
    expect(page.locator(".found")).to_have_text("108 pairs")
    page.keyboard.press("/")
    expect(page.get_by_label("Search")).to_be_focused()
    page.keyboard.type("#12")
    expect(page.locator(".found")).to_have_text("9 of 108 pairs")
    page.keyboard.press("Escape")
    expect(page.get_by_label("Search")).not_to_be_focused()
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator(".all .row.current")).to_have_attribute("aria-rowindex", "3")
    page.keyboard.press("Enter")
    expect(page.locator(".engines a[aria-current]")).to_contain_text("MySQL")
    assert viewer.hash() == "#/pair/mysql/predictor-0/12?q=%2312"
    page.keyboard.press("3")
    expect(page.locator(".engines a[aria-current]")).to_contain_text("PostgreSQL")
    page.keyboard.press("j")
    expect(page.locator(".engines strong")).to_have_text("predictor-1")
    page.keyboard.press("k")
    expect(page.locator(".engines strong")).to_have_text("predictor-0")
    page.keyboard.press("Escape")
    expect(page.locator(".found")).to_have_text("9 of 108 pairs")
    expect(page.locator(".all .row.current")).to_have_attribute("aria-rowindex", "4")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).not_to_be_visible()


def test_what_has_the_focus_is_seen_to_have_it(view: View, report: Path) -> None:
    page = view(report).go("#/pairs")
    for _ in range(16):
        page.keyboard.press("Tab")
        width = page.evaluate("getComputedStyle(document.activeElement).outlineWidth")
        assert width not in ("0px", ""), page.evaluate("document.activeElement.outerHTML")


def test_an_address_of_no_pair_says_so(view: View, report: Path) -> None:
    page = view(report).go("#/pair/mysql/nobody/%E0%A4%A")
    expect(page.get_by_role("heading", level=1)).to_have_text("No such pair")


def test_back_leads_to_the_list_as_it_was(view: View, report: Path) -> None:
    page = view(report).go("#/pairs?engine=mysql&sort=-seconds")
    page.locator(".all .row a").first.click()
    expect(page.locator("article")).to_be_visible()
    page.go_back()
    expect(page.locator(".found")).to_have_text("36 of 108 pairs")


def test_the_theme_is_the_systems_until_it_is_chosen(view: View, report: Path) -> None:
    def paper(page: Page, colour: str) -> None:
        # The page is drawn anew a moment after the choice.
        expect(page.locator("body")).to_have_css("background-color", colour)

    light, dark = view(report).go(), view(report, scheme="dark").go()
    paper(light, "rgb(255, 255, 255)")
    paper(dark, "rgb(21, 24, 28)")
    dark.get_by_label("Theme").select_option("light")
    paper(dark, "rgb(255, 255, 255)")


def test_the_manifest_is_there(view: View, report: Path) -> None:
    page = view(report).go("#/run")
    expect(page.locator("main")).to_contain_text("20260102T030405Z-abcdef")


def test_what_answers_took_stands_below_the_scores_and_in_the_view_of_a_pair(
    view: View, run: Made, tmp_path: Path
) -> None:
    asked = [each for each in run.run.results if each.predictor == "predictor-1" and each.dialect == "mysql"]
    told: UsageByPair = {
        ("mysql", "predictor-1", each.question): AnswerUsage(1200, place, 0.5 + place, 0.25)
        for place, each in enumerate(asked)
    }
    path = tmp_path / "report.html"
    write_html(replace(run.run, usage=told), run.questions, run.previews, path)
    page = view(path).go()
    totals = UsageTotals.of(told.values())
    assert totals.tokens is not None
    assert totals.seconds_median is not None
    table = page.get_by_role("region", name="Usage of answers").locator("table")
    assert table.locator("thead th").all_inner_texts()[2:] == [
        "tokens / question",
        "median s",
        "mean s",
        "cost",
    ]
    rows = [row.locator("th, td").all_inner_texts() for row in table.locator("tbody tr").all()]
    assert rows[4][0] == "predictor-1"
    assert rows[4][1].strip() == "MySQL"
    assert rows[4][2:] == [
        f"{totals.tokens:.1f}",
        f"{totals.seconds_median:.3f}",
        f"{totals.seconds_mean:.3f}",
        f"{totals.cost:.4f}",
    ]
    assert [set(row[2:]) for row in rows if row is not rows[4]] == [{"not known"}] * 8
    facts = _facts(view(path).go(address(asked[3])))
    assert facts["Tokens"] == "1,200 of prompt, 3 of completion"
    assert facts["Answered in"] == "3.50 s"
    assert facts["Cost"] == "0.25"


def test_where_nothing_is_known_of_what_answers_took_nothing_is_said(view: View, report: Path) -> None:
    page = view(report).go()
    assert page.get_by_role("link", name="Time relative to gold").count() == 1
    assert page.get_by_role("link", name="Usage of answers").count() == 0
    assert page.locator("#usage").count() == 0


@pytest.mark.parametrize(
    ("work", "says"),
    [
        (WorkRatio(0.5, 2468.0, 1234.0), "τ 0.5: 1,234 to 2,468 units"),
        (IDENTICAL, "the same text"),
        (WorkRatio(reason="stopped after 30 s"), "stopped after 30 s"),
    ],
)
def test_the_view_of_a_pair_has_its_work(
    view: View, run: Made, tmp_path: Path, work: WorkRatio, says: str
) -> None:
    match = one(run, Outcome.MATCH)
    results = [replace(each, work=work) if each is match else each for each in run.run.results]
    path = tmp_path / "report.html"
    write_html(replace(run.run, results=results), run.questions, run.previews, path)
    assert _facts(view(path).go(address(match)))["Work, gold's ÷ prediction's"] == says


@pytest.mark.parametrize(
    ("soft_f1", "says"),
    [
        ({"soft_f1": 1.0}, "the same set of rows as gold"),
        ({}, "the same set of rows as gold"),
        ({"soft_f1": 0.5}, "the same set of rows as gold, in another order; Soft-F1 compares by position"),
    ],
)
def test_the_view_of_a_pair_says_where_gold_is_from_and_that_only_the_order_differs(
    view: View, run: Made, tmp_path: Path, soft_f1: dict[str, float], says: str
) -> None:
    match = one(run, Outcome.MATCH)
    changed = replace(match, scores={"ex": 1.0, **soft_f1})
    results = [changed if each is match else each for each in run.run.results]
    path = tmp_path / "report.html"
    write_html(replace(run.run, results=results), run.questions, run.previews, path)
    page = view(path).go(address(match))
    assert _facts(page)["Gold is"] == "the set's own"
    size = page.locator(".results .of-prediction .size").first.inner_text()
    assert re.fullmatch(rf"\d+ rows?: {re.escape(says)}", size)


def _facts(page: Page) -> dict[str, str]:
    names, values = (page.locator(f".tiles.small {tag}").all_text_contents() for tag in ("dt", "dd"))
    return dict(zip(names, values, strict=True))
