"""Keys and indexes that a load leaves on a real server: those of the file, as far as its rows allow."""

from collections.abc import Sequence

import pytest

from dialects.enums import Dialect, Profile
from loaders.load import load
from loaders.namespace import Database
from loaders.server import Server
from tests.loaders.conftest import MakeFile
from tests.loaders.keyed import ALL_KEYS, KEYED, indexes, kinds_of_keys
from tests.loaders.servers import ask, read

pytestmark = pytest.mark.engine


def test_primary_keys_alone_until_all_are_asked_for(
    server: Server, database: Database, make_file: MakeFile
) -> None:
    make_file(KEYED, child=[("a", 0, "one", "a", 1, "note", b"x")])
    primary: list[tuple[object, ...]] = [("child", "PRIMARY KEY", 1), ("parent", "PRIMARY KEY", 1)]
    steps: list[tuple[bool | None, bool, list[tuple[object, ...]]]] = [
        (False, False, primary),
        (None, True, primary),
        (False, True, primary),
        (True, False, ALL_KEYS),
        (None, True, ALL_KEYS),
        (False, False, primary),
    ]
    for wanted, skipped, keys in steps:
        assert [done.skipped for done in load([database], server, indexes=wanted)] == [skipped]
        assert kinds_of_keys(server, database) == keys
        assert len(indexes(server, database, "child")) == 1 or keys == ALL_KEYS
    assert read(server, database, "SELECT code, parent_id FROM child") == [("a", 0)]


def test_indexes_of_neighbours_do_not_take_each_others_names(
    postgresql_server: Server, postgresql_collection: str, make_file: MakeFile
) -> None:
    one = make_file("CREATE TABLE a (b_c INTEGER); CREATE INDEX i ON a (b_c)", "one", a=[(1,)])
    two = make_file("CREATE TABLE a_b (c INTEGER); CREATE INDEX i ON a_b (c)", "two", a_b=[(2,)])
    databases = [Database(postgresql_collection, path.stem, path) for path in (one, two)]
    load(databases, postgresql_server)
    named = [indexes(postgresql_server, databases[0], table) for table in ("a", "a_b")]
    assert sorted(map(sorted, named)) == [["a_b_c_idx"], ["a_b_c_idx1"]]


def test_keys_are_kept_where_the_rows_allow(server: Server, database: Database, make_file: MakeFile) -> None:
    long = "long " * 400
    rows = [("a", 0, "one", "b", 7, long, b"x"), ("b", 1, None, "b", None, None, None)]
    make_file(KEYED, child=rows)
    [done] = load([database], server)
    assert done.notes == ("foreign key of child (dangling) to parent is left out: 1 rows have no parent",)
    assert kinds_of_keys(server, database) == [("child", "FOREIGN KEY", 3), *ALL_KEYS[1:]]
    assert read(server, database, "SELECT count(*) FROM child WHERE dangling = 7") == [(1,)]
    assert len(indexes(server, database, "child")) >= 4


def test_a_foreign_key_that_the_server_refuses_costs_neither_row_nor_other_key(
    server: Server, database: Database, make_file: MakeFile
) -> None:
    """MySQL has no unique key of these long texts to refer to, and PostgreSQL no index of such entries."""
    script = """
        CREATE TABLE p (id INTEGER PRIMARY KEY, long TEXT UNIQUE);
        CREATE TABLE c (long TEXT REFERENCES p (long), id INTEGER REFERENCES p)
    """
    long = "".join(chr(0x4E00 + number * 7919 % 20_000) for number in range(3_000))
    make_file(script, p=[(1, long)], c=[(long, 1)])
    [done] = load([database], server)
    assert [note.split(": ")[0] for note in done.notes if note.startswith("foreign")] == [
        "foreign key of c (long) to p is left out"
    ]
    assert read(server, database, "SELECT id FROM c") == [(1,)]
    with pytest.raises(Exception, match=r"foreign key constraint"):
        ask(server, database, "INSERT INTO c (id) VALUES (2)")


def test_foreign_keys_lead_to_the_new_tables_after_a_reload(
    server: Server, database: Database, make_file: MakeFile
) -> None:
    script = "CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (p INTEGER REFERENCES p)"
    make_file(script, p=[(1,)], c=[(1,)])
    load([database], server)
    load([database], server, force=True)
    with pytest.raises(Exception, match=r"foreign key constraint"):
        ask(server, database, "INSERT INTO c VALUES (2)")
    ask(server, database, "INSERT INTO p VALUES (2)")
    ask(server, database, "INSERT INTO c VALUES (2)")


@pytest.mark.parametrize(
    ("script", "rows", "notes"),
    [
        (
            "CREATE TABLE t (k TEXT PRIMARY KEY)",
            [("abc",), ("ABC",), ("äbc",)],
            {
                (Dialect.MYSQL, Profile.OFFICIAL): [
                    "primary key of t (k) is an ordinary index: Duplicate entry"
                ]
            },
        ),
        (
            "CREATE TABLE t (k REAL UNIQUE)",
            [(0.1,), (0.1 + 1e-12,)],
            {
                (Dialect.POSTGRESQL, Profile.OFFICIAL): [
                    "unique key of t (k) is an ordinary index: could not create"
                ]
            },
        ),
        (
            "CREATE TABLE t (k DATETIME UNIQUE)",
            [("2020-01-01",), ("2020-01-01 00:00:00",)],
            {
                (Dialect.MYSQL, Profile.OFFICIAL): [
                    "unique key of t (k) is an ordinary index: Duplicate entry"
                ],
                (Dialect.POSTGRESQL, Profile.OFFICIAL): [
                    "unique key of t (k) is an ordinary index: could not create"
                ],
            },
        ),
        (
            "CREATE TABLE t (k TEXT UNIQUE)",
            [("x" * 5_000,), ("y",)],
            {
                (Dialect.MYSQL, Profile.OFFICIAL): [
                    "unique key of t (k) is an ordinary index: BLOB/TEXT column"
                ],
                (Dialect.MYSQL, Profile.FAITHFUL): [
                    "unique key of t (k) is an ordinary index: BLOB/TEXT column"
                ],
            },
        ),
    ],
)
def test_a_key_that_the_server_refuses_costs_no_row(  # noqa: PLR0913, PLR0917 - fixtures and parameters
    server: Server,
    database: Database,
    make_file: MakeFile,
    script: str,
    rows: Sequence[Sequence[object]],
    notes: dict[tuple[Dialect, Profile], list[str]],
) -> None:
    make_file(script, t=rows)
    [done] = load([database], server)
    wanted = notes.get((server.dialect, database.profile), [])
    assert len(done.notes) == len(wanted)
    assert all(note.startswith(start) for note, start in zip(done.notes, wanted, strict=True))
    assert read(server, database, "SELECT count(*) FROM t") == [(len(rows),)]
    assert len(indexes(server, database, "t")) == 1
