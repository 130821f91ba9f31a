import json
from pathlib import Path

from tests.harness.conftest import Call


def test_findings_are_printed_and_written(call: Call, tmp_path: Path) -> None:
    code, out, said = call("audit", "--limit", "25", "--out", str(tmp_path / "out"))
    assert code == 0
    assert "SQLite 23 (island_ferries): null-first [high]: NULL sorts first" in out
    assert "SQLite: 25 golds read." in out
    [folder] = (tmp_path / "out").iterdir()
    assert f"written to {folder}" in said
    record = json.loads((folder / "audit.json").read_text())
    assert [one["probe"] for one in record["findings"]] == ["integer-division", "null-first"]
    assert len(record["findings"][0]["replaces"]) == 64
    assert record["findings"][0]["synthetic"] is False
    assert "## 23, SQLite: null-first" in (folder / "audit.md").read_text()
    assert "NULL sorts first" in (folder / "audit.html").read_text()


def test_one_probe_as_json(call: Call, tmp_path: Path) -> None:
    code, out, _ = call(
        "audit", "--limit", "25", "--probe", "null-first", "--json", "--out", str(tmp_path / "out")
    )
    assert code == 0
    assert [one["question"] for one in json.loads(out)["findings"]] == ["23"]
    assert not (tmp_path / "out").exists()


def test_a_probe_that_is_not_known(call: Call) -> None:
    code, _, said = call("audit", "--probe", "tie,mistake")
    assert code == 2
    assert "--probe mistake: is not known; choose from tie, null-first" in said


def test_the_documentation_is_renewed_by_a_whole_audit_alone(call: Call) -> None:
    code, _, said = call("audit", "--limit", "1", "--update")
    assert code == 2
    assert "--update: needs every question and every probe; leave out --limit and --probe" in said
