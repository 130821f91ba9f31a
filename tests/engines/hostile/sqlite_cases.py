"""Hostile predictions for SQLite: what each tries, and how it may end.

The database that they meet has a table `animal (name, legs)` with an index `legs`.
"""

from collections.abc import Iterator

from harness.engines.execution import Ending
from tests.engines.hostile.cases import HARMLESS, STOPPED, Hostile

REFUSED = frozenset({Ending.ERROR})
LONG = frozenset({Ending.TIMEOUT})
LARGE = frozenset({Ending.TOO_LARGE})
EXHAUSTING = frozenset({Ending.TIMEOUT, Ending.TOO_LARGE})

_ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
_THOUSAND = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)"
_MILLION = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000)"


def _named(group: str, texts: dict[str, str], endings: frozenset[Ending]) -> Iterator[Hostile]:
    for name, sql in texts.items():
        yield Hostile(f"{group}: {name}", sql, endings)


_WRITES = {
    "insert": "INSERT INTO animal VALUES ('x', 1)",
    "insert returning": "INSERT INTO animal VALUES ('x', 1) RETURNING name",
    "insert of a query": "INSERT INTO animal SELECT * FROM animal",
    "upsert": "INSERT INTO animal VALUES ('x', 1) ON CONFLICT DO NOTHING",
    "replace": "REPLACE INTO animal VALUES ('cat', 5)",
    "update": "UPDATE animal SET legs = 3",
    "update from": "UPDATE animal SET legs = o.legs FROM animal AS o",
    "delete": "DELETE FROM animal",
    "delete returning": "DELETE FROM animal RETURNING *",
    "with insert": "WITH w AS (SELECT 1) INSERT INTO animal SELECT 'x', 1 FROM w",
    "schema table": "DELETE FROM sqlite_master",
    "schema text": "UPDATE sqlite_schema SET sql = 'CREATE TABLE animal (a)'",
    "explained": "EXPLAIN DELETE FROM animal",
    "explained plan": "EXPLAIN QUERY PLAN UPDATE animal SET legs = 1",
}

_DEFINITIONS = {
    "table": "CREATE TABLE more (a)",
    "table of a query": "CREATE TABLE more AS SELECT * FROM animal",
    "index": "CREATE INDEX i ON animal (legs)",
    "view": "CREATE VIEW v AS SELECT * FROM v",
    "trigger": "CREATE TRIGGER t AFTER INSERT ON animal BEGIN DELETE FROM animal; END",
    "temporary table": "CREATE TEMP TABLE more AS SELECT * FROM animal",
    "temporary view over a table": "CREATE TEMP VIEW animal AS SELECT 1 AS name",
    "temporary trigger": "CREATE TEMP TRIGGER t AFTER INSERT ON main.animal BEGIN SELECT 1; END",
    "temporary index": "CREATE INDEX temp.i ON animal (legs)",
    "drop table": "DROP TABLE animal",
    "drop index": "DROP INDEX legs",
    "drop view": "DROP VIEW IF EXISTS animal",
    "rename": "ALTER TABLE animal RENAME TO beast",
    "add column": "ALTER TABLE animal ADD COLUMN age",
    "drop column": "ALTER TABLE animal DROP COLUMN legs",
    "full text": "CREATE VIRTUAL TABLE f USING fts5(a)",
    "r-tree": "CREATE VIRTUAL TABLE r USING rtree(id, a, b)",
    "temporary virtual table": "CREATE VIRTUAL TABLE temp.d USING dbstat",
    "comma-separated file": "CREATE VIRTUAL TABLE temp.c USING csv(filename='/etc/passwd')",
    "reindex": "REINDEX",
    "analyze": "ANALYZE",
}

_FILES = {
    "attach a new file": "ATTACH 'hostile.sqlite' AS h",
    "attach by uri": "ATTACH 'file:hostile.sqlite?mode=rwc' AS h",
    "attach memory": "ATTACH ':memory:' AS h",
    "attach a temporary file": "ATTACH '' AS h",
    "attach what is no database": "ATTACH '/etc/passwd' AS h",
    "attach itself for writing": "ATTACH (SELECT file FROM pragma_database_list) AS h",
    "detach": "DETACH main",
    "vacuum": "VACUUM",
    "vacuum into": "VACUUM INTO 'hostile.sqlite'",
    "load extension": "SELECT load_extension('libc.so.6')",
    "load extension, entry point": "SELECT LOAD_EXTENSION('libc.so.6', 'system')",
    "load extension, quoted": "SELECT \"load_extension\"('libc.so.6')",
    "readfile": "SELECT readfile('/etc/passwd')",
    "writefile": "SELECT writefile('hostile.txt', 'x')",
    "edit": "SELECT edit('x', 'touch hostile.txt')",
    "fsdir": "SELECT * FROM fsdir('/')",
    "tokenizer's address": "SELECT hex(fts3_tokenizer('simple'))",
    "tokenizer of one's own": "SELECT fts3_tokenizer('simple', x'4141414141414141')",
    "pages": "SELECT * FROM sqlite_dbpage",
    "pages, written": "UPDATE sqlite_dbpage SET data = zeroblob(4096)",
    "others' statements": "SELECT sql FROM sqlite_stmt",
    "shell command": ".shell touch hostile.txt",
    "shell output": ".output hostile.txt",
}

_PRAGMAS = {
    name: f"PRAGMA {text}"
    for name, text in {
        "writable schema": "writable_schema = ON",
        "writable schema, called": "writable_schema(1)",
        "user version": "user_version = 7",
        "application id": "application_id = 7",
        "journal mode": "journal_mode = WAL",
        "journal off": "main.journal_mode = OFF",
        "locking mode": "locking_mode = EXCLUSIVE",
        "query only": "query_only = OFF",
        "trusted schema": "trusted_schema = ON",
        "heap limit": "hard_heap_limit = 1",
        "soft heap limit": "soft_heap_limit = 1",
        "temporary store": "temp_store = FILE",
        "temporary folder": "temp_store_directory = '.'",
        "cache": "cache_size = -100000000",
        "memory map": "mmap_size = 1000000000000",
        "case sensitive like": "case_sensitive_like = ON",
        "reversed selects": "reverse_unordered_selects = ON",
        "short column names": "full_column_names = ON",
        "automatic index": "automatic_index = OFF",
        "recursive triggers": "recursive_triggers = ON",
        "encoding": "encoding = 'UTF-16'",
        "page count": "max_page_count = 1",
        "checkpoint": "wal_checkpoint(TRUNCATE)",
        "incremental vacuum": "incremental_vacuum(100)",
        "optimize": "optimize",
        "integrity": "integrity_check",
        "threads": "threads = 8",
        "busy timeout": "busy_timeout = 100000000",
        "analysis limit": "analysis_limit = 0",
        "data store": "data_store_directory = '.'",
        "shrink": "shrink_memory",
    }.items()
}

_PRAGMA_FUNCTIONS = {
    "journal mode": "SELECT * FROM pragma_journal_mode('WAL')",
    "user version": "SELECT * FROM pragma_user_version(7)",
    "files": "SELECT file FROM pragma_database_list",
    "integrity": "SELECT * FROM pragma_integrity_check",
    "optimize": "SELECT * FROM pragma_optimize",
    "modules": "SELECT * FROM pragma_module_list",
    "checkpoint": "SELECT * FROM pragma_wal_checkpoint",
    "options": "SELECT * FROM pragma_compile_options, pragma_function_list",
}

_TRANSACTIONS = {
    "begin": "BEGIN",
    "begin exclusive": "BEGIN EXCLUSIVE",
    "begin immediate": "BEGIN IMMEDIATE TRANSACTION",
    "commit": "COMMIT",
    "end": "END",
    "rollback": "ROLLBACK",
    "savepoint": "SAVEPOINT s",
    "release": "RELEASE s",
    "rollback to": "ROLLBACK TO s",
}

_TEXTS = {
    "two queries": "SELECT 1; SELECT 2",
    "a query and a delete": "SELECT 1; DELETE FROM animal",
    "pragma and query": "PRAGMA writable_schema = 1; SELECT * FROM animal",
    "hidden in a comment": "SELECT 1 /* ; */ ; /* */ DROP TABLE animal --",
    "NUL": "SELECT 1\0; DELETE FROM animal",
    "NUL in a literal": "SELECT 'a\0b'",
    "lone surrogate": "SELECT '\ud800'",
    "lone surrogate in a name": 'SELECT 1 AS "\udfff"',
    "byte order mark": "\ufeffSELECT nothing",
    "full-width letters": "\uff33\uff25\uff2c\uff25\uff23\uff34 1",
    "right to left": "\u202eSELECT 1",
    "unclosed quote": "SELECT 'never closed",
    "unclosed name": 'SELECT "never closed',
    "unclosed bracket": "SELECT [never closed",
    "markdown": "```sql\nSELECT 1\n```",
    "prose": "I cannot answer that.",
    "parameter": "SELECT ?",
    "last parameter": "SELECT ?250000",
    "parameter out of range": "SELECT ?99999999999",
    "named parameters": "SELECT :x, @y, $z",
    "many parameters": "SELECT * FROM animal WHERE legs IN (" + "?," * 100_000 + "?)",
    "ten megabytes of comment": "SELECT 1 /*" + "x" * 10_000_000 + "*/",
    "ten megabytes of literal": "SELECT '" + "x" * 10_000_000 + "'",
    "ten megabytes of spaces": " " * 10_000_000 + "SELECT 1",
    "invalid UTF-8": "SELECT CAST(x'ff' AS TEXT)",
    "invalid UTF-8 that is told": "SELECT json_extract('{}', CAST(x'24ff' AS TEXT))",
    "half a character": "SELECT CAST(x'c3' AS TEXT) || CAST(x'28' AS TEXT)",
    "integer overflow": "SELECT abs(-9223372036854775807 - 1), sum(9223372036854775807) FROM animal",
    "unknown module": "SELECT * FROM generate_series(1, 1000000000)",
}

_DEEP = {
    "joins within joins": "SELECT count(*) FROM "
    + ", ".join("(SELECT 1 FROM " + ", ".join(f"animal AS a{n}" for n in range(5)) + ")" for _ in range(30)),
    "parentheses": "SELECT " + "(" * 100_000 + "1" + ")" * 100_000,
    "signs": "SELECT " + "- " * 100_000 + "1",
    "negations": "SELECT " + "NOT " * 100_000 + "1",
    "sum": "SELECT 1" + " + 1" * 100_000,
    "conjunction": "SELECT 1 WHERE 1" + " AND 1" * 50_000,
    "calls": "SELECT " + "abs(" * 50_000 + "1" + ")" * 50_000,
    "cases": "SELECT " + "CASE WHEN 1 THEN " * 20_000 + "1" + " END" * 20_000,
    "subqueries": "SELECT * FROM " + "(SELECT * FROM " * 5_000 + "animal" + ")" * 5_000,
    "scalar subqueries": "SELECT " + "(SELECT " * 20_000 + "1" + ")" * 20_000,
    "exists": "SELECT 1 WHERE " + "EXISTS (SELECT 1 WHERE " * 10_000 + "1" + ")" * 10_000,
    "joins in parentheses": "SELECT * FROM " + "(" * 10_000 + "animal" + ")" * 10_000,
    "compound": " UNION ".join(f"SELECT {number}" for number in range(5_000)),
    "columns": "SELECT " + ", ".join("name" for _ in range(50_000)) + " FROM animal",
    "arguments": "SELECT max(" + ",".join("1" for _ in range(50_000)) + ")",
    "joined tables": "SELECT count(*) FROM " + ", ".join(f"animal AS a{number}" for number in range(300)),
    "ORDER BY terms": "SELECT 1 ORDER BY " + ", ".join("1" for _ in range(50_000)),
}

_HARMLESS = {
    "padded by width": "SELECT printf('%*s', 2000000000, 'x')",
    "vacuum of nothing": "VACUUM temp INTO 'hostile.sqlite'",
    "empty": "",
    "spaces": " \n\t ",
    "semicolons": ";;;",
    "comment": "-- nothing",
    "unclosed comment": "/* never closed",
    "schema": "SELECT name, sql FROM sqlite_master",
    "explain": "EXPLAIN SELECT * FROM animal",
    "pages in use": "SELECT count(*) FROM dbstat",
    "infinity and NaN": "SELECT 9e999, -9e999, 9e999 - 9e999",
    "dates of no calendar": "SELECT date('now', '+9999999999 years'), julianday(9e18), strftime('%', 0)",
    "long format of a date": "SELECT length(strftime(replace(hex(zeroblob(100000)), '00', '%f'), 'now'))",
    "r-tree functions": "SELECT rtreecheck('main', 'animal')",
    "pointer": "SELECT fts5(NULL)",
    "random": "SELECT random(), randomblob(10)",
    "counters": "SELECT last_insert_rowid(), changes(), total_changes()",
    "long IN list": "SELECT 1 WHERE 1 IN (" + ",".join(str(number) for number in range(100_000)) + ")",
    "deep JSON": f"{_THOUSAND} SELECT json_valid(replace(hex(zeroblob(1000000)), '00', '['))",
    "deep JSON, nested": "SELECT json(replace(hex(zeroblob(1000)), '00', '[') || "
    "replace(hex(zeroblob(1000)), '00', ']'))",
    "a name of a megabyte": 'SELECT 1 AS "' + "x" * 1_000_000 + '"',
    "precision": "SELECT printf('%.2147483647f', 1.0)",
    "width": "SELECT length(printf('%999999999d', 1))",
    "substr beyond": "SELECT substr('abc', -9223372036854775807, 9223372036854775807)",
    "big offset": "SELECT * FROM animal LIMIT 9223372036854775807 OFFSET 9223372036854775807",
    "negative limit": "SELECT * FROM animal LIMIT -9223372036854775808",
}

_ENDLESS_ONES = {
    "count": f"{_ENDLESS} SELECT count(*) FROM n",
    "no row": f"{_ENDLESS} SELECT i FROM n WHERE i < 0",
    "offset": f"{_ENDLESS} SELECT i FROM n LIMIT 1 OFFSET 9000000000000000000",
    "distinct of the same": "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT 1 FROM n) SELECT "
    "DISTINCT i FROM n",
    "scalar subquery": f"SELECT ({_ENDLESS} SELECT max(i) FROM n)",
    "exists": f"SELECT * FROM animal WHERE EXISTS ({_ENDLESS} SELECT 1 FROM n WHERE i < 0)",
    "window": f"{_ENDLESS} SELECT sum(i) OVER (ORDER BY i) FROM n WHERE i < 0",
    "correlated": f"{_MILLION} SELECT count(*) FROM n AS a WHERE (SELECT count(*) FROM n AS b WHERE "
    "b.i > a.i) < 0",
    "cross join": f"{_THOUSAND} SELECT count(*) FROM " + ", ".join(f"n AS n{number}" for number in range(60)),
    "cross join of tables": "SELECT count(*) FROM " + ", ".join(f"animal AS a{n}" for n in range(60)),
    "slow function": f"{_MILLION} SELECT sum(length(hex(zeroblob(1000000 + n.i)))) FROM n",
    "random": f"{_MILLION} SELECT sum(length(randomblob(1000000))) FROM n",
    "dates": f"{_MILLION} SELECT count(DISTINCT date('now', n.i || ' days')) FROM n, animal, animal "
    "AS b, n AS c",
    "JSON": f"{_MILLION} SELECT count(*) FROM n, json_each('[' || replace(hex(zeroblob(10000)), "
    "'00', '1,') || '1]') AS j",
}

_LARGE_ONES = {
    "2 GB of zeros": "SELECT zeroblob(1 << 31)",
    "most zeros": "SELECT zeroblob(2147483647)",
    "4 GB of zeros": "SELECT zeroblob(4294967296)",
    "just under the old limit": "SELECT zeroblob(999999999)",
    "hex": "SELECT hex(zeroblob(500000000))",
    "random": "SELECT randomblob(2000000000)",
    "quoted": "SELECT quote(zeroblob(500000000))",
}  # fmt: skip

_EXHAUSTING_ONES = {
    "concatenated": "WITH RECURSIVE n(t) AS (SELECT 'x' UNION ALL SELECT t || t FROM n) SELECT "
    "length(t) FROM n",
    "replace": "SELECT replace(replace(hex(zeroblob(5000)), '0', hex(zeroblob(5000))), '0', 'xxxxxxxx')",
    "hex of hex": "SELECT hex(hex(hex(hex(hex(hex(zeroblob(1000000)))))))",
    "values of the largest size": f"{_THOUSAND} SELECT zeroblob(16000000) FROM n",
    "texts of the largest size": f"{_THOUSAND} SELECT hex(zeroblob(8000000)) FROM n",
    "wide letters": f"{_THOUSAND} SELECT char(128512) || hex(zeroblob(7000000)) FROM n",
    "small values, then large ones": f"{_THOUSAND} SELECT zeroblob(CASE WHEN i > 900 THEN 16000000 "
    "END) FROM n",
    "a row of the largest values": "SELECT " + ", ".join("zeroblob(16000000)" for _ in range(1_000)),
    "a row of one large value": "SELECT " + ", ".join("b" for _ in range(1_000))
    + " FROM (SELECT hex(zeroblob(8000000)) AS b FROM animal LIMIT 1)",
    "rows": f"{_ENDLESS} SELECT i FROM n",
    "10^9 rows": f"{_THOUSAND} SELECT 1 FROM n, n AS b, n AS c",
    "group_concat": f"{_ENDLESS} SELECT length(group_concat(hex(zeroblob(1000)))) FROM n",
    "group_concat of groups": f"{_ENDLESS} SELECT group_concat(i) FROM n GROUP BY i % 100000",
    "JSON array": f"{_ENDLESS} SELECT length(json_group_array(i)) FROM n",
    "JSON object": f"{_ENDLESS} SELECT length(json_group_object(i, hex(zeroblob(1000)))) FROM n",
    "sort": f"{_ENDLESS} SELECT i FROM n ORDER BY i DESC",
    "sort of large rows": f"{_ENDLESS} SELECT i, randomblob(100000) AS r FROM n ORDER BY r",
    "distinct": f"{_ENDLESS} SELECT count(DISTINCT randomblob(10000)) FROM n",
    "union": "WITH RECURSIVE n(i) AS (SELECT randomblob(10000) UNION SELECT randomblob(10000) FROM n) "
    "SELECT count(*) FROM n",
    "groups": f"{_ENDLESS} SELECT count(*) FROM (SELECT randomblob(10000) AS r FROM n GROUP BY r)",
    "materialised": f"{_ENDLESS}, m AS MATERIALIZED (SELECT randomblob(100000) AS r FROM n) SELECT "
    "count(*) FROM m",
    "window over all": f"{_ENDLESS} SELECT count(*) FROM (SELECT lag(randomblob(10000), 1000000) "
    "OVER () FROM n)",
    "automatic index": f"{_ENDLESS} SELECT count(*) FROM animal JOIN "
    "(SELECT i, randomblob(10000) AS r FROM n) AS b ON b.i = animal.legs",
    "queue": "WITH RECURSIVE n(i, b) AS (SELECT 1, randomblob(1000) UNION ALL "
    "SELECT i + 1, randomblob(100000) FROM n, animal ORDER BY 1) SELECT count(*) FROM n",
    "queue that doubles": "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n, animal) "
    "SELECT max(i) FROM n",
}  # fmt: skip

_UNSTOPPABLE_ONES = {
    "tables within tables": "WITH t0 AS (SELECT 1 AS x), "
    + ", ".join(f"t{n} AS (SELECT a.x FROM t{n - 1} AS a, t{n - 1} AS b)" for n in range(1, 40))
    + " SELECT count(*) FROM t39",
    "JSON within JSON": "WITH RECURSIVE n(j) AS "
    "(SELECT '[1]' UNION ALL SELECT json_array(json(j), json(j)) FROM n) SELECT length(j) FROM n",
    "padding": "SELECT printf('%.*c', 2000000000, 'x')",
    "LIKE": "SELECT hex(zeroblob(8000000)) LIKE '%' || hex(zeroblob(20000)) || '1'",
    "GLOB": "SELECT hex(zeroblob(8000000)) GLOB '*' || hex(zeroblob(20000)) || '1'",
    "GLOB of classes": "SELECT hex(zeroblob(8000000)) GLOB '*' || replace(hex(zeroblob(4000)), '0', "
    "'[0-9]') || 'x'",
    "instr": "SELECT instr(zeroblob(16000000), CAST(zeroblob(8000000) || 'x' AS BLOB))",
    "replace": "SELECT replace(hex(zeroblob(8000000)), hex(zeroblob(4000000)) || '1', '')",
    "trim": "SELECT length(trim(replace(hex(zeroblob(4000000)), '0', '1'), hex(zeroblob(500000)) || '1'))",
}

UNSTOPPABLE = tuple(_named("goes on in one function", _UNSTOPPABLE_ONES, STOPPED))
"""What `sqlite3_interrupt` does not stop: it needs a process that can be ended."""

CASES = (
    *_named("write", _WRITES, REFUSED),
    *_named("definition", _DEFINITIONS, REFUSED),
    *_named("file", _FILES, REFUSED),
    *_named("pragma", _PRAGMAS, REFUSED),
    *_named("pragma function", _PRAGMA_FUNCTIONS, REFUSED),
    *_named("transaction", _TRANSACTIONS, REFUSED),
    *_named("text", _TEXTS, REFUSED),
    *_named("deep or wide", _DEEP, STOPPED),
    *_named("harmless", _HARMLESS, HARMLESS),
    *_named("endless", _ENDLESS_ONES, LONG),
    *_named("large", _LARGE_ONES, LARGE),
    *_named("exhausting", _EXHAUSTING_ONES, EXHAUSTING),
)
