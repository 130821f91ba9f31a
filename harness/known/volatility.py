"""Whether a SQL text may give other rows when it is run again on the same data.

Such a text is never taken from the store. What is asked is what words stand in it, wherever they stand: one
in a comment, a literal or a name counts, too. A text that puts such a word together at run time is not found.
"""

import re
from functools import lru_cache

_LONGEST = 1_000_000
_LONGEST_REMEMBERED = 5_000

# The clock; chance; the session and what happened in it; the server, and how rows happen to be stored.
# https://www.postgresql.org/docs/current/functions.html, https://www.postgresql.org/docs/current/functions-info.html
# https://dev.mysql.com/doc/refman/9.7/en/built-in-function-reference.html
# https://sqlite.org/lang_corefunc.html, https://sqlite.org/lang_datefunc.html
_WORDS = frozenset(
    """
    now today tomorrow yesterday current_date current_time current_timestamp localtime localtimestamp
    clock_timestamp statement_timestamp transaction_timestamp timeofday sysdate curdate curtime utc_date
    utc_time utc_timestamp utc subsec subsecond
    maketime sec_to_time addtime subtime timediff
    random random_normal randomblob rand random_bytes setseed uuid_short gen_random_uuid uuidv4 uuidv7
    uuid_generate_v1 uuid_generate_v1mc uuid_generate_v4 gen_random_bytes tablesample
    current_user session_user system_user current_role current_setting set_config current_schemas
    connection_id last_insert_id last_insert_rowid row_count found_rows changes total_changes nextval
    currval lastval setval inet_client_addr inet_client_port inet_server_addr inet_server_port
    current_query sleep benchmark get_lock release_lock release_all_locks is_free_lock is_used_lock
    load_file load_extension ps_thread_id ps_current_thread_id master_pos_wait source_pos_wait
    wait_for_executed_gtid_set gtid_subtract dblink dblink_exec
    information_schema performance_schema xmin xmax cmin cmax regclass regproc regtype
    to_regclass to_regproc to_regtype obj_description col_description shobj_description
    """.split()  # noqa: SIM905 - a line for each word would bury them
)
_PREFIXES = ("pg_", "txid_", "lo_", "pragma_", "innodb_", "sys_", "dbms_")

_WORD = re.compile(r"[^\W\d][\w$]*")
_STATEMENT = re.compile(r"(?:^|;)(?:\s|\(|--[^\n]*\n|#[^\n]*\n|/\*.*?\*/)*(\w+)", re.DOTALL)
_NO_QUERIES = frozenset(
    """
    analyse analyze call check checksum declare desc describe discard do execute explain fetch flush handler
    listen lock move notify optimize pragma prepare repair reset set show table unlisten unlock vacuum
    """.split()  # noqa: SIM905 - a line for each word would bury them
)

_CALLED = re.compile(r"\b(?:uuid|user)[\"`\]]?\s*(?:\(|/\*|--|#)")
_CLOCKS = frozenset({"date", "time", "datetime", "julianday", "unixepoch", "unix_timestamp", "timestamp"})
_NOTHING_GIVEN = re.compile(
    r"\b(?:date|time|datetime|julianday|unixepoch|unix_timestamp|timestamp)[\"`\]]?"
    r"\s*(?:\(\s*(?:\)|/\*|--|#)|/\*|--|#)"
)
_TIME_OF_DAY = re.compile(r"\btime\s*\(|\bas\s+time\b")
"""MySQL: "the current date is used" where such a value becomes a date.

https://dev.mysql.com/doc/refman/9.7/en/date-and-time-type-conversion.html
"""
_STRFTIME_WITH_TIME = re.compile(r"\bstrftime\s*\(\s*(?:'[^']*'|\"[^\"]*\")\s*,")
_AGE = re.compile(r"\bage[\"`\]]?\s*(?:\(|/\*|--)")
_AGE_OF_TWO = re.compile(r"\bage\s*\((?:[^()',]|'[^']*')+,")


_SPLIT = bytes(byte | 32 if chr(byte).isalpha() else byte if byte == ord("_") else 32 for byte in range(128))
_SPLIT += bytes(128)
"""For `bytes.translate`: ASCII letters in lower case and underscores; spaces for the rest."""


def _split(text: str) -> set[bytes]:
    """The words of an ASCII text and more: what stands beside a digit or a dollar counts as one, too."""
    return set(text.encode("ascii").translate(_SPLIT).split())


_QUICK_WORDS = frozenset(_split(" ".join(_WORDS | _CLOCKS | {"uuid", "user", "time", "strftime", "age"})))
_QUICK_STATEMENTS = frozenset(_split(" ".join(_NO_QUERIES)))


def is_volatile(sql: str) -> bool:
    """Whether `sql` asks the clock, chance, the session or the server for something, in any of the dialects.

    True when in doubt: for statements that are no queries, for variables, for texts over a million letters.
    """
    if len(sql) > _LONGEST:
        return True
    return _judged(sql) if len(sql) > _LONGEST_REMEMBERED else _remembered(sql)


def _judged(sql: str) -> bool:
    text = sql.lower().rstrip("; \t\r\n")
    if _is_plain(text):
        return False
    words = set(_WORD.findall(text))
    return (
        not _WORDS.isdisjoint(words)
        or "@" in text
        or 'u&"' in text
        or "u&'" in text
        or not _NO_QUERIES.isdisjoint(_statements(text))
        or (any(prefix in text for prefix in _PREFIXES) and any(word.startswith(_PREFIXES) for word in words))
        or _calls_for_the_present(text, words)
    )


_remembered = lru_cache(maxsize=20_000)(_judged)


def _is_plain(text: str) -> bool:
    """Whether a text has not even the words without which it cannot be volatile; quick."""
    if not text.isascii():
        return False
    if "@" in text or "&" in text:
        return False
    words = _split(text)
    return (
        _QUICK_WORDS.isdisjoint(words)
        and not any(prefix in text for prefix in _PREFIXES)
        and (_QUICK_STATEMENTS.isdisjoint(words) or _NO_QUERIES.isdisjoint(_statements(text)))
    )


def _statements(text: str) -> list[str]:
    """The first words of all statements."""
    if ";" in text:
        return _STATEMENT.findall(text)
    first = _STATEMENT.match(text)
    return [first[1]] if first else []


def _calls_for_the_present(text: str, words: set[str]) -> bool:
    """What takes the present where it is not given a time or a date.

    SQLite's functions without a time value, PostgreSQL's age() of one, MySQL's TIME values as dates.
    """
    if ("uuid" in words or "user" in words) and _CALLED.search(text):
        return True
    if "time" in words and _TIME_OF_DAY.search(text):
        return True
    if not _CLOCKS.isdisjoint(words) and _NOTHING_GIVEN.search(text):
        return True
    if "strftime" in words and text.count("strftime") > len(_STRFTIME_WITH_TIME.findall(text)):
        return True
    return "age" in words and len(_AGE.findall(text)) > len(_AGE_OF_TWO.findall(text))
