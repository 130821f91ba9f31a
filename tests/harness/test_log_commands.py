"""No text of other people becomes a command of the runner in whose log it is printed."""

import io
import os
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.cli import _LogStream
from tests import forked
from tests.harness.run_folders import right_on, write_run

# As the runner of GitHub reads a line, and the agent of Azure Pipelines.
RUNNERS = re.compile(r"^\s*::|##\[|##vso\[", re.IGNORECASE)


def logged(parts: Sequence[str]) -> str:
    raw = io.BytesIO()
    with _LogStream(io.BufferedWriter(raw), "utf-8", newline="") as stream:
        for part in parts:
            assert stream.write(part) == len(part)
        stream.flush()
        return raw.getvalue().decode()


def commands(text: str) -> list[str]:
    return [line for line in re.split(r"[\r\n]", text) if RUNNERS.search(line)]


HOSTILE = (
    "::error::x", "  ::set-output name=run::x", "\t::stop-commands::x", "a\n::error::x", "a\r::error::x",
    "a\r\n ::x::", "\N{NO-BREAK SPACE}::x", " \n \n::x", "x ##[error]y", "##[set-output name=run;]x",
    "####[group]", "##vso[task.setvariable variable=x]y", "##VSO[x]", ":::", "::\n::\n::", "##[##[##[",
)  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_no_command_however_it_is_written(text: str) -> None:
    assert commands(text)
    assert commands(logged([text])) == []
    assert logged([text]) == logged(list(text))
    assert logged([text]).replace("\\u003a", ":").replace("\\u005b", "[") == text


@given(st.lists(st.text(alphabet=":#[vso \r\n\tx\N{NO-BREAK SPACE}", max_size=8), max_size=8))
def test_no_command_in_any_text(parts: list[str]) -> None:
    written = logged(parts)
    assert commands(written) == []
    assert written.replace("\\u003a", ":").replace("\\u005b", "[") == "".join(parts)


@pytest.mark.parametrize("text", ["a::b", "node.py::test", "# x", "## [a](b)", ": ", "[##]", "x :: y"])
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert logged([text]) == text


NAMES = ("::error::one", "##[set-output name=run;]two", "##vso[task.complete]three")


@pytest.mark.slow
@pytest.mark.thorough
def test_names_of_predictors_are_no_commands(tmp_path: Path) -> None:
    results = [one for name in NAMES for one in right_on(range(3), name)]
    run = write_run(tmp_path / "run", results)
    for words in (
        ("report", str(run), "--format", "console"),
        ("report", str(run), "--json"),
        ("compare", f"{run}:/{NAMES[0]}", f"{run}:/{NAMES[1]}", "--fail-under", "ex=99"),
    ):
        done = forked.run("harness", *words, cwd=tmp_path, env={**os.environ, "GITHUB_ACTIONS": "true"})
        assert "one" in done.stdout + done.stderr
        assert commands(done.stdout + done.stderr) == [], words
    (tmp_path / "out.csv").write_text("")
    code = forked.run("harness", "report", str(run), "--format", "csv", "--out", "out.csv", cwd=tmp_path)
    assert code.returncode == 0
    assert NAMES[1] in (tmp_path / "out.csv").read_text()
