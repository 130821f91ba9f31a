"""Pages in headless Chromium without a network, which has to find nothing to complain about."""

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Error, Page, Route, sync_playwright

from harness.report.html import write_html
from tests.harness.html.made_up import Made, made
from tests.reasons import Reason, skip

ARGUMENTS = [
    "--no-sandbox",  # the tests may run as root
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@dataclass
class Viewer:
    """A page that shows a report, with what it said and what it asked for."""

    page: Page
    path: Path
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def go(self, address: str = "") -> Page:
        """Open the file at an address within it; back when all of it is unpacked."""
        self.page.goto("about:blank")
        self.page.goto(self.path.as_uri() + address)
        self.page.wait_for_selector("html[data-state=complete]", state="attached")
        return self.page

    def hash(self) -> str:
        return str(self.page.evaluate("location.hash"))


View = Callable[..., Viewer]


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        skip(Reason.NO_CHROMIUM, "apt-get install chromium, or name one with CHROMIUM")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        yield found
        found.close()


@pytest.fixture
def view(browser: Browser) -> Iterator[View]:
    """Open a file: without a network, and at the end without a message of the console or a request."""
    viewers: list[Viewer] = []

    def opened(path: Path, width: int = 1400, height: int = 900, scheme: str = "light") -> Viewer:
        context = browser.new_context(
            offline=True,
            viewport={"width": width, "height": height},
            color_scheme="dark" if scheme == "dark" else "light",
        )
        context.set_default_timeout(10_000)
        viewer = Viewer(context.new_page(), path.resolve())
        watch(viewer)
        viewers.append(viewer)
        return viewer

    yield opened
    for viewer in viewers:
        viewer.page.context.close()
    assert [viewer.said for viewer in viewers if viewer.said] == []
    assert [viewer.asked for viewer in viewers if viewer.asked] == []


def watch(viewer: Viewer) -> None:
    """Keep what a page says, and stop and keep whatever it asks for but itself."""

    def said(message: ConsoleMessage) -> None:
        viewer.said.append(f"{message.type}: {message.text}")

    def failed(error: Error) -> None:
        viewer.said.append(f"error: {error}")

    def asked(route: Route) -> None:
        url = route.request.url
        if url.partition("#")[0] == viewer.path.as_uri():
            route.continue_()
        else:
            viewer.asked.append(url)
            route.abort()

    viewer.page.on("console", said)
    viewer.page.on("pageerror", failed)
    viewer.page.context.route("**/*", asked)


@pytest.fixture(scope="session")
def run() -> Made:
    return made()


@pytest.fixture(scope="session")
def report(run: Made, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a run of every outcome."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_html(*run, path)
    return path
