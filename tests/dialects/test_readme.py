"""The README's Python example runs as it stands there."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"


def test_the_example_of_the_readme_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    examples = re.findall(
        r"^```python\n(.*?)^```", README.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    [example] = [text for text in examples if "translate(" in text]
    with closing(sqlite3.connect(tmp_path / "database.sqlite")) as connection:
        connection.execute("CREATE TABLE t (a INTEGER)")
    monkeypatch.chdir(tmp_path)
    exec(compile(example, str(README), "exec"), {})  # noqa: S102 - our own text
    assert capsys.readouterr().out == "SELECT 3, 'bc'\n"
