"""The same figures however a run is done."""

import json
from pathlib import Path

import pytest

from dialects.enums import Dialect
from harness.data.outcomes import Outcome
from harness.data.predictions import read_predictions
from harness.data.sets.loader import load_set
from harness.metrics import METRICS, question_metrics
from harness.runs.summary import summarize
from harness.scoring.scheduler import Scheduler
from harness.scoring.tasks import Setup
from harness.scoring.workers import LocalWorkers
from loaders.base.store import Store
from loaders.bulk_load import load
from loaders.sample import PREDICTIONS
from loaders.server import Server
from tests.evaluating import results

pytestmark = pytest.mark.engine

UNTIMED = tuple(
    name
    for name in question_metrics()
    if not METRICS[name].is_timed and not METRICS[name].basis.needs_variants
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
    files = read_predictions([PREDICTIONS], load_set("sample"), dialects=tuple(servers))

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
