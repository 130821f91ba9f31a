"""The search field: every letter that is typed stays, at any speed, and the list follows."""

import random
from collections.abc import Callable
from functools import partial
from itertools import cycle
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from harness.report.html import write_html
from tests.harness.html.conftest import View
from tests.harness.html.made_up import made
from tests.harness.html.test_comparison_page import compared

__all__ = ["compared"]

TEXTS = ("no such column", "COUNT(*) things")

PAUSES = (50, 100, 120, 135, 150, None)
"""Milliseconds between letters: on both sides of the rest after which the address follows; None: any."""


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a run whose list takes a while to filter and to draw."""
    path = tmp_path_factory.mktemp("large") / "report.html"
    write_html(*made(predictors=6, questions=500, noise=60), path)
    return path


def type_text(page: Page, text: str, pause: Callable[[], float]) -> None:
    for letter in text:
        page.keyboard.type(letter)
        page.wait_for_timeout(pause())


def test_no_letter_is_lost_at_any_speed(view: View, large: Path) -> None:
    chance = random.Random(0)  # noqa: S311 - nothing is secret
    viewer = view(large)
    page = viewer.go("#/pairs")
    field = page.get_by_label("Search")
    for milliseconds, text in zip(PAUSES, cycle(TEXTS), strict=False):
        field.fill("")
        field.focus()
        type_text(
            page, text, partial(float, milliseconds) if milliseconds else partial(chance.uniform, 50, 250)
        )
        expect(field, f"{milliseconds} ms").to_have_value(text)
        page.wait_for_function(
            "text => new URLSearchParams(location.hash.split('?')[1]).get('q') === text", arg=text
        )
        expect(field, f"{milliseconds} ms").to_have_value(text)
        expect(field).to_be_focused()


def test_no_letter_is_lost_in_a_comparison(view: View, compared: Callable[..., Path]) -> None:
    page = view(compared()).go()
    expect(page.locator(".found")).to_have_text("9 questions")
    field = page.get_by_label("Search")
    for milliseconds in (50, 120, 150):
        field.fill("")
        page.keyboard.press("Escape")
        page.keyboard.press("/")
        type_text(page, "many (12)", partial(float, milliseconds))
        expect(field).to_have_value("many (12)")
        expect(page.locator(".found")).to_have_text("1 of 9 questions")
    page.keyboard.press("Escape")
    page.locator(".all .row a").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("How many are there? (12)")
    expect(page.get_by_text("1 of 1")).to_be_visible()
    page.keyboard.press("Escape")
    expect(field).to_have_value("many (12)")
    page.get_by_role("link", name="Clear").click()
    expect(field).to_have_value("")
    expect(page.locator(".found")).to_have_text("9 questions")


@pytest.mark.parametrize("place", ["", "#/pairs", "#/run", "#/pair/mysql/predictor-0/12"])
def test_a_slash_focuses_before_the_next_key(view: View, report: Path, place: str) -> None:
    page = view(report).go(place)
    # No wait between the keys: what is typed after the slash is in the field from its first letter.
    page.keyboard.type("/place 1")
    expect(page.get_by_label("Search")).to_have_value("place 1")


def test_a_filter_that_is_chosen_while_typing_stays_and_so_do_the_letters(view: View, report: Path) -> None:
    page = view(report).go("#/pairs")
    page.get_by_label("Search").focus()
    page.evaluate(
        """() => {
          const field = document.getElementById("search");
          field.value = "place";
          field.dispatchEvent(new InputEvent("input", { bubbles: true }));
          document.querySelector("input[name=engine][value=mysql]").click();
        }"""
    )
    page.wait_for_url("**/*q=place")
    expect(page.locator(".chosen")).to_contain_text("Engine: MySQL")
    expect(page.locator(".found")).to_have_text("22 of 108 pairs")


def test_back_and_clear_change_what_stands_in_the_field(view: View, report: Path) -> None:
    page = view(report).go("#/pairs?q=first")
    field = page.get_by_label("Search")
    expect(field).to_have_value("first")
    page.evaluate("location.hash = '#/pairs?q=second'")
    expect(field).to_have_value("second")
    field.focus()
    page.go_back()
    expect(field).to_have_value("first")
    page.keyboard.type("x")
    page.get_by_role("link", name="Clear").click()
    expect(field).to_have_value("")
    page.wait_for_timeout(300)
    expect(field).to_have_value("")
    expect(page.locator(".found")).to_have_text("108 pairs")


def test_what_is_typed_last_never_leads_back_from_a_pair(view: View, report: Path) -> None:
    viewer = view(report)
    page = viewer.go("#/pairs")
    page.keyboard.type("/#12")
    expect(page.locator(".found")).to_have_text("9 of 108 pairs")
    page.keyboard.type(" ")
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_timeout(300)
    assert viewer.hash().startswith("#/pair/")
