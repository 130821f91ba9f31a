"""Servers, workers and the harness itself end in mid-run: no outcome is wrong, and what was done is kept.

A server that was killed and started again answers as it did before.
"""

import json
import os
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self

import psycopg
import pymysql
import pytest

from dialects.enums import Dialect
from harness.data.outcomes import Outcome
from harness.data.sets.loader import load_set
from harness.engines import on_server
from harness.engines.base import EngineLost
from harness.engines.execution import Ending, Execution, Limits, execute
from harness.engines.retry import BACKOFF, Backoff, EngineFull, execute_patiently, posted
from harness.runs.reader import LATEST, RESULTS, SUMMARY, read_results
from loaders.base.errors import EngineUnavailable
from loaders.bulk_load import load
from loaders.namespace import Database
from loaders.sample import PREDICTIONS
from loaders.server import Origin
from tests import forked
from tests.engines.victims import Victim, children, victim
from tests.reasons import Reason, skip

pytestmark = [pytest.mark.engine, pytest.mark.thorough]

QUESTIONS = 18
SHORT, LONG = 0.1, 2.0
AT_LONG = (9, 12)
"""The questions whose predictions take long, one for each worker: what disturbs a run happens meanwhile."""
ENOUGH = 4
"""How many results a run has to have by then."""
PATIENT_SECONDS = 120

SLEEP = {Dialect.MYSQL: "SELECT SLEEP({})", Dialect.POSTGRESQL: "SELECT pg_sleep({})"}
RUNNING = {
    Dialect.MYSQL: "SELECT info FROM information_schema.processlist"
    " WHERE user LIKE 'bird_reader%' AND info IS NOT NULL",
    Dialect.POSTGRESQL: "SELECT query FROM pg_stat_activity"
    " WHERE usename = 'bird_reader' AND state = 'active'",
}
SEEN = {
    Dialect.MYSQL: "DO 1",
    Dialect.POSTGRESQL: "ALTER ROLE bird_reader IN DATABASE bird_sample SET track_activities = on",
}
"""Lets the tests see what runs, which the reading role itself may not."""


@pytest.fixture(params=[Dialect.MYSQL, Dialect.POSTGRESQL], scope="module")
def prey(request: pytest.FixtureRequest) -> Iterator[Victim]:
    """A server of each kind in turn, to be killed; it runs again at the end of every test."""
    reason = Reason[f"NO_{request.param.name}"]
    with ExitStack() as stack:
        try:
            found = stack.enter_context(victim(request.param))
        except EngineUnavailable as error:
            skip(reason, str(error))
        yield found


ON_ONE = pytest.mark.parametrize("prey", [Dialect.POSTGRESQL], indirect=True, scope="module")
"""What happens in processes of the harness alone, whichever server it asks."""

SORTED_ON_DISK = {
    Dialect.MYSQL: "WITH RECURSIVE d(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM d WHERE n < 999)"
    " SELECT LENGTH(x) FROM (SELECT REPEAT(SHA2(CONCAT(a.n, '-', b.n), 256), 200) AS x"
    " FROM d AS a, d AS b WHERE b.n < 4) AS t ORDER BY x LIMIT 5 OFFSET 3900",
    Dialect.POSTGRESQL: "SELECT COUNT(*) FROM (SELECT REPEAT(MD5(g::text), 30) AS x"
    " FROM generate_series(1, 100000) AS g ORDER BY 1 OFFSET 1) AS t",
}


FEW = {
    Dialect.MYSQL: ["SET GLOBAL max_connections = 1"],
    Dialect.POSTGRESQL: [
        "ALTER ROLE bird_reader CONNECTION LIMIT 0",
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'bird_reader'",
    ],
}
"""No connection for predictions: on MySQL none beside the one that an administrator holds."""
MANY = {
    Dialect.MYSQL: "SET GLOBAL max_connections = 200",
    Dialect.POSTGRESQL: "ALTER ROLE bird_reader CONNECTION LIMIT -1",
}


@pytest.fixture
def native_prey(prey: Victim) -> Iterator[Victim]:
    """`prey`, or a native server of the same kind."""
    if prey.server.origin is Origin.NATIVE:
        yield prey
    else:
        with victim(prey.server.dialect, is_native=True) as found:
            yield found


@dataclass(frozen=True)
class Done:
    """What came of a run: its exit code, what it printed, its folder."""

    code: int
    said: str
    folder: Path

    @property
    def summary(self) -> Any:
        return json.loads((self.folder / SUMMARY).read_text(encoding="utf-8"))["scores"]

    @property
    def outcomes(self) -> Mapping[str, Any]:
        """By question, all that does not depend on time."""
        return {
            each.question: (each.outcome, each.scores, each.code, each.error_class)
            for each in read_results(self.folder)
        }


class Run:
    """`bird-harness eval` on the sample's first questions, in its own process; a context that ends it."""

    def __init__(self, prey: Victim, out: Path, *options: str, more: Mapping[str, str] | None = None) -> None:
        self._prey = prey
        self._out = out
        arguments = _arguments(prey, out, *options)
        self.process = forked.Running(
            "harness", *arguments, cwd=out, env={**prey.environment, **(more or {})}
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *ended: object) -> None:
        self.process.__exit__(*ended)

    @property
    def folder(self) -> Path | None:
        return _folder(self._out)

    def reach_its_middle(self) -> None:
        """Wait until the run has results, and the server runs the long prediction."""
        long = SLEEP[self._prey.server.dialect].format(LONG)
        for _ in _patiently():
            assert self.process.is_running, self.process.wait().stdout
            done = self.folder and (self.folder / RESULTS).read_bytes().count(b"\n")
            if (done or 0) >= ENOUGH and long in self._prey.ask(RUNNING[self._prey.server.dialect]):
                return

    def done(self) -> Done:
        done = self.process.wait()
        assert self.folder is not None, done.stdout
        return Done(done.returncode, done.stdout, self.folder)


def whole(prey: Victim, out: Path, *options: str) -> Done:
    """What comes of such a run that nothing is done to."""
    done = forked.run("harness", *_arguments(prey, out, *options), cwd=out, env=prey.environment)
    said, folder = done.stdout + done.stderr, _folder(out)
    assert folder is not None, said
    return Done(done.returncode, said, folder)


def _arguments(prey: Victim, out: Path, *options: str) -> list[str]:
    out.mkdir(exist_ok=True)
    return [
        "eval", f"--predictions={_predictions(prey.server.dialect, out)}", f"--limit={QUESTIONS}",
        f"--dialect={prey.server.dialect}", "--workers=2", "--no-cache", f"--out={out}", *options,
    ]  # fmt: skip


def _folder(out: Path) -> Path | None:
    folders = {path.parent.resolve() for path in out.glob(f"*/{RESULTS}")}
    return next(iter(folders), None)


def _predictions(dialect: Dialect, folder: Path) -> Path:
    """The sample's own predictions, and every third one sleeps."""
    name = f"predict_sample_careless_{dialect}.json"
    answers = json.loads((PREDICTIONS / name).read_text(encoding="utf-8"))
    for place, (key, answer) in enumerate(answers.items()):
        seconds = LONG if place in AT_LONG else SHORT
        if place % 3 == 0:
            answers[key] = SLEEP[dialect].format(seconds) + "".join(answer.partition("\t")[1:])
    path = folder / name
    path.write_text(json.dumps(answers), encoding="utf-8")
    return path


def _patiently() -> Iterator[None]:
    deadline = time.monotonic() + PATIENT_SECONDS
    while time.monotonic() < deadline:
        yield
        time.sleep(0.05)
    pytest.fail("it did not come to that in time")


@pytest.fixture(scope="module")
def undisturbed(prey: Victim, tmp_path_factory: pytest.TempPathFactory) -> Done:
    done = whole(prey, tmp_path_factory.mktemp("undisturbed") / "results")
    assert done.code == 0, done.said
    prey.ask(SEEN[prey.server.dialect])
    outcomes = {outcome for outcome, *_ in done.outcomes.values()}
    assert {Outcome.MATCH, Outcome.MISMATCH, Outcome.PREDICTION_ERROR} <= outcomes
    return done


def resumed(prey: Victim, folder: Path, *options: str) -> Done:
    return whole(prey, folder.parent, f"--resume={folder}", *options)


def test_a_complete_run_that_is_resumed_runs_nothing_and_prints_its_table(
    prey: Victim, undisturbed: Done
) -> None:
    summary, before = undisturbed.summary, (undisturbed.folder / RESULTS).read_bytes()
    done = resumed(prey, undisturbed.folder)
    assert done.code == 0, done.said
    assert "EX (%)" in done.said
    assert (done.folder / RESULTS).read_bytes() == before
    assert done.summary == summary


def require_same(done: Done, undisturbed: Done) -> None:
    assert done.code == 0, done.said
    assert done.outcomes == undisturbed.outcomes
    assert done.summary == undisturbed.summary


def kill(prey: Victim, _run: Run) -> None:
    prey.kill()
    if prey.server.origin is not Origin.NATIVE:  # the harness itself starts that again
        prey.start()


def stop(prey: Victim, _run: Run) -> None:
    prey.stop()
    prey.start()


def leave_no_connection(prey: Victim, _run: Run) -> None:
    """For a second."""
    with posted(prey.server):
        for sql in FEW[prey.server.dialect]:
            prey.ask(sql)
        try:
            time.sleep(1)
        finally:
            # The harness asks for the last connection, too.
            for _ in _patiently():
                with suppress(psycopg.Error, pymysql.Error):
                    prey.ask(MANY[prey.server.dialect])
                    break


@pytest.mark.parametrize("disturb", [kill, stop, leave_no_connection])
def test_what_is_over_again_in_mid_run_changes_no_outcome(
    prey: Victim, undisturbed: Done, tmp_path: Path, disturb: Callable[[Victim, Run], None]
) -> None:
    with Run(prey, tmp_path) as run:
        run.reach_its_middle()
        disturb(prey, run)
        require_same(run.done(), undisturbed)


@ON_ONE
def test_workers_that_are_killed_in_mid_run_change_no_outcome(
    prey: Victim, undisturbed: Done, tmp_path: Path
) -> None:
    with Run(prey, tmp_path) as run:
        run.reach_its_middle()
        workers = children(run.process.pid)
        assert len(workers) == 2
        for worker in workers:
            os.kill(worker, signal.SIGKILL)
        require_same(run.done(), undisturbed)


@pytest.fixture
def impatient(tmp_path: Path) -> Mapping[str, str]:
    """An environment in which every process of the harness waits for a server for a thirtieth of the time."""
    assert BACKOFF.total == 30
    folder = tmp_path / "impatient"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(
        "from harness.engines.retry import BACKOFF\nobject.__setattr__(BACKOFF, 'total', 1.0)\n",
        encoding="utf-8",
    )
    return {"PYTHONPATH": str(folder)}


def test_a_server_that_stays_away_ends_the_run_with_its_last_words_and_the_rest_is_resumed(
    prey: Victim, undisturbed: Done, tmp_path: Path, impatient: Mapping[str, str]
) -> None:
    with Run(prey, tmp_path, more=impatient) as run:
        run.reach_its_middle()
        prey.stop()
        try:
            done = run.done()
        finally:
            prey.start()
    assert done.code == 3, done.said
    lost = {key for key, (outcome, *_) in done.outcomes.items() if outcome is Outcome.HARNESS_ERROR}
    kept = {key: facts for key, facts in done.outcomes.items() if key not in lost}
    assert lost
    assert len(kept) >= ENOUGH
    assert kept == {key: undisturbed.outcomes[key] for key in kept}
    _, is_told, words = done.said.partition("failed repeatedly")
    assert is_told, done.said
    assert [line for line in words.splitlines() if line.startswith("  ")], "the last lines of its log"
    assert prey.server.password not in done.said

    require_same(resumed(prey, done.folder), undisturbed)


@pytest.mark.parametrize(
    ("sign", "code", "driver"),
    [(signal.SIGINT, 130, "pytest"), (signal.SIGKILL, -9, "direct")],
)
def test_a_harness_that_ends_in_mid_run_leaves_nothing_running_and_is_resumed(  # noqa: PLR0913, PLR0917
    prey: Victim, undisturbed: Done, tmp_path: Path, sign: signal.Signals, code: int, driver: str
) -> None:
    with Run(prey, tmp_path, f"--driver={driver}") as run:
        run.reach_its_middle()
        workers = children(run.process.pid)
        run.process.send_signal(sign)
        done = run.done()
    assert done.code == code, done.said
    for _ in _patiently():
        if not any(Path(f"/proc/{worker}").exists() for worker in workers):
            break
    long = SLEEP[prey.server.dialect].format(LONG)
    assert long not in prey.ask(RUNNING[prey.server.dialect])
    assert not (done.folder / SUMMARY).exists()
    assert not (tmp_path / LATEST).exists()
    kept = {key: facts for key, facts in done.outcomes.items() if facts[0] is not Outcome.HARNESS_ERROR}
    assert ENOUGH <= len(kept) < QUESTIONS
    assert kept == {key: undisturbed.outcomes[key] for key in kept}

    require_same(resumed(prey, done.folder, f"--driver={driver}"), undisturbed)


@pytest.fixture
def zoo(tmp_path: Path) -> Database:
    path = tmp_path / "zoo.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE animal (legs INTEGER)")
        connection.execute("INSERT INTO animal VALUES (4)")
    connection.close()
    return Database("bird_fault_tests", "zoo", path)


def test_a_server_that_freezes_under_a_text_is_given_up_and_used_again(
    prey: Victim, zoo: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("mysql", "postgresql"):
        monkeypatch.setattr(f"harness.engines.{module}.connections.CONNECT_SECONDS", 2)
    load([zoo], prey.server)
    limits, backoff = Limits(seconds=1), Backoff(total=0.5, probe=0.1)
    run = partial(execute_patiently, on_server(prey.server), zoo, limits=limits, backoff=backoff)
    with ThreadPoolExecutor(1) as pool:
        late = pool.submit(run, SLEEP[prey.server.dialect].format(30))
        time.sleep(0.5)
        with prey.frozen(), pytest.raises(EngineLost):
            late.result(PATIENT_SECONDS)
    for _ in _patiently():
        with suppress(EngineLost):
            assert run("SELECT legs FROM animal").rows == ((4,),)
            break


def test_a_disk_without_room_is_no_texts_fault(native_prey: Victim, zoo: Database) -> None:
    load([zoo], native_prey.server)
    run = partial(execute_patiently, on_server(native_prey.server), zoo, limits=Limits())
    with ExitStack() as stack:
        try:
            stack.enter_context(native_prey.full_disk())
        except PermissionError as error:
            skip(Reason.NO_MOUNT, str(error))
        with pytest.raises(EngineFull):
            run(SORTED_ON_DISK[native_prey.server.dialect])
        assert run("SELECT legs FROM animal").rows == ((4,),), "what needs no room goes on"
    assert run(SORTED_ON_DISK[native_prey.server.dialect]).ending is Ending.ROWS


PLAN = {Dialect.MYSQL: "EXPLAIN FORMAT=TREE ", Dialect.POSTGRESQL: "EXPLAIN "}


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
