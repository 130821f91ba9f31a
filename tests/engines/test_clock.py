"""A run pins the clock of golds and predictions, on every engine: each way to ask for the time is a row."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from dialects.enums import Dialect, Profile
from dialects.errors import BadInput
from dialects.translation import translate
from dialects.volatility import asks_for_the_time
from harness.engines import on_server
from harness.engines.base import Engine
from harness.engines.clock import parse_moment, pinned_for_postgresql, without_sysdate
from harness.engines.execution import Ending, Limits, count_work, execute
from harness.engines.sqlite.engine import SQLiteEngine
from loaders.bulk_load import load
from loaders.file_census import census
from loaders.namespace import Database
from loaders.server import Server
from tests.every_engine import LOADED
from tests.forked import run
from tests.sqlite_files import sqlite_file

NOW = datetime(2025, 2, 19, 10, 30, 15, tzinfo=UTC)
DAY, MOMENT = "2025-02-19", "2025-02-19 10:30:15"
LIMITS = Limits(seconds=30)

SQLITE = (
    ("date('now')", DAY),
    ("DATE()", DAY),
    ("datetime('NOW')", MOMENT),
    ("time('now')", "10:30:15"),
    ("CURRENT_DATE || ' ' || CURRENT_TIME", MOMENT),
    ("CURRENT_TIMESTAMP", MOMENT),
    ("strftime('%Y')", "2025"),
    ("strftime('%Y-%m', 'now', '-2 months')", "2024-12"),
    ("CAST(julianday('now') AS INTEGER)", 2460725),
    ("CAST(strftime('%s', 'now') AS INTEGER)", int(NOW.timestamp())),
    ("date('no' || 'w', 'start of month')", "2025-02-01"),
    ("(SELECT today FROM clock)", DAY),
    ("date('2001-02-03', '+1 day')", "2001-02-04"),
    ("date('nonsense')", None),
    ("'now'", "now"),
)
MYSQL = (
    ("CAST(NOW() AS CHAR)", MOMENT),
    ("CAST(SYSDATE() AS CHAR)", MOMENT),
    ("CAST(sysdate(0) AS CHAR)", MOMENT),
    ("CAST(CURDATE() AS CHAR)", DAY),
    ("CAST(CURRENT_DATE AS CHAR)", DAY),
    ("CAST(UTC_TIMESTAMP() AS CHAR)", MOMENT),
    ("CAST(CURTIME() AS CHAR)", "10:30:15"),
    ("CAST(LOCALTIMESTAMP AS CHAR)", MOMENT),
    ("UNIX_TIMESTAMP()", int(NOW.timestamp())),
    ("TIMESTAMPDIFF(YEAR, '2000-02-20', CURDATE())", 24),
    ("'SYSDATE()'", "SYSDATE()"),
)
POSTGRESQL = (
    ("CURRENT_DATE::text", DAY),
    ("to_char(NOW(), 'YYYY-MM-DD HH24:MI:SS')", MOMENT),
    ("to_char(pg_catalog.now( ), 'YYYY-MM-DD')", DAY),
    ("to_char(CURRENT_TIMESTAMP(0), 'HH24:MI:SS')", "10:30:15"),
    ("to_char(clock_timestamp() - interval '1 day', 'DD')", "18"),
    ("LOCALTIMESTAMP::text", MOMENT),
    ("LOCALTIME::text", "10:30:15"),
    ("EXTRACT(YEAR FROM AGE(DATE '2000-02-20'))::int", 24),
    ("EXTRACT(YEAR FROM age(CURRENT_DATE, DATE '2000-02-20'))::int", 24),
    ("('now'::timestamp)::text", MOMENT),
    ("CAST('today' AS date)::text", DAY),
    ("(DATE 'tomorrow')::text", "2025-02-20"),
    ("(TIMESTAMP WITHOUT TIME ZONE 'yesterday')::text", "2025-02-18 00:00:00"),
    ("date_trunc('month', 'now'::timestamptz)::date::text", "2025-02-01"),
    ("'now()'", "now()"),
    ("$$CURRENT_DATE$$", "CURRENT_DATE"),
    ("'today' || '' -- CURRENT_DATE", "today"),
)
DUCKDB = (
    ("CAST(CURRENT_DATE AS VARCHAR)", DAY),
    ("CAST(today() AS VARCHAR)", DAY),
    ("strftime(NOW() AT TIME ZONE 'UTC', '%Y-%m-%d %H:%M:%S')", MOMENT),
    ("strftime(CURRENT_TIMESTAMP AT TIME ZONE 'UTC', '%H:%M:%S')", "10:30:15"),
    ("CAST(LOCALTIMESTAMP AS VARCHAR)", MOMENT),
    ("CAST(LOCALTIME AS VARCHAR)", "10:30:15"),
    ("date_part('year', age(DATE '2000-02-20'))", 24),
    ("date_part('year', age(CURRENT_DATE, DATE '2000-02-20'))", 24),
    ("date_diff('year', DATE '2000-02-20', CURRENT_DATE)", 25),
)
CASES = {
    Dialect.SQLITE: SQLITE,
    Dialect.MYSQL: MYSQL,
    Dialect.MARIADB: MYSQL,
    Dialect.POSTGRESQL: POSTGRESQL,
    Dialect.DUCKDB: DUCKDB,
}

GOLDS = (
    "SELECT date('now')",
    "SELECT strftime('%Y', 'now') - strftime('%Y', born) FROM person",
    "SELECT CURRENT_TIMESTAMP",
    "SELECT CAST(julianday('now') AS INTEGER)",
    "SELECT date('now', '-1 day')",
    "SELECT unixepoch()",
    "SELECT datetime() - born FROM person",
)
"""Translated, each engine returns SQLite's rows of the pinned moment."""


@pytest.fixture
def pinned(tmp_path: Path) -> Database:
    path = sqlite_file(
        tmp_path / "clock.sqlite",
        "CREATE TABLE person (id INTEGER PRIMARY KEY, born TEXT)",
        "INSERT INTO person VALUES (1, '2000-02-20')",
        "CREATE VIEW clock AS SELECT date('now') AS today",
    )
    return Database("bird_clock", "clock", path, Profile.FAITHFUL, now=NOW)


def value(engine: Engine, database: Database, sql: str) -> object:
    found = execute(engine, database, sql, LIMITS)
    assert found.ending is Ending.ROWS, f"{sql}: {found.error}"
    [[only]] = found.rows
    return only


def check(engine: Engine, database: Database, cases: Sequence[tuple[str, object]]) -> None:
    for expression, expected in cases:
        assert value(engine, database, f"SELECT {expression}") == expected, expression


@pytest.mark.parametrize("pooled", [True, False])
def test_sqlite_takes_the_moment_for_the_present(pinned: Database, pooled: bool) -> None:  # noqa: FBT001
    engine = SQLiteEngine(pooled=pooled)
    check(engine, pinned, SQLITE)
    clock = Database(pinned.collection, pinned.db_id, pinned.sqlite_path, pinned.profile)
    assert value(engine, clock, "SELECT date('now')") != DAY, "a session without it has the clock"
    check(engine, pinned, SQLITE)


@pytest.mark.engine
@pytest.mark.thorough
@pytest.mark.parametrize("server", LOADED, indirect=True)
def test_servers_and_translated_golds_do(pinned: Database, server: Server) -> None:
    load([pinned], server)
    engine = on_server(server)
    check(engine, pinned, CASES[server.dialect])
    schema = census(pinned.sqlite_path)
    for gold in GOLDS:
        translated = translate(gold, schema, server.dialect).sql
        expected = execute(SQLiteEngine(), pinned, gold, LIMITS).rows
        assert execute(engine, pinned, translated, LIMITS).rows == expected, translated
    clock = Database(pinned.collection, pinned.db_id, pinned.sqlite_path, pinned.profile)
    [(today, *_)] = [each for each in CASES[server.dialect] if each[1] == DAY][:1]
    assert value(engine, clock, f"SELECT {today}") != DAY, "a session without it has the clock"


def test_work_of_what_asks_for_the_time_is_not_counted_on_sqlite(pinned: Database) -> None:
    counted = count_work(SQLiteEngine(), pinned, "SELECT date('now')", LIMITS)
    assert "--now" in str(counted)
    assert "--now" not in str(count_work(SQLiteEngine(), pinned, "SELECT 1", LIMITS))


def test_other_texts_stay_as_they_are() -> None:
    for text in (
        "SELECT now FROM t WHERE day = 'today' AND note = 'now'",
        'SELECT "current_date", a.now() FROM t',
        "SELECT age(a, b), age FROM t /* CURRENT_DATE */",
        "SELECT E'\\'now\\'', 1.5e3 FROM t",
    ):
        assert pinned_for_postgresql(text, NOW) == text
    for text in ("SELECT sysdate FROM t", "SELECT `sysdate`, 'sysdate()' -- sysdate()", "SELECT 1"):
        assert without_sysdate(text) == text


def test_golds_that_ask_for_the_time_are_told_from_those_of_chance() -> None:
    for sql in ("SELECT date('now')", "SELECT DATE()", "SELECT AGE(d) FROM t", "SELECT CURDATE()"):
        assert asks_for_the_time(sql), sql
    for sql in ("SELECT random()", "SELECT strftime('%Y', d) FROM t", "SELECT age(a, b) FROM t"):
        assert not asks_for_the_time(sql), sql


@pytest.mark.parametrize(
    "text", ["", "today", "2025-02-30", "2025-2-19", "1969-12-31", "2040-01-01", "2025-02-19 25:00"]
)
def test_a_moment_is_a_day_or_a_time_that_every_engine_has(text: str) -> None:
    with pytest.raises(BadInput, match="--now"):
        parse_moment("--now", text)
    assert parse_moment("--now", "2025-02-19T10:30:15") == NOW


@pytest.mark.slow
@pytest.mark.thorough
def test_a_run_records_it_and_its_tables_tell(tmp_path: Path) -> None:
    folder = tmp_path / "ages"
    sqlite_file(
        folder / "databases" / "clock" / "clock.sqlite",
        "CREATE TABLE person (id INTEGER PRIMARY KEY, born TEXT)",
        "INSERT INTO person VALUES (1, '2000-02-20')",
    )
    golds = (
        "SELECT CAST(strftime('%Y', 'now') AS INTEGER) - 2000",
        "SELECT id FROM person WHERE born > date('now')",
        "SELECT id FROM person",
    )
    questions = [
        {"question_id": number, "db_id": "clock", "question": "?", "evidence": "", "SQL": sql}
        for number, sql in enumerate(golds)
    ]
    (folder / "questions.json").write_text(json.dumps(questions), encoding="utf-8")
    answers = {"0": "SELECT 25", "1": "SELECT 1 WHERE 0", "2": "SELECT 1"}
    (tmp_path / "predict_ages_me_sqlite.json").write_text(
        json.dumps({key: f"{sql}\t----- bird -----\tclock" for key, sql in answers.items()}), encoding="utf-8"
    )

    def scored(*words: str) -> tuple[str, dict[str, object]]:
        done = run(
            "harness", "eval", "--set", str(folder), "--dialect", "sqlite", "--driver", "direct",
            "--predictions", str(tmp_path / "predict_ages_me_sqlite.json"), "--no-report", *words,
            cwd=tmp_path,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout, json.loads((tmp_path / "results/latest/manifest.json").read_text())

    told, manifest = scored()
    assert "Golds that ask for the time: 2 of 3." in told
    assert "Golds that returned no row: 1 on SQLite." in told
    assert "now" not in manifest
    told, manifest = scored("--now", "2025-02-19")
    assert "take 2025-02-19 00:00:00 UTC for the present" in told
    assert "100.00" in told, "25 years"
    assert manifest["now"] == "2025-02-19 00:00:00+00:00"
    assert "--now=2025-02-19" in str(manifest["command"])
    told, _ = scored("--now", "2026-02-19")
    assert "66.67" in told, "the cache keeps the moments apart"
