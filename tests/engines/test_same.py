"""The same rows after every load and restart, and the same figures however a run is done."""

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from dialects.enums import Dialect
from harness.data.outcomes import Outcome
from harness.data.predictions import read_predictions
from harness.data.sets.loader import load_set
from harness.engines import on_server
from harness.engines.execution import Ending, Execution, Limits, execute
from harness.metrics import METRICS, Basis
from harness.runs.summary import summarize
from harness.scoring.scheduler import Scheduler
from harness.scoring.tasks import Setup
from harness.scoring.workers import LocalWorkers
from loaders.base.errors import EngineUnavailable
from loaders.base.store import Store
from loaders.load import load
from loaders.sample import PREDICTIONS
from loaders.server import Server
from tests.engines.victims import Victim, victim
from tests.evaluating import results
from tests.reasons import Reason, skip

pytestmark = pytest.mark.engine

PLAN = {Dialect.MYSQL: "EXPLAIN FORMAT=TREE ", Dialect.POSTGRESQL: "EXPLAIN "}


@pytest.fixture(params=[Dialect.MYSQL, Dialect.POSTGRESQL])
def prey(request: pytest.FixtureRequest) -> Iterator[Victim]:
    """A server of each kind that may be killed."""
    reason = Reason[f"NO_{request.param.name}"]
    with ExitStack() as stack:
        try:
            found = stack.enter_context(victim(request.param))
        except EngineUnavailable as error:
            skip(reason, str(error))
        yield found


def test_golds_return_the_same_rows_in_the_same_order_by_the_same_plan(prey: Victim) -> None:
    questions = load_set("sample")
    databases = [questions.database(db_id) for db_id in questions.db_ids]
    dialect = prey.server.dialect

    def asked(prefix: str = "") -> Mapping[str, tuple[object, ...]]:
        engine = on_server(prey.server)
        golds = {
            question.key: execute(
                engine, questions.database(question.db_id), prefix + question.gold[dialect], Limits()
            )
            for question in questions.questions
        }
        return {key: _facts(execution) for key, execution in golds.items()}

    load(databases, prey.server)
    rows, plans = asked(), asked(PLAN[dialect])
    assert {ending for ending, *_ in rows.values()} == {Ending.ROWS}
    load(databases, prey.server, force=True)
    assert (asked(), asked(PLAN[dialect])) == (rows, plans), "after another load"
    # Nothing is in its memory then.
    prey.kill()
    prey.start()
    assert (asked(), asked(PLAN[dialect])) == (rows, plans), "after a restart"


def _facts(execution: Execution) -> tuple[object, ...]:
    return execution.ending, execution.rows, execution.error


UNTIMED = tuple(
    name
    for name, metric in METRICS.items()
    if metric.of_timing is None and metric.basis is not Basis.VARIANTS
)


def test_workers_and_store_change_no_figure(
    mysql_server: Server, postgresql_server: Server, tmp_path: Path
) -> None:
    questions = load_set("sample").limit(24)
    for server in (mysql_server, postgresql_server):
        load([questions.database(db_id) for db_id in questions.db_ids], server)
    servers: dict[str, tuple[Server, ...]] = {
        Dialect.SQLITE: (),
        Dialect.MYSQL: (mysql_server,),
        Dialect.POSTGRESQL: (postgresql_server,),
    }
    setup = Setup(questions, servers, metrics=UNTIMED)
    files = read_predictions([PREDICTIONS], load_set("sample"))

    def summary(workers: int, path: Path | None) -> str:
        store = None if path is None else Store(path, say=pytest.fail)
        scheduler = Scheduler(setup, lambda: LocalWorkers(setup, workers), store=store)
        found = results(setup, files, scheduler)
        assert Outcome.HARNESS_ERROR not in {result.outcome for result in found}
        return json.dumps([score.to_json() for score in summarize(found, UNTIMED)], indent=2)

    store = tmp_path / "store.sqlite"
    alone = summary(1, None)
    assert summary(3, store) == alone, "nothing is known yet"
    assert summary(1, store) == alone, "nearly everything is known"
