"""The built site: complete, whole, and by itself."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from playwright.sync_api import expect, sync_playwright

from tests.docs import example
from tests.docs.blocks import ROOT
from tests.reasons import Reason, skip

DOCS = ROOT / "docs"
CONFIGURATION = ROOT / "mkdocs.yml"

_ASSETS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
"""Elements that a browser loads something for, and where they say what."""
_NOT_LOADED = {"canonical", "prev", "next", "alternate"}
_IN_SCRIPT = re.compile(r"""\bsrc\s*=\s*\\?["'](?:https?:)?//[^"']+""")
_IN_CSS = re.compile(r"""(?:url\(|@import)\s*["']?\s*(?:https?:)?//""")


SEARCHED = {
    "bootstrap": "Compare runs, predictors and engines",
    "timeout": "Troubleshooting: messages, timeouts and faults",
    "ties": "Prove translated queries: coverage and conformance",
    "own database": "Questions about your own database",
    "reward": "Rewards for training",
}
"""What readers search for, and the title of the page that they want."""


class Page(HTMLParser):
    """What one page loads, where it leads, and where one can be led to in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = {name: value or "" for name, value in attrs}
        self.anchors |= {said[name] for name in ("id", "name") if said.get(name)}
        if tag == "a" and "href" in said:
            self.links.append(said["href"])
        address = said.get(_ASSETS.get(tag, ""))
        if address and said.get("rel") not in _NOT_LOADED:
            self.loads.append(address)


def in_nav(entries: list[Any]) -> Iterator[str]:
    for entry in entries:
        for value in entry.values() if isinstance(entry, dict) else [entry]:
            yield from [value] if isinstance(value, str) else in_nav(value)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make docs` does, in a folder of its own."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(DOCS, folder / "docs")
    shutil.copy(CONFIGURATION, folder)
    example.make(folder / "docs")
    builder = Path(sys.executable).with_name("zensical")
    done = subprocess.run(
        [builder, "build", "--strict", "--clean"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "site"


@pytest.fixture(scope="module")
def pages(built: Path) -> dict[Path, Page]:
    return {path: Page(path.read_text(encoding="utf-8")) for path in built.rglob("*.html")}


def test_every_page_is_in_the_navigation_once() -> None:
    listed = sorted(in_nav(yaml.safe_load(CONFIGURATION.read_text(encoding="utf-8"))["nav"]))
    assert listed == sorted(
        str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md") if not is_example(path)
    )


def titles() -> dict[str, str]:
    """The title of each page."""
    pages = (path for path in DOCS.rglob("*.md") if not is_example(path))
    return {
        str(path.relative_to(DOCS)): found[1]
        for path in pages
        if (found := re.search(r"^# (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE))
    }


def test_titles_cannot_be_mixed_up() -> None:
    """No title is another, or a part of another: a list of search results shows them alone."""
    said = {page: f" {title.casefold()} " for page, title in titles().items()}
    assert 30 < len(said) <= 44
    assert [
        (one, other)
        for one, title in said.items()
        for other, longer in said.items()
        if one != other and title in re.sub(r"[^\w'-]", " ", longer)
    ] == []


def is_example(path: Path) -> bool:
    """Whether a file belongs to an example project, which is linked to and not a page."""
    return path.is_relative_to(DOCS / "examples")


@pytest.mark.slow
@pytest.mark.thorough
def test_every_page_is_built(pages: dict[Path, Page], built: Path) -> None:
    wanted = {
        path.relative_to(DOCS).with_suffix(".html") for path in DOCS.rglob("*.md") if not is_example(path)
    }
    assert wanted - {path.relative_to(built) for path in pages} == set()


@pytest.mark.slow
@pytest.mark.thorough
def test_links_and_anchors_lead_somewhere(pages: dict[Path, Page], built: Path) -> None:
    broken = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or path.name == "404.html":
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            anchor = unquote(parts.fragment)
            if not target.exists() or (anchor and target in pages and anchor not in pages[target].anchors):
                broken.append(f"{path.relative_to(built)}: {link}")
    assert broken == []


@pytest.mark.slow
@pytest.mark.thorough
def test_links_of_other_files_lead_to_headings(pages: dict[Path, Page], built: Path) -> None:
    """README, CHANGELOG and the like link to pages of the repository, by headings of the site."""
    broken = []
    for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docker/README.md"):
        for link in re.findall(r"\]\(([^):\s]+)\)", (ROOT / name).read_text(encoding="utf-8")):
            path, _, anchor = link.partition("#")
            target = ((ROOT / name).parent / path).resolve()
            page = pages.get(built / target.relative_to(DOCS).with_suffix(".html")) if anchor else None
            if not target.exists() or (page and anchor not in page.anchors):
                broken.append(f"{name}: {link}")
    assert broken == []


@pytest.mark.slow
@pytest.mark.thorough
def test_nothing_is_loaded_from_elsewhere(pages: dict[Path, Page], built: Path) -> None:
    outside = [
        f"{path.relative_to(built)}: {address}"
        for path, page in pages.items()
        for address in page.loads
        if urlsplit(address).netloc
    ]
    # Scripts may write elements, too.
    outside += [
        f"{path.relative_to(built)}: {found}"
        for path in pages
        for found in _IN_SCRIPT.findall(path.read_text(encoding="utf-8"))
    ]
    outside += [
        str(path.relative_to(built))
        for path in built.rglob("*.css")
        if _IN_CSS.search(path.read_text(encoding="utf-8"))
    ]
    assert outside == []


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.parametrize(
    ("added", "says"),
    [
        ("[there](nowhere.md)", "page does not exist"),
        ("[there](metrics.md#nowhere)", "anchor does not exist"),
    ],
)
def test_a_broken_link_fails_the_build(added: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    for name in ("index.md", "metrics.md"):
        (tmp_path / "docs" / name).write_text(
            f"# {name}\n\n{added if name == 'index.md' else ''}\n", encoding="utf-8"
        )
    content = yaml.safe_load(CONFIGURATION.read_text(encoding="utf-8"))
    content["nav"] = ["index.md", "metrics.md"]
    (tmp_path / CONFIGURATION.name).write_text(yaml.safe_dump(content), encoding="utf-8")
    builder = Path(sys.executable).with_name("zensical")
    done = subprocess.run(
        [builder, "build", "--strict", "--clean"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert says in done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.thorough
def test_search_works_where_pages_are_opened_as_files_without_a_network(built: Path) -> None:
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        skip(Reason.NO_CHROMIUM, "apt-get install chromium, or name one with CHROMIUM")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        context = browser.new_context(offline=True)
        asked: list[str] = []
        context.on("request", lambda request: asked.append(request.url))
        for name in ("index.html", "how-to/data.html"):
            page = context.new_page()
            page.goto((built / name).as_uri())
            page.keyboard.press("/")
            for words, title in SEARCHED.items():
                box = page.get_by_role("combobox").or_(page.get_by_role("textbox")).first
                box.fill(words)
                expect(page.get_by_role("option").first).to_contain_text(title, timeout=20_000)
        assert [url for url in asked if not url.startswith(("file:", "blob:", "data:", "about:"))] == []
        browser.close()
