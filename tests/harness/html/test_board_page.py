"""The site of verified bundles: without a script or a network, on a phone, too; its links lead to files."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from harness.labs.bundles.board import read_board, write_board
from tests.harness.html.conftest import View
from tests.harness.html.test_looks import violations
from tests.labs.bundles.test_board import bundled, right


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bundles")
    bundled(folder, "first", [*right("<b>alpha</b>", 50), *right("a very long name " * 6, 20)])
    bundled(folder, "second", right("<b>alpha</b>", 52), day=2, databases={"d": "e" * 64})
    bundled(folder, "unverified", right("beta", 60), confirmed=None)
    return write_board(read_board(folder), folder / "site").parent


@pytest.mark.parametrize("width", [1400, 390])
def test_no_page_breaks_a_rule_of_accessibility(view: View, site: Path, width: int) -> None:
    for path in sorted(site.glob("*.html")):
        viewer = view(path, width=width)
        viewer.page.goto(path.as_uri())
        assert violations(viewer.page) == []
        assert viewer.page.evaluate("document.documentElement.scrollWidth") <= width
        assert viewer.page.locator("script").count() == 0


def test_names_are_texts_and_links_lead_to_files(view: View, site: Path) -> None:
    [page] = [path for path in site.glob("sample-*.html") if "a very long" in path.read_text()]
    viewer = view(page)
    viewer.page.goto(page.as_uri())
    expect(viewer.page.locator("tbody th").first).to_have_text("<b>alpha</b>")
    links = [one.get_attribute("href") or "" for one in viewer.page.locator("a").all()]
    assert len(links) == 1 + 2 * 3
    assert all((site / link).is_file() for link in links)


def test_a_report_made_of_a_bundle_works(view: View, site: Path) -> None:
    for path in sorted((site / "reports").iterdir()):
        viewer = view(path)
        viewer.page.goto(path.as_uri())
        expect(viewer.page.get_by_role("rowheader", name="<b>alpha</b>").first).to_be_visible()
        assert viewer.page.locator("b").count() == 0
