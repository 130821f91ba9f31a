"""What the loader leaves on a server verifies clean, and the proof does not lean on the loader."""

import ast
import sys
from pathlib import Path

import pytest

from dialects.enums import Dialect, Profile
from dialects.errors import BadInput
from harness.cli import databases, main
from harness.data.sets.loader import load_set
from loaders import verify
from loaders.base.errors import EngineUnavailable
from loaders.bulk_load import load, loaded
from loaders.namespace import Database
from loaders.server import Origin, Server
from loaders.verify import DifferenceKind, verified_lines
from tests.every_engine import LOADED, SERVED
from tests.loaders.conftest import MakeFile
from tests.loaders.servers import ask, read
from tests.loaders.test_load import ODD_TABLES
from tests.loaders.test_values import BLOBS, DAYS, FRACTIONS, INTEGERS, MOMENTS, REALS, SINGLES, TEXTS

SERVERS = LOADED

AWKWARD = (
    ODD_TABLES
    + """
CREATE TABLE texts (n INTEGER, v TEXT, k TEXT UNIQUE);
CREATE TABLE integers (n INTEGER, v INTEGER);
CREATE TABLE blobs (n INTEGER, v BLOB);
CREATE TABLE days (n INTEGER, v DATE);
CREATE TABLE moments (n INTEGER, v DATETIME);
CREATE TABLE fractions (n INTEGER, v TIMESTAMP);
CREATE TABLE no_days (n INTEGER, v DATE, w DATETIME);
CREATE TABLE mixtures (n INTEGER, v INTEGER, w NUMERIC, x);
CREATE TABLE reals (n INTEGER, v REAL, u);
CREATE TABLE void (n INTEGER, v TEXT, w REAL, x DATE, y);
CREATE VIEW seen AS SELECT * FROM texts;
CREATE VIRTUAL TABLE words USING fts5(word);
INSERT INTO words VALUES ('a'), ('b');
"""
)


@pytest.mark.engine
@pytest.mark.usefixtures("profile")
def test_an_awkward_database_verifies_clean(server: Server, database: Database, make_file: MakeFile) -> None:
    singles = server.dialect not in {Dialect.MYSQL, Dialect.MARIADB} and database.profile is Profile.OFFICIAL
    negative_zero = [] if server.dialect is Dialect.MARIADB else [-0.0]
    reals = SINGLES if singles else [*REALS, *negative_zero]
    mixtures = ["", 7, -(2**63), 0.1 + 0.2, 1e308, "seven", None]
    script = f"{AWKWARD} CREATE TABLE wide ({', '.join(f'c{number} TEXT' for number in range(450))});"
    make_file(
        script,
        texts=[(n, v, f"{n} {v}"[:300] if v else v) for n, v in enumerate(TEXTS)],
        integers=list(enumerate(INTEGERS)),
        blobs=list(enumerate(BLOBS)),
        days=list(enumerate(DAYS)),
        moments=list(enumerate(MOMENTS)),
        fractions=list(enumerate(FRACTIONS)),
        no_days=[(1, "2020-02-30", "10:00"), (2, "", None)],
        mixtures=[(n, v, v, v) for n, v in enumerate(mixtures)],
        reals=[(n, v, v) for n, v in enumerate(reals)],
        void=[(n, None, None, None, None) for n in range(3)],
        wide=[tuple(f"{row} {number}" for number in range(450)) for row in range(3)],
    )
    load([database], server)
    [found] = verify.verify([database], server)
    assert found.is_clean, verified_lines([found])
    assert (found.tables, found.rows > 120, found.values > 1_500) == (19, True, True)


@pytest.mark.engine
@pytest.mark.parametrize("server", SERVED, indirect=True)
def test_neighbours_in_one_namespace_are_no_strangers(
    server: Server, collection: str, make_file: MakeFile
) -> None:
    one, two = (
        Database(collection, name, make_file(f"CREATE TABLE {name}_t (a INTEGER)", name))
        for name in ("one", "two")
    )
    load([one, two], server)
    assert [found.is_clean for found in verify.verify([two, one], server)] == [True, True]
    assert [found.is_clean for found in verify.verify([one], server)] == [True]
    ask(server, one, "CREATE TABLE stray (a integer)")
    found = list(verify.verify([two, one], server))
    assert [[one.kind for one in each.differences] for each in found] == [[DifferenceKind.EXTRA_TABLE], []]


@pytest.mark.engine
@pytest.mark.parametrize(
    ("spelled", "script"),
    [
        ("text", "CREATE TABLE t (v INTEGER); INSERT INTO t VALUES (1)"),
        ("varchar(2)", "CREATE TABLE t (v TEXT); INSERT INTO t VALUES ('ab')"),
        ("double precision", "CREATE TABLE t (v REAL); INSERT INTO t VALUES (0.5)"),
        ("text", "CREATE TABLE t (v DATE); INSERT INTO t VALUES ('2020-01-01')"),
        ("date", "CREATE TABLE t (v DATETIME); INSERT INTO t VALUES ('2020-01-01')"),
        ("timestamp", "CREATE TABLE t (v DATETIME); INSERT INTO t VALUES ('2020-01-01 10:00:00')"),
        ("timestamptz", "CREATE TABLE t (v DATE); INSERT INTO t VALUES ('2020-01-01')"),
    ],
)
def test_a_type_that_holds_the_values_is_wrong_all_the_same(
    postgresql_server: Server, postgresql_collection: str, make_file: MakeFile, spelled: str, script: str
) -> None:
    database = Database(postgresql_collection, "shop", make_file(script))
    load([database], postgresql_server)
    ask(postgresql_server, database, f"ALTER TABLE t ALTER COLUMN v TYPE {spelled} USING v::{spelled}")
    [found] = verify.verify([database], postgresql_server)
    assert (DifferenceKind.TYPE, "v") in {(one.kind, one.column) for one in found.differences}


def test_the_proof_imports_nothing_that_converts_for_loading() -> None:
    allowed = {
        "loaders", "loaders.base.errors", "loaders.mysql.verify", "loaders.namespace", "loaders.server",
        "loaders.source", "loaders.target",
    }  # fmt: skip
    imported = set()
    here = Path(verify.__file__).parent
    for path in (*here.glob("*.py"), *here.parent.glob("*/verify.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                names = (
                    {f"{node.module}.{name.name}" for name in node.names}
                    if node.module == "loaders"
                    else set()
                )
                imported |= names or {node.module or ""}
    ours = {name for name in imported if name.startswith("loaders") and not name.startswith("loaders.verify")}
    assert ours <= allowed


@pytest.mark.engine
@pytest.mark.parametrize("server", SERVED, indirect=True)
def test_load_verify_exits_with_1_and_names_what_differs(
    server: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(databases, "servers_up", lambda _: {server.dialect: (server,)})

    def run(*options: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["bird-harness", "load", "--set", "sample", *options])
        code = 0
        try:
            main()
        except SystemExit as stopped:
            code = int(stopped.code or 0)
        return code, capsys.readouterr().err

    code, said = run("--verify")
    assert code == 0, said
    for profile in Profile:
        assert f"{server.dialect}, {profile}: 4 databases are equal to their files: 24 tables" in said
    questions = load_set("sample")
    library = questions.database("city_library", Profile.FAITHFUL)
    [(table, column)] = _a_text(server, library)
    ask(server, library, f'UPDATE "{table}" SET "{column}" = concat("{column}", \' \')')
    try:
        code, said = run("--verify", "--profile", "faithful")
        where = f"{server.dialect}, faithful, city_library: table {table}, column {column}: values differ"
        assert (code, where.lower() in said.lower()) == (1, True), said
        assert "0 of 4 databases loaded" in said
        assert "1 of 4 databases differ from their files" in said
    finally:
        code, said = run("--verify", "--profile", "faithful", "--force")
    assert code == 0, said


def _a_text(server: Server, database: Database) -> list[tuple[str, str]]:
    place = database.mysql_database if server.dialect is Dialect.MYSQL else database.postgresql_schema
    return [
        (table, column)
        for table, column in ask(
            server,
            database,
            "SELECT table_name, column_name FROM information_schema.columns"
            f" WHERE table_schema = '{place}' AND data_type = 'text' ORDER BY 1, 2 LIMIT 1",
        )
    ]


@pytest.mark.engine
def test_a_changed_file_differs_until_it_alone_is_loaded_again(
    server: Server, collection: str, make_file: MakeFile
) -> None:
    script = "CREATE TABLE {0}_t (a INTEGER); INSERT INTO {0}_t VALUES (1)"
    databases = [Database(collection, name, make_file(script.format(name), name)) for name in ("one", "two")]
    load(databases, server)
    make_file(script.format("one").replace("(1)", "(2)"), "one")
    assert [found.is_clean for found in verify.verify(databases, server)] == [False, True]
    assert [done.skipped for done in load(databases, server)] == [False, True]
    assert [found.is_clean for found in verify.verify(databases, server)] == [True, True]
    assert [done.skipped for done in load(databases, server)] == [True, True]


def test_nothing_is_verified_on_sqlite_and_a_dead_server_is_unavailable(make_file: MakeFile) -> None:
    database = Database("nowhere", "shop", make_file("CREATE TABLE t (a)"))
    with pytest.raises(BadInput, match="nothing is loaded into sqlite"):
        list(verify.verify([database], Server(Dialect.SQLITE, "", 0, "", "", Origin.NATIVE)))
    for dialect in (Dialect.MYSQL, Dialect.POSTGRESQL):
        server = Server(dialect, "127.0.0.1", 1, "root", "secret", Origin.DSN)
        with pytest.raises(EngineUnavailable, match=r"127\.0\.0\.1:1: .*bird-harness doctor"):
            list(verify.verify([database], server))


@pytest.mark.bird
@pytest.mark.engine
@pytest.mark.thorough
@pytest.mark.parametrize(
    ("server", "profile"),
    [
        *((dialect, Profile.FAITHFUL) for dialect in SERVED),
        # Of official databases none are published for the other two.
        *((dialect, Profile.OFFICIAL) for dialect in (Dialect.MYSQL, Dialect.POSTGRESQL)),
    ],
    indirect=True,
)
def test_the_published_databases_load_and_verify_clean(
    server: Server, profile: Profile, bird_home: Path
) -> None:
    questions = load_set("mini_dev", bird_home)
    databases = [questions.database(db_id, profile) for db_id in questions.db_ids]
    done = load(databases, server)
    assert [one.database for one in done] == databases
    assert not [note for one in done for note in one.notes if "slashes" not in note]
    assert all(again.skipped for again in load(databases, server))
    for database, marker in loaded(databases, server).items():
        counts = [f"SELECT '{name}', count(*) FROM \"{name}\"" for name in marker.tables]
        assert dict(read(server, database, " UNION ALL ".join(counts))) == marker.tables
    found = list(verify.verify(databases, server))
    assert all(one.is_clean for one in found), verified_lines(found)
    assert sum(one.tables for one in found) == 75
