"""Places where an engine shows what others run, ran or made, and channels from one text to another.

`{}` stands for the number of a session that another worker has.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from dialects.enums import Dialect
from tests.engines.hostile.cases import Absent


class Place(StrEnum):
    """What a place shows of others."""

    RUNNING = "texts that run"
    PAST = "texts that ran: history, digests, statistics, warnings"
    PLANS = "plans of others"
    LOCKS = "transactions and locks of others"
    NAMES = "names that others made: temporary tables, prepared statements, cursors, variables"
    ACCOUNTS = "accounts, and what their passwords are kept as"


Cell = Sequence[str] | Absent

_NO_ACCOUNTS = Absent("the library has no accounts")

_POLLED = (
    "SELECT DISTINCT x FROM (SELECT (SELECT GROUP_CONCAT(info SEPARATOR ' @@ ') FROM {place}"
    " WHERE id <> CONNECTION_ID() AND info IS NOT NULL AND s.seq > 0) AS x, SLEEP(0.002) AS z"
    " FROM {numbers} AS s) AS t WHERE x IS NOT NULL"
)
_NUMBERS = (
    "(WITH RECURSIVE n AS (SELECT 1 AS seq UNION ALL SELECT seq + 1 FROM n WHERE seq < 99) SELECT seq FROM n)"
)

_BOTH: Mapping[Place, Sequence[str]] = {
    Place.RUNNING: (
        "SHOW PROCESSLIST",
        "SHOW FULL PROCESSLIST",
        "SHOW /* all */ FULL\nPROCESSLIST",
        "SHOW /*!50000 FULL PROCESSLIST */",
        "SELECT * FROM information_schema.processlist",
        "SELECT * FROM `INFORMATION_SCHEMA` . `PROCE\u017f\u017fLI\u017fT`",
        "TABLE information_schema.processlist",
        "SELECT * FROM performance_schema.processlist",
        "SELECT * FROM performance_schema.threads",
        "SELECT * FROM performance_schema.events_statements_current",
        "SELECT * FROM performance_schema.events_stages_current",
        "SELECT * FROM sys.processlist",
        "SELECT * FROM sys.`x$processlist`",
        "SELECT * FROM sys.session",
        "SELECT * FROM sys.`x$session`",
        "SHOW ENGINE INNODB STATUS",
        "SHOW ENGINE PERFORMANCE_SCHEMA STATUS",
        "SHOW REPLICAS",
    ),
    Place.PAST: (
        "SHOW PROFILES",
        "SHOW PROFILE ALL FOR QUERY 1",
        "SELECT * FROM information_schema.profiling",
        "SHOW WARNINGS",
        "SHOW ERRORS",
        "SHOW SESSION STATUS",
        "SHOW GLOBAL STATUS",
        "SHOW GLOBAL VARIABLES",
        "SELECT @@last_insert_id, FOUND_ROWS(), ROW_COUNT(), @@warning_count",
        "SELECT * FROM performance_schema.events_statements_history",
        "SELECT * FROM performance_schema.events_statements_history_long",
        "SELECT * FROM performance_schema.events_statements_summary_by_digest",
        "SELECT * FROM performance_schema.error_log",
        "SELECT * FROM sys.statement_analysis",
        "SELECT * FROM mysql.general_log",
        "SELECT * FROM mysql.slow_log",
        "SELECT LOAD_FILE(@@general_log_file), LOAD_FILE(@@slow_query_log_file), LOAD_FILE(@@log_error)",
        "SHOW BINLOG EVENTS",
        "SHOW BINARY LOGS",
    ),
    Place.PLANS: (
        "EXPLAIN FOR CONNECTION {}",
        "EXPLAIN FORMAT=JSON FOR CONNECTION {}",
        "EXPLAIN FORMAT=TREE FOR CONNECTION {}",
        "DESCRIBE FOR /* it */ CONNECTION {}",
        "SELECT * FROM information_schema.optimizer_trace",
        "SELECT @@optimizer_trace",
    ),
    Place.LOCKS: (
        "SELECT * FROM information_schema.innodb_trx",
        "SELECT * FROM information_schema.innodb_locks",
        "SELECT * FROM performance_schema.data_locks",
        "SELECT * FROM performance_schema.metadata_locks",
        "SELECT * FROM performance_schema.table_handles",
        "SELECT * FROM sys.innodb_lock_waits",
        "SHOW OPEN TABLES",
        "SHOW ENGINE INNODB MUTEX",
    ),
    Place.NAMES: (
        "SELECT * FROM performance_schema.prepared_statements_instances",
        "SELECT * FROM performance_schema.user_variables_by_thread",
        "SELECT * FROM performance_schema.session_account_connect_attrs",
        "SELECT * FROM performance_schema.session_connect_attrs",
        "SELECT * FROM information_schema.innodb_temp_table_info",
        "SELECT * FROM information_schema.innodb_session_temp_tablespaces",
        "SELECT * FROM information_schema.user_variables",
        "SELECT * FROM information_schema.tables WHERE table_type LIKE '%TEMP%'",
        "SHOW TABLES",
        "SHOW TABLE STATUS",
        "SELECT @bird_kept",
    ),
    Place.ACCOUNTS: (
        "SHOW GRANTS",
        "SHOW GRANTS FOR CURRENT_USER()",
        "SHOW GRANTS FOR bird_reader",
        "SHOW /*!50000 GRANTS */",
        "SHOW CREATE USER",
        "SHOW CREATE USER CURRENT_USER()",
        "SHOW CREATE /**/ USER bird_reader",
        "SELECT * FROM mysql.user",
        "SELECT * FROM mysql.global_priv",
        "SELECT * FROM mysql.proxies_priv",
        "SELECT * FROM information_schema.user_privileges",
        "SELECT * FROM information_schema.applicable_roles",
        "SELECT * FROM information_schema.user_attributes",
    ),
}

_OF_MARIADB: Mapping[Place, Sequence[str]] = {
    Place.RUNNING: (
        _POLLED.format(place="information_schema.processlist", numbers="seq_1_to_100"),
        "SELECT info_binary FROM information_schema.processlist",
        "SHOW QUERY_RESPONSE_TIME",
    ),
    Place.PAST: (
        "SELECT * FROM information_schema.query_cache_info",
        "SELECT * FROM information_schema.client_statistics",
        "SELECT * FROM information_schema.user_statistics",
        "SHOW CLIENT_STATISTICS",
        "SHOW USER_STATISTICS",
        "SHOW TABLE_STATISTICS",
        "SELECT * FROM information_schema.feedback",
        "SELECT * FROM information_schema.sql_error_log",
    ),
    Place.PLANS: ("SHOW EXPLAIN FOR {}", "SHOW ANALYZE FOR {}", "SHOW ANALYZE FORMAT=JSON FOR {}"),
    Place.LOCKS: (
        "SELECT * FROM information_schema.metadata_lock_info",
        "SELECT * FROM information_schema.innodb_lock_waits",
    ),
    Place.NAMES: ("SELECT * FROM information_schema.temp_tables_info",),
    Place.ACCOUNTS: ("SELECT * FROM information_schema.enabled_roles", "SHOW AUTHORS"),
}

_OF_MYSQL: Mapping[Place, Sequence[str]] = {
    Place.RUNNING: (_POLLED.format(place="information_schema.processlist", numbers=_NUMBERS),),
}

_OF_POSTGRESQL: Mapping[Place, Sequence[str]] = {
    Place.RUNNING: (
        "SELECT * FROM pg_stat_activity",
        "TABLE pg_catalog.pg_stat_activity",
        "SELECT pg_stat_get_activity(NULL)",
        "SELECT * FROM pg_stat_get_activity({})",
        "SELECT pg_stat_get_backend_activity(id) FROM pg_stat_get_backend_idset() AS id",
        "SET track_activities = on; SELECT * FROM pg_stat_activity",
        "SELECT set_config('track_activities', 'on', false), query FROM pg_stat_activity",
        'SELECT U&"qu\\0065ry" FROM pg_stat_activity',
        "SELECT * FROM pg_stat_progress_copy",
    ),
    Place.PAST: (
        "SELECT * FROM pg_stat_statements",
        "SELECT * FROM public.pg_stat_statements",
        "SELECT pg_read_file(pg_current_logfile())",
        "SELECT * FROM pg_ls_logdir()",
        "SELECT current_query()",
        "SELECT * FROM pg_stat_user_functions",
        "SELECT * FROM pg_stats",
        "SELECT * FROM pg_stat_database",
    ),
    Place.PLANS: ("SELECT pg_log_query_plan({})", "SELECT pg_log_backend_memory_contexts({})"),
    Place.LOCKS: (
        "SELECT * FROM pg_locks",
        "SELECT pg_blocking_pids({})",
        "SELECT * FROM pg_lock_status()",
        "SELECT * FROM pg_prepared_xacts",
        "SELECT pg_current_snapshot()",
    ),
    Place.NAMES: (
        "SELECT * FROM pg_prepared_statements",
        "SELECT * FROM pg_cursors",
        "SELECT * FROM pg_class",
        "SELECT * FROM pg_listening_channels()",
        "SELECT * FROM pg_ls_tmpdir()",
        "SELECT * FROM pg_settings",
        "SELECT * FROM pg_replication_slots",
        "SELECT application_name, client_port, backend_type FROM pg_stat_activity",
    ),
    Place.ACCOUNTS: (
        "SELECT * FROM pg_authid",
        "SELECT * FROM pg_shadow",
        "SELECT * FROM pg_roles",
        "SELECT * FROM pg_user_mappings",
        "SELECT * FROM pg_hba_file_rules",
        "SELECT * FROM pg_db_role_setting",
    ),
}

_OF_DUCKDB: Mapping[Place, Cell] = {
    Place.RUNNING: (
        "SELECT current_query()",
        "SELECT * FROM duckdb_connection_count()",
        "SELECT * FROM duckdb_logs()",
        "SELECT * FROM duckdb_logs_parsed('QueryLog')",
        "SELECT * FROM duckdb_log_contexts()",
    ),
    Place.PAST: (
        "PRAGMA last_profiling_output",
        "SELECT * FROM pragma_last_profiling_output()",
        "SELECT * FROM pragma_detailed_profiling_output()",
        "SELECT * FROM duckdb_memory()",
        "SELECT * FROM duckdb_external_file_cache()",
        "SELECT * FROM duckdb_optimizers()",
    ),
    Place.PLANS: ("EXPLAIN SELECT 1", "SELECT * FROM pragma_storage_info('t')"),
    Place.LOCKS: Absent("DuckDB has neither locks nor transactions that a query can list"),
    Place.NAMES: (
        "SELECT * FROM duckdb_tables()",
        "SELECT * FROM duckdb_views()",
        "SELECT * FROM duckdb_prepared_statements()",
        "SELECT * FROM duckdb_variables()",
        "SELECT getvariable('bird_kept')",
        "SELECT * FROM duckdb_temporary_files()",
        "SELECT * FROM duckdb_sequences()",
        "SELECT * FROM duckdb_databases()",
        "SELECT * FROM duckdb_settings()",
        "SELECT * FROM duckdb_functions() WHERE NOT internal",
        "SELECT * FROM duckdb_types() WHERE NOT internal",
        "SHOW ALL TABLES",
    ),
    Place.ACCOUNTS: ("SELECT * FROM duckdb_secrets()", "SELECT * FROM which_secret('s3://x', 's3')"),
}

_OF_SQLITE: Mapping[Place, Cell] = {
    Place.RUNNING: ("SELECT * FROM sqlite_stmt", "SELECT * FROM bytecode('SELECT 1')"),
    Place.PAST: (
        "SELECT last_insert_rowid(), changes(), total_changes()",
        "SELECT * FROM sqlite_stat1",
        "SELECT data FROM sqlite_dbpage",
        "PRAGMA stats",
    ),
    Place.PLANS: ("EXPLAIN QUERY PLAN SELECT 1", "SELECT * FROM tables_used('SELECT 1')"),
    Place.LOCKS: ("PRAGMA lock_status", "PRAGMA locking_mode"),
    Place.NAMES: (
        "SELECT * FROM sqlite_temp_schema",
        "SELECT * FROM temp.sqlite_master",
        "SELECT * FROM sqlite_master",
        "SELECT * FROM pragma_database_list",
        "SELECT * FROM pragma_table_list",
        "SELECT * FROM pragma_function_list",
        "PRAGMA database_list",
    ),
    Place.ACCOUNTS: _NO_ACCOUNTS,
}

PLACES: Mapping[Place, Mapping[Dialect, Cell]] = {
    place: {
        Dialect.SQLITE: _OF_SQLITE[place],
        Dialect.MYSQL: (*_BOTH[place], *_OF_MYSQL.get(place, ())),
        Dialect.POSTGRESQL: _OF_POSTGRESQL[place],
        Dialect.DUCKDB: _OF_DUCKDB[place],
        Dialect.MARIADB: (*_BOTH[place], *_OF_MARIADB.get(place, ())),
    }
    for place in Place
}


@dataclass(frozen=True)
class Channel:
    """A text that leaves a mark as long as its session lasts, and one of another worker that looks for it."""

    mark: str
    look: str


_LOCKS = "SELECT IS_USED_LOCK('bird_mark'), IS_FREE_LOCK('bird_mark')"
_ADVISORY = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"

_CHANNELS_OF_BOTH = (
    Channel("SELECT GET_LOCK('bird_mark', 0)", _LOCKS),
    Channel("SELECT `get_lock` /* it */ ('bird_mark', 0)", _LOCKS),
    Channel("SELECT Get_Lock -- it\n('bird_mark', 0)", _LOCKS),
    Channel("SELECT /*!50000 GET_LOCK('bird_mark', 0) */", _LOCKS),
    Channel("SELECT @bird_kept := 'a mark'", "SELECT @bird_kept"),
    Channel("SELECT LAST_INSERT_ID(4711)", "SELECT LAST_INSERT_ID()"),
    Channel("SELECT CAST('a mark' AS SIGNED)", "SHOW WARNINGS"),
)

CHANNELS: Mapping[Dialect, Sequence[Channel]] = {
    Dialect.SQLITE: (
        Channel("PRAGMA user_version = 5", "PRAGMA user_version"),
        Channel("CREATE TEMP TABLE mark (a)", "SELECT count(*) FROM sqlite_temp_schema"),
        Channel("SELECT randomblob(5)", "SELECT changes(), total_changes()"),
    ),
    Dialect.MYSQL: (
        *_CHANNELS_OF_BOTH,
        Channel("SELECT /*+ SET_VAR(sql_mode='') */ 1", "SELECT @@sql_mode"),
    ),
    Dialect.POSTGRESQL: (
        Channel("SELECT pg_advisory_lock(77)", _ADVISORY),
        Channel("SELECT pg_try_advisory_lock_shared(77)", _ADVISORY),
        Channel('SELECT U&"pg_advisory\\005flock"(77)', _ADVISORY),
        Channel("SELECT set_config('my.mark', 'a mark', false)", "SELECT current_setting('my.mark', true)"),
        Channel("LISTEN mark; SELECT 1", "SELECT * FROM pg_listening_channels()"),
        Channel("PREPARE mark AS SELECT 1; SELECT 1", "SELECT name FROM pg_prepared_statements"),
        Channel(
            "BEGIN; DECLARE mark CURSOR WITH HOLD FOR SELECT 1; COMMIT; SELECT 1",
            "SELECT name FROM pg_cursors",
        ),
        Channel("SELECT 1 AS a INTO TEMPORARY mark", "SELECT relname FROM pg_class WHERE relname = 'mark'"),
        Channel("SELECT pg_export_snapshot()", "SELECT * FROM pg_ls_dir('pg_snapshots')"),
    ),
    Dialect.DUCKDB: (
        Channel("SET VARIABLE bird_kept = 'a mark'", "SELECT getvariable('bird_kept')"),
        Channel("CREATE TEMP MACRO mark() AS 1", "SELECT mark()"),
        Channel("PREPARE mark AS SELECT 1", "SELECT * FROM duckdb_prepared_statements()"),
        Channel("CREATE TEMP TABLE mark (a INT)", "SELECT count(*) FROM duckdb_tables()"),
        Channel("SET threads = 2", "SELECT current_setting('threads')"),
    ),
    Dialect.MARIADB: (
        *_CHANNELS_OF_BOTH,
        Channel("SELECT mariadb_schema.GET_LOCK('bird_mark', 0)", _LOCKS),
        Channel("SET STATEMENT sql_mode='' FOR SELECT 1", "SELECT @@sql_mode"),
    ),
}
