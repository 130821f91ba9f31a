"""The whole command, on real servers; suites are written here."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from dialects.enums import Dialect
from dialects.errors import BadInput
from dialects.schema import Schema
from dialects.translation import Translation, Untranslatable
from harness.cli import main
from harness.labs.conformance.command import (
    _TRANSLATORS,
    JSON,
    MARKDOWN,
    RESULTS,
    ConformanceRequest,
    measure,
    print_measured,
    sampled,
    translators,
)
from harness.labs.conformance.comparison import OURS, QueryVerdict, SuiteWitness
from loaders.server import Server

FILE = """\
statement ok
CREATE TABLE t(a INTEGER, b TEXT)

statement ok
INSERT INTO t VALUES (1, 'x'), (2, 'X'), (3, NULL)

query I rowsort all
SELECT a FROM t
----
1
2
3

query I rowsort all
SELECT a FROM t WHERE a > 1

query I
SELECT 7 / 2
----
4

query T
SELECT group_concat(b) FROM t

query I
SELECT nope FROM t

query T
SELECT a FROM t ORDER BY soundex(a)

statement ok
UPDATE t SET b = 'y'

onlyif mysql
query I
SELECT 1

query I
SELECT count(*) FROM t WHERE b = 'y'
----
3
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    folder = tmp_path / "suite"
    (folder / "shop").mkdir(parents=True)
    (folder / "a.test").write_text(FILE, encoding="utf-8")
    (folder / "shop" / "schema.sql").write_text(
        "CREATE TABLE s(id INTEGER PRIMARY KEY, n TEXT);INSERT INTO s VALUES (1, 'a'), (2, 'B')",
        encoding="utf-8",
    )
    (folder / "shop" / "queries.sql").write_text(
        "SELECT n FROM s WHERE n LIKE 'b';\nSELECT n FROM s ORDER BY n", encoding="utf-8"
    )
    return folder


def request_of(suite: Path, **other: Any) -> ConformanceRequest:
    return ConformanceRequest(suite, suite.parent / "out", workers=2, **other)


def lines(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / RESULTS).read_text(encoding="utf-8").splitlines()]


@pytest.mark.engine
@pytest.mark.thorough
def test_each_query_has_one_verdict_or_a_reason(
    suite: Path, server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    measured = measure(request_of(suite, translator="bird,sqlglot"), {server.dialect: server})
    board = measured.board
    assert (board.queries, board.compared) == (10, 8)
    assert board.left == {"SQLite refuses it: no such column: nope": 1, "onlyif mysql": 1}
    assert board.statements == {"run": 5}
    assert board.witness == {SuiteWitness.AGREES: 2, SuiteWitness.DIFFERS: 1, SuiteWitness.NONE: 5}
    assert board.disagreements == ["a.test:17", "a.test: label all"]
    ours = board.counts["bird", server.dialect]
    assert ours.verdicts == {
        QueryVerdict.SAME: 6,
        QueryVerdict.WARNED_SAME: 1,
        QueryVerdict.UNTRANSLATABLE: 1,
    }
    assert list(ours.reasons[QueryVerdict.UNTRANSLATABLE].values()) == [1]
    theirs = board.counts["sqlglot", server.dialect].verdicts
    assert theirs.total() == 8
    assert board.faults == 0
    said: list[str] = []
    assert print_measured(measured, said.append) == 0
    assert said == [f"written to {measured.folder}"]
    capsys.readouterr()
    assert print_measured(measured, said.append, as_json=True) == 0
    assert json.loads(capsys.readouterr().out) == json.loads((measured.folder / JSON).read_text("utf-8"))

    report = json.loads((measured.folder / JSON).read_text(encoding="utf-8"))
    assert report["counts"][0]["verdicts"]["same"] == 6
    assert report["suite"].keys() == {"a.test", "shop/schema.sql", "shop/queries.sql"}
    page = (measured.folder / MARKDOWN).read_text(encoding="utf-8")
    assert "| bird |" in page
    assert "- a.test:17" in page


@pytest.mark.engine
@pytest.mark.thorough
def test_what_a_translator_gets_wrong_is_told_apart(
    suite: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong(sql: str, schema: Schema, target: Dialect) -> Translation:
        assert schema.tables
        known = {
            "SELECT a FROM t": Translation("SELECT 1", target),
            "SELECT a FROM t WHERE a > 1": Translation("SELECT 1", target, warnings=("perhaps",)),
            "SELECT 7 / 2": Translation("SELECT nowhere", target),
            "SELECT n FROM s ORDER BY n": Translation("SELECT n FROM s ORDER BY n DESC", target),
            "SELECT n FROM s WHERE n LIKE 'b'": Translation("SELECT 'B'", target, warnings=("perhaps",)),
        }
        if sql.endswith("soundex(a)"):
            raise Untranslatable("printf", "why not", 7)
        if sql.startswith("SELECT group"):
            raise KeyError("b")
        return known.get(sql, Translation("SELECT 3", target))

    monkeypatch.setitem(_TRANSLATORS, OURS, wrong)
    measured = measure(request_of(suite), {server.dialect: server})
    found = {
        line["query"]: QueryVerdict(line["answers"][0]["verdict"])
        for line in lines(measured.folder)
        if "answers" in line
    }
    assert found == {
        "a.test:7": QueryVerdict.SILENT,
        "a.test:14": QueryVerdict.WARNED,
        "a.test:17": QueryVerdict.ERROR,
        "a.test:22": QueryVerdict.CRASH,
        "a.test:28": QueryVerdict.UNTRANSLATABLE,
        "a.test:38": QueryVerdict.SAME,
        "shop/queries.sql:1": QueryVerdict.WARNED_SAME,
        "shop/queries.sql:2": QueryVerdict.SILENT,
    }
    counts = measured.board.counts["bird", server.dialect]
    assert counts.reasons[QueryVerdict.SILENT] == {"different": 1, "order": 1}
    assert counts.reasons[QueryVerdict.UNTRANSLATABLE] == {"printf at character N: why not": 1}
    assert measured.board.faults == 4
    said: list[str] = []
    assert print_measured(measured, said.append) == 1
    assert said[-1].startswith("4 answers are silent differences, errors or crashes")


@pytest.mark.engine
@pytest.mark.thorough
def test_a_stopped_run_goes_on_and_loses_nothing(suite: Path, mysql_server: Server) -> None:
    request, servers = request_of(suite), {Dialect.MYSQL: mysql_server}

    def stop(done: int, total: int) -> None:
        assert total == 10
        if done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measure(request, servers, stop)
    kept = lines(request.out)
    assert sum("query" in line for line in kept) == 5
    with (request.out / RESULTS).open("a", encoding="utf-8") as file:
        file.write('{"query": "a.test:2')
    board = measure(request, servers).board
    whole = lines(request.out)
    assert whole[: len(kept)] == kept
    assert len({line["query"] for line in whole if "query" in line}) == board.queries == 10
    assert board.statements == {"run": 5}
    measure(request, servers, lambda *_: pytest.fail("nothing was left to do"))

    with pytest.raises(
        BadInput, match=r"holds results of another run \(other seconds\); choose another folder"
    ):
        measure(request_of(suite, seconds=3.0), servers)
    (suite / "a.test").write_text(FILE.replace("7 / 2", "7 / 3"), encoding="utf-8")
    with pytest.raises(BadInput, match=r"\(other suite\)"):
        measure(request, servers)


@pytest.mark.engine
@pytest.mark.thorough
def test_more_states_than_fit_at_once_and_one_that_a_server_cannot_hold(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.labs.conformance.command.BATCH", 2)
    text = "statement ok\nCREATE TABLE t(a)\n\n"
    for number in range(5):
        text += f"statement ok\nINSERT INTO t VALUES ({number})\n\nquery I\nSELECT sum(a) FROM t\n\n"
    text += f"statement ok\nDROP TABLE t\n\nstatement ok\nCREATE TABLE {'t' * 70}(a)\n\nquery I\nSELECT 1\n"
    suite = tmp_path / "suite"
    suite.mkdir()
    (suite / "a.test").write_text(text, encoding="utf-8")
    board = measure(request_of(suite), {server.dialect: server}).board
    ours = board.counts["bird", server.dialect]
    assert ours.verdicts == {QueryVerdict.SAME: 5, QueryVerdict.NOT_COMPARED: 1}
    [reason] = ours.reasons[QueryVerdict.NOT_COMPARED]
    assert reason.startswith("not loaded: tables: ")
    assert "sqlite" not in reason


def test_a_seed_chooses_the_same_queries_again() -> None:
    keys = {"a": [f"a:{number}" for number in range(50)], "b": [f"b:{number}" for number in range(50)]}
    first = sampled(keys, 10, 1)
    assert sum(map(len, first.values())) == 10
    assert sampled(keys, 10, 1) == first
    assert sampled(keys, 10, 2) != first
    assert (
        sampled(keys, None, 1) == sampled(keys, 1000, 2) == {name: set(each) for name, each in keys.items()}
    )


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["SUITE", "--sample", "0"], "--sample"),
        (["SUITE", "--timeout", "0"], "--timeout 0"),
        (["SUITE", "--workers", "0"], "--workers"),
        (["SUITE", "--dialect", "sqlite"], "SQLite is the reference"),
        (["SUITE", "--out", "/dev/null"], "--out"),
        ([], "Missing argument 'suite'"),
    ],
)
def test_bad_usage_exits_with_2(
    args: list[str],
    says: str,
    suite: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = [str(suite) if each == "SUITE" else each for each in args]
    monkeypatch.setattr(sys, "argv", ["bird-harness", "lab", "conformance", *given])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    assert says in capsys.readouterr().err


def test_a_translator_that_nobody_knows_is_refused_with_the_names_of_all() -> None:
    with pytest.raises(BadInput, match="'mine' is not a translator; choose from bird, sqlglot, polyglot"):
        translators("bird,mine")
    assert list(translators("sqlglot, bird")) == ["bird", "sqlglot"]


@pytest.mark.parametrize(
    ("sql", "target", "written"),
    [
        ("SELECT a || b FROM t", Dialect.MYSQL, "SELECT CONCAT(a, b) FROM t"),
        ("SELECT IFNULL(a, 1) FROM t", Dialect.POSTGRESQL, "SELECT COALESCE(a, 1) FROM t"),
    ],
)
def test_sqlglot_is_asked_as_its_own_command_asks(sql: str, target: Dialect, written: str) -> None:
    import sqlglot  # noqa: PLC0415 - the peer itself

    made = translators("sqlglot")["sqlglot"](sql, Schema(()), target)
    [transpiled] = sqlglot.transpile(
        sql, read="sqlite", write={Dialect.MYSQL: "mysql"}.get(target, "postgres")
    )
    assert made.sql == transpiled == written


def test_what_sqlglot_cannot_read_has_no_translation() -> None:
    with pytest.raises(Untranslatable):
        translators("sqlglot")["sqlglot"]("SELECT FROM WHERE )", Schema(()), Dialect.MYSQL)


MOTLEY = """\
query I
SELECT 7 / 2
----
3

statement ok
CREATE TABLE t(a, b TEXT, c)

statement ok
INSERT INTO t VALUES (1, 'x', 'a'), ('1', 'X', 'b' || char(0)), (x'31', NULL, 'c'), (2.5, 'z', NULL)

query I nosort
SELECT count(*) FROM t WHERE a = '1'
----
1

query T nosort
SELECT b FROM t WHERE b > 'a' ORDER BY b
----
x
z

query T
SELECT a FROM t ORDER BY a

query T
SELECT c FROM t

query I
SELECT count(c) FROM t

query T
SELECT upper(c) FROM t
"""


@pytest.mark.engine
@pytest.mark.thorough
def test_what_no_type_holds_keeps_no_query_from_being_compared(tmp_path: Path, server: Server) -> None:
    (tmp_path / "a.test").write_text(MOTLEY, encoding="utf-8")
    out = tmp_path / "out"
    board = measure(ConformanceRequest(tmp_path, out, workers=2), {server.dialect: server}).board
    assert (board.queries, board.compared, board.left) == (7, 7, {})
    ours = board.counts["bird", server.dialect]
    assert ours.verdicts == {
        QueryVerdict.SAME: 4,
        QueryVerdict.WARNED_SAME: 2,
        QueryVerdict.UNTRANSLATABLE: 1,
    }
    assert board.witness[SuiteWitness.DIFFERS] == 0
    [reason] = [a["detail"] for line in lines(out) for a in line.get("answers", ()) if "detail" in a
                and a["verdict"] == QueryVerdict.UNTRANSLATABLE]  # fmt: skip
    assert reason.startswith("the column c at character ")
