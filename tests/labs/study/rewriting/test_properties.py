"""No rule changes the rows, how often they come, or an order that is asked for, on whatever data."""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings

from dialects.enums import Dialect
from dialects.schema import Schema
from harness.engines.execution import Ending, Limits, execute
from harness.engines.sqlite.engine import SQLiteEngine
from harness.labs.study.rewriting import RULES, Rewritten, proven, rewrite
from loaders.file_census import census
from loaders.namespace import Database
from tests.fuzz.campaign import query
from tests.fuzz.catalog import catalog
from tests.fuzz.databases import databases
from tests.labs.study.rewriting.worlds import ORDINARY, World, queries, worlds

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

ENGINE = SQLiteEngine(pooled=False)
LIMITS = Limits(seconds=10)


@cache
def written(sql: str, schema: Schema) -> Sequence[Rewritten]:
    """What a query is rewritten to: many worlds have the same schema."""
    return rewrite(sql, schema, Dialect.SQLITE)


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_keeps_the_rows_of_whatever_data(rule: str, tmp_path: Path) -> None:
    @settings(max_examples=12, suppress_health_check=list(HealthCheck))
    @given(worlds())
    def holds(world: World) -> None:
        database = Database("worlds", "world", world.write(tmp_path / "world.sqlite"))
        schema = census(database.sqlite_path)
        for sql in queries(Dialect.SQLITE)[rule]:
            for found in written(sql, schema):
                proof = proven(ENGINE, database, sql, found, LIMITS)
                assert proof.holds, f"{world}\n{sql}\n{found.rules}: {found.sql}\n{proof}"

    holds()


def test_each_rule_has_something_to_do(tmp_path: Path) -> None:
    """Over ordinary data each rule applies, to half of the queries made for it or more."""
    database = Database("worlds", "ordinary", ORDINARY.write(tmp_path / "ordinary.sqlite"))
    schema = census(database.sqlite_path)
    applied = Counter(
        rule
        for rule, texts in queries(Dialect.SQLITE).items()
        for sql in texts
        for found in rewrite(sql, schema, Dialect.SQLITE, [RULES[rule]])
        if proven(ENGINE, database, sql, found, LIMITS).holds
    )
    assert set(applied) == set(RULES)
    assert all(2 * applied[rule] >= len(texts) for rule, texts in queries(Dialect.SQLITE).items()), applied


def test_rules_keep_the_rows_of_generated_queries(tmp_path: Path) -> None:
    """Queries of the grammar that translations are tested with, over its odd databases."""
    found = databases(tmp_path)
    catalogs = [catalog(one) for one in found]
    schemas = {one.db_id: census(one.sqlite_path) for one in found}
    limits = Limits(seconds=3, rows=20_000, bytes=2**24)
    rewritten = 0
    for number in range(400):
        node, over = query(20, number, catalogs, even=bool(number % 2))
        sql, database = str(node), over.database
        texts = rewrite(sql, schemas[database.db_id], Dialect.SQLITE)
        before = execute(ENGINE, database, sql, limits) if texts else None
        if before is None or before.ending is not Ending.ROWS:
            continue
        for one in texts:
            proof = proven(ENGINE, database, sql, one, limits, before)
            assert proof.holds, f"{sql}\n{one.rules}: {one.sql}\n{proof.error}"
            rewritten += 1
    assert rewritten > 10


def test_random_texts_are_refused_and_nothing_breaks(tmp_path: Path) -> None:
    schema = census(ORDINARY.write(tmp_path / "ordinary.sqlite"))
    random = Random(7)  # noqa: S311 - not for secrets
    words = [word for texts in queries(Dialect.SQLITE).values() for sql in texts for word in sql.split()]
    for _ in range(300):
        text = " ".join(random.choices(words, k=random.randrange(1, 25)))
        for dialect in Dialect:
            rewrite(text, schema, dialect)
