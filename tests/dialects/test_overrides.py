import json
from pathlib import Path

import pytest

from dialects.enums import Dialect
from dialects.errors import BadInput
from dialects.overrides import HOME, MOST, OverrideReason, check_folder, digest, overrides, read_override
from harness.data.outcomes import GoldOrigin
from harness.runs.reader import read_run
from tests.every_engine import LOADED
from tests.forked import run
from tests.sqlite_files import sqlite_file

SHA = digest("SELECT a FROM t")
GOOD = f"""-- question: 137#2
-- gold-sha256: {SHA}
-- reason: untranslatable
-- ticket: https://example.org/1
-- note: all texts are numbers here

-- a comment of the SQL
SELECT a
FROM t
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mysql" / "s" / "137#2.sql"
    path.parent.mkdir(parents=True)
    path.write_text(GOOD, encoding="utf-8")
    return path


def test_an_override_is_its_header_and_its_sql(file: Path) -> None:
    override = read_override(file, Dialect.MYSQL)
    assert override.question == "137#2"
    assert override.reason is OverrideReason.UNTRANSLATABLE
    assert override.ticket == "https://example.org/1"
    assert override.note == "all texts are numbers here"
    assert override.sql == "-- a comment of the SQL\nSELECT a\nFROM t"


def test_an_override_replaces_the_very_gold_that_it_was_written_for(file: Path) -> None:
    override = read_override(file, Dialect.MYSQL)
    assert override.replaces("SELECT a FROM t")
    assert not override.replaces("SELECT a FROM t ")


def test_overrides_are_found_by_set_and_target(file: Path) -> None:
    home = file.parents[2]
    assert list(overrides("s", Dialect.MYSQL, home)) == ["137#2"]
    assert overrides("s", Dialect.POSTGRESQL, home) == {}
    assert overrides("other", Dialect.MYSQL, home) == {}


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("-- question: 137#2\n", "", "lacks the line '-- question: ...'"),
        (f"-- gold-sha256: {SHA}\n", "", "lacks the line '-- gold-sha256: ...'"),
        ("-- reason: untranslatable\n", "", "lacks the line '-- reason: ...'"),
        ("-- note: all texts are numbers here\n", "", "lacks the line '-- note: ...'"),
        ("137#2", "137", "for question 137"),
        (SHA, SHA[:-1], "must be 64 hexadecimal digits"),
        ("untranslatable", "because", "'because' is not a reason"),
        ("https://example.org/1", "later", "the ticket is not an https:// address"),
        ("ticket", "tikcet", "line 4: unknown field 'tikcet'"),
        ("-- ticket: https://example.org/1", "-- note: again", "line 5: 'note' is given twice"),
        ("-- ticket: https://example.org/1", "-- so it is", "line 4: not '-- name: value'"),
        ("-- note: all texts are numbers here", "-- note:", "line 5: not '-- name: value'"),
        ("-- a comment of the SQL\nSELECT a\nFROM t\n", "", "no SQL below the header"),
    ],
)
def test_a_defect_is_named(file: Path, old: str, new: str, says: str) -> None:
    assert old in GOOD
    file.write_text(GOOD.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(BadInput) as refused:
        read_override(file, Dialect.MYSQL)
    assert says in str(refused.value)
    assert str(file) in str(refused.value)
    assert "\n" not in str(refused.value)


def test_what_is_no_text_or_no_sql_file_is_refused(file: Path) -> None:
    file.write_bytes(b"\xff")
    with pytest.raises(BadInput, match="UTF-8"):
        read_override(file, Dialect.MYSQL)
    stray = file.with_suffix(".txt")
    stray.write_text(GOOD, encoding="utf-8")
    with pytest.raises(BadInput, match=r"not a \.sql file"):
        read_override(stray, Dialect.MYSQL)


def test_the_users_own_win(file: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    (own / "mysql" / "s").mkdir(parents=True)
    (own / "mysql" / "s" / "137#2.sql").write_text(GOOD.replace("SELECT a\n", "SELECT b\n"), encoding="utf-8")
    [found] = overrides("s", Dialect.MYSQL, file.parents[2], own).values()
    assert found.sql.endswith("SELECT b\nFROM t")
    check_folder(own, "s")
    for folder, name in ((own, "other"), (tmp_path / "none", "s")):
        with pytest.raises(BadInput, match="--overrides"):
            check_folder(folder, name)


@pytest.mark.engine
@pytest.mark.parametrize(
    ("gold", "name", "says"),
    [("SELECT a FROM t", "own", ""), ("SELECT 1", "own", "stale"), ("SELECT 1", "other", "has no override")],
)
def test_a_run_takes_them_and_refuses_stale_ones(tmp_path: Path, gold: str, name: str, says: str) -> None:
    databases = tmp_path / "own" / "databases" / "db"
    sqlite_file(databases / "db.sqlite", "CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1)")
    question = {"question_id": 7, "db_id": "db", "question": "?", "evidence": "", "SQL": "SELECT a FROM t"}
    (tmp_path / "own" / "questions.json").write_text(json.dumps([question]), encoding="utf-8")
    folder = tmp_path / "overrides" / "duckdb" / name
    folder.mkdir(parents=True)
    text = GOOD.replace("137#2", "7").replace(SHA, digest(gold))
    (folder / "7.sql").write_text(text, encoding="utf-8")
    answers = tmp_path / "predict_own_me_duckdb.jsonl"
    answers.write_text(json.dumps({"question_id": 7, "sql": "SELECT 1"}), encoding="utf-8")
    done = run(
        "harness", "eval", "--set", "own", "--dialect", "duckdb", "--predictions", str(answers),
        "--overrides", "overrides", "--driver", "direct", "--no-report", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == (2 if says else 0), done.stderr
    assert says in done.stderr
    if not says:
        found = read_run((tmp_path / "results/latest").resolve())
        assert [one.gold_origin for one in found.results] == [GoldOrigin.OVERRIDE]
        assert list(found.manifest["overrides"]["duckdb"]) == ["7"]


@pytest.mark.parametrize("target", LOADED)
def test_the_projects_own_overrides_are_readable_and_few(target: Dialect) -> None:
    folder = HOME / target
    for question_set in sorted(folder.iterdir()) if folder.is_dir() else ():
        assert len(overrides(question_set.name, target)) <= MOST
