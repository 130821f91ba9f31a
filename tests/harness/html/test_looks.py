"""How a report looks and feels: accessible in both schemes, on a phone, on paper, with thousands of pairs."""

from collections.abc import Callable
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Page, expect

from harness.data.outcomes import Outcome
from harness.report.html import write_html
from tests.harness.html.conftest import View
from tests.harness.html.made_up import Made, made
from tests.harness.html.test_views import address, one

MOST_BYTES = 8_000_000


COLOURS = ("color-contrast", "link-in-text-block")
"""The rules of axe that look at colours."""

_OPTIONS = {"resultTypes": ["violations"], "selectors": False, "preload": False}
"""Without a selector of every element that breaks nothing, which takes as long as all rules."""

_AXE = "options => axe.run(options).then(found => found.violations)"


def violations(page: Page) -> list[str]:
    """Which rules of accessibility a page breaks, as it is in light; in dark, which of those of colours."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(Axe().axe_script)
    broken = []
    for scheme, only in (("light", None), ("dark", {"type": "rule", "values": COLOURS})):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
        options = {**_OPTIONS, **({"runOnly": only} if only else {})}
        broken += [
            f"{scheme}: {each['id']}: {node['html'][:200]}"
            for each in page.evaluate(_AXE, options)
            for node in each["nodes"]
        ]
    page.emulate_media(color_scheme="light")
    return broken


@pytest.mark.parametrize("width", [1400, 390])
def test_no_view_breaks_a_rule_of_accessibility(view: View, report: Path, run: Made, width: int) -> None:
    viewer = view(report, width=width)
    viewer.go()
    pairs = [address(one(run, outcome)) for outcome in (Outcome.MISMATCH, Outcome.PREDICTION_ERROR)]
    broken = {
        place: violations(viewer.move(place))
        for place in (
            "",
            "#/?predictor=predictor-1",
            "#/pairs?group=outcome&engine=mysql",
            "#/pairs?q=nothing+has",
            "#/matrix?outcome=mismatch",
            "#/run",
            *pairs,
        )
    }
    viewer.move("#/pairs").locator(".choice summary").first.evaluate(
        "summary => { summary.parentNode.open = true }"
    )
    broken["a filter"] = violations(viewer.page)
    viewer.page.keyboard.press("?")
    broken["keys"] = violations(viewer.page)
    assert {place: found for place, found in broken.items() if found} == {}


@pytest.mark.parametrize("place", ["", "#/pairs", "#/matrix", "#/run", "pair"])
def test_nothing_is_wider_than_a_phone(view: View, report: Path, run: Made, place: str) -> None:
    page = view(report, width=360, height=740).go(
        place if place != "pair" else address(one(run, Outcome.MISMATCH))
    )
    assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_paper_is_light_and_has_no_controls_and_the_whole_list(view: View, report: Path) -> None:
    page = view(report, scheme="dark").go("#/pairs?engine=mysql")
    assert page.locator(".all .row").count() < 36
    page.emulate_media(media="print", color_scheme="dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator(".all .row").count() == 36
    expect(page.get_by_label("Search")).not_to_be_visible()
    page.emulate_media(media="screen")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(page.locator('.all .row[aria-rowindex="37"]')).not_to_be_attached()


def test_thirteen_thousand_pairs_are_a_small_file_and_a_short_page(
    view: View, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    path = tmp_path / "report.html"
    write_html(*made(predictors=9, questions=500, noise=150), path)
    assert path.stat().st_size < MOST_BYTES
    page = view(path).go("#/pairs")
    expect(page.locator(".found")).to_have_text("13,500 pairs")
    marks = page.evaluate(
        "performance.getEntriesByType('mark').map(({name, startTime}) => [name, startTime])"
    )
    for name, milliseconds in marks:
        record_property(name, milliseconds)
    assert page.locator(".all .row").count() < 100
    page.locator(".list .body").evaluate("body => { body.scrollTop = body.scrollHeight }")
    expect(page.locator('.all .row[aria-rowindex="13501"]')).to_be_visible()
