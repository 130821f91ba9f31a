"""What is the same all day in UTC is told from what may change at any moment, and from what never does."""

from pathlib import Path

import pytest

from dialects.enums import Dialect
from harness.data.sets.loader import load_set
from harness.scoring.cache import Lifetime, lifetime

TODAY = {
    "every dialect": [
        "SELECT CURRENT_DATE",
        "SELECT born, CURRENT_DATE FROM t WHERE born < current_date",
        "SELECT EXTRACT(YEAR FROM CURRENT_DATE) - EXTRACT(YEAR FROM born) FROM t",
    ],
    "sqlite": [
        "SELECT date('now')",
        "SELECT DATE( 'NOW' ) FROM t",
        "SELECT strftime('%Y', 'now') - strftime('%Y', born) FROM t",
        "SELECT STRFTIME('%Y', CURRENT_TIMESTAMP) - STRFTIME('%Y', born) FROM t",
        "SELECT strftime('%Y', date('now'))",
        "SELECT strftime('%Y-%m-%d', 'now') FROM t",
        "SELECT julianday(CURRENT_DATE) - julianday(born) FROM t",
        "SELECT DISTINCT x, DATETIME() - born age FROM t",
        "SELECT DATETIME() - born, (datetime( 'now' ) -1) / 2 FROM t",
    ],
    "mysql": [
        "SELECT CURDATE(), CURRENT_DATE(), UTC_DATE()",
        "SELECT YEAR(CURDATE()) - YEAR(born), YEAR(NOW()), MONTH(CURRENT_TIMESTAMP) FROM t",
        "SELECT TIMESTAMPDIFF(YEAR, born, CURDATE()) FROM t",
        "SELECT DATE_FORMAT(CAST(CURRENT_TIMESTAMP() AS DATETIME), '%Y') FROM t",
        "SELECT DATE_FORMAT(NOW(), '%Y-%m-%d') FROM t",
        "SELECT DATE(NOW()), CAST(NOW() AS DATE)",
        "SELECT DATEDIFF(NOW(), born) / 365, datediff( CURRENT_TIMESTAMP, born) FROM t",
        "SELECT AVG(TIME_TO_SEC(TIME(t.took))) FROM t",
        "SELECT TIMEDIFF(a, b) / SUBTIME(a, b), ADDTIME(a, b), MAKETIME(1, 2, 3), SEC_TO_TIME(a) FROM t",
        "SELECT CAST(a AS TIME) > b FROM t",
    ],
    "postgresql": [
        "SELECT AGE(CURRENT_DATE, born), age(born) FROM t",
        'SELECT EXTRACT(YEAR FROM "age"(born)) FROM t',
        "SELECT EXTRACT(YEAR FROM CURRENT_TIMESTAMP), DATE_PART('year', now()) FROM t",
        "SELECT now()::date, CURRENT_TIMESTAMP::DATE, TO_CHAR(NOW(), 'YYYY-MM')",
    ],
}
NEVER = {
    "every dialect": [
        "SELECT CURRENT_TIMESTAMP",
        "SELECT CURRENT_DATE, CURRENT_TIMESTAMP",
        "SELECT EXTRACT(HOUR FROM CURRENT_TIMESTAMP)",
        "SELECT CURRENT_DATE, random()",
        "SELECT '" + "x" * 20_000 + "', CURRENT_DATE",
    ],
    "sqlite": [
        "SELECT julianday('now') - julianday(born) FROM t",
        "SELECT datetime() || born - 1, datetime() -> '$' FROM t",
        "SELECT born || datetime() - 1 FROM t",
        "SELECT datetime() --born\n FROM t",
        "SELECT datetime('now', 'localtime') - born FROM t",
        "SELECT time() FROM t",
        "SELECT time(/* now */) FROM t",
        "SELECT time('now') FROM t",
        "SELECT cast(datetime('now') AS time) FROM t",
        "SELECT date('now', 'localtime')",
        "SELECT date('now', '+1 hour')",
        "SELECT date(CURRENT_DATE, 'localtime')",
        "SELECT strftime('%Y %H', 'now')",
        "SELECT strftime('%J', 'now')",
        "SELECT strftime('%M', 'now')",
        "SELECT strftime('%s', 'now') - strftime('%s', born) FROM t",
        "SELECT strftime('%Y', 'now', '-1 hour')",
        "SELECT strftime(format, 'now') FROM t",
        "SELECT strftime('%Y')",
    ],
    "mysql": [
        "SELECT NOW() - born FROM t",
        "SELECT TIMESTAMPDIFF(YEAR, born, NOW()) FROM t",
        "SELECT DATEDIFF(NOW() + INTERVAL born HOUR, born), TIMEDIFF(NOW(), born) FROM t",
        "SELECT TIME(NOW()), CAST(NOW() AS TIME) FROM t",
        "SELECT CURTIME(), TIME(born) FROM t",
        "SELECT DATE_FORMAT(NOW(), '%H')",
        "SELECT DATE_FORMAT(NOW(), '%i')",
        "SELECT HOUR(NOW())",
        "SELECT YEAR(NOW() + INTERVAL 1 HOUR)",
        "SELECT /*+ SET_VAR(time_zone = '+12:00') */ CURDATE()",
        "SELECT CONVERT_TZ(CURDATE(), 'UTC', x), @@time_zone FROM t",
    ],
    "postgresql": [
        "SELECT AGE(NOW(), born) FROM t",
        "SELECT EXTRACT(YEAR FROM AGE(CURRENT_TIMESTAMP, born)) FROM t",
        "SELECT (now() AT TIME ZONE 'Asia/Tokyo')::date, CURRENT_DATE",
        "SELECT CURRENT_TIMESTAMP(0)::date",
        "SELECT TO_CHAR(NOW(), 'HH24')",
        "SELECT age('1'::xid)",
        "SELECT DATE_PART('hour', now())",
    ],
}
ALWAYS = ["SELECT 1", "SELECT born FROM t WHERE strftime('%Y', born) = '2000'", "SELECT age(a, b) FROM t"]


@pytest.mark.parametrize("sql", [sql for texts in TODAY.values() for sql in texts])
def test_what_depends_on_the_date_alone_lasts_for_the_day(sql: str) -> None:
    assert lifetime(sql) is Lifetime.TODAY


@pytest.mark.parametrize("sql", [sql for texts in NEVER.values() for sql in texts], ids=lambda sql: sql[:60])
def test_what_depends_on_the_time_of_day_chance_or_a_zone_does_not_last(sql: str) -> None:
    assert lifetime(sql) is Lifetime.NEVER


@pytest.mark.parametrize("sql", ALWAYS)
def test_what_asks_the_data_alone_lasts(sql: str) -> None:
    assert lifetime(sql) is Lifetime.ALWAYS


@pytest.mark.bird
def test_of_the_published_golds_almost_all_last_for_a_day(bird_home: Path) -> None:
    moments: dict[Dialect, list[str]] = {Dialect.SQLITE: [], Dialect.MYSQL: [], Dialect.POSTGRESQL: ["1031"]}
    questions = load_set("mini_dev", bird_home).questions
    for dialect, expected in moments.items():
        found = {
            kind: [question.key for question in questions if lifetime(question.gold[dialect]) is kind]
            for kind in Lifetime
        }
        assert found[Lifetime.NEVER] == expected, dialect
        assert len(found[Lifetime.TODAY]) == 11 - len(expected), dialect
