"""Why each precondition is needed: rows on which rewriting without it gives others, and the rule refuses."""

# ruff: noqa: E501 - queries are written as they are

from dataclasses import dataclass
from pathlib import Path

import pytest

from dialects.enums import Dialect
from harness.engines.execution import Limits
from harness.engines.sqlite.engine import SQLiteEngine
from harness.labs.study.parts.paper_cases import CASES as PAPER_CASES
from harness.labs.study.rewriting import RULES, consider, proven
from loaders.file_census import census
from loaders.namespace import Database
from tests.sqlite_files import sqlite_file

SCRIPT = """
CREATE TABLE team (id INTEGER PRIMARY KEY, code TEXT, points INTEGER, founded DATE, nick TEXT COLLATE NOCASE);
INSERT INTO team VALUES (1, 'a', 7, '2012-01-01', 'x'), (2, 'b', 7, '2021-9-5', 'Y'), (3, 'b', NULL, NULL, 'z');
CREATE TABLE player (id INTEGER PRIMARY KEY, team_id INTEGER REFERENCES team (id), code TEXT, goals INTEGER);
INSERT INTO player VALUES (1, 1, 'a', 3), (2, 1, 'b', NULL), (3, NULL, 'b', 7), (4, 2, 'X', 3), (5, 9, 'x', 7);
CREATE TABLE lone (team_id INTEGER, goals INTEGER);
"""


@dataclass(frozen=True)
class Case:
    """A query, what the rule would make of it without the precondition, and a part of its reason not to."""

    rule: str
    sql: str
    naive: str
    reason: str


CASES = [
    # The paper's case 1.1 in small: a team comes once for each player.
    Case(
        "in-to-join",
        "SELECT points FROM team WHERE id IN (SELECT team_id FROM player)",
        "SELECT t.points FROM team AS t INNER JOIN player AS p ON t.id = p.team_id",
        "not known to be unique",
    ),
    Case(
        "in-to-join",
        "SELECT * FROM player WHERE team_id IN (SELECT id FROM team)",
        "SELECT * FROM player INNER JOIN team ON player.team_id = team.id",
        "* would show",
    ),
    Case(
        "in-to-distinct-join",
        "SELECT id FROM team WHERE nick IN (SELECT code FROM player)",
        "SELECT t.id FROM team AS t INNER JOIN (SELECT DISTINCT code FROM player) AS p ON t.nick = p.code",
        "not of one type",
    ),
    Case(
        "in-to-exists",
        "SELECT id FROM player WHERE goals IN (SELECT player.id FROM player)",
        "SELECT id FROM player WHERE EXISTS (SELECT 1 FROM player WHERE player.goals = player.id)",
        "also the name of a source",
    ),
    Case(
        "not-in-to-not-exists",
        "SELECT id FROM team WHERE id NOT IN (SELECT team_id FROM player)",
        "SELECT id FROM team WHERE NOT EXISTS (SELECT 1 FROM player WHERE team_id = team.id)",
        "may be NULL",
    ),
    Case(
        "not-in-to-not-exists",
        "SELECT id FROM team WHERE points NOT IN (SELECT id FROM player)",
        "SELECT id FROM team WHERE NOT EXISTS (SELECT 1 FROM player WHERE player.id = team.points)",
        "may be NULL",
    ),
    # The COUNT bug: without an outer join and 0 for it, a team without players is lost.
    Case(
        "correlated-to-derived",
        "SELECT id FROM team WHERE 0 = (SELECT COUNT(*) FROM player WHERE team_id < team.id - 5)",
        "SELECT team.id FROM team INNER JOIN (SELECT team_id, COUNT(*) AS n FROM player GROUP BY team_id) AS p"
        " ON p.team_id < team.id - 5 WHERE p.n = 0",
        "more than equalities",
    ),
    # The paper's case 1.3 in small: two teams have the most points.
    Case(
        "limit-to-extreme",
        "SELECT id FROM team ORDER BY points DESC LIMIT 1",
        "SELECT id FROM team WHERE points = (SELECT MAX(points) FROM team)",
        "may be NULL",
    ),
    Case(
        "limit-to-extreme",
        "SELECT id FROM team WHERE points IS NOT NULL ORDER BY points DESC LIMIT 1",
        "SELECT id FROM team WHERE points = (SELECT MAX(points) FROM team)",
        "several rows may have the extreme",
    ),
    Case(
        "limit-to-extreme",
        "SELECT points FROM team ORDER BY points LIMIT 1",
        "SELECT MIN(points) FROM team",
        "may be NULL",
    ),
    Case(
        "limit-to-extreme",
        "SELECT points FROM team ORDER BY points DESC LIMIT 1 OFFSET 2",
        "SELECT MAX(points) FROM team",
        "skips rows",
    ),
    Case(
        "join-elimination",
        "SELECT p.id FROM player AS p INNER JOIN team AS t ON p.team_id = t.id",
        "SELECT p.id FROM player AS p",
        "no foreign key",
    ),
    Case(
        "join-elimination",
        "SELECT p.id FROM player AS p LEFT JOIN team AS t ON p.code = t.code",
        "SELECT p.id FROM player AS p",
        "not joined by a key",
    ),
    Case(
        "distinct-elimination",
        "SELECT DISTINCT code FROM team",
        "SELECT code FROM team",
        "no key decides",
    ),
    Case(
        "distinct-elimination",
        "SELECT DISTINCT t.id FROM team AS t INNER JOIN player AS p ON p.team_id = t.id",
        "SELECT t.id FROM team AS t INNER JOIN player AS p ON p.team_id = t.id",
        "no key decides",
    ),
    Case(
        "distinct-elimination",
        "SELECT COUNT(DISTINCT t.id) FROM team AS t INNER JOIN player AS p ON p.team_id = t.id",
        "SELECT COUNT(t.id) FROM team AS t INNER JOIN player AS p ON p.team_id = t.id",
        "no key decides",
    ),
    Case(
        "count-star-to-key",
        "SELECT COUNT(*) FROM lone AS t LEFT JOIN team AS p ON p.id = t.team_id",
        "SELECT COUNT(p.id) FROM lone AS t LEFT JOIN team AS p ON p.id = t.team_id",
        "may be NULL",
    ),
    Case(
        "date-part-to-range",
        "SELECT id FROM team WHERE STRFTIME('%Y', founded) = '2021'",
        "SELECT id FROM team WHERE founded >= '2021-01-01' AND founded < '2022-01-01'",
        "not every value",
    ),
    Case(
        "date-part-to-range",
        "SELECT id FROM team WHERE SUBSTR(nick, 1, 1) = 'y'",
        "SELECT id FROM team WHERE nick >= 'y' AND nick < 'z'",
        "not compared letter by letter",
    ),
    Case(
        "or-to-union-all",
        "SELECT COUNT(*) FROM player WHERE goals = 3 OR team_id = 1",
        "SELECT COUNT(*) FROM player WHERE goals = 3 UNION ALL SELECT COUNT(*) FROM player WHERE team_id = 1",
        "groups",
    ),
    Case(
        "cte-inline",
        "WITH player AS (SELECT * FROM team) SELECT (WITH t AS (SELECT * FROM player)"
        " SELECT COUNT(*) FROM (WITH player AS (SELECT 1 AS one) SELECT * FROM t, player) AS q)",
        "WITH player AS (SELECT * FROM team) SELECT"
        " (SELECT COUNT(*) FROM (WITH player AS (SELECT 1 AS one) SELECT * FROM (SELECT * FROM player) AS t, player) AS q)",
        "two common table expressions have one name",
    ),
]


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Database:
    path = sqlite_file(
        tmp_path_factory.mktemp("preconditions") / "small.sqlite", SCRIPT, "INSERT INTO lone VALUES (8, 1)"
    )
    return Database("preconditions", "small", path)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.rule} {case.reason}")
def test_without_its_precondition_a_rule_changes_the_rows(database: Database, case: Case) -> None:
    proof = proven(SQLiteEngine(pooled=True), database, case.sql, case.naive, Limits())
    assert proof.error is None
    assert not proof.same_bag
    [found] = consider(case.sql, census(database.sqlite_path), Dialect.SQLITE, [RULES[case.rule]])
    assert found.rewritten is None
    assert any(case.reason in why for why in found.refused), found.refused


def test_every_rule_has_a_counterexample() -> None:
    assert {case.rule for case in CASES} == set(RULES)


def test_the_documentation_has_every_rule() -> None:
    page = Path(__file__).parents[4] / "docs" / "explanation" / "efficiency.md"
    rows = [
        f"| {rule.title} | `{rule.name}` | {rule.precondition} | {rule.counterexample} | {rule.source} |"
        for rule in RULES.values()
    ]
    head = ["| rule | name | precondition | without it | described by |", "|---|---|---|---|---|"]
    assert "\n".join([*head, *rows]) in page.read_text(encoding="utf-8")


OPEN = [
    ("SELECT id FROM team WHERE id IN (SELECT team_id FROM player) LIMIT 1", "LIMIT without ORDER BY"),
    ("SELECT id FROM team WHERE id IN (SELECT team_id FROM player) ORDER BY points LIMIT 1", "may tie"),
    ("SELECT id, points FROM team WHERE id IN (SELECT team_id FROM player) ORDER BY points", "may tie"),
    ("SELECT code, id FROM team WHERE id IN (SELECT team_id FROM player) GROUP BY code", "any row of its group"),
    ("SELECT code, MAX(id) FROM team WHERE id IN (SELECT team_id FROM player)", "may be of any row"),
    ("SELECT GROUP_CONCAT(id) FROM team WHERE id IN (SELECT team_id FROM player)", "order in which rows come"),
    ("SELECT id FROM team WHERE id IN (SELECT team_id FROM player) AND RANDOM() > 0", "chance"),
    ("SELECT id FROM team WHERE id IN (SELECT team_id FROM player) AND points = (SELECT goals FROM player)",
     "may have several rows"),
    ("SELECT (SELECT COUNT(*) FROM team) FROM elsewhere", "no table of the schema"),
    ("SELECT nick FROM team WHERE id IN (SELECT team_id FROM player) GROUP BY nick", "unlike values can be equal"),
    ("SELECT DISTINCT nick FROM team WHERE id IN (SELECT team_id FROM player)", "unlike values can be equal"),
    ("SELECT ROW_NUMBER() OVER (ORDER BY points), id FROM team WHERE id IN (SELECT team_id FROM player)",
     "tied rows come"),
    ("SELECT id FROM team WHERE nowhere = 1 AND id IN (SELECT team_id FROM player)", "not known which column"),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "reason"), OPEN)
def test_a_query_whose_answer_is_open_is_left_alone(database: Database, sql: str, reason: str) -> None:
    """An engine may take other rows for it by another plan."""
    found = consider(sql, census(database.sqlite_path), Dialect.SQLITE)
    assert [one for one in found if one.rewritten] == []
    assert any(reason in why for one in found for why in one.refused), found


def test_what_is_relied_on_says_whether_it_is_declared(database: Database) -> None:
    schema = census(database.sqlite_path)
    sql = "SELECT p.id FROM player AS p LEFT JOIN team AS t ON t.id = p.team_id"
    [found] = consider(sql, schema, Dialect.SQLITE, [RULES["join-elimination"]])
    assert found.rewritten is not None
    assert found.rewritten.holds_for_any_data
    assert [fact.says for fact in found.rewritten.facts] == ["team (id) is unique"]
    [found] = consider(
        "SELECT id FROM player WHERE SUBSTR(code, 1, 1) = 'a'",
        schema,
        Dialect.SQLITE,
        [RULES["date-part-to-range"]],
    )
    assert found.rewritten is not None
    assert not found.rewritten.holds_for_any_data
    assert [fact.says for fact in found.rewritten.facts] == ["player.code holds texts alone"]


PAPER = """
CREATE TABLE users (Id INTEGER PRIMARY KEY, Age INTEGER, Location TEXT);
CREATE TABLE badges (Id INTEGER PRIMARY KEY, UserId INTEGER REFERENCES users (Id));
INSERT INTO users VALUES (1, 30, 'Vienna, Austria'), (2, 30, 'Vienna, Austria'), (3, 40, 'Bern');
INSERT INTO badges VALUES (1, 1), (2, 1), (3, 3);
CREATE TABLE zip_code (zip_code INTEGER PRIMARY KEY, state TEXT);
CREATE TABLE member (member_id TEXT PRIMARY KEY, zip INTEGER REFERENCES zip_code (zip_code));
INSERT INTO zip_code VALUES (1, 'Maryland'), (2, 'Ohio');
INSERT INTO member VALUES ('a', 1), ('b', 1), ('c', 2), ('d', NULL);
CREATE TABLE client (client_id INTEGER PRIMARY KEY);
CREATE TABLE disp (disp_id INTEGER PRIMARY KEY, client_id INTEGER, account_id INTEGER);
CREATE TABLE loan (loan_id INTEGER PRIMARY KEY, account_id INTEGER, amount INTEGER);
INSERT INTO client VALUES (1), (2);
INSERT INTO disp VALUES (1, 1, 1), (2, 2, 2);
INSERT INTO loan VALUES (1, 1, 9), (2, 2, 9);
"""


def test_the_papers_cases_are_made_or_refused(tmp_path: Path) -> None:
    """1.1 as a join repeats users, as EXISTS it does not; 1.3 has other rows where the maximum ties."""
    path = sqlite_file(tmp_path / "paper.sqlite", PAPER)
    schema, database = census(path), Database("paper", "paper", path)
    cases = {case.name: case for case in PAPER_CASES}
    for name, same in (("1.1", False), ("1.2", True), ("1.3", False)):
        case = cases[name]
        printed = proven(SQLiteEngine(pooled=True), database, case.original, case.rewritten, Limits())
        assert printed.same_bag is same, name
        made = {one.rule.name: one for one in consider(case.original, schema, Dialect.SQLITE)}
        for one in made.values():
            if one.rewritten is not None:
                text = one.rewritten.sql
                assert proven(SQLiteEngine(pooled=True), database, case.original, text, Limits()).holds
        applied = {rule for rule, one in made.items() if one.rewritten is not None}
        if name == "1.1":
            assert applied == {"in-to-exists", "in-to-distinct-join"}
            assert "not known to be unique" in made["in-to-join"].refused[0]
        elif name == "1.2":
            assert applied == {"count-star-to-key"}
            counted = made["count-star-to-key"].rewritten
            assert counted is not None
            assert 'COUNT(member."member_id")' in counted.sql
        else:
            assert applied == set()
            assert "several rows may have the extreme" in made["limit-to-extreme"].refused[0]
