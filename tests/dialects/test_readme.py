"""The Python examples of README.md and dialects/README.md run as they stand there."""

import re
from pathlib import Path

import pytest

from tests.sqlite_files import sqlite_file

ROOT = Path(__file__).parents[2]


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


PRINTED = {
    "README.md": "SELECT 3, 'bc'\n",
    "dialects/README.md": "".join(blocks("dialects/README.md", "text")),
}


@pytest.mark.parametrize("page", PRINTED)
def test_the_example_of_a_readme_runs(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    [example] = [text for text in blocks(page, "python") if "translate(" in text]
    sqlite_file(tmp_path / "database.sqlite", "CREATE TABLE t (x TEXT)")
    monkeypatch.chdir(tmp_path)
    exec(compile(example, page, "exec"), {})  # noqa: S102 - our own text
    assert capsys.readouterr().out == PRINTED[page]


def test_what_the_page_of_the_translator_names_is_there() -> None:
    """Rewrites, lowerings and files, by which a reader finds an answer."""
    page = (ROOT / "dialects/README.md").read_text(encoding="utf-8")
    files = re.findall(r"`((?:\w+/)*\w+\.(?:py|sql|md))`", page)
    assert len(files) > 10
    bases = (ROOT, ROOT / "dialects")
    assert [name for name in files if not any((base / name).exists() for base in bases)] == []
