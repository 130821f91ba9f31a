from pathlib import Path

import pytest

from dialects.errors import BadInput
from harness.labs.conformance.sqllogictest import (
    ExpectedRows,
    Left,
    QueryRecord,
    Record,
    StatementRecord,
    read,
)


def records(tmp_path: Path, text: str) -> list[Record]:
    path = tmp_path / "a.test"
    path.write_text(text, encoding="utf-8")
    return list(read(path))


def test_records_have_their_line_their_text_and_what_is_expected(tmp_path: Path) -> None:
    text = (
        "# what it is\n# of\n\nhash-threshold 8\n\nstatement ok\nCREATE TABLE t(a,\n  b)\n\n\n"
        "# a comment before a record\nstatement error\nINSERT INTO no VALUES(1)\n\n"
        "query IT rowsort label-1\nSELECT a, b\n-- not a comment of the format\nFROM t\n----\n1\nx y\n\n"
        "query I valuesort\nSELECT a FROM t\n----\n30 values hashing to 0123456789abcdef0123456789abcdef\n\n"
        "query R\nSELECT 1.5\n"
    )
    assert records(tmp_path, text) == [
        StatementRecord(6, "CREATE TABLE t(a,\n  b)", fails=False),
        StatementRecord(12, "INSERT INTO no VALUES(1)", fails=True),
        QueryRecord(
            15,
            "SELECT a, b\n-- not a comment of the format\nFROM t",
            ExpectedRows("IT", "rowsort", "label-1", ("1", "x y")),
        ),
        QueryRecord(
            23,
            "SELECT a FROM t",
            ExpectedRows("I", "valuesort", count=30, md5="0123456789abcdef0123456789abcdef"),
        ),
        QueryRecord(28, "SELECT 1.5"),
    ]


@pytest.mark.parametrize(
    ("conditions", "reason"),
    [
        ("skipif sqlite", "skipif sqlite"),
        ("onlyif mysql", "onlyif mysql"),
        ("onlyif mysql # they differ", "onlyif mysql"),
        ("skipif mysql\nonlyif postgresql", "onlyif postgresql"),
        ("onlyif SQLite", None),
        ("skipif mysql", None),
        ("onlyif mysql\nonlyif sqlite", None),
    ],
)
def test_a_record_of_another_engine_is_left_out_with_its_reason(
    tmp_path: Path, conditions: str, reason: str | None
) -> None:
    count = conditions.count("\n") + 1
    [query, statement] = records(
        tmp_path, f"{conditions}\nquery I\nSELECT 1\n----\n1\n\n{conditions}\nstatement ok\nSELECT 1\n"
    )
    if reason is None:
        assert isinstance(query, QueryRecord)
        assert isinstance(statement, StatementRecord)
    else:
        assert query == Left(count + 1, reason, is_query=True)
        assert statement == Left(2 * count + 6, reason, is_query=False)


@pytest.mark.parametrize(
    ("condition", "ends"), [("", True), ("onlyif sqlite\n", True), ("skipif sqlite\n", False)]
)
def test_halt_ends_the_file_where_it_is_for_sqlite(tmp_path: Path, condition: str, ends: bool) -> None:  # noqa: FBT001
    found = records(tmp_path, f"{condition}halt\n\nquery I\nSELECT 1\n")
    assert found == ([] if ends else [QueryRecord(4, "SELECT 1")])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("query error\nSELECT no\n", Left(1, "the suite expects an error")),
        ("statement error no such table\nSELECT 1\n", StatementRecord(1, "SELECT 1", fails=True)),
        ("statement count 2\nUPDATE t SET a = 1\n", StatementRecord(1, "UPDATE t SET a = 1", fails=False)),
        ("query I nosort\nSELECT 1\n----\n", QueryRecord(1, "SELECT 1", ExpectedRows("I", values=()))),
        (
            "query T\r\nSELECT 'x '\r\n----\r\nx \r\n",
            QueryRecord(1, "SELECT 'x '", ExpectedRows("T", values=("x ",))),
        ),
    ],
)
def test_what_its_descendants_write(tmp_path: Path, text: str, reason: Record) -> None:
    path = tmp_path / "a.slt"
    path.write_bytes(text.encode())
    assert list(read(path)) == [reason]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("\nselect 1\n", ":2: 'select' is not a record of sqllogictest"),
        ("loop i 0 5\n", ":1: 'loop' is not a record"),
        ("statement\nSELECT 1\n", ":1: a statement is `statement ok` or `statement error`"),
        ("statement ok\n\nSELECT 1\n", ":1: the statement has no SQL"),
        ("query I\n----\n1\n", ":1: the query has no SQL"),
        ("query\nSELECT 1\n", ":1: a query names the types of its columns"),
        ("query I sorted label\nSELECT 1\n", ":1: 'sorted' is not an order of rows; choose from nosort"),
        ("statement ok\nSELECT 1\n\nhash-threshold\n", ":4: hash-threshold takes one whole number"),
        ("onlyif\nquery I\nSELECT 1\n", ":1: onlyif takes the name of one engine"),
        ("statement ok\nSELECT 1\n\nskipif mysql\n", ":4: a condition is not followed by a record"),
        ("statement ok\nSELECT '\udcff'\n", "line 2 is not UTF-8"),
        (" \n", "is empty"),
    ],
)
def test_a_malformed_file_is_one_line_that_says_where(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "a.test"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(BadInput) as refused:
        list(read(path))
    assert says in str(refused.value)
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)
