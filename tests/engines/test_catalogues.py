"""The detector of volatile texts knows each function that an engine's catalogue calls unstable, or just has.

A function that a newer version adds fails here until somebody has read what it depends on.
"""

import re
import sqlite3
from contextlib import closing

import duckdb
import pytest

from dialects.enums import Dialect
from dialects.volatility import is_volatile
from harness.engines import on_server
from harness.engines.base import unstable_functions
from harness.engines.sqlite.engine import SQLiteEngine
from harness.scoring.cache import Lifetime, lifetime
from loaders.server import Server
from tests.loaders.servers import ask

STEADY = frozenset(
    """
    abs acos add_months adddate aes_decrypt aes_encrypt any_value ascii asin asymmetric_decrypt
    asymmetric_verify atan atan2 avg bin bin_to_uuid bit_and bit_count bit_length bit_or bit_xor
    can_access_column can_access_database can_access_table can_access_user can_access_view cast ceil ceiling
    char char_length character_length charset chr coalesce coercibility collation column_check column_exists
    column_json column_list compress concat concat_operator_oracle concat_ws conv convert cos cot count
    crc32 crc32c create_asymmetric_pub_key create_digest cume_dist date date_add date_format date_sub
    datediff day dayname dayofmonth dayofweek dayofyear decode decode_histogram decode_oracle default
    degrees dense_rank des_decrypt des_encrypt distance div elt encode exp export_set extract extractvalue
    field find_in_set first_value floor format format_bytes format_pico_time from_base64 from_days
    from_unixtime get_dd_column_privileges get_dd_create_options get_dd_index_sub_part_length get_format
    greatest group_concat grouping hex hour icu_version if ifnull inet6_aton inet6_ntoa inet_aton inet_ntoa
    insert instr internal_auto_increment internal_avg_row_length internal_check_time internal_checksum
    internal_data_free internal_data_length internal_dd_char_length internal_get_comment_or_error
    internal_get_enabled_role_json internal_get_hostname internal_get_username
    internal_get_view_warning_or_error internal_index_column_cardinality internal_index_length
    internal_is_enabled_role internal_is_mandatory_role internal_keys_disabled internal_max_data_length
    internal_table_rows internal_update_time is_ipv4 is_ipv4_compat is_ipv4_mapped is_ipv6 is_uuid
    is_visible_dd_object isnull json_array json_array_append json_array_insert json_array_intersect
    json_arrayagg json_compact json_contains json_contains_path json_depth json_detailed json_equals
    json_exists json_extract json_insert json_key_value json_keys json_length json_loose json_merge
    json_merge_patch json_merge_preserve json_normalize json_object json_object_filter_keys
    json_object_to_array json_objectagg json_overlaps json_pretty json_query json_quote json_remove
    json_replace json_schema_valid json_schema_validation_report json_search json_set json_storage_free
    json_storage_size json_table json_type json_unquote json_valid json_value kdf lag last_day last_value
    lcase lead least left length lengthb like ln locate log log10 log2 lower lpad lpad_oracle ltrim
    ltrim_oracle make_set makedate max mbrcontains mbrcoveredby mbrcovers mbrdisjoint mbrequals
    mbrintersects mbroverlaps mbrtouches mbrwithin md5 median microsecond mid min minute mod month monthname
    name_const natural_sort_key nth_value ntile nullif nvl nvl2 oct octet_length old_password ord password
    percent_rank percentile_cont percentile_disc period_add period_diff pi position pow power quarter quote
    radians rank regexp regexp_instr regexp_like regexp_replace regexp_substr repeat replace replace_oracle
    reverse right round row_number rpad rpad_oracle rtrim rtrim_oracle second sformat sha sha1 sha2 sign sin
    soundex space sqrt st_area st_asbinary st_asgeojson st_astext st_buffer st_buffer_strategy st_centroid
    st_collect st_contains st_convexhull st_crosses st_difference st_dimension st_disjoint st_distance
    st_distance_sphere st_endpoint st_envelope st_equals st_exteriorring st_frechetdistance st_geohash
    st_geomcollfromtext st_geomcollfromwkb st_geometryn st_geometrytype st_geomfromgeojson st_geomfromtext
    st_geomfromwkb st_hausdorffdistance st_interiorringn st_intersection st_intersects st_isclosed
    st_isempty st_issimple st_isvalid st_latfromgeohash st_latitude st_length st_linefromtext st_linefromwkb
    st_lineinterpolatepoint st_lineinterpolatepoints st_longfromgeohash st_longitude st_makeenvelope
    st_mlinefromtext st_mlinefromwkb st_mpointfromtext st_mpointfromwkb st_mpolyfromtext st_mpolyfromwkb
    st_numgeometries st_numinteriorrings st_numpoints st_overlaps st_pointatdistance st_pointfromgeohash
    st_pointfromtext st_pointfromwkb st_pointn st_polyfromtext st_polyfromwkb st_simplify st_srid
    st_startpoint st_swapxy st_symdifference st_touches st_transform st_union st_validate st_within st_x
    st_y statement_digest statement_digest_text std stddev stddev_pop stddev_samp strcmp string_to_vector
    subdate substr substr_oracle substring substring_index sum tan time_format time_to_sec timestamp
    timestampadd timestampdiff to_base64 to_char to_days to_seconds trim trim_oracle truncate ucase
    uncompress uncompressed_length unhex unix_timestamp updatexml upper uuid_to_bin
    validate_password_strength values var_pop var_samp variance vec_distance vec_distance_cosine
    vec_distance_euclidean vec_fromtext vec_totext vector_dim vector_to_string version week weekday
    weekofyear weight_string year yearweek
    """.split()  # noqa: SIM905 - a line for each word would bury them
)
"""Functions of MySQL and MariaDB that depend on their arguments, on settings and on the data alone."""

STEADY_ON_SQLITE = frozenset(
    """
    bm25 fts3_tokenizer fts5 fts5_source_id highlight match matchinfo offsets optimize rtreecheck rtreedepth
    rtreenode snippet sqlite_compileoption_get sqlite_compileoption_used sqlite_source_id sqlite_version
    fts5_locale fts5_get_locale fts5_insttoken subtype unistr_quote geopoly_debug sqlite_offset sqlite_log
    """.split()  # noqa: SIM905 - a line for each word would bury them
)
_DETERMINISTIC = 0x800
"""https://sqlite.org/c3ref/c_deterministic.html"""


def _unknown(names: set[str], steady: frozenset[str]) -> set[str]:
    return {name for name in names - steady if not is_volatile(f"SELECT {name}(1)")}


def test_sqlites_functions_are_deterministic_or_known() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        found = connection.execute("SELECT name, type, flags FROM pragma_function_list").fetchall()
    # Aggregates and window functions depend on their rows.
    names = {name for name, kind, flags in found if kind == "s" and not flags & _DETERMINISTIC}
    assert {"random", "randomblob", "changes"} <= names
    assert _unknown(names, STEADY_ON_SQLITE) == set()
    assert unstable_functions(SQLiteEngine()) == frozenset(), "it has the words alone"


def test_duckdbs_unstable_functions_are_known_by_their_words_too() -> None:
    with duckdb.connect(":memory:") as connection:
        found = connection.execute(
            "SELECT lower(function_name) FROM duckdb_functions()"
            " WHERE function_type IN ('scalar', 'aggregate')"
            " GROUP BY ALL HAVING NOT bool_or(stability = 'CONSISTENT')"
        ).fetchall()
    names = {str(name) for (name,) in found}
    assert {"random", "get_current_timestamp", "current_localtime", "current_query_id"} <= names
    assert _unknown(names, frozenset()) == set()


@pytest.mark.engine
@pytest.mark.thorough
@pytest.mark.parametrize("server", [Dialect.MYSQL, Dialect.MARIADB], indirect=True)
def test_functions_of_mysql_and_mariadb_are_volatile_or_known(server: Server) -> None:
    listed = {
        Dialect.MARIADB: "SELECT LOWER(function) FROM information_schema.sql_functions",
        Dialect.MYSQL: "SELECT LOWER(t.name) FROM mysql.help_topic AS t JOIN mysql.help_category AS c"
        " USING (help_category_id) WHERE c.name LIKE '%Function%'",
    }[server.dialect]
    found = {re.sub(r" function$|\(\)$", "", name) for (name,) in ask(server, None, listed)}
    names = {name for name in found if re.fullmatch(r"[a-z]\w*", name)}
    assert len(names) > 200
    assert _unknown(names, STEADY) == set()


@pytest.mark.engine
@pytest.mark.thorough
@pytest.mark.parametrize("server", [Dialect.POSTGRESQL, Dialect.DUCKDB], indirect=True)
def test_an_engine_with_a_catalogue_names_its_unstable_functions(server: Server) -> None:
    unstable = unstable_functions(on_server(server))
    expected = {
        Dialect.POSTGRESQL: {"now", "random", "clock_timestamp", "pg_backend_pid", "query_to_xml", "nextval"},
        Dialect.DUCKDB: {"now", "random", "get_current_time", "ago", "current_localtime", "duckdb_memory"},
    }[server.dialect]
    assert expected <= unstable
    steady = {"abs", "date_part", "date_trunc", "strftime", "to_char", "to_date", "concat", "year", "range"}
    assert unstable.isdisjoint(steady)


def test_a_function_that_only_the_engine_knows_is_not_cached() -> None:
    unstable = frozenset({"of_tomorrow"})
    for sql in (
        "SELECT of_tomorrow()",
        'SELECT s."Of_Tomorrow" /* it */ (1)',
        "SELECT a.OF_TOMORROW() FROM a",
    ):
        assert lifetime(sql) is Lifetime.ALWAYS
        assert lifetime(sql, unstable) is Lifetime.NEVER
    for sql in ("SELECT of_tomorrow FROM t", "SELECT 'of_tomorrow', 1"):
        assert lifetime(sql, unstable) is Lifetime.ALWAYS
    today = "SELECT * FROM t WHERE d < date('now')"
    assert lifetime(today, unstable) is Lifetime.TODAY
    assert lifetime(today, frozenset({"now"})) is Lifetime.TODAY
