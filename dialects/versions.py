"""Where later releases of SQLite answer otherwise than the one that the rewrites follow.

The rewrites imitate SQLite 3.40. The SQLite that Python runs computes constants, and the rows that
translations are compared with. If it is a later one, a translation with such a construct has a warning.
"""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from dialects.nodes import Server

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

CHANGES = (
    VersionChange((3, 41), FIRST_ROW, frozenset()),
    VersionChange((3, 42), "texts that are JSON5 or no JSON", frozenset({"json_root", "json_is_valid"})),
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


def warnings(tree: exp.Expr, others: frozenset[str] = frozenset()) -> Iterator[str]:
    """Yield a sentence for each change that a translation may show.

    Args:
        tree: the compiled statement.
        others: what the changes without a function are about, as far as the statement has it.
    """
    later = [change for change in CHANGES if FOLLOWED < change.since <= RUNNING]
    used = {call.this for call in tree.find_all(Server)} if later else set()
    for change in later:
        if change.functions & used or change.what in others:
            running, followed = (".".join(map(str, release)) for release in (RUNNING, FOLLOWED))
            yield f"SQLite {running} may treat {change.what} otherwise than {followed}, which is followed"
