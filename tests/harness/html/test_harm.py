"""Texts that mean harm are shown as texts, and folders that lack something are shown without it."""

import gzip
import json
import math
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import Page, expect

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.data.outcomes import Outcome, preview
from harness.metrics.efficiency import Clock, Timing
from harness.report.html import write_html
from harness.report.html.page import packed
from harness.report.html.pairs import MOST_CHARACTERS, time_ratio
from harness.runs.reader import Run, key_of
from tests.harness.html.conftest import View
from tests.harness.html.made_up import HOSTILE, Made, hostile, made, question, result

VIEWS = ("", "#/pairs", "#/pairs?group=question", "#/matrix", "#/run")


def written(made_up: Made, folder: Path) -> Path:
    path = folder / "report.html"
    write_html(*made_up, path)
    return path


def small(results: Mapping[str, Any], sql: str | None = "SELECT 1") -> Made:
    asked = question(1)
    one = replace(result(asked, "p", Dialect.SQLITE, Outcome.MISMATCH, sql), **results)
    return Made(Run(Path("run"), {"metrics": ["ex"]}, [one]), {"1": asked}, {})


def test_hostile_texts_stay_texts_in_every_view(view: View, tmp_path: Path) -> None:
    viewer = view(written(hostile(), tmp_path))
    viewer.go()
    for address in VIEWS:
        page = viewer.move(address)
        assert "owned" not in page.title().split(" — ")[0]
        assert (
            page.locator("img, iframe, object, embed, form[action], [onerror], a[href^=javascript]").count()
            == 0
        )
        assert page.locator("script").count() == 3
    links = [str(link.get_attribute("href")) for link in page_of_pairs(viewer.move("#/pairs")).all()[:8]]
    assert len(links) == 8
    for address in links:
        page = viewer.move(address)
        expect(page.locator("article h1")).to_be_visible()
        assert page.locator("img, iframe, [onerror]").count() == 0
        assert page.locator("script").count() == 3


def page_of_pairs(page: Page) -> Any:
    return page.locator(".all .row a")


@pytest.mark.parametrize(
    ("sql", "shown"),
    [
        (HOSTILE[0], HOSTILE[0]),
        (HOSTILE[1], HOSTILE[1]),
        ("SELECT '\0'", "SELECT '\u2400'"),
        ("SELECT '\u202ea'", "SELECT '⟦U+202E⟧a'"),
        ("SELECT '\ud83d'", "SELECT '\ufffd'"),
        ("not (SQL ' at all", "not (SQL ' at all"),
        ("", ""),
    ],
)
def test_sql_is_shown_as_it_is_and_what_cannot_be_seen_is_made_visible(
    view: View, tmp_path: Path, sql: str, shown: str
) -> None:
    page = view(written(small({}, sql), tmp_path)).go("#/pair/sqlite/p/1")
    page.get_by_label("formatted").uncheck()
    assert page.get_by_label("Prediction: SQL").text_content() == shown


def test_ten_megabytes_of_sql_are_cut_and_say_so(view: View, tmp_path: Path) -> None:
    path = written(small({"error": "x" * 10_000_000}, "SELECT 1, " * 1_000_000), tmp_path)
    assert path.stat().st_size < 2_000_000
    page = view(path).go("#/pair/sqlite/p/1")
    assert len(page.get_by_label("Prediction: SQL").inner_text()) == MOST_CHARACTERS
    assert page.get_by_text("Cut for display: the text has 10,000,000 characters.").count() == 2


def test_nothing_of_the_data_is_markup_or_text_of_the_file(tmp_path: Path) -> None:
    text = written(hostile(), tmp_path).read_text(encoding="utf-8")
    assert text.count("</script>") == 3
    assert 'onerror="' not in text
    assert "http:" not in text.partition("<style>")[0]
    policy = text.partition('http-equiv="Content-Security-Policy" content="')[2].partition('"')[0]
    assert policy.startswith("default-src &#39;none&#39;; script-src &#39;sha256-")
    assert "unsafe" not in policy


@given(st.dictionaries(st.text(st.characters()), st.lists(st.text(st.characters()))))
def test_whatever_ispacked_is_unpacked_again(content: dict[str, list[str]]) -> None:
    assert json.loads(gzip.decompress(b64decode(packed(content)))) == content


def test_equal_runs_give_equal_files(tmp_path: Path) -> None:
    one, other = tmp_path / "one.html", tmp_path / "other.html"
    write_html(*made(), one)
    write_html(*made(), other)
    assert one.read_bytes() == other.read_bytes()


def partial(name: str) -> Made:
    whole = made(predictors=2, questions=4)
    results = list(whole.run.results)
    broken = [replace(one, outcome=Outcome.HARNESS_ERROR, sql=None, scores={"ex": 0.0}) for one in results]
    return {
        "no questions": whole._replace(questions={}),
        "no previews": whole._replace(previews={}),
        "neither, and no manifest": Made(Run(Path("run"), {}, results), {}, {}),
        "one predictor": whole._replace(
            run=replace(whole.run, results=[r for r in results if r.predictor[-1] == "0"])
        ),
        "one engine": whole._replace(
            run=replace(whole.run, results=[r for r in results if r.dialect == "sqlite"])
        ),
        "one pair": whole._replace(run=replace(whole.run, results=results[:1])),
        "harness errors alone": whole._replace(run=replace(whole.run, results=broken), previews={}),
        "no scores": whole._replace(
            run=replace(
                whole.run, results=[replace(one, scores={}) for one in results], manifest={"run_id": "r"}
            )
        ),
        "scores that are no numbers": whole._replace(
            run=replace(
                whole.run,
                results=[replace(one, scores={"ex": math.nan, "ves": math.inf}) for one in results],
                manifest={"run_id": "r", "seconds": math.nan},
            )
        ),
        "times of 0": whole._replace(
            run=replace(
                whole.run, results=[replace(one, prediction_seconds=0.0, gold_seconds=0.0) for one in results]
            )
        ),
        "rows that cannot be compared": whole._replace(
            previews={key_of(one): preview([([1],)], [([2],)]) for one in results}
        ),
    }[name]


@pytest.mark.parametrize(
    "name",
    [
        "no questions", "no previews", "neither, and no manifest", "one predictor", "one engine", "one pair",
        "harness errors alone", "no scores", "times of 0", "scores that are no numbers",
        "rows that cannot be compared",
    ],
)  # fmt: skip
def test_what_is_there_is_shown_where_something_is_missing(view: View, tmp_path: Path, name: str) -> None:
    viewer = view(written(partial(name), tmp_path))
    page = viewer.go()
    expect(page.locator("#outcomes")).to_be_visible()
    page = viewer.move("#/pairs")
    page_of_pairs(page).first.click()
    expect(page.locator("#rows")).to_be_visible()
    page = viewer.move("#/run")
    expect(page.locator("main h1")).to_be_visible()


def test_a_run_without_results_says_so(view: View, tmp_path: Path) -> None:
    page = view(written(Made(Run(Path("run"), {}, []), {}, {}), tmp_path)).go()
    expect(page.locator("main")).to_have_text("This run has no results.")


TIMING = Timing(4.0, 3.0, 5.0, 6, 12, Clock.SERVER, 0.95, decided=True, reward=1.25)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"prediction_seconds": 1.0, "gold_seconds": 2.0}, 0.5),
        ({"prediction_seconds": 1.0, "gold_seconds": 0.0}, None),
        ({"prediction_seconds": None, "gold_seconds": 2.0}, None),
        ({"prediction_seconds": 0.0, "gold_seconds": 2.0}, 0.0),
        ({"timings": {"official": replace(TIMING, tau=2.0), "stable": TIMING}}, 0.25),
        ({"timings": {"official": replace(TIMING, tau=2.0)}}, 0.5),
        ({"timings": {"stable": replace(TIMING, tau=0.0, error="failed")}, "gold_seconds": None}, None),
    ],
)
def test_a_ratio_of_times_is_the_measured_one_where_there_is_one(
    fields: Mapping[str, Any], expected: float | None
) -> None:
    (one,) = small(fields).run.results
    assert time_ratio(one) == expected


def test_measured_times_are_told_with_their_intervals(view: View, tmp_path: Path) -> None:
    page = view(written(small({"timings": {"stable": TIMING}}), tmp_path)).go("#/pair/sqlite/p/1")
    expect(page.locator(".tiles.small")).to_contain_text("τ 4 (3 to 5), 6 samples, server clock")


def test_a_file_that_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"report\.html: cannot be written .*choose another file"):
        write_html(*made(), tmp_path / "no" / "report.html")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "script", ["delete window.DecompressionStream", "delete String.prototype.toWellFormed"]
)
def test_a_browser_that_cannot_unpack_it_says_so_and_shows_the_totals(
    view: View, report: Path, script: str
) -> None:
    viewer = view(report, is_alone=True)
    viewer.page.add_init_script(script)
    viewer.page.goto(report.as_uri())
    expect(viewer.page.get_by_role("status")).to_contain_text("This browser cannot unpack the report.")
    assert viewer.page.locator("tbody tr").count() == 9


def test_a_file_that_was_cut_off_says_so(view: View, report: Path, tmp_path: Path) -> None:
    text = report.read_text(encoding="utf-8")
    begin = text.index('id="core">') + len('id="core">')
    path = tmp_path / "cut.html"
    path.write_text(text[: begin + 400] + text[text.index("</script>", begin) :], encoding="utf-8")
    viewer = view(path)
    viewer.page.goto(path.as_uri())
    expect(viewer.page.get_by_role("status")).to_contain_text("The file may be incomplete.")
    assert len(viewer.said) == 1
    viewer.said.clear()
