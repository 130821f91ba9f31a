"""The page of the dialect gap: its filters, its tables without a script, a phone, and what axe says."""

from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import ViewportSize, expect

from dialects.enums import Dialect, Profile
from harness.data.outcomes import GoldOrigin, Outcome, PairResult, preview
from harness.data.published_sets import Provenance
from harness.data.questions import Difficulty, Question
from harness.engines.errors import EditKind
from harness.labs.gap.cause_rules import Cause, Direction, FoundCause, Mended
from harness.labs.gap.edits import Edit
from harness.labs.gap.experiments import Trial
from harness.labs.gap.explanations import Explained, Gap, PredictorGap, WhatIf
from harness.labs.gap.files import write_gap_page
from tests.harness.html.conftest import View
from tests.harness.html.made_up import HOSTILE
from tests.harness.html.test_looks import violations

PROVENANCE = {"things": Provenance.OTHER, "others": Provenance.PUBLISHED}
PHONE, DESK = ViewportSize(width=390, height=844), ViewportSize(width=1280, height=900)


def result(dialect: Dialect, key: str, sql: str, outcome: Outcome) -> PairResult:
    return PairResult(
        dialect=dialect,
        predictor="model",
        question=key,
        question_id=int(key),
        db_id="things",
        difficulty=Difficulty.SIMPLE,
        outcome=outcome,
        scores={},
        gold_origin=GoldOrigin.DATASET,
        sql=sql,
    )


def explained(place: int, cause: Cause, direction: Direction, text: str) -> Explained:
    key = str(place)
    question = Question(
        key, place, "things", text, text, Difficulty.SIMPLE, dict.fromkeys(Dialect, f"SELECT {place}")
    )
    rows = preview([(1, text)], [(2, None)]).to_text()
    trial = Trial(
        f"the answer with an edit: {text}",
        Dialect.MYSQL,
        Profile.OFFICIAL,
        f"SELECT '{text}'",
        "the gold of its dialect",
        Outcome.MATCH,
        strict=True,
        preview=rows,
    )
    mended = Mended((Edit(EditKind.QUOTE, text, trial.sql),), trial)
    is_loss = direction is Direction.LOSS
    return Explained(
        "model",
        Dialect.MYSQL,
        question,
        direction,
        result(Dialect.SQLITE, key, f"SELECT {text}", Outcome.MATCH if is_loss else Outcome.MISMATCH),
        result(Dialect.MYSQL, key, text, Outcome.PREDICTION_ERROR if is_loss else Outcome.MATCH),
        FoundCause(
            cause, f"1 edit away from right: {text}", trial, (trial, replace(trial, error=text)), mended
        ),
        synthetic=place % 2 == 1,
    )


@pytest.fixture(scope="module")
def page_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    some = [
        explained(place, cause, list(Direction)[place % 2], HOSTILE[place % len(HOSTILE)])
        for place, cause in enumerate([*Cause, Cause.NAMES, Cause.NAMES])
    ]
    lost = sum(one.direction is Direction.LOSS for one in some)
    won = len(some) - lost
    gap = PredictorGap("model", Dialect.MYSQL, 40, 20, 20 + won - lost, some, WhatIf(25, 21, 19))
    path = tmp_path_factory.mktemp("gap") / "gap.html"
    write_gap_page(Gap("run", "made_up", Profile.OFFICIAL, [gap], ["left out"], PROVENANCE), {}, path)
    return path


def test_questions_are_filtered_and_read(view: View, page_path: Path) -> None:
    page = view(page_path).go()
    expect(page.locator("#count")).to_have_text("13 of 13 questions that differ")
    expect(page.locator("h1")).to_have_text("The dialect gap of run run")
    page.locator("#cause").select_option("names")
    expect(page.locator("#list li")).to_have_count(3)
    page.keyboard.press("Tab")
    page.locator("#list button").nth(1).click()
    expect(page.locator("article h3")).to_contain_text("things")
    shown = [
        "The execution that decides",
        "The answer for SQLite:",
        "The answer for MySQL:",
        "Gold of MySQL",
    ]
    for text in (*shown, "All 2 executions that were looked at", "on MySQL, profile official, against"):
        expect(page.locator("article")).to_contain_text(text)
    page.locator("#direction").select_option("gain")
    expect(page.locator("#count")).to_contain_text("of 13")
    page.locator("#cause").select_option("")
    page.locator("#direction").select_option("")
    page.locator("#search").fill("{{ 7 * 7 }}")
    expect(page.locator("#list li")).to_have_count(1)
    # Its text is the evidence, too, and has a formula.
    page.locator("#search").fill("")
    page.locator("#type").select_option("domain_knowledge")
    expect(page.locator("#list li")).to_have_count(1)
    assert page.title() == "The dialect gap of run run"


def test_tables_and_waterfalls_need_no_script(view: View, page_path: Path) -> None:
    page = view(page_path).go()
    expect(page.locator("figure svg")).to_have_count(1)
    expect(page.locator("#tables h3").first).to_have_text("From SQLite to the other engine")
    assert str(page.locator("svg").get_attribute("aria-label")).startswith("SQLite 50.00;")


def test_nothing_is_wider_than_a_phone_and_axe_is_content(view: View, page_path: Path) -> None:
    viewer = view(page_path)
    for size in (PHONE, DESK):
        viewer.page.set_viewport_size(size)
        page = viewer.go()
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
        assert violations(page) == []
