"""The page on which findings in golds are decided: keys, what is kept, and the pack that is downloaded."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import expect

from dialects.enums import Dialect
from harness.data.gold_packs import apply_pack, read_pack
from harness.data.sets.loader import load_set
from harness.labs.audit.command import AuditRequest, audit
from harness.labs.audit.tables import page as page_of
from tests.harness.html.conftest import View


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("audit") / "audit.html"
    path.write_text(page_of(audit(AuditRequest(limit=43))), encoding="utf-8")
    return path


def test_decisions_are_kept_and_downloaded_as_a_gold_pack(view: View, audited: Path, tmp_path: Path) -> None:
    viewer = view(audited)
    page = viewer.go()
    expect(page.locator("#list li")).to_have_count(3)
    expect(page.locator("article h2")).to_contain_text("12 (city_library), SQLite")
    page.keyboard.press("a")
    expect(page.locator("article h2")).to_contain_text("23 (island_ferries), SQLite")
    page.keyboard.press("n")
    page.keyboard.type("no key is known")
    page.keyboard.press("Escape")
    page.keyboard.press("x")
    page.keyboard.press("r")
    expect(page.locator("#progress")).to_have_text("3 of 3 decided, 3 shown")
    page = viewer.go()
    expect(page.locator("#progress")).to_have_text("3 of 3 decided, 3 shown")
    page.locator("#probe").select_option("null-first")
    expect(page.locator("#list li")).to_have_count(1)
    with page.expect_download() as downloaded:
        page.locator("#download").click()
    pack = json.loads(Path(downloaded.value.path()).read_text())
    assert downloaded.value.suggested_filename == "audit-sample.json"
    assert {key: pack[key] for key in ("name", "version", "set")} == {
        "name": "audit-sample",
        "version": "1",
        "set": "sample",
    }
    replaced, excluded = pack["golds"]
    assert (replaced["question_id"], replaced["dialect"], replaced["origin"]) == (12, "sqlite", "audit")
    assert "* 1.0" in replaced["sql"]
    assert (excluded["question_id"], excluded["status"]) == (23, "excluded")
    assert excluded["reason"].endswith("no key is known")
    path = tmp_path / "audit-sample.json"
    path.write_text(json.dumps(pack))
    questions = load_set("sample")
    decided = apply_pack(read_pack(path), questions)
    assert decided.by_key["12"].gold[Dialect.SQLITE] == replaced["sql"]
    assert questions.by_key.keys() - {one.key for one in decided.questions} == {"23"}


def test_an_accepted_finding_without_a_gold_makes_its_question_ambiguous(view: View, audited: Path) -> None:
    page = view(audited).go()
    page.keyboard.press("e")
    page.locator("#gold").fill("")
    page.keyboard.press("Escape")
    page.locator("[data-verdict=accepted]").click()
    with page.expect_download() as downloaded:
        page.keyboard.press("d")
    [entry] = json.loads(Path(downloaded.value.path()).read_text())["golds"]
    assert (entry["question_id"], entry["status"]) == (12, "ambiguous")
