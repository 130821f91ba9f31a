"""The one public function: what it gives, and what it says where it gives nothing."""

import re
from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dialects import versions
from dialects.enums import Dialect
from dialects.errors import BadInput, TranslatorFault
from dialects.schema import Schema
from dialects.translation import Translation, Untranslatable, translate
from dialects.value_types import Context, Kind, Typed
from loaders.file_census import census
from tests.dialects.school import build
from tests.every_engine import LOADED

MYSQL, POSTGRESQL = Dialect.MYSQL, Dialect.POSTGRESQL


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> Schema:
    path: Path = tmp_path_factory.mktemp("translate") / "school.sqlite"
    build(path)
    return census(path)


@pytest.fixture(params=[MYSQL, POSTGRESQL])
def target(request: pytest.FixtureRequest) -> Dialect:
    assert isinstance(request.param, Dialect)
    return request.param


def _refused(sql: str, schema: Schema, target: Dialect) -> Untranslatable:
    with pytest.raises(Untranslatable) as caught:
        translate(sql, schema, target, as_json=False)
    return caught.value


def test_names_are_spelled_as_the_loaders_spell_them(schema: Schema) -> None:
    sql = 'SELECT C."full name", c.`ID` FROM PUPIL AS C WHERE [Height] > 1.5'
    assert translate(sql, schema, MYSQL).sql == (
        "SELECT `Full Name`, id FROM pupil AS c WHERE height > 1.5e0"
    )
    assert translate(sql, schema, POSTGRESQL).sql == (
        'SELECT "Full Name", id FROM pupil AS C WHERE height > 1.5::float8'
    )


def test_a_translation_says_what_it_did(schema: Schema) -> None:
    found = translate("SELECT points % 2, points / 2, 7 % points FROM pupil", schema, POSTGRESQL)
    assert found.target is POSTGRESQL
    assert found.rules == ("modulo", "integer-division")
    assert found.warnings == ()


def test_a_translation_does_not_change() -> None:
    found = Translation("SELECT 1", MYSQL)
    with pytest.raises(FrozenInstanceError):
        found.sql = "SELECT 2"  # type: ignore[misc]


@pytest.mark.parametrize(("tables", "hints"), [(10, 0), (11, 1)])
def test_mysql_is_kept_from_planning_longer_than_it_runs(schema: Schema, tables: int, hints: int) -> None:
    sources = ", ".join(f"mark m{number}" for number in range(tables))
    found = translate(f"SELECT m0.code FROM {sources}", schema, Dialect.MYSQL).sql
    assert found.count("SET_VAR(optimizer_search_depth") == hints


@pytest.mark.parametrize("sql", ["select  1 -- so", "SELECT FROM WHERE", "SELECT nope FROM nowhere", ""])
def test_sqlite_stays_as_it_was_written(schema: Schema, sql: str) -> None:
    assert translate(sql, schema, Dialect.SQLITE) == Translation(sql, Dialect.SQLITE)


@pytest.mark.parametrize("sql", ["SELECT 1;", "  SELECT 1 ; \n", "SELECT 1 -- one\n;", "/* one */ SELECT 1"])
def test_what_surrounds_a_statement_does_not_count(schema: Schema, target: Dialect, sql: str) -> None:
    assert translate(sql, schema, target).sql == "SELECT 1"


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("SELECT house, name FROM pupil GROUP BY house", "neither grouped nor aggregated"),
        ("SELECT GROUP_CONCAT(name) FROM pupil", "group_concat() joins the rows"),
        ("SELECT id, ROW_NUMBER() OVER (ORDER BY points) FROM pupil", "tie in the window's order"),
        ("SELECT DISTINCT house FROM pupil ORDER BY points", "sorted by a term that is not in the result"),
        ("SELECT DATETIME(joined, 'localtime') FROM pupil", "localtime is taken to be UTC"),
        ("SELECT name, MAX(points) FROM pupil", "where several have it"),
        ("SELECT DATE(points, house) FROM pupil", "taken for one that moves"),
        (
            "WITH n(i) AS (SELECT id FROM pupil UNION ALL SELECT i + 1 FROM n LIMIT 20) SELECT i FROM n",
            "ends after some rows",
        ),
        (
            "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9 ORDER BY 1) SELECT i FROM n",
            "is sorted, and the order",
        ),
    ],
)
def test_what_sqlite_leaves_open_is_a_warning(schema: Schema, target: Dialect, sql: str, says: str) -> None:
    warnings = translate(sql, schema, target).warnings
    assert any(says in warning for warning in warnings), warnings


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT points, COUNT(*) FROM pupil GROUP BY points",
        "SELECT SUM(points) FROM pupil",
        "SELECT RANK() OVER (ORDER BY points) FROM pupil",
        "SELECT DISTINCT house FROM pupil ORDER BY house",
        "SELECT DATETIME(joined, '+1 day') FROM pupil",
        "SELECT MAX(points) FROM pupil",
        "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20) SELECT i FROM n",
    ],
)
def test_what_has_one_answer_has_no_warning(schema: Schema, target: Dialect, sql: str) -> None:
    assert translate(sql, schema, target).warnings == ()


@pytest.mark.parametrize(
    ("sql", "tells_null"),
    [
        ("SELECT id FROM pupil WHERE name IN (SELECT founded FROM house)", False),
        # A condition within, which ends before the one around it does.
        ("SELECT id FROM pupil WHERE name IN (SELECT founded FROM house WHERE title > 'a')", False),
        ("SELECT id FROM pupil WHERE name IN (SELECT MAX(founded) FROM house HAVING COUNT(*) > 1)", False),
        ("SELECT id FROM pupil WHERE points > 1 AND name IN (SELECT founded FROM house)", False),
        # A value within, for which NULL is not FALSE.
        ("SELECT id FROM pupil WHERE 0 = (name IN (SELECT founded FROM house))", True),
        ("SELECT id FROM pupil WHERE 0 IN (name IN (SELECT founded FROM house), 2)", True),
        ("SELECT id FROM pupil WHERE NOT (name IN (SELECT founded FROM house))", True),
        ("SELECT id FROM pupil WHERE 0 IN (SELECT name IN (SELECT founded FROM house) FROM subject)", True),
    ],
)
def test_null_is_told_from_false_where_it_counts(
    schema: Schema, target: Dialect, sql: str, *, tells_null: bool
) -> None:
    assert ("CAST(NULL AS" in translate(sql, schema, target).sql) is tells_null


@pytest.mark.parametrize(
    "sql",
    [
        "",
        "-- nothing",
        ";",
        "SELECT 1; SELECT 2",
        "SELECT 1; DROP TABLE pupil",
        "DELETE FROM pupil",
        "WITH gone AS (SELECT 1) DELETE FROM pupil",
        "CREATE TABLE copy AS SELECT 1",
        "INSERT INTO pupil (id) SELECT 1",
        "SELECT FROM WHERE",
        "SELECT 'open",
        "SELECT (1",
        "SELECT 1 +",
        "SELEC 1",
    ],
)
def test_what_is_no_query_is_untranslatable(schema: Schema, target: Dialect, sql: str) -> None:
    assert _refused(sql, schema, target).construct == "the statement"


@pytest.mark.parametrize(
    ("sql", "construct", "at"),
    [
        ("SELECT id FROM teacher", "the table teacher", "teacher"),
        ("SELECT id FROM pupil JOIN teacher", "the table teacher", "teacher"),
        ("SELECT id, teacher FROM pupil", "the name teacher", "teacher"),
        ("SELECT p.teacher FROM pupil p", "the name p.teacher", "teacher"),
        ("SELECT q.id FROM pupil p", "the name q.id", "id"),
        ("SELECT id FROM pupil JOIN extreme", "the name id", "id"),
        ("SELECT id FROM pupil LIMIT points", "the name points", "points"),
        ("SELECT 1 + frobnicate(id) FROM pupil", "frobnicate()", "frobnicate"),
        ("SELECT id, substr(name) FROM pupil", "substr()", "substr"),
        ("SELECT id FROM pupil ORDER BY soundex(name)", "soundex()", "soundex"),
        (
            "SELECT value FROM generate_series(1, 3)",
            "the table function generate_series",
            "generate_series",
        ),
        ("SELECT 1, name LIKE 'a' ESCAPE 'xy' FROM pupil", "ESCAPE", "xy"),
    ],
)
def test_what_means_nothing_is_named_with_its_place(
    schema: Schema, target: Dialect, sql: str, construct: str, at: str
) -> None:
    refused = _refused(sql, schema, target)
    assert refused.construct == construct
    assert refused.position is not None
    assert sql[refused.position :].lstrip("'").startswith(at)
    assert refused.reason


@pytest.mark.parametrize(
    ("sql", "construct"),
    [
        ("SELECT id FROM pupil LIMIT (SELECT 2.5)", "LIMIT"),
        ("SELECT id FROM pupil UNION SELECT 1 LIMIT (SELECT 2)", "LIMIT"),
        ("SELECT id FROM pupil WHERE (name, points) = 1", "a row value"),
        ("SELECT id FROM pupil LIMIT 1.5", "LIMIT"),
        ("SELECT rooms FROM house", "values of several types"),
        ("SELECT IIF(id > 3, id, name) FROM pupil", "values of several types"),
        ("SELECT SUM(IIF(id > 3, n, x)) OVER () FROM extreme", "sum()"),
        ("SELECT id FROM pupil UNION SELECT name FROM pupil", "values of several types"),
        ("SELECT id FROM pupil ORDER BY 5", "ORDER BY 5"),
        ("SELECT id FROM pupil GROUP BY 9", "GROUP BY 9"),
        ("SELECT * FROM broken", "the view broken"),
        ("WITH pupil AS (SELECT 1 AS id) SELECT who FROM scored, pupil", "the view scored"),
        ("WITH m AS (SELECT 1 AS id) SELECT code FROM average, m", "the view average"),
        ("SELECT NTH_VALUE(name, 0) OVER (ORDER BY id) FROM pupil", "nth_value()"),
        ("SELECT NTILE(0) OVER (ORDER BY id) FROM pupil", "ntile()"),
        ("SELECT SUM(points) OVER (ORDER BY id ROWS -1 PRECEDING) FROM pupil", "a frame"),
        ("SELECT SUM(points) OVER (ORDER BY id ROWS 1.5 PRECEDING) FROM pupil", "a frame"),
        ("SELECT SUM(points) OVER (ORDER BY 1 RANGE 2 PRECEDING) FROM pupil", "RANGE in a frame"),
        ("SELECT COUNT(*) OVER (ORDER BY rooms RANGE 2 PRECEDING) FROM house", "RANGE in a frame"),
        # SQLite takes one row of the recursion after the other, and its outer joins with it.
        (
            "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM pupil LEFT JOIN n ON i = id) SELECT i FROM n",
            "a recursive query",
        ),
        (
            "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n ORDER BY 1 DESC LIMIT 3) SELECT i FROM n",
            "a recursive query",
        ),
        (
            "WITH n(i) AS (SELECT 1 UNION ALL SELECT DISTINCT i + 1 FROM n, pupil) SELECT i FROM n",
            "a recursive query",
        ),
    ],
)
def test_what_cannot_be_said_is_named(schema: Schema, target: Dialect, sql: str, construct: str) -> None:
    refused = _refused(sql, schema, target)
    assert construct in refused.construct
    assert refused.reason


@pytest.mark.parametrize("every", [each for each in Dialect if each is not Dialect.SQLITE])
@pytest.mark.parametrize("name", ["last_insert_rowid", "changes", "total_changes", "Changes"])
@pytest.mark.parametrize("sql", ["SELECT {}()", "SELECT code FROM mark WHERE pupil = 1 + {}()"])
def test_what_the_connection_wrote_before_is_refused(
    schema: Schema, every: Dialect, name: str, sql: str
) -> None:
    refused = _refused(sql.format(name), schema, every)
    assert refused.construct == f"{name.lower()}()"
    assert refused.reason == "it depends on what the connection wrote before, not on the data"


_CHAIN = ", ".join(f"a{i}(x) AS (SELECT x FROM a{i - 1})" for i in range(1, 64))


@pytest.mark.parametrize(
    ("sql", "construct"),
    [
        (f"WITH a0(x) AS (SELECT 1), {_CHAIN} SELECT x FROM a63", "the statement"),
        (f"SELECT 1 FROM house{', house' * 61}", "FROM"),
    ],
)
def test_what_mysql_alone_has_not_is_named(schema: Schema, sql: str, construct: str) -> None:
    assert _refused(sql, schema, MYSQL).construct == construct
    assert translate(sql, schema, POSTGRESQL).warnings == ()


def test_rowids_that_are_not_loaded_are_refused(schema: Schema) -> None:
    sql = "SELECT rowid, code FROM mark"
    tables = tuple(replace(table, rowids=()) for table in schema.tables)
    changed = replace(schema, tables=tables)
    assert _refused(sql, changed, POSTGRESQL).construct == "rowid"
    assert translate(sql, changed, MYSQL).warnings == ()
    assert translate("SELECT code FROM mark", schema, POSTGRESQL).rules == ()


def test_an_index_is_named_without_effect(schema: Schema, target: Dialect) -> None:
    plain, named = (
        translate(f"SELECT m.code FROM mark m {index} WHERE m.pupil = 1", schema, target)
        for index in ("", "INDEXED  BY 'by pupil'")
    )
    assert plain == named


def test_the_message_has_construct_place_and_reason() -> None:
    assert str(Untranslatable("random()", "it differs each time", 7)) == (
        "random() at character 7: it differs each time"
    )
    assert str(Untranslatable("LIMIT", "it is not a constant")) == "LIMIT: it is not a constant"


def test_deep_nesting_is_refused_rather_than_a_crash(schema: Schema, target: Dialect) -> None:
    depth = 5_000
    refused = _refused(f"SELECT {'(' * depth}1{')' * depth}", schema, target)
    assert refused.construct == "the statement"


def test_long_sums_are_not_deep(schema: Schema, target: Dialect) -> None:
    sql = f"SELECT {' + '.join(['points'] * 100)} FROM pupil"
    assert translate(sql, schema, target).sql.count("points") == 100


def test_numbers_and_texts_in_one_column_are_json_with_a_warning(schema: Schema, target: Dialect) -> None:
    found = translate("SELECT id, IIF(id > 3, height, name) FROM pupil", schema, target)
    assert found.json_columns == (1,)
    assert found.warnings == ("column 2 holds numbers and texts: each value is given as JSON",)
    assert not found.leaves_open
    rows = found.read([("1", "12"), ("2", "1.0"), ("3", '"n\\u00e4"'), ("4", None), ("5", "1e999")])
    assert rows == (("1", 12), ("2", 1.0), ("3", "nä"), ("4", None), ("5", float("inf")))


_TOKENS = re.compile(r"'(?:[^']|'')*+'|\"[^\"]*+\"|\w++|\s++|[^\w\s]")
_QUERIES = [
    sql
    for path in sorted((Path(__file__).parent / "queries").glob("*.sql"))
    for sql in re.split(r";\n", path.read_text(encoding="utf-8"))
]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(chance=st.randoms(use_true_random=False))
def test_any_text_is_translated_or_refused(schema: Schema, chance: Random) -> None:
    words = _TOKENS.findall(chance.choice(_QUERIES)) or ["SELECT"]
    others = _TOKENS.findall(chance.choice(_QUERIES)) or ["1"]
    for _ in range(chance.randint(1, 3)):
        at, way = chance.randrange(len(words)), chance.randrange(4)
        other = chance.randrange(len(words))
        if way == 0:
            words[at] = ""
        elif way == 1:
            words[at] = chance.choice(others)
        elif way == 2:
            words.insert(at, f" {chance.choice(others)} ")
        else:
            words[at], words[other] = words[other], words[at]
    text = "".join(words)
    fault: Exception | None = None
    try:
        translate(text, schema, chance.choice(sorted(LOADED)))
    except TranslatorFault as error:
        fault = error
    except (Untranslatable, BadInput):
        pass
    assert fault is None


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("SELECT id name house FROM pupil", "SQLite refuses it"),
        ("SELECT id::text FROM pupil", "SQLite refuses it"),
        ("SELECT json_group_array(DISTINCT name) FROM pupil", "no target lists each value once"),
        ("SELECT 9e999", "an infinite number"),
    ],
)
def test_a_refusal_names_the_construct(schema: Schema, sql: str, says: str) -> None:
    for dialect in LOADED:
        with pytest.raises(Untranslatable, match=re.escape(says)):
            translate(sql, schema, dialect)


def test_what_takes_several_types_for_one_is_a_fault_and_not_null(
    schema: Schema, target: Dialect, monkeypatch: pytest.MonkeyPatch
) -> None:
    def careless(_: Context, t: Typed) -> Typed:
        return t.of(kind=Kind.INTEGER)

    monkeypatch.setattr("dialects.rewrites.operators.as_number", careless)
    with pytest.raises(TranslatorFault, match="several types"):
        translate("SELECT -IIF(id > 3, height, name) FROM pupil", schema, target)


def test_a_fault_names_the_text(schema: Schema, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> str:
        raise OverflowError("too far")

    monkeypatch.setattr("dialects.translation.spell", broken)
    with pytest.raises(TranslatorFault, match=r"OverflowError: too far\); please report it .* SELECT 1, 2$"):
        translate("SELECT 1,\n 2", schema, MYSQL)


def test_a_translation_that_no_server_would_read_is_refused(
    schema: Schema, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dialects.translation._LONGEST", 100)
    monkeypatch.setattr("dialects.translation._LONGER", 2)
    with pytest.raises(Untranslatable, match=r"the statement: its translation has \d+ characters"):
        translate("SELECT name LIKE name || name FROM pupil", schema, MYSQL)
    assert translate("SELECT name FROM pupil", schema, MYSQL).sql


@pytest.mark.parametrize(
    ("sql", "what"),
    [
        ("SELECT ROUND(height, 2) FROM pupil", "reals that are rounded"),
        ("SELECT printf('%.1f', height) FROM pupil", "reals that are rounded"),
        ("SELECT date(seen) FROM pupil", "days that no calendar has"),
        ("SELECT id FROM pupil WHERE id IN ((SELECT weight FROM mark))", "IN of a subquery"),
        ("SELECT json_valid(name) FROM pupil", "texts that are JSON5"),
        ("SELECT height || '' FROM pupil", "reals as texts"),
        ("SELECT id FROM pupil WHERE date(born) > '2000-01-01' AND id IN (SELECT 1)", None),
    ],
)
def test_a_later_sqlite_is_warned_of(
    schema: Schema, monkeypatch: pytest.MonkeyPatch, sql: str, what: str | None
) -> None:
    monkeypatch.setattr(versions, "RUNNING", versions.FOLLOWED)
    before = translate(sql, schema, POSTGRESQL).warnings
    monkeypatch.setattr(versions, "RUNNING", (3, 51))
    after = set(translate(sql, schema, POSTGRESQL).warnings) - set(before)
    assert len(after) == (what is not None)
    assert all(str(what) in warning for warning in after)
