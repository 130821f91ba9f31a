"""A Ray cluster of several nodes, as processes on this machine, judges as this machine alone does."""

import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dialects.enums import Dialect, Profile
from dialects.errors import BadInput
from harness.data.outcomes import Judgement, Outcome
from harness.data.predictions import read_predictions
from harness.data.sets.loader import load_set
from harness.engines.execution import Limits
from harness.labs.ray import ray_workers
from harness.labs.ray.ray_workers import _ALONE, LOCAL, RayWorkers, _versions, difference, require_answer
from harness.scoring.tasks import JudgeTask, Setup, Workers
from harness.scoring.workers import LocalWorkers
from loaders import bulk_load as loading
from loaders.base.digests import sha256
from loaders.sample import PREDICTIONS
from loaders.server import Server
from tests import forked

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

QUESTIONS = load_set("sample")


def _setup(dialect: Dialect, *servers: Server) -> Setup:
    return Setup(QUESTIONS, {dialect: servers}, Profile.OFFICIAL, Limits(), ("ex", "soft_f1"))


def _tasks(dialect: Dialect) -> list[JudgeTask]:
    files = [file for file in read_predictions([PREDICTIONS], QUESTIONS) if file.dialect == dialect]
    tasks = []
    for question in QUESTIONS.questions:
        texts = {file.predictions[question.key] for file in files}
        given = tuple(sorted(text for text in texts if text is not None))
        tasks.append(JudgeTask(dialect, question, given))
    return tasks


def _untimed(judgements: Mapping[str, Judgement]) -> list[Judgement]:
    found = [judgement for _, judgement in sorted(judgements.items())]
    return [replace(each, prediction_seconds=None, gold_seconds=None) for each in found]


def _judged(workers: Workers, tasks: Sequence[JudgeTask]) -> list[list[Judgement]]:
    futures = [workers.submit(task) for task in tasks]
    return [_untimed(future.result().judgements) for future in futures]


def _locally(setup: Setup, tasks: Sequence[JudgeTask]) -> list[list[Judgement]]:
    workers = LocalWorkers(setup, 2)
    try:
        return _judged(workers, tasks)
    finally:
        workers.close()


SQLITE = _setup(Dialect.SQLITE)
SHEETS = _tasks(Dialect.SQLITE)


@pytest.fixture(scope="module")
def local() -> list[list[Judgement]]:
    return _locally(SQLITE, SHEETS)


_HEALTH = {"RAY_health_check_initial_delay_ms": "1000", "RAY_health_check_period_ms": "500"}
"""Ray misses a lost node after five of these times, not of 3 s each; an answer may take 10 s as ever."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A head with two processors and two workers with one, as far as Ray knows, on the loopback address."""
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory(dir="/tmp") as folder:
        for name, value in {**_ALONE, **_HEALTH, "RAY_USAGE_STATS_ENABLED": "0"}.items():
            patch.setenv(name, value)
        patch.setenv("RAY_TMPDIR", folder)
        from ray.cluster_utils import Cluster  # noqa: PLC0415 - reads the environment

        node = {"num_cpus": 2, "node_ip_address": "127.0.0.1", "include_dashboard": False}
        started: Any = Cluster(initialize_head=True, head_node_args=node)
        started.node = node
        try:
            for _ in range(2):
                started.add_node(**{**node, "num_cpus": 1})
            yield started
        finally:
            started.shutdown()


@pytest.fixture(scope="module")
def workers(cluster: Any) -> Iterator[RayWorkers]:
    started = RayWorkers(SQLITE, cluster.address, 2)
    try:
        yield started
    finally:
        started.close()


def test_a_cluster_judges_as_one_machine_does(workers: RayWorkers, local: list[list[Judgement]]) -> None:
    assert _judged(workers, SHEETS) == local
    assert {each.outcome for task in local for each in task} >= {Outcome.MATCH, Outcome.MISMATCH}


def test_a_killed_worker_changes_nothing(workers: RayWorkers, local: list[list[Judgement]]) -> None:
    futures = [workers.submit(task) for task in SHEETS]
    futures[0].result()
    workers._ray.kill(workers._actors[0], no_restart=False)
    assert [_untimed(future.result().judgements) for future in futures] == local


def test_a_lost_node_changes_nothing(cluster: Any, workers: RayWorkers, local: list[list[Judgement]]) -> None:
    lost = cluster.add_node(**{**cluster.node, "num_cpus": 1})
    others, workers = workers, RayWorkers(SQLITE, cluster.address, 3)
    try:
        free = others._ray.available_resources().get("CPU", 0)
        assert not free, "so one of the workers is on the node"
        futures = [workers.submit(task) for task in SHEETS]
        futures[0].result()
        cluster.remove_node(lost, allow_graceful=False)
        assert [_untimed(future.result().judgements) for future in futures] == local
        until = time.monotonic() + 120
        while others._ray.cluster_resources()["CPU"] != 4 and time.monotonic() < until:
            time.sleep(0.2)  # what is lost is counted until Ray has missed it
    finally:
        workers.close()


def test_closing_cancels_what_is_not_judged(cluster: Any) -> None:
    workers = RayWorkers(SQLITE, cluster.address, 1)
    futures = [workers.submit(task) for task in SHEETS * 20]
    futures[0].result()
    workers.close()
    assert all(future.done() for future in futures)
    assert futures[-1].cancelled()
    assert workers.submit(SHEETS[0]).cancelled()


@pytest.mark.engine
def test_a_cluster_judges_servers_alike(cluster: Any, mysql_server: Server) -> None:
    databases = [QUESTIONS.database(db_id, Profile.OFFICIAL) for db_id in QUESTIONS.db_ids]
    loading.load(databases, mysql_server)
    tasks = _tasks(Dialect.MYSQL)
    setup = _setup(Dialect.MYSQL, mysql_server, replace(mysql_server, host="localhost"))
    workers = RayWorkers(setup, cluster.address, 2)
    try:
        assert _judged(workers, tasks) == _locally(setup, tasks)
    finally:
        workers.close()


@pytest.mark.engine
def test_a_worker_uses_the_server_of_its_number(cluster: Any, postgresql_server: Server) -> None:
    databases = [QUESTIONS.database(db_id, Profile.OFFICIAL) for db_id in QUESTIONS.db_ids]
    loading.load(databases, postgresql_server)
    servers = (replace(postgresql_server, reader_user="nobody"), postgresql_server)
    workers = RayWorkers(_setup(Dialect.POSTGRESQL, *servers), cluster.address, 2)
    try:
        tasks = _judged(workers, _tasks(Dialect.POSTGRESQL)[:6])
    finally:
        workers.close()
    broken = [{each.outcome for each in task} == {Outcome.HARNESS_ERROR} for task in tasks]
    assert set(broken) == {True, False}


def test_more_workers_than_processors_are_refused(cluster: Any) -> None:
    with pytest.raises(BadInput, match="has 4 processors for 5 workers"):
        RayWorkers(SQLITE, cluster.address, 5).close()


def test_a_node_that_differs_is_refused(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    versions = _versions()
    monkeypatch.setattr(ray_workers, "_versions", lambda: {**versions, "sqlglot": "1.2.3"})
    with pytest.raises(BadInput) as caught:
        RayWorkers(SQLITE, cluster.address, 1)
    assert str(caught.value) == (
        f"--ray {cluster.address}: node 127.0.0.1: sqlglot is {versions['sqlglot']} there and 1.2.3 here; "
        "install the same on every node"
    )


FILE = QUESTIONS.database(QUESTIONS.db_ids[0]).sqlite_path
NOWHERE = Path("/nowhere/school.sqlite")


@pytest.mark.parametrize(
    ("versions", "files", "expected"),
    [
        ({}, {}, None),
        ({"Python": "3.0.0"}, {}, "Python is .* there and 3.0.0 here; install the same on every"),
        ({}, {FILE: "0" * 64}, f"{FILE} has other contents there; give every node the same files"),
        ({}, {NOWHERE: "0" * 64}, f"{NOWHERE}: cannot be read .*, the same on every node"),
    ],
)
def test_what_is_different_on_a_node_is_named(
    versions: dict[str, str], files: dict[Path, str], expected: str | None
) -> None:
    fault = difference({**_versions(), **versions}, files or {FILE: sha256(FILE)})
    assert fault is None if expected is None else fault and re.match(expected, fault)


_EVAL = ("eval", "--dialect=sqlite", "--no-cache")


def _scores(out: Path) -> Any:
    """What is in `summary.json`, apart from the run's own name."""
    summary = json.loads((out / "latest" / "summary.json").read_text(encoding="utf-8"))
    del summary["run_id"]
    return summary


@pytest.mark.parametrize(
    ("address", "flaw"),
    [
        ("127.0.0.1:9", "nothing answers there (Connection refused)"),
        ("127.0.0.1:99999", "nothing answers there ("),
        ("127.0.0.1", "must be HOST:PORT, auto or local"),
        ("ray://127.0.0.1:10001", "must be HOST:PORT, auto or local"),
        ("", "must be HOST:PORT, auto or local"),
    ],
)
def test_no_cluster_is_one_clear_error(address: str, flaw: str) -> None:
    with pytest.raises(BadInput) as caught:
        require_answer(address)
    assert str(caught.value).startswith(f"--ray {address}: {flaw}")
    assert str(caught.value).endswith("; give the address that `ray start --head` prints")


def test_a_cluster_of_this_machine_gives_the_summary_of_a_local_run(tmp_path: Path) -> None:
    # Ray starts programs of its own, which find each other by the environment: not from a fork.
    command = [str(Path(sys.executable).with_name("bird-harness")), *_EVAL, "--ray", LOCAL, "--workers=2"]
    spread = subprocess.run(
        [*command, "--out", tmp_path / "ray"], capture_output=True, text=True, check=False, timeout=300
    )
    alone = forked.run("harness", *_EVAL, "--workers=1", f"--out={tmp_path / 'local'}")
    assert (spread.returncode, spread.stderr) == (alone.returncode, alone.stderr)
    assert _scores(tmp_path / "ray") == _scores(tmp_path / "local")


def test_without_ray_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(BadInput, match=r"^--ray needs Ray: pip install 'bird-harness\[ray\]'$"):
        RayWorkers(SQLITE, LOCAL)
