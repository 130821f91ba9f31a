import json
from pathlib import Path

import pytest

from dialects.enums import Dialect
from dialects.errors import BadInput
from dialects.overrides import digest
from harness.data.gold_packs import read_pack
from harness.data.questions import Question
from harness.labs.audit.command import AuditBench, JudgedFinding, pack_of, read_judged
from harness.labs.audit.gold import Finding, FindingBasis, FoundIn
from harness.labs.audit.probes import PROBES
from tests.harness.conftest import Call
from tests.sqlite_files import sqlite_file


def test_findings_are_printed_and_written(call: Call, tmp_path: Path) -> None:
    code, out, said = call("lab", "audit", "--limit", "25", "--out", str(tmp_path / "out"))
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
        "lab", "audit", "--limit", "25", "--probe", "null-first", "--json", "--out", str(tmp_path / "out")
    )
    assert code == 0
    assert [one["question"] for one in json.loads(out)["findings"]] == ["23"]
    assert not (tmp_path / "out").exists()


def broken_after(monkeypatch: pytest.MonkeyPatch, golds: int) -> list[str]:
    """Let an audit be broken off after so many golds; what it returns grows by each question that is read."""
    read, whole = list[str](), AuditBench.read

    def some(self: AuditBench, question: Question, dialect: Dialect) -> dict[str, object]:
        if len(read) == golds:
            raise KeyboardInterrupt
        read.append(question.key)
        return whole(self, question, dialect)

    monkeypatch.setattr(AuditBench, "read", some)
    return read


@pytest.mark.slow
@pytest.mark.thorough
def test_an_audit_that_was_broken_off_goes_on_where_it_was(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ("--limit", "25", "--workers", "1")
    with monkeypatch.context() as patch:
        broken_after(patch, 10)
        code, _, said = call("lab", "audit", *options, "--out", str(tmp_path / "out"))
    assert code == 130
    [folder] = (tmp_path / "out").iterdir()
    assert "interrupted in audit, after 10 of 25 units; the measurements are in" in said
    assert f"`bird-harness lab audit --resume {folder}` continues it" in said
    assert not (folder / "audit.json").exists()
    with monkeypatch.context() as patch:
        read = broken_after(patch, 99)
        assert call("lab", "audit", "--resume", str(folder))[0] == 0
        assert len(read) == 15
        assert call("lab", "audit", "--resume", str(folder), "--json")[0] == 0
        assert len(read) == 15, "an audit that is complete reads nothing again"
    call("lab", "audit", *options, "--out", str(tmp_path / "whole"))
    [whole] = (tmp_path / "whole").iterdir()
    for name in ("audit.md", "audit.json", "audit.html"):
        assert (folder / name).read_text() == (whole / name).read_text(), name


def test_another_audit_is_not_gone_on_with(call: Call, tmp_path: Path) -> None:
    call("lab", "audit", "--limit", "3", "--out", str(tmp_path / "out"))
    [folder] = (tmp_path / "out").iterdir()
    code, _, said = call("lab", "audit", "--resume", str(folder), "--probe", "tie")
    assert code == 2
    assert "describes another audit: probes is" in said
    code, _, said = call("lab", "audit", "--resume", str(tmp_path))
    assert (code, said.count("is not the folder of an audit; name one with journal.json")) == (2, 1)
    code, _, said = call("lab", "audit", "--resume", str(folder), "--against", "other.json")
    assert (code, said.count("leave out one of the two")) == (2, 1)


def test_a_probe_that_is_not_known(call: Call) -> None:
    code, _, said = call("lab", "audit", "--probe", "tie,mistake")
    assert code == 2
    assert "--probe mistake: is not known; choose from tie, null-first" in said


def pack(path: Path, *golds: dict[str, object]) -> str:
    path.write_text(json.dumps({"name": path.stem, "version": "1", "set": "sample", "golds": golds}))
    return str(path)


def test_two_packs_for_the_same_questions_are_compared(call: Call, tmp_path: Path) -> None:
    left = pack(
        tmp_path / "left.json",
        {"question_id": 1, "sql": "SELECT 1"},
        {"question_id": 2, "sql": ["SELECT 7", "SELECT 2"]},
        {"question_id": 3, "status": "excluded", "reason": "unclear"},
        {"question_id": 4, "sql": "SELECT 4"},
        {"question_id": 5, "sql": "SELECT nowhere"},
        {"question_id": 6, "status": "ambiguous", "reason": "unclear"},
    )
    right = pack(
        tmp_path / "right.json",
        {"question_id": 1, "sql": "SELECT 11 UNION SELECT 1"},
        {"question_id": 2, "sql": "SELECT 2.0"},
        {"question_id": 3, "sql": "SELECT 3"},
        {"question_id": 5, "sql": "SELECT 5"},
        {"question_id": 6, "status": "excluded", "reason": "unclear"},
    )
    code, out, _ = call("lab", "audit", "--gold", left, "--against", right)
    assert code == 1
    lines = out.splitlines()
    assert [line for line in lines if line.startswith("sqlite")] == [
        "sqlite 1 (city_library): The golds return other rows.",
        f"sqlite 3 (city_library): {left} leaves the question out, and the other has a gold.",
        f"sqlite 4 (city_library): {right} has not looked at the question.",
        f"sqlite 5 (city_library): A gold of {left} returns no rows: no such column: nowhere.",
    ]
    assert lines[1:5] == [f"  {left}: 1 rows", "    1", f"  {right}: 2 rows", "    11"]
    assert lines[-1].endswith("agree on 2 of 6 questions.")


@pytest.mark.slow
@pytest.mark.thorough
def test_golds_that_only_a_small_database_tells_apart(call: Call, tmp_path: Path) -> None:
    """It is shown and replays; golds that are equal, or have no witness, agree."""
    corrected = pack(
        tmp_path / "corrected.json",
        {"question_id": 1, "sql": "SELECT COUNT(DISTINCT Title) FROM Books WHERE Language = 'French'"},
        {"question_id": 5, "sql": "SELECT T1.Title FROM Books AS T1 WHERE T1.Title LIKE 'the %'"},
    )
    assert call("lab", "audit", "--against", corrected)[0] == 0
    code, out, _ = call("lab", "audit", "--against", corrected, "--witnesses", "apart")
    assert code == 1
    lines = out.splitlines()
    says = "The golds return the same rows today. They differ on apart/1-sqlite.json, by duplicates."
    assert [line for line in lines if line.startswith("sqlite")] == [f"sqlite 1 (city_library): {says}"]
    assert lines[1].startswith("  witness: ")
    assert lines[-1].endswith("agree on 1 of 2 questions.")
    assert [path.name for path in (tmp_path / "apart").iterdir()] == ["1-sqlite.json"]
    assert call("lab", "replay", "apart/1-sqlite.json")[0] == 0
    code, _, said = call("lab", "audit", "--witnesses", "apart")
    assert (code, said.count("name the other with --against")) == (2, 1)


def test_a_pack_is_held_against_published_golds_and_read_by_probes(call: Call, tmp_path: Path) -> None:
    mine = pack(tmp_path / "mine.json", {"question_id": 1, "sql": ["SELECT 1 WHERE 1 = NULL", "SELECT 1"]})
    code, out, _ = call("lab", "audit", "--against", mine, "--json")
    assert code == 1
    assert json.loads(out)["compared"] == 1
    code, out, _ = call("lab", "audit", "--gold", mine, "--limit", "1", "--probe", "constant", "--json")
    assert code == 0
    [found] = json.loads(out)["findings"]
    assert found["sql"] == "SELECT 1 WHERE 1 = NULL"


def test_a_pack_that_is_not_there(call: Call, tmp_path: Path) -> None:
    code, _, said = call("lab", "audit", "--against", str(tmp_path / "none.json"))
    assert code == 2
    assert "none.json" in said


def test_judged_findings_are_of_known_probes_with_a_reason() -> None:
    known = read_judged()
    assert len(known) > 250
    assert {one.probe for one in known} <= PROBES.keys()
    assert all(one.why and len(one.sha256) == 64 for one in known)


def found(question: str, probe: str, suggestion: str | None = None) -> FoundIn:
    finding = Finding("It is odd.", probe=probe, basis=FindingBasis.TEXT, suggestion=suggestion)
    gold = f"SELECT {question}"
    return FoundIn(
        question, int(question), "shop", Dialect.SQLITE, "?", "", gold, digest(gold), False, finding
    )  # fmt: skip


def test_what_reading_has_called_right_is_a_pack(tmp_path: Path) -> None:
    """One fault with a suggestion is corrected; what has no one answer is left out."""
    findings = [
        found("1", "null-first", "SELECT 10"), found("2", "clock"), found("3", "tie"), found("4", "tie"),
        found("5", "null-first", "SELECT 50"), found("5", "tie"),
    ]  # fmt: skip
    known = [
        JudgedFinding(
            one.question, "sqlite", one.finding.probe, one.replaces, one.question != "4", "so it is"
        )
        for one in findings
        if one.question != "3"
    ]
    made = pack_of("asked", findings, known)
    path = tmp_path / "audit.json"
    path.write_text(json.dumps(made))
    entries = {entry.question: entry for entry in read_pack(path).entries}
    assert {key: entry.golds for key, entry in entries.items()} == {"1": ("SELECT 10",), "2": (), "5": ()}
    assert entries["5"].reason == "null-first: so it is; tie: so it is"
    assert entries["1"].replaces == digest("SELECT 1")


def test_nothing_is_decided_of_findings_that_nobody_has_read(call: Call, tmp_path: Path) -> None:
    code, _, said = call("lab", "audit", "--limit", "3", "--pack", str(tmp_path / "pack.json"))
    assert (code, said.count("--pack: no finding of this audit is judged")) == (2, 1)
    assert not (tmp_path / "pack.json").exists()


def test_a_list_of_judgements_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "judged.json"
    path.write_text('[{"question": "1"}]')
    with pytest.raises(BadInput, match="is not a list of judged findings"):
        read_judged(path)


def test_description_files_are_checked_against_their_databases(call: Call, tmp_path: Path) -> None:
    folder = tmp_path / "own" / "databases" / "db"
    (folder / "database_description").mkdir(parents=True)
    sqlite_file(folder / "db.sqlite", "CREATE TABLE t (a INTEGER, b TEXT); CREATE TABLE u (c TEXT)")
    head = "original_column_name,column_name,column_description,data_format,value_description\n"
    described = folder / "database_description"
    (described / "t.csv").write_bytes(b"\xef\xbb\xbf" + f"{head}a,,the first,,\nz,,stray,,\n".encode())
    (described / "w.csv").write_bytes(head.encode() + b"c,,caf\xe9,,\n")
    question = {"question_id": 1, "db_id": "db", "question": "?", "evidence": "", "SQL": "SELECT a FROM t"}
    (tmp_path / "own" / "questions.json").write_text(json.dumps([question]), encoding="utf-8")
    code, out, _ = call("lab", "audit", "--set", str(tmp_path / "own"), "--json")
    assert code == 0
    found = json.loads(out)["descriptions"]["db"]
    assert (found["described"], found["columns"]) == (1, 3)
    assert found["encodings"] == {"UTF-8 with a byte order mark": 1, "Windows-1252": 1}
    assert len(found["faults"]) == 3, "a stray column, a stray file, a table without one"
    code, out, _ = call("lab", "audit", "--set", str(tmp_path / "own"), "--out", str(tmp_path / "out"))
    assert code == 0
    assert "Descriptions of db: 1 of 3 columns described, 3 strays, 2 files" in " ".join(out.split())
