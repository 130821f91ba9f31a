"""What a text's rows do to the driver is that text's error, and nobody else's."""

import json
import os
from collections.abc import Mapping
from itertools import cycle, islice
from pathlib import Path

import pytest

from dialects.enums import Dialect
from harness.data.outcomes import Outcome, PairResult
from harness.data.sets.loading import load_set
from harness.engines import on_server
from harness.engines.base import Engine
from harness.engines.execution import Ending, Limits, execute
from harness.engines.retry import execute_patiently
from harness.engines.sqlite.engine import SQLiteEngine
from harness.runs.reading import LATEST, RESULTS, read_results
from loaders.load import load
from loaders.namespace import Database
from loaders.sample import PREDICTIONS
from loaders.server import Server
from tests import forked
from tests.engines.hostile.families import VALUES

pytestmark = pytest.mark.engine

HOSTILE = 8
PROBES: Mapping[Dialect, str] = {
    Dialect.SQLITE: "SELECT 1, 'é'",
    Dialect.MYSQL: "SELECT 'é', CAST('2020-01-31' AS DATE), @@sql_mode, @@character_set_results",
    Dialect.POSTGRESQL: "SELECT 'é', interval '1 year', timestamptz '2020-01-01', '[1]'::json,"
    " current_setting('DateStyle'), current_setting('TimeZone'),"
    " current_setting('client_encoding'), current_setting('bytea_output')",
}  # fmt: skip


@pytest.fixture(params=list(Dialect))
def found(request: pytest.FixtureRequest) -> tuple[Dialect, Server | None]:
    """Each engine in turn, with the sample's databases."""
    dialect: Dialect = request.param
    if dialect is Dialect.SQLITE:
        return dialect, None
    server: Server = request.getfixturevalue(f"{dialect}_server")
    questions = load_set("sample")
    load([questions.database(db_id) for db_id in questions.db_ids], server)
    return dialect, server


def _database() -> Database:
    questions = load_set("sample")
    return questions.database(questions.db_ids[0])


def test_a_value_that_cannot_be_read_is_an_error_of_its_text_alone(
    found: tuple[Dialect, Server | None],
) -> None:
    dialect, server = found
    engine: Engine = SQLiteEngine(pooled=True) if server is None else on_server(server)
    database, limits = _database(), Limits(seconds=10)
    alone = execute(engine, database, PROBES[dialect], limits)
    assert alone.ending is Ending.ROWS
    for case in VALUES[dialect]:
        seen = execute_patiently(engine, database, case.sql, limits)
        assert seen.ending in case.endings, (case.sql[:200], seen)
        assert (seen.error or "").count("\n") == 0
        assert execute(engine, database, PROBES[dialect], limits).rows == alone.rows, case.sql[:200]


def test_eight_such_texts_change_no_other_outcome_and_leave_nothing_to_resume(
    found: tuple[Dialect, Server | None], tmp_path: Path
) -> None:
    dialect, server = found
    honest = json.loads((PREDICTIONS / f"predict_sample_careless_{dialect}.json").read_text(encoding="utf-8"))
    assert len(honest) == 66
    hostile = dict(honest)
    bad = islice(cycle(VALUES[dialect]), HOSTILE)
    for key, case in zip(list(honest)[4 : 4 + HOSTILE], bad, strict=True):
        hostile[key] = case.sql + "".join(honest[key].partition("\t----- bird -----\t")[1:])
    alone = _evaluated(dialect, server, tmp_path / "alone", honest)
    beside = _evaluated(dialect, server, tmp_path / "beside", hostile)
    changed = {question.key for question in load_set("sample").questions[4 : 4 + HOSTILE]}
    assert {key: each for key, each in beside.items() if key not in changed} == {
        key: each for key, each in alone.items() if key not in changed
    }
    assert Outcome.HARNESS_ERROR not in {outcome for outcome, *_ in beside.values()}
    assert _evaluated(dialect, server, tmp_path / "beside", hostile, resume=True) == beside


def _evaluated(
    dialect: Dialect, server: Server | None, folder: Path, answers: Mapping[str, str], *, resume: bool = False
) -> Mapping[str, tuple[object, ...]]:
    """What came of an `eval` of `answers`, by question."""
    folder.mkdir(exist_ok=True)
    name = f"predict_sample_careless_{dialect}.json"
    (folder / name).write_text(json.dumps(answers), encoding="utf-8")
    arguments = [f"--predictions={folder / name}", f"--dialect={dialect}", f"--out={folder / 'results'}"]
    if resume:
        arguments.append(f"--resume={folder / 'results' / LATEST}")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("BIRD_")}
    if server is not None:
        address = f"{server.user}:{server.password}@{server.host}:{server.port}"
        environment[f"BIRD_{dialect.upper()}_DSN"] = f"{dialect}://{address}"
        environment["BIRD_PROVISION"] = "dsn"
    command = ["harness", "eval", "--no-cache", "--workers=2", *arguments]
    done = forked.run(*command, cwd=folder, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (folder / "results" / LATEST / RESULTS).is_file()
    return {each.question: _facts(each) for each in read_results(folder / "results" / LATEST)}


def _facts(result: PairResult) -> tuple[object, ...]:
    return result.outcome, result.scores, result.error, result.code, result.error_class
