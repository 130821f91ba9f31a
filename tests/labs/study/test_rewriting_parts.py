"""E2 and E4 on the sample set: what they measure on real engines, and that a second run measures nothing."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from dialects.enums import Dialect
from harness.labs.study.command import StudyRequest, study
from harness.labs.study.measures import TOGETHER
from harness.labs.study.parts import chosen_parts
from harness.labs.study.rewriting import RULES
from harness.session.request import Request

PARTS = ("e2", "e4")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return studied(tmp_path_factory.mktemp("study"))


def studied(out: Path, resume: Path | None = None) -> Path:
    request = Request(dialects=[Dialect.SQLITE], metrics=("ex",), out=out, resume=resume, workers=1)
    asked = StudyRequest(request, chosen_parts(PARTS), named_parts=PARTS)
    return study(asked, Console(quiet=True), lambda _: None).folder


def cells(folder: Path, metric: str) -> dict[str, Any]:
    """The values of a metric by the row's level."""
    found = json.loads((folder / "tables.json").read_text(encoding="utf-8"))
    return {cell["level"]: cell["value"] for cell in every(found) if cell.get("metric") == metric}


def every(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
        for value in node.values():
            yield from every(value)
    elif isinstance(node, list):
        for value in node:
            yield from every(value)


@pytest.mark.slow
@pytest.mark.thorough
def test_every_text_that_a_rule_makes_of_a_gold_is_proven(folder: Path) -> None:
    applied, proven = cells(folder, "golds"), cells(folder, "proven")
    assert {*RULES, TOGETHER} <= set(applied)
    assert {name: applied[name] for name in RULES} == {name: proven[name] for name in RULES}
    assert sum(applied[name] for name in RULES) > 0


@pytest.mark.slow
def test_tau_is_work_of_the_gold_by_that_of_the_rewritten_text(folder: Path) -> None:
    taus = [tau for tau in cells(folder, "tau_work").values() if tau is not None]
    assert taus
    assert all(tau > 0 for tau in taus)


def test_answers_score_at_best_what_their_best_text_scores(folder: Path) -> None:
    before, after, best = (cells(folder, f"r_ves_work_{name}") for name in ("before", "after", "best"))
    assert set(before) == {"careless", "every-fifth-wrong"}
    for predictor, score in before.items():
        assert best[predictor] >= max(score, after[predictor]) - 1e-9
    changes = cells(folder, "r_ves_work_change")
    assert {name: after[name] - before[name] for name in before} == pytest.approx(changes)


def test_a_study_that_goes_on_measures_nothing_again(folder: Path, tmp_path: Path) -> None:
    journal, texts = folder / "journal.jsonl", ("tables.md", "tables.csv", "tables.json")
    before: Sequence[bytes] = [(folder / name).read_bytes() for name in texts]
    units = journal.read_bytes()
    assert studied(tmp_path, resume=folder) == folder
    assert journal.read_bytes() == units
    assert [(folder / name).read_bytes() for name in texts] == before
