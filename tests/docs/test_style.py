"""No page or docstring has a phrase of the style list; a page begins with its purpose and an example."""

import re
from pathlib import Path

import pytest

from tests.docs.blocks import ROOT, blocks
from tests.docs.style import INSTEAD, checked, faults, is_written, name, purposes


@pytest.mark.parametrize("page", checked(), ids=name)
def test_a_page_has_no_phrase_of_the_list(page: Path) -> None:
    assert list(faults(page.read_text(encoding="utf-8"))) == []


def test_no_docstring_begins_with_a_phrase_of_the_list() -> None:
    modules = [
        path for package in ("harness", "loaders", "dialects") for path in (ROOT / package).rglob("*.py")
    ]
    found = [(path, line, text) for path in modules for line, text in purposes(path)]
    assert len(found) > 2 * len(modules)
    assert [f"{name(path)}:{line}: {fault}" for path, line, text in found for fault in faults(text)] == []


@pytest.mark.parametrize(
    "text",
    [
        '"""It stands."""',
        'def f():\n    """It stands.\n\n    More."""',
        'class A:\n    b = 1\n    """It stands."""',
    ],
)
def test_a_phrase_of_a_docstring_is_found(text: str, tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(text, encoding="utf-8")
    assert [fault for _, purpose in purposes(tmp_path / "module.py") for fault in faults(purpose)]


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        ("Two runs are held\nagainst each other.", "compare with"),
        ("It has four rows, of which two are right.", "two sentences"),
        ("The file stands beside it.", "is"),
        ("A run that was broken off goes on.", "interrupted"),
    ],
)
def test_a_phrase_of_the_list_is_found(text: str, instead: str) -> None:
    assert instead in INSTEAD.values()
    assert any(instead in fault for fault in faults(text))


def test_code_and_measured_sections_are_not_prose() -> None:
    assert (
        list(faults("`broken off`\n```text\nit stands\n```\n<!-- begin: a -->\nbeside\n<!-- end: a -->\n"))
        == []
    )


WITHOUT_EXAMPLE = {"architecture", "decisions", "glossary", "rewrites"}
"""Explanations and lists for reading."""


PAGES = [page for page in checked() if page.is_relative_to(ROOT / "docs") and not is_written(page)]


@pytest.mark.parametrize("page", PAGES, ids=name)
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
        line
        for page in checked()
        for line in page.read_text(encoding="utf-8").splitlines()
        if line[:1] == "#"
    ).casefold()
    wanted = ("timeout", "ties", "own database", "reward", "cache", "offline", "resum", "docker")
    assert [word for word in wanted if word not in headings] == []
