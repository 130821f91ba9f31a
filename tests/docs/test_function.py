"""The function of docs/how-to/extend.md is one row and one file: without them nothing knows it."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.blocks import ROOT, blocks

PAGE = ROOT / "docs" / "how-to" / "extend.md"

ASK = """
import sqlite3
from contextlib import closing
from pathlib import Path
from dialects import Dialect, Untranslatable, translate
from dialects.functions import EXAMPLES
from loaders.file_census import census
from loaders.functions import definitions
with closing(sqlite3.connect("t.sqlite")) as connection:
    connection.executescript(EXAMPLES)
try:
    print(translate("SELECT unicode(s) FROM t", census(Path("t.sqlite")), Dialect.DUCKDB).sql)
except Untranslatable as error:
    print(error)
print("unicode_of" in definitions(Dialect.DUCKDB))
"""


def asked(folder: Path) -> list[str]:
    """What the translator in a folder makes of the function, and whether loading installs it."""
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    (folder / "t.sqlite").unlink(missing_ok=True)
    command = [sys.executable, "-c", ASK]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.slow
def test_a_function_is_added_by_a_row_and_a_file(tmp_path: Path) -> None:
    for package in ("dialects", "loaders"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    [row] = [block.text for block in blocks(PAGE) if block.text.startswith("_row(")]
    [sql] = [block for block in blocks(PAGE) if block.language == "sql"]
    table, file = tmp_path / "dialects" / "functions.py", tmp_path / str(sql.title)
    # The page shows the row and the file as they are.
    written = table.read_text(encoding="utf-8")
    row = re.sub(r"^", "        ", row, flags=re.MULTILINE).strip()
    assert row in written
    assert file.read_text(encoding="utf-8") == sql.text
    table.write_text(written.replace(row, ""), encoding="utf-8")
    file.unlink()
    assert asked(tmp_path) == ["unicode() at character 7: SQLite 3.40 has no such function", "False"]
    table.write_text(written, encoding="utf-8")
    file.write_text(sql.text, encoding="utf-8")
    assert asked(tmp_path) == ["SELECT bird_sqlite_unicode_of(s) FROM t", "True"]
