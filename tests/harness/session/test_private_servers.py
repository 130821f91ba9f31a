"""Databases that stand on a server already: a role and golds of their own, and nothing is loaded."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness import Answer, Evaluator
from harness.data.outcomes import Outcome
from loaders.base.errors import EngineUnavailable
from loaders.namespace import Database
from loaders.server import Server
from tests.harness import own_sets as sets
from tests.loaders.servers import ask

pytestmark = [pytest.mark.engine, pytest.mark.thorough]

NAME = "Private sales"
ASKED = (
    ("How many orders are there?", {Dialect.MYSQL: "SELECT COUNT(*) FROM `orders`",
                                    Dialect.POSTGRESQL: "SELECT count(*)::int FROM orders"}),
    ("When was the last?", {Dialect.MYSQL: "SELECT DATE_FORMAT(MAX(day), '%Y') FROM orders",
                            Dialect.POSTGRESQL: "SELECT to_char(max(day), 'YYYY') FROM orders"}),
)  # fmt: skip
READER = {
    Dialect.MYSQL: (
        "CREATE USER IF NOT EXISTS 'sales_reader'@'%' IDENTIFIED BY 'p@ss'",
        f"GRANT SELECT, SHOW VIEW ON \"{NAME}\".* TO 'sales_reader'@'%'",
    ),
    Dialect.POSTGRESQL: (
        "CREATE ROLE sales_reader LOGIN PASSWORD 'p@ss'",
        f'GRANT CONNECT ON DATABASE "{NAME}" TO sales_reader',
    ),
}
WRITER = {
    Dialect.MYSQL: f"GRANT INSERT ON \"{NAME}\".orders TO 'sales_reader'@'%'",
    Dialect.POSTGRESQL: "GRANT INSERT ON orders TO sales_reader",
}
TABLE = (
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, day DATE, note VARCHAR(20))",
    "INSERT INTO orders VALUES (1, '2024-01-02', 'pen'), (2, '2025-03-04', 'ink')",
)


@dataclass(frozen=True)
class Private:
    """A private database with its set, and the server as its administrator sees it."""

    server: Server
    database: Database
    folder: Path
    dsn: str


@pytest.fixture
def private(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Private]:
    database = Database("x", "x", Path(), standing=(NAME, "public"))
    ask(server, None, f'CREATE DATABASE "{NAME}"')
    for statement in TABLE:
        ask(server, database, statement)
    for statement in READER[server.dialect]:
        ask(server, None, statement)
    if server.dialect is Dialect.POSTGRESQL:
        ask(server, database, "GRANT USAGE ON SCHEMA public TO sales_reader")
        ask(server, database, "GRANT SELECT ON orders TO sales_reader")
    scheme = "mysql" if server.dialect is Dialect.MYSQL else "postgresql"
    dsn = f"{scheme}://sales_reader:p%40ss@{server.address}/Private%20sales"
    monkeypatch.setenv("SALES_DSN", dsn)
    folder = tmp_path / "sales"
    sets.write(
        folder / "questions.json",
        [
            {"question_id": number, "question": text, "SQL": golds[server.dialect], "difficulty": "easy"}
            for number, (text, golds) in enumerate(ASKED)
        ],
    )
    manifest = (
        f'name = "sales"\nquestions = "questions.json"\nlevels = ["easy"]\n[server]\n'
        f'dialect = "{server.dialect}"\nvariable = "SALES_DSN"\n'
    )
    sets.write(folder / "benchmark.toml", manifest)
    try:
        yield Private(server, database, folder, dsn)
    finally:
        if server.dialect is Dialect.POSTGRESQL:
            ask(server, None, f'DROP DATABASE "{NAME}" WITH (FORCE)')
            ask(server, None, "DROP ROLE sales_reader")
        else:
            ask(server, None, f'DROP DATABASE "{NAME}"')
            ask(server, None, "DROP USER 'sales_reader'@'%'")


def test_answers_are_scored_where_the_database_stands(private: Private) -> None:
    dialect = private.server.dialect
    before = ask(private.server, None, namespaces(dialect))
    said: list[str] = []
    reaching = {
        Dialect.MYSQL: "SELECT * FROM mysql.user",
        Dialect.POSTGRESQL: "SELECT lo_create(0)",
    }
    texts = [
        (0, ASKED[0][1][dialect], Outcome.MATCH),
        (1, "SELECT '2025'", Outcome.MATCH),
        (0, "SELECT 3", Outcome.MISMATCH),
        (0, "DELETE FROM orders", Outcome.PREDICTION_ERROR),
        (0, "INSERT INTO orders VALUES (3, '2025-01-01', 'x')", Outcome.PREDICTION_ERROR),
        (0, reaching[dialect], Outcome.PREDICTION_ERROR),
        (1, slow(dialect), Outcome.PREDICTION_TIMEOUT),
    ]
    with Evaluator(
        str(private.folder), dialects=dialect, workers=1, cache=True, seconds=2, say=said.append
    ) as evaluator:
        found = evaluator.score([Answer(number, sql) for number, sql, _ in texts])
    assert [one.outcome for one in found] == [outcome for *_, outcome in texts]
    assert any("nothing is loaded, queries run as sales_reader" in line for line in said)
    assert ask(private.server, private.database, "SELECT COUNT(*) FROM orders") == [(2,)]
    assert ask(private.server, None, namespaces(dialect)) == before


BIRD_TABLES = {
    Dialect.MYSQL: (
        "CREATE TABLE `superhero` (`id` bigint NOT NULL, `full_name` longtext) ENGINE=InnoDB",
        "CREATE TABLE `Laboratory` (`ID` bigint NOT NULL, `Date` date, `T-BIL` double) ENGINE=InnoDB",
        "INSERT INTO `superhero` VALUES (1,'Ann'),(2,'ann'),(3,NULL)",
        "INSERT INTO `Laboratory` VALUES (1,'1991-08-13',1.5),(1,'1992-01-01',2.5)",
    ),
    Dialect.POSTGRESQL: (
        "CREATE TABLE public.superhero (id bigint NOT NULL, full_name text)",
        'CREATE TABLE public."Laboratory" ("ID" bigint NOT NULL, "Date" date, "T-BIL" double precision)',
        "INSERT INTO superhero VALUES (1,'Ann'),(2,'ann'),(3,NULL)",
        "INSERT INTO \"Laboratory\" VALUES (1,'1991-08-13',1.5),(1,'1992-01-01',2.5)",
    ),
}
"""Tables of two of Mini-Dev's databases, as its dumps make them: all in one database."""
BIRD_READER = {
    Dialect.MYSQL: (
        "CREATE USER 'bird_user'@'%' IDENTIFIED BY 'p'",
        "GRANT SELECT ON \"BIRD\".* TO 'bird_user'@'%'",
    ),
    Dialect.POSTGRESQL: (
        "CREATE ROLE bird_user LOGIN PASSWORD 'p'",
        "GRANT USAGE ON SCHEMA public TO bird_user",
        "GRANT SELECT ON ALL TABLES IN SCHEMA public TO bird_user",
    ),
}
BIRD_ASKED = {
    # Per dialect: database, gold, an answer, and how it ends. A session's settings decide the first two.
    Dialect.MYSQL: (
        ("superhero", "SELECT `full_name` FROM superhero GROUP BY id > 0", "SELECT 'Ann'", Outcome.MATCH),
        ("superhero", 'SELECT COUNT(*) FROM superhero WHERE full_name = "ann"', "SELECT 2", Outcome.MATCH),
        ("thrombosis_prediction", "SELECT MAX(`T-BIL`) FROM Laboratory WHERE YEAR(`Date`) = 1992",
         "SELECT 2.5 FROM superhero LIMIT 1", Outcome.MATCH),
        ("thrombosis_prediction", "SELECT COUNT(*) FROM Laboratory", "SELECT 3", Outcome.MISMATCH),
    ),
    Dialect.POSTGRESQL: (
        ("superhero", "SELECT full_name FROM superhero ORDER BY id LIMIT 1", "SELECT 'Ann'", Outcome.MATCH),
        ("superhero", "SELECT COUNT(*) FROM superhero WHERE full_name = 'ann'", "SELECT 1", Outcome.MATCH),
        ("thrombosis_prediction", 'SELECT MAX("T-BIL") FROM "Laboratory" WHERE "Date" >= \'1992-01-01\'',
         "SELECT 2.5 FROM superhero LIMIT 1", Outcome.MATCH),
        ("thrombosis_prediction", 'SELECT COUNT(*) FROM "Laboratory"', "SELECT 3", Outcome.MISMATCH),
    ),
}  # fmt: skip


def test_a_database_with_all_tables_as_the_official_dumps_load_it_is_used_as_it_is(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialect = server.dialect
    database = Database("x", "x", Path(), standing=("BIRD", "public"))
    ask(server, None, 'CREATE DATABASE "BIRD"')
    try:
        for statement in BIRD_TABLES[dialect]:
            ask(server, database, statement)
        for statement in BIRD_READER[dialect]:
            ask(server, database, statement)
        monkeypatch.setenv("BIRD_READER_DSN", f"{dialect}://bird_user:p@{server.address}/BIRD")
        questions = [
            {"question_id": number, "db_id": db_id, "question": "?", "SQL": gold, "difficulty": "simple"}
            for number, (db_id, gold, *_) in enumerate(BIRD_ASKED[dialect])
        ]
        sets.write(tmp_path / "set" / f"mini_dev_{dialect}.json", questions)
        sets.write(
            tmp_path / "set" / "benchmark.toml",
            f'name = "mini_dev_there"\nquestions = "mini_dev_{dialect}.json"\n'
            f'[server]\ndialect = "{dialect}"\nvariable = "BIRD_READER_DSN"\n',
        )
        before = ask(server, None, namespaces(dialect))
        with Evaluator(str(tmp_path / "set"), dialects=dialect, workers=1, say=lambda _: None) as evaluator:
            found = evaluator.score(
                [Answer(number, sql) for number, (_, _, sql, _) in enumerate(BIRD_ASKED[dialect])]
            )
        assert [one.outcome for one in found] == [outcome for *_, outcome in BIRD_ASKED[dialect]]
        assert ask(server, None, namespaces(dialect)) == before
    finally:
        force = " WITH (FORCE)" if dialect is Dialect.POSTGRESQL else ""
        ask(server, None, f'DROP DATABASE "BIRD"{force}')
        user = "USER 'bird_user'@'%'" if dialect is Dialect.MYSQL else "ROLE bird_user"
        ask(server, None, f"DROP {user}")


def namespaces(dialect: Dialect) -> str:
    """What databases and accounts a server has."""
    if dialect is Dialect.MYSQL:
        return (
            "SELECT schema_name FROM information_schema.schemata UNION SELECT user FROM mysql.user ORDER BY 1"
        )
    return "SELECT datname FROM pg_database UNION SELECT rolname FROM pg_roles ORDER BY 1"


def slow(dialect: Dialect) -> str:
    return "SELECT SLEEP(9) FROM orders" if dialect is Dialect.MYSQL else "SELECT pg_sleep(9)"


def test_eval_leaves_other_engines_out_by_a_sentence(
    private: Private, tmp_path: Path, call: Callable[..., tuple[int, str, str]]
) -> None:
    dialect = private.server.dialect
    lines = [
        {"question_id": number, "dialect": each, "sql": golds[dialect]}
        for number, (_, golds) in enumerate(ASKED)
        for each in (dialect, "sqlite")
    ]
    sets.write(tmp_path / "answers.jsonl", sets.lines(lines))
    folder = str(private.folder)
    code, out, err = call(
        "eval", "--set", folder, "--predictions", "answers.jsonl", "--predictor", "mine",
        "--driver", "direct", "--dialect", "all", "--workers", "1",
    )  # fmt: skip
    assert code == 0, err
    assert "100.00" in out
    assert f"sqlite: the databases of sales exist only on a {dialect} server, so it is skipped" in err
    (manifest,) = (tmp_path / "results").glob("2*/manifest.json")
    text = manifest.read_text(encoding="utf-8")
    assert "p@ss" not in text
    assert "p%40ss" not in text
    assert json.loads(text)["left_out"][-1].startswith("sqlite")

    for args in (("coverage",), ("load",), ("translate", "--dialect", "all", "--out", "x")):
        code, _, err = call(args[0], "--set", folder, *args[1:])
        assert (code, err.count("\n")) == (2, 1)
        assert f"its databases are on a {dialect} server and not in SQLite files" in err
    code, out, err = call("describe", "--set", folder)
    assert code == 0
    assert f"stand on a {dialect} server, so their tables, rows and values are left out" in err
    assert "Keywords by category" in out


def test_an_account_that_may_write_is_refused(private: Private, monkeypatch: pytest.MonkeyPatch) -> None:
    server, dialect = private.server, private.server.dialect
    ask(server, private.database, WRITER[dialect])
    with pytest.raises(BadInput, match=r"sales_reader, which may do more than read \(INSERT"):
        Evaluator(str(private.folder), dialects=dialect)
    name = NAME.replace(" ", "%20")
    monkeypatch.setenv("SALES_DSN", f"{dialect}://{server.user}:{server.password}@{server.address}/{name}")
    with pytest.raises(BadInput, match=f"{server.user}, which may do more than read"):
        Evaluator(str(private.folder), dialects=dialect)


def test_what_is_not_there_is_said_in_one_line(private: Private, monkeypatch: pytest.MonkeyPatch) -> None:
    def fault() -> str:
        with pytest.raises((BadInput, EngineUnavailable)) as refused:
            Evaluator(str(private.folder), dialects=private.server.dialect)
        text = str(refused.value)
        assert "\n" not in text
        assert "p%40ss" not in text
        return text

    monkeypatch.setenv("SALES_DSN", private.dsn.replace("Private%20sales", ""))
    assert "SALES_DSN names no database" in fault()
    monkeypatch.setenv("SALES_DSN", private.dsn.replace("Private%20sales", "nowhere"))
    assert "nowhere" in fault()
    monkeypatch.setenv("SALES_DSN", private.dsn.replace("p%40ss", "wrong"))
    assert private.server.address in fault()
    monkeypatch.delenv("SALES_DSN")
    assert "SALES_DSN is not set" in fault()


def test_work_is_counted_by_who_may_only_read_and_where_it_may_not_be_a_sentence_says_so(
    private: Private,
) -> None:
    dialect = private.server.dialect
    ask(private.server, private.database, "CREATE VIEW lately AS SELECT * FROM orders")
    if dialect is Dialect.MYSQL:
        # What explains the query of a view shows it.
        ask(private.server, None, f"REVOKE SHOW VIEW ON \"{NAME}\".* FROM 'sales_reader'@'%'")
    else:
        ask(private.server, private.database, "GRANT SELECT ON lately TO sales_reader")
    with Evaluator(
        str(private.folder), dialects=dialect, workers=1, metrics=("ex", "r_ves_work"), say=lambda _: None
    ) as evaluator:
        table, view = evaluator.score(
            [Answer(0, f"SELECT COUNT(id) FROM {name}") for name in ("orders", "lately")]
        )
    assert table.outcome is view.outcome is Outcome.MATCH
    assert table.work is not None
    assert table.work.reason is None
    assert table.scores["r_ves_work"] > 0
    assert view.work is not None
    if dialect is Dialect.MYSQL:
        assert view.work.tau is None
        assert view.work.reason is not None
        assert "this account may not count on MySQL" in view.work.reason
        assert "r_ves_work" not in view.scores
    else:
        assert view.scores["r_ves_work"] > 0
