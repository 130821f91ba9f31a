"""Execution plans in the view of a pair: beside each other, marked, and as many as there is room for."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from dialects.enums import Dialect
from harness.data.outcomes import Outcome, PairResult
from harness.engines.execution import Ending
from harness.engines.plans import Operator, PlanNode, QueryPlan
from harness.report.html import pairs as module
from harness.report.html import write_html
from harness.runs.plans import ExplainedText, TextKey
from tests.harness.html.conftest import View
from tests.harness.html.made_up import HOSTILE, Made, made
from tests.harness.html.test_looks import violations
from tests.harness.html.test_views import address

ROWS: dict[str, Any] = {"estimated_rows": 10.0, "real_rows": 2.5, "loops": 4.0, "cost": 0.125}
GOLD = PlanNode(
    Operator.AGGREGATE, "Aggregate", cost=9.5, real_rows=1.0, loops=1.0,
    children=(PlanNode(Operator.SCAN, "Seq Scan", table="things", alias="t", condition="t.n > 1", **ROWS),),
)  # fmt: skip
OURS = PlanNode(
    Operator.AGGREGATE, "Aggregate", cost=12.0, real_rows=1.0, loops=1.0,
    children=(
        PlanNode(Operator.SORT, "Sort", children=(
            PlanNode(Operator.INDEX_SEARCH, "Index Scan", table="things", index="by_place", **ROWS),
        )),
    ),
)  # fmt: skip


def texts(run: Made) -> Iterator[tuple[PairResult, str]]:
    for result in run.run.results:
        question = run.questions[result.question]
        preview = run.previews.get((result.dialect, result.predictor, result.question))
        gold = (
            preview.gold_sql if preview and preview.gold_sql else question.gold.get(Dialect(result.dialect))
        )
        if gold is not None and result.sql is not None and result.outcome is Outcome.MATCH:
            yield result, gold


def explained(run: Made, gold: QueryPlan, ours: QueryPlan) -> dict[TextKey, ExplainedText]:
    found: dict[TextKey, ExplainedText] = {}
    for result, text in texts(run):
        for sql, plan in ((text, gold), (result.sql or "", ours)):
            one = ExplainedText(result.dialect, result.db_id, sql, plan)
            found[one.key] = one
    return found


def written(folder: Path, gold: QueryPlan, ours: QueryPlan) -> tuple[Path, PairResult]:
    run = made()
    path = folder / "report.html"
    write_html(*run, path, explained(run, gold, ours))
    return path, next(texts(run))[0]


def plan(root: PlanNode | None, ending: Ending = Ending.ROWS, **more: object) -> QueryPlan:
    return QueryPlan(ending, root, **more)  # type: ignore[arg-type]


def test_plans_stand_beside_each_other_and_what_differs_is_marked(view: View, tmp_path: Path) -> None:
    path, pair = written(tmp_path, plan(GOLD, counters={"scan": 1234}), plan(OURS))
    page = view(path).go(address(pair))
    section = page.get_by_role("region", name="Plans on")
    table = section.locator("table")
    assert table.locator("thead th").all_inner_texts() == [
        "Gold", "est. rows", "rows", "loops", "cost", "Prediction", "est. rows", "rows", "loops", "cost",
    ]  # fmt: skip
    rows = [row.locator("td").all_text_contents() for row in table.locator("tbody tr").all()]
    assert rows[0] == ["aggregate", "", "1", "1", "9.5", "aggregate", "", "1", "1", "12"]
    assert rows[1][:5] == ["", "", "", "", ""]
    assert rows[1][5] == "!the other plan has nothing like it: sort"
    assert rows[2][:5] == [
        "~the other plan does this differently: scan things t t.n > 1", "40", "10", "4", "0.125",
    ]  # fmt: skip
    assert rows[2][5] == "~the other plan does this differently: index search things by by_place"
    expect(section.get_by_text("2 of 3 steps differ.")).to_be_visible()
    expect(section.get_by_text("Work, gold: scan 1,234")).to_be_visible()


def test_the_same_plan_is_called_so_and_a_failure_has_the_engines_words(view: View, tmp_path: Path) -> None:
    path, pair = written(tmp_path, plan(GOLD), plan(GOLD))
    page = view(path).go(address(pair))
    expect(page.get_by_text("The same plan, apart from rows, costs and conditions.")).to_be_visible()
    path, pair = written(tmp_path, plan(GOLD), plan(None, Ending.ERROR, error=HOSTILE[0]))
    page = view(path).go(address(pair))
    section = page.get_by_role("region", name="Plans on")
    assert section.locator("table").count() == 1
    assert section.locator(".error").count() == 1
    assert page.locator("img, iframe, [onerror]").count() == 0


def test_pairs_without_plans_say_so_and_pages_without_any_say_nothing(view: View, tmp_path: Path) -> None:
    path, _ = written(tmp_path, plan(GOLD), plan(OURS))
    other = next(one for one in made().run.results if one.outcome is Outcome.MISMATCH)
    page = view(path).go(address(other))
    expect(page.get_by_text("This page has no plans of this pair.")).to_be_visible()
    write_html(*made(), tmp_path / "none.html")
    assert view(tmp_path / "none.html").go(address(other)).locator("#plans").count() == 0


@pytest.mark.parametrize("width", [1400, 390])
def test_plans_break_no_rule_of_accessibility_and_no_phone(view: View, tmp_path: Path, width: int) -> None:
    path, pair = written(tmp_path, plan(GOLD, counters={"scan": 1}), plan(OURS))
    page = view(path, width=width).go(address(pair))
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_hostile_words_of_plans_stay_text(view: View, tmp_path: Path) -> None:
    steps = [PlanNode(Operator.UNKNOWN, text, table=text, index=text, condition=text) for text in HOSTILE]
    root = PlanNode(Operator.UNKNOWN, "Append", children=tuple(steps))
    path, pair = written(tmp_path, plan(GOLD), plan(root))
    page = view(path).go(address(pair))
    table = page.get_by_role("region", name="Plans on").locator("table")
    for text in HOSTILE[:2]:
        assert table.get_by_text(text).count() == 1
    assert table.get_by_text("the other plan has nothing like it").count() >= len(HOSTILE)
    assert page.locator("img, iframe, [onerror]").count() == 0
    assert page.locator("script").count() == 3


def test_where_there_is_no_room_those_that_differ_come_first(
    view: View, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = made(predictors=2, questions=30)
    known = explained(run, plan(GOLD), plan(GOLD))
    *_, (last, _) = texts(run)
    key = (last.dialect, last.db_id, last.sql or "")
    known[key] = ExplainedText(*key, plan=plan(OURS))
    monkeypatch.setattr(module, "MOST_PLAN_CHARACTERS", 300)
    write_html(*run, tmp_path / "report.html", known)
    viewer = view(tmp_path / "report.html")
    expect(viewer.go().get_by_text("pairs are left out of this page")).to_be_visible()
    expect(viewer.go(address(last)).get_by_text("2 of 3 steps differ.")).to_be_visible()
    first = next(texts(run))[0]
    expect(viewer.go(address(first)).get_by_text("This page has no plans of this pair.")).to_be_visible()
