"""Sections of the documentation, renewed from the folders that commands write."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.figures.pages import renew, replace_section, threads
from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.analyses.coverage import expectations
from harness.analyses.coverage.answers import CoverageAnswer, DifferenceReason
from harness.analyses.coverage.command import write_folder
from harness.data.outcomes import GoldOrigin
from harness.data.sets.loader import load_set
from harness.labs.audit.probes import PROBES
from loaders.base.paths import FIGURES
from tests.harness.conftest import Call


def page(folder: Path, name: str, *sections: str) -> Path:
    """A page with empty sections."""
    path = folder / name
    path.write_text("".join(f"<!-- begin: {one} -->\n<!-- end: {one} -->\n" for one in sections))
    return path


def lines(path: Path, section: str) -> list[str]:
    text = path.read_text().partition(f"<!-- begin: {section} -->\n")[2]
    return text.partition(f"<!-- end: {section} -->")[0].splitlines()


def test_a_section_of_a_page_is_replaced_and_the_rest_stays(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- begin: x -->\nold\n<!-- end: x -->\nb\n", encoding="utf-8")
    for _ in range(2):
        replace_section(page, "x", "new\n")
        assert page.read_text(encoding="utf-8") == "a\n<!-- begin: x -->\nnew\n<!-- end: x -->\nb\n"
    with pytest.raises(BadInput, match="no section"):
        replace_section(page, "y", "new\n")
    with pytest.raises(BadInput, match=r"none\.md"):
        replace_section(tmp_path / "none.md", "x", "new\n")


def test_a_folder_of_something_else_renews_nothing(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"name one with coverage\.json"):
        renew(tmp_path)


def covered(folder: Path, origin: GoldOrigin, leave_out: str | None = None) -> Path:
    """A folder of coverage of the sample where question 2 differs on MySQL."""
    answers = [
        CoverageAnswer(one.key, one.db_id, one.difficulty, dialect, origin, f"SELECT {one.key}", runs=True)
        for dialect in (Dialect.MYSQL, Dialect.POSTGRESQL)
        for one in load_set("sample").questions
        if one.key != leave_out and (origin is GoldOrigin.TRANSLATED or dialect in one.gold)
    ]
    if leave_out is None:
        answers[1] = replace(answers[1], reason=DifferenceReason.ORDER, detail="secret | row", sql=None)
    manifest = {
        "set": "sample", "gold": origin, "profile": "faithful",
        "engines": {"mysql": {"version": "9.7"}, "postgresql": {"version": "18.1"}},
    }  # fmt: skip
    return write_folder(folder, "Golds", manifest, answers)


def test_coverage_renews_its_page_and_what_is_expected(tmp_path: Path) -> None:
    shown = page(tmp_path, "coverage.md", "sample, faithful")
    folder = covered(tmp_path, GoldOrigin.TRANSLATED)
    assert renew(folder, tmp_path, tmp_path) == [shown, tmp_path / "sample.json"]
    text = lines(shown, "sample, faithful")
    assert text[0] == "`bird-harness coverage --set sample`, mysql 9.7, postgresql 18.1:"
    assert text[-3:] == [
        "| engine | question | database | reason |", "|---|---|---|---|",
        "| MySQL | 2 | city_library | `order` |",
    ]  # fmt: skip
    found = expectations.read("sample", tmp_path)
    assert found[Dialect.MYSQL]["2"] == expectations.Expected("order", None)
    assert {one.answer for one in found[Dialect.POSTGRESQL].values()} == {"covered"}


def test_published_golds_have_a_section_of_their_own_and_no_expectations(tmp_path: Path) -> None:
    shown = page(tmp_path, "coverage.md", "sample, faithful, published")
    assert renew(covered(tmp_path, GoldOrigin.DATASET), tmp_path, tmp_path) == [shown]
    command = "bird-harness coverage --set sample --gold dataset --profile faithful"
    assert lines(shown, "sample, faithful, published")[0].startswith(f"`{command}`, ")


def test_a_part_cannot_become_what_is_expected_of_the_whole(tmp_path: Path) -> None:
    folder = covered(tmp_path, GoldOrigin.TRANSLATED, leave_out="3")
    with pytest.raises(BadInput, match="2 golds are not in it; start both servers, leave out --limit"):
        renew(folder, tmp_path, tmp_path)
    whole = covered(tmp_path, GoldOrigin.TRANSLATED)
    record = json.loads((whole / "coverage.json").read_text())
    (whole / "coverage.json").write_text(json.dumps({**record, "pack": {"name": "mine"}}))
    with pytest.raises(BadInput, match="is of a gold pack"):
        renew(whole, tmp_path, tmp_path)


def test_an_audit_of_every_gold_renews_its_page(call: Call, tmp_path: Path) -> None:
    shown = page(tmp_path, "gold-audit.md", "sample")
    call("lab", "audit", "--out", str(tmp_path / "whole"), "--judged", str(FIGURES / "judged" / "audit.json"))
    [whole] = (tmp_path / "whole").iterdir()
    assert renew(whole, tmp_path) == [shown]
    text = lines(shown, "sample")
    assert text[0] == "`bird-harness lab audit --set sample --dialect sqlite`:"
    assert "| null-first | SQLite | 23 |" in text
    call("lab", "audit", "--limit", "1", "--out", str(tmp_path / "part"))
    [part] = (tmp_path / "part").iterdir()
    with pytest.raises(BadInput, match="1 of 66 golds for sqlite were read; leave out --limit"):
        renew(part, tmp_path)


@pytest.mark.parametrize(
    ("option", "refusal"), [("--probe", "without fails, empty"), ("--gold", "is of a gold pack")]
)
def test_an_audit_of_some_probes_or_of_a_pack_renews_no_page(
    call: Call, tmp_path: Path, option: str, refusal: str
) -> None:
    page(tmp_path, "gold-audit.md", "sample")
    pack = {"name": "mine", "version": "1", "set": "sample", "golds": [{"question_id": 1, "sql": "SELECT 1"}]}
    (tmp_path / "pack.json").write_text(json.dumps(pack))
    value = {"--probe": ",".join(PROBES.keys() - {"fails", "empty"}), "--gold": str(tmp_path / "pack.json")}
    call("lab", "audit", option, value[option], "--out", str(tmp_path / "out"))
    [folder] = (tmp_path / "out").iterdir()
    with pytest.raises(BadInput, match=refusal):
        renew(folder, tmp_path)
    older = json.loads((folder / "audit.json").read_text())
    older.pop("pack", None)
    for probe in older["probes"]:
        del probe["asked"]
    (folder / "audit.json").write_text(json.dumps(older))
    assert renew(folder, tmp_path) == [tmp_path / "gold-audit.md"], "older files do not say"


def test_defects_of_threads_are_listed_one_by_one() -> None:
    known = json.loads((FIGURES / "judged" / "threads.json").read_text())
    text = threads([]).splitlines()
    assert len(text) - 2 == len(known["read"]) + 3 + len(known["unread"])
    assert {probe for one in known["read"] for probe in one["probes"]} <= PROBES.keys()
    assert "Found: 0 of 18. Not looked up:" in text
    found = {"question_id": known["read"][0]["question"], "probe": "tie", "synthetic": True}
    if "tie" in known["read"][0]["probes"]:
        assert "tie\\*" in threads([found])


def test_a_gap_of_every_question_renews_its_page(tmp_path: Path) -> None:
    shown = page(tmp_path, "dialect-gap.md", "sample", "judged")
    judged = json.loads((FIGURES / "judged" / "gap.json").read_text())
    causes = {one["cause"]: {"title": f"of {one['cause']}"} for one in judged}
    gaps = [{"dialect": dialect, "questions": 66} for dialect in ("mysql", "postgresql")]
    explained = [
        {**judged[0], "cause": "undecided"}, {**judged[1], "predictor": "somebody else"},
    ]  # fmt: skip
    record = {"set": "sample", "gaps": gaps, "causes": causes, "questions": explained}
    (tmp_path / "gap.json").write_text(json.dumps(record))
    (tmp_path / "gap.md").write_text("# The gap\n\n- a fact\n\n## Causes\n\n| a |\n|---|\n")
    assert renew(tmp_path, tmp_path) == [shown, shown]
    assert lines(shown, "sample") == [
        "", "- a fact", "", "### Causes", "", "| a |", "|---|", "",
        "2 questions differ; 1 are not decided (50.0 %).",
    ]  # fmt: skip
    right = sum(one["right"] for one in judged[1:])
    assert lines(shown, "judged")[0] == f"{right} of 60 are right ({100 * right / 60:.0f} %)."
    assert lines(shown, "judged")[4].endswith(f"decided otherwise now | {judged[0]['why']} |")
    (tmp_path / "gap.json").write_text(json.dumps({**record, "gaps": gaps[:1]}))
    with pytest.raises(BadInput, match="is of a part"):
        renew(tmp_path, tmp_path)


def test_a_study_renews_the_sections_of_its_parts(tmp_path: Path) -> None:
    shown = page(tmp_path, "efficiency.md", "e1", "e2")
    command = ["bird-harness", "lab", "study", "--set=/some/where/MINIDEV", "--dialect=sqlite"]
    (tmp_path / "study.json").write_text(json.dumps({"command": command, "parts": ["e1", "e2"]}))
    tables = {"E1: short": 3, "E1: long": 46, "E2: cases": 45}
    text = "".join(f"\n## {title}\n\n| a |\n|---|\n" + "| 1 |\n" * rows for title, rows in tables.items())
    (tmp_path / "tables.md").write_text(f"# Efficiency\n\n- of a set\n{text}")
    assert renew(tmp_path, tmp_path) == [shown, shown]
    first = lines(shown, "e1")
    assert first[:6] == [
        "`bird-harness lab study --set=MINIDEV --dialect=sqlite`:",
        "", "- of a set", "", "#### E1: short", "",
    ]  # fmt: skip
    assert first[-1] == "In the folder of the study, too: E1: long."
    assert lines(shown, "e2").count("| 1 |") == 45
