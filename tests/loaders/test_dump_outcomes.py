"""What the store hands out belongs to what stands on the server: a dump's rows, or those of the file."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from dialects.enums import Dialect
from harness.data.outcomes import Outcome
from harness.data.questions import Difficulty, Question, QuestionSet
from harness.scoring.dispatch import Asked, Judging
from harness.scoring.tasks import Setup
from harness.scoring.workers import LocalWorkers
from harness.session.plan import standing_on
from loaders.base.store import Store
from loaders.dumps import load_dump
from loaders.load import load
from loaders.namespace import Database
from loaders.server import Server
from tests.loaders.test_dumps import DUMPS

pytestmark = pytest.mark.engine

IN_THE_FILE, IN_THE_DUMP = 1, 3
GOLD = "SELECT count(*) FROM shop"


@pytest.fixture
def questions(collection: str, tmp_path: Path) -> QuestionSet:
    folder = tmp_path / "databases" / "trade"
    folder.mkdir(parents=True)
    with closing(sqlite3.connect(folder / "trade.sqlite")) as connection, connection:
        connection.execute("CREATE TABLE shop (id INTEGER PRIMARY KEY, t TEXT)")
        connection.executemany("INSERT INTO shop VALUES (?, 'text')", [(n,) for n in range(IN_THE_FILE)])
    gold = dict.fromkeys(Dialect, GOLD)
    question = Question("1", 1, "trade", "How many?", "", Difficulty.SIMPLE, gold)
    return QuestionSet("trade", "trade", collection, (question,), {}, folder.parent, {}, {})


def outcomes(questions: QuestionSet, server: Server, store: Path, *, force: bool = False) -> list[Outcome]:
    """Of the prediction of as many rows as the file has, and of as many as the dump has."""
    database = questions.database("trade")
    standing = standing_on([load([database], server, force=force)])
    setup = Setup(questions, {server.dialect: (server,)}, standing={server.dialect: standing})
    judging = Judging(setup, lambda: LocalWorkers(setup, 1), store=Store(store, say=pytest.fail))
    try:
        [question] = questions.questions
        texts = [f"SELECT {number}" for number in (IN_THE_FILE, IN_THE_DUMP)]
        futures = judging.begin([Asked(question, server.dialect, text) for text in texts])
        return [future.result(60).outcome for future in futures]
    finally:
        judging.close()


def test_a_dumps_outcomes_are_not_those_of_the_file(
    questions: QuestionSet, server: Server, tmp_path: Path
) -> None:
    store, dump = tmp_path / "store.sqlite", tmp_path / "dump.sql"
    dump.write_text(DUMPS[server.dialect]({"shop": [(n, "text") for n in range(IN_THE_DUMP)]}))
    database: Database = questions.database("trade")
    of_the_file, of_the_dump = [Outcome.MATCH, Outcome.MISMATCH], [Outcome.MISMATCH, Outcome.MATCH]

    load_dump(dump, [database], server, lambda _, __: None)
    assert outcomes(questions, server, store) == of_the_dump
    assert outcomes(questions, server, store) == of_the_dump
    assert outcomes(questions, server, store, force=True) == of_the_file
    assert outcomes(questions, server, store) == of_the_file
    load_dump(dump, [database], server, lambda _, __: None)
    assert outcomes(questions, server, store) == of_the_dump


def test_what_stands_is_told_by_source_and_by_how_it_was_loaded(
    questions: QuestionSet, server: Server, tmp_path: Path
) -> None:
    database = questions.database("trade")
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
