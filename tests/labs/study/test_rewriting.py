"""Rewriting on servers: no rule changes the rows of whatever data, nor those of any gold."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from dialects.enums import Dialect, Profile
from dialects.schema import Schema
from harness.data.sets.loader import load_set
from harness.engines import kind_of, on_server
from harness.engines.base import Engine
from harness.engines.execution import Ending, Limits, execute
from harness.labs.study.rewriting import RULES, consider, consider_all, held_keys, proven, rewrite
from harness.sqltree.query import HeldKeys
from loaders.bulk_load import load
from loaders.file_census import census
from loaders.namespace import Database
from loaders.server import Server
from tests.labs.study.rewriting.worlds import ORDINARY, World, queries, worlds
from tests.sqlite_files import sqlite_file

pytestmark = [pytest.mark.engine, pytest.mark.thorough]

LIMITS = Limits(seconds=30)


def loaded(server: Server, path: Path) -> Database:
    database = Database("bird_rewriting", "world", path)
    load([database], server)
    return database


def test_rules_keep_the_rows_of_whatever_data(server: Server, tmp_path: Path) -> None:
    engine = on_server(server)
    applied: Counter[str] = Counter()

    @settings(max_examples=3, suppress_health_check=list(HealthCheck))
    @given(worlds())
    def holds(world: World) -> None:
        database = loaded(server, world.write(tmp_path / "world.sqlite"))
        schema = census(database.sqlite_path)
        held = held_keys(engine, database, schema, LIMITS)
        for rule, texts in queries(server.dialect).items():
            for sql in texts:
                found = rewrite(sql, schema, server.dialect, held=held)
                before = execute(engine, database, sql, LIMITS) if found else None
                if before is None or before.ending is not Ending.ROWS:
                    continue
                for one in found:
                    proof = proven(engine, database, sql, one, LIMITS, before)
                    assert proof.holds, f"{world}\n{sql}\n{one.rules}: {one.sql}\n{proof}"
                    applied[rule] += rule in one.rules

    holds()
    assert sum(applied.values()) > len(RULES)


def test_each_rule_has_something_to_do(server: Server, tmp_path: Path) -> None:
    engine = on_server(server)
    database = loaded(server, ORDINARY.write(tmp_path / "ordinary.sqlite"))
    schema = census(database.sqlite_path)
    held = held_keys(engine, database, schema, LIMITS)
    applied = {
        rule
        for rule, texts in queries(server.dialect).items()
        for sql in texts
        for one in rewrite(sql, schema, server.dialect, [RULES[rule]], held=held)
        if proven(engine, database, sql, one, LIMITS).holds
    }
    assert applied == set(RULES)


FOLDED = """
CREATE TABLE team (code TEXT PRIMARY KEY, name TEXT NOT NULL);
INSERT INTO team VALUES ('a', 'x'), ('A', 'X'), ('b', 'x');
CREATE TABLE player (id INTEGER PRIMARY KEY, code TEXT NOT NULL REFERENCES team (code));
INSERT INTO player VALUES (1, 'a'), (2, 'b');
"""


def test_a_key_of_texts_counts_where_the_server_holds_it(server: Server, tmp_path: Path) -> None:
    """To MySQL's default collation `a` is `A`: what SQLite calls a key repeats rows there."""
    path = sqlite_file(tmp_path / "folded.sqlite", FOLDED)
    database, engine = loaded(server, path), on_server(server)
    schema = census(path)
    sql = "SELECT id FROM player WHERE code IN (SELECT code FROM team)"
    naive = "SELECT id FROM player INNER JOIN team ON player.code = team.code"
    without = "SELECT DISTINCT code FROM team"
    held = held_keys(engine, database, schema, LIMITS)
    [joined] = consider(sql, schema, server.dialect, [RULES["in-to-join"]], held=held)
    [once] = consider(without, schema, server.dialect, [RULES["distinct-elimination"]], held=held)
    same = proven(engine, database, sql, naive, LIMITS).same_bag
    assert same == (not kind_of(server.dialect).ignores_case)
    assert (joined.rewritten is not None) == same
    assert (once.rewritten is not None) == same
    sqlite_file(path, "DELETE FROM team WHERE code = 'A'")
    load([database], server)
    schema = census(path)
    held = held_keys(engine, database, schema, LIMITS)
    [joined] = consider(sql, schema, server.dialect, [RULES["in-to-join"]], held=held)
    assert joined.rewritten is not None
    assert proven(engine, database, sql, joined.rewritten, LIMITS).holds


@pytest.mark.bird
@pytest.mark.usefixtures("bird_home")
def test_every_gold_of_mini_dev_keeps_its_rows(server: Server) -> None:
    questions = load_set("mini_dev")
    databases = {db_id: questions.database(db_id, Profile.OFFICIAL) for db_id in questions.db_ids}
    load(list(databases.values()), server)
    applied = check_golds(
        on_server(server),
        server.dialect,
        {question.key: (question.db_id, question.gold[server.dialect]) for question in questions.questions},
        databases,
    )
    assert applied["date-part-to-range"] > 20
    assert applied["join-elimination"] > 10


def check_golds(
    engine: Engine,
    dialect: Dialect,
    golds: Mapping[str, tuple[str, str]],
    databases: Mapping[str, Database],
) -> Counter[str]:
    """Run each gold and all that it is rewritten to; how often each rule applies."""
    schemas: dict[str, tuple[Schema, HeldKeys]] = {}
    applied: Counter[str] = Counter()
    for key, (db_id, sql) in golds.items():
        database = databases[db_id]
        if db_id not in schemas:
            schema = census(database.sqlite_path)
            schemas[db_id] = schema, held_keys(engine, database, schema, LIMITS)
        schema, held = schemas[db_id]
        found, all_rules = consider_all(sql, schema, dialect, held=held)
        texts = [one.rewritten for one in found if one.rewritten is not None]
        if len(texts) > 1 and all_rules is not None:
            texts.append(all_rules)
        before = execute(engine, database, sql, LIMITS) if texts else None
        if before is None or before.ending is not Ending.ROWS:
            continue
        for one in texts:
            proof = proven(engine, database, sql, one, LIMITS, before)
            assert proof.holds, f"{key}: {sql}\n{one.rules}: {one.sql}\n{proof.error}"
            applied[one.rules[0]] += len(one.rules) == 1
    return applied
