"""What stands in columns is counted class by class, and everything that stops a load is found at once."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from dialects.enums import Dialect, Profile
from dialects.errors import BadInput
from dialects.schema import PortableType
from harness.analyses.describe import census_json, census_lines
from harness.cli import app
from loaders.file_census import census
from loaders.inventory import ColumnInventory, inventory
from tests.loaders.conftest import MakeFile

MYSQL = [(Dialect.MYSQL, profile) for profile in Profile]
POSTGRESQL = [(Dialect.POSTGRESQL, profile) for profile in Profile]
DUCKDB = [(Dialect.DUCKDB, profile) for profile in Profile]
MARIADB = [(Dialect.MARIADB, profile) for profile in Profile]
EVERY = MYSQL + POSTGRESQL + DUCKDB + MARIADB


def column(make_file: MakeFile, declared: str, values: Sequence[str]) -> ColumnInventory:
    rows = ", ".join(f"({value})" for value in values)
    [table] = inventory(make_file(f"CREATE TABLE t (c {declared}); INSERT INTO t VALUES {rows}")).tables
    assert table.rows == len(values)
    return table.columns[0]


NUL = "a NUL character, which PostgreSQL's text cannot store"
NO_NUL = "postgresql (official, faithful)"
LATIN_1 = "CAST(x'66fc72' AS TEXT)"


@pytest.mark.parametrize(
    ("declared", "values", "facts"),
    [
        (
            "INTEGER",
            ["NULL", "9223372036854775807", "-9223372036854775808", "0", "NULL"],
            {"type": "integer", "classes": {"null": 2, "integer": 3}, "integers": (-(2**63), 2**63 - 1)},
        ),
        ("REAL", ["0.5", "-2", "9e999"], {"type": "real", "reals": (-2.0, float("inf")), "integers": None}),
        (
            "INTEGER",
            ["1", "'äö'", "2.5", "NULL", "''"],
            {
                "type": "text",
                "classes": {"null": 1, "integer": 1, "real": 1, "text": 2},
                "integers": (1, 1),
                "reals": (2.5, 2.5),
                "characters": (0, 2),
                "text_bytes": (0, 4),
            },
        ),
        ("BLOB", ["x''", "x'00ff'", "NULL"], {"type": "blob", "blob_bytes": (0, 2), "characters": None}),
        ("BLOB", ["x'00'", "'a'"], {"type": None, "classes": {"text": 1, "blob": 1}}),
        (
            "TEXT",
            ["'a' || char(0) || 'é'", "'b'", "char(0)"],
            {"with_nul": 2, "not_text": 0, "characters": (1, 3), "text_bytes": (1, 4)},
        ),
        ("TEXT", [LATIN_1, "'für'", f"'a' || char(0) || {LATIN_1}"], {"with_nul": 1, "not_text": 2}),
        ("TEXT", ["NULL"], {"type": "text", "classes": {"null": 1}, "characters": None, "dates": {}}),
        (
            "DATE",
            ["'2020-02-29'", "'1998/12/27'", "'12/31/1980'", "'2020-01-01'", "NULL"],
            {"type": "date", "dates": {"YYYY-MM-DD": 2, "YYYY/MM/DD": 1, "MM/DD/YYYY": 1}},
        ),
        (
            "DATETIME",
            ["'2020-02-29 10:00:00'", "'2020-02-29 10:00:00.25'", "'2020-02-29'"],
            {
                "type": "datetime",
                "dates": {"YYYY-MM-DD": 1, "YYYY-MM-DD HH:MM:SS": 1, "YYYY-MM-DD HH:MM:SS.f": 1},
            },
        ),
        (
            "DATE",
            ["'0000-00-00'", "'31/12/1980'", "'2020-02-30'", "'none'", "'1/2'", "'2020-01-01' || char(0)"],
            {"type": "text", "dates": {"0000-00-00": 1, "looks like a date": 2}},
        ),
    ],
)
def test_values_are_counted_by_their_class(
    make_file: MakeFile, declared: str, values: Sequence[str], facts: dict[str, Any]
) -> None:
    found = column(make_file, declared, values)
    assert {name: getattr(found, name) for name in facts} == facts


def test_a_utf16_file_is_measured_in_its_own_bytes(make_file: MakeFile) -> None:
    script = "PRAGMA encoding = 'UTF-16be'; CREATE TABLE t (c TEXT); INSERT INTO t VALUES ('größer'), ('😀')"
    found = inventory(make_file(script))
    [text] = found.tables[0].columns
    assert (found.encoding, text.characters, text.text_bytes) == ("UTF-16be", (1, 6), (4, 12))
    assert not text.not_text


@pytest.mark.parametrize(
    ("declared", "values", "stops"),
    [
        ("TEXT", ["'a'", "'b'"], []),
        ("REAL", ["1.5", "9e999", "-9e999"], [(2, "an infinite number", 2, MYSQL + MARIADB)]),
        ("REAL", ["1e39", "2"], [(1, "a number beyond PostgreSQL's real", 1, [POSTGRESQL[0], DUCKDB[0]])]),
        (
            "TEXT",
            ["'a'", LATIN_1, "char(0)", "char(0)"],
            [
                (1, "text with invalid bytes", 2, EVERY),
                (2, "a NUL character", 3, POSTGRESQL),
            ],
        ),
        ("", ["'a'", "x'00'", "x'01'"], [(2, "a blob in a column", 2, EVERY)]),
        ("", ["0.5", "9007199254740993"], [(1, "an integer beyond", 2, EVERY)]),
    ],
)
def test_all_that_stops_a_load_is_found(
    make_file: MakeFile,
    declared: str,
    values: Sequence[str],
    stops: Sequence[tuple[int, str, int, list[tuple[Dialect, Profile]]]],
) -> None:
    found = column(make_file, declared, values).stops
    assert len(found) == len(stops)
    for stop, (count, what, row, on) in zip(found, stops, strict=True):
        assert (stop.values, stop.where, list(stop.on)) == (count, f"table t, column c, rowid {row}", on)
        assert stop.what.startswith(what)


def test_types_and_notes_are_those_of_the_census(make_file: MakeFile) -> None:
    path = make_file(
        "CREATE TABLE t (a INTEGER, b DATE, c, d REAL); CREATE VIEW v AS SELECT 1;"
        " INSERT INTO t VALUES ('x', '2020-01-01', 5, NULL), (1, '01/02/2020', NULL, 2)"
    )
    found, schema = inventory(path), census(path)
    assert found.notes == schema.notes
    assert len(found.notes) == 3
    assert [column.type for column in found.tables[0].columns] == [
        column.type for column in schema.tables[0].columns
    ]


def test_a_file_whose_load_is_stopped_by_its_declarations_alone_is_refused(make_file: MakeFile) -> None:
    with pytest.raises(BadInput, match=r"shop\.sqlite: has no table"):
        inventory(make_file(""))


def test_the_lines_name_every_column_and_every_stop(make_file: MakeFile) -> None:
    path = make_file(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, c TEXT);"
        " INSERT INTO t VALUES (1, 'a'), (2, 'a' || char(0)), (3, NULL)"
    )
    assert list(census_lines(inventory(path))) == [
        f"{path}: UTF-8, 1 table; types: profile official",
        "  t: 3 rows",
        "    id  INTEGER -> integer: 3 integer (1 to 3)",
        "    c   TEXT -> text: 1 null, 2 text (1 to 2 characters; 1 to 2 bytes; 1 with NUL)",
        f"      stops a load: 1 value, the first in table t, column c, rowid 2: {NUL}; on {NO_NUL}",
    ]


def test_json_holds_the_same_for_programs(make_file: MakeFile) -> None:
    path = make_file("CREATE TABLE t (c REAL); INSERT INTO t VALUES (9e999), (0.5)")
    [file] = json.loads(census_json([inventory(path)]))
    [found] = file["tables"][0]["columns"]
    assert (file["path"], found["type"], found["classes"]) == (str(path), PortableType.REAL, {"real": 2})
    assert found["reals"] == [0.5, "inf"]
    assert found["stops"][0]["on"] == [list(each) for each in MYSQL + MARIADB]


def test_the_command_takes_a_file_or_a_set(make_file: MakeFile, tmp_path: Path) -> None:
    path = make_file("CREATE TABLE t (c REAL)")
    call = CliRunner().invoke
    assert call(app, ["describe", "--columns", str(path)]).output.startswith(f"{path}: UTF-8, 1 table; ")
    assert [
        file["path"] for file in json.loads(call(app, ["describe", "--columns", str(path), "--json"]).output)
    ] == [str(path)]
    one = call(app, ["describe", "--columns", "--set", "sample", "--db", "city_library"]).output.splitlines()
    assert [line.split(":")[0].rsplit("/", 1)[-1] for line in one if line[0] != " "] == [
        "city_library.sqlite"
    ]
    with pytest.raises(BadInput, match="--db nowhere: sample has no such database; it has botanic_garden"):
        call(app, ["describe", "--columns", "--db", "nowhere"], catch_exceptions=False)
    with pytest.raises(BadInput, match="unable to open database file"):
        call(app, ["describe", "--columns", str(tmp_path / "none.sqlite")], catch_exceptions=False)
