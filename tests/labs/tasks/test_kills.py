"""Harness, worker or server is killed at random moments: the next run leaves nothing, and says the same."""

import json
import os
import random
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from dialects.enums import Dialect
from harness import Answer
from harness.data.outcomes import Outcome
from harness.labs.tasks.evaluator import TaskEvaluator
from harness.labs.tasks.sample import sample_families, sample_tasks
from loaders.base.errors import EngineUnavailable
from tests import forked
from tests.engines.victims import Victim, children, victim
from tests.labs.tasks.shop import make_dumps, make_mysql_dump, make_sqlite
from tests.labs.tasks.test_verdicts import left_on
from tests.reasons import Reason, skip

SEED = 20_261_128
MOMENTS = 1
"""For each thing that is killed."""

_SECONDS = 60
_TASKS = 4
_PREPARED = {
    "sqlite": ["BEGIN", "DELETE FROM orders"],
    "postgresql": ["BEGIN", "DELETE FROM orders", "PREPARE TRANSACTION 'a'"],
    "mysql": ["XA START 'a'", "DELETE FROM orders", "XA END 'a'", "XA PREPARE 'a'"],
}
_SLEEP = {"sqlite": "SELECT 1", "postgresql": "SELECT pg_sleep(0.3)", "mysql": "SELECT sleep(0.3)"}
_FAMILY = {"sqlite": "livesqlbench-sqlite", "postgresql": "livesqlbench", "mysql": "critic-mysql"}
_MAKE = {"sqlite": make_sqlite, "postgresql": make_dumps, "mysql": make_mysql_dump}
_LOCKS = {
    "postgresql": "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"
    " UNION ALL SELECT count(*) FROM pg_prepared_xacts"
    " UNION ALL SELECT count(*) FROM pg_stat_activity WHERE starts_with(usename, 'bird_task')",
    "mysql": "SELECT count(*) FROM performance_schema.metadata_locks WHERE object_type = 'USER LEVEL LOCK'"
    " UNION ALL SELECT count(*) FROM information_schema.processlist WHERE user LIKE 'bird\\_task%'",
}


def write_tasks(folder: Path, dialect: str) -> list[str]:
    """Write tasks that change data, each with an answer that leaves a transaction; return the arguments."""
    _MAKE[dialect](folder / "databases")
    tasks, answers = [], []
    for number in range(_TASKS):
        tasks.append(
            {
                "instance_id": f"t{number}",
                "selected_database": "shop",
                "db_id": "shop",
                "issue_sql": [],
                "preprocess_sql": [],
                "clean_up_sql": [],
                "sol_sql": [f"UPDATE customers SET city = 'x' WHERE id = {number + 1}"],
                "category": "Management",
            }
        )
        own = _PREPARED[dialect] if number % 2 else [*tasks[-1]["sol_sql"]]
        answers.append({"instance_id": f"t{number}", "pred_sqls": [_SLEEP[dialect], *own]})
    for name, lines in (("tasks", tasks), ("answers", answers)):
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return [
        *("lab", "tasks", str(folder / "tasks.jsonl"), "--family", _FAMILY[dialect], "--workers", "2"),
        *("--databases", str(folder / "databases"), "--answers", str(folder / "answers.jsonl"), "--no-cache"),
        *("--out", str(folder / "out")),
    ]


def verdicts(folder: Path, arguments: list[str], environment: Mapping[str, str]) -> list[Any]:
    """Return the verdicts of a run that nothing is done to."""
    done = forked.run("harness", *arguments, cwd=folder, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = (folder / "out/latest/verdicts.jsonl").read_text(encoding="utf-8").splitlines()
    keys = ("predictor", "task", "official", "strict", "state", "changed")
    return [[json.loads(line)[key] for key in keys] for line in lines]


def below(process: int) -> list[int]:
    """Return the processes that descend from one."""
    found = children(process)
    return found + [more for child in found for more in below(child)]


def works(process: int) -> bool:
    """Whether a process is there and no tracker of Python's, which says much when it is killed."""
    try:
        return b"resource_tracker" not in Path(f"/proc/{process}/cmdline").read_bytes()
    except FileNotFoundError:
        return False


def check(folder: Path, dialect: str, environment: Mapping[str, str], server: Victim | None) -> None:
    arguments = write_tasks(folder, dialect)
    began = time.monotonic()
    undisturbed = verdicts(folder, arguments, environment)
    lasts = time.monotonic() - began
    moments = random.Random(f"{SEED} {dialect}")  # noqa: S311 - moments, no secrets
    prey = ["harness", "worker", *(["server"] if server else [])]
    for killed in prey * MOMENTS:
        with forked.Running("harness", *arguments, cwd=folder, env=environment) as run:
            time.sleep(lasts * moments.uniform(0.1, 0.9))
            processes = below(run.pid)
            if killed == "server" and server is not None:
                server.kill()
                server.start()
            elif killed == "worker" and (workers := [one for one in processes if works(one)]):
                os.kill(moments.choice(workers), signal.SIGKILL)
            elif run.is_running:
                run.send_signal(signal.SIGKILL)
            done = run.wait()
        assert done.returncode in {0, 3, -signal.SIGKILL}, (killed, done.stdout)
        assert "Traceback" not in done.stdout, (killed, done.stdout)
        deadline = time.monotonic() + _SECONDS
        while left := [one for one in processes if Path(f"/proc/{one}").exists()]:
            assert time.monotonic() < deadline, (killed, left)
            time.sleep(0.05)
        assert verdicts(folder, arguments, environment) == undisturbed, killed
        if server is None:
            assert [*Path(environment["TMPDIR"]).iterdir()] == [], killed
        if server is not None:
            assert left_on(server.server) == [], killed
            assert not any(server.ask(_LOCKS[dialect])), killed
            if dialect == "mysql":
                assert server.ask("XA RECOVER") == [], killed


@pytest.mark.slow
@pytest.mark.thorough
def test_kills_on_sqlite(tmp_path: Path) -> None:
    # The account without rights has to reach it.
    with TemporaryDirectory(prefix="bird-harness-") as copies:
        Path(copies).chmod(0o755)
        check(tmp_path, "sqlite", {**os.environ, "TMPDIR": copies}, None)


@pytest.fixture(params=[Dialect.MYSQL, Dialect.POSTGRESQL], scope="module")
def prey(request: pytest.FixtureRequest) -> Iterator[Victim]:
    """A server of each kind in turn, to be killed; on PostgreSQL it allows prepared transactions."""
    with ExitStack() as stack:
        try:
            found = stack.enter_context(victim(request.param))
        except EngineUnavailable as error:
            skip(Reason[f"NO_{request.param.name}"], str(error))
        if request.param is Dialect.POSTGRESQL:
            found.ask("ALTER SYSTEM SET max_prepared_transactions = 10")
            found.stop()
            found.start()
        yield found


@pytest.mark.engine
@pytest.mark.thorough
def test_kills_on_servers(tmp_path: Path, prey: Victim) -> None:
    check(tmp_path, prey.server.dialect, prey.environment, prey)


@pytest.mark.engine
@pytest.mark.thorough
def test_an_evaluator_judges_again_once_its_server_is_up(
    monkeypatch: pytest.MonkeyPatch, prey: Victim
) -> None:
    for name, value in prey.environment.items():
        monkeypatch.setenv(name, value)
    tasks = sample_tasks(sample_families()[prey.server.dialect])
    answers = [Answer(task.id, task.gold) for task in tasks.tasks if task.id == "city_library_M_5"]
    found = []
    with TaskEvaluator([tasks], workers=1, cache=False) as evaluator:
        found += evaluator.score(answers)
        for change in (prey.kill, prey.start):
            change()
            found += evaluator.score(answers)
    assert [each.outcome for each in found] == [Outcome.MATCH, Outcome.HARNESS_ERROR, Outcome.MATCH]
    assert left_on(prey.server) == []
