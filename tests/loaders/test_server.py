"""Sessions that are used again, the modules of each engine, and where the parts of a load run."""

import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest

from dialects.enums import Dialect
from dialects.targets import TARGETS
from loaders.server import Sessions, pooled, session_pool, sessions
from loaders.target import target


class Session:
    def __init__(self) -> None:
        self.closed = 0

    def close(self) -> None:
        self.closed += 1


def used(want: str) -> Session:
    with pooled(want, Session) as session:
        assert session.closed == 0
    return session


def test_what_is_idle_is_used_again_for_the_same_and_closed_at_the_end() -> None:
    with session_pool():
        first = used("one")
        assert first.closed == 0
        assert used("one") is first
        assert used("other") is not first
        with pooled("one", Session), pooled("one", Session) as second:
            assert second is not first
    assert first.closed == 1
    assert second.closed == 1
    assert used("one").closed == 1


def test_a_session_in_which_something_failed_is_closed() -> None:
    with session_pool():
        first = used("one")
        with pytest.raises(ValueError, match="failed"), pooled("one", Session):
            raise ValueError("failed")
        assert first.closed == 1
        assert used("one") is not first


def test_another_thread_has_sessions_of_its_own() -> None:
    found: list[Session] = []
    with session_pool():
        first = used("one")
        thread = Thread(target=lambda: found.append(used("one")))
        thread.start()
        thread.join()
        assert used("one") is first
    assert found[0] is not first
    assert found[0].closed == 1


@pytest.mark.parametrize("dialect", TARGETS)
def test_every_target_has_modules_that_load(dialect: Dialect) -> None:
    assert target(dialect).dialect is dialect
    asked = {name for name in (*vars(Sessions), *Sessions.__annotations__) if not name.startswith("_")}
    assert {name for name in asked if hasattr(sessions(dialect), name)} == asked


LIMITED = """
import sqlite3, sys
from pathlib import Path

from loaders.workers import Survey
from loaders.workers import workers

path, number, processes = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "processes"
with sqlite3.connect(path) as connection:
    connection.execute("CREATE TABLE t (a TEXT)")
    connection.execute("INSERT INTO t VALUES (CAST(zeroblob(30000000) AS TEXT) || 'x')")
# As an engine does before it runs predictions; there is no way back.
sqlite3.connect(":memory:").execute("PRAGMA hard_heap_limit=20000000")
with workers(number, processes=processes) as hands:
    hands.give(Survey(path), (1.0, 1.0))
    [(_, schema)] = hands.results(lambda task, rows: None)
print(schema.tables[0].columns[0].longest)
"""


@pytest.mark.slow
@pytest.mark.parametrize("number", ["1", "2"])
@pytest.mark.parametrize("kind", ["processes", "threads"])
def test_long_values_are_read_where_predictions_have_run(tmp_path: Path, number: str, kind: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(tmp_path / "long.sqlite"), number, kind],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stdout) == (0, "30000001\n"), done.stderr
