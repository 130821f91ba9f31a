"""Pages in headless Chromium without a network, which has to find nothing to complain about.

To begin with a new page takes the browser twice as long as to show a report. Tests have the same pages
one after the other, which keep nothing of the test before.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Error, Page, Route, ViewportSize, sync_playwright

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


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What opens a browser is slow, and thorough."""
    for item in items:
        if isinstance(item, pytest.Function) and "browser" in item.fixturenames:
            item.add_marker("slow")
            item.add_marker("thorough")


@dataclass
class Viewer:
    """A page that shows a report, with what it said and what it asked for."""

    page: Page
    path: Path = Path()
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def go(self, address: str = "") -> Page:
        """Open the file at an address within it; back when all of it is unpacked."""
        self._leave()
        self.page.goto(self.path.as_uri() + address)
        self.page.wait_for_selector("html[data-state=complete]", state="attached")
        return self.page

    def move(self, address: str) -> Page:
        """To another address within the file that is open, as a link in it leads; back when that is drawn."""
        self.page.evaluate(_MOVE, address or "#/")
        return self.page

    def hash(self) -> str:
        return str(self.page.evaluate("location.hash"))

    def begin(self, path: Path, size: ViewportSize, scheme: str) -> None:
        """Be as a new page is, for a file."""
        self.path, self.said, self.asked = path.resolve(), [], []
        self.page.set_viewport_size(size)
        self.page.emulate_media(
            media="null", color_scheme="dark" if scheme == "dark" else "light", reduced_motion="null"
        )

    def end(self) -> None:
        """Forget what the test has done."""
        if self.page.url != "about:blank":
            self.page.evaluate("localStorage.clear()")
        self._leave()
        self.page.mouse.move(0, 0)

    def _leave(self) -> None:
        """Go away from the file, without which another address within it does not load it again."""
        if self.page.url != "about:blank":
            self.page.goto("about:blank")


_MOVE = """address => new Promise(done => {
  const drawn = () => requestAnimationFrame(() => setTimeout(done));
  if (location.hash === address) return drawn();
  addEventListener("hashchange", drawn, { once: true });
  location.hash = address;
})"""

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


def viewer_of(browser: Browser) -> Viewer:
    # Each has its own context: of two pages of one, the one behind is drawn once a second.
    context = browser.new_context(offline=True)
    context.set_default_timeout(10_000)
    viewer = Viewer(context.new_page())
    watch(viewer)
    return viewer


@pytest.fixture(scope="package")
def idle() -> list[Viewer]:
    """Pages that no test has at the moment."""
    return []


@pytest.fixture
def view(browser: Browser, idle: list[Viewer]) -> Iterator[View]:
    """Open a file: without a network, and at the end without a message of the console or a request.

    `is_alone` gives a page that no other test has had or will have: for scripts and permissions, which stay.
    """
    viewers: list[Viewer] = []
    alone: list[Viewer] = []

    def opened(
        path: Path, width: int = 1400, height: int = 900, scheme: str = "light", *, is_alone: bool = False
    ) -> Viewer:
        viewer = idle.pop() if idle and not is_alone else viewer_of(browser)
        (alone if is_alone else viewers).append(viewer)
        viewer.begin(path, ViewportSize(width=width, height=height), scheme)
        return viewer

    yield opened
    for viewer in alone:
        viewer.page.context.close()
    for viewer in viewers:
        viewer.end()
        idle.append(viewer)
    assert [viewer.said for viewer in [*viewers, *alone] if viewer.said] == []
    assert [viewer.asked for viewer in [*viewers, *alone] if viewer.asked] == []


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
    viewer.page.route("**/*", asked)


@pytest.fixture(scope="session")
def run() -> Made:
    return made()


@pytest.fixture(scope="session")
def report(run: Made, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a run of every outcome."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_html(*run, path)
    return path
