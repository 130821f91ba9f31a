"""The pictures of the documentation: `python -m tests.harness.html.screenshots`.

They show the report of the sample set on SQLite, MySQL and PostgreSQL, in light, in dark and on paper.
"""

import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from dialects.enums import Dialect
from harness.data.outcomes import Outcome
from harness.data.set_manifest import PUBLISHED
from harness.report.html import write_html
from harness.runs.reader import LATEST, read_previews, read_questions, read_run
from harness.session.evaluation import score
from harness.session.plan import prepare
from harness.session.request import Request
from tests.harness.html.conftest import ARGUMENTS
from tests.harness.html.test_views import address

FOLDER = Path(__file__).parents[3] / "docs" / "images"
WIDTH, HEIGHT = 1280, 900
PAPER = (794, 1123)
"""A4 in CSS pixels."""


def report(folder: Path) -> tuple[Path, str]:
    """The report of a run of the sample, and the address of a pair in it that does not match."""
    with prepare(Request(out=folder, dialects=PUBLISHED), say=print) as plan:
        score(plan)
    run = read_run(folder / LATEST)
    path = folder / "report.html"
    write_html(run, read_questions(run.folder), read_previews(run.folder), path)
    wrong = [one for one in run.results if one.outcome is Outcome.MISMATCH]
    shown = next((one for one in wrong if one.dialect == Dialect.POSTGRESQL), wrong[0])
    return path, address(shown)


def take(browser: Browser, path: Path, place: str, name: str) -> None:
    is_paper = name == "print"
    width, height = PAPER if is_paper else (WIDTH, HEIGHT)
    page = browser.new_page(
        viewport={"width": width, "height": height}, color_scheme="dark" if name == "dark" else "light"
    )
    page.goto(path.as_uri() + place)
    page.wait_for_selector("html[data-state=complete]", state="attached")
    if is_paper:
        page.emulate_media(media="print")
        page.evaluate("document.body.style.padding = '14mm'")
    page.wait_for_timeout(300)
    page.screenshot(path=FOLDER / f"report-{name}.png")
    page.close()


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path, pair = report(Path(folder))
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=ARGUMENTS)
        for name, place in (
            ("light", ""),
            ("matrix", "#/matrix?order=hardest"),
            ("dark", pair),
            ("print", ""),
        ):
            take(browser, path, place, name)
        browser.close()


if __name__ == "__main__":
    main()
