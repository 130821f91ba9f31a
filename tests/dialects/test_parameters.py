"""Parameters of SQLite's texts, bound by each target's common driver, give SQLite's rows."""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from importlib import import_module
from typing import Any
from uuid import uuid4

import pytest

from dialects.enums import Dialect, ParamStyle, Profile
from dialects.errors import BadInput, Untranslatable
from dialects.parameters import numbered, with_literals
from dialects.schema import Schema
from dialects.translation import Translation, translate
from loaders.duckdb.functions import install
from loaders.file_census import census
from loaders.namespace import Database, namespace
from loaders.server import Server
from tests.every_engine import LOADED
from tests.sqlite_files import sqlite_file

SERVERS = LOADED

DATA = """
CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, price REAL, made TEXT, data BLOB, n INTEGER,
    tag TEXT COLLATE NOCASE);
INSERT INTO t VALUES (1, 'Ann', 1.5, '2020-01-02', x'00ff', 3, 'a'),
    (2, 'bob', 2.25, '2021-03-04', x'41', NULL, 'B'), (3, '50%', 9.0, '2022-05-06', NULL, 7, 'A'),
    (4, NULL, 0.1, NULL, NULL, 1, NULL), (5, 'it''s', 0.5, '2022-05-06', x'', 2, 'c');
CREATE TABLE u (t_id INTEGER, said TEXT);
INSERT INTO u VALUES (1, 'x'), (3, 'y'), (3, 'Ann'), (5, ':a ? %s');
CREATE INDEX said ON u (said);
"""
ABSENT = ("MariaDB has no LATERAL",)
Values = Mapping[str, object] | Sequence[object]
QUERIES: Sequence[tuple[str, Values]] = (
    ("SELECT id FROM t WHERE name = ?", ["it's"]),
    ("SELECT id FROM t WHERE name = ? AND price > ?", ["Ann", 1.0]),
    ("SELECT id FROM t WHERE price = ?OR n = ?2AND id > 1", [0.1, 7]),
    ("SELECT id FROM t WHERE price > ?1 AND price < ?2 OR price = ?1", [0.5, 2.5]),
    ("SELECT id FROM t WHERE n BETWEEN :low AND :high ORDER BY id", {"low": 2, "high": 5}),
    ("SELECT id FROM t WHERE name LIKE ? || '%' ORDER BY id LIMIT ? OFFSET ?", ["", 2, 1]),
    ("SELECT id FROM t WHERE name LIKE '%50\\%%' ESCAPE '\\' OR n = ?", [2]),
    ("SELECT id, '50%', ':a ?' FROM t WHERE name LIKE :p", {"p": "%N%"}),
    ("SELECT id FROM t WHERE tag = @tag AND id <> $id", {"tag": "a", "id": 1}),
    ("SELECT id FROM t WHERE id IN (?, ?, ?)", [1, 3, 99]),
    ("SELECT id FROM t WHERE :x IS NULL OR name = :x", {"x": "bob"}),
    ("SELECT id FROM t WHERE :x IS NULL OR name = :x", {"x": None}),
    ("SELECT id FROM t WHERE (? IS NULL OR n = ?) AND (name = ? OR ? IS NULL)", [None, None, "Ann", "Ann"]),
    ("SELECT id FROM t WHERE ? IS NOT NULL AND n = ?", [3, 3]),
    ("SELECT id FROM t WHERE name IS ?", [None]),
    ("SELECT id, n = :one, ? FROM t WHERE (id = ?) = :one", {"one": True, "2": False, "3": 1}),
    ("SELECT id FROM t WHERE data = ?", [b"\x00\xff"]),
    ("SELECT id FROM t WHERE made > date(:day, '-1 day') ORDER BY id", {"day": "2021-03-05"}),
    ("SELECT id FROM t WHERE substr(name, ?, ?) = ?", [1, 1, "A"]),
    ("SELECT id FROM t WHERE n + ? > ?", [2, 4]),
    ("SELECT id, coalesce(name, ?) FROM t ORDER BY id", ["none"]),
    ("SELECT id, CASE WHEN n > ? THEN ? ELSE name END FROM t ORDER BY id", [2, "many"]),
    ("SELECT tag, count(*) FROM t GROUP BY tag HAVING count(*) > ?", [1]),
    ("SELECT said FROM u WHERE said = ? -- :b ?", [":a ? %s"]),
    ("SELECT t.id FROM t JOIN u ON u.t_id = t.id AND u.said = ? WHERE t.n = ? ORDER BY ?", ["y", 7, 1]),
    ("SELECT id FROM t WHERE id IN (SELECT t_id FROM u WHERE said <> ?)", ["x"]),
    ("SELECT id FROM t WHERE n = ? UNION SELECT t_id FROM u WHERE said = ? ORDER BY 1 LIMIT ?", [1, "x", 5]),
    ("WITH s AS (SELECT * FROM t WHERE n > ?) SELECT count(*) FROM s WHERE price < ?", [1, 5.0]),
    ("SELECT id, ? FROM t WHERE (n, name) = (?, ?)", [2, 3, "Ann"]),
    ("SELECT :k AS k, count(*) FROM t GROUP BY k ORDER BY k", {"k": 2}),
    ("SELECT max(id), n FROM t GROUP BY n, ? ORDER BY n", [1]),
    ("SELECT n > ? AS big, count(*) FROM t GROUP BY 1 ORDER BY 1", [2]),
    ("SELECT coalesce(n, ?1) AS k, max(id) FROM t GROUP BY k HAVING k <> ?2 ORDER BY -k", [4, 7]),
    ("SELECT n / ?1 * ?1 AS k, count(*) FROM t GROUP BY k ORDER BY k", [2]),
    ("SELECT ?, ? + id FROM t WHERE id = 1", ["x", 2]),
    ("SELECT id FROM t ORDER BY id DESC LIMIT -1 OFFSET ?", [2]),
    ("SELECT id FROM t ORDER BY id LIMIT :size OFFSET (:page - 1) * :size", {"size": 2, "page": 2}),
    ("SELECT json_type(:j, :at), json_array_length(:j, :at)", {"j": '{"a":[1]}', "at": "$.a"}),
    ("SELECT id FROM t ORDER BY id LIMIT 2 OFFSET ?", [1]),
    ("SELECT DISTINCT made FROM t ORDER BY made LIMIT :n", {"n": 2}),
    ("SELECT id FROM (SELECT id FROM t ORDER BY price LIMIT ?) ORDER BY id", [3]),
    ("SELECT id FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE t_id = t.id AND said > ? LIMIT ?)", ["x", 1]),
    ("SELECT id, (SELECT said FROM u WHERE t_id = t.id ORDER BY said LIMIT ?) FROM t ORDER BY id", [1]),
    ("SELECT id, (SELECT said FROM u WHERE t_id = t.id ORDER BY said LIMIT ?) FROM t ORDER BY id", [0]),
    (
        "SELECT id, (SELECT said FROM u WHERE t_id = t.id ORDER BY said LIMIT ? OFFSET ?) FROM t ORDER BY id",
        [2, 1],
    ),
    (
        "SELECT id, (SELECT count(*) FROM (SELECT 1 FROM u WHERE t_id = t.id AND said > ? LIMIT ?)) FROM t",
        ["", 1],
    ),
    ("SELECT id FROM t WHERE name = :name AND name <> 'a%'", {"name": "50%"}),
    ("SELECT id FROM t WHERE name LIKE ? ESCAPE '\\'", ["50\\%"]),
    ("SELECT id FROM t WHERE name LIKE ? ESCAPE '\\'", ["50%\\"]),
    ("SELECT id FROM t WHERE name NOT LIKE '%' || ? || '%' ESCAPE '|' ORDER BY id", ["|%"]),
    ("SELECT name FROM sqlite_schema WHERE type = ? AND name LIKE 't%' ORDER BY name", ["table"]),
    ("SELECT group_concat(name, ?) FROM t WHERE id = ?", [" - ", 2]),
    ("SELECT id FROM t WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id", ["[1, 4, 99]"]),
    (
        "SELECT name FROM t WHERE name IN (SELECT value FROM json_each(:names)) ORDER BY id",
        {"names": '["bob"]'},
    ),
    ("SELECT id FROM t WHERE (SELECT count(*) FROM u WHERE t_id = t.id) > ? ORDER BY id", [1]),
    (
        "SELECT id, (SELECT count(*) FROM json_each('{\"a\":[1,2]}', ?) WHERE value < 2) FROM t WHERE id > ?",
        ["$.a", 3],
    ),
    ("SELECT json_array_length(?), json_valid(?), json_type(?)", ["[1, 2]", "{", "{}"]),
    ("SELECT printf(:f, price), :f, '50%' FROM t WHERE id = :id", {"f": "%.1f|", "id": 2}),
    ("SELECT printf(?, id), '%' FROM t", ["%05d"]),
    ("SELECT id FROM t WHERE name LIKE ? ESCAPE ?", ["50|%", "|"]),
    ("SELECT id, ntile(?) OVER (ORDER BY id) FROM t WHERE id < ?", [2, 5]),
    ("SELECT id, min(id) OVER (ORDER BY id ROWS ? PRECEDING) FROM t WHERE id > :n", {"1": 1, "n": 1}),
    ("SELECT char(?, 66) FROM t WHERE id = ?", [65, 1]),
    ("SELECT json_set('{}', ?, id) FROM t WHERE id = ?", ["$.a", 1]),
    (
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT ?) SELECT x FROM c WHERE x > ?",
        [4, 1],
    ),
    ("SELECT cid, name, type, \"notnull\", dflt_value, pk FROM pragma_table_info('T') WHERE pk < ?", [1]),
    ("SELECT count(*) FROM pragma_table_info('none') WHERE name <> ?", ["id"]),
    ("SELECT name FROM pragma_table_info(?) ORDER BY cid", ["U"]),
    ("SELECT name FROM pragma_index_list('u') WHERE origin <> ?", ["pk"]),
    ("SELECT c.name FROM pragma_index_list('u') i, pragma_index_info('said') c WHERE c.cid > ?", [0]),
    ("SELECT m.name, p.name FROM sqlite_master m JOIN pragma_table_info(m.name) p WHERE p.pk = ?", [1]),
    ("SELECT name, ncol FROM pragma_table_list WHERE schema = 'main' AND type = ? ORDER BY name", ["table"]),
)
SAMPLED: Sequence[tuple[str, Values]] = (
    ("SELECT id, price * 0 + 9007199254740992.0 < ? FROM t", [2**53 + 1]),
    ("SELECT id FROM t WHERE price * 0 + 9007199254740992.0 IN (?, 7)", [2**53 + 1]),
    ("SELECT id FROM t WHERE id * 0 + 9007199254740992 < ? + 0", ["9007199254740993"]),
    ("SELECT id FROM t ORDER BY id LIMIT ? OFFSET ?", [-1, 2]),
    ("SELECT id, datetime(n * 100000, ?) FROM t", ["unixepoch"]),
    ("SELECT ?, id, typeof(?1), ?1 || 'x' FROM t", [None]),
    ("SELECT ? UNION ALL SELECT said FROM u", [None]),
)
"""Values that no translation without them as samples takes."""


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Database:
    path = sqlite_file(tmp_path_factory.mktemp("parameters") / "parameters.sqlite", DATA)
    return Database(f"test_{uuid4().hex[:8]}", "parameters", path, Profile.FAITHFUL)


@pytest.fixture(scope="module")
def schema(database: Database) -> Schema:
    return census(database.sqlite_path, escape=True)


def by_name(values: Values) -> Mapping[str, object]:
    return values if isinstance(values, Mapping) else {str(at): value for at, value in enumerate(values, 1)}


def bound(
    connection: Any, server: Server, database: Database, found: Translation, values: Values
) -> list[Any]:
    """Return the rows of a translation by the driver."""
    if server.dialect is Dialect.DUCKDB:
        install(connection)
    elif server.dialect is Dialect.POSTGRESQL:
        connection.execute(f'SET search_path = "{namespace(database, server.dialect)[-1]}"')
    else:
        with connection.cursor() as cursor:
            cursor.execute("SET NAMES utf8mb4 COLLATE utf8mb4_0900_bin")
            cursor.execute(f"USE `{namespace(database, server.dialect)[0]}`")
    cursor = connection.cursor()
    cursor.execute(found.sql, found.bind(values))
    return [*map(tuple, cursor.fetchall())]


@pytest.mark.engine
def test_bound_values_give_the_rows_of_sqlite(
    server: Server, stand: Callable[[Server, Database], None], database: Database, schema: Schema
) -> None:
    stand(server, database)
    different = []
    connected = import_module(f"loaders.{server.dialect}.session").connected
    with (
        closing(sqlite3.connect(database.sqlite_path)) as sqlite,
        connected(server, namespace(database, server.dialect)[0]) as connection,
    ):
        for sql, values in (*QUERIES, *SAMPLED):
            text, parameters = numbered(sql, {})
            expected = sqlite.execute(text, parameters.bound(by_name(values))).fetchall()
            for samples in ({}, by_name(values))[(sql, values) in SAMPLED :]:
                try:
                    found = translate(sql, schema, server.dialect, samples=samples)
                except Untranslatable as refusal:
                    known = any(said in str(refusal) for said in ABSENT)
                    if not known and (samples or "--param" not in str(refusal)):
                        different.append(f"{sql}: {refusal}")
                    continue
                rows = bound(connection, server, database, found, values)
                if sorted(map(repr, rows)) != sorted(map(repr, expected)):
                    different.append(f"{sql}\n{found.sql}\n{rows}\n{expected}")
    assert different == []


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        ("SELECT ?, ?3, ?, ?1", ["1", "3", "4"]),
        ("SELECT :a, ?, @b, ?, :a, $c, ?", ["a", "2", "b", "4", "c", "6"]),
        ("SELECT ':a ?', [?], \"$b\" -- ?\n, /* :c */ ?", ["1"]),
    ],
)
def test_places_count_as_sqlite_counts_them(sql: str, names: Sequence[str]) -> None:
    assert [*numbered(sql, {})[1].names] == names


@pytest.mark.parametrize(
    ("sql", "values", "written"),
    [
        ("SELECT ?1 - ?2, ?1", {"1": 1, "2": -2}, "SELECT  1  -  -2 ,  1 "),
        ("SELECT :a, '?'", {"a": "it's"}, "SELECT  'it''s' , '?'"),
        ("SELECT @a, $b, :c", {"a": None, "b": b"\x00\xff", "c": 0.1}, "SELECT  NULL ,  x'00ff' ,  0.1 "),
        ("SELECT ?, ?", {"1": float("-inf"), "2": True}, "SELECT  -9e999 ,  1 "),
    ],
)
def test_values_are_written_as_literals(sql: str, values: Mapping[str, object], written: str) -> None:
    found = with_literals(sql, values)
    assert found == written
    with closing(sqlite3.connect(":memory:")) as connection:
        marked, parameters = numbered(sql, {})
        [bound] = connection.execute(marked, parameters.bound(values))
        [literal] = connection.execute(found)
    assert literal == bound


@pytest.mark.parametrize(
    ("style", "sql", "names"),
    [
        (ParamStyle.FORMAT, "= %s OR n > %s AND name <> '%%'", ["b", "b"]),
        (ParamStyle.PYFORMAT, "= %(b)s OR n > %(b)s AND name <> '%%'", ["b"]),
        (ParamStyle.QMARK, "= ? OR n > ? AND name <> '%'", ["b", "b"]),
        (ParamStyle.NUMERIC, "= $1 OR n > $1 AND name <> '%'", ["b"]),
        (ParamStyle.NAMED, "= :b OR n > :b AND name <> '%'", ["b"]),
        (ParamStyle.DOLLAR, "= $b OR n > $b AND name <> '%'", ["b"]),
    ],
)
def test_a_style_writes_places_or_names(
    schema: Schema, style: ParamStyle, sql: str, names: Sequence[str]
) -> None:
    written = "SELECT id FROM t WHERE n = :b OR n > :b AND name <> '%'"
    found = translate(written, schema, Dialect.MYSQL, style=style)
    assert found.sql.endswith(sql)
    assert [each.name for each in found.parameters] == names


def test_a_text_without_parameters_keeps_its_percent_signs(schema: Schema) -> None:
    found = translate(
        "SELECT id FROM t WHERE name = 'a%'", schema, Dialect.POSTGRESQL, style=ParamStyle.FORMAT
    )
    assert "'a%'" in found.sql
    assert (found.parameters, found.style) == ((), None)


@pytest.mark.parametrize(
    ("sql", "samples", "says"),
    [
        ("SELECT ?", {}, "the parameter 1: its place does not tell its type; give a sample value"),
        ("SELECT :a = :b", {}, "the parameter a: its place does not tell its type"),
        ("SELECT id FROM t WHERE n = :a", {"b": 1}, "the parameter b: it is not in the query (a)"),
        ("SELECT id FROM t", {"b": 1}, "the parameter b: it is not in the query (it has none)"),
        ("SELECT :a", {"a": []}, "the parameter a: list is no type of SQLite's"),
    ],
)
def test_a_parameter_of_an_unknown_type_is_refused(
    schema: Schema, sql: str, samples: Mapping[str, object], says: str
) -> None:
    for target in LOADED:
        with pytest.raises(Untranslatable) as refusal:
            translate(sql, schema, target, samples=samples)
        assert says in str(refusal.value)


def test_a_sample_value_decides_how_a_comparison_is_made(schema: Schema) -> None:
    text, whole = (
        translate("SELECT id FROM t WHERE n = ?", schema, Dialect.POSTGRESQL, samples={"1": sample})
        for sample in ("3", 3)
    )
    assert ([each.kind for each in text.parameters], [each.kind for each in whole.parameters]) == (
        ["text"],
        ["integer"],
    )
    assert text.sql != whole.sql


@pytest.mark.parametrize(
    ("sql", "sample", "what"),
    [
        ("SELECT group_concat(name, ?) FROM t", ";", "a separator"),
        ("SELECT printf(?, id) FROM t", "%d", "a format"),
        ("SELECT id FROM t WHERE name LIKE 'a' ESCAPE ?", "!", "the character of ESCAPE"),
        ("SELECT ntile(?) OVER (ORDER BY id) FROM t", 2, "a number of groups"),
        ("SELECT sum(id) OVER (ORDER BY id ROWS ? PRECEDING) FROM t", 1, "a window frame's bound"),
    ],
)
def test_a_translation_for_one_value_is_for_no_other(
    schema: Schema, sql: str, sample: str | int, what: str
) -> None:
    for target in LOADED:
        with pytest.raises(Untranslatable, match=f"it is {what}, whose value decides the translation"):
            translate(sql, schema, target)
        found = translate(sql, schema, target, samples={"1": sample})
        assert (found.parameters, found.decided) == ((), {"1": sample})
        assert found.bind([sample]) == []
        with pytest.raises(BadInput, match=f"the parameter 1: this translation is for {sample!r}"):
            found.bind(["another"])


@pytest.mark.parametrize("target", LOADED)
def test_an_integer_that_a_real_rounds_is_not_bound_as_one(schema: Schema, target: Dialect) -> None:
    found = translate("SELECT id FROM t WHERE price < ?", schema, target)
    assert found.bind([2**53]) == [2**53]
    for value in (2**53 + 1, 10**400):
        with pytest.raises(BadInput, match="the parameter 1: a real rounds"):
            found.bind([value])
    sampled = translate("SELECT id FROM t WHERE price < ?", schema, target, samples={"1": 2**53 + 1})
    assert sampled.bind([2**53 + 1]) == [2**53 + 1]
