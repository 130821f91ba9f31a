"""Where later releases of SQLite answer otherwise than the one that the rewrites follow.

The rewrites imitate SQLite 3.40. The SQLite that Python runs computes constants, and the rows that
translations are compared with. If it is a later one, a translation with such a construct has a warning.
"""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass

FOLLOWED = (3, 40)
"""The release whose answers the rewrites give."""

RUNNING = sqlite3.sqlite_version_info[:2]
"""The release that computes constants, and gold."""


@dataclass(frozen=True)
class VersionChange:
    """One change of SQLite's answers.

    `since` is the first release that may have it: SQLite's release notes (https://sqlite.org/changes.html) do
    not name them all.
    """

    since: tuple[int, int]
    what: str
    functions: frozenset[str]
    """The installed functions that imitate what was before."""


FIRST_ROW = "IN of a subquery in two pairs of parentheses"
ONE_COLLATED = "COLLATE of the only value of an IN list"
FIRST_OF_COMPOUND = "the first row of a UNION, INTERSECT or EXCEPT without ORDER BY"
ROW_COLLATION = "collations of row values next to subqueries"
SHARED_COLLATION = "collations in USING after another USING of the same name"
NULL_LABEL = "NULL as a name in json_group_object()"
SUM_COMPARED = "a comparison with a sum or mean of reals"

CHANGES = (
    *(
        VersionChange((3, 41), what, frozenset())
        for what in (FIRST_ROW, ONE_COLLATED, FIRST_OF_COMPOUND, ROW_COLLATION, SHARED_COLLATION, NULL_LABEL)
    ),
    VersionChange((3, 42), "texts that are JSON5 or no JSON", frozenset({"json_root", "json_is_valid"})),
    VersionChange((3, 43), SUM_COMPARED, frozenset()),
    VersionChange((3, 43), "reals that are rounded", frozenset({"round_to", "fixed", "printed"})),
    VersionChange(
        (3, 46),
        "days that no calendar has, the time 24:00 and modifiers of dates",
        frozenset({
            "datetime_text", "day_text", "format_moment", "julian_of", "milliseconds_of", "modified",
            "moment", "time_text", "unix_of",
        }),
    ),
    VersionChange((3, 51), "reals as texts", frozenset({"real_to_text"})),
)  # fmt: skip


def mismatch(named: str) -> str | None:
    """Return a sentence if the SQLite that runs here is of another release than `named`, as in 3.40."""
    if not named or named.split(".")[:2] == [str(part) for part in RUNNING]:
        return None
    running = sqlite3.sqlite_version
    return f"its golds are for SQLite {named}, and {running} runs them here: some answers may differ"


def warnings(called: frozenset[str], others: frozenset[str] = frozenset()) -> Iterator[str]:
    """Yield a sentence for each change that a translation may show.

    Args:
        called: the installed functions that it calls.
        others: what the changes without a function are about, as far as the statement has it.
    """
    for change in CHANGES:
        if FOLLOWED < change.since <= RUNNING and (change.functions & called or change.what in others):
            running, followed = (".".join(map(str, release)) for release in (RUNNING, FOLLOWED))
            yield f"SQLite {running} may treat {change.what} otherwise than {followed}, which is followed"
