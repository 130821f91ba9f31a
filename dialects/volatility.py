"""Decide whether a SQL text may return different rows when run again on the same data.

The only module that knows how SQL depends on the clock, chance or the session on each engine: the rows of
such a text are never cached, and volatile golds are compared only within one day.

A text is searched for words, anywhere in it: those in comments, literals or names count, and so do those
concatenated from literals. In doubt, a text is volatile. A word read from a table or computed from codes at
run time is not found. The time is linear in the length of the text.

The lists here are for all engines, and complete for the newest version of each: tests compare them with what
its catalogue has. An engine whose catalogue tells which functions are stable adds its own names.
"""

import re
from collections.abc import Set as AbstractSet
from functools import lru_cache

_LONGEST = 1_000_000
_LONGEST_REMEMBERED = 5_000

# The clock; chance; the session and its history; the server, and how rows are stored.
# https://www.postgresql.org/docs/current/functions.html, https://www.postgresql.org/docs/current/functions-info.html
# https://dev.mysql.com/doc/refman/9.7/en/built-in-function-reference.html
# https://sqlite.org/lang_corefunc.html, https://sqlite.org/lang_datefunc.html
_WORDS = frozenset(
    """
    now today tomorrow yesterday allballs current_date current_time current_timestamp localtime localtimestamp
    clock_timestamp statement_timestamp transaction_timestamp timeofday sysdate curdate curtime utc_date
    utc_time utc_timestamp utc subsec subsecond
    maketime sec_to_time addtime subtime timediff
    random random_normal randomblob rand random_bytes setseed uuid_short gen_random_uuid uuidv4 uuidv7
    uuid_generate_v1 uuid_generate_v1mc uuid_generate_v4 gen_random_bytes gen_salt tablesample
    array_shuffle array_sample normal_rand
    current_user session_user system_user current_role current_setting set_config current_schemas
    current_schema current_catalog current_database timetz convert_tz sqlite_stmt
    connection_id last_insert_id last_insert_rowid row_count found_rows changes total_changes nextval
    currval lastval setval inet_client_addr inet_client_port inet_server_addr inet_server_port
    current_query sleep benchmark get_lock release_lock release_all_locks is_free_lock is_used_lock
    load_file load_extension summarize ps_thread_id ps_current_thread_id master_pos_wait source_pos_wait
    wait_for_executed_gtid_set gtid_subtract dblink dblink_exec
    information_schema performance_schema xmin xmax cmin cmax regclass regproc regtype
    regprocedure regoper regoperator regrole regnamespace regconfig regdictionary regcollation ctid tableoid
    to_regclass to_regproc to_regtype obj_description col_description shobj_description
    """.split()  # noqa: SIM905 - a line for each word would bury them
)
_PREFIXES = ("pg_", "txid_", "lo_", "pragma_", "duckdb_", "innodb_", "sys_", "dbms_")

_WORD = re.compile(r"[^\W\d][\w$]*+")
_NO_QUERIES = frozenset(
    """
    analyse analyze call check checksum declare desc describe discard do execute explain fetch flush handler
    listen lock move notify optimize pragma prepare repair reset set show table unlisten unlock vacuum
    """.split()  # noqa: SIM905 - a line for each word would bury them
)

_COMMAND = re.compile(rf"\b(?:{'|'.join(sorted(_NO_QUERIES))})\b")

_OPENS = r"[\"`\]]?\s*+(?:\(|/\*|--|#)"
"""What follows the name in a call; after a comment there can be anything."""
_CALLS = frozenset(
    """
    uuid uuid_v4 uuid_v7 user database schema schemas roles_graphml encrypt asymmetric_encrypt asymmetric_sign
    create_asymmetric_priv_key binlog_gtid_pos master_gtid_wait wsrep_last_written_gtid
    wsrep_last_seen_gtid wsrep_sync_wait_upto_gtid
    get_current_timestamp get_current_time current_localtimestamp current_localtime ago current_query_id
    current_transaction_id current_connection_id getvariable in_search_path sleep_ms stats vector_type error
    assert_true write_log reservoir_quantile query query_table json_execute_serialized_sql get_block_size
    histogram histogram_values format_type
    query_to_xml query_to_xmlschema query_to_xml_and_xmlschema cursor_to_xml cursor_to_xmlschema
    ts_stat ts_rewrite
    loread lowrite
    """.split()  # noqa: SIM905 - a line for each word would bury them
)
"""Functions whose names are common words: only their calls count. Some run a text of their own; DuckDB's
`reservoir_quantile` draws a sample, whatever its catalogue says."""
_CALL = re.compile(rf"(?<![\w$])[\d$]*+([^\W\d][\w$]*+){_OPENS}")
_SAMPLED = re.compile(r"\busing\b(?!\s*+\()")
"""Of a sample, not of the columns of a join."""
_CLOCKS = frozenset({"date", "time", "datetime", "julianday", "unixepoch", "unix_timestamp", "timestamp"})
_NOTHING_GIVEN = re.compile(
    r"\b(?:date|time|datetime|julianday|unixepoch|unix_timestamp|timestamp)[\"`\]]?"
    r"\s*+(?:\(\s*+(?:\)|/\*|--|#)|/\*|--|#)"
)
_TIME_OF_DAY = re.compile(r"\btime(?:\s*+\(|\s++'|'\d)|\bas\s++time\b|::\s*+time\b|,\s*+time\s*+\)|\{\s*+t\b")
"""MySQL: "the current date is used" where such a value becomes a date. PostgreSQL: a time with a zone.

https://dev.mysql.com/doc/refman/9.7/en/date-and-time-type-conversion.html
"""
_DAY_IN_FORMAT = re.compile(r"%[ymdcj]")
_STRFTIME_OF_TWO = re.compile(r"\bstrftime\s*+\(\s*+(?:'[^']*+'|\"[^\"]*+\"|[\w.]++)\s*+,")
"""A format with a time, or, as on DuckDB, the other way round."""
_AT_UTC = re.compile(r"\bat\s++time\s++zone\s*+'utc'")
"""It names a zone; as a modifier of SQLite's, the word depends on the machine's zone."""
_AGE = re.compile(r"\bage[\"`\]]?\s*+(?:\(|/\*|--)")
_AGE_OF_TWO = re.compile(r"\bage\s*+\((?:[^()',]++|'[^']*+')++,")

_JOINED = re.compile(r"'\s*+(?:\|\|\s*+)?'")
"""Between two literals that the engine joins to one: https://www.postgresql.org/docs/current/sql-syntax-lexical.html."""
_ESCAPED = re.compile(r"\be'[^'\\]*+\\")
_BYTES = re.compile(r"\bx'([0-9a-f]*+)'|\b0x([0-9a-f]++)")
_CODES = re.compile(r"(?<!\bas\s)\b(?:char|chr)\s*+\(\s*+\d")
"""Letters by their codes, but not the length of a type."""
_IN_LITERALS = frozenset({
    "now", "today", "tomorrow", "yesterday", "allballs", "localtime", "utc", "subsec", "subsecond",
})  # fmt: skip
_TIMES = _CLOCKS | {"strftime", "timestamptz", "timetz", "regclass"}


_SPLIT = bytes(byte | 32 if chr(byte).isalpha() else byte if byte == ord("_") else 32 for byte in range(128))
_SPLIT += bytes(128)
"""For `bytes.translate`: ASCII letters in lower case and underscores; spaces for the rest."""


def _split(text: str) -> set[bytes]:
    """Return a superset of the words of an ASCII text: digits and dollars separate words, too."""
    return set(text.encode("ascii").translate(_SPLIT).split())


_NAMES = _CALLS | {"time", "strftime", "age", "str_to_date", "char", "chr", "sample"}
"""Words that count if called, as the type of a value, or next to others."""
_QUICK_WORDS = frozenset(_split(" ".join(_WORDS | _CLOCKS | _NAMES)))
_QUICK_SIGNS = ("@", "&", "{", "\\", "0x", "x'", *_PREFIXES)
_QUICK_STATEMENTS = frozenset(_split(" ".join(_NO_QUERIES)))


def is_volatile(sql: str, unstable: AbstractSet[str] = frozenset()) -> bool:
    """True if `sql` depends on the clock, chance, the session or the server, in any of the dialects.

    True when in doubt: for statements other than queries, for variables, for texts over a million letters.

    Args:
        sql: the text.
        unstable: names, in lower case, of further functions whose calls count: the engine's own.
    """
    if len(sql) > _LONGEST:
        return True
    if _is_volatile(sql) if len(sql) > _LONGEST_REMEMBERED else _is_volatile_cached(sql):
        return True
    return bool(unstable) and _calls_one(sql, frozenset(unstable))


_PRESENT = frozenset(
    """
    now today tomorrow yesterday current_date current_time current_timestamp localtime localtimestamp
    clock_timestamp statement_timestamp transaction_timestamp timeofday sysdate curdate curtime utc_date
    utc_time utc_timestamp get_current_timestamp get_current_time current_localtimestamp current_localtime
    """.split()  # noqa: SIM905 - a line for each word would bury them
)


def asks_for_the_time(sql: str) -> bool:
    """True if the rows of `sql` depend on the clock, as far as its words tell.

    Unlike `is_volatile`, it is not about chance or the session: False when in doubt.
    """
    if not is_volatile(sql):
        return False
    text = _folded(sql)
    return (
        not _PRESENT.isdisjoint(_WORD.findall(text))
        or _NOTHING_GIVEN.search(text) is not None
        or text.count("strftime") > len(_STRFTIME_OF_TWO.findall(text))
        or len(_AGE.findall(text)) > len(_AGE_OF_TWO.findall(text))
    )


def _folded(sql: str) -> str:
    """Return a text in lower case, with letters that MySQL takes for those of ASCII as such."""
    return sql.lower() if sql.isascii() else sql.casefold().replace("\u0131", "i")


def _calls_one(sql: str, unstable: frozenset[str]) -> bool:
    # A fast check first: most texts have no word of a name in them.
    if sql.isascii() and _pieces(unstable).isdisjoint(_split(sql)):
        return False
    return not unstable.isdisjoint(_CALL.findall(_folded(sql)))


@lru_cache(maxsize=16)
def _pieces(names: frozenset[str]) -> frozenset[bytes]:
    return frozenset(_split(" ".join(names)))


def _is_volatile(sql: str) -> bool:
    text = _folded(sql).rstrip("; \t\r\n")
    if _is_plain(text):
        return False
    if "zone" in text:
        text = _AT_UTC.sub("", text)
    words = set(_WORD.findall(text))
    return (
        not _WORDS.isdisjoint(words)
        or "@" in text
        or 'u&"' in text
        or "u&'" in text
        or _has_command(text)
        or (any(prefix in text for prefix in _PREFIXES) and any(word.startswith(_PREFIXES) for word in words))
        or ("sample" in words and _SAMPLED.search(text) is not None)
        or _calls_for_the_present(text, words)
        or _spells_the_present(text, words)
    )


_is_volatile_cached = lru_cache(maxsize=20_000)(_is_volatile)


def _is_plain(text: str) -> bool:
    """True if a text in lower case has no word of any volatile text; a fast check."""
    if not text.isascii():
        return False
    # A loop instead of `any`, which takes as long as the rest of this function.
    for sign in _QUICK_SIGNS:
        if sign in text:
            return False
    words = _split(text)
    return (
        _QUICK_WORDS.isdisjoint(words)
        and (_QUICK_STATEMENTS.isdisjoint(words) or not _has_command(text))
        and _JOINED.search(text) is None
    )


def _has_command(text: str) -> bool:
    """True if a keyword of a statement other than a query is where a statement may begin.

    Comments are not parsed, as each engine has its own: a statement may begin after one.
    """
    return any(_begins(text, found.start()) for found in _COMMAND.finditer(text))


def _begins(text: str, at: int) -> bool:
    end = at
    while end and (text[end - 1].isspace() or text[end - 1] == "("):
        end -= 1
    if end == 0 or text[end - 1] == ";" or text.endswith("*/", 0, end):
        return True
    if text.find("\n", end, at) < 0:
        return False
    line = text[text.rfind("\n", 0, end) + 1 : end]
    return "--" in line or "#" in line


def _calls_for_the_present(text: str, words: set[str]) -> bool:
    """True if a call uses the current time because it gets no time or date.

    SQLite's functions without a time value, PostgreSQL's age() of one, MySQL's TIME values as dates.
    """
    if not _CALLS.isdisjoint(words) and not _CALLS.isdisjoint(_CALL.findall(text)):
        return True
    if ("time" in words or "{" in text) and _TIME_OF_DAY.search(text):
        return True
    if "str_to_date" in words and text.count("str_to_date") > len(_DAY_IN_FORMAT.findall(text)):
        return True
    if not _CLOCKS.isdisjoint(words) and _NOTHING_GIVEN.search(text):
        return True
    if "strftime" in words and text.count("strftime") > len(_STRFTIME_OF_TWO.findall(text)):
        return True
    return "age" in words and len(_AGE.findall(text)) > len(_AGE_OF_TWO.findall(text))


def _spells_the_present(text: str, words: set[str]) -> bool:
    """True if literals spell `now` and the like in pieces or in codes."""
    if _JOINED.search(text) and not _IN_LITERALS.isdisjoint(_WORD.findall(_JOINED.sub("", text))):
        return True
    if "x'" in text or "0x" in text:
        data = "".join(first or second for first, second in _BYTES.findall(text))
        letters = bytes.fromhex(data[: len(data) // 2 * 2]).decode("latin-1").lower()
        if not _IN_LITERALS.isdisjoint(_WORD.findall(letters)):
            return True
    if "\\" in text and _ESCAPED.search(text):
        return True
    return not _TIMES.isdisjoint(words) and _CODES.search(text) is not None
