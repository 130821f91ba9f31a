"""Which kinds of hostile texts each engine is tried with: `python -m tests.engines.hostile.table` prints it.

To add a kind, add a row to `ROWS`. A cell has the cases that a test runs on an engine, or why there are none.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dialects.enums import Dialect
from tests.dialects.test_volatility import VOLATILE
from tests.engines import test_session_state
from tests.engines.hostile import (
    duckdb_cases,
    mariadb_cases,
    mysql_cases,
    postgresql_cases,
    privacy_cases,
    sqlite_cases,
    test_calls,
    test_limits,
)
from tests.engines.hostile.cases import HARMLESS, Absent, Hostile
from tests.engines.hostile.families import FAMILIES, Family

Cell = Sequence[object] | Absent


@dataclass(frozen=True)
class Row:
    """A kind of hostile texts.

    `cells` has the cases by engine. `tests` names the test that runs them, `path::test`: one for all, or one
    by engine.
    """

    kind: str
    cells: Mapping[Dialect, Cell]
    tests: str | Mapping[Dialect, str]

    def test(self, dialect: Dialect) -> str:
        """Return the name of the test that runs an engine's cases."""
        return self.tests if isinstance(self.tests, str) else self.tests[dialect]


_HERE = "tests/engines/hostile"
_PRIVACY = "tests/engines/test_privacy.py"
_SESSIONS = "tests/engines/test_session_state.py"

ROWS: Sequence[Row] = (
    Row(
        "reach beyond the database: writes, files, accounts, settings, other sessions, endless texts",
        {
            Dialect.SQLITE: sqlite_cases.CASES,
            Dialect.MYSQL: mysql_cases.CASES,
            Dialect.POSTGRESQL: postgresql_cases.CASES,
            Dialect.DUCKDB: duckdb_cases.REACHING,
            Dialect.MARIADB: mariadb_cases.CASES,
        },
        {
            Dialect.SQLITE: (
                f"{_HERE}/test_sqlite.py::test_every_hostile_text_ends_as_it_may_and_leaves_nothing_behind"
            ),
            Dialect.MYSQL: f"{_HERE}/test_mysql.py::test_a_hostile_prediction_ends_in_time_and_as_it_may",
            Dialect.POSTGRESQL: (
                f"{_HERE}/test_postgresql.py::test_a_hostile_text_ends_as_expected_and_in_time"
            ),
            Dialect.DUCKDB: f"{_HERE}/test_duckdb.py::test_nothing_beyond_the_database_is_in_reach",
            Dialect.MARIADB: f"{_HERE}/test_mysql.py::test_a_hostile_prediction_ends_in_time_and_as_it_may",
        },
    ),
    *(
        Row(
            family.value,
            cells,
            f"{_HERE}/test_families.py::test_every_case_has_an_outcome_of_its_own_that_it_may_have",
        )
        for family, cells in FAMILIES.items()
    ),
    Row(
        "change the session for the next text",
        {
            Dialect.SQLITE: test_session_state.SQLITE,
            Dialect.MYSQL: test_session_state.MYSQL,
            Dialect.POSTGRESQL: test_session_state.POSTGRESQL,
            Dialect.DUCKDB: test_session_state.DUCKDB,
            Dialect.MARIADB: test_session_state.MARIADB,
        },
        {
            Dialect.SQLITE: f"{_SESSIONS}::test_sqlite",
            Dialect.MYSQL: f"{_SESSIONS}::test_mysql_and_mariadb",
            Dialect.POSTGRESQL: f"{_SESSIONS}::test_postgresql",
            Dialect.DUCKDB: f"{_SESSIONS}::test_duckdb",
            Dialect.MARIADB: f"{_SESSIONS}::test_mysql_and_mariadb",
        },
    ),
    *(
        Row(f"look for {place}", cells, f"{_PRIVACY}::test_no_place_shows_what_others_run_or_ran")
        for place, cells in privacy_cases.PLACES.items()
    ),
    Row(
        "leave a mark for another worker's text",
        privacy_cases.CHANNELS,
        f"{_PRIVACY}::test_no_text_leaves_a_mark_that_another_sees",
    ),
    Row(
        "go on after the limit, whatever the engine is told",
        {
            Dialect.SQLITE: sqlite_cases.UNSTOPPABLE,
            Dialect.MYSQL: [*test_limits.GOES_ON[Dialect.MYSQL].values()],
            Dialect.POSTGRESQL: [*test_limits.GOES_ON[Dialect.POSTGRESQL].values()],
            Dialect.DUCKDB: FAMILIES[Family.CROWD][Dialect.DUCKDB],
            Dialect.MARIADB: [*test_limits.GOES_ON[Dialect.MARIADB].values()],
        },
        {
            Dialect.SQLITE: (
                f"{_HERE}/test_sqlite.py::test_every_hostile_text_ends_as_it_may_and_leaves_nothing_behind"
            ),
            **dict.fromkeys(
                test_limits.GOES_ON,
                f"{_HERE}/test_limits.py::test_what_goes_on_after_its_limit_is_ended_on_the_server",
            ),
            Dialect.DUCKDB: (
                f"{_HERE}/test_families.py::test_every_case_has_an_outcome_of_its_own_that_it_may_have"
            ),
        },
    ),
    Row(
        "take the server's memory",
        {
            Dialect.SQLITE: Absent(
                "a worker's process has a limit; endless and large texts are in the first row"
            ),
            Dialect.MYSQL: [*test_limits.MEMORY.values()],
            Dialect.POSTGRESQL: postgresql_cases.BOMBS,
            Dialect.DUCKDB: Absent("the instance has a limit; its largest texts are in the row of crowds"),
            Dialect.MARIADB: Absent(
                "it lacks these functions; each session has a limit that the first row tries"
            ),
        },
        {
            Dialect.MYSQL: (
                f"{_HERE}/test_limits.py"
                "::test_a_text_that_takes_the_servers_memory_is_too_large_and_the_server_goes_on"
            ),
            Dialect.POSTGRESQL: (
                f"{_HERE}/test_postgresql.py::test_a_hostile_text_ends_as_expected_and_in_time"
            ),
        },
    ),
    Row(
        "break the instance, or choose not to be judged",
        {
            **dict.fromkeys(
                Dialect, Absent("no error of a text is one of the engine's own, as the row of errors tries")
            ),
            Dialect.DUCKDB: duckdb_cases.BREAKING,
        },
        f"{_HERE}/test_duckdb.py::test_no_text_chooses_that_it_is_not_judged",
    ),
    Row(
        "leave something in the instance that runs them",
        {
            **dict.fromkeys(
                Dialect,
                Absent("the first row compares accounts, tables and settings of the server before and after"),
            ),
            Dialect.SQLITE: Absent("a connection has no registry; its settings are in the row of sessions"),
            Dialect.DUCKDB: duckdb_cases.REGISTERING,
        },
        f"{_HERE}/test_duckdb.py::test_no_text_leaves_anything_in_an_instance",
    ),
    Row(
        "call every function of the catalogue with hostile arguments",
        {
            **{dialect: range(test_calls.COUNT) for dialect in test_calls.SERVERS},
            Dialect.SQLITE: Absent(
                "a crash ends the worker's process alone; the first row has its functions"
            ),
            Dialect.POSTGRESQL: Absent("what reaches beyond a text is revoked, as the first row tries"),
        },
        f"{_HERE}/test_calls.py::test_no_call_of_a_function_reaches_beyond_its_text",
    ),
    Row(
        "have other rows each time, which must not be cached",
        {
            Dialect.SQLITE: VOLATILE["sqlite"],
            Dialect.MYSQL: VOLATILE["mysql"],
            Dialect.POSTGRESQL: VOLATILE["postgresql"],
            Dialect.DUCKDB: VOLATILE["duckdb"],
            Dialect.MARIADB: VOLATILE["mysql"],
        },
        "tests/dialects/test_volatility.py::test_what_asks_for_the_present_chance_or_the_server_is_volatile",
    ),
)


def texts(dialect: Dialect) -> list[Hostile]:
    """Return every text of the table for an engine, once, of the last row that has it.

    Any ending is allowed where a row names none. Calls of functions are left out: they are made at run time.
    """
    cells = [cell for row in ROWS if not isinstance(cell := row.cells[dialect], Absent | range)]
    cases = [_case(each) for cell in cells for each in cell]
    return list({case.sql: case for case in cases}.values())


def _case(each: object) -> Hostile:
    match each:
        case Hostile():
            return each
        case privacy_cases.Channel(mark=text) | test_session_state.Kind(text=text):
            return Hostile(text, text, HARMLESS)
    return Hostile(str(each), str(each), HARMLESS)


def table() -> str:
    """Return the table in Markdown: cases by kind and engine."""
    lines = [f"| kind | {' | '.join(Dialect)} |", "|---|" + "---:|" * len(Dialect)]
    lines += [
        f"| {row.kind} | {' | '.join(_number(row.cells.get(dialect)) for dialect in Dialect)} |"
        for row in ROWS
    ]
    return "\n".join(lines)


def _number(cell: Cell | None) -> str:
    return "?" if cell is None else f"none: {cell.reason}" if isinstance(cell, Absent) else str(len(cell))


if __name__ == "__main__":
    sys.stdout.write(f"{table()}\n")
