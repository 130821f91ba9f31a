"""Suites in Spider's layout: the verdicts are its script's, case by case, and the same on every engine."""

import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest
import sqlglot
from sqlglot import exp

from dialects.enums import Dialect
from harness.data.prediction_files import Format
from harness.data.predictions import PredictionFile, read_predictions
from harness.data.questions import Question, QuestionSet
from harness.data.sets.loader import load_set
from harness.engines import kind_of
from harness.engines.execution import Ending, Execution, Limits
from harness.engines.sqlite.engine import SQLiteEngine
from harness.metrics import spider_suite
from harness.scoring.golds import Gold
from harness.scoring.tasks import Setup
from harness.scoring.variants import OWN, Suite, find_variants
from loaders.bulk_load import load
from loaders.sample import PREDICTIONS
from loaders.server import Server
from tests.evaluating import results
from tests.every_engine import LOADED
from tests.sqlite_files import sqlite_file

SERVERS = LOADED
FAST = Limits(seconds=2.0)


@pytest.fixture(scope="module")
def questions() -> QuestionSet:
    return load_set("sample")


@pytest.fixture(scope="module")
def folder(questions: QuestionSet, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three files for each database of the sample: its own, and two that lack some of the rows."""
    folder = tmp_path_factory.mktemp("suite")
    for db_id in questions.db_ids:
        path = questions.database(db_id).sqlite_path
        (folder / db_id).mkdir()
        shutil.copy(path, folder / db_id / path.name)
        for number in (2, 3):
            fewer = folder / db_id / f"{db_id}v{number}.sqlite"
            shutil.copy(path, fewer)
            with closing(sqlite3.connect(fewer)) as connection, connection:
                tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
                for (table,) in tables:
                    with suppress(sqlite3.OperationalError):
                        connection.execute(f'DELETE FROM "{table}" WHERE rowid % {number} = 0')
    return folder


# The script's rules, written down once more, and without regard for time.


def words(sql: str) -> Iterator[str]:
    """Split a text into single characters, words, and whatever is between quotes."""
    at = 0
    while at < len(sql):
        end = at + 1
        if sql[at] in "'\"`":
            end = sql.find(sql[at], end) + 1 or len(sql)
        elif sql[at].isalnum() or sql[at] == "_":
            while end < len(sql) and (sql[end].isalnum() or sql[end] == "_"):
                end += 1
        yield sql[at:end]
        at = end


def cleaned(sql: str) -> str:
    for sign in "><!":
        sql = sql.replace(f"{sign} =", f"{sign}=")
    return "".join(word for word in words(sql) if word.lower() != "distinct")


def verdict(folder: Path, gold: str, prediction: str) -> float | None:
    """1.0 if some order of columns gives gold's rows on each database, else 0.0; None if gold fails first."""
    gold, prediction = cleaned(gold), cleaned(prediction.replace(" value ", " 1 "))
    for path in sorted(folder.iterdir(), key=lambda path: len(path.name)):
        with closing(sqlite3.connect(path)) as connection:
            try:
                expected = connection.execute(gold).fetchall()
            except sqlite3.Error:
                return None
            try:
                found = connection.execute(prediction).fetchall()
            except (sqlite3.Error, sqlite3.Warning):
                return 0.0
        if "order by" in gold.lower():
            is_same = any(one == expected for one in arranged(found))
        else:
            is_same = any(Counter(one) == Counter(expected) for one in arranged(found))
        if not is_same:
            return 0.0
    return 1.0


def arranged(rows: list[tuple[object, ...]]) -> Iterator[list[tuple[object, ...]]]:
    for order in permutations(range(len(rows[0]))) if rows else [()]:
        yield [tuple(row[place] for place in order) for row in rows]


def changed(gold: str) -> Iterator[str]:
    """Texts made from a gold: some right by the script's rules, and some wrong on one of the databases."""
    yield f"SELECT * FROM ({gold}) LIMIT 3"
    yield f"SELECT * FROM ({gold}) UNION ALL SELECT * FROM ({gold})"
    yield f"SELECT DISTINCT * FROM ({gold})"
    yield gold.replace(">=", "> =").replace("<=", "< =")
    yield f"{gold} value "
    yield f"SELEC {gold}"
    tree = sqlglot.parse_one(gold, read="sqlite")
    select = tree.find(exp.Select)
    assert select is not None
    for part in ("where", "order", "group", "limit", "having"):
        if select.args.get(part):
            less = tree.copy()
            least = less.find(exp.Select)
            assert least is not None
            least.set(part, None)
            yield less.sql("sqlite")
    turned = tree.copy()
    first = turned.find(exp.Select)
    assert first is not None
    first.set("expressions", first.expressions[::-1])
    yield turned.sql("sqlite")


def recited(path: Path, gold: str) -> list[str]:
    """A text that says gold's rows by heart, and is wrong where they are others."""
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute(gold).fetchmany(9)
        shown = ", ".join(["quote(?)"] * len(rows[0]) if rows else [])
        said = [connection.execute(f"SELECT {shown}", row).fetchone() for row in rows]
    return [" UNION ALL ".join(f"SELECT {', '.join(row)}" for row in said)] if rows else []


def alone(question: Question, dialect: Dialect = Dialect.SQLITE) -> Gold:
    return Gold(question, dialect, question.gold[dialect], Execution(Ending.ROWS))


@pytest.mark.slow
def test_verdicts_are_those_of_the_script_case_by_case(questions: QuestionSet, folder: Path) -> None:
    variants = find_variants(str(folder), questions, pytest.fail)
    suite = Suite(variants, SQLiteEngine(pooled=True), SQLiteEngine(pooled=True), FAST)
    files = read_predictions([PREDICTIONS], questions, dialects=(Dialect.SQLITE,))
    counts: Counter[tuple[float | None, bool]] = Counter()
    for question in questions.questions:
        gold = question.gold[Dialect.SQLITE]
        given = [text for file in files if (text := file.predictions[question.key]) is not None]
        by_heart = recited(questions.database(question.db_id).sqlite_path, gold)
        for text in [*changed(gold), *given, *by_heart]:
            found = suite.script_score(alone(question), text)
            assert found.score == verdict(folder / question.db_id, gold, text), text
            counts[found.score, found.failed_variant in {None, OWN}] += 1
    assert min(counts[1.0, True], counts[0.0, True]) > 100, (
        "right ones, and wrong ones on the database itself"
    )
    assert counts[0.0, False] > 20, "wrong ones on another file alone"


CASES = {
    "SELECT Title, Price FROM Books WHERE Price >= 20": 1.0,
    "SELECT DISTINCT Price, Title FROM Books WHERE NOT Price < 20": 1.0,
    "SELECT Title, Price FROM Books WHERE Price > = 20": 1.0,
    "SELECT Title, Price FROM Books WHERE Price > 20 OR Price = 20 AND Title <> 'value'": 1.0,
    "SELECT Title, Price FROM Books WHERE Price >= 20 LIMIT 1": 0.0,
    "SELECT Title FROM Books WHERE Price >= 20": 0.0,
    "SELECT Title, Price FROM NoBooks": 0.0,
}
"""Texts, and whether they are right; the first is gold."""


def judged(questions: QuestionSet, folder: Path, dialect: Dialect, server: Server | None) -> list[float]:
    """Return the scores of the cases on an engine."""
    [gold, *_] = CASES
    question = replace(
        next(one for one in questions.questions if one.db_id == "city_library"),
        gold=dict.fromkeys((Dialect.SQLITE, dialect), gold),
    )
    one = replace(questions, questions=(question,), order={dialect: (question.key,)})
    variants = find_variants(str(folder), one, pytest.fail)
    if server is not None:
        wanted = [one.database("city_library"), *variants.databases()]
        load(wanted, server)
        assert all(each.skipped for each in load(wanted, server)), "they are loaded once"
    servers: dict[str, tuple[Server, ...]] = {dialect: () if server is None else (server,)}
    setup = Setup(one, servers, metrics=("ex", "ts", "ts_spider"), variants=variants)
    files = [
        PredictionFile(
            predictor=f"p{number}",
            dialect=dialect,
            path=Path("x"),
            format=Format.OFFICIAL,
            sha256="",
            predictions={question.key: sql},
        )
        for number, sql in enumerate(CASES)
    ]
    found = results(setup, files)
    assert [each.scores["ts"] for each in found] == [1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    return [each.scores["ts_spider"] for each in found]


@pytest.mark.slow
def test_a_prediction_may_be_right_by_the_script_and_wrong_by_ex(
    questions: QuestionSet, folder: Path
) -> None:
    assert judged(questions, folder, Dialect.SQLITE, None) == list(CASES.values())


@pytest.mark.engine
@pytest.mark.thorough
def test_servers_judge_suites_as_sqlite_does(questions: QuestionSet, folder: Path, server: Server) -> None:
    assert kind_of(server.dialect).has_server
    assert judged(questions, folder, server.dialect, server) == list(CASES.values())


def test_there_is_no_verdict_where_gold_fails(questions: QuestionSet, folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "suite")
    sqlite_file(
        tmp_path / "suite" / "city_library" / "city_libraryv3.sqlite", "ALTER TABLE Books RENAME TO NoBooks"
    )
    variants = find_variants(str(tmp_path / "suite"), questions, pytest.fail)
    suite = Suite(variants, SQLiteEngine(pooled=True), SQLiteEngine(pooled=True), FAST)
    [gold, *_] = CASES
    question = replace(questions.questions[0], db_id="city_library", gold={Dialect.SQLITE: gold})
    found = suite.script_score(alone(question), gold)
    assert (found.score, found.failed_variant) == (None, "city_libraryv3")
    assert suite.script_score(alone(question), f"{gold} LIMIT 1").score == 0.0, "it is wrong before that"


@pytest.mark.parametrize(
    ("sql", "runs"),
    [
        ("SELECT DISTINCT 'distinct' -- distinct", "SELECT  'distinct' -- distinct"),
        ("SELECT 'DISTINCT''s' /* distinct */", "SELECT 'DISTINCT''s' /* distinct */"),
        ('SELECT COUNT(DISTINCT "distinct", `distinct`)', 'SELECT COUNT( "distinct", `distinct`)'),
        ("SELECT a FROM t WHERE a > = 1 AND b ! = 2", "SELECT a FROM t WHERE a >= 1 AND b != 2"),
        ("SELECT year ( CurDate( ) ) - born", "SELECT 2020- born"),
        ("SELECT is_distinct FROM t", "SELECT is_distinct FROM t"),
    ],
)  # fmt: skip
def test_a_text_runs_as_the_script_would_run_it(sql: str, runs: str) -> None:
    assert spider_suite.prepared(sql) == runs


@pytest.mark.parametrize(
    ("predicted", "gold", "is_ordered", "is_same"),
    [
        ([], [], True, True),
        ([(1,)], [], False, False),
        ([(1, "a"), (2, "b")], [("b", 2), ("a", 1)], False, True),
        ([(1, "a"), (2, "b")], [("b", 2), ("a", 1)], True, False),
        ([(1, "a"), (2, "b")], [("a", 1), ("b", 2)], True, True),
        ([(1,), (1,), (2,)], [(1,), (2,), (2,)], False, False),
        ([(1, 2), (2, 1)], [(1, 1), (2, 2)], False, False),
        ([(1, 2, 2)], [(2, 1, 2)], False, True),
        ([(1, 2)], [(1,)], False, False),
        ([(10, 9.5)], [(10.0, 9.5)], False, True),
        ([(1, [2])], [(1, [2])], False, False),
    ],
)
def test_results_are_compared_as_the_script_does(
    predicted: list[tuple[object, ...]], gold: list[tuple[object, ...]], is_ordered: object, is_same: object
) -> None:
    assert spider_suite.same_result(predicted, gold, is_ordered=bool(is_ordered)) is is_same
