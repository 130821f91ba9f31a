"""What docs/how-to/migration.md says of the library: the wheel has it, and it needs no server and no harness.

The page's own files are run by `tests/docs/test_commands.py`.
"""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

from tests.docs.blocks import ROOT

ALONE = """
import sys

ELSEWHERE = {"harness", "pymysql", "psycopg", "docker", "rich", "typer", "pytest", "numpy", "requests"}

class Refused:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ELSEWHERE:
            raise ImportError(f"{name} is not there")

sys.meta_path.insert(0, Refused())
import sqlite3
from pathlib import Path

import dialects
from dialects.enums import Dialect
from dialects.translate import translate
from loaders.census import census

connection = sqlite3.connect("t.sqlite")
connection.execute("CREATE TABLE t (a INTEGER)")
connection.close()
print(translate("SELECT a / 2 FROM t", census(Path("t.sqlite")), Dialect.MYSQL).sql)
print(dialects.__path__[0])
"""


def test_the_wheel_translates_without_server_driver_and_harness(tmp_path: Path) -> None:
    built = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", tmp_path],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    [wheel] = tmp_path.glob("*.whl")
    there = tmp_path / "there"
    with zipfile.ZipFile(wheel) as file:
        file.extractall(there)
    done = subprocess.run(
        [sys.executable, "-c", ALONE],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(there)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    sql, place = done.stdout.splitlines()
    assert "DIV 2" in sql
    assert Path(place) == there / "dialects"
