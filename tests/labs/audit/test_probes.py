from collections.abc import Callable

import pytest

from dialects.enums import Dialect
from dialects.schema import Schema
from harness.data.questions import Difficulty, Question
from harness.engines.execution import execute
from harness.engines.sqlite.engine import SQLiteEngine
from harness.labs.audit.command import LIMITS
from harness.labs.audit.gold import AuditedGold, FindingBasis
from harness.labs.audit.probes import PROBES
from harness.metrics.comparison import compare
from loaders.file_census import census
from loaders.namespace import Database
from tests.labs.audit import small_golds as small
from tests.sqlite_files import sqlite_file


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Callable[[small.Case], AuditedGold]:
    path = sqlite_file(tmp_path_factory.mktemp("audit") / "small.sqlite", small.SCRIPT)
    return reader(Database("audit", "small", path), census(path))


def reader(database: Database, schema: Schema) -> Callable[[small.Case], AuditedGold]:
    engine = SQLiteEngine(pooled=True)

    def gold(case: small.Case) -> AuditedGold:
        sql, text, evidence = (*((case,) if isinstance(case, str) else case), "?", "")[:3]
        question = Question("1", 1, "small", text, evidence, Difficulty.SIMPLE, {Dialect.SQLITE: sql})
        return AuditedGold(
            question,
            Dialect.SQLITE,
            schema,
            lambda text: execute(engine, database, text, LIMITS),
            small.DECLARED,
        )

    return gold


def test_every_probe_of_sqlite_has_golds_of_both_kinds() -> None:
    assert set(small.FIRE) == set(small.SILENT) == set(PROBES) - {"engines"}
    assert {name for name, cases in (small.FIRE | small.SILENT).items() if len(cases) < 8} == set()


@pytest.mark.parametrize(
    ("probe", "case"), [(name, case) for name, some in small.FIRE.items() for case in some]
)
def test_a_probe_finds(probe: str, case: small.Case, read: Callable[[small.Case], AuditedGold]) -> None:
    gold = read(case)
    found = list(PROBES[probe].read(gold))
    assert found
    assert {one.probe for one in found} == {probe}
    for one in found:
        assert one.says.endswith(".")
        if one.suggestion is not None:
            rows = gold.asked(one.suggestion)
            assert rows is not None
            assert not compare(rows, gold.rows).same_order or probe in {"null-first", "constant"}


@pytest.mark.parametrize(
    ("probe", "case"), [(name, case) for name, some in small.SILENT.items() for case in some]
)
def test_a_probe_is_silent(probe: str, case: small.Case, read: Callable[[small.Case], AuditedGold]) -> None:
    assert list(PROBES[probe].read(read(case))) == []


def test_a_suggested_gold_returns_all_rows_of_a_tie(read: Callable[[small.Case], AuditedGold]) -> None:
    gold = read("SELECT name FROM team ORDER BY points DESC LIMIT 1")
    [found] = PROBES["tie"].read(gold)
    assert found.suggestion is not None
    assert sorted(gold.asked(found.suggestion) or ()) == [("Bears",), ("Lions",)]


def test_a_gold_that_cannot_be_read_or_run_makes_no_probe_fail(
    read: Callable[[small.Case], AuditedGold],
) -> None:
    for sql in (
        "",
        "SELECT FROM",
        "DROP TABLE team",
        "SELECT 1; SELECT 2",
        "SELECT nothing FROM nowhere LIMIT 1",
    ):
        gold = read(sql)
        assert {one.probe for probe in PROBES.values() for one in probe.read(gold)} <= {"fails"}


def test_what_the_engine_refuses_follows_from_the_text_alone(
    read: Callable[[small.Case], AuditedGold],
) -> None:
    bases = {
        sql: PROBES["fails"].read(read(sql))[0].basis
        for sql in ("SELECT nowhere FROM team", "SELECT ABS(-9223372036854775808 - points * 0) FROM team")
    }
    assert list(bases.values()) == [FindingBasis.TEXT, FindingBasis.ROWS]
