"""Names and types are spelled as the published dumps spell them."""

import json
from pathlib import Path
from typing import Any

import pytest

from dialects.enums import Dialect, Profile
from dialects.errors import BadInput
from dialects.postgresql import NAMES
from dialects.schema import Column, ForeignKey, PortableType, Schema, Table
from dialects.server_schema import TYPES, server_tables
from loaders.file_census import census

PATH = Path("shop.sqlite")


def schema(*names: str, table: str = "t") -> Schema:
    columns = tuple(Column(name, "TEXT", PortableType.TEXT, nullable=True, longest=5) for name in names)
    return Schema((Table(table, columns, 0),))


@pytest.mark.parametrize(
    ("name", "folded"),
    [
        ("CDSCode", "cdscode"),
        ("order", "order"),
        ("Order", "order"),
        ("_a$1", "_a$1"),
        ("Academic Year", "Academic Year"),
        ("T-BIL", "T-BIL"),
        ("2013-14 CALPADS Fall 1 Certification Status", "2013-14 CALPADS Fall 1 Certification Status"),
        ("Größe", "Größe"),
        ("$a", "$a"),
        ("1A", "1A"),
        ('a"b', 'a"b'),
        ("K\u212a", "K\u212a"),
        ("", ""),
    ],
)
def test_postgresql_names_are_folded_where_they_need_no_quotes(name: str, folded: str) -> None:
    assert NAMES.table(name) == folded


def test_mysql_folds_tables_only() -> None:
    [table] = server_tables(schema("Name", table="Match"), Dialect.MYSQL, Profile.OFFICIAL, PATH)
    assert (table.name, table.columns[0].name) == ("match", "Name")


@pytest.mark.parametrize(
    ("names", "dialect", "message"),
    [
        (["Ä", "ä"], Dialect.MYSQL, "'Ä' and 'ä' are one name on mysql"),
        (["ä" * 32], Dialect.POSTGRESQL, "longer than postgresql's 63 bytes"),
        (["a" * 65], Dialect.MYSQL, "longer than mysql's 64 characters"),
        (["smile 😀"], Dialect.MYSQL, "has characters that mysql does not allow in names"),
    ],
)
def test_names_that_the_server_cannot_tell_apart_are_refused(
    names: list[str], dialect: Dialect, message: str
) -> None:
    with pytest.raises(BadInput, match=f"shop.sqlite: columns of t: .*{message}; rename"):
        server_tables(schema(*names), dialect, Profile.OFFICIAL, PATH)
    tables = Schema(tuple(schema("a", table=name).tables[0] for name in names))
    with pytest.raises(BadInput, match=f"shop.sqlite: tables: .*{message}"):
        server_tables(tables, dialect, Profile.OFFICIAL, PATH)


@pytest.mark.parametrize(
    ("name", "dialect", "trouble"),
    [
        ("", Dialect.MYSQL, "is not a valid name on mysql"),
        ("", Dialect.POSTGRESQL, "is not a valid name on postgresql"),
        ("a ", Dialect.MYSQL, "ends with a space"),
        ("a ", Dialect.POSTGRESQL, None),
        ("XMin", Dialect.POSTGRESQL, "is a name that postgresql reserves"),
        ("XMin ", Dialect.POSTGRESQL, None),
        ("oid", Dialect.POSTGRESQL, None),
        ("xmin", Dialect.MYSQL, None),
        ("Db_Row_Id", Dialect.MYSQL, "is a name that mysql reserves"),
        ("pg_class", Dialect.POSTGRESQL, None),
    ],
)
def test_columns_that_the_server_cannot_take_are_refused(
    name: str, dialect: Dialect, trouble: str | None
) -> None:
    if trouble is None:
        server_tables(schema(name), dialect, Profile.OFFICIAL, PATH)
        return
    with pytest.raises(BadInput, match=f"shop.sqlite: columns of t: '{name}' {trouble}"):
        server_tables(schema(name), dialect, Profile.OFFICIAL, PATH)


def test_tables_that_queries_would_not_find_are_refused() -> None:
    server_tables(schema("a", table="pg_class"), Dialect.MYSQL, Profile.FAITHFUL, PATH)
    with pytest.raises(BadInput, match=r"tables: 'PG_class' is a name that postgresql reserves"):
        server_tables(schema("a", table="PG_class"), Dialect.POSTGRESQL, Profile.FAITHFUL, PATH)


@pytest.mark.parametrize(("name", "fits"), [("表" * 50, True), ("表" * 51, False), ("é" * 64, True)])
def test_a_mysql_table_has_a_file_of_its_name(name: str, *, fits: bool) -> None:
    tables = schema("a", table=name)
    if fits:
        assert server_tables(tables, Dialect.MYSQL, Profile.OFFICIAL, PATH)[0].name == name
        return
    with pytest.raises(BadInput, match=f"tables: '{name}' makes a file name too long for mysql"):
        server_tables(tables, Dialect.MYSQL, Profile.OFFICIAL, PATH)


def test_a_mysql_row_has_room_for_some_varchars_and_keys_come_first() -> None:
    columns = [Column(f"c{n}", "TEXT", PortableType.TEXT, nullable=True, longest=700) for n in range(30)]
    names = [column.name for column in columns]
    table = Table("t", tuple(columns), 1, unique=((names[-1],),), indexes=tuple((name,) for name in names))
    [spelled] = server_tables(Schema((table,)), Dialect.MYSQL, Profile.FAITHFUL, PATH)
    types = [column.type for column in spelled.columns]
    assert types == ["varchar(700)"] * 22 + ["text"] * 7 + ["varchar(700)"]


def test_postgresql_keeps_names_apart_that_it_does_not_fold() -> None:
    [table] = server_tables(schema("Ä", "ä", "A b", "a b"), Dialect.POSTGRESQL, Profile.OFFICIAL, PATH)
    assert [column.name for column in table.columns] == ["Ä", "ä", "A b", "a b"]


@pytest.mark.parametrize(
    ("type_", "official", "faithful"),
    [
        (PortableType.INTEGER, ("bigint", "bigint"), ("bigint", "bigint")),
        (PortableType.REAL, ("real", "double"), ("double precision", "double")),
        (PortableType.TEXT, ("text", "text"), ("text", "text")),
        (PortableType.BLOB, ("bytea", "longblob"), ("bytea", "longblob")),
        (PortableType.DATE, ("date", "date"), ("text", "text")),
        (PortableType.DATETIME, ("timestamptz", "datetime"), ("text", "text")),
    ],
)
def test_types(type_: PortableType, official: tuple[str, str], faithful: tuple[str, str]) -> None:
    for dialect, number in ((Dialect.POSTGRESQL, 0), (Dialect.MYSQL, 1)):
        assert TYPES[dialect][Profile.OFFICIAL][type_] == official[number]
        assert TYPES[dialect][Profile.FAITHFUL][type_] == faithful[number]


def test_mysql_types_follow_the_data() -> None:
    def column(name: str, type_: PortableType = PortableType.TEXT, longest: int = 9, **facts: Any) -> Column:
        return Column(name, "", type_, nullable=True, longest=longest, **facts)

    columns = (
        column("free"),
        column("key"),
        column("long_key", longest=769),
        column("empty_key", longest=0),
        column("long", longest=40_000),
        column("moment", PortableType.DATETIME, longest=22, fractions=True),
        column("day", PortableType.DATE, longest=10),
        column("reference"),
    )
    table = Table(
        "t",
        columns,
        1,
        primary_key=("key",),
        unique=(("empty_key", "day"),),
        indexes=(("long_key",),),
        foreign_keys=(ForeignKey(("reference",), "t", ("key",)),),
    )
    wanted = {
        Profile.OFFICIAL: "text varchar(9) text varchar(1) longtext datetime(6) date varchar(9)",
        Profile.FAITHFUL: "text varchar(9) text varchar(1) longtext text varchar(10) varchar(9)",
    }
    for profile, types in wanted.items():
        [spelled] = server_tables(Schema((table,)), Dialect.MYSQL, profile, PATH)
        assert " ".join(column.type for column in spelled.columns) == types


@pytest.mark.slow
@pytest.mark.bird
def test_official_names_and_types_are_those_of_the_published_dump(bird_home: Path) -> None:
    published = json.loads((bird_home / "schema" / "postgresql_dump.json").read_text(encoding="utf-8"))
    dump = {
        (database, table["name"], column["name"]): column["type"]
        for database, content in published.items()
        for table in content["tables"].values()
        for column in table["columns"]
    }
    spelled = {"timestamptz": "TIMESTAMP WITH TIME ZONE"}
    ours = {}
    for database in published:
        path = bird_home / "MINIDEV" / "dev_databases" / database / f"{database}.sqlite"
        for table in server_tables(census(path), Dialect.POSTGRESQL, Profile.OFFICIAL, path):
            for column in table.columns:
                ours[database, table.name, column.name] = spelled.get(column.type, column.type.upper())
    assert len(ours) > 790
    assert ours == dump
