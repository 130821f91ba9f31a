"""Texts that may give other rows tomorrow are told from those that cannot."""

from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialects import volatility
from dialects.volatility import _CLOCKS, _NO_QUERIES, _PREFIXES, _WORDS, is_volatile
from harness.data.set_manifest import PUBLISHED
from harness.data.sets.loader import load_set

VOLATILE = {
    "every dialect": [
        "SELECT CURRENT_TIMESTAMP",
        "select current_date",
        "SELECT Current_Time FROM t",
        "SELECT * FROM t WHERE d < date('now')",
        "SELECT now()",
        "SELECT/**/now/**/()",
        "-- a comment\nSELECT now()",
        "SELECT 1now()",
        "SELECT 1; SELECT now()",
        "EXPLAIN SELECT 1",
        " ( ( EXPLAIN SELECT 1",
        "/* first */ SHOW TABLES",
        "SELECT 1; SHOW TABLES",
        "SELECT 1;-- and\n SET x = 1",
        "SELECT '" + "x" * 1_000_000 + "'",
        "SELECT 1 /* a */; /* b */ -- c\n ( SHOW TABLES",
        "-- EXPLAIN\n# the plan\n\n  EXPLAIN SELECT 1",
        "/* open ; SHOW TABLES",
    ],
    "sqlite": [
        "SELECT random() FROM t",
        "SELECT * FROM t ORDER BY RANDOM() LIMIT 1",
        'SELECT "random"()',
        "SELECT randomblob(4)",
        "SELECT date()",
        "SELECT time( )",
        'SELECT "datetime" ()',
        "SELECT [date]()",
        "SELECT date(/* nothing */)",
        "SELECT date/* nothing */()",
        "SELECT julianday() - julianday(born) FROM t",
        "SELECT unixepoch()",
        "SELECT unixepoch('subsec')",
        "SELECT strftime('%Y')",
        "SELECT STRFTIME('%Y') - strftime('%Y', born) FROM t",
        "SELECT strftime(upper('%y'))",
        "SELECT strftime(t.format) FROM t",
        "SELECT strftime/**/('%Y')",
        "SELECT datetime(t.at, 'localtime') FROM t",
        "SELECT datetime(t.at, 'utc') FROM t",
        "SELECT datetime(t.at, 'utc'), at AT TIME ZONE 'UTC' FROM t",
        "SELECT last_insert_rowid(), changes(), total_changes()",
        "PRAGMA table_info(t)",
        "SELECT date('n' || 'ow'), date(x'6e6f77'), date(char(110, 111, 119))",
        "SELECT date('n' || 'ow')",
        "SELECT date(x'6e6f77')",
        "SELECT date(char(110, 111, 119))",
        "SELECT * FROM sqlite_stmt",
        "SELECT * FROM pragma_database_list",
    ],
    "mysql": [
        "SELECT NOW(6)",
        "SELECT CURDATE(), CURTIME()",
        "SELECT SYSDATE()",
        "SELECT LOCALTIME",
        "SELECT UTC_TIMESTAMP",
        "SELECT UNIX_TIMESTAMP()",
        "SELECT UNIX_TIMESTAMP(/* nothing */)",
        "SELECT UNIX_TIMESTAMP(# nothing\n)",
        "SELECT RAND(), UUID(), UUID_SHORT()",
        "SELECT uuid ()",
        "SELECT /*!50000 NOW() */",
        "SELECT USER(), CONNECTION_ID()",
        "SELECT @x := @x + 1",
        "SELECT @@hostname",
        "SELECT SLEEP(1)",
        "SELECT GET_LOCK('x', 1)",
        "SELECT table_rows FROM information_schema.tables",
        "SELECT * FROM performance_schema.threads",
        "SELECT CAST(CAST('10:00' AS TIME) AS DATETIME)",
        "SELECT DATE(TIME('10:00'))",
        "SELECT DATE(MAKETIME(10, 0, 0))",
        "SET @x = 1",
        "SELECT TIMESTAMP(STR_TO_DATE('10:00', '%H:%i'))",
        "SELECT DATE(TIME '10:00'), DATE(TIME'10:00')",
        "SELECT DATE({t '10:00'})",
        "SELECT DATE(CONVERT('10:00', TIME))",
        "SELECT DATABASE()",
        "SELECT SCHEMA ()",
        "SELECT UUID_v4(), 1",
        "SELECT `uuid_v7` /* it */ ()",
        "SELECT mariadb_schema.UUID_V7()",
        "SELECT SYS_GUID()",
        "SELECT ENCRYPT('x')",
        "SELECT CURRENT_ROLE",
        "SELECT @@timestamp, @@identity",
        "SELECT * FROM `INFORMATION_\u017fCHEMA`.tables",
        "SELECT CONVERT_TZ(born, 'Europe/Berlin', 'UTC') FROM t",
        "DESC t",
        "CALL p()",
    ],
    "duckdb": [
        "SELECT get_current_timestamp()",
        "SELECT get_current_time ()",
        "SELECT current_localtimestamp()",
        'SELECT main."current_localtime"()',
        "SELECT current_query_id(), current_transaction_id(), current_connection_id()",
        "SELECT * FROM t USING SAMPLE 10%",
        "SELECT * FROM t using /* it */ sample reservoir(10 ROWS)",
        "SELECT * FROM t TABLESAMPLE 10 PERCENT",
        "SELECT ago(INTERVAL 1 DAY)",
        "SELECT getvariable('x'), in_search_path('a', 'b')",
        "SELECT reservoir_quantile(a, 0.5, 100) FROM t",
        "SELECT * FROM duckdb_memory()",
        "SELECT * FROM query('SELECT ran' || 'dom()')",
        "SUMMARIZE t",
    ],
    "postgresql": [
        "SELECT clock_timestamp(), statement_timestamp(), transaction_timestamp()",
        "SELECT timeofday()",
        "SELECT 'now'::timestamp, 'today'::date, date 'tomorrow', 'yesterday'::date",
        "SELECT LOCALTIMESTAMP(0)",
        "SELECT age(born) FROM t",
        "SELECT EXTRACT(YEAR FROM AGE (born)) FROM t",
        "SELECT age(date(born)) FROM t",
        "SELECT age('x, y'::text::date) FROM t",
        "SELECT age(a, b), age(c) FROM t",
        "SELECT gen_random_uuid(), random_normal()",
        "SELECT * FROM t TABLESAMPLE SYSTEM (10)",
        "SELECT nextval('s')",
        "SELECT pg_backend_pid(), txid_current()",
        "SELECT * FROM pg_stat_activity",
        "SELECT pg_sleep(1)",
        "SELECT current_setting('TimeZone'), current_user",
        "SELECT xmin FROM t",
        "SELECT 't'::regclass::oid",
        'SELECT U&"\\006eow"()',
        "SELECT U&'\\006eow'::date",
        "SELECT E'\\156ow'::date",
        "SELECT 'to'\n'day'::date",
        "SELECT ('to' || 'day')::date",
        "SELECT 'allballs'::timetz",
        "SELECT '10:00 Europe/Berlin'::timetz",
        "SELECT born::time WITH TIME ZONE FROM t",
        "SELECT current_database(), current_schema",
        "SELECT array_shuffle(ARRAY[1, 2]), array_sample(ARRAY[1, 2], 1)",
        "SELECT ctid, tableoid FROM t",
        "SELECT 1::regrole",
        "VACUUM",
    ],
}
STEADY = [
    "",
    "no SQL at all, but the same error each time",
    "SELECT 1",
    "WITH a AS (SELECT 1) SELECT * FROM a;",
    "```sql\nSELECT name FROM t\n```",
    "SELECT name FROM t; SELECT 2",
    "SELECT name FROM races WHERE name = 'Canadian Grand Prix' AND known = 'known'",
    'SELECT date, time, datetime, user, uuid, age, "current", nowhere FROM t ORDER BY date DESC',
    "SELECT T1.uuid FROM cards AS T1 JOIN sets AS T2 ON T1.setcode = T2.code -- done",
    "SELECT user FROM t WHERE user IN (SELECT id FROM users)",
    "SELECT date(born), datetime(born, '+1 day'), julianday(born) FROM t",
    "SELECT strftime('%Y', born), STRFTIME( \"%m\" , born) FROM t",
    "SELECT strftime('%J', (SELECT max(born) FROM t))",
    "SELECT strftime(born, '%Y'), STRFTIME( t.born , '%m') FROM t",
    "SELECT CAST(TO_TIMESTAMP(ms / 1000) AT TIME ZONE 'UTC' AS DATE) FROM t",
    "SELECT age(a, b), AGE( date '2020-01-01' , c.born) FROM c",
    "SELECT avg(age) FROM t WHERE (age) > 3",
    "SELECT EXTRACT(YEAR FROM born), TO_CHAR(born, 'YYYY'), date_trunc('year', born) FROM t",
    "SELECT UNIX_TIMESTAMP(born), YEAR(born), DATE_FORMAT(born, '%Y'), TIMESTAMPDIFF(YEAR, a, b) FROM t",
    "SELECT version(), sqlite_version()",
    "VALUES (1, 2)",
    "SELECT name FROM t -- the last comes first\nORDER BY name DESC",
    "SELECT 'it''s', first || ' ' || last, x'0102', CAST(a AS CHAR(4)), 'it' || 's' FROM t",
    "SELECT STR_TO_DATE(born, '%d.%m.%Y') FROM t",
    "SELECT \"time\", 'lap time', database FROM t AS schema",
    "SELECT `now_playing`, currents, grandrandom FROM t",
    "SELECT sample, stats, error, query, encrypt FROM t JOIN u USING (id)",
    "SELECT ago, histogram FROM t WHERE error = 'x'",
]


@pytest.mark.parametrize(
    "sql", [sql for texts in VOLATILE.values() for sql in texts], ids=lambda sql: sql[:60]
)
def test_what_asks_for_the_present_chance_or_the_server_is_volatile(sql: str) -> None:
    assert is_volatile(sql)
    assert is_volatile(sql.upper())


@pytest.mark.parametrize("sql", STEADY)
def test_what_asks_the_data_alone_is_not(sql: str) -> None:
    assert not is_volatile(sql)


@pytest.mark.bird
def test_the_published_golds_that_are_volatile_ask_for_the_present(bird_home: Path) -> None:
    words = ("now", "current_", "curdate", "datetime()")
    for name in ("mini_dev", "mini_dev_2025"):
        questions = load_set(name, bird_home).questions
        for dialect in PUBLISHED:
            volatile = [question for question in questions if is_volatile(question.gold[dialect])]
            assert len(volatile) == 11, dialect
            for question in volatile:
                text = question.gold[dialect].lower()
                assert any(word in text for word in words), text


PIECES = [*_WORDS, *_CLOCKS, *_NO_QUERIES, "select", "desc", "users", "uuid", "age", "strftime", "as", "time"]
PIECES += [
    *_PREFIXES,
    "@",
    "u&'",
    'u&"',
    "(",
    ")",
    "()",
    ";",
    "--",
    "/*",
    "*/",
    "'",
    '"',
    " ",
    "\n",
    ",",
    "$",
]
PIECES += ["now", "n", "ow", "||", "x'6e6f77'", "e'", "{t", "'n'", "'ow'", "char(1)", "--\n"]
PIECES += ["1", "é", "\N{NO-BREAK SPACE}", "_", "x", "'%Y'"]


@given(st.lists(st.sampled_from(PIECES), max_size=6), st.sampled_from(["", " "]))
def test_what_is_plain_at_a_glance_is_not_volatile(pieces: list[str], between: str) -> None:
    text = between.join(["select", *pieces, "from t"])
    with patch.object(volatility, "_is_plain", lambda _: False):
        expected = volatility._is_volatile(text)
    assert volatility._is_volatile(text) == expected
