"""Planted differences are found, equal texts are not refuted, and witnesses keep keys and replay."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from dialects.enums import Dialect, Profile
from dialects.errors import BadInput
from dialects.identifiers import quoted
from harness.data.outcomes import Difference
from harness.data.witnesses import Witness, WitnessTable, load, save
from harness.engines import kind_of
from harness.engines.execution import Ending, Execution, Limits
from harness.metrics.accuracy import ex
from harness.scoring.chance.equal import is_equal_to_a_gold
from harness.scoring.chance.queries import neighbours, parse
from harness.scoring.chance.search import PairToRefute, searched, stored
from harness.scoring.chance.shape import Shape, of_file
from harness.scoring.chance.witness import ExecutionPlace, broken, find, place_of, replay
from loaders import index_copies
from loaders.base.files import as_json, parse_json
from loaders.server import Server
from tests import forked
from tests.every_engine import LOADED
from tests.harness.real_runs import evaluated
from tests.labs.chance.cases import DIFFERENT, SCHEMA
from tests.labs.chance.rules import EQUAL, RULES, Rule
from tests.labs.twins.shops import schema
from tests.sqlite_files import sqlite_file

HOSTILE = [
    "DROP TABLE team",
    "ATTACH 'x.db' AS x",
    "SELECT",
    "",
    "SELECT load_extension('x')",
    "(" * 500,
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n",
    "SELECT name FROM team; DROP TABLE team",
]

SERVERS = LOADED
LITTLE = 0.03
"""Seconds for a pair that is not refuted, which takes them all."""
_CHECKED = 10
"""Planted differences of each class that `make check` searches."""


def made(path: Path, script: str) -> Shape:
    sqlite_file(path, script)
    return of_file(path)


@pytest.fixture(scope="module")
def shape(tmp_path_factory: pytest.TempPathFactory) -> Shape:
    return made(tmp_path_factory.mktemp("chance") / "club.sqlite", SCHEMA)


@pytest.fixture(scope="module")
def place() -> ExecutionPlace:
    return ExecutionPlace(kind_of(Dialect.SQLITE).make(None, pooled=False))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("difference", "sql", "gold"),
    [(difference, *pair) for difference, pairs in DIFFERENT.items() for pair in pairs[:_CHECKED]],
)
def test_a_planted_difference_is_found_and_replays(  # noqa: PLR0913, PLR0917 - a case and fixtures
    difference: str, sql: str, gold: str, shape: Shape, place: ExecutionPlace, tmp_path: Path
) -> None:
    """It is of its class and small, and comes back from its file."""
    found = find(shape, PairToRefute(sql, [gold]), place)
    assert found is not None
    assert (found.difference, found.rows <= 6) == (difference, True)
    save(found, tmp_path / "witness.json")
    assert load(tmp_path / "witness.json") == found
    assert replay(found, place).is_refuted


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.parametrize("difference", DIFFERENT)
def test_all_planted_differences_are_found(difference: str, shape: Shape, place: ExecutionPlace) -> None:
    """Each by a small witness of its class."""
    for sql, gold in DIFFERENT[difference][_CHECKED:]:
        found = find(shape, PairToRefute(sql, [gold]), place)
        assert found is not None, sql
        assert (found.difference, found.rows <= 6) == (difference, True), sql
    assert len(DIFFERENT[difference]) >= 30


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_an_equal_text_is_not_refuted(rule: Rule, shape: Shape) -> None:
    """Neither are texts that differ only in how they break a tie."""
    [(sql, gold), *_] = rule.pairs
    assert not list(searched(shape, PairToRefute(sql, [gold]), LITTLE))


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.parametrize("part", range(4))
def test_no_equal_text_is_refuted(part: int, shape: Shape, place: ExecutionPlace) -> None:
    """All return the same rows of the club, too: none is equal because it fails."""
    pairs = EQUAL[part::4]
    for (sql, gold), ours, theirs in zip(pairs, *_of_the_club(pairs, shape, place), strict=True):
        assert (ours.ending, theirs.ending) == (Ending.ROWS, Ending.ROWS), (sql, ours.error, theirs.error)
        pair = PairToRefute(sql, [gold])
        assert pair.has_cut or ex(ours.rows, theirs.rows), sql
        assert not list(searched(shape, pair, LITTLE)), sql
    assert len(EQUAL) >= 500


def _of_the_club(
    pairs: Sequence[tuple[str, str]], shape: Shape, place: ExecutionPlace, dialect: Dialect = Dialect.SQLITE
) -> tuple[Sequence[Execution], Sequence[Execution]]:
    """Execute both texts of each pair on the club as it is, loaded once: as a witness of all of them."""
    tables = []
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(SCHEMA)
        for table in shape.tables:
            rows = connection.execute(f"SELECT * FROM {quoted(table.name)}").fetchall()
            columns = tuple(column.name for column in table.columns)
            tables.append(WitnessTable(table.name, table.create, columns, [list(row) for row in rows]))
    texts = [*(sql for sql, _ in pairs), *(gold for _, gold in pairs)]
    sql, *golds = texts
    why = (Difference.OTHER, False)
    ran = replay(Witness(1, dialect, Profile.OFFICIAL, "club", sql, tuple(golds), *why, tuple(tables)), place)
    every = [ran.prediction, *ran.golds]
    return every[: len(pairs)], every[len(pairs) :]


@pytest.mark.slow
@pytest.mark.thorough
def test_equal_texts_of_the_fragment_are_proven(shape: Shape) -> None:
    """No planted difference is, in either direction; and nothing that hangs on the order of rows."""
    assert sum(is_equal_to_a_gold(shape, PairToRefute(sql, [gold])) for sql, gold in EQUAL) >= 80
    for sql, gold in (pair for pairs in DIFFERENT.values() for pair in pairs):
        assert not is_equal_to_a_gold(shape, PairToRefute(sql, [gold])), sql
        assert not is_equal_to_a_gold(shape, PairToRefute(gold, [sql])), sql
    like = "SELECT p.id FROM player p JOIN team t ON p.name = t.name WHERE {}.name LIKE 'A%'"
    assert not is_equal_to_a_gold(shape, PairToRefute(like.format("p"), [like.format("t")])), (
        "case may differ"
    )
    for text in (
        "SELECT name, MAX(height) FROM player",
        "SELECT GROUP_CONCAT(name) FROM player",
        "SELECT * FROM team",
        "SELECT a.name FROM player a JOIN player b ON a.height < b.height",
        "SELECT name FROM team UNION SELECT name FROM player",
        "SELECT name FROM player JOIN team ON team_id = team.id",
    ):
        assert not is_equal_to_a_gold(shape, PairToRefute(text, [text])), text


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=pytest.mark.slow if seed > 1 else ()) for seed in range(6)]
)
def test_a_witness_keeps_declared_keys(seed: int, tmp_path: Path) -> None:
    """SQLite checks keys, CHECK and NOT NULL of any schema on insertion, and references afterwards."""
    shops = schema(seed)
    shape = made(tmp_path / "shop.sqlite", shops.script)
    found = 0
    for gold in shops.golds:
        tree = parse(gold)
        wrong = [each.query.sql("sqlite") for each in neighbours(tree) if each.query] if tree else []
        for sql in wrong[:2]:
            for one in searched(shape, PairToRefute(sql, [gold]), LITTLE):
                found += 1
                assert not is_equal_to_a_gold(shape, PairToRefute(sql, [gold]))
                with closing(sqlite3.connect(":memory:")) as connection:
                    stored(connection, one.shape, one.data)
                    for table in one.shape.tables:
                        # SQLite calls a reference to what is no key a mismatch.
                        with suppress(sqlite3.OperationalError):
                            broken = connection.execute(f"PRAGMA foreign_key_check({quoted(table.name)})")
                            assert broken.fetchall() == []
    assert found


@pytest.mark.parametrize(
    "sql", [pytest.param(sql, marks=pytest.mark.slow if "RECURSIVE" in sql else ()) for sql in HOSTILE]
)
def test_hostile_texts_do_no_harm(
    sql: str, shape: Shape, place: ExecutionPlace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever they say, the search ends, and writes nothing."""
    monkeypatch.chdir(tmp_path)
    find(shape, PairToRefute(sql, ["SELECT name FROM team"]), place, seconds=LITTLE)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_an_answer_is_refuted_only_if_no_gold_allows_it(shape: Shape) -> None:
    """A pack's second gold is as right as the first."""
    sql, other = "SELECT name FROM team WHERE founded >= 1950", "SELECT name FROM team WHERE founded > 1950"
    assert list(searched(shape, PairToRefute(sql, [other])))
    assert not list(searched(shape, PairToRefute(sql, [other, f"{sql} AND 1"]), LITTLE))


def test_a_witness_serves_other_answers_to_the_question(shape: Shape, place: ExecutionPlace) -> None:
    """Without any time to search, it is found by the database that refuted another answer."""
    gold = "SELECT name FROM team WHERE founded >= 1950"
    first = find(shape, PairToRefute("SELECT name FROM team WHERE founded > 1950", [gold]), place)
    assert first is not None
    other = PairToRefute("SELECT t.name FROM team AS t WHERE NOT t.founded <= 1950", [gold])
    assert find(shape, other, place, seconds=0) is None
    found = find(shape, other, place, seconds=0, known=[first])
    assert found is not None
    assert found.tables == first.tables


@pytest.mark.slow
@pytest.mark.thorough
def test_a_plausible_witness_has_nothing_unseen(shape: Shape, place: ExecutionPlace) -> None:
    """No NULL, number or repeated name that the real columns lack; nor an answer of NULL or 0 alone."""
    for sql, gold, expected in (
        ("SELECT name FROM team WHERE founded > 1950", "SELECT name FROM team WHERE founded >= 1950", True),
        ("SELECT COUNT(*) FROM player GROUP BY name", "SELECT COUNT(*) FROM player GROUP BY id", True),
        ("SELECT name FROM player WHERE height > 190", "SELECT name FROM player WHERE height > 195", False),
        ("SELECT SUM(minute) FROM goal", "SELECT TOTAL(minute) FROM goal", False),
    ):
        found = find(shape, PairToRefute(sql, [gold]), place)
        assert found is not None, sql
        assert found.plausible is expected, sql


@pytest.mark.engine
@pytest.mark.thorough
def test_rules_hold_on_an_engine(server: Server, shape: Shape) -> None:
    """One pair of each returns the same rows of the club there; every third is searched, and not refuted."""
    pairs = [rule.pairs[-1] for rule in RULES if rule.is_portable]
    with place_of(server.dialect, server, Limits()) as place:
        executed = _of_the_club(pairs, shape, place, server.dialect)
        for at, ((sql, gold), ours, theirs) in enumerate(zip(pairs, *executed, strict=True)):
            assert (ours.ending, theirs.ending) == (Ending.ROWS, Ending.ROWS), (sql, ours.error, theirs.error)
            pair = PairToRefute(sql, [gold], server.dialect)
            assert all(pair.guides), sql
            assert pair.has_cut or ex(ours.rows, theirs.rows), sql
            assert at % 3 or find(shape, pair, place, seconds=LITTLE) is None, sql


@pytest.mark.engine
def test_an_engine_confirms_and_replays(server: Server, shape: Shape) -> None:
    """In a database of its own that is gone afterwards; also where SQLite lacks a text's functions."""
    guided = "SELECT name FROM player WHERE LEFT(born, 4) {} '2000'"
    pairs = [
        *(pairs[-1] for pairs in DIFFERENT.values()),
        DIFFERENT["tie"][1],
        (guided.format(">"), guided.format(">=")),
    ]
    with place_of(server.dialect, server, Limits()) as place:
        for sql, gold in pairs:
            found = find(shape, PairToRefute(sql, [gold], server.dialect), place)
            assert found is not None, sql
            assert (found.dialect, found.rows <= 6) == (server.dialect, True)
            if sql is pairs[-1][0]:
                again = replay(found, place)
                assert again.is_refuted
                assert {one.ending for one in (again.prediction, *again.golds)} == {Ending.ROWS}
                assert not replay(replace(found, sql=gold), place).is_refuted
        if kind_of(server.dialect).embedded is None:
            assert index_copies.copies(server) == []


def test_rows_that_break_a_declared_key_are_named(shape: Shape, place: ExecutionPlace) -> None:
    """A repeated or missing key, a missing parent, and NULL where the column has none."""
    found = find(
        shape,
        PairToRefute("SELECT p.name FROM player p JOIN team t ON p.team_id = t.id", ["SELECT 1"]),
        place,
    )
    assert found is not None
    team, player = found.tables
    assert broken(found, shape) == []
    for table, rows, expected in (
        (team, [[1, "Reds", None, None], [1, "Blues", None, None]], ["team"]),
        (team, [[1, "Reds", None, None], [2, "Reds", None, None]], ["team"]),
        (team, [[1, None, None, None]], ["team"]),
        (team, [[None, "Reds", None, None]], ["team"]),
        (player, [[1, 7, "Ann", None, None]], ["player", "references"]),
    ):
        tables = [replace(one, rows=rows if one is table else []) for one in found.tables]
        assert broken(replace(found, tables=tuple(tables)), shape) == expected, rows


def test_a_file_that_is_no_witness_is_refused(tmp_path: Path, shape: Shape, place: ExecutionPlace) -> None:
    """So is one whose statements create anything but its tables."""
    path = tmp_path / "witness.json"
    path.write_text('{"rows": 3}')
    with pytest.raises(BadInput, match="is not a witness"):
        load(path)
    [sql, gold] = DIFFERENT["condition"][0]
    found = find(shape, PairToRefute(sql, [gold]), place)
    assert found is not None
    save(found, path)
    for evil in ("ATTACH 'evil.db' AS e", "DROP TABLE x", "x"):
        path.write_text(path.read_text().replace(found.tables[0].create.split("(")[0], evil))
        with pytest.raises(BadInput, match="find it again"):
            replay(load(path), place)
        save(found, path)


@pytest.mark.slow
@pytest.mark.thorough
def test_the_command_finds_and_replays(tmp_path: Path) -> None:
    """A run's right answers are searched once, and a resumed search measures nothing twice."""
    answers = {
        1: "SELECT COUNT(*) FROM Books WHERE Language LIKE 'French%'",
        3: "SELECT [Opening Hours] FROM branches WHERE name LIKE '%Hillcrest%'",
        5: "SELECT Title FROM Books WHERE Title LIKE 'the %' ORDER BY Title",
    }
    sound = {
        1: "SELECT COUNT(b.BookID) FROM Books AS b WHERE b.Language = 'French'",
        3: "SELECT 1",
        5: "SELECT 1",
    }
    for name, some in (("lucky", answers), ("sound", sound)):
        lines = [as_json({"question_id": key, "sql": sql}) for key, sql in some.items()]
        (tmp_path / f"predict_sample_{name}_sqlite.jsonl").write_text("\n".join(lines))
    named = ("--predictions", ".", "--dialect", "sqlite")
    run = evaluated(tmp_path, *named, *(f"--question={key}" for key in answers))
    words = ("lab", "chance", str(run), "--seconds", "0.1", "--workers", "1", "--json")
    done = forked.run("harness", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    [folder] = run.glob("chance-*")
    journal = (folder / "journal.jsonl").read_text()
    page = (folder / "chance.html").read_text()
    assert page.count("returns ") == 2 * len(list((folder / "witnesses").iterdir()))
    ranks = [
        line.split("|")[7:9]
        for line in (folder / "tables.md").read_text().splitlines()
        if "SQLite | " in line
    ]
    assert [cell.strip() for cell in ranks[1]] == ["1", "+1"], "the other one has lost two answers"
    assert " 2 of 2 | 0 |" in (folder / "tables.md").read_text(), "both replay and break no key"
    listed = [each["file"] for each in parse_json(done.stdout)["witnesses"]]
    assert sorted(listed) == sorted(f"witnesses/{path.name}" for path in (folder / "witnesses").iterdir())
    again = forked.run("harness", "lab", "chance", "--resume", str(folder), "--json", cwd=tmp_path)
    assert (again.stdout, again.returncode) == (done.stdout, 0)
    assert (folder / "journal.jsonl").read_text() == journal
    done = forked.run("harness", "lab", "replay", str(folder / listed[0]), cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1].startswith("refuted: ")
