"""How the text dates of a SQLite file are read, as SQL that SQLite evaluates; `{0}` is the column.

A *day* is a calendar day from year 1 on, written `YYYY-MM-DD`, `YYYY/MM/DD` or, as PostgreSQL reads it by
default, `MM/DD/YYYY`. A *moment* is `YYYY-MM-DD HH:MM:SS` with up to six decimals, in no time zone. What is
neither makes its column one of text.
https://www.postgresql.org/docs/current/datatype-datetime.html#DATATYPE-DATETIME-DATE-TABLE
"""

_PLAIN_DAY = "(date({0}, '+0 days') IS {0} AND substr({0}, 1, 4) != '0000')"
"""date() returns `YYYY-MM-DD`; only a modifier makes it put 30 February right.

https://sqlite.org/lang_datefunc.html
"""

DAY = (
    "CASE WHEN {0} LIKE '____/__/__' THEN replace({0}, '/', '-')"
    " WHEN {0} LIKE '__/__/____' THEN substr({0}, 7) || '-' || replace(substr({0}, 1, 5), '/', '-')"
    " ELSE {0} END"
)
"""The day as `YYYY-MM-DD`, whichever way it is written."""

_SLASHED_DAY = _PLAIN_DAY.format(f"({DAY})")
_MOMENT = (
    "(datetime(substr({0}, 1, 19), '+0 days') IS substr({0}, 1, 19) AND substr({0}, 1, 4) != '0000'"
    " AND (length({0}) = 19 OR length({0}) BETWEEN 21 AND 26 AND substr({0}, 20, 1) = '.'"
    " AND substr({0}, 21) NOT GLOB '*[^0-9]*'))"
)

FIGURES = (
    f"min(CASE WHEN {{0}} IS NULL OR {_PLAIN_DAY} THEN 1 ELSE {_SLASHED_DAY} END)",
    f"min(CASE WHEN {{0}} IS NULL THEN 1 WHEN length({{0}}) = 10 THEN {_PLAIN_DAY} ELSE {_MOMENT} END)",
    "max({0} LIKE '%/%')",
    "max(length({0}) > 19 AND trim(substr({0}, 21), '0') != '')",
    "max(instr({0}, char(0)))",
)
"""Whether all are days; all are plain days or moments; one has a slash; one has a fraction of a second; one
has a NUL character, behind which SQLite's functions do not look.

CASE, because only a condition of it stops at what decides it.
"""

FORMS = (
    ("YYYY-MM-DD", _PLAIN_DAY),
    ("YYYY/MM/DD", f"({{0}} LIKE '____/__/__' AND {_SLASHED_DAY})"),
    ("MM/DD/YYYY", f"({{0}} LIKE '__/__/____' AND {_SLASHED_DAY})"),
    ("YYYY-MM-DD HH:MM:SS", f"(length({{0}}) = 19 AND {_MOMENT})"),
    ("YYYY-MM-DD HH:MM:SS.f", _MOMENT),
    ("0000-00-00", "{0} LIKE '0000-00-00%'"),
    ("looks like a date", "{0} GLOB '[0-9]*[-/][0-9]*[-/][0-9]*'"),
)
"""The ways to write a date, each with what tells it from those behind it; the last two are no dates.

Of texts without NUL characters.
"""

DAYS_SINCE_2000 = f"CAST(julianday({DAY}) - 2451544.5 AS INTEGER)"
"""A day as PostgreSQL's binary format counts it. Exact: midnights are whole and a half."""

MICROSECONDS_SINCE_2000 = (
    "(CAST(strftime('%s', substr({0}, 1, 19)) AS INTEGER) - 946684800) * 1000000"
    " + CAST(substr(substr({0}, 21) || '000000', 1, 6) AS INTEGER)"
)
"""A moment or plain day as PostgreSQL's binary format counts it, taken for UTC."""
