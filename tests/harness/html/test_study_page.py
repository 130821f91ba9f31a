"""The page of a study: tables with charts and intervals, without a script, on a phone, too."""

from pathlib import Path

import pytest
from playwright.sync_api import expect
from rich.console import Console

from dialects.enums import Dialect
from harness.labs.study.command import PAGE, StudyRequest, study
from harness.labs.study.parts import chosen_parts
from harness.session.request import Request
from tests.harness.html.conftest import View
from tests.harness.html.test_looks import MOST_BYTES, violations


@pytest.fixture(scope="module")
def studied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("studied")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BIRD_STATE", str(folder / "state"))
        request = Request(dialects=[Dialect.SQLITE], metrics=("ex",), limit=20, out=folder, workers=1)
        return (
            study(StudyRequest(request, chosen_parts(["e1", "e3"])), Console(quiet=True), print).folder / PAGE
        )


@pytest.mark.parametrize("width", [1400, 390])
def test_the_page_breaks_no_rule_of_accessibility(view: View, studied: Path, width: int) -> None:
    viewer = view(studied, width=width)
    viewer.page.goto(studied.as_uri())
    assert violations(viewer.page) == []
    assert viewer.asked == []
    # Only tables scroll to the side, within themselves.
    assert viewer.page.evaluate("document.documentElement.scrollWidth") <= width


def test_every_table_is_there_with_its_charts(view: View, studied: Path) -> None:
    page = view(studied).page
    page.goto(studied.as_uri())
    expect(page.locator("h1")).to_have_text("Efficiency of sample")
    titles = page.locator("h2").all_inner_texts()
    assert "E1: Which claims hold" in titles
    assert "E3: The golds under four schemes" in titles
    assert page.locator("figure.chart").count() >= 3
    chart = page.locator("figure.chart", has_text="Work of the golds")
    assert chart.locator("rect").count() == 4
    assert studied.stat().st_size < MOST_BYTES
    policy = page.locator("meta[http-equiv=Content-Security-Policy]").get_attribute("content") or ""
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert page.locator("script").count() == 0
