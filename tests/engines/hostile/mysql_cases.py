"""Hostile predictions for MySQL. The database that they run on has a table `animal`."""

from harness.engines.execution import Ending
from tests.engines.hostile.cases import HARMLESS, Hostile

_ERROR = frozenset({Ending.ERROR})
_ROWS = frozenset({Ending.ROWS})
_TIMEOUT = frozenset({Ending.TIMEOUT})
_TOO_LARGE = frozenset({Ending.TOO_LARGE})
_TOO_MUCH = frozenset({Ending.TOO_LARGE, Ending.TIMEOUT})
"""Whichever limit is reached first on this machine."""

_DIGITS = "(WITH RECURSIVE d AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM d WHERE n < 999) SELECT n FROM d)"
_MILLION = f"{_DIGITS} AS a, {_DIGITS} AS b"
_BILLION = f"{_MILLION}, {_DIGITS} AS c"
_COLLATIONS = "information_schema.collations"

WRITES = (
    Hostile("insert", "INSERT INTO animal VALUES ('ox', 4, NULL, NULL)", _ERROR),
    Hostile("insert select", "INSERT INTO animal SELECT * FROM animal", _ERROR),
    Hostile("replace", "REPLACE INTO animal VALUES ('ox', 4, NULL, NULL)", _ERROR),
    Hostile("update", "UPDATE animal SET legs = 3", _ERROR),
    Hostile("delete", "DELETE FROM animal", _ERROR),
    Hostile("truncate", "TRUNCATE TABLE animal", _ERROR),
    Hostile("update behind with", "WITH x AS (SELECT 1) UPDATE animal SET legs = 3", _ERROR),
    Hostile("delete behind with", "WITH x AS (SELECT 1) DELETE FROM animal", _ERROR),
    Hostile("delete that is explained", "EXPLAIN ANALYZE DELETE FROM animal", _ERROR),
    Hostile("drop table", "DROP TABLE animal", _ERROR),
    Hostile("drop database", "DROP DATABASE bird_hostile", _ERROR),
    Hostile("create table", "CREATE TABLE more (a INTEGER)", _ERROR),
    Hostile("create database", "CREATE DATABASE more", _ERROR),
    Hostile("create temporary table", "CREATE TEMPORARY TABLE more AS SELECT 1 AS a", _ERROR),
    Hostile("create view", "CREATE VIEW more AS SELECT 1 AS a", _ERROR),
    Hostile("create procedure", "CREATE PROCEDURE more() SELECT 1", _ERROR),
    Hostile("create trigger", "CREATE TRIGGER t BEFORE INSERT ON animal FOR EACH ROW SET @a = 1", _ERROR),
    Hostile("create event", "CREATE EVENT e ON SCHEDULE EVERY 1 SECOND DO SET @a = 1", _ERROR),
    Hostile("create index", "CREATE INDEX i ON animal (legs)", _ERROR),
    Hostile("alter table", "ALTER TABLE animal ADD COLUMN more INTEGER", _ERROR),
    Hostile("rename table", "RENAME TABLE animal TO plant", _ERROR),
    Hostile("optimize table", "OPTIMIZE TABLE animal", _ERROR),
    Hostile("analyze table", "ANALYZE TABLE animal UPDATE HISTOGRAM ON legs", _ERROR),
)

FILES = (
    Hostile("load_file", "SELECT LOAD_FILE('/etc/passwd') IS NULL, LOAD_FILE(@@datadir)", HARMLESS),
    Hostile("into outfile", "SELECT * FROM animal INTO OUTFILE 'bird_hostile_outfile'", _ERROR),
    Hostile("into dumpfile", "SELECT 'x' INTO DUMPFILE '/var/lib/mysql-files/bird_hostile_dumpfile'", _ERROR),
    Hostile("table into outfile", "TABLE animal INTO OUTFILE 'bird_hostile_outfile'", _ERROR),
    Hostile("load data", "LOAD DATA INFILE '/etc/passwd' INTO TABLE animal", _ERROR),
    Hostile("load data local", "LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE animal", _ERROR),
    Hostile(
        "load data behind a hint",
        "/*!50000 LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE animal */",
        _ERROR,
    ),
    Hostile("import table", "IMPORT TABLE FROM '/etc/passwd'", _ERROR),
    Hostile("function from a library", "CREATE FUNCTION f RETURNS STRING SONAME 'udf.so'", _ERROR),
    Hostile("install plugin", "INSTALL PLUGIN p SONAME 'p.so'", _ERROR),
    Hostile("install component", "INSTALL COMPONENT 'file://component_validate_password'", _ERROR),
)

SERVER = (
    Hostile("set global", "SET GLOBAL max_connections = 1", _ERROR),
    Hostile("set persist", "SET PERSIST max_connections = 1", _ERROR),
    Hostile("set session", "SET SESSION max_execution_time = 0", _ERROR),
    Hostile("set sql_mode", "SET sql_mode = 'ANSI_QUOTES'", _ERROR),
    Hostile("set transaction", "SET TRANSACTION READ WRITE", _ERROR),
    Hostile("set password", "SET PASSWORD = 'x'", _ERROR),
    Hostile("alter user", "ALTER USER USER() IDENTIFIED BY 'x'", _ERROR),
    Hostile("create user", "CREATE USER intruder", _ERROR),
    Hostile("grant", "GRANT ALL ON *.* TO bird_reader", _ERROR),
    Hostile("set role", "SET ROLE ALL", _ERROR),
    Hostile("shutdown", "SHUTDOWN", _ERROR),
    Hostile("restart", "RESTART", _ERROR),
    Hostile("reset", "RESET BINARY LOGS AND GTIDS", _ERROR),
    Hostile("flush tables", "FLUSH TABLES WITH READ LOCK", _ERROR),
    Hostile("clone", "CLONE LOCAL DATA DIRECTORY = '/var/lib/bird_hostile'", _ERROR),
    Hostile("accounts", "SELECT user, authentication_string FROM mysql.user", _ERROR),
    Hostile("other accounts' statements", "SELECT * FROM performance_schema.threads", _ERROR),
    Hostile("the harness's own tables", "SELECT * FROM bird_harness.loads", _ERROR),
    Hostile("list of sessions", "SELECT id, user, info FROM performance_schema.processlist", HARMLESS),
    Hostile("another database", "SELECT COUNT(*) FROM bird_hostile_other.animal", HARMLESS),
    Hostile("no privileges to see", "SHOW GRANTS", HARMLESS),
)

SESSIONS = (
    Hostile("kill itself", "KILL CONNECTION_ID()", _ERROR),
    Hostile("kill others", "KILL 1", _ERROR),
    Hostile("kill by a comment", "/*!50000 KILL CONNECTION_ID() */", _ERROR),
    Hostile("kill after a control character", "--\x01\nKILL CONNECTION_ID()", _ERROR),
    Hostile("lock by name", "SELECT GET_LOCK('bird_harness load', 100)", HARMLESS),
    Hostile("locks by name", f"SELECT GET_LOCK(CONCAT('l', n), 1) FROM {_DIGITS} AS a", HARMLESS),
    Hostile("lock tables", "LOCK TABLES animal WRITE", _ERROR),
    Hostile("lock instance", "LOCK INSTANCE FOR BACKUP", _ERROR),
    Hostile("locking rows", "SELECT * FROM animal FOR UPDATE", _ERROR),
    Hostile("sharing rows", "SELECT * FROM animal FOR SHARE", HARMLESS),
    Hostile("start transaction", "START TRANSACTION", _ERROR),
    Hostile("begin", "BEGIN", _ERROR),
    Hostile("xa", "XA START 'x'", _ERROR),
    Hostile("user variable", "SELECT @bird := 1, @bird := CONCAT(@bird, REPEAT('x', 1000000))", HARMLESS),
    Hostile("into a user variable", "SELECT 1 INTO @bird", HARMLESS),
    Hostile("prepare", "PREPARE s FROM 'SELECT 1'", _ERROR),
    Hostile("execute", "EXECUTE s", _ERROR),
    Hostile("handler", "HANDLER animal OPEN", _ERROR),
    Hostile("call", "CALL sys.ps_setup_enable_instrument('')", _ERROR),
    Hostile("do", "DO SLEEP(100)", _ERROR),
    Hostile("use", "USE mysql", _ERROR),
    Hostile("setting by a hint", "SELECT /*+ SET_VAR(sql_mode='') */ 1", _ROWS),
    Hostile("last_insert_id", "SELECT LAST_INSERT_ID(4711)", HARMLESS),
)

TIME = (
    Hostile("sleep", "SELECT SLEEP(1000)", _TIMEOUT),
    Hostile("sleep without a limit", "SELECT /*+ MAX_EXECUTION_TIME(600000) */ SLEEP(1000)", _TIMEOUT),
    Hostile("sleep of each row", "SELECT SLEEP(0.4) FROM animal AS a, animal AS b", _TIMEOUT),
    Hostile("sleep in a subquery", "SELECT (SELECT SLEEP(1000)) + 1", _TIMEOUT),
    Hostile("sleep that is explained", "EXPLAIN ANALYZE SELECT SLEEP(1000)", _TIMEOUT),
    Hostile("benchmark", "SELECT BENCHMARK(1000000000, SHA2('a', 512))", _TIMEOUT),
    Hostile(
        "benchmark without a limit",
        "SELECT /*+ MAX_EXECUTION_TIME(600000) */ BENCHMARK(1000000000, SHA2('a', 512))",
        _TIMEOUT,
    ),
    Hostile(
        "endless recursion",
        "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT 1 FROM r) SELECT * FROM r",
        _ERROR,
    ),
    Hostile(
        "endless recursion without a limit",
        "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) "
        "SELECT /*+ SET_VAR(cte_max_recursion_depth=4294967295) MAX_EXECUTION_TIME(60000) */ COUNT(*) FROM r",
        _TOO_MUCH,
    ),
    Hostile(
        "cross join of 61", "SELECT COUNT(*) FROM " + ", ".join(f"{_COLLATIONS} AS t{n}" for n in range(61))
    ),
    Hostile("cross join of 300", "SELECT COUNT(*) FROM " + ", ".join(f"animal AS t{n}" for n in range(300))),
    Hostile(
        "cross join without a limit",
        f"SELECT /*+ SET_VAR(max_execution_time=0) */ COUNT(*) FROM {_BILLION}, {_DIGITS} AS d",
        _TIMEOUT,
    ),
    Hostile(
        "metadata",
        "SELECT COUNT(*) FROM " + ", ".join(f"information_schema.columns AS t{n}" for n in range(4)),
        _TIMEOUT,
    ),
    Hostile("regular expression", "SELECT REGEXP_LIKE(REPEAT('a', 100000), '(a+)+b')"),
    Hostile(
        "wait for a replica", "SELECT WAIT_FOR_EXECUTED_GTID_SET('7d444840-9dc0-11d1-b245-5ffdce74fad2:1')"
    ),
    Hostile("wait for a source", "SELECT SOURCE_POS_WAIT('log.000001', 4, 1000)", HARMLESS),
    Hostile(
        "wait for a lock", "SELECT GET_LOCK('a', 1000), RELEASE_LOCK('a'), GET_LOCK('a', 1000)", HARMLESS
    ),
)

SIZE = (
    Hostile("a billion rows", f"SELECT 1 FROM {_BILLION}", _TOO_MUCH),
    Hostile("many large rows", f"SELECT REPEAT('x', 1000000) FROM {_DIGITS} AS a", _TOO_MUCH),
    Hostile("a value of 4 GB", "SELECT REPEAT('x', 4294967296)", HARMLESS),
    Hostile("a value of 60 MB", "SELECT REPEAT('x', 60000000)", HARMLESS),
    Hostile("several values of 60 MB", "SELECT " + ", ".join(f"REPEAT('{c}', 30000000)" for c in "abcd")),
    Hostile("padding", "SELECT LPAD('x', 4294967295, 'y'), SPACE(4294967295)", HARMLESS),
    Hostile(
        "group_concat",
        "SELECT /*+ SET_VAR(group_concat_max_len=4294967295) */ "
        f"LENGTH(GROUP_CONCAT(REPEAT('x', 1000))) FROM {_MILLION}",
        _TOO_MUCH,
    ),
    Hostile("json array", f"SELECT JSON_LENGTH(JSON_ARRAYAGG(1)) FROM {_BILLION}", _TOO_MUCH),
    Hostile(
        "json array of texts",
        f"SELECT JSON_LENGTH(JSON_ARRAYAGG(REPEAT('x', 100000))) FROM {_MILLION}",
        _TOO_MUCH,
    ),
    Hostile("deep json", "SELECT JSON_VALID(CONCAT(REPEAT('[', 100000), REPEAT(']', 100000)))", HARMLESS),
    Hostile(
        "json table",
        "SELECT COUNT(*) FROM JSON_TABLE(CONCAT('[', REPEAT('1,', 1000000), '1]'), "
        "'$[*]' COLUMNS (a INT PATH '$')) AS j, JSON_TABLE('[1,2,3]', '$[*]' COLUMNS (a INT PATH '$')) AS k",
        HARMLESS,
    ),
    Hostile(
        "sort buffer",
        "SELECT /*+ SET_VAR(sort_buffer_size=4294967295) */ a.n, REPEAT('x', 500) AS z "
        f"FROM {_BILLION} ORDER BY z, a.n, b.n",
        _TOO_MUCH,
    ),
    Hostile(
        "join buffer",
        "SELECT /*+ SET_VAR(join_buffer_size=4294967295) */ COUNT(*) "
        f"FROM (SELECT a.n, REPEAT('x', 500) AS z FROM {_MILLION}) AS q "
        f"JOIN (SELECT a.n, REPEAT('x', 500) AS z FROM {_MILLION}) AS r ON q.z = r.z",
        _TOO_MUCH,
    ),
    Hostile(
        "temporary table in memory",
        "SELECT /*+ SET_VAR(tmp_table_size=18446744073709551615) MAX_EXECUTION_TIME(600000) */ COUNT(*) "
        f"FROM (SELECT DISTINCT a.n, b.n AS m, c.n AS o, REPEAT('x', 500) AS z FROM {_BILLION}) AS q",
        _TOO_MUCH,
    ),
    Hostile(
        "temporary table on disk",
        "SELECT COUNT(*) FROM "
        f"(SELECT DISTINCT a.n, b.n AS m, c.n AS o, REPEAT('x', 500) AS z FROM {_BILLION}) AS q",
        _TOO_MUCH,
    ),
    Hostile(
        "groups on disk",
        f"SELECT a.n, b.n, c.n, MAX(REPEAT('x', 5000)) FROM {_BILLION} GROUP BY a.n, b.n, c.n ORDER BY 4",
        _TOO_MUCH,
    ),
    Hostile(
        "union on disk",
        "SELECT COUNT(*) FROM "
        f"(SELECT a.n, UUID() FROM {_BILLION} UNION SELECT b.n, UUID() FROM {_BILLION}) AS q",
        _TOO_MUCH,
    ),
    Hostile("window", f"SELECT SUM(a.n) OVER (ORDER BY b.n, a.n, c.n) FROM {_BILLION}", _TOO_MUCH),
    Hostile(
        "polygon",
        "SELECT ST_Buffer(ST_GeomFromText(CONCAT('LINESTRING(0 0', REPEAT(', 1 1, 0 0', 20000), ')')), 5)",
        HARMLESS,
    ),
    Hostile("uuids", "SELECT COUNT(DISTINCT UUID(), RAND(), a.n) FROM " + _BILLION, _TOO_MUCH),
)

TEXTS = (
    Hostile("nothing", "", _ERROR),
    Hostile("a comment", "-- nothing", HARMLESS),
    Hostile("a semicolon", ";", _ERROR),
    Hostile("several statements", "SELECT 1; DROP TABLE animal", _ERROR),
    Hostile("an open quote", "SELECT 'a", _ERROR),
    Hostile("an open name", "SELECT `a", _ERROR),
    Hostile("an open comment", "SELECT 1 /* a", HARMLESS),
    Hostile("a client's command", "DELIMITER //\nSELECT 1//", _ERROR),
    Hostile("another client's command", "\\! id", _ERROR),
    Hostile("nul", "SELECT 'a\0b', 1\0", HARMLESS),
    Hostile("only nul", "\0", _ERROR),
    Hostile("a lone surrogate", "SELECT '\ud800'", _ERROR),
    Hostile("an escaped byte", "SELECT '\udcff'", _ERROR),
    Hostile("broken utf-8", "SELECT _utf8mb4 x'c328'", _ERROR),
    Hostile("bytes as text", "SELECT CAST(x'ff00fe' AS CHAR CHARACTER SET utf8mb4), x'ff00fe'", HARMLESS),
    Hostile("another encoding", "SELECT CONVERT('a' USING utf32), _utf16 x'd800'", HARMLESS),
    Hostile("a byte order mark", "\ufeffSELECT 1", _ERROR),
    Hostile("10 MB of text", "SELECT '" + "x" * 10_000_000 + "'", HARMLESS),
    Hostile("10 MB of additions", "SELECT 1" + "+1" * 5_000_000),
    Hostile("10 MB of values", "SELECT * FROM (VALUES ROW(1)" + ", ROW(1)" * 1_200_000 + ") AS v"),
    Hostile(
        "10 MB of conditions", "SELECT 1 FROM animal WHERE legs IN (0" + ",1" * 5_000_000 + ")", HARMLESS
    ),
    Hostile("more than max_allowed_packet", "SELECT '" + "x" * 70_000_000 + "'", _TOO_LARGE),
    Hostile("deep parentheses", "SELECT " + "(" * 50_000 + "1" + ")" * 50_000, HARMLESS),
    Hostile("deep calls", "SELECT " + "ABS(" * 20_000 + "1" + ")" * 20_000, HARMLESS),
    Hostile("deep subqueries", "SELECT " + "(SELECT " * 2_000 + "1" + ")" * 2_000, HARMLESS),
    Hostile("deep negations", "SELECT " + "NOT " * 100_000 + "1", HARMLESS),
    Hostile("many unions", "SELECT 1" + " UNION ALL SELECT 1" * 20_000, HARMLESS),
    Hostile("many columns", "SELECT " + ", ".join(["1"] * 5_000), HARMLESS),
    Hostile("a name as a constant", "SELECT NAME_CONST('a', REPEAT('x', 100))", HARMLESS),
)

CASES = WRITES + FILES + SERVER + SESSIONS + TIME + SIZE + TEXTS
