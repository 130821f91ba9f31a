"""Without a lab everything else is there, and an installed package brings one of its own."""

import importlib.abc
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from harness import metrics
from harness.cli.commands import app
from harness.lab import OWN, labs
from harness.metrics import METRICS
from loaders.sample import PREDICTIONS
from tests.docs.blocks import ROOT, blocks
from tests.harness.conftest import Call

PAGE = ROOT / "docs" / "how-to" / "lab.md"
Hide = Callable[[str], None]


class _Absent(importlib.abc.MetaPathFinder):
    """Finds nothing of a package, as if its folder were not there."""

    def __init__(self, package: str) -> None:
        self._package = package

    def find_spec(self, fullname: str, *_: object) -> None:
        if f"{fullname}.".startswith(f"{self._package}."):
            raise ModuleNotFoundError(f"no module {fullname}", name=fullname)


_WITH_COMMANDS = ("harness.cli.", "harness.labs.")


def _modules_of_commands() -> dict[str, ModuleType]:
    """The imported modules that register commands, or that a lab brings."""
    return {
        name: module
        for name, module in sys.modules.items()
        if name.startswith(_WITH_COMMANDS) and name != "harness.cli.commands"
    }


@pytest.fixture
def hide(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hide]:
    """Hide a lab until the test ends."""

    def forget_labs() -> None:
        labs.cache_clear()
        metrics._of_labs.cache_clear()

    def forget() -> None:
        for module in _modules_of_commands():
            del sys.modules[module]

    def hidden(name: str) -> None:
        forget()
        monkeypatch.setattr(sys, "meta_path", [_Absent(f"harness.labs.{name}"), *sys.meta_path])
        monkeypatch.setattr(app, "registered_commands", [])
        forget_labs()

    # Modules that are imported while a lab is hidden register their commands anew, and must not stay.
    earlier = _modules_of_commands()
    forget()
    yield hidden
    forget()
    sys.modules.update(earlier)
    forget_labs()


@pytest.mark.slow
@pytest.mark.parametrize("name", OWN)
def test_without_a_lab_the_rest_is_as_before(call: Call, hide: Hide, name: str, tmp_path: Path) -> None:
    lab, known = labs()[name], set(METRICS)
    hide(name)
    assert set(labs()) == {*OWN} - {name}
    assert set(METRICS) == known - lab.metrics.keys()
    assert call("--help")[0] == 0
    _, listed, _ = call("lab", "--help")
    assert [each for each in lab.commands if f"  {each} " in listed] == []
    options = (
        "--dialect",
        "sqlite",
        "--driver",
        "direct",
        "--limit",
        "10",
        "--predictions",
        str(PREDICTIONS),
    )
    code, _, said = call("eval", *options, "--out", "out")
    assert code == 0, said
    [run] = [each for each in (tmp_path / "out").iterdir() if not each.is_symlink()]
    code, printed, said = call("report", str(run), "--json")
    assert (code, bool(json.loads(printed)["tables"])) == (0, True), said
    for each in lab.commands:
        code, printed, said = call("lab", each)
        assert (code, printed, said.count("\n")) == (2, "", 1)
        assert f"No such command {each!r}; not installed here: lab {name}" in said
    for each in lab.options:
        value = {"plans": [], "variants": ["1", "--metrics", "ts"]}.get(each, ["local"])
        words = ("serve", "--set", "tasks.jsonl") if each == "family" else ("eval", *options)
        code, _, said = call(*words, f"--{each}", *value)
        assert (code, f"--{each}: lab {name} is not installed here" in said) == (2, True), said


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with the package of the page, which is installed there by its entry point."""
    titled = {block.title: block.text for block in blocks(PAGE) if block.title}
    points = titled.pop("pyproject.toml").splitlines()[1].partition(" = ")
    assert PAGE.read_text(encoding="utf-8").count("\n") <= 80
    for title, text in titled.items():
        (tmp_path / title).parent.mkdir(exist_ok=True)
        (tmp_path / title).write_text(text, encoding="utf-8")
    about = tmp_path / "lengths-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: lengths\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        f"[bird_harness.labs]\n{points[0]} = {points[2].strip(chr(34))}\n"
    )
    return tmp_path


def called(place: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    path = os.pathsep.join((str(ROOT), str(place)))
    environment = {**os.environ, "PYTHONPATH": path, "BIRD_STORE": str(place / "store.sqlite")}
    command = [sys.executable, "-m", "harness", *words]
    return subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_the_lab_of_the_page_brings_a_metric_a_section_and_a_command(place: Path) -> None:
    options = ("--dialect", "sqlite", "--driver", "direct", "--limit", "10", "--out", "out")
    done = called(place, "eval", *options, "--metrics", "ex,as_long")
    assert done.returncode == 0, done.stderr
    run = place / "out" / "latest"
    lines = [json.loads(line) for line in (run / "results.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {each["scores"]["as_long"] for each in lines} <= {0.0, 1.0}
    assert all(each["scores"]["as_long"] == 1 for each in lines if each["outcome"] == "match")
    assert "## As long" in (run / "tables.md").read_text(encoding="utf-8")
    assert "## Longest answers" in (run / "tables.md").read_text(encoding="utf-8")
    longest = called(place, "lab", "longest", str(run))
    assert (longest.returncode, longest.stderr) == (0, "")
    assert longest.stdout.rstrip("\n") == max((each["sql"] or "" for each in lines), key=len)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("record", "fault"),
    [
        ("LAB = 1", "not a Lab; name a record of that class"),
        ("import nothing_such", "cannot be imported"),
        ("from harness.lab import Lab\nLAB = Lab(name='audit')", "lab 'audit' already exists"),
    ],
)
def test_a_record_that_cannot_be_used_is_one_line(place: Path, record: str, fault: str) -> None:
    (place / "lengths" / "__init__.py").write_text(record, encoding="utf-8")
    done = called(place, "lab", "audit", "--help")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert fault in done.stderr
    assert "lengths:LAB of package lengths" in done.stderr
