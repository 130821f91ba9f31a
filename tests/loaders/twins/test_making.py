"""Files: the same bytes whatever the number of processes, whole or not at all, and clear errors."""

import hashlib
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from harness.cli import app
from harness.errors import BadInput
from harness.readers.question_sets import load_set
from loaders.twins.making import Source, make
from loaders.twins.sources import of_files, of_set
from tests.loaders.conftest import MakeFile
from tests.loaders.twins.shop import GOLDS, SCRIPT

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


def shops(make_file: MakeFile) -> list[Source]:
    return [
        Source(name, make_file(SCRIPT, name), tuple(list(GOLDS.values())[at::3]))
        for at, name in enumerate(("north", "south", "west"))
    ]


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


def test_a_database_that_cannot_be_made_leaves_the_one_that_was_there(
    make_file: MakeFile, tmp_path: Path
) -> None:
    [source] = shops(make_file)[:1]
    make([source], tmp_path / "made")
    before = digests(tmp_path / "made")
    impossible = make_file(
        "CREATE TABLE customer (name TEXT CHECK (length(name) > 900), level TEXT);", "north"
    )
    with pytest.raises(BadInput, match=r"north\.sqlite: CHECK constraint failed.*constraint of the schema"):
        make([Source("north", impossible, (GOLD,))], tmp_path / "made")
    assert digests(tmp_path / "made") == before


def test_a_folder_that_cannot_be_written_is_refused(make_file: MakeFile, tmp_path: Path) -> None:
    (tmp_path / "made").write_text("a file")
    with pytest.raises(BadInput, match="cannot be written"):
        make(shops(make_file)[:1], tmp_path / "made")


@pytest.mark.parametrize("scale", [0.0, -1.0, 11.0, float("nan")])
def test_an_impossible_scale_is_refused(make_file: MakeFile, tmp_path: Path, scale: float) -> None:
    with pytest.raises(BadInput, match="--scale"):
        make(shops(make_file), tmp_path, scale=scale)


def test_a_published_schema_is_enough(tmp_path: Path) -> None:
    schema, questions = tmp_path / "schema.json", tmp_path / "questions.json"
    schema.write_text(json.dumps(PUBLISHED))
    questions.write_text(json.dumps([{"db_id": "shop", "SQL": GOLD}]))
    [made] = make(of_files(schema, questions), tmp_path / "made")
    assert made.unanswered == ()
    with closing(sqlite3.connect(made.path)) as connection:
        assert connection.execute(GOLD).fetchall()
        keys = connection.execute("SELECT [from], [table], [to] FROM pragma_foreign_key_list('customer')")
        assert keys.fetchall() == [("city", "city", "id")]
        assert connection.execute("SELECT COUNT(*) FROM customer WHERE typeof(id) <> 'text'").fetchone() == (
            0,
        )


def test_values_that_descriptions_name_are_used(tmp_path: Path) -> None:
    (tmp_path / "schema.json").write_text(json.dumps(PUBLISHED))
    place = tmp_path / "shop" / "database_description" / "customer.csv"
    place.parent.mkdir(parents=True)
    place.write_text("original,name,description,format,values\nlevel,,,text,\"'g': gold 'q': quartz\"\n")
    source = Source("shop", tmp_path / "schema.json", (), tmp_path)
    [made] = make([source], tmp_path / "made")
    with closing(sqlite3.connect(made.path)) as connection:
        assert connection.execute("SELECT COUNT(*) > 0 FROM customer WHERE level = 'q'").fetchone() == (1,)


@pytest.mark.parametrize(
    ("schema", "questions", "message"),
    [
        ("[1]", "[]", "is no published schema"),
        ("{", "[]", "is no published schema"),
        (json.dumps(PUBLISHED), "{", "is no question file"),
        (json.dumps(PUBLISHED), '[{"db_id": "shop"}]', "is no question file"),
        (json.dumps(PUBLISHED), '[{"db_id": "zoo", "SQL": "SELECT 1"}]', "no question is about shop"),
        (json.dumps(PUBLISHED).replace('"city", "target_col', '"town", "target_col'), "[]", "refers to town"),
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


def test_a_virtual_table_is_refused(make_file: MakeFile, tmp_path: Path) -> None:
    path = make_file("CREATE VIRTUAL TABLE notes USING fts5(body)")
    with pytest.raises(BadInput, match="table notes is virtual"):
        make([Source("shop", path, ())], tmp_path / "made")


def test_the_command_makes_the_databases_of_a_set(tmp_path: Path) -> None:
    command = [
        "twins",
        "--set",
        "sample",
        "--db",
        "city_library",
        "--to",
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


@pytest.mark.parametrize(
    "options", [[], ["--schema", "x.json"], ["--set", "sample", "--questions", "q.json"]]
)
def test_the_command_needs_golds(tmp_path: Path, options: list[str]) -> None:
    done = CliRunner().invoke(app, ["twins", "--to", str(tmp_path), *options])
    assert isinstance(done.exception, BadInput)
    assert "--questions" in str(done.exception)
