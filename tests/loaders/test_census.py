"""The portable schema follows from what is stored; what cannot follow stops the load and says where."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from dialects.enums import Dialect
from dialects.errors import BadInput
from dialects.schema import Column, ForeignKey, PortableType, Table
from dialects.translation import translate
from loaders.file_census import census
from loaders.portable import DAY, DAYS_SINCE_2000, MICROSECONDS_SINCE_2000
from tests.loaders.conftest import MakeFile
from tests.sqlite_files import sqlite_file

BIG = 2**53


def column(make_file: MakeFile, declared: str, values: Sequence[object]) -> tuple[Column, tuple[str, ...]]:
    schema = census(make_file(f"CREATE TABLE t (c {declared})", t=[(value,) for value in values]))
    return schema.tables[0].columns[0], schema.notes


@pytest.mark.parametrize(
    ("declared", "values", "type_", "holds"),
    [
        ("INTEGER", [1, -(2**63), 2**63 - 1], PortableType.INTEGER, None),
        ("INTEGER", [2**63 - 1, 2**63 - 1, 1], PortableType.INTEGER, None),
        ("INTEGER", [2**63 - 1, 2**63 - 1, "one"], PortableType.TEXT, "text and numbers"),
        ("DECIMAL(10,2)", [-(2**63), -(2**63)], PortableType.INTEGER, None),
        ("INTEGER", ["7", "8"], PortableType.INTEGER, None),
        ("INTEGER", [None], PortableType.INTEGER, None),
        ("INTEGER", [1, 2.5], PortableType.REAL, "fractions"),
        ("INTEGER", [1, "one"], PortableType.TEXT, "text and numbers"),
        ("INTEGER", [1, ""], PortableType.TEXT, "text and numbers"),
        ("INTEGER", ["one"], PortableType.TEXT, "text"),
        ("INTEGER", [b"\x00"], PortableType.BLOB, "blobs"),
        ("BOOLEAN", [0, 1], PortableType.INTEGER, None),
        ("REAL", [1, 2.5, BIG + 1], PortableType.REAL, None),
        ("REAL", [1.5, "n/a"], PortableType.TEXT, "text and numbers"),
        ("REAL", [float("inf"), -0.0], PortableType.REAL, None),
        ("DECIMAL(10,2)", [1, 2.5], PortableType.REAL, None),
        ("DECIMAL(10,2)", [1, 2], PortableType.INTEGER, None),
        ("NUMERIC", [None], PortableType.REAL, None),
        ("NUMERIC", [1, "n/a"], PortableType.TEXT, "text and numbers"),
        ("DECIMAL(10,2)", ["n/a"], PortableType.TEXT, "text"),
        ("NUMERIC", [b"1"], PortableType.BLOB, "blobs"),
        ("ANY", [1, "x"], PortableType.TEXT, None),
        ("TEXT", [1, 2.5, "x"], PortableType.TEXT, None),
        ("VARCHAR(3)", ["longer than three"], PortableType.TEXT, None),
        ("FLOATING POINT", [1], PortableType.INTEGER, None),
        ("", [1, 2], PortableType.INTEGER, None),
        ("", [1, "x"], PortableType.TEXT, None),
        ("", [None], PortableType.TEXT, None),
        ("BLOB", [b"", b"\xff"], PortableType.BLOB, None),
        ("BLOB", ["text"], PortableType.TEXT, "text"),
        ("DATE", ["2020-02-29", None, "0001-01-01", "9999-12-31"], PortableType.DATE, None),
        ("DATE", ["1998/12/27", "12/31/1980", "2020-01-01"], PortableType.DATE, None),
        ("DATE", ["2020-02-30"], PortableType.TEXT, "text that is no date"),
        ("DATE", ["0000-00-00"], PortableType.TEXT, "text that is no date"),
        ("DATE", ["0000-01-01"], PortableType.TEXT, "text that is no date"),
        ("DATE", ["31/12/1980"], PortableType.TEXT, "text that is no date"),
        ("DATE", ["2020-1-1"], PortableType.TEXT, "text that is no date"),
        ("DATE", ["now"], PortableType.TEXT, "text that is no date"),
        ("DATE", [""], PortableType.TEXT, "text that is no date"),
        ("DATE", [2020], PortableType.INTEGER, "integers"),
        ("DATE", [2451544.5], PortableType.REAL, "fractions"),
        ("DATE", ["2020-01-01", "2020-01-01 10:00:00"], PortableType.DATETIME, "times of day"),
        ("DATETIME", ["2010-07-19 19:39:07.0", "2010-07-19"], PortableType.DATETIME, None),
        ("TIMESTAMP", ["2010-07-19 19:39:07"], PortableType.DATETIME, None),
        ("DATETIME", ["2010-07-19 24:00:00"], PortableType.TEXT, "text that is no date"),
        ("DATETIME", ["2010-07-19T19:39:07"], PortableType.TEXT, "text that is no date"),
        ("DATETIME", ["2010-07-19 19:39:07Z"], PortableType.TEXT, "text that is no date"),
        ("DATETIME", ["2010-07-19 19:39:07.1234567"], PortableType.TEXT, "text that is no date"),
        ("DATETIME", ["2010-07-19 19:39:07."], PortableType.TEXT, "text that is no date"),
        ("DATETIME", ["12/31/1980"], PortableType.TEXT, "text that is no date"),
    ],
)
def test_type_follows_from_data_and_declaration(
    make_file: MakeFile, declared: str, values: Sequence[object], type_: PortableType, holds: str | None
) -> None:
    found, notes = column(make_file, declared, values)
    assert found.type is type_
    fallbacks = [note for note in notes if " is " in note]
    assert fallbacks == (
        [f"t.c, declared {declared or 'without a type'}, is {type_}: it holds {holds}"] if holds else []
    )


@pytest.mark.parametrize(
    ("declared", "values", "row", "what"),
    [
        ("", ["a", b"a"], 2, "a blob"),
        ("INTEGER", [1, 2, b"a"], 3, "a blob"),
        ("", [0.5, BIG, BIG + 1], 3, "an integer beyond 2\\^53"),
        ("NUMERIC", [0.5, -BIG - 1], 2, "an integer beyond 2\\^53"),
        ("", [12, "room 5", "12"], 3, "reads like a number"),
        ("", [float("inf"), "Inf", "x", "inf"], 4, "reads like a number"),
        ("", [1.5, "1.5"], 2, "reads like a number"),
        ("COLLATE NOCASE", [1e20, "1E+20", "1e+20"], 3, "reads like a number"),
    ],
)
def test_values_that_no_column_holds_together_stop_the_load(
    make_file: MakeFile, declared: str, values: Sequence[object], row: int, what: str
) -> None:
    with pytest.raises(BadInput, match=rf"shop\.sqlite: table t, column c, rowid {row}: .*{what}") as error:
        column(make_file, declared, values)
    assert "\n" not in str(error.value)


def test_a_row_without_rowid_is_named_by_its_key(make_file: MakeFile) -> None:
    path = make_file(
        'CREATE TABLE t ("the key" TEXT, n INTEGER, v, PRIMARY KEY (n, "the key")) WITHOUT ROWID',
        t=[("a", 1, "x"), ("b", 2, b"x")],
    )
    with pytest.raises(BadInput, match=r"column v, key 2, 'b': a blob"):
        census(path)


def test_a_column_named_rowid_is_not_taken_for_the_rowid(make_file: MakeFile) -> None:
    path = make_file("CREATE TABLE t (rowid TEXT, v)", t=[("zero", "x"), ("one", b"x")])
    with pytest.raises(BadInput, match=r"column v, rowid 2: a blob"):
        census(path)


def test_what_a_column_holds_is_measured(make_file: MakeFile) -> None:
    [table] = census(
        make_file(
            "CREATE TABLE t (n INTEGER NOT NULL, r REAL, s TEXT, d DATE, m DATETIME, x)",
            t=[
                (-5, 0.5, "äöü", "12/31/1980", "2010-07-19 19:39:07.25", 7),
                (9, float("-inf"), "a\0bcdef", None, "2010-07-19 19:39:07.000", "y"),
            ],
        )
    ).tables
    assert table.rows == 2
    n, r, s, d, m, x = table.columns
    assert (n.nullable, n.least, n.greatest) == (False, -5, 9)
    assert (r.nullable, r.least, r.greatest) == (True, float("-inf"), 0.5)
    assert (s.longest, s.mixed) == (7, False)
    assert d.slashes
    assert m.fractions
    assert (x.type, x.mixed, x.longest) == (PortableType.TEXT, True, 1)


def test_keys_and_indexes_are_read(make_file: MakeFile) -> None:
    schema = census(
        make_file(
            """
            CREATE TABLE "T one" (a INTEGER, "b c" TEXT UNIQUE, d TEXT, e AS (a + 1), PRIMARY KEY (d, A));
            CREATE INDEX by_e ON "T one" (e DESC, a);
            CREATE INDEX by_e_again ON "T one" (e, a);
            CREATE UNIQUE INDEX by_a ON "T one" (a);
            CREATE INDEX some ON "T one" (a) WHERE a > 3;
            CREATE INDEX lowered ON "T one" (lower(d));
            CREATE VIEW v AS SELECT * FROM "T one";
            CREATE VIRTUAL TABLE words USING fts5(word);
            CREATE TABLE words_of_mine (w);
            CREATE TABLE numbered (id INTEGER PRIMARY KEY AUTOINCREMENT);
            INSERT INTO numbered VALUES (NULL);
            ANALYZE;
            """
        )
    )
    assert [table.name for table in schema.tables] == ["T one", "words_of_mine", "numbered"]
    first = schema.tables[0]
    assert [column.name for column in first.columns] == ["a", "b c", "d", "e"]
    assert first.primary_key == ("d", "a")
    assert first.unique == (("b c",), ("a",))
    assert first.indexes == (("e", "a"),)
    assert sorted(schema.notes) == [
        "index lowered of table T one is left out: it is over an expression",
        "index some of table T one is left out: it is partial",
        "view v is not loaded: only tables are",
        "virtual table words is not loaded: only ordinary tables are",
    ]


def test_a_primary_key_with_null_is_a_unique_key(make_file: MakeFile) -> None:
    schema = census(make_file("CREATE TABLE t (a TEXT PRIMARY KEY)", t=[(None,), (None,), ("x",)]))
    assert (schema.tables[0].primary_key, schema.tables[0].unique) == ((), (("a",),))
    assert schema.notes == ("primary key of t is a unique key: it holds NULL",)


@pytest.mark.parametrize(
    ("columns", "rowid"),
    [
        ("id INTEGER PRIMARY KEY", "id"),
        ("id integer, PRIMARY KEY (id DESC)", "id"),
        ("id INTEGER PRIMARY KEY DESC", None),
        ("id INT PRIMARY KEY", None),
        ("id INTEGER, b, PRIMARY KEY (id, b)", None),
    ],
)
def test_the_rowid_is_told_from_a_key_that_looks_like_it(
    make_file: MakeFile, columns: str, rowid: str | None
) -> None:
    assert census(make_file(f"CREATE TABLE t ({columns})")).tables[0].rowid == rowid


def test_tables_that_are_called_like_the_inside_of_a_virtual_one_are_loaded(make_file: MakeFile) -> None:
    script = """
        CREATE VIRTUAL TABLE boxes USING rtree(id, x0, x1); CREATE VIRTUAL TABLE words USING fts5(word);
        CREATE TABLE boxes_data (a); CREATE TABLE words_segments (a)
    """
    assert [table.name for table in census(make_file(script)).tables] == ["boxes_data", "words_segments"]


@pytest.mark.parametrize(
    ("declared", "value"),
    [
        ("DATE", "'12/31/1980' || char(0) || 'x'"),
        ("DATE", "'2020-01-01' || char(0)"),
        ("DATETIME", "'2010-07-19 19:39:07' || char(0) || 'x'"),
        ("TIMESTAMP", "'2010-07-19 19:39:07.5' || char(0)"),
    ],
)
def test_what_stands_behind_a_nul_character_is_seen(make_file: MakeFile, declared: str, value: str) -> None:
    script = f"CREATE TABLE t (c {declared}); INSERT INTO t VALUES ('2020-01-01'), ({value})"
    [column] = census(make_file(script)).tables[0].columns
    assert (column.type, column.days, column.moments) == (PortableType.TEXT, False, False)


@pytest.mark.parametrize(
    ("values", "digits"),
    [
        ("('7'), ('-12'), ('0'), (NULL)", (-12, 7)),
        ("('-9223372036854775808'), ('9223372036854775807')", (-(2**63), 2**63 - 1)),
        ("('7'), ('07')", None),
        ("('7'), ('9223372036854775808')", None),
        ("('7'), ('-0')", None),
        ("('7'), ('7 ')", None),
        ("('7'), ('7' || char(0))", None),
        ("('7'), ('7.0')", None),
        ("('1'), ('5b'), ('7')", None),
        ("(NULL)", None),
    ],
)
def test_texts_that_are_integers_are_known_with_their_extremes(
    make_file: MakeFile, values: str, digits: tuple[int, int] | None
) -> None:
    [column] = census(make_file(f"CREATE TABLE t (c TEXT); INSERT INTO t VALUES {values}")).tables[0].columns
    found = (column.least, column.greatest) if column.digits else None
    assert (column.type, found) == (PortableType.TEXT, digits)


@pytest.mark.parametrize("declared", ["TEXT", "VARCHAR(99)", ""])
@pytest.mark.parametrize(
    ("values", "long"),
    [
        ("('9007199254740993'), ('1.0')", True),
        ("('2024-01-01'), ('9007199254740993')", True),
        ("('x9007199254740993'), (NULL), (1)", True),
        ("('900719925474099'), ('01')", False),
        ("('2024-01-01 10:00:00.123')", False),
    ],
)
def test_numbers_of_16_digits_are_known_among_texts_of_any_form(
    make_file: MakeFile, declared: str, values: str, *, long: bool
) -> None:
    made = make_file(f"CREATE TABLE t (c {declared}); INSERT INTO t VALUES {values}")
    assert [column.long_numbers for column in census(made).tables[0].columns] == [long]


@pytest.mark.parametrize("declared", ["TEXT", "DATE", "VARCHAR(99)"])
@pytest.mark.parametrize(
    ("values", "first_year"),
    [
        ("('-4713-01-01'), ('2020-01-01')", True),
        ("(''), ('-4713-11-24 10:00'), (NULL), ('x')", True),
        ("('-4712-01-01'), ('2020-01-01')", False),
        ("(''), ('-4714-01-01'), ('a longer text than others')", False),
    ],
)
def test_days_of_the_first_year_are_known_and_warned_of(
    make_file: MakeFile, declared: str, values: str, *, first_year: bool
) -> None:
    schema = census(make_file(f"CREATE TABLE t (c {declared}); INSERT INTO t VALUES {values}"))
    assert schema.tables[0].columns[0].first_year == first_year
    for sql, warns in (("SELECT date(c, '+1 month') FROM t", first_year), ("SELECT date(c) FROM t", False)):
        found = translate(sql, schema, Dialect.MYSQL)
        assert any("before -4713-11-24" in each for each in found.warnings) == warns


def test_half_a_surrogate_pair_stops_the_load_of_a_utf16_file(make_file: MakeFile) -> None:
    script = "PRAGMA encoding = 'UTF-16le'; CREATE TABLE t (a TEXT); INSERT INTO t VALUES ('😀'), ({})"
    assert census(make_file(script.format("'b'"))).rows == 2
    with pytest.raises(BadInput, match="table t, column a, rowid 2: text with invalid bytes"):
        census(make_file(script.format("CAST(x'3dd86100' AS TEXT)")))


PARENT = 'CREATE TABLE "Parent" (id INTEGER PRIMARY KEY, x TEXT, y INTEGER, plain TEXT, UNIQUE (x, y));'
PARENTS = [(1, "a", 1, "p"), (2, "a", 2, "p"), (3, None, 3, None)]


@pytest.mark.parametrize(
    ("reference", "rows", "kept", "left_out"),
    [
        ("REFERENCES parent", [(1, None), (None, None)], ForeignKey(("c",), "Parent", ("id",)), None),
        ("REFERENCES PARENT (ID)", [(1, None)], ForeignKey(("c",), "Parent", ("id",)), None),
        ("REFERENCES parent", [(1, None), (7, None), (7, None)], None, "2 rows have no parent"),
        ("REFERENCES nobody", [(1, None)], None, "there is no such table"),
        ("REFERENCES parent (no_such)", [(1, None)], None, "the parent has no such key"),
        ("REFERENCES parent (y)", [(1, None)], None, "the parent's columns are not unique"),
        ("REFERENCES child (c)", [(1, None)], None, "the parent's columns are not unique"),
        ("REFERENCES child (d)", [(1, 1), (None, 5)], ForeignKey(("c",), "Child", ("d",)), None),
        ("REFERENCES child (d)", [(1, 1), (2, None), (7, 5), (None, 9)], None, "2 rows have no parent"),
        (", e TEXT REFERENCES parent (id)", [(1, None, "1")], None, "the columns hold different types"),
        (
            ", e TEXT, FOREIGN KEY (E, C) REFERENCES parent (X, Y)",
            [(1, None, "a"), (7, None, None)],
            ForeignKey(("e", "c"), "Parent", ("x", "y")),
            None,
        ),
        (
            ", e TEXT, FOREIGN KEY (e, c) REFERENCES parent",
            [(1, None, "a")],
            None,
            "the parent has no such key",
        ),
    ],
)
def test_foreign_keys_are_kept_where_the_rows_satisfy_them(
    make_file: MakeFile,
    reference: str,
    rows: Sequence[Sequence[object]],
    kept: ForeignKey | None,
    left_out: str | None,
) -> None:
    before, _, after = reference.partition(",")
    script = f'CREATE TABLE "Child" (c INTEGER {before}, d INTEGER UNIQUE {"," * bool(after)} {after});'
    schema = census(make_file(PARENT + script, Parent=PARENTS, Child=rows))
    assert schema.tables[1].foreign_keys == ((kept,) if kept else ())
    assert [note.rsplit(": ", 1)[1] for note in schema.notes] == ([left_out] if left_out else [])


@pytest.mark.slow
def test_more_columns_than_sqlite_returns_figures_at_once(make_file: MakeFile) -> None:
    names = [f"c{number}" for number in range(1_900)]
    script = (
        f"CREATE TABLE t ({', '.join(names)}); INSERT INTO t VALUES ({', '.join(map(str, range(1_900)))})"
    )
    [table] = census(make_file(script)).tables
    assert [(column.name, column.least) for column in table.columns] == list(
        zip(names, range(1_900), strict=True)
    )


def test_a_utf16_file_is_read(make_file: MakeFile) -> None:
    script = "PRAGMA encoding = 'UTF-16'; CREATE TABLE t (a TEXT); INSERT INTO t VALUES ('größer')"
    [table] = census(make_file(script)).tables
    assert (table.columns[0].type, table.columns[0].longest) == (PortableType.TEXT, 12)


def test_a_path_may_hold_any_character(tmp_path: Path) -> None:
    folder = tmp_path / "a?b#c%20 d"
    folder.mkdir()
    sqlite_file(folder / "e.sqlite", "CREATE TABLE t (a)")
    assert census(folder / "e.sqlite").tables == (
        Table("t", (Column("a", "", PortableType.TEXT, nullable=True, nulls=False),), 0, rowids=((1, 1),)),
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "unable to open database file"),
        (b"", "has no table"),
        (b"not a database, but long enough to look like one" * 20, "file is not a database"),
    ],
)
def test_what_is_no_sqlite_file_is_refused(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "x.sqlite"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(BadInput, match=rf"x\.sqlite: {message}"):
        census(path)


def test_a_file_with_an_unfinished_journal_is_refused(make_file: MakeFile) -> None:
    path = make_file("CREATE TABLE t (a)")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = wal")
        connection.execute("INSERT INTO t VALUES (1)")
        connection.commit()
        with pytest.raises(BadInput, match=r"shop\.sqlite: shop\.sqlite-wal holds changes"):
            census(path)


_MANY = """
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 2 FROM n WHERE i < {})
INSERT INTO t (rowid) SELECT i FROM n
"""


@pytest.mark.parametrize(
    ("script", "rowids"),
    [
        ("CREATE TABLE t (a); INSERT INTO t VALUES (7), (7), (NULL)", ((1, 1),)),
        ("CREATE TABLE t (a)", ((1, 1),)),
        ("CREATE TABLE t (rowid, a); INSERT INTO t VALUES (9, 1), (8, 2)", ((1, 1),)),
        (
            "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (3); DELETE FROM t WHERE a=2",
            ((1, 1), (2, 3)),
        ),
        ("CREATE TABLE t (a); INSERT INTO t (rowid, a) VALUES (0, 1), (1, 2)", ((1, 0),)),
        ("CREATE TABLE t (a); INSERT INTO t (rowid, a) VALUES (-1, 1), (2, 2), (3, 0)", ((1, -1), (2, 2))),
        (f"CREATE TABLE t (a); INSERT INTO t (rowid) VALUES (1), ({2**63 - 1})", ((1, 1), (2, 2**63 - 1))),
        (f"CREATE TABLE t (a); {_MANY.format(127)}", tuple((n, 2 * n - 1) for n in range(1, 65))),
        (f"CREATE TABLE t (a); {_MANY.format(129)}", ()),
        ("CREATE TABLE t (rowid, oid, _rowid_); INSERT INTO t VALUES (1, 1, 1)", ()),
        ("CREATE TABLE t (a PRIMARY KEY) WITHOUT ROWID; INSERT INTO t VALUES (1)", ()),
    ],
)
def test_rowids_are_known_by_the_numbers_of_the_rows_where_they_have_few_gaps(
    make_file: MakeFile, script: str, rowids: tuple[tuple[int, int], ...]
) -> None:
    [table] = census(make_file(script)).tables
    assert table.rowids == rowids


def test_a_column_to_be_escaped_says_what_its_values_allow(make_file: MakeFile) -> None:
    path = make_file(
        "CREATE TABLE t (texts, read, unread, hidden TEXT, pure TEXT);"
        " INSERT INTO t VALUES (1, 1, x'ff', 'a' || char(0), '1'), ('1', x'31', '1', 'b', '2')"
    )
    columns = census(path, escape=True).tables[0].columns
    assert [(c.escaped, c.blobs, c.readable, c.opaque, c.mixed) for c in columns] == [
        (True, False, True, False, True),
        (True, True, True, False, True),
        (True, True, False, False, True),
        (True, False, True, True, False),
        (False, False, False, False, False),
    ]


def test_a_text_of_thousands_of_digits_is_escaped_beside_numbers(make_file: MakeFile) -> None:
    path = make_file("CREATE TABLE t (v)", t=[(1,), ("9" * 5_000,)])
    [column] = census(path, escape=True).tables[0].columns
    assert (column.escaped, column.longest) == (True, len(f"␛t{'39' * 5_000}".encode()))


def test_any_of_a_strict_table_is_no_affinity(make_file: MakeFile) -> None:
    path = make_file("CREATE TABLE s (v ANY) STRICT; CREATE TABLE t (v ANY)")
    assert [table.columns[0].declared for table in census(path).tables] == ["", "ANY"]


DAYS = [date(1, 1, 1) + timedelta(days=number) for number in range(0, date.max.toordinal(), 9_973)] + [
    date.max, date(1582, 10, 4), date(1582, 10, 15), date(1900, 2, 28), date(2000, 1, 1), date(2000, 2, 29),
]  # fmt: skip


@pytest.fixture(scope="module")
def sqlite() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as connection:
        yield connection


def evaluated(sqlite: sqlite3.Connection, sql: str, text: str | None) -> object:
    return sqlite.execute(f"SELECT {sql.format('?1')}", (text,)).fetchone()[0]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("1998-12-27", "1998-12-27"),
        ("1998/12/27", "1998-12-27"),
        ("12/31/1980", "1980-12-31"),
        (None, None),
    ],
)
def test_a_day_has_one_spelling(sqlite: sqlite3.Connection, text: str | None, day: str | None) -> None:
    assert evaluated(sqlite, DAY, text) == day


def test_days_are_counted_exactly(sqlite: sqlite3.Connection) -> None:
    counted = [evaluated(sqlite, DAYS_SINCE_2000, day.isoformat()) for day in DAYS]
    assert counted == [(day - date(2000, 1, 1)).days for day in DAYS]
    assert evaluated(sqlite, DAYS_SINCE_2000, "12/31/1999") == -1
    assert evaluated(sqlite, DAYS_SINCE_2000, None) is None


@pytest.mark.parametrize(
    "clock",
    ["", " 00:00:00", " 23:59:59", " 23:59:59.9", " 12:34:56.000001", " 12:34:56.999999", " 01:02:03.25"],
)
def test_moments_are_counted_exactly(sqlite: sqlite3.Connection, clock: str) -> None:
    start = datetime(2000, 1, 1, tzinfo=UTC)
    for day in DAYS:
        moment = datetime.fromisoformat(f"{day}{(clock + '000000')[:16] if '.' in clock else clock}")
        counted = evaluated(sqlite, MICROSECONDS_SINCE_2000, f"{day}{clock}")
        assert counted == (moment.replace(tzinfo=UTC) - start) // timedelta(microseconds=1)
    assert evaluated(sqlite, MICROSECONDS_SINCE_2000, None) is None
