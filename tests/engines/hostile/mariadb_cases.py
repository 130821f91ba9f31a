"""Hostile predictions for MariaDB: MySQL's, and what MariaDB alone has."""

from dataclasses import replace

from harness.engines.execution import Ending
from tests.engines.hostile import mysql_cases
from tests.engines.hostile.cases import HARMLESS, Hostile

_ERROR = frozenset({Ending.ERROR})

_OTHERWISE = {
    # MariaDB has ANALYZE instead, and ends a recursion after 1,000 steps without an error.
    "sleep that is explained": _ERROR,
    "endless recursion": frozenset({Ending.ROWS}),
    "endless recursion without a limit": frozenset({Ending.ROWS}),
    # It knows no SET_VAR and cuts what it aggregates after 1 MB, perhaps before the time is up.
    "group_concat": HARMLESS,
    "json array of texts": HARMLESS,
}

OWN = (
    Hostile("no limit for a statement", "SET STATEMENT max_statement_time=0 FOR SELECT SLEEP(1000)", _ERROR),
    Hostile("memory", "SET STATEMENT max_session_mem_used = 9e9 FOR SELECT REPEAT('x', 60000000)", _ERROR),
    Hostile("limit behind a comment", "/*M!100000 SET */ SESSION max_statement_time = 0", _ERROR),
    Hostile("kill behind a comment", "/*M!100000 KILL CONNECTION_ID() */", _ERROR),
    Hostile("block", "BEGIN NOT ATOMIC SELECT SLEEP(1000); END", _ERROR),
    Hostile("execute immediate", "EXECUTE IMMEDIATE 'SELECT SLEEP(1000)'", _ERROR),
    Hostile("analyze", "ANALYZE FORMAT=JSON SELECT SLEEP(1000)", _ERROR),
    Hostile("delete that is analyzed", "ANALYZE DELETE FROM animal", _ERROR),
    Hostile("insert returning", "INSERT INTO animal (legs) VALUES (1) RETURNING legs", _ERROR),
    Hostile("delete returning", "DELETE FROM animal RETURNING *", _ERROR),
    Hostile("sequence", "CREATE SEQUENCE more", _ERROR),
    Hostile("rows of a sequence", "SELECT seq FROM seq_1_to_100000000000"),
    Hostile("products", "SELECT SUM(a.seq * b.seq) FROM seq_1_to_1000000 AS a, seq_1_to_1000000 AS b"),
    Hostile("plugin", "INSTALL SONAME 'ha_connect'", _ERROR),
    Hostile("backup", "BACKUP STAGE START", _ERROR),
    Hostile("backup lock", "BACKUP LOCK animal", _ERROR),
    Hostile("another server", "CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (HOST 'x')", _ERROR),
    Hostile("wait for another server", "SELECT MASTER_GTID_WAIT('0-1-100', 1000)", HARMLESS),
    Hostile("wait for a position", "SELECT MASTER_POS_WAIT('log.000001', 4, 1000)", HARMLESS),
    Hostile("pattern", "SELECT REPEAT('a', 100000) REGEXP '(a+)+b'", HARMLESS),
    Hostile("key of a long text", "SELECT LENGTH(NATURAL_SORT_KEY(REPEAT('1', 30000000)))", HARMLESS),
    Hostile("format", "SELECT SFORMAT(REPEAT('{}', 1000000), 1)", HARMLESS),
    Hostile("list", "SELECT GROUP_CONCAT(REPEAT('x', 1000)) FROM seq_1_to_10000000", HARMLESS),
    Hostile("compact json", "SELECT JSON_COMPACT(CONCAT(REPEAT('[', 99999), REPEAT(']', 99999)))", HARMLESS),
    Hostile("global privileges", "SELECT * FROM mysql.global_priv", _ERROR),
    Hostile("statistics", "SELECT * FROM information_schema.user_statistics", HARMLESS),
    Hostile("role", "SET ROLE NONE", _ERROR),
    Hostile("default role", "SET DEFAULT ROLE NONE", _ERROR),
    Hostile("oracle's mode", "SET sql_mode = 'ORACLE'", _ERROR),
)

CASES = (
    *(replace(case, endings=_OTHERWISE.get(case.name, case.endings)) for case in mysql_cases.CASES),
    *OWN,
)
