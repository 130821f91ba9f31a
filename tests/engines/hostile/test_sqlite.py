"""Whatever a prediction tries on SQLite: it ends in time, leaves nothing behind and takes bounded memory."""

import contextlib
import hashlib
import os
import re
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import wait
from dataclasses import dataclass
from pathlib import Path

import pytest

from dialects.enums import Dialect
from harness.data.outcomes import Judgement, Outcome
from harness.engines.execution import Ending, Limits, execute
from harness.engines.sqlite.engine import SQLiteEngine
from harness.scoring.tasks import JudgeTask, Setup
from harness.scoring.worker_process import MOST_MEMORY
from harness.scoring.workers import LocalWorkers
from tests.engines.hostile.cases import Hostile
from tests.engines.hostile.sqlite_cases import CASES, UNSTOPPABLE
from tests.harness.small_sets import of_zoo
from tests.sqlite_files import sqlite_file

INNOCENT = "SELECT name, legs FROM animal ORDER BY name"
ANIMALS = (("ant", 6), ("cat", 4), ("hen", 2))
LIMITS = Limits(seconds=0.3)
PATIENCE = 3.0
"""Seconds in which a text has to end: the limit, the second that is promised, and one of a busy machine."""
OWN_MEMORY = 100 * 2**20
"""What a worker takes without statements."""

ENDINGS: Mapping[Outcome, Ending] = {
    Outcome.MATCH: Ending.ROWS,
    Outcome.MISMATCH: Ending.ROWS,
    Outcome.PREDICTION_ERROR: Ending.ERROR,
    Outcome.PREDICTION_TIMEOUT: Ending.TIMEOUT,
    Outcome.PREDICTION_TOO_LARGE: Ending.TOO_LARGE,
}


@pytest.fixture
def setup(tmp_path: Path) -> Setup:
    sqlite_file(
        tmp_path / "databases" / "zoo" / "zoo.sqlite",
        "CREATE TABLE animal (name TEXT, legs INTEGER)",
        "CREATE INDEX legs ON animal (legs)",
        animal=ANIMALS,
    )
    questions = of_zoo(tmp_path / "databases", INNOCENT)
    return Setup(questions, {Dialect.SQLITE: ()}, limits=LIMITS, metrics=("ex",))


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where whatever writes temporary or relative files would write them."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    for name in ("TMPDIR", "SQLITE_TMPDIR"):
        monkeypatch.setenv(name, str(folder))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["", str(Path.cwd())]))
    monkeypatch.chdir(folder)
    return folder


@dataclass(frozen=True)
class Snapshot:
    """All that may not change: the files of a folder, what is in them and when they were written."""

    files: Mapping[str, tuple[int, str]]

    @classmethod
    def of(cls, folder: Path) -> "Snapshot":
        return cls(
            {
                str(path.relative_to(folder)): (
                    path.stat().st_mtime_ns,
                    hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder",
                )
                for path in folder.rglob("*")
            }
        )


def most_memory(processes: Sequence[int]) -> int:
    """The most bytes that one of these processes has taken so far; 0 where the system does not say."""
    most = 0
    for process in processes:
        with contextlib.suppress(OSError):
            found = re.search(r"VmHWM:\s*(\d+) kB", Path(f"/proc/{process}/status").read_text("ascii"))
            most = max(most, int(found[1]) * 1024 if found else 0)
    return most


def judged(setup: Setup, cases: Sequence[Hostile]) -> tuple[dict[str, Judgement], int]:
    """What becomes of each case, each beside an innocent text; and the most memory that a worker took."""
    workers = LocalWorkers(setup, 2)
    try:
        question = setup.questions.by_key["1"]
        tasks = [
            workers.submit(JudgeTask(Dialect.SQLITE, question, (f"{INNOCENT} ", case.sql, f"{INNOCENT}  ")))
            for case in cases
        ]
        memory, until = 0, time.monotonic() + 60 + 10 * len(cases)
        while wait(tasks, timeout=0.05).not_done and time.monotonic() < until:
            memory = max(memory, most_memory(workers.processes))
        memory = max(memory, most_memory(workers.processes))
        results = [task.result(0).judgements for task in tasks]
    finally:
        workers.close()
    beside = {result[f"{INNOCENT}{space}"].outcome for result in results for space in (" ", "  ")}
    assert beside == {Outcome.MATCH}, "no text changes what another comes to"
    return {case.name: result[case.sql] for case, result in zip(cases, results, strict=True)}, memory


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.parametrize("cases", [CASES, UNSTOPPABLE], ids=["stoppable", "unstoppable"])
def test_every_hostile_text_ends_as_it_may_and_leaves_nothing_behind(
    setup: Setup, scratch: Path, cases: tuple[Hostile, ...]
) -> None:
    before = Snapshot.of(setup.questions.databases)
    judgements, memory = judged(setup, cases)
    assert {
        case.name: (judgements[case.name].outcome, judgements[case.name].error)
        for case in cases
        if ENDINGS.get(judgements[case.name].outcome) not in case.endings
    } == {}
    assert {
        name: judgement.prediction_seconds
        for name, judgement in judgements.items()
        if (judgement.prediction_seconds or 0.0) > PATIENCE
    } == {}
    assert Snapshot.of(setup.questions.databases) == before
    assert Snapshot.of(scratch).files == {}
    assert memory < OWN_MEMORY + MOST_MEMORY


def test_a_connection_that_has_met_every_stoppable_text_answers_as_a_new_one(setup: Setup) -> None:
    database = setup.questions.database("zoo")
    quick = [case for case in CASES if not case.endings <= {Ending.TIMEOUT, Ending.TOO_LARGE}]
    assert len(quick) > 150
    engine = SQLiteEngine(pooled=True)
    asked = {
        INNOCENT: ANIMALS,
        "SELECT last_insert_rowid(), changes(), total_changes()": ((0, 0, 0),),
        "SELECT 'A' LIKE 'a', name FROM animal LIMIT 1": ((1, "ant"),),
        "SELECT count(*) FROM sqlite_temp_master": ((0,),),
    }
    for case in quick:
        hostile = execute(engine, database, case.sql, LIMITS)
        assert hostile.ending in case.endings, case.name
        assert hostile.seconds < PATIENCE, case.name
    for sql, rows in asked.items():
        assert execute(engine, database, sql, LIMITS).rows == rows
        assert execute(SQLiteEngine(), database, sql, LIMITS).rows == rows


def test_the_corpus_is_large_and_its_names_say_which_text_is_meant() -> None:
    names = [case.name for case in (*CASES, *UNSTOPPABLE)]
    assert len(names) == len(set(names)) > 200
