"""Small question sets in the layout of the published ones, and commands in this process."""

import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from typer.main import get_command

from harness.cli import main
from harness.data.questions import QuestionSet
from harness.data.sets.loader import load_set
from tests.harness import small_sets as small

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="session", autouse=True)
def _quick_commands() -> Iterator[None]:
    """In this process one worker judges, unless a test says how many: a second takes longer to start.

    Typer makes its group of commands once, not for every call.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("harness.session.request.processors", lambda: 1)
        patch.setattr("typer.main.get_command", cache(get_command))
        yield


@pytest.fixture
def first(tmp_path: Path) -> QuestionSet:
    small.write_mini_dev(tmp_path)
    return load_set("mini_dev", tmp_path)


@pytest.fixture
def later(tmp_path: Path) -> QuestionSet:
    small.write_mini_dev_2025(tmp_path)
    return load_set("mini_dev_2025", tmp_path)


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """A command in this process: exit code, output, errors."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BIRD_HOME", raising=False)

    def inside(*args: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["bird-harness", *args])
        with pytest.raises(SystemExit) as stopped:
            main()
        assert isinstance(stopped.value.code, int)
        return stopped.value.code, *capsys.readouterr()

    return inside
