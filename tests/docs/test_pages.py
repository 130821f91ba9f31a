"""A page begins with its purpose and an example, and has the headings that readers search for."""

import re
from pathlib import Path

import pytest

from tests.docs.blocks import PAGES, ROOT, blocks
from tests.docs.reference.written import WRITTEN


def name(page: Path) -> str:
    """A page as messages call it."""
    return page.relative_to(ROOT).as_posix()


WITHOUT_EXAMPLE = {"architecture", "decisions", "glossary", "rewrites"}
"""Explanations and lists for reading."""


EXPLAINING = [
    page
    for page in PAGES
    if page.is_relative_to(ROOT / "docs") and not page.read_text(encoding="utf-8").startswith(WRITTEN)
]
"""Pages that are not made of the code."""


@pytest.mark.parametrize("page", EXPLAINING, ids=name)
def test_a_page_begins_with_a_purpose_and_an_example(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    lead = text.partition("\n\n")[2].partition("\n\n")[0]
    assert 8 <= len(lead.split()) <= 70, lead
    assert not re.match(r"[#|-]|```", lead), lead
    if page.stem not in WITHOUT_EXAMPLE:
        assert blocks(page), page
        assert blocks(page)[0].line <= 30, "the first example is far down"


def test_the_words_that_readers_search_for_are_headings() -> None:
    headings = "\n".join(
        line for page in PAGES for line in page.read_text(encoding="utf-8").splitlines() if line[:1] == "#"
    ).casefold()
    wanted = ("timeout", "ties", "own database", "reward", "cache", "offline", "resum", "docker")
    assert [word for word in wanted if word not in headings] == []
