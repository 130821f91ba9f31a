"""A published dump is loaded as it is, can do nothing else, and leaves the old tables until it is whole."""

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from dialects.enums import Dialect, Profile
from dialects.errors import BadInput
from harness.data.outcomes import Outcome
from harness.data.questions import Difficulty, Question, QuestionSet
from harness.scoring.scheduler import Candidate, Scheduler
from harness.scoring.tasks import Setup
from harness.scoring.workers import LocalWorkers
from harness.session.plan import loaded_contents
from loaders.base.store import Store
from loaders.bulk_load import load, loaded
from loaders.dumps import load_dump, statements
from loaders.namespace import Database
from loaders.server import Server
from tests import forked
from tests.loaders.servers import ask, read

TEXTS = [
    "plain",
    'it\'s; a "quote" `tick`',
    "back\\slash \\",
    "line\nbreak; -- no comment",
    "/* no comment */ # no",
    "tab\there",
    "",
    None,
    "ünïcode 🦆",
    "\\.",
    "public.shop",
    "$$ $a$",
    "'" * 5,
    "x" * 100_000,
]
AWKWARD = list(enumerate(TEXTS, start=1))
Rows = list[tuple[int, str | None]]


def mysql_dump(tables: dict[str, Rows], extra: str = "") -> str:
    """In the manner of `mysqldump`."""
    parts = [
        "-- MySQL dump 10.13  Distrib 8.0.36; it's a header\n--\n",
        "/*!40101 SET NAMES utf8mb4 */;\n",
        "/*!40014 SET @OLD_FOREIGN_KEY_CHECKS=@@FOREIGN_KEY_CHECKS, FOREIGN_KEY_CHECKS=0 */;\n",
        "SET @@SESSION.SQL_LOG_BIN= 0;\nSET @@GLOBAL.GTID_PURGED=/*!80000 '+'*/ '';\n",
    ]
    for name, rows in tables.items():
        parts += [f"DROP TABLE IF EXISTS `{name}`;\n", "/*!50503 SET character_set_client = utf8mb4 */;\n"]
        parts.append(
            f"CREATE TABLE `{name}` (\n  `id` bigint NOT NULL,\n  `t` longtext COMMENT 'it''s; -- text',\n"
            "  PRIMARY KEY (`id`)\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci;\n"
        )
        escapes = str.maketrans({"\\": "\\\\", "'": "\\'", "\n": "\\n", '"': '\\"'})
        values = ",".join(
            f"({n},{'NULL' if t is None else chr(39) + t.translate(escapes) + chr(39)})" for n, t in rows
        )
        parts += [f"LOCK TABLES `{name}` WRITE;\n", f"/*!40000 ALTER TABLE `{name}` DISABLE KEYS */;\n"]
        parts += [f"INSERT INTO `{name}` VALUES {values};\n" if rows else "", "UNLOCK TABLES;\n"]
    return "".join([*parts, extra, "\n-- Dump completed on 2024-06-13\n"])


def postgresql_dump(tables: dict[str, Rows], extra: str = "") -> str:
    """In the manner of `pg_dump`: one table by COPY, the next by INSERT."""
    parts = [
        "--\n-- PostgreSQL database dump; it's a header\n--\n\\restrict abc\nSET statement_timeout = 0;\n",
        "SET no_such_setting_here = 0;\nSELECT pg_catalog.set_config('search_path', '', false);\n",
    ]
    for number, (name, rows) in enumerate(tables.items()):
        parts.append(f'CREATE TABLE public."{name}" (\n    id bigint NOT NULL,\n')
        parts.append("    t text DEFAULT 'it''s; -- text'\n);\n")
        parts.append(f'\n\nALTER TABLE public."{name}" OWNER TO somebody;\n')
        if number % 2:
            for n, t in rows:
                text = "NULL" if t is None else "'" + t.replace("'", "''") + "'"
                parts.append(f'INSERT INTO public."{name}" VALUES ({n}, {text});\n')
        else:
            escapes = str.maketrans({"\\": "\\\\", "\n": "\\n", "\t": "\\t"})
            fields = [(n, r"\N" if t is None else t.translate(escapes)) for n, t in rows]
            lines = [f"{n}\t{t}\n" for n, t in fields]
            parts += [f'COPY public."{name}" (id, t) FROM stdin;\n', *lines, "\\.\n\n"]
    for name in tables:
        parts.append(
            f'ALTER TABLE ONLY public."{name}"\n    ADD CONSTRAINT "{name}_pkey" PRIMARY KEY (id);\n'
        )
        parts.append(f'CREATE INDEX "{name}_t" ON public."{name}" USING btree (left(t, 10));\n')
    return "".join([*parts, extra, "\nGRANT ALL ON SCHEMA public TO PUBLIC;\n\\unrestrict abc\n-- done\n"])


DUMPS: dict[Dialect, Callable[..., str]] = {Dialect.MYSQL: mysql_dump, Dialect.POSTGRESQL: postgresql_dump}
TABLES = {"shop": AWKWARD, "customer": AWKWARD, "hollow": []}


def quiet(done: int, total: int) -> None:
    pass


@pytest.mark.parametrize("dialect", [Dialect.MYSQL, Dialect.POSTGRESQL])
def test_a_dump_falls_into_its_statements(tmp_path: Path, dialect: Dialect) -> None:
    path = tmp_path / "dump.sql"
    path.write_text(DUMPS[dialect](TABLES), encoding="utf-8")
    found = list(statements(path, dialect))
    texts = [one.text for one in found if not one.is_rows]
    assert all(text.endswith(b";") for text in texts)
    verbs = [text.split(b" ")[0] for text in texts]
    assert verbs.count(b"CREATE") == (3 if dialect is Dialect.MYSQL else 6)
    assert verbs.count(b"INSERT") == (2 if dialect is Dialect.MYSQL else len(AWKWARD))
    lines = path.read_bytes().splitlines()
    assert all(lines[one.line - 1].strip() for one in found)


@pytest.mark.parametrize(
    ("dialect", "text", "expected"),
    [
        (Dialect.MYSQL, "SELECT 'a;''b\\';c'; SELECT `x;y`;", ["SELECT 'a;''b\\';c';", "SELECT `x;y`;"]),
        (Dialect.MYSQL, 'SELECT "a;\\";b", 1--1;', ['SELECT "a;\\";b", 1--1;']),
        (Dialect.MYSQL, "SELECT 1 -- ; no\n; # ; no\n;;SELECT 2;", ["SELECT 1 \n;", "SELECT 2;"]),
        (Dialect.MYSQL, "SELECT /* ; ' */ 4/2;", ["SELECT /* ; ' */ 4/2;"]),
        (Dialect.MYSQL, "SELECT 'two\nlines;\\\n';", ["SELECT 'two\nlines;\\\n';"]),
        (Dialect.POSTGRESQL, "SELECT 'a\\'; SELECT 2;", ["SELECT 'a\\';", "SELECT 2;"]),
        (Dialect.POSTGRESQL, "SELECT E'a\\';b';", ["SELECT E'a\\';b';"]),
        (Dialect.POSTGRESQL, "SELECT $a$ ; $$ ' $a$;", ["SELECT $a$ ; $$ ' $a$;"]),
        (Dialect.POSTGRESQL, 'SELECT 1 AS "a;""b"; --;\n', ['SELECT 1 AS "a;""b";']),
    ],
)  # fmt: skip
def test_statements_end_where_the_server_says(
    tmp_path: Path, dialect: Dialect, text: str, expected: list[str]
) -> None:
    (tmp_path / "dump.sql").write_text(text)
    assert [one.text.decode() for one in statements(tmp_path / "dump.sql", dialect)] == expected


@pytest.mark.parametrize(
    ("dialect", "text", "fragment"),
    [
        (Dialect.MYSQL, "SELECT 1;\nINSERT INTO t VALUES ('a", "ends within the statement of line 2"),
        (Dialect.POSTGRESQL, "COPY t FROM stdin;\n1\n", "ends within the statement of line 1"),
        (Dialect.POSTGRESQL, "\\! rm -rf x\n", "a command for psql"),
        (Dialect.POSTGRESQL, "\\connect other\n", "a command for psql"),
    ],
)
def test_what_is_no_plain_dump_is_refused(tmp_path: Path, dialect: Dialect, text: str, fragment: str) -> None:
    (tmp_path / "dump.sql").write_text(text)
    with pytest.raises(BadInput, match=fragment):
        list(statements(tmp_path / "dump.sql", dialect))


@pytest.mark.parametrize("dialect", ["auto", "all", "sqlite"])
def test_the_command_wants_to_know_whose_dump_it_is(dialect: str) -> None:
    done = forked.run("harness", "load", "--dump", "none.sql", "--dialect", dialect)
    assert done.returncode == 2
    assert "name its dialect" in done.stderr


@pytest.fixture
def databases(collection: str, tmp_path: Path) -> list[Database]:
    """Two SQLite files with the tables of the dump, and the rows of before."""
    found = []
    for db_id, names in (("trade", ("Shop", "customer")), ("other", ("hollow",))):
        path = tmp_path / f"{db_id}.sqlite"
        with closing(sqlite3.connect(path)) as connection, connection:
            for name in names:
                connection.execute(f"CREATE TABLE {name} (id INTEGER PRIMARY KEY, t TEXT)")
                connection.execute(f"INSERT INTO {name} VALUES (0, 'old')")
        found.append(Database(collection, db_id, path))
    return found


def tables(server: Server, database: Database) -> dict[str, list[tuple[object, ...]]]:
    return {name: read(server, database, f"SELECT id, t FROM {name} ORDER BY id") for name in TABLES}


OLD = {name: [(0, "old")] for name in TABLES}


@pytest.fixture
def dump(server: Server, tmp_path: Path) -> Path:
    path = tmp_path / "BIRD_dev.sql"
    path.write_text(DUMPS[server.dialect](TABLES), encoding="utf-8")
    return path


@pytest.fixture
def leftovers(server: Server, databases: list[Database]) -> Iterator[None]:
    """Nothing of a load is left on the server after it."""
    yield
    if server.dialect is Dialect.MYSQL:
        assert ask(server, None, "SHOW DATABASES LIKE 'bird_harness_staging%'") == []
        assert ask(server, None, "SELECT user FROM mysql.user WHERE user LIKE '%dump%'") == []
    else:
        spaces = "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'bird_harness_staging%'"
        assert ask(server, databases[0], spaces) == []
        assert ask(server, None, "SELECT rolname FROM pg_roles WHERE rolname LIKE '%dump%'") == []


@pytest.mark.engine
@pytest.mark.thorough
@pytest.mark.parametrize("first", ["nothing", "loaded", "dumped"])
@pytest.mark.usefixtures("leftovers")
def test_a_dump_takes_the_place_of_what_was_there(
    server: Server, databases: list[Database], dump: Path, first: str
) -> None:
    if first == "loaded":
        load(databases, server)
    if first == "dumped":
        load_dump(dump, databases, server, quiet)
    told: list[tuple[int, int]] = []
    done = load_dump(dump, databases, server, lambda *step: told.append(step))
    assert tables(server, databases[0]) == TABLES
    assert (done.tables, done.rows, len(done.notes)) == (3, 28, 3)
    assert "trade: table shop: 14 rows in the dump, 1 in the SQLite file" in [
        note.lower().replace("sqlite", "SQLite") for note in done.notes
    ]
    assert told[-1][0] <= told[-1][1] == dump.stat().st_size
    markers = loaded(databases, server)
    assert set(markers) == set(databases)
    assert all(done.sha256 in marker.notes[0] for marker in markers.values())
    assert all(one.skipped for one in load(databases, server))
    load(databases, server, force=True)
    assert tables(server, databases[0]) == OLD


HOSTILE = {
    Dialect.MYSQL: {
        "another database": "DROP DATABASE {live};\n",
        "a live table": "DROP TABLE {live}.shop;\n",
        "use": "USE {live};\n",
        "accounts": "CREATE TABLE stolen AS SELECT * FROM mysql.user;\n",
        "a file": "LOAD DATA INFILE '/etc/passwd' INTO TABLE shop;\n",
        "a user": "CREATE USER evil;\n",
        "a setting": "SET GLOBAL max_connections = 1;\n",
        "a mistake": "INSERT INTO shop VALUES (1);\n",
        "another table": "CREATE TABLE stranger (n bigint);\n",
        "a procedure": "CREATE PROCEDURE p() SELECT 1;\n",
    },
    Dialect.POSTGRESQL: {
        "a live table": 'DROP TABLE "public"."shop";\n',
        "another schema": "CREATE SCHEMA evil;\n",
        "a program": "COPY public.shop FROM PROGRAM 'id';\n",
        "a file": "COPY public.shop FROM '/etc/passwd';\n",
        "a role": "CREATE ROLE evil SUPERUSER;\n",
        "more rights": "SET ROLE postgres;\n",
        "a setting": "ALTER SYSTEM SET max_connections = 1;\n",
        "a function": "CREATE FUNCTION public.f() RETURNS int LANGUAGE sql AS 'SELECT 1';\n",
        "a mistake": "INSERT INTO public.shop VALUES ('x');\n",
        "another table": "CREATE TABLE public.stranger (n bigint);\n",
    },
}  # fmt: skip


@pytest.mark.engine
@pytest.mark.thorough
@pytest.mark.usefixtures("leftovers")
def test_a_dump_that_wants_more_changes_nothing(
    server: Server, databases: list[Database], tmp_path: Path
) -> None:
    load(databases, server)
    for name, extra in HOSTILE[server.dialect].items():
        path = tmp_path / "hostile.sql"
        path.write_text(DUMPS[server.dialect](TABLES, extra.format(live=databases[0].mysql_database)))
        with pytest.raises(BadInput, match=r"hostile\.sql: (line \d+: |has stranger)") as raised:
            load_dump(path, databases, server, quiet)
        assert "\n" not in str(raised.value), name
        assert tables(server, databases[0]) == OLD, name
        assert len(loaded(databases, server)) == 2, name


@pytest.mark.engine
@pytest.mark.thorough
@pytest.mark.usefixtures("leftovers")
@pytest.mark.parametrize(
    ("given", "fragment"),
    [({"shop": [], "customer": []}, r"has no other\.hollow"), ({}, r"has no trade\.Shop, trade\.customer")],
    ids=["one missing", "all missing"],
)
def test_a_dump_of_other_tables_is_refused(
    server: Server, databases: list[Database], tmp_path: Path, given: dict[str, Rows], fragment: str
) -> None:
    (tmp_path / "other.sql").write_text(DUMPS[server.dialect](given))
    with pytest.raises(BadInput, match=fragment):
        load_dump(tmp_path / "other.sql", databases, server, quiet)


@pytest.mark.engine
@pytest.mark.thorough
def test_a_dump_is_for_profile_official_alone(server: Server, databases: list[Database], dump: Path) -> None:
    faithful = [Database(one.collection, one.db_id, one.sqlite_path, Profile.FAITHFUL) for one in databases]
    with pytest.raises(BadInput, match="profile official"):
        load_dump(dump, faithful, server, quiet)


@pytest.mark.engine
@pytest.mark.thorough
def test_a_killed_load_leaves_the_old_tables_and_the_next_one_tidies_up(
    server: Server, databases: list[Database], dump: Path, request: pytest.FixtureRequest
) -> None:
    load(databases, server)
    arguments = [server.dialect, server.host, str(server.port), server.user, server.password]
    arguments += [databases[0].collection, str(dump), *(str(one.sqlite_path) for one in databases)]
    command = [sys.executable, "-m", "tests.loaders.stalling", "dump", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ) as process:
        assert process.stdout
        assert process.stdout.readline() == "there\n"
        process.send_signal(signal.SIGKILL)
    assert tables(server, databases[0]) == OLD
    load_dump(dump, databases, server, quiet)
    assert tables(server, databases[0]) == TABLES
    request.getfixturevalue("leftovers")


IN_THE_FILE, IN_THE_DUMP = 1, 3
GOLD = "SELECT count(*) FROM shop"


@pytest.fixture
def trade(collection: str, tmp_path: Path) -> QuestionSet:
    folder = tmp_path / "databases" / "trade"
    folder.mkdir(parents=True)
    with closing(sqlite3.connect(folder / "trade.sqlite")) as connection, connection:
        connection.execute("CREATE TABLE shop (id INTEGER PRIMARY KEY, t TEXT)")
        connection.executemany("INSERT INTO shop VALUES (?, 'text')", [(n,) for n in range(IN_THE_FILE)])
    gold = dict.fromkeys(Dialect, GOLD)
    question = Question("1", 1, "trade", "How many?", "", Difficulty.SIMPLE, gold)
    return QuestionSet("trade", "trade", collection, (question,), {}, folder.parent, {}, {})


def trade_outcomes(trade: QuestionSet, server: Server, store: Path, *, force: bool = False) -> list[Outcome]:
    """Of the prediction of as many rows as the file has, and of as many as the dump has."""
    database = trade.database("trade")
    standing = loaded_contents([load([database], server, force=force)])
    setup = Setup(trade, {server.dialect: (server,)}, server_contents={server.dialect: standing})
    scheduler = Scheduler(setup, lambda: LocalWorkers(setup, 1), store=Store(store, say=pytest.fail))
    try:
        [question] = trade.questions
        texts = [f"SELECT {number}" for number in (IN_THE_FILE, IN_THE_DUMP)]
        futures = scheduler.begin([Candidate(question, server.dialect, text) for text in texts])
        return [future.result(60).outcome for future in futures]
    finally:
        scheduler.close()


@pytest.mark.engine
@pytest.mark.thorough
def test_a_dumps_outcomes_are_not_those_of_the_file(
    trade: QuestionSet, server: Server, tmp_path: Path
) -> None:
    store, dump = tmp_path / "store.sqlite", tmp_path / "dump.sql"
    dump.write_text(DUMPS[server.dialect]({"shop": [(n, "text") for n in range(IN_THE_DUMP)]}))
    database: Database = trade.database("trade")
    of_the_file, of_the_dump = [Outcome.MATCH, Outcome.MISMATCH], [Outcome.MISMATCH, Outcome.MATCH]

    load_dump(dump, [database], server, lambda _, __: None)
    assert trade_outcomes(trade, server, store) == of_the_dump
    assert trade_outcomes(trade, server, store) == of_the_dump
    assert trade_outcomes(trade, server, store, force=True) == of_the_file
    assert trade_outcomes(trade, server, store) == of_the_file
    load_dump(dump, [database], server, lambda _, __: None)
    assert trade_outcomes(trade, server, store) == of_the_dump


@pytest.mark.engine
@pytest.mark.thorough
def test_what_stands_is_told_by_source_and_by_how_it_was_loaded(
    trade: QuestionSet, server: Server, tmp_path: Path
) -> None:
    database = trade.database("trade")
    [full] = load([database], server)
    [again] = load([database], server, force=True)
    [skipped] = load([database], server)
    assert full.content == again.content == skipped.content
    [bare] = load([database], server, indexes=False)
    [escaped] = load([database], server, escape=True)
    found = {full.content, bare.content, escaped.content}
    for rows in (2, 3):
        dump = tmp_path / "dump.sql"
        dump.write_text(DUMPS[server.dialect]({"shop": [(n, "text") for n in range(rows)]}))
        load_dump(dump, [database], server, lambda _, __: None)
        [dumped] = load([database], server)
        assert dumped.skipped
        found.add(dumped.content)
    assert len(found) == 5
