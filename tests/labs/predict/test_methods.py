import re
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.labs.predict.methods import (
    METHODS,
    UnreadableDraft,
    linked_columns,
    make_method,
    narrowed,
)
from harness.predictors.base import Prompt
from harness.predictors.prompts import PromptOptions, open_prompter
from loaders.namespace import Database
from loaders.server import Server
from tests.every_engine import SERVED
from tests.harness.predictors.making import FARM, about_farm
from tests.loaders.servers import ask, drop

BOTH = {"animals": {"animal_id", "name"}, "visits": {"animal_id", "vet"}}
ANY = tuple(Dialect)
WHOLE_STABLES = {"stables": {"stable_id", "Built In", "name"}}

LINKED: Sequence[tuple[Sequence[Dialect], str, Mapping[str, set[str]]]] = [
    (ANY, "SELECT name FROM animals", {"animals": {"name"}}),
    (ANY, "SELECT NAME FROM Animals AS a WHERE A.Stable_ID = 1", {"animals": {"name", "stable_id"}}),
    (ANY, "SELECT a.name, v.vet FROM animals a JOIN visits v ON a.animal_id = v.animal_id", BOTH),
    (ANY, "SELECT a.name, v.vet FROM animals a, visits v", BOTH),
    (ANY, "SELECT name, vet FROM animals NATURAL JOIN visits", BOTH),
    (ANY, "SELECT name FROM animals WHERE animal_id IN (SELECT animal_id FROM visits WHERE vet = 'x')", BOTH),
    (ANY, "WITH v AS (SELECT animal_id AS k, vet FROM visits) SELECT name FROM animals, v", BOTH),
    (ANY, "SELECT COUNT(*) FROM stables", WHOLE_STABLES),
    (ANY, "SELECT * FROM stables", WHOLE_STABLES),
    (ANY, "SELECT s.* FROM stables s", WHOLE_STABLES),
    (ANY, "SELECT name FROM animals UNION SELECT paid FROM visits", {
        "animals": {"name", "animal_id"}, "visits": {"paid", "animal_id"},
    }),
    (ANY, "SELECT x.nothing, name FROM animals AS x, nowhere AS y", {"animals": {"name"}}),
    ((Dialect.SQLITE, Dialect.POSTGRESQL), 'SELECT "Built In" FROM "stables"', {"stables": {"Built In"}}),
    ((Dialect.SQLITE, Dialect.MYSQL), "SELECT `Built In` FROM `stables`", {"stables": {"Built In"}}),
    ((Dialect.SQLITE,), "SELECT [Built In] FROM [stables]", {"stables": {"Built In"}}),
    ((Dialect.SQLITE, Dialect.MYSQL), 'SELECT name FROM animals WHERE name = "vet"', {"animals": {"name"}}),
    ((Dialect.SQLITE,), "SELECT STRFTIME('%Y', name) FROM animals LIMIT 1", {"animals": {"name"}}),
    ((Dialect.MYSQL,), "SELECT DATE_FORMAT(name, '%Y') FROM farm.animals", {"animals": {"name"}}),
    ((Dialect.POSTGRESQL,), "SELECT DISTINCT ON (name) 1::date FROM public.animals", {"animals": {"name"}}),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("dialects", "sql", "linked"), LINKED, ids=[each[1][:60] for each in LINKED])
def test_the_tables_and_columns_of_a_draft_are_linked(
    dialects: Sequence[Dialect], sql: str, linked: Mapping[str, set[str]]
) -> None:
    for dialect in dialects:
        assert linked_columns(sql, replace(FARM, dialect=dialect)) == linked


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("", "the draft is not a query"),
        ("I cannot say.", "the draft cannot be read as SQL"),
        ("SELECT FROM WHERE (", "the draft cannot be read as SQL"),
        ("SELECT 'open FROM animals", "the draft cannot be read as SQL"),
        ("DELETE FROM animals", "the draft is not a query"),
        ("SELECT name FROM animals; DROP TABLE animals", "the draft is not a query"),
        ("SELECT name FROM horses", "the draft names no table of the database"),
        ("WITH animals AS (SELECT 1) SELECT 2", "the draft names no table of the database"),
        ("SELECT " + "(" * 3_000 + "1" + ")" * 3_000, "the draft cannot be read as SQL"),
        ("SELECT " + "(SELECT 1), " * 5_000 + "1", "the draft cannot be read as SQL"),
    ],
    ids=lambda text: text[:40],
)
@pytest.mark.parametrize("dialect", Dialect)
def test_a_draft_that_links_nothing_is_told_apart(sql: str, reason: str, dialect: Dialect) -> None:
    with pytest.raises(UnreadableDraft, match=f"^{reason}$"):
        linked_columns(sql, replace(FARM, dialect=dialect))


def test_a_narrowed_schema_keeps_rows_and_keys_within_it() -> None:
    [animals, *others] = FARM.tables
    full = replace(FARM, tables=(replace(animals, rows=((1, "Bo", 7),)), *others))
    kept = narrowed(full, {"animals": frozenset({"name", "stable_id"}), "stables": frozenset({"name"})})
    assert [(table.name, [each.name for each in table.columns]) for table in kept.tables] == [
        ("animals", ["name", "stable_id"]),
        ("stables", ["name"]),
    ]
    assert kept.tables[0].rows == (("Bo", 7),)
    assert kept.tables[0].foreign_keys == ()


def asked(name: str, replies: Mapping[str, str], options: PromptOptions | None = None) -> dict[str, Prompt]:
    stages = make_method(name, options or PromptOptions()).stages(about_farm())
    stage, prompt = next(stages)
    prompts = {stage: prompt}
    while stage != "sql":
        stage, prompt = stages.send(replies[stage])
        prompts[stage] = prompt
    with pytest.raises(StopIteration) as done:
        stages.send(replies[stage])
    assert done.value.value == replies[stage]
    return prompts


def test_direct_asks_once_and_gives_the_reply_as_it_came() -> None:
    assert asked("direct", {"sql": "```sql\nSELECT 1\n```"}).keys() == {"sql"}


REPLIES = {
    "linking": "Here you are:\n```sql\nSELECT a.name FROM animals AS a\n```\nGood luck!",
    "synthesis": "```python\nanswer = rows.select(animals.name)\n```",
    "sql": " SELECT 1;",
}


def test_ta_sql_asks_for_a_draft_a_plan_and_sql_over_the_columns_of_the_draft() -> None:
    prompts = asked("ta-sql", REPLIES)
    assert list(prompts) == ["linking", "synthesis", "sql"]
    texts = {stage: prompt.messages[0].content for stage, prompt in prompts.items()}
    assert "CREATE TABLE visits" in texts["linking"]
    for stage in ("synthesis", "sql"):
        assert "- animals.name, text" in texts[stage]
        assert "visits" not in texts[stage]
        assert "stable_id" not in texts[stage]
    assert "\nPlan:\nanswer = rows.select(animals.name)\n\n" in texts["sql"]
    assert all(prompt.notes == () for prompt in prompts.values())


@pytest.mark.parametrize("draft", ["", "I do not know.", "```sql\nSELECT FROM\n```", "SELECT 1 FROM horses"])
def test_ta_sql_goes_on_with_the_whole_schema_where_no_draft_can_be_read_and_says_so(draft: str) -> None:
    prompts = asked("ta-sql", {**REPLIES, "linking": draft})
    for stage in ("synthesis", "sql"):
        assert "visits.vet" in prompts[stage].messages[0].content
        [note] = prompts[stage].notes
        assert note.endswith(": the whole schema is linked")


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("other", PromptOptions(), "--method other: unknown; choose direct or ta-sql"),
        ("ta-sql", PromptOptions(chain_of_thought=True), "--method ta-sql: has its own stages of reasoning"),
        ("direct", PromptOptions(templates=Path("nowhere")), "--templates nowhere: not a folder"),
    ],
)
def test_what_no_method_can_do_is_one_clear_error(name: str, options: PromptOptions, says: str) -> None:
    with pytest.raises(BadInput, match=f"^{re.escape(says)}"):
        make_method(name, options)


def test_methods_have_identities_of_their_own() -> None:
    identities = [make_method(name, PromptOptions()).identity for name in METHODS]
    assert [identity["method"] for identity in identities] == list(METHODS)
    assert len({str(identity) for identity in identities}) == len(METHODS)


BROUGHT = """
INSERT INTO visitors VALUES (1, 'Ada'), (2, 'Bo');
INSERT INTO repairs VALUES (1, 1, 'bicycle', '2023-05-31', 2), (2, 2, 'bicycle', '2023-01-01', 1.5),
    (3, 2, 'bicycle', '2023-12-31', 1), (4, 1, 'bicycle', '2022-12-31', 9), (5, 1, 'lamp', '2023-06-01', 9);
"""


def example(dialect: Dialect) -> tuple[list[str], str]:
    """The statements of the worked example that make its tables and rows, and its query."""
    text = open_prompter(PromptOptions()).render(f"example_{dialect}.j2", knowledge=True)
    creates = re.findall(r"^CREATE TABLE .*?;$", text, flags=re.DOTALL | re.MULTILINE)
    [query] = re.findall(r"^```sql\n(.*?)\n```$", text, flags=re.DOTALL | re.MULTILINE)
    assert len(creates) == 2
    return [*creates, *(each for each in BROUGHT.split(";") if each.strip())], query


def test_the_worked_example_runs_on_sqlite() -> None:
    statements, query = example(Dialect.SQLITE)
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in statements:
            connection.execute(statement)
        assert connection.execute(query).fetchall() == [("Bo",)]


@pytest.mark.engine
@pytest.mark.parametrize("server", SERVED, indirect=True)
def test_the_worked_example_runs_on_the_servers(server: Server) -> None:
    statements, query = example(server.dialect)
    place = Database("bird_worked_example", "repairs", Path("repairs.sqlite"))
    drop(server, place.collection)
    ask(server, None, f"CREATE DATABASE {place.collection}")
    try:
        for statement in statements:
            ask(server, place, statement)
        assert ask(server, place, query) == [("Bo",)]
    finally:
        drop(server, place.collection)
