"""Hostile predictions for DuckDB: what each tries, and how it may end.

`{file}` stands for a file that a text may not read, `{out}` for one that it may not write.
"""

from collections.abc import Mapping

from harness.engines.execution import Ending
from tests.engines.hostile.cases import HARMLESS, STOPPED, Hostile

EXHAUSTING = frozenset({Ending.TIMEOUT, Ending.TOO_LARGE})
_ERROR = frozenset({Ending.ERROR})
_ODD = frozenset({Ending.ERROR, Ending.ROWS})

CROWDED: Mapping[str, tuple[str, frozenset[Ending]]] = {
    "spins": ("SELECT count(*) FROM range(1000000000000)", EXHAUSTING),
    "joins": (
        "SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range < b.range",
        EXHAUSTING,
    ),
    "recurs": (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n",
        EXHAUSTING,
    ),
    "a pattern": ("SELECT regexp_matches(repeat('a', 5000), '(a*)*(a*)*(a*)*b')", HARMLESS),
    "a text of 2 GB": ("SELECT length(repeat('x', 2000000000))", HARMLESS),
    "texts of 2 GB": ("SELECT max(length(repeat('x', 2000000000) || range)) FROM range(100)", STOPPED),
    "too large": ("SELECT repeat('x', 300000000)", STOPPED),
    "out of memory": ("SELECT list(repeat('x', 1000000) || range) FROM range(100000)", STOPPED),
    "sorts to a disk": ("SELECT range, repeat('x', 1000) FROM range(10000000) ORDER BY hash(range)", STOPPED),
    "too many rows": ("SELECT range FROM range(3000000)", EXHAUSTING),
    "an error": ("SELECT nothing", _ERROR),
    "a write": ("DELETE FROM Books", _ERROR),
}

_MB = 3_000_000
_LONG_NAME = "x" * 900_000

WRONG: Mapping[str, str] = {
    "integer": f"SELECT CAST(repeat('a', {_MB}) AS int)",
    "integer of 60 MB": "SELECT CAST(repeat('a', 60000000) AS int)",
    "date": f"SELECT CAST(repeat('a', {_MB}) AS date)",
    "number": f"SELECT CAST(repeat('a', {_MB}) AS decimal)",
    "boolean": f"SELECT CAST(repeat('a', {_MB}) AS boolean)",
    "uuid": f"SELECT CAST(repeat('a', {_MB}) AS uuid)",
    "interval": f"SELECT CAST(repeat('a', {_MB}) AS interval)",
    "array": f"SELECT CAST('[' || repeat('a', {_MB}) AS int[])",
    "error": f"SELECT error(repeat('a', {_MB}))",
    "pattern": f"SELECT regexp_matches('a', repeat('(', {_MB}))",
    "format": f"SELECT format(repeat('{{', {_MB} + 1))",
    "a column's name": f'SELECT "{_LONG_NAME}"',
    "a table's name": f'SELECT 1 FROM "{_LONG_NAME}"',
    "a word too many": f"SELECT 1 FROM Books WHERE 1 = 1 2{_LONG_NAME}",
}

VALUES = [
    Hostile(sql[:60], sql, endings)
    for endings, texts in (
        (
            _ODD,
            (
                "SELECT date '0044-03-15 (BC)', timestamp '0044-03-15 (BC) 00:00:00'",
                "SELECT date 'infinity', timestamp '-infinity', timestamptz 'infinity'",
                "SELECT timestamp '294246-01-01', date '5881580-07-10'",
                "SELECT time '24:00:00', timetz '12:00:00+15:59:59'",
                "SELECT interval '178000000 years', interval '-178000000 years', to_days(2147483647)",
                "SELECT 'NaN'::double, 'inf'::real, 170141183460469231731687303715884105727",
                "SELECT [1, NULL], {'a': [1, 2], 'b': {'c': 1}}, MAP {'x': 1, 'y': 2}, MAP {[1]: 2}",
                "SELECT 'a' || chr(0) || 'b', ''::blob, '\\xFF'::blob, '101'::bit",
                "SELECT uuid '00000000-0000-0000-0000-000000000000', 'x'::enum('x', 'y')",
                "SELECT union_value(k := 1), json '[1, {\"a\": null}]', '1e400'::json",
                "SELECT " + ", ".join(["1"] * 4096),
                'SELECT 1 AS "", 2 AS "\u00e9"',
                "SELECT 18446744073709551615::ubigint, -9223372036854775808",
                "FROM duckdb_settings()",
                "FROM duckdb_functions() LIMIT 1000",
                "SELECT 1; SELECT 2",
                "PRAGMA database_list",
                "EXPLAIN SELECT 1",
                "DESCRIBE Books",
            ),
        ),
    )
    for sql in texts
]

REACHING = (
    "SELECT * FROM read_csv('{file}')",
    "SELECT * FROM read_csv_auto('{file}')",
    "SELECT * FROM '{file}'",
    "SELECT * FROM read_text('{file}')",
    "SELECT * FROM read_blob('{file}')",
    "SELECT * FROM read_json('{file}')",
    "SELECT * FROM read_parquet('{file}')",
    "SELECT * FROM parquet_scan('{file}')",
    "SELECT * FROM sniff_csv('{file}')",
    "SELECT * FROM glob('/etc/*')",
    "SELECT * FROM read_csv('https://127.0.0.1:9/x.csv')",
    "SELECT * FROM 's3://bucket/x.parquet'",
    "SELECT getenv('HOME')",
    "COPY (SELECT 1) TO '{out}'",
    "COPY Books FROM '{file}'",
    "EXPORT DATABASE '{out}'",
    "IMPORT DATABASE '{file}'",
    "ATTACH '{out}' AS o",
    "ATTACH '{file}' AS o (READ_ONLY)",
    "ATTACH ':memory:' AS m",
    "DETACH Books",
    "USE memory",
    "INSTALL httpfs",
    "LOAD httpfs",
    "LOAD '{file}'",
    "UPDATE EXTENSIONS",
    "FORCE INSTALL json FROM 'http://127.0.0.1:9'",
    "SET enable_external_access = true",
    "SET lock_configuration = false",
    "RESET lock_configuration",
    "SET GLOBAL memory_limit = '100GB'",
    "SET threads = 64",
    "SET temp_directory = '{out}'",
    "SET allow_unsigned_extensions = true",
    "SET autoload_known_extensions = true",
    "SET python_enable_replacements = true",
    "PRAGMA enable_external_access",
    "PRAGMA threads = 8",
    "PRAGMA enable_profiling = 'json'",
    "PRAGMA profiling_output = '{out}'",
    "SET profiling_output = '{out}'",
    "PRAGMA import_database('{file}')",
    "CREATE SECRET s (TYPE s3)",
    "CREATE PERSISTENT SECRET s (TYPE s3)",
    "CHECKPOINT",
    "FORCE CHECKPOINT",
    "VACUUM",
    "ANALYZE",
    "CREATE TABLE more (a INT)",
    "CREATE TEMP TABLE more AS SELECT 1",
    "CREATE OR REPLACE TEMP VIEW Books AS SELECT 1",
    "CREATE MACRO now() AS 1",
    "CREATE TEMP MACRO lower(x) AS 1",
    "CREATE SCHEMA s",
    "CREATE SEQUENCE q",
    "CREATE TYPE t AS ENUM ('a')",
    "INSERT INTO Books SELECT * FROM Books",
    "UPDATE Books SET title = 'x'",
    "DELETE FROM Books",
    "TRUNCATE Books",
    "DROP TABLE Books",
    "ALTER TABLE Books RENAME TO b",
    "BEGIN",
    "COMMIT",
    "ROLLBACK",
    "PREPARE p AS SELECT 1",
    "EXECUTE p",
    "DEALLOCATE p",
    "SET VARIABLE v = 1",
    "CALL pragma_version()",
    "SELECT * FROM query('DELETE FROM Books')",
    "SELECT * FROM query_table('{file}')",
    "SELECT * FROM found",
    "SELECT * FROM duckdb_secrets()",
    "SELECT * FROM sqlite_scan('{file}', 't')",
    "SELECT * FROM read_duckdb('{file}')",
    "SELECT * FROM duckdb_logs()",
    "MERGE INTO Books USING Books b ON true WHEN MATCHED THEN DELETE",
    "SELECT 1; COPY (SELECT 1) TO '{out}'",
)
"""What lies outside of the queried database: files, network, extensions, settings, others, Python."""

BREAKING = (
    "SELECT * FROM read_csv([])",
    "SELECT * FROM read_json([])",
    "SELECT * FROM read_parquet([])",
    "SELECT * FROM read_text([])",
    "SELECT * FROM destroy_external_resource('x', 'y')",
    "SELECT variant_bytes_to_variant(''::blob)",
    "SELECT variant_bytes_to_variant('\\x01\\x02'::blob)",
    "SELECT reservoir_quantile(range, 0.5, 2147483647) FROM range(10000000)",
    "SELECT * FROM query($$SELECT variant_bytes_to_variant(''::blob)$$)",
    "SELECT title FROM Books WHERE variant_bytes_to_variant(''::blob) IS NULL",
)
"""Errors of a class that a broken file or instance has, too: I/O, internal, fatal."""

REGISTERING = (
    "FROM register_external_resource_type('own', kind := 'x', create_function := 'range')",
    "FROM register_external_resource('own', 'mine', MAP {'a': 'b'})",
    "FROM register_external_resource('own', 'mine', MAP {'a': 'b'}, uri := 'u', deleter_function := 'range')",
    "FROM create_external_resource('own', MAP {'a': 'b'}, resource_name := 'mine')",
    "FROM deregister_external_resource('mine')",
    "FROM query('FROM register_' || 'external_resource_type($$own$$, kind := $$x$$)')",
    "FROM json_execute_serialized_sql(json_serialize_sql('FROM register_external_resource_type($$own$$)'))",
    "FROM \"register_external_resource_type\"('own', kind := 'x')",
    "FROM add_grammar_extension('x')",
    "FROM enable_logging('QueryLog')",
    "FROM enable_profiling()",
    "FROM truncate_duckdb_logs()",
    "SELECT write_log('a text', level := 'ERROR')",
    "SELECT 1 -- bird_sqlite_",
    "SELECT bird_sqlite_to_real('1') /* bird_sqlite_moment */",
    "SELECT setseed(0.5), getvariable('v')",
    "SELECT nextval('q')",
    "FROM checkpoint()",
    "FROM force_checkpoint()",
)
"""What would be there for the next text in the same instance."""

HARMLESS_FUNCTIONS = frozenset({
    "current_query", "error", "gen_random_uuid", "generate_series", "glob", "histogram", "histogram_values",
    "icu_calendar_names", "json_each", "json_tree", "random", "range", "repeat",
    "repeat_row", "seq_scan", "setseed", "sleep_ms", "stats", "summary", "test_all_types",
    "test_vector_types", "unnest", "uuid", "uuidv4", "uuidv7", "vector_type",
})  # fmt: skip
"""Table functions and volatile ones that neither read nor change what is not their connection's own."""
