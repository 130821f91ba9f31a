"""Files: the same bytes whatever the number of processes, whole or not at all, and clear errors."""

import hashlib
import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from dialects.errors import BadInput
from harness.cli import app
from harness.data.sets.loader import load_set
from harness.labs.twins.builder import TwinFailure, TwinResult, made_lines, make
from harness.labs.twins.sources import TwinSource, of_files, of_set
from tests.labs.twins.shops import GOLDS, SCRIPT, quoted, schema
from tests.loaders.conftest import MakeFile

pytestmark = pytest.mark.slow

GOLD = "SELECT name FROM customer WHERE level = 'silver'"
COLUMN: dict[str, Any] = {
    "type": "TEXT",
    "primary_key": False,
    "foreign_keys": [],
    "value_samples": ["a", "b"],
}
PUBLISHED = {
    "shop": {
        "name": "shop",
        "tables": {
            "city": {
                "name": "city",
                "columns": [
                    {**COLUMN, "name": "id", "type": "INTEGER", "primary_key": True, "value_samples": [1, 2]},
                    {**COLUMN, "name": "name"},
                ],
            },
            "customer": {
                "name": "customer",
                "columns": [
                    {
                        **COLUMN,
                        "name": "id",
                        "primary_key": True,
                        "value_samples": ["c1", "c2", "c3", "c4", "c5"],
                    },
                    {**COLUMN, "name": "level", "value_samples": ["g", "b", "r", "s", "t"]},
                    {**COLUMN, "name": "name", "value_samples": ["Ada Moor", "Ben Lyle"]},
                    {
                        **COLUMN,
                        "name": "city",
                        "type": "INTEGER",
                        "foreign_keys": [{"target_table": "city", "target_column": None}],
                        "value_samples": [1],
                    },
                ],
            },
        },
    }
}


def digests(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def shops(make_file: MakeFile) -> list[TwinSource]:
    return [
        TwinSource(name, make_file(SCRIPT, name), tuple(list(GOLDS.values())[at::3]))
        for at, name in enumerate(("north", "south", "west"))
    ]


@pytest.mark.slow
@pytest.mark.thorough
def test_the_bytes_do_not_depend_on_the_number_of_processes(make_file: MakeFile, tmp_path: Path) -> None:
    sources = shops(make_file)
    make(sources, tmp_path / "one", workers=1)
    make(sources, tmp_path / "three", workers=3)
    assert digests(tmp_path / "one") == digests(tmp_path / "three")
    assert list(digests(tmp_path / "one")) == [f"{name}/{name}.sqlite" for name in ("north", "south", "west")]


def test_progress_names_every_database_until_it_is_done(make_file: MakeFile, tmp_path: Path) -> None:
    said: list[tuple[str, str]] = []
    make(shops(make_file)[:2], tmp_path / "made", progress=lambda *stage: said.append(stage))
    for name in ("north", "south"):
        stages = [stage for db_id, stage in said if db_id == name]
        assert stages[0] == "reading"
        assert stages[-1] == "done"
        assert "base rows" in stages


def test_a_database_that_cannot_be_made_stops_no_other_and_leaves_the_one_that_was_there(
    make_file: MakeFile, tmp_path: Path
) -> None:
    north, south, _ = shops(make_file)
    make([north], tmp_path / "made")
    before = digests(tmp_path / "made")
    impossible = make_file("CREATE VIRTUAL TABLE notes USING fts5(body)", "virtual")
    damaged = tmp_path / "damaged.sqlite"
    damaged.write_bytes(b"SQLite format 3\0 and no more")
    sources = [TwinSource("north", impossible, (GOLD,)), TwinSource("damaged", damaged, ()), south]
    unmade, broken, made = make(sources, tmp_path / "made", workers=2)
    assert isinstance(unmade, TwinFailure)
    assert isinstance(broken, TwinFailure)
    assert isinstance(made, TwinResult)
    assert made_lines([unmade]) == [
        f"north: no twin: {impossible}: table notes is virtual; twins are made of ordinary tables only"
    ]
    assert str(damaged) in broken.reason
    after = digests(tmp_path / "made")
    assert after.items() > before.items()
    assert after.keys() - before.keys() == {"south/south.sqlite"}


def test_a_table_whose_constraints_nothing_keeps_is_named(make_file: MakeFile, tmp_path: Path) -> None:
    path = make_file("CREATE TABLE customer (name TEXT CHECK (length(name) > 900) NOT NULL, level TEXT)")
    [made] = make([TwinSource("shop", path, (GOLD,))], tmp_path / "made")
    assert isinstance(made, TwinResult)
    assert made.notes == ("table customer has no rows: none was found that its constraints accept",)
    assert [each.reason for each in made.unanswered] == ["no rows were found that meet its conditions"]


@pytest.mark.parametrize("place", ["file", "file/below", "/dev/null/x", "/proc/no"])
def test_a_folder_that_cannot_be_written_is_refused_before_any_work(
    make_file: MakeFile, tmp_path: Path, place: str
) -> None:
    (tmp_path / "file").write_text("a file")
    said: list[str] = []
    with pytest.raises(BadInput, match="cannot be written"):
        make(shops(make_file), tmp_path / place, progress=lambda _db_id, stage: said.append(stage))
    assert said == []


ODD = (
    # Texts that golds compare a number with that can't be one.
    ("CREATE TABLE a (id INTEGER PRIMARY KEY, b TEXT)", "SELECT b FROM a WHERE id = 'text'"),
    ("CREATE TABLE a (id INT, b TEXT) STRICT", "SELECT b FROM a WHERE id = 'text'"),
    # The same value in two columns that are equal, and stored in two ways.
    (
        "CREATE TABLE a (code TEXT UNIQUE, b INTEGER); CREATE TABLE c (b INTEGER PRIMARY KEY, d TEXT)",
        "SELECT d FROM a JOIN c ON a.code = c.b WHERE a.code = 7 OR a.code = '7'",
    ),
    ("CREATE TABLE a (b TEXT COLLATE NOCASE UNIQUE)", "SELECT b FROM a WHERE b = 'Ab' OR b = 'aB'"),
    # Rows that need each other.
    (
        (
            "CREATE TABLE a (id INTEGER PRIMARY KEY, b INT NOT NULL REFERENCES c);"
            "CREATE TABLE c (id INTEGER PRIMARY KEY, d INT NOT NULL REFERENCES A (ID))"
        ),
        "SELECT a.id FROM a JOIN c ON a.b = c.id WHERE c.d > 5",
    ),
    (
        (
            "CREATE TABLE a (id TEXT PRIMARY KEY NOT NULL REFERENCES c (id));"
            "CREATE TABLE c (id TEXT PRIMARY KEY NOT NULL REFERENCES a (id))"
        ),
        "SELECT id FROM a WHERE id LIKE 'x%'",
    ),
    (
        "CREATE TABLE a (id INTEGER PRIMARY KEY, up INTEGER NOT NULL REFERENCES a (id))",
        "SELECT up FROM a WHERE id <> up",
    ),
    # Numbers and depths that Python does not take.
    ("CREATE TABLE a (b INTEGER UNIQUE)", "SELECT b FROM a WHERE b > 99999999999999999999 OR b = 1e999"),
    ("CREATE TABLE a (b INTEGER)", f"SELECT b FROM a WHERE {' OR '.join(['b = 1'] * 900)}"),
    ("CREATE TABLE a (b INTEGER)", "SELECT b AS x, x AS y FROM (SELECT b, b AS x FROM a) ORDER BY y"),
    # Constraints that what is drawn at first does not keep.
    ("CREATE TABLE a (b TEXT NOT NULL CHECK (b IN ('x', 'y')), c INT)", "SELECT c FROM a WHERE b = 'y'"),
    (
        "CREATE TABLE a (low INTEGER, high INTEGER, CHECK (low < high))",
        "SELECT low FROM a WHERE high = 3",
    ),
)
"""Schemas, each with a gold, that a twin is not obvious of."""


def sound(path: Path, golds: Iterable[str]) -> None:
    """Assert that a twin is whole: its pages, the references that SQLite can check, and every gold runs."""
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for (name,) in tables:
            try:
                broken = connection.execute(f"PRAGMA foreign_key_check({quoted(name)})").fetchall()
            except sqlite3.OperationalError as error:
                assert "foreign key mismatch" in str(error)  # noqa: PT017 - what the schema itself says
                continue
            assert [row for row in broken if row[2] != "nowhere"] == [], path
        for gold in golds:
            connection.execute(gold).fetchall()


@pytest.mark.slow
@pytest.mark.thorough
def test_every_schema_gets_a_twin(make_file: MakeFile, tmp_path: Path) -> None:
    drawn = (schema(seed) for seed in range(24))
    scripts = [*((each.script, each.golds) for each in drawn), *((script, (gold,)) for script, gold in ODD)]
    sources = [
        TwinSource(f"made{number}", make_file(script, f"made{number}"), tuple(golds))
        for number, (script, golds) in enumerate(scripts)
    ]
    for source, made in zip(sources, make(sources, tmp_path / "made"), strict=True):
        assert isinstance(made, TwinResult), made
        assert not any("it fails" in each.reason or "Error" in each.reason for each in made.unanswered), made
        sound(made.path, source.golds)


@pytest.mark.parametrize("scale", [0.0, -1.0, 11.0, float("nan")])
def test_an_impossible_scale_is_refused(make_file: MakeFile, tmp_path: Path, scale: float) -> None:
    with pytest.raises(BadInput, match="--scale"):
        make(shops(make_file), tmp_path, scale=scale)


def test_a_published_schema_is_enough(tmp_path: Path) -> None:
    schema, questions = tmp_path / "schema.json", tmp_path / "questions.json"
    schema.write_text(json.dumps(PUBLISHED))
    questions.write_text(json.dumps([{"db_id": "shop", "SQL": GOLD}]))
    [made] = make(of_files(schema, questions), tmp_path / "made")
    assert isinstance(made, TwinResult)
    assert made.unanswered == ()
    with closing(sqlite3.connect(made.path)) as connection:
        assert connection.execute(GOLD).fetchall()
        keys = connection.execute("SELECT [from], [table], [to] FROM pragma_foreign_key_list('customer')")
        assert keys.fetchall() == [("city", "city", "id")]
        assert connection.execute("SELECT COUNT(*) FROM customer WHERE typeof(id) <> 'text'").fetchone() == (
            0,
        )


def test_a_reference_to_what_is_not_there_is_none_and_a_type_can_be_any_text(tmp_path: Path) -> None:
    published = json.dumps(PUBLISHED)
    changed = {
        "nowhere": published.replace('"city", "target_col', '"town", "target_col'),
        "odd": published.replace('"type": "TEXT"', '"type": "DECIMAL(9, default \\"x"'),
    }
    for name, text in changed.items():
        assert text != published
        (tmp_path / f"{name}.json").write_text(text.replace('"shop"', f'"{name}"'))
    sources = [TwinSource(name, tmp_path / f"{name}.json", (GOLD,)) for name in changed]
    for made in make(sources, tmp_path / "made"):
        assert isinstance(made, TwinResult), made
        sound(made.path, {GOLD})


def test_values_that_descriptions_name_are_used(tmp_path: Path) -> None:
    (tmp_path / "schema.json").write_text(json.dumps(PUBLISHED))
    place = tmp_path / "shop" / "database_description" / "customer.csv"
    place.parent.mkdir(parents=True)
    place.write_text("original,name,description,format,values\nlevel,,,text,\"'g': gold 'q': quartz\"\n")
    source = TwinSource("shop", tmp_path / "schema.json", (), tmp_path)
    [made] = make([source], tmp_path / "made")
    assert isinstance(made, TwinResult)
    with closing(sqlite3.connect(made.path)) as connection:
        assert connection.execute("SELECT COUNT(*) > 0 FROM customer WHERE level = 'q'").fetchone() == (1,)


@pytest.mark.parametrize(
    ("schema", "questions", "message"),
    [
        ("[1]", "[]", "not a published schema"),
        ("{", "[]", "not a published schema"),
        (json.dumps(PUBLISHED), "{", "not a question file"),
        (json.dumps(PUBLISHED), '[{"db_id": "shop"}]', "not a question file"),
        (json.dumps(PUBLISHED), '[{"db_id": "zoo", "SQL": "SELECT 1"}]', "no question is about shop"),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, schema: str, questions: str, message: str) -> None:
    (tmp_path / "schema.json").write_text(schema)
    (tmp_path / "questions.json").write_text(questions)
    with pytest.raises(BadInput, match=message):
        of_files(tmp_path / "schema.json", tmp_path / "questions.json")


def test_an_unknown_database_is_refused() -> None:
    with pytest.raises(BadInput, match="--db zoo: question set sample has no such database"):
        of_set(load_set("sample"), db_ids=["zoo"])


def test_the_command_makes_the_databases_of_a_set(tmp_path: Path) -> None:
    command = [
        "lab",
        "twins",
        "--set",
        "sample",
        "--db",
        "city_library",
        "--out",
        str(tmp_path / "made"),
        "--workers",
        "1",
    ]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    path = tmp_path / "made" / "city_library" / "city_library.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert "city_library: " in done.output
    assert "golds answer" in done.output


def test_the_command_goes_on_where_a_database_has_no_twin(tmp_path: Path) -> None:
    shop = tmp_path / "shop.json"
    broken = json.loads(json.dumps(PUBLISHED))
    broken["zoo"] = {
        "name": "zoo",
        "tables": {"t": {"name": "t", "columns": [{**COLUMN, "name": "id"}, {**COLUMN, "name": "ID"}]}},
    }
    shop.write_text(json.dumps(broken))
    questions = tmp_path / "q.json"
    questions.write_text(json.dumps([{"db_id": name, "SQL": GOLD} for name in ("zoo", "shop")]))
    command = [
        "lab",
        "twins",
        "--schema",
        str(shop),
        "--questions",
        str(questions),
        "--out",
        str(tmp_path / "made"),
    ]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 1, done.output
    assert "zoo: no twin: " in done.output
    assert "duplicate column name" in done.output
    assert (tmp_path / "made" / "shop" / "shop.sqlite").is_file()
    done = CliRunner().invoke(app, [*command, "--db", "zoo"])
    assert done.exit_code == 2


@pytest.mark.parametrize(
    "options", [[], ["--schema", "x.json"], ["--set", "sample", "--questions", "q.json"]]
)
def test_the_command_needs_golds(tmp_path: Path, options: list[str]) -> None:
    done = CliRunner().invoke(app, ["lab", "twins", "--out", str(tmp_path), *options])
    assert isinstance(done.exception, BadInput)
    assert "--questions" in str(done.exception)
