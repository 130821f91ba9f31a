"""The probes on servers: the same golds as on SQLite, apart from those that an engine reads otherwise."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from dialects.enums import Dialect, Profile
from dialects.schema import Schema
from dialects.translation import Translation
from harness.analyses.coverage.comparison import Reference, RowsComparison
from harness.data.questions import Difficulty, Question
from harness.engines import on_server
from harness.engines.execution import execute
from harness.labs.audit.command import LIMITS
from harness.labs.audit.gold import AuditedGold
from harness.labs.audit.probes import PROBES
from loaders.bulk_load import load
from loaders.file_census import census
from loaders.namespace import Database
from loaders.server import Server
from tests.every_engine import SERVED
from tests.labs.audit import small_golds as small
from tests.loaders.servers import drop
from tests.sqlite_files import sqlite_file

pytestmark = [pytest.mark.engine, pytest.mark.thorough]

Read = Callable[[small.Case], AuditedGold]

HELD: dict[Dialect, Callable[[str, str], RowsComparison]] = {}
"""How a gold on a server relates to one on SQLite."""


@pytest.fixture(scope="module", params=SERVED)
def read(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Read]:
    server: Server = request.getfixturevalue(f"{request.param}_server")
    path = sqlite_file(tmp_path_factory.mktemp("audit") / "small.sqlite", small.SCRIPT)
    database = Database("audit", "small", Path(path), Profile.OFFICIAL)
    load([database], server)
    reference = Reference(LIMITS)
    HELD[server.dialect] = lambda sqlite, own: reference.compare(
        database, sqlite, reference.run(database, sqlite), on_server(server), Translation(own, server.dialect)
    )
    yield reader(server, database, census(path))
    drop(server, "audit")


def reader(server: Server, database: Database, schema: Schema) -> Read:
    engine = on_server(server)

    def gold(case: small.Case) -> AuditedGold:
        sql, text, evidence = (*((case,) if isinstance(case, str) else case), "?", "")[:3]
        question = Question("1", 1, "small", text, evidence, Difficulty.SIMPLE, {server.dialect: sql})
        return AuditedGold(
            question,
            server.dialect,
            schema,
            lambda text: execute(engine, database, text, LIMITS),
            small.DECLARED,
        )

    return gold


NULL_LAST = [case for case in small.FIRE["null-first"] if isinstance(case, str)]
"""Found where NULL sorts first with ASC; PostgreSQL sorts it first with DESC."""

NULL_FIRST = [
    "SELECT name FROM team ORDER BY points DESC LIMIT 1",
    "SELECT name FROM team ORDER BY points DESC, id LIMIT 2",
    "SELECT id, name FROM player ORDER BY goals DESC LIMIT 1",
    "SELECT name FROM team ORDER BY points * 2 DESC LIMIT 1",
    "SELECT name FROM team ORDER BY 1.0 * points / NULLIF(played, 0) DESC LIMIT 1",
    "SELECT team_id FROM player WHERE team_id <> 2 ORDER BY goals DESC, id LIMIT 2",
    "SELECT city FROM team WHERE id = (SELECT id FROM team ORDER BY points DESC LIMIT 1)",
    "SELECT MAX(name) FROM team GROUP BY points ORDER BY points DESC LIMIT 1",
]

_EVIDENCE = {("evidence-unread", case[0]) for case in small.FIRE["evidence-unread"]}
"""The evidence is about SQLite's gold, and read once."""

_SQLITE_ALONE = {
    ("storage-order", "SELECT name FROM player WHERE team_id = (SELECT id FROM team WHERE city = 'Bern')"),
    (
        "storage-order",
        "SELECT goals - (SELECT goals FROM player WHERE team_id = 1 OR team_id = 2) FROM player WHERE id = 5",
    ),
    ("float-order", "SELECT TOTAL(budget) FROM team"),
}
"""Errors on servers: several values where one is wanted, and functions that they do not have."""

MISSED = {
    # `/` of integers is exact; letters are compared without regard to case.
    Dialect.MYSQL: {
        *(("integer-division", case) for case in small.FIRE["integer-division"]),
        ("absent-literal", "SELECT name FROM team WHERE city = 'bern'"),
        ("absent-literal", "SELECT name FROM player WHERE position = 'half-back'"),
        ("absent-literal", "SELECT name FROM player WHERE position IN ('Goal', 'wing')"),
        ("absent-literal", f"SELECT T2.name {small.JOINED} WHERE T1.name = 'LIONS'"),
        ("absent-literal", "SELECT name FROM team WHERE city <> 'BASEL'"),
    },
    # NULL sorts last with ASC and first with DESC; SUM of bigint is an exact number; of real it is a real.
    Dialect.POSTGRESQL: {
        *(("null-first", case) for case in NULL_LAST),
        ("tie", "SELECT name FROM team ORDER BY points DESC LIMIT 1"),
        ("tie", "SELECT name FROM player ORDER BY goals DESC LIMIT 1"),
        ("tie", "SELECT city FROM team WHERE id = (SELECT id FROM team ORDER BY points DESC LIMIT 1)"),
        ("integer-division", "SELECT SUM(points) / COUNT(*) FROM team"),
        ("integer-division", "SELECT ROUND(SUM(played) / COUNT(*), 2) FROM team"),
        *(("float-order", case) for case in small.FIRE["float-order"] if "AVG" not in case),
    },
}
"""What is no fault on an engine, which reads the text in another way."""

FOUND = {
    Dialect.MYSQL: set(),
    Dialect.POSTGRESQL: {
        ("null-first", NULL_FIRST[0]),
        ("tie", "SELECT name FROM team ORDER BY points DESC LIMIT 2"),
        ("fails", "SELECT city, name FROM team GROUP BY city"),
        ("fails", 'SELECT "nothing" FROM team'),
        ("fails", "SELECT 1 / 0"),
    },
}
"""What is a fault there, and none on SQLite."""


def found(
    read: Read, cases: Mapping[str, Sequence[small.Case]], *, any_found: bool
) -> set[tuple[str, small.Case]]:
    """The probes and golds with a finding, or without one."""
    return {
        (probe, case if isinstance(case, str) else case[0])
        for probe, some in cases.items()
        for case in some
        if bool(list(PROBES[probe].read(read(case)))) is any_found
    }


def test_probes_find_what_they_find_on_sqlite(read: Read) -> None:
    dialect = read("SELECT 1").dialect
    assert found(read, small.FIRE, any_found=False) == MISSED[dialect] | _EVIDENCE | _SQLITE_ALONE


def test_probes_are_silent_where_they_are_on_sqlite(read: Read) -> None:
    assert found(read, small.SILENT, any_found=True) == FOUND[read("SELECT 1").dialect]


def test_null_comes_first_on_one_engine_with_asc_and_on_another_with_desc(read: Read) -> None:
    is_last = read("SELECT 1").dialect is Dialect.POSTGRESQL
    assert found(read, {"null-first": NULL_FIRST}, any_found=is_last) == {
        ("null-first", case) for case in NULL_FIRST
    }


DISAGREE = [
    ("SELECT name FROM team WHERE id = 1", "SELECT name FROM team WHERE id = 2"),
    ("SELECT COUNT(*) FROM team", "SELECT COUNT(points) FROM team"),
    ("SELECT name FROM team ORDER BY id", "SELECT name FROM team ORDER BY id DESC"),
    ("SELECT city FROM team", "SELECT DISTINCT city FROM team"),
    ("SELECT name, city FROM team", "SELECT city, name FROM team"),
    ("SELECT CAST(points AS REAL) / 4 FROM team", "SELECT FLOOR(points / 4) FROM team"),
    ("SELECT name FROM team WHERE points > 7", "SELECT name FROM team WHERE points >= 7"),
    ("SELECT id FROM team ORDER BY id LIMIT 1", "SELECT id FROM team ORDER BY id DESC LIMIT 1"),
]

AGREE = [
    ("SELECT name FROM team WHERE id = 1", "SELECT name FROM team WHERE id < 2"),
    ("SELECT COUNT(*) FROM team", "SELECT COUNT(id) FROM team"),
    ("SELECT name FROM team", "SELECT name FROM team ORDER BY id DESC"),
    ("SELECT city FROM team GROUP BY city", "SELECT DISTINCT city FROM team"),
    ("SELECT name FROM team LIMIT 1", "SELECT name FROM team ORDER BY id DESC LIMIT 1"),
    ("SELECT points FROM team ORDER BY points DESC LIMIT 1", "SELECT MAX(points) FROM team"),
    ("SELECT SUM(fee) FROM player", "SELECT 1.0 * SUM(fee) FROM player"),
    ("SELECT nothing FROM team", "SELECT name FROM team"),
]


def test_golds_of_engines_disagree(read: Read) -> None:
    for sides, says in ((DISAGREE, True), (AGREE, False)):
        for sqlite, own in sides:
            gold = read(own)
            gold.comparison = lambda gold=gold, sqlite=sqlite: HELD[gold.dialect](sqlite, gold.sql)
            assert bool(list(PROBES["engines"].read(gold))) is says, (sqlite, own)
