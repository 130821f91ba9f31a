"""Where the parts of a load run."""

import subprocess
import sys
from pathlib import Path

import pytest

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
