"""With `--escape`, what a server cannot hold arrives as text that can be turned back; all else is as ever."""

from collections.abc import Sequence
from typing import Any

import pytest

from dialects.enums import Dialect
from dialects.errors import BadInput
from loaders.bulk_load import load, loaded
from loaders.namespace import Database
from loaders.server import Server
from loaders.verify import DifferenceKind, verify
from loaders.verify.forms import stored, turned_back
from tests.every_engine import OWN
from tests.loaders.conftest import MakeFile
from tests.loaders.servers import ask, read

SERVERS = OWN

LATIN = "CAST(x'66fc72' AS TEXT)"


@pytest.mark.parametrize(
    ("value", "among_others", "text"),
    [
        (None, False, None),
        (bytearray(b"plain"), False, "plain"),
        (bytearray(b""), True, ""),
        (bytearray("a␛t".encode()), False, "a␛t"),
        (bytearray("␛".encode()), False, "␛te2909b"),
        (bytearray("␛t00".encode()), False, "␛te2909b743030"),
        (bytearray(b"f\xfcr"), False, "␛t66fc72"),
        (bytearray(b"\xed\xa0\x80"), False, "␛teda080"),
        (bytearray(b"a\0b"), False, "␛t610062"),
        (bytearray(b"12"), False, "12"),
        (bytearray(b"12"), True, "␛t3132"),
        (bytearray(b"1.50"), True, "␛t312e3530"),
        (bytearray(b" +.5e0\n"), True, "␛t202b2e3565300a"),
        (bytearray(b"1x"), True, "1x"),
        (bytearray(b"inf"), True, "␛t696e66"),
        (bytearray(b"1e+20"), True, "␛t31652b3230"),
        (12, True, "12"),
        (-0.0, True, "-0.0"),
        (float("inf"), True, "inf"),
        (b"", True, "␛b"),
        (b"\xe2\x90\x9b", True, "␛be2909b"),
    ],
)
def test_what_is_written_can_be_turned_back(value: Any, among_others: bool, text: str | None) -> None:  # noqa: FBT001 - a parameter
    written = stored(value, among_others=among_others)
    assert written == (None if text is None else bytearray(text.encode()))
    if isinstance(written, bytearray):
        back = turned_back(bytes(written), among_others=among_others)
        assert (type(back), repr(back)) == (type(value), repr(value))


UTF_8 = [
    (
        (
            "CREATE TABLE {t} (n INTEGER PRIMARY KEY, v UNIQUE); INSERT INTO {t} VALUES (1, 7), (2, '7');"
            " CREATE TABLE u (v TEXT REFERENCES {t} (v)); INSERT INTO u VALUES ('7')"
        ),
        ["7", "␛t37"],
        [
            "{t}.v, declared without a type, is text: it holds text that reads like a number",
            "{t}.v has 1 values that are escaped",
            "foreign key of u (v) to {t} is left out: values are escaped",
        ],
    ),
    (
        (
            f"CREATE TABLE {{t}} (n INTEGER PRIMARY KEY, v TEXT); INSERT INTO {{t}} VALUES (1, {LATIN}),"
            " (2, 'a' || char(0)), (3, '␛'), (4, 'é'), (5, NULL)"
        ),
        ["␛t66fc72", "␛t6100", "␛te2909b", "é", None],
        ["{t}.v has 3 values that are escaped"],
    ),
    (
        (
            "CREATE TABLE {t} (n INTEGER PRIMARY KEY, v);"
            " INSERT INTO {t} VALUES (1, 7), (2, '7'), (3, x'ff'), (4, 0.5), (5, 'x')"
        ),
        ["7", "␛t37", "␛bff", "0.5", "x"],
        ["{t}.v, declared without a type, is text: it holds a blob", "{t}.v has 2 values that are escaped"],
    ),
    (
        (
            "CREATE TABLE {t} (n INTEGER PRIMARY KEY, v NUMERIC);"
            " INSERT INTO {t} VALUES (1, 9007199254740993), (2, 1.5)"
        ),
        ["9007199254740993", "1.5"],
        ["{t}.v, declared NUMERIC, is text: it holds an integer beyond 2^53"],
    ),
    (
        (
            "CREATE TABLE {t} (n INTEGER, v TEXT PRIMARY KEY) WITHOUT ROWID;"
            f" INSERT INTO {{t}} VALUES (2, {LATIN}), (1, 'a')"
        ),
        ["a", "␛t66fc72"],
        ["{t}.v has 1 values that are escaped"],
    ),
    (
        (
            "CREATE TABLE {t} (n INTEGER PRIMARY KEY, v TEXT, b BLOB);"
            f" INSERT INTO {{t}} VALUES (1, {LATIN}, x'00')"
        ),
        ["␛t66fc72"],
        ["{t}.v has 1 values that are escaped"],
    ),
]
UTF_16 = [
    (
        (
            "PRAGMA encoding = 'UTF-16le'; CREATE TABLE {t} (n INTEGER PRIMARY KEY, v TEXT);"
            " INSERT INTO {t} VALUES (1, '␛'), (2, 'ü' || char(0))"
        ),
        ["␛te2909b", "␛tc3bc00"],
        ["{t}.v has 2 values that are escaped"],
    )
]


@pytest.mark.engine
@pytest.mark.usefixtures("profile")
@pytest.mark.parametrize("file", [UTF_8, UTF_16], ids=["UTF-8", "UTF-16"])
def test_values_that_no_server_holds_arrive_escaped(
    server: Server,
    database: Database,
    make_file: MakeFile,
    file: Sequence[tuple[str, Sequence[str | None], Sequence[str]]],
) -> None:
    make_file(";".join(script.format(t=f"t{number}") for number, (script, *_) in enumerate(file)))
    [done] = load([database], server, escape=True)
    for number, (_, arrived, _) in enumerate(file):
        found = read(server, database, f"SELECT v FROM t{number} ORDER BY n")
        assert [value for (value,) in found] == arrived
    noted = [note.format(t=f"t{number}") for number, (*_, notes) in enumerate(file) for note in notes]
    assert len(done.notes) == len(noted)
    assert all(any(note.startswith(start) for note in done.notes) for start in noted), done.notes
    [proof] = verify([database], server)
    assert proof.is_clean, proof.differences


@pytest.mark.engine
@pytest.mark.usefixtures("profile")
def test_numbers_beyond_a_type_get_another_one(
    server: Server, database: Database, make_file: MakeFile
) -> None:
    values = [1e39, -0.5, 0.1, float("inf"), None, 2.0]
    make_file(
        "CREATE TABLE t (n INTEGER PRIMARY KEY, v REAL, w REAL)",
        t=[(n, v, 1.5) for n, v in enumerate(values)],
    )
    load([database], server, escape=True)
    arrived = [value for (value,) in read(server, database, "SELECT v FROM t ORDER BY n")]
    expected = [None if v is None else str(v) if server.dialect is Dialect.MYSQL else v for v in values]
    assert list(map(str, arrived)) == list(map(str, expected))
    [found] = verify([database], server)
    assert found.is_clean, found.differences


@pytest.mark.engine
def test_the_proof_sees_another_value_where_one_was_escaped(
    server: Server, database: Database, make_file: MakeFile
) -> None:
    make_file(f"CREATE TABLE t (n INTEGER PRIMARY KEY, v TEXT); INSERT INTO t VALUES (1, {LATIN})")
    load([database], server, escape=True)
    ask(server, database, "UPDATE t SET v = '␛t66fc73'")
    [found] = verify([database], server)
    assert [difference.kind for difference in found.differences] == [DifferenceKind.VALUES]


@pytest.mark.engine
def test_another_choice_loads_again(server: Server, database: Database, make_file: MakeFile) -> None:
    make_file("CREATE TABLE t (v TEXT); INSERT INTO t VALUES ('␛'), ('a')")
    wanted: list[tuple[bool | None, bool, list[tuple[str]]]] = [
        (None, False, [("a",), ("␛",)]),
        (False, True, [("a",), ("␛",)]),
        (True, False, [("a",), ("␛te2909b",)]),
        (True, True, [("a",), ("␛te2909b",)]),
        (None, True, [("a",), ("␛te2909b",)]),
        (False, False, [("a",), ("␛",)]),
    ]
    for escape, is_skipped, rows in wanted:
        [done] = load([database], server, escape=escape)
        assert done.skipped is is_skipped
        assert sorted(read(server, database, "SELECT v FROM t")) == rows
        assert loaded([database], server)[database].escape is (rows[1] != ("␛",))
        assert next(iter(verify([database], server))).is_clean


@pytest.mark.engine
def test_what_cannot_be_escaped_still_stops(server: Server, database: Database, make_file: MakeFile) -> None:
    make_file(
        "PRAGMA encoding = 'UTF-16le'; CREATE TABLE t (v TEXT); INSERT INTO t VALUES (CAST(x'00d8' AS TEXT))"
    )
    with pytest.raises(BadInput, match="table t, column v, rowid 1: text with invalid bytes"):
        load([database], server, escape=True)


@pytest.mark.engine
def test_keys_and_references_hold_over_escaped_texts(
    server: Server, database: Database, make_file: MakeFile
) -> None:
    make_file(
        "CREATE TABLE p (v TEXT PRIMARY KEY); CREATE TABLE c (v TEXT REFERENCES p);"
        f" INSERT INTO p VALUES ({LATIN}), ('a'); INSERT INTO c VALUES ({LATIN}), ('a'), (NULL)"
    )
    [done] = load([database], server, escape=True)
    assert [note for note in done.notes if "escaped" not in note] == []
    assert read(server, database, "SELECT count(*) FROM c JOIN p ON c.v = p.v") == [(2,)]
    assert all(found.is_clean for found in verify([database], server))
